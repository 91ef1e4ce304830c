//! Priorities and reserved starts of jobs (Lawson & Smirni 2002, with priorities and reservations).
//!
//! A job of a higher priority stands before all others of its queue, and is looked at before those
//! of other queues; no promise is moved for it. A job with a reservation is promised its start when
//! it arrives, the earliest from the reserved time on, whatever its queue, of which it is no pivot.

use super::{MultiQueue, Promising};
use crate::model::{JobId, Time};
use crate::policy::{Priorities, PriorityError, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Priorities and reserved starts of the jobs that wait or run.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct JobPrivileges {
    priorities: Priorities,
    /// Sum of the user's and the political priority of each job that is here.
    grades: BTreeMap<JobId, f64>,
    /// Reserved start of each job here that has one.
    reserved: BTreeMap<JobId, Time>,
}

impl JobPrivileges {
    pub(super) fn new(priorities: Priorities) -> JobPrivileges {
        JobPrivileges { priorities, ..JobPrivileges::default() }
    }

    /// Returns whether no rule sets a priority, a reservation or a quota.
    pub(super) fn is_empty(&self) -> bool {
        self.priorities.is_empty()
    }

    pub(super) fn has_reservations(&self) -> bool {
        self.priorities.has_reservations()
    }

    /// Records a job unless it is recorded, and returns its reserved start.
    pub(super) fn record_job(&mut self, id: JobId, view: &View<'_>) -> Option<Time> {
        if self.is_empty() {
            return None;
        }
        if !self.grades.contains_key(&id) {
            let job = view.job(id);
            let importance = self.priorities.admit_job(id, job, view.current_time());
            self.grades.insert(id, importance.user + importance.political);
            if let Some(lead) = self.priorities.reserved_delay(id, job) {
                self.reserved.insert(id, job.submit.saturating_add(lead));
            }
        }
        self.reserved.get(&id).copied()
    }

    pub(super) fn forget_job(&mut self, id: JobId, view: &View<'_>) {
        if self.grades.remove(&id).is_some() {
            self.reserved.remove(&id);
            self.priorities.note_departure(view.job(id), view.run_time_so_far(id), view.current_time());
        }
    }

    /// Returns the priority of a job; a larger one stands earlier in its queue.
    pub(super) fn job_priority(&self, id: JobId) -> f64 {
        self.grades.get(&id).copied().unwrap_or(0.0)
    }

    pub(super) fn reserved_start(&self, id: JobId) -> Option<Time> {
        self.reserved.get(&id).copied()
    }

    pub(super) fn next_reserved(&self, now: Time) -> Option<Time> {
        self.reserved.values().copied().filter(|&start| now < start).min()
    }
}

impl MultiQueue {
    pub(super) fn take_priorities(&mut self, priorities: Priorities) -> Result<(), PriorityError> {
        if !self.privileges.is_empty() {
            return Err(PriorityError::new("the policy's text gives others; leave out one of the two"));
        }
        if priorities.needs_workload() {
            return Err(PriorityError::new("rules for job numbers need the log (Priorities::for_workload)"));
        }
        if self.settings.is_literal() || self.settings.promise != Promising::Pivot {
            return Err(PriorityError::new(
                "multiqueue knows priorities and reservations with own=shared and promise=pivot alone",
            ));
        }
        self.privileges = JobPrivileges::new(priorities);
        Ok(())
    }
}
