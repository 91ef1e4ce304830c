//! Options on outages, circumstances and feedback: a real machine beside the jobs of its log.

use super::values::parse_span;
use clap::Args;
use drystone::model::Span;
use std::path::PathBuf;

/// Outages, a busy beginning, knowledge of jobs beyond the log; see docs/real-machines.md.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct RealArgs {
    /// Processors that are out: a table with the columns begin, end, procs or processors,
    /// announced, expected, jobs, cut. `drystone workload outages` makes one up.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) outages: Option<PathBuf>,

    /// Amounts of licences, memory and other counted resources over time: a table with the columns
    /// resource, from, amount, announced.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) supply: Option<PathBuf>,

    /// Facts about jobs beyond the log: a table with the column job and any of at, state,
    /// since, eligible, after, think, array, most, withdrawn, ended and others.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) circumstances: Option<PathBuf>,

    /// Begin this long after the first submit (with --slice, after FROM), with the jobs that ran
    /// and waited then as the log records (field 3), instead of with an empty machine; jobs that
    /// ran then use the machine and do not count.
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        default_missing_value = "7d",
        require_equals = false,
        value_parser = parse_span
    , help_heading = "Machine")]
    pub(crate) warm_start: Option<Span>,

    /// Let a job arrive when the job of its field 17 has ended and its user has thought for as long
    /// as field 18 says, instead of at its submit time.
    #[arg(long, help_heading = "Machine")]
    pub(crate) feedback: bool,
}
