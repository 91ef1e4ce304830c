//! Executors of simulations: threads of this process, or other processes ([`crate::Processes`]).

use crate::SweepPlan;
use crate::error::{Cancelled, SweepError};
use crate::simulate::{SimulationValues, simulate_place};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

#[derive(Clone, PartialEq, Debug)]
pub struct PlanOutcome {
    /// The simulation's place in the plan.
    pub place: usize,
    pub measured: SimulationValues,
}

/// Carries out simulations somewhere.
///
/// An implementation decides where and in which order; outcomes do not depend on either.
/// [`Threads`] simulate here; [`Processes`](crate::Processes) give chunks of the study to programs
/// whose stores are read back. A batch system is none: what is submitted to it outlives this
/// process ([`crate::cluster`]).
pub trait Executor: Sync {
    /// Carries out the simulations at these places of the plan and hands over each outcome once, in
    /// any order, on the calling thread. Returns early, without error, soon after `cancel` is set.
    ///
    /// # Errors
    /// Whatever `accept` returns, at once; or that simulations cannot be carried out there.
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError>;

    /// Returns a human-readable name, such as `2 threads`.
    fn describe(&self) -> String;
}

/// This many threads of this process. A thread that is free takes the next simulation.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

/// With fewer simulations than this per thread, those with most jobs come first, so that no thread
/// is left alone with one at the end; with more, the order of the plan lets whole configurations
/// get ready early.
const FEW: usize = 64;

/// The order in which this many threads take simulations.
pub(crate) fn largest_first(threads: usize, plan: &SweepPlan, todo: &[usize]) -> Vec<usize> {
    let mut order = todo.to_vec();
    if order.len() < FEW * threads.clamp(1, todo.len().max(1)) {
        order.sort_by_key(|&place| std::cmp::Reverse(plan.case_of(place).workload.len()));
    }
    order
}

impl Executor for Threads {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        in_order(self.0, plan, &largest_first(self.0, plan, todo), cancel, &simulate_place, accept)
    }

    fn describe(&self) -> String {
        format!("{} thread{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// This many threads of this process, which take simulations in the order in which they are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder(pub(crate) usize);

impl Executor for InOrder {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        in_order(self.0, plan, todo, cancel, &simulate_place, accept)
    }

    fn describe(&self) -> String {
        Threads(self.0).describe()
    }
}

/// Carries out one simulation of a plan, until it is cancelled.
pub(crate) type OneSimulation<'a> =
    dyn Fn(&SweepPlan, usize, &AtomicBool) -> Result<SimulationValues, Cancelled> + Sync + 'a;

/// Simulates on this many threads, each of which takes the next simulation when it is free.
pub(crate) fn in_order(
    threads: usize,
    plan: &SweepPlan,
    order: &[usize],
    cancel: &AtomicBool,
    simulator: &OneSimulation<'_>,
    accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let threads = threads.clamp(1, order.len().max(1));
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, receive) = mpsc::sync_channel::<PlanOutcome>(1024);
    std::thread::scope(|scope| {
        for at in 0..threads {
            let (send, next, stop, order) = (send.clone(), &next, &stop, order);
            let work = move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed))
                    && let Ok(measured) = simulator(plan, place, cancel)
                    && send.send(PlanOutcome { place, measured }).is_ok()
                {}
            };
            // One that cannot be had, for want of memory, is one less; but one there must be.
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work)
                && at == 0
            {
                let problem = format!("no thread can be started: {error}");
                return Err(SweepError::Process { problem });
            }
        }
        drop(send);
        // The receiver goes when this ends, and with it every thread that waits to send.
        let receive = receive;
        for outcome in &receive {
            if let Err(error) = accept(outcome) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}
