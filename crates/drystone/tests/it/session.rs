//! A session without the simulator: a live cluster tells it what happens and when, by hand.

use crate::common::spec;
use drystone::engine::Session;
use drystone::model::{Job, JobId, Machine, Span, Time};
use drystone::policy::Action;

fn session(procs: u32, policy: &str) -> Session {
    Session::new(Machine::new(procs), spec(policy).build_scheduler())
}

fn job(submit: i64, procs: u32, estimate: i64) -> Job {
    Job::new(Time(submit), procs, Span(estimate))
}

/// The jobs that a pass starts.
fn decide(session: &mut Session, now: i64) -> Vec<u32> {
    let actions = session.decide(Time(now)).expect("a sound policy").list();
    actions.iter().filter_map(|a| if let Action::Start { job, .. } = a { Some(job.0) } else { None }).collect()
}

/// Free processors, waiting jobs and what they need, running and suspended jobs.
fn levels(s: &Session) -> (u32, u32, u64, u32, u32) {
    (s.free_processors(), s.waiting_count(), s.waiting_procs(), s.running_count(), s.suspended_count())
}

#[test]
fn what_is_here_is_counted() {
    let mut s = session(4, "fcfs");
    assert_eq!(levels(&s), (4, 0, 0, 0, 0));
    for (submit, procs) in [(0, 3), (1, 2), (2, 4)] {
        s.note_arrival(Time(submit), &job(submit, procs, 10), None).expect("possible");
    }
    assert_eq!(levels(&s), (4, 3, 9, 0, 0));
    assert_eq!(decide(&mut s, 2), [0]);
    assert_eq!(levels(&s), (1, 2, 6, 1, 0));
    // A running job is not withdrawn, nor one that has never been here.
    assert!(!s.withdraw_job(Time(3), JobId(0)) && !s.withdraw_job(Time(3), JobId(7)));
    assert!(s.withdraw_job(Time(3), JobId(1)));
    assert!(!s.withdraw_job(Time(3), JobId(1)), "it is gone");
    assert_eq!(levels(&s), (1, 1, 4, 1, 0));
    s.end_job(Time(5), JobId(0));
    assert_eq!(levels(&s), (4, 1, 4, 0, 0));
    assert_eq!(decide(&mut s, 5), [2]);
    assert_eq!(levels(&s), (0, 0, 0, 1, 0));
}

#[test]
fn only_a_scheduler_that_foresees_needs_the_truth() {
    assert!(!session(1, "easy").is_clairvoyant());
    assert!(!session(1, "easy++").is_clairvoyant());
    let mut s = session(1, "easy(predict=perfect)");
    assert!(s.is_clairvoyant());
    let id = s.note_arrival(Time(0), &job(0, 1, 100), Some(Span(7))).expect("possible");
    assert_eq!(s.view().prediction(id), Span(7));
}

/// The first two jobs run for 2 and 4 of an estimated 100, so the third is predicted to run for 3,
/// from 20 to 23. Then it gets a minute, 15 minutes, which is beyond its estimate, and beyond that
/// a minute and 15 minutes more.
#[test]
fn predictions_expire_and_are_corrected() {
    // A policy that plans every job has to decide after every correction.
    let mut s = session(1, "conservative(predict=recent(2),correct=gradual)");
    assert_eq!(s.next_due_time(), None);
    for (submit, run) in [(0, 2), (10, 4)] {
        let id = s.note_arrival(Time(submit), &job(submit, 1, 100), None).expect("possible");
        assert_eq!(decide(&mut s, submit), [id.0]);
        s.end_job(Time(submit + run), id);
    }
    let id = s.note_arrival(Time(20), &job(20, 1, 100), None).expect("possible");
    assert_eq!(decide(&mut s, 20), [id.0]);
    assert_eq!(s.next_due_time(), Some(Time(23)));
    assert!(!s.expire_due(Time(22)), "nothing is due");
    assert_eq!(s.view().predicted_end(id), Time(23));
    assert!(s.expire_due(Time(23)));
    assert_eq!((s.view().predicted_end(id), s.next_due_time()), (Time(83), Some(Time(83))));
    // The first two, predicted to run until 100 and 110, are gone; all corrections of the third by
    // this time are due at once.
    assert!(s.expire_due(Time(200)));
    let ends = [83, 20 + 100, 20 + 100 + 60, 20 + 100 + 60 + 900];
    assert_eq!((s.view().predicted_end(id).0, s.next_due_time()), (ends[3], Some(Time(ends[3]))));
    assert!(!s.expire_due(Time(1_079)));
    s.end_job(Time(1_079), id);
    // It is gone when its prediction would expire.
    assert!(!s.expire_due(Time(1_080)));
    assert_eq!(s.next_due_time(), None);
}

/// A conservative plan wakes when the next start is due, also where it was saved and restored, and
/// nothing wakes it twice.
#[test]
fn a_plan_wakes_in_time() {
    let mut s = session(2, "conservative(notice=late)");
    let first = s.note_arrival(Time(0), &job(0, 2, 100), None).expect("possible");
    assert_eq!(decide(&mut s, 0), [first.0]);
    let second = s.note_arrival(Time(1), &job(1, 2, 10), None).expect("possible");
    assert_eq!(decide(&mut s, 1), [0; 0]);
    assert_eq!(s.next_due_time(), Some(Time(100)));
    let mut copy = session(2, "conservative(notice=late)");
    copy.load(&s.save().expect("saves")).expect("loads");
    for mut s in [s, copy] {
        s.end_job(Time(40), first);
        assert!(!s.expire_due(Time(99)));
        assert!(s.expire_due(Time(100)));
        assert!(!s.expire_due(Time(100)), "it was woken");
        assert_eq!(decide(&mut s, 100), [second.0]);
        assert_eq!(levels(&s), (0, 0, 0, 1, 0));
    }
}

/// History may change what is predicted to jobs that the policy has not had a pass for yet: job 3,
/// which would be the longer one by its estimate, is predicted to run for as long as its user's job
/// that ends right after it came.
#[test]
fn jobs_that_have_just_come_are_predicted_anew() {
    for policy in ["fcfs(order=sjf,", "easy(order=sjf,", "greedy(order=sjf,", "easy(order=sjf,backfill=lxf,"] {
        let mut s = session(2, &format!("{policy}predict=recent(1,propagate=waiting))"));
        let of_user = |user: i32, job: Job| job.with_user(user);
        let first = s.note_arrival(Time(0), &of_user(1, job(0, 1, 100)), None).expect("possible");
        let second = s.note_arrival(Time(0), &of_user(2, job(0, 1, 100)), None).expect("possible");
        assert_eq!(decide(&mut s, 0), [first.0, second.0]);
        let shorter = s.note_arrival(Time(5), &of_user(3, job(5, 2, 40)), None).expect("possible");
        let longer = s.note_arrival(Time(5), &of_user(1, job(5, 2, 50)), None).expect("possible");
        s.end_job(Time(5), first);
        s.end_job(Time(5), second);
        assert_eq!((s.view().prediction(shorter), s.view().prediction(longer)), (Span(40), Span(5)), "{policy}");
        assert_eq!(decide(&mut s, 5), [longer.0], "{policy}");
        s.end_job(Time(9), longer);
        assert_eq!(decide(&mut s, 9), [shorter.0], "{policy}");
    }
}

/// The table of jobs does not grow for ever where a cluster does not stop: a job that has ended is
/// dropped with the next decision, unless an older job is still here.
#[test]
fn a_job_that_has_ended_is_forgotten() {
    let mut s = session(2, "fcfs");
    for submit in [0, 1] {
        s.note_arrival(Time(submit), &job(submit, 1, 100), None).expect("possible");
        decide(&mut s, submit);
    }
    s.end_job(Time(2), JobId(1));
    decide(&mut s, 2);
    assert_eq!(s.view().oldest_job(), JobId(0));
    s.end_job(Time(3), JobId(0));
    assert_eq!(s.view().oldest_job(), JobId(0), "it may be asked about until the decision");
    decide(&mut s, 3);
    assert_eq!(s.view().oldest_job(), JobId(2));
    assert_eq!(s.note_arrival(Time(4), &job(4, 1, 100), None).expect("possible"), JobId(2));
}

/// Only policies whose passes follow from predicted ends alone leave any out; no other does, at any
/// time.
#[test]
fn who_leaves_out_no_passes_says_so_before_the_origin_too() {
    for policy in ["conservative", "slack", "multiqueue", "ss", "tss", "is", "goal"] {
        let policy = spec(policy).build_scheduler().policy;
        assert_eq!(policy.unmoved_until(Time(-5)), Time::MIN);
    }
}

/// "Never" is no time at which something happens, and no time is too late to reckon with.
#[test]
fn never_and_the_end_of_time_are_told_without_harm() {
    for policy in ["fcfs", "easy", "easy++", "conservative", "slack", "multiqueue", "ss", "is"] {
        let mut s = session(4, policy);
        assert!(!s.expire_due(Time::MAX));
        s.note_arrival(Time::MIN, &job(0, 4, 10), None).expect("possible");
        assert_eq!(decide(&mut s, i64::MIN), [0], "{policy}");
        assert!(!s.expire_due(Time::MAX));
        assert!(s.end_job(Time::MAX, JobId(0)));
        s.note_arrival(Time::MAX, &job(5, 2, 1 << 40), None).expect("possible");
        assert_eq!(decide(&mut s, i64::MAX), [1], "{policy}");
    }
}
