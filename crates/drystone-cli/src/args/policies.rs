//! `drystone policies`.

use super::InfoFormat;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  drystone policies
  drystone policies easy
  drystone policies --details
  drystone policies --certified
  drystone policies --format json

A policy is named by NAME[@VARIANT][(PARAMETER=VALUE,...)]: easy, 'easy(order=sjf,backfill=sjf)', easy@tsafrir2007.";

/// Arguments of `drystone policies`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PoliciesArgs {
    /// Only this policy, with all parameters and variants.
    pub(crate) name: Option<String>,

    /// List every parameter, variant, predictor and order as well.
    #[arg(long, conflicts_with = "certified")]
    pub(crate) details: bool,

    /// Only the variants that reproduce published studies.
    #[arg(long)]
    pub(crate) certified: bool,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: InfoFormat,
}
