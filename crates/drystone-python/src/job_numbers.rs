//! The log's numbers of jobs, by which people know them.

use drystone::model::{JobId, Workload};
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
