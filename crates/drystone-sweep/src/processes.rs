//! Other processes that simulate, each a chunk of the study into a store of its own.

use crate::error::SweepError;
use crate::execute::{Executor, PlanOutcome};
use crate::store::Store;
use crate::{SweepChunk, SweepPlan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(20);
/// Grace period of a process after a stop signal; its store is complete at every instant.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval at which stores are read, and its increase for each result, so that reading stays a
/// small part of the work.
const READ: Duration = Duration::from_millis(500);
const READ_EACH: Duration = Duration::from_micros(20);
/// Time for which a process whose parent was killed may still use a store, on a machine with much
/// else to do.
const ORPHAN: Duration = Duration::from_secs(60);

/// This many processes on this machine, each with a chunk of the study and a store of its own,
/// which are read while they work.
pub struct Processes<'a> {
    pub count: u32,
    /// Folder of their stores: see [`take_up`]. Created if missing.
    pub directory: PathBuf,
    /// The command that simulates a chunk of the study into a store and succeeds when it is
    /// complete. Its standard input stays open until it is to stop, or this process is gone: it
    /// should end then. It opens the store with [`open_chunk`].
    #[allow(clippy::type_complexity)]
    pub command: &'a (dyn Fn(SweepChunk, &Path) -> Command + Sync),
}

/// A process at work.
struct Worker {
    chunk: SweepChunk,
    store: PathBuf,
    child: Child,
    ended: Option<std::io::Result<ExitStatus>>,
}

impl Worker {
    fn is_working(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().transpose();
        }
        self.ended.is_none()
    }

    fn ask_to_stop(&mut self) {
        drop(self.child.stdin.take());
    }

    fn kill_process(&mut self) {
        if self.is_working() {
            self.ended = Some(self.child.kill().and_then(|()| self.child.wait()));
        }
    }
}

/// Lets processes stop, and waits for them: none is left behind.
fn dismiss_workers(workers: &mut [Worker]) {
    workers.iter_mut().for_each(Worker::ask_to_stop);
    let mut patience = PATIENCE;
    while workers.iter_mut().any(Worker::is_working) && !patience.is_zero() {
        std::thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
    workers.iter_mut().for_each(Worker::kill_process);
}

/// Hands over what came since the last time.
struct TailReader<'a> {
    plan: &'a SweepPlan,
    todo: &'a [usize],
    /// Flags of the outcomes that have arrived.
    come: Vec<bool>,
    results: u32,
    accept: &'a mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
}

impl TailReader<'_> {
    /// Reads a store. The first error is of the store, the second of `accept`.
    fn read_store(&mut self, path: &Path) -> Result<Result<(), SweepError>, SweepError> {
        // One that was stopped before it wrote has nothing to hand over.
        let Some(store) = Store::look_if_begun(path)? else { return Ok(Ok(())) };
        for outcome in store.outcomes(self.plan)? {
            if let Ok(at) = self.todo.binary_search(&outcome.place)
                && !std::mem::replace(&mut self.come[at], true)
            {
                self.results += 1;
                if let Err(error) = (self.accept)(outcome) {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(()))
    }
}

impl Processes<'_> {
    /// Starts a process for each chunk in which something is to be done.
    fn start_workers(&self, todo: &[usize]) -> Result<Vec<Worker>, SweepError> {
        let problem = |problem: String| SweepError::Process { problem };
        std::fs::create_dir_all(&self.directory)
            .map_err(|e| problem(format!("{} cannot be made: {e}", self.directory.display())))?;
        let mut workers = Vec::new();
        for k in 1..=self.count {
            let chunk = SweepChunk { k, n: self.count };
            if !todo.iter().any(|&place| chunk.contains_place(place)) {
                continue;
            }
            let store = self.directory.join(store_name(chunk));
            let mut command = (self.command)(chunk, &store);
            match command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn() {
                Ok(child) => workers.push(Worker { chunk, store, child, ended: None }),
                Err(e) => {
                    dismiss_workers(&mut workers);
                    return Err(problem(format!("{} cannot be started: {e}", command.get_program().display())));
                }
            }
        }
        Ok(workers)
    }
}

impl Executor for Processes<'_> {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let mut workers = self.start_workers(todo)?;
        let mut reader = TailReader { plan, todo, come: vec![false; todo.len()], results: 0, accept };
        let mut pause = READ;
        // Each is asked, also where one is at work: a process that has ended does not stay a
        // zombie.
        while workers.iter_mut().fold(false, |any, worker| any | worker.is_working()) {
            if cancel.load(Ordering::Relaxed) {
                dismiss_workers(&mut workers);
                break;
            }
            std::thread::sleep(LOOK);
            pause = pause.saturating_sub(LOOK);
            if pause.is_zero() {
                for at in 0..workers.len() {
                    // One that has just begun has no store yet.
                    if let Ok(Err(error)) = reader.read_store(&workers[at].store) {
                        dismiss_workers(&mut workers);
                        return Err(error);
                    }
                }
                pause = READ + READ_EACH * reader.results;
            }
        }
        let mut failure = None;
        for Worker { chunk, store, ended, .. } in workers {
            match ended {
                Some(Ok(status)) if status.success() || cancel.load(Ordering::Relaxed) => {}
                Some(Ok(status)) => {
                    let problem = format!("the process with chunk {chunk} failed ({status}); its results are kept");
                    failure = failure.or(Some(SweepError::Process { problem }));
                }
                Some(Err(e)) => {
                    let problem = format!("chunk {chunk} is lost: {e}");
                    failure = failure.or(Some(SweepError::Process { problem }));
                }
                None => {}
            }
            match reader.read_store(&store) {
                Ok(acceptance) => acceptance?,
                // Stopped before it wrote.
                Err(_) if cancel.load(Ordering::Relaxed) && !store.exists() => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn describe(&self) -> String {
        format!("{} process{}", self.count, if self.count == 1 { "" } else { "es" })
    }
}

fn store_name(chunk: SweepChunk) -> String {
    format!("chunk-{}-of-{}.db", chunk.k, chunk.n)
}

fn chunk_of(name: &str) -> Option<SweepChunk> {
    let chunk: SweepChunk = name.strip_prefix("chunk-")?.strip_suffix(".db")?.replace("-of-", "/").parse().ok()?;
    (store_name(chunk) == name).then_some(chunk)
}

/// Opens the store of a chunk in the directory of [`Processes`], for one of its processes. Waits
/// for a process of the same chunk whose parent was killed. `None` if this process's own parent has
/// gone, which `orphaned` says: no other process may wait for what it would leave then, so that
/// nothing is left.
///
/// # Errors
/// As [`Store::open`].
pub fn open_chunk(
    path: &Path,
    plan: &SweepPlan,
    chunk: SweepChunk,
    is_orphan: &dyn Fn() -> bool,
) -> Result<Option<Store>, SweepError> {
    let Some(directory) = path.parent() else { return Store::open(path, plan, Some(chunk)).map(Some) };
    let mut patience = ORPHAN;
    while !is_orphan() {
        // An orphan may have removed it while it was empty.
        let creation = std::fs::create_dir_all(directory);
        match Store::open_locked(path) {
            // From here on a process that takes up the directory finds the store.
            Ok(store) if !is_orphan() => return store.prepared_for(plan, Some(chunk)).map(Some),
            Ok(store) => {
                if store.is_new()? {
                    store.discard_files();
                }
            }
            Err(error) if patience.is_zero() || creation.is_err() => return Err(error),
            Err(error) if !matches!(error, SweepError::Locked { .. }) && directory.exists() => return Err(error),
            Err(_) => {
                std::thread::sleep(LOOK);
                patience = patience.saturating_sub(LOOK);
            }
        }
    }
    // Unless it holds what others use.
    let _ = std::fs::remove_dir(directory);
    Ok(None)
}

/// Records what the stores in the directory of [`Processes`] hold and this store of the same plan
/// lacks, and removes them, and locks that are left of stores: what processes have done whose
/// parent was killed, of whatever number, or of one that is through. Returns how many simulations
/// that were. Of anything else in the directory nothing is touched.
///
/// # Errors
/// A store cannot be read, or is in use for long; or the results cannot be recorded. Nothing is
/// removed that is not recorded.
pub fn take_up(directory: &Path, plan: &SweepPlan, store: &mut Store) -> Result<usize, SweepError> {
    let directory_error = |e: std::io::Error| SweepError::Process { problem: format!("{}: {e}", directory.display()) };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(directory_error(e)),
    };
    let mut paths = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(directory_error)?.file_name();
        // A process that is killed while it makes or removes its store leaves the lock alone.
        let store = name.to_str().map(|name| name.strip_suffix(".lock").unwrap_or(name));
        if let Some(chunk) = store.and_then(chunk_of) {
            paths.insert(directory.join(store_name(chunk)));
        }
    }
    let mut count = 0;
    for path in paths {
        let chunk = lock_patiently(&path)?;
        if let Some(outcomes) = chunk.of_plan(plan)? {
            let recorded_places = store.recorded_places(plan)?;
            let new: Vec<PlanOutcome> = outcomes.into_iter().filter(|o| !recorded_places.contains(&o.place)).collect();
            store.record_outcomes(plan, &new)?;
            count += new.len();
            chunk.discard_files();
        }
    }
    // Unless it holds other files.
    let _ = std::fs::remove_dir(directory);
    Ok(count)
}

/// Locks a store that a process may still have, which ends soon, for its parent is gone.
fn lock_patiently(path: &Path) -> Result<Store, SweepError> {
    let mut patience = ORPHAN;
    loop {
        match Store::open_locked(path) {
            Err(SweepError::Locked { .. }) if !patience.is_zero() => {
                std::thread::sleep(LOOK);
                patience = patience.saturating_sub(LOOK);
            }
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_chunks_are_known_by_their_names() {
        assert_eq!(chunk_of(&store_name(SweepChunk { k: 2, n: 13 })), Some(SweepChunk { k: 2, n: 13 }));
        for strange in
            ["chunk-3-of-2.db", "chunk-1-of-2.db.lock", "chunk-01-of-2.db", "my-chunk-1-of-2.db", "chunk-1/2.db"]
        {
            assert_eq!(chunk_of(strange), None, "{strange}");
        }
    }
}
