//! What the run time of an arriving job is taken to be (rules 9 to 11).

use crate::JobIn;
use std::collections::BTreeMap;

/// Where predictions come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predictor {
    /// The user's estimate.
    Estimate,
    /// The actual run time, even above the estimate ("perfect").
    Actual,
    /// Rule 10: the mean of the user's last two terminated jobs.
    RecentHistory(Window),
}

/// Which two jobs of the user count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// The last two in order of submission.
    All,
    /// The same two, but only if both have the estimate of the arriving job.
    Immediate,
}

/// Terminated jobs of every user.
#[derive(Default)]
pub(super) struct History {
    terminated: BTreeMap<i64, Vec<usize>>,
}

impl History {
    /// Job `index` has terminated.
    pub(super) fn insert(&mut self, jobs: &[JobIn], index: usize) {
        let indices = self.terminated.entry(jobs[index].user).or_default();
        indices.push(index);
        indices.sort_unstable(); // order of submission, not of termination
    }

    /// The prediction for an arriving job, not doubled, and whether it comes from the user's history.
    pub(super) fn predict(&self, predictor: Predictor, jobs: &[JobIn], index: usize) -> (i64, bool) {
        let job = &jobs[index];
        let window = match predictor {
            Predictor::Estimate => return (job.estimate, false),
            Predictor::Actual => return (job.run, false),
            Predictor::RecentHistory(window) => window,
        };
        let Some([.., a, b]) = self.terminated.get(&job.user).map(Vec::as_slice) else {
            return (job.estimate, false);
        };
        let (a, b) = (&jobs[*a], &jobs[*b]);
        let similar = a.estimate == job.estimate && b.estimate == job.estimate;
        if window == Window::Immediate && !similar {
            return (job.estimate, false);
        }
        let mean = (a.run + b.run) / 2;
        if mean > job.estimate {
            return (job.estimate, false); // rule 11: discarded
        }
        (mean, true)
    }
}
