//! The paired bootstrap over weeks.

use super::compare::relative;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Draws of weeks with replacement, kept as how often each week was drawn, so that all policies see
/// the same ones.
#[derive(Clone, Debug)]
pub(super) struct Bootstrap {
    weeks: usize,
    /// One row of `weeks` numbers per draw.
    drawn: Vec<u32>,
}

/// The sum of a measure over the jobs of a week, and their number.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sums {
    pub(super) sum: f64,
    pub(super) count: f64,
}

impl Bootstrap {
    /// Draws `weeks` weeks out of as many, `resamples` times. `weeks` must be positive.
    pub(super) fn new(weeks: usize, resamples: u32, seed: u64) -> Bootstrap {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // 32-bit draws are the same on machines of any word size.
        let range = u32::try_from(weeks).unwrap_or(u32::MAX);
        let mut drawn = vec![0; weeks * resamples as usize];
        for row in drawn.chunks_exact_mut(weeks) {
            for _ in 0..weeks {
                row[rng.random_range(0..range) as usize] += 1;
            }
        }
        Bootstrap { weeks, drawn }
    }

    /// Percentile interval for the mean. `None` where there is nothing to draw from.
    pub(super) fn mean_interval(&self, weeks: &[Sums], confidence: f64) -> Option<(f64, f64)> {
        let mut means: Vec<f64> = self.drawn.chunks_exact(self.weeks).filter_map(|row| mean(row, weeks)).collect();
        means.sort_unstable_by(f64::total_cmp);
        let last = means.len().checked_sub(1)?;
        let tail = ((1.0 - confidence) / 2.0 * last as f64).floor() as usize;
        Some((means[tail], means[last - tail]))
    }

    /// Percentile interval for the relative change of the mean from `old` to `new`. `None` where so
    /// many draws have no ratio (an old mean of 0) that a border of the interval has none.
    pub(super) fn interval(&self, old: &[Sums], new: &[Sums], confidence: f64) -> Option<(f64, f64)> {
        let mut changes: Vec<f64> = self
            .drawn
            .chunks_exact(self.weeks)
            .map(|row| {
                let change = mean(row, old).zip(mean(row, new));
                // From nothing to something: larger than any number.
                change.map_or(f64::NAN, |(old, new)| relative(old, new).unwrap_or(f64::INFINITY))
            })
            .collect();
        changes.sort_unstable_by(f64::total_cmp);
        // The outer neighbours of the percentiles: rather a little too wide than too narrow.
        let last = changes.len().checked_sub(1)?;
        let tail = (1.0 - confidence) / 2.0 * last as f64;
        let (low, high) = (changes[tail.floor() as usize], changes[last - tail.floor() as usize]);
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

/// The mean over the jobs of the drawn weeks; `None` where they have no job.
fn mean(row: &[u32], weeks: &[Sums]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (&times, week) in row.iter().zip(weeks) {
        sum += f64::from(times) * week.sum;
        count += f64::from(times) * week.count;
    }
    (count > 0.0).then(|| sum / count)
}
