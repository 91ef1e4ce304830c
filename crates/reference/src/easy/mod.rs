//! FCFS, first fit, and EASY backfilling with every choice that published results make differently
//! as an option.
//!
//! The machine has identical processors; a job that outlives its prediction keeps running
//! ("run-on"; to kill jobs, cut their run times before). Events are terminations, prediction
//! expiries and arrivals, in this order at equal times, then by index. The rules in the comments
//! are those of Tsafrir et al. (2007) as settled against their tables.

mod engine;
mod options;
mod order;

pub use crate::predict::{
    Matters, NaiveAbove, NaiveGrowth, NaiveLearned, NaiveLearnerPredictor, NaiveMetric, NaivePropagation, NaiveRecent,
    NaiveWindow,
};
pub use engine::run;
pub use options::{Easy, NaiveEasyOverdue, NaiveExtra, NaivePass, Reservations};
pub use order::NaiveEasyOrder;

use crate::{JobIn, JobOut};

/// First come, first served: no job overtakes.
pub fn run_fcfs(jobs: &[JobIn], machine: i64) -> Vec<JobOut> {
    let policy = Easy { reservations: Reservations::NoOvertaking, ..Easy::default() };
    run(&policy, jobs, machine).schedule()
}

/// First fit: a job that fits starts, in order of arrival; no job has a reservation.
pub fn first_fit(jobs: &[JobIn], machine: i64) -> Vec<JobOut> {
    let policy = Easy { reservations: Reservations::First(0), ..Easy::default() };
    run(&policy, jobs, machine).schedule()
}

/// Everything that is known of one run: the schedule, and what the statistics need.
#[derive(Clone, PartialEq, Debug)]
pub struct NaiveRun {
    /// One record per job, in order of arrival.
    pub jobs: Vec<NaiveRecord>,
    /// Indices in the order in which terminations were handled.
    pub ended: Vec<usize>,
}

/// History of one job.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NaiveRecord {
    pub start: i64,
    pub end: i64,
    /// The predictions in force, each with the time from which it held; the first one at submit.
    pub predictions: Vec<(i64, i64)>,
    /// True if the first prediction came from the user's history (and was not discarded).
    pub from_history: bool,
    /// Rule 20: the shadow of the first pass in which the job was the head that does not fit, or
    /// its start if it waited and started as head without ever having been one.
    pub first_reservation: Option<i64>,
    /// Rule 21, E0: when the head could start by the real ends of the running jobs, at its first
    /// pass as head.
    pub real_earliest: Option<i64>,
    /// Rule 21: backfilled jobs that moved that time.
    pub thieves: u32,
}

impl NaiveRecord {
    pub fn correction_count(&self) -> usize {
        self.predictions.len() - 1
    }

    /// The prediction in force now, or at the end.
    ///
    /// # Panics
    /// Before the job has arrived.
    pub fn current_prediction(&self) -> i64 {
        self.predictions[self.predictions.len() - 1].1
    }
}

impl NaiveRun {
    /// Starts and ends only.
    pub fn schedule(&self) -> Vec<JobOut> {
        let out = |r: &NaiveRecord| JobOut { start: r.start, end: r.end };
        self.jobs.iter().map(out).collect()
    }
}
