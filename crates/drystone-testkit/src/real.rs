//! Does a policy hold on a real machine what it must: one that loses processors, has jobs already,
//! holds some back?

use crate::case::PolicyCase;
use crate::check::{catch_panics, resume_after};
use crate::sentence::{describe_broken_promise, describe_fates, describe_other_run, describe_violations};
use crate::subject::{Guarantee, Subject};
use crate::watch::{FullObserver, WatchedFate};
use drystone::engine::{Happenings, Scheduler, Simulation, SimulationError};
use drystone::model::{Adopted, DependencyEffect, JobId, Outages, Time, Workload};
use drystone::policy::PassRule;
use drystone_reference::capacity::{self, NaiveAsked};
use drystone_reference::checker::{self, NaiveSegment};
use drystone_reference::outages::{NaiveHit, OutageIn};
use std::collections::BTreeMap;

/// Checks that a policy keeps the invariants of all policies in a case with a
/// [`CaseWorld`](crate::CaseWorld). One that does not
/// [hear](drystone::policy::Policy::can_hear_news) of news has to be refused.
///
/// # Errors
/// The failure in words; a panic is also a failure.
pub fn check_real(subject: &Subject, case: &PolicyCase) -> Result<(), String> {
    catch_panics(|| check_all(subject, case))
}

fn check_all(subject: &Subject, case: &PolicyCase) -> Result<(), String> {
    let (Some(workload), Some(outages)) = (case.real_workload(), case.world.build_outages(case.procs)) else {
        // Shrinking may make impossible ones.
        return Ok(());
    };
    let scheduler = (subject.make)();
    if scheduler.check_fit(&workload).is_err() || scheduler.check_outages(&workload, &outages).is_err() {
        return Ok(());
    }
    if (subject.make)().check_hears().is_err() {
        let result = simulate_world((subject.make)(), case, &workload, &outages);
        return match result {
            Err(SimulationError::News(_)) => Ok(()),
            Err(error) => Err(format!("does not hear of news, and is refused for another reason: {error}")),
            Ok(_) => Err("does not hear of news, and is not refused".to_string()),
        };
    }
    let whole = simulate_world((subject.make)(), case, &workload, &outages).map_err(|e| e.to_string())?;
    check_fates(case, &workload, &whole)?;
    check_soundness(subject, case, &workload, &outages, &whole)?;
    let broken_promises = whole.audit.kept_promises().broken;
    // A job that cannot be planned before processors are announced to go for good steps aside, and
    // comes back when running jobs end early.
    let vague = outages.list().iter().any(|o| o.known_time() < o.begin && o.expected.is_none());
    if !vague
        && subject.guarantees.contains(&Guarantee::KeepsPromises)
        && is_punctual(subject, case)
        && broken_promises > 0
    {
        return Err(format!(
            "breaks promises that no outage excuses: {}",
            describe_broken_promise(&whole.audit.kept_promises())
        ));
    }
    check_resumption(subject, case, &workload, &outages, &whole)?;
    if subject.guarantees.contains(&Guarantee::Forgets) {
        from_windows(subject, case, &workload, &outages, &whole)?;
    }
    Ok(())
}

/// A simulation of a case in its world with everything that can be seen of it.
///
/// # Errors
/// A policy that breaks its contract.
fn simulate_world(
    scheduler: Scheduler,
    case: &PolicyCase,
    workload: &Workload,
    outages: &Outages,
) -> Result<FullObserver, SimulationError> {
    let mut watch = FullObserver::new(workload.jobs().iter().map(|job| job.procs).collect());
    let source = Happenings::new(workload, outages, case.world.feedback);
    Simulation::new(workload.machine(), scheduler, source).run(&mut watch)?;
    Ok(watch)
}

/// Returns whether no job outlives its first prediction.
fn is_punctual(subject: &Subject, case: &PolicyCase) -> bool {
    let forecast = (subject.make)().forecast;
    let has_estimates = subject.plans_with_estimates() && !forecast.predictor.is_clairvoyant();
    has_estimates && case.rows.iter().all(|r| r.run <= i64::from(forecast.factor) * r.estimate)
}

/// No job is lost but those that an outage ended for good: each has one fate, or none if it was
/// never eligible or never came.
fn check_fates(case: &PolicyCase, workload: &Workload, observer: &FullObserver) -> Result<(), String> {
    let circumstances = &case.world.known;
    // Jobs that may wait for ever: held at the beginning, and whatever waits for those.
    let mut for_ever: Vec<JobId> = circumstances.here.iter().filter(|h| *h.1 == Adopted::Held).map(|h| *h.0).collect();
    let mut at = 0;
    while at < for_ever.len() {
        let blocker = for_ever[at];
        let behind = circumstances.after.iter().filter(|(_, after)| after.jobs.contains(&blocker)).map(|(&job, _)| job);
        let behind: Vec<JobId> = behind.filter(|job| !for_ever.contains(job)).collect();
        for_ever.extend(behind);
        at += 1;
    }
    for id in 0..workload.len() as u32 {
        let fates = observer.fates.get(&id).map_or(&[][..], Vec::as_slice);
        match fates {
            [_] => {}
            [] if for_ever.contains(&JobId(id)) => {}
            _ => return Err(describe_fates(id as usize, fates)),
        }
    }
    Ok(())
}

/// Capacity, windows, run times received, holds, dependencies, throttles.
fn check_soundness(
    subject: &Subject,
    case: &PolicyCase,
    workload: &Workload,
    outages: &Outages,
    observer: &FullObserver,
) -> Result<(), String> {
    let procs: Vec<i64> = workload.jobs().iter().map(|job| i64::from(job.procs)).collect();
    let attempts: Vec<NaiveSegment> = observer.segments.iter().chain(&observer.in_vain).cloned().collect();
    let scheduler = (subject.make)();
    let factor = i64::from(scheduler.forecast.factor);
    let predicted_runs: Vec<i64> = case.rows.iter().map(|r| r.estimate * factor).collect();
    // What lets jobs take turns, or kills them, holds to other rules.
    let plans = is_punctual(subject, case)
        && !scheduler.policy.needed_abilities().suspend
        && !scheduler.policy.needed_abilities().kill;
    let lost_capacity = list_losses(outages);
    let naive_input = NaiveAsked {
        machine: i64::from(case.procs),
        procs: &procs,
        attempts: &attempts,
        outages: &lost_capacity,
        predicted: plans.then_some(&predicted_runs[..]),
        begin: case.world.known.begin.map(|begin| begin.0),
        strict: scheduler.pass == PassRule::Instant,
    };
    capacity::check_schedule(&naive_input).map_err(|wrong| wrong.join("; "))?;
    check_received(subject, case, observer)?;
    held_back(case, observer)?;
    within_limits(case, observer)?;
    if subject.guarantees.contains(&Guarantee::GoesOnInPlace) {
        let in_place = |segments: &[NaiveSegment]| {
            checker::check_local_resumption(segments).map_err(|wrong| describe_violations(&wrong, &|job| job + 1))
        };
        // A job that was requeued starts again, anywhere.
        let kept_segments: Vec<NaiveSegment> =
            observer.segments.iter().filter(|s| !observer.in_vain.iter().any(|v| v.job == s.job)).cloned().collect();
        in_place(&kept_segments)?;
    }
    Ok(())
}

fn list_losses(outages: &Outages) -> Vec<OutageIn> {
    let convert_outage = |(at, o): (usize, &drystone::model::Outage)| OutageIn {
        first: outages.processors_of(at).ranges().first().map_or(0, |r| i64::from(r.start)),
        procs: i64::from(o.procs()),
        known: o.known_time().0,
        begin: o.begin.0,
        end: o.end.map(|end| end.0),
        expected: o.expected.map(|end| end.0),
        hit: match o.hit {
            drystone::model::OutageHit::Drain => NaiveHit::Drain,
            drystone::model::OutageHit::Requeue => NaiveHit::Requeue,
            drystone::model::OutageHit::Lose => NaiveHit::Lose,
        },
    };
    // The checker takes neighbours; counted ones may wrap, and are looked at by number only.
    let neighbours = |at: &usize| outages.processors_of(*at).ranges().len() == 1;
    (0..outages.len())
        .map(|at| {
            let outage = convert_outage((at, &outages.list()[at]));
            if neighbours(&at) { outage } else { OutageIn { first: i64::MIN / 2, ..outage } }
        })
        .collect()
}

/// A job that ends has received what it was due in its last attempt; one that was withdrawn or lost
/// no more than that.
fn check_received(subject: &Subject, case: &PolicyCase, observer: &FullObserver) -> Result<(), String> {
    let circumstances = &case.world.known;
    for (&id, fates) in &observer.fates {
        let row = &case.rows[id as usize];
        let segments = || observer.segments.iter().filter(|s| s.job == id as usize);
        let ran: i64 = segments().map(|s| s.end - s.start).sum();
        let may_kill = subject.guarantees.contains(&Guarantee::MayKill) && ran >= row.estimate.min(row.run);
        let withdrawn = circumstances.withdrawn.iter().any(|w| w.job.0 == id && !w.only_waiting);
        let right = match &fates[..] {
            [WatchedFate::Ended { ran: told, overhead, .. }] => {
                told + overhead == ran && (ran == row.run || withdrawn && ran <= row.run || may_kill)
            }
            [WatchedFate::Lost { .. }] => ran <= row.run,
            [WatchedFate::Cancelled] => ran == 0,
            _ => false,
        };
        if !right {
            return Err(format!("a job of {} s ran {ran} s; {}", row.run, describe_fates(id as usize, fates)));
        }
    }
    Ok(())
}

/// No job starts before it may.
fn held_back(case: &PolicyCase, observer: &FullObserver) -> Result<(), String> {
    let circumstances = &case.world.known;
    let first_start = |id: u32| observer.started.get(&id).copied();
    let departure_time = |job: JobId| observer.gone.get(&job.0).copied();
    let was_running = |id: u32| {
        matches!(circumstances.here.get(&JobId(id)), Some(Adopted::Running { .. } | Adopted::Suspended { .. }))
    };
    for id in 0..case.rows.len() as u32 {
        let Some(start) = first_start(id).filter(|_| !was_running(id)) else { continue };
        let mut earliest = case.rows[id as usize].submit.max(circumstances.begin.map_or(i64::MIN, |b| b.0));
        if let Some(after) = circumstances.after.get(&JobId(id))
            && (after.then == DependencyEffect::Starts || case.world.feedback)
        {
            let over = after.jobs.iter().map(|&job| departure_time(job)).collect::<Option<Vec<i64>>>();
            let Some(over) = over else { return Err(format!("job {} starts before others have gone", id + 1)) };
            let ready = over.into_iter().max().unwrap_or(i64::MIN).saturating_add(after.think.0);
            earliest = if after.then == DependencyEffect::Arrives { ready } else { earliest.max(ready) };
        }
        if let Some(eligible) = circumstances.eligible.get(&JobId(id)) {
            earliest = earliest.max(eligible.0);
        }
        if start < earliest {
            return Err(format!("job {} starts at {start}, and may not before {earliest}", id + 1));
        }
    }
    for throttle in &circumstances.throttles {
        let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
        for segment in observer.segments.iter().chain(&observer.in_vain).filter(|s| s.start < s.end) {
            if throttle.jobs.contains(&JobId(segment.job as u32)) && !was_running(segment.job as u32) {
                *changes.entry(segment.start).or_default() += 1;
                *changes.entry(segment.end).or_default() -= 1;
            }
        }
        let mut running_jobs = 0;
        for (at, change) in changes {
            running_jobs += change;
            if running_jobs > i64::from(throttle.most) {
                return Err(format!("at {at} {running_jobs} jobs run of which {} may", throttle.most));
            }
        }
    }
    Ok(())
}

/// No job that a limit binds runs while its limit is exceeded, but where jobs that ran at the
/// beginning, or that no limit binds, exceed it.
fn within_limits(case: &PolicyCase, observer: &FullObserver) -> Result<(), String> {
    let circumstances = &case.world.known;
    let was_running =
        |id: JobId| matches!(circumstances.here.get(&id), Some(Adopted::Running { .. } | Adopted::Suspended { .. }));
    for (at, limit) in circumstances.limits.limits().iter().enumerate() {
        let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
        for segment in observer.segments.iter().chain(&observer.in_vain).filter(|s| s.start < s.end) {
            let id = JobId(segment.job as u32);
            let claims = circumstances.limits.job_claims(id).iter();
            let part: u64 = claims.filter(|c| c.limit as usize == at && c.binds).map(|c| c.amount).sum();
            if !was_running(id) {
                *changes.entry(segment.start).or_default() += part as i64;
                *changes.entry(segment.end).or_default() -= part as i64;
            }
        }
        let mut usage = 0;
        for (now, change) in changes {
            usage += change;
            if usage > limit.most as i64 {
                return Err(format!("at {now} jobs have {usage} of {}, which is {}", limit.reason, limit.most));
            }
        }
    }
    Ok(())
}

/// Stopped after any step, saved, and loaded by another: everything that follows is the same.
fn check_resumption(
    subject: &Subject,
    case: &PolicyCase,
    workload: &Workload,
    outages: &Outages,
    whole: &FullObserver,
) -> Result<(), String> {
    let new = || {
        let source = Happenings::new(workload, outages, case.world.feedback);
        Simulation::new(workload.machine(), (subject.make)(), source)
    };
    resume_after(case.stop, new, workload, whole)
}

/// This many instants of a case are cut at.
const CUTS: usize = 12;

/// Cut at an instant, with the jobs that were here then, a simulation goes on as it did: for a
/// policy that remembers nothing.
fn from_windows(
    subject: &Subject,
    case: &PolicyCase,
    workload: &Workload,
    outages: &Outages,
    whole: &FullObserver,
) -> Result<(), String> {
    let circumstances = &case.world.known;
    // What depends on jobs that have gone is not known in a window, nor how jobs share what is
    // drained; numbers follow arrivals with feedback.
    let shares = !circumstances.throttles.is_empty() || !circumstances.limits.is_empty();
    if case.world.feedback || !circumstances.after.is_empty() || circumstances.begin.is_some() || shares {
        return Ok(());
    }
    let mut instants: Vec<i64> = whole.trace.iter().map(|t| t.0).collect();
    instants.dedup();
    let stride = instants.len().div_ceil(CUTS).max(1);
    for &at in instants.iter().skip(case.stop % stride).step_by(stride) {
        let drains = |o: &drystone::model::Outage| o.begin < Time(at) && Time(at) <= o.end_time();
        if outages.list().iter().any(|o| o.hit == drystone::model::OutageHit::Drain && drains(o)) {
            continue;
        }
        cut_at(subject, workload, outages, whole, at)?;
    }
    Ok(())
}

fn cut_at(
    subject: &Subject,
    workload: &Workload,
    outages: &Outages,
    whole: &FullObserver,
    at: i64,
) -> Result<(), String> {
    let state_at_cut = |job: JobId| {
        let id = job.index();
        let mine = || whole.segments.iter().chain(&whole.in_vain).filter(move |s| s.job == id);
        if let Some(running) = mine().find(|s| s.start < at && at <= s.end) {
            return Some(Adopted::Running { since: Time(running.start), on: None });
        }
        let has_gone = whole.gone.get(&job.0).is_some_and(|&departure| departure < at);
        (!has_gone).then_some(Adopted::Waiting)
    };
    let mut stay: Vec<usize> = Vec::new();
    let window = drystone::log::transform::cut_window(workload, Time(at), |job| {
        let cut_state = state_at_cut(job);
        if cut_state.is_some() {
            stay.push(job.index());
        }
        cut_state
    });
    let window = window.map_err(|e| format!("cut at {at}: {e}"))?;
    stay.extend(workload.jobs().partition_point(|job| job.submit < Time(at))..workload.len());
    let mut observer = FullObserver::new(window.jobs().iter().map(|job| job.procs).collect());
    let source = Happenings::new(&window, outages, false);
    Simulation::new(window.machine(), (subject.make)(), source)
        .run(&mut observer)
        .map_err(|e| format!("cut at {at}: {e}"))?;
    let schedule = |watch: &FullObserver, place: &dyn Fn(usize) -> usize| {
        let later_segments = watch.segments.iter().chain(&watch.in_vain).filter(|s| s.end >= at);
        let mut list: Vec<(usize, i64, i64)> = later_segments.map(|s| (place(s.job), s.start, s.end)).collect();
        list.sort_unstable();
        list
    };
    let (before, after) = (schedule(whole, &|job| job), schedule(&observer, &|job| stay[job]));
    // A job without run time that started and ended at the very instant may be seen in both.
    if let Some(different) = describe_other_run(&before, &after) {
        return Err(format!("cut at {at} it goes on otherwise: {different}"));
    }
    Ok(())
}
