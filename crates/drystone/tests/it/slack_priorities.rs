//! Slack-based backfilling: where priorities come from, and what is announced.

use crate::common;

use crate::common::{owned, spec, workload};
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{JobId, Time, Workload};
use drystone::policy::{PolicySpec, Priorities};

/// Priorities in the policy's text and others beside it contradict each other, whatever they are
/// about.
#[test]
fn a_text_and_a_file_are_not_mixed() {
    let parse = |text: &str| Priorities::from_text(text).expect(text);
    for text in ["all(up=1)", "every(5)", "user(3)", "group(2)", "queue(1,pp=0.5)"] {
        let mut policy = spec(&format!("slack(priorities={text})")).build_scheduler().policy;
        let error = policy.set_priorities(parse("every(7)")).expect_err(text).to_string();
        assert!(error.contains("leave out one"), "{error}");
        // Nor are they given twice.
        let mut policy = spec("slack").build_scheduler().policy;
        policy.set_priorities(parse(text)).expect("the first time");
        assert!(policy.set_priorities(parse("every(7)")).is_err(), "{text}, a second time");
    }
    let toml = "[[group]]\nid = 3\nquota = { processor_hours = 10.5, days = 7 }\n";
    let mut policy = spec("slack").build_scheduler().policy;
    policy.set_priorities(Priorities::from_toml(toml).expect("a quota")).expect("the first time");
    assert!(policy.set_priorities(parse("every(7)")).is_err(), "a quota, then a text");
}

/// A rule for a job's number needs to know which job has it.
#[test]
fn job_numbers_need_the_log() {
    let job_rule = Priorities::from_toml("[[job]]\nnumber = 1\nup = 1.0\n").expect("a rule");
    let error =
        spec("slack").build_scheduler().policy.set_priorities(job_rule.clone()).expect_err("no log").to_string();
    assert!(error.contains("need the log"), "{error}");
    let w = workload(2, &[(0, 2, 10, 10)]);
    spec("slack")
        .build_scheduler()
        .policy
        .set_priorities(job_rule.for_workload(&w).expect("job 1 is there"))
        .expect("placed");
}

/// Average waits are divided by.
#[test]
fn an_average_wait_of_nothing_is_refused() {
    for (text, good) in
        [("slack(awt=0)", false), ("slack(awt=-1)", false), ("slack(awt=0.5)", true), ("slack(awt=auto)", true)]
    {
        assert_eq!(text.parse::<PolicySpec>().is_ok(), good, "{text}");
    }
}

/// Announcements: time, job, planned start and latest start.
#[derive(Default)]
struct Told(Vec<(i64, u32, i64, i64)>);

impl Observer for Told {
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.0.push((now.0, id.0, start.0, latest.0));
    }
}

fn told(w: &Workload, policy: &str, priorities: &str, withdrawn: &[(Time, JobId)]) -> Vec<(i64, u32, i64, i64)> {
    let mut scheduler = spec(policy).build_scheduler();
    scheduler.policy.set_priorities(Priorities::from_toml(priorities).expect(priorities)).expect(policy);
    let mut observer = Told::default();
    let source = WorkloadReplay::with_cancellations(w, withdrawn);
    Simulation::new(w.machine(), scheduler, source).run(&mut observer).expect("runs");
    observer.0
}

/// A has both processors from 0 to 10. B arrives at 1, is planned for 10, and told so at once: it
/// waits for 9 s of twice the average, so that its priority is 0.15 and its slack 0.85 x 3 x 10 =
/// 25.5 s, of which half a second is worth nothing. A started at once and was promised nothing.
#[test]
fn a_job_that_has_to_wait_is_told_when_it_arrives() {
    let w = workload(2, &[(0, 2, 10, 10), (1, 2, 10, 10)]);
    assert_eq!(told(&w, "slack(awt=10)", "", &[]), [(1, 1, 10, 35)]);
}

/// B is planned for 100 and waits for half of two average waits of 90 s: its priority is 1/6, its
/// slack 5/6 x 3 x 90 = 225 s. But A outlives its estimate: B is planned for 160, a minute later,
/// and has used up 60 s. When A ends at 150, B has its processors at once, and that gives no slack
/// back.
#[test]
fn delays_use_up_slack() {
    let w = workload(2, &[(0, 2, 100, 150), (10, 2, 50, 50)]);
    assert_eq!(told(&w, "slack(awt=90)", "", &[]), [(10, 1, 100, 325), (100, 1, 160, 325), (150, 1, 150, 315)]);
}

/// The average wait begins with one of 3,600 s. When L has started at once, it is 1,800 s, and B,
/// which comes at 20 and is planned for 2,720, waits for three quarters of twice that: its priority
/// is 1/4, its slack 3/4 x 3 x 1,800 = 4,050 s. Two jobs of absolute zero have started meanwhile,
/// one at once and one after 10 s; they do not count.
#[test]
fn average_waits_are_those_of_jobs_that_count() {
    let (l, z, b) = ((0, 1, 2_720, 2_720), (0, 1, 10, 10), (20, 2, 10, 10));
    let zero = "[[user]]\nid = 7\npp = -inf\n";
    for (jobs, users) in [(vec![l, b], vec![1, 1]), (vec![l, z, z, b], vec![1, 7, 7, 1])] {
        let events = told(&owned(&workload(2, &jobs), &users), "slack", zero, &[]);
        assert_eq!(events.last(), Some(&(20, users.len() as u32 - 1, 2_720, 6_770)), "{users:?}");
    }
}

/// Of one user's jobs one at a time is within the quota; each beyond it may be delayed at will. B
/// is withdrawn in the second in which it came, and has never been counted: C is one too many.
#[test]
fn who_goes_before_being_planned_was_never_charged() {
    let w = owned(&workload(1, &[(0, 1, 100, 100), (10, 1, 10, 10), (20, 1, 10, 10)]), &[7, 7, 7]);
    let quota = "[[user]]\nid = 7\nquota = { jobs = 1 }\n";
    let at_will = (20, 2, 100, Time::MAX.0);
    assert_eq!(told(&w, "slack", quota, &[(Time(10), JobId(1))]), [at_will]);
}

/// Of one user's processors one at a time is within the quota. A has gone when C comes, so that C
/// is within it: it is planned for 115, waits for half of two average waits of 95 s, and has a
/// slack of 5/6 x 3 x 95 = 237.5 s.
#[test]
fn who_has_gone_leaves_the_quota() {
    let w = owned(&workload(1, &[(0, 1, 10, 10), (15, 1, 100, 100), (20, 1, 10, 10)]), &[7, 8, 7]);
    let quota = "[[user]]\nid = 7\nquota = { procs = 1 }\n";
    assert_eq!(told(&w, "slack(awt=95)", quota, &[]), [(20, 2, 115, 352)]);
}

/// Two places are equally cheap, and the one that moves fewer jobs is taken. Job 3, the newcomer,
/// costs 60 at 24, behind all; 4 + 24 + 24 = 52 at 10, where jobs 1 and 2 are both delayed; and 28
/// + 24 = 52 at 16, where only job 2 is.
#[test]
fn of_equally_cheap_places_the_one_that_moves_fewer() {
    let w = workload(4, &[(0, 4, 10, 10), (1, 3, 6, 6), (2, 3, 8, 8), (9, 4, 8, 8)]);
    assert_eq!(common::starts(&w, "slack(ap=0,awt=100)"), [0, 10, 24, 16]);
}
