//! Work that leaves the interpreter alone and heeds Ctrl-C.

use crate::error;
use crate::job_numbers::JobNumbers;
use crate::objects::{HeldObject, ObjectSlot, lock_mutex, thread_number};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval at which signals are checked.
const PULSE: Duration = Duration::from_millis(20);
const PULSES_A_SECOND: u32 = 50;
/// Grace period, in pulses, of cancelled work that calls nothing of Python, after which it is left
/// behind.
const GRACE: u32 = 2;
/// Grace period, in pulses, of cancelled work that calls objects of Python: a call outside the
/// interpreter, such as `time.sleep`, cannot be interrupted.
const PATIENCE: u32 = 5 * PULSES_A_SECOND;
/// Stack of a thread that works: policies search in depth.
const STACK: usize = 16 << 20;

/// Cause that stops work: a signal, or an exception of a Python object.
pub(crate) struct Halt {
    stop: Arc<AtomicBool>,
    held: Vec<Arc<HeldObject>>,
}

impl Halt {
    /// Lets objects take part in work on jobs with these numbers.
    pub(crate) fn new(slots: &[Py<ObjectSlot>], numbers: Option<&JobNumbers>) -> Halt {
        let stop = Arc::new(AtomicBool::new(false));
        slots.iter().for_each(|slot| slot.get().join_work(&stop, numbers.cloned()));
        Halt { stop, held: slots.iter().map(|slot| Arc::clone(slot.get().held_object())).collect() }
    }

    /// Raises what an object has raised. What others have raised meanwhile is of no more use.
    fn raise_failure(&self) -> PyResult<()> {
        let failures: Vec<PyErr> = self.held.iter().filter_map(|holder| holder.take_failure()).collect();
        failures.into_iter().next().map_or(Ok(()), Err)
    }
}

/// Work in progress.
struct ActiveWork {
    number: u64,
    /// A fork has the list, but not the threads.
    process: u32,
    stop: Arc<AtomicBool>,
    held: Vec<Arc<HeldObject>>,
    /// The thread that works, until it is joined.
    thread: Option<JoinHandle<()>>,
    /// True as long as the call waits for it.
    awaited: bool,
}

static ACTIVE: Mutex<Vec<ActiveWork>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);
/// Set when the interpreter ends: nothing may call it any more.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// An entry in the list of work, for as long as a call waits for it.
struct AwaitedWork {
    number: u64,
}

impl AwaitedWork {
    fn new(halt: &Halt, thread: JoinHandle<()>) -> AwaitedWork {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (stop, held_objects) = (Arc::clone(&halt.stop), halt.held.clone());
        let work = ActiveWork {
            number,
            process: process::id(),
            stop,
            held: held_objects,
            thread: Some(thread),
            awaited: true,
        };
        lock_mutex(&ACTIVE).push(work);
        AwaitedWork { number }
    }

    /// Waits for the end of a thread that has given its result.
    fn join_thread(&self) {
        let thread =
            lock_mutex(&ACTIVE).iter_mut().find(|work| work.number == self.number).and_then(|work| work.thread.take());
        // A panic of it is in the result already.
        let _ = thread.map(JoinHandle::join);
    }
}

impl Drop for AwaitedWork {
    fn drop(&mut self) {
        let mut active = lock_mutex(&ACTIVE);
        active.iter_mut().filter(|work| work.number == self.number).for_each(|work| work.awaited = false);
        // A thread that was left behind stays in the list while it may still call Python.
        let is_needed = |work: &ActiveWork| work.awaited || (work.is_at_work() && !work.held.is_empty());
        let (kept_work, over): (Vec<_>, Vec<_>) = std::mem::take(&mut *active).into_iter().partition(is_needed);
        *active = kept_work;
        // An object that goes may call this module again.
        drop(active);
        drop(over);
    }
}

impl ActiveWork {
    fn is_at_work(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

/// Works on a separate thread while other Python threads run, until it is done or a signal comes. A
/// signal cancels the work and is raised. Work that does not stop soon ends by itself, and its
/// result is dropped.
pub(crate) fn run_interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    run_watched(py, &Halt::new(&[], None), |_| Ok(()), work)
}

/// Works with Python objects that take part, and raises their exceptions. `numbers` are the log's
/// numbers of the jobs.
pub(crate) fn with_objects<T: Send + 'static>(
    py: Python<'_>,
    slots: &[Py<ObjectSlot>],
    numbers: &JobNumbers,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    run_watched(py, &Halt::new(slots, Some(numbers)), |_| Ok(()), work)
}

/// Works while `watch` is called with every pulse.
pub(crate) fn run_watched<T: Send + 'static>(
    py: Python<'_>,
    halt: &Halt,
    watch: impl Fn(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let (result_sender, mut result) = mpsc::sync_channel(1);
    let (stop, calls_back) = (Arc::clone(&halt.stop), !halt.held.is_empty());
    let worker = move || {
        let mut work = Some(work);
        let mut work_result = None;
        let mut run_once = || work_result = work.take().map(|work| catch_unwind(AssertUnwindSafe(|| work(&stop))));
        if calls_back {
            known_to_python(&mut run_once)
        } else {
            run_once()
        }
        if let Some(outcome) = work_result {
            let _ = result_sender.send(outcome.map_err(|panic| panic_message(&*panic)));
        }
    };
    check_open()?;
    let spawn_result = thread::Builder::new().name("drystone".to_string()).stack_size(STACK).spawn(worker);
    let thread = spawn_result.map_err(|e| error::internal_error(format!("no thread can be had: {e}")))?;
    let awaited_work = AwaitedWork::new(halt, thread);
    let mut progress = ShownProgress::begin_progress();
    loop {
        // What it waits in is no bytecode: other threads of Python run.
        let (answer, back) = py.detach(move || (result.recv_timeout(PULSE), result));
        match answer {
            Ok(value) => {
                progress.clear(py);
                // Whatever the thread still holds of Python's is let go before the caller goes on.
                py.detach(|| awaited_work.join_thread());
                halt.raise_failure()?;
                return value.map_err(error::internal_error);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(error::internal_error("the work ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = check_signals(py).and_then(|()| watch(py)).and_then(|()| progress.show_progress(py)) {
            progress.clear(py);
            cancel_work(py, halt, back, &awaited_work);
            return Err(signal);
        }
        result = back;
    }
}

/// The time that work takes, shown in notebooks.
struct ShownProgress {
    pulses: u32,
}

impl ShownProgress {
    fn begin_progress() -> ShownProgress {
        ShownProgress { pulses: 0 }
    }

    /// Shows every second, from the second on.
    fn show_progress(&mut self, py: Python<'_>) -> PyResult<()> {
        self.pulses += 1;
        let seconds = self.pulses / PULSES_A_SECOND;
        if seconds < 2 || !self.pulses.is_multiple_of(PULSES_A_SECOND) {
            return Ok(());
        }
        let callbacks = py.import(intern!(py, "drystone._callbacks"))?;
        callbacks.call_method1(intern!(py, "show_progress"), (seconds,)).map(drop)
    }

    /// Takes away what was shown.
    fn clear(&self, py: Python<'_>) {
        if self.pulses >= 2 * PULSES_A_SECOND {
            let _ = py
                .import(intern!(py, "drystone._callbacks"))
                .and_then(|callbacks| callbacks.call_method1(intern!(py, "show_progress"), (0,)));
        }
    }
}

/// Stops work, and does not come back before its thread has ended, if that is possible: in Python a
/// loop is interrupted by an exception.
fn cancel_work<T: Send>(py: Python<'_>, halt: &Halt, mut result: Receiver<T>, work: &AwaitedWork) {
    halt.stop.store(true, Ordering::Relaxed);
    let patience = if halt.held.is_empty() { GRACE } else { PATIENCE };
    for _ in 0..patience {
        interrupt_threads(py, &halt.held);
        let (answer, back) = py.detach(move || (result.recv_timeout(PULSE), result));
        if !matches!(answer, Err(RecvTimeoutError::Timeout)) {
            py.detach(|| work.join_thread());
            break;
        }
        // A second Ctrl-C ends the waiting.
        if check_signals(py).is_err() {
            break;
        }
        result = back;
    }
    // The interrupt itself is what these have raised.
    let _ = halt.raise_failure();
}

/// Raises KeyboardInterrupt in each other thread that is inside a call of one of these objects.
fn interrupt_threads(py: Python<'_>, holders: &[Arc<HeldObject>]) {
    let own = thread_number(py).unwrap_or_default();
    for thread in holders.iter().flat_map(|holder| holder.busy_threads()).filter(|&thread| thread != own) {
        // Without ctypes a thread cannot be interrupted: it is waited for.
        let _ = py
            .import(intern!(py, "drystone._callbacks"))
            .and_then(|callbacks| callbacks.call_method1(intern!(py, "interrupt"), (thread,)));
    }
}

/// Raises what came for this thread: a signal, or an exception from another thread.
fn check_signals(py: Python<'_>) -> PyResult<()> {
    check_open()?;
    py.check_signals()?;
    // Exceptions from other threads are raised where bytecode runs.
    py.import(intern!(py, "drystone._callbacks"))?.call_method0(intern!(py, "pulse")).map(drop)
}

fn check_open() -> PyResult<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(PyRuntimeError::new_err("the interpreter is ending"));
    }
    Ok(())
}

/// Ends all work, for the end of the interpreter; returns whether nothing calls it any more.
#[pyfunction]
#[pyo3(name = "close")]
pub(crate) fn close_work(py: Python<'_>) -> bool {
    CLOSED.store(true, Ordering::Relaxed);
    for _ in 0..PATIENCE {
        let (mut held_objects, mut has_left_work) = (Vec::new(), false);
        for work in lock_mutex(&ACTIVE).iter().filter(|work| work.process == process::id()) {
            work.stop.store(true, Ordering::Relaxed);
            held_objects.extend(work.held.iter().cloned());
            has_left_work |= work.awaited || work.is_at_work();
        }
        if !has_left_work {
            return true;
        }
        interrupt_threads(py, &held_objects);
        py.detach(|| thread::sleep(PULSE));
    }
    false
}

/// Does something on a thread that stays attached to the interpreter although it runs without its
/// lock; a thread that calls back often is not attached again each time.
pub(crate) fn known_to_python(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("an error in Drystone itself, please report it: {text}")
}
