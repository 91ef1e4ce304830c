//! The wait against the number of nodes, and where more of them stop to help.

use super::simulate::{ScenarioRun, SimulatedScenarios};
use crate::output::number::{TimeColumn, TimeUnit, exact_percent};
use drystone::inference::DifferenceVerdict;
use drystone_whatif::{Applied, ChangeList, PairedWait, PoolPremises, Premises, SiteChange, compare_waits};
use serde::Serialize;

/// Alternatives in the order of their numbers of nodes.
#[derive(Serialize)]
pub(super) struct NodeCurve {
    pub(super) points: Vec<NodePoint>,
    /// From each point to the next, over the same jobs.
    pub(super) steps: Vec<NodeStep>,
    /// The first point that no larger one is clearly better than, by 1 % of the mean wait as it is;
    /// `None` if all of them help.
    pub(super) enough: Option<String>,
    /// From that point to the largest machine.
    pub(super) beyond: Option<NodeStep>,
    /// `enough` and `beyond` as a sentence.
    pub(super) sentence: String,
}

#[derive(Serialize)]
pub(super) struct NodePoint {
    pub(super) change: String,
    /// Nodes or processors more than before.
    pub(super) more: f64,
    /// Mean wait in seconds, over the same jobs.
    pub(super) wait: f64,
    /// Interval of the difference against before, in seconds.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) difference: f64,
}

/// From one point to the next.
#[derive(Serialize)]
pub(super) struct NodeStep {
    pub(super) from: String,
    pub(super) to: String,
    /// Difference of the mean waits, in seconds.
    pub(super) difference: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) verdict: DifferenceVerdict,
}

/// A gain of less than this part of the mean wait before is no help.
pub(super) const WORTH: f64 = 0.01;

fn format_list(list: &ChangeList) -> String {
    if list.0.is_empty() { "as it is".to_string() } else { list.to_string() }
}

/// Returns the curve if alternatives are numbers of nodes of one place, and nothing else: in their
/// order.
pub(super) fn find_curve(
    lists: &[ChangeList],
    (base, after): (&Premises, &[Applied]),
    scenarios: &SimulatedScenarios,
    confidence: f64,
) -> Option<NodeCurve> {
    let place = |list: &ChangeList| match list.0.as_slice() {
        [SiteChange::Nodes { of, .. }] => Some(format!("nodes {}", of.clone().unwrap_or_default())),
        [SiteChange::Procs(_)] => Some("procs".to_string()),
        _ => None,
    };
    let first = place(lists.first()?)?;
    if lists.len() < 2 || lists.iter().any(|list| place(list).as_ref() != Some(&first)) {
        return None;
    }
    let no_change = ChangeList::default();
    let mut points: Vec<(f64, &ChangeList, &ScenarioRun)> = vec![(0.0, &no_change, &scenarios.before.ran)];
    for ((list, changed_site), ran) in lists.iter().zip(after).zip(&scenarios.after) {
        points.push((added_nodes(changed_site, base, first == "procs"), list, ran.as_ref()?));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let compare = |first_run: &ScenarioRun, second_run: &ScenarioRun| {
        let waits: Vec<PairedWait> = scenarios
            .before
            .counted_places()
            .filter_map(|place| {
                let job = &scenarios.before.workload.jobs()[place];
                let (was, is) = (first_run.fates[place].wait, second_run.fates[place].wait);
                let period = scenarios.before.periods.find_period(job.submit)? as u32;
                (was.is_finite() && is.is_finite()).then_some(PairedWait { period, before: was, after: is, nodes: 1.0 })
            })
            .collect();
        compare_waits(waits.iter(), &scenarios.before.periods, confidence)
    };
    let before = scenarios.before.compute_figures().wait_mean;
    let node_point = |(more, list, ran): &(f64, &ChangeList, &ScenarioRun)| {
        let change = compare(&scenarios.before.ran, ran);
        NodePoint {
            change: format_list(list),
            more: *more,
            wait: change.after,
            interval: change.interval,
            difference: change.difference,
        }
    };
    let step = |from: usize, to: usize| {
        let change = compare(points[from].2, points[to].2);
        NodeStep {
            from: format_list(points[from].1),
            to: format_list(points[to].1),
            difference: change.difference,
            interval: change.interval,
            verdict: change.verdict,
        }
    };
    let last = points.len() - 1;
    let steps: Vec<NodeStep> = (0..last).map(|at| step(at, at + 1)).collect();
    let helps = |step: &NodeStep| step.verdict == DifferenceVerdict::Shorter && -step.difference > WORTH * before;
    // Two steps can help together where neither is clear.
    let enough = (0..last).find(|&at| !(at + 1..=last).any(|to| helps(&step(at, to))));
    let beyond = enough.map(|at| step(at, last));
    let sentence = limit_of_help(beyond.as_ref(), WORTH * before, confidence);
    let enough = enough.map(|at| format_list(points[at].1));
    Some(NodeCurve { points: points.iter().map(node_point).collect(), steps, enough, beyond, sentence })
}

/// Returns the nodes, or processors, that a machine has more than before.
fn added_nodes(changed_site: &Applied, base: &Premises, in_procs: bool) -> f64 {
    let pools = base.pools.iter().zip(&changed_site.premises.pools);
    let pool_difference = |(was, is): (&PoolPremises, &PoolPremises)| {
        let more = f64::from(is.procs) - f64::from(was.procs);
        if in_procs { more * f64::from(was.scale.max(1)) } else { more / was.per_node.max(1.0) }
    };
    pools.map(pool_difference).sum()
}

/// A sentence on where more nodes stop to help. `beyond` leads from the first machine that no
/// larger one is clearly better than to the largest; a difference below `worth` is no help.
fn limit_of_help(beyond: Option<&NodeStep>, worth: f64, confidence: f64) -> String {
    let Some(step) = beyond else { return "Every step to more still helps.".to_string() };
    let interval_text = || in_words((step.difference, step.interval), confidence);
    match (step.from.as_str(), -step.difference > worth) {
        ("as it is", false) => "More of them do not shorten the mean wait.".to_string(),
        ("as it is", true) => {
            let reason = if step.interval.is_some() { "too wide" } else { "and the log is too short" };
            format!(
                "No number of them clearly shortens the mean wait: at `{}` {}, {reason} to tell.",
                step.to,
                interval_text()
            )
        }
        (from, false) => format!("More stop helping at `{from}`: beyond it the mean wait is no shorter."),
        (from, true) => {
            format!("Beyond `{from}` the mean wait is not clearly shorter: at `{}` {}.", step.to, interval_text())
        }
    }
}

/// A difference in seconds with its unit and its interval.
pub(super) fn in_words((difference, interval): (f64, Option<(f64, f64)>), confidence: f64) -> String {
    let column = TimeColumn::of_intervals(TimeUnit::for_seconds(difference.abs()), &[(difference, interval)]);
    let text = format!("{} {}", column.format_difference(difference), column.unit.name());
    match interval {
        Some((low, high)) => {
            format!(
                "{text} ({} interval {} to {})",
                exact_percent(confidence),
                column.format_difference(low),
                column.format_difference(high)
            )
        }
        None => text,
    }
}
