//! Aligned tables, for people.

use super::{COLUMNS, Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::document::{on_stdout, on_stdout_within};
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits, put_bytes};

pub(super) struct TableReport;

impl Format<Reports> for TableReport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".txt"]
    }

    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        Some(("table", "Aligned tables, for people"))
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { for_people: true, ..FormatTraits::default() }
    }

    /// Styled and fitted where it goes to a terminal.
    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        let text = match result.render_overview().filter(|_| out.is_stdout()) {
            Some(short) => on_stdout_within(&short, COLUMNS),
            None if out.is_stdout() => on_stdout(&result.render_document()),
            None => super::render_text(result),
        };
        put_bytes(out, text.as_bytes())
    }
}
