//! Measures that studies show by class, by load and against a baseline.

use super::result::CompareResult;
use super::simulate::FinishedPolicies;
use crate::output::columns::study_slowdown;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, fixed_or, format_count, format_hours, format_minutes, format_percent};
use drystone::metrics::measures::slowdown_ratio;
use drystone::metrics::{Categorised, Measure, SlowdownRatios, Summary};

/// Classes of run time of the ratios of slowdowns, as in `--by lawson`.
pub(super) const LAWSON: [&str; 4] = ["short", "medium", "long", "extra_long"];

/// A measure of a category: its heading, and the value of the summary.
type OfCategory = (Measure, &'static str, fn(&Summary) -> Option<f64>, f64);

/// Measures that every table by category has.
const USUAL: [OfCategory; 2] = [
    (Measure::Wait, "mean wait, min", |s| s.mean, 60.0),
    (Measure::BoundedSlowdown, "mean bounded slowdown", |s| s.mean, 1.0),
];

/// Measures of a table by category: with the slowdown of the published study that is followed.
fn default_measures(result: &CompareResult) -> [OfCategory; 2] {
    match study_slowdown(result.study()).1 {
        Measure::Slowdown => [USUAL[0], (Measure::Slowdown, "mean slowdown", |s| s.mean, 1.0)],
        Measure::BoundedSlowdownChiang => {
            [USUAL[0], (Measure::BoundedSlowdownChiang, "mean slowdown bounded at 60 s", |s| s.mean, 1.0)]
        }
        _ => USUAL,
    }
}
/// Measures that `--details` adds.
const MORE: [OfCategory; 4] = [
    (Measure::Response, "mean response, min", |s| s.mean, 60.0),
    (Measure::BoundedSlowdown, "largest bounded slowdown", |s| s.max, 1.0),
    (Measure::Wait, "longest wait, h", |s| s.max, 3600.0),
    (Measure::Response, "longest response, h", |s| s.max, 3600.0),
];
/// Measures by category at other loads.
const AT_LOADS: [OfCategory; 2] = [USUAL[1], MORE[0]];

pub(super) fn ratios_to_baseline(
    simulations: &FinishedPolicies,
    baseline: &str,
    batch: usize,
) -> Vec<(String, SlowdownRatios)> {
    let runs = simulations.specs.iter().zip(&simulations.watched);
    let rows: Vec<_> = runs.map(|(spec, policy)| (spec.text(), policy.measured.report.jobs.as_deref())).collect();
    let Some(base) = rows.iter().find(|(name, _)| *name == baseline).and_then(|(_, jobs)| *jobs) else {
        return Vec::new();
    };
    let other_rows = rows.iter().filter(|(name, _)| *name != baseline);
    let ratios = other_rows.filter_map(|(name, jobs)| {
        let ratios = drystone::metrics::slowdown_ratios(base, (*jobs)?, batch).ok()?;
        Some(((*name).to_string(), ratios))
    });
    ratios.collect()
}

/// The ratios of slowdowns, and of bounded ones, overall and by class of run time.
pub(super) fn slowdown_ratios(result: &CompareResult, document: &mut Document) {
    if result.ratios.is_empty() {
        return;
    }
    plain_ratios(result, document);
    document.add_heading(format!("Ratio of bounded slowdowns against {}: above 0 is better", result.baseline));
    let mut table =
        DocumentTable::new(["policy", "overall", "up to 100 s", "up to 1,000 s", "up to 10,000 s", "longer"]);
    for (name, ratios) in &result.ratios {
        let mut row: Vec<TableValue> = vec![displayed_name(result, name).into(), fixed_or(ratios.bounded, 3).into()];
        row.extend(ratios.bounded_classes.iter().map(|&ratio| TableValue::from(fixed_or(ratio, 3))));
        table.add_row(row);
    }
    document.add_table(table);
}

fn displayed_name(result: &CompareResult, policy: &str) -> String {
    let policy_name = result
        .results
        .iter()
        .find(|policy_result| policy_result.policy.text == policy)
        .map(|policy_result| policy_result.table_label());
    policy_name.unwrap_or_else(|| policy.to_string())
}

fn plain_ratios(result: &CompareResult, document: &mut Document) {
    document.add_heading(format!("Ratio of slowdowns against {}: above 0 is better", result.baseline));
    let mut table = DocumentTable::new([
        "policy",
        "overall",
        "up to 100 s",
        "up to 1,000 s",
        "up to 10,000 s",
        "longer",
        "worse batches",
    ]);
    for (name, ratios) in &result.ratios {
        let mut row: Vec<TableValue> = vec![displayed_name(result, name).into(), fixed_or(ratios.overall, 3).into()];
        row.extend(ratios.classes.iter().map(|&ratio| TableValue::from(fixed_or(ratio, 3))));
        let worse = ratios.batches.iter().flatten().filter(|&&ratio| ratio < 0.0).count();
        let batches = ratios.batches.len();
        row.push(if batches == 0 { NONE.into() } else { format!("{worse} of {batches}").into() });
        table.add_row(row);
    }
    document.add_table(table);
    document.add_text(format!(
        "R = (s1 - s2) / min(s1, s2), of mean slowdowns 1 + wait / run time under {} and under the policy. A batch has \
         {} submissions.",
        result.baseline,
        result.ratios.first().map_or(0, |(_, ratios)| ratios.batch)
    ));
}

/// Starts later than first reserved.
pub(super) fn append_delays(result: &CompareResult, document: &mut Document) {
    let of = |policy_result: &drystone_report::PolicyResult| {
        policy_result.report.predictability.as_ref().is_some_and(|p| p.reservation_rate.is_some())
    };
    if !result.results.iter().any(of) {
        return;
    }
    document.add_heading("Delays beyond the first reservation");
    let mut table = DocumentTable::new([
        "policy",
        "jobs with a reservation",
        "error, min",
        "deviation",
        "error over all jobs, min",
        "their mean estimate, h",
        "their mean processors",
        "delayed jobs",
        "delay, min",
        "median",
        "deviation",
    ]);
    for policy_result in &result.results {
        let Some(p) = &policy_result.report.predictability else { continue };
        table.add_row(vec![
            policy_result.table_label().into(),
            format_percent(p.reservation_rate, 1).into(),
            format_minutes(p.difference.mean).into(),
            format_minutes(p.difference.deviation).into(),
            format_minutes(p.reservation_rate.zip(p.difference.mean).map(|(rate, mean)| rate * mean)).into(),
            format_hours(p.reserved_estimate.mean).into(),
            fixed_or(p.reserved_procs.mean, 1).into(),
            format_percent(p.delay_rate, 2).into(),
            format_minutes(p.delay.mean).into(),
            format_minutes(p.delay.median).into(),
            format_minutes(p.delay.deviation).into(),
        ]);
    }
    document.add_table(table);
}

/// One table per scheme and measure: categories down, policies across.
pub(super) fn append_categories(result: &CompareResult, document: &mut Document) {
    let Some(first) = result.results.first() else { return };
    for (at, breakdown) in first.report.categories.iter().enumerate() {
        let category_results: Vec<&Categorised> =
            result.results.iter().filter_map(|r| r.report.categories.get(at)).collect();
        let more = if result.whole { &MORE[..] } else { &[] };
        for measure in default_measures(result).iter().chain(more) {
            document.add_heading(format!("By {}: {}", breakdown.scheme.name(), measure.1));
            let names = result.results.iter().map(|r| r.policy.text.as_str());
            let mut table = DocumentTable::new(["category", "jobs"].into_iter().chain(names));
            for row in category_rows(&category_results, *measure) {
                table.add_row(row);
            }
            document.add_table(table);
        }
        if result.whole {
            category_ratios(result, &category_results, document);
        }
    }
}

/// The slowdown ratio R of each category against the baseline, where there are others.
fn category_ratios(result: &CompareResult, breakdowns: &[&Categorised], document: &mut Document) {
    let at = result.results.iter().position(|policy_result| policy_result.policy.text == result.baseline);
    let Some(base) = at.and_then(|at| breakdowns.get(at)).filter(|_| breakdowns.len() > 1) else { return };
    document.add_heading(format!("By {}: ratio of slowdowns against {}", base.scheme.name(), result.baseline));
    let other_results = || {
        result.results.iter().zip(breakdowns).filter(|(policy_result, _)| policy_result.policy.text != result.baseline)
    };
    let mut table = DocumentTable::new(
        ["category", "jobs"].into_iter().chain(other_results().map(|(policy_result, _)| &*policy_result.policy.text)),
    );
    let mean = |of: &Categorised, key: i64| of.get(key).and_then(|c| c.measures.get(Measure::Slowdown).mean);
    for category in &base.categories {
        let single = mean(base, category.key);
        let mut row: Vec<TableValue> =
            vec![category.name.as_str().into(), format_count(category.measures.wait.count).into()];
        row.extend(other_results().map(|(_, of)| {
            let ratio = single.zip(mean(of, category.key)).and_then(|(single, value)| slowdown_ratio(single, value));
            TableValue::from(fixed_or(ratio, 3))
        }));
        table.add_row(row);
    }
    document.add_table(table);
}

/// One table per scheme and measure: loads and categories down, policies across.
pub(super) fn at_loads(result: &CompareResult, document: &mut Document) {
    let mut factors: Vec<f64> = result.loads.iter().map(|point| point.factor).collect();
    factors.dedup();
    let Some(first) = result.loads.first() else { return };
    for (at, breakdown) in first.categories.iter().enumerate() {
        for measure in AT_LOADS {
            document.add_heading(format!("At other loads, by {}: {}", breakdown.scheme.name(), measure.1));
            let names = result.results.iter().map(|r| r.policy.text.as_str());
            let mut table =
                DocumentTable::new(["factor", "category", "jobs"].into_iter().chain(names)).with_text_columns(&[1]);
            for factor in &factors {
                let points = result.loads.iter().filter(|point| point.factor == *factor);
                let category_results: Vec<&Categorised> = points.filter_map(|point| point.categories.get(at)).collect();
                for row in category_rows(&category_results, measure) {
                    table.add_row([vec![factor.to_string().into()], row].concat());
                }
            }
            document.add_table(table);
        }
    }
}

/// Rows of one measure: name, jobs, and a value per policy.
fn category_rows(breakdowns: &[&Categorised], (measure, _, value, scale): OfCategory) -> Vec<Vec<TableValue>> {
    // Trimming may leave a category to one policy and not to another.
    let mut categories: Vec<(i64, &str)> =
        breakdowns.iter().flat_map(|c| &c.categories).map(|c| (c.key, c.name.as_str())).collect();
    categories.sort_unstable();
    categories.dedup();
    let digits = if scale > 1.0 { 1 } else { 2 };
    let row = |(key, name): (i64, &str)| {
        let jobs = breakdowns.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
        let of = |c: &&Categorised| {
            let value = c.get(key).and_then(|c| value(c.measures.get(measure)));
            TableValue::from(fixed_or(value.map(|v| v / scale), digits))
        };
        [vec![name.into(), format_count(jobs).into()], breakdowns.iter().map(of).collect()].concat()
    };
    categories.into_iter().map(row).collect()
}
