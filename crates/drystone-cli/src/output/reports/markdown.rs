//! Tables for documents.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct Markdown;

impl Format<Reports> for Markdown {
    fn endings(&self) -> &'static [&'static str] {
        &[".md"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("markdown", "Tables for documents"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, result.document().markdown().as_bytes())
    }
}
