//! The data of a chart.

use super::{Chart, Charts};
use crate::exit::CommandFailure;
use crate::output;
use crate::output::file::OutputFile;
use crate::output::format::{Format, put};

pub(super) struct JsonChart;

impl Format<Charts> for JsonChart {
    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn write(&self, chart: &Chart<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        put(out, &output::json(chart.gantt)?)
    }
}
