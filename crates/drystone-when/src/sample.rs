//! A sample of times as a distribution, with a tail (for what no sample has seen).

use serde::{Deserialize, Serialize};

/// Largest scale in seconds of delays for reasons that no future has. Where all futures agree on
/// half a minute, a start may be five minutes later. That is no reason to expect hours of delay
/// where the futures differ by hours.
pub(crate) const MOST_DELAY_SCALE: u32 = 600;

/// A predictive sample of the time from the question to the start, in seconds, as a distribution:
/// at the i-th of n values it is i/(n + 1), linear in between and from 0 on, and behind the last
/// the rest falls off with the square of the distance. This tail keeps starts far behind all
/// futures from widening other answers by more than their own delay.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StartSample {
    /// Ascending.
    values: Vec<i64>,
    /// Number of them that are no starts, but the end of the futures simulated.
    beyond: u32,
    /// Scale in seconds of delays for reasons that no future has.
    delay_scale: u32,
}

impl StartSample {
    /// The distribution of these times; `None` is a future without a start until `horizon`.
    #[must_use]
    pub fn new(times: impl IntoIterator<Item = Option<i64>>, horizon: i64) -> StartSample {
        let mut beyond = 0;
        let mut values: Vec<i64> = times
            .into_iter()
            .map(|time| {
                beyond += u32::from(time.is_none());
                time.unwrap_or(horizon).min(horizon)
            })
            .collect();
        values.sort_unstable();
        StartSample { values, beyond, delay_scale: MOST_DELAY_SCALE }
    }

    /// Sets the scale of the tail, in seconds: on a machine whose jobs take a minute, what no
    /// future has seen takes minutes too.
    #[must_use]
    pub(crate) fn with_delay_scale(self, seconds: u32) -> StartSample {
        StartSample { delay_scale: seconds.clamp(1, MOST_DELAY_SCALE), ..self }
    }

    /// Another distribution with as many futures without a start.
    pub(crate) fn with_values(&self, values: impl Iterator<Item = i64>) -> StartSample {
        let mut values: Vec<i64> = values.map(|value| value.max(1)).collect();
        values.sort_unstable();
        StartSample { values, beyond: self.beyond, delay_scale: self.delay_scale }
    }

    /// The times, ascending.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Returns the share of the futures without a start until the horizon.
    #[must_use]
    pub fn share_beyond(&self) -> f64 {
        if self.values.is_empty() { 0.0 } else { f64::from(self.beyond) / self.values.len() as f64 }
    }

    fn tail_scale(&self) -> f64 {
        let last = self.values.last().copied().unwrap_or(0) as f64;
        (last - self.median_time()) / 2.0 + last / 10.0 + f64::from(self.delay_scale)
    }

    fn median_time(&self) -> f64 {
        let n = self.values.len();
        match n {
            0 => 0.0,
            _ if n % 2 == 1 => self.values[n / 2] as f64,
            _ => (self.values[n / 2 - 1] + self.values[n / 2]) as f64 / 2.0,
        }
    }

    /// The probability of no longer than `time`; within equal values at the place that `tie` gives,
    /// from 0 to 1.
    #[must_use]
    pub fn level_at(&self, time: f64, tie: f64) -> f64 {
        let n = self.values.len() as f64;
        let below = self.values.partition_point(|&value| (value as f64) < time);
        let upto = self.values.partition_point(|&value| (value as f64) <= time);
        if upto > below {
            // From the first to the last of the equal ones; before them lies the way to the first.
            let (first, last) = ((below + 1) as f64, upto as f64);
            return (first + (last - first) * tie) / (n + 1.0);
        }
        let Some(&next) = self.values.get(below) else {
            let last = self.values.last().copied().unwrap_or(0) as f64;
            let distance = 1.0 + (time - last) / self.tail_scale();
            return 1.0 - 1.0 / (distance * distance * (n + 1.0));
        };
        let before = below.checked_sub(1).map_or(0.0, |at| self.values[at] as f64);
        let way = (time - before) / (next as f64 - before);
        ((below as f64 + way) / (n + 1.0)).max(0.0)
    }

    /// The time at a level.
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        let n = self.values.len();
        let place = level.clamp(0.0, 1.0 - 1e-9) * (n + 1) as f64;
        let below = place.floor() as usize;
        let at = |i: usize| i.checked_sub(1).map_or(0.0, |at| self.values[at] as f64);
        if below >= n {
            let remaining_mass = ((1.0 - level.min(1.0 - 1e-9)) * (n + 1) as f64).min(1.0);
            return at(n) + self.tail_scale() * (1.0 / libm::sqrt(remaining_mass) - 1.0);
        }
        at(below) + (at(below + 1) - at(below)) * (place - below as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn between_values_it_is_linear_and_behind_them_it_falls_with_the_square() {
        let sample = StartSample::new([Some(30), Some(10), Some(20)], 1000);
        for (time, level) in [(0.0, 0.0), (5.0, 0.125), (10.0, 0.25), (15.0, 0.375), (30.0, 0.75)] {
            assert!((sample.level_at(time, 0.5) - level).abs() < 1e-12, "{time}");
            assert!((sample.quantile(level) - time).abs() < 1e-9, "{level}");
        }
        // (30 − 20)/2 + 30/10 + 600 = 608: one scale behind the last, a sixteenth is left.
        assert!((sample.level_at(638.0, 0.5) - (1.0 - 0.25 / 4.0)).abs() < 1e-12);
        assert!((sample.quantile(1.0 - 0.25 / 9.0) - (30.0 + 2.0 * 608.0)).abs() < 1e-6);
    }

    #[test]
    fn the_tail_of_short_jobs_is_short() {
        let sample = StartSample::new([Some(30), Some(10), Some(20)], 1000).with_delay_scale(42);
        // (30 − 20)/2 + 30/10 + 42 = 50.
        assert!((sample.level_at(80.0, 0.5) - (1.0 - 0.25 / 4.0)).abs() < 1e-12);
        let mixture = sample.with_values([10, 20, 30].into_iter());
        assert_eq!(mixture, sample);
    }

    #[test]
    fn within_ties_the_place_is_given() {
        let sample = StartSample::new([Some(10), Some(10), Some(10)], 1000);
        assert_eq!([0.0, 0.5, 1.0].map(|tie| sample.level_at(10.0, tie)), [0.25, 0.5, 0.75]);
    }

    #[test]
    fn a_future_without_a_start_counts_as_the_horizon() {
        let sample = StartSample::new([Some(10), None, Some(5000), None], 1000);
        assert_eq!(sample.values(), [10, 1000, 1000, 1000]);
        assert!((sample.share_beyond() - 0.5).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn quantiles_invert_levels(values in prop::collection::vec(0i64..100_000, 1..150), level in 0.001f64..0.999) {
            let sample = StartSample::new(values.iter().map(|&v| Some(v)), i64::MAX);
            let time = sample.quantile(level);
            let (low, high) = (sample.level_at(time - 1e-6, 0.0), sample.level_at(time + 1e-6, 1.0));
            prop_assert!(low <= level + 1e-6 && level <= high + 1e-6, "{low} {level} {high}");
        }
    }
}
