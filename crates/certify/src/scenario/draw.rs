//! Random numbers that depend on a seed alone, and random jobs.

use super::SleepingJob;

#[derive(Clone, Debug)]
pub struct ScenarioDraw(u64);

impl ScenarioDraw {
    pub(crate) fn new(seed: u64) -> ScenarioDraw {
        ScenarioDraw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    /// A number from 0 to below `below`. SplitMix64.
    pub(crate) fn draw_below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below.max(1)
    }

    /// A number from `from` up to `to`, included.
    pub(crate) fn draw_within(&mut self, from: u32, to: u32) -> u32 {
        from + self.draw_below(u64::from(to - from) + 1) as u32
    }

    pub(crate) fn draw_item<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.draw_below(of.len() as u64) as usize].clone()
    }

    /// True in so many of a hundred cases.
    pub(crate) fn draw_chance(&mut self, percent: u64) -> bool {
        self.draw_below(100) < percent
    }

    /// `count` jobs within `span` seconds, the first six of them in half a second, so that a queue
    /// forms at once. Half of those with a limit of a minute nearly use it.
    pub(crate) fn draw_jobs(&mut self, count: u32, span: u32, sizes: &[u32]) -> Vec<SleepingJob> {
        let mut jobs = Vec::new();
        for k in 0..count {
            let at = if k < 6 { f64::from(k) / 10.0 } else { self.draw_below(u64::from(span) * 10) as f64 / 10.0 };
            let limit = self.draw_item(&[1, 1, 1, 2, 2, 3, 5]);
            let long = limit == 1 && self.draw_chance(30);
            let run = if long { self.draw_within(35, 50) } else { self.draw_within(2, 28) };
            jobs.push(SleepingJob { at, n: self.draw_item(sizes), limit, run, ..SleepingJob::default() });
        }
        jobs.sort_by(|a, b| a.at.total_cmp(&b.at));
        jobs
    }
}
