//! `drystone report`.

use crate::exit::CODES;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone compare LOG.swf.gz --details --format json > results.json
  drystone report results.json --out results.html
  drystone report results.json --out results.html --plots plots
  drystone run LOG.swf.gz --policy easy --details --format json | drystone report - > easy.html

A comparison can also write its page at once: drystone compare --report results.html";

/// Arguments of `drystone report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct ReportArgs {
    /// Results of `drystone compare --format json` or `drystone run --format json`; - is the
    /// standard input. With --details they have the data of all plots.
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,

    /// The page, one HTML file that needs no network.
    #[arg(long, short, alias = "output", value_name = "FILE.html", default_value = "-")]
    pub(crate) out: PathBuf,

    /// Also write every plot into this directory, as SVG, PDF and PNG. Files of the same names are
    /// replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,

    /// Print only errors to stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
