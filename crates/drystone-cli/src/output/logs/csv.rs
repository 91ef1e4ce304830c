//! Records as CSV: the eighteen fields, as the log writes them.

use super::{Log, Logs};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, Traits};
use crate::progress::Progress;
use drystone::log::swf::Record;
use std::io::{self, Write};

pub(super) struct Csv;

impl Format<Logs> for Csv {
    fn endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn traits(&self) -> Traits {
        Traits { needs_meta_beside: true, ..Traits::default() }
    }

    fn write(&self, log: &Log<'_>, out: &mut Output) -> Result<(), Failure> {
        let progress = Progress::writing(log.records.len(), out);
        lines(out, progress.over(log.records)).map_err(|e| Failure::write(out.name(), &e))
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
fn lines<'r>(out: &mut impl Write, records: impl IntoIterator<Item = &'r Record>) -> io::Result<()> {
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
