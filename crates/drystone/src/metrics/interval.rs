//! Certainty of a number from a few weeks: the one place that all commands ask.
//!
//! A number θ that is made of sums over periods that follow each other has *influences* u₁ … uₙ:
//! by how much each period moves it, with mean 0. The variance of θ is that of their mean, but
//! neighbours are no independent evidence, for a queue outlives a week. So
//!
//! - covariances of neighbours count, with Bartlett's weights up to a bandwidth b that follows the
//!   measured dependence: twice that of Andrews 1991 for an autoregression of order 1, which has
//!   the least error of the variance where less bias is wanted, and 1.5 at least; the variance is
//!   no smaller than that of independent periods;
//! - the quantile is Student's, with the degrees of freedom of n / b independent batches, and fewer
//!   where a few periods decide: the variance of a sample of kurtosis κ is known as well as one of
//!   a normal sample of 2 / (κ − 1) times the size;
//! - few periods show too thin tails: the kurtosis is drawn towards 6 with the weight of 20
//!   periods.
//!
//! A ratio is judged by its logarithm: three times as much is as far from no change as a third.
//! `docs/measures.md` has how often intervals hold on generated logs; `coverage` of
//! `crates/generators` measures that again.

use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI};

/// Fewer periods than this tell nothing about the variation between periods.
pub const LEAST_PERIODS: usize = 4;

/// Weeks are never quite independent.
const LEAST_BANDWIDTH: f64 = 1.5;
/// The kurtosis that is expected of waits before any is seen, and the periods that it weighs as
/// much as.
const EXPECTED_KURTOSIS: (f64, f64) = (6.0, 20.0);
/// An interval around no change that reaches as far as this factor on either side is not reported.
const SAYS_NOTHING: f64 = 4.0;

/// The sum of something over the jobs of a period, and how many they are.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct PeriodSum {
    /// The sum.
    pub sum: f64,
    /// The number of jobs, or the sum of their weights.
    pub count: f64,
}

/// Half the width of the interval of a number with these influences, in the order of time; `None`
/// of fewer than [`LEAST_PERIODS`].
#[must_use]
pub fn half_width(influences: &[f64], confidence: f64) -> Option<f64> {
    let (variance, freedom) = spread(influences)?;
    Some(student(1.0 - confidence, freedom) * variance.sqrt())
}

/// The variance of a number with these influences, in the order of time, and its degrees of
/// freedom; `None` of fewer than [`LEAST_PERIODS`].
#[must_use]
pub fn spread(influences: &[f64]) -> Option<(f64, f64)> {
    if influences.len() < LEAST_PERIODS {
        return None;
    }
    let n = influences.len() as f64;
    let mean = influences.iter().sum::<f64>() / n;
    let u: Vec<f64> = influences.iter().map(|u| u - mean).collect();
    let covariance = |lag: usize| u[lag..].iter().zip(&u).map(|(a, b)| a * b).sum::<f64>() / n;
    let own = covariance(0);
    if own <= 0.0 {
        return Some((0.0, n - 1.0));
    }
    let bandwidth = bandwidth(covariance(1) / own, n);
    let mut variance = own;
    for lag in 1..bandwidth.ceil() as usize {
        variance += 2.0 * (1.0 - lag as f64 / bandwidth) * covariance(lag);
    }
    let seen = u.iter().map(|u| u.powi(4)).sum::<f64>() / n / (own * own);
    let (expected, weight) = EXPECTED_KURTOSIS;
    let kurtosis = (n * seen + weight * expected) / (n + weight);
    let freedom = (n / bandwidth - 1.0) * (2.0 / (kurtosis - 1.0)).min(1.0);
    Some((variance.max(own) / (n - 1.0), freedom.max(1.0)))
}

/// The bandwidth for a correlation of neighbours among so many. Correlations of few come out too
/// small, by about (1 + 3r) / n.
fn bandwidth(correlation: f64, n: f64) -> f64 {
    let mut r = correlation.clamp(0.0, 0.9);
    if n > 8.0 {
        r = ((r * n + 1.0) / (n - 3.0)).min(0.9);
    }
    let squared = 4.0 * r * r / (1.0 - r * r).powi(2);
    (2.0 * 1.1447 * (squared * n).cbrt()).min((n / 3.0).floor()).max(LEAST_BANDWIDTH)
}

/// Interval of the mean over the jobs of all periods; `None` without jobs or with fewer than
/// [`LEAST_PERIODS`].
#[must_use]
pub fn mean_interval(periods: &[PeriodSum], confidence: f64) -> Option<(f64, f64)> {
    let (mean, influences) = mean(periods)?;
    let half = half_width(&influences, confidence)?;
    Some((mean - half, mean + half))
}

/// The mean over the jobs of all periods, and how much each period moves it.
pub(super) fn mean(periods: &[PeriodSum]) -> Option<(f64, Vec<f64>)> {
    let total = total(periods);
    if total.count <= 0.0 {
        return None;
    }
    let mean = total.sum / total.count;
    let each = total.count / periods.len() as f64;
    Some((mean, periods.iter().map(|p| (p.sum - mean * p.count) / each).collect()))
}

/// Certainty of a change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sureness {
    /// The interval of new / old − 1.
    Interval(f64, f64),
    /// Too few periods, or too unlike each other: nothing can be said.
    TooShort,
    /// There is no ratio: what there was before is 0.
    NoRatio,
}

impl Sureness {
    /// The interval, where there is one.
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        match self {
            Sureness::Interval(low, high) => Some((low, high)),
            Sureness::TooShort | Sureness::NoRatio => None,
        }
    }
}

/// Returns the certainty of the relative change of a mean over jobs, from its sums in the same
/// periods, in the order of time.
#[must_use]
pub fn change_interval(old: &[PeriodSum], new: &[PeriodSum], confidence: f64) -> Sureness {
    let (Some((before, was)), Some((after, is))) = (mean(old), mean(new)) else { return Sureness::NoRatio };
    if before == 0.0 && after == 0.0 {
        return Sureness::Interval(0.0, 0.0);
    }
    if before <= 0.0 {
        return Sureness::NoRatio;
    }
    if old.iter().filter(|period| period.sum > 0.0).count() < LEAST_PERIODS {
        return Sureness::TooShort;
    }
    if after <= 0.0 {
        // All of it is gone, in every period: no logarithm, and no doubt.
        return Sureness::Interval(-1.0, -1.0);
    }
    let influences: Vec<f64> = was.iter().zip(&is).map(|(was, is)| is / after - was / before).collect();
    around((after / before).ln(), half_width(&influences, confidence))
}

/// The interval of a change whose logarithm is known with such an uncertainty.
pub(super) fn around(logarithm: f64, half: Option<f64>) -> Sureness {
    match half {
        None => Sureness::TooShort,
        Some(half) if half > SAYS_NOTHING.ln() && logarithm.abs() <= half => Sureness::TooShort,
        Some(half) => Sureness::Interval((logarithm - half).exp_m1(), (logarithm + half).exp_m1()),
    }
}

/// Returns the certainty of relative changes of numbers that are no plain means: `logarithms`
/// returns them over all periods but one, or over all. What each period moves is found by leaving
/// it out (the jackknife). `extra` are variances of the logarithms from elsewhere, such as phases.
/// Numbers that are not positive have no interval.
#[must_use]
pub fn jackknife(
    periods: usize,
    confidence: f64,
    extra: &[f64],
    mut logarithms: impl FnMut(Option<usize>) -> Vec<f64>,
) -> Vec<Sureness> {
    let all = logarithms(None);
    let without: Vec<Vec<f64>> = (0..periods).map(|period| logarithms(Some(period))).collect();
    let one = |(at, &whole): (usize, &f64)| {
        if !whole.is_finite() {
            return Sureness::NoRatio;
        }
        let influences: Vec<f64> = without.iter().map(|w| (periods as f64 - 1.0) * (whole - w[at])).collect();
        if influences.iter().any(|u| !u.is_finite()) {
            return Sureness::TooShort;
        }
        let Some((variance, freedom)) = spread(&influences) else { return Sureness::TooShort };
        let variance = variance + extra.get(at).copied().unwrap_or(0.0);
        around(whole, Some(student(1.0 - confidence, freedom) * variance.sqrt()))
    };
    all.iter().enumerate().map(one).collect()
}

fn total(periods: &[PeriodSum]) -> PeriodSum {
    periods.iter().fold(PeriodSum::default(), |all, p| PeriodSum { sum: all.sum + p.sum, count: all.count + p.count })
}

/// The number that Student's distribution exceeds in absolute value with this probability (Hill
/// 1970, algorithm 396), for one degree of freedom or more.
#[must_use]
pub fn student(probability: f64, freedom: f64) -> f64 {
    let (p, n) = (probability.clamp(1e-12, 1.0 - 1e-12), freedom.max(1.0));
    if n == 1.0 {
        return 1.0 / (p * FRAC_PI_2).tan();
    }
    if n == 2.0 {
        return (2.0 / (p * (2.0 - p)) - 2.0).sqrt();
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * n;
    let mut y = (d * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = normal(p / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        let inner = ((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0;
        y = ((1.0 / inner + 0.5 / (n + 4.0)) * y - 1.0) * (n + 1.0) / (n + 2.0) + 1.0 / y;
    }
    (n * y).sqrt()
}

/// The number below which a standard normal lies with this probability, by Newton's method on its
/// distribution.
fn normal(probability: f64) -> f64 {
    let mut x = 0.0_f64;
    for _ in 0..60 {
        let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
        let step = (below(x) - probability) / density.max(1e-300);
        // Newton's step overshoots in the tails.
        x -= step.clamp(-0.5, 0.5);
        if step.abs() < 1e-13 {
            break;
        }
    }
    x
}

/// The probability that a standard normal lies below: Marsaglia's series, and a continued fraction
/// in the tails.
fn below(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    if x.abs() > 5.0 {
        let fraction = (1..=60).rev().fold(0.0, |f, k| f64::from(k) / (x.abs() + f));
        let tail = density / (x.abs() + fraction);
        return if x > 0.0 { 1.0 - tail } else { tail };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 && k < 400.0 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * density
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of Student's distribution, two-sided.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, freedom, expected) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 3.0, 3.182),
            (0.05, 4.0, 2.776),
            (0.05, 5.0, 2.571),
            (0.05, 10.0, 2.228),
            (0.05, 30.0, 2.042),
            (0.05, 120.0, 1.980),
            (0.01, 10.0, 3.169),
            (0.10, 7.0, 1.895),
        ] {
            let found = student(probability, freedom);
            assert!((found - expected).abs() < 0.0015, "{probability} {freedom}: {found}, not {expected}");
        }
        let between = [1.2, 1.5, 1.9, 2.5].map(|freedom| student(0.05, freedom));
        assert!(between.is_sorted_by(|a, b| a > b) && between[0] < 12.706, "{between:?}");
    }

    /// Eight periods by hand: u = ±1, ±1, … in turn has no positive correlation, so that b is 1.5,
    /// variance 1 / 7, kurtosis (8·1 + 20·6) / 28 = 32/7, and (8 / 1.5 − 1) · 2 / (25/7) = 2.4267
    /// degrees.
    #[test]
    fn independent_periods_by_hand() {
        let u = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let (variance, freedom) = spread(&u).expect("eight");
        assert!(
            (variance - 1.0 / 7.0).abs() < 1e-12 && (freedom - 13.0 / 3.0 * 0.56).abs() < 1e-12,
            "{variance} {freedom}"
        );
        assert_eq!(spread(&u[..3]), None);
    }

    /// A change that lasts for ten periods counts less often than one that varies in each.
    #[test]
    fn what_lasts_is_less_evidence() {
        let lasting: Vec<f64> = (0..80).map(|k| if k / 10 % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let changing: Vec<f64> = (0..80).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let [lasting, changing] = [&lasting, &changing].map(|u| half_width(u, 0.95).expect("eighty"));
        assert!(lasting > 1.8 * changing, "{lasting} {changing}");
    }

    #[test]
    fn a_ratio_has_a_logarithm() {
        let sums = |values: &[f64]| values.iter().map(|&sum| PeriodSum { sum, count: 1.0 }).collect::<Vec<_>>();
        let old = sums(&[10.0, 20.0, 30.0, 20.0, 10.0, 30.0]);
        let new = sums(&[9.0, 12.0, 14.0, 11.0, 4.0, 16.0]);
        let Sureness::Interval(low, high) = change_interval(&old, &new, 0.95) else { panic!("an interval") };
        let Sureness::Interval(back_low, back_high) = change_interval(&new, &old, 0.95) else { panic!("an interval") };
        // The other way round it is the same statement.
        assert!(((1.0 + low) * (1.0 + back_high) - 1.0).abs() < 1e-12, "{low} {back_high}");
        assert!(((1.0 + high) * (1.0 + back_low) - 1.0).abs() < 1e-12);
        assert!(low < -0.45 && -0.45 < high);
        assert_eq!(change_interval(&old, &sums(&[0.0; 6]), 0.95), Sureness::Interval(-1.0, -1.0));
        assert_eq!(change_interval(&sums(&[0.0; 6]), &old, 0.95), Sureness::NoRatio);
        assert_eq!(change_interval(&old[..3], &new[..3], 0.95), Sureness::TooShort);
    }

    /// Leaving periods out one by one finds what the formula finds, where periods are alike.
    #[test]
    fn the_jackknife_agrees() {
        let value = |k: usize| 100.0 + (k * 37 % 11) as f64;
        let sums = |f: &dyn Fn(usize) -> f64| (0..40).map(|k| PeriodSum { sum: f(k), count: 1.0 }).collect::<Vec<_>>();
        let (old, new) = (sums(&value), sums(&|k| 80.0 + (k * 17 % 13) as f64));
        let logarithms = |left: Option<usize>| {
            let sum =
                |all: &[PeriodSum]| all.iter().enumerate().filter(|(k, _)| Some(*k) != left).map(|(_, p)| p.sum).sum();
            let (old, new): (f64, f64) = (sum(&old), sum(&new));
            vec![(new / old).ln()]
        };
        let by_leaving_out = jackknife(40, 0.95, &[], logarithms)[0].interval().expect("an interval");
        let by_formula = change_interval(&old, &new, 0.95).interval().expect("an interval");
        assert!((by_leaving_out.0 - by_formula.0).abs() < 1e-3 && (by_leaving_out.1 - by_formula.1).abs() < 1e-3);
    }
}
