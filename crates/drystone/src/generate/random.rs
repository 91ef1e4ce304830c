//! Random numbers that are the same everywhere.
//!
//! The crate `rand_distr` is not used: its gamma and normal distributions call `ln` and `exp`
//! through `num-traits`, which switches from `libm` to the platform's own functions as soon as any
//! other crate in the build asks for `num-traits/std`. The same seed would then give different
//! workloads in different builds. Here every transcendental function is `libm`'s, in plain IEEE
//! arithmetic, and the bits come from ChaCha8, whose stream is specified.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Purpose of a stream of random numbers. Each purpose has a stream of its own, so that, say,
/// another target load leaves sizes and run times as they are.
#[derive(Clone, Copy)]
pub(super) enum StreamPurpose {
    Jobs = 1,
    Arrivals = 2,
    Campaigns = 3,
    Sessions = 4,
    Estimates = 5,
    Outages = 6,
}

pub(super) struct RandomStream(ChaCha8Rng);

impl RandomStream {
    /// The stream of this seed, for this purpose, for the `class`-th type of job.
    pub(super) fn new(seed: u64, purpose: StreamPurpose, class: usize) -> RandomStream {
        // The key is the seed itself, not what a helper of some version of some crate makes of it.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        // Classes of jobs are few; nodes may be many, and have the bits above.
        rng.set_stream((class as u64 >> 8) << 16 | (purpose as u64) << 8 | (class as u64 & 0xff));
        RandomStream(rng)
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub(super) fn draw_unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in (0, 1].
    fn positive_unit(&mut self) -> f64 {
        1.0 - self.draw_unit()
    }

    /// Uniform in [low, high).
    pub(super) fn draw_uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.draw_unit()
    }

    /// Uniform in 0 … n − 1, for n > 0; no value is likelier than another by more than n / 2⁶⁴.
    pub(super) fn draw_below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Standard normal: Marsaglia's polar method, the second value of each pair not kept.
    pub(super) fn draw_normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.draw_uniform(-1.0, 1.0), self.draw_uniform(-1.0, 1.0));
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(s) / s);
            }
        }
    }

    /// Gamma with `shape` ≥ 1: Marsaglia & Tsang, "A simple method for generating gamma variables"
    /// (ACM TOMS 26(3), 2000).
    pub(super) fn draw_gamma(&mut self, shape: f64, scale: f64) -> f64 {
        debug_assert!(shape >= 1.0);
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.draw_normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = self.positive_unit();
            // Most draws are accepted by this squeeze, without a logarithm.
            if u < 1.0 - 0.0331 * (x * x) * (x * x) {
                return scale * d * v;
            }
            if libm::log(u) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                return scale * d * v;
            }
        }
    }

    pub(super) fn draw_exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.positive_unit())
    }

    pub(super) fn draw_weibull(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean / libm::tgamma(1.0 + 1.0 / shape);
        scale * libm::pow(-libm::log(self.positive_unit()), 1.0 / shape)
    }

    /// The rest of a time with a Weibull distribution that was met at any moment: a uniform share
    /// of one that was met the likelier the longer it is.
    pub(super) fn weibull_rest(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean / libm::tgamma(1.0 + 1.0 / shape);
        let whole = scale * libm::pow(self.draw_gamma(1.0 + 1.0 / shape, 1.0), 1.0 / shape);
        whole * self.draw_unit()
    }

    /// A whole number ≥ 1 with P(at least k) = k^−`tail`, none above `most`: the heavy tail of
    /// human activity.
    pub(super) fn draw_heavy_tail(&mut self, tail: f64, most: u32) -> u32 {
        libm::pow(self.positive_unit(), -1.0 / tail).min(f64::from(most)) as u32
    }

    /// Puts the items in random order (Fisher & Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.draw_below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RandomStream, StreamPurpose};
    use statrs::distribution::{ContinuousCDF, Gamma, Normal};

    /// Kolmogorov–Smirnov at the significance 0.001.
    fn assert_follows(label: &str, cdf: impl Fn(f64) -> f64, mut draw: impl FnMut() -> f64) {
        let n = 50_000;
        let mut ranks: Vec<f64> = (0..n).map(|_| cdf(draw())).collect();
        ranks.sort_by(f64::total_cmp);
        let n = f64::from(n);
        let d =
            ranks.iter().enumerate().map(|(i, &r)| (r - i as f64 / n).max((i + 1) as f64 / n - r)).fold(0.0, f64::max);
        assert!(d < 1.9495 / n.sqrt(), "{label}: D = {d}");
    }

    #[test]
    fn draws_follow_their_distributions() {
        let mut s = RandomStream::new(7, StreamPurpose::Jobs, 0);
        assert_follows("unit", |x| x, || s.draw_unit());
        let normal = Normal::new(0.0, 1.0).expect("valid");
        assert_follows("normal", |x| normal.cdf(x), || s.draw_normal());
        assert_follows("exponential", |x| 1.0 - (-x / 3.0).exp(), || s.draw_exponential(3.0));
        for (shape, scale) in [(1.0, 2.0), (4.2, 0.94), (639.1, 0.0156)] {
            let gamma = Gamma::new(shape, 1.0 / scale).expect("valid");
            assert_follows("gamma", |x| gamma.cdf(x), || s.draw_gamma(shape, scale));
        }
    }

    /// P(rest > x) is the integral of P(X > y) from x on over the mean: for the shape 0.5 and the
    /// scale s, with r = √(x / s), e^-r (1 + r).
    #[test]
    fn weibull_times_and_their_rests_follow_their_distributions() {
        let mut s = RandomStream::new(9, StreamPurpose::Outages, 0);
        let scale = 3.0 / statrs::function::gamma::gamma(1.0 + 1.0 / 0.7);
        assert_follows("weibull", |x| 1.0 - (-(x / scale).powf(0.7)).exp(), || s.draw_weibull(3.0, 0.7));
        let root = |x: f64| (x / 1.5).sqrt();
        assert_follows("rest", |x| 1.0 - (-root(x)).exp() * (1.0 + root(x)), || s.weibull_rest(3.0, 0.5));
        assert_follows("exponential", |x| 1.0 - (-x / 3.0).exp(), || s.weibull_rest(3.0, 1.0));
    }

    #[test]
    fn heavy_tails_fall_as_a_power() {
        let mut s = RandomStream::new(8, StreamPurpose::Jobs, 0);
        let draws: Vec<u32> = (0..100_000).map(|_| s.draw_heavy_tail(1.5, 1_000)).collect();
        for k in [1_u32, 2, 5, 20] {
            let share = draws.iter().filter(|&&d| d >= k).count() as f64 / 1e5;
            let expected = f64::from(k).powf(-1.5);
            let bound = 3.29 * (expected * (1.0 - expected) / 1e5).sqrt();
            assert!((share - expected).abs() <= bound, "{k}: {share}, {expected}");
        }
        assert!(draws.iter().all(|d| (1..=1_000).contains(d)));
    }

    #[test]
    fn every_purpose_and_class_has_a_stream_of_its_own() {
        let first = |purpose, class| RandomStream::new(1, purpose, class).draw_below(u64::MAX);
        let mut draws = vec![
            first(StreamPurpose::Jobs, 0),
            first(StreamPurpose::Jobs, 1),
            first(StreamPurpose::Arrivals, 0),
            RandomStream::new(2, StreamPurpose::Jobs, 0).draw_below(u64::MAX),
        ];
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), 4);
    }
}
