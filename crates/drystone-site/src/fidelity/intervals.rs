//! How sure an error is: blocks of time are drawn again and again.

use super::errors::Waits;
use super::stats::{quantile, sorted};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An interval that holds 95 of 100 draws.
pub type Interval = (f64, f64);

/// Intervals of what is a mean over jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Intervals {
    /// Blocks of time that were drawn from: weeks or, of less than six, days.
    pub blocks: u64,
    /// Seconds of one.
    pub block: i64,
    /// Of replayed less recorded mean wait.
    pub mean_error: Option<Interval>,
    /// Of the mean distance.
    pub mean_distance: Option<Interval>,
    /// Of the share of jobs within a minute.
    pub within_minute: Option<Interval>,
    /// Within ten minutes.
    pub within_ten_minutes: Option<Interval>,
    /// Within an hour.
    pub within_hour: Option<Interval>,
}

/// Draws.
const DRAWS: usize = 2_000;
/// Of fewer blocks nothing is said.
const FEWEST: usize = 4;

/// What is summed up over a block: jobs, and the five means.
type Sums = [f64; 6];

/// Draws blocks with replacement.
pub(super) fn intervals(waits: &Waits, block: i64, seed: u64) -> Intervals {
    let mut of_block: BTreeMap<i64, Sums> = BTreeMap::new();
    for ((recorded, replayed), at) in waits.recorded.iter().zip(&waits.replayed).zip(&waits.blocks) {
        let distance = (replayed - recorded).abs();
        let near = |limit: f64| f64::from(u8::from(distance <= limit));
        let values = [1.0, replayed - recorded, distance, near(60.0), near(600.0), near(3_600.0)];
        let sums = of_block.entry(*at).or_default();
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let blocks: Vec<Sums> = of_block.into_values().collect();
    let mut found = Intervals { blocks: blocks.len() as u64, block, ..Intervals::default() };
    if blocks.len() < FEWEST {
        return found;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::with_capacity(DRAWS));
    for _ in 0..DRAWS {
        let mut sums: Sums = [0.0; 6];
        for _ in 0..blocks.len() {
            let block = &blocks[random.random_range(0..blocks.len())];
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        drawn.iter_mut().zip(&sums[1..]).for_each(|(all, sum)| all.push(sum / sums[0]));
    }
    let [mean, distance, minute, ten, hour] = drawn.map(|values| {
        let values = sorted(values);
        quantile(&values, 0.025).zip(quantile(&values, 0.975))
    });
    (found.mean_error, found.mean_distance) = (mean, distance);
    (found.within_minute, found.within_ten_minutes, found.within_hour) = (minute, ten, hour);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_have_no_width_and_few_none() {
        let waits = |blocks: i64| Waits {
            recorded: (0..blocks).flat_map(|_| [0.0, 100.0]).collect(),
            replayed: (0..blocks).flat_map(|_| [30.0, 100.0]).collect(),
            blocks: (0..blocks).flat_map(|b| [b, b]).collect(),
        };
        let found = intervals(&waits(10), 86_400, 1);
        assert_eq!((found.mean_error, found.within_minute), (Some((15.0, 15.0)), Some((1.0, 1.0))));
        assert_eq!(intervals(&waits(3), 86_400, 1).mean_error, None);
    }
}
