//! Metrics of a caller's own: changes of their means with the intervals of all others.

use crate::error;
use crate::log::PyLog;
use drystone::inference::{DifferenceVerdict, MeanDifference, PeriodSum};
use drystone::metrics::Calendar;
use drystone::model::Time;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Sums of a value per job over the weeks of submits; NaN does not count.
fn weekly_sums(log: &PyLog, values: &[f64]) -> PyResult<BTreeMap<i64, PeriodSum>> {
    let jobs = log.workload().jobs();
    if values.len() != jobs.len() {
        let problem = format!("metrics: {} values for {} jobs; expected one for each", values.len(), jobs.len());
        return Err(error::wrong(problem));
    }
    let first = jobs.first().map_or(Time::ZERO, |job| job.submit);
    let calendar = Calendar::new(first, &log.workload().provenance);
    let mut weeks: BTreeMap<i64, PeriodSum> = BTreeMap::new();
    for (job, &value) in jobs.iter().zip(values).filter(|(_, value)| !value.is_nan()) {
        let week = weeks.entry(calendar.week(job.submit)).or_default();
        week.sum += value;
        week.count += 1.0;
    }
    Ok(weeks)
}

/// Mean, relative change against the baseline, interval of it, what that says.
type JudgedMetric = (Option<f64>, Option<f64>, Option<(f64, f64)>, &'static str);

/// Judges the mean of a value per job against the baseline's; less is better.
#[pyfunction]
pub(crate) fn judge_metric(
    log: &PyLog,
    baseline: PyReadonlyArray1<'_, f64>,
    values: PyReadonlyArray1<'_, f64>,
    confidence: f64,
) -> PyResult<JudgedMetric> {
    let (old, new) = (weekly_sums(log, baseline.as_slice()?)?, weekly_sums(log, values.as_slice()?)?);
    let mean = |weeks: &BTreeMap<i64, PeriodSum>| {
        let total = weeks.values().fold((0.0, 0.0), |(sum, count), week| (sum + week.sum, count + week.count));
        (total.1 > 0.0).then(|| total.0 / total.1)
    };
    let (before, after) = (mean(&old), mean(&new));
    let relative = before.zip(after).filter(|&(before, _)| before != 0.0).map(|(before, after)| after / before - 1.0);
    // A week without jobs stays, as zeros; so does one in which only one of them counts a job.
    let (Some(first), Some(last)) = (
        [&old, &new].iter().filter_map(|weeks| weeks.keys().next()).min(),
        [&old, &new].iter().filter_map(|weeks| weeks.keys().next_back()).max(),
    ) else {
        return Ok((after, relative, None, "too_few_weeks"));
    };
    let sums = |weeks: &BTreeMap<i64, PeriodSum>| -> Vec<PeriodSum> {
        (*first..=*last).map(|week| weeks.get(&week).copied().unwrap_or_default()).collect()
    };
    let difference = MeanDifference::between(sums(&old), sums(&new));
    let verdict = match difference.verdict(difference.p_value(), confidence) {
        DifferenceVerdict::Shorter => "better",
        DifferenceVerdict::Longer => "worse",
        DifferenceVerdict::Same => "same",
        DifferenceVerdict::Alike => "alike",
        DifferenceVerdict::Unclear => "unclear",
        DifferenceVerdict::TooFew => "too_few_weeks",
        DifferenceVerdict::NoRatio => "no_ratio",
    };
    Ok((after, relative, difference.interval(confidence), verdict))
}
