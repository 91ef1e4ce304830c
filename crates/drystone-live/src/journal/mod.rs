//! The journal: everything that a daemon saw, decided and ordered, in segments that stand alone.
//!
//! A segment begins with what the daemon was and what it knew; behind it lies what went in and what
//! came out, in the order in which it happened: facts, then intents (on disk before anything is
//! ordered), then outcomes. Going over what went in gives what came out, bit for bit. A record that
//! was torn by a crash ends its segment; the daemon begins a new one each time it starts.

mod export;
mod frame;
mod read;
mod replay;
mod shadow;
mod write;

pub use export::{read_past_jobs, read_workload, workload_for};
pub(crate) use read::entries_from;
pub use read::{DiskSegment, list_segments, read_entries, read_journal};
pub(crate) use replay::core_of;
pub use replay::{JournalReplay, Mismatch, replay_journal};
pub use shadow::{Shadowed, shadow_journal};
pub use write::SegmentWriter;

use crate::core::{CoreInput, CoreOutput};
use crate::tracker::{NodeLayout, TrackerSettings, WakePosition};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// The layout of records. Raise it with every change of what they hold.
pub const LAYOUT: u16 = 13;

/// Header of a segment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// The version that writes it.
    pub version: String,
    pub policy: String,
    pub settings: TrackerSettings,
    /// The processors.
    pub layout: NodeLayout,
    pub cluster: String,
    /// The daemon's name of itself.
    pub instance: String,
    /// Time, in seconds since 1970 by this machine's clock.
    pub time: i64,
    /// Offset to add to it for the session's time.
    pub offset: i64,
    /// Position up to which the wake file was read.
    pub heard: WakePosition,
    /// State of the daemon; `None` if it started without.
    pub state: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum JournalRecord {
    /// The first of a segment.
    Begin(Box<Begin>),
    /// Something went in.
    In(CoreInput),
    /// Something came out of the last that went in: what is ordered is an intent until its outcomes
    /// follow.
    Out(CoreOutput),
    /// Something for people: a refusal, an error, a hand-back.
    Note {
        /// Time, in the session's clock.
        at: i64,
        /// Text of the entry.
        text: String,
    },
}

/// The journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        error: io::Error,
    },
    #[error("{}: this is no journal of Drystone", .0.display())]
    NoJournal(PathBuf),
    #[error(
        "{path}: Drystone {version} wrote it in layout {found}; this is {here}, which reads layout {LAYOUT} only. Continue with that version; \
         or hand back with it, move the state folder aside and start again: running and waiting jobs are adopted, and only the predictors' \
         history is lost",
        path = path.display(),
        here = env!("CARGO_PKG_VERSION")
    )]
    OtherLayout {
        /// Path of the file.
        path: PathBuf,
        /// Its layout.
        found: u16,
        /// The version that wrote it.
        version: String,
    },
    #[error(
        "{}: unknown record: another build of Drystone wrote it. Continue with that build; or hand back with it, move the state \
         folder aside and start again: running and waiting jobs are adopted, and only the predictors' history is lost",
        .0.display()
    )]
    OtherRecord(PathBuf),
    #[error("journal: {0}")]
    Form(#[from] postcard::Error),
    #[error("{}: there is no journal here", .0.display())]
    Empty(PathBuf),
    #[error("{0}")]
    Core(#[from] crate::core::CoreError),
    #[error("the journal's policy {0} is not known here: {1}")]
    Policy(String, String),
    #[error("the journal as a workload: {0}")]
    Workload(#[from] drystone::model::WorkloadError),
}

impl JournalError {
    pub(crate) fn io_error(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> JournalError {
        let path = path.into();
        |error| JournalError::Io { path, error }
    }
}
