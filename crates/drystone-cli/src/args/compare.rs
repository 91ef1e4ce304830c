//! `drystone compare`.

use super::SimulationArgs;
use crate::exit::CODES;
use clap::Args;
use drystone::log::transform::LoadFactor;
use drystone::model::Span;
use drystone::policy::PolicySpec;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone compare
  drystone compare LOG.swf.gz
  drystone compare LOG.swf.gz --all --within 10min
  drystone compare LOG.swf.gz --policy easy --policy easy++ --policy conservative
  drystone compare LOG.swf.gz --baseline fcfs --by sixteen
  drystone compare LOG.swf.gz --headroom=2min
  drystone compare LOG.swf.gz --loads 0.8,0.9,1,1.1 --report out.html
  drystone compare LOG.swf.gz --as tsafrir2007 --format markdown
  drystone compare --format json | jq '.results[] | [.policy.text, .report.measures.wait.mean]'

The same input gives the same bytes on any number of threads, unless --within cuts it short. Ctrl-C once ends the simulations \
    that are still at work and prints the results of the others; twice, it ends everything.";

/// Arguments of `drystone compare`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct CompareArgs {
    /// A policy to compare; repeatable
    /// [default: those that a site can run, without those that would take long on this log].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Vec<PolicySpec>,

    /// Compare every policy and every named form of one: also those that know run times, those that
    /// suspend jobs, and those that take long.
    #[arg(long, conflicts_with = "policy")]
    pub(crate) all: bool,

    /// Stop after this time, such as 60s or 5min, and judge by the policies done: the cheapest come
    /// first. The set of these depends on the speed of the machine.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_time)]
    pub(crate) within: Option<Duration>,

    /// Policy that the others are compared with [default: easy if it is among them, else the
    /// first].
    #[arg(long, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) baseline: Option<PolicySpec>,

    #[command(flatten)]
    pub(crate) common: SimulationArgs,

    /// Threads that simulate [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Also simulate every policy at these load factors, for load curves: 1.1 is 10 % more load, on
    /// top of --load. --by has its categories at each.
    #[arg(long, value_name = "FACTOR,...", value_delimiter = ',', help_heading = "Measuring", conflicts_with = "each_month",
          value_parser = super::values::parse_value::<LoadFactor>)]
    pub(crate) loads: Vec<LoadFactor>,

    /// Submissions per batch of the slowdown ratio R against the baseline, which --details, reports
    /// and plots have.
    #[arg(long, value_name = "JOBS", default_value_t = 1_000, help_heading = "Measuring",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    /// Also bracket the best possible mean wait: a floor that no schedule is below, and the best
    /// schedule that a search finds in this time [default: 30s; 0 for none]. What it finds depends
    /// on the speed of the machine.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "30s", require_equals = true,
          help_heading = "Measuring", conflicts_with_all = ["each_month", "windows"], value_parser = super::values::parse_span)]
    pub(crate) headroom: Option<Span>,

    /// Probability that an interval covers the true change.
    #[arg(long, value_name = "P", default_value_t = 0.95, help_heading = "Measuring",
          value_parser = super::values::parse_probability)]
    pub(crate) confidence: f64,
}
