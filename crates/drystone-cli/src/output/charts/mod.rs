//! Charts of schedules: one file per format.

mod html;
mod json;
mod pdf;
mod png;
mod svg;

use super::format::{Format, WrittenKind};
use drystone_report::{Colour, Gantt};

/// The feature that this build lacks to draw files.
pub(crate) const MISSING: Option<&str> = if cfg!(feature = "charts") { None } else { Some("charts") };

/// A schedule, and how it is drawn.
pub(crate) struct Chart<'a> {
    pub(crate) gantt: &'a Gantt,
    pub(crate) colour: Colour,
    /// Width and height.
    pub(crate) pixels: (u32, u32),
}

pub(crate) struct Charts;

impl WrittenKind for Charts {
    type Of<'a> = Chart<'a>;

    const HOW: &'static str = "how to draw the chart";

    fn formats() -> &'static [&'static dyn Format<Charts>] {
        &[&html::HtmlChart, &svg::Svg, &pdf::Pdf, &png::Png, &json::JsonChart]
    }
}
