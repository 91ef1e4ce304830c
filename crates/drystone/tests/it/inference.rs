//! Inference: examples by hand and of an independent implementation, and its symmetries.

use crate::common::shared;
use drystone::inference::{
    DifferenceVerdict, Estimate, EstimateBasis, MeanDifference, NoEstimate, PairedSums, PeriodSum, jackknife_estimates,
};
use proptest::prelude::*;
use serde::Deserialize;

const A_OLD: [f64; 12] = [10.0, 20.0, 30.0, 20.0, 10.0, 30.0, 40.0, 10.0, 20.0, 30.0, 10.0, 20.0];
const A_NEW: [f64; 12] = [11.0, 18.0, 33.0, 20.0, 9.0, 33.0, 42.0, 10.0, 22.0, 27.0, 11.0, 21.0];

fn sums(values: &[f64]) -> Vec<PeriodSum> {
    values.iter().map(|&sum| PeriodSum { sum, count: 1.0 }).collect()
}

fn case(old: &[f64], new: &[f64]) -> PairedSums {
    PairedSums { old: sums(old), new: sums(new) }
}

fn near(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= 0.51e-6
}

/// The table of the procedure, to its last digit: sums, θ, s, ν, change, interval, p.
#[test]
fn examples_by_hand() {
    let doubles: Vec<f64> = A_OLD.iter().map(|x| 2.0 * x).collect();
    let and_five: Vec<f64> = A_NEW.iter().map(|y| 2.0 * y + 5.0).collect();
    let a = || case(&A_OLD, &A_NEW);
    let thirteen = (
        [10.0, 20.0, 30.0, 20.0, 10.0, 30.0, 40.0, 10.0, 20.0, 30.0, 10.0, 20.0, 15.0],
        [12.0, 21.0, 33.0, 26.0, 11.0, 36.0, 48.0, 13.0, 21.0, 37.0, 12.0, 23.0, 16.0],
    );
    let six = case(&[10.0, 20.0, 30.0, 20.0, 10.0, 30.0], &[9.0, 12.0, 14.0, 11.0, 4.0, 16.0]);
    for (name, cases, [theta, error, freedom, change, low, high, p]) in [
        ("six", vec![six], [-0.597_837, 0.076_434, 2.5, -0.45, -0.581_493, -0.277_192, 0.008_087]),
        (
            "thirteen",
            vec![case(&thirteen.0, &thirteen.1)],
            [0.153_611, 0.017_188, 4.5, 0.166_038, 0.113_949, 0.220_562, 0.000_496],
        ),
        ("A", vec![a()], [0.027_615, 0.023_316, 4.5, 0.028, -0.033_795, 0.093_747, 0.295_014]),
        (
            "A and another",
            vec![a(), case(&doubles, &and_five)],
            [0.082_818, 0.023_656, 4.5, 0.086_344, 0.020_119, 0.156_869, 0.020_522],
        ),
    ] {
        let estimate = Estimate::of_log(&cases).expect(name);
        let interval = estimate.change_interval(0.95);
        let numbers = [
            estimate.logarithm,
            estimate.error,
            estimate.freedom,
            estimate.relative_change(),
            interval.0,
            interval.1,
            estimate.p_value(),
        ];
        for (number, expected) in numbers.into_iter().zip([theta, error, freedom, change, low, high, p]) {
            assert!(near(number, expected), "{name}: {number}, not {expected}");
        }
    }
    // A case that says the same again adds nothing, to the last digit.
    let once = Estimate::of_log(&[a()]).expect("A");
    let thrice = Estimate::of_log(&[a(), a(), a()]).expect("A");
    assert!((once.logarithm - thrice.logarithm).abs() < 1e-15 && (once.error - thrice.error).abs() < 1e-15);
    assert_eq!(once.basis, EstimateBasis::Blocks { blocks: 10, units: 12 });
    assert_eq!(once.basis.describe("week"), "10 blocks of 1 or 2 weeks");
}

/// The difference of sums of one job a week, and the verdict on it alone.
fn judge(old: &[f64], new: &[f64]) -> (MeanDifference, DifferenceVerdict) {
    let difference = MeanDifference::compare_sums(sums(old), sums(new));
    (difference, difference.judge_difference(difference.p_value(), 0.95, 1))
}

#[test]
fn verdicts_by_hand() {
    let (noise, verdict) = judge(&A_OLD, &A_NEW);
    assert_eq!((verdict, noise.signs.longer, noise.signs.shorter), (DifferenceVerdict::Unclear, 7, 3));
    assert_eq!(judge(&A_OLD, &A_OLD).1, DifferenceVerdict::Same);
    // One week holds nearly all: nothing can be said of the size, the direction is decided.
    let (mut old, mut new) = (vec![1.0; 8], vec![2.0; 8]);
    (old[7], new[7]) = (900.0, 901.0);
    let (peak_difference, verdict) = judge(&old, &new);
    assert_eq!((verdict, peak_difference.says_nothing(0.95)), (DifferenceVerdict::Longer, true));
    assert!(peak_difference.p_value().is_some_and(|p| (p - 0.989_114).abs() < 1e-6));
    // Seven such weeks are only counted.
    assert_eq!(judge(&old[1..], &new[1..]).1, DifferenceVerdict::Unclear);
    // ±2 % in every week, one way and the other.
    let near: Vec<f64> = A_OLD.iter().enumerate().map(|(k, x)| x * if k % 2 == 0 { 1.004 } else { 0.997 }).collect();
    assert_eq!(judge(&A_OLD, &near).1, DifferenceVerdict::Alike);
    // Nothing is left: −100 % exactly. Nothing was before: no ratio, unless the signs decide.
    let (to_zero, verdict) = judge(&A_OLD, &[0.0; 12]);
    assert_eq!((to_zero.change_interval(0.95), verdict), (Some((-1.0, -1.0)), DifferenceVerdict::Shorter));
    let (from_zero, verdict) = judge(&[0.0; 12], &A_OLD);
    assert_eq!((from_zero.estimate, verdict), (Err(NoEstimate::NoRatio), DifferenceVerdict::Longer));
    assert_eq!(judge(&[0.0; 6], &A_OLD[..6]).1, DifferenceVerdict::NoRatio);
    assert_eq!(judge(&A_OLD[..3], &A_NEW[..3]).0.estimate, Err(NoEstimate::TooFew));
    let single_block = |value: f64| [0.0, 0.0, 0.0, value, 0.0, 0.0];
    assert_eq!(judge(&single_block(5.0), &single_block(7.0)).0.estimate, Err(NoEstimate::OneBlock));
    assert_eq!(judge(&single_block(5.0), &[0.0; 6]).0.estimate, Err(NoEstimate::OneBlock));
}

/// Twenty weeks in ten blocks of two, 10 and 10 before. Each block is longer, by 1 or by 40, though
/// in three of them one week is shorter. The p value, corrected for seven candidates, decides
/// nothing; that all ten blocks go one way does, as its chance is 7 / 512 at most. Of 26 candidates
/// some one goes so in one case of 19 or 20: more than 5 %. A block that is shorter ends it.
#[test]
fn every_block_to_one_side_decides_in_a_family() {
    let old = [10.0; 20];
    let mut new = [10.5; 20];
    for shorter in [2, 8, 14] {
        (new[shorter], new[shorter + 1]) = (8.0, 13.0);
    }
    (new[18], new[19]) = (30.0, 30.0);
    let (difference, _) = judge(&old, &new);
    let family_p = difference.p_value().map(|p| (7.0 * p).min(1.0));
    assert!(family_p > Some(0.05), "{family_p:?}");
    assert_eq!((difference.signs.longer, difference.signs.shorter), (17, 3));
    assert_eq!((difference.block_signs.longer, difference.block_signs.shorter), (10, 0));
    assert!(near(difference.block_signs.chance_probability(), 1.0 / 512.0));
    assert_eq!(difference.judge_difference(family_p, 0.95, 7), DifferenceVerdict::Longer);
    assert_eq!(difference.judge_difference(family_p, 0.95, 25), DifferenceVerdict::Longer);
    assert_eq!(difference.judge_difference(family_p, 0.95, 26), DifferenceVerdict::Unclear);
    new[3] = 11.9;
    assert_eq!(judge(&old, &new).0.judge_difference(family_p, 0.95, 7), DifferenceVerdict::Unclear);
}

/// Ten windows by hand: logarithms ±ln 2 and 0 by turns with mean 0; and of several logs.
#[test]
fn windows_and_logs_by_hand() {
    let windows = Estimate::of_windows(&[case(&[1.0; 4], &[2.0, 2.0, 0.5, 1.0])]).expect("four");
    let l = std::f64::consts::LN_2;
    assert!(near(windows.logarithm, l / 4.0) && windows.freedom == 3.0, "{windows:?}");
    // Squares of 3/4, 3/4, −5/4 and −1/4: 2.75 ln²2, over 3 and 4.
    assert!(near(windows.error, l * (2.75_f64 / 12.0).sqrt()));
    assert_eq!(windows.basis.describe("week"), "4 windows");
    assert_eq!(Estimate::of_windows(&[case(&[1.0; 3], &[2.0; 3])]), Err(NoEstimate::TooFew));
    // A window without waits has no logarithm: windows are blocks.
    let zero = Estimate::of_windows(&[case(&[1.0, 2.0, 3.0, 4.0, 0.0], &[2.0, 2.0, 3.0, 5.0, 0.0])]).expect("five");
    assert_eq!(zero.basis, EstimateBasis::Blocks { blocks: 5, units: 5 });
    let single = Estimate::of_log(&[case(&A_OLD, &A_NEW)]).expect("A");
    let two = Estimate::of_logs(&[(single.logarithm, Some(single)), (single.logarithm, Some(single))]).expect("two");
    assert!(near(two.error, single.error / 2.0_f64.sqrt()) && near(two.freedom, 9.0), "{two:?}");
    assert_eq!(Estimate::of_logs(&[(0.1, None), (single.logarithm, Some(single))]), Err(NoEstimate::TooFew));
    // 0.1, 0.2 and 0.3 need no weeks: s is 0.1 / √3, of two degrees.
    let three = Estimate::of_logs(&[(0.1, None), (0.2, None), (0.3, None)]).expect("three");
    assert!(near(three.error, 0.1 / 3.0_f64.sqrt()) && three.freedom == 2.0 && near(three.logarithm, 0.2));
}

/// The jackknife of a function is that of sums where the function is their ratio; another source of
/// doubt widens it.
#[test]
fn functions_take_the_same_steps() {
    let whole = Estimate::of_log(&[case(&A_OLD, &A_NEW)]).expect("A");
    let ratio = |gap: Option<&std::ops::Range<usize>>| {
        let sum = |values: &[f64]| -> f64 {
            values.iter().enumerate().filter(|(k, _)| !gap.is_some_and(|range| range.contains(k))).map(|(_, x)| x).sum()
        };
        vec![(sum(&A_NEW) / sum(&A_OLD)).ln()]
    };
    let own = jackknife_estimates(12, &[], ratio)[0].expect("twelve");
    assert!((own.error - whole.error).abs() < 1e-14 && own.freedom == 4.5);
    let wider = jackknife_estimates(12, &[vec![(whole.error * whole.error, 4.5)]], ratio)[0].expect("twelve");
    assert!(near(wider.error, whole.error * 2.0_f64.sqrt()) && near(wider.freedom, 9.0));
    assert_eq!(jackknife_estimates(3, &[], ratio)[0], Err(NoEstimate::TooFew));
}

/// Four times the weeks, half the error: s = 0.0233 of 12 weeks tells 10 % at t·s ≤ ln 1.1, which
/// holds already; 1 % takes 12·(2.658912·0.0233157/0.00995033)² = 465.8 weeks.
#[test]
fn weeks_that_would_tell() {
    let estimate = Estimate::of_log(&[case(&A_OLD, &A_NEW)]).expect("A");
    assert_eq!(estimate.more_weeks(0.1, 0.95), Some(0));
    assert_eq!(estimate.more_weeks(0.01, 0.95), Some(466 - 12));
    assert_eq!(estimate.more_weeks(1e-6, 0.95), None);
}

#[derive(Deserialize)]
struct GoldenCase {
    old: Vec<f64>,
    new: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenExample {
    name: String,
    cases: Vec<GoldenCase>,
    blocks: usize,
    log_ratio: f64,
    se: f64,
    freedom: f64,
    change: f64,
    low: f64,
    high: f64,
    p: f64,
    weeks_longer_shorter_equal: Option<[usize; 3]>,
}

/// Examples of the procedure as its author wrote it, to the last of nine digits.
#[test]
fn examples_of_another_implementation() {
    let Some(file) = shared("golden/inference/examples.json") else { return };
    let text = std::fs::read_to_string(file).expect("readable");
    let examples: Vec<GoldenExample> = serde_json::from_str(&text).expect("examples");
    assert!(examples.len() >= 7);
    for example in examples {
        let cases: Vec<PairedSums> = example.cases.iter().map(|entry| case(&entry.old, &entry.new)).collect();
        let estimate = Estimate::of_log(&cases).expect("an estimate");
        let (low, high) = estimate.change_interval(0.95);
        let own = [
            estimate.logarithm,
            estimate.error,
            estimate.freedom,
            estimate.relative_change(),
            low,
            high,
            estimate.p_value(),
        ];
        let theirs =
            [example.log_ratio, example.se, example.freedom, example.change, example.low, example.high, example.p];
        for (own, reference) in own.into_iter().zip(theirs) {
            assert!((own - reference).abs() < 0.6e-9, "{}: {own}, not {reference}", example.name);
        }
        let EstimateBasis::Blocks { blocks, .. } = estimate.basis else { panic!("blocks") };
        assert_eq!(blocks, example.blocks, "{}", example.name);
        if let Some(expected) = example.weeks_longer_shorter_equal {
            let signs = MeanDifference::compare_sums(cases[0].old.clone(), cases[0].new.clone()).signs;
            assert_eq!([signs.longer, signs.shorter, signs.equal], expected, "{}", example.name);
        }
    }
}

/// Waits of the 48 weeks of a real log under three policies.
#[test]
fn weeks_of_a_real_log() {
    let Some(file) = shared("golden/inference/kth-weeks.csv") else { return };
    let mut reader = csv::Reader::from_path(file).expect("readable");
    let rows: Vec<Vec<f64>> = reader
        .records()
        .map(|row| row.expect("a row").iter().map(|v| v.parse().expect("a number")).collect())
        .collect();
    let column =
        |at: usize| -> Vec<PeriodSum> { rows.iter().map(|row| PeriodSum { sum: row[at], count: row[1] }).collect() };
    for (at, [change, low, high, p], longer, shorter) in [
        (3, [0.063_435, -0.040_779, 0.178_971, 0.180_104], 33, 13),
        (4, [-0.128_251, -0.231_034, -0.011_731, 0.037_924], 0, 0),
    ] {
        let difference = MeanDifference::compare_sums(column(2), column(at));
        let estimate = difference.estimate.expect("an estimate");
        let interval = estimate.change_interval(0.95);
        for (own, expected) in [estimate.relative_change(), interval.0, interval.1, estimate.p_value()]
            .into_iter()
            .zip([change, low, high, p])
        {
            assert!(near(own, expected), "{own}, not {expected}");
        }
        if longer > 0 {
            assert_eq!((difference.signs.longer, difference.signs.shorter), (longer, shorter));
        }
    }
}

proptest! {
    /// Swapping old and new inverts everything; scaling both changes nothing; weeks that no job was
    /// submitted in, and a copy of a case, change no logarithm.
    #[test]
    fn symmetries(
        weeks in proptest::collection::vec((1.0_f64..1e6, 1.0_f64..1e6, 1.0_f64..100.0), 4..60),
        factor in 1e-3_f64..1e3,
    ) {
        let of = |pick: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<PeriodSum> {
            weeks.iter().map(|week| PeriodSum { sum: pick(week), count: week.2.round() }).collect()
        };
        let (old, new) = (of(&|week| week.0), of(&|week| week.1));
        let estimate = Estimate::of_log(&[PairedSums { old: old.clone(), new: new.clone() }]).expect("positive");
        let back = Estimate::of_log(&[PairedSums { old: new.clone(), new: old.clone() }]).expect("positive");
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
        prop_assert!(close((1.0 + estimate.relative_change()) * (1.0 + back.relative_change()), 1.0));
        let ((low, high), (back_low, back_high)) = (estimate.change_interval(0.95), back.change_interval(0.95));
        prop_assert!(close((1.0 + low).ln() + (1.0 + back_high).ln(), 0.0), "{low} {back_high}");
        prop_assert!(close((1.0 + high).ln() + (1.0 + back_low).ln(), 0.0));
        prop_assert!(-1.0 <= low && low <= estimate.relative_change() && estimate.relative_change() <= high);
        // An interval at confidence 1 − p just reaches no change.
        let p = estimate.p_value();
        if (0.001..0.999).contains(&p) {
            let (low, high) = estimate.change_interval(1.0 - p);
            prop_assert!(low.abs().min(high.abs()) < 1e-6, "{low} {high}");
        }
        let scale = |sums: &[PeriodSum]| sums.iter().map(|s| PeriodSum { sum: s.sum * factor, ..*s }).collect::<Vec<_>>();
        let second = Estimate::of_log(&[PairedSums { old: scale(&old), new: scale(&new) }]).expect("positive");
        prop_assert!(close(estimate.logarithm, second.logarithm) && close(estimate.error, second.error));
        let pair = || PairedSums { old: old.clone(), new: new.clone() };
        let twice = Estimate::of_log(&[pair(), pair()]).expect("positive");
        prop_assert!(close(estimate.logarithm, twice.logarithm) && close(estimate.error, twice.error) && estimate.freedom == twice.freedom);
        let windows = Estimate::of_windows(&[pair()]).expect("positive");
        prop_assert_eq!(windows.basis, EstimateBasis::Windows(weeks.len()));
    }
}
