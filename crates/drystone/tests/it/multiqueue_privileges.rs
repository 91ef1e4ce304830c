//! Multiple queues with priorities and reserved starts.

use crate::common::{owned, spec, starts, workload};
use drystone::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone::model::{JobId, Procs, Span, Time, Workload};
use drystone::policy::Priorities;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Promises in the order in which they are made: time, job, start.
#[derive(Default)]
struct Promised(Vec<(i64, u32, i64)>);

impl Observer for Promised {
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, _: Time) {
        self.0.push((now.0, id.0, start.0));
    }
}

/// Returns the starts and the promises under `multiqueue` with these priorities.
fn scheduled(workload: &Workload, policy: &str, priorities: &str) -> (Vec<i64>, Vec<(i64, u32, i64)>) {
    let scheduler = || {
        let mut scheduler = spec(policy).build_scheduler();
        scheduler.policy.set_priorities(Priorities::from_toml(priorities).expect(priorities)).expect(policy);
        scheduler
    };
    let (mut schedule, mut promises) = (Schedule::default(), Promised::default());
    let simulation = || Simulation::new(workload.machine(), scheduler(), WorkloadReplay::new(workload));
    simulation().run(&mut schedule).expect(policy);
    simulation().run(&mut promises).expect(policy);
    let starts = schedule.spans.iter().map(|span| span.expect("it ran").0.0).collect();
    (starts, promises.0)
}

/// Four processors, all jobs in the queue of at most 100 s, exact estimates. Job 0 has them all
/// until 100, job 1 is promised 100, job 2 stands behind it. Job 3 has a priority: it stands before
/// both, but the promise stays, so that it is promised 150. Job 4 has reserved two processors 206 s
/// after its submit, at 210, where no other event falls. From 150 on job 2 is the first of its
/// queue. It would run from 200 into the reservation, and is promised 240. Job 5 is gone by 235 and
/// starts at 200; job 6 would not be.
#[test]
fn important_jobs_come_first_and_reserved_starts_are_kept() {
    let jobs = [
        (0, 4, 100, 100),
        (1, 4, 50, 50),
        (2, 4, 50, 50),
        (3, 4, 50, 50),
        (4, 2, 30, 30),
        (5, 2, 35, 35),
        (6, 2, 45, 45),
    ];
    let jobs = owned(&workload(4, &jobs), &[1, 1, 1, 7, 8, 1, 1]);
    let priorities = "[[user]]\nid = 7\nup = 1\n[[user]]\nid = 8\nreserve = 206\n";
    let (starts, promises) = scheduled(&jobs, "multiqueue", priorities);
    assert_eq!(starts, [0, 100, 240, 150, 210, 200, 290]);
    assert_eq!(promises, [(1, 1, 100), (3, 3, 150), (4, 4, 210), (150, 2, 240), (240, 6, 290)]);
}

/// A machine without jobs wakes for a reserved start, and one that is taken at the time asked for
/// is the earliest behind it.
#[test]
fn reserved_starts_are_the_earliest_from_the_time_asked_for() {
    let alone = workload(4, &[(0, 1, 10, 10), (20, 4, 10, 10)]);
    let nth_rule = "every = [{ nth = 2, reserve = 500 }]";
    assert_eq!(scheduled(&alone, "multiqueue", nth_rule), (vec![0, 520], vec![(20, 1, 520)]));
    let crowd = workload(4, &[(0, 3, 100, 100), (10, 2, 30, 30), (15, 1, 20, 20)]);
    let lead_rule = "default = { reserve = 40 }";
    assert_eq!(
        scheduled(&crowd, "multiqueue", lead_rule),
        (vec![40, 140, 55], vec![(0, 0, 40), (10, 1, 140), (15, 2, 55)])
    );
}

/// A job that has waited for longer than `starve` comes before important ones. Jobs of 50 s for the
/// whole machine: job 2 is promised 50 and starts then, and job 3, also important, is promised 100.
/// With the guard it is job 1, which has waited for 49 s.
#[test]
fn jobs_that_starve_come_before_important_ones() {
    let jobs = [(0, 4, 50, 50), (1, 4, 50, 50), (1, 4, 50, 50), (40, 4, 50, 50)];
    let jobs = owned(&workload(4, &jobs), &[1, 1, 7, 7]);
    let important = "[[user]]\nid = 7\nup = 1\n";
    assert_eq!(scheduled(&jobs, "multiqueue", important).0, [0, 150, 50, 100]);
    let guard_policy = "multiqueue(order=s,starve=40s)";
    assert_eq!(scheduled(&jobs, guard_policy, important).0, [0, 100, 50, 150]);
}

/// Jobs beyond a quota come last.
#[test]
fn jobs_beyond_a_quota_come_last() {
    let jobs = [(0, 1, 50, 50), (1, 1, 50, 50), (2, 1, 50, 50), (3, 1, 50, 50)];
    let jobs = owned(&workload(1, &jobs), &[1, 7, 7, 1]);
    let quota = "[[user]]\nid = 7\nquota = { jobs = 1 }\n";
    assert_eq!(scheduled(&jobs, "multiqueue", quota).0, [0, 50, 150, 100]);
}

#[test]
fn other_rules_of_ownership_and_promises_know_no_priorities() {
    for policy in ["multiqueue(own=fig4)", "multiqueue(own=split)", "multiqueue(promise=eager)"] {
        let error =
            spec(policy).build_scheduler().policy.set_priorities(Priorities::from_text("every(5)").expect("a text"));
        assert!(error.expect_err(policy).to_string().contains("own=shared and promise=pivot"), "{policy}");
    }
    let reserving = Priorities::from_text("every(5,reserve=60)").expect("a text");
    let error = spec("slack").build_scheduler().policy.set_priorities(reserving);
    assert!(error.expect_err("slack").to_string().contains("knows no reservations"));
}

const PROCS: Procs = 16;

/// (Time since the last submit, processors, run time).
fn raw() -> impl Strategy<Value = Vec<(i64, Procs, i64)>> {
    let run = prop_oneof![1i64..=100, 101i64..=1_000, 1_001i64..=10_000, 10_001i64..=40_000];
    let procs = prop_oneof![4 => 1u32..=4, 2 => 1u32..=PROCS, 1 => Just(PROCS)];
    prop::collection::vec((prop_oneof![Just(0i64), 0i64..=2_000], procs, run), 1..70)
}

fn made(raw: &[(i64, Procs, i64)]) -> Workload {
    let mut submit = 0;
    let jobs = raw.iter().map(|&(gap, procs, run)| {
        submit += gap;
        (submit, procs, run, run)
    });
    workload(PROCS, &jobs.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Equal priorities of all jobs change nothing.
    #[test]
    fn equal_priorities_change_nothing(raw in raw()) {
        let workload = made(&raw);
        let plain = starts(&workload, "multiqueue");
        prop_assert_eq!(scheduled(&workload, "multiqueue", "default = { up = 1 }").0, plain);
    }

    /// With exact estimates each promise is made once and kept, and no job starts before the time
    /// that it has reserved.
    #[test]
    fn promises_beside_reservations_are_kept(raw in raw(), nth in 2u32..6, lead in 0i64..=20_000) {
        let workload = made(&raw);
        let text = format!("every = [{{ nth = {nth}, reserve = {lead} }}]\n[[user]]\nid = 7\nup = 1\n");
        let users: Vec<i32> = (0..raw.len() as i32).map(|at| if at % 3 == 0 { 7 } else { 1 }).collect();
        let (starts, promise_list) = scheduled(&owned(&workload, &users), "multiqueue", &text);
        let mut promises = BTreeMap::new();
        for (_, id, start) in promise_list {
            prop_assert_eq!(promises.insert(id, start), None, "job {} is promised twice", id);
            prop_assert_eq!(starts[id as usize], start, "job {}", id);
        }
        for (at, (job, &start)) in workload.jobs().iter().zip(&starts).enumerate() {
            if (at as u32 + 1).is_multiple_of(nth) {
                prop_assert!(start >= (job.submit + Span(lead)).0, "job {} starts at {}", at, start);
            }
        }
    }
}
