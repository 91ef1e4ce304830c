//! Certainty of an error, from sums over blocks of time.

use super::errors::WaitPairs;
use drystone::inference::{PeriodSum, mean_interval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An interval that holds what it is about in 95 of 100 cases.
pub type Interval = (f64, f64);

/// Intervals of what is a mean over jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Intervals {
    /// Blocks of time that intervals were made from: weeks or, of less than six, days.
    pub blocks: u64,
    /// Seconds of one.
    pub block: i64,
    /// Of replayed less recorded mean wait.
    pub mean_error: Option<Interval>,
    pub mean_distance: Option<Interval>,
    /// Of the share of jobs within a minute.
    pub within_minute: Option<Interval>,
    pub within_ten_minutes: Option<Interval>,
    pub within_hour: Option<Interval>,
}

/// Sums over a block: jobs, and the five means.
type BlockSums = [f64; 6];

/// The intervals, with the confidence of 0.95.
pub(super) fn error_intervals(waits: &WaitPairs, block: i64) -> Intervals {
    let mut of_block: BTreeMap<i64, BlockSums> = BTreeMap::new();
    for ((record_wait, replay_wait), at) in waits.recorded.iter().zip(&waits.replayed).zip(&waits.blocks) {
        let distance = (replay_wait - record_wait).abs();
        let near = |limit: f64| f64::from(u8::from(distance <= limit));
        let values = [1.0, replay_wait - record_wait, distance, near(60.0), near(600.0), near(3_600.0)];
        let sums = of_block.entry(*at).or_default();
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let blocks: Vec<BlockSums> = of_block.into_values().collect();
    let of = |at: usize| {
        let sums: Vec<PeriodSum> = blocks.iter().map(|block| PeriodSum { sum: block[at], count: block[0] }).collect();
        mean_interval(&sums, 0.95)
    };
    // A share is no smaller than none and no larger than all.
    let share = |at: usize| of(at).map(|(low, high)| (low.max(0.0), high.min(1.0)));
    Intervals {
        blocks: blocks.len() as u64,
        block,
        mean_error: of(1),
        mean_distance: of(2).map(|(low, high)| (low.max(0.0), high)),
        within_minute: share(3),
        within_ten_minutes: share(4),
        within_hour: share(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_have_no_width_and_few_none() {
        let waits = |blocks: i64| WaitPairs {
            recorded: (0..blocks).flat_map(|_| [0.0, 100.0]).collect(),
            replayed: (0..blocks).flat_map(|_| [30.0, 100.0]).collect(),
            blocks: (0..blocks).flat_map(|b| [b, b]).collect(),
        };
        let intervals = error_intervals(&waits(10), 86_400);
        assert_eq!((intervals.mean_error, intervals.within_minute), (Some((15.0, 15.0)), Some((1.0, 1.0))));
        assert_eq!(error_intervals(&waits(3), 86_400).mean_error, None);
    }
}
