//! The two simplest predictors: believe the user, or know the truth.

use super::{Prediction, Predictor};
use crate::model::{Job, JobId, Span};
use serde::{Deserialize, Serialize};

/// Believes the user: the prediction is the estimate.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct UserEstimate;

impl Predictor for UserEstimate {
    fn name(&self) -> &str {
        "estimate"
    }

    fn predict(&mut self, _: JobId, job: &Job, _: Option<Span>) -> Prediction {
        Prediction::from_given(job.estimate)
    }

    fn is_learning(&self) -> bool {
        false
    }
}

/// Knows the truth, even where it lies above the estimate.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Perfect;

impl Predictor for Perfect {
    fn name(&self) -> &str {
        "perfect"
    }

    fn predict(&mut self, _: JobId, job: &Job, oracle: Option<Span>) -> Prediction {
        Prediction::from_given(oracle.unwrap_or(job.estimate))
    }

    fn is_learning(&self) -> bool {
        false
    }

    fn is_clairvoyant(&self) -> bool {
        true
    }
}
