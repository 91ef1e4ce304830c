//! `drystone when`.

use super::explain::StoryFormat;
use super::values::parse_span;
use clap::Args;
use drystone::model::Span;
use drystone::policy::PolicySpec;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone when --ask                                     # the commands that print a state
  drystone when --state now/                              # every job that waits
  drystone when --state now/ --job 4711                   # one of them, and changes that would move it
  drystone when --state now/ --procs 64 --limit 12h --user alice   # a job that is not submitted yet
  drystone when --state now/ --job 4711 --format json
  drystone when --state now/ --text '{job} starts {likely}, by {by90} with 90 %'  # for a login message
  drystone when --state now/ --policy easy --rehearse 1000    # processors alone, in a second

With the folder's slurm.conf answers are of Slurm's own scheduler on its nodes and partitions: memory, GPUs, features and the limits
of sacctmgr count. Without one they are of `easy`: processors count, not nodes, in the order of Slurm's priorities. What the machine
and its users really do is learned from the accounting; the answers are rehearsed on the last jobs that waited, and corrected by what
came of these.";

/// Arguments of `drystone when`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhenArgs {
    /// Print the commands that write the state of a Slurm cluster into a folder, and end.
    #[arg(long)]
    pub(crate) ask: bool,

    /// The folder that they were written to.
    #[arg(long, value_name = "DIR", required_unless_present = "ask")]
    pub(crate) state: Option<PathBuf>,

    /// The number of a waiting job, `4711`, or of a task of an array, `4711_3`; without it, and
    /// without --procs, every job that waits.
    #[arg(long, short, value_name = "ID", conflicts_with = "procs")]
    pub(crate) job: Option<String>,

    /// Processors of a job that is not submitted yet.
    #[arg(long, value_name = "N", requires = "limit", value_parser = clap::value_parser!(u32).range(1..), help_heading = "A job to be submitted")]
    pub(crate) procs: Option<u32>,

    /// Time limit of the job to be submitted.
    #[arg(long, value_name = "TIME", requires = "procs", value_parser = parse_span, help_heading = "A job to be submitted")]
    pub(crate) limit: Option<Span>,

    /// User, whose earlier jobs predict the run time.
    #[arg(long, value_name = "NAME", requires = "procs", help_heading = "A job to be submitted")]
    pub(crate) user: Option<String>,

    /// Only jobs of this partition; where processors count, not nodes, only its nodes as well.
    #[arg(long, value_name = "NAME", help_heading = "Machine")]
    pub(crate) partition: Option<String>,

    /// The policy that schedules there; `drystone policies` lists all. `slurm` is the model of
    /// Slurm's own scheduler, with the slurm.conf of the folder where there is one [default: slurm
    /// where the folder has a slurm.conf, else easy].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    /// Futures that are simulated [default: 100; under slurm fewer where that would take long, 20
    /// at least, by the passes and jobs in the first four, not by time].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) samples: Option<u32>,

    /// Past answers that are rehearsed; 0 for answers without calibration [default: 1,000, and
    /// under slurm, whose passes take long to simulate, 40 to 400 of 5 to 20 futures].
    #[arg(long, value_name = "N")]
    pub(crate) rehearse: Option<usize>,

    /// Leave out changes that would move the start: fewer processors, shorter limits and, for a job
    /// that is not submitted yet, a later submission. Each row is another round of futures.
    #[arg(long)]
    pub(crate) no_what_if: bool,

    /// Seed of the futures.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Threads for the futures of policies that are simulated themselves; answers do not depend on
    /// it [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// The time zone of hours and dates, e.g. Europe/Berlin, and of times in the accounting that
    /// have none [default: UTC].
    #[arg(long, value_name = "ZONE", help_heading = "Output")]
    pub(crate) timezone: Option<String>,

    /// Format of the answer.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(crate) format: StoryFormat,

    /// Print a line for each job that is answered, in the site's words: for comments of jobs or a
    /// login message. {job}, {user}, {procs}, {early}, {likely}, {by90}, {by95} and {why} are
    /// replaced; {early} is the time with 5 %, {why} what has to happen first.
    #[arg(long, value_name = "TEXT", conflicts_with = "format", value_parser = crate::commands::when::read_template, help_heading = "Output")]
    pub(crate) text: Option<String>,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
