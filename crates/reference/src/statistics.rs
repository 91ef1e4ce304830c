//! The statistics of Tsafrir, Etsion & Feitelson (2007), computed as they are defined (rules 18 to
//! 21).

use crate::JobIn;
use crate::easy::{NaiveRecord, NaiveRun};

/// Mean, median and population standard deviation.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NaiveSpread {
    /// Arithmetic mean; 0 of nothing.
    pub mean: f64,
    /// Median, the mean of the middle two of an even number; 0 of nothing.
    pub median: f64,
    /// Population standard deviation; 0 of nothing.
    pub deviation: f64,
}

/// All statistics of one run, over the kept jobs. Times are in seconds, rates in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Statistics {
    /// Number of jobs kept (rule 18).
    pub kept: usize,
    /// Mean wait.
    pub wait: f64,
    /// Mean bounded slowdown, bound 10 s.
    pub bounded_slowdown: f64,
    /// Mean accuracy of the predictions, percent.
    pub accuracy: f64,
    /// Jobs whose first prediction came from history, percent of kept.
    pub prediction_rate: f64,
    /// Corrections per job.
    pub corrections: NaiveSpread,
    /// Jobs that waited and had a reservation, percent of kept.
    pub reservation_rate: f64,
    /// |start − first reservation| of those jobs.
    pub difference: NaiveSpread,
    /// Jobs that started after their first reservation, percent of kept.
    pub delay_rate: f64,
    /// Start − first reservation of the delayed jobs.
    pub delay: NaiveSpread,
    /// Jobs with at least one thief, percent of the jobs that waited and had a reservation.
    pub stalled_rate: f64,
    /// Mean of start − earliest start by real ends, over stalled jobs.
    pub stall: f64,
    /// Mean number of thieves, over stalled jobs.
    pub thieves: f64,
}

pub fn compute_statistics(jobs: &[JobIn], run: &NaiveRun) -> Statistics {
    // Rule 18: without the first 1 % to terminate and without those that end after the last
    // arrival.
    let last_submit = jobs.last().map_or(0, |job| job.submit);
    let after_warm_up = &run.ended[run.ended.len() / 100..];
    let kept_jobs: Vec<(&JobIn, &NaiveRecord)> = after_warm_up
        .iter()
        .map(|&j| (&jobs[j], &run.jobs[j]))
        .filter(|(_, record)| record.end <= last_submit)
        .collect();

    // Rule 20.
    let reserved_records: Vec<(i64, &NaiveRecord)> = kept_jobs
        .iter()
        .filter(|(job, record)| record.start > job.submit)
        .filter_map(|(_, record)| Some((record.start - record.first_reservation?, *record)))
        .collect();
    let differences: Vec<i64> = reserved_records.iter().map(|(late, _)| late.abs()).collect();
    let delays: Vec<i64> = reserved_records.iter().map(|&(late, _)| late).filter(|&late| late > 0).collect();
    // Rule 21.
    let stalled_records: Vec<&NaiveRecord> =
        reserved_records.iter().map(|&(_, r)| r).filter(|r| r.thieves > 0).collect();
    let stalls = stalled_records.iter().map(|r| (r.start - r.real_earliest.unwrap_or(r.start)) as f64);
    let corrections: Vec<i64> = kept_jobs.iter().map(|(_, r)| r.correction_count() as i64).collect();
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;

    Statistics {
        kept: kept_jobs.len(),
        wait: mean_value(kept_jobs.iter().map(|(job, r)| (r.start - job.submit) as f64)),
        bounded_slowdown: mean_value(kept_jobs.iter().map(|(job, r)| {
            let response = (r.end - job.submit) as f64;
            (response / job.run.max(10) as f64).max(1.0)
        })),
        accuracy: 100.0 * mean_value(kept_jobs.iter().map(|(job, r)| prediction_accuracy(job, r))),
        prediction_rate: percent(kept_jobs.iter().filter(|(_, r)| r.from_history).count(), kept_jobs.len()),
        corrections: compute_spread(&corrections),
        reservation_rate: percent(reserved_records.len(), kept_jobs.len()),
        difference: compute_spread(&differences),
        delay_rate: percent(delays.len(), kept_jobs.len()),
        delay: compute_spread(&delays),
        stalled_rate: percent(stalled_records.len(), reserved_records.len()),
        stall: mean_value(stalls),
        thieves: mean_value(stalled_records.iter().map(|r| f64::from(r.thieves))),
    }
}

/// Rule 19: the accuracy of each prediction, weighted by the time it was in force between submit
/// and end.
pub fn prediction_accuracy(job: &JobIn, record: &NaiveRecord) -> f64 {
    let of = |prediction: i64| match (prediction as f64, job.run as f64) {
        (p, run) if p == run => 1.0,
        (p, run) if p > run => run / p,
        (p, run) => p / run,
    };
    if record.end == job.submit {
        return of(record.current_prediction());
    }
    let life = (record.end - job.submit) as f64;
    let until = |i: usize| record.predictions.get(i + 1).map_or(record.end, |next| next.0);
    let parts = record.predictions.iter().enumerate();
    parts.map(|(i, &(from, p))| of(p) * (until(i) - from) as f64 / life).sum()
}

fn mean_value(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for value in values {
        sum += value;
        n += 1.0;
    }
    if n > 0.0 { sum / n } else { 0.0 }
}

fn compute_spread(values: &[i64]) -> NaiveSpread {
    let mut sorted_values = values.to_vec();
    sorted_values.sort_unstable();
    let n = sorted_values.len();
    if n == 0 {
        return NaiveSpread::default();
    }
    let average = mean_value(sorted_values.iter().map(|&v| v as f64));
    let variance = mean_value(sorted_values.iter().map(|&v| (v as f64 - average).powi(2)));
    NaiveSpread {
        mean: average,
        median: (sorted_values[(n - 1) / 2] + sorted_values[n / 2]) as f64 / 2.0,
        deviation: variance.sqrt(),
    }
}
