//! Pixels, two for each unit of width and height.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct Png;

impl Format<Charts> for Png {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".png"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw_chart(chart.colour, width, height).map_err(CommandFailure::usage_error)?;
        put_bytes(out, &drawing.png_image(2.0).map_err(CommandFailure::usage_error)?)
    }
}
