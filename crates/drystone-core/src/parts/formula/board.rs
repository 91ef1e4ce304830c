//! The waiting jobs of a queue whose order changes with time.

use super::Formula;
use super::arithmetic::queue_place;
use super::program::{Inputs, LANES, ValueBlock};
use super::value::{Moment, WaitingFacts};
use crate::model::{JobId, Procs, SharedSort};
use crate::parts::{BackfillFit, WaitingJob};
use serde::{Deserialize, Serialize};

/// The jobs of a queue that is rated again at each pass, in columns.
///
/// Insert, remove and a search cost O(n), a rating O(n · steps of the formula), each with a small
/// constant: no job is sorted. Jobs with equal values are in the order of their arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QueueBoard {
    /// In no order. Their keys are the places of the last rating.
    jobs: Vec<WaitingJob>,
    submits: Vec<f64>,
    users: Vec<i32>,
    columns: Vec<Vec<f64>>,
    #[serde(skip)]
    stack: Vec<ValueBlock>,
}

impl QueueBoard {
    /// Adds a job.
    pub fn insert(&mut self, formula: &Formula, job: WaitingJob, facts: &WaitingFacts) {
        self.jobs.push(job);
        self.submits.push(facts.submit);
        self.users.push(facts.user);
        self.columns.resize(formula.0.program.columns.len(), Vec::new());
        self.columns
            .iter_mut()
            .zip(formula.0.program.column_values(facts))
            .for_each(|(column, value)| column.push(value));
    }

    /// Removes a job; `None` if it is not here.
    pub fn remove(&mut self, id: JobId) -> Option<WaitingJob> {
        let at = self.jobs.iter().position(|job| job.id == id)?;
        Some(self.remove_at(at))
    }

    fn remove_at(&mut self, at: usize) -> WaitingJob {
        self.submits.swap_remove(at);
        self.users.swap_remove(at);
        self.columns.iter_mut().for_each(|column| _ = column.swap_remove(at));
        self.jobs.swap_remove(at)
    }

    /// Number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns whether no job is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Gives every job its place at this moment. Results of the other functions are about the last
    /// rating.
    pub fn rate_jobs(&mut self, formula: &Formula, moment: &Moment<'_>) {
        let mut from = 0;
        while from < self.jobs.len() {
            let count = (self.jobs.len() - from).min(LANES);
            let QueueBoard { jobs, submits, users, columns, stack } = self;
            let inputs = Inputs { moment: *moment, submits, users, columns, from, count };
            let values = formula.0.program.run_block(stack, &inputs);
            for (job, &value) in jobs[from..].iter_mut().zip(values) {
                job.key = queue_place(value);
            }
            from += count;
        }
    }

    /// The first job in the order of the last rating. O(n).
    #[must_use]
    pub fn first_job(&self) -> Option<WaitingJob> {
        self.jobs.iter().min_by_key(|job| job.queue_place()).copied()
    }

    /// The first job that `fit` admits.
    #[must_use]
    pub fn next_fit(&self, fit: BackfillFit) -> Option<WaitingJob> {
        self.find_best(fit).map(|at| self.jobs[at])
    }

    /// Returns whether `fit` admits any job.
    #[must_use]
    pub fn any_fits(&self, fit: BackfillFit) -> bool {
        self.jobs.iter().any(|job| fit.can_start(job.procs, job.prediction))
    }

    fn find_best(&self, fit: BackfillFit) -> Option<usize> {
        let candidates = self.jobs.iter().enumerate().filter(|(_, job)| fit.can_start(job.procs, job.prediction));
        candidates.min_by_key(|(_, job)| job.queue_place()).map(|(at, _)| at)
    }

    /// Takes out the first job that `fit` admits.
    pub fn take_fit(&mut self, fit: BackfillFit) -> Option<WaitingJob> {
        let at = self.find_best(fit)?;
        Some(self.remove_at(at))
    }

    /// All jobs in the order of the last rating. O(n log n).
    #[must_use]
    pub fn sorted_jobs(&self) -> Vec<WaitingJob> {
        let mut jobs = self.jobs.clone();
        jobs.sort_shared_by_key(WaitingJob::queue_place);
        jobs
    }

    /// The narrowest job; `None` where there is none.
    #[must_use]
    pub fn narrowest_job(&self) -> Option<Procs> {
        self.jobs.iter().map(|job| job.procs).min()
    }
}
