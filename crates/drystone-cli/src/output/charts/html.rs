//! A page to zoom and hover.

use super::{Chart, Charts};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct HtmlChart;

impl Format<Charts> for HtmlChart {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn write_to(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, chart.gantt.render_page(chart.colour).as_bytes())
    }
}
