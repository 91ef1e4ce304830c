//! Comparisons of policies that know noise from improvement.

use super::catalogue::Metric;
use super::measures::Measure;
use super::report::{MeasuredWeek, Report};
use crate::inference::{
    DifferenceVerdict, EstimateBasis, LEAST_UNITS, MeanDifference, PeriodSum, WeekSigns, blocks_of, correct_family,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Fewer weeks than this tell nothing about the variation between weeks.
pub const LEAST_WEEKS: usize = LEAST_UNITS;

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
    /// Better, by the p value corrected for the number of policies, or in every one of at least
    /// eight weeks that differ.
    Better,
    /// Worse, by the same.
    Worse,
    /// Equal in every week, as of policies with the same schedule: there is no difference to be
    /// noise.
    Same,
    /// The whole interval lies within ±2 %: no difference worth the name.
    Alike,
    /// Not decided: the difference may be noise.
    Unclear,
    /// Better or worse, but the difference is no larger than the error of the simulation against
    /// what was recorded.
    InsideReplayError,
    /// No interval: the metric is not a mean over jobs.
    NotAMean,
    /// No interval: fewer than [`LEAST_WEEKS`] weeks, one block of weeks that holds all of it, or
    /// sums per week were not kept.
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
    /// Interval for `relative`, of this comparison alone.
    pub interval: Option<(f64, f64)>,
    /// Verdict on the policy.
    pub verdict: MetricVerdict,
    /// Evidence for it.
    #[serde(flatten)]
    pub evidence: ChangeEvidence,
}

/// Evidence for a verdict.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ChangeEvidence {
    /// Probability of a difference as large where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Probability `p`, corrected for the number of policies compared (Holm 1979); it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_family: Option<f64>,
    /// Weeks, or windows, in which the value is larger, smaller and equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<WeekSigns>,
    /// Further weeks like these that would tell a difference of 10 % from none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_weeks: Option<usize>,
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
    /// Weeks of submits, or windows, that the intervals are made from.
    pub weeks: usize,
    /// Gathering of these: blocks of weeks, or windows; `None` where there are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<EstimateBasis>,
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
/// Means get an interval from their sums per week of submits, which are the same jobs under both
/// policies, gathered into blocks ([`inference`](crate::inference)). Where four or more parts were
/// simulated apart, these windows are the units. Intervals are those of single comparisons;
/// verdicts use p values corrected for the number of policies, metric by metric.
///
/// ```
/// use drystone::experiment::Experiment;
/// use drystone::generate::{Params, generate_workload};
/// use drystone::metrics::{IntervalOptions, Measure, Metric, Report, compare_reports};
/// use drystone::policy::PolicySpec;
///
/// let workload = generate_workload(&Params { seed: 1, load: Some(0.9), ..Params::new(32, 300) })?;
/// let report = |text: &str| -> Result<Report, Box<dyn std::error::Error>> {
///     let policy: PolicySpec = text.parse()?;
///     Ok(Experiment::new(&policy, &workload).run(&mut ())?.expect("nothing stops it").report)
/// };
/// let (fcfs, easy) = (report("fcfs")?, report("easy")?);
/// let reports = [("fcfs", &fcfs), ("easy", &easy)];
/// let metrics = [Metric::Mean(Measure::Wait)];
/// let comparison = compare_reports(&reports, "fcfs", &metrics, IntervalOptions::default())?;
///
/// let change = comparison.policies[0].changes[0];
/// assert_eq!((change.baseline, change.value), (fcfs.measures.wait.mean, easy.measures.wait.mean));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: O(policies × metrics × weeks).
///
/// # Errors
/// A baseline that is not among the reports, equal names, impossible options.
pub fn compare_reports(
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
    let units = ComparedUnits::from_reports(reports);
    let other_reports: Vec<(&str, &Report)> = reports.iter().filter(|(name, _)| *name != baseline).copied().collect();
    let by_metric: Vec<Vec<MetricChange>> = metrics
        .iter()
        .map(|&metric| {
            judge_family(metric, &units, base, other_reports.iter().map(|(_, report)| *report), options.confidence)
        })
        .collect();
    let policy = |(at, (name, _)): (usize, &(&str, &Report))| ComparedPolicy {
        name: (*name).to_string(),
        changes: by_metric.iter().map(|changes| changes[at]).collect(),
    };
    Ok(Comparison {
        baseline: baseline.to_string(),
        weeks: units.unit_count(),
        basis: units.estimate_basis(),
        options,
        policies: other_reports.iter().enumerate().map(policy).collect(),
    })
}

/// The changes of one metric under several policies, judged as a family.
fn judge_family<'a>(
    metric: Metric,
    units: &ComparedUnits,
    base: &Report,
    reports: impl Iterator<Item = &'a Report>,
    confidence: f64,
) -> Vec<MetricChange> {
    let mut changes: Vec<(MetricChange, Option<MeanDifference>)> =
        reports.map(|report| metric_change(metric, units, (base, report), confidence)).collect();
    let p: Vec<f64> = changes.iter().filter_map(|(change, _)| change.evidence.p).collect();
    let mut corrected_values = correct_family(&p).into_iter();
    let judged_count = changes.iter().filter(|(_, difference)| difference.is_some()).count();
    for (change, difference) in &mut changes {
        let Some(difference) = difference else { continue };
        change.evidence.p_family = change.evidence.p.and_then(|_| corrected_values.next());
        // All these measures are better when lower.
        change.verdict = match difference.judge_difference(change.evidence.p_family, confidence, judged_count) {
            DifferenceVerdict::Shorter => MetricVerdict::Better,
            DifferenceVerdict::Longer => MetricVerdict::Worse,
            DifferenceVerdict::Same => MetricVerdict::Same,
            DifferenceVerdict::Alike => MetricVerdict::Alike,
            DifferenceVerdict::Unclear => MetricVerdict::Unclear,
            DifferenceVerdict::TooFew => MetricVerdict::TooFewWeeks,
            DifferenceVerdict::NoRatio => MetricVerdict::NoRatio,
        };
    }
    changes.into_iter().map(|(change, _)| change).collect()
}

/// A relative change by which the length of a log is judged.
const TELLING: f64 = 0.1;

/// The change of one metric, not yet judged, and what judges it.
fn metric_change(
    metric: Metric,
    units: &ComparedUnits,
    (base, report): (&Report, &Report),
    confidence: f64,
) -> (MetricChange, Option<MeanDifference>) {
    let (old, new) = (metric.value_of(base), metric.value_of(report));
    let values = old.zip(new);
    let relative = values.and_then(|(old, new)| relative_change(old, new));
    let evidence = ChangeEvidence::default();
    let mut change = MetricChange {
        metric,
        baseline: old,
        value: new,
        relative,
        interval: None,
        verdict: MetricVerdict::NoRatio,
        evidence,
    };
    let Metric::Mean(measure) = metric else {
        return (MetricChange { verdict: MetricVerdict::NotAMean, ..change }, None);
    };
    if values.is_none() {
        return (change, None);
    }
    let difference = units.mean_difference(base, report, measure);
    change.interval = difference.change_interval(confidence);
    change.evidence = ChangeEvidence {
        p: difference.p_value(),
        p_family: None,
        signs: (difference.signs.week_count() > 0).then_some(difference.signs),
        more_weeks: difference.estimate.ok().and_then(|estimate| estimate.more_weeks(TELLING, confidence)),
    };
    (change, Some(difference))
}

/// Units that sums are paired by: weeks, or four or more windows.
struct ComparedUnits {
    windows: bool,
    /// First and last that any report has.
    ends: Option<(i64, i64)>,
}

impl ComparedUnits {
    /// Trimming may leave a week to one policy and not to another: all weeks of all reports take
    /// part, and those between without jobs.
    fn from_reports(reports: &[(&str, &Report)]) -> ComparedUnits {
        let windows = reports.iter().all(|(_, report)| report.windows.len() >= LEAST_UNITS);
        let mut units = ComparedUnits { windows, ends: None };
        let numbers = || reports.iter().flat_map(|(_, report)| units.weekly_sums(report)).map(|unit| unit.week);
        units.ends = numbers().min().zip(numbers().max());
        units
    }

    fn weekly_sums<'a>(&self, report: &'a Report) -> &'a [MeasuredWeek] {
        if self.windows { &report.windows } else { &report.weeks }
    }

    fn unit_count(&self) -> usize {
        self.ends.map_or(0, |(first, last)| usize::try_from(last - first + 1).unwrap_or(0))
    }

    fn estimate_basis(&self) -> Option<EstimateBasis> {
        let units = self.unit_count();
        let blocks = blocks_of(units).len();
        let basis = if self.windows { EstimateBasis::Windows(units) } else { EstimateBasis::Blocks { blocks, units } };
        (blocks >= LEAST_UNITS).then_some(basis)
    }

    fn mean_difference(&self, base: &Report, report: &Report, measure: Measure) -> MeanDifference {
        let of = |report: &Report| {
            let mut sums = vec![PeriodSum::default(); self.unit_count()];
            for unit in self.weekly_sums(report) {
                let place = self.ends.and_then(|(first, _)| usize::try_from(unit.week - first).ok());
                let (sum, jobs) = unit.sum(measure);
                if let Some(place) = place.and_then(|place| sums.get_mut(place)) {
                    *place = PeriodSum { sum, count: jobs as f64 };
                }
            }
            sums
        };
        let between = if self.windows { MeanDifference::between_windows } else { MeanDifference::compare_sums };
        between(of(base), of(report))
    }
}

/// new / old − 1; 0 where both are 0; `None` where only `old` is.
pub(super) fn relative_change(old: f64, new: f64) -> Option<f64> {
    if old == new { Some(0.0) } else { (old > 0.0).then(|| new / old - 1.0) }
}
