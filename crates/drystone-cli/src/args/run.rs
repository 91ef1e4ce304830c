//! `drystone run`.

use super::SimulationArgs;
use crate::exit::CODES;
use clap::Args;
use drystone::policy::PolicySpec;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone run --policy easy
  drystone run LOG.swf.gz --policy 'easy(backfill=sjf)' --by sixteen
  drystone run LOG.swf.gz --policy easy --as tsafrir2007 --format json
  drystone run site/                                     # as the site's own Slurm has it
  drystone run LOG.swf.gz --policy conservative --overrun kill --require-promises
  zcat LOG.swf.gz | drystone run - --policy easy --load 1.1 --jobs out.parquet

The CSV of --jobs begins with job_id,submit,start,end: one row per simulated job in order of
submit, job_id as in the log (field 1), times in seconds of the log. docs/schedules.md has all
its columns. What determined it is written beside it, to FILE.meta.json, and beside the CSV of
--trace, --segments and --weeks as well.";

/// Arguments of `drystone run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct RunArgs {
    /// The policy, e.g. easy, 'easy(backfill=sjf)', easy@tsafrir2007; `drystone policies` lists
    /// all [default: a site's own Slurm, where it has a slurm.conf].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    #[command(flatten)]
    pub(crate) common: SimulationArgs,

    /// Also report how backfilling delays jobs that have a reservation ("heel and toe", Tsafrir et
    /// al. 2007). Meant for policies with one reservation; makes the simulation slower.
    #[arg(long, help_heading = "Measuring", conflicts_with_all = ["each_month", "windows", "outages", "supply", "circumstances", "warm_start", "feedback", "shapes", "power", "idle",
        "series", "resizing"])]
    pub(crate) stalls: bool,

    /// Threads that a policy which searches (goal) uses within a decision. The results do not
    /// depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, help_heading = "Policy",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) search_threads: u32,

    /// Write the schedule job by job: .csv, .parquet, .swf, .swf.gz or .swf.zst, or .batsim.csv,
    /// the jobs.csv of Batsim that evalys reads; - is the standard output, which then has the
    /// schedule alone, as .swf.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) jobs: Option<PathBuf>,

    /// Write diagnostics of the policy over time (multiqueue: partitions, delay, borders) as CSV
    /// with the columns time,gauge,value.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["each_month", "windows"])]
    pub(crate) trace: Option<PathBuf>,

    /// Write when and on which processors each job ran, with suspensions and changes of size and
    /// pace, as CSV with the columns job_id,start,end,procs,processors,then, and pace where jobs
    /// ran below their full pace: data for a Gantt chart.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["each_month", "windows", "stalls"])]
    pub(crate) segments: Option<PathBuf>,

    /// Write the ledger of the users as CSV: jobs, processor-hours, and what they are charged for
    /// them, by the priorities that they gave their jobs (--priorities): a processor-hour costs
    /// 1 + UP, twice as much at the highest priority as at none.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) charges: Option<PathBuf>,

    /// Write how each class of run times (up to 100, 1,000, 10,000 s, more) fared week by week as
    /// CSV.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) weeks: Option<PathBuf>,
}
