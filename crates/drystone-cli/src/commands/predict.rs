//! `drystone predict`: predictors alone on a log.

use super::predict_verdict;
use crate::args::PredictArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::WorkloadInput;
use crate::meta::{VERSION, WorkloadMeta};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{fixed_or, format_percent};
use crate::output::{self, Printable, ReportFile, file, message, report};
use drystone::metrics::{Foresight, Summary, judge_predictor};
use drystone::model::Span;
use drystone::parts::predict::parse_forecast;
use serde::Serialize;

/// Default predictors: users' estimates, the history of Tsafrir et al. 2007 in its windows, that of
/// Gaussier et al. 2015, a median, a cautious quantile, and the learner.
const DEFAULTS: [&str; 8] = [
    "estimate",
    "recent(2)",
    "recent(2,window=immediate)",
    "recent(2,window=extended)",
    "recent(2,recency=termination,above=clip)",
    "quantile(0.5)",
    "quantile(0.9)",
    "learn",
];

/// Pointer to the rest.
const MORE: &str = "More: --details (errors of jobs that ran longer and shorter, medians, settings)";

#[derive(Serialize)]
pub(crate) struct PredictResult {
    schema: &'static str,
    drystone: &'static str,
    workload: WorkloadMeta,
    predictors: Vec<PredictorJudgement>,
    verdict: Vec<String>,
    /// True prints everything, not only the overview.
    #[serde(skip)]
    whole: bool,
}

#[derive(Serialize)]
struct PredictorJudgement {
    /// As policies take it.
    predictor: String,
    /// True if it knows true run times.
    clairvoyant: bool,
    foresight: Foresight,
}

pub(crate) fn run_predict(args: &PredictArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let output_paths = [("--audit", args.cleaning.audit.as_deref()), ("--report", args.output.report.as_deref())];
    let log = args.source.require_path("predict")?;
    file::check_distinct(&[Some(log)], &output_paths)?;
    let report_file = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let input = WorkloadInput::read_workload(Some(log), &args.cleaning, 1, true)?;
    let mut result = judge_predictors(args, &input)?;
    if let Some(file) = report_file {
        result.whole = true;
        file.write_result(&result)?.publish()?;
    }
    result.whole = args.output.details;
    output::print_result(&result, args.output.format)?;
    Ok(DONE)
}

pub(crate) fn judge_predictors(args: &PredictArgs, input: &WorkloadInput) -> Result<PredictResult, CommandFailure> {
    let records = input.records.as_deref().unwrap_or_default();
    let waits: Vec<Span> = records.iter().map(|record| Span(record.wait.round())).collect();
    let texts = if args.predictor.is_empty() { DEFAULTS.map(String::from).to_vec() } else { args.predictor.clone() };
    let mut predictors = Vec::new();
    for predictor in texts {
        let mut forecast = parse_forecast(&predictor)?;
        let clairvoyant = forecast.predictor.is_clairvoyant();
        let foresight = judge_predictor(&input.workload, &waits, &mut forecast);
        predictors.push(PredictorJudgement { predictor, clairvoyant, foresight });
    }
    let judged_predictors: Vec<predict_verdict::JudgedPredictor<'_>> = predictors
        .iter()
        .map(|j: &PredictorJudgement| predict_verdict::JudgedPredictor {
            predictor: &j.predictor,
            clairvoyant: j.clairvoyant,
            foresight: &j.foresight,
        })
        .collect();
    let verdict = predict_verdict::predictor_verdict(&input.workload, &judged_predictors)?;
    Ok(PredictResult {
        schema: "drystone/predict/1",
        drystone: VERSION,
        workload: input.workload_meta(),
        predictors,
        verdict,
        whole: args.output.details,
    })
}

impl PredictResult {
    /// The verdict, and the main figures of each predictor.
    fn short_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_text(self.verdict.join("\n"));
        let mut table =
            DocumentTable::new(["predictor", "accuracy", "error, min", "p95, min", "from history", "too short"]);
        for j in &self.predictors {
            let (f, minutes) = (&j.foresight, |s: Option<f64>| fixed_or(s.map(|s| s / 60.0), 1));
            table.add_row(vec![
                j.predictor.clone().into(),
                format_percent(f.accuracy.mean, 1).into(),
                minutes(f.error.mean).into(),
                minutes(f.error.p95).into(),
                format_percent(f.coverage, 1).into(),
                format_percent(f.under_predicted_rate, 1).into(),
            ]);
        }
        document.add_table(table);
        document.add_text(MORE);
        document
    }
}

impl Printable for PredictResult {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_facts(vec![
            ("drystone".to_string(), VERSION.to_string()),
            ("workload hash".to_string(), self.workload.hash.clone()),
            ("settings".to_string(), self.workload.settings.format_pairs()),
        ]);
        document.add_heading("Predictions at arrival, from jobs that had ended by then in the log");
        let mut table = DocumentTable::new(["predictor", "coverage", "accuracy", "median", "under-predicted"]);
        for j in &self.predictors {
            let f = &j.foresight;
            table.add_row(vec![
                j.predictor.clone().into(),
                format_percent(f.coverage, 1).into(),
                format_percent(f.accuracy.mean, 1).into(),
                format_percent(f.accuracy.median, 1).into(),
                format_percent(f.under_predicted_rate, 1).into(),
            ]);
        }
        document.add_table(table);
        for (name, of) in PARTS {
            document.add_heading(format!("{name}, in minutes"));
            let mut table = DocumentTable::new(["predictor", "jobs", "mean", "median", "p90", "p95", "p99", "max"]);
            for j in &self.predictors {
                let Summary { count, mean, median, p90, p95, p99, max, .. } = of(&j.foresight).clone();
                let mut row = vec![j.predictor.clone().into(), output::number::format_count(count).into()];
                row.extend([mean, median, p90, p95, p99, max].map(|s| fixed_or(s.map(|s| s / 60.0), 1).into()));
                table.add_row(row);
            }
            document.add_table(table);
        }
        report::say_if_inexact(&mut document, self.predictors.iter().flat_map(|j| all_summaries(&j.foresight)));
        if !self.verdict.is_empty() {
            document.add_heading("Verdict");
            document.add_text(self.verdict.join("\n"));
        }
        document
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| self.short_document())
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for j in &self.predictors {
            let f = &j.foresight;
            let mut row = FlatRow::default();
            row.add_text("drystone", VERSION);
            row.add_text("workload", &self.workload.name);
            row.add_text("workload_hash", &self.workload.hash);
            row.add_text("settings", self.workload.settings.format_pairs());
            row.add_text("predictor", &j.predictor);
            row.add_number("jobs", Some(f.jobs as f64));
            row.add_number("coverage", f.coverage);
            if let Some(error) = report::largest_error(all_summaries(f)) {
                row.add_number("percentile_error", Some(error));
            }
            row.add_number("accuracy_mean", f.accuracy.mean);
            row.add_number("accuracy_median", f.accuracy.median);
            row.add_number("under_predicted_rate", f.under_predicted_rate);
            for (name, s) in [("error", &f.error), ("under", &f.under), ("over", &f.over)] {
                let values = [("mean", s.mean), ("median", s.median), ("p90", s.p90), ("p95", s.p95), ("p99", s.p99)];
                for (statistic, value) in values.into_iter().chain([("max", s.max)]) {
                    row.add_number(format!("{name}_{statistic}"), value);
                }
            }
            rows.push(row);
        }
        rows
    }
}

/// Everything that has percentiles.
fn all_summaries(foresight: &Foresight) -> impl Iterator<Item = &Summary> {
    PARTS.into_iter().map(move |(_, of)| of(foresight)).chain([&foresight.accuracy])
}

/// Errors and their two sides.
type ErrorSides = (&'static str, fn(&Foresight) -> &Summary);
const PARTS: [ErrorSides; 3] = [
    ("Error", |f| &f.error),
    ("Error of jobs that ran longer than predicted", |f| &f.under),
    ("Error of jobs that ended before their prediction", |f| &f.over),
];
