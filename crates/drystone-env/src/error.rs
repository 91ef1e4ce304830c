//! Reasons why an environment cannot be made or cannot continue.

use drystone::engine::SimulationError;
use drystone::policy::SpecError;

/// Reason why an environment cannot be made or cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// An option is wrong.
    #[error("{0}")]
    Option(String),
    /// The predictor or the warm policy is none.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No episode fits.
    #[error(
        "{workload}: no episode of {jobs} jobs lies within the part that was asked for; its longest range has {longest} jobs \
         (fewer jobs per episode, or a larger part)"
    )]
    NoEpisode {
        /// Name of the workload.
        workload: String,
        /// Jobs of an episode.
        jobs: u32,
        /// The longest range.
        longest: u32,
    },
    /// An action is none: counted, and an error only where it is no number of an action at all.
    #[error("environment {env}: {action} is no action; expected 0 to {last}")]
    Action {
        /// Number of the environment.
        env: usize,
        /// Given action.
        action: i64,
        /// The last action.
        last: usize,
    },
    /// Arrays of another length.
    #[error("{what}: {found} values, expected {expected}")]
    Length {
        /// Name of the array.
        what: &'static str,
        /// Given length.
        found: usize,
        /// Expected length.
        expected: usize,
    },
    /// An environment was stepped before its first reset.
    #[error("environment {0} was never reset: call reset before step")]
    NotReset(usize),
    /// The simulation failed: a mistake in this crate, not in the agent.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}
