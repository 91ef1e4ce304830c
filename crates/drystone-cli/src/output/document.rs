//! Documents on the standard output.

use super::stdout;

pub(crate) use drystone_report::document::{Document, DocumentTable, TableValue, Tone};

/// A document as broad as the terminal, coloured if it may be.
pub(crate) fn on_stdout(document: &Document) -> String {
    document.render_text(stdout::terminal_width(), stdout::is_styled())
}

/// A document no broader than this.
pub(crate) fn on_stdout_within(document: &Document, columns: usize) -> String {
    let width = stdout::terminal_width().map_or(columns, |width| width.min(columns));
    document.render_text(Some(width), stdout::is_styled())
}
