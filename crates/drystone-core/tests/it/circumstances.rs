//! Jobs that are here already, held back, dependent, withdrawn: schedules computed by hand.

use crate::world::{simulate, with, workload};
use drystone_core::model::{
    Adopted, Circumstances, DependencyEffect, DependsOn, How, JobId, Outages, Span, Throttle, Time, Withdrawal,
    Workload,
};

fn told(policy: &str, workload: &Workload, feedback: bool) -> (Vec<String>, Vec<Option<(i64, i64)>>) {
    let record = simulate(policy, workload, &Outages::default(), feedback).unwrap_or_else(|e| panic!("{policy}: {e}"));
    let spans = record.schedule.spans.iter().map(|span| span.map(|(start, end)| (start.0, end.0))).collect();
    (record.words, spans)
}

const POLICIES: [&str; 8] =
    ["fcfs", "easy", "easy(backfill=sjf)", "conservative", "slack", "multiqueue", "ss", "goal(nodes=50)"];

/// A window that begins at 100: job 0 runs since 40 and has 20 of 80 s left, job 1 has waited since
/// 50, job 2 arrives at 110.
#[test]
fn a_busy_beginning() {
    let jobs = workload(4, &[(10, 3, 200, 80), (50, 4, 30, 30), (110, 1, 5, 5)]);
    let jobs = with(jobs, |c| {
        c.begin = Some(Time(100));
        c.here.insert(JobId(0), Adopted::Running { since: Time(40), on: None });
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs, false);
        assert_eq!(spans[0], Some((40, 120)), "{policy}: {words:?}");
        assert_eq!(spans[1], Some((120, 150)), "{policy}: {words:?}");
        let last = if policy == "fcfs" { (150, 155) } else { (110, 115) };
        assert_eq!(spans[2], Some(last), "{policy}: {words:?}");
        assert_eq!(
            &words[..2],
            ["100 adopt 0 Running { since: Time(40), on: None }", "100 adopt 1 Waiting"],
            "{policy}"
        );
    }
}

/// Jobs of one instant: eligible at 30, though submitted at 0, with a start then; the wait counts
/// from both.
#[test]
fn a_job_is_held_until_it_is_eligible() {
    let jobs = with(workload(4, &[(0, 1, 10, 10), (0, 4, 10, 10)]), |c| _ = c.eligible.insert(JobId(0), Time(30)));
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs, false);
        assert_eq!(spans, [Some((30, 40)), Some((0, 10))], "{policy}");
        assert!(words.contains(&"0 hold 0".to_string()) && words.contains(&"30 release 0".to_string()), "{words:?}");
    }
}

/// Job 1 waits for job 0 and 5 s more, job 2 for both.
#[test]
fn dependent_jobs_wait_for_each_other() {
    let after = |jobs: &[u32], think, then| DependsOn {
        jobs: jobs.iter().map(|&j| JobId(j)).collect(),
        think: Span(think),
        then,
    };
    let jobs = with(workload(4, &[(0, 1, 10, 10), (0, 1, 10, 10), (1, 1, 10, 10)]), |c| {
        c.after.insert(JobId(1), after(&[0], 5, DependencyEffect::Starts));
        c.after.insert(JobId(2), after(&[0, 1], 0, DependencyEffect::Starts));
    });
    for policy in POLICIES {
        assert_eq!(told(policy, &jobs, false).1, [Some((0, 10)), Some((15, 25)), Some((25, 35))], "{policy}");
    }
}

/// With feedback job 0, which depends on job 1, arrives 7 s after that has ended; without, when it
/// was submitted.
#[test]
fn feedback_makes_arrivals_of_ends() {
    let jobs = with(workload(1, &[(0, 1, 10, 10), (0, 1, 10, 10), (3, 1, 10, 10)]), |c| {
        let after = DependsOn { jobs: vec![JobId(1)], think: Span(7), then: DependencyEffect::Arrives };
        c.after.insert(JobId(0), after);
    });
    for policy in ["fcfs", "easy", "conservative", "multiqueue"] {
        assert_eq!(told(policy, &jobs, false).1, [Some((0, 10)), Some((10, 20)), Some((20, 30))], "{policy}");
        // Job 1 runs until 10, then job 2; job 0 arrives at 17.
        assert_eq!(told(policy, &jobs, true).1, [Some((20, 30)), Some((0, 10)), Some((10, 20))], "{policy}");
    }
}

/// Of four tasks two may be here at a time.
#[test]
fn a_throttle_lets_so_many_in() {
    let jobs = with(workload(4, &[(0, 1, 10, 10), (0, 1, 10, 8), (0, 1, 10, 10), (0, 1, 10, 10), (0, 4, 3, 3)]), |c| {
        c.throttles.push(Throttle { jobs: (0..4).map(JobId).collect(), most: 2 });
    });
    for policy in ["easy", "easy(backfill=sjf)"] {
        let (words, spans) = told(policy, &jobs, false);
        // A task that is let in has its old place in the queue, before job 4, which needs all
        // processors.
        assert_eq!(spans, [Some((0, 10)), Some((0, 8)), Some((8, 18)), Some((10, 20)), Some((20, 23))], "{policy}");
        assert_eq!(words.iter().filter(|w| w.contains("hold")).count(), 2);
    }
}

/// One leaves the queue unless it has started by then, one leaves in any case.
#[test]
fn jobs_are_withdrawn() {
    let jobs = with(workload(2, &[(0, 2, 10, 10), (0, 2, 10, 10), (0, 2, 10, 10)]), |c| {
        let leaves = |at, job, only_waiting| Withdrawal { at: Time(at), job: JobId(job), only_waiting };
        c.withdrawn = vec![leaves(5, 0, true), leaves(5, 1, true), leaves(14, 2, false)];
    });
    // Slack may take equal jobs in another order.
    for policy in POLICIES.into_iter().filter(|&policy| policy != "slack") {
        let (words, spans) = told(policy, &jobs, false);
        assert_eq!(spans, [Some((0, 10)), None, Some((10, 14))], "{policy}: {words:?}");
    }
}

/// Only run times are learned: a user's job that was cancelled after 1 s says nothing of the next.
#[test]
fn how_jobs_end_decides_what_is_learned() {
    let by_one_user = |rows: &[(i64, u32, i64, i64)]| {
        let (machine, jobs, truth, provenance) = workload(2, rows).into_parts();
        Workload::new(machine, jobs.into_iter().map(|job| job.with_user(7)).collect(), truth, provenance)
            .expect("possible")
    };
    // Job 2 heads the queue from 20 on, until job 1 ends, as it is predicted: at 110 by its
    // estimate, at 21 if it was learned. Job 3, predicted likewise, is backfilled if it ends
    // before.
    for (end_kind, reservation) in [(How::Completed, "10 reserve 2 11"), (How::Cancelled, "10 reserve 2 110")] {
        let jobs = with(by_one_user(&[(0, 1, 100, 1), (10, 2, 100, 50), (10, 1, 100, 50)]), |c| {
            _ = c.ends.insert(JobId(0), end_kind);
        });
        let (words, _) = told("easy(predict=recent(1),correct=none)", &jobs, false);
        assert!(words.contains(&reservation.to_string()), "{end_kind:?}: {words:?}");
    }
}

/// A job that is held at the first instant, and is never released, is left over; everything else
/// ends.
#[test]
fn a_job_that_is_held_for_ever_stops_nothing() {
    let jobs = with(workload(4, &[(0, 4, 10, 10), (0, 1, 10, 10), (20, 1, 10, 10)]), |c| {
        c.begin = Some(Time(5));
        c.here.insert(JobId(0), Adopted::Held);
    });
    for policy in POLICIES {
        assert_eq!(told(policy, &jobs, false).1, [None, Some((5, 15)), Some((20, 30))], "{policy}");
    }
}

fn refused(set: impl FnOnce(&mut Circumstances)) -> String {
    let mut circumstances = Circumstances::default();
    set(&mut circumstances);
    let jobs = workload(4, &[(0, 2, 10, 10), (5, 2, 10, 10), (9, 2, 10, 10)]);
    jobs.with_circumstances(circumstances).expect_err("impossible").to_string()
}

/// Impossible circumstances are refused in words.
#[test]
fn impossible_circumstances_are_refused() {
    let after = |job: u32| DependsOn { jobs: vec![JobId(job)], think: Span(0), then: DependencyEffect::Starts };
    let circle = refused(|c| c.after = [(JobId(0), after(1)), (JobId(1), after(2)), (JobId(2), after(0))].into());
    assert_eq!(circle, "job 1 waits for itself: 1, 2, 3 depend on each other in a circle");
    assert!(refused(|c| c.after = [(JobId(0), after(0))].into()).contains("waits for itself"));
    assert!(refused(|c| c.after = [(JobId(0), after(9))].into()).contains("job 10 is none of the 3 jobs"));
    assert!(
        refused(|c| c.eligible = [(JobId(1), Time(4))].into()).contains("may start from 4 on, but is submitted at 5")
    );
    let runs = |since| Adopted::Running { since: Time(since), on: Some((0..2).collect()) };
    assert!(refused(|c| c.here = [(JobId(0), runs(0))].into()).contains("nothing says when that is"));
    let at = |c: &mut Circumstances, begin| c.begin = Some(Time(begin));
    let message = refused(|c| {
        at(c, 11);
        c.here = [(JobId(0), runs(0))].into();
    });
    assert!(message.contains("runs at 11, but ended at 10 already"), "{message}");
    let twice = refused(|c| {
        at(c, 9);
        c.here = [(JobId(0), runs(0)), (JobId(1), runs(5))].into();
    });
    assert!(twice.contains("job 2 runs on processors 0-1, on which another runs"), "{twice}");
    assert!(refused(|c| c.throttles = vec![Throttle { jobs: vec![JobId(0)], most: 0 }]).contains("expected 1 or more"));
    let withdrawal = |at| Withdrawal { at: Time(at), job: JobId(2), only_waiting: true };
    assert!(refused(|c| c.withdrawn = vec![withdrawal(8)]).contains("is withdrawn at 8, but submitted at 9"));
}
