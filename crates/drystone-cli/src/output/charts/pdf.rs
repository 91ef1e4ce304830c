//! Lines and outlines of text on a page of the size of the chart, for LaTeX.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct Pdf;

impl Format<Charts> for Pdf {
    fn endings(&self) -> &'static [&'static str] {
        &[".pdf"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw(chart.colour, width, height).map_err(CommandFailure::usage)?;
        put(out, &drawing.pdf().map_err(CommandFailure::usage)?)
    }
}
