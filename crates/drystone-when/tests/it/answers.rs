//! Forecasts that can be computed by hand, and every policy.

use drystone::generate::{Params, WorkloadLength, generate_workload};
use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Machine, ProcSet, Span, Time};
use drystone_core::policy::{Action, CapacityLoss, PolicySpec, policy_names};
use drystone_when::{
    AnswerMethod, Follower, Forecaster, ForecasterSettings, ForeseeOptions, FutureError, StartAnswer, score_answers,
};
use std::sync::atomic::{AtomicU32, Ordering};

fn session(policy: &str, procs: u32, jobs: &[(u32, i64)]) -> (Session, Forecaster) {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut session = Session::new(Machine::new(procs), spec.build_scheduler());
    let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default()).expect("no clairvoyance");
    for &(procs, estimate) in jobs {
        let job = Job::new(Time(0), procs, Span(estimate)).with_user(1);
        let id = session.note_arrival(Time(0), &job, None).expect("possible");
        forecaster.note_job_arrival(id, &job);
    }
    session.expire_due(Time(0));
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
        let sample = forecaster.sample_futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        let mean = sample.values().iter().sum::<i64>() / 100;
        // The mean of 100 uniform numbers up to 10,000 has a standard error of 289.
        assert!((4000..6000).contains(&mean), "{mean}");
        assert!(sample.values()[0] >= 1 && sample.values()[99] <= 10_000);
    }
}

/// A question that takes too long is answered from the futures that are done, if they are enough.
#[test]
fn a_question_that_is_stopped_is_answered_from_fewer_futures() {
    for (session, mut forecaster) in both("easy", 4, &[(4, 10_000), (4, 60)]) {
        let calls = AtomicU32::new(0);
        let mut ask = |most: u32| {
            calls.store(0, Ordering::Relaxed);
            let stop = || calls.fetch_add(1, Ordering::Relaxed) + 1 >= most;
            let answers = forecaster.look_until(&session, &[JobId(1)], &stop).expect("sound");
            answers.map(|mut answers| answers.swap_remove(0).sample.values().len())
        };
        assert_eq!(ask(1), None, "one future says nothing");
        assert!(ask(40).is_some_and(|futures| (40..50).contains(&futures)), "as many as were done, by each thread");
        assert_eq!(ask(1_000), Some(100));
    }
}

#[test]
fn jobs_that_do_not_wait_have_no_question() {
    for (session, mut forecaster) in both("easy", 4, &[(4, 100), (4, 60)]) {
        for id in [0, 7] {
            assert!(
                matches!(forecaster.ask_job(&session, JobId(id)), Err(FutureError::NotWaiting(JobId(n))) if n == id)
            );
        }
    }
}

#[test]
fn the_one_future_with_limits_is_the_plan() {
    for (session, mut forecaster) in both("easy", 4, &[(3, 100), (4, 50), (2, 30), (1, 100)]) {
        // The last is backfilled at once; the second starts at 100, the third at 150.
        let starts =
            forecaster.point_starts(&session, &[JobId(2), JobId(1)], drystone_when::RunTimes::Limits).expect("sound");
        assert_eq!(starts, [Some(150), Some(100)]);
    }
}

#[test]
fn policies_that_know_the_future_are_refused() {
    for policy in ["perfect", "easy(predict=perfect)", "conservative(predict=double(perfect))"] {
        let spec: PolicySpec = policy.parse().expect(policy);
        assert!(
            matches!(Forecaster::new(&spec, ForecasterSettings::default()), Err(FutureError::Clairvoyant)),
            "{policy}"
        );
    }
}

#[test]
fn an_announced_outage_is_waited_for() {
    for (mut session, mut forecaster) in both("easy", 4, &[(4, 100), (4, 600)]) {
        let losses = [CapacityLoss { on: ProcSet::from_range(0..1), from: Time(300), until: Time(5000) }];
        session.set_losses(Time(0), &losses).expect("heard");
        session.decide(Time(0)).expect("sound");
        let sample = forecaster.sample_futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        // It needs all four for 600 s, and one is gone from 300 on.
        assert!(sample.values().iter().all(|&start| start == 5000), "{:?}", sample.values());
        // One that is out for good: never, in every future.
        let losses = [CapacityLoss { on: ProcSet::from_range(0..1), from: Time(0), until: Time::MAX }];
        session.set_losses(Time(0), &losses).expect("heard");
        session.decide(Time(0)).expect("sound");
        let sample = forecaster.sample_futures(&session, &[JobId(1)], 1, true).expect("sound").swap_remove(0);
        assert!((sample.share_beyond() - 1.0).abs() < 1e-12, "{}", sample.share_beyond());
    }
}

#[test]
fn every_policy_that_does_not_know_the_future_answers() {
    let workload = generate_workload(&Params {
        length: WorkloadLength::Jobs(100),
        load: Some(1.1),
        seed: 4,
        ..Params::new(32, 1)
    });
    let workload = workload.expect("sound");
    let settings = ForecasterSettings { samples: 3, ..ForecasterSettings::default() };
    let methods = vec![AnswerMethod::Plan, AnswerMethod::Limits, AnswerMethod::Calibrated];
    let options = ForeseeOptions { settings, methods, every: 4, ..ForeseeOptions::default() };
    let mut policy_count = 0;
    for name in policy_names() {
        let spec: PolicySpec = name.parse().expect(name);
        let fresh = spec.clone();
        if spec.build_scheduler().forecast.predictor.is_clairvoyant() {
            continue;
        }
        let scores = score_answers(&workload, &spec, move || fresh.build_scheduler(), &options, &|_| {});
        let report = scores.expect(name).expect("not stopped");
        // Policies that suspend let hardly any job wait.
        assert!(report.asked > 0, "{name}");
        policy_count += 1;
    }
    assert!(policy_count >= 14, "{policy_count}");
}

#[test]
fn the_same_seed_gives_the_same_scores() {
    let workload = generate_workload(&Params {
        length: WorkloadLength::Jobs(400),
        load: Some(1.0),
        seed: 2,
        ..Params::new(32, 1)
    });
    let workload = workload.expect("sound");
    let spec: PolicySpec = "easy".parse().expect("valid");
    let scores = |seed| {
        let options = ForeseeOptions {
            settings: ForecasterSettings { seed, samples: 20, ..ForecasterSettings::default() },
            ..ForeseeOptions::default()
        };
        let fresh = spec.clone();
        score_answers(&workload, &spec, move || fresh.build_scheduler(), &options, &|_| {}).expect("sound")
    };
    assert_eq!(scores(1), scores(1));
    assert_ne!(scores(1), scores(2));
}

/// A job that the queue keeps and never starts: greedy lets narrow ones overtake the wide one for
/// ever, since they come every day as they came in the past.
#[test]
fn a_policy_that_starves_a_job_says_so() {
    let day = 86_400;
    let (mut session, mut forecaster) = session("greedy", 4, &[]);
    // For two weeks a job of one processor came every hour and ran for five, so that four run.
    let mut running: Vec<(i64, JobId, Job)> = Vec::new();
    let mut now = 0;
    for hour in 0..14 * 24 {
        now = hour * 3_600;
        while running.first().is_some_and(|run| run.0 <= now) {
            let (end, id, job) = running.remove(0);
            session.end_job(Time(end), id);
            forecaster.note_job_end(id, &job, Span(5 * 3_600));
            start_all(&mut session, Time(end), &mut running);
        }
        let job = Job::new(Time(now), 1, Span(5 * 3_600)).with_user(1);
        let id = session.note_arrival(Time(now), &job, None).expect("possible");
        forecaster.note_job_arrival(id, &job);
        start_all(&mut session, Time(now), &mut running);
    }
    let wide = Job::new(Time(now), 4, Span(600)).with_user(2);
    let id = session.note_arrival(Time(now), &wide, None).expect("possible");
    forecaster.note_job_arrival(id, &wide);
    session.decide(Time(now)).expect("sound");
    let sample = forecaster.sample_futures(&session, &[id], 1, true).expect("sound").swap_remove(0);
    assert!((sample.share_beyond() - 1.0).abs() < 1e-12, "{}", sample.share_beyond());
    assert_eq!(sample.values()[0], 14 * day);
    // Of 336 jobs of 5 h on four processors 68 wait or run then: without arrivals they are over
    // within 90 h.
    let sample = forecaster.sample_futures(&session, &[id], 1, false).expect("sound").swap_remove(0);
    assert!(sample.share_beyond() == 0.0 && sample.values()[99] < 90 * 3_600, "{:?}", sample.values());
}

fn start_all(session: &mut Session, now: Time, running: &mut Vec<(i64, JobId, Job)>) {
    let starts: Vec<JobId> = session
        .decide(now)
        .expect("sound")
        .list()
        .iter()
        .filter_map(|action| match action {
            Action::Start { job, .. } => Some(*job),
            _ => None,
        })
        .collect();
    for id in starts {
        let job = session.view().job(id).clone();
        running.push((now.0 + 5 * 3_600, id, job));
    }
    running.sort_by_key(|run| (run.0, run.1));
}

/// A job that is withdrawn is no longer asked about, never comes again in a replayed day, and
/// counts as an answer whose end is not known.
#[test]
fn a_withdrawn_job_is_no_start() {
    for (mut session, mut forecaster) in both("easy", 4, &[(4, 1_000), (4, 60), (4, 60)]) {
        forecaster.ask_job(&session, JobId(1)).expect("waits");
        session.withdraw_job(Time(10), JobId(1));
        forecaster.note_job_withdrawal(JobId(1), Time(10));
        session.decide(Time(10)).expect("sound");
        assert!(matches!(forecaster.ask_job(&session, JobId(1)), Err(FutureError::NotWaiting(JobId(1)))));
        // The next one heads the queue now.
        let answer = forecaster.ask_job(&session, JobId(2)).expect("waits");
        assert_eq!((answer.correction.answers, answer.correction.censored), (1, 1));
        assert!(answer.sample.values().iter().all(|&start| (1..=990).contains(&start)), "{:?}", answer.sample);
    }
}

/// An empty queue has no answers, and a job that comes to an empty machine starts at once.
#[test]
fn an_empty_queue_has_no_answers() {
    for (session, mut forecaster) in both("easy", 4, &[]) {
        assert_eq!(forecaster.preview_answers(&session, &[]).expect("sound"), []);
        let job = Job::new(Time(100), 4, Span(60));
        let times = forecaster.times_of_later(&session, &job, Span(100), 1).expect("sound");
        assert!(times.iter().all(|&start| start == Some(100)), "{times:?}");
    }
}

/// A driver that tells of nothing in time: predictions that have expired long ago are put off
/// before the futures begin.
#[test]
fn what_was_told_late_is_no_obstacle() {
    for policy in ["easy++", "easy", "conservative", "slack"] {
        let (mut session, mut forecaster) = session(policy, 4, &[(4, 100), (4, 60)]);
        let job = Job::new(Time(5_000), 1, Span(60)).with_user(1);
        let id = session.note_arrival(Time(5_000), &job, None).expect("possible");
        forecaster.note_job_arrival(id, &job);
        // The first job has outlived its limit fifty times.
        let waiting: Vec<JobId> = session.view().waiting_jobs().collect();
        assert_eq!(waiting.len(), 2, "{policy}");
        let answers =
            forecaster.preview_answers(&session, &waiting).unwrap_or_else(|error| panic!("{policy}: {error}"));
        assert!(answers.iter().all(|answer| answer.sample.share_beyond() == 0.0), "{policy}");
    }
}

/// Occasional looks teach a forecaster as much as every event would.
#[test]
fn a_follower_learns_what_happened_between_looks() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let (mut session, forecaster) = session("easy", 4, &[(4, 1_000), (4, 1_000), (2, 1_000)]);
    let mut follower = Follower::new(Forecaster::new(&spec, ForecasterSettings::default()).expect("sound"));
    assert!(follower.follow_session(&session) && !follower.follow_session(&session));
    let answers = follower.answer_jobs(&session, &[JobId(1), JobId(2)]).expect("sound");
    assert_eq!(answers.len(), 2);
    drop(forecaster);
    // The first ran for 400 s; the second starts, the third is withdrawn.
    session.end_job(Time(400), JobId(0));
    session.decide(Time(400)).expect("sound");
    session.withdraw_job(Time(500), JobId(2));
    session.decide(Time(500)).expect("sound");
    assert!(follower.follow_session(&session));
    assert_eq!(follower.forecaster().longest_of(1, 20), Some((Span(500), 1)), "seen at 500 to be over");
    let job = Job::new(Time(500), 4, Span(1_000)).with_user(1);
    let id = session.note_arrival(Time(500), &job, None).expect("possible");
    session.decide(Time(500)).expect("sound");
    assert!(follower.follow_session(&session));
    let answer = follower.answer_jobs(&session, &[id]).expect("sound").swap_remove(0);
    // One answer has come true, one never will.
    assert_eq!((answer.correction.answers, answer.correction.censored), (2, 1));
}

/// The log ran under a policy that the forecaster does not know of: futures are far off, and what
/// the past alone says takes their place. Where the policy is known, they keep it.
#[test]
fn where_the_policy_is_another_the_past_takes_over() {
    let params = Params { length: WorkloadLength::Jobs(3_000), load: Some(0.9), seed: 5, ..Params::new(128, 1) };
    let workload = generate_workload(&params).expect("sound");
    let easy: PolicySpec = "easy".parse().expect("valid");
    let score_belief = |text: &str| {
        let belief: PolicySpec = text.parse().expect("valid");
        // Those that are mixed; the others take most of the time.
        let methods = vec![
            AnswerMethod::PlanErrors,
            AnswerMethod::LastTwoErrors,
            AnswerMethod::Neighbours,
            AnswerMethod::Raw,
            AnswerMethod::Calibrated,
        ];
        let settings = ForecasterSettings { samples: 30, ..ForecasterSettings::default() };
        let options = ForeseeOptions { settings, methods, every: 2, ..ForeseeOptions::default() };
        let easy = easy.clone();
        let scores = score_answers(&workload, &belief, move || easy.build_scheduler(), &options, &|_| {});
        let report = scores.expect("sound").expect("not cancelled");
        let crps = |method: AnswerMethod| {
            let score = report.methods.iter().find(|score| score.method == method);
            score.expect("scored").all.crps
        };
        let best = report.best_baseline.expect("some");
        (crps(AnswerMethod::Calibrated), crps(AnswerMethod::Raw), crps(best))
    };
    let (own_crps, raw, best) = score_belief("fcfs");
    assert!(own_crps < 0.8 * raw && own_crps < 1.1 * best, "{own_crps} {raw} {best}");
    let (own_crps, raw, best) = score_belief("easy");
    assert!(own_crps < 1.1 * raw && own_crps < best, "{own_crps} {raw} {best}");
}

/// The time by which a policy has promised a start bounds every level; so does the time before
/// which a job may not begin.
#[test]
fn promises_and_begin_times_bound_the_answer() {
    let (session, mut forecaster) = session("conservative", 4, &[(4, 1_000), (4, 60)]);
    let answer = forecaster.preview_answers(&session, &[JobId(1)]).expect("waits").swap_remove(0);
    assert!(answer.quantile(0.95) > 800.0, "{}", answer.quantile(0.95));
    let limit_answer = StartAnswer { not_after: Some(Span(700)), not_before: Span(300), ..answer };
    assert_eq!([0.01, 0.95].map(|level| limit_answer.quantile(level)), [300.0, 700.0]);
    assert!(
        (limit_answer.probability_within(700.0) - 1.0).abs() < 1e-6 && limit_answer.probability_within(299.0) < 1e-6
    );
}

/// A thousand jobs of one user wait on one processor, each of up to 600 s. Where they are short or
/// long as one, the start behind them spreads as one run time does, a thousand times over: by
/// 600,000 s / √12. Where each draws for itself, by a thirtieth of that, the root of a thousand.
#[test]
fn a_batch_is_short_or_long_as_one() {
    let spread = |coupling: f64, batch_coupling: f64| {
        let spec: PolicySpec = "easy".parse().expect("valid");
        let settings = ForecasterSettings { coupling, batch_coupling, ..ForecasterSettings::default() };
        let mut session = Session::new(Machine::new(1), spec.build_scheduler());
        let mut forecaster = Forecaster::new(&spec, settings).expect("sound");
        let mut last = JobId(0);
        // The first runs, the last is another user's.
        for at in 0..=1_001 {
            let job = Job::new(Time(0), 1, Span(if at == 0 { 1 } else { 600 })).with_user(i32::from(at == 1_001));
            last = session.note_arrival(Time(0), &job, None).expect("possible");
            forecaster.note_job_arrival(last, &job);
        }
        session.decide(Time(0)).expect("sound");
        let sample = forecaster.sample_futures(&session, &[last], 1, false).expect("sound").swap_remove(0);
        let values: Vec<f64> = sample.values().iter().map(|&start| start as f64).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, square.sqrt())
    };
    let single_width = 600_000.0 / 12f64.sqrt();
    // A hundred futures: the mean within three standard errors, the spread within a quarter.
    let (mean, width) = spread(0.0, 1.0);
    assert!(
        (mean - 300_000.0).abs() < 0.3 * single_width && (width / single_width - 1.0).abs() < 0.25,
        "{mean} {width}"
    );
    let (mean, width) = spread(0.0, 0.0);
    assert!((mean - 300_000.0).abs() < 0.01 * single_width, "{mean}");
    assert!((width * 1_000f64.sqrt() / single_width - 1.0).abs() < 0.25, "{width}");
    // Two futures in five are of one piece; with the coupling of single jobs as before, the others
    // share six tenths of it.
    let (_, width) = spread(0.6, 0.4);
    let expected = single_width * (0.4 + 0.6 * 0.36f64).sqrt();
    assert!((width / expected - 1.0).abs() < 0.25, "{width} {expected}");
}
