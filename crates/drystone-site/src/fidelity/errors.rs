//! Distance of waits from the recorded ones.

use super::case::{PoolCase, RecordedTimes};
use super::stats::{kendall_correlation, kolmogorov_smirnov, sort_values, spearman_correlation, wasserstein_distance};
use drystone::statistics::{arithmetic_mean, nearest_rank_quantile};
use serde::{Deserialize, Serialize};

/// The waits of the jobs that count, recorded and replayed.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitPairs {
    pub(super) recorded: Vec<f64>,
    pub(super) replayed: Vec<f64>,
    pub(super) blocks: Vec<i64>,
}

impl WaitPairs {
    /// Of the jobs of a case that `which` takes; `starts` says when a replay started each.
    pub(super) fn from_case(case: &PoolCase, starts: &Starts, which: impl Fn(&RecordedTimes) -> bool) -> WaitPairs {
        let mut waits = WaitPairs::default();
        for (at, job) in case.counted_jobs().filter(|(_, job)| which(job)) {
            if let (Some(recorded_wait), Some(replay_wait)) = (job.recorded_wait(), starts.wait[at]) {
                waits.recorded.push(recorded_wait as f64);
                waits.replayed.push(replay_wait as f64);
                waits.blocks.push(case.block_of(job));
            }
        }
        waits
    }
}

/// Start of each job of a case in a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts {
    /// Seconds that it waited; `None` if it never started.
    pub(super) wait: Vec<Option<i64>>,
    /// True for each job that overtook others.
    pub(super) backfilled: Vec<bool>,
}

impl Starts {
    /// Of known waits.
    pub(super) fn of_waits(wait: Vec<Option<i64>>) -> Starts {
        Starts { backfilled: vec![false; wait.len()], wait }
    }

    pub(super) fn from_records(case: &PoolCase) -> Starts {
        Starts::of_waits(case.jobs.iter().map(RecordedTimes::recorded_wait).collect())
    }
}

/// Errors of a replay over the jobs that count.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Errors {
    pub jobs: u64,
    /// Mean recorded wait, in seconds.
    pub recorded_mean: Option<f64>,
    /// Mean replayed wait.
    pub replayed_mean: Option<f64>,
    /// Mean of the distances between both, job by job, in seconds.
    pub mean_distance: Option<f64>,
    /// Median of these distances.
    pub median_distance: Option<f64>,
    /// Distance that nine of ten jobs do not exceed.
    pub p90_distance: Option<f64>,
    /// Median of replayed less recorded waits: below 0 the replay starts jobs too early.
    pub signed_median: Option<f64>,
    /// Share of jobs started within a minute of when they were.
    pub within_minute: Option<f64>,
    pub within_ten_minutes: Option<f64>,
    pub within_hour: Option<f64>,
    /// Within a tenth of the recorded wait.
    pub within_tenth: Option<f64>,
    /// Wasserstein-1 distance of the distributions of log10(1 + wait in seconds).
    pub wasserstein: Option<f64>,
    /// Largest distance between the distributions.
    pub kolmogorov_smirnov: Option<f64>,
    /// Spearman's correlation of ranks, over jobs of which either wait is a minute or more.
    pub spearman: Option<f64>,
    /// Kendall's tau-b, over the same.
    pub kendall: Option<f64>,
    /// Number of these.
    pub waiting: u64,
}

/// Below this, waits are ties in practice, and would flatter a correlation of ranks.
const LONG: f64 = 60.0;

impl Errors {
    pub(super) fn from_waits(waits: &WaitPairs) -> Errors {
        let WaitPairs { recorded, replayed, .. } = waits;
        let n = recorded.len();
        let mut errors = Errors { jobs: n as u64, ..Errors::default() };
        if n == 0 {
            return errors;
        }
        let mean = |values: &[f64]| arithmetic_mean(values.iter().copied());
        let distances: Vec<f64> = replayed.iter().zip(recorded).map(|(s, r)| s - r).collect();
        let absolute = sort_values(distances.iter().map(|d| d.abs()).collect());
        let within = |limit: f64| Some(absolute.partition_point(|&d| d <= limit) as f64 / n as f64);
        (errors.recorded_mean, errors.replayed_mean) = (mean(recorded), mean(replayed));
        errors.mean_distance = mean(&absolute);
        (errors.median_distance, errors.p90_distance) =
            (nearest_rank_quantile(&absolute, 0.5), nearest_rank_quantile(&absolute, 0.9));
        errors.signed_median = nearest_rank_quantile(&sort_values(distances.clone()), 0.5);
        errors.within_minute = within(60.0);
        errors.within_ten_minutes = within(600.0);
        errors.within_hour = within(3_600.0);
        let tenth = distances.iter().zip(recorded).filter(|(d, r)| d.abs() <= **r / 10.0).count();
        errors.within_tenth = Some(tenth as f64 / n as f64);
        let (a, b) = (sort_values(recorded.clone()), sort_values(replayed.clone()));
        let log = |values: &[f64]| values.iter().map(|w| (1.0 + w.max(0.0)).log10()).collect::<Vec<f64>>();
        errors.wasserstein = wasserstein_distance(&log(&a), &log(&b));
        errors.kolmogorov_smirnov = kolmogorov_smirnov(&a, &b);
        let long: Vec<usize> = (0..n).filter(|&i| recorded[i] >= LONG || replayed[i] >= LONG).collect();
        let pick = |values: &[f64]| long.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        errors.waiting = long.len() as u64;
        errors.spearman = spearman_correlation(&pick(recorded), &pick(replayed));
        errors.kendall = kendall_correlation(&pick(recorded), &pick(replayed));
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_hand() {
        let waits = WaitPairs {
            recorded: vec![0.0, 100.0, 1_000.0, 10_000.0],
            replayed: vec![30.0, 100.0, 1_500.0, 5_000.0],
            blocks: vec![0; 4],
        };
        let errors = Errors::from_waits(&waits);
        assert_eq!((errors.jobs, errors.waiting), (4, 3));
        assert_eq!((errors.recorded_mean, errors.replayed_mean), (Some(2_775.0), Some(1_657.5)));
        assert_eq!(
            (errors.mean_distance, errors.median_distance, errors.p90_distance),
            (Some(1_382.5), Some(30.0), Some(5_000.0))
        );
        assert_eq!(
            (errors.within_minute, errors.within_ten_minutes, errors.within_hour),
            (Some(0.5), Some(0.75), Some(0.75))
        );
        assert_eq!((errors.within_tenth, errors.signed_median), (Some(0.25), Some(0.0)));
        assert_eq!((errors.spearman, errors.kendall), (Some(1.0), Some(1.0)));
        // Every value of the one lies within a step of the other: of four, one is elsewhere.
        assert_eq!(errors.kolmogorov_smirnov, Some(0.25));
    }

    #[test]
    fn a_perfect_replay_has_none() {
        let waits = WaitPairs { recorded: vec![5.0, 80.0, 90.0], replayed: vec![5.0, 80.0, 90.0], blocks: vec![0; 3] };
        let errors = Errors::from_waits(&waits);
        assert_eq!((errors.mean_distance, errors.within_minute, errors.wasserstein), (Some(0.0), Some(1.0), Some(0.0)));
        assert_eq!(
            (errors.kolmogorov_smirnov, errors.spearman, errors.within_tenth),
            (Some(0.0), Some(1.0), Some(1.0))
        );
        assert_eq!(Errors::from_waits(&WaitPairs::default()).mean_distance, None);
    }
}
