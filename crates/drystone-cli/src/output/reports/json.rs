//! One JSON object with everything.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct JsonReport;

impl Format<Reports> for JsonReport {
    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("json", "One object with everything"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, &result.json()?)
    }
}
