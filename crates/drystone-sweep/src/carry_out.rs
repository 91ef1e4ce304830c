//! Bringing a store to completion.

use crate::error::SweepError;
use crate::execute::{Executor, Outcome};
use crate::store::Store;
use crate::{Chunk, Plan};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What was done.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Done {
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
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// The longest time that outcomes wait to be recorded, and the most of them.
const WAIT: Duration = Duration::from_millis(250);
const MOST: usize = 512;

/// Carries out the simulations of the store's plan (or chunk) that it lacks, and records what comes of them; `watch` sees
/// each outcome as it comes.
///
/// # Errors
/// The store cannot be written, or the executor fails; what was recorded before stays.
pub fn carry_out(
    plan: &Plan,
    store: &mut Store,
    executor: &dyn Executor,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&Outcome),
) -> Result<Done, SweepError> {
    carry_out_except(&BTreeSet::new(), plan, store, executor, cancel, watch)
}

/// The same without the simulations at these places of the plan, which another store has.
///
/// # Errors
/// As [`carry_out`].
#[expect(clippy::disallowed_methods, reason = "when to record, and what sessions took: no result has it")]
pub fn carry_out_except(
    elsewhere: &BTreeSet<usize>,
    plan: &Plan,
    store: &mut Store,
    executor: &dyn Executor,
    cancel: &AtomicBool,
    watch: &mut dyn FnMut(&Outcome),
) -> Result<Done, SweepError> {
    let (since, started) = (Instant::now(), SystemTime::now());
    let chunk: Option<Chunk> = store.study()?.1;
    let recorded = store.done(plan)?;
    let todo: Vec<usize> =
        plan.places(chunk).filter(|place| !recorded.contains(place) && !elsewhere.contains(place)).collect();
    let mut done = Done { before: recorded.len(), ..Done::default() };
    if todo.is_empty() {
        return Ok(done);
    }
    let mut waiting: Vec<Outcome> = Vec::new();
    let mut last = Instant::now();
    let ended = executor.execute(plan, &todo, cancel, &mut |outcome| {
        watch(&outcome);
        done.simulated += 1;
        done.failed += usize::from(outcome.measured.error.is_some());
        done.jobs += plan.case_of(outcome.place).workload.len() as u64;
        waiting.push(outcome);
        if waiting.len() >= MOST || last.elapsed() >= WAIT {
            store.record(plan, &waiting)?;
            waiting.clear();
            last = Instant::now();
        }
        Ok(())
    });
    // Also after a failure of the executor: what did come is kept. If the store failed, the first error is told.
    let rest = store.record(plan, &waiting);
    ended.and(rest)?;
    done.left = todo.len() - done.simulated;
    debug_assert!(done.left == 0 || cancel.load(Ordering::Relaxed), "all is done unless cancelled");
    done.seconds = since.elapsed().as_secs_f64();
    let started = started.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    store.note_session(started, done.seconds, done.simulated, done.jobs, &executor.describe())?;
    Ok(done)
}
