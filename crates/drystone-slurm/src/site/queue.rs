//! The queue: its order, priorities that change, use that is charged.

use super::Site;
use crate::model::{Alloc, Pending};
use std::collections::BTreeMap;

impl Site {
    /// Whether priorities change while jobs wait.
    pub(super) fn recalculates(&self) -> bool {
        self.rules.priority.as_ref().is_some_and(super::Multifactor::moves)
    }

    /// Gives the job its priority and puts it into the queue. Answers its place.
    pub(super) fn enqueue(&mut self, at: i64, mut job: Pending) -> usize {
        let now = at.div_euclid(1000);
        if let Some(priority) = &mut self.rules.priority {
            priority.fair.meet(job.account, job.user);
            let factors = if priority.fair_share > 0.0 { priority.fair.factors() } else { BTreeMap::new() };
            job.priority = priority.of(&job, now, &self.cluster.machine, &factors);
        }
        let machine = &self.cluster.machine;
        let place = self.queue.partition_point(|p| p.key(machine) < job.key(machine));
        self.queue.insert(place, job);
        place
    }

    /// The limit of a waiting job has changed.
    pub fn relimit(&mut self, id: u32, limit: i64) {
        let told = self.news.iter_mut().find_map(|(_, news)| match news {
            super::News::Arrived(job) if job.id == id => Some(job),
            _ => None,
        });
        if let Some(job) = told.or_else(|| self.queue.iter_mut().find(|job| job.id == id)) {
            job.limit = limit;
            self.stale_from = 0;
        }
    }

    /// Calculates all priorities anew. Where the order changes, backfill has to look again.
    pub(super) fn recalculate(&mut self, at: i64) {
        let now = at.div_euclid(1000);
        let Some(priority) = &mut self.rules.priority else { return };
        self.next_calc = now + priority.period;
        priority.fair.decay(now);
        for (account, user, cpus, since) in self.charged.values_mut() {
            priority.fair.charge(*account, *user, f64::from(*cpus) * (now - *since) as f64);
            *since = now;
        }
        let factors = priority.fair.factors();
        let machine = &self.cluster.machine;
        for job in &mut self.queue {
            job.priority = priority.of(job, now, machine, &factors);
        }
        if !self.queue.is_sorted_by_key(|job| job.key(machine)) {
            self.queue.sort_by_key(|job| job.key(machine));
            self.stale_from = 0;
            self.main_stale = true;
        }
    }

    /// The use of a job that starts counts from now on.
    pub(super) fn charge_from(&mut self, job: &Pending, now: i64) {
        if self.recalculates() {
            self.charged.insert(job.id, (job.account, job.user, job.cpus, now));
        }
    }

    /// A job has ended: its use is charged.
    pub(super) fn charge_end(&mut self, id: u32, now: i64) {
        if let Some((account, user, cpus, since)) = self.charged.remove(&id)
            && let Some(priority) = &mut self.rules.priority
        {
            priority.fair.decay(now);
            priority.fair.charge(account, user, f64::from(cpus) * (now - since).max(0) as f64);
        }
    }

    /// Takes started jobs out of the queue.
    pub(super) fn remove(&mut self, starts: &[(usize, Alloc)]) -> Vec<Pending> {
        let mut jobs: Vec<Pending> = starts.iter().rev().map(|&(place, _)| self.queue.remove(place)).collect();
        jobs.reverse();
        jobs
    }
}
