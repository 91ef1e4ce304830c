//! A header and rows of figures.

use super::{Printable, Reports};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};
use crate::output::message;

pub(super) struct CsvReport;

impl Format<Reports> for CsvReport {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        Some(("csv", "A header and rows of figures: one per policy, predictor, cell or other subject"))
    }

    fn write_to(&self, result: &(dyn Printable + '_), out: &mut OutputFile) -> Result<(), CommandFailure> {
        if let Some(left_out) = result.beyond_rows() {
            let alternatives = "--format table, markdown or json have them";
            message::print_note(&format!("CSV has no rows for {left_out}: {alternatives}"));
        }
        put_bytes(out, &result.render_rows().render_csv()?)
    }
}
