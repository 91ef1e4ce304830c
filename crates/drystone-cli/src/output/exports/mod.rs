//! Results of sweeps for other programs: one file per format.

mod csv;
mod parquet;

use super::format::{Format, Kind};
use drystone_sweep::{Answer, Cell};
use std::path::Path;

/// Contents of a store.
pub(crate) struct Export<'a> {
    pub(crate) answer: &'a Answer,
    /// The types of its columns, as SQLite names them.
    pub(crate) types: &'a Answer,
    /// The store, for messages.
    pub(crate) store: &'a Path,
}

/// Results of sweeps.
pub(crate) struct Exports;

impl Kind for Exports {
    type Of<'a> = Export<'a>;

    const HOW: &'static str = "how to write it";

    fn formats() -> &'static [&'static dyn Format<Exports>] {
        &[&csv::Csv, &parquet::Parquet]
    }
}

/// A cell as text; nothing is empty.
pub(crate) fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Text(value) => value.clone(),
    }
}
