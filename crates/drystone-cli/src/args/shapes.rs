//! Options on jobs of several sizes, and on power.

use clap::Args;
use drystone::model::ResizeRules;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Sizes that jobs may have, caps on power, carbon and prices; see docs/shapes.md.
#[expect(clippy::doc_markdown, reason = "help shows what stands here: grow_cost is the name of a column")]
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct ShapeArgs {
    /// Sizes that jobs may have: a table with the column job and any of kind, min, pref, max,
    /// sizes, speedup, declared, every, grow_cost, shrink_cost, watts, paces, asks
    /// (docs/shapes.md). `drystone workload reshape` makes one up.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) shapes: Option<PathBuf>,

    /// Caps on the power of the machine over time: a table with the columns time, cap (watts) and,
    /// if not all are known from the beginning, announced.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) power: Option<PathBuf>,

    /// Watts of each processor, whether a job holds it or not; what jobs draw above that is in the
    /// columns watts and paces of --shapes.
    #[arg(long, value_name = "WATTS", default_value_t = 0, hide_default_value = true, help_heading = "Machine",
        value_parser = clap::value_parser!(u64).range(..=1 << 32))]
    pub(crate) idle: u64,

    /// Carbon intensity (g/kWh) and price (per MWh) over time: a table with the columns time and
    /// any of carbon and price.
    #[arg(long, value_name = "FILE.csv", help_heading = "Machine")]
    pub(crate) series: Option<PathBuf>,

    /// Rules of the machine for changes of size, with commas between them: limit=work (the limit of
    /// a job moves with its run time) or limit=wall (it stays, so that a job that shrinks may be
    /// killed with --overrun kill); survive=yes (an outage shrinks a malleable job) or survive=no;
    /// release=now (a job that shrinks gives its processors back at once) or release=after (after
    /// its shrink_cost).
    #[arg(long, value_name = "RULES", help_heading = "Machine", value_parser = ResizeRules::from_str)]
    pub(crate) resizing: Option<ResizeRules>,
}

impl ShapeArgs {
    pub(crate) fn has_any(&self) -> bool {
        let has_power = self.power.is_some() || self.idle > 0 || self.series.is_some();
        self.shapes.is_some() || has_power || self.resizing.is_some()
    }

    pub(crate) fn named_files(&self) -> [Option<&Path>; 3] {
        [self.shapes.as_deref(), self.power.as_deref(), self.series.as_deref()]
    }
}
