//! Tables for papers.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct Latex;

impl Format<Reports> for Latex {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".tex"]
    }

    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        Some(("latex", "Tables for papers, to be read by \\input"))
    }

    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, result.render_document().render_latex().as_bytes())
    }
}
