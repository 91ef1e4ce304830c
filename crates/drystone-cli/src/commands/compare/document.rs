//! A comparison as tables for people.

use super::classes;
use super::result::{CompareResult, FigureSection};
use crate::commands::headroom::result::remark;
use crate::output::columns::{self, TextColumn};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{NONE, exact_percent, percent, speed};
use crate::output::{excess, report};
use drystone::metrics::{Comparison, LEAST_WEEKS, Metric, Report, ResourceUse};
use drystone_headroom::DelayMeasure;
use drystone_report::{
    PolicyResult, changes_table, disruptions_table, loads_table, pools_table, power_table, promises_table, sizes_table,
};

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
        (FigureSection::LongestWait, "Some jobs wait much longer".to_string()),
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
        let Comparison { basis, options, .. } = &result.comparison;
        let intervals = match basis {
            None => format!("no intervals: fewer than {LEAST_WEEKS} weeks"),
            Some(basis) => {
                let confidence = exact_percent(options.confidence);
                format!("{confidence} intervals from {}; \"unclear\": may be noise", basis.describe("week"))
            }
        };
        document.heading(format!("Change against {} ({intervals})", result.baseline));
        document.table(changes_table(&result.results, &result.comparison));
    }
    document.heading("Promises and predictions");
    document.table(promises_table(&result.results));
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
        document.table(disruptions_table(&result.results));
    }
    if result.results.iter().any(|r| r.report.sizes.is_some()) {
        document.heading("Sizes of jobs");
        document.table(sizes_table(&result.results));
    }
    if result.results.iter().any(|r| r.report.sizes.as_ref().is_some_and(|sizes| sizes.power.is_some())) {
        document.heading("Power");
        document.table(power_table(&result.results));
    }
    let pools: Vec<_> = result.results.iter().map(|r| (Some(r.name()), r.pools.as_slice())).collect();
    if pools.iter().any(|(_, pools)| !pools.is_empty()) {
        document.heading("By pool");
        document.table(pools_table(&pools));
    }
    classes::categories(result, document);
    if !result.loads.is_empty() {
        document.heading("At other loads");
        document.table(loads_table(&result.loads));
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
    let heads = first.iter().map(|one| {
        let most = if one.average.is_some() { " at most" } else { "" };
        format!("{} of {}{most}", one.name, one.unit.show(one.total))
    });
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
    let overview = columns::overview(result.study());
    let (mut heads, beside) = columns::heads(&["policy"], &overview);
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
        row.extend(overview.iter().map(|column| figure(shown, one, column)));
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
