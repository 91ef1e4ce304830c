//! Checks that a log can distinguish policies, and that the simulated machine resembles the one
//! that wrote it.

use crate::output::number::{TimeUnit, format_duration, format_plural};
use drystone::log::swf::SwfRecord;
use drystone::metrics::Report;
use serde::Serialize;

/// Waits up to this many seconds are hardly any.
const AT_ONCE: f64 = 60.0;
/// Ratio of two mean waits from which they are far apart.
const FAR: f64 = 1.5;
/// Differences up to this many seconds are small whatever their ratio.
const SMALL: f64 = 300.0;
/// Least share of jobs whose recorded wait must be known.
const KNOWN: f64 = 0.9;

/// The waits that the log recorded.
#[derive(Clone, Copy, PartialEq, Serialize, Debug)]
pub(super) struct RecordedWaits {
    /// Jobs whose wait the log says.
    pub(super) jobs: u64,
    /// Their mean, in seconds.
    pub(super) wait_mean: f64,
}

impl RecordedWaits {
    /// `None` where the log says too little: fewer than nine of ten waits.
    pub(super) fn from_records(records: &[SwfRecord]) -> Option<RecordedWaits> {
        let waits = || records.iter().map(|record| record.wait.as_f64()).filter(|&wait| wait >= 0.0);
        let jobs = waits().count();
        let enough = jobs > 0 && jobs as f64 >= KNOWN * records.len() as f64;
        enough.then(|| RecordedWaits { jobs: jobs as u64, wait_mean: waits().sum::<f64>() / jobs as f64 })
    }

    /// Both waits, for the settings of a result.
    pub(super) fn format_fact(&self, baseline: &str, report: &Report) -> String {
        let simulated_wait = report.measures.wait.mean.map_or_else(|| "none".to_string(), format_duration);
        format!(
            "{} on average over {}; simulated {baseline}: {simulated_wait}",
            format_duration(self.wait_mean),
            format_plural(self.jobs, "job")
        )
    }

    /// Returns the warning if the two are far apart.
    pub(super) fn distance_warning(&self, baseline: &str, report: &Report) -> Option<String> {
        let simulated_wait = report.measures.wait.mean?;
        let (less, more) = (simulated_wait.min(self.wait_mean), simulated_wait.max(self.wait_mean));
        let in_unit = TimeUnit::for_seconds(more);
        (more > FAR * less && more - less > SMALL).then(|| {
            format!(
                "{baseline} does not reproduce this log: recorded mean wait {} {unit}, simulated {} {unit}. Check with your own \
                 accounting (drystone fidelity).",
                in_unit.format_seconds(Some(self.wait_mean)),
                in_unit.format_seconds(Some(simulated_wait)),
                unit = in_unit.name()
            )
        })
    }
}

/// Returns the warning if hardly any job waits under the baseline.
pub(super) fn nothing_to_decide(baseline: &str, report: &Report) -> Option<String> {
    let wait = report.measures.wait.p95.filter(|&wait| wait < AT_ONCE)?;
    let share = if wait > 0.0 { "within a minute" } else { "at once" };
    Some(format!(
        "Hardly any job waits: under {baseline} at least 95 of 100 jobs start {share}. This log cannot tell policies apart."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::log::swf::SwfDecimal;

    fn records(waits: &[i64]) -> Vec<SwfRecord> {
        waits.iter().map(|&wait| SwfRecord { wait: wait.into(), ..SwfRecord::default() }).collect()
    }

    #[test]
    fn waits_count_where_nearly_all_are_known() {
        assert_eq!(SwfDecimal::UNKNOWN.as_f64(), -1.0);
        assert_eq!(RecordedWaits::from_records(&[]), None);
        assert_eq!(RecordedWaits::from_records(&records(&[-1, -1, 30])), None);
        assert_eq!(
            RecordedWaits::from_records(&records(&[0, 30, 60])),
            Some(RecordedWaits { jobs: 3, wait_mean: 30.0 })
        );
        let mostly = [&[-1][..], &[100; 9]].concat();
        assert_eq!(RecordedWaits::from_records(&records(&mostly)), Some(RecordedWaits { jobs: 9, wait_mean: 100.0 }));
    }
}
