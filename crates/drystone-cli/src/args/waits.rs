//! `drystone waits`.

use super::OutputArgs;
use super::values::word_parser;
use crate::exit::CODES;
use clap::Args;
use drystone_site::waits::GroupProperty;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone waits site/                                   # causes, and waits by account and partition
  drystone waits site/ --now                             # jobs that wait at the end of the records
  drystone waits --now squeue.txt                        # jobs that wait in an output of squeue
  drystone waits site/ --efficiency                      # requested against used, by user and account
  drystone waits site/ --by user,size,hour
  drystone waits site/ --by account --since 2026-03-01 --report waits.html
  drystone waits site/#gpu --by gpu --format csv         # one pool, for a spreadsheet

Nothing is simulated: these are the waits that the accounting recorded, from eligibility (else submission) to start.";

/// Arguments of `drystone waits`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct WaitsArgs {
    /// Folder of an imported site; site/#POOL is one of its pools. With --now also an output of
    /// squeue (as it is, -o with any columns, or --json); - is the standard input.
    pub(crate) site: PathBuf,

    /// Properties to group jobs by, separated by commas [default: account,partition; with
    /// --efficiency user,account].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = word_parser(&GroupProperty::ALL, GroupProperty::name))]
    pub(crate) by: Vec<GroupProperty>,

    /// Only jobs that began to wait then or later: a date or a time as Slurm's commands take it
    /// (yesterday, now-12hours; now is the end of the records) [default: the window's beginning].
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only jobs that began to wait before [default: the window's end].
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// Groups of each property that are shown at most [default: 5, with --details 20]; all are in
    /// CSV, JSON and files.
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,

    /// Jobs that wait at the end of the records: since when, by user, with their last reasons.
    #[arg(long, conflicts_with_all = ["by", "since", "until"])]
    pub(crate) now: bool,

    /// Use of the processors, memory, limits and GPUs that jobs held, by user and account.
    #[arg(long, conflicts_with = "now")]
    pub(crate) efficiency: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs<true>,
}
