//! Python objects that texts can name while a slot is held.

use crate::actions::PyActions;
use crate::job_numbers::JobNumbers;
use drystone::snapshot::SnapshotError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Work that an object takes part in.
struct ObjectWork {
    /// Set when the object raises, so that the work stops.
    stop: Arc<AtomicBool>,
    numbers: Option<JobNumbers>,
}

/// An object that has a place.
pub(crate) struct HeldObject {
    pub(crate) object: Py<PyAny>,
    /// Identity of the class: module, name, a hash of its source.
    pub(crate) identity: String,
    /// Exception that it raised.
    failure: Mutex<Option<PyErr>>,
    works: Mutex<Vec<ObjectWork>>,
    /// Threads that are inside a call of it, by the interpreter's numbers.
    calls: Mutex<Vec<u64>>,
    /// Requests of the copy that was made last, for the place of one that is impossible.
    requests: Mutex<Option<Py<PyActions>>>,
}

thread_local! {
    /// The interpreter's number of this thread; 0 until it is asked for.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// Returns the interpreter's number of this thread.
pub(crate) fn thread_number(py: Python<'_>) -> PyResult<u64> {
    let number = THREAD.get();
    if number != 0 {
        return Ok(number);
    }
    let number = py.import(intern!(py, "threading"))?.call_method0(intern!(py, "get_ident"))?.extract()?;
    THREAD.set(number);
    Ok(number)
}

/// Mark of a call in progress, taken back when the call ends, however it does.
struct CallMark<'a> {
    calls: &'a Mutex<Vec<u64>>,
    thread: u64,
}

impl Drop for CallMark<'_> {
    fn drop(&mut self) {
        let mut calls = lock_mutex(self.calls);
        if let Some(at) = calls.iter().rposition(|&thread| thread == self.thread) {
            calls.swap_remove(at);
        }
    }
}

impl HeldObject {
    /// Does something with the object on this thread. An interrupt finds the thread meanwhile.
    pub(crate) fn call_object<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
        Python::attach(|py| {
            let thread = thread_number(py)?;
            lock_mutex(&self.calls).push(thread);
            let _mark = CallMark { calls: &self.calls, thread };
            work(py)
        })
    }

    /// Threads that are inside a call.
    pub(crate) fn busy_threads(&self) -> Vec<u64> {
        lock_mutex(&self.calls).clone()
    }

    /// Keeps what it raised and stops the work.
    pub(crate) fn note_failure(&self, error: PyErr) {
        lock_mutex(&self.failure).get_or_insert(error);
        lock_mutex(&self.works).iter().for_each(|work| work.stop.store(true, Ordering::Relaxed));
    }

    /// Returns whether it has raised an exception.
    pub(crate) fn has_failed(&self) -> bool {
        lock_mutex(&self.failure).is_some()
    }

    /// Takes what it raised.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        lock_mutex(&self.failure).take()
    }

    /// The log's numbers of the jobs that it is asked about; `None` where there is no log, or where
    /// it works on several at once.
    pub(crate) fn job_numbers(&self) -> Option<JobNumbers> {
        let works = lock_mutex(&self.works);
        let first = works.first()?.numbers.clone()?;
        let same = |work: &ObjectWork| work.numbers.as_ref().is_some_and(|numbers| Arc::ptr_eq(numbers, &first));
        works.iter().all(same).then_some(first)
    }

    /// Keeps where its requests are recorded.
    pub(crate) fn record_requests(&self, actions: Py<PyActions>) {
        *lock_mutex(&self.requests) = Some(actions);
    }

    /// File and line of the last request about a job.
    pub(crate) fn request_place(&self, py: Python<'_>, job: u32) -> Option<(String, i64)> {
        let actions = lock_mutex(&self.requests).as_ref().map(|actions| actions.clone_ref(py))?;
        actions.get().place_of(py, job)
    }
}

pub(crate) fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) static PLACES: Mutex<BTreeMap<String, Arc<HeldObject>>> = Mutex::new(BTreeMap::new());

/// Holds the place of an object: as long as it lives, `python(NAME)` is the object.
#[pyclass(frozen, name = "Slot", module = "drystone._drystone")]
pub(crate) struct ObjectSlot {
    #[pyo3(get)]
    name: String,
    held: Arc<HeldObject>,
}

#[pymethods]
impl ObjectSlot {
    /// Takes a place under this name, or under one like it where that is taken.
    #[new]
    fn new(py: Python<'_>, name: &str, object: Bound<'_, PyAny>) -> PyResult<ObjectSlot> {
        let identity = py.import("drystone._callbacks")?.call_method1("identity", (&object,))?.extract()?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+') { c } else { '_' };
        let name: String = name.chars().map(plain).collect();
        let held_object = Arc::new(HeldObject {
            object: object.unbind(),
            identity,
            failure: Mutex::default(),
            works: Mutex::default(),
            calls: Mutex::default(),
            requests: Mutex::default(),
        });
        let mut places = lock_mutex(&PLACES);
        let like = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(like).find(|name| !places.contains_key(name));
        let name = free.unwrap_or(name);
        places.insert(name.clone(), Arc::clone(&held_object));
        Ok(ObjectSlot { name, held: held_object })
    }
}

impl ObjectSlot {
    pub(crate) fn held_object(&self) -> &Arc<HeldObject> {
        &self.held
    }

    /// Its name in texts.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Takes part in work that stops when the object raises, on jobs with these numbers.
    pub(crate) fn join_work(&self, stop: &Arc<AtomicBool>, numbers: Option<JobNumbers>) {
        let mut works = lock_mutex(&self.held.works);
        // Those of work that is over are held here alone.
        works.retain(|work| Arc::strong_count(&work.stop) > 1);
        if works.is_empty() {
            // An interrupted call may have ended after the work that it belonged to.
            let _ = self.held.take_failure();
        }
        works.push(ObjectWork { stop: Arc::clone(stop), numbers });
    }
}

impl Drop for ObjectSlot {
    fn drop(&mut self) {
        lock_mutex(&PLACES).remove(&self.name);
    }
}

/// Returns whether any object has a slot.
pub(crate) fn has_any_object() -> bool {
    !lock_mutex(&PLACES).is_empty()
}

/// A fresh copy of an object, as it was given.
pub(crate) fn copy_object(py: Python<'_>, holder: &HeldObject) -> PyResult<Py<PyAny>> {
    Ok(py.import("drystone._callbacks")?.call_method1("fresh", (&holder.object,))?.unbind())
}

/// The state of an object by pickle, or why it cannot be saved.
pub(crate) fn pickle_object(holder: &HeldObject, live: Option<&Py<PyAny>>) -> Result<Vec<u8>, SnapshotError> {
    let refusal = |error: PyErr| SnapshotError::Refused(format!("{}: cannot be pickled: {error}", holder.identity));
    holder
        .call_object(|py| {
            let object = live.unwrap_or(&holder.object);
            let bytes = py.import("pickle").and_then(|pickle| pickle.call_method1("dumps", (object,)));
            bytes.and_then(|bytes| Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
        })
        .map_err(refusal)
}

/// An object from its pickled state.
pub(crate) fn unpickle_object(holder: &HeldObject, bytes: &[u8]) -> Result<Py<PyAny>, SnapshotError> {
    let refusal = |error: PyErr| SnapshotError::Refused(format!("{}: cannot be restored: {error}", holder.identity));
    holder
        .call_object(|py| {
            let object =
                py.import("pickle").and_then(|pickle| pickle.call_method1("loads", (PyBytes::new(py, bytes),)));
            object.map(Bound::unbind)
        })
        .map_err(refusal)
}
