//! Reasons why a study could not be run.

use drystone::engine::SimulationError;
use drystone::experiment::ExperimentError;
use drystone::log::LogError;

/// Reason why a study could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("policy {policy}: {source}; this is a bug of the policy, please report it")]
    Policy { policy: String, source: SimulationError },
    #[error("policy {policy}: {source}")]
    Impossible { policy: String, source: ExperimentError },
    #[error("policy {0}")]
    Spec(#[from] drystone::policy::SpecError),
    #[error("{log} has no month {month}; it has {known}")]
    Month {
        /// Name of the log in the study.
        log: String,
        /// Number of the month.
        month: String,
        /// Those it has.
        known: String,
    },
    #[error(
        "{log} has {jobs} jobs, too few for a window of {length} from job {from}, counted from 0; let it begin earlier"
    )]
    Window {
        log: String,
        /// First job of the window.
        from: usize,
        /// Jobs that it must have.
        length: usize,
        /// Number of jobs in the log.
        jobs: usize,
    },
    #[error(transparent)]
    Part(#[from] drystone::model::WorkloadError),
    #[error(transparent)]
    Ratio(#[from] drystone::metrics::RatioError),
    #[error(transparent)]
    Resample(#[from] crate::coverage::CoverageError),
    /// The work was cancelled. [`reproduce_study`](crate::reproduce_study) then leaves out the
    /// missing rows and does not fail.
    #[error("stopped")]
    Stopped,
}
