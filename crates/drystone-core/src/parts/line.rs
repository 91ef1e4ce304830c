//! The waiting jobs of a policy in the order of their arrival, where only the first is ever asked
//! for.

use crate::model::JobId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A line of jobs. A job that leaves from the middle stays until it would be first: looking for it
/// would cost more than all else.
///
/// Amortised O(1) for everything. It holds no more jobs than have arrived since its first one.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobLine {
    jobs: VecDeque<JobId>,
}

impl JobLine {
    /// Adds a job behind all that arrived before it: as a rule, at the end.
    #[inline]
    pub fn join_line(&mut self, job: JobId) {
        let later = self.jobs.iter().rev().take_while(|&&member| member > job).count();
        let before = self.jobs.len() - later;
        match later {
            // It left from the middle and is back before it would have been first.
            _ if before > 0 && self.jobs[before - 1] == job => {}
            0 => self.jobs.push_back(job),
            _ => self.jobs.insert(before, job),
        }
    }

    /// The first job that still waits, as `waits` says. Those ahead of it are forgotten.
    #[inline]
    pub fn first_waiting(&mut self, waits: impl Fn(JobId) -> bool) -> Option<JobId> {
        loop {
            let first = *self.jobs.front()?;
            if waits(first) {
                return Some(first);
            }
            self.jobs.pop_front();
        }
    }

    /// Takes out the first job.
    #[inline]
    pub fn remove_first(&mut self) {
        self.jobs.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_left_from_the_middle_is_never_first() {
        let mut line = JobLine::default();
        [1, 2, 5, 3, 4, 4].into_iter().for_each(|id| line.join_line(JobId(id)));
        let waits = |id: JobId| ![2, 3].contains(&id.0);
        let mut order = Vec::new();
        while let Some(first) = line.first_waiting(waits) {
            order.push(first.0);
            line.remove_first();
        }
        assert_eq!(order, [1, 4, 5]);
    }
}
