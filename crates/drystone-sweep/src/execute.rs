//! Who carries out simulations: threads of this process, other processes, one day a cluster.

use crate::error::SweepError;
use crate::simulate::{Measured, simulate};
use crate::store::Store;
use crate::{Chunk, Plan};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// What came of the simulation at a place of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The simulation's place in the plan.
    pub place: usize,
    /// What was measured.
    pub measured: Measured,
}

/// Carries out simulations somewhere.
///
/// Whoever implements it decides where and in which order; outcomes do not depend on either. [`Threads`] simulate here;
/// [`Processes`] give chunks of the study to programs whose stores are read back, which is also how a batch system can be
/// used.
pub trait Executor {
    /// Carries out the simulations at these places of the plan and hands over each outcome once, in any order, on the
    /// calling thread. Returns early, without error, soon after `cancel` is set.
    ///
    /// # Errors
    /// Whatever `accept` returns, at once; or that simulations cannot be carried out there.
    fn execute(
        &self,
        plan: &Plan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(Outcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError>;

    /// Who it is, for people: `2 threads`.
    fn describe(&self) -> String;
}

/// So many threads of this process. A thread that is free takes the next simulation.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

/// With fewer simulations than this per thread, those with most jobs come first, so that no thread is left alone with one
/// at the end; with more, the order of the plan lets whole configurations get ready early.
const FEW: usize = 64;

impl Executor for Threads {
    fn execute(
        &self,
        plan: &Plan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(Outcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let threads = self.0.clamp(1, todo.len().max(1));
        let mut order = todo.to_vec();
        if order.len() < FEW * threads {
            order.sort_by_key(|&place| std::cmp::Reverse(plan.case_of(place).workload.len()));
        }
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (send, receive) = mpsc::sync_channel::<Outcome>(1024);
        std::thread::scope(|scope| {
            for at in 0..threads {
                let (send, next, stop, order) = (send.clone(), &next, &stop, &order);
                let work = move || {
                    while !stop.load(Ordering::Relaxed)
                        && let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed))
                        && let Ok(measured) = simulate(plan, place, cancel)
                        && send.send(Outcome { place, measured }).is_ok()
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
            // The receiver goes when this ends, and with it whoever waits to send.
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

    fn describe(&self) -> String {
        format!("{} thread{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// Waits for a process. Who cancels may have told it, too, as a terminal does; if not, it is ended after a while: what its store
/// has is complete at every instant.
fn wait(child: &mut Child, cancel: &AtomicBool) -> std::io::Result<ExitStatus> {
    const LOOK: Duration = Duration::from_millis(20);
    let mut patience = Duration::from_secs(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.load(Ordering::Relaxed) {
            if patience.is_zero() {
                child.kill()?;
                return child.wait();
            }
            patience = patience.saturating_sub(LOOK);
        }
        std::thread::sleep(LOOK);
    }
}

/// So many processes on this machine, each with a chunk of the study and a store of its own.
pub struct Processes<'a> {
    /// How many.
    pub count: u32,
    /// Where their stores are, while they are needed; what is there already is not simulated again.
    pub directory: PathBuf,
    /// The command that simulates a chunk of the study into a store and succeeds when it is complete.
    #[allow(clippy::type_complexity)]
    pub command: &'a (dyn Fn(Chunk, &std::path::Path) -> Command + Sync),
}

impl Executor for Processes<'_> {
    fn execute(
        &self,
        plan: &Plan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(Outcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let place = |k: u32| self.directory.join(format!("chunk-{k}-of-{}.db", self.count));
        let mut children = Vec::new();
        for k in 1..=self.count {
            let chunk = Chunk { k, n: self.count };
            if !todo.iter().any(|&place| chunk.holds(place)) {
                continue;
            }
            let mut command = (self.command)(chunk, &place(k));
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|e| SweepError::Process {
                problem: format!("{} cannot be started: {e}", command.get_program().display()),
            });
            children.push((chunk, child));
        }
        let mut failed = None;
        let mut ready = Vec::new();
        for (chunk, child) in children {
            // Waited for even if another failed: nobody is left behind.
            let ended = child.and_then(|mut child| {
                let lost = |e| SweepError::Process { problem: format!("chunk {chunk} is lost: {e}") };
                wait(&mut child, cancel).map_err(lost)
            });
            match ended {
                Ok(status) if status.success() => ready.push(chunk),
                Ok(_) if cancel.load(Ordering::Relaxed) => ready.push(chunk),
                Ok(status) => {
                    ready.push(chunk);
                    failed = failed.or(Some(SweepError::Process {
                        problem: format!("the process with chunk {chunk} failed ({status}); what it did is kept"),
                    }));
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        for chunk in ready {
            let store = match Store::look(place(chunk.k)) {
                Ok(store) => store,
                Err(error) => {
                    failed = failed.or(Some(error));
                    continue;
                }
            };
            for outcome in store.outcomes(plan)? {
                if todo.binary_search(&outcome.place).is_ok() {
                    accept(outcome)?;
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn describe(&self) -> String {
        format!("{} processes", self.count)
    }
}
