//! The result of a comparison, as it is written.

use super::choices::{RoleChoices, find_change};
use super::readings::Readings;
use super::recorded::RecordedWaits;
use super::replay::JobReplay;
use crate::commands::headroom::bracket::Bracket;
use crate::meta::{ExperimentMeta, WorkloadMeta};
use crate::output::number::format_count;
use crate::output::report;
use crate::wait_conditions::HeldWaits;
use drystone::metrics::{Comparison, Measure, Metric, MetricChange, MetricVerdict, SlowdownRatios};
use drystone_report::{ComparisonSummary, LoadPoint, PolicyResult};
use serde::Serialize;

/// The parts of the table of figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FigureSection {
    /// A site can choose it.
    Choice,
    /// Its mean wait is clearly worse than the baseline's.
    Worse,
    /// Its longest wait is many times the baseline's.
    LongestWait,
    /// It knows run times, or suspends jobs without being asked for.
    Reference,
}

#[derive(Serialize)]
pub(super) struct CompareResult {
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) experiment: ExperimentMeta,
    pub(super) baseline: String,
    pub(super) verdict: Vec<String>,
    /// True if the policies were named by the user.
    #[serde(skip)]
    pub(super) asked: bool,
    /// True if `--details` asks for every table.
    #[serde(skip)]
    pub(super) whole: bool,
    /// True if the workload is the built-in example.
    #[serde(skip)]
    pub(super) example: bool,
    /// The sheet that a committee reads first.
    pub(super) summary: ComparisonSummary,
    /// Sensitivity to the treatment of jobs that outlive their estimates, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) readings: Option<Readings>,
    /// The waits that the log recorded, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<RecordedWaits>,
    /// Parts of the waiting in which jobs were held back, where they share limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<HeldWaits>,
    /// The path of the site or log, for commands that go on with it.
    #[serde(skip)]
    pub(super) path: String,
    /// Distance of the simulated baseline from the site's records, if it is a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<JobReplay>,
    /// Distance of the policies from the best possible, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headroom: Option<Bracket>,
    /// Policies that were not tried, or not to the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) not_tried: Vec<String>,
    pub(super) comparison: Comparison,
    pub(super) results: Vec<PolicyResult>,
    /// Results of every policy at other loads, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) loads: Vec<LoadPoint>,
    /// Ratios of slowdowns of every policy but the baseline; `details` of JSON hold them as well.
    #[serde(skip)]
    pub(super) ratios: Vec<(String, SlowdownRatios)>,
}

impl CompareResult {
    /// The published study that is followed, if there is one.
    pub(super) fn study(&self) -> Option<&str> {
        self.experiment.study.as_ref().map(|study| study.name.as_str())
    }

    /// The ratios of slowdowns of a policy; `None` for the baseline.
    pub(super) fn ratios_of(&self, policy: &str) -> Option<&SlowdownRatios> {
        self.ratios.iter().find(|(name, _)| name == policy).map(|(_, ratios)| ratios)
    }

    /// Describes what jobs wait for beside the machine.
    pub(super) fn held_back(&self) -> Option<String> {
        self.held.as_ref()?.format_sentence(&self.path)
    }

    pub(super) fn find_policy(&self, policy: &str) -> Option<&PolicyResult> {
        self.results.iter().find(|policy_result| policy_result.policy.text == policy)
    }

    /// The changes of a policy; `None` for the baseline.
    pub(super) fn policy_changes(&self, policy: &str) -> Option<&[MetricChange]> {
        self.comparison.policies.iter().find(|c| c.name == policy).map(|c| c.changes.as_slice())
    }

    /// The part of the table of figures in which a policy is shown.
    pub(super) fn figure_section(&self, policy_result: &PolicyResult) -> FigureSection {
        let name = policy_result.policy.text.as_str();
        if name == self.baseline {
            return FigureSection::Choice;
        }
        let choices = RoleChoices::from_comparison(&self.comparison, &self.results, self.asked);
        let wait = self.policy_changes(name).and_then(|changes| find_change(changes, Metric::Mean(Measure::Wait)));
        match () {
            () if policy_result.policy.clairvoyant || !choices.has_policy(name) => FigureSection::Reference,
            () if !choices.is_apart(name) => FigureSection::Choice,
            () if wait.is_some_and(|change| change.verdict == MetricVerdict::Worse) => FigureSection::Worse,
            () => FigureSection::LongestWait,
        }
    }

    /// Describes the number of jobs that count. Which jobs are trimmed may depend on the policy:
    /// then each is measured over jobs of its own.
    pub(super) fn describe_counted_jobs(&self) -> Option<String> {
        let first = &self.results.first()?.report;
        let same = self.results.iter().all(|r| r.report.trimmed == first.trimmed);
        let kept_counts = || self.results.iter().map(|r| r.report.trimmed.kept);
        Some(match (same, kept_counts().min(), kept_counts().max()) {
            (false, Some(least), Some(most)) => {
                let seen_count = format_count(first.trimmed.seen);
                format!(
                    "{} to {} of {seen_count}, under each policy those that its schedule leaves",
                    format_count(least),
                    format_count(most)
                )
            }
            _ => report::describe_counted_jobs(first),
        })
    }
}
