//! Errors of Drystone as exceptions of Python: `drystone._errors` declares them.

use drystone::engine::{PolicyViolation, SimulationError};
use drystone::log::{LogError, TableError};
use drystone::policy::{SnapshotError, SpecError};
use drystone_cli::library::CommandFailure;
use drystone_site::SiteError;
use drystone_sweep::SweepError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of `drystone._errors` with this text and these attributes.
fn raise(class: &str, text: &str, attributes: &[(&str, Option<Attribute>)]) -> PyErr {
    let made = Python::attach(|py| -> PyResult<PyErr> {
        let kind = py.import("drystone._errors")?.getattr(class)?;
        let named = PyDict::new(py);
        for (name, value) in attributes {
            match value {
                Some(Attribute::Text(text)) => named.set_item(name, text)?,
                Some(Attribute::Number(number)) => named.set_item(name, number)?,
                None => named.set_item(name, py.None())?,
            }
        }
        Ok(PyErr::from_value(kind.call((text,), Some(&named))?))
    });
    made.unwrap_or_else(|error| error)
}

enum Attribute {
    Text(String),
    Number(i64),
}

fn text(text: impl Into<String>) -> Option<Attribute> {
    Some(Attribute::Text(text.into()))
}

fn number(number: impl TryInto<i64>) -> Option<Attribute> {
    number.try_into().ok().map(Attribute::Number)
}

/// An option or argument that is wrong.
pub(crate) fn wrong(problem: impl std::fmt::Display) -> PyErr {
    raise("OptionError", &problem.to_string(), &[])
}

/// A table that is no workload; `row` counts from 0.
pub(crate) fn table(problem: &str, column: Option<&str>, row: Option<usize>) -> PyErr {
    let attributes = [("file", None), ("line", row.and_then(number)), ("field", column.and_then(text))];
    raise("LogError", problem, &attributes)
}

pub(crate) fn log(error: &LogError) -> PyErr {
    let place = error.place();
    let attributes = [
        ("file", place.file.and_then(text)),
        ("line", place.line.and_then(number)),
        ("field", place.column.map(|column| Attribute::Text(column.to_string()))),
    ];
    raise("LogError", &error.to_string(), &attributes)
}

pub(crate) fn spec(error: &SpecError) -> PyErr {
    let attributes = [
        ("policy", text(&error.text)),
        ("position", error.position().and_then(number)),
        ("suggestion", error.suggestion().and_then(text)),
    ];
    raise("PolicyTextError", &error.to_string(), &attributes)
}

/// A policy broke its contract; `job` is the log's number.
pub(crate) fn contract(told: &str, at: Option<i64>, job: Option<i64>, problem: &str) -> PyErr {
    let attributes =
        [("at", at.map(Attribute::Number)), ("job", job.map(Attribute::Number)), ("problem", text(problem))];
    raise("ContractViolation", told, &attributes)
}

pub(crate) fn violation(error: &PolicyViolation, told: &str) -> PyErr {
    let attributes = [
        ("at", number(error.at.0)),
        ("job", error.job.and_then(|job| number(job.0))),
        ("problem", text(&error.problem)),
    ];
    raise("ContractViolation", told, &attributes)
}

pub(crate) fn simulation(error: &SimulationError, told: &str) -> PyErr {
    match error {
        SimulationError::Violation(broken) => violation(broken, told),
        SimulationError::Starved { first, .. } => {
            let attributes = [("at", None), ("job", number(first.0)), ("problem", text(error.to_string()))];
            raise("ContractViolation", told, &attributes)
        }
        _ => raise("SimulationError", told, &[]),
    }
}

pub(crate) fn snapshot(error: &SnapshotError) -> PyErr {
    raise("SnapshotError", &error.to_string(), &[])
}

pub(crate) fn sweep(error: &SweepError) -> PyErr {
    match error {
        SweepError::Study { file, line, column, .. } => {
            let attributes = [("file", text(file)), ("line", number(*line as i64)), ("column", number(*column as i64))];
            raise("StudyError", &error.to_string(), &attributes)
        }
        SweepError::Locked { .. } => raise("StoreLocked", &error.to_string(), &[]),
        SweepError::Log { source, .. } => log(source),
        SweepError::Simulation { source, .. } => simulation(source, &error.to_string()),
        _ => raise("SweepError", &error.to_string(), &[]),
    }
}

/// Converts the failure of a command into an exception.
pub(crate) fn failure(failure: &CommandFailure) -> PyErr {
    if let Some(error) = failure.error::<LogError>() {
        return log(error);
    }
    if let Some(error) = failure.error::<TableError>() {
        let field = error.column.as_ref().map(|(_, name)| Attribute::Text(name.clone()));
        let line = number(error.line).filter(|_| error.line > 0);
        return raise("LogError", failure.text(), &[("file", text(&*error.file)), ("line", line), ("field", field)]);
    }
    if let Some(error) = failure.error::<SiteError>() {
        let (file, line) = error.place();
        let attributes = [("file", file.and_then(text)), ("line", line.and_then(number)), ("field", None)];
        return raise("LogError", failure.text(), &attributes);
    }
    if let Some(error) = failure.error::<SpecError>() {
        return spec(error);
    }
    if let Some(error) = failure.error::<SimulationError>() {
        return simulation(error, failure.text());
    }
    if let Some(error) = failure.error::<SweepError>() {
        return sweep(error);
    }
    wrong(failure.text())
}

/// A file that cannot be written, a number that is none.
pub(crate) fn value(problem: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// Something of this extension itself went wrong.
pub(crate) fn internal(problem: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(problem.to_string())
}
