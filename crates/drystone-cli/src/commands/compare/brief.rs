//! A comparison in twenty lines.

use super::result::CompareResult;
use crate::output::document::{Document, Table, Tone, Value};
use crate::output::number::{NONE, change, duration, fixed_or};
use drystone::metrics::{Measure, Metric, Verdict};
use drystone_report::{Timeline, highest, sparkline};

/// Most lines, as they are printed.
const LINES: usize = 20;
/// Most policies that have a line.
const POLICIES: usize = 8;
/// Fewer say nothing of a choice: the end of the verdict makes room for them.
const LEAST: usize = 3;
/// Characters of a sparkline, where there is room; and the fewest that show anything.
const SPARK: [usize; 5] = [24, 20, 16, 12, 8];

/// The verdict first, then the best policies by mean bounded slowdown, the baseline always among
/// them: as many as twenty lines have room for where lines are no longer than this.
pub(super) fn brief(result: &CompareResult, width: Option<usize>) -> Document {
    let with = |(sentences, policies): (usize, usize)| {
        let fits = |spark: usize, fits: &dyn Fn(&Table, usize) -> bool| {
            width.is_none_or(|width| fits(&table(result, policies, spark), width))
        };
        let spark = SPARK.into_iter().find(|&spark| fits(spark, &|table, width| table.width_of_rows() <= width));
        let spark = spark.or_else(|| SPARK.into_iter().rfind(|&spark| fits(spark, &Table::is_whole)));
        // Beside long names there may be no room for any.
        document(result, sentences, policies, spark.unwrap_or(0))
    };
    let sizes = (0..=result.brief_verdict.len()).rev();
    let sizes = sizes.flat_map(|sentences| (LEAST..=POLICIES).rev().map(move |policies| (sentences, policies)));
    let fits = sizes.map(&with).find(|document| document.lines(width) <= LINES);
    fits.unwrap_or_else(|| with((0, 1)))
}

/// Which policies have a line, and the longest queue that sparklines of this length show of them.
fn shown(result: &CompareResult, policies: usize, spark: usize) -> (Vec<usize>, f64) {
    let slowdown = |i: usize| result.results[i].report.measures.bounded_slowdown.mean.unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..result.results.len()).collect();
    // What a site cannot choose, or only at a hidden price, leads no list.
    let apart: Vec<bool> = result.results.iter().map(|one| result.is_apart(one)).collect();
    order.sort_by(|&a, &b| apart[a].cmp(&apart[b]).then(slowdown(a).total_cmp(&slowdown(b))).then(a.cmp(&b)));
    let base = order.iter().position(|&i| result.results[i].policy.text == result.baseline);
    if let Some(at) = base.filter(|&at| at >= policies) {
        order.swap(policies - 1, at);
    }
    order.truncate(policies);
    let series: Vec<&Timeline> = order.iter().filter_map(|&i| timeline(result, i)).collect();
    let most = if spark > 0 { highest(&series, spark) } else { 0.0 };
    (order, most)
}

fn timeline(result: &CompareResult, i: usize) -> Option<&Timeline> {
    result.results[i].details.as_ref().and_then(|d| d.timeline.as_ref())
}

fn document(result: &CompareResult, sentences: usize, policies: usize, spark: usize) -> Document {
    let mut document = Document::default();
    document.heading(result.workload.line());
    if sentences > 0 {
        document.text(result.brief_verdict[..sentences].join("\n"));
    }
    document.table(table(result, policies, spark));
    let (order, most) = shown(result, policies, spark);
    let mut facts = Vec::new();
    if most > 0.0 {
        facts.push(format!("queue over time: up to {} jobs, logarithmic", fixed_or(Some(most), 0)));
    }
    let policies = match result.results.len() - order.len() {
        0 => None,
        1 => Some("one more policy".to_string()),
        more => Some(format!("{more} more policies")),
    };
    let verdict = (sentences < result.brief_verdict.len()).then(|| "more of the verdict".to_string());
    let more: Vec<String> = policies.into_iter().chain(verdict).collect();
    if !more.is_empty() {
        facts.push(format!("{} without --brief", more.join(" and ")));
    }
    if !facts.is_empty() {
        document.text(facts.join("; "));
    }
    if !result.loads.is_empty() {
        document.heading("At other loads");
        document.table(other_loads(result, &order));
    }
    document
}

/// Mean wait and mean bounded slowdown of the policies that are shown, a line for each and a column
/// for each load.
fn other_loads(result: &CompareResult, order: &[usize]) -> Table {
    let mut factors: Vec<f64> = result.loads.iter().map(|point| point.factor).collect();
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let heads = factors.iter().map(|factor| format!("load × {factor}"));
    let mut table = Table::new(["mean wait".to_string()].into_iter().chain(heads)).texts(&[0]);
    for &i in order {
        let name = &result.results[i].policy.text;
        let wait = |factor: &f64| {
            let point = result.loads.iter().find(|point| point.policy == *name && point.factor == *factor);
            Value::from(point.and_then(|point| point.wait).map_or_else(|| NONE.to_string(), duration))
        };
        table.row(std::iter::once(name.clone().into()).chain(factors.iter().map(wait)).collect());
    }
    table
}

fn table(result: &CompareResult, policies: usize, spark: usize) -> Table {
    let (order, most) = shown(result, policies, spark);
    let against = format!("against {}", result.baseline);
    let mut columns = vec!["policy", "mean wait", "bounded slowdown", against.as_str(), "", "longest wait"];
    columns.extend((spark > 0).then_some("queue over time"));
    let mut table = Table::new(columns).texts(&[0, 4, 6]).beside(&[4]);
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
            Some(Verdict::InsideReplayError) => ("inside replay error", Tone::Faint),
            _ => ("", Tone::Faint),
        };
        let time = |seconds: Option<f64>| seconds.map_or_else(|| NONE.to_string(), duration);
        let mut row: Vec<Value> = vec![
            one.name().into(),
            time(measures.wait.mean).into(),
            fixed_or(measures.bounded_slowdown.mean, 2).into(),
            Value::toned(found.and_then(|c| c.relative).map_or_else(|| NONE.to_string(), change), tone),
            Value::toned(word, tone),
            time(measures.wait.max).into(),
        ];
        if spark > 0 {
            let line = timeline(result, i).map_or_else(String::new, |t| sparkline(&t.waiting_jobs, spark, most));
            row.push(line.into());
        }
        table.row(row);
    }
    table
}
