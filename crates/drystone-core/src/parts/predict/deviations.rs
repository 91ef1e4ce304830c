//! Mean and standard deviations of the run times of similar jobs: Mu'alem & Feitelson 2001 take the
//! mean and 1.5 deviations over jobs of the same user, size and executable.

use super::{Prediction, Predictor};
use crate::model::{Job, JobId, Procs, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Choice of a user's jobs that count as similar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Like {
    /// All of them.
    #[default]
    User,
    /// Those that need as many processors.
    Procs,
    /// Those of the same executable. Jobs whose executable the log does not know are alike.
    Executable,
    /// Those of the same executable that need as many processors.
    Both,
}

/// Kinds of jobs of one user that are remembered.
pub(crate) const KINDS: usize = 256;

/// Processors and executable of similar jobs; 0 and 0 where they do not matter.
type SimilarKey = (Procs, i32);

/// Predicts the mean plus `k` standard deviations of the run times of a user's last `size` similar
/// terminated jobs, in order of termination, rounded down, at most the estimate; the estimate until
/// `least` of them are known.
///
/// The standard deviation is that of the sample, with n − 1 below the root, and 0 of a single job.
///
/// Memory: `size` run times for each of the user's 256 most recently ended kinds of jobs.
/// Prediction O(size), learning O(log kinds), and O(kinds) where one is forgotten.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Deviations {
    k: f64,
    like: Like,
    size: usize,
    least: usize,
    users: BTreeMap<i32, BTreeMap<SimilarKey, Alike>>,
    /// Terminations so far.
    clock: u64,
}

/// Run times of similar jobs, the last to end at the back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Alike {
    /// Time of the last end.
    used: u64,
    runs: VecDeque<Span>,
}

impl Deviations {
    /// A predictor without history; `k` not negative, `size` and `least` at least 1.
    #[must_use]
    pub fn new(k: f64, like: Like, size: usize, least: usize) -> Deviations {
        Deviations { k, like, size, least, users: BTreeMap::new(), clock: 0 }
    }

    fn similar_key(&self, job: &Job) -> SimilarKey {
        match self.like {
            Like::User => (0, 0),
            Like::Procs => (job.procs, 0),
            Like::Executable => (0, job.executable),
            Like::Both => (job.procs, job.executable),
        }
    }

    fn predict_run(&self, job: &Job) -> Option<Span> {
        let runs = &self.users.get(&job.user)?.get(&self.similar_key(job))?.runs;
        if runs.len() < self.least {
            return None;
        }
        let n = runs.len() as f64;
        let mean = runs.iter().map(|run| run.as_f64()).sum::<f64>() / n;
        let squares: f64 = runs.iter().map(|run| (run.as_f64() - mean).powi(2)).sum();
        let deviation = if runs.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        Some(Span((mean + self.k * deviation).floor() as i64).min(job.estimate))
    }
}

impl Predictor for Deviations {
    fn name(&self) -> &str {
        "deviations"
    }

    fn predict(&mut self, _: JobId, job: &Job, _: Option<Span>) -> Prediction {
        self.predict_run(job).map_or(Prediction::from_given(job.estimate), Prediction::from_learned)
    }

    fn learn_from_end(&mut self, _: JobId, job: &Job, ran: Span, _: Time) {
        self.clock += 1;
        let kind = self.similar_key(job);
        let kinds = self.users.entry(job.user).or_default();
        if kinds.len() >= KINDS
            && !kinds.contains_key(&kind)
            && let Some(oldest) = kinds.iter().min_by_key(|(_, alike)| alike.used).map(|(&kind, _)| kind)
        {
            kinds.remove(&oldest);
        }
        let alike = kinds.entry(kind).or_default();
        alike.used = self.clock;
        if alike.runs.len() == self.size {
            alike.runs.pop_front();
        }
        alike.runs.push_back(ran);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(procs: Procs, executable: i32) -> Job {
        let mut job = Job::new(Time::ZERO, procs, Span(1000)).with_user(1);
        job.executable = executable;
        job
    }

    fn after(k: f64, like: Like, past: &[(Procs, i32, i64)], of: (Procs, i32)) -> Prediction {
        let mut p = Deviations::new(k, like, 4, 2);
        for &(procs, executable, run) in past {
            p.learn_from_end(JobId(0), &job(procs, executable), Span(run), Time::ZERO);
        }
        p.predict(JobId(9), &job(of.0, of.1), None)
    }

    /// The last four ran for 20, 40, 60 and 80: their mean is 50, the sum of squares 900 + 100 +
    /// 100 + 900, and the deviation √(2000 / 3) = 25.8.
    #[test]
    fn mean_and_deviations_of_the_last_runs() {
        let past = [(1, 1, 999), (1, 1, 20), (1, 1, 40), (1, 1, 60), (1, 1, 80)];
        for (k, run) in [(0.0, 50), (1.0, 75), (1.5, 88), (100.0, 1000)] {
            assert_eq!(after(k, Like::User, &past, (1, 1)), Prediction::from_learned(Span(run)), "{k}");
        }
        assert_eq!(after(1.0, Like::User, &past[..1], (1, 1)), Prediction::from_given(Span(1000)));
    }

    #[test]
    fn similar_jobs() {
        let past = [(1, 7, 10), (1, 7, 10), (2, 7, 20), (2, 7, 20), (2, 8, 30), (2, 8, 30)];
        // The last four of all are two of 20 and two of 30.
        for (like, of, run) in [
            (Like::User, (9, 9), Some(25)),
            (Like::Procs, (1, 8), Some(10)),
            (Like::Procs, (2, 9), Some(25)),
            (Like::Procs, (3, 7), None),
            (Like::Executable, (2, 7), Some(15)),
            (Like::Executable, (1, 8), Some(30)),
            (Like::Both, (2, 7), Some(20)),
            (Like::Both, (1, 8), None),
        ] {
            let expected = run.map_or(Prediction::from_given(Span(1000)), |run| Prediction::from_learned(Span(run)));
            assert_eq!(after(0.0, like, &past, of), expected, "{like:?} {of:?}");
        }
    }

    #[test]
    fn memory_is_bounded_per_user() {
        let mut p = Deviations::new(1.0, Like::Both, 4, 2);
        for i in 0..10_000 {
            p.learn_from_end(JobId(0), &job(1, i), Span(1), Time::ZERO);
        }
        let kinds = &p.users[&1];
        assert_eq!(kinds.len(), KINDS);
        assert!(kinds.contains_key(&(1, 9_999)) && !kinds.contains_key(&(1, 0)));
    }
}
