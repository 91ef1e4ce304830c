//! Comparisons of policies that know noise from improvement.

use super::catalogue::Metric;
use super::interval::{LEAST_PERIODS, PeriodSum, Sureness, change_interval};
use super::measures::Measure;
use super::report::{MeasuredWeek, Report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Fewer weeks than this tell nothing about the variation between weeks.
pub const LEAST_WEEKS: usize = LEAST_PERIODS;

/// Options of intervals.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct IntervalOptions {
    /// Probability that an interval covers the true change, e.g. 0.95.
    pub confidence: f64,
}

impl Default for IntervalOptions {
    /// 95 %.
    fn default() -> Self {
        IntervalOptions { confidence: 0.95 }
    }
}

/// Verdict on a policy against the baseline by one metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricVerdict {
    /// The whole interval is on the better side of no change.
    Better,
    /// The whole interval is on the worse side of no change.
    Worse,
    /// Equal in every week, as of policies with the same schedule: there is no difference to be
    /// noise.
    Same,
    /// The interval contains no change: the difference may be noise.
    Unclear,
    /// The interval is on one side of no change, but the difference is no larger than the error of
    /// the simulation against what was recorded.
    InsideReplayError,
    /// No interval: the metric is not a mean over jobs.
    NotAMean,
    /// No interval: fewer than [`LEAST_WEEKS`] weeks, too few in which jobs wait, or weeks so
    /// unlike that nothing can be said; or sums per week were not kept.
    TooFewWeeks,
    /// No interval: the baseline's value is 0 or absent, or the policy's value is absent.
    NoRatio,
}

/// The change of one metric from the baseline to a policy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct MetricChange {
    /// Metric compared.
    pub metric: Metric,
    /// The baseline's value.
    pub baseline: Option<f64>,
    /// The policy's value.
    pub value: Option<f64>,
    /// value / baseline − 1; 0 where both are 0; `None` where only the baseline is 0 or one is
    /// absent.
    pub relative: Option<f64>,
    /// Interval for `relative`.
    pub interval: Option<(f64, f64)>,
    /// Verdict from the interval.
    pub verdict: MetricVerdict,
}

/// A policy compared with the baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComparedPolicy {
    /// Name of the policy.
    pub name: String,
    /// One change per metric asked for, in that order.
    pub changes: Vec<MetricChange>,
}

/// Policies compared with a baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the baseline.
    pub baseline: String,
    /// Weeks of submits that the intervals are made from.
    pub weeks: usize,
    /// Options of the intervals.
    pub options: IntervalOptions,
    /// The other policies, in the order given.
    pub policies: Vec<ComparedPolicy>,
}

/// Reason why reports cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No report has the name of the baseline.
    #[error("no result is named '{0}', the baseline")]
    NoBaseline(String),
    /// Two reports have the same name.
    #[error("two results are named '{0}'")]
    SameName(String),
    /// The confidence is not a probability.
    #[error("intervals need a confidence between 0 and 1")]
    BadOptions,
}

/// Compares reports on the same workload with the one named `baseline`.
///
/// Means get an interval from their sums per week of submits, paired week by week
/// ([`change_interval`]). Every metric is judged by itself: of 20 verdicts on pure noise one is
/// expected to be wrong.
///
/// Cost: O(policies × metrics × weeks).
///
/// # Errors
/// A baseline that is not among the reports, equal names, impossible options.
pub fn compare(
    reports: &[(&str, &Report)],
    baseline: &str,
    metrics: &[Metric],
    options: IntervalOptions,
) -> Result<Comparison, CompareError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        return Err(CompareError::BadOptions);
    }
    let mut names = BTreeSet::new();
    if let Some((name, _)) = reports.iter().find(|(name, _)| !names.insert(*name)) {
        return Err(CompareError::SameName((*name).to_string()));
    }
    let base = reports
        .iter()
        .find(|(name, _)| *name == baseline)
        .ok_or_else(|| CompareError::NoBaseline(baseline.to_string()))?
        .1;
    // Trimming may leave a week to one policy and not to another: all weeks of all reports take
    // part.
    let weeks: Vec<i64> = reports
        .iter()
        .flat_map(|(_, report)| report.weeks.iter().map(|w| w.week))
        .collect::<BTreeSet<i64>>()
        .into_iter()
        .collect();
    let change = |metric: Metric, report: &Report| {
        let (old, new) = (metric.of(base), metric.of(report));
        let relative = old.zip(new).and_then(|(old, new)| relative(old, new));
        let mut change = MetricChange {
            metric,
            baseline: old,
            value: new,
            relative,
            interval: None,
            verdict: MetricVerdict::NoRatio,
        };
        let Metric::Mean(measure) = metric else {
            change.verdict = MetricVerdict::NotAMean;
            return change;
        };
        if weeks.len() < LEAST_WEEKS {
            change.verdict = MetricVerdict::TooFewWeeks;
            return change;
        }
        if relative.is_some() {
            let (old, new) = (sums(base, &weeks, measure), sums(report, &weeks, measure));
            let sureness = change_interval(&old, &new, options.confidence);
            change.interval = sureness.interval();
            // All these measures are better when lower.
            change.verdict = match sureness {
                _ if same(&old, &new) => MetricVerdict::Same,
                Sureness::Interval(_, high) if high < 0.0 => MetricVerdict::Better,
                Sureness::Interval(low, _) if low > 0.0 => MetricVerdict::Worse,
                Sureness::Interval(..) => MetricVerdict::Unclear,
                Sureness::TooShort => MetricVerdict::TooFewWeeks,
                Sureness::NoRatio => MetricVerdict::NoRatio,
            };
        }
        change
    };
    Ok(Comparison {
        baseline: baseline.to_string(),
        weeks: weeks.len(),
        options,
        policies: reports
            .iter()
            .filter(|(name, _)| *name != baseline)
            .map(|(name, report)| ComparedPolicy {
                name: (*name).to_string(),
                changes: metrics.iter().map(|&m| change(m, report)).collect(),
            })
            .collect(),
    })
}

/// new / old − 1; 0 where both are 0; `None` where only `old` is.
pub(super) fn relative(old: f64, new: f64) -> Option<f64> {
    if old == new { Some(0.0) } else { (old > 0.0).then(|| new / old - 1.0) }
}

/// Returns whether every week has equal sums over as many jobs. PeriodSum of the same numbers in
/// another order differ in the sixteenth digit.
fn same(old: &[PeriodSum], new: &[PeriodSum]) -> bool {
    let alike = |a: &PeriodSum, b: &PeriodSum| a.count == b.count && (a.sum - b.sum).abs() <= 1e-12 * a.sum.max(b.sum);
    old.iter().zip(new).all(|(a, b)| alike(a, b))
}

/// PeriodSum and counts of a measure for each of these weeks; weeks that a report lacks have no
/// job.
fn sums(report: &Report, weeks: &[i64], measure: Measure) -> Vec<PeriodSum> {
    let of = |week: &MeasuredWeek| {
        let (sum, jobs) = week.sum(measure);
        PeriodSum { sum, count: jobs as f64 }
    };
    weeks
        .iter()
        .map(|week| {
            let found = report.weeks.binary_search_by_key(week, |w| w.week);
            found.map_or(PeriodSum::default(), |i| of(&report.weeks[i]))
        })
        .collect()
}
