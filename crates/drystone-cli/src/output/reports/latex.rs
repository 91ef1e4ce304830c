//! Tables for papers.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct Latex;

impl Format<Reports> for Latex {
    fn endings(&self) -> &'static [&'static str] {
        &[".tex"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("latex", "Tables for papers, to be read by \\input"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, result.document().latex().as_bytes())
    }
}
