//! `drystone explain`.

use super::{CutArgs, FailureArgs, LogArgs, RealArgs, ShapeArgs, SourceArgs};
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone::policy::PolicySpec;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone explain LOG.swf.gz --job 4711 --policy conservative
  drystone explain --workload site/ --job 4711         # as the site's own Slurm has it
  drystone explain LOG.swf.gz --job 4711 --policy easy --why-not
  drystone explain LOG.swf.gz --job 4711 --policy 'slack(sf=3,awt=2401)' \\
      --priorities important.toml
  drystone explain LOG.swf.gz --job 4711 --policy easy --month 1997-03 --format json

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

    /// The policy; `drystone policies` lists all
    /// [default: a site's own Slurm, where it has a slurm.conf].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,

    #[command(flatten)]
    pub(crate) failure: FailureArgs,

    #[command(flatten)]
    pub(crate) shape: ShapeArgs,

    /// Priorities and quotas of users, groups, queues and jobs, for policies that know them
    /// (slack, multiqueue).
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) priorities: Option<PathBuf>,

    /// Cost of suspending a job on this machine, for policies that suspend (ss, tss, is); see
    /// docs/suspension.md. Without it suspension costs nothing.
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) platform: Option<PathBuf>,

    /// Also list the obstacles while it waited, hour by hour, and the changes that would have let
    /// it start earlier: fewer processors, or a shorter limit.
    #[arg(long, help_heading = "Output", conflicts_with = "no_what_if")]
    pub(crate) why_not: bool,

    /// Format of the explanation.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(crate) format: StoryFormat,

    /// Only report the events, not the effect of a shorter estimate or fewer processors. Each of
    /// these is another simulation.
    #[arg(long, help_heading = "Output")]
    pub(crate) no_what_if: bool,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// Formats of an explanation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum StoryFormat {
    /// Lines for people.
    Text,
    /// One object with every event, every hypothetical start, and the inputs.
    Json,
}
