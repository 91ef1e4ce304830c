//! The records of a log as Parquet.

use super::csv::COLUMNS;
use super::{Log, Logs};
use crate::exit::Failure;
use crate::output::columnar::{Column, File, MISSING};
use crate::output::file::Output;
use crate::output::format::Format;
use drystone::log::swf::Record;

/// The records of a log: whole numbers as such, fields that may have a fraction as doubles.
pub(super) struct Parquet;

impl Format<Logs> for Parquet {
    fn endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, log: &Log<'_>, out: &mut Output) -> Result<(), Failure> {
        use drystone::log::swf::Field;
        let whole = Field::ALL.map(|field| move |r: &Record| r.get(field).digits());
        let fraction = Field::ALL.map(|field| move |r: &Record| r.get(field).as_f64());
        let column = |at: usize| -> Column<'_, Record> {
            if Field::ALL[at].is_decimal() { Column::Double(&fraction[at]) } else { Column::Long(&whole[at]) }
        };
        let columns: Vec<(&str, Column<'_, Record>)> = (0..COLUMNS.len()).map(|at| (COLUMNS[at], column(at))).collect();
        let fields: Vec<(String, String)> = log.header.fields().collect();
        let metadata: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        File { columns: &columns, metadata: &metadata }.write(out, log.records)
    }
}
