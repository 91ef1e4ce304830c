//! `drystone explain`.

use super::{CutArgs, LogArgs, RealArgs};
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone::policy::PolicySpec;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone explain --job 4711 --policy conservative --workload LOG.swf.gz
  drystone explain --job 4711 --policy 'slack(sf=3,awt=2401)' --priorities important.toml \\
      --workload LOG.swf.gz
  drystone explain --job 4711 --policy easy --workload LOG.swf.gz --why-not
  drystone explain --job 4711 --policy easy --workload LOG.swf.gz --month 1997-03 --format json

A file of priorities (up: what users say, pp: what administrators say, from 0 to 1; -inf: only where it delays no other job):

  [[user]]
  id = [12, 13]
  pp = 1.0
  quota = { jobs = 20, processor_hours = 5000, days = 30 }

  [[queue]]
  id = 1
  pp = -inf

  [[job]]
  number = 4711
  up = 1.0";

/// Arguments of `drystone explain`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct ExplainArgs {
    /// Number of the job in the log (field 1); of a site the job as Slurm calls it, such as 4711
    /// or 102_3.
    #[arg(long, short, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) job: String,

    /// The policy; `drystone policies` lists all.
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::policy)]
    pub(crate) policy: PolicySpec,

    /// Log in Standard Workload Format, plain or compressed with gzip or zstd; - is the standard
    /// input. Without it a synthetic workload of 10,000 jobs.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) workload: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,

    /// Priorities and quotas of users, groups, queues and jobs, for policies that know them
    /// (slack).
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) priorities: Option<PathBuf>,

    /// What suspending a job costs on this machine, for policies that suspend (ss, tss, is); see
    /// docs/suspension.md. Without it suspension costs nothing.
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) platform: Option<PathBuf>,

    /// Also tell what stood in the way while it waited, hour by hour, and what would have let it
    /// start earlier: fewer processors, or a shorter limit.
    #[arg(long, help_heading = "Output", conflicts_with = "no_what_if")]
    pub(crate) why_not: bool,

    /// How to tell it.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(crate) format: StoryFormat,

    /// Only tell what happened, not what would have been with a shorter estimate or fewer
    /// processors. Each of these is another simulation.
    #[arg(long, help_heading = "Output")]
    pub(crate) no_what_if: bool,

    /// Seed of the synthetic workload where no log is given.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Workload")]
    pub(crate) seed: u64,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// How a story is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum StoryFormat {
    /// Lines for people.
    Text,
    /// One object with every event, what would have been, and what determined it.
    Json,
}
