//! `drystone predict`.

use super::OutputArgs;
use super::{LogArgs, SourceArgs};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  drystone predict LOG.swf.gz
  drystone predict LOG.swf.gz --predictor 'recent(2)' --predictor 'recent(5,metric=median)' \\
      --predictor learn
  drystone predict LOG.swf.gz --as tsafrir2007 --format markdown
  drystone predict LOG.swf.gz --format json |
      jq '.predictors[] | [.predictor, .foresight.accuracy.mean]'

Every job is predicted when it arrives, from the jobs that had ended by then: at submit + wait (field 3) + run time,
as the log has them. No schedule is simulated, so that predictors are compared on the same history; a record without a
wait counts as started at once. `drystone compare` shows the effect of predictions on a schedule.

accuracy: the smaller of prediction and run time over the larger, 1 is perfect. from history: share of jobs predicted
from earlier ones. too short: share of jobs that ran longer than predicted. error: |prediction - run time|.

`drystone policies` lists all predictors under the parameter predict.";

/// Arguments of `drystone predict`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// A predictor, as policies take it in `predict=`; repeatable [default: a choice of all kinds].
    #[arg(long, short, value_name = "PREDICTOR", value_parser = super::values::parse_predictor)]
    pub(crate) predictor: Vec<String>,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs<false>,
}
