//! Distances between distributions, correlations of ranks, errors of series.

use drystone::model::SharedSort;

/// Ascending.
pub(super) fn sort_values(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Wasserstein-1 distance between two samples of the same size, each ascending: the mean distance
/// between values of equal rank.
pub(super) fn wasserstein_distance(a: &[f64], b: &[f64]) -> Option<f64> {
    (!a.is_empty() && a.len() == b.len())
        .then(|| a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>() / a.len() as f64)
}

/// The largest distance between the empirical distributions of two samples (Kolmogorov-Smirnov),
/// each ascending.
pub(super) fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let at = a[i].min(b[j]);
        while i < a.len() && a[i] <= at {
            i += 1;
        }
        while j < b.len() && b[j] <= at {
            j += 1;
        }
        most = most.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    Some(most)
}

/// Pearson's correlation; `None` where one does not vary.
pub(super) fn pearson_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len();
    if n < 2 || n != b.len() {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
    let (ma, mb) = (mean(a), mean(b));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        xy += (x - ma) * (y - mb);
        xx += (x - ma) * (x - ma);
        yy += (y - mb) * (y - mb);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Ranks from 1, equal values sharing the mean of theirs.
fn rank_values(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_shared_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|&at| ranks[at] = mean);
        before += equal.len();
    }
    ranks
}

/// Spearman's correlation of ranks.
pub(super) fn spearman_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    pearson_correlation(&rank_values(a), &rank_values(b))
}

/// Kendall's τ-b: the share of pairs in the same order less that in the other, ties taken out. O(n
/// log n), by Knight's method.
pub(super) fn kendall_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len();
    if n < 2 || n != b.len() {
        return None;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_shared_by(|&x, &y| a[x].total_cmp(&a[y]).then(b[x].total_cmp(&b[y])));
    let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let ties_a: f64 = order.chunk_by(|&x, &y| a[x] == a[y]).map(|tie| pairs(tie.len())).sum();
    let ties_both: f64 = order.chunk_by(|&x, &y| a[x] == a[y] && b[x] == b[y]).map(|tie| pairs(tie.len())).sum();
    let mut second: Vec<f64> = order.iter().map(|&at| b[at]).collect();
    let swaps = count_inversions(&mut second);
    let ties_b: f64 = second.chunk_by(|x, y| x == y).map(|tie| pairs(tie.len())).sum();
    let pair_count = pairs(n);
    let concordant_less = pair_count - ties_a - ties_b + ties_both - 2.0 * swaps;
    let scale = ((pair_count - ties_a) * (pair_count - ties_b)).sqrt();
    (scale > 0.0).then(|| concordant_less / scale)
}

/// Sorts, and counts the pairs that were in the wrong order.
fn count_inversions(values: &mut [f64]) -> f64 {
    let mut room = values.to_vec();
    let mut count = 0.0;
    let mut width = 1;
    while width < values.len() {
        for from in (0..values.len()).step_by(2 * width) {
            let middle = (from + width).min(values.len());
            let end = (from + 2 * width).min(values.len());
            let (mut i, mut j) = (from, middle);
            for place in &mut room[from..end] {
                if i < middle && (j >= end || values[i] <= values[j]) {
                    *place = values[i];
                    i += 1;
                } else {
                    *place = values[j];
                    j += 1;
                    count += (middle - i) as f64;
                }
            }
        }
        values.copy_from_slice(&room);
        width *= 2;
    }
    count
}

/// Mean error and root of the mean squared error of a series against what was recorded.
pub(super) fn series_errors(simulation: &[f64], record: &[f64]) -> Option<(f64, f64)> {
    let n = simulation.len();
    if n == 0 || n != record.len() {
        return None;
    }
    let differences = || simulation.iter().zip(record).map(|(s, r)| s - r);
    let mean = differences().sum::<f64>() / n as f64;
    let square = differences().map(|d| d * d).sum::<f64>() / n as f64;
    Some((mean, square.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// τ-b by its definition.
    fn naive_kendall(a: &[f64], b: &[f64]) -> Option<f64> {
        let (mut less, mut ties_a, mut ties_b, mut total) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..a.len() {
            for j in i + 1..a.len() {
                total += 1.0;
                let (x, y) = (a[i].total_cmp(&a[j]) as i32, b[i].total_cmp(&b[j]) as i32);
                less += f64::from(x * y);
                ties_a += f64::from(u8::from(x == 0));
                ties_b += f64::from(u8::from(y == 0));
            }
        }
        let scale: f64 = ((total - ties_a) * (total - ties_b)).sqrt();
        (a.len() > 1 && scale > 0.0).then(|| less / scale)
    }

    proptest! {
        #[test]
        fn kendall_is_as_defined(pairs in prop::collection::vec((0..8, 0..8), 0..60)) {
            let a: Vec<f64> = pairs.iter().map(|p| f64::from(p.0)).collect();
            let b: Vec<f64> = pairs.iter().map(|p| f64::from(p.1)).collect();
            match (kendall_correlation(&a, &b), naive_kendall(&a, &b)) {
                (Some(x), Some(y)) => prop_assert!((x - y).abs() < 1e-9, "{x} {y}"),
                (x, y) => prop_assert_eq!(x, y),
            }
        }

        #[test]
        fn equal_samples_are_at_no_distance(values in prop::collection::vec(0..1000, 1..50)) {
            let a = sort_values(values.iter().map(|&v| f64::from(v)).collect());
            prop_assert_eq!(wasserstein_distance(&a, &a), Some(0.0));
            prop_assert_eq!(kolmogorov_smirnov(&a, &a), Some(0.0));
            let shift_values: Vec<f64> = a.iter().map(|v| v + 3.0).collect();
            prop_assert!((wasserstein_distance(&a, &shift_values).unwrap_or(0.0) - 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn small_cases_by_hand() {
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: known to be 0.9487.
        let rho = spearman_correlation(&[1.0, 5.0, 5.0, 9.0], &[1.0, 2.0, 3.0, 4.0]).unwrap_or(0.0);
        assert!((rho - 0.948_683).abs() < 1e-5, "{rho}");
        // Two of four values lie below all of the other sample.
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0, 5.0, 6.0], &[5.0, 5.5, 6.0, 7.0]), Some(0.5));
        let (mean, root) = series_errors(&[1.0, 3.0], &[0.0, 0.0]).unwrap_or_default();
        assert_eq!((mean, root * root), (2.0, 5.000_000_000_000_001));
        assert_eq!(pearson_correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
