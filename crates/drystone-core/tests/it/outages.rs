//! Schedules on machines that lose processors, computed by hand.

use crate::world::{count, named, outages, simulate, spans, workload};
use drystone_core::model::{Outage, OutageHit, Time, Which};

/// Families that plan with what is announced, and start jobs on any processors.
const ALL: [&str; 9] = [
    "fcfs",
    "easy",
    "easy(backfill=sjf)",
    "easy(reserve=2)",
    "easy(order=lxf,backfill=lxf)",
    "conservative",
    "slack",
    "multiqueue",
    "goal(nodes=200)",
];

/// The others, which suspend.
const SUSPENDING: [&str; 4] = ["ss", "tss", "is", "ss(migration=yes)"];

fn every() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().chain(SUSPENDING)
}

/// Job 0 holds all of 4 processors until 100. A drain of 2 that is over at 50 takes nothing away
/// from it, nor from job 1, which needs all and starts at 100.
#[test]
fn a_drain_that_ends_before_the_job_changes_nothing() {
    let jobs = workload(4, &[(0, 4, 100, 100), (20, 4, 60, 60)]);
    for policy in every() {
        let drain = Outage::new_drain(Which::Count(2), Time(10), Some(Time(50)));
        assert_eq!(spans(policy, &jobs, vec![drain]), [Some((0, 100)), Some((100, 160))], "{policy}");
    }
}

/// A drain until 150: from 100 on two processors are out, so that job 1 has to wait for 150, and
/// job 2, of two processors and 40 s, starts at 100.
#[test]
fn a_drain_that_ends_after_the_job_takes_its_processors() {
    let jobs = workload(4, &[(0, 4, 100, 100), (20, 4, 60, 60), (30, 2, 40, 40)]);
    let drain = || Outage::new_drain(Which::Named([2, 3].into_iter().collect()), Time(10), Some(Time(150)));
    for policy in every() {
        let spans = spans(policy, &jobs, vec![drain()]);
        let last = if policy == "fcfs" { None } else { Some((100, 140)) };
        assert_eq!(spans[0], Some((0, 100)), "{policy}");
        assert_eq!(spans[1], Some((150, 210)), "{policy}");
        assert!(last.is_none() || spans[2] == last, "{policy}: {spans:?}");
    }
}

/// A policy's knowledge of the return decides which jobs may run until then: 60 s fit only where
/// nothing is known of it, for then no plan can hold job 1.
#[test]
fn an_expected_return_is_planned_for() {
    let jobs = workload(4, &[(0, 4, 100, 100), (20, 4, 60, 60), (30, 2, 60, 60)]);
    let drain = || Outage::new_drain(Which::Count(2), Time(10), Some(Time(150)));
    for policy in ["easy", "easy(backfill=sjf)", "conservative"] {
        let blind = spans(policy, &jobs, vec![drain()]);
        assert_eq!(blind, [Some((0, 100)), Some((160, 220)), Some((100, 160))], "{policy}");
        let announced_spans = spans(policy, &jobs, vec![drain().with_expected_end(Time(150))]);
        assert_eq!(announced_spans, [Some((0, 100)), Some((150, 210)), Some((210, 270))], "{policy}");
    }
}

/// Announced ten hours ahead, all of 4 processors are out for an hour. Job 0 would end a second too
/// late and waits for the end of the window; job 1 ends when the window begins; job 2 does not fit
/// beside it any more.
#[test]
fn no_job_runs_into_an_announced_window() {
    let (begin, end) = (36_000, 39_600);
    let jobs = workload(4, &[(0, 2, 36_001, 36_001), (0, 4, 36_000, 36_000), (10, 1, 35_991, 35_991)]);
    let window = || Outage::new_window(Which::Count(4), Time(0), Time(begin), Time(end));
    for policy in every() {
        let spans = spans(policy, &jobs, vec![window()]);
        assert_eq!(spans[0], Some((end, end + 36_001)), "{policy}: {spans:?}");
        if policy == "fcfs" {
            // Strictly in order: job 1 needs what job 0 holds.
            assert_eq!(spans[1], Some((end + 36_001, end + 72_001)), "{policy}: {spans:?}");
        } else {
            assert_eq!(spans[1], Some((0, begin)), "{policy}: {spans:?}");
            assert_eq!(spans[2], Some((end, end + 35_991)), "{policy}: {spans:?}");
        }
    }
}

/// A window of half of the machine bars half of it from long jobs.
#[test]
fn a_window_of_half_of_the_machine_leaves_the_other() {
    let jobs = workload(4, &[(0, 2, 50_000, 50_000), (0, 2, 50_000, 50_000), (0, 2, 36_000, 36_000)]);
    let window = || Outage::new_window(Which::Named([0, 1].into_iter().collect()), Time(0), Time(36_000), Time(39_600));
    // `is` lets jobs take turns.
    for policy in every().filter(|&policy| policy != "is") {
        let spans = spans(policy, &jobs, vec![window()]);
        assert_eq!(spans[0], Some((0, 50_000)), "{policy}: {spans:?}");
        if policy != "fcfs" {
            assert_eq!(spans[1], Some((39_600, 89_600)), "{policy}: {spans:?}");
            assert_eq!(spans[2], Some((0, 36_000)), "{policy}: {spans:?}");
        }
    }
}

/// If jobs may be cut, no plan knows of the window before it begins: job 0 starts at once, is cut
/// at 36,000 and starts again.
#[test]
fn a_window_that_may_cut_jobs_bars_none() {
    let jobs = workload(4, &[(0, 4, 36_001, 36_001)]);
    let window = Outage::new_window(Which::Count(4), Time(0), Time(36_000), Time(39_600));
    for policy in every() {
        let cut = Outage { may_cut: true, ..window.clone() }.with_hit(OutageHit::Requeue);
        assert_eq!(spans(policy, &jobs, vec![cut]), [Some((39_600, 75_601))], "{policy}");
    }
}

/// 4 processors; jobs 0 and 1 hold two each. At 50 processors 2 and 3 fail until 80, under job 1:
/// it waits again with nothing left, and starts when they are back, or at 100 where job 0 ends if
/// they are not.
#[test]
fn a_failure_sends_jobs_back() {
    let jobs = workload(4, &[(0, 2, 100, 100), (0, 2, 100, 100)]);
    for policy in every() {
        let record = simulate(policy, &jobs, &outages(&jobs, vec![named(2..4, 50, 80)]), false);
        let words = record.unwrap_or_else(|e| panic!("{policy}: {e}")).words;
        assert!(words.contains(&"50 requeue 1 after 50".to_string()), "{policy}: {words:?}");
        assert_eq!(spans(policy, &jobs, vec![named(2..4, 50, 80)]), [Some((0, 100)), Some((80, 180))], "{policy}");
        assert_eq!(spans(policy, &jobs, vec![named(2..4, 50, 120)]), [Some((0, 100)), Some((100, 200))], "{policy}");
    }
}

/// A failure with jobs that are lost.
#[test]
fn a_failure_may_lose_jobs() {
    let jobs = workload(4, &[(0, 2, 100, 100), (0, 2, 100, 100), (1, 4, 10, 10)]);
    for policy in ALL {
        let lossy_outage = named(2..4, 50, 80).with_hit(OutageHit::Lose);
        let record = simulate(policy, &jobs, &outages(&jobs, vec![lossy_outage]), false).expect("sound");
        assert!(record.words.contains(&"50 lose 1 after 50".to_string()), "{policy}: {:?}", record.words);
        assert_eq!(record.schedule.spans[0], Some((Time(0), Time(100))), "{policy}");
        assert_eq!(
            (record.schedule.spans[1], record.schedule.spans[2]),
            (None, Some((Time(100), Time(110)))),
            "{policy}"
        );
    }
}

/// A job that is suspended where a node fails starts again; jobs that run beside go on. 2
/// processors: job 0 has had its slice of 600 s when job 1 comes and suspends it.
#[test]
fn a_suspended_job_is_hit_where_it_was() {
    let jobs = workload(2, &[(0, 2, 100_000, 5_000), (1_000, 1, 60, 60)]);
    let record = simulate("is", &jobs, &outages(&jobs, vec![named(0..2, 1_070, 1_080)]), false).expect("sound");
    let expected = ["0 start 0", "1000 suspend 0", "1000 start 1", "1060 end 1", "1060 resume 0"];
    assert_eq!(record.words[..5], expected, "{:?}", record.words);
    let record = simulate("is", &jobs, &outages(&jobs, vec![named(1..2, 1_030, 1_080)]), false).expect("sound");
    let expected = ["0 start 0", "1000 suspend 0", "1000 start 1", "1030 requeue 0 after 1000", "1030 capacity false"];
    assert_eq!(record.words[..5], expected, "{:?}", record.words);
    assert_eq!(record.schedule.spans, [Some((Time(1_080), Time(6_080))), Some((Time(1_000), Time(1_060)))]);
}

/// A node fails under `ss`: job 1 waits again with nothing left, and may have suspended others by
/// its expansion factor since. 4 processors; jobs 0 and 1 hold two each, processors 2 and 3 fail at
/// 50 for good until 200. Job 1 waits until job 0 ends at 100.
#[test]
fn a_node_fails_under_selective_suspension() {
    let jobs = workload(4, &[(0, 2, 100, 100), (0, 2, 100, 100)]);
    let record = simulate("ss", &jobs, &outages(&jobs, vec![named(2..4, 50, 200)]), false).expect("sound");
    let expected = [
        "0 start 0",
        "0 start 1",
        "50 requeue 1 after 50",
        "50 capacity false",
        "100 end 0",
        "100 start 1",
        "200 end 1",
    ];
    assert_eq!(record.words, expected);
}

/// A head that needs more than is up: while it is not known when the others are back it blocks no
/// job; when they are back it is the first again, before a job that arrived earlier than they
/// returned.
#[test]
fn a_head_wider_than_what_is_up_keeps_its_place() {
    let jobs = workload(4, &[(10, 4, 50, 50), (20, 2, 100, 100), (130, 2, 10, 10), (135, 4, 5, 5)]);
    for policy in ["fcfs", "easy", "easy(backfill=sjf)", "conservative", "multiqueue"] {
        let spans = spans(policy, &jobs, vec![count(1, 0, 140)]);
        // Job 1 starts at once and is over at 120; job 2 is over at 130; job 0 starts when the
        // processor is back, then job 3.
        assert_eq!(spans[1], Some((20, 120)), "{policy}: {spans:?}");
        assert_eq!(spans[2], Some((130, 140)), "{policy}: {spans:?}");
        assert_eq!(spans[0], Some((140, 190)), "{policy}: {spans:?}");
        assert_eq!(spans[3], Some((190, 195)), "{policy}: {spans:?}");
    }
}

/// The expected return does not come: the head has a reservation at 50, which moves out of every
/// plan at 50; at 60 it starts.
#[test]
fn a_return_that_is_late_is_waited_for() {
    let jobs = workload(4, &[(10, 4, 50, 50), (20, 2, 100, 100)]);
    for policy in ["easy", "conservative"] {
        let late = count(1, 0, 60).with_expected_end(Time(50));
        let record = simulate(policy, &jobs, &outages(&jobs, vec![late]), false).expect("sound");
        assert!(record.words.contains(&"10 reserve 0 50".to_string()), "{policy}: {:?}", record.words);
        // From 50 on nothing is known any more, so that job 1 does not wait either.
        assert_eq!(record.schedule.spans[1], Some((Time(50), Time(150))), "{policy}: {:?}", record.words);
        assert_eq!(record.schedule.spans[0], Some((Time(150), Time(200))), "{policy}");
    }
}

/// A machine that never gets its processors back cannot run a job that needs them, and says so.
#[test]
fn what_can_never_run_is_an_error() {
    let jobs = workload(4, &[(10, 4, 50, 50)]);
    for policy in every() {
        let permanent_failure = Outage::new_failure(Which::Count(1), Time(0), None);
        let error =
            simulate(policy, &jobs, &outages(&jobs, vec![permanent_failure]), false).err().map(|e| e.to_string());
        let words =
            "only 3 of 4 processors are up in the end: job 1, submitted at 10 s, needs 4 and waits for ever (1 in all)";
        assert!(error.as_deref().is_some_and(|e| e.starts_with(words)), "{policy}: {error:?}");
    }
}

/// Outages that are over before the first job, or begin after the last has ended, are none.
#[test]
fn outages_outside_the_jobs_do_not_count() {
    let jobs = workload(4, &[(100, 4, 50, 50)]);
    let told =
        simulate("easy", &jobs, &outages(&jobs, vec![count(1, 0, 60), count(1, 500, 600)]), false).expect("sound");
    assert_eq!(told.words, ["100 capacity true", "100 start 0", "150 end 0"]);
}
