//! A page with plots: for files, not for the standard output.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits, put};

pub(super) struct HtmlReport;

impl Format<Reports> for HtmlReport {
    fn endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn traits(&self) -> FormatTraits {
        FormatTraits { has_plots: true, ..FormatTraits::default() }
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, result.page()?.as_bytes())
    }
}
