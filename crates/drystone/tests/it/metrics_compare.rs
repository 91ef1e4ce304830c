//! Comparisons with known answers.

use crate::metrics_support::{Done, report};
use drystone::metrics::{
    CompareError, IntervalOptions, Measure, Metric, MetricChange, MetricVerdict, MetricsConfig, Report,
    compare_reports, find_payers,
};
use drystone::model::Span;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WAIT: Metric = Metric::Mean(Measure::Wait);

/// A report with `per_week` jobs in each week, all waiting as `wait(week, job)` says.
fn weekly(weeks: i64, per_week: i64, mut wait: impl FnMut(i64, i64) -> i64) -> Report {
    let mut jobs = Vec::new();
    // Over the whole week: a last one of under half a week would join the one before.
    for week in 0..weeks {
        for job in 0..per_week {
            let submit = week * Span::WEEK.0 + job * Span::WEEK.0 / per_week;
            jobs.push(Done::new(jobs.len() as u32, submit, submit + wait(week, job), 100, 1));
        }
    }
    report(8, &jobs, MetricsConfig::light_config())
}

fn change(old: &Report, new: &Report, metric: Metric, options: IntervalOptions) -> MetricChange {
    let comparison =
        compare_reports(&[("old", old), ("new", new)], "old", &[metric], options).expect("the baseline is there");
    comparison.policies[0].changes[0]
}

#[test]
fn identical_policies_are_not_told_apart() {
    let a = weekly(20, 10, |w, j| 100 + 37 * w % 11 + j);
    let c = change(&a, &a, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.interval), (Some(0.0), Some((0.0, 0.0))));
    assert_eq!(c.verdict, MetricVerdict::Same);
}

#[test]
fn a_constant_factor_is_found_exactly() {
    let wait = |w: i64, j: i64| 100 + 37 * (w * w % 11) + j;
    let a = weekly(20, 10, wait);
    let half = weekly(20, 10, |w, j| wait(w, j) / 2 * 2 / 2);
    let c = change(&a, &half, WAIT, IntervalOptions::default());
    let (low, high) = c.interval.expect("20 weeks");
    // Halves are rounded down: a little less than half of at least 100.
    assert!(-0.505 < low && low <= high && high <= -0.5, "{low} {high}");
    assert_eq!(c.verdict, MetricVerdict::Better);
    assert_eq!(change(&half, &a, WAIT, IntervalOptions::default()).verdict, MetricVerdict::Worse);
}

#[test]
fn a_constant_shift_is_better_however_much_weeks_vary() {
    // Weeks vary a thousandfold, but every job waits 5 s less: pairing sees through the variation.
    let wait = |w: i64| 10 + 10_000 * (w % 3) * (w % 7);
    let a = weekly(30, 5, |w, _| wait(w));
    let b = weekly(30, 5, |w, _| wait(w) - 5);
    assert_eq!(change(&a, &b, WAIT, IntervalOptions::default()).verdict, MetricVerdict::Better);
}

#[test]
fn one_odd_week_is_no_proof() {
    // Nothing but one week of thirty differs.
    let a = weekly(30, 5, |_, _| 100);
    let b = weekly(30, 5, |w, _| if w == 7 { 20 } else { 100 });
    let c = change(&a, &b, WAIT, IntervalOptions::default());
    assert_eq!(c.verdict, MetricVerdict::Unclear);
    assert!(c.relative < Some(0.0));
    let (low, high) = c.interval.expect("30 weeks");
    assert!(low < -0.04 && high > 0.0, "{low} {high}");
}

/// A difference that is zero in every week is no noise; an equal mean over all of them may be.
#[test]
fn the_same_is_not_unclear() {
    let a = weekly(30, 5, |w, j| 100 + w * j);
    assert_eq!(change(&a, &a, WAIT, IntervalOptions::default()).verdict, MetricVerdict::Same);
    // Two weeks have changed places.
    let b = weekly(30, 5, |w, j| 100 + j * if w < 2 { 1 - w } else { w });
    let c = change(&a, &b, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.verdict), (Some(0.0), MetricVerdict::Alike), "two weeks of 130 s that differ by 2 s");
    // By a factor of three in two weeks it is no longer alike, and not decided.
    let b = weekly(30, 5, |w, j| (100 + w * j) * if w < 2 { 3 - 2 * w } else { 1 });
    assert_eq!(change(&a, &b, WAIT, IntervalOptions::default()).verdict, MetricVerdict::Unclear);
}

#[test]
fn few_weeks_give_no_interval_and_say_so() {
    let (a, b) = (weekly(3, 5, |_, _| 100), weekly(3, 5, |_, _| 50));
    let c = change(&a, &b, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.interval, c.verdict), (Some(-0.5), None, MetricVerdict::TooFewWeeks));
    let (a, b) = (weekly(4, 5, |_, _| 100), weekly(4, 5, |_, _| 50));
    assert_eq!(change(&a, &b, WAIT, IntervalOptions::default()).verdict, MetricVerdict::Better);
}

#[test]
fn a_baseline_without_waits_has_no_ratio() {
    let zero = weekly(10, 5, |_, _| 0);
    let some = weekly(10, 5, |_, _| 1);
    // In ten of ten weeks jobs wait that did not: no ratio, and no doubt.
    let c = change(&zero, &some, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.interval, c.verdict), (None, None, MetricVerdict::Worse));
    assert_eq!(c.evidence.signs.map(|signs| signs.longer), Some(10));
    let (short_zero, some) = (weekly(7, 5, |_, _| 0), weekly(7, 5, |_, _| 1));
    let c = change(&short_zero, &some, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.interval, c.verdict), (None, None, MetricVerdict::NoRatio));
    let c = change(&short_zero, &short_zero, WAIT, IntervalOptions::default());
    assert_eq!((c.relative, c.verdict), (Some(0.0), MetricVerdict::Same));
    // A baseline that waits in one week only tells nothing of the size.
    let rarely = weekly(7, 5, |w, _| i64::from(w == 0));
    let c = change(&rarely, &some, WAIT, IntervalOptions::default());
    assert_eq!((c.interval, c.verdict), (None, MetricVerdict::TooFewWeeks));
}

/// Seven policies of which one is a little better: its own p value, and that of seven tests.
#[test]
fn verdicts_count_the_policies_compared() {
    let wait = |w: i64, j: i64| 1_000 + 37 * (w * w % 11) + j;
    let base = weekly(20, 10, wait);
    let better = weekly(20, 10, |w, j| wait(w, j) * (90 + 12 * (w % 2) + w % 5) / 100);
    let others: Vec<Report> =
        (0..6).map(|k| weekly(20, 10, |w, j| wait(w, j) * (90 + (w * (k + 3) % 21)) / 100)).collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut reports = vec![("base", &base), ("better", &better)];
    let alone = compare_reports(&reports, "base", &[WAIT], IntervalOptions::default()).expect("the baseline is there");
    reports.extend(names.into_iter().zip(&others));
    let family = compare_reports(&reports, "base", &[WAIT], IntervalOptions::default()).expect("the baseline is there");
    let [alone, of_seven] = [&alone, &family].map(|comparison| comparison.policies[0].changes[0]);
    assert_eq!(
        (alone.interval, alone.evidence.p),
        (of_seven.interval, of_seven.evidence.p),
        "intervals are single ones"
    );
    assert_eq!(alone.evidence.p, alone.evidence.p_family);
    assert!(of_seven.evidence.p_family > of_seven.evidence.p, "{of_seven:?}");
}

/// Four parts that are simulated apart are the units, whatever their length.
#[test]
fn parts_are_windows() {
    let of = |factor: fn(i64) -> i64| {
        let mut report = weekly(4, 5, |w, j| (100 + w + j) * factor(w));
        report.windows = report.weeks.clone();
        report
    };
    let (old, new) = (of(|_| 10), of(|w| 20 + w % 2));
    let comparison =
        compare_reports(&[("old", &old), ("new", &new)], "old", &[WAIT], IntervalOptions::default()).expect("two");
    assert_eq!(comparison.basis.map(|basis| basis.describe("week")).as_deref(), Some("4 windows"));
    assert_eq!(comparison.policies[0].changes[0].verdict, MetricVerdict::Worse);
}

#[test]
fn other_metrics_have_a_change_but_no_interval() {
    let (a, b) = (weekly(10, 5, |_, j| 10 * j), weekly(10, 5, |_, j| 5 * j));
    let c = change(&a, &b, Metric::Max(Measure::Wait), IntervalOptions::default());
    assert_eq!((c.baseline, c.value, c.relative), (Some(40.0), Some(20.0), Some(-0.5)));
    assert_eq!((c.interval, c.verdict), (None, MetricVerdict::NotAMean));
    assert_eq!(change(&a, &b, Metric::LossOfCapacity, IntervalOptions::default()).value, None);
}

#[test]
fn impossible_requests_are_refused() {
    let a = weekly(5, 1, |_, _| 1);
    let run = |reports: &[(&str, &Report)], baseline: &str, options| {
        compare_reports(reports, baseline, &[WAIT], options).err()
    };
    let default = IntervalOptions::default();
    assert_eq!(run(&[("a", &a)], "b", default), Some(CompareError::NoBaseline("b".into())));
    assert_eq!(run(&[("a", &a), ("a", &a)], "a", default), Some(CompareError::SameName("a".into())));
    for confidence in [0.0, 1.0, f64::NAN] {
        let options = IntervalOptions { confidence };
        assert_eq!(run(&[("a", &a)], "a", options), Some(CompareError::BadOptions));
    }
    assert_eq!(run(&[("a", &a)], "a", default), None);
}

#[test]
fn intervals_cover_the_truth_about_as_often_as_they_say() {
    // Weeks share a load of their own; within it the new policy waits 0.9 times as long on average,
    // with noise of ± 40 % per week. The truth is −10 %.
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let trials = 400;
    let mut hits = 0;
    for _ in 0..trials {
        let loads: Vec<f64> = (0..40).map(|_| rng.random_range(1e3..1e5)).collect();
        let a = weekly(40, 1, |w, _| loads[w as usize] as i64);
        let b = weekly(40, 1, |w, _| (loads[w as usize] * 0.9 * rng.random_range(0.6..1.4)) as i64);
        let (low, high) = change(&a, &b, WAIT, IntervalOptions::default()).interval.expect("40 weeks");
        hits += u32::from(low <= -0.1 && -0.1 <= high);
    }
    // 95 % of 400 is 380; three standard deviations below: 367. Noise without tails is not what the
    // intervals expect, so that they may hold a little more often.
    assert!((367..=398).contains(&hits), "{hits} of {trials}");
}

/// Ten weeks of two jobs each: one of 1 processor, one of 100 that does nearly all of the work.
/// Under the new policy the wide ones wait an hour longer, the others not at all: the wide ones
/// pay, though half of the jobs are narrow.
#[test]
fn those_who_pay_are_named() {
    let weeks = |wide: i64| {
        let mut jobs = Vec::new();
        for week in 0..10 {
            let submit = week * Span::WEEK.0;
            jobs.push(Done::new(jobs.len() as u32, submit, submit + 60, 1_000, 1));
            jobs.push(Done::new(jobs.len() as u32, submit, submit + wide + 100 * week, 1_000, 100));
        }
        report(128, &jobs, MetricsConfig { classes: true, ..MetricsConfig::light_config() })
    };
    let (old, new) = (weeks(600), weeks(4_200));
    let payers = find_payers(&old, &new, 0.95);
    let classes: Vec<&str> = payers.iter().map(|payer| payer.class.as_str()).collect();
    assert_eq!(classes[0], "more than 64 processors", "{payers:?}");
    assert!((payers[0].work - 100.0 / 101.0).abs() < 1e-9 && payers[0].by_mean);
    assert!((payers[0].mean.1 - payers[0].mean.0 - 3_600.0).abs() < 1e-6, "{payers:?}");
    assert!(classes.iter().all(|class| !class.starts_with("1 processor")), "{classes:?}");
    assert_eq!(find_payers(&old, &old, 0.95), []);
}
