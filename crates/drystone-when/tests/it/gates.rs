//! Jobs that wait for more than room: they start when what has to happen first has happened.

use drystone_core::model::{Job, JobId, JobLimit, JobLimits, LimitClaim, Machine, Span, Time};
use drystone_core::policy::PolicySpec;
use drystone_when::{Adoption, Forecaster, ForecasterSettings, Observed, RunTimes, StartGates, UserClaim, adopt_jobs};
use std::collections::{BTreeMap, BTreeSet};

fn job(procs: u32, limit: i64, user: i32, runs: bool, has_hold: bool) -> Observed {
    let job = Job::new(Time(0), procs, Span(limit)).with_user(user);
    let start = runs.then_some(Time(0));
    Observed { job, eligible: Time(0), start, end: None, rank: 0, on: None, held: has_hold }
}

/// Eight processors, of which one is busy: user 1 may run one job at a time and does.
fn scene(policy: &str) -> (Adoption, Forecaster) {
    let jobs = [
        job(1, 1_000, 1, true, false), // 0: runs until 1,000 at the latest
        job(1, 300, 1, false, true),   // 1: at the limit
        job(1, 300, 2, false, true),   // 2: depends on job 1
        job(1, 300, 3, false, true),   // 3: may begin at 500
        job(1, 300, 1, false, true),   // 4: at the limit behind job 1
        job(1, 300, 4, false, true),   // 5: held by its user
        job(8, 100, 5, false, false),  // 6: needs all
    ];
    let spec: PolicySpec = policy.parse().expect(policy);
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(8), &jobs, &[], Time(0)).expect("sound");
    let mut limits = JobLimits::default();
    let (reason, of, family) = ("QOSMaxJobsPerUserLimit".into(), "user 1".into(), "QOS".into());
    let limit = limits.add_limit(JobLimit { reason, of, family, most: 1 });
    let set = limits.intern_claims(vec![LimitClaim { limit, amount: 1, binds: true }]);
    [0, 1, 4].into_iter().for_each(|at| limits.bind_job(JobId(at), set));
    let gates = StartGates {
        limits,
        eligible: BTreeMap::from([(JobId(3), Time(500))]),
        after: BTreeMap::from([(JobId(2), BTreeSet::from([JobId(1)]))]),
        of_user: BTreeMap::from([(1, vec![UserClaim { limit, processors: false, least: 1 }])]),
    };
    let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default()).expect("sound");
    forecaster.set_gates(gates);
    (adoption, forecaster)
}

const WAIT: [JobId; 6] = [JobId(1), JobId(2), JobId(3), JobId(4), JobId(5), JobId(6)];

/// By hand, all jobs to their limits. Under EASY the wide job is planned for 1,000, and what
/// competes before fits beside it until then; job 1 comes at 1,000, behind the wide job in no order
/// but that of numbers, and starts first; the wide one needs all eight and waits for it.
#[test]
fn each_starts_when_what_has_to_happen_first_has_happened() {
    for policy in ["easy", "conservative"] {
        let (adoption, mut forecaster) = scene(policy);
        assert_eq!(adoption.jobs, [0, 1, 2, 3, 4, 5, 6]);
        let plan = forecaster.point_starts(&adoption.session, &WAIT, RunTimes::Limits).expect("sound");
        // At 500 job 3; the user's next job when the first has ended, the third when that has; what
        // depends on the second likewise; one held by its user never.
        let [first, two, three, four, five, wide] = plan[..] else { panic!("{plan:?}") };
        assert_eq!((three, five), (Some(500), None), "{policy}");
        let (first, two, four) = (first.expect("starts"), two.expect("starts"), four.expect("starts"));
        assert!(first >= 1_000 && two >= first + 300 && four >= first + 300, "{policy}: {plan:?}");
        assert!(wide.is_some_and(|wide| wide >= 1_000) && first <= 1_100, "{policy}: {plan:?}");
    }
}

#[test]
fn a_job_at_a_limit_waits_for_the_jobs_that_hold_it() {
    let (adoption, mut forecaster) = scene("easy");
    let times = forecaster.start_times(&adoption.session, &WAIT, 0, true).expect("sound");
    assert_eq!(times.len(), 100);
    let mut firsts = BTreeSet::new();
    for starts in &times {
        let [Some(first), Some(two), Some(three), Some(four), None, Some(_)] = starts[..] else { panic!("{starts:?}") };
        // The first of the user ends within its limit, and each of the next as well.
        assert!((1..=1_100).contains(&first) && two > first && four > first && three >= 500, "{starts:?}");
        firsts.insert(first);
    }
    assert!(firsts.len() > 60, "as many as the first may run for: {}", firsts.len());
    let answers = forecaster.answers_of(&adoption.session, &WAIT, &times).expect("sound");
    assert!(answers[0].quantile(0.5) > 200.0, "not at the next pass: {}", answers[0].quantile(0.5));
    // No time lies before the one at which it may begin.
    assert!(answers[2].quantile(0.001) >= 500.0);
    // The same on two threads.
    let mut second_forecaster = scene("easy").1.on_threads(2);
    second_forecaster.set_gates(StartGates::default());
    assert!(
        second_forecaster
            .start_times(&adoption.session, &[JobId(1)], 0, true)
            .expect("sound")
            .iter()
            .all(|row| row[0].is_none())
    );
    let mut forecaster = scene("easy").1.on_threads(2);
    assert_eq!(forecaster.start_times(&adoption.session, &WAIT, 0, true).expect("sound"), times);
}

/// A job of the user that comes in the future stands at the limit as well.
#[test]
fn jobs_that_come_share_the_limit() {
    let (adoption, mut forecaster) = scene("easy");
    let session = &adoption.session;
    let later = |user: i32, forecaster: &mut Forecaster| {
        let job = Job::new(Time(10), 1, Span(50)).with_user(user);
        forecaster.times_of_later(session, &job, Span(10), 0).expect("sound")
    };
    let of_user = later(1, &mut forecaster);
    let of_other = later(9, &mut forecaster);
    // Seven processors are free: another user's job starts as it comes.
    let soon = of_other.iter().filter(|start| **start == Some(10)).count();
    let at_once = of_user.iter().filter(|start| **start == Some(10)).count();
    assert!(soon >= 60 && at_once <= 5, "{soon} {at_once}");
}
