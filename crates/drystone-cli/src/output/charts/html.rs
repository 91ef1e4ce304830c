//! A page to zoom and hover.

use super::{Chart, Charts};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Html;

impl Format<Charts> for Html {
    fn endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn write(&self, chart: &Chart<'_>, out: &mut Output) -> Result<(), Failure> {
        put(out, chart.gantt.page(chart.colour).as_bytes())
    }
}
