//! The data of a chart.

use super::{Chart, Charts};
use crate::exit::CommandFailure;
use crate::output;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put_bytes};

pub(super) struct JsonChart;

impl Format<Charts> for JsonChart {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn write_to(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        put_bytes(out, &output::render_json(chart.gantt)?)
    }
}
