//! Records as CSV: the eighteen fields, as the log writes them.

use super::{Logs, WrittenLog};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::progress::WorkProgress;
use drystone::log::swf::SwfRecord;
use std::io::{self, Write};

pub(super) struct CsvLog;

impl Format<Logs> for CsvLog {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { needs_meta_beside: true, ..FormatTraits::default() }
    }

    fn write_to(&self, log: &WrittenLog<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let progress = WorkProgress::for_writing(log.records.len(), out);
        write_lines(out, progress.count_items(log.records)).map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}

/// Names of the columns, also in Parquet.
pub(crate) const COLUMNS: [&str; 18] = [
    "number",
    "submit",
    "wait",
    "run",
    "allocated",
    "cpu_time",
    "used_memory",
    "requested",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding",
    "think_time",
];

/// Numbers only: nothing needs quotes.
fn write_lines<'r>(out: &mut impl Write, records: impl IntoIterator<Item = &'r SwfRecord>) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for record in records {
        for (at, value) in record.values().iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
