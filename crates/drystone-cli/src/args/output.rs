//! Format and file of results, for the commands that print one report.

use crate::output::ReportFormat;
use clap::Args;
use std::path::PathBuf;

/// Format and file of a report; `PAGE` where it can be a page.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs<const PAGE: bool> {
    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,

    /// Print everything, not only the overview; files always have everything.
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    #[arg(long, value_name = "FILE", help_heading = "Output", help = report_help(PAGE))]
    pub(crate) report: Option<PathBuf>,

    /// Print only errors to stderr.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

const fn report_help(page: bool) -> &'static str {
    if page {
        "Also write the results to a file, in the format of its ending (.html, .json, .csv, .md, .tex, .txt). An HTML page has plots"
    } else {
        "Also write the results to a file, in the format of its ending (.json, .csv, .md, .tex, .txt)"
    }
}
