//! Errors of sweeps, each with advice.

use drystone::engine::SimulationError;
use drystone::generate::GenerateError;
use drystone::log::LogError;
use drystone::model::WorkloadError;

/// Reason why a sweep cannot be planned, stored or carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    #[error("{file}: cannot be read: {source}")]
    Unreadable { file: String, source: std::io::Error },
    #[error("{file}:{line}:{column}: {problem}\n  {text}")]
    Study {
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The mistake and its correction.
        problem: String,
        /// The line.
        text: String,
    },
    #[error("workload {name}: {}", in_study(source))]
    Log {
        /// The workload's name in the study.
        name: String,
        source: LogError,
    },
    #[error("workload {name}: {source}")]
    Generate {
        /// The workload's name in the study.
        name: String,
        source: GenerateError,
    },
    #[error("workload {name}: {source}")]
    Transform {
        /// The workload's name in the study.
        name: String,
        source: WorkloadError,
    },
    #[error("policy {policy} on {workload}: {source}")]
    Simulation { policy: String, workload: String, source: SimulationError },
    #[error("{store}: another process is working on this store; wait for it, or take another store")]
    Locked { store: String },
    #[error("{store}: {problem}")]
    Store {
        store: String,
        /// The mistake and its correction.
        problem: String,
    },
    #[error(
        "{store}: the disk is full; all that was recorded before is safe: make room and give the same command again"
    )]
    Full { store: String },
    #[error("{store}: {source}")]
    Database { store: String, source: rusqlite::Error },
    #[error("{problem}")]
    Conflict {
        /// The place and kind of the damage.
        problem: String,
    },
    #[error("{problem}")]
    Process {
        /// The place and kind of the difference.
        problem: String,
    },
    #[error("{problem}")]
    Refused {
        /// The request and its correction.
        problem: String,
    },
    #[error("{problem}")]
    Batch {
        /// The command and its message.
        problem: String,
    },
    #[error("{problem}")]
    Analysis {
        /// The missing and the available parts.
        problem: String,
    },
}

/// Describes an error in a log, with advice that a study file can follow: it has keys where the
/// command line has options.
fn in_study(error: &LogError) -> String {
    const KEYS: [(&str, &str); 2] = [("(--procs N)", "(`procs = N`)"), ("(--lenient)", "(`lenient = true`)")];
    let text = error.to_string();
    match KEYS.into_iter().find(|(option, _)| text.contains(option)) {
        Some((option, key)) => format!("{}; below [workload.clean]", text.replace(option, key)),
        None => text,
    }
}

impl SweepError {
    pub(crate) fn store_error(store: impl ToString, problem: impl Into<String>) -> SweepError {
        SweepError::Store { store: store.to_string(), problem: problem.into() }
    }

    /// A file that is no store.
    pub(crate) fn stranger_error(store: impl ToString) -> SweepError {
        SweepError::store_error(store, "is no sweep store: not an SQLite database")
    }

    pub(crate) fn database_error(store: impl ToString, source: rusqlite::Error) -> SweepError {
        let store = store.to_string();
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => SweepError::Full { store },
            Some(rusqlite::ErrorCode::NotADatabase) => SweepError::stranger_error(store),
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => SweepError::store_error(
                store,
                format!("is damaged: {source}. Bring back a copy, or begin another store"),
            ),
            _ if matches!(source, rusqlite::Error::InvalidColumnType(..)) => SweepError::store_error(
                store,
                format!(
                    "is damaged: a column holds a value of another kind ({source}). Was it changed by hand? Bring back a copy, \
                     or begin another store"
                ),
            ),
            Some(rusqlite::ErrorCode::CannotOpen) => SweepError::store_error(
                store,
                "cannot be opened or made; does the directory exist, and may you write there?",
            ),
            _ => SweepError::Database { store, source },
        }
    }

    pub(crate) fn batch_error(problem: impl Into<String>) -> SweepError {
        SweepError::Batch { problem: problem.into() }
    }

    pub(crate) fn refusal_error(problem: impl Into<String>) -> SweepError {
        SweepError::Refused { problem: problem.into() }
    }

    pub(crate) fn analysis_error(problem: impl Into<String>) -> SweepError {
        SweepError::Analysis { problem: problem.into() }
    }

    /// Returns whether the error is a bug of a policy, not of its user.
    pub fn is_violation(&self) -> bool {
        matches!(self, SweepError::Simulation { .. })
    }
}

/// The simulation was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;
