//! Time that answers take on one core: `when_speed [POLICY] [CASE]`. A machine of 1,000 processors
//! is full, and a queue of so many jobs waits. With the number of a case, from 0 on, only that one
//! is asked, three times, and the sum of its starts is printed: for `valgrind --tool=callgrind
//! --toggle-collect='*Forecaster::sample_futures*'`, whose counts do not depend on a busy machine.

use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Machine, Span, Time};
use drystone_core::policy::PolicySpec;
use drystone_when::{Forecaster, ForecasterSettings};
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let [only, case] = [0, 1].map(|at| args.get(at).cloned());
    let case: Option<usize> = case.and_then(|text| text.parse().ok());
    let cases = [
        ("easy", 100, true),
        ("easy", 100, false),
        ("easy", 1000, false),
        ("conservative", 100, true),
        ("easy++", 100, true),
    ];
    let chosen_cases = cases.into_iter().filter(|entry| only.as_ref().is_none_or(|only| only == entry.0)).enumerate();
    for (_, (policy, queue, last)) in chosen_cases.filter(|(at, _)| case.is_none_or(|case| case == *at)) {
        match measure_answers(policy, queue, last, case.is_some()) {
            Ok(took) => {
                println!("{policy}, queue of {queue}, {}: {took:.2} ms", if last { "the last job" } else { "all jobs" })
            }
            Err(error) => eprintln!("{error}"),
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn measure_answers(policy: &str, queue: u32, last: bool, few: bool) -> Result<f64, Box<dyn std::error::Error>> {
    let spec: PolicySpec = policy.parse()?;
    let mut session = Session::new(Machine::new(1000), spec.build_scheduler());
    let mut forecaster = Forecaster::new(&spec, ForecasterSettings::default())?;
    // A past of ten days: 300 jobs a day of 30 users.
    let (mut now, mut next, mut seed) = (0i64, 0u32, 1u64);
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut job = |now: i64| {
        let limit = [1800, 3600, 14_400, 43_200, 86_400][random(5) as usize];
        let procs = 1 << random(7);
        (Job::new(Time(now), procs, Span(limit)).with_user(random(30) as i32), 1 + limit * random(100) as i64 / 100)
    };
    let mut ends: std::collections::BTreeMap<(i64, u32), (Job, i64)> = std::collections::BTreeMap::new();
    while now < 10 * 86_400 || session.waiting_count() < queue {
        now += if session.waiting_count() < queue { 60 } else { 288 };
        while let Some((&(end, id), _)) = ends.first_key_value().filter(|((end, _), _)| *end <= now) {
            expire_predictions(&mut session, Time(end), &mut ends)?;
            let Some((job, run)) = ends.remove(&(end, id)) else { break };
            session.end_job(Time(end), JobId(id));
            forecaster.note_job_end(JobId(id), &job, Span(run));
            decide_starts(&mut session, Time(end), &mut ends)?;
        }
        expire_predictions(&mut session, Time(now), &mut ends)?;
        if session.waiting_count() < queue || now < 10 * 86_400 {
            let (new_job, run) = job(now);
            let id = session.note_arrival(Time(now), &new_job, None)?;
            forecaster.note_job_arrival(id, &new_job);
            ends.insert((i64::MAX, id.0), (new_job, run));
            next += 1;
        }
        decide_starts(&mut session, Time(now), &mut ends)?;
        if session.waiting_count() > queue {
            // Withdrawn by their users, so that the queue stays as long as it is to be.
            let waiting_jobs: Vec<JobId> = session.view().waiting_jobs().collect();
            for &id in &waiting_jobs[queue as usize..] {
                session.withdraw_job(Time(now), id);
                forecaster.note_job_withdrawal(id, Time(now));
                ends.remove(&(i64::MAX, id.0));
            }
        }
    }
    let _ = next;
    let waiting_jobs: Vec<JobId> = session.view().waiting_jobs().collect();
    let question_jobs = if last { vec![waiting_jobs[waiting_jobs.len() - 1]] } else { waiting_jobs };
    let (mut best, mut sum) = (f64::MAX, 0i64);
    for round in 0..if few {
        3
    } else if last {
        40
    } else {
        5
    } {
        let since = Instant::now();
        let samples = forecaster.sample_futures(&session, &question_jobs, round, true)?;
        best = best.min(since.elapsed().as_secs_f64() * 1e3);
        sum += samples.iter().flat_map(|sample| sample.values()).sum::<i64>();
    }
    if few {
        println!("sum of the starts: {sum} s");
    }
    Ok(best)
}

type Ends = std::collections::BTreeMap<(i64, u32), (Job, i64)>;

/// Predictions expire and the policy wakes as they are due.
fn expire_predictions(session: &mut Session, now: Time, ends: &mut Ends) -> Result<(), Box<dyn std::error::Error>> {
    while let Some(due) = session.next_due_time().filter(|&due| due <= now) {
        if session.expire_due(due) {
            decide_starts(session, due, ends)?;
        }
    }
    Ok(())
}

/// Jobs that start end when they have run.
fn decide_starts(session: &mut Session, now: Time, ends: &mut Ends) -> Result<(), Box<dyn std::error::Error>> {
    let started_jobs: Vec<JobId> = session
        .decide(now)?
        .list()
        .iter()
        .filter_map(|action| match action {
            drystone_core::policy::Action::Start { job, .. } => Some(*job),
            _ => None,
        })
        .collect();
    for id in started_jobs {
        if let Some((job, run)) = ends.remove(&(i64::MAX, id.0)) {
            ends.insert((now.0 + run, id.0), (job, run));
        }
    }
    Ok(())
}
