//! `drystone reproduce`.

use crate::output::ReportFormat;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone reproduce --logs ~/logs
  drystone reproduce tsafrir-2007 --table 3 --logs ~/logs
  drystone reproduce gaussier-2015 --logs ~/logs --format json
  drystone reproduce --logs ~/logs --report reproduction.md --report reproduction.csv
  drystone reproduce my-study.toml --logs ~/logs
  drystone reproduce talby-1999 --table 4.4
  drystone reproduce slurm --logs recordings/
  drystone reproduce coverage --logs ~/logs --report papers.md
  drystone reproduce --list

`slurm` holds the model of Slurm's scheduler to recordings of a real one, pass by pass and in free runs; docs/slurm.md.
It needs a build with the feature `certify`.

`coverage` runs a command for each feature of the five papers and looks for the figures in its output; names of studies
behind it choose papers.

A study of your own is a TOML file of published tables; docs/studies.md has its keys and measures.

Logs are looked for under the names the Parallel Workloads Archive gives them, plain, .gz or .zst, and must have the
hash that the study was settled on. A log that is not there is named, with the page that offers it, and its cells are
left open.

Each cell holds the published value, ours, and the deviation. Nothing after it: ours rounds to the printed digits.
~: within the tolerance, which the table explains. !: out of tolerance. In brackets: shown, not judged.

Exit codes: 0 every judged cell is met or within its tolerance; 1 a cell is out of tolerance; 2 wrong usage, or no log
was found; 130 interrupted. The first Ctrl-C ends the simulations that are still at work and prints the results of the others.";

/// Arguments of `drystone reproduce`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// Studies, by name or as files of their own; all that come with the program, if none is given.
    pub(crate) studies: Vec<String>,

    /// Folder of the logs; repeatable. Worked examples need none.
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Vec<PathBuf>,

    /// Only this table of the studies; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) table: Vec<String>,

    /// List studies and tables, with the logs they need.
    #[arg(long)]
    pub(crate) list: bool,

    /// Threads to use [default: all cores]. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,

    /// Also write the results to a file, in the format of its ending (.json, .csv, .md, .tex,
    /// .txt). Repeatable.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Vec<PathBuf>,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
