//! `drystone sweep query`: questions in SQL.

use crate::args::QueryArgs;
use crate::exit::{DONE, Outcome};
use crate::output::document::{Document, Table, Value};
use crate::output::flat::{Row, Rows};
use crate::output::{self, Form, Printable};
use drystone_sweep::{Answer, Cell};
use serde::{Serialize, Serializer};

pub(super) fn query(args: &QueryArgs) -> Outcome {
    let answer = Shown(drystone_sweep::query(&args.store, &args.sql)?);
    let form: Form = args.format.into();
    if form == Form::Csv && answer.0.rows.is_empty() {
        // Rows know the columns; without any the header still stands.
        output::stdout::write(format!("{}\n", answer.0.columns.join(",")).as_bytes())?;
        return Ok(DONE);
    }
    output::print(&answer, form)?;
    Ok(DONE)
}

/// A cell as text; nothing is empty.
pub(super) fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => value.to_string(),
        Cell::Text(value) => value.clone(),
    }
}

struct Shown(Answer);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |cell: &Cell| match cell {
            Cell::Null => serde_json::Value::Null,
            Cell::Int(value) => (*value).into(),
            Cell::Real(value) => (*value).into(),
            Cell::Text(value) => value.clone().into(),
        };
        let object = |row: &Vec<Cell>| -> serde_json::Map<String, serde_json::Value> {
            self.0.columns.iter().cloned().zip(row.iter().map(value)).collect()
        };
        serializer.collect_seq(self.0.rows.iter().map(object))
    }
}

impl Printable for Shown {
    fn document(&self) -> Document {
        let texts: Vec<usize> = (0..self.0.columns.len())
            .filter(|&at| self.0.rows.iter().any(|row| matches!(row[at], Cell::Text(_))))
            .collect();
        let mut table = Table::new(self.0.columns.iter().cloned()).texts(&texts);
        for row in &self.0.rows {
            table.row(row.iter().map(|cell| Value::from(text(cell))).collect());
        }
        let mut document = Document::default();
        document.table(table);
        document
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        for cells in &self.0.rows {
            let mut row = Row::default();
            for (name, cell) in self.0.columns.iter().zip(cells) {
                row.text(name.clone(), text(cell));
            }
            rows.push(row);
        }
        rows
    }
}
