//! Counterfactual report on the jobs of a journal: both the policy and a model of the site's
//! scheduler are simulated on them.
//!
//! The mirror of a shadow cannot tell: its queue is what the cluster's own choices left. So the
//! journal is made a workload, and both schedulers run on it; what the cluster itself made of it
//! says how good the model is.

use crate::journal::{self, JournalError};
use drystone::engine::Observer;
use drystone::experiment::{Experiment, ExperimentError};
use drystone::metrics::{IntervalOptions, PairedMeans, paired_means};
use drystone::model::{EndedJob, JobId, Span, Workload};
use drystone::policy::PolicySpec;
use serde::Serialize;
use std::path::Path;

/// Jobs that follow each other and are drawn together.
const BLOCK: usize = 50;
/// A start that differs by less counts as the same, in seconds.
const SAME: i64 = 60;
/// Rows of jobs that would have gained or lost most.
const ROWS: usize = 10;

/// Two means and what changed between them, with intervals.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ComparedMeans {
    /// Mean in seconds, and its interval.
    pub baseline: (f64, Option<(f64, f64)>),
    /// Mean wait under the policy.
    pub policy: (f64, Option<(f64, f64)>),
    /// Relative change, and its interval.
    pub change: (Option<f64>, Option<(f64, f64)>),
}

/// Wait of a job under each scheduler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WaitPair {
    pub job: i64,
    pub procs: u32,
    /// Wait on the cluster, in seconds.
    pub cluster: i64,
    /// Under the baseline.
    pub baseline: i64,
    /// Under the policy.
    pub policy: i64,
}

/// Accuracy of predicted run times.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Predicted {
    /// Jobs of which one was learned.
    pub learned: usize,
    /// Median of prediction / run time: 1 is right.
    pub median_ratio: f64,
    /// Mean distance from the run time, in seconds, of predictions and of time limits.
    pub mean_error: (f64, f64),
    /// Share of jobs that ran longer than predicted.
    pub too_short: f64,
}

/// Accuracy of announced starts, under the policy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AnnouncedAccuracy {
    /// Jobs that were announced a start.
    pub jobs: usize,
    /// Mean distance of the start from the first that was announced, in seconds.
    pub mean_error: f64,
    /// Share of starts no later than announced.
    pub in_time: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LiveReport {
    /// The name of this form.
    pub schema: &'static str,
    /// The version that made it.
    pub drystone: &'static str,
    pub cluster: String,
    /// The policy, and what it is compared with.
    pub policy: String,
    /// True if the policy placed the jobs on nodes.
    pub on_nodes: bool,
    /// The model of the site's own scheduler.
    pub baseline: String,
    /// Jobs that ran and are over.
    pub jobs: usize,
    /// From the first submission to the last end, in seconds.
    pub span: i64,
    /// Offered load.
    pub load: Option<f64>,
    /// Mean wait that the cluster itself had, in seconds.
    pub cluster_wait: f64,
    /// Blocks of jobs that intervals draw from.
    pub blocks: usize,
    pub wait: ComparedMeans,
    /// Mean bounded slowdowns (10 s).
    pub slowdown: ComparedMeans,
    /// Jobs that would have started earlier, later, and at the same time but for a minute.
    pub moved: (usize, usize, usize),
    /// Jobs that would have gained most.
    pub gains: Vec<WaitPair>,
    /// Jobs that would have lost most.
    pub losses: Vec<WaitPair>,
    /// Quality of predictions; nothing where the policy plans with time limits.
    pub predictions: Option<Predicted>,
    /// Quality of announced starts; nothing where none was announced.
    pub announced: Option<AnnouncedAccuracy>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("policy {0}: {1}")]
    Simulation(String, ExperimentError),
    #[error("the journal holds {0} jobs that ran and are over: too few to compare (at least {LEAST})")]
    TooFew(usize),
}

/// Fewer jobs than this are no evidence.
const LEAST: usize = 10;

/// Facts kept of one job of a simulation.
#[derive(Clone, Copy, Default)]
struct SimulatedFate {
    wait: Span,
    slowdown: f64,
    predicted: Span,
    learned: bool,
    announced: Option<i64>,
}

/// Keeps what became of jobs.
struct FateKeeper(Vec<SimulatedFate>);

impl Observer for FateKeeper {
    const NOTES: bool = false;

    fn note_end(&mut self, job: &EndedJob<'_>) {
        let (wait, ran) = (job.wait_time(), job.outcome.ran);
        let bounded_slowdown = job.response_time().as_f64() / ran.as_f64().max(10.0);
        let announced_delay = job.outcome.first_reservation.map(|time| job.outcome.start.0 - time.0);
        self.0[job.id.index()] = SimulatedFate {
            wait,
            slowdown: bounded_slowdown.max(1.0),
            predicted: job.outcome.first_prediction,
            learned: job.outcome.learned,
            announced: announced_delay,
        };
    }
}

/// Makes the report of a journal.
///
/// # Errors
/// The journal cannot be read or holds too little, or a policy cannot be simulated on it.
pub fn report_journal(folder: &Path, policy: &PolicySpec, baseline: &PolicySpec) -> Result<LiveReport, ReportError> {
    let (workload, waits, placed_workload) = journal::workload_for(folder, Some(policy))?;
    if workload.len() < LEAST {
        return Err(ReportError::TooFew(workload.len()));
    }
    let base = simulate_fates(&workload, baseline)?;
    let policy_fates = simulate_fates(placed_workload.as_ref().unwrap_or(&workload), policy)?;
    let seconds = |fates: &[SimulatedFate]| -> Vec<f64> { fates.iter().map(|fate| fate.wait.as_f64()).collect() };
    let slowdowns = |fates: &[SimulatedFate]| -> Vec<f64> { fates.iter().map(|fate| fate.slowdown).collect() };
    let wait = compare_means(&seconds(&base), &seconds(&policy_fates));
    let slowdown = compare_means(&slowdowns(&base), &slowdowns(&policy_fates));
    let mut rows: Vec<WaitPair> =
        (0..workload.len()).map(|at| pair_waits(&workload, &waits, &base, &policy_fates, at)).collect();
    let by = |row: &WaitPair| row.policy - row.baseline;
    let move_counts = rows.iter().fold((0, 0, 0), |(earlier, later, same), row| match by(row) {
        d if d < -SAME => (earlier + 1, later, same),
        d if d > SAME => (earlier, later + 1, same),
        _ => (earlier, later, same + 1),
    });
    rows.sort_by_key(|row| (by(row), row.job));
    let gains = rows.iter().take(ROWS).filter(|row| by(row) < 0).cloned().collect();
    let losses = rows.iter().rev().take(ROWS).filter(|row| by(row) > 0).cloned().collect();
    let last =
        workload.jobs().iter().zip(workload.truth()).zip(&waits).map(|((j, t), w)| j.submit.0 + w.0 + t.run.0).max();
    let mean = waits.iter().map(|wait| wait.as_f64()).sum::<f64>() / waits.len() as f64;
    Ok(LiveReport {
        schema: "drystone/live-report/1",
        drystone: env!("CARGO_PKG_VERSION"),
        cluster: workload.provenance.name.clone(),
        policy: policy.canonical_text(),
        on_nodes: placed_workload.is_some(),
        baseline: baseline.canonical_text(),
        jobs: workload.len(),
        span: last.unwrap_or(0),
        load: workload.offered_load(),
        cluster_wait: mean,
        blocks: workload.len().div_ceil(BLOCK),
        wait: wait.into(),
        slowdown: slowdown.into(),
        moved: move_counts,
        gains,
        losses,
        predictions: assess_predictions(&workload, &policy_fates),
        announced: announced_accuracy(&policy_fates),
    })
}

fn simulate_fates(workload: &Workload, policy: &PolicySpec) -> Result<Vec<SimulatedFate>, ReportError> {
    let mut fates = FateKeeper(vec![SimulatedFate::default(); workload.len()]);
    let simulation_error = |error| ReportError::Simulation(policy.canonical_text(), error);
    Experiment::new(policy, workload).run(&mut fates).map_err(simulation_error)?;
    Ok(fates.0)
}

/// Both means; there is at least one job.
fn compare_means(old: &[f64], new: &[f64]) -> PairedMeans {
    let bare_means = PairedMeans { means: (0.0, 0.0), intervals: None, change: None, interval: None, blocks: 0 };
    paired_means(old, new, BLOCK, IntervalOptions::default()).unwrap_or(bare_means)
}

impl From<PairedMeans> for ComparedMeans {
    fn from(comparison: PairedMeans) -> ComparedMeans {
        let [old, new] = comparison.intervals.map_or([None, None], |[old, new]| [Some(old), Some(new)]);
        ComparedMeans {
            baseline: (comparison.means.0, old),
            policy: (comparison.means.1, new),
            change: (comparison.change, comparison.interval),
        }
    }
}

fn pair_waits(
    workload: &Workload,
    waits: &[Span],
    base: &[SimulatedFate],
    fates: &[SimulatedFate],
    at: usize,
) -> WaitPair {
    let id = JobId(at as u32);
    WaitPair {
        job: workload.truth()[at].number,
        procs: workload.job(id).procs,
        cluster: waits[at].0,
        baseline: base[at].wait.0,
        policy: fates[at].wait.0,
    }
}

fn assess_predictions(workload: &Workload, fates: &[SimulatedFate]) -> Option<Predicted> {
    let prediction_rows: Vec<(f64, f64, f64)> = fates
        .iter()
        .zip(workload.jobs().iter().zip(workload.truth()))
        .filter(|(fate, _)| fate.learned)
        .map(|(fate, (job, truth))| (fate.predicted.as_f64(), truth.run.as_f64(), job.estimate.as_f64()))
        .collect();
    let count = prediction_rows.len() as f64;
    let mut ratios: Vec<f64> = prediction_rows.iter().map(|(prediction, run, _)| prediction / run.max(1.0)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    Some(Predicted {
        learned: prediction_rows.len(),
        median_ratio: *ratios.get(ratios.len() / 2)?,
        mean_error: (
            prediction_rows.iter().map(|(prediction, run, _)| (prediction - run).abs()).sum::<f64>() / count,
            prediction_rows.iter().map(|(_, run, limit)| (limit - run).abs()).sum::<f64>() / count,
        ),
        too_short: prediction_rows.iter().filter(|(prediction, run, _)| run > prediction).count() as f64 / count,
    })
}

fn announced_accuracy(fates: &[SimulatedFate]) -> Option<AnnouncedAccuracy> {
    let late: Vec<i64> = fates.iter().filter_map(|fate| fate.announced).collect();
    if late.is_empty() {
        return None;
    }
    let count = late.len() as f64;
    Some(AnnouncedAccuracy {
        jobs: late.len(),
        mean_error: late.iter().map(|late| late.abs() as f64).sum::<f64>() / count,
        in_time: late.iter().filter(|&&late| late <= 0).count() as f64 / count,
    })
}
