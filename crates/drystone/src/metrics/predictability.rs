//! Reliability of the scheduler's announcements for users: reservations and predictions (Tsafrir et
//! al. 2007).

use super::measures::prediction_accuracy;
use super::summary::{Distribution, Summary};
use crate::model::{EndedJob, Span};
use serde::{Deserialize, Serialize};

/// Predictions and reservations of the jobs that count. Rates are shares of all jobs that count,
/// between 0 and 1; times are in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Predictability {
    /// Share of jobs that waited (start > submit) and had a reservation; `None` without jobs.
    pub reservation_rate: Option<f64>,
    /// |start − first reservation| over these jobs.
    pub difference: Summary,
    /// Estimates of the jobs that waited with a reservation.
    #[serde(default)]
    pub reserved_estimate: Summary,
    /// Their processors.
    #[serde(default)]
    pub reserved_procs: Summary,
    /// Share of jobs that waited, had a reservation and started after it; `None` without jobs.
    pub delay_rate: Option<f64>,
    /// start − first reservation over these delayed jobs.
    pub delay: Summary,
    /// Corrections of predictions per job, over all jobs that count.
    pub corrections: Summary,
    /// Accuracy of predictions over a job's life, over the jobs for which it was recorded; without
    /// values where no job ran for any time.
    pub accuracy: Summary,
    /// Accuracy of the prediction in force at arrival, over all jobs that count; the same there.
    pub first_accuracy: Summary,
    /// Share of jobs whose prediction at arrival was learned from other jobs, not a fallback;
    /// `None` without jobs.
    pub prediction_rate: Option<f64>,
    /// Share of jobs that ran longer than predicted at arrival; `None` without jobs.
    pub under_predicted_rate: Option<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct PromiseCollector {
    jobs: u64,
    /// True if any of them ran for any time.
    ran: bool,
    under_predicted: u64,
    learned: u64,
    difference: Distribution,
    reserved_estimate: Distribution,
    reserved_procs: Distribution,
    delay: Distribution,
    corrections: Distribution,
    accuracy: Distribution,
    first_accuracy: Distribution,
}

impl PromiseCollector {
    pub(super) fn new(percentiles: bool) -> PromiseCollector {
        let distribution = || Distribution::new(percentiles);
        PromiseCollector {
            jobs: 0,
            ran: false,
            under_predicted: 0,
            learned: 0,
            difference: distribution(),
            reserved_estimate: distribution(),
            reserved_procs: distribution(),
            delay: distribution(),
            corrections: distribution(),
            accuracy: distribution(),
            first_accuracy: distribution(),
        }
    }

    pub(super) fn take_job(&mut self, job_end: &EndedJob<'_>) {
        let outcome = job_end.outcome;
        self.jobs += 1;
        self.ran |= outcome.ran > Span::ZERO;
        if let Some(promise) = outcome.first_reservation
            && outcome.start > job_end.job.submit
        {
            // In floats: a reservation may lie anywhere, even at the end of time.
            let late = outcome.start.0 as f64 - promise.0 as f64;
            self.difference.push(late.abs());
            self.reserved_estimate.push(job_end.job.estimate.as_f64());
            self.reserved_procs.push(f64::from(job_end.job.procs));
            if late > 0.0 {
                self.delay.push(late);
            }
        }
        self.corrections.push(f64::from(outcome.corrections));
        if let Some(accuracy) = outcome.accuracy {
            self.accuracy.push(accuracy);
        }
        let first = outcome.first_prediction;
        self.first_accuracy.push(prediction_accuracy(first, outcome.ran));
        self.under_predicted += u64::from(first < outcome.ran);
        self.learned += u64::from(outcome.learned);
    }

    pub(super) fn finish(self) -> Predictability {
        let rate = |part: u64| (self.jobs > 0).then(|| part as f64 / self.jobs as f64);
        Predictability {
            reservation_rate: rate(self.difference.value_count()),
            delay_rate: rate(self.delay.value_count()),
            prediction_rate: rate(self.learned),
            under_predicted_rate: rate(self.under_predicted),
            difference: self.difference.finish(),
            reserved_estimate: self.reserved_estimate.finish(),
            reserved_procs: self.reserved_procs.finish(),
            delay: self.delay.finish(),
            corrections: self.corrections.finish(),
            accuracy: summarise_accuracies(self.accuracy, self.ran),
            first_accuracy: summarise_accuracies(self.first_accuracy, self.ran),
        }
    }
}

/// Summarises accuracies. Where no job `ran` for any time, a prediction is right or worth nothing,
/// however close it is: then there is no accuracy to speak of.
pub(super) fn summarise_accuracies(accuracies: Distribution, ran: bool) -> Summary {
    let summary = accuracies.finish();
    if ran {
        return summary;
    }
    Summary { excluded: summary.excluded + summary.count, precision: summary.precision, ..Summary::default() }
}
