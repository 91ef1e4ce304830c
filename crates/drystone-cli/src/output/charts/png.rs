//! Pixels, two for each unit of width and height.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct Png;

impl Format<Charts> for Png {
    fn endings(&self) -> &'static [&'static str] {
        &[".png"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw(chart.colour, width, height).map_err(CommandFailure::usage)?;
        put(out, &drawing.png(2.0).map_err(CommandFailure::usage)?)
    }
}
