//! The duration of one simulation, without waiting for its end where that is far.

use crate::SweepPlan;
use crate::error::Cancelled;
use crate::simulate::simulate_telling;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Period at which a trial looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct TrialResult {
    /// Duration of the simulation, in seconds; where it was stopped, extrapolated from the jobs
    /// that had ended.
    pub(crate) seconds: f64,
    /// Set if it was stopped before its end.
    pub(crate) stopped: bool,
}

/// Tries a simulation for so long at most; [`Cancelled`] if `cancel` was set. Nothing is recorded.
#[expect(clippy::disallowed_methods, reason = "durations of trials")]
pub(crate) fn try_simulation(
    plan: &SweepPlan,
    place: usize,
    most: Duration,
    cancel: &AtomicBool,
) -> Result<TrialResult, Cancelled> {
    let (since, stop, ended_jobs) = (Instant::now(), AtomicBool::new(false), AtomicU64::new(0));
    let result = std::thread::scope(|scope| {
        let (over, is_over) = mpsc::channel::<()>();
        let stop = &stop;
        let watch = move || {
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if since.elapsed() >= most || cancel.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        };
        // Without a thread to be had, the trial takes what it takes.
        let _watcher = std::thread::Builder::new().spawn_scoped(scope, watch);
        let result = simulate_telling(plan, place, stop, &|more| _ = ended_jobs.fetch_add(more, Ordering::Relaxed));
        drop(over);
        result
    });
    if cancel.load(Ordering::Relaxed) {
        return Err(Cancelled);
    }
    let (seconds, jobs) = (since.elapsed().as_secs_f64(), plan.case_of(place).workload.len() as f64);
    let share = match result {
        Ok(_) => 1.0,
        Err(Cancelled) => (ended_jobs.load(Ordering::Relaxed).max(1) as f64 / jobs.max(1.0)).min(1.0),
    };
    Ok(TrialResult { seconds: seconds / share, stopped: result.is_err() })
}
