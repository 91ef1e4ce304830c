//! The waiting jobs of one queue, those whose delay is not over apart from the rest.

use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{QueuePlace, WaitQueue, WaitingJob};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A waiting job, and when it may start at the earliest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct QueuedJob {
    pub(super) id: JobId,
    pub(super) procs: Procs,
    /// Planned run time, at least 1 s.
    pub(super) span: Span,
    pub(super) ready: Time,
    pub(super) submit: Time,
}

impl QueuedJob {
    fn as_waiting_job(&self) -> WaitingJob {
        WaitingJob { key: 0, prediction: self.span, submit: self.submit, id: self.id, procs: self.procs }
    }

    pub(super) fn from_waiting(waiting: &WaitingJob) -> QueuedJob {
        QueuedJob {
            id: waiting.id,
            procs: waiting.procs,
            span: waiting.prediction,
            ready: Time::MIN,
            submit: waiting.submit,
        }
    }
}

/// Returns a job's place in its queue: in order of arrival.
pub(super) fn queue_place(id: JobId) -> QueuePlace {
    QueuePlace { key: 0, id }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct ClassQueue {
    /// Jobs that may start.
    pub(super) ready: WaitQueue,
    /// Jobs whose delay is not over.
    delayed: BTreeMap<JobId, QueuedJob>,
}

impl ClassQueue {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.delayed.is_empty()
    }

    #[inline]
    pub(super) fn insert(&mut self, job: QueuedJob, now: Time) {
        if job.ready > now {
            self.delayed.insert(job.id, job);
        } else {
            self.ready.insert(job.as_waiting_job());
        }
    }

    pub(super) fn remove(&mut self, id: JobId) -> Option<QueuedJob> {
        let ready = self.ready.remove(queue_place(id)).map(|w| QueuedJob::from_waiting(&w));
        if ready.is_some() || self.delayed.is_empty() { ready } else { self.delayed.remove(&id) }
    }

    /// The first to have arrived, delayed or not: the pivot.
    #[inline]
    pub(super) fn first_job(&self) -> Option<QueuedJob> {
        let ready = self.ready.first_job().map(|w| QueuedJob::from_waiting(&w));
        let Some((_, late_job)) = self.delayed.first_key_value() else { return ready };
        Some(ready.filter(|r| r.id < late_job.id).unwrap_or(*late_job))
    }

    /// Lets those start whose delay is over. Returns whether there were any.
    pub(super) fn release_due(&mut self, now: Time) -> bool {
        if self.delayed.is_empty() {
            return false;
        }
        let before = self.delayed.len();
        let ready = &mut self.ready;
        self.delayed.retain(|_, job| {
            if job.ready <= now {
                ready.insert(job.as_waiting_job());
            }
            job.ready > now
        });
        self.delayed.len() < before
    }

    /// Lets a job start whose delay is over. Returns whether it was here.
    pub(super) fn release_one(&mut self, id: JobId) -> bool {
        let job = self.delayed.remove(&id);
        job.into_iter().inspect(|job| self.ready.insert(job.as_waiting_job())).next().is_some()
    }

    /// Returns the time at which the next delay is over. O(delayed jobs).
    pub(super) fn next_ready(&self) -> Option<Time> {
        self.delayed.values().map(|j| j.ready).min()
    }

    /// Resets the delays of all delayed jobs.
    pub(super) fn set_ready(&mut self, ready: impl Fn(&QueuedJob) -> Time) {
        self.delayed.values_mut().for_each(|j| j.ready = ready(j));
    }

    /// Every job in the queue, in no order.
    pub(super) fn jobs(&self) -> impl Iterator<Item = QueuedJob> + '_ {
        self.ready.iter().map(QueuedJob::from_waiting).chain(self.delayed.values().copied())
    }
}
