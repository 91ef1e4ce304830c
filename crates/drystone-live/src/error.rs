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
    /// The cluster cannot be looked at.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The policy cannot work here.
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
    /// Another daemon works here.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The core has failed.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// Orders are not carried out.
    #[error("{0}")]
    Doubt(String),
}

impl LiveError {
    pub(crate) fn io(what: impl ToString) -> impl FnOnce(io::Error) -> LiveError {
        let what = what.to_string();
        |error| LiveError::Io(what, error)
    }
}
