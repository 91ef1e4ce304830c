//! The result of a comparison, as it is written.

use crate::meta::{ExperimentMeta, PolicyMeta, WorkloadMeta};
use crate::output::number::count;
use crate::output::report::{self, Timing};
use drystone::metrics::{Change, Comparison, PromisesKept, Report};
use drystone_report::{Details, LoadPoint};
use serde::Serialize;

/// The result of a comparison.
#[derive(Serialize)]
pub(super) struct CompareResult {
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) experiment: ExperimentMeta,
    pub(super) baseline: String,
    pub(super) verdict: Vec<String>,
    /// The same in fewer words, for `--brief`.
    #[serde(skip)]
    pub(super) brief_verdict: Vec<String>,
    pub(super) comparison: Comparison,
    pub(super) results: Vec<PolicyResult>,
    /// How every policy fares at other loads, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) loads: Vec<LoadPoint>,
}

/// The result of one policy.
#[derive(Serialize)]
pub(super) struct PolicyResult {
    pub(super) policy: PolicyMeta,
    pub(super) promises: PromisesKept,
    pub(super) report: Report,
    /// What plots need, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Details>,
    /// Where it was asked for. Differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timing: Option<Timing>,
}

impl CompareResult {
    /// The changes of a policy; `None` for the baseline.
    pub(super) fn changes(&self, policy: &str) -> Option<&[Change]> {
        self.comparison.policies.iter().find(|c| c.name == policy).map(|c| c.changes.as_slice())
    }

    /// How many jobs count. Who is trimmed away may depend on the policy: then each is measured over jobs of its own.
    pub(super) fn counted(&self) -> Option<String> {
        let first = &self.results.first()?.report;
        let same = self.results.iter().all(|r| r.report.trimmed == first.trimmed);
        let kept = || self.results.iter().map(|r| r.report.trimmed.kept);
        Some(match (same, kept().min(), kept().max()) {
            (false, Some(least), Some(most)) => {
                let seen = count(first.trimmed.seen);
                format!(
                    "{} to {} of {seen}, under each policy those that its schedule leaves",
                    count(least),
                    count(most)
                )
            }
            _ => report::counted(first),
        })
    }
}
