//! Tables of comparisons that terminals, files and pages show alike.

use crate::document::{DocumentTable, TableValue, Tone};
use crate::number::{NONE, bound, change, count, duration, fixed, minutes, percent};
use crate::results::{LoadPoint, PolicyResult, PoolResult};
use drystone::inference::says_nothing;
use drystone::metrics::{Comparison, Measure, Metric, MetricChange, MetricVerdict, PromisesKept};

/// Changes of the main metrics against the baseline, with intervals and verdicts.
pub fn changes_table(policies: &[PolicyResult], comparison: &Comparison) -> DocumentTable {
    let mut table =
        DocumentTable::new(["policy", "mean wait", "mean response", "mean bounded slowdown", "longest wait"])
            .texts(&[0, 1, 2, 3])
            .id("changes");
    for one in policies {
        let Some(found) = comparison.policies.iter().find(|found| found.name == one.policy.text) else { continue };
        let cell = |metric: Metric| {
            found.changes.iter().find(|c| c.metric == metric).map_or_else(|| NONE.into(), change_value)
        };
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
        return TableValue::toned(if word.is_empty() { NONE } else { word.trim() }, tone);
    };
    if c.verdict == MetricVerdict::Same {
        return TableValue::toned("same", Tone::Faint);
    }
    let Some((low, high)) = c.interval else {
        let tone = if word.is_empty() { Tone::Plain } else { tone };
        return TableValue::number(Some(relative), |value| format!("{}{word}", change(value))).with_tone(tone);
    };
    let text = |value: f64| match says_nothing((low, high)) {
        true => format!("{} (size unknown){word}", change(value)),
        false => format!("{} ({} to {}){word}", change(value), bound(low), bound(high)),
    };
    TableValue::number(Some(relative), text).with_tone(tone)
}

/// Announced starts, predictions and suspensions.
pub fn promises_table(policies: &[PolicyResult]) -> DocumentTable {
    // Trimming leaves no promise out.
    let trimmed = policies.iter().any(|one| one.report.trimmed.kept < one.report.trimmed.seen);
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
    .beside(&[5])
    .id("promises");
    for one in policies {
        let PromisesKept { promised, broken, worst, .. } = one.promises;
        let p = one.report.predictability.as_ref();
        let broken_tone = if broken > 0 { Tone::Bad } else { Tone::Plain };
        table.row(vec![
            one.name().into(),
            TableValue::count(promised),
            TableValue::number((promised > 0).then_some(broken as f64), |_| count(broken)).with_tone(broken_tone),
            TableValue::number(worst.map(|w| w.delay().as_f64()), duration),
            TableValue::number(p.and_then(|p| p.difference.mean), in_minutes),
            TableValue::number(p.and_then(|p| p.difference.median), in_minutes),
            TableValue::number(p.and_then(|p| p.accuracy.mean), |v| percent(Some(v), 1)),
            TableValue::number(p.and_then(|p| p.corrections.mean), |v| fixed(v, 2)),
            TableValue::count(one.report.suspensions.total),
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
    for one in policies {
        let Some(d) = &one.report.disruptions else { continue };
        table.row(vec![
            one.name().into(),
            TableValue::number(d.capacity_up, |v| percent(Some(v), 2)),
            TableValue::count(d.hits),
            TableValue::count(d.requeued),
            TableValue::count(d.lost),
            TableValue::number(Some(d.work_lost / 3_600.0), |v| fixed(v, 1)),
            TableValue::number(Some(d.checkpoint_work / 3_600.0), |v| fixed(v, 1)),
            TableValue::number(d.waste(one.report.machine.work), |v| percent(Some(v), 2)),
            TableValue::count(one.promises.excused),
            TableValue::count(d.held),
            TableValue::number(d.eligible_wait.mean, in_minutes),
            TableValue::count(d.found),
            TableValue::count(d.left),
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
    for one in policies {
        let Some(sizes) = &one.report.sizes else { continue };
        let [rigid, others] = [sizes.waits(true), sizes.waits(false)];
        table.row(vec![
            one.name().into(),
            TableValue::number(Some(sizes.slowdown_ref), |v| fixed(v, 2)),
            TableValue::number(Some(sizes.utilisation), |v| percent(Some(v), 1)),
            TableValue::number(Some(sizes.useful), |v| percent(Some(v), 1)),
            TableValue::count(sizes.grows),
            TableValue::count(sizes.shrinks),
            TableValue::number(Some(sizes.reconfiguring as f64 / 3_600.0), |v| fixed(v, 1)),
            TableValue::number(Some(sizes.mean_size), |v| fixed(v, 3)),
            TableValue::number(rigid.map(|means| means.0), in_minutes),
            TableValue::number(rigid.map(|means| means.1), in_minutes),
            TableValue::number(others.map(|means| means.0), in_minutes),
            TableValue::number(others.map(|means| means.1), in_minutes),
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
    for one in policies {
        let Some(power) = one.report.sizes.as_ref().and_then(|sizes| sizes.power) else { continue };
        table.row(vec![
            one.name().into(),
            TableValue::number(Some(power.energy as f64 / 1e6), |v| fixed(v, 1)),
            TableValue::number(Some(power.mean), |v| fixed(v, 0)),
            TableValue::count(power.peak),
            TableValue::number(power.used, |v| percent(Some(v), 1)),
            TableValue::number(power.used.map(|_| power.above_cap as f64), |v| fixed(v, 0)),
            TableValue::number(power.per_useful, |v| fixed(v, 1)),
            TableValue::number(power.carbon.map(|grams| grams / 1e3), |v| fixed(v, 1)),
            TableValue::number(power.cost, |v| fixed(v, 2)),
        ]);
    }
    table
}

/// Every policy at every other load.
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
    .texts(&[0, 2])
    .id("loads");
    for point in points {
        table.row(vec![
            point.factor.to_string().into(),
            TableValue::number(point.load, |v| percent(Some(v), 1)),
            point.policy.clone().into(),
            TableValue::number(point.wait, in_minutes),
            TableValue::number(point.response, in_minutes),
            TableValue::number(point.bounded_slowdown, |v| fixed(v, 2)),
            TableValue::number(point.utilisation, |v| percent(Some(v), 1)),
        ]);
    }
    table
}

/// A table of pools that are simulated side by side, under each of these policies.
pub fn pools_table(of: &[(Option<String>, &[PoolResult])]) -> DocumentTable {
    let named = of.iter().any(|(name, _)| name.is_some());
    let heads = [
        "pool",
        "processors",
        "jobs",
        "mean wait, min",
        "p95 wait, min",
        "mean bounded slowdown",
        "period utilisation",
    ];
    let mut table = DocumentTable::new(named.then_some("policy").into_iter().chain(heads));
    for (name, pools) in of {
        for pool in *pools {
            let wait = &pool.report.measures.wait;
            let mut row: Vec<TableValue> = name.iter().map(|name| name.clone().into()).collect();
            row.extend([
                pool.name.clone().into(),
                TableValue::count(u64::from(pool.procs)),
                TableValue::count(pool.report.trimmed.kept),
                TableValue::number(wait.mean, in_minutes),
                TableValue::number(wait.p95, in_minutes),
                TableValue::number(pool.report.measures.bounded_slowdown.mean, |v| fixed(v, 2)),
                TableValue::number(Metric::Utilisation.of(&pool.report), |v| percent(Some(v), 1)),
            ]);
            table.row(row);
        }
    }
    table
}

fn in_minutes(seconds: f64) -> String {
    minutes(Some(seconds))
}
