//! Work that leaves the interpreter alone and heeds Ctrl-C.

use crate::error;
use crate::objects::ObjectSlot;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval at which signals are checked.
const PULSE: Duration = Duration::from_millis(20);
/// Grace period of cancelled work, after which it is left behind.
const GRACE: Duration = Duration::from_millis(40);
/// Stack of a thread that works: policies search in depth.
const STACK: usize = 16 << 20;

/// Cause that stops work: a signal, or an exception of a Python object.
pub(crate) struct Halt {
    stop: Arc<AtomicBool>,
    slots: Vec<Py<ObjectSlot>>,
}

impl Halt {
    pub(crate) fn new(slots: Vec<Py<ObjectSlot>>) -> Halt {
        let stop = Arc::new(AtomicBool::new(false));
        slots.iter().for_each(|slot| slot.get().halts(&stop));
        Halt { stop, slots }
    }

    /// Raises what an object has raised.
    fn raised(&self) -> PyResult<()> {
        self.slots.iter().try_for_each(|slot| slot.get().raised())
    }
}

/// Works on a separate thread while other Python threads run, until it is done or a signal comes. A
/// signal cancels the work and is raised. Work that does not stop soon ends by itself, and its
/// result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    watched(py, &Halt::new(Vec::new()), |_| Ok(()), work)
}

/// Works with Python objects that take part, and raises their exceptions.
pub(crate) fn with_objects<T: Send + 'static>(
    py: Python<'_>,
    slots: Vec<Py<ObjectSlot>>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    watched(py, &Halt::new(slots), |_| Ok(()), work)
}

/// Works while `watch` is called with every pulse.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    halt: &Halt,
    watch: impl Fn(Python<'_>) -> PyResult<()>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = mpsc::sync_channel(1);
    let (told, calls_back) = (Arc::clone(&halt.stop), !halt.slots.is_empty());
    let worker = move || {
        let mut work = Some(work);
        let mut made = None;
        let mut one = || made = work.take().map(|work| catch_unwind(AssertUnwindSafe(|| work(&told))));
        if calls_back {
            known_to_python(&mut one)
        } else {
            one()
        }
        if let Some(made) = made {
            let _ = done.send(made.map_err(|panic| message(&*panic)));
        }
    };
    let spawned = thread::Builder::new().name("drystone".to_string()).stack_size(STACK).spawn(worker);
    let thread = spawned.map_err(|e| error::internal(format!("no thread can be had: {e}")))?;
    loop {
        // What it waits in is no bytecode: other threads of Python run.
        let (answer, back) = py.detach(move || (result.recv_timeout(PULSE), result));
        match answer {
            Ok(made) => {
                // Whatever the thread still holds of Python's is let go before the caller goes on.
                let _ = py.detach(|| thread.join());
                halt.raised()?;
                return made.map_err(error::internal);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(error::internal("the work ended without a result")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals().and_then(|()| watch(py)) {
            halt.stop.store(true, Ordering::Relaxed);
            let _ = py.detach(move || back.recv_timeout(GRACE));
            return Err(signal);
        }
        result = back;
    }
}

/// Does something on a thread that stays attached to the interpreter although it runs without its
/// lock; a thread that calls back often is not attached again each time.
pub(crate) fn known_to_python(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// Returns the message of a panic.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("an error in Drystone itself, please report it: {text}")
}
