//! Parquet: columns of whole numbers, numbers and texts.

use super::{Export, Exports, text};
use crate::exit::Failure;
use crate::output::columnar::{Column, File, MISSING};
use crate::output::file::Output;
use crate::output::format::Format;
use drystone_sweep::Cell;

pub(super) struct Parquet;

impl Format<Exports> for Parquet {
    fn endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, export: &Export<'_>, out: &mut Output) -> Result<(), Failure> {
        write(export, out)
    }
}

/// Type of a column.
enum Kind {
    Whole,
    Number,
    Text,
}

type Cells = Vec<Cell>;

fn write(export: &Export<'_>, out: &mut Output) -> Result<(), Failure> {
    let Export { answer, types, store } = export;
    let kind = |at: usize| match types.rows.get(at).and_then(|row| row.first()) {
        Some(Cell::Text(name)) if name == "INTEGER" => Kind::Whole,
        Some(Cell::Text(name)) if name == "REAL" => Kind::Number,
        _ => Kind::Text,
    };
    // SQLite keeps whatever it is given; a column of Parquet has one kind.
    for row in &answer.rows {
        let strange = (0..answer.columns.len()).find(|&at| match (kind(at), &row[at]) {
            (Kind::Whole, cell) => !matches!(cell, Cell::Int(_) | Cell::Null),
            (Kind::Number, cell) => matches!(cell, Cell::Text(_)),
            (Kind::Text, cell) => !matches!(cell, Cell::Text(_) | Cell::Null),
        });
        if let Some(at) = strange {
            return Err(Failure::usage(format_args!(
                "{}: is damaged: `{}` of configuration {} is `{}`, of another kind than its column. Was it changed by hand? \
                 A .csv can hold it",
                store.display(),
                answer.columns[at],
                text(&row[0]),
                text(&row[at])
            )));
        }
    }
    let whole = |at: usize| move |row: &Cells| if let Cell::Int(value) = row[at] { Some(value) } else { None };
    let number = |at: usize| {
        move |row: &Cells| match row[at] {
            Cell::Int(value) => Some(value as f64),
            Cell::Real(value) => Some(value),
            Cell::Null | Cell::Text(_) => None,
        }
    };
    fn words(at: usize) -> impl Fn(&Cells) -> Option<&str> {
        move |row| if let Cell::Text(text) = &row[at] { Some(text) } else { None }
    }
    let width = answer.columns.len();
    let wholes: Vec<_> = (0..width).map(whole).collect();
    let numbers: Vec<_> = (0..width).map(number).collect();
    let texts: Vec<_> = (0..width).map(words).collect();
    let columns: Vec<(&str, Column<'_, Cells>)> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let column = match kind(at) {
                Kind::Whole => Column::MaybeLong(&wholes[at]),
                Kind::Number => Column::MaybeDouble(&numbers[at]),
                Kind::Text => Column::MaybeText(&texts[at]),
            };
            (name.as_str(), column)
        })
        .collect();
    File { columns: &columns, metadata: &[] }.write(out, &answer.rows)
}
