//! Does a policy hold what every policy must, and what it guarantees itself, on one case?

use crate::case::PolicyCase;
use crate::resources;
use crate::sentence::{
    describe_broken_promise, describe_call, describe_difference, describe_fates, describe_violations,
};
use crate::subject::{Guarantee, Subject};
use crate::watch::{FullObserver, WatchedFate};
use drystone::engine::{EventSource, Scheduler, Simulation, Unfit, WorkloadReplay};
use drystone::model::{NodeFill, Time, Workload};
use drystone::policy::{
    Actions, PassRule, Policy, PolicyEvent, PolicySpec, Requirement, Snapshot, SnapshotError, View,
};
use drystone_reference::{JobIn, checker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Checks that a policy keeps the invariants of all policies and its own guarantees on a case.
///
/// # Errors
/// The failure in words; a panic is also a failure.
pub fn check_policy(subject: &Subject, case: &PolicyCase) -> Result<(), String> {
    catch_panics(|| check_all(subject, case))
}

/// Runs a check; a panic is a failure in words.
pub(crate) fn catch_panics(check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panics: {}", text.unwrap_or_default()))
    })
}

fn check_all(subject: &Subject, case: &PolicyCase) -> Result<(), String> {
    let workload = case.to_workload();
    if (subject.make)().check_fit(&workload).is_err() {
        return Ok(());
    }
    let whole = simulate_case((subject.make)(), case, &workload)?;
    check_invariants(subject, case, &whole)?;
    for guarantee in &subject.guarantees {
        check_guarantee(guarantee, subject, case, &workload, &whole).map_err(|e| describe_breach(guarantee, &e))?;
    }
    check_resumption(subject, case, &workload, &whole)?;
    told_at_once(subject, case, &workload, &whole)?;
    check_foresight(subject, case, &whole)?;
    counts_resources(subject, case, &whole)?;
    places_on_nodes(subject, case, &whole)
}

fn describe_breach(guarantee: &Guarantee, problem: &str) -> String {
    format!("it guarantees that {guarantee}: {problem}")
}

/// On one node as large as the machine the starts are the same; on several the schedule is sound,
/// and saves and restores.
fn places_on_nodes(subject: &Subject, case: &PolicyCase, whole: &FullObserver) -> Result<(), String> {
    let policy = (subject.make)().policy;
    // A model of nodes of its own takes those of the workload in its own way.
    if policy.needed_abilities().name || policy.name() == "slurm" {
        return Ok(());
    }
    let few = case.take_first(subject.limits.jobs_on_nodes);
    let of_few = match few.rows.len() < case.rows.len() {
        true => Some(simulate_case((subject.make)(), &few, &few.to_workload())?),
        false => None,
    };
    let (case, whole) = (&few, of_few.as_ref().unwrap_or(whole));
    let single_node = resources::one_node(case, NodeFill::Pack);
    if !(subject.make)().places_on_nodes() {
        return match (subject.make)().check_fit(&single_node) {
            Err(Unfit::Unplaced) => Ok(()),
            _ => Err("places no jobs on nodes, and is not refused".to_string()),
        };
    }
    let times = |record: &FullObserver| record.segments.iter().map(|s| (s.job, s.start, s.end)).collect::<Vec<_>>();
    if times(&simulate_case((subject.make)(), case, &single_node)?) != times(whole) {
        return Err("on one node as large as the machine the schedule is another".to_string());
    }
    for fill in [NodeFill::Pack, NodeFill::Spread] {
        let prefix_error = |error: String| format!("on nodes ({}): {error}", fill.name());
        let Some(workload) = resources::place_on_nodes(case, fill) else { continue };
        let observer = simulate_case((subject.make)(), case, &workload).map_err(prefix_error)?;
        check_invariants(subject, case, &observer).map_err(prefix_error)?;
        check_resumption(subject, case, &workload, &observer).map_err(prefix_error)?;
        told_at_once(subject, case, &workload, &observer).map_err(prefix_error)?;
    }
    Ok(())
}

/// With resources that bind no job the schedule is the same, call by call; with scarce ones it is
/// sound, saves and restores, and keeps what the policy guarantees.
fn counts_resources(subject: &Subject, case: &PolicyCase, whole: &FullObserver) -> Result<(), String> {
    let scarce = resources::with_scarce_resources(case);
    if !(subject.make)().policy.counts_resources() {
        return match (subject.make)().check_fit(&scarce.workload) {
            Err(Unfit::Uncounted) => Ok(()),
            _ => Err("counts processors only, and is not refused".to_string()),
        };
    }
    let harmless = simulate_case((subject.make)(), case, &resources::with_harmless_resources(case))?;
    // A policy may want to hear of more corrections, which settle nothing that was not before.
    let kept_trace = |w: &FullObserver| w.trace.iter().filter(|t| t.1 != "settled").copied().collect::<Vec<_>>();
    let (harmless, whole) = (kept_trace(&harmless), kept_trace(whole));
    // The dominant share of a job is of all resources, of those that bind none as well.
    let weighs_shares = ["areaW(share)", "areaW(gpus)", "areaW(mem)"].iter().any(|word| subject.name.contains(word));
    if !weighs_shares && let Some(different) = describe_difference(&whole, &harmless) {
        return Err(format!("with resources that bind no job it goes on otherwise: {different}"));
    }
    let prefix_error = |error: String| format!("with scarce resources: {error}");
    let observer = simulate_case((subject.make)(), case, &scarce.workload).map_err(prefix_error)?;
    check_invariants(subject, case, &observer).map_err(prefix_error)?;
    checker::check_resources(&scarce.totals, &scarce.asks, &observer.segments)
        .map_err(|wrong| prefix_error(describe_violations(&wrong, &|job| job + 1)))?;
    for guarantee in &subject.guarantees {
        // Whether a job fits is asked there of processors alone.
        if *guarantee != Guarantee::WorkConserving {
            check_guarantee(guarantee, subject, case, &scarce.workload, &observer)
                .map_err(|e| prefix_error(describe_breach(guarantee, &e)))?;
        }
    }
    check_resumption(subject, case, &scarce.workload, &observer).map_err(prefix_error)?;
    told_at_once(subject, case, &scarce.workload, &observer).map_err(prefix_error)
}

/// A simulation of a case with everything that can be seen of it.
///
/// # Errors
/// A policy that breaks its contract, in words.
pub fn simulate_case(scheduler: Scheduler, case: &PolicyCase, workload: &Workload) -> Result<FullObserver, String> {
    let cancellations = case.cancellations();
    let mut watch = FullObserver::new(case.rows.iter().map(|r| r.procs).collect());
    let source = WorkloadReplay::with_cancellations(workload, &cancellations);
    Simulation::new(workload.machine(), scheduler, source).run(&mut watch).map_err(|e| e.to_string())?;
    Ok(watch)
}

/// The invariants of every schedule, asked of a checker that shares nothing with the engine.
fn check_invariants(subject: &Subject, case: &PolicyCase, observer: &FullObserver) -> Result<(), String> {
    let mut jobs = Vec::new();
    let mut place = vec![usize::MAX; case.rows.len()];
    let mut of_job = vec![Vec::new(); case.rows.len()];
    for segment in &observer.segments {
        of_job[segment.job].push(segment);
    }
    for (id, row) in case.rows.iter().enumerate() {
        let fates = observer.fates.get(&(id as u32)).map_or(&[][..], Vec::as_slice);
        let [fate] = fates else {
            return Err(describe_fates(id, fates));
        };
        let segments = || of_job[id].iter();
        let received_time: i64 = segments().map(|s| s.end - s.start).sum();
        let last = segments().map(|s| s.end).max();
        let withdrawn = || case.cancel.iter().filter(|c| c.0 == id).map(|c| row.submit + c.1);
        let run = match fate {
            WatchedFate::Cancelled if segments().next().is_none() => continue,
            WatchedFate::Cancelled => return Err(format!("job {} was withdrawn as if it had not started", id + 1)),
            WatchedFate::Lost { .. } => return Err(format!("job {} is lost on a machine that loses nothing", id + 1)),
            // Withdrawn while it ran or was suspended, which ends it in that very second: what it
            // had by then is what it was due.
            WatchedFate::Ended { at, .. } if withdrawn().any(|w| w == *at) => received_time,
            WatchedFate::Ended { .. }
                if subject.guarantees.contains(&Guarantee::MayKill) && received_time >= row.estimate =>
            {
                received_time.min(row.run)
            }
            WatchedFate::Ended { .. } => row.run,
        };
        if let WatchedFate::Ended { at, start, ran, suspensions, overhead } = fate {
            let first = segments().map(|s| s.start).min();
            let was_suspended = withdrawn().any(|w| w == *at) && segments().count() == *suspensions as usize;
            let last = if was_suspended { last.max(Some(*at)) } else { last };
            if (Some(*at), Some(*start), *ran + *overhead) != (last, first, received_time) {
                let run_text = first.zip(last).map_or("it ran never".to_string(), |(first, last)| {
                    format!("it ran from {first} to {last}, {received_time} s in all")
                });
                return Err(format!("job {}: {fate}, but {run_text}", id + 1));
            }
            if segments().count() != *suspensions as usize + usize::from(!was_suspended) {
                return Err(format!("job {}: {suspensions} suspensions in {} segments", id + 1, segments().count()));
            }
        }
        place[id] = jobs.len();
        let (submit, procs, estimate, user) = (row.submit, i64::from(row.procs), row.estimate, i64::from(row.user));
        jobs.push(JobIn { submit, procs, estimate, run, user });
    }
    let mut segments = observer.segments.clone();
    for segment in &mut segments {
        segment.job = place[segment.job];
    }
    let number = |job: usize| place.iter().position(|&at| at == job).unwrap_or(job) + 1;
    checker::check_schedule(i64::from(case.procs), &jobs, &segments)
        .map_err(|wrong| describe_violations(&wrong, &number))
}

/// Returns whether no job outlives the prediction made at its arrival, and whether none ends before
/// it; asked only of predictions that do not come from history.
fn judge_punctuality(subject: &Subject, case: &PolicyCase) -> (bool, bool) {
    let forecast = (subject.make)().forecast;
    let factor = i64::from(forecast.factor);
    let is_learned = !forecast.predictor.is_clairvoyant() && !subject.plans_with_estimates();
    if is_learned {
        return (false, false);
    }
    let predicted_run =
        |r: &crate::case::CaseRow| factor * if forecast.predictor.is_clairvoyant() { r.run } else { r.estimate };
    (case.rows.iter().all(|r| r.run <= predicted_run(r)), case.rows.iter().all(|r| r.run == predicted_run(r)))
}

fn check_guarantee(
    guarantee: &Guarantee,
    subject: &Subject,
    case: &PolicyCase,
    workload: &Workload,
    observer: &FullObserver,
) -> Result<(), String> {
    let fail = |wrong: bool, text: String| if wrong { Err(text) } else { Ok(()) };
    match guarantee {
        Guarantee::InOrder => {
            let start_order: Vec<u32> = observer.trace.iter().filter(|t| t.1 == "started").map(|t| t.2).collect();
            fail(!start_order.is_sorted(), {
                let numbers: Vec<String> = start_order.iter().map(|id| (id + 1).to_string()).collect();
                format!("jobs start in the order {}", numbers.join(", "))
            })
        }
        Guarantee::WorkConserving => fail(
            observer.idle.is_some(),
            observer.idle.map_or(String::new(), |(at, id)| format!("at {at} job {} fits and waits", id + 1)),
        ),
        Guarantee::KeepsPromises => {
            let kept_promises = observer.audit.kept_promises();
            fail(
                judge_punctuality(subject, case).0 && kept_promises.broken > 0,
                describe_broken_promise(&kept_promises),
            )
        }
        Guarantee::ExactPromises => {
            if !judge_punctuality(subject, case).1 || !case.cancel.is_empty() {
                return Ok(());
            }
            let starts = observer.trace.iter().filter(|t| t.1 == "started");
            let early = starts.map(|t| (t.2, t.0)).find(|(id, at)| observer.promised.get(id).is_some_and(|p| p != at));
            early.map_or(Ok(()), |(id, at)| {
                Err(format!("job {} was promised {} and started at {at}", id + 1, observer.promised[&id]))
            })
        }
        Guarantee::Uninterrupted => {
            let twice = observer.trace.iter().find(|t| t.1 == "suspended");
            twice.map_or(Ok(()), |call| Err(describe_call(call)))
        }
        Guarantee::GoesOnInPlace => checker::check_local_resumption(&observer.segments)
            .map_err(|wrong| describe_violations(&wrong, &|job| job + 1)),
        Guarantee::SuspendsAtMost(cap) => {
            let over = |fate: &WatchedFate| matches!(fate, WatchedFate::Ended { suspensions, .. } if suspensions > cap);
            let excess_fate = observer.fates.iter().find(|(_, fates)| fates.iter().any(over));
            excess_fate.map_or(Ok(()), |(&id, fates)| Err(describe_fates(id as usize, fates)))
        }
        Guarantee::MayKill | Guarantee::Forgets => Ok(()),
        Guarantee::AnyThreads => {
            let mut scheduler = (subject.make)();
            scheduler.policy.set_threads(2);
            let other_run = simulate_case(scheduler, case, workload)?;
            fail(other_run.segments != observer.segments, "another schedule with two threads".to_string())
        }
        Guarantee::SameAs(text) => {
            let spec: PolicySpec = text.parse().map_err(|e| format!("{e}"))?;
            let other_run = simulate_case(spec.build_scheduler(), case, workload)?;
            // What a search did on its way may differ, what came of it may not.
            let schedule = |observer: &FullObserver| observer.segments.clone();
            fail(schedule(&other_run) != schedule(observer), format!("another schedule than {text}"))
        }
    }
}

/// Stopped after any step, saved, and loaded by another: everything that follows is the same.
fn check_resumption(
    subject: &Subject,
    case: &PolicyCase,
    workload: &Workload,
    whole: &FullObserver,
) -> Result<(), String> {
    let cancellations = case.cancellations();
    let new = || {
        let source = WorkloadReplay::with_cancellations(workload, &cancellations);
        Simulation::new(workload.machine(), (subject.make)(), source)
    };
    resume_after(case.stop, new, workload, whole)
}

/// Stops a simulation after this many steps, saves it and loads it into another, which has to go on
/// as the whole one did.
pub(crate) fn resume_after<S: EventSource>(
    stop: usize,
    new: impl Fn() -> Simulation<S>,
    workload: &Workload,
    whole: &FullObserver,
) -> Result<(), String> {
    let mut watch = FullObserver::new(workload.jobs().iter().map(|job| job.procs).collect());
    let mut first = new();
    for _ in 0..stop {
        if !first.step(&mut watch).map_err(|e| e.to_string())? {
            break;
        }
    }
    let saved_state = first.save().map_err(|e| format!("does not save: {e}"))?;
    drop(first);
    let mut second = new();
    second.load(&saved_state).map_err(|e| format!("the saved state does not load: {e}"))?;
    if second.save().map_err(|e| e.to_string())? != saved_state {
        return Err(format!("after step {stop} the state saves otherwise than it was loaded"));
    }
    second.run(&mut watch).map_err(|e| format!("resumed after step {stop}: {e}"))?;
    if let Some(different) = describe_difference(&whole.trace, &watch.trace) {
        return Err(format!("resumed after step {stop} it goes on otherwise: {different}"));
    }
    Ok(())
}

/// A policy that hears of each correction when it is due, with a pass each time, decides as before:
/// skipping corrections without consequences shows in no start, no reservation, no number of
/// corrections and no accuracy.
fn told_at_once(subject: &Subject, case: &PolicyCase, workload: &Workload, whole: &FullObserver) -> Result<(), String> {
    let mut scheduler = (subject.make)();
    scheduler.policy = Box::new(Impatient(scheduler.policy));
    let impatient_run = simulate_case(scheduler, case, workload)?;
    // At an instant with nothing but a correction nothing is settled that was not before.
    let kept_trace = |w: &FullObserver| w.trace.iter().filter(|t| t.1 != "settled").copied().collect::<Vec<_>>();
    let (impatient_trace, whole) = (kept_trace(&impatient_run), kept_trace(whole));
    if let Some(different) = describe_difference(&whole, &impatient_trace) {
        return Err(format!("if it hears of every correction at once, it goes on otherwise: {different}"));
    }
    Ok(())
}

/// A policy for which no correction comes to nothing.
struct Impatient(Box<dyn Policy>);

impl Policy for Impatient {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        self.0.observe(event, view);
    }
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.0.decide(view, actions);
    }
    fn enable_notes(&mut self) {
        self.0.enable_notes();
    }
    fn next_wake(&self) -> Option<Time> {
        self.0.next_wake()
    }
    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }
    fn requirement(&self) -> Requirement {
        self.0.requirement()
    }
    fn counts_resources(&self) -> bool {
        self.0.counts_resources()
    }
    fn places_on_nodes(&self) -> bool {
        self.0.places_on_nodes()
    }
}

impl Snapshot for Impatient {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        self.0.save()
    }
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.0.load(bytes)
    }
}

/// Other run times of jobs that have not ended change nothing before the first of their ends, old
/// or new.
fn check_foresight(subject: &Subject, case: &PolicyCase, whole: &FullObserver) -> Result<(), String> {
    // With `pass=pyss`, as in the simulator of that name, a job is not corrected in the very second
    // in which it ends.
    let scheduler = (subject.make)();
    if scheduler.forecast.predictor.is_clairvoyant() || scheduler.pass == PassRule::Pyss || !case.cancel.is_empty() {
        return Ok(());
    }
    // At a time in the middle of the schedule every job still to end runs a little longer; how much
    // differs by job.
    let last = whole.trace.last().map_or(0, |t| t.0);
    let first = case.rows.first().map_or(0, |r| r.submit);
    let at = first + (last - first) * (case.stop as i64 % 7) / 8;
    let mut altered_case = case.clone();
    let mut until = i64::MAX;
    for (id, row) in altered_case.rows.iter_mut().enumerate() {
        let Some([WatchedFate::Ended { at: end, .. }]) = whole.fates.get(&(id as u32)).map(Vec::as_slice) else {
            continue;
        };
        if *end >= at {
            until = until.min(*end);
            row.run += 1 + id as i64 * 7 % 90;
        }
    }
    let workload = altered_case.to_workload();
    if (subject.make)().check_fit(&workload).is_err() {
        return Ok(());
    }
    let after = simulate_case((subject.make)(), &altered_case, &workload)?;
    // Instants at which nothing happened are no decisions.
    let counts = |t: &(i64, &str, u32, i64, i64)| t.0 < until && t.1 != "ended" && t.1 != "settled";
    let before = |observer: &FullObserver| observer.trace.iter().filter(|t| counts(t)).copied().collect::<Vec<_>>();
    if before(&after) != before(whole) {
        return Err(format!("the schedule before {until} depends on run times that end no sooner"));
    }
    Ok(())
}
