//! A comparison as tables for people.

use super::classes;
use super::result::{CompareResult, FigureSection};
use crate::commands::headroom::result::remark;
use crate::output::columns::{self, OVERVIEW, TextColumn};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{NONE, bound, change, count, duration, exact_percent, fixed_or, minutes, percent, speed};
use crate::output::{excess, report};
use drystone::metrics::{
    Comparison, LEAST_WEEKS, Measure, Metric, MetricChange, MetricVerdict, PromisesKept, Report, ResourceUse,
};
use drystone_headroom::DelayMeasure;
use drystone_report::PolicyResult;

/// Note on two adjacent columns, which may be of different jobs.
const RESERVATION_ERROR: &str = "Promised: jobs with a start announced beforehand. Reservation error: |start - first reservation| over all \
    jobs that waited and had one, even at the very pass that started them.";

/// Everything but what was asked for in fewer words.
pub(super) fn document(result: &CompareResult) -> Document {
    let mut document = Document::default();
    document.heading(result.workload.line());
    let mut facts = report::determined_facts(&result.workload, &result.experiment);
    if let Some(counted) = result.counted() {
        facts.push(("jobs that count".to_string(), counted));
    }
    if let Some(recorded) = &result.recorded
        && let Some(baseline) = result.results.iter().find(|r| r.policy.text == result.baseline)
    {
        facts.push(("waits in the log".to_string(), recorded.fact(&result.baseline, &baseline.report)));
    }
    document.facts(facts);
    let of = |standing: FigureSection| -> Vec<&PolicyResult> {
        result.results.iter().filter(|one| result.standing(one) == standing).collect()
    };
    document.table(figures(result, &of(FigureSection::Choice)));
    for (standing, heading) in [
        (FigureSection::Worse, format!("Longer mean wait than under {}", result.baseline)),
        (FigureSection::LongestWait, "Much longer worst wait".to_string()),
        (FigureSection::Reference, "For reference only (knows run times or suspends jobs)".to_string()),
    ] {
        let apart = of(standing);
        if !apart.is_empty() {
            document.heading(heading);
            document.table(figures(result, &apart));
        }
    }
    report::say_if_inexact(&mut document, result.results.iter().flat_map(|r| report::summaries(&r.report)));
    if !result.comparison.policies.is_empty() {
        let Comparison { weeks, options, .. } = &result.comparison;
        let intervals = if *weeks < LEAST_WEEKS {
            format!("no intervals: fewer than {LEAST_WEEKS} weeks")
        } else {
            let confidence = exact_percent(options.confidence);
            format!("{confidence} intervals from {weeks} weeks; \"unclear\": may be noise")
        };
        document.heading(format!("Change against {} ({intervals})", result.baseline));
        document.table(against_baseline(result));
    }
    document.heading("Promises and predictions");
    document.table(promises(result));
    let predicted = |r: &PolicyResult| r.report.predictability.as_ref().is_some_and(|p| p.difference.mean.is_some());
    if result.results.iter().any(predicted) {
        document.text(RESERVATION_ERROR);
    }
    classes::delays(result, &mut document);
    classes::slowdown_ratios(result, &mut document);
    use_of_resources(result, &mut document);
    asked_for(result, &mut document);
    if !result.verdict.is_empty() {
        document.heading("Verdict");
        document.text(result.verdict.join("\n"));
    }
    document
}

/// The use of resources beyond processors, where jobs ask for any.
pub(super) fn use_of_resources(result: &CompareResult, document: &mut Document) {
    if let Some(table) = resources(result) {
        document.heading("Use of resources");
        document.table(table);
    }
}

/// The sections that an option asks for, whatever else is printed.
pub(super) fn asked_for(result: &CompareResult, document: &mut Document) {
    let reports: Vec<(&str, &Report)> = result.results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    for (heading, table) in excess::tables(&reports) {
        document.heading(heading);
        document.table(table);
    }
    // Those of a site come with it.
    let named = result.whole || result.replay.is_none();
    if named && result.results.iter().any(|r| r.report.disruptions.is_some()) {
        document.heading("Outages and holds");
        document.table(disruptions(result));
    }
    let pools: Vec<_> = result.results.iter().map(|r| (Some(r.name()), r.pools.as_slice())).collect();
    if pools.iter().any(|(_, pools)| !pools.is_empty()) {
        document.heading("By pool");
        document.table(report::pools(&pools));
    }
    classes::categories(result, document);
    if !result.loads.is_empty() {
        document.heading("At other loads");
        document.table(other_loads(result));
        classes::at_loads(result, document);
    }
    if let Some(bracket) = result.headroom.as_ref().filter(|_| !result.whole) {
        document.heading("Mean wait that a better schedule would save");
        let mut table = DocumentTable::new(["policy", "found saves", "at most"]);
        for one in &result.results {
            let mut row: Vec<TableValue> = vec![one.name().into()];
            row.extend(bracket.columns(&one.policy.text).map(TableValue::from));
            table.row(row);
        }
        document.table(table);
        remark(bracket, DelayMeasure::Wait, &result.baseline).into_iter().for_each(|text| document.text(text));
    }
    if !result.whole && result.results.iter().any(|r| r.timing.is_some()) {
        document.heading("Speed");
        document.table(speeds(result));
    }
}

/// The use of each resource beyond processors under each policy; `None` where there is none.
fn resources(result: &CompareResult) -> Option<DocumentTable> {
    // A resource of the machine that no job asks for says nothing about policies.
    let asked = |used: &&ResourceUse| used.jobs > 0;
    let first: Vec<&ResourceUse> = result.results.first()?.report.resources.iter().filter(asked).collect();
    let heads = first.iter().map(|one| format!("{} of {}", one.name, one.unit.show(one.total)));
    let mut table = DocumentTable::new(std::iter::once("policy".to_string()).chain(heads));
    for one in &result.results {
        let mut row: Vec<TableValue> = vec![one.name().into()];
        let used = one.report.resources.iter().filter(asked);
        row.extend(used.map(|used| TableValue::from(percent(used.utilisation, 1))));
        table.row(row);
    }
    (!first.is_empty()).then_some(table)
}

/// Simulated jobs per second.
fn speeds(result: &CompareResult) -> DocumentTable {
    let mut table = DocumentTable::new(["policy", "jobs/s"]);
    for one in &result.results {
        let jobs = one.timing.map_or_else(|| NONE.to_string(), |timing| speed(timing.jobs_per_second));
        table.row(vec![one.name().into(), jobs.into()]);
    }
    table
}

/// The figures of every policy, the best of each column set off.
fn figures(result: &CompareResult, shown: &[&PolicyResult]) -> DocumentTable {
    let timed = result.results.iter().any(|r| r.timing.is_some());
    let (mut heads, beside) = columns::heads(&["policy"], &OVERVIEW);
    heads.push("period utilisation");
    if result.headroom.is_some() {
        heads.extend(["found saves", "at most"]);
    }
    if timed {
        heads.push("jobs/s");
    }
    let mut table = DocumentTable::new(heads).beside(&beside);
    for one in shown {
        let mut row: Vec<TableValue> = vec![one.name().into()];
        row.extend(OVERVIEW.iter().map(|column| figure(shown, one, column)));
        row.push(percent(Metric::Utilisation.of(&one.report), 1).into());
        if let Some(bracket) = &result.headroom {
            row.extend(bracket.columns(&one.policy.text).map(TableValue::from));
        }
        if let Some(timing) = one.timing {
            row.push(speed(timing.jobs_per_second).into());
        }
        table.row(row);
    }
    table
}

/// A value of a policy, set off where it is the best of its column.
fn figure(shown: &[&PolicyResult], one: &PolicyResult, column: &TextColumn) -> TableValue {
    let value = column.metric.of(&one.report);
    let values = shown.iter().filter_map(|r| column.metric.of(&r.report));
    let is_best = column.best && value == Some(values.fold(f64::INFINITY, f64::min));
    TableValue::toned((column.show)(value), if is_best { Tone::Strong } else { Tone::Plain })
}

fn against_baseline(result: &CompareResult) -> DocumentTable {
    let mut table =
        DocumentTable::new(["policy", "mean wait", "mean response", "mean bounded slowdown", "longest wait"])
            .texts(&[0, 1, 2, 3]);
    for one in &result.results {
        let name = &one.policy.text;
        let Some(changes) = result.changes(name) else { continue };
        let cell =
            |metric: Metric| changes.iter().find(|c| c.metric == metric).map_or_else(|| NONE.into(), change_value);
        table.row(vec![
            one.name().into(),
            cell(Metric::Mean(Measure::Wait)),
            cell(Metric::Mean(Measure::Response)),
            cell(Metric::Mean(Measure::BoundedSlowdown)),
            cell(Metric::Max(Measure::Wait)),
        ]);
    }
    table
}

/// A change with its interval and what they say.
fn change_value(c: &MetricChange) -> TableValue {
    let Some(relative) = c.relative else { return TableValue::toned(NONE, Tone::Faint) };
    let text = change(relative);
    let Some((low, high)) = c.interval else { return text.into() };
    if c.verdict == MetricVerdict::Same {
        return TableValue::toned("same", Tone::Faint);
    }
    let (word, tone) = match c.verdict {
        MetricVerdict::Better => ("better", Tone::Good),
        MetricVerdict::Worse => ("worse", Tone::Bad),
        MetricVerdict::InsideReplayError => ("inside replay error", Tone::Faint),
        _ => ("unclear", Tone::Faint),
    };
    TableValue::toned(format!("{text} ({} to {}) {word}", bound(low), bound(high)), tone)
}

fn promises(result: &CompareResult) -> DocumentTable {
    // Trimming leaves no promise out.
    let trimmed = result.results.iter().any(|r| r.report.trimmed.kept < r.report.trimmed.seen);
    let mut table = DocumentTable::new([
        "policy",
        if trimmed { "promised, of all jobs" } else { "promised" },
        "broken",
        "worst delay",
        "reservation error, min",
        "median",
        "prediction accuracy",
        "corrections per job",
        "suspensions",
    ])
    .beside(&[5]);
    for one in &result.results {
        let PromisesKept { promised, broken, worst, .. } = one.promises;
        let p = one.report.predictability.as_ref();
        let broken_tone = if broken > 0 { Tone::Bad } else { Tone::Plain };
        table.row(vec![
            one.name().into(),
            count(promised).into(),
            TableValue::toned(if promised == 0 { NONE.to_string() } else { count(broken) }, broken_tone),
            worst.map_or_else(|| NONE.to_string(), |w| duration(w.delay().as_f64())).into(),
            minutes(p.and_then(|p| p.difference.mean)).into(),
            minutes(p.and_then(|p| p.difference.median)).into(),
            percent(p.and_then(|p| p.accuracy.mean), 1).into(),
            fixed_or(p.and_then(|p| p.corrections.mean), 2).into(),
            count(one.report.suspensions.total).into(),
        ]);
    }
    table
}

/// Tabulates the effects of the machine on jobs, and the waits that no policy chose.
fn disruptions(result: &CompareResult) -> DocumentTable {
    let mut table = DocumentTable::new([
        "policy",
        "capacity up",
        "jobs hit",
        "requeued",
        "lost",
        "processor-hours lost",
        "promises excused",
        "held back",
        "wait since eligible, min",
    ]);
    for one in &result.results {
        let Some(d) = &one.report.disruptions else { continue };
        table.row(vec![
            one.name().into(),
            percent(d.capacity_up, 2).into(),
            count(d.hits).into(),
            count(d.requeued).into(),
            count(d.lost).into(),
            fixed_or(Some(d.work_lost / 3_600.0), 1).into(),
            count(one.promises.excused).into(),
            count(d.held).into(),
            minutes(d.eligible_wait.mean).into(),
        ]);
    }
    table
}

/// Every policy at every other load.
fn other_loads(result: &CompareResult) -> DocumentTable {
    let mut table = DocumentTable::new([
        "factor",
        "offered load",
        "policy",
        "mean wait, min",
        "mean response, min",
        "mean bounded slowdown",
        "period utilisation",
    ]);
    for point in &result.loads {
        table.row(vec![
            point.factor.to_string().into(),
            percent(point.load, 1).into(),
            point.policy.clone().into(),
            minutes(point.wait).into(),
            minutes(point.response).into(),
            fixed_or(point.bounded_slowdown, 2).into(),
            percent(point.utilisation, 1).into(),
        ]);
    }
    table
}
