//! Random numbers of searches and of resampled workloads: streams of their own, so that a resumed
//! search goes on as if it had never stopped.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random numbers.
pub struct RandomDraw(ChaCha8Rng);

impl RandomDraw {
    /// The stream of this number.
    pub fn new(seed: u64, stream: u64) -> RandomDraw {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        RandomDraw(rng)
    }

    /// A whole number below `limit`, which is at least 1.
    pub fn draw_below(&mut self, limit: usize) -> usize {
        let limit = u32::try_from(limit.max(1)).unwrap_or(u32::MAX);
        self.0.random_range(0..limit) as usize
    }

    /// Returns true with this probability, in percent.
    pub fn draw_chance(&mut self, percent: usize) -> bool {
        self.draw_below(100) < percent
    }

    /// One of several, of which there is at least one.
    pub fn pick_one<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.draw_below(from.len())]
    }

    /// A number from 0 up to, but not including, 1.
    pub fn draw_unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number of the standard normal distribution.
    pub fn draw_normal(&mut self) -> f64 {
        // The sum of twelve uniform numbers: no logarithm, and near enough for steps of a search.
        (0..12).map(|_| self.draw_unit()).sum::<f64>() - 6.0
    }

    /// Puts things in random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.draw_below(at + 1));
        }
    }
}
