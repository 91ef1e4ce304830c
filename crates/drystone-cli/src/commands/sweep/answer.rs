//! `drystone sweep query`: questions in SQL.

use crate::args::QueryArgs;
use crate::exit::{DONE, Outcome};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::exports::text;
use crate::output::flat::{Row, Rows};
use crate::output::{self, Printable};
use drystone_sweep::{Answer, Cell};
use serde::{Serialize, Serializer};

pub(super) fn query(args: &QueryArgs) -> Outcome {
    let answer = Shown(drystone_sweep::query(&args.store, &args.sql)?);
    output::print(&answer, args.format)?;
    Ok(DONE)
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
        let mut table = DocumentTable::new(self.0.columns.iter().cloned()).texts(&texts);
        for row in &self.0.rows {
            table.row(row.iter().map(|cell| TableValue::from(text(cell))).collect());
        }
        let mut document = Document::default();
        document.table(table);
        document
    }

    fn rows(&self) -> Rows {
        // Without any row the header still stands.
        let mut rows = Rows::of(self.0.columns.iter().cloned());
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
