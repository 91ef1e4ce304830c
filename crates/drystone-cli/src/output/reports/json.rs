//! One JSON object with everything.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct JsonReport;

impl Format<Reports> for JsonReport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        Some(("json", "One object with everything"))
    }

    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, &result.render_json()?)
    }
}
