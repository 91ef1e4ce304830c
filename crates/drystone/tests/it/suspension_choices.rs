//! Choices of selective suspension by hand: which free processors a newcomer may take, how wide a
//! victim may be and how often it may be one, what becomes of a factor when a prediction changes,
//! and what is said of a start.

use crate::common::{owned, parts, spec, starts, workload};
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{JobId, Time};
use drystone::policy::StartReason;

/// Reason for each start, in order of arrival.
#[derive(Default)]
struct Reasons(Vec<(JobId, StartReason)>);

impl Observer for Reasons {
    fn note_start(&mut self, _: Time, id: JobId, reason: StartReason) {
        self.0.push((id, reason));
        self.0.sort_unstable_by_key(|r| r.0);
    }
}

/// Job 0 has run on 0-2 until 60, when job 1, as long as it has waited, took all 4 processors until
/// 119. Job 2 needs 2: its expansion factor is (49 + 600) / 600 = 1.08 then and that of job 0 (59 +
/// 6,000) / 6,000 = 1.01. It may take what job 0 owns where that does not matter, and where it need
/// only be as urgent; not where it has to be twice as urgent, nor where none may outside of the
/// preemption routine, which runs every minute. There it suspends job 0 at 720: (650 + 600) / 600
/// is more than twice 1.01, and (590 + 600) / 600 is not. Either way job 0 is off its processors
/// for 59 and 600 s.
#[test]
fn whose_processors_a_newcomer_may_take() {
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 59, 59), (70, 2, 600, 600)]);
    for (place, start) in [
        ("strict", 720),
        ("priosf", 720),
        ("never", 720),
        ("prio1", 119),
        ("avoid", 119),
        ("lowest", 119),
        ("contiguous", 119),
    ] {
        let parts = parts(&w, &format!("ss(place={place})"));
        assert_eq!(parts[2].iter().map(|p| (p.0, p.1)).collect::<Vec<_>>(), [(start, start + 600)], "{place}");
        assert_eq!(parts[0].last().map(|p| p.1), Some(6_659), "{place}");
    }
}

/// Free are 0-1 and 3-5 at 10. In one piece 3 processors are 3-5, and 2 of them the piece that is
/// just long enough.
#[test]
fn in_one_piece() {
    let running = [(0, 2, 10, 10), (0, 1, 100, 100), (0, 3, 10, 10), (0, 2, 100, 100)];
    for (place, procs, on) in [("contiguous", 3, "3-5"), ("lowest", 3, "0-1,3"), ("contiguous", 2, "0-1")] {
        let jobs: Vec<_> = running.into_iter().chain([(10, procs, 50, 50)]).collect();
        let parts = parts(&workload(8, &jobs), &format!("ss(place={place})"));
        assert_eq!(parts[4], [(10, 60, on.to_string())], "{place}");
    }
}

/// Job 1 needs 2 processors and job 0 has all 4 of them until 10,000. As wide as that a victim may
/// be only if twice as wide is allowed, when at 120 (110 + 60) / 60 is more than 2; or from the
/// factor 5 on, at 300, when (290 + 60) / 60 is more.
#[test]
fn width_does_not_matter_to_whom_relief_is_due() {
    let w = workload(4, &[(0, 4, 10_000, 10_000), (10, 2, 60, 60)]);
    for (choice, start) in [
        ("width=2", 120),
        ("width=none", 120),
        ("width=1", 10_000),
        ("width=1,relief=5", 300),
        ("width=1,relief=5.84", 360),
        ("width=1,relief=1000000", 10_000),
        ("width=2,relief=5", 120),
    ] {
        let parts = parts(&w, &format!("ss({choice})"));
        assert_eq!((parts[1][0].0, parts[1][0].1), (start, start + 60), "{choice}");
    }
}

/// Job 0 has run for 10, so job 2 of the same user is predicted to, waits for 20, and runs from 40
/// on at (20 + 10) / 10 = 3. At 50 it is known to need more, and its factor is that of its
/// estimate: (20 + 1,000) / 1,000 = 1.02. So job 3 suspends it at 180, when (140 + 100) / 100 is
/// twice as much and (80 + 100) / 100 a minute ago was not.
#[test]
fn factors_follow_predictions() {
    let plain = workload(4, &[(0, 1, 1_000, 10), (10, 4, 30, 30), (20, 4, 1_000, 500), (40, 4, 100, 100)]);
    let w = owned(&plain, &[1, 2, 1, 3]);
    let parts = parts(&w, "ss(predict=recent(1),correct=estimate)");
    let times = |job: usize| parts[job].iter().map(|p| (p.0, p.1)).collect::<Vec<_>>();
    assert_eq!((times(2), times(3)), (vec![(40, 180), (280, 640)], vec![(180, 280)]));
}

/// With `place=never` a fresh job may have free processors of suspended jobs at a tick. V has all
/// 10 from 0. X needs 5 and is twice as urgent as V at 1001, so it takes V's place at the tick of
/// 1020 and leaves 5 free, which are V's. G needs 6: it would have to be twice as urgent as X,
/// 4.04, which it is at 1404, in time for the tick of 1440. F needs 3 at 1110 and has them at the
/// next tick, whenever G's turn is.
#[test]
fn owned_processors_are_had_at_the_next_tick() {
    let (v, x, f) = ((0, 10, 100_000, 100_000), (1, 5, 1000, 1000), (1110, 3, 1000, 1000));
    assert_eq!(starts(&workload(10, &[v, x, f]), "ss(place=never)"), [0, 1020, 1140]);
    let with_g = workload(10, &[v, x, (1100, 6, 100, 100), f]);
    assert_eq!(starts(&with_g, "ss(place=never)")[3], 1140);
}

/// The next job that may suspend another is the owner itself: X, whose 60 s are wrong, takes V's
/// place at the tick of 120, (119 + 60) / 60, and V has to wait for almost 5,000 s to be twice as
/// urgent again. F is there at 130.
#[test]
fn owned_processors_are_had_while_their_owner_has_to_wait() {
    let w = workload(10, &[(0, 10, 1_000, 20_000), (1, 5, 60, 20_000), (130, 3, 100_000, 100_000)]);
    assert_eq!(starts(&w, "ss(place=never)"), [0, 120, 180]);
}

/// Two jobs as wide as the machine take turns every minute, each until it has been suspended `cap`
/// times: then it runs to its end, and the other after it. 300 s each, 600 s in all.
#[test]
fn no_job_is_suspended_more_often_than_the_cap() {
    let w = workload(4, &[(0, 4, 300, 300), (0, 4, 300, 300)]);
    for (cap, first, second) in [
        (1, vec![(0, 60), (120, 360)], vec![(60, 120), (360, 600)]),
        (2, vec![(0, 60), (120, 180), (240, 420)], vec![(60, 120), (180, 240), (420, 600)]),
    ] {
        let parts = parts(&w, &format!("ss(sf=1,cap={cap})"));
        let times = |job: usize| parts[job].iter().map(|p| (p.0, p.1)).collect::<Vec<_>>();
        assert_eq!((times(0), times(1)), (first, second), "cap={cap}");
    }
}

/// V has all 10 processors from 0. At the tick of 120 B, (118 + 100) / 100, is twice as urgent and
/// takes V's place: 5 are left. A came first in that pass, (119 + 60) / 60, and could not have V's
/// place, ten times as wide as A. So A has one of them when the next job arrives, C at 130, or else
/// at the tick of 180, before B ends at 220.
#[test]
fn what_victims_leave_is_for_everybody_at_the_next_arrival() {
    let (v, a, b) = ((0, 10, 100_000, 100_000), (1, 1, 60, 60), (2, 5, 100, 100));
    assert_eq!(starts(&workload(10, &[v, a, b]), "ss(place=avoid)"), [0, 180, 120]);
    let with_c = workload(10, &[v, a, b, (130, 10, 1_000, 1_000)]);
    assert_eq!(starts(&with_c, "ss(place=avoid)")[..3], [0, 130, 120]);
}

/// At 0 job 0 is first and fits, job 1 does not, and job 2 gets ahead of it. With `ss` job 1 has
/// the machine to itself from 100 on, and at 180, where (70 + 5) / 5 is more than twice (100 + 100)
/// / 100, job 3 takes its place; with `is` job 1 takes the place of both when their slice is over,
/// at 60, and job 3 that of job 1 at 120.
#[test]
fn why_jobs_start() {
    let w = workload(4, &[(0, 3, 100, 100), (0, 4, 100, 100), (0, 1, 100, 100), (110, 4, 5, 5)]);
    for (policy, second) in [("ss", StartReason::Head), ("is(slice=60)", StartReason::Preempting)] {
        let mut reasons = Reasons::default();
        Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(&w))
            .run(&mut reasons)
            .expect("runs");
        let reasons: Vec<StartReason> = reasons.0.into_iter().map(|r| r.1).collect();
        assert_eq!(reasons, [StartReason::Head, second, StartReason::Backfilled, StartReason::Preempting], "{policy}");
    }
}

/// Job 2 has waited for 20 of 10 s at 71: its factor is 3, twice 1.5, and that of job 1 is 1.5,
/// exactly the limit, from which on it would be sheltered if it were beyond.
#[test]
fn the_limit_itself_shelters_nobody() {
    let w = workload(4, &[(0, 4, 50, 50), (0, 4, 100, 100), (51, 4, 10, 10)]);
    let policy = format!("tss(every=1,limit=1.5,means={})", ["1"; 16].join("/"));
    assert_eq!(starts(&w, &policy), [0, 50, 71]);
    let spans: Vec<_> = parts(&w, &policy)[1].iter().map(|p| (p.0, p.1)).collect();
    assert_eq!(spans, [(50, 71), (81, 160)]);
}

/// Of 128 processors job 1 has the last. Job 2 takes the others at 10 and job 0 takes them back at
/// 3,010, when its factor is (3,000 + 1,000) / 1,000, twice the 2 of job 2. Job 1 is in no job's
/// way.
#[test]
fn neighbours_are_not_in_the_way() {
    let w = workload(128, &[(0, 127, 1000, 1000), (0, 1, 5000, 5000), (0, 127, 10, 4000)]);
    let parts = parts(&w, "ss(every=1)");
    assert_eq!(parts[1], [(0, 5000, "127".to_string())]);
    assert_eq!(parts[0][1].0, 3010);
}

/// Immediate service starves by its own rule. Job 0 has all 4 processors from 0 on, and a job of
/// one processor comes every 600 s for 600 s. At 600 job 0 has had its slice of ten minutes and is
/// suspended for the first of them. From then on one ends whenever the next arrives, and a job that
/// has never run comes before any that was suspended: it gets its slice at once, on processors that
/// job 0 needs. So the machine runs one processor of four for as long as they come, and job 0 goes
/// on when the last has ended, at 30,600.
#[test]
fn immediate_service_starves_a_wide_job_while_others_come() {
    let small = (1..=50).map(|k| (600 * k, 1, 600, 600));
    let jobs: Vec<_> = [(0, 4, 100_000, 100_000)].into_iter().chain(small).collect();
    let parts = parts(&workload(4, &jobs), "is");
    let wide: Vec<(i64, i64)> = parts[0].iter().map(|p| (p.0, p.1)).collect();
    assert_eq!(wide, [(0, 600), (30_600, 130_000)]);
    for (k, part) in (1..).zip(&parts[1..]) {
        assert_eq!((part.len(), part[0].0, part[0].1), (1, 600 * k, 600 * k + 600), "job {k} waits for nothing");
    }
}
