//! `drystone fidelity`.

use super::OutputArgs;
use crate::exit::CODES;
use clap::Args;
use drystone::model::{NodeFill, Span};
use drystone::policy::PolicySpec;
use drystone_site::fidelity::FidelityRequirement;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone fidelity site/ --report fidelity.html          # the site's own Slurm, easy beside it
  drystone fidelity site/ --policy easy
  drystone fidelity job0/ --repetition job1/ --repetition job2/  # the same workload, recorded again
  drystone fidelity site/ --policy easy --require within-10m=0.8 --require skill-jobs=0.1
  drystone fidelity site/ --policy easy --format json | jq '.pools[].errors.within_minute'

Waits are compared job by job, by class, and in their order; use and queue by the hour. Beside each error stand what needs no model of
the site, and the noise: the same simulation with arrivals moved by seconds. docs/accounting.md says how each is defined.";

/// Arguments of `drystone fidelity`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct FidelityArgs {
    /// Folder of an imported site; site/#POOL is one of its pools.
    pub(crate) site: PathBuf,

    /// Policy that represents the site's own [default: the site's own Slurm where it has a
    /// slurm.conf, else easy].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    /// Choice of nodes of the site's slurm.conf for a job: as few as possible (pack), piece by
    /// piece (spread), or nodes to itself (whole) [default: pack].
    #[arg(long, value_name = "RULE", value_parser = super::values::word_parser(&NodeFill::ALL, NodeFill::name))]
    pub(crate) placement: Option<NodeFill>,

    /// Another recording of the same workload, imported: how far the site is from itself;
    /// repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) repetition: Vec<PathBuf>,

    /// Exit with code 1 unless every pool reaches this, such as within-10m=0.9 or
    /// mean-distance=600; repeatable.
    #[arg(long, value_name = "MEASURE=NUMBER", value_parser = str::parse::<FidelityRequirement>)]
    pub(crate) require: Vec<FidelityRequirement>,

    /// Repetitions of the simulation with moved arrivals, for the noise; 0 leaves it out.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(..=10_000), help_heading = "Measuring")]
    pub(crate) seeds: u32,

    /// Seconds by which arrivals are moved at most: the precision of the records.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=86_400), help_heading = "Measuring")]
    pub(crate) jitter: i64,

    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measuring")]
    pub(crate) seed: u64,

    /// Time at the beginning that is left out of every measure, such as 7d
    /// [default: as the import found].
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_span, help_heading = "Measuring")]
    pub(crate) warm_up: Option<Span>,

    /// Threads that simulate [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Measuring")]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<true>,
}
