//! The Kaplan-Meier estimate: a distribution of values of which some are known to be larger only.

use drystone_core::model::SharedSort;
use serde::{Deserialize, Serialize};

/// A value, or how large it is at least.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct SeenValue {
    pub(crate) value: f64,
    /// True if it is the value itself.
    pub(crate) known: bool,
}

/// The distribution as points, ascending both in value and in probability.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SurvivalCurve {
    points: Vec<(f64, f64)>,
}

impl SurvivalCurve {
    /// The estimate from these values. Those that are only bounded count as larger than known ones
    /// of the same value.
    pub(crate) fn from_values(values: &mut [SeenValue]) -> SurvivalCurve {
        values.sort_shared_by(|a, b| a.value.total_cmp(&b.value).then(b.known.cmp(&a.known)));
        let (mut survival, mut points) = (1.0, Vec::with_capacity(values.len()));
        for (at, entry) in values.iter().enumerate() {
            if entry.known {
                survival *= 1.0 - 1.0 / (values.len() - at) as f64;
                points.push((entry.value, 1.0 - survival));
            }
        }
        SurvivalCurve { points }
    }

    /// The curve of a value that is yet to come, from values that are worth so many independent
    /// ones.
    ///
    /// The k-th of n values is passed by the next with k/(n + 1), not with k/n: the next may be the
    /// smallest or the largest of all. That is little with a thousand values; but values that hang
    /// together are worth few.
    pub(crate) fn predictive_curve(mut self, worth: f64) -> SurvivalCurve {
        let mut before = 0.0;
        for point in &mut self.points {
            let middle = f64::midpoint(before, point.1);
            before = point.1;
            point.1 = (middle * worth + 0.5) / (worth + 1.0);
        }
        self
    }

    /// The value at a level, for values from 0 to 1: linear between the points, through (0, 0) and
    /// (1, 1).
    pub(crate) fn unit_quantile(&self, level: f64) -> f64 {
        let at = self.points.partition_point(|point| point.1 < level);
        let (x0, y0) = at.checked_sub(1).map_or((0.0, 0.0), |before| self.points[before]);
        let (x1, y1) = self.points.get(at).copied().unwrap_or((1.0, 1.0));
        if y1 <= y0 { x1 } else { x0 + (x1 - x0) * (level - y0) / (y1 - y0) }
    }

    /// The value at a level, for values of any size: that of the point that reaches it, or of the
    /// last one.
    pub(crate) fn quantile(&self, level: f64) -> Option<f64> {
        let at = self.points.partition_point(|point| point.1 < level);
        self.points.get(at).or(self.points.last()).map(|point| point.0)
    }
}

/// Lags over which values are looked at for what they have in common, at most.
const MOST_LAGS: usize = 60;
/// Correlations of this and less are noise.
const NOISE: f64 = 0.05;
/// Fewer values say nothing about it.
const FEWEST: usize = 20;

/// Returns the number of successive values that are worth one independent value: the sum of their
/// autocorrelations over all lags, up to the first that is no more than noise (Geyer 1992).
/// Time: values times lags.
pub(crate) fn values_of_one(values: &[f64]) -> f64 {
    let n = values.len();
    if n < FEWEST {
        return 1.0;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let apart: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let square: f64 = apart.iter().map(|apart| apart * apart).sum();
    let mut sum = 1.0;
    for lag in 1..MOST_LAGS.min(n / 4) {
        let common: f64 = apart.iter().zip(&apart[lag..]).map(|(a, b)| a * b).sum();
        // Also where all values are equal.
        if common <= NOISE * square {
            break;
        }
        sum += 2.0 * common / square;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{DrawPurpose, Draws};

    #[test]
    fn what_is_bounded_only_weighs_on_what_is_larger() {
        // By hand: of five, one at 1; two at risk of three at 3 after one was lost at 2; the last
        // at 4 of two.
        let observation = |value: f64, is_exact| SeenValue { value, known: is_exact };
        let mut list = [
            observation(4.0, true),
            observation(1.0, true),
            observation(2.0, false),
            observation(3.0, true),
            observation(5.0, false),
        ];
        let curve = SurvivalCurve::from_values(&mut list);
        let shares = [0.8, 0.8 * 2.0 / 3.0, 0.8 * 2.0 / 3.0 / 2.0];
        for (point, (value, share)) in curve.points.iter().zip([1.0, 3.0, 4.0].into_iter().zip(shares)) {
            assert!((point.0 - value).abs() < 1e-12 && (point.1 - (1.0 - share)).abs() < 1e-12, "{point:?}");
        }
        assert_eq!(curve.quantile(0.19), Some(1.0));
        assert_eq!(curve.quantile(0.5), Some(4.0));
        assert_eq!(curve.quantile(0.99), Some(4.0));
        assert_eq!(SurvivalCurve::default().quantile(0.5), None);
        assert!((SurvivalCurve::default().unit_quantile(0.3) - 0.3).abs() < 1e-12);
    }

    /// By hand: the next value lies below the k-th of three with k/4.
    #[test]
    fn the_next_of_few_values_may_be_beyond_them() {
        let mut list = [0.2, 0.5, 0.7].map(|value| SeenValue { value, known: true });
        let curve = SurvivalCurve::from_values(&mut list).predictive_curve(3.0);
        for (point, level) in curve.points.iter().zip([0.25, 0.5, 0.75]) {
            assert!((point.1 - level).abs() < 1e-12, "{point:?}");
        }
        // Each as a run of ten equal ones: worth no more, and in the middle of each the same.
        let mut list: Vec<SeenValue> = (0..30).map(|i| SeenValue { value: f64::from(i / 10), known: true }).collect();
        let curve = SurvivalCurve::from_values(&mut list).predictive_curve(3.0);
        let middle = |from: usize| f64::midpoint(curve.points[from + 4].1, curve.points[from + 5].1);
        for (from, level) in [(0, 0.25), (10, 0.5), (20, 0.75)] {
            assert!((middle(from) - level).abs() < 1e-12, "{from}");
        }
    }

    #[test]
    fn values_that_hang_together_are_worth_few() {
        let draws = Draws::new(1, 5);
        let uniform = |i: u64| draws.draw_uniform(DrawPurpose::Own, i);
        let alone: Vec<f64> = (0..1_000).map(uniform).collect();
        assert!((0.9..1.3).contains(&values_of_one(&alone)), "{}", values_of_one(&alone));
        // Runs of ten equal values: correlations of 0.9, 0.8, …, 0.1, twice, and one.
        let runs: Vec<f64> = (0..5_000).map(|i| uniform(i / 10)).collect();
        assert!((9.0..11.0).contains(&values_of_one(&runs)), "{}", values_of_one(&runs));
        assert!((values_of_one(&[0.5; 100]) - 1.0).abs() < 1e-12 && (values_of_one(&[]) - 1.0).abs() < 1e-12);
    }
}
