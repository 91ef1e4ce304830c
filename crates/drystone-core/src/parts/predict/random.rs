//! Estimates made less accurate at random.

use super::{Prediction, Predictor};
use crate::engine::step_splitmix64;
use crate::model::{Job, JobId, Span};
use serde::{Deserialize, Serialize};

/// Believes a multiple of the user's estimate: a factor of its own for each job, drawn uniformly
/// from 1 to `most`, rounded down to a second. The draw depends on the seed and on the job's place
/// in the order of arrival alone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RandomFactor {
    most: f64,
    seed: u64,
}

impl RandomFactor {
    /// Factors up to `most`, at least 1.
    #[must_use]
    pub fn new(most: f64, seed: u64) -> RandomFactor {
        RandomFactor { most, seed }
    }

    fn job_factor(&self, id: JobId) -> f64 {
        let random_bits = step_splitmix64(step_splitmix64(self.seed) ^ u64::from(id.0));
        // 53 bits: a number from 0 to 1, without 1.
        let share = (random_bits >> 11) as f64 / (1_u64 << 53) as f64;
        1.0 + share * (self.most - 1.0)
    }
}

impl Predictor for RandomFactor {
    fn name(&self) -> &str {
        "random"
    }

    fn predict(&mut self, id: JobId, job: &Job, _: Option<Span>) -> Prediction {
        Prediction::from_given(Span((job.estimate.as_f64() * self.job_factor(id)).floor() as i64))
    }

    fn is_learning(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;

    /// Of 10,000 draws from 1 to 3 the mean is 2 within four deviations, 4 · (2 / √12) / 100.
    #[test]
    fn factors_are_uniform_and_repeat() {
        let job = Job::new(Time::ZERO, 1, Span(1_000_000));
        let of = |seed: u64| -> Vec<f64> {
            let mut random = RandomFactor::new(3.0, seed);
            (0..10_000).map(|id| random.predict(JobId(id), &job, None).run.as_f64() / 1e6).collect()
        };
        let first = of(1);
        assert!(first.iter().all(|factor| (1.0..3.0).contains(factor)));
        let mean = first.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 2.0).abs() < 0.0231, "{mean}");
        assert_eq!(first, of(1));
        assert!(first.iter().zip(of(2)).filter(|(a, b)| **a == *b).count() < 10);
        assert_eq!(RandomFactor::new(1.0, 5).predict(JobId(3), &job, None).run, job.estimate);
    }
}
