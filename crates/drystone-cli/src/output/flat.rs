//! Results as rows of CSV.

use crate::exit::CommandFailure;

/// Rows of named values, each row with the same columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlatRows {
    /// Columns that there are in any case.
    columns: Vec<String>,
    rows: Vec<FlatRow>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FlatRow {
    values: Vec<(String, String)>,
}

impl FlatRow {
    /// This row, and to its right another.
    pub(crate) fn followed_by(mut self, right: FlatRow) -> FlatRow {
        self.values.extend(right.values);
        self
    }

    pub(crate) fn add_text(&mut self, name: impl Into<String>, value: impl ToString) {
        self.values.push((name.into(), value.to_string()));
    }

    /// Adds a number; empty where there is none.
    pub(crate) fn add_number(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.values.push((name.into(), value.map_or_else(String::new, |v| v.to_string())));
    }
}

impl FlatRows {
    /// Returns an empty table with these columns first.
    #[cfg(any(feature = "live", feature = "sweep"))]
    pub(crate) fn with_columns(columns: impl IntoIterator<Item = String>) -> FlatRows {
        FlatRows { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: FlatRow) {
        self.rows.push(row);
    }

    /// Names and values of each row.
    pub(crate) fn into_rows(self) -> Vec<Vec<(String, String)>> {
        self.rows.into_iter().map(|row| row.values).collect()
    }

    /// As CSV with a header line. Columns that a row lacks are empty.
    pub(crate) fn render_csv(&self) -> Result<Vec<u8>, CommandFailure> {
        let mut columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        for row in &self.rows {
            for (name, _) in &row.values {
                if !columns.contains(&name.as_str()) {
                    columns.push(name);
                }
            }
        }
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(&columns).map_err(CommandFailure::usage_error)?;
        for row in &self.rows {
            let value = |column: &&str| {
                let cell = row.values.iter().find(|(name, _)| name == column);
                cell.map_or("", |(_, value)| value.as_str())
            };
            out.write_record(columns.iter().map(value)).map_err(CommandFailure::usage_error)?;
        }
        out.into_inner().map_err(CommandFailure::usage_error)
    }
}
