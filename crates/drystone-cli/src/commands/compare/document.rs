//! A comparison as tables for people.

use super::classes;
use super::result::{CompareResult, FigureSection};
use crate::commands::headroom::result::bracket_remark;
use crate::output::columns::{self, TextColumn};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{NONE, exact_percent, format_percent, format_speed};
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
pub(super) fn render_document(result: &CompareResult) -> Document {
    let mut document = Document::default();
    document.add_heading(result.workload.format_line());
    let mut facts = report::determined_facts(&result.workload, &result.experiment);
    if let Some(job_count) = result.describe_counted_jobs() {
        facts.push(("jobs that count".to_string(), job_count));
    }
    if let Some(waits) = &result.recorded
        && let Some(baseline) = result.results.iter().find(|r| r.policy.text == result.baseline)
    {
        facts.push(("waits in the log".to_string(), waits.format_fact(&result.baseline, &baseline.report)));
    }
    document.add_facts(facts);
    let of = |standing: FigureSection| -> Vec<&PolicyResult> {
        result.results.iter().filter(|policy_result| result.figure_section(policy_result) == standing).collect()
    };
    document.add_table(figure_table(result, &of(FigureSection::Choice)));
    for (standing, heading) in [
        (FigureSection::Worse, format!("Longer mean wait than under {}", result.baseline)),
        (FigureSection::LongestWait, "Some jobs wait much longer".to_string()),
        (FigureSection::Reference, "For reference only (knows run times or suspends jobs)".to_string()),
    ] {
        let apart = of(standing);
        if !apart.is_empty() {
            document.add_heading(heading);
            document.add_table(figure_table(result, &apart));
        }
    }
    report::say_if_inexact(&mut document, result.results.iter().flat_map(|r| report::all_summaries(&r.report)));
    if !result.comparison.policies.is_empty() {
        let Comparison { basis, options, .. } = &result.comparison;
        let intervals = match basis {
            None => format!("no intervals: fewer than {LEAST_WEEKS} weeks"),
            Some(basis) => {
                let confidence = exact_percent(options.confidence);
                format!("{confidence} intervals from {}; \"unclear\": may be noise", basis.describe("week"))
            }
        };
        document.add_heading(format!("Change against {} ({intervals})", result.baseline));
        document.add_table(changes_table(&result.results, &result.comparison));
    }
    document.add_heading("Promises and predictions");
    document.add_table(promises_table(&result.results));
    let is_predictable =
        |r: &PolicyResult| r.report.predictability.as_ref().is_some_and(|p| p.difference.mean.is_some());
    if result.results.iter().any(is_predictable) {
        document.add_text(RESERVATION_ERROR);
    }
    classes::append_delays(result, &mut document);
    classes::slowdown_ratios(result, &mut document);
    use_of_resources(result, &mut document);
    asked_for(result, &mut document);
    if !result.verdict.is_empty() {
        document.add_heading("Verdict");
        document.add_text(result.verdict.join("\n"));
    }
    document
}

/// The use of resources beyond processors, where jobs ask for any.
pub(super) fn use_of_resources(result: &CompareResult, document: &mut Document) {
    if let Some(table) = resource_table(result) {
        document.add_heading("Use of resources");
        document.add_table(table);
    }
}

/// The sections that an option asks for, whatever else is printed.
pub(super) fn asked_for(result: &CompareResult, document: &mut Document) {
    let reports: Vec<(&str, &Report)> = result.results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    for (heading, table) in excess::excess_tables(&reports) {
        document.add_heading(heading);
        document.add_table(table);
    }
    // Those of a site come with it.
    let has_disruption_table = result.whole || result.replay.is_none();
    if has_disruption_table && result.results.iter().any(|r| r.report.disruptions.is_some()) {
        document.add_heading("Outages and holds");
        document.add_table(disruptions_table(&result.results));
    }
    if result.results.iter().any(|r| r.report.sizes.is_some()) {
        document.add_heading("Sizes of jobs");
        document.add_table(sizes_table(&result.results));
    }
    if result.results.iter().any(|r| r.report.sizes.as_ref().is_some_and(|sizes| sizes.power.is_some())) {
        document.add_heading("Power");
        document.add_table(power_table(&result.results));
    }
    let pools: Vec<_> = result.results.iter().map(|r| (Some(r.table_label()), r.pools.as_slice())).collect();
    if pools.iter().any(|(_, pools)| !pools.is_empty()) {
        document.add_heading("By pool");
        document.add_table(pools_table(&pools));
    }
    classes::append_categories(result, document);
    if !result.loads.is_empty() {
        document.add_heading("At other loads");
        document.add_table(loads_table(&result.loads));
        classes::at_loads(result, document);
    }
    if let Some(bracket) = result.headroom.as_ref().filter(|_| !result.whole) {
        document.add_heading("Mean wait that a better schedule would save");
        let mut table = DocumentTable::new(["policy", "found saves", "at most"]);
        for policy_result in &result.results {
            let mut row: Vec<TableValue> = vec![policy_result.table_label().into()];
            row.extend(bracket.table_columns(&policy_result.policy.text).map(TableValue::from));
            table.add_row(row);
        }
        document.add_table(table);
        bracket_remark(bracket, DelayMeasure::Wait, &result.baseline)
            .into_iter()
            .for_each(|text| document.add_text(text));
    }
    if !result.whole && result.results.iter().any(|r| r.timing.is_some()) {
        document.add_heading("Speed");
        document.add_table(speed_table(result));
    }
}

/// The use of each resource beyond processors under each policy; `None` where there is none.
fn resource_table(result: &CompareResult) -> Option<DocumentTable> {
    // A resource of the machine that no job asks for says nothing about policies.
    let has_jobs = |usage: &&ResourceUse| usage.jobs > 0;
    let first: Vec<&ResourceUse> = result.results.first()?.report.resources.iter().filter(has_jobs).collect();
    let heads = first.iter().map(|usage| {
        let most = if usage.average.is_some() { " at most" } else { "" };
        format!("{} of {}{most}", usage.name, usage.unit.format_amount(usage.total))
    });
    let mut table = DocumentTable::new(std::iter::once("policy".to_string()).chain(heads));
    for policy_result in &result.results {
        let mut row: Vec<TableValue> = vec![policy_result.table_label().into()];
        let resource_uses = policy_result.report.resources.iter().filter(has_jobs);
        row.extend(resource_uses.map(|usage| TableValue::from(format_percent(usage.utilisation, 1))));
        table.add_row(row);
    }
    (!first.is_empty()).then_some(table)
}

/// Simulated jobs per second.
fn speed_table(result: &CompareResult) -> DocumentTable {
    let mut table = DocumentTable::new(["policy", "jobs/s"]);
    for policy_result in &result.results {
        let jobs = policy_result.timing.map_or_else(|| NONE.to_string(), |timing| format_speed(timing.jobs_per_second));
        table.add_row(vec![policy_result.table_label().into(), jobs.into()]);
    }
    table
}

/// The figures of every policy, the best of each column set off.
fn figure_table(result: &CompareResult, policy_results: &[&PolicyResult]) -> DocumentTable {
    let has_timing = result.results.iter().any(|r| r.timing.is_some());
    let overview = columns::study_columns(result.study());
    let (mut heads, beside) = columns::table_heads(&["policy"], &overview);
    heads.push("period utilisation");
    if result.headroom.is_some() {
        heads.extend(["found saves", "at most"]);
    }
    if has_timing {
        heads.push("jobs/s");
    }
    let mut table = DocumentTable::new(heads).with_beside_columns(&beside);
    for policy_result in policy_results {
        let mut row: Vec<TableValue> = vec![policy_result.table_label().into()];
        row.extend(overview.iter().map(|column| figure_value(policy_results, policy_result, column)));
        row.push(format_percent(Metric::Utilisation.value_of(&policy_result.report), 1).into());
        if let Some(bracket) = &result.headroom {
            row.extend(bracket.table_columns(&policy_result.policy.text).map(TableValue::from));
        }
        if let Some(timing) = policy_result.timing {
            row.push(format_speed(timing.jobs_per_second).into());
        }
        table.add_row(row);
    }
    table
}

/// A value of a policy, set off where it is the best of its column.
fn figure_value(policy_results: &[&PolicyResult], policy_result: &PolicyResult, column: &TextColumn) -> TableValue {
    let value = column.metric.value_of(&policy_result.report);
    let values = policy_results.iter().filter_map(|r| column.metric.value_of(&r.report));
    let is_best = column.best && value == Some(values.fold(f64::INFINITY, f64::min));
    TableValue::toned_text((column.show)(value), if is_best { Tone::Strong } else { Tone::Plain })
}
