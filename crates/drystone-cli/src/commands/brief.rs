//! A comparison in twenty lines.

use super::compare::CompareResult;
use crate::output::document::{Document, Table, Tone, Value};
use crate::output::number::{NONE, change, duration, fixed_or};
use drystone::metrics::{Measure, Metric, Verdict};
use drystone_report::{Timeline, highest, sparkline};

/// Most lines, as they are printed.
const LINES: usize = 20;
/// Most policies that have a line.
const POLICIES: usize = 8;
/// Characters of a sparkline, where there is room; and the fewest that show anything.
const SPARK: [usize; 5] = [24, 20, 16, 12, 8];

/// The verdict first, then the best policies by mean bounded slowdown, the baseline always among them: as many as twenty lines have
/// room for where lines are no longer than this.
pub(super) fn brief(result: &CompareResult, width: Option<usize>) -> Document {
    let with = |policies: usize| {
        let spark =
            SPARK.into_iter().find(|&spark| width.is_none_or(|w| table(result, policies, spark).width_of_rows() <= w));
        document(result, policies, spark.unwrap_or(SPARK[SPARK.len() - 1]))
    };
    let fits = (2..=POLICIES).rev().map(with).find(|document| document.lines(width) <= LINES);
    fits.unwrap_or_else(|| with(1))
}

/// Which policies have a line, and the longest queue that sparklines of this length show of them.
fn shown(result: &CompareResult, policies: usize, spark: usize) -> (Vec<usize>, f64) {
    let slowdown = |i: usize| result.results[i].report.measures.bounded_slowdown.mean.unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..result.results.len()).collect();
    order.sort_by(|&a, &b| slowdown(a).total_cmp(&slowdown(b)).then(a.cmp(&b)));
    let base = order.iter().position(|&i| result.results[i].policy.text == result.baseline);
    if let Some(at) = base.filter(|&at| at >= policies) {
        order.swap(policies - 1, at);
    }
    order.truncate(policies);
    let series: Vec<&Timeline> = order.iter().filter_map(|&i| timeline(result, i)).collect();
    let most = highest(&series, spark);
    (order, most)
}

fn timeline(result: &CompareResult, i: usize) -> Option<&Timeline> {
    result.results[i].details.as_ref().and_then(|d| d.timeline.as_ref())
}

fn document(result: &CompareResult, policies: usize, spark: usize) -> Document {
    let mut document = Document::default();
    document.heading(result.workload.line());
    if !result.brief_verdict.is_empty() {
        document.text(result.brief_verdict.join("\n"));
    }
    document.table(table(result, policies, spark));
    let (order, most) = shown(result, policies, spark);
    let mut facts = Vec::new();
    if most > 0.0 {
        facts.push(format!("queue over time: up to {} jobs, logarithmic", fixed_or(Some(most), 0)));
    }
    match result.results.len() - order.len() {
        0 => {}
        1 => facts.push("one more policy without --brief".to_string()),
        more => facts.push(format!("{more} more policies without --brief")),
    }
    if !facts.is_empty() {
        document.text(facts.join("; "));
    }
    document
}

fn table(result: &CompareResult, policies: usize, spark: usize) -> Table {
    let (order, most) = shown(result, policies, spark);
    let against = format!("against {}", result.baseline);
    let mut table = Table::new([
        "policy",
        "mean wait",
        "bounded slowdown",
        against.as_str(),
        "",
        "longest wait",
        "queue over time",
    ])
    .texts(&[0, 4, 6])
    .beside(&[4]);
    for &i in &order {
        let one = &result.results[i];
        let measures = &one.report.measures;
        let found = result.changes(&one.policy.text);
        let found = found.and_then(|c| c.iter().find(|c| c.metric == Metric::Mean(Measure::BoundedSlowdown)));
        let (word, tone) = match found.map(|c| c.verdict) {
            Some(Verdict::Better) => ("better", Tone::Good),
            Some(Verdict::Worse) => ("worse", Tone::Bad),
            Some(Verdict::Same) => ("same", Tone::Faint),
            Some(Verdict::Unclear) => ("unclear", Tone::Faint),
            _ => ("", Tone::Faint),
        };
        let time = |seconds: Option<f64>| seconds.map_or_else(|| NONE.to_string(), duration);
        table.row(vec![
            one.policy.text.clone().into(),
            time(measures.wait.mean).into(),
            fixed_or(measures.bounded_slowdown.mean, 2).into(),
            Value::toned(found.and_then(|c| c.relative).map_or_else(|| NONE.to_string(), change), tone),
            Value::toned(word, tone),
            time(measures.wait.max).into(),
            timeline(result, i).map_or_else(String::new, |t| sparkline(&t.waiting_jobs, spark, most)).into(),
        ]);
    }
    table
}
