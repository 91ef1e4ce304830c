//! Families of tests.

use crate::model::SharedSort;

/// Returns the p values of a family of tests, corrected for their number by Holm's method (1979):
/// the smallest times n, the next times n − 1, and so on, none smaller than the one before and none
/// above 1. Rejecting what is below α keeps the probability of any wrong rejection below α,
/// whatever depends on what.
#[must_use]
pub fn correct_family(values: &[f64]) -> Vec<f64> {
    correct_among(values, values.len())
}

/// Returns the p values of some tests of a larger family, corrected for its size: those that were
/// not made count as p = 1.
#[must_use]
pub fn correct_among(values: &[f64], family: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_shared_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let (mut corrected_values, mut least) = (vec![0.0; values.len()], 0.0_f64);
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(values[at] * family.saturating_sub(rank).max(1) as f64).min(1.0);
        corrected_values[at] = least;
    }
    corrected_values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holm's method by hand: 0.01·4, 0.02·3, 0.03·2 and 0.04·1, of which the last two are no
    /// smaller than the one before.
    #[test]
    fn corrections_by_hand() {
        assert_eq!(correct_family(&[0.02, 0.01, 0.04, 0.03]), [0.06, 0.04, 0.06, 0.06]);
        assert_eq!(correct_family(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(correct_family(&[]).is_empty());
        // Two of three tests: 0.01·3, and 0.02·2, which is no smaller.
        assert_eq!(correct_among(&[0.02, 0.01], 3), [0.04, 0.03]);
    }
}
