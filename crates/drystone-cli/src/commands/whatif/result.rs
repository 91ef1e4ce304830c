//! Result, with all its inputs.

use super::classes::JobClasses;
use super::simulate::{ScenarioFigures, ScenarioRun, SimulatedScenarios};
use super::{document, rows};
use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, WorkloadMeta};
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use drystone_advise::{
    Applied, ChangeList, ClassChange, LeftOutJobs, NodeAmount, PairedChange, PairedWait, PeriodLength, PoolPremises,
    Premises, SiteChange, paired,
};
use drystone_report::{PictureSubject, StillPage};
use serde::Serialize;

/// A site or log before and after.
#[derive(Serialize)]
pub(super) struct WhatIfResult {
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) experiment: ExperimentMeta,
    /// The policy, before and after.
    pub(super) policy: String,
    /// True if it is the site's own scheduler.
    pub(super) own: bool,
    /// A node of the machine: `node`, or `processor` where nodes are not known.
    pub(super) unit: &'static str,
    pub(super) confidence: f64,
    pub(super) seed: u64,
    pub(super) period: PeriodLength,
    pub(super) periods: usize,
    /// Difference of the mean wait between two phases of Slurm's clocks, in seconds.
    pub(super) clock_noise: Option<f64>,
    /// Assumptions about the machine.
    pub(super) machine: Option<String>,
    /// Records that neither side has, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) without: Option<&'static str>,
    #[serde(skip)]
    pub(super) example: bool,
    #[serde(skip)]
    pub(super) whole: bool,
    pub(super) before: ScenarioFigures,
    pub(super) alternatives: Vec<NodeAlternative>,
    /// Curve over numbers of nodes, if alternatives differ in these alone.
    pub(super) curve: Option<NodeCurve>,
    /// Alternatives that were not simulated to their ends.
    pub(super) not_done: Vec<String>,
}

/// An alternative.
#[derive(Serialize)]
pub(super) struct NodeAlternative {
    /// The changes as a text.
    pub(super) change: String,
    pub(super) after: ScenarioFigures,
    /// Waits of the jobs before and after.
    pub(super) wait: PairedChange,
    pub(super) verdict: AlternativeVerdict,
    /// Classes of jobs, those with most node-hours of waiting gained or lost first.
    pub(super) classes: Vec<ClassChange>,
    /// Jobs that are left out.
    pub(super) left_out: LeftOutJobs,
    /// Those of them that can never run after the change.
    pub(super) refused: u64,
    /// Jobs that are split.
    pub(super) split: u64,
    /// Jobs that are added.
    pub(super) added: u64,
    pub(super) notes: Vec<String>,
    /// Deviations from theory.
    pub(super) warnings: Vec<String>,
}

/// Verdicts on an alternative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AlternativeVerdict {
    /// Jobs wait clearly less.
    Less,
    /// Jobs wait clearly more.
    More,
    /// No job waits longer or shorter.
    Same,
    /// The interval contains zero, or there is none.
    Unclear,
    /// The difference is no larger than what Slurm's clocks make.
    WithinClocks,
}

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

/// A point of a curve.
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
}

/// A gain of less than this part of the mean wait before is no help.
pub(super) const WORTH: f64 = 0.01;

impl NodeAlternative {
    pub(super) fn of(
        list: &ChangeList,
        applied: &Applied,
        (found, ran): (&SimulatedScenarios, &ScenarioRun),
        classes: &JobClasses,
        confidence: f64,
    ) -> NodeAlternative {
        let pairs = classes.pairs(&found.before.ran, ran);
        let wait = classes.whole(&pairs, confidence);
        let same = pairs.iter().all(|(_, pair)| pair.before.total_cmp(&pair.after).is_eq());
        let verdict = match (same, wait.sign()) {
            (true, _) => AlternativeVerdict::Same,
            (_, 0) => AlternativeVerdict::Unclear,
            _ if found.noise.is_some_and(|noise| wait.difference.abs() <= noise) => AlternativeVerdict::WithinClocks,
            (_, sign) => {
                if sign < 0 {
                    AlternativeVerdict::Less
                } else {
                    AlternativeVerdict::More
                }
            }
        };
        let mut warnings = Vec::new();
        let grows = |change: &SiteChange| match change {
            SiteChange::Nodes { amount, .. } | SiteChange::Procs(amount) => {
                matches!(amount, NodeAmount::By(1..)) || matches!(amount, NodeAmount::Percent(p) if *p > 0.0)
            }
            _ => false,
        };
        let only_grows = !list.0.is_empty() && list.0.iter().all(grows);
        if only_grows && wait.difference > WORTH * wait.before && wait.difference > 1.0 {
            warnings.push(
                "jobs wait longer with more nodes: a schedule that is made job by job can become worse by room (a known anomaly), and \
                 other jobs start together then; look at several numbers of nodes"
                    .to_string(),
            );
        }
        NodeAlternative {
            change: list.to_string(),
            after: ran.figures(),
            classes: classes.changes(&pairs, confidence),
            wait,
            verdict,
            left_out: applied.left,
            refused: applied.refused,
            split: applied.split,
            added: applied.added,
            notes: applied.notes.clone(),
            warnings,
        }
    }
}

/// The changes as a text.
fn named(list: &ChangeList) -> String {
    if list.0.is_empty() { "as it is".to_string() } else { list.to_string() }
}

/// Returns the curve if alternatives are numbers of nodes of one place, and nothing else: in their
/// order.
pub(super) fn curve(
    lists: &[ChangeList],
    (base, after): (&Premises, &[Applied]),
    found: &SimulatedScenarios,
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
    let none = ChangeList::default();
    let mut points: Vec<(f64, &ChangeList, &ScenarioRun)> = vec![(0.0, &none, &found.before.ran)];
    for ((list, applied), ran) in lists.iter().zip(after).zip(&found.after) {
        points.push((more(applied, base, first == "procs"), list, ran.as_ref()?));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let compare = |one: &ScenarioRun, other: &ScenarioRun| {
        let waits: Vec<PairedWait> = found
            .before
            .counted()
            .filter_map(|place| {
                let job = &found.before.workload.jobs()[place];
                let (was, is) = (one.fates[place].wait, other.fates[place].wait);
                let period = found.before.periods.place(job.submit)? as u32;
                (was.is_finite() && is.is_finite()).then_some(PairedWait { period, before: was, after: is, nodes: 1.0 })
            })
            .collect();
        paired(waits.iter(), found.before.periods.count(), confidence)
    };
    let before = found.before.figures().wait_mean;
    let told = |(more, list, ran): &(f64, &ChangeList, &ScenarioRun)| {
        let change = compare(&found.before.ran, ran);
        NodePoint {
            change: named(list),
            more: *more,
            wait: change.after,
            interval: change.interval,
            difference: change.difference,
        }
    };
    let step = |from: usize, to: usize| {
        let change = compare(points[from].2, points[to].2);
        NodeStep {
            from: named(points[from].1),
            to: named(points[to].1),
            difference: change.difference,
            interval: change.interval,
        }
    };
    let last = points.len() - 1;
    let steps: Vec<NodeStep> = (0..last).map(|at| step(at, at + 1)).collect();
    let helps =
        |step: &NodeStep| step.interval.is_some_and(|(_, high)| high < 0.0) && -step.difference > WORTH * before;
    // Two steps can help together where neither is clear.
    let enough = (0..last).find(|&at| !(at + 1..=last).any(|to| helps(&step(at, to))));
    let beyond = enough.map(|at| step(at, last));
    let sentence = document::limit_of_help(beyond.as_ref(), WORTH * before, confidence);
    let enough = enough.map(|at| named(points[at].1));
    Some(NodeCurve { points: points.iter().map(told).collect(), steps, enough, beyond, sentence })
}

/// Returns the nodes, or processors, that a machine has more than before.
fn more(applied: &Applied, base: &Premises, in_procs: bool) -> f64 {
    let pools = base.pools.iter().zip(&applied.premises.pools);
    let each = |(was, is): (&PoolPremises, &PoolPremises)| {
        let more = f64::from(is.procs) - f64::from(was.procs);
        if in_procs { more * f64::from(was.scale.max(1)) } else { more / was.per_node.max(1.0) }
    };
    pools.map(each).sum()
}

impl Printable for WhatIfResult {
    fn document(&self) -> Document {
        if self.whole { document::whole(self) } else { document::overview(self) }
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| document::overview(self))
    }

    fn rows(&self) -> FlatRows {
        rows::rows(self)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        None
    }

    fn page(&self) -> Result<String, CommandFailure> {
        let mut data = serde_json::to_value(self).map_err(CommandFailure::usage)?;
        let sentences = document::sentences(self);
        data["sentences"] = sentences.clone().into();
        let page = StillPage {
            title: &format!("What-if: {}", self.workload.name),
            subject: &self.policy,
            verdict: &sentences,
            pictures: PictureSubject::WhatIf.draw(&data).map_err(CommandFailure::usage)?,
            details: &document::whole(self),
            data: &data,
        };
        Ok(page.html())
    }
}
