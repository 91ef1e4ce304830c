//! Results of other commands: predictors alone, imports, fidelity, advice, published tables.

use crate::error;
use crate::failure::WorkScene;
use crate::log::PyLog;
use crate::objects::ObjectSlot;
use crate::work::{Halt, run_interruptible, run_watched, with_objects};
use drystone_cli::library::{self, CommandFailure, WithNotes};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn convert_failure(failure: CommandFailure) -> PyErr {
    error::command_error(&failure)
}

fn stopped_error() -> PyErr {
    PyKeyboardInterrupt::new_err("stopped")
}

/// Works while objects of Python may take part, registered ones among them.
fn with_slots<T: Send + 'static>(
    py: Python<'_>,
    slots: &[Py<ObjectSlot>],
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    run_watched(py, &Halt::new(slots, None), |_| Ok(()), work)
}

/// A result in every form that the command has.
#[pyclass(frozen, name = "Said", module = "drystone._drystone")]
pub(crate) struct PySaid {
    said: Arc<library::LibraryOutput>,
    messages: Vec<String>,
}

impl From<WithNotes<library::LibraryOutput>> for PySaid {
    fn from(outcome: WithNotes<library::LibraryOutput>) -> PySaid {
        PySaid { said: Arc::new(outcome.what), messages: outcome.messages }
    }
}

#[pymethods]
impl PySaid {
    /// Notes and warnings.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// Returns the command's output as text.
    fn text(&self) -> String {
        self.said.render_text()
    }

    /// Returns the command's output as JSON.
    fn json(&self) -> PyResult<String> {
        self.said.render_json().map_err(convert_failure)
    }

    /// Returns the command's output as CSV: names and values of each row, empty where there is
    /// none.
    fn rows(&self) -> Vec<Vec<(String, String)>> {
        self.said.render_rows()
    }

    /// A page with plots.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let results = Arc::clone(&self.said);
        run_interruptible(py, move |_| results.render_page())?.map_err(convert_failure)
    }

    /// Writes it, as the ending says.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let results = Arc::clone(&self.said);
        run_interruptible(py, move |_| results.write_file(&path))?.map_err(convert_failure)
    }
}

/// Judges predictors alone; the options are those of the command `predict`.
#[pyfunction]
pub(crate) fn predict(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let result = with_objects(py, &scene.slots, &scene.numbers, move |_| library::test_predictors(&input, &options))?;
    Ok(result.map_err(|failure| scene.convert_failure(py, &failure))?.into())
}

/// Brackets the best possible schedule; the options are those of the command `headroom`.
#[pyfunction]
pub(crate) fn headroom(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let result =
        with_objects(py, &scene.slots, &scene.numbers, move |stop| library::bracket_headroom(&input, &options, stop))?;
    Ok(result.map_err(|failure| scene.convert_failure(py, &failure))?.ok_or_else(stopped_error)?.into())
}

/// Scores answers to when waiting jobs start; the options are those of the command `foresee`.
#[pyfunction]
pub(crate) fn foresee(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let result =
        with_objects(py, &scene.slots, &scene.numbers, move |stop| library::score_forecasts(&input, &options, stop))?;
    Ok(result.map_err(|failure| scene.convert_failure(py, &failure))?.ok_or_else(stopped_error)?.into())
}

/// Simulates a log, or a site or a log at a path, before and after changes; the options are those
/// of the command `whatif`.
#[pyfunction]
#[pyo3(signature = (log, place, options, slots))]
pub(crate) fn whatif(
    py: Python<'_>,
    log: Option<&PyLog>,
    place: Option<PathBuf>,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = log.map(|log| Arc::clone(&log.input));
    let outcome = with_slots(py, &slots, move |stop| {
        library::simulate_changes(input.as_deref(), place.as_deref(), &options, stop)
    })?;
    Ok(outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?.into())
}

/// Tells when waiting jobs of a cluster start; the options are those of the command `when`. Returns
/// text, JSON, and messages.
#[pyfunction]
pub(crate) fn when(
    py: Python<'_>,
    state: PathBuf,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<(String, String, Vec<String>)> {
    let outcome = with_slots(py, &slots, move |_| library::forecast_starts(&state, &options))?;
    let WithNotes { what: (text, json), messages } = outcome.map_err(convert_failure)?;
    Ok((text, json, messages))
}

/// Holds a simulation of a site against what happened; the options are those of the command
/// `fidelity`.
#[pyfunction]
pub(crate) fn fidelity(
    py: Python<'_>,
    site: PathBuf,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let outcome = with_slots(py, &slots, move |stop| library::check_fidelity(&site, &options, stop))?;
    Ok(outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?.into())
}

/// Makes a site of accounting; the options are those of the command `import`. Returns its account
/// as text and as JSON, and messages.
#[pyfunction]
#[pyo3(name = "import_")]
pub(crate) fn import(
    py: Python<'_>,
    files: Vec<PathBuf>,
    out: PathBuf,
    options: Vec<String>,
) -> PyResult<(String, String, Vec<String>)> {
    let outcome = run_interruptible(py, move |stop| library::import_files(&files, &out, &options, stop))?;
    let WithNotes { what: (text, json), messages } = outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?;
    Ok((text, json, messages))
}

/// Advice for a log, or a site or a log at a path; the options are those of the command `advise`.
#[pyfunction]
#[pyo3(signature = (log, place, options, slots))]
pub(crate) fn advise(
    py: Python<'_>,
    log: Option<&PyLog>,
    place: Option<PathBuf>,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = log.map(|log| Arc::clone(&log.input));
    let outcome = with_slots(py, &slots, move |stop| {
        library::advise_changes(input.as_deref(), place.as_deref(), &options, stop)
    })?;
    Ok(outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?.into())
}

/// Waits that a site recorded; the options are those of the command `waits`.
#[pyfunction]
pub(crate) fn waits(py: Python<'_>, site: PathBuf, options: Vec<String>) -> PyResult<PySaid> {
    Ok(run_interruptible(py, move |_| library::read_waits(&site, &options))?.map_err(convert_failure)?.into())
}

/// Searches for orders of waiting jobs; the options are those of the command `evolve`.
#[pyfunction]
pub(crate) fn evolve(
    py: Python<'_>,
    log: &PyLog,
    also: Vec<PathBuf>,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PySaid> {
    let input = Arc::clone(&log.input);
    let outcome = with_slots(py, &slots, move |stop| library::evolve_orders(&input, &also, &options, stop))?;
    Ok(outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?.into())
}

/// Holds published tables beside ours; the options are those of the command `reproduce`.
#[pyfunction]
pub(crate) fn reproduce(py: Python<'_>, options: Vec<String>) -> PyResult<PySaid> {
    let outcome = run_interruptible(py, move |stop| library::reproduce_papers(&options, stop))?;
    Ok(outcome.map_err(convert_failure)?.ok_or_else(stopped_error)?.into())
}
