//! Arrivals with a daily cycle, by Lublin & Feitelson (source: see [`super::jobs`]).
//!
//! A gap between arrivals is drawn as a number of points; each second costs as many points as the
//! weight of its half-hour, so that gaps are short where the weight is high and the nights are
//! stretched. The weights average 1: a day holds as many points as seconds.
//!
//! Deviation from the paper: to meet a target load the *points* are scaled before they are spent,
//! not the seconds afterwards. Scaling seconds would stretch or squeeze the day itself (a load of
//! twice the natural one would give days of 12 hours). The gaps are scaled by the same factor
//! either way.

use super::jobs::{Gamma, TypeClass};
use super::random::RandomStream;

const BUCKETS: usize = 48;
const BUCKET_SECONDS: f64 = 1_800.0;
const DAY: f64 = 86_400.0;
/// The day of the model begins at 11:00.
const FIRST_BUCKET: usize = 22;
/// Gaps are redrawn while their logarithm exceeds this: about five days.
const LONGEST_LOG_GAP: f64 = 13.0;

/// Distribution of a day's points over its half-hours.
pub(super) struct Cycle {
    /// Points spent from midnight to the start of each half-hour; the last entry is the whole day.
    before: [f64; BUCKETS + 1],
}

impl Cycle {
    /// The cycle whose weights follow this gamma distribution.
    pub(super) fn new(gamma: Gamma) -> Cycle {
        let weights = bucket_weights(gamma);
        let mut before = [0.0; BUCKETS + 1];
        for (i, weight) in weights.iter().enumerate() {
            before[i + 1] = before[i] + weight * BUCKET_SECONDS;
        }
        Cycle { before }
    }

    /// Seconds since the first midnight when this many points have been spent since then.
    pub(super) fn seconds_at(&self, points: f64) -> f64 {
        let day = libm::floor(points / self.before[BUCKETS]);
        let rest = points - day * self.before[BUCKETS];
        let bucket = self.before[1..BUCKETS].partition_point(|&p| p <= rest);
        let weight = (self.before[bucket + 1] - self.before[bucket]) / BUCKET_SECONDS;
        day * DAY + bucket as f64 * BUCKET_SECONDS + (rest - self.before[bucket]) / weight
    }
}

/// Weights of the half-hours from midnight on, with mean 1.
pub(super) fn bucket_weights((shape, scale): Gamma) -> [f64; BUCKETS] {
    let mut weights = [0.0; BUCKETS];
    for i in FIRST_BUCKET..FIRST_BUCKET + BUCKETS {
        let at = |x: f64| lower_gamma(shape, x / scale);
        weights[i % BUCKETS] = at(i as f64 + 0.5) - at(i as f64 - 0.5);
    }
    let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
    weights.map(|w| w / mean)
}

/// The lower incomplete gamma function γ(a, x) by its series, all of whose terms are positive. The
/// constant 1/Γ(a) of the distribution function is left out: it cancels when the weights are
/// normalised.
fn lower_gamma(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = a;
    while term > sum * 1e-17 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum * libm::exp(a * libm::log(x) - x)
}

/// Draws the arrivals of one type of job, in points since the first midnight.
pub(super) struct ArrivalSource {
    shape: f64,
    scale: f64,
    points: f64,
    stream: RandomStream,
}

impl ArrivalSource {
    /// Arrivals of `class`; the first comes one gap after midnight.
    pub(super) fn new(class: &TypeClass, stream: RandomStream) -> ArrivalSource {
        ArrivalSource { shape: class.rush_gap.0 * class.all_over_rush, scale: class.rush_gap.1, points: 0.0, stream }
    }

    pub(super) fn next(&mut self) -> f64 {
        loop {
            let log = self.stream.draw_gamma(self.shape, self.scale);
            if log <= LONGEST_LOG_GAP {
                self.points += libm::exp(log);
                return self.points;
            }
        }
    }
}

/// The factor on all points that makes the time between the first and the last arrival of all types
/// `span` seconds.
///
/// `ends` has for each type its cycle and its first and last arrival in points. Found by bisection
/// to the last bit; the span reached differs by rounding only.
pub(super) fn factor_for_span(ends: &[(&Cycle, f64, f64)], span: f64) -> f64 {
    let reached_span = |factor: f64| {
        let first = ends.iter().map(|(c, first, _)| c.seconds_at(factor * first)).fold(f64::INFINITY, f64::min);
        let last = ends.iter().map(|(c, _, last)| c.seconds_at(factor * last)).fold(0.0, f64::max);
        last - first
    };
    let (mut low, mut high) = (0.0, 1.0);
    while reached_span(high) < span {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if reached_span(middle) < span {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::jobs::{BATCH, INTERACTIVE, TYPELESS};
    use super::{Cycle, DAY, bucket_weights, factor_for_span};
    use statrs::distribution::{ContinuousCDF, Gamma};

    #[test]
    fn weights_are_differences_of_the_distribution_function() {
        for class in [&TYPELESS, &BATCH, &INTERACTIVE] {
            let gamma = Gamma::new(class.cycle.0, 1.0 / class.cycle.1).expect("valid");
            let part = |i: usize| gamma.cdf(i as f64 + 0.5) - gamma.cdf(i as f64 - 0.5);
            let mean = (22..70).map(part).sum::<f64>() / 48.0;
            let weights = bucket_weights(class.cycle);
            for i in 22..70 {
                assert!((weights[i % 48] - part(i) / mean).abs() < 1e-9, "half-hour {i}");
            }
        }
    }

    #[test]
    fn a_day_holds_as_many_points_as_seconds_and_nights_are_stretched() {
        let cycle = Cycle::new(TYPELESS.cycle);
        assert_eq!(cycle.seconds_at(0.0), 0.0);
        assert!((cycle.seconds_at(DAY * 10.0) - DAY * 10.0).abs() < 1e-3);
        let mut last = 0.0;
        for step in 1..2_000 {
            let now = cycle.seconds_at(f64::from(step) * 100.0);
            assert!(now > last);
            last = now;
        }
        // The weight of a half-hour is the inverse of what a point costs there.
        let weights = bucket_weights(TYPELESS.cycle);
        for (i, weight) in weights.iter().enumerate() {
            let before: f64 = weights[..i].iter().sum::<f64>() * 1_800.0;
            let took = cycle.seconds_at(before + 2.0 * weight) - cycle.seconds_at(before + weight);
            assert!((took - 1.0).abs() < 1e-6, "half-hour {i}: {took}");
        }
    }

    #[test]
    fn the_factor_meets_the_span() {
        let cycle = Cycle::new(TYPELESS.cycle);
        for span in [1.0, 1e3, 1e5, 1e9] {
            let factor = factor_for_span(&[(&cycle, 163.0, 5e6)], span);
            let drawn_seconds = cycle.seconds_at(factor * 5e6) - cycle.seconds_at(factor * 163.0);
            assert!((drawn_seconds - span).abs() < 1e-6 * span, "{span}: {drawn_seconds}");
        }
    }
}
