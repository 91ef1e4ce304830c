//! Mistakes in a configuration file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place in a configuration file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConfPlace {
    pub file: Arc<Path>,
    /// The line, from 1; of a line with continuations the first.
    pub line: u32,
}

impl std::fmt::Display for ConfPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfError {
    #[error("{}: cannot be read: {source}{}", .file.display(), .from.as_ref().map(|p| format!(" (included at {p}; a copy beside that file is read as well)")).unwrap_or_default())]
    Unreadable {
        file: PathBuf,
        /// The line that includes it.
        from: Option<ConfPlace>,
        source: std::io::Error,
    },
    #[error("{place}: {problem}")]
    Line {
        /// Position.
        place: ConfPlace,
        /// Description of the mistake, the expected text, and the correction.
        problem: String,
    },
    #[error("{}: {problem}", .file.display())]
    Whole {
        file: PathBuf,
        /// Description of the mistake.
        problem: String,
    },
}

impl ConfError {
    /// An error about one line.
    pub(crate) fn at_line(place: &ConfPlace, problem: impl Into<String>) -> ConfError {
        ConfError::Line { place: place.clone(), problem: problem.into() }
    }
}
