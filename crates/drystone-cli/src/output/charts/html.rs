//! A page to zoom and hover.

use super::{Chart, Charts};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct HtmlChart;

impl Format<Charts> for HtmlChart {
    fn endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn write(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, chart.gantt.page(chart.colour).as_bytes())
    }
}
