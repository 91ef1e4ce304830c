//! Reasons why a daemon cannot start or continue, and giving back cannot go on.

use crate::cluster::ClusterError;
use crate::core::{CoreError, Unsuitable};
use crate::journal::JournalError;
use crate::state::LockError;
use std::io;

/// Reason why a daemon cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error(transparent)]
    Core(#[from] CoreError),
    #[error("{0}")]
    Doubt(String),
}

impl LiveError {
    pub(crate) fn io_error(subject: impl ToString) -> impl FnOnce(io::Error) -> LiveError {
        let context = subject.to_string();
        |error| LiveError::Io(context, error)
    }
}
