//! Metrics of a caller's own: their values in sweeps, and changes of their means with the intervals
//! of all others.

use crate::error;
use crate::log::PyLog;
use crate::names::WorkloadNames;
use crate::objects::{HeldObject, ObjectSlot};
use crate::run::job_table;
use drystone::inference::{DifferenceVerdict, MeanDifference, PeriodSum, correct_family};
use drystone::metrics::{Scope, SubmitWeeks};
use drystone::model::Time;
use drystone_sweep::{Cancelled, JobMeasurer, MeasuredSchedule};
use numpy::PyReadonlyArray1;
use pyo3::intern;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Functions of Python that find the values of metrics.
pub(crate) struct PythonMeasurer {
    metrics: Vec<(String, Arc<HeldObject>)>,
}

impl PythonMeasurer {
    pub(crate) fn new(metrics: &[(String, String, Py<ObjectSlot>)]) -> PythonMeasurer {
        let of =
            |(name, _, slot): &(String, String, Py<ObjectSlot>)| (name.clone(), Arc::clone(slot.get().held_object()));
        PythonMeasurer { metrics: metrics.iter().map(of).collect() }
    }
}

impl fmt::Debug for PythonMeasurer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.metrics.iter().map(|metric| &metric.0)).finish()
    }
}

impl JobMeasurer for PythonMeasurer {
    fn measure(&self, schedule: &MeasuredSchedule<'_>) -> Result<Vec<Vec<f64>>, Cancelled> {
        let place = format!(", under {} on {}", schedule.policy, schedule.case.label());
        let of = |(name, held): &(String, Arc<HeldObject>)| -> Result<Vec<f64>, Cancelled> {
            if held.has_failed() {
                return Err(Cancelled);
            }
            let values = held.call_object(|py| {
                let jobs = Py::new(py, job_table(schedule.rows, schedule.sizes, &WorkloadNames::default())?)?;
                let values = py
                    .import(intern!(py, "drystone._own_metric"))?
                    .call_method1(intern!(py, "own_values"), (name, &held.object, jobs, &place))?;
                Ok(values.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec())
            });
            values.map_err(|error| {
                held.note_failure(error);
                Cancelled
            })
        };
        self.metrics.iter().map(of).collect()
    }
}

/// Sums of a value per job over the weeks of submits; NaN does not count.
fn weekly_sums(
    weeks: &SubmitWeeks,
    submits: &PyReadonlyArray1<'_, i64>,
    values: &PyReadonlyArray1<'_, f64>,
) -> PyResult<BTreeMap<i64, PeriodSum>> {
    let mut sums: BTreeMap<i64, PeriodSum> = BTreeMap::new();
    for (&submit, &value) in submits.as_slice()?.iter().zip(values.as_slice()?).filter(|(_, value)| !value.is_nan()) {
        sums.entry(weeks.week_number(Time(submit))).or_default().add(PeriodSum { sum: value, count: 1.0 });
    }
    Ok(sums)
}

/// Mean, relative change against the baseline, its interval, p and corrected p, verdict.
type JudgedMetric = (Option<f64>, Option<f64>, Option<(f64, f64)>, Option<f64>, Option<f64>, &'static str);

/// Judges the means of a value per job under several policies against the one at the place
/// `baseline`, as [`compare`](drystone::metrics::compare) does; less is better.
#[pyfunction]
pub(crate) fn judge_metric(
    log: &PyLog,
    policies: Vec<(PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, f64>)>,
    baseline: usize,
    confidence: f64,
) -> PyResult<Vec<JudgedMetric>> {
    let weeks = Scope::from_workload(log.workload()).weeks;
    let sums: Vec<BTreeMap<i64, PeriodSum>> =
        policies.iter().map(|(submits, values)| weekly_sums(&weeks, submits, values)).collect::<PyResult<_>>()?;
    let base = sums.get(baseline).ok_or_else(|| error::internal_error("no policy is the baseline"))?;
    // A week without jobs stays, as zeros; so does one in which only some count a job.
    let ends = sums.iter().flat_map(BTreeMap::keys).min().zip(sums.iter().flat_map(BTreeMap::keys).max());
    let units = |sums: &BTreeMap<i64, PeriodSum>| -> Vec<PeriodSum> {
        let positions = ends.map(|(&first, &last)| first..=last).into_iter().flatten();
        positions.map(|week| sums.get(&week).copied().unwrap_or_default()).collect()
    };
    let mean = |sums: &BTreeMap<i64, PeriodSum>| {
        let mut total = PeriodSum::default();
        sums.values().for_each(|sum| total.add(*sum));
        (total.count > 0.0).then(|| total.sum / total.count)
    };
    let before = mean(base);
    let differences: Vec<MeanDifference> =
        sums.iter().map(|own| MeanDifference::compare_sums(units(base), units(own))).collect();
    let is_judged = |at: usize| at != baseline && before.is_some() && mean(&sums[at]).is_some();
    let p: Vec<Option<f64>> = (0..sums.len()).map(|at| differences[at].p_value().filter(|_| is_judged(at))).collect();
    let family = (0..sums.len()).filter(|&at| is_judged(at)).count();
    let mut corrected_p = correct_family(&p.iter().flatten().copied().collect::<Vec<_>>()).into_iter();
    let judgements = (0..sums.len()).map(|at| {
        let (after, difference) = (mean(&sums[at]), &differences[at]);
        let relative = before.zip(after).and_then(|(before, after)| match before == after {
            true => Some(0.0),
            false => (before != 0.0).then(|| after / before - 1.0),
        });
        let p_family = p[at].and_then(|_| corrected_p.next());
        let interval = difference.change_interval(confidence).filter(|_| is_judged(at));
        let verdict = if is_judged(at) {
            verdict_word(difference.judge_difference(p_family, confidence, family))
        } else {
            "no_ratio"
        };
        (after, relative, interval, p[at], p_family, verdict)
    });
    Ok(judgements.collect())
}

fn verdict_word(verdict: DifferenceVerdict) -> &'static str {
    match verdict {
        DifferenceVerdict::Shorter => "better",
        DifferenceVerdict::Longer => "worse",
        DifferenceVerdict::Same => "same",
        DifferenceVerdict::Alike => "alike",
        DifferenceVerdict::Unclear => "unclear",
        DifferenceVerdict::TooFew => "too_few_weeks",
        DifferenceVerdict::NoRatio => "no_ratio",
    }
}
