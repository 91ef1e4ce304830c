//! The log or site that a command reads: a positional argument, or the option `--workload`.

use crate::exit::CommandFailure;
use clap::Args;
use std::path::{Path, PathBuf};

/// The log that a command reads.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SourceArgs {
    /// Log in Standard Workload Format, plain or compressed with gzip, zstd, xz or bzip2; the
    /// folder of an imported site; or - for the standard input.
    #[arg(id = "log_file", value_name = "LOG", conflicts_with = "workload")]
    given: Option<PathBuf>,

    /// The log, as an option.
    #[arg(long, short, value_name = "LOG")]
    workload: Option<PathBuf>,
}

impl SourceArgs {
    /// A source that reads this file or folder.
    pub(crate) fn from_path(path: &Path) -> SourceArgs {
        SourceArgs { given: Some(path.to_path_buf()), workload: None }
    }

    /// The file or folder, if one was named.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.given.as_deref().or(self.workload.as_deref())
    }

    /// The file or folder of a command that has no example to fall back on.
    pub(crate) fn require_path(&self, command: &str) -> Result<&Path, CommandFailure> {
        self.path().ok_or_else(|| {
            CommandFailure::usage_error(format_args!(
                "drystone {command} needs a log: `drystone {command} LOG.swf.gz`\n`drystone compare` without a log shows a built-in \
                 example; `drystone workload generate --out made.swf.gz` makes a log to try"
            ))
        })
    }
}
