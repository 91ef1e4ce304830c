//! Failures of simulations, in the log's own numbers of jobs and with the line of Python that asked
//! for the impossible.

use crate::error;
use crate::job_numbers::{JobNumbers, number_of};
use crate::log::PyLog;
use crate::objects::ObjectSlot;
use drystone::engine::SimulationError;
use drystone::model::JobId;
use drystone_cli::library::CommandFailure;
use pyo3::prelude::*;

/// Jobs and objects of a simulation.
pub(crate) struct WorkScene {
    pub(crate) slots: Vec<Py<ObjectSlot>>,
    pub(crate) numbers: JobNumbers,
}

/// Sentence about a policy that comes with the program.
const REPORT: &str = "; this is a bug of the policy, please report it";

impl WorkScene {
    pub(crate) fn new(log: &PyLog, slots: Vec<Py<ObjectSlot>>) -> WorkScene {
        WorkScene { slots, numbers: log.job_numbers() }
    }

    /// Converts the failure of a command into an exception.
    pub(crate) fn convert_failure(&self, py: Python<'_>, failure: &CommandFailure) -> PyErr {
        let Some(broken) = failure.find_error::<SimulationError>() else { return error::command_error(failure) };
        let (job, problem) = match broken {
            SimulationError::Violation(violation) => (violation.job, Some(&violation.problem)),
            SimulationError::Starved { first, .. } => (Some(*first), None),
            _ => return error::command_error(failure),
        };
        let number = job.map(|job| self.job_number(job));
        let renumber_text = |text: &str| match (job, number) {
            (Some(job), Some(number)) => text.replace(&format!("job {job}"), &format!("job {number}")),
            _ => text.to_string(),
        };
        let mut text = renumber_text(failure.message());
        if let (Some(job), Some(number)) = (job, number) {
            text = text.replace(&format!("the first is {job}"), &format!("the first is job {number}"));
        }
        if let Some(slot) = self.find_author(failure.message()) {
            let place = job.filter(|_| problem.is_some()).and_then(|job| slot.held_object().request_place(py, job.0));
            let author = match place {
                Some((file, line)) => format!("; it was asked for in {file}, line {line}"),
                None => String::new(),
            };
            text = text.replace(REPORT, &author);
        }
        let problem = problem.map_or_else(|| text.clone(), Clone::clone);
        let at = if let SimulationError::Violation(violation) = broken { Some(violation.at.0) } else { None };
        error::contract_error(&text, at, number, &problem)
    }

    /// The log's number of a job, or the number that the policy made up.
    fn job_number(&self, job: JobId) -> i64 {
        match number_of(Some(&self.numbers), job) {
            _ if job.index() >= self.numbers.len() => i64::from(job.0),
            number => number,
        }
    }

    /// The object of Python that a failure is about.
    fn find_author(&self, text: &str) -> Option<&ObjectSlot> {
        let policy = text.strip_prefix("policy ")?;
        let names = |slot: &&Py<ObjectSlot>| {
            let call = format!("python({}", slot.get().name());
            policy.strip_prefix(&call).is_some_and(|rest| rest.starts_with([',', ')']))
        };
        self.slots.iter().find(names).map(Py::get)
    }
}
