//! Aligned tables, for people.

use super::{COLUMNS, Printable, Reports};
use crate::exit::Failure;
use crate::output::document::{on_stdout, on_stdout_within};
use crate::output::file::Output;
use crate::output::format::{Format, Traits, put};

pub(super) struct Table;

impl Format<Reports> for Table {
    fn endings(&self) -> &'static [&'static str] {
        &[".txt"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("table", "Aligned tables, for people"))
    }

    fn traits(&self) -> Traits {
        Traits { for_people: true, ..Traits::default() }
    }

    /// Styled and fitted where it goes to a terminal.
    fn write(&self, result: &(dyn Printable + '_), out: &mut Output) -> Result<(), Failure> {
        let text = match result.overview().filter(|_| out.is_stdout()) {
            Some(short) => on_stdout_within(&short, COLUMNS),
            None if out.is_stdout() => on_stdout(&result.document()),
            None => super::text(result),
        };
        put(out, text.as_bytes())
    }
}
