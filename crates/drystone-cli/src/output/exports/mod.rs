//! Results of sweeps for other programs: one file per format.

mod csv;
mod parquet;

use super::format::{Format, WrittenKind};
use drystone_sweep::{QueryAnswer, QueryCell};
use std::path::Path;

/// Contents of a store.
pub(crate) struct Export<'a> {
    pub(crate) answer: &'a QueryAnswer,
    /// The types of its columns, as SQLite names them.
    pub(crate) types: &'a QueryAnswer,
    pub(crate) store: &'a Path,
}

/// Results of sweeps.
pub(crate) struct Exports;

impl WrittenKind for Exports {
    type Of<'a> = Export<'a>;

    const HOW: &'static str = "how to write it";

    fn formats() -> &'static [&'static dyn Format<Exports>] {
        &[&csv::CsvExport, &parquet::ParquetExport]
    }
}

/// A cell as text; nothing is empty.
pub(crate) fn format_cell(cell: &QueryCell) -> String {
    match cell {
        QueryCell::Null => String::new(),
        QueryCell::Int(value) => value.to_string(),
        QueryCell::Real(value) => value.to_string(),
        QueryCell::Text(value) => value.clone(),
    }
}
