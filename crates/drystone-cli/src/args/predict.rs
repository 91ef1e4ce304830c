//! `drystone predict`.

use super::{LogArgs, SourceArgs};
use crate::output::ReportFormat;
use clap::Args;
use std::path::PathBuf;

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
wait counts as started at once. What predictions do to a schedule is what `drystone compare` tells.

accuracy: the smaller of prediction and run time over the larger, 1 is perfect. coverage: share of jobs predicted from
history. under-predicted: share of jobs that ran longer than predicted. error: |prediction - run time|.

`drystone policies` lists all predictors under the parameter predict.";

/// Arguments of `drystone predict`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// A predictor, as policies take it in `predict=`; repeatable [default: a choice of all kinds].
    #[arg(long, short, value_name = "PREDICTOR", value_parser = super::values::predictor)]
    pub(crate) predictor: Vec<String>,

    #[command(flatten)]
    pub(crate) cleaning: LogArgs,

    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output", value_parser = super::values::format())]
    pub(crate) format: ReportFormat,

    /// Print everything, not only the overview; files always have everything.
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    /// Also write the results to a file, in the format of its ending (.json, .csv, .md, .tex,
    /// .txt).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
