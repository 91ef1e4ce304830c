//! Lines and text, for papers.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct Svg;

impl Format<Charts> for Svg {
    fn endings(&self) -> &'static [&'static str] {
        &[".svg"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw(chart.colour, width, height).map_err(CommandFailure::usage)?;
        put(out, drawing.file().as_bytes())
    }
}
