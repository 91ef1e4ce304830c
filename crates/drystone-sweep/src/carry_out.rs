//! Bringing a store to completion.

use crate::error::SweepError;
use crate::execute::{Executor, PlanOutcome};
use crate::store::Store;
use crate::{SweepChunk, SweepPlan};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WorkSummary {
    /// Simulations made now.
    pub simulated: usize,
    /// Of them, those that failed.
    pub failed: usize,
    /// Simulations that were recorded before.
    pub before: usize,
    /// Simulations still to be made: the sweep was cancelled.
    pub left: usize,
    /// Jobs simulated now.
    pub jobs: u64,
    /// Wall-clock time, in seconds.
    pub seconds: f64,
}

/// The longest time that outcomes wait to be recorded, and the most of them.
const WAIT: Duration = Duration::from_millis(250);
const MOST: usize = 512;
/// Interval at which outcomes are recorded and cancellation is checked.
const LOOK: Duration = Duration::from_millis(50);

/// Carries out the simulations of the store's plan (or chunk) that it lacks, and records what comes
/// of them; `watch` sees each outcome as it comes.
///
/// # Errors
/// The store cannot be written, or the executor fails; what was recorded before stays.
pub fn carry_out(
    plan: &SweepPlan,
    store: &mut Store,
    executor: &dyn Executor,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&PlanOutcome),
) -> Result<WorkSummary, SweepError> {
    carry_out_except(&BTreeSet::new(), plan, store, executor, cancel, watch)
}

/// Carries out the plan without the simulations at these places, which another store has.
///
/// # Errors
/// As [`carry_out`].
pub fn carry_out_except(
    elsewhere: &BTreeSet<usize>,
    plan: &SweepPlan,
    store: &mut Store,
    executor: &dyn Executor,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&PlanOutcome),
) -> Result<WorkSummary, SweepError> {
    let chunk: Option<SweepChunk> = store.study()?.1;
    let recorded_places = store.recorded_places(plan)?;
    let todo: Vec<usize> = plan
        .simulation_places(chunk)
        .filter(|place| !recorded_places.contains(place) && !elsewhere.contains(place))
        .collect();
    let summary = carry_out_these(&todo, plan, store, executor, cancel, watch, &mut |_| Ok(()))?;
    Ok(WorkSummary { before: recorded_places.len(), ..summary })
}

/// Carries out the simulations at these places of the plan, of which the store has none, and
/// records what comes of them. `heed` is called with the store several times a second, between
/// transactions.
///
/// # Errors
/// As [`carry_out`], or whatever `heed` returns.
#[expect(clippy::disallowed_methods, reason = "durations of sessions: no result has them")]
pub(crate) fn carry_out_these(
    todo: &[usize],
    plan: &SweepPlan,
    store: &mut Store,
    executor: &dyn Executor,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&PlanOutcome),
    heed: &mut dyn FnMut(&Store) -> Result<(), SweepError>,
) -> Result<WorkSummary, SweepError> {
    let (since, start_time) = (Instant::now(), SystemTime::now());
    let mut summary = WorkSummary::default();
    if todo.is_empty() {
        return Ok(summary);
    }
    // Simulations may take hours: they are made on threads of their own, so that this one records
    // in time what is there.
    let halt = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(MOST);
        let halt_flag = &halt;
        let work = move || {
            let stop_error =
                || SweepError::Process { problem: "results of simulations could not be recorded".to_string() };
            executor.execute(plan, todo, halt_flag, &mut |outcome| send.send(outcome).map_err(|_| stop_error()))
        };
        let no_thread = |e| SweepError::Process { problem: format!("no thread can be started: {e}") };
        let work = std::thread::Builder::new().spawn_scoped(scope, work).map_err(no_thread)?;
        let mut watch = |outcome: &PlanOutcome| {
            watch(outcome);
            summary.simulated += 1;
            summary.failed += usize::from(outcome.measured.error.is_some());
            summary.jobs += plan.case_of(outcome.place).workload.len() as u64;
        };
        let record_result = record_outcomes(plan, store, receive, (cancel, &halt), &mut watch, heed);
        halt.fetch_or(record_result.is_err(), Ordering::Relaxed);
        let work_result = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the store failed, the executor only says that it was stopped.
        record_result.and(work_result)
    })?;
    summary.left = todo.len() - summary.simulated;
    // An executor may cancel as well.
    let is_cancelled = cancel.load(Ordering::Relaxed) || halt.load(Ordering::Relaxed);
    debug_assert!(summary.left == 0 || is_cancelled, "all is done unless cancelled");
    summary.seconds = since.elapsed().as_secs_f64();
    let start_second = start_time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    store.note_session(start_second, summary.seconds, summary.simulated, summary.jobs, &executor.describe())?;
    Ok(summary)
}

/// Records outcomes until no more come. `cancel` tells this to stop, and `halt` tells what
/// simulates.
#[expect(clippy::disallowed_methods, reason = "times of recording: no result has them")]
fn record_outcomes(
    plan: &SweepPlan,
    store: &mut Store,
    receive: Receiver<PlanOutcome>,
    (cancel, halt): (&AtomicBool, &AtomicBool),
    watch: &mut dyn FnMut(&PlanOutcome),
    heed: &mut dyn FnMut(&Store) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let mut backlog: Vec<PlanOutcome> = Vec::new();
    let mut last = Instant::now();
    loop {
        halt.fetch_or(cancel.load(Ordering::Relaxed), Ordering::Relaxed);
        match receive.recv_timeout(LOOK) {
            Ok(outcome) => {
                watch(&outcome);
                backlog.push(outcome);
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Also after a failure of the executor: what did come is kept.
            Err(RecvTimeoutError::Disconnected) => break store.record_outcomes(plan, &backlog),
        }
        if !backlog.is_empty() && (backlog.len() >= MOST || last.elapsed() >= WAIT) {
            store.record_outcomes(plan, &backlog)?;
            backlog.clear();
            last = Instant::now();
        }
        heed(store)?;
    }
}
