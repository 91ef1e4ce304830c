//! Reports on schedules small enough to be measured by hand, and their edges.

use crate::metrics_support::{Done, close, collector, report};
use drystone::engine::{Levels, Observer};
use drystone::metrics::{
    Categorised, JobSelection, Measure, MetricsConfig, QueueStats, RatioError, Report, Scheme, Threshold,
    overtaken_share, slowdown_ratios, weekly_classes,
};
use drystone::model::{JobId, Span, Time};
use proptest::prelude::*;

/// Four processors. Job 0 runs at once, 1 waits 60 s, 2 waits 80 s, 3 runs for 0 s.
fn four_jobs() -> Vec<Done> {
    vec![
        Done::new(0, 0, 0, 100, 4).user(1).predicted(200, 0, 0.5),
        Done::new(3, 110, 110, 0, 1).user(2).predicted(0, 0, 1.0),
        Done::new(1, 40, 100, 20, 2).user(1).reserved(100).predicted(10, 2, 0.8),
        Done::new(2, 50, 130, 40, 1).user(2).reserved(100).predicted(40, 0, 0.9),
    ]
}

fn everything() -> MetricsConfig {
    MetricsConfig { excessive: vec![Span(59), Span(60)], keep_jobs: true, ..MetricsConfig::full_config() }
}

#[test]
fn measures_by_hand() {
    let report = report(4, &four_jobs(), everything());
    let m = &report.measures;
    // Waits 0, 0, 60, 80.
    assert_eq!((m.wait.mean, m.wait.median, m.wait.max), (Some(35.0), Some(30.0), Some(80.0)));
    // Mean of squares 2500, less 35² = 1225: 1275.
    assert!(close(m.wait.deviation.unwrap_or(0.0), 1275_f64.sqrt()));
    // Responses 100, 0, 80, 120.
    assert_eq!((m.response.mean, m.response.median), (Some(75.0), Some(90.0)));
    // Slowdowns 1, 4, 3; the job of 0 s has none.
    assert_eq!((m.slowdown.count, m.slowdown.excluded), (3, 1));
    assert!(close(m.slowdown.mean.unwrap_or(0.0), 8.0 / 3.0));
    // Bounded slowdowns 1, 1, 4, 3.
    assert_eq!(m.bounded_slowdown.mean, Some(2.25));
    assert_eq!(m.bounded_slowdown_kettimuthu.mean, Some(2.25));
    // 1, 1, (60 + 60) / 60, (80 + 60) / 60.
    assert!(close(m.bounded_slowdown_chiang.mean.unwrap_or(0.0), (4.0 + 7.0 / 3.0) / 4.0));
    for measure in Measure::ALL {
        assert_eq!(m.get(measure).count + m.get(measure).excluded, 4, "{measure}");
    }
}

/// Measures that are not requested are left out, which changes nothing else; by week, everything is
/// wanted.
#[test]
fn few_measures_are_those_of_all() {
    let choice = [Measure::BoundedSlowdown, Measure::Wait];
    let of = |measures: &[Measure], weeks| {
        report(4, &four_jobs(), MetricsConfig { measures: measures.to_vec(), weeks, ..MetricsConfig::light_config() })
    };
    let (full, few) = (of(&Measure::ALL, false), of(&choice, false));
    for measure in Measure::ALL {
        if choice.contains(&measure) {
            assert_eq!(few.measures.get(measure), full.measures.get(measure), "{measure}");
        } else {
            assert_eq!((few.measures.get(measure).count, few.measures.get(measure).mean), (0, None), "{measure}");
        }
    }
    assert!(few.worst.is_empty() && !full.worst.is_empty());
    assert_eq!((&few.machine, &few.trimmed), (&full.machine, &full.trimmed));
    assert_eq!(of(&choice, true).measures, full.measures);
}

#[test]
fn the_machine_by_hand() {
    let machine = report(4, &four_jobs(), everything()).machine;
    // 4·100 + 2·20 + 1·40 = 480 processor-seconds of 4·170.
    assert_eq!((machine.work, machine.makespan), (480.0, Span(170)));
    assert!(close(machine.utilisation.unwrap_or(0.0), 480.0 / 680.0));
    // Up to the last submit at 110: 400 + 2·10 of 440.
    assert_eq!((machine.period_from, machine.period_until), (Time(0), Time(110)));
    assert!(close(machine.period_utilisation.unwrap_or(0.0), 420.0 / 440.0));
    assert!(close(machine.throughput_per_hour.unwrap_or(0.0), 4.0 * 3600.0 / 170.0));
}

/// Two months of four processors, each simulated apart: they overlap in the log's time, but not on
/// one machine.
#[test]
fn parts_that_are_simulated_apart_have_the_machine_to_themselves() {
    let (first, second) = (
        [Done::new(0, 0, 0, 100, 4), Done::new(1, 40, 100, 20, 2)],
        [Done::new(0, 50, 50, 40, 1), Done::new(1, 110, 110, 0, 1)],
    );
    let job_list: Vec<Done> = first.iter().chain(&second).cloned().collect();
    let mut collector = collector(4, &job_list, MetricsConfig::light_config());
    collector.begin_part(2, (Time(0), Time(40)));
    first.iter().for_each(|job| collector.note_end(&job.ended()));
    collector.begin_part(2, (Time(50), Time(110)));
    second.iter().for_each(|job| collector.note_end(&job.ended()));
    let machine = collector.finish().machine;
    // 480 processor-seconds; the first takes 120 s, the second 60 s.
    assert!(close(machine.utilisation.unwrap_or(0.0), 480.0 / (4.0 * 180.0)));
    assert!(close(machine.throughput_per_hour.unwrap_or(0.0), 4.0 * 3600.0 / 180.0));
    // From 0 to 40 all are busy, from 50 to 110 one is for 40 s.
    assert!(close(machine.period_utilisation.unwrap_or(0.0), (160.0 + 40.0) / (4.0 * 100.0)));
    assert_eq!((machine.makespan, machine.last_end, machine.busy_time()), (Span(120), Time(120), Span(180)));
}

/// Each part warms up by itself: of two times 100 jobs that end at once the first of each is
/// skipped, and so is what ends after the last submit of its part, though jobs of the other part
/// still arrive then.
#[test]
fn parts_are_trimmed_one_by_one() {
    let part = |first: u32| -> Vec<Done> {
        let at = i64::from(first) * 1_000;
        let mut jobs: Vec<Done> =
            (0..99).map(|i| Done::new(first + i, at + i64::from(i), at + i64::from(i), 0, 1)).collect();
        jobs.push(Done::new(first + 99, at + 99, at + 99, 2_000_000, 1));
        jobs
    };
    let (first, second) = (part(0), part(100));
    let job_list: Vec<Done> = first.iter().chain(&second).cloned().collect();
    for selection in [JobSelection::Tsafrir, JobSelection::Window { warm_up: Span(1), cool_down: Span(1) }] {
        let mut collector = collector(4, &job_list, MetricsConfig { selection, ..MetricsConfig::light_config() });
        for jobs in [&first, &second] {
            let submits = (jobs[0].job.submit, jobs[99].job.submit);
            collector.begin_part(100, submits);
            jobs.iter().for_each(|job| collector.note_end(&job.ended()));
        }
        let report = collector.finish();
        let t = report.trimmed;
        assert_eq!((t.seen, t.kept, t.dropped_early, t.dropped_late), (200, 196, 2, 2), "{selection}");
        // The periods are 99 s each after the first termination, or 97 s between the borders of the
        // window.
        let period = if selection == JobSelection::Tsafrir { (0, 100_099) } else { (1, 100_098) };
        assert_eq!((report.machine.period_from.0, report.machine.period_until.0), period);
        assert_eq!(report.machine.period_utilisation, Some(0.0));
    }
}

#[test]
fn work_of_suspended_jobs_is_spread_over_the_period() {
    // Runs 30 s of the 90 s from 10 to 100; the period is 0 to 40: a third of 30 s of 2 processors,
    // of 40 s of 4.
    let mut first = Done::new(0, 0, 10, 30, 2);
    first.outcome.end = Time(100);
    first.outcome.suspensions = 3;
    let last = Done::new(1, 40, 100, 0, 1);
    let report = report(4, &[first, last], MetricsConfig::light_config());
    assert!(close(report.machine.period_utilisation.unwrap_or(0.0), 20.0 / 160.0));
    let s = report.suspensions;
    assert_eq!((s.total, s.jobs, s.mean, s.max), (3, 1, Some(1.5), 3));
}

#[test]
fn predictability_by_hand() {
    let report = report(4, &four_jobs(), everything());
    let p = report.predictability.expect("asked for");
    // Jobs 1 and 2 waited with a reservation; 1 kept it to the second, 2 started 30 s late.
    assert_eq!((p.reservation_rate, p.delay_rate), (Some(0.5), Some(0.25)));
    assert_eq!((p.difference.mean, p.difference.median, p.difference.deviation), (Some(15.0), Some(15.0), Some(15.0)));
    assert_eq!((p.delay.count, p.delay.mean, p.delay.deviation), (1, Some(30.0), Some(0.0)));
    // Corrections 0, 0, 2, 0: mean 0.5, deviation √(1 − 0.25).
    assert_eq!(p.corrections.mean, Some(0.5));
    assert!(close(p.corrections.deviation.unwrap_or(0.0), 0.75_f64.sqrt()));
    assert!(close(p.accuracy.mean.unwrap_or(0.0), 0.8));
    // At arrival: 200 for 100, 0 for 0, 10 for 20, 40 for 40.
    assert_eq!(p.first_accuracy.mean, Some(0.75));
    assert_eq!(p.under_predicted_rate, Some(0.25));
}

/// One second of run time among the jobs, and accuracies are what they are everywhere.
#[test]
fn of_no_run_time_there_is_no_accuracy() {
    let idle = |id: u32| Done::new(id, 0, 0, 0, 1).predicted(60, 0, 0.0);
    let of = |jobs: &[Done]| report(4, jobs, everything()).predictability.expect("asked for");
    let p = of(&[idle(0), idle(1)]);
    assert_eq!((p.accuracy.mean, p.accuracy.max, p.first_accuracy.median), (None, None, None));
    assert_eq!((p.accuracy.count, p.accuracy.excluded), (0, 2));
    assert_eq!(p.under_predicted_rate, Some(0.0));
    let p = of(&[idle(0), Done::new(1, 0, 0, 1, 1).predicted(1, 0, 1.0)]);
    assert_eq!((p.accuracy.mean, p.first_accuracy.mean, p.accuracy.excluded), (Some(0.5), Some(0.5), 0));
}

#[test]
fn a_reservation_counts_only_for_jobs_that_waited() {
    let jobs = [Done::new(0, 50, 50, 1, 1).reserved(10), Done::new(1, 50, 60, 1, 1).reserved(70)];
    let p = report(4, &jobs, everything()).predictability.expect("asked for");
    // The second started 10 s before its reservation: a difference, not a delay.
    assert_eq!((p.difference.count, p.difference.mean, p.delay.count), (1, Some(10.0), 0));
    assert_eq!((p.delay_rate, p.delay.mean), (Some(0.0), None));
}

#[test]
fn excess_and_worst_cases_by_hand() {
    let report = report(4, &four_jobs(), everything());
    let [low, high] = report.excessive[..] else { panic!("{:?}", report.excessive) };
    assert_eq!((low.count, low.total, low.mean), (2, 22.0, Some(11.0)));
    assert_eq!((high.count, high.total, high.mean), (1, 20.0, Some(20.0)));
    let worst = |measure| report.worst.iter().find(|w| w.measure == measure).expect("there are jobs");
    assert_eq!((worst(Measure::Wait).value, worst(Measure::Wait).number), (80.0, 3));
    assert_eq!((worst(Measure::Slowdown).value, worst(Measure::Slowdown).id), (4.0, JobId(1)));
    assert_eq!(Threshold::BaselineMax.resolve_seconds(Some(&report)), Some(Span(80)));
    assert_eq!(Threshold::BaselineP98.resolve_seconds(Some(&report)), Some(Span(80)));
    assert_eq!(Threshold::BaselineP98.resolve_seconds(None), None);
}

#[test]
fn fairness_by_hand() {
    let f = report(4, &four_jobs(), everything()).fairness.expect("asked for");
    // Bounded slowdowns 1, 1, 4, 3: 9² / (4 · 27). Users: 1 has (1 + 4) / 2, 2 has (1 + 3) / 2.
    assert!(close(f.jobs.unwrap_or(0.0), 81.0 / 108.0));
    assert!(close(f.users.unwrap_or(0.0), 4.5_f64.powi(2) / (2.0 * (6.25 + 4.0))));
    assert_eq!((f.worst_user, f.worst_user_slowdown), (Some(1), Some(2.5)));
    // Only job 2 (start 130) is overtaken, by job 3 (submit 110, start 110).
    assert_eq!(f.overtaken, Some(0.25));
}

#[test]
fn categories_partition_the_jobs() {
    let config = MetricsConfig { categories: Scheme::ALL.to_vec(), ..everything() };
    let report = report(4, &four_jobs(), config);
    assert_eq!(report.categories.len(), Scheme::ALL.len());
    for Categorised { scheme, categories } in &report.categories {
        let jobs: u64 = categories.iter().map(|c| c.measures.wait.count).sum();
        let wait: f64 = categories.iter().map(|c| c.measures.wait.total()).sum();
        assert_eq!((jobs, wait), (4, 140.0), "{scheme}");
        assert!(categories.is_sorted_by_key(|c| c.key), "{scheme}");
    }
    let users = &report.categories[Scheme::ALL.iter().position(|&s| s == Scheme::User).expect("listed")];
    let names: Vec<&str> = users.categories.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["user 1", "user 2"]);
    assert_eq!(users.categories[0].measures.wait.mean, Some(30.0));
}

#[test]
fn weeks_go_by_submit() {
    let week = Span::WEEK.0;
    // The first submit, at 1,000, begins the first week.
    let jobs = [
        Done::new(0, 1_000, 1_010, 20, 1),
        Done::new(2, 1_000 + week, 1_000 + week, 0, 1),
        Done::new(1, 999 + week, 1_029 + week, 10, 1),
        // Without a submit in its second half, the second week would belong to the first.
        Done::new(3, 1_000 + week + week / 2, 1_000 + week + week / 2, 0, 1),
    ];
    let weeks = report(4, &jobs, MetricsConfig::light_config()).weeks;
    let of = |i: usize| (weeks[i].week, weeks[i].jobs, weeks[i].sums[0]);
    assert_eq!((weeks.len(), of(0), of(1)), (2, (0, 2, 40.0), (1, 2, 0.0)));
    assert_eq!(weeks[1].sum(Measure::Slowdown), (0.0, 0));
    assert_eq!(weeks[0].sum(Measure::Slowdown), (1.5 + 4.0, 2));
    assert_eq!(report(4, &jobs[..3], MetricsConfig::light_config()).weeks.len(), 1);
}

#[test]
fn rows_are_in_order_of_arrival_and_tell_what_counts() {
    let config = MetricsConfig { selection: JobSelection::Tsafrir, keep_jobs: true, ..MetricsConfig::light_config() };
    let report = report(4, &four_jobs(), config);
    let rows = report.jobs.expect("asked for");
    let flags: Vec<(u32, bool)> = rows.iter().map(|r| (r.id.0, r.counted)).collect();
    // The last submit is 110; jobs 1 (until 120) and 2 (until 170) end after it.
    assert_eq!(flags, [(0, true), (1, false), (2, false), (3, true)]);
    assert_eq!((rows[1].wait(), rows[1].response()), (Span(60), Span(80)));
    assert_eq!(report.measures.wait.count, 2);
    assert_eq!(report.trimmed.dropped_late, 2);
    // The machine worked for all of them.
    assert_eq!(report.machine.work, 480.0);
}

#[test]
fn the_queue_by_hand() {
    let jobs = [Done::new(0, 0, 0, 1, 1), Done::new(1, 30, 30, 1, 1)];
    let mut collector = collector(10, &jobs, MetricsConfig::light_config());
    // 0–10: 2 free, no job waits. 10–20: 2 free, 3 jobs want 12. 20–30: 4 free, one wants 1. 30–50:
    // all free.
    collector.note_instant(Time(0), 2, 0, 0);
    collector.note_instant(Time(10), 2, 3, 12);
    collector.note_instant(Time(20), 4, 1, 1);
    collector.note_instant(Time(30), 10, 0, 0);
    collector.note_instant(Time(50), 10, 0, 0);
    let queue = collector.finish().queue.expect("instants were reported");
    let (whole, arriving) = (queue.whole, queue.arriving);
    assert_eq!((whole.span, arriving.span), (Span(50), Span(30)));
    assert!(close(whole.mean_waiting_jobs.unwrap_or(0.0), 40.0 / 50.0));
    assert!(close(arriving.mean_waiting_jobs.unwrap_or(0.0), 40.0 / 30.0));
    assert!(close(arriving.mean_waiting_procs.unwrap_or(0.0), 130.0 / 30.0));
    assert_eq!((whole.max_waiting_jobs, whole.max_waiting_procs), (3, Some(12)));
    // min(2, 12)·10 + min(4, 1)·10 = 30 lost of 10·30 and 10·50.
    assert!(close(arriving.loss_of_capacity.unwrap_or(0.0), 0.1));
    assert!(close(whole.loss_of_capacity.unwrap_or(0.0), 0.06));
    // Free: 20 + 20 + 40 of 300, and 200 more of 500.
    assert!(close(arriving.mean_used.unwrap_or(0.0), 1.0 - 80.0 / 300.0));
    assert!(close(whole.mean_used.unwrap_or(0.0), 1.0 - 280.0 / 500.0));
}

/// A job without run time makes an instant of several steps: a job that waits between them only
/// does not wait. The last state of the last submit counts as one of the arriving, however long it
/// lasts.
#[test]
fn between_the_steps_of_an_instant_nobody_waits() {
    let jobs = [Done::new(0, 0, 0, 1, 1), Done::new(1, 5, 5, 1, 1)];
    let most = |instants: &[(i64, u64)]| {
        let mut collector = collector(10, &jobs, MetricsConfig::light_config());
        instants.iter().for_each(|&(now, waiting)| collector.note_instant(Time(now), 10, waiting, waiting));
        let queue = collector.finish().queue.expect("instants were reported");
        let of = |stats: &QueueStats| (stats.max_waiting_jobs, stats.max_waiting_procs);
        assert_eq!(of(&queue.whole).1, Some(of(&queue.whole).0));
        (of(&queue.arriving).0, of(&queue.whole).0)
    };
    assert_eq!(most(&[(0, 3), (0, 2), (0, 1), (5, 1), (9, 0)]), (1, 1));
    assert_eq!(most(&[(0, 1), (5, 9), (5, 4), (6, 2), (9, 0)]), (4, 4));
    assert_eq!(most(&[(0, 1), (5, 2), (6, 7), (9, 0)]), (2, 7));
    assert_eq!(most(&[(0, 1), (5, 2), (5, 3)]), (3, 3));
}

#[test]
fn the_engine_tells_the_backlog() {
    let mut collector = collector(10, &[Done::new(0, 0, 0, 1, 1)], MetricsConfig::light_config());
    for (now, free) in [(0, 4), (10, 10)] {
        let levels = Levels::new(free, 1).with_waiting(2, 12);
        Observer::note_settlement(&mut collector, Time(now), levels);
    }
    let whole = collector.finish().queue.expect("instants were reported").whole;
    assert_eq!((whole.mean_waiting_jobs, whole.mean_used), (Some(2.0), Some(0.6)));
    assert_eq!((whole.mean_waiting_procs, whole.max_waiting_procs), (Some(12.0), Some(12)));
    // min(4 free, 12 asked for) for 10 s of 10 processors · 10 s.
    assert_eq!(whole.loss_of_capacity, Some(0.4));
}

/// A job that is here and does not run waits, be it to start or to resume.
#[test]
fn suspended_jobs_are_in_the_queue() {
    let mut collector = collector(10, &[Done::new(0, 0, 0, 1, 1)], MetricsConfig::light_config());
    for (now, free) in [(0, 4), (10, 10)] {
        let levels = Levels::new(free, 1).with_waiting(1, 1).with_suspended(2, 2);
        Observer::note_settlement(&mut collector, Time(now), levels);
    }
    let whole = collector.finish().queue.expect("instants were reported").whole;
    assert_eq!((whole.mean_waiting_jobs, whole.max_waiting_jobs), (Some(3.0), 3));
    assert_eq!((whole.mean_waiting_procs, whole.max_waiting_procs), (Some(3.0), Some(3)));
    // min(4 free, 1 + 2 asked for) for 10 s of 10 processors · 10 s.
    assert_eq!(whole.loss_of_capacity, Some(0.3));
}

/// A job of two processors runs from 0 to 10 and from 90 to 100; the last job comes at 20, and
/// waits until then.
#[test]
fn a_suspended_job_uses_nothing() {
    let mut jobs = vec![Done::new(0, 0, 0, 100, 2), Done::new(1, 20, 100, 5, 1)];
    (jobs[0].outcome.ran, jobs[0].outcome.suspensions) = (Span(20), 1);
    let utilisation = |overhead: i64| {
        let mut jobs = jobs.clone();
        jobs[0].outcome.ran -= Span(overhead);
        let mut collector = collector(2, &jobs, MetricsConfig::light_config());
        collector.note_suspension(Time(10), JobId(0));
        collector.note_resumption(Time(90), JobId(0));
        jobs.iter().for_each(|job| collector.note_end(&job.ended()));
        collector.finish().machine.period_utilisation.unwrap_or(0.0)
    };
    // Half of the 20 s up to the last submit; and where 4 of 20 s are overhead, 8 s of them.
    assert!(close(utilisation(0), 0.5));
    assert!(close(utilisation(4), 0.4));
}

#[test]
fn no_job_at_all() {
    let report = report(4, &[], everything());
    assert_eq!(report.measures.wait.mean, None);
    assert_eq!((report.machine.utilisation, report.machine.throughput_per_hour), (None, None));
    assert_eq!((report.queue, report.suspensions.mean), (None, None));
    assert!(report.worst.is_empty() && report.weeks.is_empty());
    assert_eq!(report.fairness.map(|f| (f.jobs, f.users, f.overtaken)), Some((None, None, None)));
    let p = report.predictability.expect("asked for");
    assert_eq!((p.reservation_rate, p.delay_rate), (None, None));
}

#[test]
fn one_job_of_no_length() {
    let report = report(4, &[Done::new(0, 5, 5, 0, 1)], everything());
    assert_eq!(report.measures.bounded_slowdown.mean, Some(1.0));
    assert_eq!((report.measures.slowdown.mean, report.measures.slowdown.excluded), (None, 1));
    assert_eq!((report.machine.makespan, report.machine.utilisation), (Span(0), None));
    assert_eq!(report.worst.len(), Measure::ALL.len() - 1);
}

#[test]
fn the_longest_times_there_are() {
    let limit = 1 << 40;
    let jobs: Vec<Done> = (0..300).map(|i| Done::new(i, -limit, limit, limit, u32::MAX)).collect();
    let report = report(u32::MAX, &jobs, everything());
    assert_eq!(report.measures.wait.mean, Some(2.0 * limit as f64));
    assert_eq!(report.measures.slowdown.mean, Some(3.0));
    assert_eq!(report.measures.slowdown.deviation, Some(0.0));
    assert!(close(report.machine.utilisation.unwrap_or(0.0), 100.0));
}

#[test]
fn reports_survive_json() {
    let mut collector = collector(4, &four_jobs(), everything());
    collector.note_instant(Time(0), 4, 0, 0);
    for job in &four_jobs() {
        collector.note_end(&job.ended());
    }
    let report = collector.finish();
    let text = serde_json::to_string(&report).expect("a report is plain data");
    let back: Report = serde_json::from_str(&text).expect("the written report can be read");
    assert_eq!(back, report);
}

#[test]
fn slowdown_ratios_by_hand() {
    let rows = |waits: [i64; 4]| {
        // Run times 100 (short), 101 (medium), 0 (left out), 100 (short).
        let runs = [100, 101, 0, 100];
        let jobs: Vec<Done> = (0..4).map(|i| Done::new(i as u32, 0, waits[i], runs[i], 1)).collect();
        let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
        report(4, &jobs, config).jobs.expect("asked for")
    };
    let single = rows([300, 101, 7, 100]); // Slowdowns 4, 2, –, 2.
    let multiple = rows([0, 303, 7, 100]); // 1, 4, –, 2.
    let r = slowdown_ratios(&single, &multiple, 2).expect("the same jobs");
    assert!(close(r.overall.unwrap_or(0.0), 1.0 / 7.0));
    assert_eq!(r.classes, [Some(1.0), Some(-1.0), None, None]);
    assert_eq!((r.batches, r.excluded), (vec![Some(0.2), Some(0.0)], 1));
    // Bounded, the job of 0 s has 1 in both: 4 + 2 + 1 + 2 against 1 + 4 + 1 + 2; it is short.
    assert!(close(r.bounded.unwrap_or(0.0), 1.0 / 8.0));
    assert_eq!(r.bounded_classes, [Some(0.75), Some(-1.0), None, None]);
    // Without the first job slowdowns are 2, –, 2 and 4, –, 2; it keeps its place in its batch.
    let mut partial = single.clone();
    partial[0].counted = false;
    let r = slowdown_ratios(&partial, &multiple, 2).expect("the same jobs");
    assert_eq!((r.overall, r.classes), (Some(-0.5), [Some(0.0), Some(-1.0), None, None]));
    assert_eq!(r.batches, [Some(-1.0), Some(0.0)]);
    let jobs: Vec<u64> = weekly_classes(&partial).iter().map(|week| week.jobs).collect();
    assert_eq!(jobs, [2, 1, 0, 0], "two short jobs, one of 0 s, and one of 101 s");
    // 3 to a batch leave one of four over.
    assert_eq!(slowdown_ratios(&single, &multiple, 3).map(|r| r.batches.len()), Ok(1));
    assert_eq!(slowdown_ratios(&single, &multiple, 0).map(|r| r.batches.len()), Ok(0));
    assert_eq!(slowdown_ratios(&single, &multiple[1..], 2), Err(RatioError::Lengths(4, 3)));
    let mut stranger = multiple.clone();
    stranger[2].number = 99;
    assert_eq!(slowdown_ratios(&single, &stranger, 2), Err(RatioError::Jobs(3, 99)));
}

proptest! {
    #[test]
    fn overtaking_agrees_with_looking_at_all_pairs(jobs in prop::collection::vec((0_i64..20, 0_i64..20), 1..60)) {
        let mut jobs = jobs;
        jobs.sort_by_key(|j| j.0);
        let jobs: Vec<Done> = jobs.iter().zip(0..).map(|(j, i)| Done::new(i, j.0, j.0 + j.1, 1, 1)).collect();
        let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
        let rows = report(4, &jobs, config).jobs.expect("asked for");
        let late = rows.iter().filter(|a| rows.iter().any(|b| b.submit > a.submit && b.start < a.start)).count();
        prop_assert_eq!(overtaken_share(&rows), Some(late as f64 / rows.len() as f64));
    }
}

/// A log that leaps by 30,000 years: only the weeks with jobs are reported, and nothing is kept for
/// the others.
#[test]
fn weeks_without_number_are_not_told_one_by_one() {
    let far = 1_000_000_000_000;
    let jobs = [Done::new(0, 0, 0, 10, 1), Done::new(1, far, far + 40, 10, 1)];
    let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
    let rows = report(4, &jobs, config).jobs.expect("asked for");
    let weeks = weekly_classes(&rows);
    let told: Vec<(i64, u64)> =
        weeks.iter().filter(|week| week.class == 0).map(|week| (week.week, week.jobs)).collect();
    assert_eq!(told, [(0, 1), (far / (7 * 86_400), 1)]);
    assert_eq!(weeks.len(), 8);
    assert_eq!(weeks[4].wait, Some(40.0));
}
