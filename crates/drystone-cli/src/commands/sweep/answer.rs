//! `drystone sweep query`: questions in SQL.

use crate::args::QueryArgs;
use crate::exit::{CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::exports::format_cell;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::{self, Printable};
use drystone_sweep::{QueryAnswer, QueryCell};
use serde::{Serialize, Serializer};

pub(super) fn run_query(args: &QueryArgs) -> CommandOutcome {
    let answer = ShownAnswer(drystone_sweep::query_store(&args.store, &args.sql)?);
    output::print_result(&answer, args.format)?;
    Ok(DONE)
}

struct ShownAnswer(QueryAnswer);

impl Serialize for ShownAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |cell: &QueryCell| match cell {
            QueryCell::Null => serde_json::Value::Null,
            QueryCell::Int(value) => (*value).into(),
            QueryCell::Real(value) => (*value).into(),
            QueryCell::Text(value) => value.clone().into(),
        };
        let object = |row: &Vec<QueryCell>| -> serde_json::Map<String, serde_json::Value> {
            self.0.columns.iter().cloned().zip(row.iter().map(value)).collect()
        };
        serializer.collect_seq(self.0.rows.iter().map(object))
    }
}

impl Printable for ShownAnswer {
    fn render_document(&self) -> Document {
        let texts: Vec<usize> = (0..self.0.columns.len())
            .filter(|&at| self.0.rows.iter().any(|row| matches!(row[at], QueryCell::Text(_))))
            .collect();
        let mut table = DocumentTable::new(self.0.columns.iter().cloned()).with_text_columns(&texts);
        for row in &self.0.rows {
            table.add_row(row.iter().map(|cell| TableValue::from(format_cell(cell))).collect());
        }
        let mut document = Document::default();
        document.add_table(table);
        document
    }

    fn render_rows(&self) -> FlatRows {
        // Without any row the header still stands.
        let mut rows = FlatRows::with_columns(self.0.columns.iter().cloned());
        for cells in &self.0.rows {
            let mut row = FlatRow::default();
            for (name, cell) in self.0.columns.iter().zip(cells) {
                row.add_text(name.clone(), format_cell(cell));
            }
            rows.push(row);
        }
        rows
    }
}
