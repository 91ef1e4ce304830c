//! The metrics that tables of policies and of categories show, in the units that people read.

use super::number::{fixed_or, format_hours, format_minutes};
use drystone::metrics::{Measure, Metric};

pub(crate) struct TextColumn {
    head: &'static str,
    pub(crate) metric: Metric,
    pub(crate) show: fn(Option<f64>) -> String,
    /// True if the best value is highlighted.
    pub(crate) best: bool,
    /// True if it means nothing without the column before it.
    beside: bool,
}

const fn first_column(head: &'static str, metric: Metric, show: fn(Option<f64>) -> String) -> TextColumn {
    TextColumn { head, metric, show, best: true, beside: false }
}

const fn further_column(head: &'static str, metric: Metric, show: fn(Option<f64>) -> String, best: bool) -> TextColumn {
    TextColumn { head, metric, show, best, beside: true }
}

/// Waits, responses and slowdowns at a glance: after each mean what else is said of the measure.
const fn overview_columns(name: &'static str, slowdown: Measure) -> [TextColumn; 8] {
    [
        first_column("wait, min", Metric::Mean(Measure::Wait), format_minutes),
        further_column("p95", Metric::P95(Measure::Wait), format_minutes, true),
        further_column("max, h", Metric::Max(Measure::Wait), format_hours, true),
        first_column("response, min", Metric::Mean(Measure::Response), format_minutes),
        first_column(name, Metric::Mean(slowdown), |value| fixed_or(value, 2)),
        further_column("median", Metric::Median(slowdown), |value| fixed_or(value, 2), false),
        further_column("p95", Metric::P95(slowdown), |value| fixed_or(value, 1), false),
        further_column("max", Metric::Max(slowdown), |value| fixed_or(value, 0), true),
    ]
}

/// The columns with slowdowns bounded at 10 s.
pub(crate) const OVERVIEW: [TextColumn; 8] = overview_columns("bounded slowdown", Measure::BoundedSlowdown);

/// The columns with the slowdown that a published study has, by the study's name.
pub(crate) fn study_columns(study: Option<&str>) -> [TextColumn; 8] {
    let (name, slowdown) = study_slowdown(study);
    overview_columns(name, slowdown)
}

/// The slowdown that a published study has, and its name: plain with Lawson et al., bounded at 60 s
/// with Chiang & Vasupongayya.
pub(crate) fn study_slowdown(study: Option<&str>) -> (&'static str, Measure) {
    match study {
        Some("lawson2002") => ("slowdown", Measure::Slowdown),
        Some("chiang2008") => ("slowdown, 60 s", Measure::BoundedSlowdownChiang),
        _ => ("bounded slowdown", Measure::BoundedSlowdown),
    }
}

/// The heads of a table that begins with these and goes on with some columns, and which of all stay
/// beside the one before.
pub(crate) fn table_heads(begin: &[&'static str], columns: &[TextColumn]) -> (Vec<&'static str>, Vec<usize>) {
    let heads = begin.iter().copied().chain(columns.iter().map(|column| column.head)).collect();
    let beside = (begin.len()..).zip(columns).filter(|(_, column)| column.beside).map(|(at, _)| at).collect();
    (heads, beside)
}
