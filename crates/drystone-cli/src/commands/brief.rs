//! A comparison in twenty lines.

use super::compare::CompareResult;
use crate::output::document::{Document, Table, Tone, Value};
use crate::output::number::{NONE, change, duration, fixed_or};
use drystone::metrics::{Measure, Metric, Verdict};
use drystone_report::{Timeline, highest, sparkline};

/// Most policies that have a line.
const POLICIES: usize = 8;
/// Characters of a sparkline.
const SPARK: usize = 24;

/// The verdict first, then the best policies by mean bounded slowdown, the baseline always among them: at most twenty lines.
pub(super) fn brief(result: &CompareResult) -> Document {
    let mut document = Document::default();
    document.heading(result.workload.line());
    if !result.verdict.is_empty() {
        document.text(result.verdict.join("\n"));
    }
    let slowdown = |i: usize| result.results[i].report.measures.bounded_slowdown.mean.unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..result.results.len()).collect();
    order.sort_by(|&a, &b| slowdown(a).total_cmp(&slowdown(b)).then(a.cmp(&b)));
    let base = order.iter().position(|&i| result.results[i].policy.text == result.baseline);
    let all = order.len();
    if let Some(at) = base.filter(|&at| at >= POLICIES) {
        order.swap(POLICIES - 1, at);
    }
    order.truncate(POLICIES);
    let lines = |i: usize| result.results[i].details.as_ref().and_then(|d| d.timeline.as_ref());
    let series: Vec<&Timeline> = order.iter().filter_map(|&i| lines(i)).collect();
    let most = highest(&series, SPARK);
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
    .texts(&[0, 4, 6]);
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
            lines(i).map_or_else(String::new, |t| sparkline(&t.waiting_jobs, SPARK, most)).into(),
        ]);
    }
    document.table(table);
    let mut facts = Vec::new();
    if most > 0.0 {
        facts.push(format!("queue over time: up to {} waiting jobs, on a logarithmic scale", fixed_or(Some(most), 0)));
    }
    if all > order.len() {
        facts.push(format!("{} more policies without --brief", all - order.len()));
    }
    if !facts.is_empty() {
        document.text(facts.join("; "));
    }
    document
}
