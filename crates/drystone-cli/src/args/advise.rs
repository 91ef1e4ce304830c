//! `drystone advise`.

use super::OutputArgs;
use super::{CutArgs, LogArgs, RealArgs, SourceArgs};
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone::model::Span;
use drystone_advise::{AdviceGoal, GoalGuard};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone advise site/ --goal 'tradeoff(Tw:avgX)' --guard 'maxW<+20%'
  drystone advise site/ --sdiag sdiag.txt --report advice.html
  drystone advise site/ --warm-up 0                      # the machine was full when the records begin
  drystone advise --check site/ --sdiag sdiag.txt   # is backfill healthy? seconds
  drystone advise --check site/ --worth              # what each remark is worth, simulated
  drystone advise LOG.swf.gz --slurm slurm.conf
  drystone advise LOG.swf.gz --cpus 16 --goal avgW --only settings
  drystone advise site/ --format json | jq '.advice.settings.edits[].line'

Goals and guards: maxW longest wait, avgW mean wait, avgX mean slowdown bounded at 60 s, areaW mean wait weighted by processors, Tw waits
beyond what 98 % of the jobs wait now (Tw(50h): beyond 50 h), late(24h) share of jobs that start later, special(user=1), or a mean or
maximum such as bounded_slowdown_mean. A trade-off is the mean of the relative changes.

Each candidate is simulated over the whole log. Of a log of more than 100,000 jobs, the last 40,000 jobs or the last 26 weeks are simulated,
whichever is longer; --slice takes another part, --slice .. the whole. A candidate is chosen on half of the weeks and judged on the
others, again and again. The same input gives the same bytes on any number of threads, unless --within cuts it short. The first Ctrl-C prints the results so far; the second ends the program.";

/// Arguments of `drystone advise`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct AdviseArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Only check slurm.conf against the recorded jobs, setting by setting, without a simulation:
    /// seconds, not minutes.
    #[arg(long)]
    pub(crate) check: bool,

    /// With --check: also simulate the site as it is and with each setting that a remark suggests,
    /// for its worth.
    #[arg(long, requires = "check")]
    pub(crate) worth: bool,

    /// Objective to improve.
    #[arg(long, value_name = "GOAL", default_value = "tradeoff(Tw:avgX)", value_parser = str::parse::<AdviceGoal>)]
    pub(crate) goal: AdviceGoal,

    /// Limit that no suggestion may exceed, e.g. maxW<+20%; repeatable.
    #[arg(long, value_name = "GUARD", value_parser = str::parse::<GoalGuard>)]
    pub(crate) guard: Vec<GoalGuard>,

    /// The site's slurm.conf [default: the site's own, else Slurm's defaults].
    #[arg(long, value_name = "FILE", help_heading = "Slurm")]
    pub(crate) slurm: Option<PathBuf>,

    /// Processors of each node, where there is no slurm.conf.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "slurm",
          help_heading = "Slurm")]
    pub(crate) cpus: u32,

    /// Associations and QOS: tables of sacctmgr -P, a sacctmgr dump, or commands of sacctmgr.
    #[arg(long, value_name = "FILE", help_heading = "Slurm")]
    pub(crate) accounts: Option<PathBuf>,

    /// Output of `sdiag` or `sdiag --json` at the site, for the time that its passes take per job.
    /// Without it a usual cost is assumed.
    #[arg(long, value_name = "FILE", help_heading = "Slurm")]
    pub(crate) sdiag: Option<PathBuf>,

    /// Try only settings of Slurm, only policies that `drystone live` can run, or only limits of
    /// partitions and QOS.
    #[arg(long, value_name = "WHAT")]
    pub(crate) only: Option<Only>,

    /// Phases of Slurm's clocks in which each choice is simulated: differences between them are
    /// chance.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Judging")]
    pub(crate) phases: u32,

    /// Divisions of the weeks into halves; each half is chosen on once and judged on once.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Judging")]
    pub(crate) splits: u16,

    /// Time at the beginning that is left out of every figure, such as 7d; 0 judges from the
    /// beginning [default: of a site as the import found, of a log the first week or month that is
    /// not whole].
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_span, help_heading = "Judging")]
    pub(crate) warm_up: Option<Span>,

    /// Maximum number of settings that are changed together.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10), help_heading = "Judging")]
    pub(crate) knobs: u8,

    /// Stop after this time, such as 60s or 5min, and print the results so far, which depend on the
    /// speed of the machine.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_time)]
    pub(crate) within: Option<Duration>,

    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Judging")]
    pub(crate) seed: u64,

    /// Threads that simulate; results do not depend on it
    /// [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<true>,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,
}

/// Kinds of candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Only {
    /// Settings of Slurm.
    Settings,
    /// Policies that `drystone live` can run.
    Live,
    /// Limits of partitions and QOS.
    Limits,
}
