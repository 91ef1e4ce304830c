//! `drystone headroom`.

use super::OutputArgs;
use super::values::{parse_selection, parse_span, word_parser};
use super::{CutArgs, LogArgs, RealArgs};
use crate::exit::CODES;
use clap::Args;
use drystone::metrics::JobSelection;
use drystone::model::Span;
use drystone::policy::PolicySpec;
use drystone_headroom::DelayMeasure;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone headroom LOG.swf.gz
  drystone headroom LOG.swf.gz --for 10min --policy easy --policy easy++ --policy conservative
  drystone headroom LOG.swf.gz --measure bounded-slowdown --jobs found.csv --gantt found.html
  drystone headroom LOG.swf.gz --trials 1000000 --format json | jq '.bracket.gap'
  drystone headroom LOG.swf.gz --jobs found.csv --prices prices.json

The floor is proven: no schedule that runs each job once and without a break is below it, also none by a scheduler that knows
all run times. The best schedule found is the work of a search that knows all run times: a bound for policies, no policy.
The optimum lies between the two. Ctrl-C once prints what is known by then.

docs/headroom.md explains both ends, and has a script that checks the floor of --prices by trying every start.";

/// Arguments of `drystone headroom`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct HeadroomArgs {
    /// The log, plain or compressed; - is the standard input. Without it the synthetic default of
    /// `compare`.
    pub(crate) log: Option<PathBuf>,

    /// Measure that is bracketed: the mean wait, the mean bounded slowdown (bound 10 s), or the
    /// mean wait weighted by processors × run time.
    #[arg(long, value_name = "MEASURE", default_value = "wait", value_parser = word_parser(&DelayMeasure::ALL, DelayMeasure::option_word))]
    pub(crate) measure: DelayMeasure,

    /// A policy to set beside the bracket; repeatable [default: easy and easy++].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Vec<PolicySpec>,

    /// Time to search for a better schedule; 0 leaves the search out. The result depends on the
    /// speed of the machine.
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = parse_span)]
    pub(crate) search_for: Span,

    /// Search by a number of trials instead of a time: the same result on every machine.
    #[arg(long, value_name = "N", conflicts_with = "search_for", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,

    /// Finest cells of the prices, in seconds: 3600, 900, 300 or 60; finer ones prove more and take
    /// longer [default: 300, from 100,000 jobs on 900].
    #[arg(long, value_name = "SECONDS", value_parser = word_parser(&Grid::ALL, Grid::name))]
    pub(crate) grid: Option<Grid>,

    /// Show the floor of the bounded slowdown as well, which is next to 1.
    #[arg(long)]
    pub(crate) floor: bool,

    /// Jobs that count: all, completed, submitted(FROM,UNTIL), window(WARM_UP,COOL_DOWN), in
    /// seconds of the simulation [default: all].
    #[arg(long, value_name = "RULE", help_heading = "Measuring", value_parser = parse_selection)]
    pub(crate) trim: Option<JobSelection>,

    /// Seed of the search, and of the synthetic workload where no log is given.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measuring")]
    pub(crate) seed: u64,

    /// Threads for policies, prices and a search for so much time [default: as many as there are
    /// processors]. No other result depends on them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Write the schedule found job by job, as `drystone run --jobs` does.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) jobs: Option<PathBuf>,

    /// Draw the schedule found: .html, .svg, .pdf, .png or .json, as `drystone gantt` does.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) gantt: Option<PathBuf>,

    /// With --gantt: draw only runs from FROM up to UNTIL, in seconds of the log; either may be
    /// left out.
    #[arg(long, value_name = "FROM..UNTIL", help_heading = "Output", allow_hyphen_values = true, requires = "gantt")]
    pub(crate) window: Option<String>,

    /// Write the prices that prove the floor, in whole numbers: anyone can check them.
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub(crate) prices: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<false>,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,
}

drystone::word_enum! {
    /// The finest cells of the prices.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub(crate) enum Grid {
        Hour = "3600",
        Quarter = "900",
        FiveMinutes = "300",
        Minute = "60",
    }
}

impl Grid {
    /// Seconds of a cell and steps at most, one grid after the other.
    pub(crate) fn grid_steps(self) -> Vec<(i64, u32)> {
        let grids = [
            (Grid::Hour, 3600, 800),
            (Grid::Quarter, 900, 600),
            (Grid::FiveMinutes, 300, 400),
            (Grid::Minute, 60, 300),
        ];
        grids.iter().filter(|(grid, ..)| *grid <= self).map(|&(_, delta, steps)| (delta, steps)).collect()
    }
}
