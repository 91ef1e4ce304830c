//! Scores as people and programs read them.

use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION, WorkloadMeta};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{format_count, format_duration, format_fixed, format_percent, format_plural};
use crate::output::{Printable, report};
use drystone_when::{AnswerMethod, ForecastScore, ForecasterSettings, ForeseeOptions, Foreseen, MethodScore};
use serde::Serialize;

/// Scores with all that determined them.
#[derive(Serialize)]
pub(crate) struct Scores {
    schema: &'static str,
    drystone: &'static str,
    workload: WorkloadMeta,
    policy: PolicyMeta,
    experiment: ExperimentMeta,
    settings: ForecasterSettings,
    every: u32,
    pub(super) found: Foreseen,
    verdict: Vec<String>,
    /// True prints everything, not only the overview.
    #[serde(skip)]
    pub(super) whole: bool,
}

impl Scores {
    pub(super) fn new(
        workload: WorkloadMeta,
        policy: PolicyMeta,
        experiment: ExperimentMeta,
        options: &ForeseeOptions<'_>,
        foresight: Foreseen,
    ) -> Scores {
        let mut verdict = describe_verdict(&foresight);
        if options.every > 1 {
            verdict.push(format!(
                "One in {} of the jobs that waited was asked about; --every 1 asks about all.",
                options.every
            ));
        }
        Scores {
            schema: "drystone/foresee/1",
            drystone: VERSION,
            workload,
            policy,
            experiment,
            settings: options.settings.clone(),
            every: options.every,
            found: foresight,
            verdict,
            whole: false,
        }
    }

    /// Returns the question in one line.
    pub(super) fn format_title(&self) -> String {
        format!("{} under {}", self.workload.name, self.policy.text)
    }

    pub(super) fn verdict(&self) -> &[String] {
        &self.verdict
    }
}

fn calibrated_score(foresight: &Foreseen) -> Option<&MethodScore> {
    foresight.methods.iter().find(|score| score.method == AnswerMethod::Calibrated)
}

/// Compares calibrated futures with the best baseline: the share of its CRPS that they save, with
/// its interval. Where they have more, the sentence says so.
fn compare_with_baseline(baseline: &str, [skill, low, high]: [f64; 3]) -> String {
    let (word, [value, from, to]) = match skill < 0.0 {
        true => ("more", [-skill, -high, -low]),
        false => ("less", [skill, low, high]),
    };
    let clear = match (low > 0.0, high < 0.0) {
        (true, _) => "",
        (_, true) => "; that baseline is the better forecast here",
        _ => "; the interval contains zero",
    };
    let percent = |share: f64| format_fixed(100.0 * share, 1);
    format!(
        "The best baseline is {baseline}: calibrated futures have {}% {word} CRPS (95% interval: {} to {}%{clear}).",
        percent(value),
        percent(from),
        percent(to)
    )
}

/// Tells how far one run of questions decides the score.
fn describe_range(own_score: &MethodScore, best: Option<&MethodScore>) -> Option<String> {
    let ([low, high], best) = (own_score.interval?, best?);
    let [own, other_score] = best.without_worst?;
    Some(format!(
        "Their CRPS is {} min (95% interval: {} to {}); without their worst 50 questions in a row {}, and {} of {}.",
        format_fixed(own_score.all.crps, 1),
        format_fixed(low, 1),
        format_fixed(high, 1),
        format_fixed(own, 1),
        format_fixed(other_score, 1),
        best.method.name()
    ))
}

fn describe_verdict(foresight: &Foreseen) -> Vec<String> {
    let Some(own_score) = calibrated_score(foresight).filter(|own_score| own_score.all.questions > 0) else {
        return vec!["No job waited, so that there was nothing to foresee.".to_string()];
    };
    let overall_score = &own_score.all;
    let mut lines = vec![format!(
        "Of {} that waited, {}% started within the central 50% of their forecast and {}% within the central \
         90%.",
        format_plural(overall_score.questions, "job"),
        format_fixed(100.0 * overall_score.coverage[0], 1),
        format_fixed(100.0 * overall_score.coverage[1], 1)
    )];
    let best = foresight.best_baseline.and_then(|best| foresight.methods.iter().find(|score| score.method == best));
    if let Some(best) = best
        && let Some(skill) = best.skill
    {
        lines.push(compare_with_baseline(best.method.name(), [skill.skill, skill.low, skill.high]));
    }
    lines.extend(describe_range(own_score, best));
    if let Some(before) = foresight.before_plan {
        lines.push(format!(
            "{}% of the jobs started before the plan of time limits said.",
            format_fixed(100.0 * before, 1)
        ));
    }
    let promises = foresight.promises;
    if promises.made > 0 {
        lines.push(format!(
            "The policy itself announced a latest start to {} and kept it for {} of them; on average they started {} min \
             before it.",
            format_plural(promises.made, "job"),
            format_count(promises.kept),
            format_fixed(promises.earlier, 0)
        ));
    }
    if foresight.beyond > 0.0005 {
        lines.push(format!(
            "In {}% of the futures the job had not started after 14 days.",
            format_fixed(100.0 * foresight.beyond, 1)
        ));
    }
    if overall_score.questions < 200 {
        lines.push(
            "Below 200 questions with an outcome, calibration has hardly begun: take the figures as a hint.".into(),
        );
    }
    lines
}

fn format_share(value: f64) -> String {
    format_percent(Some(value), 1)
}

fn unless_point(is_point: bool, text: String) -> String {
    if is_point { "-".to_string() } else { text }
}

/// Makes a table of scores. A method that gives one number has no scores of distributions.
fn score_table(rows: &[(String, bool, &ForecastScore)], [first, second]: [&str; 2]) -> DocumentTable {
    let columns = [
        first,
        second,
        "CRPS",
        "log CRPS",
        "error p50",
        "50% cover",
        "90% cover",
        "90% width",
        "by p95",
        "calib. error",
    ];
    let mut table = DocumentTable::new(columns);
    for (name, is_point, score) in rows {
        let number =
            |value: f64, digits| if score.questions == 0 { "-".to_string() } else { format_fixed(value, digits) };
        let of_all = |value: f64| if score.questions == 0 { "-".to_string() } else { format_share(value) };
        table.add_row(vec![
            name.clone().into(),
            format_count(score.questions).into(),
            number(score.crps, 1).into(),
            number(score.log_crps, 3).into(),
            number(score.error[1], 1).into(),
            unless_point(*is_point, of_all(score.coverage[0])).into(),
            unless_point(*is_point, of_all(score.coverage[1])).into(),
            unless_point(*is_point, number(score.width[1], 0)).into(),
            of_all(score.by_95).into(),
            unless_point(*is_point, number(score.calibration_error, 4)).into(),
        ]);
    }
    table
}

impl Scores {
    /// Adds the scores of questions that were asked again.
    fn add_repeated(&self, document: &mut Document) {
        let Some(again) = &self.found.again else { return };
        document.add_heading(format!(
            "Forecasts every {} while jobs wait, in minutes",
            format_duration(again.every.as_f64())
        ));
        let rows: Vec<_> = (again.methods.iter())
            .map(|(method, score)| (method.name().to_string(), method.is_point(), score))
            .collect();
        document.add_table(score_table(&rows, ["method", "questions"]));
        document.add_text(
            "at arrival: corrected by answers to jobs that had just come; calibrated: by answers to jobs that had waited",
        );
    }

    /// The verdict, and the main scores of each method.
    fn short_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_text(self.verdict.join("\n"));
        let mut table =
            DocumentTable::new(["method", "CRPS, min", "error, min", "50% holds", "90% holds", "90% width, min"]);
        for MethodScore { method, all, .. } in &self.found.methods {
            let number =
                |value: f64, digits| if all.questions == 0 { "-".to_string() } else { format_fixed(value, digits) };
            table.add_row(vec![
                method.name().into(),
                number(all.crps, 1).into(),
                number(all.error[1], 1).into(),
                unless_point(method.is_point(), format_share(all.coverage[0])).into(),
                unless_point(method.is_point(), format_share(all.coverage[1])).into(),
                unless_point(method.is_point(), number(all.width[1], 0)).into(),
            ]);
        }
        document.add_table(table);
        self.add_repeated(&mut document);
        document.add_text("More: --details (by state, skill, methods)   --report out.html (page with plots)");
        document
    }
}

impl Printable for Scores {
    fn render_document(&self) -> Document {
        let answers = &self.found;
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        let mut facts = report::determined_facts(&self.workload, &self.experiment);
        facts.push(("policy".to_string(), self.policy.text.clone()));
        facts.push((
            "questions".to_string(),
            format!(
                "{} of {} jobs that arrived; the first {} train only, {} have no outcome",
                format_count(answers.asked),
                format_count(answers.jobs),
                format_count(answers.trained),
                format_count(answers.unsettled)
            ),
        ));
        facts.push((
            "wait from the question on".to_string(),
            format!("mean {} min, median {} min", format_fixed(answers.wait[0], 0), format_fixed(answers.wait[1], 0)),
        ));
        document.add_facts(facts);
        document.add_heading("Forecasts at arrival of jobs that wait, in minutes");
        let rows: Vec<_> = answers
            .methods
            .iter()
            .map(|score| (score.method.name().to_string(), score.method.is_point(), &score.all))
            .collect();
        document.add_table(score_table(&rows, ["method", "jobs"]));
        self.add_repeated(&mut document);
        if let Some(own_score) = calibrated_score(answers) {
            document.add_heading("The calibrated answer by state");
            let rows: Vec<_> = own_score
                .by_state
                .iter()
                .filter(|(_, score)| score.questions > 0)
                .map(|(state, score)| (state.name().to_string(), own_score.method.is_point(), score))
                .collect();
            document.add_table(score_table(&rows, ["state", "jobs"]));
        }
        document.add_heading("Skill of the calibrated answer: 1 - CRPS / CRPS, in %");
        let mut skills = DocumentTable::new(["over", "skill", "from", "to", "unanswered"]);
        for score in &answers.methods {
            let Some(skill) = score.skill else { continue };
            skills.add_row(vec![
                score.method.name().into(),
                format_fixed(100.0 * skill.skill, 1).into(),
                format_fixed(100.0 * skill.low, 1).into(),
                format_fixed(100.0 * skill.high, 1).into(),
                format_count(score.all.unanswered).into(),
            ]);
        }
        document.add_table(skills);
        document.add_heading("Methods");
        document.add_facts(
            answers
                .methods
                .iter()
                .map(|score| (score.method.name().to_string(), score.method.meaning().to_string()))
                .collect(),
        );
        document.add_heading("Verdict");
        document.add_text(self.verdict.join("\n"));
        document
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| self.short_document())
    }

    fn render_page(&self) -> Result<String, CommandFailure> {
        self.render_html()
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for score in &self.found.methods {
            let (interval, without_worst) = (score.interval, score.without_worst.map(|pair| pair[1]));
            let whole = [("all".to_string(), &score.all)];
            let states = score.by_state.iter().map(|(state, score)| (state.name().to_string(), score));
            for (state, s) in whole.into_iter().chain(states) {
                let mut row = report::input_columns(&self.workload, &self.policy, &self.experiment);
                row.add_text("method", score.method.name());
                row.add_text("state", state);
                row.add_number("questions", Some(s.questions as f64));
                row.add_number("unanswered", Some(s.unanswered as f64));
                add_numbers(&mut row, s);
                let of_all = |value: Option<f64>| value.filter(|_| std::ptr::eq(s, &raw const score.all));
                row.add_number("crps_low_min", of_all(interval.map(|interval| interval[0])));
                row.add_number("crps_high_min", of_all(interval.map(|interval| interval[1])));
                row.add_number("crps_without_worst_min", of_all(without_worst));
                rows.push(row);
            }
        }
        for (method, score) in self.found.again.iter().flat_map(|again| &again.methods) {
            let mut row = report::input_columns(&self.workload, &self.policy, &self.experiment);
            row.add_text("method", method.name());
            row.add_text("state", "asked again");
            row.add_number("questions", Some(score.questions as f64));
            row.add_number("unanswered", Some(score.unanswered as f64));
            add_numbers(&mut row, score);
            rows.push(row);
        }
        rows
    }
}

fn add_numbers(row: &mut FlatRow, s: &ForecastScore) {
    let of = |value: f64| (s.questions > 0).then_some(value);
    for (name, value) in [
        ("crps_min", s.crps),
        ("log_crps", s.log_crps),
        ("pinball_10_min", s.pinball[0]),
        ("pinball_50_min", s.pinball[1]),
        ("pinball_90_min", s.pinball[2]),
        ("pinball_95_min", s.pinball[3]),
        ("coverage_50", s.coverage[0]),
        ("coverage_90", s.coverage[1]),
        ("started_by_p95", s.by_95),
        ("width_50_min", s.width[0]),
        ("width_90_min", s.width[1]),
        ("error_p50_mean_min", s.error[0]),
        ("error_p50_median_min", s.error[1]),
        ("later_than_p50", s.later),
        ("calibration_error", s.calibration_error),
    ] {
        row.add_number(name, of(value));
    }
    for (bin, share) in s.pit.iter().enumerate() {
        row.add_number(format!("pit_{}", bin * 10), of(*share));
    }
}

#[cfg(test)]
mod tests {
    use super::compare_with_baseline;

    #[test]
    fn a_better_baseline_is_called_that() {
        let text = |values| compare_with_baseline("waits", values);
        assert!(text([0.2, 0.1, 0.3]).ends_with("have 20.0% less CRPS (95% interval: 10.0 to 30.0%)."));
        assert!(
            text([0.2, -0.1, 0.3])
                .ends_with("20.0% less CRPS (95% interval: -10.0 to 30.0%; the interval contains zero).")
        );
        assert!(
            text([-0.2, -0.3, 0.1])
                .ends_with("20.0% more CRPS (95% interval: -10.0 to 30.0%; the interval contains zero).")
        );
        let worse = text([-0.2, -0.3, -0.1]);
        assert!(
            worse
                .ends_with("20.0% more CRPS (95% interval: 10.0 to 30.0%; that baseline is the better forecast here)."),
            "{worse}"
        );
    }
}
