//! Logs: Standard Workload Format, compressed or not, and its records as CSV, as Parquet and for
//! Batsim. One file per format.

mod batsim;
mod csv;
mod parquet;
mod swf;

#[cfg(feature = "parquet")]
pub(crate) use csv::COLUMNS as LOG_COLUMNS;
pub(super) use swf::{Packing, Swf};

use super::format::{Format, Kind};
use drystone::log::swf::{Header, Record};

/// A log: its header and its records.
pub(crate) struct Log<'a> {
    pub(crate) header: &'a Header,
    pub(crate) records: &'a [Record],
}

/// Logs.
pub(crate) struct Logs;

impl Kind for Logs {
    type Of<'a> = Log<'a>;

    const HOW: &'static str = "how to write it";

    fn formats() -> &'static [&'static dyn Format<Logs>] {
        &[&Swf(Packing::None), &Swf(Packing::Gzip), &Swf(Packing::Zstd), &csv::Csv, &parquet::Parquet, &batsim::Batsim]
    }
}
