//! A page with plots: for files, not for the standard output.

use super::{Printable, Reports};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, Traits, put};

pub(super) struct Html;

impl Format<Reports> for Html {
    fn endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn traits(&self) -> Traits {
        Traits { has_plots: true, ..Traits::default() }
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut Output) -> Result<(), Failure> {
        put(out, result.page()?.as_bytes())
    }
}
