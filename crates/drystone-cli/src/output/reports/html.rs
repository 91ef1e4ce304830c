//! A page with plots: for files, not for the standard output.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits, put_bytes};

pub(super) struct HtmlReport;

impl Format<Reports> for HtmlReport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { has_plots: true, ..FormatTraits::default() }
    }

    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, result.render_page()?.as_bytes())
    }
}
