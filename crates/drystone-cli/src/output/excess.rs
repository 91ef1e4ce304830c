//! Excessive waits (`--excess`): beyond which thresholds, and how they are shown.

use super::document::DocumentTable;
use super::number::{fixed_or, format_count, format_duration, format_percent, format_plural};
use crate::exit::CommandFailure;
use drystone::metrics::{Report, Threshold};
use drystone::model::Span;

/// The thresholds in seconds, where nothing needs a baseline.
pub(crate) fn fixed_thresholds(thresholds: &[Threshold]) -> Result<Vec<Span>, CommandFailure> {
    thresholds
        .iter()
        .map(|threshold| {
            threshold.resolve_seconds(None).ok_or_else(|| {
                CommandFailure::usage_error(format!(
                    "--excess {threshold}: a single policy has no baseline; give seconds, or use `compare`"
                ))
            })
        })
        .collect()
}

pub(crate) fn need_baseline(thresholds: &[Threshold]) -> bool {
    thresholds.iter().any(|threshold| threshold.resolve_seconds(None).is_none())
}

/// Returns the thresholds relative to a baseline. Where it has no job that counts, there are none.
pub(crate) fn relative_thresholds(thresholds: &[Threshold], baseline: Option<&Report>) -> Vec<Span> {
    thresholds.iter().filter_map(|threshold| threshold.resolve_seconds(baseline)).collect()
}

/// A fact for each threshold.
pub(crate) fn excess_facts(report: &Report) -> Vec<(String, String)> {
    let fact = |e: &drystone::metrics::ExcessiveWait| {
        let waits = match e.mean {
            None => "no job".to_string(),
            Some(mean) => format!(
                "{}, {} of those that count, by {} on average, {} in all",
                format_plural(e.count, "job"),
                format_percent(Some(e.count as f64 / report.trimmed.kept as f64), 1),
                format_duration(mean),
                format_duration(e.total)
            ),
        };
        (format!("waits beyond {}", format_duration(e.threshold.as_f64())), waits)
    };
    report.excessive.iter().map(fact).collect()
}

/// A table for each threshold: its heading, and a row for each policy.
pub(crate) fn excess_tables(results: &[(&str, &Report)]) -> Vec<(String, DocumentTable)> {
    let Some((_, first)) = results.first() else { return Vec::new() };
    let table = |at: usize| {
        let mut table = DocumentTable::new(["policy", "jobs", "of those that count", "total, h", "mean, h"]);
        for (policy, report) in results {
            let (e, kept_jobs) = (&report.excessive[at], report.trimmed.kept);
            let hours = |seconds: Option<f64>| fixed_or(seconds.map(|s| s / 3600.0), 1);
            let share = (kept_jobs > 0).then(|| e.count as f64 / kept_jobs as f64);
            let row = [
                (*policy).to_string(),
                format_count(e.count),
                format_percent(share, 1),
                hours(Some(e.total)),
                hours(e.mean),
            ];
            table.add_row(row.into_iter().map(Into::into).collect());
        }
        (format!("Waits beyond {}", format_duration(first.excessive[at].threshold.as_f64())), table)
    };
    (0..first.excessive.len()).map(table).collect()
}
