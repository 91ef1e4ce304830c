//! Logs: Standard Workload Format, compressed or not, and its records as CSV, as Parquet and for
//! Batsim. One file per format.

mod batsim;
mod csv;
mod parquet;
mod swf;

#[cfg(feature = "parquet")]
pub(crate) use csv::COLUMNS as LOG_COLUMNS;
pub(super) use swf::{LogPacking, Swf};

use super::format::{Format, WrittenKind};
use drystone::log::swf::{SwfHeader, SwfRecord};

/// A log: its header and its records.
pub(crate) struct WrittenLog<'a> {
    pub(crate) header: &'a SwfHeader,
    pub(crate) records: &'a [SwfRecord],
}

pub(crate) struct Logs;

impl WrittenKind for Logs {
    type Of<'a> = WrittenLog<'a>;

    const HOW: &'static str = "how to write it";

    fn formats() -> &'static [&'static dyn Format<Logs>] {
        &[
            &Swf(LogPacking::None),
            &Swf(LogPacking::Gzip),
            &Swf(LogPacking::Zstd),
            &csv::CsvLog,
            &parquet::ParquetLog,
            &batsim::BatsimLog,
        ]
    }
}
