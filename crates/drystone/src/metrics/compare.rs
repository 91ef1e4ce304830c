//! Comparisons of policies that know noise from improvement.

use super::bootstrap::{Bootstrap, Sums};
use super::catalogue::Metric;
use super::measures::Measure;
use super::report::{Report, Week};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Fewer weeks than this tell nothing about the variation between weeks.
pub const LEAST_WEEKS: usize = 4;

/// How intervals are found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Options {
    /// Number of times the weeks are drawn.
    pub resamples: u32,
    /// Probability that an interval covers the true change, e.g. 0.95.
    pub confidence: f64,
    /// Seed of the draws. The same seed gives the same intervals everywhere.
    pub seed: u64,
}

impl Default for Options {
    /// 2,000 resamples, 95 %, seed 1.
    fn default() -> Self {
        Options { resamples: 2_000, confidence: 0.95, seed: 1 }
    }
}

/// Whether a policy does better than the baseline by one metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is on the better side of no change.
    Better,
    /// The whole interval is on the worse side of no change.
    Worse,
    /// The same in every week, as of policies with the same schedule: there is no difference to be
    /// noise.
    Same,
    /// The interval contains no change: the difference may be noise.
    Unclear,
    /// The interval is on one side of no change, but the difference is no larger than the error of
    /// the simulation against what was recorded.
    InsideReplayError,
    /// No interval: the metric is not a mean over jobs.
    NotAMean,
    /// No interval: fewer than [`LEAST_WEEKS`] weeks, or sums per week were not kept.
    TooFewWeeks,
    /// No interval: the baseline's value is 0 or absent in the whole or in too many draws, or the
    /// policy's value is absent.
    NoRatio,
}

/// The change of one metric from the baseline to a policy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// Which metric.
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
    /// What that says.
    pub verdict: Verdict,
}

/// A policy compared with the baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compared {
    /// Name of the policy.
    pub name: String,
    /// One change per metric asked for, in that order.
    pub changes: Vec<Change>,
}

/// Policies compared with a baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the baseline.
    pub baseline: String,
    /// Weeks of submits that the intervals draw from.
    pub weeks: usize,
    /// How they were drawn.
    pub options: Options,
    /// The other policies, in the order given.
    pub policies: Vec<Compared>,
}

/// Why reports cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No report has the name of the baseline.
    #[error("no result is named '{0}', the baseline")]
    NoBaseline(String),
    /// Two reports have the same name.
    #[error("two results are named '{0}'")]
    SameName(String),
    /// The confidence is not a probability, or nothing is to be drawn.
    #[error("intervals need a confidence between 0 and 1 and at least one resample")]
    BadOptions,
}

/// Compares reports on the same workload with the one named `baseline`.
///
/// Means get a paired percentile bootstrap interval: weeks of submits are drawn with replacement,
/// the same weeks for every policy, and each draw gives the ratio of the means over its jobs. Weeks
/// are taken as independent; where jobs queue for longer than a week they are not quite, and
/// intervals are somewhat too narrow. So they are with few weeks (say 10). Every metric is judged
/// by itself: of 20 verdicts on pure noise one is expected to be wrong.
///
/// Cost: O(resamples × (weeks + policies × metrics × weeks)).
///
/// # Errors
/// A baseline that is not among the reports, equal names, impossible options.
pub fn compare(
    reports: &[(&str, &Report)],
    baseline: &str,
    metrics: &[Metric],
    options: Options,
) -> Result<Comparison, CompareError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) || options.resamples == 0 {
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
    let bootstrap = (weeks.len() >= LEAST_WEEKS).then(|| Bootstrap::new(weeks.len(), options.resamples, options.seed));
    let change = |metric: Metric, report: &Report| {
        let (old, new) = (metric.of(base), metric.of(report));
        let relative = old.zip(new).and_then(|(old, new)| relative(old, new));
        let mut change =
            Change { metric, baseline: old, value: new, relative, interval: None, verdict: Verdict::NoRatio };
        let Metric::Mean(measure) = metric else {
            change.verdict = Verdict::NotAMean;
            return change;
        };
        let Some(bootstrap) = &bootstrap else {
            change.verdict = Verdict::TooFewWeeks;
            return change;
        };
        if relative.is_some() {
            let (old, new) = (sums(base, &weeks, measure), sums(report, &weeks, measure));
            change.interval = bootstrap.interval(&old, &new, options.confidence);
            // All these measures are better when lower.
            change.verdict = match change.interval {
                Some(_) if same(&old, &new) => Verdict::Same,
                Some((_, high)) if high < 0.0 => Verdict::Better,
                Some((low, _)) if low > 0.0 => Verdict::Worse,
                Some(_) => Verdict::Unclear,
                None => Verdict::NoRatio,
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
            .map(|(name, report)| Compared {
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

/// Whether every week has the same sum over as many jobs. Sums of the same numbers in another order
/// differ in the sixteenth digit.
fn same(old: &[Sums], new: &[Sums]) -> bool {
    let alike = |a: &Sums, b: &Sums| a.count == b.count && (a.sum - b.sum).abs() <= 1e-12 * a.sum.max(b.sum);
    old.iter().zip(new).all(|(a, b)| alike(a, b))
}

/// Sums and counts of a measure for each of these weeks; weeks that a report lacks have no job.
fn sums(report: &Report, weeks: &[i64], measure: Measure) -> Vec<Sums> {
    let of = |week: &Week| {
        let (sum, jobs) = week.sum(measure);
        Sums { sum, count: jobs as f64 }
    };
    weeks
        .iter()
        .map(|week| {
            let found = report.weeks.binary_search_by_key(week, |w| w.week);
            found.map_or(Sums::default(), |i| of(&report.weeks[i]))
        })
        .collect()
}
