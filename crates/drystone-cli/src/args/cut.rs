//! The part of a log that is simulated.

use super::values::parse_month;
use clap::Args;
use drystone::log::transform::WindowRule;
use drystone::model::Span;

/// The part of the log that `run`, `compare`, `explain` and `gantt` simulate, by submit.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct CutArgs {
    /// Only jobs submitted in this calendar month of the log's time zone, e.g. 1997-03.
    #[arg(long, value_name = "YYYY-MM", value_parser = parse_month, help_heading = "Cleaning")]
    pub(crate) month: Option<String>,

    /// Time before and after the month whose jobs are simulated as well, without being counted; of
    /// commands that count jobs.
    #[arg(skip)]
    pub(crate) around: Option<Span>,

    /// Windows that are simulated apart; of commands that measure several parts as one.
    #[arg(skip)]
    pub(crate) windows: Option<WindowRule>,

    /// Only jobs submitted from FROM up to but not including UNTIL, in seconds of the log; either
    /// may be left out.
    #[arg(long, value_name = "FROM..UNTIL", allow_hyphen_values = true, help_heading = "Cleaning")]
    pub(crate) slice: Option<String>,
}
