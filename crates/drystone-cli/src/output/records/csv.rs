//! Records as CSV: the eighteen fields, as the log writes them.

use drystone::log::swf::Record;
use std::io::{self, Write};

/// Names of the columns, also in Parquet.
pub(super) const COLUMNS: [&str; 18] = [
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
pub(super) fn lines(out: &mut impl Write, records: impl IntoIterator<Item = Record>) -> io::Result<()> {
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
