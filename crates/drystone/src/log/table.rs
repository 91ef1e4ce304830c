//! Small tables that people write: CSV with a line of names, in any order, and errors that point at
//! line and column.

use super::transform;
use crate::model::{Provenance, Time, TimeMove};
use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};
use std::io::Read;
use std::sync::Arc;

/// A table that cannot be read, or says what cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{file}{}: {problem}", describe_place(*line, column.as_ref()))]
pub struct TableError {
    /// The file's name.
    pub file: Arc<str>,
    /// The line, from 1; 0 where it is about the file as a whole.
    pub line: u64,
    /// The column's number, from 1, and its name.
    pub column: Option<(usize, String)>,
    /// The text found, the expected text, and the correction.
    pub problem: String,
}

fn describe_place(line: u64, column: Option<&(usize, String)>) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (_, None) => format!(":{line}"),
        (_, Some((number, name))) => format!(":{line}: column {number} ({name})"),
    }
}

/// A table, read whole.
pub(super) struct LogTable {
    file: Arc<str>,
    /// For each known column its place in the file.
    places: Vec<Option<usize>>,
    names: &'static [&'static str],
    rows: Vec<csv::StringRecord>,
    next: usize,
}

/// One row of it.
pub(super) struct TableRow<'a> {
    table: &'a LogTable,
    fields: &'a csv::StringRecord,
}

impl LogTable {
    /// Reads a table whose columns are among `names`. Lines that begin with `#` are comments.
    pub(super) fn read_table(
        input: impl Read,
        file: &str,
        names: &'static [&'static str],
    ) -> Result<LogTable, TableError> {
        let mut reader =
            csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).flexible(true).from_reader(input);
        let file: Arc<str> = file.into();
        let read_error = |error: &csv::Error| {
            let line = error.position().map_or(0, csv::Position::line);
            TableError { file: file.clone(), line, column: None, problem: format!("cannot be read: {error}") }
        };
        let header = reader.headers().map_err(|e| read_error(&e))?.clone();
        let mut places = vec![None; names.len()];
        for (at, name) in header.iter().enumerate() {
            let column = || Some((at + 1, name.to_string()));
            let error = |problem| TableError { file: file.clone(), line: 1, column: column(), problem };
            let Some(index) = names.iter().position(|candidate| candidate.eq_ignore_ascii_case(name)) else {
                let problem =
                    format!("no such column; the first line names the columns, which are {}", names.join(", "));
                return Err(error(problem));
            };
            if places[index].replace(at).is_some() {
                return Err(error("the column is named twice".to_string()));
            }
        }
        let mut rows = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|e| read_error(&e))?;
            if row.len() != header.len() {
                let (line, problem) = (
                    line_of(&row),
                    format!("{} fields where the first line names {} columns", row.len(), header.len()),
                );
                return Err(TableError { file, line, column: None, problem });
            }
            rows.push(row);
        }
        Ok(LogTable { file, places, names, rows, next: 0 })
    }

    pub(super) fn next(&mut self) -> Option<TableRow<'_>> {
        let fields = self.next;
        self.next += 1;
        let table: &LogTable = self;
        table.rows.get(fields).map(|fields| TableRow { table, fields })
    }

    pub(super) fn has_column(&self, column: &str) -> bool {
        self.find_column(column).is_some()
    }

    fn find_column(&self, column: &str) -> Option<usize> {
        let index = self.names.iter().position(|name| *name == column)?;
        self.places[index]
    }

    pub(super) fn error_at(&self, line: u64, column: &str, problem: impl ToString) -> TableError {
        let column = self.find_column(column).map(|at| (at + 1, column.to_string()));
        TableError { file: self.file.clone(), line, column, problem: problem.to_string() }
    }
}

fn line_of(row: &csv::StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

impl TableRow<'_> {
    /// Its line in the file, from 1.
    pub(super) fn line_number(&self) -> u64 {
        line_of(self.fields)
    }

    /// A field; `None` where it is empty or there is no such column.
    pub(super) fn get(&self, column: &str) -> Option<&str> {
        let text = self.fields.get(self.table.find_column(column)?)?;
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn field_error(&self, column: &str, problem: impl ToString) -> TableError {
        self.table.error_at(self.line_number(), column, problem)
    }

    pub(super) fn require_field(&self, column: &str, expected: &str) -> Result<&str, TableError> {
        self.get(column)
            .ok_or_else(|| self.field_error(column, format!("`{column}` is empty or missing; expected {expected}")))
    }

    /// A whole number.
    pub(super) fn read_number<N: std::str::FromStr>(
        &self,
        column: &str,
        expected: &str,
    ) -> Result<Option<N>, TableError> {
        let wrong = |text: &str| self.field_error(column, format!("`{text}` is none; expected {expected}"));
        self.get(column).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    pub(super) fn read_word<T: Copy>(
        &self,
        column: &str,
        choices: &[T],
        word: fn(T) -> &'static str,
    ) -> Result<Option<T>, TableError> {
        let Some(text) = self.get(column) else { return Ok(None) };
        let value = choices.iter().find(|choice| word(**choice).eq_ignore_ascii_case(text));
        let words = || choices.iter().map(|choice| word(*choice)).collect::<Vec<_>>().join(", ");
        value
            .copied()
            .map(Some)
            .ok_or_else(|| self.field_error(column, format!("`{text}` is unknown; expected one of {}", words())))
    }

    pub(super) fn read_time(&self, column: &str, clock: &LogClock) -> Result<Option<Time>, TableError> {
        self.get(column)
            .map(|text| clock.parse_time(text).map_err(|problem| self.field_error(column, problem)))
            .transpose()
    }
}

/// Reads points in time: whole seconds of the log, or dates where the log knows its calendar. Where
/// the log's times have been moved or divided, these are as well.
pub(super) struct LogClock {
    /// Unix time of the log's own time zero.
    unix_start: Option<i64>,
    zone: TimeZone,
    moves: Vec<TimeMove>,
}

impl LogClock {
    pub(super) fn from_provenance(provenance: &Provenance) -> LogClock {
        let zone = transform::build_calendar(provenance).map_or(TimeZone::UTC, |calendar| calendar.time_zone().clone());
        // A move of time zero has moved the start with it.
        let time_shift: i64 =
            provenance.moves.iter().map(|time_move| if let TimeMove::Earlier(by) = time_move { by.0 } else { 0 }).sum();
        let unix_start = provenance.unix_start.map(|start| start.saturating_sub(time_shift));
        LogClock { unix_start, zone, moves: provenance.moves.clone() }
    }

    fn parse_time(&self, text: &str) -> Result<Time, String> {
        self.of_log(text).map(|time| self.moves.iter().fold(time, |time, time_move| time_move.apply(time)))
    }

    /// Returns a time of the log as it was recorded.
    fn of_log(&self, text: &str) -> Result<Time, String> {
        if let Ok(seconds) = text.parse() {
            return Ok(Time(seconds));
        }
        let moment = text.parse::<Timestamp>().ok().or_else(|| {
            let local: DateTime = text.parse().ok()?;
            local.to_zoned(self.zone.clone()).ok().map(|local_time| local_time.timestamp())
        });
        let Some(moment) = moment else {
            let expectation =
                "expected whole seconds of the log, or a date such as 1997-03-31T06:00:00 in its time zone";
            return Err(format!("`{text}` is no point in time; {expectation}"));
        };
        let start = self.unix_start.ok_or_else(|| {
            format!("`{text}` is a date, and the log's header has no UnixStartTime: give whole seconds of the log")
        })?;
        Ok(Time(moment.as_second() - start))
    }
}
