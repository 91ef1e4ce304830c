//! The advice for people.

use super::advised::Advised;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{
    TimeColumn, TimeUnit, format_bound, format_change, format_count, format_duration, format_fixed, format_percent,
    format_plural, in_unit,
};
use drystone::inference::{NoEstimate, says_nothing};
use drystone::metrics::MetricUnit;
use drystone_advise::{AdviceReason, AdvisedWay, Figured, GoalFigure, Tried, UnseenTest};
use drystone_whatif::ClassChange;

/// Ways in which a site can change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiteWay {
    Settings,
    Live,
    Limits,
}

/// Most classes that are listed as gaining or paying.
const PAYERS: usize = 8;
/// Most of what was tried that is listed.
pub(super) const LISTED: usize = 12;

/// Everything, with so many of the candidates.
pub(super) fn render_document(result: &Advised, candidate_limit: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(result.workload.format_line());
    document.add_facts(advice_facts(result));
    let advice = &result.advice;
    if result.settings_tried {
        document.add_heading("Settings of Slurm");
        append_answer(&mut document, result, (&advice.settings, &result.pays.settings), SiteWay::Settings);
    }
    if result.live_tried {
        document.add_heading("Another policy, with `drystone live`");
        append_answer(&mut document, result, (&advice.live, &result.pays.live), SiteWay::Live);
    }
    if result.limits_tried {
        document.add_heading("Limits of partitions and QOS");
        append_answer(&mut document, result, (&advice.limits, &result.pays.limits), SiteWay::Limits);
    }
    if !advice.tried.is_empty() {
        document.add_heading("Candidates over all periods, best first");
        document.add_table(trial_table(result, candidate_limit));
    }
    if let [first, .., last] = advice.front.as_slice() {
        document
            .add_heading(format!("The trade-off, from the best goal ({first}) to the shortest longest wait ({last})"));
        document.add_table(front_table(result));
    }
    advice_notes(result).into_iter().for_each(|note| document.add_text(note));
    let hidden_count = advice.tried.len().saturating_sub(candidate_limit.saturating_add(3));
    if hidden_count > 0 {
        document.add_text(format!(
            "{} more were tried; --format csv lists them. `goal` is the change of the goal.",
            format_fixed(hidden_count as f64, 0)
        ));
    }
    document
}

/// The trade-off between the goal and the longest wait.
fn front_table(result: &Advised) -> DocumentTable {
    let figures = &result.baseline.figures;
    let place = |id: &str| figures.iter().position(|(name, ..)| name == id);
    let mut table = DocumentTable::new(["what", "goal", "mean wait", "longest wait"]);
    for name in &result.advice.front {
        let Some(trial) = result.advice.tried.iter().find(|trial| trial.name == *name) else { continue };
        let value = |id: &str| {
            place(id).and_then(|at| trial.values.get(at)).map_or("-".to_string(), |&value| format_duration(value))
        };
        let label = if trial.live { format!("live: {name}") } else { name.clone() };
        table.add_row(vec![
            label.into(),
            format_change(trial.change).into(),
            value("avgW").into(),
            value("maxW").into(),
        ]);
    }
    table
}

fn advice_facts(result: &Advised) -> Vec<(String, String)> {
    let advice = &result.advice;
    let guards = if result.guards.is_empty() { "none".to_string() } else { result.guards.join(", ") };
    let beyond = result.excess_beyond.map_or(String::new(), |seconds| {
        format!(" (Tw: waits beyond {}, which 98% of the jobs do not wait now)", format_duration(seconds))
    });
    let periods = format_plural(advice.periods as u64, result.period.name());
    let edges = if result.edges_left_out { ", without the first and the last" } else { "" };
    let conf = result.slurm.clone().unwrap_or_else(|| "none; Slurm's defaults".to_string());
    let facts = [
        ("drystone", result.drystone.to_string()),
        ("workload hash", result.workload.hash.clone()),
        ("goal", format!("{}{beyond}", result.goal)),
        ("guards", guards),
        ("slurm.conf", conf),
        ("passes", describe_passes(result)),
        (
            "judged by",
            format!(
                "{periods}{edges}; {} judgements; {} clock phases; seed {}",
                advice.settings.judged.of, advice.phases, result.seed
            ),
        ),
        ("clock phases alone", format!("change the goal by up to {}", format_percent(Some(advice.spread), 1))),
        ("simulations", format_count(advice.simulations as u64)),
    ];
    let part = result.recent.iter().map(|part| ("part", part.format_sentence()));
    part.chain(facts).map(|(name, value)| (name.to_string(), value)).collect()
}

fn describe_passes(result: &Advised) -> String {
    let cost = format!("{} µs for each job tested ({})", result.cost.micros, result.cost.source);
    match result.instantaneous {
        false => cost,
        true => {
            format!("{cost}; at most {} jobs wait, so that does not matter here", format_count(result.most_waiting))
        }
    }
}

fn append_answer(
    document: &mut Document,
    result: &Advised,
    (answer, pays): (&AdvisedWay, &[ClassChange]),
    way: SiteWay,
) {
    for (at, sentence) in way_verdict(result, answer, way).into_iter().enumerate() {
        document.add_text(sentence);
        // What to write stands right behind what to do.
        if at == 0 && answer.is_recommended() && way == SiteWay::Settings {
            document.add_facts(answer.edits.iter().map(edit_line).collect());
        }
    }
    if answer.best.is_some() {
        let mut table = DocumentTable::new(["over all periods", "now", "then", "change", "95% interval"]);
        for figure in &answer.figures {
            let show = |value| in_unit(Some(value), figure.unit.unwrap_or(MetricUnit::Ratio));
            let tone = match figure.interval {
                Some((_, high)) if high < 0.0 => Tone::Good,
                Some((low, _)) if low > 0.0 => Tone::Bad,
                _ => Tone::Plain,
            };
            table.add_row(vec![
                format!("{} ({})", figure.name, figure.figure).into(),
                show(figure.before).into(),
                show(figure.after).into(),
                TableValue::toned_text(format_change(figure.change), tone),
                describe_certainty(figure).into(),
            ]);
        }
        document.add_table(table);
    }
    if !pays.is_empty() {
        document.add_table(class_table(pays, PAYERS));
    }
}

/// Classes of jobs that gain or pay, with their waits.
pub(super) fn class_table(pays: &[ClassChange], most: usize) -> DocumentTable {
    let shown_classes: Vec<&ClassChange> =
        pays.iter().filter(|class| class.change.change_sign() != 0).take(most).collect();
    let longest = shown_classes.iter().map(|class| class.change.before.max(class.change.after)).fold(0.0, f64::max);
    let unit = TimeUnit::for_seconds(longest);
    let column =
        TimeColumn::in_unit(unit, &shown_classes.iter().map(|class| class.change.difference).collect::<Vec<_>>());
    let mut table = DocumentTable::new([
        "who gains and who pays".to_string(),
        "of work".to_string(),
        format!("wait now, {}", unit.name()),
        "difference".to_string(),
        "node-h waited".to_string(),
    ]);
    for class in shown_classes {
        let tone = if class.change.change_sign() > 0 { Tone::Bad } else { Tone::Good };
        let name = match class.by.as_str() {
            "partition" | "account" => format!("{} {}", class.by, class.class),
            _ => class.class.clone(),
        };
        let hours = format_fixed(class.change.node_hours, 0);
        let hours = if class.change.node_hours > 0.0 { format!("+{hours}") } else { hours };
        table.add_row(vec![
            name.into(),
            format_percent(Some(class.work), 0).into(),
            unit.format_seconds(Some(class.change.before)).into(),
            TableValue::toned_text(column.format_difference(class.change.difference), tone),
            hours.into(),
        ]);
    }
    table
}

/// Returns the position of a line, and the line.
pub(super) fn edit_line(edit: &drystone_advise::ConfEdit) -> (String, String) {
    let place = edit.replaces.as_ref().map_or("add".to_string(), |place| format!("in place of {place}"));
    (place, edit.line.clone())
}

fn format_interval((low, high): (f64, f64)) -> String {
    format!("{} to {}%", format_bound(low), format_bound(high))
}

/// The interval of a figure, or the reason for none.
fn describe_certainty(figure: &Figured) -> String {
    match (figure.interval, figure.no_interval) {
        (Some(ends), _) if says_nothing(ends) => "nothing can be said".to_string(),
        (Some(ends), _) => format_interval(ends),
        (None, Some(NoEstimate::OneBlock)) => "one block holds all".to_string(),
        (None, Some(NoEstimate::TooFew)) => "too few weeks".to_string(),
        (None, Some(NoEstimate::NoRatio)) => "0 before".to_string(),
        (None, None) => "one job's value".to_string(),
    }
}

/// Describes what choices are worth on blocks of periods that they were not made on.
pub(super) fn describe_unseen(answer: &AdvisedWay, period: &str) -> Option<String> {
    let UnseenTest { change: relative, interval: ends, signs, .. } = &answer.unseen;
    let ends = match ends {
        Some(ends) if says_nothing(*ends) => String::new(),
        Some(ends) => format!(" ({})", format_interval(*ends)),
        None => String::new(),
    };
    let better = format!("better in {} of {} {period}s", signs.shorter, signs.week_count());
    Some(format!("judged on {period}s that it was not chosen by: {}{ends}, {better}", format_change((*relative)?)))
}

/// Describes the further periods that would tell a change of 10 %.
pub(super) fn more_periods(answer: &AdvisedWay, period: &str) -> String {
    match answer.unseen.more_periods {
        Some(more) if more > 0 => {
            let more = format_plural(more as u64, &format!("more {period}"));
            format!("; about {more} like these would tell a change of 10%")
        }
        _ => String::new(),
    }
}

fn describe_action(way: SiteWay, name: &str) -> String {
    match way {
        SiteWay::Live => format!("Run {name}"),
        SiteWay::Settings => format!("Set {name}"),
        SiteWay::Limits => format!("Change `{name}`"),
    }
}

/// Returns the advice, its reason, and its certainty.
fn way_verdict(result: &Advised, answer: &AdvisedWay, way: SiteWay) -> Vec<String> {
    let judgement = &answer.judged;
    let period = result.period.name();
    let mut sentences = Vec::new();
    let name = answer.best.as_ref().map_or(String::new(), |best| best.name.clone());
    let best = answer.best.as_ref().map_or(String::new(), |best| {
        let interval = answer
            .interval
            .filter(|i| !says_nothing(*i))
            .map_or(String::new(), |i| format!(" ({})", format_interval(i)));
        format!("Best over all {period}s: {name}, {}{interval}.", format_change(best.change))
    });
    let leave = if way == SiteWay::Live { "Keep Slurm's own scheduler." } else { "Leave it as it is." };
    let sure = format!("better on unseen {period}s in {} of {} judgements", judgement.better, judgement.of);
    let actual_change = judgement.got.map_or(String::new(), format_change);
    let spread = format_percent(Some(result.advice.spread), 1);
    match answer.reason {
        AdviceReason::Recommended => {
            let action = describe_action(way, &name);
            let between = judgement.between.map_or(String::new(), |b| format!(", mostly {}", format_interval(b)));
            sentences.push(format!(
                "{action}: the goal changes by {actual_change} on {period}s that were not used to choose{between}."
            ));
            let unseen =
                describe_unseen(answer, period).map_or(String::new(), |text| format!(" {}.", capitalise_text(&text)));
            sentences.push(format!("Certainty: {sure}.{unseen} {best}"));
            let contradicts = |text: &String| {
                format!(
                    "Beware: {text}. The simulation finds that it pays all the same; a job that needs such a plan may wait longer."
                )
            };
            sentences.extend(answer.contradictions.iter().map(contradicts));
        }
        AdviceReason::NothingBetter => {
            let of = match way {
                SiteWay::Live => "Nothing".to_string(),
                _ => format!("Of the candidates tried in all {} clock phases none", result.advice.phases),
            };
            sentences.push(format!(
                "{leave} {of} that keeps the guards improves on the present by more than the {spread} that Slurm's timing alone causes."
            ));
        }
        AdviceReason::NotHeld => {
            sentences.push(format!(
                "{leave} What was chosen on some {period}s did not hold on the others: {sure}, {actual_change} on average. {best}"
            ));
        }
        AdviceReason::WithinSpread => {
            sentences.push(format!(
                "{leave} What was chosen on some {period}s is worth {actual_change} on the others, no more than the {spread} that Slurm's timing alone causes. {best}"
            ));
        }
        AdviceReason::Unclear => {
            let unseen =
                describe_unseen(answer, period).map_or(String::new(), |text| format!(" {}.", capitalise_text(&text)));
            sentences.push(format!(
                "{} cannot tell{}.{unseen} {best} It was {sure}.",
                format_plural(result.advice.periods as u64, period),
                more_periods(answer, period)
            ));
        }
        AdviceReason::TooFewPeriods => {
            sentences.push(format!(
                "Nothing can be recommended: the log has {}, and to choose on some and judge on others takes four weeks at least. {best}",
                format_plural(result.advice.periods as u64, period)
            ));
        }
        AdviceReason::Unfinished => {
            sentences.push(format!("Nothing is recommended yet: it was stopped before this was judged. {best}"));
        }
        AdviceReason::Unnoticed => {
            sentences
                .push(format!("{leave} The best changes the goal by less than a user notices. {best} It was {sure}."));
        }
        AdviceReason::InsideReplayError => {
            sentences.push(format!(
                "{leave} The best changes the goal by less than the simulation's error against the site's records. \
                 {best} It was {sure}."
            ));
        }
    }
    sentences.extend(describe_payers(answer));
    sentences.extend(describe_promises(result, answer, period));
    let chosen: Vec<String> =
        judgement.chosen.iter().take(3).map(|(name, times)| format!("{name} {times} times")).collect();
    if judgement.of > 0 && !chosen.is_empty() && answer.best.is_some() {
        sentences.push(format!("Chosen most often: {}.", chosen.join("; ")));
    }
    sentences
}

/// Compares the changes that choices promised with those that they had on other periods; `None`
/// where one choice or none was judged.
fn describe_promises(result: &Advised, answer: &AdvisedWay, period: &str) -> Option<String> {
    let judgement = &answer.judged;
    if judgement.pairs.len() <= 1 || judgement.promised.is_none() {
        return None;
    }
    let promised_change = judgement.promised.map_or(String::new(), format_change);
    let guards = match result.guards.is_empty() {
        true => String::new(),
        false => format!(" The guards held there in {} of {}.", judgement.kept, judgement.pairs.len()),
    };
    let unchosen_note = match judgement.left {
        0 => String::new(),
        empty_count => format!(" In {empty_count} of {} nothing was chosen.", judgement.of),
    };
    Some(format!(
        "Promise and what came of it: choices promised {promised_change} on the {period}s they were made on; in {} of {} they were worth at \
         least half of that on the others.{guards}{unchosen_note}",
        judgement.half,
        judgement.pairs.len()
    ))
}

/// Returns the classes of jobs that pay for the best suggestion: their wait becomes clearly longer.
pub(super) fn describe_payers(answer: &AdvisedWay) -> Option<String> {
    let pays = |f: &&drystone_advise::Figured| {
        f.name.contains(" wait of jobs of ")
            && f.after - f.before >= 60.0
            && f.interval.is_some_and(|(low, _)| low > 0.0)
    };
    let text = |f: &drystone_advise::Figured| {
        let (after, before) = (format_duration(f.after), format_duration(f.before));
        format!("{} {after} instead of {before} ({})", f.name, format_change(f.change))
    };
    let payers: Vec<&drystone_advise::Figured> = answer.figures.iter().filter(pays).collect();
    let first = payers.first()?;
    let payer_texts: Vec<String> = payers.iter().copied().map(text).collect();
    let guard = format!("{}<+10%", first.figure);
    Some(format!("Longer waits: {}. A guard can bound that, such as --guard '{guard}'.", payer_texts.join("; ")))
}

fn trial_table(result: &Advised, row_limit: usize) -> DocumentTable {
    let figures = &result.baseline.figures;
    let mut columns = vec!["what".to_string(), "goal".to_string()];
    let mut shown_figures: Vec<usize> = Vec::new();
    for (at, (name, of, _)) in figures.iter().enumerate() {
        let is_unasked =
            matches!(of, GoalFigure::Widths { .. }) && !result.guards.iter().any(|guard| guard.starts_with(name));
        if !columns.contains(name) && !is_unasked {
            columns.push(name.clone());
            shown_figures.push(at);
        }
    }
    columns.extend(["guards".to_string(), "phases".to_string()]);
    let mut table = DocumentTable::new(columns);
    let trials = &result.advice.tried;
    let baseline = trials.iter().position(|trial| trial.name == "as it is");
    let list = (0..trials.len()).filter(|&at| at < row_limit || Some(at) == baseline || at + 2 >= trials.len());
    for at in list {
        let trial: &Tried = &trials[at];
        let mut row: Vec<TableValue> = vec![trial.name.as_str().into(), format_change(trial.change).into()];
        row.extend(shown_figures.iter().map(|&at| in_unit(Some(trial.values[at]), figures[at].1.unit()).into()));
        row.push(if trial.keeps { "kept".into() } else { TableValue::toned_text("broken", Tone::Bad) });
        // A live policy has no clock of Slurm.
        row.push(if trial.live { "-".into() } else { format_count(trial.phases as u64).into() });
        table.add_row(row);
    }
    table
}

/// Returns the assumptions of the advice.
pub(super) fn advice_notes(result: &Advised) -> Vec<String> {
    let mut notes = Vec::new();
    if result.stopped {
        notes.push("It was stopped before all candidates were tried: a better one may be missing.".to_string());
    }
    if !result.cost.measured_here && !result.instantaneous && result.settings_tried {
        notes.push(
            "The speed of the site's passes is not known: depths (bf_max_job_test, bf_interval, bf_continue) are judged with a usual cost. \
             --sdiag FILE takes the site's own."
                .to_string(),
        );
    }
    if result.period == drystone_advise::PeriodLength::Day {
        notes.push(
            "There are fewer than four weeks. Days follow each other too closely to judge by: nothing is recommended."
                .to_string(),
        );
    }
    if let Some(replay) = &result.replay {
        notes.push(replay.format_sentence());
    }
    if result.live_tried && result.counts_processors {
        notes.push(
            "Live policies count processors here, while Slurm finds places on nodes: part of their gain is that."
                .to_string(),
        );
    }
    if !result.not_tried.is_empty() {
        notes.push(format!(
            "Not tried, because it takes long on this log or does not fit it: {}.",
            result.not_tried.join(", ")
        ));
    }
    notes
}

/// The verdicts as sentences, for pages.
pub(super) fn verdict_sentences(result: &Advised) -> Vec<String> {
    let mut sentences = Vec::new();
    if result.settings_tried {
        sentences.extend(prefix_sentences(
            "Settings of Slurm: ",
            way_verdict(result, &result.advice.settings, SiteWay::Settings),
        ));
    }
    if result.live_tried {
        sentences
            .extend(prefix_sentences("With drystone live: ", way_verdict(result, &result.advice.live, SiteWay::Live)));
    }
    if result.limits_tried {
        sentences.extend(prefix_sentences("Limits: ", way_verdict(result, &result.advice.limits, SiteWay::Limits)));
    }
    sentences.extend(advice_notes(result));
    sentences
}

fn capitalise_text(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn prefix_sentences(prefix: &str, sentences: Vec<String>) -> Vec<String> {
    let first = |(at, sentence): (usize, String)| if at == 0 { format!("{prefix}{sentence}") } else { sentence };
    sentences.into_iter().enumerate().map(first).collect()
}
