//! Use of the machine and length of the queue, hour by hour.

use super::case::PoolCase;
use super::errors::Starts;
use super::stats::{pearson_correlation, series_errors};
use serde::{Deserialize, Serialize};

const HOUR: i64 = 3_600;

/// Events in each hour of the part that is measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Hours {
    /// Share of the pool in use.
    pub utilisation: Vec<f64>,
    /// Jobs that wait, on average.
    pub queue_jobs: Vec<f64>,
    /// Units times seconds that waiting jobs will take, on average.
    pub queue_work: Vec<f64>,
}

/// Distance of a series from the recorded one.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SeriesError {
    pub recorded_mean: Option<f64>,
    /// Mean of replayed less recorded.
    pub mean_error: Option<f64>,
    /// Root of the mean square of that.
    pub rmse: Option<f64>,
    /// Pearson's correlation.
    pub correlation: Option<f64>,
}

/// All three.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct HourErrors {
    /// Of the share in use.
    pub utilisation: SeriesError,
    /// Of the jobs that wait.
    pub queue_jobs: SeriesError,
    /// Of the work that waits.
    pub queue_work: SeriesError,
}

/// Sums over hours of something that lasts.
struct HourSums {
    from: i64,
    hours: Vec<f64>,
}

impl HourSums {
    fn new(case: &PoolCase) -> HourSums {
        let count = ((case.until - case.from) / HOUR).max(0);
        HourSums { from: case.from, hours: vec![0.0; usize::try_from(count).unwrap_or(0)] }
    }

    fn add_amount(&mut self, begin: i64, end: i64, amount: f64) {
        let last = self.from + self.hours.len() as i64 * HOUR;
        let (begin, end) = (begin.max(self.from), end.min(last));
        if begin >= end {
            return;
        }
        let first = ((begin - self.from) / HOUR) as usize;
        let until = ((end - 1 - self.from) / HOUR) as usize;
        for hour in first..=until {
            let start = self.from + hour as i64 * HOUR;
            let part = end.min(start + HOUR) - begin.max(start);
            self.hours[hour] += amount * part as f64 / HOUR as f64;
        }
    }
}

impl Hours {
    /// Of a replay, or of what was recorded. Jobs within reservations are where they were; those
    /// that never ran leave when they did, unless a replay starts them first.
    pub(super) fn from_starts(case: &PoolCase, starts: &Starts) -> Hours {
        let (mut used_units, mut jobs, mut work) = (HourSums::new(case), HourSums::new(case), HourSums::new(case));
        for (at, job) in case.jobs.iter().enumerate() {
            let replayed_start = starts.wait[at].map(|wait| job.arrive + wait);
            let start = if job.simulated { replayed_start } else { job.start };
            let units = f64::from(job.units);
            let leaves = start.or(job.end.filter(|_| job.start.is_none())).unwrap_or(i64::MAX / 2);
            if let Some(start) = start {
                used_units.add_amount(start, start.saturating_add(job.holds), units);
            }
            jobs.add_amount(job.arrive, leaves, 1.0);
            work.add_amount(job.arrive, leaves, units * job.holds as f64);
        }
        let pool_units = f64::from(case.units.max(1));
        Hours {
            utilisation: used_units.hours.into_iter().map(|u| u / pool_units).collect(),
            queue_jobs: jobs.hours,
            queue_work: work.hours,
        }
    }

    pub(super) fn hour_errors(&self, record: &Hours) -> HourErrors {
        let series_error = |first: &[f64], second: &[f64]| {
            let error_pair = series_errors(first, second);
            let n = second.len().max(1) as f64;
            SeriesError {
                recorded_mean: (!second.is_empty()).then(|| second.iter().sum::<f64>() / n),
                mean_error: error_pair.map(|b| b.0),
                rmse: error_pair.map(|b| b.1),
                correlation: pearson_correlation(first, second),
            }
        };
        HourErrors {
            utilisation: series_error(&self.utilisation, &record.utilisation),
            queue_jobs: series_error(&self.queue_jobs, &record.queue_jobs),
            queue_work: series_error(&self.queue_work, &record.queue_work),
        }
    }

    /// The week, by its first hour, in which the queue is furthest from what was recorded.
    pub(super) fn worst_week(&self, record: &Hours) -> Option<usize> {
        const WEEK: usize = 7 * 24;
        let squares: Vec<f64> =
            self.queue_work.iter().zip(&record.queue_work).map(|(a, b)| (a - b) * (a - b)).collect();
        let sums = squares.chunks(WEEK).map(|week| week.iter().sum::<f64>());
        sums.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(week, _)| week * WEEK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_shared_out_by_the_hour() {
        let mut sum = HourSums { from: 1_000, hours: vec![0.0; 3] };
        sum.add_amount(0, 1_000 + 1_800, 2.0);
        sum.add_amount(1_000 + 3_600, i64::MAX / 2, 1.0);
        sum.add_amount(5, 9, 7.0);
        assert_eq!(sum.hours, [1.0, 1.0, 1.0]);
    }
}
