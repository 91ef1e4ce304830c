//! Measures, categories and selections of single jobs, by hand and at their borders.

use crate::metrics_support::{Done, report};
use drystone::metrics::measures::{
    bounded_slowdown, bounded_slowdown_chiang, bounded_slowdown_kettimuthu, excessive_wait, job_slowdown,
    prediction_accuracy, response_time, slowdown_ratio, wait_time,
};
use drystone::metrics::{Calendar, JobSelection, Measure, MetricsConfig, Scheme, Threshold, Trimmed};
use drystone::model::{LogStatus, Provenance, Span, Time};

#[test]
fn measures_by_hand() {
    let (w, r) = (Span(90), Span(30));
    assert_eq!((wait_time(w), response_time(w, r)), (90.0, 120.0));
    assert_eq!(job_slowdown(w, r), Some(4.0));
    assert_eq!(bounded_slowdown(w, r), 4.0);
    assert_eq!(bounded_slowdown_kettimuthu(w, r), 4.0);
    assert_eq!(bounded_slowdown_chiang(w, r), 2.5); // (90 + 60) / 60
}

#[test]
fn measures_of_a_job_shorter_than_the_bounds() {
    let (w, r) = (Span(20), Span(5));
    assert_eq!(job_slowdown(w, r), Some(5.0));
    assert_eq!(bounded_slowdown(w, r), 2.5); // 25 / 10
    assert_eq!(bounded_slowdown_kettimuthu(w, r), 3.0); // 30 / 10
    assert!((bounded_slowdown_chiang(w, r) - 80.0 / 60.0).abs() < 1e-15);
    assert_eq!(bounded_slowdown(Span(2), r), 1.0); // 7 / 10, at least 1
}

#[test]
fn measures_of_a_run_time_of_zero() {
    assert_eq!(job_slowdown(Span(20), Span(0)), None);
    assert_eq!(job_slowdown(Span(0), Span(0)), None);
    assert_eq!(bounded_slowdown(Span(20), Span(0)), 2.0);
    assert_eq!(bounded_slowdown_kettimuthu(Span(20), Span(0)), 3.0);
    assert_eq!(bounded_slowdown(Span(0), Span(0)), 1.0);
}

#[test]
fn accuracy_is_the_smaller_over_the_larger() {
    assert_eq!(prediction_accuracy(Span(60), Span(60)), 1.0);
    assert_eq!(prediction_accuracy(Span(120), Span(60)), 0.5);
    assert_eq!(prediction_accuracy(Span(15), Span(60)), 0.25);
    assert_eq!(prediction_accuracy(Span(0), Span(0)), 1.0);
    assert_eq!(prediction_accuracy(Span(0), Span(5)), 0.0);
    assert_eq!(prediction_accuracy(Span(5), Span(0)), 0.0);
}

#[test]
fn excess_begins_beyond_the_threshold() {
    assert_eq!(excessive_wait(Span(100), Span(100)), Span(0));
    assert_eq!(excessive_wait(Span(101), Span(100)), Span(1));
    assert_eq!(excessive_wait(Span(1), Span::MAX), Span(0));
    assert_eq!(excessive_wait(Span(0), Span(i64::MIN)), Span::MAX);
}

#[test]
fn slowdown_ratio_is_symmetric_in_gain_and_loss() {
    assert_eq!(slowdown_ratio(6.0, 2.0), Some(2.0));
    assert_eq!(slowdown_ratio(2.0, 6.0), Some(-2.0));
    assert_eq!(slowdown_ratio(0.0, 1.0), None);
}

#[test]
fn suspended_time_is_waiting_time() {
    // Submitted at 0, started at 10, ran 30 s in all, ended at 100: 70 s not running.
    let mut job = Done::new(0, 0, 10, 30, 1);
    job.outcome.end = Time(100);
    assert_eq!((job.ended().wait_time(), job.ended().response_time()), (Span(70), Span(100)));
}

fn calendar() -> Calendar {
    Calendar::new(Time(0), &Provenance::default())
}

fn name(scheme: Scheme, run: i64, procs: u32) -> (i64, String) {
    let job = Done::new(0, 0, 0, run, procs);
    let key = scheme.category_key(&job.ended(), &calendar());
    (key, scheme.category_name(key, &calendar()))
}

#[test]
fn sixteen_classes_at_their_borders() {
    let runs = [(0, 0), (600, 0), (601, 1), (3_600, 1), (3_601, 2), (28_800, 2), (28_801, 3)];
    let procs = [(1, 0), (2, 1), (8, 1), (9, 2), (32, 2), (33, 3), (100_000, 3)];
    for (run, row) in runs {
        for (procs, column) in procs {
            assert_eq!(name(Scheme::Sixteen, run, procs).0, row * 4 + column, "{run} {procs}");
        }
    }
    assert_eq!(name(Scheme::Sixteen, 600, 33).1, "very short very wide");
    assert_eq!(name(Scheme::Sixteen, 28_801, 1).1, "very long sequential");
}

#[test]
fn four_classes_at_their_borders() {
    assert_eq!(name(Scheme::Four, 3_600, 8), (0, "short narrow".into()));
    assert_eq!(name(Scheme::Four, 3_600, 9), (1, "short wide".into()));
    assert_eq!(name(Scheme::Four, 3_601, 8), (2, "long narrow".into()));
    assert_eq!(name(Scheme::Four, 3_601, 9), (3, "long wide".into()));
}

#[test]
fn lawsons_classes_at_their_borders() {
    for (run, class) in [(0, 0), (100, 0), (101, 1), (1_000, 1), (1_001, 2), (10_000, 2), (10_001, 3)] {
        assert_eq!(name(Scheme::Lawson, run, 5).0, class, "{run}");
    }
    assert_eq!(name(Scheme::Lawson, 10_001, 5).1, "extra long");
}

#[test]
fn chiangs_classes_at_their_borders() {
    let runs = [(600, 0), (601, 1), (3_600, 1), (3_601, 2), (14_400, 2), (14_401, 3), (28_800, 3), (28_801, 4)];
    let procs = [(1, 0), (2, 1), (8, 1), (9, 2), (32, 2), (33, 3), (64, 3), (65, 4)];
    for (run, row) in runs {
        for (procs, column) in procs {
            assert_eq!(name(Scheme::Chiang, run, procs).0, row * 5 + column, "{run} {procs}");
        }
    }
    assert_eq!(name(Scheme::Chiang, 28_800, 33).1, "≤8 h × 33–64");
}

#[test]
fn estimates_up_to_twice_the_run_time_are_good() {
    let key = |run, estimate| {
        let job = Done::new(0, 0, 0, run, 1).estimate(estimate);
        Scheme::Estimate.category_key(&job.ended(), &calendar())
    };
    assert_eq!((key(100, 200), key(100, 201), key(0, 0), key(0, 1)), (0, 1, 0, 1));
    assert_eq!(Scheme::Estimate.category_name(1, &calendar()), "badly estimated");
}

#[test]
fn owners_and_weeks() {
    let job = Done::new(0, 7 * 86_400, 7 * 86_400, 1, 1).user(17);
    let of = |scheme: Scheme| {
        let key = scheme.category_key(&job.ended(), &calendar());
        scheme.category_name(key, &calendar())
    };
    assert_eq!((of(Scheme::User), of(Scheme::Queue)), ("user 17".into(), "unknown".into()));
    assert_eq!((of(Scheme::Week), of(Scheme::Month)), ("week 2".into(), "30 days 1".into()));
    assert_eq!(calendar().week_number(Time(7 * 86_400 - 1)), 0);
    assert_eq!(calendar().month_number(Time(30 * 86_400)), 1);
}

#[test]
fn months_follow_the_logs_time_zone() {
    // Unix time 0 is 1970-01-01 00:00 UTC; an hour west of it the year 1969 has one more hour.
    let provenance = |time_zone: Option<&str>, utc_offset| Provenance {
        unix_start: Some(0),
        time_zone: time_zone.map(str::to_string),
        utc_offset,
        ..Provenance::default()
    };
    let month = |provenance: &Provenance, time| {
        let calendar = Calendar::new(Time(0), provenance);
        calendar.month_name(calendar.month_number(Time(time)))
    };
    let utc = provenance(None, None);
    assert_eq!((month(&utc, 0), month(&utc, -1)), ("1970-01".into(), "1969-12".into()));
    assert_eq!(month(&utc, 31 * 86_400 - 1), "1970-01");
    assert_eq!(month(&utc, 31 * 86_400), "1970-02");
    let west = provenance(None, Some(-3_600));
    assert_eq!((month(&west, 3_599), month(&west, 3_600)), ("1969-12".into(), "1970-01".into()));
    let odd = provenance(Some("Nowhere/At all"), None);
    assert_eq!(month(&odd, 0), "1970-01");
    // Beyond any calendar: no panic.
    let calendar = Calendar::new(Time(0), &utc);
    let _ = calendar.month_name(calendar.month_number(Time(1 << 40)));
    let _ = calendar.month_number(Time(i64::MAX));
}

#[test]
fn words_are_read_as_they_are_written() {
    for scheme in Scheme::ALL {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    for measure in Measure::ALL {
        assert_eq!(measure.to_string().parse(), Ok(measure));
    }
    for selection in [
        JobSelection::All,
        JobSelection::Tsafrir,
        JobSelection::Completed,
        JobSelection::Submitted { from: Time(-5), until: Time(9) },
        JobSelection::Window { warm_up: Span(1), cool_down: Span(0) },
    ] {
        assert_eq!(selection.to_string().parse(), Ok(selection));
    }
    for threshold in [Threshold::Fixed(Span(50)), Threshold::BaselineMax, Threshold::BaselineP98] {
        assert_eq!(threshold.to_string().parse(), Ok(threshold));
    }
    for wrong in ["", "window", "window(1)", "window(1,x)", "submitted(1,2", "submitted(2,2)", "(1,2)"] {
        assert!(wrong.parse::<JobSelection>().is_err(), "{wrong}");
    }
    let error = "colour".parse::<Scheme>().expect_err("no such scheme").to_string();
    assert!(error.contains("'colour'") && error.contains("sixteen"), "{error}");
    assert!("-1".parse::<Threshold>().is_err());
}

fn select(jobs: &[Done], selection: JobSelection) -> (Trimmed, Vec<u32>) {
    let config = MetricsConfig { selection, keep_jobs: true, ..MetricsConfig::light_config() };
    let report = report(10, jobs, config);
    let rows = report.jobs.expect("rows were asked for");
    (report.trimmed, rows.iter().filter(|r| r.counted).map(|r| r.id.0).collect())
}

#[test]
fn tsafrir_skips_a_hundredth_and_what_ends_after_the_last_arrival() {
    // 250 jobs: ⌊2.5⌋ = 2 are skipped in the order of termination, whatever their number. The last
    // submit is 249 s.
    let mut jobs: Vec<Done> = (0..250).map(|i| Done::new(i, i64::from(i), i64::from(i), 3, 1)).collect();
    jobs.swap(0, 7); // Job 7 is handled first, job 1 second.
    let (counts, ids) = select(&jobs, JobSelection::Tsafrir);
    // Job 246 ends at 249, the last submit: kept. 247, 248 and 249 end later.
    let expected: Vec<u32> = (0..=246).filter(|i| ![1, 7].contains(i)).collect();
    assert_eq!(ids, expected);
    assert_eq!((counts.seen, counts.kept), (250, 245));
    assert_eq!((counts.dropped_early, counts.dropped_late), (2, 3));
}

#[test]
fn tsafrir_skips_nothing_of_ninety_nine() {
    let jobs: Vec<Done> = (0..99).map(|i| Done::new(i, i64::from(i), i64::from(i), 0, 1)).collect();
    assert_eq!(select(&jobs, JobSelection::Tsafrir).0.kept, 99);
}

#[test]
fn windows_go_by_submit() {
    let jobs: Vec<Done> = (0..10).map(|i| Done::new(i, i64::from(i) * 10, 500, 5, 1)).collect();
    let selection = JobSelection::Submitted { from: Time(20), until: Time(50) };
    let (counts, ids) = select(&jobs, selection);
    assert_eq!(ids, [2, 3, 4]);
    assert_eq!((counts.dropped_early, counts.dropped_late), (2, 5));
    let window = JobSelection::Window { warm_up: Span(20), cool_down: Span(40) };
    assert_eq!(select(&jobs, window).1, [2, 3, 4, 5]);
    // Absurd borders keep nothing and break nothing.
    let absurd = JobSelection::Submitted { from: Time::MAX, until: Time::MIN };
    assert_eq!(select(&jobs, absurd).0.kept, 0);
    let absurd = JobSelection::Window { warm_up: Span::MAX, cool_down: Span::MAX };
    assert_eq!(select(&jobs, absurd).0.kept, 0);
}

/// Ten processors, jobs of one for 10 s from each tenth second to 90: whatever lies beyond the log
/// is no idle time.
#[test]
fn the_period_of_submits_is_within_the_log() {
    let jobs: Vec<Done> = (0..10).map(|i| Done::new(i, i64::from(i) * 10, i64::from(i) * 10, 10, 1)).collect();
    let period_of = |from: i64, until: i64| {
        let selection = JobSelection::Submitted { from: Time(from), until: Time(until) };
        let machine = report(10, &jobs, MetricsConfig { selection, ..MetricsConfig::light_config() }).machine;
        (machine.period_from.0, machine.period_until.0, machine.period_utilisation)
    };
    assert_eq!(period_of(-500, 9_999), (0, 90, Some(0.1)));
    assert_eq!(period_of(20, 9_999), (20, 90, Some(0.1)));
    assert_eq!(period_of(20, 60), (20, 60, Some(0.1)));
    assert_eq!(period_of(700, 9_999).2, None, "nothing is submitted there");
}

#[test]
fn completed_goes_by_the_log() {
    let mut jobs: Vec<Done> = (0..3).map(|i| Done::new(i, 0, 0, 5, 1)).collect();
    jobs[1].truth.status = LogStatus::Failed;
    let (counts, ids) = select(&jobs, JobSelection::Completed);
    assert_eq!((ids, counts.dropped_status), (vec![0, 2], 1));
}
