//! Aligned tables, for people.

use super::{COLUMNS, Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::document::{on_stdout, on_stdout_within};
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits, put};

pub(super) struct TableReport;

impl Format<Reports> for TableReport {
    fn endings(&self) -> &'static [&'static str] {
        &[".txt"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("table", "Aligned tables, for people"))
    }

    fn traits(&self) -> FormatTraits {
        FormatTraits { for_people: true, ..FormatTraits::default() }
    }

    /// Styled and fitted where it goes to a terminal.
    fn write(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        let text = match result.overview().filter(|_| out.is_stdout()) {
            Some(short) => on_stdout_within(&short, COLUMNS),
            None if out.is_stdout() => on_stdout(&result.document()),
            None => super::text(result),
        };
        put(out, text.as_bytes())
    }
}
