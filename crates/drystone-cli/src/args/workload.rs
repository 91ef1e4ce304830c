//! `drystone workload` and its commands.

use super::values::{parse_month, parse_share, parse_span};
use super::{LogArgs, ReshapeArgs, SourceArgs};
use clap::{Args, Subcommand, ValueEnum};
use drystone::log::transform::LoadFactor;
use drystone::model::Span;
use std::path::PathBuf;

/// Arguments of `drystone workload`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorkloadArgs {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: WorkloadCommand,

    /// Print only errors to stderr.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// The commands on workloads.
#[derive(Subcommand, Clone, Debug)]
pub(crate) enum WorkloadCommand {
    /// Describe a log: span, jobs, users, load, sizes, run times, estimates, arrivals.
    Info(Box<InfoArgs>),
    /// Write the jobs that a simulation would see as a log, with a list of dropped and changed
    /// records.
    Clean(Box<CleanArgs>),
    /// Scale the load of a log: divide submit times by a factor. Every record is kept.
    Scale(ScaleArgs),
    /// Cut a piece out of a log, by time, by month or by count.
    Slice(SliceArgs),
    /// Write a log as .swf, .swf.gz or .swf.zst, for Batsim as .json, or as a table for other
    /// programs: .csv or .parquet.
    Convert(ConvertArgs),
    /// Generate a synthetic workload for a machine of any size.
    Generate(Box<GenerateArgs>),
    /// Make up outages for a log or a machine: nodes that fail and are repaired, days of
    /// maintenance.
    Outages(Box<OutagesArgs>),
    /// Make up sizes for the jobs of a log: a share of them becomes moldable or malleable.
    Reshape(Box<ReshapeArgs>),
}

/// Formats of information.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum InfoFormat {
    /// Aligned tables, for people.
    Table,
    /// One object with everything.
    Json,
    /// Tables for documents.
    Markdown,
}

/// Arguments of `drystone workload info`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload info LOG.swf.gz\n  \
    drystone workload info LOG.swf.gz --details\n  \
    drystone workload info LOG.swf.gz --size allocated --format json\n  \
    drystone workload info LOG.swf.gz --transient --as lawson2002\n  \
    drystone workload info LOG.swf.gz --plots plots")]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,

    /// Print every table: settings, distributions, arrivals, weeks, users.
    #[arg(long)]
    pub(crate) details: bool,

    /// Also say how the workload changes over time, in batches of submissions (Lawson, Smirni &
    /// Puiu 2002, section 2).
    #[arg(long)]
    pub(crate) transient: bool,

    /// With --transient: submissions per batch.
    #[arg(long, value_name = "JOBS", default_value_t = 1_000, requires = "transient",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    /// Also draw arrivals by week, run times in batches of submissions and their tail, the use of
    /// estimates by status, and the jobs of the busiest users: a file each as .svg, .pdf, .png, and
    /// the data as .csv.
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: InfoFormat,
}

/// Arguments of `drystone workload clean`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload clean LOG.swf.gz --out clean.swf.gz --audit dropped.csv\n  \
    drystone workload clean LOG.swf.gz --as gaussier2015 > clean.swf\n\n\
    Size, submit, run time and estimate are written as the simulation sees them;\n    everything else stays as in the log.")]
pub(crate) struct CleanArgs {
    /// The log; - is the standard input.
    pub(crate) log: PathBuf,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,

    /// Output file: .swf, .swf.gz, .swf.zst, .csv, .parquet, or .json for Batsim; - is the
    /// standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

/// The options of commands that rewrite a log record by record.
#[derive(Args, Clone, Debug)]
pub(crate) struct RewriteArgs {
    /// The log; - is the standard input.
    pub(crate) log: PathBuf,

    /// Skip and count malformed lines instead of failing.
    #[arg(long)]
    pub(crate) lenient: bool,

    /// Output file: .swf, .swf.gz, .swf.zst, .csv, .parquet, or .json for Batsim; - is the
    /// standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

/// Arguments of `drystone workload scale`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone workload scale LOG.swf.gz --load 1.1 --out more.swf.gz")]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) rewrite: RewriteArgs,

    /// Submit times are divided by this: 1.1 is 10 % more load.
    #[arg(long, value_name = "FACTOR", value_parser = super::values::parse_value::<LoadFactor>)]
    pub(crate) load: LoadFactor,
}

/// Arguments of `drystone workload slice`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload slice LOG.swf.gz --month 1997-03 --out march.swf\n  \
    drystone workload slice LOG.swf.gz --from 604800 --until 1209600 --shift > week2.swf\n  \
    drystone workload slice LOG.swf.gz --first 5000 > start.swf")]
pub(crate) struct SliceArgs {
    #[command(flatten)]
    pub(crate) rewrite: RewriteArgs,

    /// Only records submitted in this calendar month of the log's time zone.
    #[arg(long, value_name = "YYYY-MM", value_parser = parse_month)]
    pub(crate) month: Option<String>,

    /// Only records submitted at or after this second of the log.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(crate) from: Option<i64>,

    /// Only records submitted before this second of the log.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(crate) until: Option<i64>,

    /// Most records to keep, after the other options, in the order of the log.
    #[arg(long, value_name = "N")]
    pub(crate) first: Option<u64>,

    /// Shift times so that the first record's submit is 0; UnixStartTime moves along.
    #[arg(long)]
    pub(crate) shift: bool,
}

/// Arguments of `drystone workload convert`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload convert LOG.swf.gz --out LOG.parquet\n  \
    drystone workload convert LOG.swf.gz --out LOG.swf.zst\n  drystone workload convert LOG.swf.gz > LOG.swf\n  \
    drystone workload convert LOG.swf.gz --out LOG.json\n  drystone workload convert batsim.json --out LOG.swf\n\n\
    drystone workload convert jobs.json --flops 100G --shapes shapes.csv --out LOG.swf\n\n\
    Workloads of Batsim (.json) and its jobs.csv are read as logs are. Comments and header are kept in\n    \
    .swf; .csv and .parquet hold the records only, one column per field.")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) rewrite: RewriteArgs,

    /// Also write the sizes that jobs may have, a table for --shapes of run: of a workload of
    /// ElastiSim (jobs.json, with the application models that it names), or of Batsim with
    /// computations that are divided among processors (docs/shapes.md).
    #[arg(long, value_name = "FILE.csv", requires = "flops")]
    pub(crate) shapes: Option<PathBuf>,

    /// Operations per second of a processor, of a node in ElastiSim: 1e11 or 100G.
    #[arg(long, value_name = "SPEED", value_parser = parse_flops, requires = "shapes")]
    pub(crate) flops: Option<f64>,

    /// Operations per second of a GPU.
    #[arg(long, value_name = "SPEED", value_parser = parse_flops, requires = "shapes")]
    pub(crate) gpu_flops: Option<f64>,

    /// Processors of the machine, nodes in ElastiSim [default: as the workload says, or as many as
    /// its widest job prefers].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "shapes")]
    pub(crate) procs: Option<u32>,
}

/// A number of operations per second, with a letter for thousands: 100G.
fn parse_flops(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('f');
    let powers = [('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12), ('P', 1e15)];
    let unit = powers.into_iter().find(|(letter, _)| number.ends_with(*letter));
    let (number, times) = unit.map_or((number, 1.0), |(letter, times)| (number.trim_end_matches(letter), times));
    let speed = number.trim().parse::<f64>().ok().map(|number| number * times);
    let speed = speed.filter(|speed| speed.is_finite() && *speed > 0.0);
    speed.ok_or_else(|| format!("`{text}` is no number of operations per second above 0, such as 1e11 or 100G"))
}

/// Variants of the model of Lublin and Feitelson.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ModelArg {
    /// One type of job.
    Typeless,
    /// Batch (queue 1) and interactive (queue 0) jobs.
    Typed,
}

/// Arguments of `drystone workload generate`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  drystone workload generate --procs 512 --jobs 50000 --load 0.9 --out w.swf.gz\n  \
    drystone workload generate --procs 128 --days 180 --load 1.05 > deep.swf"
)]
pub(crate) struct GenerateArgs {
    /// Processors of the machine.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) procs: u32,

    /// Number of jobs [default: 10000 unless --days is given].
    #[arg(long, value_name = "N", conflicts_with = "days")]
    pub(crate) jobs: Option<u32>,

    /// Span in days; as many jobs as it takes to offer the load.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) days: Option<u32>,

    /// Offered load to meet: work per processor-second between the first and the last submit; above
    /// 0, may exceed 1. Without it the arrivals are as the model draws them.
    #[arg(long, value_name = "LOAD")]
    pub(crate) load: Option<f64>,

    /// Seed of all random numbers: the same settings give the same workload.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Variant of the model.
    #[arg(long, value_name = "MODEL", default_value = "typeless")]
    pub(crate) model: ModelArg,

    /// The largest estimate, and so the longest run time, in seconds: an hour to a year.
    #[arg(long, value_name = "SECONDS", default_value_t = 64_800)]
    pub(crate) max_estimate: i64,

    /// Number of users, with --model typed of each type
    /// [default: 1.5 times the square root of the number of jobs].
    #[arg(long, value_name = "N")]
    pub(crate) users: Option<u32>,

    /// Output file: .swf, .swf.gz, .swf.zst, .csv, .parquet, or .json for Batsim; - is the
    /// standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

/// Treatment of jobs on a node that fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum HitArg {
    /// They end at once and wait again, with nothing left of their progress.
    Requeue,
    /// They end at once, for good.
    Lose,
    /// They run to their ends; the processors go then.
    Drain,
}

/// Arguments of `drystone workload outages`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload outages LOG.swf.gz --out outages.csv\n  \
    drystone workload outages LOG.swf.gz --node 8 --unavailable 2% --maintenance 0 > outages.csv\n  \
    drystone workload outages --procs 1024 --days 365 --node 16 --every 90d --out outages.csv\n\n\
    `drystone run --outages outages.csv` simulates them; docs/real-machines.md explains the columns.")]
pub(crate) struct OutagesArgs {
    /// The log whose machine and time are taken; - is the standard input.
    pub(crate) log: Option<PathBuf>,

    /// Processors of the machine [default: the log's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) procs: Option<u32>,

    /// Span in days [default: from the log's first submit to its last; without a log 365].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) days: Option<u32>,

    /// Processors of a node, which fail together.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) node: u32,

    /// Share of the time in which a node is out by a failure, unannounced and with an unknown end;
    /// 0 for no failures.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share)]
    pub(crate) unavailable: f64,

    /// Mean time of a repair; repairs are exponential.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_span)]
    pub(crate) repair: Span,

    /// Shape of the Weibull distribution of the times to a failure: 1 is exponential, and with
    /// less, such as 0.7, failures come in groups.
    #[arg(long, value_name = "SHAPE", default_value_t = 1.0)]
    pub(crate) shape: f64,

    /// Treatment of jobs on a node that fails.
    #[arg(long, alias = "jobs", value_name = "WHAT", default_value = "requeue")]
    pub(crate) hit: HitArg,

    /// Duration of a maintenance of the whole machine; 0 for none.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_span)]
    pub(crate) maintenance: Span,

    /// Interval between maintenances; the first starts one interval after the first submit.
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_span)]
    pub(crate) every: Span,

    /// Time between the announcement of a maintenance and its beginning.
    #[arg(long, value_name = "TIME", default_value = "14d", value_parser = parse_span)]
    pub(crate) notice: Span,

    /// Seed of all random numbers: the same settings give the same outages.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Output file; - is the standard output.
    #[arg(long, short, value_name = "FILE.csv", default_value = "-")]
    pub(crate) out: PathBuf,
}
