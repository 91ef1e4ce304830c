//! The records of a log as Parquet.

use super::csv::COLUMNS;
use super::{Logs, WrittenLog};
use crate::exit::CommandFailure;
use crate::output::columnar::{ColumnGetter, ColumnarFile, MISSING};
use crate::output::file::OutputFile;
use crate::output::format::Format;
use drystone::log::swf::SwfRecord;

/// The records of a log: whole numbers as such, fields that may have a fraction as doubles.
pub(super) struct ParquetLog;

impl Format<Logs> for ParquetLog {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, log: &WrittenLog<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        use drystone::log::swf::RecordField;
        let whole = RecordField::ALL.map(|field| move |r: &SwfRecord| r.get(field).digits());
        let fraction = RecordField::ALL.map(|field| move |r: &SwfRecord| r.get(field).as_f64());
        let column = |at: usize| -> ColumnGetter<'_, SwfRecord> {
            if RecordField::ALL[at].is_decimal() {
                ColumnGetter::Double(&fraction[at])
            } else {
                ColumnGetter::Long(&whole[at])
            }
        };
        let columns: Vec<(&str, ColumnGetter<'_, SwfRecord>)> =
            (0..COLUMNS.len()).map(|at| (COLUMNS[at], column(at))).collect();
        let fields: Vec<(String, String)> = log.header.fields().collect();
        let metadata: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        ColumnarFile { columns: &columns, metadata: &metadata }.write_rows(out, log.records)
    }
}
