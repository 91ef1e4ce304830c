//! Measurements of `run` and `compare`, and the data of plots.

use crate::args::SimulationArgs;
use drystone::metrics::{Config, JobRow, Report, Scheme, Selection};
use drystone::model::Span;
use drystone_report::{Details, Material, Watcher};

/// Returns the choice of measurements, `excessive` waits among it; `detailed` measures what
/// [`details`] takes.
pub(crate) fn config(
    args: &SimulationArgs,
    selection: Selection,
    excessive: &[Span],
    keep_jobs: bool,
    detailed: bool,
) -> Config {
    let mut categories = args.by.clone();
    if detailed {
        categories.extend(DETAILED.iter().filter(|s| !args.by.contains(s)));
    }
    Config {
        selection,
        categories,
        category_percentiles: true,
        excessive: excessive.to_vec(),
        keep_jobs: keep_jobs || detailed,
        ..Config::default()
    }
}

/// Categories of jobs in plots.
const DETAILED: [Scheme; 2] = [Scheme::Chiang, Scheme::User];

/// Returns the data of plots from a report and observations. Takes out of the report the categories
/// that only plots need, and leaves its rows.
pub(crate) fn details(
    args: &SimulationArgs,
    report: &mut Report,
    (baseline, batch): (Option<&[JobRow]>, usize),
    watched: Option<Watcher>,
) -> Details {
    let find = |scheme: Scheme| report.categories.iter().find(|c| c.scheme == scheme);
    let material = Material {
        rows: report.jobs.as_deref().unwrap_or(&[]),
        baseline,
        batch,
        classes: find(Scheme::Chiang),
        users: find(Scheme::User),
    };
    let details = Details::of(material, watched);
    report.categories.retain(|c| args.by.contains(&c.scheme));
    details
}
