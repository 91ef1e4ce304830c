//! Summaries against hand-computed cases and against sorting.

use drystone::metrics::{Distribution, EXACT_LIMIT, Precision, Summary};
use proptest::prelude::*;

fn summary(values: &[f64]) -> Summary {
    let mut distribution = Distribution::new(true);
    values.iter().for_each(|&v| distribution.push(v));
    distribution.finish()
}

#[test]
fn no_value_has_no_mean() {
    assert_eq!(summary(&[]), Summary::default());
    assert_eq!(summary(&[]).mean, None);
}

#[test]
fn one_value_is_everything() {
    let s = summary(&[7.0]);
    assert_eq!((s.count, s.deviation), (1, Some(0.0)));
    for value in [s.mean, s.min, s.median, s.p90, s.p95, s.p98, s.p99, s.max] {
        assert_eq!(value, Some(7.0));
    }
}

#[test]
fn textbook_values() {
    // The population deviation of these eight is 2, their mean 5; ranks: ⌈0.9·8⌉ = 8.
    let s = summary(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert_eq!((s.mean, s.deviation, s.median, s.p90), (Some(5.0), Some(2.0), Some(4.5), Some(9.0)));
    assert_eq!((s.min, s.max, s.total()), (Some(2.0), Some(9.0), 40.0));
    assert_eq!(s.precision, Precision::Exact);
}

#[test]
fn percentiles_of_one_to_a_hundred_are_their_numbers() {
    let mut values: Vec<f64> = (1..=100).map(f64::from).collect();
    values.reverse();
    let s = summary(&values);
    assert_eq!([s.median, s.p90, s.p95, s.p98, s.p99].map(Option::unwrap_or_default), [50.5, 90.0, 95.0, 98.0, 99.0]);
}

#[test]
fn undefined_values_are_counted_and_left_out() {
    let s = summary(&[f64::NAN, 1.0, f64::INFINITY, -1.0, 3.0]);
    assert_eq!((s.count, s.excluded, s.mean), (2, 3, Some(2.0)));
}

#[test]
fn finite_values_whose_sum_is_not_still_count() {
    let s = summary(&[f64::MAX, f64::MAX, f64::NAN, 1.0]);
    assert_eq!((s.count, s.excluded, s.max, s.min), (3, 1, Some(f64::MAX), Some(1.0)));
}

#[test]
fn sums_of_huge_whole_numbers_are_exact() {
    // The first values add up to 2^57, where doubles are 32 apart; of the others every 128th is a
    // 1: a plain sum over values or over blocks of them loses all these.
    let mut values = vec![2_f64.powi(45); 4_096];
    values.extend((0..1 << 19).map(|i| f64::from(u8::from(i % 128 == 0))));
    let exact = (1_u64 << 57) + 4_096;
    assert_eq!(summary(&values).total(), exact as f64);
    assert_eq!(summary(&values).mean, Some(exact as f64 / values.len() as f64));
}

proptest! {
    #[test]
    fn many_at_once_are_as_good_as_one_by_one(values in prop::collection::vec(-1_i32..50, 0..600), cut in 0_usize..600) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let mut distribution = Distribution::new(true);
        let (first, second) = values.split_at(cut.min(values.len()));
        distribution.extend(first);
        second.iter().for_each(|&v| distribution.push(v));
        prop_assert_eq!(distribution.value_count(), values.iter().filter(|v| **v >= 0.0).count() as u64);
        let (a, b) = (distribution.finish(), summary(&values));
        // Deviations may differ in the last bit: the blocks were others.
        prop_assert!((a.deviation.unwrap_or(0.0) - b.deviation.unwrap_or(0.0)).abs() < 1e-12);
        prop_assert_eq!(Summary { deviation: None, ..a }, Summary { deviation: None, ..b });
    }
}

#[test]
fn deviation_does_not_cancel() {
    // Mean of squares minus square of the mean gives nonsense here.
    let values: Vec<f64> = (0..10_000).map(|i| 1e12 + f64::from(i % 2)).collect();
    let deviation = summary(&values).deviation.expect("values");
    assert!((deviation - 0.5).abs() < 1e-9, "{deviation}");
}

#[test]
fn without_percentiles_the_rest_is_the_same() {
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 997)).collect();
    let mut light = Distribution::new(false);
    values.iter().for_each(|&v| light.push(v));
    let (light, full) = (light.finish(), summary(&values));
    assert_eq!(light.precision, Precision::NotKept);
    assert_eq!((light.median, light.p99), (None, None));
    assert_eq!(
        (light.count, light.mean, light.deviation, light.min, light.max),
        (full.count, full.mean, full.deviation, full.min, full.max)
    );
}

#[test]
fn exactly_the_limit_is_exact_and_a_block_more_is_not() {
    let fill = |count: usize| {
        let mut distribution = Distribution::new(true);
        (0..count).for_each(|i| distribution.push((i % 1000) as f64));
        distribution.finish()
    };
    assert_eq!(fill(EXACT_LIMIT).precision, Precision::Exact);
    let summary = fill(EXACT_LIMIT + 1000);
    assert!(matches!(summary.precision, Precision::Histogram { .. }));
    let p99 = summary.p99.expect("values");
    assert!((p99 - 989.0).abs() <= 989.0 / 256.0, "{p99}");
}

/// The obvious way: sort, then take ranks.
fn by_sorting(values: &[f64]) -> [f64; 7] {
    let mut order = values.to_vec();
    order.sort_by(f64::total_cmp);
    let n = order.len();
    // The smallest value with at least p % of all values not larger.
    let rank = |p: usize| {
        *order
            .iter()
            .find(|&&v| order.iter().filter(|&&w| w <= v).count() * 100 >= p * n)
            .expect("the largest value will do")
    };
    let median = (order[(n - 1) / 2] + order[n / 2]) / 2.0;
    let last = order[n - 1];
    [median, rank(90), rank(95), rank(98), rank(99), order[0], last]
}

fn found(s: &Summary) -> [f64; 7] {
    [s.median, s.p90, s.p95, s.p98, s.p99, s.min, s.max].map(|v| v.expect("values"))
}

proptest! {
    #[test]
    fn ranks_agree_with_sorting(values in prop::collection::vec(0_u32..50, 1..400)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        prop_assert_eq!(found(&summary(&values)), by_sorting(&values));
    }

    #[test]
    fn moments_agree_with_two_passes(values in prop::collection::vec(0.0_f64..1e6, 1..700)) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let s = summary(&values);
        prop_assert!((s.mean.expect("values") - mean).abs() <= 1e-9 * mean);
        prop_assert!((s.deviation.expect("values") - variance.sqrt()).abs() <= 1e-6 * (1.0 + variance.sqrt()));
    }

    #[test]
    fn histogram_keeps_its_promise(
        exponents in prop::collection::vec(-15.0_f64..40.0, 400..900),
        zeros in 0_usize..100,
    ) {
        let mut values: Vec<f64> = exponents.into_iter().map(f64::exp2).collect();
        values.extend(std::iter::repeat_n(0.0, zeros));
        let mut distribution = Distribution::with_limit(true, 200);
        values.iter().for_each(|&v| distribution.push(v));
        let s = distribution.finish();
        let Precision::Histogram { relative_error } = s.precision else {
            panic!("{:?}", s.precision);
        };
        for (actual, want) in found(&s).into_iter().zip(by_sorting(&values)) {
            prop_assert!((actual - want).abs() <= relative_error * want + 1e-6, "{actual} for {want}");
        }
    }
}
