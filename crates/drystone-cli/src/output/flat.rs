//! Results as rows of CSV.

use crate::exit::Failure;

/// Rows of named values, each row with the same columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    values: Vec<(String, String)>,
}

impl Row {
    /// This row, and to its right another.
    pub(crate) fn followed_by(mut self, right: Row) -> Row {
        self.values.extend(right.values);
        self
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, name: impl Into<String>, value: impl ToString) {
        self.values.push((name.into(), value.to_string()));
    }

    /// Adds a number; empty where there is none.
    pub(crate) fn number(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.values.push((name.into(), value.map_or_else(String::new, |v| v.to_string())));
    }
}

impl Rows {
    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// As CSV with a header line. Columns that a row lacks are empty.
    pub(crate) fn csv(&self) -> Result<Vec<u8>, Failure> {
        let mut columns: Vec<&str> = Vec::new();
        for row in &self.rows {
            for (name, _) in &row.values {
                if !columns.contains(&name.as_str()) {
                    columns.push(name);
                }
            }
        }
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(&columns).map_err(Failure::usage)?;
        for row in &self.rows {
            let value = |column: &&str| {
                let found = row.values.iter().find(|(name, _)| name == column);
                found.map_or("", |(_, value)| value.as_str())
            };
            out.write_record(columns.iter().map(value)).map_err(Failure::usage)?;
        }
        out.into_inner().map_err(Failure::usage)
    }
}
