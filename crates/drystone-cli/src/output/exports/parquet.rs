//! Parquet: columns of whole numbers, numbers and texts.

use super::{Export, Exports, format_cell};
use crate::exit::CommandFailure;
use crate::output::columnar::{ColumnGetter, ColumnarFile, MISSING};
use crate::output::file::OutputFile;
use crate::output::format::Format;
use drystone_sweep::QueryCell;

pub(super) struct ParquetExport;

impl Format<Exports> for ParquetExport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, export: &Export<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        write_export(export, out)
    }
}

enum ExportType {
    Whole,
    Number,
    Text,
}

type ExportCells = Vec<QueryCell>;

fn write_export(export: &Export<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
    let Export { answer, types, store } = export;
    let kind = |at: usize| match types.rows.get(at).and_then(|row| row.first()) {
        Some(QueryCell::Text(name)) if name == "INTEGER" => ExportType::Whole,
        Some(QueryCell::Text(name)) if name == "REAL" => ExportType::Number,
        _ => ExportType::Text,
    };
    // SQLite keeps whatever it is given; a column of Parquet has one kind.
    for row in &answer.rows {
        let strange = (0..answer.columns.len()).find(|&at| match (kind(at), &row[at]) {
            (ExportType::Whole, cell) => !matches!(cell, QueryCell::Int(_) | QueryCell::Null),
            (ExportType::Number, cell) => matches!(cell, QueryCell::Text(_)),
            (ExportType::Text, cell) => !matches!(cell, QueryCell::Text(_) | QueryCell::Null),
        });
        if let Some(at) = strange {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: is damaged: `{}` of configuration {} is `{}`, of another kind than its column. Was it changed by hand? \
                 A .csv can hold it",
                store.display(),
                answer.columns[at],
                format_cell(&row[0]),
                format_cell(&row[at])
            )));
        }
    }
    let whole =
        |at: usize| move |row: &ExportCells| if let QueryCell::Int(value) = row[at] { Some(value) } else { None };
    let number = |at: usize| {
        move |row: &ExportCells| match row[at] {
            QueryCell::Int(value) => Some(value as f64),
            QueryCell::Real(value) => Some(value),
            QueryCell::Null | QueryCell::Text(_) => None,
        }
    };
    fn text_column(at: usize) -> impl Fn(&ExportCells) -> Option<&str> {
        move |row| if let QueryCell::Text(text) = &row[at] { Some(text) } else { None }
    }
    let width = answer.columns.len();
    let wholes: Vec<_> = (0..width).map(whole).collect();
    let numbers: Vec<_> = (0..width).map(number).collect();
    let texts: Vec<_> = (0..width).map(text_column).collect();
    let columns: Vec<(&str, ColumnGetter<'_, ExportCells>)> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let column = match kind(at) {
                ExportType::Whole => ColumnGetter::MaybeLong(&wholes[at]),
                ExportType::Number => ColumnGetter::MaybeDouble(&numbers[at]),
                ExportType::Text => ColumnGetter::MaybeText(&texts[at]),
            };
            (name.as_str(), column)
        })
        .collect();
    ColumnarFile { columns: &columns, metadata: &[] }.write_rows(out, &answer.rows)
}
