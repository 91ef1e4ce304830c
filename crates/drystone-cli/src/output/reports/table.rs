//! Aligned tables, for people.

use super::{Printable, Reports};
use crate::exit::Failure;
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
        let document = result.document();
        let text = if out.is_stdout() { document.for_stdout() } else { document.plain() };
        put(out, text.as_bytes())
    }
}
