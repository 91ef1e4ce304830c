//! Intervals of a single mean, by the same blocks as differences.

use super::estimate::{LEAST_UNITS, MeanOf, PeriodSum, blocks_of, spread_of};
use super::student::student_quantile;

/// Interval of the mean over the jobs of all units, which may be negative; `None` without jobs or
/// with fewer than [`LEAST_UNITS`].
#[must_use]
pub fn mean_interval(units: &[PeriodSum], confidence: f64) -> Option<(f64, f64)> {
    let (mean, half) = mean_and_half(units, confidence, |mean| mean)?;
    Some((mean - half, mean + half))
}

/// Interval of a mean that cannot be negative, such as a wait: it does not reach 0. `None` without
/// jobs, with fewer than [`LEAST_UNITS`], and where one block holds all of the sum.
#[must_use]
pub fn positive_mean_interval(units: &[PeriodSum], confidence: f64) -> Option<(f64, f64)> {
    if units.iter().all(|unit| unit.sum == 0.0) {
        return mean_interval(units, confidence);
    }
    let (logarithm, half) = mean_and_half(units, confidence, f64::ln)?;
    Some(((logarithm - half).exp(), (logarithm + half).exp()))
}

/// A function of the mean, and half the width of its interval.
fn mean_and_half(units: &[PeriodSum], confidence: f64, of: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let blocks = blocks_of(units.len());
    if blocks.len() < LEAST_UNITS {
        return None;
    }
    let whole = of(MeanOf::all_but(units, None).mean_value()?);
    let block_means: Vec<f64> =
        blocks.iter().map(|block| MeanOf::all_but(units, Some(block)).mean_value().map(&of)).collect::<Option<_>>()?;
    let (variance, freedom) = spread_of(&block_means);
    let half = if variance > 0.0 { student_quantile(1.0 - confidence, freedom) * variance.sqrt() } else { 0.0 };
    (whole.is_finite() && half.is_finite()).then_some((whole, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five weeks of one job each that wait 1, 2, 3, 4, 5: leaving one out moves the mean by a
    /// quarter of its distance, so that s² is 4/5 · 10/16 = 1/2, and t of two degrees is 4.302653.
    #[test]
    fn a_mean_by_hand() {
        let units = [1.0, 2.0, 3.0, 4.0, 5.0].map(|sum| PeriodSum { sum, count: 1.0 });
        let (low, high) = mean_interval(&units, 0.95).expect("five");
        let half = 4.302_652_73 * 0.5_f64.sqrt();
        assert!((low - (3.0 - half)).abs() < 1e-7 && (high - (3.0 + half)).abs() < 1e-7, "{low} {high}");
        let (low, high) = positive_mean_interval(&units, 0.95).expect("five");
        assert!(0.0 < low && low < 3.0 && 3.0 < high && (low * high - 9.0).abs() < 1e-9);
        assert_eq!(mean_interval(&units[..3], 0.95), None);
        let alike = [PeriodSum { sum: 6.0, count: 2.0 }; 7];
        assert_eq!(mean_interval(&alike, 0.95), Some((3.0, 3.0)));
        assert_eq!(positive_mean_interval(&[PeriodSum { sum: 0.0, count: 2.0 }; 7], 0.95), Some((0.0, 0.0)));
    }
}
