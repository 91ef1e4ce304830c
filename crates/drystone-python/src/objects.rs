//! Python objects that texts can name while a slot is held.

use drystone::snapshot::SnapshotError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An object that has a place.
pub(crate) struct HeldObject {
    pub(crate) object: Py<PyAny>,
    /// Identity of the class: module, name, a hash of its source.
    pub(crate) identity: String,
    /// Exception that it raised.
    failure: Mutex<Option<PyErr>>,
    /// Set when it raises, so that the work stops.
    halts: Mutex<Vec<Arc<AtomicBool>>>,
}

impl HeldObject {
    /// Keeps what it raised and stops the work.
    pub(crate) fn fail(&self, error: PyErr) {
        lock(&self.failure).get_or_insert(error);
        lock(&self.halts).iter().for_each(|halt| halt.store(true, Ordering::Relaxed));
    }

    /// Returns whether it has raised an exception.
    pub(crate) fn has_failed(&self) -> bool {
        lock(&self.failure).is_some()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
        let held = Arc::new(HeldObject {
            object: object.unbind(),
            identity,
            failure: Mutex::default(),
            halts: Mutex::default(),
        });
        let mut places = lock(&PLACES);
        let like = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(like).find(|name| !places.contains_key(name));
        let name = free.unwrap_or(name);
        places.insert(name.clone(), Arc::clone(&held));
        Ok(ObjectSlot { name, held })
    }
}

impl ObjectSlot {
    /// Work that stops when the object raises.
    pub(crate) fn halts(&self, stop: &Arc<AtomicBool>) {
        let mut halts = lock(&self.held.halts);
        // Those of work that is over are held here alone.
        halts.retain(|halt| Arc::strong_count(halt) > 1);
        halts.push(Arc::clone(stop));
    }

    /// Raises what the object has raised, once.
    pub(crate) fn raised(&self) -> PyResult<()> {
        lock(&self.held.failure).take().map_or(Ok(()), Err)
    }
}

impl Drop for ObjectSlot {
    fn drop(&mut self) {
        lock(&PLACES).remove(&self.name);
    }
}

/// Returns whether any object has a slot.
pub(crate) fn any() -> bool {
    !lock(&PLACES).is_empty()
}

/// A fresh copy of an object, as it was given.
pub(crate) fn fresh(py: Python<'_>, held: &HeldObject) -> PyResult<Py<PyAny>> {
    Ok(py.import("drystone._callbacks")?.call_method1("fresh", (&held.object,))?.unbind())
}

/// The state of an object by pickle, or why it cannot be saved.
pub(crate) fn pickled(held: &HeldObject, live: Option<&Py<PyAny>>) -> Result<Vec<u8>, SnapshotError> {
    let refused = |error: PyErr| SnapshotError::Refused(format!("{}: cannot be pickled: {error}", held.identity));
    Python::attach(|py| {
        let object = live.unwrap_or(&held.object);
        let bytes = py.import("pickle").and_then(|pickle| pickle.call_method1("dumps", (object,)));
        bytes.and_then(|bytes| Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())).map_err(refused)
    })
}

/// An object from its pickled state.
pub(crate) fn unpickled(held: &HeldObject, bytes: &[u8]) -> Result<Py<PyAny>, SnapshotError> {
    let refused = |error: PyErr| SnapshotError::Refused(format!("{}: cannot be restored: {error}", held.identity));
    Python::attach(|py| {
        let loaded = py.import("pickle").and_then(|pickle| pickle.call_method1("loads", (PyBytes::new(py, bytes),)));
        loaded.map(Bound::unbind).map_err(refused)
    })
}
