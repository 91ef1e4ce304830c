//! Returns rehearsed on recorded starts, and states that are adopted.

use drystone::generate::{Params, WorkloadLength, generate_workload};
use drystone_core::engine::{Schedule, Simulation, WorkloadReplay};
use drystone_core::model::{Job, JobId, Machine, Span, Time};
use drystone_core::policy::{Phase, PolicySpec};
use drystone_when::{Forecaster, ForecasterSettings, Observed, RehearsalQuestions, adopt_jobs};
use std::ops::RangeInclusive;

fn observed(procs: u32, submit: i64, start: Option<i64>, end: Option<i64>, rank: i64) -> Observed {
    let job = Job::new(Time(submit), procs, Span(1000)).with_user(1);
    Observed { job, eligible: Time(submit), start: start.map(Time), end: end.map(Time), rank, on: None, held: false }
}

/// Questions to the last so many jobs that waited for more than a minute, all times being known.
fn last(most: usize) -> RehearsalQuestions {
    RehearsalQuestions { most, least: most, patience: Span(60), known: Time::MIN..=Time::MAX }
}

#[test]
fn a_state_is_adopted_as_it_was() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let jobs = [
        observed(3, 0, Some(10), None, 0),
        observed(4, 20, None, None, 5),
        observed(2, 30, None, None, 1),
        observed(1, 5, Some(6), Some(50), 0),
        observed(9, 40, None, None, 0),
    ];
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &jobs, &[], Time(100)).expect("sound");
    // The fourth is over, the fifth wider than the machine; the third comes before the second.
    assert_eq!((adoption.jobs.clone(), adoption.left_out), (vec![0, 2, 1], 1));
    let view = adoption.session.view();
    assert_eq!((view.run_time_so_far(JobId(0)), view.phase(JobId(0))), (Span(90), Phase::Running));
    assert_eq!(adoption.id(1), Some(JobId(2)));
    let waiting: Vec<JobId> = view.waiting_jobs().collect();
    assert_eq!(waiting, [JobId(1), JobId(2)]);
}

#[test]
fn jobs_that_hold_more_than_there_is_are_left_out() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let jobs = [observed(3, 0, Some(10), None, 0), observed(3, 1, Some(11), None, 0)];
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &jobs, &[], Time(100)).expect("sound");
    assert_eq!((adoption.jobs, adoption.left_out), (vec![0], 1));
}

#[test]
fn what_is_rehearsed_on_the_policy_itself_holds() {
    let params = Params { length: WorkloadLength::Jobs(1500), load: Some(0.95), seed: 3, ..Params::new(64, 1) };
    let workload = generate_workload(&params).expect("sound");
    let spec: PolicySpec = "easy".parse().expect("valid");
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut schedule)
        .expect("sound");
    let observations: Vec<Observed> = workload
        .jobs()
        .iter()
        .zip(&schedule.spans)
        .map(|(job, span)| {
            let (start, end) = span.expect("it ran");
            Observed {
                job: job.clone(),
                eligible: job.submit,
                start: Some(start),
                end: Some(end),
                rank: 0,
                on: None,
                held: false,
            }
        })
        .collect();
    let now = schedule.spans.iter().flatten().map(|span| span.1).max().expect("some");
    let mut forecaster =
        Forecaster::new(&spec, ForecasterSettings { samples: 60, ..ForecasterSettings::default() }).expect("sound");
    let rehearsal =
        forecaster.rehearse_answers(workload.machine(), &observations, now, &last(400), &|| {}).expect("sound");
    assert!(rehearsal.answers >= 200, "{rehearsal:?}");
    let share = |inside: u64| inside as f64 / rehearsal.answers as f64;
    // Neighbours depend on each other, so that a few hundred answers are worth far fewer.
    assert!((0.8..=0.98).contains(&share(rehearsal.inside[1])), "{rehearsal:?}");
    assert!((0.35..=0.65).contains(&share(rehearsal.inside[0])), "{rehearsal:?}");
    assert!(forecaster.calibration().raw_coverage(0.9) > Some(0.7));
}

/// The last twenty jobs all wait to this day: half of the questions go to the ten before them that
/// have started.
#[test]
fn a_long_queue_leaves_outcomes_to_learn_from() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    // Jobs of the whole machine, one behind the other, each of which waited 100 s longer.
    let mut past: Vec<Observed> =
        (0..40).map(|i| observed(4, i * 400, Some(i * 500), Some(i * 500 + 500), 0)).collect();
    past.extend((0..50).map(|i| observed(4, 16_000 + i * 2, None, None, 0)));
    let settings = ForecasterSettings { samples: 20, rehearsed: 20, ..ForecasterSettings::default() };
    let mut forecaster = Forecaster::new(&spec, settings).expect("sound");
    let step_count = std::cell::Cell::new(0);
    let step = || step_count.set(step_count.get() + 1);
    let rehearsal = forecaster.rehearse_answers(Machine::new(4), &past, Time(19_900), &last(20), &step).expect("sound");
    assert_eq!((rehearsal.answers, step_count.get()), (10, 20));
}

/// The order of the present queue says nothing about the queues of the past. Jobs that wait to this
/// day have the ranks that their priorities give; others that came before them have started since
/// and have none. What is learned is the same with any ranks.
#[test]
fn the_present_order_does_not_count_in_the_past() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let learn_stream = |rank: i64, step: i64| {
        // Jobs of the whole machine that take 500 s, one behind the other; the 41st has just
        // started. When the last eight came, seven others waited.
        let mut past: Vec<Observed> =
            (0..41).map(|i| observed(4, i * 400, Some(i * 500), (i < 40).then_some(i * 500 + 500), 0)).collect();
        past.extend((0..8).map(|i| observed(4, 16_500 + i * 50, None, None, rank + step * i)));
        let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default()).expect("sound");
        forecaster.rehearse_answers(Machine::new(4), &past, Time(20_400), &last(1_000), &|| {}).expect("sound");
        forecaster.save().expect("saves")
    };
    let alike = learn_stream(0, 0);
    assert!(
        learn_stream(-4_294_901_760, 1) == alike && learn_stream(0, -1) == alike && learn_stream(i64::MAX, 0) == alike
    );
}

/// A queue without a record of what ran when its jobs came: at these times the machine looks empty,
/// and answers say "at once". These times are not rehearsed, and the present answer is within the
/// limit of the job that runs. Jobs are asked about from the time on at which all is known.
#[test]
fn times_that_are_not_known_have_no_questions() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let mut past = vec![observed(4, 0, Some(9_900), None, 0)];
    past.extend((0..50).map(|i| observed(4, 100 * i, None, None, 0)));
    let now = Time(10_000);
    let rehearse = |time_range: RangeInclusive<Time>| {
        let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default()).expect("sound");
        let questions = RehearsalQuestions { known: time_range, ..last(1_000) };
        let count = std::cell::Cell::new(0);
        let step = || count.set(count.get() + 1);
        forecaster.rehearse_answers(Machine::new(4), &past, now, &questions, &step).expect("sound");
        let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &past, &[], now).expect("sound");
        let answer = forecaster.preview_answers(&adoption.session, &[JobId(1)]).expect("sound").remove(0);
        (count.get(), answer.quantile(0.5))
    };
    let empty_range = RangeInclusive::new(Time(1), Time(0));
    let (questions, median) = rehearse(empty_range);
    assert!(questions == 0 && median <= 900.0, "{questions}, {median}");
    // With them, the first of the queue would be foretold behind all limits.
    assert!(rehearse(Time::MIN..=Time::MAX).1 > 900.0);
    // Jobs that came at 4,000 and later: ten of them.
    assert_eq!(rehearse(Time(4_000)..=now).0, 10);
}

#[test]
fn what_was_learned_is_saved() {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let past: Vec<Observed> = (0..300)
        .map(|i| observed(1 + i as u32 % 4, i * 40, Some(i * 40 + 200), Some(i * 40 + 300 + i % 90), 0))
        .collect();
    let jobs = [observed(4, 20_000, Some(20_000), None, 0), observed(4, 20_010, None, None, 0)];
    let fresh = || Forecaster::new(&spec, ForecasterSettings::default()).expect("sound");
    let (mut first, mut second) = (fresh(), fresh());
    first.rehearse_answers(Machine::new(400), &past, Time(20_000), &last(100), &|| {}).expect("sound");
    let bytes = first.save().expect("saves");
    second.load(&bytes).expect("loads");
    assert_eq!(second.save().expect("saves"), bytes);
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &jobs, &[], Time(20_050)).expect("sound");
    let [a, b] = [&mut first, &mut second].map(|f| f.preview_answers(&adoption.session, &[JobId(1)]).expect("sound"));
    assert_eq!(a, b);
    assert!(a[0].correction.answers > 50, "{}", a[0].correction.answers);
    assert!(second.load(&bytes[..bytes.len() / 2]).is_err());
}

/// Each day one job is submitted at one o'clock, waits for another and competes from ten on; one
/// comes at nine. In the days to come they arrive in that order.
#[test]
fn what_had_to_wait_for_others_is_replayed_from_when_it_competed() {
    let spec: PolicySpec = "conservative".parse().expect("valid");
    let hour = 3_600;
    let mut past: Vec<Observed> = Vec::new();
    for day in (0..12).map(|day| day * 24 * hour) {
        let mut late = observed(2, day + hour, Some(day + 10 * hour), Some(day + 11 * hour), 0);
        late.eligible = Time(day + 10 * hour);
        past.push(late);
        past.push(observed(2, day + 9 * hour, Some(day + 9 * hour), Some(day + 11 * hour), 0));
    }
    past.push(observed(4, 12 * 24 * hour - 100, Some(12 * 24 * hour - 100), None, 0));
    past.push(observed(4, 12 * 24 * hour - 50, None, None, 0));
    past.sort_by_key(|entry| entry.job.submit);
    let now = Time(12 * 24 * hour);
    let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default()).expect("sound");
    forecaster.rehearse_answers(Machine::new(4), &past, now, &last(10), &|| {}).expect("in order");
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &past[24..], &[], now).expect("sound");
    // Jobs have run for two hours at most, in which the one that runs is 100 s old, and none that
    // comes overtakes the one behind it.
    let times = forecaster.start_times(&adoption.session, &[JobId(1)], 0, true).expect("in order");
    let last = times.iter().map(|starts| starts[0].expect("a start")).max();
    assert!(times.len() == 100 && last <= Some(7_101), "{last:?}");
}

/// A budget leaves out the last futures, as many on any number of threads, and no more than leaves
/// twenty.
#[test]
fn a_budget_leaves_out_the_last_futures() {
    let spec: PolicySpec = "conservative".parse().expect("valid");
    let jobs: Vec<Observed> = std::iter::once(observed(4, 0, Some(0), None, 0))
        .chain((1..20).map(|i| observed(1 + i as u32 % 4, i, None, None, 0)))
        .collect();
    let adoption = adopt_jobs(spec.build_scheduler(), Machine::new(4), &jobs, &[], Time(100)).expect("sound");
    let futures = |look_work: u64, threads: usize| {
        let settings = ForecasterSettings { look_work, ..ForecasterSettings::default() };
        let mut forecaster = Forecaster::new(&spec, settings).expect("sound").on_threads(threads);
        forecaster.start_times(&adoption.session, &[JobId(19)], 0, true).expect("sound")
    };
    let full_list = futures(u64::MAX, 1);
    assert_eq!(full_list.len(), 100);
    assert_eq!(futures(1, 1), full_list[..20]);
    // Until the last of 19 jobs starts, 8 of them or more have ended, and each end counts as 16 and
    // the jobs that wait, 16 to 35: 160 to 735 for each future.
    let some = futures(15_000, 1);
    assert!((20..100).contains(&some.len()), "{}", some.len());
    assert_eq!(some, full_list[..some.len()]);
    assert_eq!(futures(15_000, 3), some);
    assert_eq!(futures(u64::MAX, 3), full_list);
}
