//! Errors of a session.

use crate::model::{JobId, Time};

/// A policy asked for something impossible: a bug of the policy, never of the input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at {at}, {}: {problem}", .job.map_or("the policy".to_string(), |job| format!("job {job}")))]
pub struct PolicyViolation {
    /// Time of the call.
    pub at: Time,
    /// Job concerned, if any.
    pub job: Option<JobId>,
    /// Description of the mistake.
    pub problem: String,
}

/// A job that cannot be on this machine. Wrong input, not a bug of the policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the job {0}")]
pub struct ImpossibleJob(pub(super) String);
