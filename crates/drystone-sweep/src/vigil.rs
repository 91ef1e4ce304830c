//! Threads with a watch: a simulation that takes long is reported, and may have a limit.

use crate::error::Cancelled;
use crate::execute::{Executor, PlanOutcome, Threads, in_order, largest_first};
use crate::simulate::{SimulationValues, simulate_place};
use crate::{SweepError, SweepPlan};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Period at which the simulations at work are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A simulation that has been at work for long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LongRun {
    /// Its place in the plan.
    pub place: usize,
    /// Time that it has been at work.
    pub since: Duration,
}

/// This many threads of this process, as [`Threads`], whose simulations are watched.
pub struct Vigil<'a> {
    pub threads: usize,
    /// A simulation that takes longer is stopped and recorded as failed: see
    /// [`SimulationValues::is_over_limit`].
    pub limit: Option<Duration>,
    /// A simulation that takes longer is reported, once.
    pub long: Duration,
    /// Hears of them, on a thread of its own.
    pub tell: &'a (dyn Fn(&SweepPlan, LongRun) + Sync),
}

struct SimulationAtWork {
    place: usize,
    since: Instant,
    stop: Arc<AtomicBool>,
    told: bool,
}

impl Vigil<'_> {
    /// Looks at the simulations at work: stops those that are over the limit or cancelled, and
    /// returns those to tell of.
    fn check_simulations(&self, simulations: &Mutex<Vec<SimulationAtWork>>, cancel: &AtomicBool) -> Vec<LongRun> {
        let mut long = Vec::new();
        for simulation in simulations.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let since = simulation.since.elapsed();
            if cancel.load(Ordering::Relaxed) || self.limit.is_some_and(|limit| since >= limit) {
                simulation.stop.store(true, Ordering::Relaxed);
            }
            if since >= self.long && !std::mem::replace(&mut simulation.told, true) {
                long.push(LongRun { place: simulation.place, since });
            }
        }
        long
    }

    #[expect(clippy::disallowed_methods, reason = "a limit of time, which is asked for")]
    fn watch_simulation(
        &self,
        simulations: &Mutex<Vec<SimulationAtWork>>,
        plan: &SweepPlan,
        place: usize,
        cancel: &AtomicBool,
    ) -> Result<SimulationValues, Cancelled> {
        let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
        let entry = SimulationAtWork { place, since: Instant::now(), stop: Arc::clone(&stop), told: false };
        let lock = || simulations.lock().unwrap_or_else(PoisonError::into_inner);
        lock().push(entry);
        let result = simulate_place(plan, place, &stop);
        lock().retain(|simulation| simulation.place != place);
        match (result, self.limit) {
            (Err(Cancelled), Some(limit)) if !cancel.load(Ordering::Relaxed) => {
                Ok(SimulationValues::over_limit(plan, limit))
            }
            (result, _) => result,
        }
    }
}

impl Executor for Vigil<'_> {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let simulations = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let (over, is_over) = mpsc::channel::<()>();
            let watch = {
                let shared_simulations = &simulations;
                move || {
                    while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                        self.check_simulations(shared_simulations, cancel)
                            .into_iter()
                            .for_each(|long| (self.tell)(plan, long));
                    }
                }
            };
            let no_thread = |e| SweepError::Process { problem: format!("no thread can be started: {e}") };
            let watcher = std::thread::Builder::new().spawn_scoped(scope, watch).map_err(no_thread)?;
            let order = largest_first(self.threads, plan, todo);
            let run_watched = |plan: &SweepPlan, place: usize, cancel: &AtomicBool| {
                self.watch_simulation(&simulations, plan, place, cancel)
            };
            let result = in_order(self.threads, plan, &order, cancel, &run_watched, accept);
            drop(over);
            watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result
        })
    }

    fn describe(&self) -> String {
        Threads(self.threads).describe()
    }
}
