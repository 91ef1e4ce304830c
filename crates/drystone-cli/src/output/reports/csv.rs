//! A header and rows of figures.

use super::{Printable, Reports};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};
use crate::output::message;

pub(super) struct Csv;

impl Format<Reports> for Csv {
    fn endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("csv", "A header and rows of figures: one per policy, predictor, cell or other subject"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut Output) -> Result<(), Failure> {
        if let Some(left_out) = result.beyond_rows() {
            let others = "--format table, markdown or json have them";
            message::note(&format!("CSV has a row per policy and none for {left_out}: {others}"));
        }
        put(out, &result.rows().csv()?)
    }
}
