//! The parts of policies against their naive definitions, at sizes where every one of their shapes
//! comes up: running sets and queues of thousands of jobs are trees of several levels.

use drystone::model::{JobId, Procs, Span, Time};
use drystone::parts::{
    BackfillFit, ExtraRule, FitStairs, Order, Profile, QueuePlace, RunningJob, RunningSet, Shadow, WaitQueue,
    WaitingJob, more_expanded,
};
use proptest::prelude::*;

/// The shadow time by a walk over all ends.
fn shadow(jobs: &[RunningJob], missing: Procs, extra: ExtraRule, floor: Time) -> Option<Shadow> {
    let mut sum = 0;
    let last = jobs.iter().position(|job| {
        sum += job.procs;
        sum >= missing
    })?;
    let time = jobs[last].end.max(floor);
    if extra == ExtraRule::All {
        sum += jobs[last + 1..].iter().filter(|j| j.end <= time).map(|j| j.procs).sum::<Procs>();
    }
    Some(Shadow { time, extra: sum - missing })
}

fn agrees(set: &RunningSet, jobs: &mut [RunningJob], missing: Procs, time: i64) -> Result<(), TestCaseError> {
    jobs.sort_by_key(|j| (j.end, j.id));
    prop_assert_eq!((set.len(), set.is_empty()), (jobs.len(), jobs.is_empty()));
    prop_assert_eq!(set.first_ending(), jobs.first().copied());
    prop_assert!(set.iter().eq(jobs.iter()));
    let total: Procs = jobs.iter().map(|j| j.procs).sum();
    prop_assert_eq!(set.procs(), total);
    prop_assert_eq!(set.ending_by(Time(time)), jobs.iter().filter(|j| j.end.0 <= time).map(|j| j.procs).sum::<u32>());
    for missing in [1, missing, total / 2, total, total + 1] {
        for extra in [ExtraRule::All, ExtraRule::First] {
            for floor in [Time::MIN, Time(time)] {
                prop_assert_eq!(set.find_shadow(missing, extra, floor), shadow(jobs, missing, extra, floor));
            }
        }
    }
    Ok(())
}

/// Changes of a tree: numbers that mean another job in each state.
fn changes() -> impl Strategy<Value = Vec<(u8, u32, i64, u32)>> {
    prop::collection::vec((0u8..8, any::<u32>(), 0i64..600, 1u32..50), 300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A running set does what a sorted list does, while it grows to thousands, changes, and
    /// shrinks to nothing.
    #[test]
    fn a_running_set_is_a_sorted_list(ends in prop::collection::vec((0i64..600, 1u32..50), 1_500..3_000), changes in changes()) {
        let mut set = RunningSet::default();
        let mut jobs: Vec<RunningJob> = Vec::new();
        for (at, &(end, procs)) in ends.iter().enumerate() {
            let job = RunningJob { end: Time(end), id: JobId(at as u32), procs };
            set.insert(job);
            jobs.push(job);
            if at % 331 == 0 {
                agrees(&set, &mut jobs, 700, end)?;
            }
        }
        let mut next = jobs.len() as u32;
        for (at, &(action, which, end, procs)) in changes.iter().enumerate() {
            let place = which as usize % jobs.len();
            match action {
                0 | 1 => {
                    let job = RunningJob { end: Time(end), id: JobId(next), procs };
                    next += 1;
                    set.insert(job);
                    jobs.push(job);
                }
                2 | 3 => {
                    let job = jobs.swap_remove(place);
                    prop_assert_eq!(set.remove(job.end, job.id), Some(job));
                    prop_assert_eq!(set.remove(job.end, job.id), None, "it is gone");
                    prop_assert!(!set.postpone_end(job, Time(end)));
                }
                _ => {
                    prop_assert!(set.postpone_end(jobs[place], Time(end)));
                    jobs[place].end = Time(end);
                }
            }
            if at % 37 == 0 {
                agrees(&set, &mut jobs, procs * 100, end)?;
            }
        }
        // Those in the middle go first, so that whole branches empty before their neighbours do.
        while !jobs.is_empty() {
            agrees(&set, &mut jobs, 900, 300)?;
            let part = jobs.len().div_ceil(5);
            let from = (jobs.len() - part) / 2;
            for job in jobs.drain(from..from + part) {
                prop_assert_eq!(set.remove(job.end, job.id), Some(job));
            }
        }
        agrees(&set, &mut jobs, 1, 0)?;
    }

    /// A queue finds what a scan of a sorted list finds.
    #[test]
    fn a_queue_is_a_sorted_list(
        jobs in prop::collection::vec((0i64..400, 1u32..200, 0i64..5_000, -3_000i64..3_000), 1_200..2_500),
        changes in prop::collection::vec((0u8..3, any::<u32>(), 0i64..400, 1u32..200), 300),
        fits in prop::collection::vec((0u32..220, -10i64..5_200, 0u32..200), 4),
    ) {
        let mut queue = WaitQueue::default();
        let mut list: Vec<WaitingJob> = Vec::new();
        for (at, &(key, procs, run, submit)) in jobs.iter().enumerate() {
            let id = JobId(at as u32);
            let job = WaitingJob { key, procs, prediction: Span(run), submit: Time(submit), id };
            queue.insert(job);
            list.push(job);
        }
        queue_agrees(&queue, &mut list, &fits)?;
        for &(action, which, key, procs) in &changes {
            let place = which as usize % list.len();
            let old = list[place];
            let absent = QueuePlace { key: old.key + 1_000, id: old.id };
            prop_assert_eq!(queue.remove(absent), None);
            prop_assert_eq!(queue.replace_job(absent, old), None);
            if action == 0 {
                prop_assert_eq!(queue.remove(old.queue_place()), Some(old));
                list.swap_remove(place);
            } else {
                let new = WaitingJob { key: if action == 1 { key } else { old.key }, procs, prediction: Span(key * 10), ..old };
                prop_assert_eq!(queue.replace_job(old.queue_place(), new), Some(old));
                list[place] = new;
            }
        }
        queue_agrees(&queue, &mut list, &fits)?;
        while list.len() > 3 {
            let part = list.len().div_ceil(3);
            let from = (list.len() - part) / 2;
            for job in list.drain(from..from + part) {
                prop_assert_eq!(queue.remove(job.queue_place()), Some(job));
            }
            queue_agrees(&queue, &mut list, &fits)?;
        }
        queue.clear();
        list.clear();
        queue_agrees(&queue, &mut list, &fits)?;
    }

    /// Queues that one leaf holds behave as a sorted list, after every change.
    #[test]
    fn a_short_queue_is_a_sorted_list(
        jobs in prop::collection::vec((0i64..20, 1u32..20, 0i64..500, -300i64..300), 2..70),
        changes in prop::collection::vec((any::<u32>(), 0i64..20, 1u32..20), 40),
        fits in prop::collection::vec((0u32..22, -10i64..520, 0u32..20), 3),
    ) {
        let mut queue = WaitQueue::default();
        let mut list: Vec<WaitingJob> = Vec::new();
        for (at, &(key, procs, run, submit)) in jobs.iter().enumerate() {
            let job = WaitingJob { key, procs, prediction: Span(run), submit: Time(submit), id: JobId(at as u32) };
            queue.insert(job);
            list.push(job);
        }
        for &(which, key, procs) in &changes {
            let place = which as usize % list.len();
            let new = WaitingJob { key, procs, ..list[place] };
            // Neither between others nor behind them all is a job that is not there.
            for key in [list[place].key, 30] {
                let absent = QueuePlace { key, id: JobId(1_000) };
                prop_assert_eq!(queue.replace_job(absent, new), None);
                prop_assert_eq!(queue.remove(absent), None);
            }
            prop_assert_eq!(queue.replace_job(list[place].queue_place(), new), Some(list[place]));
            list[place] = new;
            queue_agrees(&queue, &mut list, &fits)?;
        }
    }
}

fn queue_agrees(queue: &WaitQueue, list: &mut [WaitingJob], fits: &[(u32, i64, u32)]) -> Result<(), TestCaseError> {
    list.sort_by_key(WaitingJob::queue_place);
    prop_assert_eq!((queue.len(), queue.is_empty()), (list.len(), list.is_empty()));
    prop_assert_eq!(queue.first_job(), list.first().copied());
    prop_assert!(queue.iter().eq(list.iter()));
    for &(free, window, extra) in fits {
        let fit = BackfillFit { free, window: Span(window), extra };
        let stairs =
            FitStairs { free, steps: vec![(Span(window.max(0)), extra), (Span(window.max(0) + 300), free / 2)] };
        for after in list.iter().step_by(list.len() / 5 + 1).map(|j| Some(j.queue_place())).chain([None]) {
            let behind = || list.iter().filter(|j| after.is_none_or(|a| j.queue_place() > a));
            prop_assert_eq!(
                queue.next_fit(after, fit),
                behind().find(|j| j.procs <= free && (j.prediction.0 <= window || j.procs <= extra)).copied()
            );
            let is_harmless = |j: &&WaitingJob| {
                j.procs <= free && stairs.steps.iter().all(|&(until, spare)| j.procs <= spare || j.prediction <= until)
            };
            prop_assert_eq!(queue.next_admitted(after, &stairs), behind().find(is_harmless).copied());
        }
        for (fit, now) in [(Some(fit), Time(3_000)), (None, Time(window))] {
            let candidates = list.iter().filter(|j| fit.is_none_or(|f| f.can_start(j.procs, j.prediction)));
            let best = candidates.copied().reduce(|a, b| if more_expanded(&b, &a, now) { b } else { a });
            prop_assert_eq!(queue.most_expanded(now, fit), best);
        }
    }
    Ok(())
}

/// If everything fits, the first job is found, however long it runs: a machine wider than any class
/// of sizes, all the time there is, and predictions at and beyond the 31 bits that summaries keep
/// of them.
#[test]
fn the_longest_jobs_are_found_on_the_widest_machines() {
    let long = i64::from(i32::MAX);
    for run in [1, long - 1, long, long + 1, 2 * long, Span::MAX.0] {
        let mut queue = WaitQueue::default();
        let job =
            |id: u32| WaitingJob { prediction: Span(run), procs: 1 + id * 50, id: JobId(id), ..WaitingJob::default() };
        (0..300).for_each(|id| queue.insert(job(id)));
        let everywhere = FitStairs { free: 10_000_000, steps: vec![] };
        for after in [None, Some(100), Some(298)] {
            let next = Some(job(after.map_or(0, |a| a + 1)));
            let after = after.map(|a| job(a).queue_place());
            assert_eq!(queue.next_fit(after, BackfillFit::for_free_procs(10_000_000)), next, "{run} s");
            assert_eq!(queue.next_admitted(after, &everywhere), next, "{run} s");
        }
        assert_eq!(queue.next_fit(Some(job(299).queue_place()), BackfillFit::for_free_procs(10_000_000)), None);
        // One second less than they run, and no extra processors: none.
        let fit = BackfillFit { free: 10_000_000, window: Span(run - 1), extra: 0 };
        assert_eq!(queue.next_fit(None, fit), None, "{run} s");
        assert_eq!(queue.next_fit(None, BackfillFit { window: Span(run), ..fit }), Some(job(0)), "{run} s");
    }
}

/// Expansion factors by hand: (wait + run) / run, where a run of less than a second counts as one,
/// and ties go to the older.
#[test]
fn expansion_factors_by_hand() {
    let job = |id, submit, run| WaitingJob {
        submit: Time(submit),
        prediction: Span(run),
        id: JobId(id),
        ..WaitingJob::default()
    };
    let now = Time(100);
    // 1 + 100/50 = 3, 1 + 90/30 = 4.
    assert!(more_expanded(&job(1, 10, 30), &job(0, 0, 50), now));
    assert!(!more_expanded(&job(0, 0, 50), &job(1, 10, 30), now));
    // 1 + 100/50 and 1 + 60/30.
    assert!(
        more_expanded(&job(0, 0, 50), &job(1, 40, 30), now) && !more_expanded(&job(1, 40, 30), &job(0, 0, 50), now)
    );
    // No run time counts as a second: 1 + 10/1 is more than 1 + 100/50.
    assert!(more_expanded(&job(1, 90, 0), &job(0, 0, 50), now));
    // A job that comes later than now has not waited.
    assert!(
        more_expanded(&job(1, 100, 9), &job(2, 500, 3), now) && !more_expanded(&job(2, 500, 3), &job(1, 100, 9), now)
    );
}

/// Changes of a profile while nothing was marked are not remembered: equally free is equal.
#[test]
fn an_unmarked_profile_has_no_past() {
    let with = |procs| {
        let mut profile = Profile::new(Time(0), 8);
        profile.reserve_procs(Time(2), Time(5), procs);
        profile.release_procs(Time(2), Time(5), procs);
        profile
    };
    assert_eq!(with(3), with(7));
    let mut profile = Profile::new(Time(0), 8);
    let mark = profile.set_mark();
    profile.reserve_procs(Time(2), Time(5), 3);
    profile.release_procs(Time(2), Time(5), 3);
    profile.drop_mark(mark);
    assert_eq!(profile, with(3), "nor is what a mark that was dropped held");
}

/// Steps by hand, where the property's array of seconds ends: the end of all times, and the time
/// before the profile begins.
#[test]
fn the_borders_of_a_profile() {
    let mut profile = Profile::new(Time(10), 8);
    assert_eq!((profile.start_time(), profile.len(), profile.is_empty()), (Time(10), 1, false));
    profile.reserve_procs(Time(20), Time::MAX, 3);
    assert!(profile.steps().eq([(Time(10), 8), (Time(20), 5)]));
    assert_eq!((profile.free_at(Time(0)), profile.free_at(Time(19)), profile.free_at(Time::MAX)), (8, 8, 5));
    let mark = profile.set_mark();
    profile.reserve_procs(Time(15), Time::MAX, 5);
    assert!(profile.steps().eq([(Time(10), 8), (Time(15), 3), (Time(20), 0)]));
    assert_eq!(profile.earliest_start(1, Span(1_000_000), Time(0)), None);
    assert_eq!(profile.earliest_start(1, Span(10), Time(0)), Some(Time(10)));
    assert_eq!(profile.earliest_start(4, Span(5), Time(0)), Some(Time(10)));
    assert_eq!(profile.earliest_start(4, Span(6), Time(0)), None);
    assert_eq!(profile.least_free(Time(0), Span(15)), 8);
    assert_eq!(profile.least_free(Time(14), Span(2)), 3);
    assert_eq!(profile.least_free(Time(14), Span(0)), 8);
    profile.roll_back_to(mark);
    assert!(profile.steps().eq([(Time(10), 8), (Time(20), 5)]));
    // Nothing is taken during no time, nor are no processors.
    profile.reserve_procs(Time(12), Time(12), 3);
    profile.reserve_procs(Time(12), Time(14), 0);
    assert_eq!(profile.len(), 2);
    // Time passes to a step, into one, and not at all.
    profile.reserve_procs(Time(30), Time(40), 5);
    profile.advance_to(Time(10));
    assert!(profile.steps().eq([(Time(10), 8), (Time(20), 5), (Time(30), 0), (Time(40), 5)]));
    profile.advance_to(Time(20));
    assert!(profile.steps().eq([(Time(20), 5), (Time(30), 0), (Time(40), 5)]));
    profile.advance_to(Time(33));
    assert!(profile.steps().eq([(Time(33), 0), (Time(40), 5)]));
    profile.release_procs(Time(33), Time(40), 5);
    profile.join_equal_steps();
    assert!(profile.steps().eq([(Time(33), 5)]));
}

/// Of all orders only that by expansion factors is another later on without anything having
/// happened.
#[test]
fn one_order_changes_with_time() {
    let dynamic: Vec<Order> = Order::ALL.into_iter().filter(|order| order.is_dynamic()).collect();
    assert_eq!(dynamic, [Order::Lxf]);
}

/// By arrival or width a job keeps its place when its prediction changes. Names can be set in
/// columns.
#[test]
fn orders_that_follow_predictions() {
    let lag: Vec<Order> = Order::ALL.into_iter().filter(|order| !order.heeds_predictions()).collect();
    assert_eq!(lag, [Order::Fcfs, Order::Narrowest, Order::Widest]);
    assert_eq!(format!("{:>5}|{}", Order::Sjf, Order::Lxf), "  sjf|lxf");
}
