//! `drystone completions` and `drystone man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `drystone completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone completions bash > ~/.local/share/bash-completion/completions/drystone")]
pub(crate) struct CompletionsArgs {
    /// Shell.
    pub(crate) shell: Shell,
}

/// Arguments of `drystone man`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  drystone man | man -l -\n  drystone man --dir ~/.local/share/man/man1\n  drystone man --markdown > commands.md"
)]
pub(crate) struct ManArgs {
    /// Write one page per command into this directory, instead of the main page to the standard
    /// output.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Print the help of every command as one Markdown document.
    #[arg(long, conflicts_with = "dir")]
    pub(crate) markdown: bool,
}
