//! Intervals from values of jobs that follow each other: for logs of days, which have no weeks.

use super::IntervalOptions;
use super::compare::relative_change;
use crate::inference::{LEAST_UNITS, MeanDifference, PeriodSum, positive_mean_interval};

/// Fewer blocks than this tell nothing about the variation between blocks.
pub const LEAST_BLOCKS: usize = LEAST_UNITS;

/// The means of two measures of the same jobs, and their relative change, with intervals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairedMeans {
    /// The mean of the old values, and of the new ones.
    pub means: (f64, f64),
    /// Intervals of both, where there are enough blocks.
    pub intervals: Option<[(f64, f64); 2]>,
    /// new / old − 1, where there is such a ratio.
    pub change: Option<f64>,
    /// Its interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// Blocks that intervals were made from.
    pub blocks: usize,
}

/// Compares two values of each job by their sums over blocks of `block` jobs that follow each
/// other: neighbours queue together and are no independent evidence. `None` without jobs.
///
/// Cost: O(jobs).
#[must_use]
pub fn paired_means(old: &[f64], new: &[f64], block: usize, options: IntervalOptions) -> Option<PairedMeans> {
    let jobs = old.len().min(new.len());
    if jobs == 0 {
        return None;
    }
    let (old, new) = (&old[..jobs], &new[..jobs]);
    let sums = |values: &[f64]| -> Vec<PeriodSum> {
        let of = |block: &[f64]| PeriodSum { sum: block.iter().sum(), count: block.len() as f64 };
        values.chunks(block.max(1)).map(of).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / jobs as f64;
    let (before, after) = (sums(old), sums(new));
    let means = (mean(old), mean(new));
    let interval = |sums: &[PeriodSum]| positive_mean_interval(sums, options.confidence);
    let intervals = interval(&before).zip(interval(&after));
    let blocks = before.len();
    Some(PairedMeans {
        means,
        intervals: intervals.map(|(before, after)| [before, after]),
        change: relative_change(means.0, means.1),
        interval: MeanDifference::compare_sums(before, after).change_interval(options.confidence),
        blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_values_have_not_changed() {
        let values: Vec<f64> = (0..400).map(|k| f64::from(k % 37)).collect();
        let comparison = paired_means(&values, &values, 50, IntervalOptions::default()).expect("jobs");
        assert_eq!((comparison.change, comparison.interval, comparison.blocks), (Some(0.0), Some((0.0, 0.0)), 8));
        let [(low, high), _] = comparison.intervals.expect("blocks");
        assert!(low < comparison.means.0 && comparison.means.0 < high);
    }

    /// Every value is halved: whatever is drawn, the change is one half.
    #[test]
    fn a_change_of_all_is_seen_exactly() {
        let old: Vec<f64> = (1..=500).map(f64::from).collect();
        let new: Vec<f64> = old.iter().map(|value| value / 2.0).collect();
        let comparison = paired_means(&old, &new, 50, IntervalOptions::default()).expect("jobs");
        let (low, high) = comparison.interval.expect("blocks");
        assert!((low + 0.5).abs() < 1e-12 && (high + 0.5).abs() < 1e-12);
    }

    #[test]
    fn few_jobs_have_no_interval() {
        let comparison = paired_means(&[1.0, 2.0], &[2.0, 2.0], 50, IntervalOptions::default()).expect("jobs");
        assert_eq!((comparison.means, comparison.intervals, comparison.interval), ((1.5, 2.0), None, None));
        assert_eq!(paired_means(&[], &[], 50, IntervalOptions::default()), None);
    }
}
