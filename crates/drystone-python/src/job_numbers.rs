//! Numbers of jobs: those of the log, by which people know them, and those that calls take.

use drystone::model::{JobId, Workload};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The log's numbers of the jobs, in the order of arrival.
pub(crate) type JobNumbers = Arc<[i64]>;

/// Returns the log's numbers of a workload's jobs.
pub(crate) fn job_numbers(workload: &Workload) -> JobNumbers {
    workload.truth().iter().map(|truth| truth.number).collect()
}

/// Returns the number of a job among these; −1 where it is not known.
pub(crate) fn number_of(numbers: Option<&JobNumbers>, id: JobId) -> i64 {
    numbers.and_then(|numbers| numbers.get(id.index())).copied().unwrap_or(-1)
}

/// A job by its number, from Python.
pub(crate) fn job_id(job: &Bound<'_, PyAny>) -> PyResult<JobId> {
    job.extract::<u32>().map(JobId).map_err(|_| {
        let shown_job = job.repr().map_or_else(|_| "this".to_string(), |text| text.to_string());
        PyTypeError::new_err(format!("{shown_job} is no job; expected the id of a job, such as view.waiting.id[0]"))
    })
}
