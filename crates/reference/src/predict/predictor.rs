//! Run time assumed for an arriving job (rules 9 to 11, and the parameters of section 7).

use super::learn::{NaiveLearned, NaiveLearnerModel};
use crate::JobIn;
use std::collections::BTreeMap;

/// Source of predictions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NaiveLearnerPredictor {
    /// The user's estimate.
    Estimate,
    /// The actual run time, even above the estimate ("perfect").
    Actual,
    /// The user's recent jobs.
    Recent(NaiveRecent),
    /// Of the user's last `size` jobs in order of termination the nearest-rank quantile, at most
    /// the estimate; the estimate as long as fewer than `least` are known.
    Quantile {
        /// In hundredths.
        percent: usize,
        /// Jobs remembered.
        size: usize,
        /// Jobs needed.
        least: usize,
    },
    /// A model of all users' jobs.
    Learned(NaiveLearned),
}

/// The parameters of section 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveRecent {
    /// Number of jobs.
    pub size: usize,
    /// Choice of jobs.
    pub window: NaiveWindow,
    /// True if a window with fewer jobs than `size` is no window.
    pub full: bool,
    /// Statistic of their run times.
    pub metric: NaiveMetric,
    /// True if a job without a window gets its estimate times the user's mean of min(1, run time /
    /// estimate), rounded down, instead of its estimate.
    pub relative: bool,
    /// True if the last to terminate are recent, not the last to be submitted.
    pub by_termination: bool,
    /// Treatment of a prediction above the estimate.
    pub above: NaiveAbove,
    /// Predictions that are made again when a job of the user terminates.
    pub propagation: NaivePropagation,
}

impl Default for NaiveRecent {
    /// Rules 10 and 11.
    fn default() -> NaiveRecent {
        NaiveRecent {
            size: 2,
            window: NaiveWindow::All,
            full: true,
            metric: NaiveMetric::Average,
            relative: false,
            by_termination: false,
            above: NaiveAbove::Discard,
            propagation: NaivePropagation::No,
        }
    }
}

/// Choice of the user's jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveWindow {
    /// The most recent.
    All,
    /// The most recent, up to the first whose estimate is not that of the arriving job.
    Immediate,
    /// The most recent of those with the estimate of the arriving job.
    Extended,
}

/// Statistic of the run times in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveMetric {
    /// Their mean, rounded down.
    Average,
    /// The middle one, or the mean of the middle two, rounded down.
    Median,
    Minimum,
    Maximum,
}

/// Treatment of a prediction above the estimate (rule 11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveAbove {
    /// The estimate is taken, and counts as no prediction.
    Discard,
    /// The estimate is taken.
    Clip,
    /// It stays.
    Keep,
}

/// Predictions that are made again when a job of the user terminates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NaivePropagation {
    No,
    /// Those of waiting jobs.
    Waiting,
    /// Those of waiting jobs and of running ones that were never corrected.
    Running,
}

/// Terminated jobs of every user, in order of termination.
#[derive(Default)]
pub(super) struct NaiveHistory {
    terminated: BTreeMap<i64, Vec<usize>>,
    model: NaiveLearnerModel,
}

impl NaiveHistory {
    /// Job `index` has terminated.
    pub(super) fn insert(&mut self, predictor: NaiveLearnerPredictor, jobs: &[JobIn], index: usize, now: i64) {
        if let NaiveLearnerPredictor::Learned(settings) = predictor {
            self.model.learn_run(&settings, jobs, index, now);
        }
        self.terminated.entry(jobs[index].user).or_default().push(index);
    }

    /// The prediction for an arriving job, not doubled, and whether it comes from the user's
    /// history.
    pub(super) fn predict_run(
        &mut self,
        predictor: NaiveLearnerPredictor,
        jobs: &[JobIn],
        index: usize,
    ) -> (i64, bool) {
        let job = &jobs[index];
        let past = self.terminated.get(&job.user).map_or(&[][..], Vec::as_slice);
        match predictor {
            NaiveLearnerPredictor::Estimate => (job.estimate, false),
            NaiveLearnerPredictor::Actual => (job.run, false),
            NaiveLearnerPredictor::Recent(recent) => recent.predict_run(jobs, past, job),
            NaiveLearnerPredictor::Learned(_) => self.model.predict_run(jobs, index),
            NaiveLearnerPredictor::Quantile { percent, size, least } => {
                let mut runs: Vec<i64> = past.iter().rev().take(size).map(|&i| jobs[i].run).collect();
                if runs.len() < least {
                    return (job.estimate, false);
                }
                runs.sort_unstable();
                // The smallest run time that this many per cent do not exceed.
                let enough = |&&run: &&i64| 100 * runs.iter().filter(|&&r| r <= run).count() >= percent * runs.len();
                let quantile = runs.iter().find(enough).copied().unwrap_or(job.estimate);
                (quantile.min(job.estimate), true)
            }
        }
    }
}

impl NaiveRecent {
    fn predict_run(&self, jobs: &[JobIn], past: &[usize], job: &JobIn) -> (i64, bool) {
        let mut newest_first = past.to_vec();
        if !self.by_termination {
            newest_first.sort_unstable();
        }
        newest_first.reverse();
        let similar = |i: &usize| jobs[*i].estimate == job.estimate;
        let newest_jobs = newest_first.into_iter();
        let window: Vec<usize> = match self.window {
            NaiveWindow::All => newest_jobs.take(self.size).collect(),
            NaiveWindow::Immediate => newest_jobs.take(self.size).take_while(similar).collect(),
            NaiveWindow::Extended => newest_jobs.filter(similar).take(self.size).collect(),
        };
        if window.is_empty() || self.full && window.len() < self.size {
            return (if self.relative { relative_prediction(jobs, past, job) } else { job.estimate }, false);
        }
        let mut runs: Vec<i64> = window.iter().map(|&i| jobs[i].run).collect();
        runs.sort_unstable();
        let (n, sum) = (runs.len(), runs.iter().sum::<i64>());
        let prediction = match self.metric {
            NaiveMetric::Average => sum / n as i64,
            NaiveMetric::Median => (runs[(n - 1) / 2] + runs[n / 2]) / 2,
            NaiveMetric::Minimum => runs[0],
            NaiveMetric::Maximum => runs[n - 1],
        };
        match self.above {
            _ if prediction <= job.estimate => (prediction, true),
            NaiveAbove::Discard => (job.estimate, false),
            NaiveAbove::Clip => (job.estimate, true),
            NaiveAbove::Keep => (prediction, true),
        }
    }
}

/// The estimate scaled by how much of their estimates the user's jobs have used.
fn relative_prediction(jobs: &[JobIn], past: &[usize], job: &JobIn) -> i64 {
    if past.is_empty() {
        return job.estimate;
    }
    let used_share =
        |&i: &usize| if jobs[i].run < jobs[i].estimate { jobs[i].run as f64 / jobs[i].estimate as f64 } else { 1.0 };
    let mean = past.iter().map(used_share).sum::<f64>() / past.len() as f64;
    (job.estimate as f64 * mean).floor() as i64
}
