//! `drystone workload reshape`.

use super::LogArgs;
use super::values::word_parser;
use clap::Args;
use drystone::generate::reshape::{Reshape, ReshapeRule, read_watts};
use drystone::model::{JobKind, Speedup};
use std::path::PathBuf;
use std::str::FromStr;

/// Arguments of `drystone workload reshape`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone workload reshape LOG.swf.gz --share 20 --out shapes.csv\n  \
    drystone workload reshape LOG.swf.gz --kind moldable --by 'downey(log(1,64),uniform(0,2))' --out shapes.csv\n  \
    drystone workload reshape LOG.swf.gz --by 'range(0.25,4,pow2)' --speedup amdahl:0.99 --watts 60-200 --out shapes.csv\n  \
    drystone run LOG.swf.gz --policy easy-keep --shapes shapes.csv")]
pub(crate) struct ReshapeArgs {
    /// The log: .swf, .swf.gz or another that is read.
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,

    /// Kind of the jobs that are drawn: moldable or malleable.
    #[arg(long, value_name = "KIND", default_value = "malleable",
        value_parser = word_parser(&[JobKind::Moldable, JobKind::Malleable], JobKind::name))]
    pub(crate) kind: JobKind,

    /// Percentage of the jobs that are drawn. Who is drawn at 20 is so at 40.
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(..=100))]
    pub(crate) share: u8,

    /// Rule for sizes and speedups: efficiency (Amdahl's law, sizes up to half the machine that are
    /// efficient enough), downey (Downey's model, with A and sigma drawn), range(LO,HI) times the
    /// size that the log gives, or range(LO,HI,pow2).
    #[arg(long = "by", value_name = "RULE", default_value = "efficiency", value_parser = ReshapeRule::from_str)]
    pub(crate) rule: ReshapeRule,

    /// Speedup with --by range: none, linear, amdahl:SHARE, downey:A:SIGMA or power:EXPONENT.
    #[arg(long, value_name = "MODEL", default_value = "linear", value_parser = Speedup::from_str)]
    pub(crate) speedup: Speedup,

    /// Seconds between the points at which a malleable job can change its size [default: 60 with
    /// --by efficiency, else 0, which is at any time].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) every: Option<u32>,

    /// Seconds without progress when a job grows.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) grow_cost: u32,

    /// Seconds without progress when a job shrinks.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) shrink_cost: u32,

    /// Watts of each processor that a job holds, above idle: a number, or drawn between two, such
    /// as 60-200.
    #[arg(long, value_name = "WATTS", default_value = "0", value_parser = read_watts)]
    pub(crate) watts: (u32, u32),

    /// Seed of all draws.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// File to write: a table for --shapes.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,
}

impl ReshapeArgs {
    pub(crate) fn build_reshape(&self) -> Reshape {
        Reshape {
            kind: self.kind,
            share: f64::from(self.share) / 100.0,
            rule: self.rule.clone(),
            speedup: self.speedup.clone(),
            every: self.every,
            costs: (self.grow_cost, self.shrink_cost),
            watts: self.watts,
            seed: self.seed,
        }
    }
}
