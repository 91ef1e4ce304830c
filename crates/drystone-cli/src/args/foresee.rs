//! `drystone foresee`.

use super::OutputArgs;
use super::{CutArgs, LogArgs, RealArgs, SourceArgs};
use clap::Args;
use drystone::model::Span;
use drystone::policy::PolicySpec;
use drystone_when::AnswerMethod;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone foresee LOG.swf.gz --policy easy
  drystone foresee LOG.swf.gz -p easy@tsafrir2007 --as tsafrir2007 --report foresee.html
  drystone foresee LOG.swf.gz --method plan --method calibrated --format csv
  drystone foresee LOG.swf.gz --again 6h

Every job that waits is asked about as it arrives: when will it start? The answers use only what had happened by then. Each
answer is then compared with the actual start.

CRPS: continuous ranked probability score in minutes, the absolute error of an answer that is one number; less is better.
50% holds, 90% holds: share of the jobs that started within the central 50 % and 90 % of what was said; 50 and 90 are
right. 90% width: median width of the latter. calibration error: mean of |share started by a quantile - its level|.";

/// Arguments of `drystone foresee`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ForeseeArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// The policy; `drystone policies` lists all. One that knows true run times is refused.
    #[arg(long, short, value_name = "SPEC", default_value = "easy", value_parser = super::values::parse_policy)]
    pub(crate) policy: PolicySpec,

    /// A way to answer that is scored; repeatable [default: all].
    #[arg(long, value_name = "METHOD", value_parser = super::values::word_parser(&AnswerMethod::ALL, AnswerMethod::name), help_heading = "Questions")]
    pub(crate) method: Vec<AnswerMethod>,

    /// Ask about one in N of the waiting jobs: scores are less precise and arrive sooner
    /// [default: 1; on larger logs one in so many that about 30,000 are asked about at most, and
    /// 250 under slurm, whose passes take long to simulate].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Questions")]
    pub(crate) every: Option<u32>,

    /// Interval at which jobs that still wait are asked about again, as 6h, 30m or 1-0; these
    /// answers are scored apart.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_interval, help_heading = "Questions")]
    pub(crate) again: Option<Span>,

    /// Futures that are simulated for each question.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=10_000), help_heading = "Questions")]
    pub(crate) samples: u32,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,

    /// Priorities and quotas of users, groups, queues and jobs, for policies that know them
    /// (slack, multiqueue).
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) priorities: Option<PathBuf>,

    /// Seed of the futures, and of the synthetic workload where no log is given.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Workload")]
    pub(crate) seed: u64,

    /// Threads for the futures of policies that are simulated themselves; answers do not depend on
    /// it [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<true>,
}
