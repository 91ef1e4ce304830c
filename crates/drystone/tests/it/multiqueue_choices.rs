//! Choices of multiple queues by hand: borders made from history, delays and when their ends are
//! seen, which pivot is deposed, whose promise stays where it is, and what an overdue job does to
//! others.

use crate::common::{owned, spec, starts, workload};
use drystone::engine::{Observer, Session, Simulation, WorkloadReplay};
use drystone::model::{Job, JobId, Machine, Procs, Span, Time, Workload};
use drystone::policy::{Action, Gauge};

/// Announcements of a policy: time, job and start; and time, gauge and value.
#[derive(Default)]
struct Told {
    promises: Vec<(i64, u32, i64)>,
    gauges: Vec<(i64, Gauge, i64)>,
}

impl Observer for Told {
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, _: Time) {
        self.promises.push((now.0, id.0, start.0));
    }

    fn note_gauge(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.gauges.push((now.0, gauge, value));
    }
}

fn told(workload: &Workload, withdrawn: &[(Time, JobId)], policy: &str) -> Told {
    let mut observer = Told::default();
    let source = WorkloadReplay::with_cancellations(workload, withdrawn);
    Simulation::new(workload.machine(), spec(policy).build_scheduler(), source).run(&mut observer).expect(policy);
    observer
}

/// Returns the changes of queues at the tenth of ten arrivals, one a second, none of which has to
/// wait.
fn changes_of_the_tenth(runs: [i64; 10], policy: &str) -> Vec<(Gauge, i64)> {
    let jobs = runs.iter().zip(0..).map(|(&run, at)| (at, 1, run, run));
    let gauges = told(&workload(10, &jobs.collect::<Vec<_>>()), &[], policy).gauges;
    let of_queues = |gauge: Gauge| matches!(gauge, Gauge::Queues | Gauge::Border(_));
    gauges.into_iter().filter(|g| g.0 == 9 && of_queues(g.1)).map(|(_, gauge, value)| (gauge, value)).collect()
}

/// Nine of 200 s and one of 1,200 s: mean 300, and a deviation of √((9·100² + 900²) / 10) = 300,
/// once the mean and not more, which one queue may have. With 1,220 s it is 306 of 302; the border
/// of two is the sixth, 200. Six of 1 s, three of 10 s and one of 1,000 s: a border behind the
/// sixth leaves 10, 10, 10 and 1,000 together, a deviation of 429 of 257.5; of three queues the
/// borders are the fourth and the seventh, which separates all.
#[test]
fn as_many_queues_as_uneven_run_times_need() {
    let rare = |run| [200, 200, 200, 200, run, 200, 200, 200, 200, 200];
    let policy = "multiqueue(bounds=auto,queues=auto,history=10)";
    assert_eq!(changes_of_the_tenth(rare(1_200), policy), [(Gauge::Queues, 1)]);
    assert_eq!(changes_of_the_tenth(rare(1_220), policy), [(Gauge::Queues, 2), (Gauge::Border(1), 200)]);
    assert_eq!(
        changes_of_the_tenth([1, 10, 1, 1, 1_000, 10, 1, 10, 1, 1], policy),
        [(Gauge::Queues, 3), (Gauge::Border(1), 1), (Gauge::Border(2), 10)]
    );
}

/// Eight classes of run times, more than the four of the beginning, are 16 queues where one
/// processor and more differ. The borders are the run times at i·10/8. The last job, the longest,
/// goes to one of the last two queues.
#[test]
fn every_queue_there_may_ever_be_has_room() {
    let runs = std::array::from_fn(|i| 10 * (i as i64 + 1));
    let policy = "multiqueue(bounds=auto,queues=8,history=10,widths=1)";
    let borders = [20, 30, 40, 60, 70, 80, 90].into_iter().zip(1..).map(|(run, number)| (Gauge::Border(number), run));
    let expected: Vec<_> = [(Gauge::Queues, 16)].into_iter().chain(borders).collect();
    assert_eq!(changes_of_the_tenth(runs, policy), expected);
}

/// Partitions and borders are numbered from 1. Ten processors are 3, 3, 2 and 2; until there is
/// history, borders are the paper's.
#[test]
fn what_is_recorded_is_numbered_from_one() {
    let gauges = told(&workload(10, &[(5, 1, 10, 10)]), &[], "multiqueue(bounds=auto)").gauges;
    let number = |gauge: fn(u32) -> Gauge, values: &[i64]| {
        values.iter().zip(1..).map(|(&value, number)| (5, gauge(number), value)).collect::<Vec<_>>()
    };
    let mut expected = number(Gauge::Partition, &[3, 3, 2, 2]);
    expected.push((5, Gauge::Queues, 4));
    expected.extend(number(Gauge::Border, &[100, 1_000, 10_000]));
    assert_eq!(gauges, expected);
}

/// Jobs 7 and 8 wait for job 6 in the queue up to 100 s. The tenth arrival makes a border of 50 s,
/// the sixth of the ten run times 20, 50 (six times), 90, 1,000 and 2,000: job 8 is the first of
/// its queue now and is promised the time when job 7 will have run. Job 9 is behind it.
#[test]
fn who_waits_is_sorted_anew() {
    let mut jobs: Vec<_> = (0..6).map(|i| (10 * i, 1, 50, 50)).collect();
    jobs.extend([(100, 8, 1_000, 1_000), (110, 8, 20, 20), (120, 8, 90, 90), (130, 1, 2_000, 2_000)]);
    let promises = told(&workload(8, &jobs), &[], "multiqueue(bounds=auto,queues=2,history=10)").promises;
    assert_eq!(promises, [(110, 7, 1_100), (130, 8, 1_120), (1_120, 9, 1_210)]);
}

/// Job 7 is promised 1,100, when job 6 ends, and job 8, the first of another queue, 1,150. The
/// tenth arrival makes all queues one, with job 7 as its only pivot: job 9 takes the processor that
/// is left beside jobs 6 and 7, which it would not where job 8 were promised all four. Job 8
/// follows it at 2,130.
#[test]
fn who_is_no_pivot_any_more_blocks_nobody() {
    let mut jobs: Vec<_> = (0..6).map(|i| (10 * i, 1, 1, 1)).collect();
    jobs.extend([(100, 3, 1_000, 1_000), (110, 3, 50, 50), (120, 4, 5_000, 5_000), (130, 1, 2_000, 2_000)]);
    let starts = starts(&workload(4, &jobs), "multiqueue(bounds=auto,queues=1,history=10,promise=arrival)");
    assert_eq!(starts[6..], [100, 1_100, 2_130, 130]);
}

/// Every job is delayed by 100 s. Job 1 needs the whole machine and is promised 1,100, when job 0
/// ends. Job 2, behind it, may start from 220 on and job 3 from 400 on, and both end before 1,100.
/// That is seen at once where the end of a delay is an event; else at the next event: the arrival
/// of job 3 at 300; and after 400 the end of job 0, when job 1 takes all until 1,150. Job 0 finds
/// no job running, so that the end of its delay is an event anyway.
#[test]
fn the_end_of_a_delay_behind_the_pivot() {
    let w = workload(4, &[(0, 2, 1_000, 1_000), (110, 4, 50, 50), (120, 1, 30, 30), (300, 1, 10, 10)]);
    for (choice, expected) in [
        ("read=arrival,wake=yes", [100, 1_100, 220, 400]),
        ("read=now,wake=yes", [100, 1_100, 220, 400]),
        ("read=arrival,wake=no", [100, 1_100, 300, 1_150]),
        ("read=now,wake=no", [100, 1_100, 300, 1_150]),
    ] {
        let policy = format!("multiqueue(bounds=none,delay=100,adapt=fixed,{choice})");
        assert_eq!(starts(&w, &policy), expected, "{choice}");
    }
}

/// No job is visible before: job 0 appears at 60, for none runs. Job 1 appears at 160, or at the
/// next event, the arrival of job 2 at 300; and job 2 at 360, or when job 0 ends.
#[test]
fn the_end_of_a_delay_in_hiding() {
    let w = workload(2, &[(0, 1, 1_000, 1_000), (100, 1, 10, 10), (300, 1, 10, 10)]);
    for (choice, expected) in [("wake=yes", [60, 160, 360]), ("wake=no", [60, 300, 1_060])] {
        let policy = format!("multiqueue(bounds=none,delay=60,adapt=fixed,hold=yes,{choice})");
        assert_eq!(starts(&w, &policy), expected, "{choice}");
    }
}

/// The delay changes after every completion: it is 1,000 s at first, 1,500 s when job 1 has waited
/// as long as it ran (from 1 to 2 is half of 2), and 1,000 s again when job 3 has not waited. Job 2
/// comes in between, the others after that.
fn while_the_delay_falls(procs: Procs, job2: (Procs, i64), later: &[(i64, Procs, i64)]) -> Workload {
    let mut jobs = vec![(0, procs, 10), (0, procs, 10), (25, job2.0, job2.1), (30, procs, 10)];
    jobs.extend(later);
    workload(procs, &jobs.into_iter().map(|(submit, procs, run)| (submit, procs, run, run)).collect::<Vec<_>>())
}

const FALLING: &str = "delay=1000,batch=1,first-change=zero";

/// Job 2 is promised 1,525, when its delay is over. Where the present delay counts, that is over at
/// 1,025, but a promise is never moved. Job 4 behind it may start at 1,050: the end of a delay is
/// an event, if need be because no job runs.
#[test]
fn a_promise_outlasts_the_delay_it_was_made_for() {
    let w = while_the_delay_falls(4, (2, 200), &[(50, 4, 200)]);
    for choice in ["read=arrival", "read=now", "wake=no"] {
        let policy = format!("multiqueue(bounds=100,{FALLING},{choice})");
        assert_eq!(starts(&w, &policy), [0, 10, 1_525, 30, 1_050], "{choice}");
    }
}

/// Job 4 is promised 3,060, when job 5 ends, and so is job 6 beside it. At 1,525 job 2 appears,
/// which is older: job 4 is no pivot any more, job 2 is promised all ten when job 6 has run. Of the
/// four processors that job 4 was promised two are enough for job 7, which ends in time for job 2;
/// job 4 comes after that.
#[test]
fn who_was_hidden_deposes_the_pivot() {
    let w =
        while_the_delay_falls(10, (10, 19_000), &[(50, 4, 20_000), (60, 8, 3_000), (1_100, 5, 500), (1_600, 2, 1_900)]);
    let policy = format!("multiqueue({FALLING},hold=yes)");
    assert_eq!(starts(&w, &policy), [0, 10, 3_560, 30, 22_560, 60, 3_060, 1_600]);
    let expected = [(0, 1, 10), (1_050, 4, 3_060), (1_100, 6, 3_060), (1_525, 2, 3_560), (3_560, 4, 22_560)];
    assert_eq!(told(&w, &[], &policy).promises, expected);
}

/// Job 4 is promised 3,060, when job 5 ends, and job 6, which needs all ten, the end of job 4 at
/// 23,060. At 1,525 job 2 deposes job 4 and is promised 3,060. Job 6 might come 1,000 s earlier
/// now, but its promise stays, even when that of job 2 is kept; so job 4 also starts at 3,060, and
/// ends in time. Job 7 would end after that and has nothing of what job 4 gave up.
#[test]
fn promises_behind_a_deposed_pivot_stay() {
    let w = while_the_delay_falls(
        10,
        (3, 19_000),
        &[(50, 4, 20_000), (60, 8, 3_000), (1_100, 10, 2_000), (1_600, 2, 30_000)],
    );
    assert_eq!(starts(&w, &format!("multiqueue({FALLING},hold=yes)")), [0, 10, 3_060, 30, 3_060, 60, 23_060, 25_060]);
}

/// Job 4, which needs nine, is promised 3,060, when job 5 ends, and job 6 the end of job 4 at
/// 23,060. At 1,525 job 2 deposes job 4 and starts on the two that are free, also beside job 6; so
/// job 4 has to wait until it ends at 31,525. No job ends at 23,060 then, and job 6 starts all the
/// same.
#[test]
fn a_promise_behind_a_deposed_pivot_is_kept() {
    let w = while_the_delay_falls(10, (2, 30_000), &[(50, 9, 20_000), (60, 8, 3_000), (1_100, 8, 2_000)]);
    assert_eq!(starts(&w, &format!("multiqueue({FALLING},hold=yes)")), [0, 10, 1_525, 30, 31_525, 60, 23_060]);
}

/// Job 1 has waited 20,000,000 times its run time, so the delay grows by 10¹² s as often: beyond
/// the end of time. Job 2 is promised nothing, however often it is looked at.
#[test]
fn a_delay_beyond_all_time_promises_nothing() {
    let wait = 20_000_000;
    let w = workload(1, &[(0, 1, wait, wait), (0, 1, 1, 1), (wait + 10, 1, 200_000_000, 1), (wait + 20, 1, 1, 1)]);
    for promise in ["pivot", "arrival"] {
        let policy =
            format!("multiqueue(bounds=100/100000000,delay=1000000000000,batch=1,count=short,promise={promise})");
        let promises = told(&w, &[(Time(wait + 30), JobId(2))], &policy).promises;
        assert_eq!(promises, [(0, 1, wait)], "{promise}");
    }
}

/// Job 2 is promised 150, when job 0 ends, and job 3 the 50 s before, when job 1 ends. It will have
/// gone then: two processors are left beside job 2, of which job 4 may have the one that is free
/// now.
#[test]
fn a_promise_takes_nothing_from_the_next() {
    let w = workload(
        6,
        &[(0, 3, 150, 150), (0, 2, 100, 100), (10, 4, 2_000, 2_000), (20, 2, 50, 50), (30, 1, 20_000, 20_000)],
    );
    assert_eq!(starts(&w, "multiqueue"), [0, 0, 150, 100, 30]);
}

/// Job 2 is promised 100 and job 3 would still run then. Job 0 outlives its 100 s, and its end is
/// put off by a minute. When job 1 ends at 103 there will be ten free, one too few for job 2, so
/// job 2 is put off to 160, where all are free and it leaves four: job 3 takes three of them at
/// once, at 100. At 102 three are free: job 4 takes two for 10 s. Job 0 ends at 120, when jobs 1
/// and 4 have given theirs back: twelve are free, and job 2 starts.
///
/// By the older rule job 0 is taken to end in the next second. At 102 that is 103, as job 1 will,
/// so job 2 is put off to 103, where it leaves four: job 3 takes three of them, before the
/// newcomer, for which one is not enough. Job 2 starts when job 0 ends at 120, and job 4 after it.
#[test]
fn where_a_promise_is_put_off_the_oldest_come_first() {
    let w = workload(15, &[(0, 5, 100, 120), (0, 4, 103, 103), (10, 11, 50, 50), (20, 3, 90, 90), (102, 2, 10, 10)]);
    for promise in ["pivot", "eager"] {
        for (rule, expected) in [("extended", [0, 0, 120, 100, 102]), ("now", [0, 0, 120, 102, 170])] {
            let policy = format!("multiqueue(promise={promise},overdue={rule})");
            assert_eq!(starts(&w, &policy), expected, "{promise} {rule}");
        }
        assert_eq!(starts(&w, &format!("multiqueue(promise={promise})")), [0, 0, 120, 100, 102], "the default");
    }
}

/// A cluster tells of an arrival before it tells of an end in the same second. What was to end by
/// then is taken to end in the next second, when the newcomer is promised its start; but it ends as
/// planned, and nothing else would happen then.
#[test]
fn an_end_may_come_after_an_arrival_of_its_second() {
    let mut session = Session::new(Machine::new(1), spec("multiqueue").build_scheduler());
    let arrive = |session: &mut Session, at: i64| {
        session.note_arrival(Time(at), &Job::new(Time(at), 1, Span(100)), None).expect("possible")
    };
    let start_count = |session: &mut Session, at: i64| {
        let actions = session.decide(Time(at)).expect("a sound policy").list();
        actions.iter().filter_map(|a| matches!(a, Action::Start { .. }).then_some(())).count()
    };
    let first = arrive(&mut session, 0);
    assert_eq!(start_count(&mut session, 0), 1);
    arrive(&mut session, 100);
    assert_eq!(start_count(&mut session, 100), 0);
    session.end_job(Time(100), first);
    assert_eq!(start_count(&mut session, 100), 1);
}

/// Job 0 ends early, after 500 s, so that every job is predicted to run as long. Jobs 1 and 2 are
/// ready, but not job 3 in the same queue: job 1 starts at once with all processors, the two others
/// when it ends.
#[test]
fn predicted_anew_beside_a_delayed_job() {
    let w = workload(4, &[(0, 4, 1_000, 500), (10, 4, 2_000, 300), (20, 2, 2_000, 40), (550, 1, 3_000, 10)]);
    let policy = "multiqueue(bounds=none,delay=100,adapt=fixed,predict=recent(1,propagate=waiting))";
    assert_eq!(starts(&w, policy), [100, 600, 900, 900]);
}

/// Each class has eight processors. Job 0 has six of the long ones and outlives its 200 s, when job
/// 1 gives back the two others. Job 3 needs ten and is promised 250, when job 2 ends; job 5 needs
/// four, was promised 200 and comes, in the order of arrival, after job 4, which needs two. Job 0
/// still runs at that time: with four for job 5 nothing is left of the eight. So job 4 waits,
/// behind job 3, until job 0 ends at 260, as does job 5.
#[test]
fn an_overdue_job_keeps_what_others_might_borrow() {
    let w = workload(
        16,
        &[
            (0, 6, 200, 260),
            (0, 2, 200, 200),
            (150, 8, 100, 100),
            (160, 10, 50, 50),
            (161, 2, 100, 100),
            (162, 4, 150, 150),
        ],
    );
    assert_eq!(starts(&w, "multiqueue(bounds=100,own=split)"), [0, 0, 150, 250, 260, 260]);
}

/// If a pivot is deposed, a job that was refused because of its promise is considered again with
/// the next event. Job 8 is promised 3021, beside job 4, which leaves nothing for job 5 (2,500 s).
/// At 1525 the delay of job 6 is over, which takes the place of job 8 and starts; 2 processors stay
/// free. Job 9 arrives at 1600: job 5 starts, for at 3021 job 4 leaves 3 now.
#[test]
fn who_was_refused_for_a_deposed_pivot() {
    let jobs = [
        (0, 10, 10, 10),
        (0, 10, 10, 10),
        (21, 6, 3000, 3000),
        (21, 3, 1300, 1300),
        (22, 5, 1500, 1500),
        (23, 2, 2500, 2500),
        (25, 2, 20000, 20000),
        (26, 1, 10, 10),
        (50, 5, 20000, 20000),
        (1600, 10, 10, 10),
    ];
    let starts = starts(&workload(10, &jobs), "multiqueue(delay=1000,batch=1,first-change=zero,hold=yes)");
    assert_eq!(starts, [0, 10, 21, 21, 3021, 1600, 1525, 26, 4521, 24521]);
}

/// A slowdown that changes by exactly what is tolerated leaves the delay as it is: from 1 to 2 is a
/// change of one half.
#[test]
fn a_change_that_is_just_tolerated() {
    let w = workload(1, &[(0, 1, 10, 10), (0, 1, 10, 10), (25, 1, 200, 200)]);
    let policy = "multiqueue(bounds=100,delay=1000,batch=1,first-change=zero,tolerance=0.5)";
    assert_eq!(starts(&w, policy), [0, 10, 1025]);
}

/// With `promise=arrival` a delayed job behind the pivot also waits for the end of its delay,
/// though processors are free.
#[test]
fn a_delay_behind_a_pivot_that_was_promised_at_arrival() {
    let w = workload(4, &[(0, 1, 50, 50), (0, 1, 50, 50)]);
    assert_eq!(starts(&w, "multiqueue(bounds=none,delay=100,adapt=fixed,promise=arrival)"), [100, 100]);
}

/// A waiting job behind the pivot is predicted shorter, as its user's last one was, and ends before
/// the pivot's time now.
#[test]
fn who_waits_behind_a_pivot_is_predicted_anew() {
    let jobs = [(0, 1, 400, 100), (0, 1, 1000, 1000), (10, 4, 50, 50), (20, 1, 2000, 100)];
    let policy = "multiqueue(bounds=none,predict=recent(1,propagate=waiting))";
    assert_eq!(starts(&workload(4, &jobs), policy), [0, 0, 1000, 100]);
}

/// A pivot is predicted again with another promise behind it: job 2 for 50 s from 200 on, so that
/// job 3 follows at 250.
#[test]
fn a_pivot_is_predicted_anew() {
    let w = workload(2, &[(0, 1, 1000, 50), (0, 1, 200, 200), (10, 2, 5000, 50), (20, 2, 40, 40)]);
    let w = owned(&w, &[1, 2, 1, 1]);
    assert_eq!(starts(&w, "multiqueue(bounds=100,predict=recent(1,propagate=waiting))"), [0, 0, 200, 250]);
}

/// With `read=now` a delayed job behind the pivot may go when the delay has fallen, at 1026; else
/// when its own is over.
#[test]
fn a_delay_that_falls_while_a_job_waits_behind_the_pivot() {
    let jobs = [(0, 4, 10, 10), (0, 4, 10, 10), (25, 2, 200, 200), (26, 1, 200, 200), (30, 4, 10, 10)];
    for (read, last) in [("now", 1026), ("arrival", 1526)] {
        let policy = format!("multiqueue(bounds=100,delay=1000,batch=1,first-change=zero,read={read})");
        assert_eq!(starts(&workload(4, &jobs), &policy), [0, 10, 1525, last, 30], "{read}");
    }
}

/// Job 0 should have ended at 10 and is put off by a minute, so that at 15 job 1 is promised 70; by
/// the older rule it can be promised the next second. It starts when job 0 does end.
#[test]
fn a_promise_at_arrival_beside_an_overdue_job() {
    let w = workload(1, &[(0, 1, 10, 20), (15, 1, 10, 10)]);
    for (rule, promise) in [("extended", 70), ("now", 16)] {
        let policy = format!("multiqueue(promise=arrival,overdue={rule})");
        assert_eq!(told(&w, &[], &policy).promises, [(15, 1, promise)], "{rule}");
        assert_eq!(starts(&w, &policy), [0, 20], "{rule}");
    }
}

/// Job 0 outlives its 10 s by hours: its end is put off by a minute to 70, then by 15 minutes to
/// 970, by 30 to 2,770 and by 60 to 6,370, each when it is reached. Job 1 is promised each in turn,
/// and starts when job 0 ends at 3,000.
#[test]
fn an_end_is_put_off_further_each_time() {
    let w = workload(1, &[(0, 1, 10, 3_000), (5, 1, 10, 10)]);
    let expected = [(5, 1, 10), (10, 1, 70), (70, 1, 970), (970, 1, 2_770), (2_770, 1, 6_370), (3_000, 1, 3_000)];
    assert_eq!(told(&w, &[], "multiqueue").promises, expected);
    assert_eq!(starts(&w, "multiqueue"), [0, 3_000]);
}

/// As [`who_was_hidden_deposes_the_pivot`], but beside job 6 the deposed pivot left nothing: what
/// is given back is all that job 7 can have.
#[test]
fn a_deposed_pivot_beside_which_nothing_was_left() {
    let later = [(50, 4, 20_000), (60, 8, 3_000), (1_100, 6, 500), (1_600, 2, 1_900)];
    let w = while_the_delay_falls(10, (10, 19_000), &later);
    let policy = format!("multiqueue({FALLING},hold=yes)");
    assert_eq!(starts(&w, &policy), [0, 10, 3_560, 30, 22_560, 60, 3_060, 1_600]);
}

/// Job 1 is promised 10, when job 0 should end and does not: it is put off to 70, and the promise
/// with it, until job 0 ends at 20. By the older rule that time is no event by itself: the next is
/// the end at 20. Where pivots may be deposed promised times are events, and at 10 the promise is
/// put off to the next second.
#[test]
fn a_promised_time_at_which_nothing_ends() {
    let w = workload(1, &[(0, 1, 10, 20), (5, 1, 10, 10)]);
    let promises = vec![(5, 1, 10), (10, 1, 70), (20, 1, 20)];
    for (choice, expected) in [
        ("overdue=now,hold=no", vec![(5, 1, 10), (20, 1, 20)]),
        ("overdue=now,hold=yes", vec![(5, 1, 10), (10, 1, 11), (20, 1, 20)]),
        ("hold=no", promises.clone()),
        ("hold=yes", promises),
    ] {
        let policy = format!("multiqueue(bounds=100,delay=100,adapt=fixed,{choice})");
        assert_eq!(told(&w, &[], &policy).promises, expected, "{choice}");
    }
}

/// The borders may move in the very second of the first arrivals, from four queues to two: no queue
/// is without a partition. No job runs for longer than that second, so every job starts in it.
#[test]
fn borders_may_move_before_the_first_pass() {
    let jobs: Vec<_> = (0..10).map(|i| (0, if i == 8 { 2 } else { 1 }, if i < 8 { 1 } else { 2 }, 0)).collect();
    for own in ["shared", "fig4", "split"] {
        let policy = format!("multiqueue(bounds=auto,queues=2,history=10,own={own})");
        assert_eq!(starts(&workload(2, &jobs), &policy), [0; 10], "{own}");
    }
}

/// If the end of a delay is no event, it is none either for a job that looks at the present delay:
/// job 1 starts when job 0 ends.
#[test]
fn without_events_of_its_own_a_delay_is_seen_at_the_next_one() {
    let jobs = [(0, 1, 9_000, 9_000), (0, 1, 20_000, 20_000)];
    for read in ["arrival", "now"] {
        let starts = |wake: &str| {
            let policy = format!("multiqueue(delay=500,adapt=fixed,wake={wake},read={read})");
            starts(&workload(2, &jobs), &policy)
        };
        assert_eq!((starts("no"), starts("yes")), (vec![0, 9_000], vec![0, 500]), "{read}");
    }
}

/// A delay that no job has changes nothing: no job here is of the longest class.
#[test]
fn a_delay_for_nobody_changes_nothing() {
    let jobs = [(0, 1, 1, 1), (0, 5, 1_001, 1_001), (0, 1, 1_001, 1_001), (0, 1, 3_304, 3_304), (0, 5, 1, 1)];
    for own in ["fig4", "split"] {
        let plain = starts(&workload(5, &jobs), &format!("multiqueue(own={own})"));
        for more in ["hold=yes", "read=now"] {
            let policy = format!("multiqueue(own={own},delay=500,batch=5,{more})");
            assert_eq!(starts(&workload(5, &jobs), &policy), plain, "{own} {more}");
        }
    }
}
