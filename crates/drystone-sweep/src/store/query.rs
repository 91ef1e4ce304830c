//! Questions in SQL.

use super::Store;
use crate::error::SweepError;
use rusqlite::types::ValueRef;
use std::path::Path;

#[derive(Clone, PartialEq, Debug)]
pub enum QueryCell {
    /// Nothing.
    Null,
    Int(i64),
    Real(f64),
    Text(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct QueryAnswer {
    /// Names of the columns, no two the same: a second `wait_mean` is `wait_mean_2`.
    pub columns: Vec<String>,
    /// A value per column in each row.
    pub rows: Vec<Vec<QueryCell>>,
}

/// Asks a store a question in SQL, which cannot change it.
///
/// # Errors
/// There is no such store, or the question is no valid SELECT.
pub fn query_store(path: impl AsRef<Path>, sql: &str) -> Result<QueryAnswer, SweepError> {
    let store = Store::open_to_read(path)?;
    let wrong = |e: rusqlite::Error| store.store_error(format!("the query fails: {e}"));
    let mut statement = store.db.prepare(sql).map_err(wrong)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(store.store_error("a query only looks: write SELECT …"));
    }
    let mut columns: Vec<String> = Vec::new();
    for name in statement.column_names() {
        // Columns of one name are distinguished, or formats that address columns by name would lose
        // all but one.
        let variants = (2..).map(|n| format!("{name}_{n}"));
        let free = std::iter::once(name.to_string()).chain(variants).find(|name| !columns.contains(name));
        columns.extend(free);
    }
    let width = columns.len();
    let read_row = |row: &rusqlite::Row<'_>| (0..width).map(|at| Ok(convert_cell(row.get_ref(at)?))).collect();
    let rows = statement.query_map([], read_row).and_then(Iterator::collect).map_err(wrong)?;
    Ok(QueryAnswer { columns, rows })
}

fn convert_cell(value: ValueRef<'_>) -> QueryCell {
    match value {
        ValueRef::Null => QueryCell::Null,
        ValueRef::Integer(value) => QueryCell::Int(value),
        ValueRef::Real(value) => QueryCell::Real(value),
        ValueRef::Text(text) => QueryCell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => QueryCell::Text(format!("{} bytes", bytes.len())),
    }
}
