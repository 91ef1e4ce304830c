//! The mean of several ratios of two policies, with an interval, a test against no change, and the
//! correction for many such tests.

use super::interval::{PeriodSum, Sureness, around, mean, spread, student};
use crate::model::SharedSort;

/// The sums of one measure in the same periods, in the order of time: under one policy and under
/// another.
pub type PairedSums = (Vec<PeriodSum>, Vec<PeriodSum>);

/// Distance of one policy from another over several measures of several workloads: the mean of the
/// logarithms of new / old.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contrast {
    /// The mean logarithm.
    pub logarithm: f64,
    /// Its variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
}

impl Contrast {
    /// From the sums per period of each workload, one pair for each measure. Periods of a workload
    /// belong together: its measures move each other's influences. Workloads are independent, and
    /// their degrees of freedom are added up as Welch and Satterthwaite do. `None` where a mean is
    /// not positive or a workload has too few periods.
    #[must_use]
    pub fn of(workloads: &[Vec<PairedSums>]) -> Option<Contrast> {
        let ratios = workloads.iter().map(Vec::len).sum::<usize>() as f64;
        let (mut logarithm, mut variance, mut shares) = (0.0, 0.0, 0.0);
        for pairs in workloads {
            let mut moved: Vec<f64> = Vec::new();
            for (old, new) in pairs {
                let ((before, was), (after, is)) = (mean(old)?, mean(new)?);
                if before <= 0.0 || after <= 0.0 {
                    return None;
                }
                logarithm += (after / before).ln() / ratios;
                moved.resize(was.len().max(moved.len()), 0.0);
                for (all, (was, is)) in moved.iter_mut().zip(was.iter().zip(&is)) {
                    *all += (is / after - was / before) / ratios;
                }
            }
            let (own, freedom) = spread(&moved)?;
            variance += own;
            shares += own * own / freedom;
        }
        // A sum of nothing but zeros is exact.
        let freedom = if shares > 0.0 { variance * variance / shares } else { f64::MAX };
        (ratios > 0.0).then_some(Contrast { logarithm, variance, freedom })
    }

    /// The interval of new / old − 1.
    #[must_use]
    pub fn interval(self, confidence: f64) -> Sureness {
        around(self.logarithm, Some(student(1.0 - confidence, self.freedom.min(1e9)) * self.variance.sqrt()))
    }

    /// The probability of a difference as large in either direction where there is none: 1 where
    /// there is no difference.
    #[must_use]
    pub fn p_value(self) -> f64 {
        if self.logarithm == 0.0 {
            return 1.0;
        }
        let reached = self.logarithm.abs() / self.variance.sqrt();
        // The quantile falls as the probability grows.
        let (mut low, mut high) = (LEAST_P, 1.0);
        if reached >= student(low, self.freedom.min(1e9)) {
            return low;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if student(middle, self.freedom.min(1e9)) > reached { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }
}

/// Smaller probabilities are not distinguished.
const LEAST_P: f64 = 1e-12;

/// The p values of a family of tests, corrected for their number by Holm's method (1979): the
/// smallest times n, the next times n − 1, and so on, none smaller than the one before and none
/// above 1. Rejecting what is below α keeps the probability of any wrong rejection below α,
/// whatever depends on what.
#[must_use]
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_shared_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let (mut corrected, mut least) = (vec![0.0; values.len()], 0.0_f64);
    for (rank, &at) in order.iter().enumerate() {
        least = least.max(values[at] * (values.len() - rank) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::interval::change_interval;

    fn sums(values: &[f64]) -> Vec<PeriodSum> {
        values.iter().map(|&sum| PeriodSum { sum, count: 1.0 }).collect()
    }

    /// The example of Holm's paper's method by hand: 0.01·4, 0.02·3, 0.03·2 and 0.04·1, of which
    /// the last two are no smaller than the one before.
    #[test]
    fn corrections_by_hand() {
        assert_eq!(holm(&[0.02, 0.01, 0.04, 0.03]), [0.06, 0.04, 0.06, 0.06]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn one_ratio_is_what_compare_says() {
        let old = sums(&[10.0, 20.0, 30.0, 20.0, 10.0, 30.0, 25.0]);
        let new = sums(&[9.0, 12.0, 14.0, 11.0, 4.0, 16.0, 22.0]);
        let one = Contrast::of(&[vec![(old.clone(), new.clone())]]).expect("positive");
        let expected = change_interval(&old, &new, 0.95).interval().expect("an interval");
        let found = one.interval(0.95).interval().expect("an interval");
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9);
        // The interval at confidence 1 − p just reaches no change.
        let (_, high) = one.interval(1.0 - one.p_value()).interval().expect("an interval");
        assert!(high.abs() < 1e-6, "{high}");
        // The same measure twice is no more evidence.
        let twice = Contrast::of(&[vec![(old.clone(), new.clone()), (old, new)]]).expect("positive");
        assert!((twice.variance - one.variance).abs() < 1e-12 && (twice.freedom - one.freedom).abs() < 1e-9);
    }

    /// Two workloads with the same sums are twice the evidence: half the variance and twice the
    /// degrees of freedom.
    #[test]
    fn two_workloads_are_more_evidence() {
        let pair = || vec![(sums(&[10.0, 20.0, 30.0, 20.0, 10.0]), sums(&[9.0, 12.0, 14.0, 11.0, 4.0]))];
        let [one, two] = [vec![pair()], vec![pair(), pair()]].map(|w| Contrast::of(&w).expect("positive"));
        assert!((two.logarithm - one.logarithm).abs() < 1e-12);
        assert!((two.variance - one.variance / 2.0).abs() < 1e-12, "{two:?} {one:?}");
        assert!((two.freedom - 2.0 * one.freedom).abs() < 1e-9);
        assert!(two.p_value() < one.p_value());
    }

    #[test]
    fn nothing_is_said_where_nothing_can_be() {
        let old = sums(&[1.0, 2.0, 3.0, 4.0]);
        let same = Contrast::of(&[vec![(old.clone(), old.clone())]]).expect("positive");
        assert_eq!((same.p_value(), same.interval(0.95)), (1.0, Sureness::Interval(0.0, 0.0)));
        assert_eq!(Contrast::of(&[vec![(old.clone(), sums(&[0.0; 4]))]]), None);
        assert_eq!(Contrast::of(&[vec![(sums(&[1.0, 2.0]), sums(&[1.0, 3.0]))]]), None);
        assert_eq!(Contrast::of(&[]), None);
    }
}
