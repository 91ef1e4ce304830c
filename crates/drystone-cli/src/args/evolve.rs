//! `drystone evolve`.

use super::OutputArgs;
use super::{LogArgs, SourceArgs};
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone::metrics::MeasureObjective;
use drystone::times::read_duration;
use drystone_evolve::{ObjectiveGuard, Template};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone evolve LOG.swf.gz --for 10m
  drystone evolve LOG.swf.gz --objective wait_mean --guard 'wait_max<=1.5*easy' --for 1h
  drystone evolve LOG.swf.gz --evaluations 5000 --state search.json   # resumes when repeated
  drystone evolve LOG.swf.gz --policy 'easy(order=?,backfill=?,predict=recent(2))' \\
    --also OTHER.swf.gz
  drystone evolve LOG.swf.gz --learn SECOND.swf.gz --also THIRD.swf.gz   # chosen on two logs
  drystone evolve --method regression --trials 20000   # as SC 2017 did it; needs no log

Formulas are chosen on some weeks of the log (and of --learn) and reported on the others, and on other logs (--also). Beside each
generation as many formulas drawn at random are simulated: their best is what a search must beat.

A formula that is found is an order like any other: drystone compare LOG -p easy -p 'easy(order=FORMULA)'.";

/// Arguments of `drystone evolve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct EvolveArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Another log, on whose weeks formulas are chosen as well; all count alike; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) learn: Vec<PathBuf>,

    /// Another log on which the results are judged; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) also: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    /// Method of the search: breeding formulas, or regression over trials of random orders on
    /// a generated workload.
    #[arg(long, value_name = "METHOD", default_value = "search")]
    pub(crate) method: EvolveMethod,

    /// Objective to minimise: the mean or the maximum of a measure, such as wait_mean or
    /// bounded_slowdown_mean.
    #[arg(long, value_name = "MEASURE", default_value = "bounded_slowdown_mean")]
    pub(crate) objective: MeasureObjective,

    /// Bound that must not be exceeded, such as 'wait_max<=1.5*easy' or 'wait_max<=86400'.
    #[arg(long, value_name = "BOUND")]
    pub(crate) guard: Option<ObjectiveGuard>,

    /// The policy, with ? in place of the formula.
    #[arg(long, short, value_name = "SPEC", default_value = "easy(order=?,backfill=?)")]
    pub(crate) policy: Template,

    /// Duration of the search, such as 90s, 10m or 2h; it stops at the end of a generation. The
    /// result then depends on the speed of the machine.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) limit: Option<Duration>,

    /// Number of formulas to simulate before the search stops [default: 1000, without --for].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) evaluations: Option<u64>,

    /// Formulas of a generation.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(4..=2000))]
    pub(crate) population: u16,

    /// Maximum number of parts of a formula: numbers, variables, operators, functions.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) largest: u16,

    /// Length in weeks of the parts into which the log is divided: every other one is to choose by.
    #[arg(long, value_name = "WEEKS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=52))]
    pub(crate) weeks: u32,

    /// Number of these parts on which formulas are simulated.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) parts: u32,

    /// Tuples of jobs for the regression.
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = "Regression",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tuples: u32,

    /// Trials per tuple.
    #[arg(long, value_name = "N", default_value_t = 8192, help_heading = "Regression",
          value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(crate) trials: u32,

    /// Save the search after each generation into this file, and continue from it where it exists.
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub(crate) state: Option<PathBuf>,

    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Threads that simulate; results do not depend on it
    /// [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<false>,
}

/// Methods of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum EvolveMethod {
    /// Mutation and crossover of formulas, local steps of their weights.
    Search,
    /// Functions fitted to the scores of jobs in trials, as Carastan-Santos & de Camargo 2017 did
    /// it.
    Regression,
}

/// `90s`, `10m`, `2h`, `2:00:00`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let seconds = read_duration(text).filter(|seconds| (1.0..=1e9).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a length of time such as 10m, 2h or 2:00:00".to_string())
}
