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
fn raise_error(class: &str, text: &str, attributes: &[(&str, Option<Attribute>)]) -> PyErr {
    let exception = Python::attach(|py| -> PyResult<PyErr> {
        let kind = py.import("drystone._errors")?.getattr(class)?;
        let keywords = PyDict::new(py);
        for (name, value) in attributes {
            match value {
                Some(Attribute::Text(text)) => keywords.set_item(name, text)?,
                Some(Attribute::Number(number)) => keywords.set_item(name, number)?,
                None => keywords.set_item(name, py.None())?,
            }
        }
        Ok(PyErr::from_value(kind.call((text,), Some(&keywords))?))
    });
    exception.unwrap_or_else(|error| error)
}

enum Attribute {
    Text(String),
    Number(i64),
}

fn text_attribute(text: impl Into<String>) -> Option<Attribute> {
    Some(Attribute::Text(text.into()))
}

fn number_attribute(number: impl TryInto<i64>) -> Option<Attribute> {
    number.try_into().ok().map(Attribute::Number)
}

/// An option or argument that is wrong.
pub(crate) fn wrong_error(problem: impl std::fmt::Display) -> PyErr {
    raise_error("OptionError", &problem.to_string(), &[])
}

/// A table that is no workload; `row` counts from 0.
pub(crate) fn table_error(problem: &str, column: Option<&str>, row: Option<usize>) -> PyErr {
    let attributes =
        [("file", None), ("line", row.and_then(number_attribute)), ("field", column.and_then(text_attribute))];
    raise_error("LogError", problem, &attributes)
}

pub(crate) fn log_error(error: &LogError) -> PyErr {
    let place = error.place();
    let attributes = [
        ("file", place.file.and_then(text_attribute)),
        ("line", place.line.and_then(number_attribute)),
        ("field", place.column.map(|column| Attribute::Text(column.to_string()))),
    ];
    raise_error("LogError", &error.to_string(), &attributes)
}

pub(crate) fn spec_error(error: &SpecError) -> PyErr {
    let attributes = [
        ("policy", text_attribute(&error.text)),
        ("position", error.position().and_then(number_attribute)),
        ("suggestion", error.suggestion().and_then(text_attribute)),
    ];
    raise_error("PolicyTextError", &error.to_string(), &attributes)
}

/// A policy broke its contract; `job` is the log's number.
pub(crate) fn contract_error(message: &str, at: Option<i64>, job: Option<i64>, problem: &str) -> PyErr {
    let attributes =
        [("at", at.map(Attribute::Number)), ("job", job.map(Attribute::Number)), ("problem", text_attribute(problem))];
    raise_error("ContractViolation", message, &attributes)
}

pub(crate) fn violation_error(error: &PolicyViolation, message: &str) -> PyErr {
    let attributes = [
        ("at", number_attribute(error.at.0)),
        ("job", error.job.and_then(|job| number_attribute(job.0))),
        ("problem", text_attribute(&error.problem)),
    ];
    raise_error("ContractViolation", message, &attributes)
}

pub(crate) fn simulation_error(error: &SimulationError, message: &str) -> PyErr {
    match error {
        SimulationError::Violation(broken) => violation_error(broken, message),
        SimulationError::Starved { first, .. } => {
            let attributes =
                [("at", None), ("job", number_attribute(first.0)), ("problem", text_attribute(error.to_string()))];
            raise_error("ContractViolation", message, &attributes)
        }
        _ => raise_error("SimulationError", message, &[]),
    }
}

pub(crate) fn snapshot_error(error: &SnapshotError) -> PyErr {
    raise_error("SnapshotError", &error.to_string(), &[])
}

pub(crate) fn sweep_error(error: &SweepError) -> PyErr {
    match error {
        SweepError::Study { file, line, column, .. } => {
            let attributes = [
                ("file", text_attribute(file)),
                ("line", number_attribute(*line as i64)),
                ("column", number_attribute(*column as i64)),
            ];
            raise_error("StudyError", &error.to_string(), &attributes)
        }
        SweepError::Locked { .. } => raise_error("StoreLocked", &error.to_string(), &[]),
        SweepError::Log { source, .. } => log_error(source),
        SweepError::Simulation { source, .. } => simulation_error(source, &error.to_string()),
        _ => raise_error("SweepError", &error.to_string(), &[]),
    }
}

/// Converts the failure of a command into an exception.
pub(crate) fn command_error(failure: &CommandFailure) -> PyErr {
    if let Some(error) = failure.find_error::<LogError>() {
        return log_error(error);
    }
    if let Some(error) = failure.find_error::<TableError>() {
        let field = error.column.as_ref().map(|(_, name)| Attribute::Text(name.clone()));
        let line = number_attribute(error.line).filter(|_| error.line > 0);
        return raise_error(
            "LogError",
            failure.message(),
            &[("file", text_attribute(&*error.file)), ("line", line), ("field", field)],
        );
    }
    if let Some(error) = failure.find_error::<SiteError>() {
        let (file, line) = error.file_and_line();
        let attributes =
            [("file", file.and_then(text_attribute)), ("line", line.and_then(number_attribute)), ("field", None)];
        return raise_error("LogError", failure.message(), &attributes);
    }
    if let Some(error) = failure.find_error::<SpecError>() {
        return spec_error(error);
    }
    if let Some(error) = failure.find_error::<SimulationError>() {
        return simulation_error(error, failure.message());
    }
    if let Some(error) = failure.find_error::<SweepError>() {
        return sweep_error(error);
    }
    wrong_error(failure.message())
}

/// A file that cannot be written, a number that is none.
pub(crate) fn value_error(problem: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// Something of this extension itself went wrong.
pub(crate) fn internal_error(problem: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(problem.to_string())
}
