//! Everything that is written: documents for people, data for programs, files that appear whole or
//! not at all.

pub(crate) mod charts;
mod columnar;
pub(crate) mod columns;
pub(crate) mod csv_metadata;
pub(crate) mod document;
pub(crate) mod excess;
#[cfg(feature = "sweep")]
pub(crate) mod exports;
pub(crate) mod file;
pub(crate) mod flat;
pub(crate) mod format;
pub(crate) mod logs;
pub(crate) mod message;
pub(crate) mod plots;
pub(crate) mod report;
pub(crate) mod reports;
pub(crate) mod schedules;
pub(crate) mod stdout;

pub(crate) use drystone_report::number;
#[cfg(feature = "parquet")]
pub(crate) use logs::LOG_COLUMNS;
pub(crate) use reports::{Printable, ReportFile, ReportFormat, print_result};

use crate::exit::CommandFailure;
use document::Document;
use serde::Serialize;

/// Pretty JSON with a line end.
pub(crate) fn render_json(value: &impl Serialize) -> Result<Vec<u8>, CommandFailure> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(CommandFailure::usage_error)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Prints a short document on the standard output, in eighty columns at most.
pub(crate) fn print_overview(document: &Document) -> Result<(), CommandFailure> {
    stdout::write_bytes(document::on_stdout_within(document, reports::COLUMNS).as_bytes())
}

/// Prints lines on the standard output, in eighty columns at most. What does not fit goes on below
/// the text behind a line's date or blanks.
pub(crate) fn print_story(text: &str) -> Result<(), CommandFailure> {
    stdout::write_bytes(drystone_report::document::fill_story(text, reports::COLUMNS).as_bytes())
}

/// Prints a document on the standard output, styled and fitted where that is a terminal.
pub(crate) fn print_document(document: &Document) -> Result<(), CommandFailure> {
    stdout::write_bytes(document::on_stdout(document).as_bytes())
}
