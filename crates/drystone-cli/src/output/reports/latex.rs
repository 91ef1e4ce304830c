//! Tables for papers.

use super::{Printable, Reports};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Latex;

impl Format<Reports> for Latex {
    fn endings(&self) -> &'static [&'static str] {
        &[".tex"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("latex", "Tables for papers, to be read by \\input"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut Output) -> Result<(), Failure> {
        put(out, result.document().latex().as_bytes())
    }
}
