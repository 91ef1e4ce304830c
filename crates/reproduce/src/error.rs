//! Reasons why a study could not be run.

use drystone::engine::SimulationError;
use drystone::experiment::ExperimentError;
use drystone::log::LogError;

/// Reason why a study could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// A log does not read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A policy broke its contract.
    #[error("policy {policy}: {source}; this is a bug of the policy, please report it")]
    Policy {
        /// Text of the policy.
        policy: String,
        /// Cause.
        source: SimulationError,
    },
    /// A policy cannot be simulated on a workload.
    #[error("policy {policy}: {source}")]
    Impossible {
        /// Text of the policy.
        policy: String,
        /// Cause.
        source: ExperimentError,
    },
    /// A policy that only reading the study should have refused.
    #[error("policy {0}")]
    Spec(#[from] drystone::policy::SpecError),
    /// The log has no such month.
    #[error("{log} has no month {month}; it has {known}")]
    Month {
        /// Name of the log in the study.
        log: String,
        /// Number of the month.
        month: String,
        /// Those it has.
        known: String,
    },
    /// The log ends before the window does.
    #[error(
        "{log} has {jobs} jobs, too few for a window of {length} from job {from}, counted from 0; let it begin earlier"
    )]
    Window {
        /// Name of the log.
        log: String,
        /// First job of the window.
        from: usize,
        /// Jobs that it must have.
        length: usize,
        /// Number of jobs in the log.
        jobs: usize,
    },
    /// A part of a log is no workload.
    #[error(transparent)]
    Part(#[from] drystone::model::WorkloadError),
    /// The policy and its baseline did not schedule the same jobs.
    #[error(transparent)]
    Ratio(#[from] drystone::metrics::RatioError),
    /// Weeks cannot be drawn of a log.
    #[error(transparent)]
    Resample(#[from] crate::coverage::CoverageError),
    /// The work was cancelled. [`reproduce`](crate::reproduce) then leaves out the missing rows and does not fail.
    #[error("stopped")]
    Stopped,
}
