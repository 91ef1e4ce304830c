//! Errors that stop a simulation before its end.

use super::THRASHING;
use crate::engine::session::{NewsError, PolicyViolation};
use crate::model::{JobId, Time};

/// Too little of a further resource for a job that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SupplyLack {
    /// Name of the resource.
    pub resource: String,
    /// Amount that there is.
    pub left: String,
    /// Amount that the job asks for.
    pub needs: String,
}

/// Reason why a simulation stopped before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The policy asked for something impossible.
    #[error("the policy broke its contract {0}")]
    Violation(#[from] PolicyViolation),
    /// The workload has resources beyond processors, and the policy counts processors only.
    #[error("{}", crate::engine::Unfit::Uncounted)]
    Uncounted,
    /// Jobs are placed on nodes, and the policy places none.
    #[error("{}", crate::engine::Unfit::Unplaced)]
    Unplaced,
    /// Jobs have several sizes, and write checkpoints.
    #[error("jobs of several sizes write no checkpoints here: leave out either the sizes or the checkpoints")]
    SizedCheckpoints,
    /// Nothing will ever happen again, but jobs are left.
    #[error("the policy leaves {waiting} waiting and {suspended} suspended jobs for ever; the first is {first}")]
    Starved {
        /// Jobs that never started.
        waiting: u32,
        /// Jobs that were never resumed.
        suspended: u32,
        /// One of them.
        first: JobId,
    },
    /// A job is suspended over and over, and what that costs is more than it runs in between.
    #[error(
        "job {number}, submitted at {submit} s, was suspended {THRASHING} times, at a cost each time, and may never end: the \
         policy should suspend less (ss, tss: a higher sf, or cap=; is: a longer slice) or suspension should cost less"
    )]
    Thrashing {
        /// Job concerned, in the order of arrival from 0.
        job: JobId,
        /// The log's number of it.
        number: i64,
        /// Submit time.
        submit: Time,
    },
    /// The source sent a job that cannot be, or broke its word: see
    /// [`EventSource`](crate::engine::EventSource).
    #[error("arrival {index} of the source: {problem}")]
    Impossible {
        /// Its place in the order of arrival, from 0.
        index: u32,
        /// Description of the mistake.
        problem: String,
    },
    /// The policy cannot take the news of the workload.
    #[error(transparent)]
    News(#[from] NewsError),
    /// Nothing will ever happen again, and too few processors are up for the jobs that wait.
    #[error(
        "only {up} of {procs} processors are up in the end: job {number}, submitted at {submit} s, needs {needs} and waits for ever \
         ({waiting} in all); give the outages an end, or leave out such jobs"
    )]
    TooFew {
        /// Jobs that never started.
        waiting: u32,
        /// Processors that are up.
        up: u32,
        /// Processors of the machine.
        procs: u32,
        /// One of the jobs, in the order of arrival from 0.
        first: JobId,
        /// The log's number of it.
        number: i64,
        /// Submit time.
        submit: Time,
        /// Number of processors that it needs.
        needs: u32,
    },
    /// Nothing will ever happen again, and the last cap on power leaves too little for jobs that
    /// wait to start or to resume.
    #[error(
        "the last cap on power leaves {left} W for jobs: job {number}, submitted at {submit} s, draws {needs} W and waits for \
         ever ({waiting} waiting in all); raise the last cap, or leave out such jobs"
    )]
    TooLittlePower {
        /// Jobs that wait to start or to resume.
        waiting: u32,
        /// Watts that jobs may draw.
        left: i64,
        /// One of the jobs, in the order of arrival from 0.
        first: JobId,
        /// The log's number of it.
        number: i64,
        /// Submit time.
        submit: Time,
        /// Watts that it draws.
        needs: i64,
    },
    /// Nothing will ever happen again, and there is too little of a further resource for jobs that
    /// wait.
    #[error(
        "in the end the machine has only {} of `{}`: job {number}, submitted at {submit} s, asks for {} and waits for ever \
         ({jobs} waiting in all); raise the last amount, or leave out such jobs",
        lack.left, lack.resource, lack.needs
    )]
    TooLittleSupply {
        /// Number of jobs that never started, or were never resumed.
        jobs: usize,
        /// Resource that is lacking.
        lack: Box<SupplyLack>,
        /// One of the jobs, in the order of arrival from 0.
        first: JobId,
        /// The log's number of it.
        number: i64,
        /// Submit time.
        submit: Time,
    },
    /// Actions from outside were given where no pass is due.
    #[error("actions were given where no pass is due; call `next_pass` first, and once more after the last action")]
    NoPass,
    /// The source went back in time.
    #[error("an arrival at {next} comes after the present, {now}: a source must be in order of time")]
    Disorder {
        /// The present.
        now: Time,
        /// The arrival.
        next: Time,
    },
}
