//! Lines and text, for papers.

use super::{Chart, Charts, MISSING};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct Svg;

impl Format<Charts> for Svg {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".svg"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let (width, height) = chart.pixels;
        let drawing = chart.gantt.draw_chart(chart.colour, width, height).map_err(CommandFailure::usage_error)?;
        put_bytes(out, drawing.svg_file().as_bytes())
    }
}
