//! Input and output: one line per job.

use drystone::model::Workload;

/// A job in order of arrival; its place in the list is its *index*, which breaks ties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobIn {
    /// Arrival, in seconds.
    pub submit: i64,
    /// Processors needed, at least 1.
    pub procs: i64,
    /// The user's requested time, in seconds.
    pub estimate: i64,
    /// The actual run time, in seconds; policies do not look at it unless they are clairvoyant.
    pub run: i64,
    pub user: i64,
}

/// Outcome of a job that is never suspended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobOut {
    /// Start, in seconds.
    pub start: i64,
    /// End, in seconds.
    pub end: i64,
}

/// The jobs of a workload of the product, in the same order.
pub fn jobs_of(workload: &Workload) -> Vec<JobIn> {
    let pairs = workload.jobs().iter().zip(workload.truth());
    pairs
        .map(|(job, truth)| JobIn {
            submit: job.submit.0,
            procs: i64::from(job.procs),
            estimate: job.estimate.0,
            run: truth.run.0,
            user: i64::from(job.user),
        })
        .collect()
}
