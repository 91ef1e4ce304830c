//! Result, with all its inputs.

use super::classes::JobClasses;
use super::curve::{NodeCurve, WORTH};
use super::simulate::{Before, ScenarioFigures, ScenarioRun, SimulatedScenarios};
use crate::meta::{ExperimentMeta, WorkloadMeta};
use crate::output::number::{format_duration, format_plural};
use crate::site::SiteInput;
use drystone::inference::{DifferenceVerdict, EstimateBasis, correct_family};
use drystone_whatif::{
    Applied, ChangeList, ClassChange, LeftOutJobs, NodeAmount, PairedChange, PeriodLength, SiteChange,
};
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
    /// Units that intervals are made from; `None` where there are too few weeks.
    pub(super) basis: Option<EstimateBasis>,
    /// Difference of the mean wait between two phases of Slurm's clocks, in seconds.
    pub(super) clock_noise: Option<f64>,
    /// Assumptions about the machine.
    pub(super) machine: Option<String>,
    /// Distance of the site as it is, simulated, from its records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<MeanWaitReplay>,
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

#[derive(Serialize)]
pub(super) struct NodeAlternative {
    pub(super) change: String,
    pub(super) after: ScenarioFigures,
    /// Waits of the jobs before and after.
    pub(super) wait: PairedChange,
    pub(super) verdict: AlternativeVerdict,
    /// Classes of jobs, those with most node-hours of waiting gained or lost first.
    pub(super) classes: Vec<ClassChange>,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AlternativeVerdict {
    /// Jobs wait clearly less.
    Less,
    /// Jobs wait clearly more.
    More,
    /// No job waits longer or shorter.
    Same,
    /// The whole interval lies within ±2 %: no difference worth the name.
    Alike,
    /// Not decided.
    Unclear,
    /// There are too few weeks, or one block of weeks holds all of the wait.
    Uncertain,
    /// The difference is no larger than what Slurm's clocks make.
    WithinClocks,
}

impl NodeAlternative {
    pub(super) fn from_runs(
        list: &ChangeList,
        changed_site: &Applied,
        (found, ran): (&SimulatedScenarios, &ScenarioRun),
        classes: &JobClasses,
        confidence: f64,
    ) -> NodeAlternative {
        let pairs = classes.paired_waits(&found.before.ran, ran);
        let wait = classes.overall_change(&pairs, confidence);
        let same = pairs.iter().all(|(_, pair)| pair.before.total_cmp(&pair.after).is_eq());
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
            after: ran.compute_figures(),
            classes: classes.class_changes(&pairs, confidence),
            verdict: if same { AlternativeVerdict::Same } else { verdict_of(&wait, found.noise) },
            wait,
            left_out: changed_site.left,
            refused: changed_site.refused,
            split: changed_site.split,
            added: changed_site.added,
            notes: changed_site.notes.clone(),
            warnings,
        }
    }
}

/// Judges alternatives as a family: their p values are corrected for their number.
pub(super) fn judge_family(alternatives: &mut [NodeAlternative], noise: Option<f64>, confidence: f64) {
    let p: Vec<f64> = alternatives.iter().filter_map(|alternative| alternative.wait.p).collect();
    let mut corrected_values = correct_family(&p).into_iter();
    for alternative in alternatives.iter_mut().filter(|alternative| alternative.wait.p.is_some()) {
        let Some(corrected_p) = corrected_values.next() else { return };
        alternative.wait.judge_in_family(corrected_p, confidence, p.len());
        if alternative.verdict != AlternativeVerdict::Same {
            alternative.verdict = verdict_of(&alternative.wait, noise);
        }
    }
}

/// The verdict on a change that makes a difference to some job.
fn verdict_of(wait: &PairedChange, noise: Option<f64>) -> AlternativeVerdict {
    let decide_verdict = |verdict| match noise {
        Some(noise) if wait.difference.abs() <= noise => AlternativeVerdict::WithinClocks,
        _ => verdict,
    };
    match wait.verdict {
        DifferenceVerdict::Shorter => decide_verdict(AlternativeVerdict::Less),
        DifferenceVerdict::Longer => decide_verdict(AlternativeVerdict::More),
        DifferenceVerdict::Alike => AlternativeVerdict::Alike,
        DifferenceVerdict::TooFew => AlternativeVerdict::Uncertain,
        DifferenceVerdict::Same | DifferenceVerdict::Unclear | DifferenceVerdict::NoRatio => {
            AlternativeVerdict::Unclear
        }
    }
}

/// Mean waits of the jobs that count and whose start is recorded, in seconds.
#[derive(Clone, Copy, PartialEq, Serialize, Debug)]
pub(super) struct MeanWaitReplay {
    pub(super) jobs: u64,
    pub(super) recorded: f64,
    pub(super) simulated: f64,
}

impl MeanWaitReplay {
    /// `None` where no start is recorded.
    pub(super) fn from_site(site: &SiteInput, before: &Before) -> Option<MeanWaitReplay> {
        let (mut jobs, mut recorded_sum, mut simulated_sum) = (0_u64, 0.0, 0.0);
        for at in before.counted_places() {
            let Some(wait) = site.recorded_wait(at) else { continue };
            jobs += 1;
            recorded_sum += wait as f64;
            simulated_sum += before.ran.fates[at].wait;
        }
        let job_count = jobs as f64;
        (jobs > 0).then(|| MeanWaitReplay {
            jobs,
            recorded: recorded_sum / job_count,
            simulated: simulated_sum / job_count,
        })
    }

    pub(super) fn format_sentence(&self) -> String {
        format!(
            "Replay: the mean wait before is {} simulated and {} recorded, over {}. A difference that is smaller than the \
             distance between them may be the simulation's; `drystone fidelity` says more.",
            format_duration(self.simulated),
            format_duration(self.recorded),
            format_plural(self.jobs, "job")
        )
    }
}
