//! Lines and outlines of text on a page of the size of the chart, for LaTeX.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct Pdf;

impl Format<Charts> for Pdf {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".pdf"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw_chart(chart.colour, width, height).map_err(CommandFailure::usage_error)?;
        put_bytes(out, &drawing.pdf_page().map_err(CommandFailure::usage_error)?)
    }
}
