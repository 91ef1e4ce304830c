//! Named workloads that need no file.

use super::{GenerateError, Params, WorkloadLength, WorkloadModel, generate_workload};
use crate::model::{Span, Workload};

/// 10,000 jobs for 256 processors at a load of 0.85: a small, busy machine for tests, benchmarks
/// and examples.
#[must_use]
pub fn default_params() -> Params {
    Params { load: Some(0.85), seed: 1, ..Params::new(256, 10_000) }
}

/// The workload of [`default_params`].
///
/// # Errors
/// None in practice: the parameters are fixed, and tested.
pub fn default_workload() -> Result<Workload, GenerateError> {
    generate_workload(&default_params())
}

/// The hard case for simulators: two years of batch and interactive jobs for 128 processors at a
/// load of 1.05, some 330,000 jobs. The queue grows all the time: under EASY 3,000 jobs wait on
/// average, and more than 1,000 in four fifths of the time. (The model's jobs are few and long,
/// some 300 to 450 a day; months are not enough for thousands to pile up.)
#[must_use]
pub fn deep_queue_params() -> Params {
    Params {
        length: WorkloadLength::Span(Span(730 * Span::DAY.0)),
        load: Some(1.05),
        seed: 1,
        model: WorkloadModel::Typed,
        ..Params::new(128, 1)
    }
}

/// The built-in example of the command line: 105 days of batch and interactive jobs on 1,024
/// processors, limited to six hours, at a load of 0.55. Under EASY a job waits three hours on
/// average and the longest wait is a few days, as at many sites.
#[must_use]
pub fn example_params() -> Params {
    Params {
        length: WorkloadLength::Span(Span(105 * Span::DAY.0)),
        load: Some(0.55),
        seed: 1,
        model: WorkloadModel::Typed,
        max_estimate: Span(6 * Span::HOUR.0),
        ..Params::new(1_024, 1)
    }
}
