//! Returns that can be told by hand, and every policy.

use drystone::generate::{Length, Params, generate};
use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Machine, ProcSet, Span, Time};
use drystone_core::policy::{Loss, PolicySpec, names};
use drystone_when::{Forecaster, FutureError, Method, Options, Settings, foresee};

fn session(policy: &str, procs: u32, jobs: &[(u32, i64)]) -> (Session, Forecaster) {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut session = Session::new(Machine::new(procs), spec.scheduler());
    let mut forecaster = Forecaster::new(&spec, Settings::default()).expect("no clairvoyance");
    for &(procs, estimate) in jobs {
        let job = Job::new(Time(0), procs, Span(estimate)).by(1);
        let id = session.arrive(Time(0), &job, None).expect("possible");
        forecaster.arrived(id, &job);
    }
    session.decide(Time(0)).expect("sound");
    (session, forecaster)
}

/// Both ways to simulate.
fn both(policy: &str, procs: u32, jobs: &[(u32, i64)]) -> [(Session, Forecaster); 2] {
    let (a, b) = (session(policy, procs, jobs), session(policy, procs, jobs));
    [a, (b.0, b.1.without_shortcut())]
}

#[test]
fn without_history_a_job_waits_for_a_uniform_time() {
    for (session, mut forecaster) in both("easy", 4, &[(4, 10_000), (4, 60)]) {
        let sample = forecaster.futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        let mean = sample.values().iter().sum::<i64>() / 100;
        // The mean of 100 uniform numbers up to 10,000 has a standard error of 289.
        assert!((4000..6000).contains(&mean), "{mean}");
        assert!(sample.values()[0] >= 1 && sample.values()[99] <= 10_000);
    }
}

#[test]
fn jobs_that_do_not_wait_have_no_question() {
    for (session, mut forecaster) in both("easy", 4, &[(4, 100), (4, 60)]) {
        for id in [0, 7] {
            assert!(matches!(forecaster.ask(&session, JobId(id)), Err(FutureError::NotWaiting(JobId(n))) if n == id));
        }
    }
}

#[test]
fn the_one_future_with_limits_is_the_plan() {
    for (session, mut forecaster) in both("easy", 4, &[(3, 100), (4, 50), (2, 30), (1, 100)]) {
        // The last is backfilled at once; the second starts at 100, the third at 150.
        let starts = forecaster.point(&session, &[JobId(2), JobId(1)], drystone_when::RunTimes::Limits).expect("sound");
        assert_eq!(starts, [Some(150), Some(100)]);
    }
}

#[test]
fn policies_that_know_the_future_are_refused() {
    for policy in ["perfect", "easy(predict=perfect)", "conservative(predict=double(perfect))"] {
        let spec: PolicySpec = policy.parse().expect(policy);
        assert!(matches!(Forecaster::new(&spec, Settings::default()), Err(FutureError::Clairvoyant)), "{policy}");
    }
}

#[test]
fn an_announced_outage_is_waited_for() {
    for (mut session, mut forecaster) in both("easy", 4, &[(4, 100), (4, 600)]) {
        let losses = [Loss { on: ProcSet::range(0..1), from: Time(300), until: Time(5000) }];
        session.set_losses(Time(0), &losses).expect("heard");
        session.decide(Time(0)).expect("sound");
        let sample = forecaster.futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        // It needs all four for 600 s, and one is gone from 300 on.
        assert!(sample.values().iter().all(|&start| start == 5000), "{:?}", sample.values());
        // One that is out for good: never, in every future.
        let losses = [Loss { on: ProcSet::range(0..1), from: Time(0), until: Time::MAX }];
        session.set_losses(Time(0), &losses).expect("heard");
        session.decide(Time(0)).expect("sound");
        let sample = forecaster.futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        assert!((sample.beyond() - 1.0).abs() < 1e-12, "{}", sample.beyond());
    }
}

#[test]
fn every_policy_that_does_not_know_the_future_answers() {
    let workload = generate(&Params { length: Length::Jobs(100), load: Some(1.1), seed: 4, ..Params::new(32, 1) });
    let workload = workload.expect("sound");
    let settings = Settings { samples: 3, ..Settings::default() };
    let methods = vec![Method::Plan, Method::Limits, Method::Calibrated];
    let options = Options { settings, methods, every: 4, ..Options::default() };
    let mut answered = 0;
    for name in names() {
        let spec: PolicySpec = name.parse().expect(name);
        let fresh = spec.clone();
        if spec.scheduler().forecast.predictor.clairvoyant() {
            continue;
        }
        let found = foresee(&workload, &spec, move || fresh.scheduler(), &options, &|_| {});
        let found = found.expect(name).expect("not stopped");
        // Policies that suspend let hardly any job wait.
        assert!(found.asked > 0, "{name}");
        answered += 1;
    }
    assert!(answered >= 14, "{answered}");
}

#[test]
fn the_same_seed_gives_the_same_scores() {
    let workload = generate(&Params { length: Length::Jobs(400), load: Some(1.0), seed: 2, ..Params::new(32, 1) });
    let workload = workload.expect("sound");
    let spec: PolicySpec = "easy".parse().expect("valid");
    let scores = |seed| {
        let options = Options { settings: Settings { seed, samples: 20, ..Settings::default() }, ..Options::default() };
        let fresh = spec.clone();
        foresee(&workload, &spec, move || fresh.scheduler(), &options, &|_| {}).expect("sound")
    };
    assert_eq!(scores(1), scores(1));
    assert_ne!(scores(1), scores(2));
}
