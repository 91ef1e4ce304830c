//! Tables for documents.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct Markdown;

impl Format<Reports> for Markdown {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".md"]
    }

    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        Some(("markdown", "Tables for documents"))
    }

    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, result.render_document().render_markdown().as_bytes())
    }
}
