//! Quality of a run-time predictor, judged on a log alone: no schedule is simulated.

use super::measures::prediction_accuracy;
use super::predictability::summarise_accuracies as summed;
use super::summary::{Distribution, Summary};
use crate::model::{JobId, Span, Time, Workload};
use crate::parts::predict::Forecast;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Quality of run-time predictions made at the arrival of jobs. Rates are shares of all jobs,
/// between 0 and 1; times in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Foresight {
    /// Number of jobs.
    pub jobs: u64,
    /// Coverage: share of jobs whose prediction was learned from other jobs; the others fell back,
    /// e.g. to the estimate.
    pub coverage: Option<f64>,
    /// [`prediction_accuracy`] per job: the smaller of prediction and run time over the larger.
    /// Without values where all run times are 0.
    pub accuracy: Summary,
    /// Share of jobs that ran longer than predicted.
    pub under_predicted_rate: Option<f64>,
    /// |prediction − run time| over all jobs.
    pub error: Summary,
    /// run time − prediction over the jobs that ran longer than predicted.
    pub under: Summary,
    /// prediction − run time over the jobs that ended before their prediction.
    pub over: Summary,
}

/// Asks a predictor about every job when it arrives and tells it of every end, in the order of
/// time; at equal times ends come first, by id. Propagation and corrections play no role: what is
/// judged is the prediction at arrival.
///
/// The ends of jobs determine the knowledge of the predictor. `waits` says how long each job waited
/// in reality, in the order of the jobs: the job ends at submit + wait + run time. Jobs beyond its
/// end, and negative waits, count as not having waited.
///
/// Cost: O(n log n) for n jobs, and what the predictor costs.
#[must_use]
pub fn judge_predictor(workload: &Workload, waits: &[Span], forecast: &mut Forecast) -> Foresight {
    let clairvoyant = forecast.predictor.is_clairvoyant();
    let mut running_jobs: BinaryHeap<Reverse<(Time, JobId)>> = BinaryHeap::new();
    let distribution = || Distribution::new(true);
    let [mut accuracies, mut error, mut under, mut over] = std::array::from_fn(|_| distribution());
    let mut learned_count = 0u64;
    for (at, (job, truth)) in workload.jobs().iter().zip(workload.truth()).enumerate() {
        while let Some(&Reverse((time, end_id))) = running_jobs.peek()
            && time <= job.submit
        {
            running_jobs.pop();
            forecast.predictor.learn_from_end(end_id, workload.job(end_id), workload.truth()[end_id.index()].run, time);
        }
        let id = JobId(at as u32);
        let raw_prediction = forecast.predictor.predict(id, job, clairvoyant.then_some(truth.run));
        let prediction = forecast.planned_span(raw_prediction);
        learned_count += u64::from(raw_prediction.learned);
        accuracies.push(prediction_accuracy(prediction, truth.run));
        let late = truth.run.as_f64() - prediction.as_f64();
        error.push(late.abs());
        if late > 0.0 {
            under.push(late);
        } else if late < 0.0 {
            over.push(-late);
        }
        let wait = waits.get(at).copied().unwrap_or(Span::ZERO).max(Span::ZERO);
        running_jobs.push(Reverse((job.submit.saturating_add(wait).saturating_add(truth.run), id)));
    }
    let jobs = workload.len() as u64;
    let rate = |part: u64| (jobs > 0).then(|| part as f64 / jobs as f64);
    Foresight {
        jobs,
        coverage: rate(learned_count),
        under_predicted_rate: rate(under.value_count()),
        accuracy: summed(accuracies, workload.truth().iter().any(|truth| truth.run > Span::ZERO)),
        error: error.finish(),
        under: under.finish(),
        over: over.finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Truth};
    use crate::parts::predict::parse_forecast;

    /// Jobs of one user: (submit, estimate, run).
    fn workload(jobs: &[(i64, i64, i64)]) -> Workload {
        let list = jobs.iter().map(|j| Job::new(Time(j.0), 1, Span(j.1)).with_user(1)).collect();
        let truth = jobs.iter().map(|j| Truth { run: Span(j.2), number: 1, status: LogStatus::Completed }).collect();
        Workload::new(Machine::new(4), list, truth, Provenance::default()).expect("sound")
    }

    #[test]
    fn what_is_known_depends_on_when_jobs_ended() {
        let w = workload(&[(0, 100, 20), (0, 100, 40), (50, 100, 60)]);
        let of = |waits: &[Span]| judge_predictor(&w, waits, &mut parse_forecast("recent(2)").expect("valid"));
        // Both end by 40: the third is predicted to run for 30 and runs for 60.
        let f = of(&[]);
        assert_eq!((f.jobs, f.coverage, f.under_predicted_rate), (3, Some(1.0 / 3.0), Some(1.0 / 3.0)));
        assert_eq!((f.under.count, f.under.max, f.over.count), (1, Some(30.0), 2));
        // 20/100, 40/100 and 30/60; errors 80, 60, 30.
        assert_eq!((f.accuracy.median, f.error.median, f.error.max), (Some(0.4), Some(60.0), Some(80.0)));
        // The second waited until 11 and ends at 51, after the third has arrived: every job gets
        // the estimate.
        assert_eq!(of(&[Span(0), Span(11)]).coverage, Some(0.0));
        // An end at the very time of an arrival is known to it.
        assert_eq!(of(&[Span(-1), Span(10)]).coverage, Some(1.0 / 3.0));
    }

    #[test]
    fn perfect_predictions_have_no_error() {
        let w = workload(&[(0, 100, 20), (1, 100, 0)]);
        let f = judge_predictor(&w, &[], &mut parse_forecast("perfect").expect("valid"));
        assert_eq!((f.accuracy.min, f.error.max, f.under.count, f.over.count), (Some(1.0), Some(0.0), 0, 0));
        let double_score = judge_predictor(&w, &[], &mut parse_forecast("double(perfect)").expect("valid"));
        assert_eq!((double_score.over.count, double_score.over.max), (1, Some(20.0)));
        // Of no time nothing is close and nothing is far.
        let idle = judge_predictor(&workload(&[(0, 100, 0), (1, 100, 0)]), &[], &mut Forecast::default());
        assert_eq!((idle.accuracy.mean, idle.accuracy.excluded, idle.error.mean), (None, 2, Some(100.0)));
        assert_eq!(judge_predictor(&workload(&[]), &[], &mut Forecast::default()).accuracy.mean, None);
    }
}
