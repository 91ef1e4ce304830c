//! Tables of comparisons that terminals, files and pages show alike.

use crate::document::{DocumentTable, TableValue, Tone};
use crate::number::{
    NONE, format_bound, format_change, format_count, format_duration, format_fixed, format_minutes, format_percent,
};
use crate::results::{LoadPoint, PolicyResult, PoolResult};
use drystone::inference::says_nothing;
use drystone::metrics::{Comparison, Measure, Metric, MetricChange, MetricVerdict, PromisesKept};

/// Changes of the main metrics against the baseline, with intervals and verdicts.
pub fn changes_table(policies: &[PolicyResult], comparison: &Comparison) -> DocumentTable {
    let mut table =
        DocumentTable::new(["policy", "mean wait", "mean response", "mean bounded slowdown", "longest wait"])
            .with_text_columns(&[0, 1, 2, 3])
            .id("changes");
    for result in policies {
        let Some(entry) = comparison.policies.iter().find(|entry| entry.name == result.policy.text) else { continue };
        let cell = |metric: Metric| {
            entry.changes.iter().find(|c| c.metric == metric).map_or_else(|| NONE.into(), change_value)
        };
        table.add_row(vec![
            result.table_label().into(),
            cell(Metric::Mean(Measure::Wait)),
            cell(Metric::Mean(Measure::Response)),
            cell(Metric::Mean(Measure::BoundedSlowdown)),
            cell(Metric::Max(Measure::Wait)),
        ]);
    }
    table
}

/// A change with its interval and its verdict.
fn change_value(c: &MetricChange) -> TableValue {
    let (word, tone) = match c.verdict {
        MetricVerdict::Better => (" better", Tone::Good),
        MetricVerdict::Worse => (" worse", Tone::Bad),
        MetricVerdict::InsideReplayError => (" inside replay error", Tone::Faint),
        MetricVerdict::Alike => (" alike", Tone::Faint),
        MetricVerdict::Unclear => (" unclear", Tone::Faint),
        _ => ("", Tone::Faint),
    };
    let Some(relative) = c.relative else {
        return TableValue::toned_text(if word.is_empty() { NONE } else { word.trim() }, tone);
    };
    if c.verdict == MetricVerdict::Same {
        return TableValue::toned_text("same", Tone::Faint);
    }
    let Some((low, high)) = c.interval else {
        let tone = if word.is_empty() { Tone::Plain } else { tone };
        return TableValue::from_number(Some(relative), |value| format!("{}{word}", format_change(value)))
            .with_tone(tone);
    };
    let text = |value: f64| match says_nothing((low, high)) {
        true => format!("{} (size unknown){word}", format_change(value)),
        false => format!("{} ({} to {}){word}", format_change(value), format_bound(low), format_bound(high)),
    };
    TableValue::from_number(Some(relative), text).with_tone(tone)
}

/// Announced starts, predictions and suspensions.
pub fn promises_table(policies: &[PolicyResult]) -> DocumentTable {
    // Trimming leaves no promise out.
    let is_trimmed = policies.iter().any(|result| result.report.trimmed.kept < result.report.trimmed.seen);
    let mut table = DocumentTable::new([
        "policy",
        if is_trimmed { "promised, of all jobs" } else { "promised" },
        "broken",
        "worst delay",
        "reservation error, min",
        "median",
        "prediction accuracy",
        "corrections per job",
        "suspensions",
    ])
    .with_beside_columns(&[5])
    .id("promises");
    for result in policies {
        let PromisesKept { promised, broken, worst, .. } = result.promises;
        let p = result.report.predictability.as_ref();
        let broken_tone = if broken > 0 { Tone::Bad } else { Tone::Plain };
        table.add_row(vec![
            result.table_label().into(),
            TableValue::from_count(promised),
            TableValue::from_number((promised > 0).then_some(broken as f64), |_| format_count(broken))
                .with_tone(broken_tone),
            TableValue::from_number(worst.map(|w| w.delay().as_f64()), format_duration),
            TableValue::from_number(p.and_then(|p| p.difference.mean), in_minutes),
            TableValue::from_number(p.and_then(|p| p.difference.median), in_minutes),
            TableValue::from_number(p.and_then(|p| p.accuracy.mean), |v| format_percent(Some(v), 1)),
            TableValue::from_number(p.and_then(|p| p.corrections.mean), |v| format_fixed(v, 2)),
            TableValue::from_count(result.report.suspensions.total),
        ]);
    }
    table
}

/// Effects of the machine on jobs, and the waits that no policy chose; a row for each policy under
/// which a machine lost processors or jobs were held back.
pub fn disruptions_table(policies: &[PolicyResult]) -> DocumentTable {
    let mut table = DocumentTable::new([
        "policy",
        "capacity up",
        "jobs hit",
        "requeued",
        "lost",
        "processor-hours lost",
        "for checkpoints",
        "waste",
        "promises excused",
        "held back",
        "wait since eligible, min",
        "running when it began",
        "never eligible",
    ])
    .id("disruptions");
    for result in policies {
        let Some(d) = &result.report.disruptions else { continue };
        table.add_row(vec![
            result.table_label().into(),
            TableValue::from_number(d.capacity_up, |v| format_percent(Some(v), 2)),
            TableValue::from_count(d.hits),
            TableValue::from_count(d.requeued),
            TableValue::from_count(d.lost),
            TableValue::from_number(Some(d.work_lost / 3_600.0), |v| format_fixed(v, 1)),
            TableValue::from_number(Some(d.checkpoint_work / 3_600.0), |v| format_fixed(v, 1)),
            TableValue::from_number(d.wasted_share(result.report.machine.work), |v| format_percent(Some(v), 2)),
            TableValue::from_count(result.promises.excused),
            TableValue::from_count(d.held),
            TableValue::from_number(d.eligible_wait.mean, in_minutes),
            TableValue::from_count(d.found),
            TableValue::from_count(d.left),
        ]);
    }
    table
}

/// Sizes of jobs, and waits of those that have one and of those that have several; a row for each
/// policy under which they were measured.
pub fn sizes_table(policies: &[PolicyResult]) -> DocumentTable {
    let mut table = DocumentTable::new([
        "policy",
        "slowdown at the preferred size",
        "utilisation",
        "useful",
        "grew",
        "shrank",
        "reconfiguring, h",
        "size over preferred",
        "rigid: wait, min",
        "response, min",
        "others: wait, min",
        "response, min",
    ])
    .id("sizes");
    for result in policies {
        let Some(sizes) = &result.report.sizes else { continue };
        let [rigid, rest] = [sizes.mean_waits(true), sizes.mean_waits(false)];
        table.add_row(vec![
            result.table_label().into(),
            TableValue::from_number(Some(sizes.slowdown_ref), |v| format_fixed(v, 2)),
            TableValue::from_number(Some(sizes.utilisation), |v| format_percent(Some(v), 1)),
            TableValue::from_number(Some(sizes.useful), |v| format_percent(Some(v), 1)),
            TableValue::from_count(sizes.grows),
            TableValue::from_count(sizes.shrinks),
            TableValue::from_number(Some(sizes.reconfiguring as f64 / 3_600.0), |v| format_fixed(v, 1)),
            TableValue::from_number(Some(sizes.mean_size), |v| format_fixed(v, 3)),
            TableValue::from_number(rigid.map(|means| means.0), in_minutes),
            TableValue::from_number(rigid.map(|means| means.1), in_minutes),
            TableValue::from_number(rest.map(|means| means.0), in_minutes),
            TableValue::from_number(rest.map(|means| means.1), in_minutes),
        ]);
    }
    table
}

/// Use of power, a row for each policy under which it was counted.
pub fn power_table(policies: &[PolicyResult]) -> DocumentTable {
    let mut table = DocumentTable::new([
        "policy",
        "energy, MJ",
        "mean draw, W",
        "peak, W",
        "caps used",
        "above the cap, s",
        "J per useful processor-second",
        "carbon, kg",
        "cost",
    ])
    .id("power");
    for result in policies {
        let Some(power) = result.report.sizes.as_ref().and_then(|sizes| sizes.power) else { continue };
        table.add_row(vec![
            result.table_label().into(),
            TableValue::from_number(Some(power.energy as f64 / 1e6), |v| format_fixed(v, 1)),
            TableValue::from_number(Some(power.mean), |v| format_fixed(v, 0)),
            TableValue::from_count(power.peak),
            TableValue::from_number(power.used, |v| format_percent(Some(v), 1)),
            TableValue::from_number(power.used.map(|_| power.above_cap as f64), |v| format_fixed(v, 0)),
            TableValue::from_number(power.per_useful, |v| format_fixed(v, 1)),
            TableValue::from_number(power.carbon.map(|grams| grams / 1e3), |v| format_fixed(v, 1)),
            TableValue::from_number(power.cost, |v| format_fixed(v, 2)),
        ]);
    }
    table
}

pub fn loads_table(points: &[LoadPoint]) -> DocumentTable {
    let mut table = DocumentTable::new([
        "factor",
        "offered load",
        "policy",
        "mean wait, min",
        "mean response, min",
        "mean bounded slowdown",
        "period utilisation",
    ])
    .with_text_columns(&[0, 2])
    .id("loads");
    for point in points {
        table.add_row(vec![
            point.factor.to_string().into(),
            TableValue::from_number(point.load, |v| format_percent(Some(v), 1)),
            point.policy.clone().into(),
            TableValue::from_number(point.wait, in_minutes),
            TableValue::from_number(point.response, in_minutes),
            TableValue::from_number(point.bounded_slowdown, |v| format_fixed(v, 2)),
            TableValue::from_number(point.utilisation, |v| format_percent(Some(v), 1)),
        ]);
    }
    table
}

/// A table of pools that are simulated side by side, under each of these policies.
pub fn pools_table(of: &[(Option<String>, &[PoolResult])]) -> DocumentTable {
    let has_names = of.iter().any(|(name, _)| name.is_some());
    let heads = [
        "pool",
        "processors",
        "jobs",
        "mean wait, min",
        "p95 wait, min",
        "mean bounded slowdown",
        "period utilisation",
    ];
    let mut table = DocumentTable::new(has_names.then_some("policy").into_iter().chain(heads));
    for (name, pools) in of {
        for pool in *pools {
            let wait = &pool.report.measures.wait;
            let mut row: Vec<TableValue> = name.iter().map(|name| name.clone().into()).collect();
            row.extend([
                pool.name.clone().into(),
                TableValue::from_count(u64::from(pool.procs)),
                TableValue::from_count(pool.report.trimmed.kept),
                TableValue::from_number(wait.mean, in_minutes),
                TableValue::from_number(wait.p95, in_minutes),
                TableValue::from_number(pool.report.measures.bounded_slowdown.mean, |v| format_fixed(v, 2)),
                TableValue::from_number(Metric::Utilisation.value_of(&pool.report), |v| format_percent(Some(v), 1)),
            ]);
            table.add_row(row);
        }
    }
    table
}

fn in_minutes(seconds: f64) -> String {
    format_minutes(Some(seconds))
}
