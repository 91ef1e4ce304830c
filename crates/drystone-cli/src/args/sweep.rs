//! `drystone sweep` and its subcommands.

use super::{CancelArgs, GatherArgs, RecipeArgs, SlurmArgs, TaskArgs};
use crate::output::ReportFormat;
use clap::{Args, Subcommand};
use drystone_sweep::SweepChunk;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone sweep study.toml --dry-run          # how many simulations; nothing is simulated
  drystone sweep study.toml --dry-run --trial 2s   # how long they will take, by short trials
  drystone sweep study.toml --limit 10min      # gives up what takes longer
  drystone sweep study.toml                    # Ctrl-C loses nothing, the same command continues
  drystone sweep status study.db               # how far it is
  drystone sweep rank study.db --subspace 'size<=2'
  drystone sweep export study.db --out results.parquet
  drystone sweep query study.db 'SELECT workload, min(wait_mean) FROM result GROUP BY workload'
  drystone sweep chunk 3/16 study.toml && drystone sweep merge study-*-of-16.db --into study.db
  drystone sweep slurm study.toml --tasks 64 --time 30m --cpus 4 -- --partition=short

A small study file:

  metrics = [\"wait_mean\", \"bounded_slowdown_mean\"]
  [[workload]]
  file = \"LOG.swf.gz\"
  load = [1.0, 1.1]
  [[policy]]
  policy = \"easy++(predict=recent({size}),correct={correct})\"
  [policy.parameters]
  size = { from = 1, to = 10 }
  correct = [\"estimate\", \"gradual\"]

Exit codes: 0 done; 2 wrong usage, input or output; 3 a policy broke its contract; 130 interrupted, 143 terminated, 129 hung up.";

/// Arguments of `drystone sweep`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SweepCommand>,

    /// The study file. (One called like a subcommand is ./status.)
    #[arg(value_name = "STUDY.toml", required = true)]
    pub(crate) study: Option<PathBuf>,

    /// Store of the results [default: the study's `store`, else the study file's name with .db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Work with this many processes instead of threads, each with a chunk of the study.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "threads")]
    pub(crate) processes: Option<u16>,

    /// Only count the simulations and those that the store has; simulate none.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run: predict the duration of the simulations, by trying some of each workload for
    /// this time, such as 2s.
    #[arg(long, value_name = "TIME", requires = "dry_run", value_parser = super::values::parse_time)]
    pub(crate) trial: Option<Duration>,
}

/// The options of every command that simulates.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkArgs {
    /// Look for logs here first, then where the study file says.
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,

    /// Threads that simulate [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Stop a simulation that takes longer than this, such as 10min; it counts as failed.
    ///
    /// Repeating the command tries it again. Without a limit, one that takes longer than a minute
    /// is named.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_time)]
    pub(crate) limit: Option<Duration>,

    /// Print only errors to stderr, and that no job counts.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The subcommands of `drystone sweep`.
#[derive(Subcommand, Clone, Debug)]
pub(crate) enum SweepCommand {
    /// Show a sweep's progress.
    Status(StatusArgs),
    /// Continue a sweep, from its store alone.
    Resume(ResumeArgs),
    /// Write the results as CSV or Parquet.
    Export(ExportArgs),
    /// Query the store in SQL.
    Query(QueryArgs),
    /// Rank configurations by their average distance from the best.
    Rank(RankArgs),
    /// Print tables for a paper, and draw curves and swarms.
    Table(TableArgs),
    /// The configurations that no other beats in every metric.
    Pareto(ParetoArgs),
    /// Simulate the K-th of N parts of a study into a store of its own.
    Chunk(ChunkArgs),
    /// Make one store of several of one study; conflicts are errors.
    Merge(MergeArgs),
    /// Submit a study to Slurm as an array of tasks; repeated, submit only the missing parts.
    Slurm(Box<SlurmArgs>),
    /// Print a script that runs a study's tasks on another system than Slurm.
    Recipe(Box<RecipeArgs>),
    /// Merge the publications of tasks, at any time, and name the missing parts.
    Gather(GatherArgs),
    /// Bracket the best possible mean wait of each workload, and keep that in the store.
    Headroom(BracketArgs),
    /// Cancel a study's tasks on Slurm.
    Cancel(CancelArgs),
    /// Do one task of a study; `slurm` and `recipe` let nodes call this.
    Task(TaskArgs),
}

/// Arguments of `drystone sweep status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone sweep status study.db\n  drystone sweep status study.db --follow")]
pub(crate) struct StatusArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Show progress until no task on the cluster waits or runs.
    #[arg(long)]
    pub(crate) follow: bool,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep resume`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone sweep resume study.db --logs /data/logs")]
pub(crate) struct ResumeArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// Arguments of `drystone sweep export`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone sweep export study.db --out results.parquet\n  \
    drystone sweep export study.db > results.csv")]
pub(crate) struct ExportArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Output file: .csv or .parquet; - is the standard output, as CSV.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

/// Arguments of `drystone sweep query`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  drystone sweep query study.db 'SELECT * FROM result ORDER BY wait_mean LIMIT 10'\n  \
    drystone sweep query study.db 'SELECT * FROM workload' --format json"
)]
pub(crate) struct QueryArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// SQL query. The tables are result, workload, meta, columns and session, and headroom once
    /// `sweep headroom` has made it.
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,

    /// Format of the answer.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep rank`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone sweep rank study.db\n  \
    drystone sweep rank study.db --subspace 'correct=estimate,size<=3' --top 20\n  \
    drystone sweep rank study.db --metric wait_mean --workload KTH --format csv\n  \
    drystone sweep rank study.db --against easy --confidence 0.99")]
pub(crate) struct RankArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// The metrics whose test cases count; repeatable [default: all of the study].
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,

    /// The workloads whose test cases count, with their transformations; repeatable [default: all].
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) workload: Vec<String>,

    /// Also describe the configurations that meet these conditions (=, !=, <, <=, >, >=, separated
    /// by commas); repeatable.
    #[arg(long, value_name = "CONDITIONS")]
    pub(crate) subspace: Vec<String>,

    /// Configuration that the others are tested against: its name, its policy, or 3 for the third
    /// of the study [default: the first of the ranking].
    #[arg(long, value_name = "CONFIGURATION")]
    pub(crate) against: Option<String>,

    /// Probability that an interval holds the true change.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = super::values::parse_probability)]
    pub(crate) confidence: f64,

    /// Number of configurations to print from the top; the last one is always printed.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,

    /// Also draw the ranks by value of each parameter, of all configurations and within each
    /// subspace, and the degradation against it: a file each as .svg, .pdf, .png, and the data as
    /// .csv.
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,

    /// Format of the ranking. JSON has everything, CSV has every configuration.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Columns of the tables of `drystone sweep table`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum TableColumns {
    /// A column for each load.
    Load,
    /// A column for each workload.
    Workload,
    /// A column for each metric.
    Metric,
    /// A column for each change of the workload: changes, failures, shares of jobs of several
    /// sizes.
    Change,
}

/// Arguments of `drystone sweep table`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone sweep table study.db --by load --format latex > table.tex\n  \
    drystone sweep table study.db --by metric --workload KTH --plots figures\n  \
    drystone sweep table study.db --format csv > values.csv\n\n\
    A cell is the mean over windows or seeds with its interval. The best of a column is bold; a dagger marks\n\
    values that no test tells from it. docs/paper.md goes from a study file to a PDF.")]
pub(crate) struct TableArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Columns [default: loads where there are several, else workloads, else metrics].
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) by: Option<TableColumns>,

    /// The metrics to show; repeatable [default: all of the study].
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,

    /// The workloads to show, with their transformations; repeatable [default: all].
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) workload: Vec<String>,

    /// Probability that an interval holds the true mean.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = super::values::parse_probability)]
    pub(crate) confidence: f64,

    /// Print means alone.
    #[arg(long)]
    pub(crate) no_intervals: bool,

    /// Also draw curves over loads and swarms over windows: a file each as .svg, .pdf, .png, and
    /// the data as .csv.
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,

    /// Format of the tables. JSON and CSV have every value.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep pareto`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  drystone sweep pareto study.db --metric wait_mean --metric bounded_slowdown_max\n  \
    drystone sweep pareto study.db --workload KTH"
)]
pub(crate) struct ParetoArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// The metrics to weigh; repeatable [default: all of the study].
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Vec<String>,

    /// The workloads that count; with one, its metrics are compared as they are, with several,
    /// their mean degradations from the best, or their means where a metric is 0 for some
    /// configuration; repeatable [default: all].
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) workload: Vec<String>,

    /// Format of the front.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep headroom`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone sweep headroom study.db\n  \
    drystone sweep headroom study.db --trials 1000000 --format csv\n  \
    drystone sweep query study.db 'SELECT workload, floor, found FROM headroom'\n\n\
    No schedule that runs each job once and without a break has a mean wait below the floor; the schedule found knows\n\
    run times. docs/headroom.md explains both.")]
pub(crate) struct BracketArgs {
    /// The store of a sweep, which need not be complete.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Trials of the search for a good schedule, for each workload; 0 leaves the search out.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) trials: u64,

    /// Seed of the searches.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) work: WorkArgs,

    /// Format of the brackets.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep chunk`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone sweep chunk 3/16 study.toml")]
pub(crate) struct ChunkArgs {
    /// Chunk and number of chunks, e.g. 3/16.
    #[arg(value_name = "K/N")]
    pub(crate) chunk: SweepChunk,

    /// The study file.
    #[arg(value_name = "STUDY.toml")]
    pub(crate) study: PathBuf,

    /// Store of the results [default: the study's store with -K-of-N before its ending].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// For `sweep --processes`: leave out the results of this store, and stop when the standard
    /// input ends, as it does when the parent process ends.
    #[arg(long, value_name = "STORE", hide = true, requires = "parent")]
    pub(crate) under: Option<PathBuf>,

    /// Number of the parent process.
    #[arg(long, value_name = "PID", hide = true, requires = "under")]
    pub(crate) parent: Option<u32>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// Arguments of `drystone sweep merge`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone sweep merge study-*-of-16.db --into study.db")]
pub(crate) struct MergeArgs {
    /// The stores to merge.
    #[arg(value_name = "STORE", required = true)]
    pub(crate) from: Vec<PathBuf>,

    /// The store to add them to; made where there is none.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: PathBuf,
}
