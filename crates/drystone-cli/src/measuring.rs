//! Measurements of `run` and `compare`, and the data of plots.

use crate::args::SimulationArgs;
use drystone::metrics::{JobRow, JobSelection, MetricsConfig, Report, Scheme};
use drystone::model::Span;
use drystone_report::{Material, PlotDetails, Watcher};

/// Returns the choice of measurements, `excessive` waits among it; `detailed` measures what
/// [`plot_details`] takes.
pub(crate) fn metrics_config(
    args: &SimulationArgs,
    selection: JobSelection,
    excessive: &[Span],
    keep_jobs: bool,
    is_detailed: bool,
) -> MetricsConfig {
    let mut categories = args.by.clone();
    if is_detailed {
        categories.extend(DETAILED.iter().filter(|s| !args.by.contains(s)));
    }
    MetricsConfig {
        selection,
        categories,
        category_percentiles: true,
        excessive: excessive.to_vec(),
        keep_jobs: keep_jobs || is_detailed,
        ..MetricsConfig::default()
    }
}

/// Categories of jobs in plots.
const DETAILED: [Scheme; 2] = [Scheme::Chiang, Scheme::User];

/// Returns the data of plots from a report and observations. Takes out of the report the categories
/// that only plots need, and leaves its rows.
pub(crate) fn plot_details(
    args: &SimulationArgs,
    report: &mut Report,
    (baseline, batch): (Option<&[JobRow]>, usize),
    watcher: Option<Watcher>,
) -> PlotDetails {
    let find = |scheme: Scheme| report.categories.iter().find(|c| c.scheme == scheme);
    let material = Material {
        rows: report.jobs.as_deref().unwrap_or(&[]),
        baseline,
        batch,
        classes: find(Scheme::Chiang),
        users: find(Scheme::User),
    };
    let mut details = PlotDetails::from_material(material, watcher);
    details.power = report.sizes.as_mut().and_then(|sizes| sizes.timeline.take());
    report.categories.retain(|c| args.by.contains(&c.scheme));
    details
}
