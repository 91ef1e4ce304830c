//! Pixels, two for each unit of width and height.

use super::{Chart, Charts, MISSING};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Png;

impl Format<Charts> for Png {
    fn endings(&self) -> &'static [&'static str] {
        &[".png"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, chart: &Chart<'_>, out: &mut Output) -> Result<(), Failure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw(chart.colour, width, height).map_err(Failure::usage)?;
        put(out, &drawing.png(2.0).map_err(Failure::usage)?)
    }
}
