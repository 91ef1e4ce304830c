//! A quantile of a user's recent run times: predictions that are too short as rarely as one likes.

use super::{Prediction, Predictor};
use crate::model::{Job, JobId, Span, Time};
use drystone_engine::statistics::nearest_rank_index;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Predicts the q-quantile of the run times of a user's last `size` terminated jobs, in order of
/// termination, at most the estimate; the estimate until `least` of them are known.
///
/// The quantile is the nearest rank: of n run times in ascending order the ⌈q·n⌉-th. A high q plans
/// cautiously: about 1 − q of the predictions are outlived. Beyond the published predictors.
///
/// Memory: `size` run times per user. Prediction and learning O(size).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Quantile {
    q: f64,
    size: usize,
    least: usize,
    users: BTreeMap<i32, VecDeque<Span>>,
}

impl Quantile {
    /// A predictor without history; `q` in [0, 1], `size` and `least` at least 1.
    #[must_use]
    pub fn new(q: f64, size: usize, least: usize) -> Quantile {
        Quantile { q, size, least, users: BTreeMap::new() }
    }

    fn predict_run(&self, job: &Job) -> Option<Span> {
        let runs = self.users.get(&job.user).filter(|runs| runs.len() >= self.least)?;
        let mut runs: Vec<Span> = runs.iter().copied().collect();
        let rank = nearest_rank_index(self.q, runs.len())?;
        let (_, at, _) = runs.select_nth_unstable(rank);
        Some((*at).min(job.estimate))
    }
}

impl Predictor for Quantile {
    fn name(&self) -> &str {
        "quantile"
    }

    fn predict(&mut self, _: JobId, job: &Job, _: Option<Span>) -> Prediction {
        self.predict_run(job).map_or(Prediction::from_given(job.estimate), Prediction::from_learned)
    }

    fn learn_from_end(&mut self, _: JobId, job: &Job, ran: Span, _: Time) {
        let runs = self.users.entry(job.user).or_default();
        if runs.len() == self.size {
            runs.pop_front();
        }
        runs.push_back(ran);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_of_the_last_runs() {
        let job = Job::new(Time::ZERO, 1, Span(1000)).with_user(1);
        let mut p = Quantile::new(0.75, 4, 2);
        assert_eq!(p.predict(JobId(9), &job, None).run, Span(1000));
        for run in [999, 40, 10, 30, 20] {
            p.learn_from_end(JobId(0), &job, Span(run), Time::ZERO);
        }
        // The last four are 10, 20, 30, 40: the third of them; 999 is forgotten.
        assert_eq!(p.predict(JobId(9), &job, None).run, Span(30));
        let mut short = job;
        short.estimate = Span(25);
        assert_eq!(p.predict(JobId(9), &short, None).run, Span(25));
    }
}
