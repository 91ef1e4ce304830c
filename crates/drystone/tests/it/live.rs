//! A session as a live cluster drives it: nothing comes to the second, clocks are put back, notices
//! come twice, jobs are impossible.

use crate::common::spec;
use drystone::engine::Session;
use drystone::model::{Job, JobId, Machine, Span, Time, UNKNOWN};
use drystone::parts::predict::{Correction, Forecast, Prediction, Predictor};
use drystone::policy::{Action, PassRule};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const PROCS: u32 = 8;

fn session(policy: &str) -> Session {
    Session::new(Machine::new(PROCS), spec(policy).build_scheduler())
}

fn job(submit: i64, procs: u32, estimate: i64) -> Job {
    Job::new(Time(submit), procs, Span(estimate)).with_user(submit as i32 % 3)
}

fn starts(session: &mut Session, now: i64) -> Vec<u32> {
    let actions = session.decide(Time(now)).expect("a sound policy").list();
    actions.iter().filter_map(|a| if let Action::Start { job, .. } = a { Some(job.0) } else { None }).collect()
}

/// Times at which the driver of the session looks, where something happens at `then`.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// This many seconds late, by turns.
    Late(i64),
    /// At every multiple of this many seconds.
    Polls(i64),
}

impl Clock {
    fn looks(self, then: i64, turn: i64) -> i64 {
        match self {
            Clock::Late(most) => then + turn % (most + 1),
            Clock::Polls(every) => (then + every - 1).div_euclid(every) * every,
        }
    }
}

/// A machine that is looked at late. Jobs run as long as they really take, whatever is known of it.
struct Cluster {
    session: Session,
    run: Vec<i64>,
    procs: Vec<u32>,
    /// Running jobs, with their starts.
    running: BTreeMap<u32, i64>,
    done: usize,
}

impl Cluster {
    fn next_end(&self) -> Option<i64> {
        self.running.iter().map(|(&id, since)| since + self.run[id as usize]).min()
    }

    /// All that has happened by `now`, and what the policy makes of it.
    fn look(&mut self, now: i64, come: &[(i64, u32, i64, i64)]) {
        let end_ids: Vec<u32> = self
            .running
            .iter()
            .filter(|&(&id, since)| since + self.run[id as usize] <= now)
            .map(|(&id, _)| id)
            .collect();
        for id in end_ids {
            self.running.remove(&id);
            assert!(self.session.end_job(Time(now), JobId(id)));
            self.done += 1;
        }
        self.session.expire_due(Time(now));
        for &(submit, procs, estimate, run) in come {
            let id = self.session.note_arrival(Time(now), &job(submit, procs, estimate), None).expect("possible");
            assert_eq!(id.index(), self.run.len());
            self.run.push(run);
            self.procs.push(procs);
        }
        let actions = self.session.decide(Time(now)).expect("nothing impossible is asked for").list().to_vec();
        for action in actions {
            match action {
                Action::Start { job, .. } | Action::Resume(job) | Action::ResumeOn { job, .. } => {
                    assert!(self.running.insert(job.0, now).is_none());
                }
                Action::Suspend(job) => {
                    let since = self.running.remove(&job.0).expect("it runs");
                    self.run[job.index()] -= now - since;
                }
                _ => {}
            }
        }
        let busy_procs: u32 = self.running.keys().map(|&id| self.procs[id as usize]).sum();
        assert_eq!(busy_procs + self.session.free_processors(), PROCS);
    }
}

fn every_job_ends(policy: &str, jobs: &[(i64, u32, i64, i64)], clock: Clock) {
    let (run, procs) = (Vec::new(), Vec::new());
    let mut cluster = Cluster { session: session(policy), run, procs, running: BTreeMap::new(), done: 0 };
    let (mut turn, mut come) = (0, 0);
    while cluster.done < jobs.len() {
        let submit = jobs.get(come).map(|j| j.0);
        let deadline = cluster.session.next_due_time().map(|t| t.0);
        let then = [submit, deadline, cluster.next_end()].into_iter().flatten().min().expect("something happens");
        turn += 5;
        let now = clock.looks(then, turn);
        let behind = come + jobs[come..].iter().take_while(|j| j.0 <= now).count();
        cluster.look(now, &jobs[come..behind]);
        come = behind;
        assert!(turn < 200_000, "{policy}: it goes on for ever");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// However late a cluster is looked at, no policy asks for what is impossible, and every job
    /// ends.
    #[test]
    fn lateness_breaks_nothing(
        gaps in prop::collection::vec((0i64..12, 1u32..=PROCS, 1i64..60, 1i64..70), 1..150),
        clock in prop_oneof![(0i64..8).prop_map(Clock::Late), (2i64..8).prop_map(Clock::Polls)],
    ) {
        let mut now = 0;
        let jobs: Vec<_> = gaps.into_iter().map(|(gap, procs, estimate, run)| {
            now += gap;
            (now, procs, estimate, run)
        }).collect();
        for policy in [
            "fcfs", "greedy", "easy", "easy++", "easy(reserve=3)", "conservative", "conservative(notice=late)",
            "conservative(predict=recent(2))", "slack", "slack(predict=recent(2))", "multiqueue", "multiqueue(delay=30)", "ss",
            "tss", "is", "goal(nodes=30)",
        ] {
            every_job_ends(policy, &jobs, clock);
        }
    }
}

/// Job 0 ends late, at 12 instead of 10, so job 1 starts then, and job 2, planned for 20, has to
/// wait until 22.
#[test]
fn conservative_takes_a_late_start_into_account() {
    let mut s = session("conservative");
    for submit in [0, 1, 1] {
        s.note_arrival(Time(submit), &job(submit, PROCS, 10), None).expect("possible");
        s.decide(Time(submit)).expect("sound");
    }
    assert!(s.end_job(Time(12), JobId(0)));
    s.expire_due(Time(12));
    assert_eq!(starts(&mut s, 12), [1]);
    s.expire_due(Time(20));
    assert_eq!((starts(&mut s, 20), s.next_due_time()), (vec![], Some(Time(22))));
    assert!(s.end_job(Time(22), JobId(1)));
    assert_eq!(starts(&mut s, 22), [2]);
}

/// A cluster never stops: what is kept of jobs that have ended does not grow, with corrections,
/// either.
#[test]
fn what_is_kept_does_not_grow_with_the_jobs_that_ever_were() {
    let (mut s, mut now) = (session("easy++"), 0);
    let mut largest = [0; 2];
    for id in 0..3_000 {
        let job = Job::new(Time(now), 1, Span(100)).with_user(1);
        s.note_arrival(Time(now), &job, None).expect("possible");
        s.decide(Time(now)).expect("sound");
        let end = now + if id % 2 == 0 { 5 } else { 50 };
        while let Some(at) = s.next_due_time().filter(|at| at.0 < end) {
            s.expire_due(at);
            s.decide(at).expect("sound");
        }
        assert!(s.end_job(Time(end), JobId(id)));
        s.decide(Time(end)).expect("sound");
        now = end + 1;
        let largest = &mut largest[usize::from(id >= 1_500)];
        *largest = s.save().expect("saved").len().max(*largest);
    }
    // Numbers grow by a byte here and there: some hundred of them are kept.
    assert!(largest[1] < largest[0] + 300, "{largest:?}");
}

#[test]
fn impossible_jobs_are_refused_and_nothing_is_changed() {
    let mut s = session("easy");
    let before = s.save().expect("saved");
    for (job, problem) in [
        (job(0, 9, 10), "the job needs 9 processors of a machine of 8"),
        (job(0, 0, 10), "the job needs no processor"),
        (job(0, 1, -1), "the job has a negative estimate"),
        (job(0, 1, i64::MAX), "the job has a time beyond"),
        (job(i64::MIN, 1, 10), "the job has a time beyond"),
        (job(i64::MAX, 1, 10), "the job has a time beyond"),
    ] {
        let error = s.note_arrival(Time(0), &job, None).expect_err("impossible").to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert_eq!(s.save().expect("saved"), before);
}

#[test]
fn what_is_told_twice_or_of_nobody_changes_nothing() {
    let mut s = session("easy");
    assert!(!s.end_job(Time(0), JobId(3)));
    s.note_arrival(Time(0), &job(0, 2, 10), None).expect("possible");
    assert!(!s.end_job(Time(0), JobId(0)), "it waits");
    assert_eq!(starts(&mut s, 0), [0]);
    assert!(s.end_job(Time(4), JobId(0)));
    assert!(!s.end_job(Time(4), JobId(0)) && !s.withdraw_job(Time(4), JobId(0)));
    s.decide(Time(5)).expect("sound");
    assert!(!s.end_job(Time(9), JobId(0)), "it is long forgotten");
    assert_eq!((s.free_processors(), s.running_count()), (PROCS, 0));
}

/// Two jobs that are said to have ended before they started have run for no time, and are no reason
/// to predict less.
#[test]
fn time_does_not_go_back() {
    let mut s = session("easy++");
    for submit in [100, 101] {
        s.note_arrival(Time(submit), &job(submit, 1, 50).with_user(1), None).expect("possible");
        s.decide(Time(submit)).expect("sound");
    }
    assert!(s.end_job(Time(20), JobId(0)) && s.end_job(Time(20), JobId(1)));
    assert_eq!(s.view().current_time(), Time(101));
    let id = s.note_arrival(Time(30), &job(102, 1, 50).with_user(1), None).expect("possible");
    // The first ran for a second, the second for none.
    assert!(s.view().prediction(id) <= Span(1) && s.view().prediction(id) >= Span::ZERO, "{}", s.view().prediction(id));
}

/// A pass that can do nothing is none.
#[test]
fn a_decision_that_nobody_needs_changes_nothing() {
    for policy in ["slack", "goal(nodes=10)", "conservative(notice=late)", "multiqueue"] {
        let mut s = session(policy);
        s.note_arrival(Time(0), &job(0, 2, 10), None).expect("possible");
        assert_eq!(starts(&mut s, 0), [0]);
        let before = s.save().expect("saved");
        assert!(s.decide(Time(0)).expect("sound").list().is_empty());
        assert_eq!(s.save().expect("saved"), before, "{policy}");
    }
}

/// A session saved between a wake-up and the decision that it leads to decides as well.
#[test]
fn a_session_restored_after_a_wake_up_decides() {
    let mut s = session("conservative");
    for submit in [0, 1] {
        s.note_arrival(Time(submit), &job(submit, PROCS, 10), None).expect("possible");
        s.decide(Time(submit)).expect("sound");
    }
    s.end_job(Time(10), JobId(0));
    assert!(s.expire_due(Time(10)));
    let mut copy = session("conservative");
    copy.load(&s.save().expect("saved")).expect("loaded");
    assert_eq!(copy.save().expect("saved"), s.save().expect("saved"));
    assert_eq!((starts(&mut copy, 10), starts(&mut s, 10)), (vec![1], vec![1]));
}

/// Says one thing of every job.
#[derive(Serialize, Deserialize)]
struct Says(i64);

impl Predictor for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn predict(&mut self, _: JobId, _: &Job, _: Option<Span>) -> Prediction {
        Prediction::from_learned(Span(self.0))
    }
}

/// Predictions that are no run times count as the nearest that are.
#[test]
fn extreme_predictions_overflow_nothing() {
    for policy in
        ["fcfs", "easy", "easy(backfill=lxf)", "conservative", "slack", "multiqueue", "ss", "is", "goal(nodes=9)"]
    {
        for says in [i64::MIN, -1, i64::MAX] {
            for correction in [Correction::None, Correction::Estimate] {
                let forecast = Forecast { predictor: Box::new(Says(says)), factor: 2, correction };
                let scheduler =
                    drystone::engine::Scheduler { forecast, pass: PassRule::Instant, ..spec(policy).build_scheduler() };
                let mut s = Session::new(Machine::new(PROCS), scheduler);
                for submit in 0..4 {
                    let job = job(submit, 5, 20).with_user(UNKNOWN);
                    let id = s.note_arrival(Time(submit), &job, None).expect("possible");
                    assert_eq!(s.view().prediction(id), Span(if says < 0 { 0 } else { 2 << 40 }));
                    s.expire_due(Time(submit));
                    s.decide(Time(submit)).expect("sound");
                }
                assert!(s.end_job(Time(9), JobId(0)), "{policy}");
                s.expire_due(Time(9));
                s.decide(Time(9)).expect("sound");
                assert!(s.running_count() > 0, "{policy}: another one starts");
            }
        }
    }
}
