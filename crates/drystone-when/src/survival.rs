//! The Kaplan-Meier estimate: a distribution of values of which some are known to be larger only.

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
    pub(crate) fn of(seen: &mut [SeenValue]) -> SurvivalCurve {
        SurvivalCurve::weighted(&mut seen.iter().map(|&seen| (seen, 1.0)).collect::<Vec<_>>())
    }

    /// The estimate from values of which some count for less than one.
    pub(crate) fn weighted(seen: &mut [(SeenValue, f64)]) -> SurvivalCurve {
        seen.sort_by(|(a, _), (b, _)| a.value.total_cmp(&b.value).then(b.known.cmp(&a.known)));
        // Weights from here on, added from the end: differences of sums would lose the small ones.
        let mut at_risk: Vec<f64> = seen.iter().map(|one| one.1).collect();
        for at in (0..at_risk.len().saturating_sub(1)).rev() {
            at_risk[at] += at_risk[at + 1];
        }
        let (mut left, mut points) = (1.0, Vec::with_capacity(seen.len()));
        for ((one, weight), at_risk) in seen.iter().zip(at_risk) {
            if one.known {
                left *= 1.0 - weight / at_risk;
                points.push((one.value, 1.0 - left));
            }
        }
        SurvivalCurve { points }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bounded_only_weighs_on_what_is_larger() {
        // By hand: of five, one at 1; two at risk of three at 3 after one was lost at 2; the last
        // at 4 of two.
        let seen = |value: f64, known| SeenValue { value, known };
        let mut list = [seen(4.0, true), seen(1.0, true), seen(2.0, false), seen(3.0, true), seen(5.0, false)];
        let curve = SurvivalCurve::of(&mut list);
        let left = [0.8, 0.8 * 2.0 / 3.0, 0.8 * 2.0 / 3.0 / 2.0];
        for (point, (value, left)) in curve.points.iter().zip([1.0, 3.0, 4.0].into_iter().zip(left)) {
            assert!((point.0 - value).abs() < 1e-12 && (point.1 - (1.0 - left)).abs() < 1e-12, "{point:?}");
        }
        assert_eq!(curve.quantile(0.19), Some(1.0));
        assert_eq!(curve.quantile(0.5), Some(4.0));
        assert_eq!(curve.quantile(0.99), Some(4.0));
        assert_eq!(SurvivalCurve::default().quantile(0.5), None);
        assert!((SurvivalCurve::default().unit_quantile(0.3) - 0.3).abs() < 1e-12);
    }
}
