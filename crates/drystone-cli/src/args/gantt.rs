//! `drystone gantt`.

use super::values::word_parser;
use super::{CutArgs, FailureArgs, LogArgs, RealArgs, ShapeArgs, SourceArgs};
use crate::exit::CODES;
use clap::Args;
use drystone::policy::PolicySpec;
use drystone_report::Colour;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone gantt LOG.swf.gz --policy easy --month 1997-03
  drystone gantt LOG.swf.gz --policy ss --colour wait --out ss.html
  drystone gantt LOG.swf.gz --policy easy --job 4711 --window 86400..172800 \\
      --out head.svg

Rows are processors if the policy names them (ss, tss, is). Other policies count processors only, and rows are
packed: every job gets the lowest free ones, together where there is room.";

/// Arguments of `drystone gantt`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct GanttArgs {
    /// The policy; `drystone policies` lists all.
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: PolicySpec,

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

    /// Draw only runs from FROM up to UNTIL, in seconds of the log; either may be left out. Jobs
    /// outside it are simulated all the same.
    #[arg(long, value_name = "FROM..UNTIL", help_heading = "Chart", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,

    /// Meaning of the colours.
    #[arg(long, value_name = "WHAT", default_value = "user", help_heading = "Chart", value_parser = word_parser(&Colour::ALL, Colour::name))]
    pub(crate) colour: Colour,

    /// Number of a job in the log (field 1) whose reservations are also drawn: submit, planned
    /// starts (the shadow time, where it is the first of its queue) and start.
    #[arg(long, short, value_name = "ID", help_heading = "Chart", allow_hyphen_values = true)]
    pub(crate) job: Option<i64>,

    /// The chart, in the format of its ending: .html to zoom and hover, .svg, .pdf and .png for
    /// papers, .json for the data.
    #[arg(long, short, alias = "output", value_name = "FILE", default_value = "gantt.html", help_heading = "Output")]
    pub(crate) out: PathBuf,

    /// Width and height of .svg and .pdf; .png has twice as many pixels each way.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1200x600", help_heading = "Output",
          value_parser = parse_pixels)]
    pub(crate) pixels: (u32, u32),

    /// Priorities and quotas of users, groups, queues and jobs, for policies that know them
    /// (slack, multiqueue).
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) priorities: Option<PathBuf>,

    /// Cost of suspending a job on this machine, for policies that suspend (ss, tss, is).
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) platform: Option<PathBuf>,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// `1200x600`.
fn parse_pixels(text: &str) -> Result<(u32, u32), String> {
    let sizes = text.split_once(['x', '×']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    sizes
        .filter(|&(w, h): &(u32, u32)| (200..=8_000).contains(&w) && (150..=8_000).contains(&h))
        .ok_or_else(|| "expected WIDTHxHEIGHT from 200x150 to 8000x8000, e.g. 1200x600".to_string())
}
