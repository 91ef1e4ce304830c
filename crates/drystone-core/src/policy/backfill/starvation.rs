//! A guard against starvation: a job that has waited too long heads the queue (Lelong, Reis &
//! Trystram 2017).

use crate::model::{JobId, SharedSort, Span, Time};
use crate::parts::{JobLine, WaitingJob};
use crate::policy::{Phase, View};
use serde::{Deserialize, Serialize};

/// Jobs that have waited longer than a threshold go first, in the order of their arrival: they are
/// the first of a line.
#[derive(Serialize, Deserialize)]
pub(super) struct StarvationQueue {
    threshold: Span,
    arrivals: JobLine,
}

impl StarvationQueue {
    pub(super) fn new(threshold: Span) -> StarvationQueue {
        StarvationQueue { threshold, arrivals: JobLine::default() }
    }

    pub(super) fn add_job(&mut self, job: JobId) {
        self.arrivals.join_line(job);
    }

    /// The job that has waited longest, as `waits` says which still wait.
    fn oldest_waiting(&mut self, waits: impl Fn(JobId) -> bool, view: &View<'_>) -> Option<JobId> {
        self.arrivals.first_waiting(|id| id >= view.oldest_job() && view.phase(id) == Phase::Waiting && waits(id))
    }

    /// Returns the second after which a job submitted then has waited too long.
    fn patience_end(&self, submit: Time) -> Time {
        submit.saturating_add(self.threshold)
    }

    /// The job that goes first because it has waited too long.
    pub(super) fn starving_head(&mut self, waits: impl Fn(JobId) -> bool, view: &View<'_>) -> Option<WaitingJob> {
        let id = self.oldest_waiting(waits, view)?;
        let job = view.job(id);
        let starves = view.current_time() > self.patience_end(job.submit);
        let prediction = view.prediction(id);
        starves.then_some(WaitingJob { key: i64::MIN, prediction, submit: job.submit, id, procs: job.procs })
    }

    /// Moves the jobs that have waited too long to the front, in the order of their arrival.
    pub(super) fn put_first(&self, jobs: &mut [WaitingJob], now: Time) {
        let starves = |job: &WaitingJob| now > self.patience_end(job.submit);
        jobs.sort_shared_by_key(|job| if starves(job) { (false, job.id) } else { (true, JobId::default()) });
    }

    /// Returns the time until which this head stays first as far as patience is concerned.
    pub(super) fn head_valid_until(&mut self, head: JobId, waits: impl Fn(JobId) -> bool, view: &View<'_>) -> Time {
        match self.oldest_waiting(waits, view) {
            Some(oldest) if oldest != head => self.patience_end(view.job(oldest).submit),
            _ => Time::MAX,
        }
    }
}
