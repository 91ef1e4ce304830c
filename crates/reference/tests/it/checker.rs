//! The checker accepts good schedules and finds what is wrong with each deliberately spoilt one.

use drystone_reference::checker::{
    NaiveSegment, NaiveViolation, check_local_resumption, check_promises, check_resources, check_schedule,
    list_segments,
};
use drystone_reference::easy::{self, Easy, NaiveEasyOrder, NaivePass, Reservations};
use drystone_reference::talby::{self, NaiveNotice, NaivePriority, NaiveRemoval, NaiveTalbyScheduler};
use drystone_reference::{JobIn, JobOut};
use proptest::prelude::*;

fn job(submit: i64, procs: i64, run: i64) -> JobIn {
    JobIn { submit, procs, estimate: run, run, user: 1 }
}

/// Three jobs on four processors: the second waits for the first, the third runs beside it.
fn good() -> (Vec<JobIn>, Vec<NaiveSegment>) {
    let jobs = vec![job(0, 3, 10), job(1, 4, 5), job(2, 1, 0)];
    let on =
        |job, start, end, processors: &[u32]| NaiveSegment { job, start, end, processors: Some(processors.to_vec()) };
    let segments = vec![
        on(0, 0, 4, &[0, 1, 2]), // suspended
        on(1, 4, 9, &[0, 1, 2, 3]),
        on(0, 9, 15, &[2, 1, 0]),
        on(2, 2, 2, &[3]),
    ];
    (jobs, segments)
}

#[test]
fn a_good_schedule_passes() {
    let (jobs, segments) = good();
    assert_eq!(check_schedule(4, &jobs, &segments), Ok(()));
    assert_eq!(check_local_resumption(&segments), Ok(()));
}

/// Spoils the good schedule and expects exactly these complaints.
fn expect(spoil: impl Fn(&mut Vec<NaiveSegment>), complaints: &[NaiveViolation]) {
    let (jobs, mut segments) = good();
    spoil(&mut segments);
    assert_eq!(check_schedule(4, &jobs, &segments), Err(complaints.to_vec()));
}

#[test]
fn too_many_processors_in_use() {
    expect(
        |s| {
            s.iter_mut().filter(|s| s.job == 1).for_each(|s| {
                (s.start, s.end, s.processors) = (3, 8, None);
            })
        },
        &[NaiveViolation::OverCapacity { at: 3, used: 7 }],
    );
}

#[test]
fn capacity_of_a_smaller_machine() {
    let jobs = [job(0, 2, 10), job(0, 2, 10)];
    let out = [JobOut { start: 0, end: 10 }, JobOut { start: 9, end: 19 }];
    let violations = check_schedule(3, &jobs, &list_segments(&out));
    assert_eq!(violations, Err(vec![NaiveViolation::OverCapacity { at: 9, used: 4 }]));
    // Back to back is no overlap.
    let out = [JobOut { start: 0, end: 10 }, JobOut { start: 10, end: 20 }];
    assert_eq!(check_schedule(3, &jobs, &list_segments(&out)), Ok(()));
}

/// The first resource is back when it is asked for again; the second is overdrawn by two jobs of
/// three, from the start of the later one on.
#[test]
fn a_resource_that_is_overdrawn() {
    let out = [JobOut { start: 5, end: 15 }, JobOut { start: 0, end: 5 }, JobOut { start: 8, end: 9 }];
    let asks = [vec![4, 1], vec![4, 2], vec![0, 2]];
    let violations = check_resources(&[4, 2], &asks, &list_segments(&out));
    assert_eq!(violations, Err(vec![NaiveViolation::OverResource { resource: 1, at: 8, used: 3 }]));
    assert_eq!(check_resources(&[4, 3], &asks, &list_segments(&out)), Ok(()));
    assert!(check_resources(&[3, 3], &asks, &list_segments(&out)).is_err());
}

#[test]
fn a_processor_with_two_jobs() {
    let jobs = [job(0, 1, 10), job(0, 1, 10)];
    let on = |job, start, processor| NaiveSegment { job, start, end: start + 10, processors: Some(vec![processor]) };
    let violations = check_schedule(2, &jobs, &[on(0, 0, 1), on(1, 5, 1)]);
    assert_eq!(violations, Err(vec![NaiveViolation::SharedProcessor { processor: 1, first: 0, second: 1 }]));
    assert_eq!(check_schedule(2, &jobs, &[on(0, 0, 1), on(1, 5, 0)]), Ok(()));
}

#[test]
fn processors_that_are_too_few_or_foreign_or_named_twice() {
    for bad in [vec![0, 1], vec![0, 1, 4], vec![0, 1, 1], vec![0, 1, 2, 3]] {
        expect(|s| s[0].processors = Some(bad.clone()), &[NaiveViolation::WrongProcessors { job: 0 }]);
    }
}

#[test]
fn running_before_arrival() {
    expect(|s| (s[3].start, s[3].end) = (1, 1), &[NaiveViolation::TooEarly { job: 2, start: 1 }]);
}

#[test]
fn never_started_and_unknown() {
    expect(|s| s[3].job = 3, &[NaiveViolation::UnknownJob { job: 3 }, NaiveViolation::NeverStarted { job: 2 }]);
}

#[test]
fn too_little_too_much_or_twice() {
    expect(|s| s[2].end = 14, &[NaiveViolation::WrongRunTime { job: 0, received: 9, due: 10 }]);
    expect(|s| s[2].end = 16, &[NaiveViolation::WrongRunTime { job: 0, received: 11, due: 10 }]);
    expect(|s| s.push(s[3].clone()), &[NaiveViolation::WrongRunTime { job: 2, received: 0, due: 0 }]);
    expect(
        |s| s.push(NaiveSegment { job: 1, start: 20, end: 25, processors: None }),
        &[NaiveViolation::WrongRunTime { job: 1, received: 10, due: 5 }],
    );
}

#[test]
fn a_job_running_beside_itself() {
    let jobs = [job(0, 1, 10)];
    let part = |start, end| NaiveSegment { job: 0, start, end, processors: None };
    assert_eq!(check_schedule(4, &jobs, &[part(0, 6), part(5, 9)]), Err(vec![NaiveViolation::Overlap { job: 0 }]));
    assert_eq!(check_schedule(4, &jobs, &[part(5, 4), part(6, 17)]), Err(vec![NaiveViolation::Backwards { job: 0 }]));
}

#[test]
fn resuming_elsewhere() {
    let (_, mut segments) = good();
    segments[2].processors = Some(vec![1, 2, 3]);
    assert_eq!(check_local_resumption(&segments), Err(vec![NaiveViolation::Migrated { job: 0 }]));
}

#[test]
fn starting_later_than_promised() {
    let out = [JobOut { start: 5, end: 6 }, JobOut { start: 7, end: 8 }, JobOut { start: 9, end: 9 }];
    assert_eq!(check_promises(&out, &[Some(5), Some(8), None]), Ok(()));
    let broken = NaiveViolation::BrokenPromise { job: 1, start: 7, promised: 6 };
    assert_eq!(check_promises(&out, &[Some(5), Some(6), None]), Err(vec![broken]));
}

const MACHINE: i64 = 8;

prop_compose! {
    /// Jobs with run ≤ estimate, crowded enough to queue; equal times are frequent.
    fn some_jobs()(raw in prop::collection::vec((0_i64..4, 1..=MACHINE, 1_i64..12, 0_i64..=12, 0_i64..3), 1..40)) -> Vec<JobIn> {
        let mut submit = 0;
        raw.into_iter().map(|(gap, procs, estimate, run, user)| {
            submit += gap;
            JobIn { submit, procs, estimate, run: run.min(estimate), user }
        }).collect()
    }
}

proptest! {
    #[test]
    fn conservative_is_sound_and_keeps_its_promises(jobs in some_jobs()) {
        for notice in [NaiveNotice::Immediate, NaiveNotice::Late] {
            let plan = talby::run(NaiveTalbyScheduler::Conservative, notice, &jobs, MACHINE);
            prop_assert_eq!(check_promises(&plan.schedule, &plan.promised), Ok(()));
            prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&plan.schedule)), Ok(()));
        }
    }

    #[test]
    fn priority_scheduling_is_sound_and_keeps_its_promises(jobs in some_jobs(), slack_factor in 0.0_f64..4.0) {
        for removal in [NaiveRemoval::Compress, NaiveRemoval::Priced] {
            let settings = NaivePriority { slack_factor, average_wait: 10.0, removal, ..NaivePriority::default() };
            for notice in [NaiveNotice::Immediate, NaiveNotice::Late] {
                let plan = talby::run(NaiveTalbyScheduler::Priority(&settings), notice, &jobs, MACHINE);
                prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&plan.schedule)), Ok(()));
                prop_assert_eq!(check_promises(&plan.schedule, &plan.promised), Ok(()));
            }
        }
    }

    /// Without slack only moves up are possible.
    #[test]
    fn priority_without_slack_is_conservative(jobs in some_jobs()) {
        let settings = NaivePriority { slack_factor: 0.0, ..NaivePriority::default() };
        let plan = talby::run(NaiveTalbyScheduler::Priority(&settings), NaiveNotice::Immediate, &jobs, MACHINE);
        let conservative = talby::run(NaiveTalbyScheduler::Conservative, NaiveNotice::Immediate, &jobs, MACHINE);
        prop_assert_eq!(plan, conservative);
    }

    #[test]
    fn easy_is_sound_and_its_head_starts_by_its_first_reservation(jobs in some_jobs()) {
        for (pass, backfill) in [(NaivePass::PerInstant, NaiveEasyOrder::Fcfs), (NaivePass::PerEvent, NaiveEasyOrder::Shortest), (NaivePass::PerInstant, NaiveEasyOrder::LargestExpansion)] {
            let run = easy::run(&Easy { pass, backfill, ..Easy::default() }, &jobs, MACHINE);
            let promises: Vec<Option<i64>> = run.jobs.iter().map(|r| r.first_reservation).collect();
            prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&run.schedule())), Ok(()));
            prop_assert_eq!(check_promises(&run.schedule(), &promises), Ok(()));
        }
    }

    #[test]
    fn every_order_and_number_of_reservations_is_sound(jobs in some_jobs(), k in 0_usize..5) {
        for order in NaiveEasyOrder::ALL {
            let policy = Easy { queue: order, backfill: order, reservations: Reservations::First(k), ..Easy::default() };
            prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&easy::run(&policy, &jobs, MACHINE).schedule())), Ok(()));
        }
        prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&easy::run_fcfs(&jobs, MACHINE))), Ok(()));
        prop_assert_eq!(check_schedule(MACHINE, &jobs, &list_segments(&easy::first_fit(&jobs, MACHINE))), Ok(()));
    }

    /// With exact run times nothing ends early: planning everything again at every pass changes no
    /// plan.
    #[test]
    fn reserving_for_everybody_is_conservative_when_estimates_are_exact(jobs in some_jobs()) {
        let exact: Vec<JobIn> = jobs.iter().map(|j| JobIn { run: j.estimate, ..*j }).collect();
        let full_easy = Easy { reservations: Reservations::First(1_000), ..Easy::default() };
        let conservative = talby::run(NaiveTalbyScheduler::Conservative, NaiveNotice::Immediate, &exact, MACHINE);
        prop_assert_eq!(easy::run(&full_easy, &exact, MACHINE).schedule(), conservative.schedule);
    }
}

/// The head leaves two processors over, which the last job may use, unless the job behind the head
/// has a reservation too.
#[test]
fn a_second_reservation_protects_the_second_job() {
    let jobs = [job(0, 6, 10), job(1, 8, 5), job(1, 9, 8), job(1, 2, 100)];
    let starts = |k| -> Vec<i64> {
        let policy = Easy { reservations: Reservations::First(k), ..Easy::default() };
        easy::run(&policy, &jobs, 10).schedule().iter().map(|out| out.start).collect()
    };
    assert_eq!(starts(0), [0, 10, 101, 1]);
    assert_eq!(starts(1), [0, 10, 101, 1]);
    assert_eq!(starts(2), [0, 10, 15, 23]);
    assert_eq!(starts(3), [0, 10, 15, 23]);
}
