//! The data of a chart.

use super::{Chart, Charts};
use crate::exit::Failure;
use crate::output;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Json;

impl Format<Charts> for Json {
    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn write(&self, chart: &Chart<'_>, out: &mut Output) -> Result<(), Failure> {
        put(out, &output::json(chart.gantt)?)
    }
}
