//! Lines and text, for papers.

use super::{Chart, Charts, MISSING};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Svg;

impl Format<Charts> for Svg {
    fn endings(&self) -> &'static [&'static str] {
        &[".svg"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, chart: &Chart<'_>, out: &mut Output) -> Result<(), Failure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw(chart.colour, width, height).map_err(Failure::usage)?;
        put(out, drawing.file().as_bytes())
    }
}
