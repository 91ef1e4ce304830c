//! Means and quantiles of samples, by their usual definitions.

/// Arithmetic mean, added up in the order of the values; `None` without values.
#[must_use]
pub fn arithmetic_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut count = 0_usize;
    let sum: f64 = values.into_iter().inspect(|_| count += 1).sum();
    (count > 0).then(|| sum / count as f64)
}

/// Index of the `q` quantile among so many ascending values, by nearest rank: that of the smallest
/// value with at least a share `q` at or below it. `None` without values.
#[must_use]
pub fn nearest_rank_index(q: f64, count: usize) -> Option<usize> {
    Some(((q * count as f64).ceil() as usize).saturating_sub(1).min(count.checked_sub(1)?))
}

/// The `q` quantile of ascending values, by nearest rank; `None` without values.
#[must_use]
pub fn nearest_rank_quantile<T: Copy>(ascending: &[T], q: f64) -> Option<T> {
    nearest_rank_index(q, ascending.len()).map(|at| ascending[at])
}

/// The lower of the two middle values, or the one in the middle; `None` without values. Reorders
/// the values, O(n).
pub fn lower_median<T: Ord + Copy>(values: &mut [T]) -> Option<T> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// The upper of the two middle values, or the one in the middle; `None` without values. Reorders
/// the values, O(n).
pub fn upper_median<T: Ord + Copy>(values: &mut [T]) -> Option<T> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

/// A number rounded to this many significant digits, at least one.
#[must_use]
pub fn round_significant(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits.saturating_sub(1)).parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        let values = [10, 20, 30, 40];
        assert_eq!(
            [0.0, 0.25, 0.26, 0.5, 0.75, 1.0].map(|q| nearest_rank_quantile(&values, q)),
            [Some(10), Some(10), Some(20), Some(20), Some(30), Some(40)]
        );
        assert_eq!((lower_median(&mut [4, 1, 3, 2]), upper_median(&mut [4, 1, 3, 2])), (Some(2), Some(3)));
        assert_eq!((lower_median(&mut [5, 1, 3]), upper_median(&mut [5, 1, 3])), (Some(3), Some(3)));
        assert_eq!(arithmetic_mean([1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!((round_significant(123_456.0, 2), round_significant(0.001_236, 3)), (120_000.0, 0.001_24));
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(nearest_rank_quantile::<i64>(&[], 0.5), None);
        assert_eq!(
            (lower_median::<i64>(&mut []), upper_median::<i64>(&mut []), arithmetic_mean([])),
            (None, None, None)
        );
    }
}
