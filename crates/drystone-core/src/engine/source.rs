//! Where arrivals come from.

use crate::model::{Job, JobId, Time, Truth, Workload};

/// Something that comes in from outside.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Incoming<'a> {
    /// A job, and the truth about it.
    Submit(&'a Job, &'a Truth),
    /// A job is withdrawn by its user.
    Cancel(JobId),
}

/// A stream of arrivals and cancellations in order of time: a log, a generator, a live cluster.
///
/// Jobs are numbered in the order in which they come. Each must be possible on the machine, as those of a
/// [`Workload`] are, and come at its submit time; the simulation refuses others
/// ([`SimulationError::Impossible`](super::SimulationError::Impossible)).
pub trait Source {
    /// When the next one comes, within ±2⁴⁰ s and not before the last; `None` after the last.
    fn peek(&self) -> Option<Time>;

    /// Takes the next one: `Some` wherever [`Source::peek`] has said so.
    fn next(&mut self) -> Option<Incoming<'_>>;

    /// How many were taken so far, so that a source can be put back where it was.
    fn position(&self) -> u64;

    /// Goes to a position where it was before.
    fn seek(&mut self, position: u64);

    /// Whether all jobs are known to be possible: then nobody looks at each of them.
    fn is_checked(&self) -> bool {
        false
    }
}

/// The jobs of a workload, with cancellations if there are any.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    workload: &'a Workload,
    /// In order of time; at one instant after the arrivals.
    cancellations: &'a [(Time, JobId)],
    next_job: usize,
    next_cancellation: usize,
}

impl<'a> Replay<'a> {
    /// All jobs of the workload.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Replay<'a> {
        Replay::with_cancellations(workload, &[])
    }

    /// All jobs, some of them withdrawn at the times given, which must be ascending. A job that has started when it is withdrawn
    /// ends there; the withdrawal of a job that has ended, or has not come yet, is ignored.
    #[must_use]
    pub fn with_cancellations(workload: &'a Workload, cancellations: &'a [(Time, JobId)]) -> Replay<'a> {
        Replay { workload, cancellations, next_job: 0, next_cancellation: 0 }
    }

    fn cancels_first(&self) -> bool {
        if self.cancellations.is_empty() {
            return false;
        }
        let submit = self.workload.jobs().get(self.next_job).map(|j| j.submit);
        match (self.cancellations.get(self.next_cancellation), submit) {
            (Some(&(cancel, _)), Some(submit)) => cancel < submit,
            (cancel, _) => cancel.is_some(),
        }
    }
}

impl Source for Replay<'_> {
    #[inline]
    fn peek(&self) -> Option<Time> {
        let submit = self.workload.jobs().get(self.next_job).map(|j| j.submit);
        if self.cancellations.is_empty() {
            return submit;
        }
        let cancel = self.cancellations.get(self.next_cancellation).map(|c| c.0);
        match (submit, cancel) {
            (Some(s), Some(c)) => Some(s.min(c)),
            (s, c) => s.or(c),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Incoming<'_>> {
        if self.cancels_first() {
            let (_, id) = *self.cancellations.get(self.next_cancellation)?;
            self.next_cancellation += 1;
            return Some(Incoming::Cancel(id));
        }
        let at = self.next_job;
        let job = self.workload.jobs().get(at)?;
        self.next_job += 1;
        Some(Incoming::Submit(job, self.workload.truth().get(at)?))
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn position(&self) -> u64 {
        (self.next_job + self.next_cancellation) as u64
    }

    fn seek(&mut self, position: u64) {
        (self.next_job, self.next_cancellation) = (0, 0);
        while self.position() < position {
            if self.cancels_first() {
                self.next_cancellation += 1;
            } else if self.next_job < self.workload.len() {
                self.next_job += 1;
            } else {
                break;
            }
        }
    }
}
