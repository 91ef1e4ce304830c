//! The queue: its order, priorities that change, use that is charged.

use super::{Charged, ModelSite};
use crate::model::{NONE, Pending, RunningModelJob};
use drystone_core::model::SharedSort;

impl ModelSite {
    /// Returns whether priorities change while jobs wait.
    pub(super) fn has_moving_priorities(&self) -> bool {
        self.priorities.as_ref().is_some_and(|priorities| priorities.rules.is_time_dependent())
    }

    /// Gives the job its priority and puts it into the queue. Returns its place.
    pub(super) fn enqueue_job(&mut self, at: i64, mut job: Pending) -> usize {
        let now = at.div_euclid(1000);
        if let Some(priorities) = &mut self.priorities {
            job.priority = priorities.priority_of(&job, now, &self.cluster.machine);
        }
        self.cluster.note_arrival(job.id);
        let place = self.place_of(&job);
        self.queue.insert(place, job);
        place
    }

    pub(super) fn place_of(&self, job: &Pending) -> usize {
        let machine = &self.cluster.machine;
        // Entries of one job that are equal stay in the order of its partitions.
        self.queue.partition_point(|p| p.queue_key(machine) <= job.queue_key(machine))
    }

    /// The limit of a waiting job has changed: it is now that of these entries. The job no longer
    /// waits in a partition for which there is none.
    pub fn change_limit(&mut self, entries: &[Pending]) {
        let Some(id) = entries.first().map(|job| job.id) else { return };
        let take = |job: &mut Pending| {
            let entry = entries.iter().find(|entry| !job.several || entry.part == job.part);
            job.limit = entry.map_or(job.limit, |entry| entry.limit);
            entry.is_some()
        };
        for (_, news) in &mut self.news {
            if let super::SiteNews::Arrived(own) | super::SiteNews::Released(own) = news
                && own.first().is_some_and(|job| job.id == id)
            {
                own.retain_mut(take);
            }
        }
        for own in self.outside.iter_mut().filter(|own| own.first().is_some_and(|job| job.id == id)) {
            own.retain_mut(take);
        }
        if let Some(own) = self.several.get_mut(&id) {
            own.retain_mut(take);
        }
        let mut waits = false;
        self.queue.retain_mut(|job| {
            let is_other = job.id != id;
            waits |= !is_other;
            is_other || take(job)
        });
        if waits {
            self.stale_from = 0;
        }
    }

    /// While no job waited, priorities were calculated all the same: use was charged, and has
    /// decayed. That comes to the same in one go, but for rounding.
    pub(super) fn skip_calculations(&mut self, at: i64) {
        let now = at.div_euclid(1000);
        self.forget_use(now);
        let Some(priorities) = &self.priorities else { return };
        let period = priorities.rules.period;
        if self.next_calc <= now - period && self.has_moving_priorities() {
            let missed_periods = (now - self.next_calc).div_euclid(period);
            let last = self.next_calc + missed_periods * period;
            self.recalculate_priorities(last * 1000);
        }
        if self.next_calc <= now {
            self.next_calc += ((now - self.next_calc).div_euclid(period)).max(0) * period;
        }
    }

    /// Makes the calculations up to `now` seconds that forget use, while no job waits. The
    /// calculation before each of them is made as well, since use is charged up to that one.
    pub(super) fn forget_use(&mut self, now: i64) {
        while let Some(priorities) = self.priorities.as_ref().filter(|_| self.queue.is_empty()) {
            let Some(reset) = priorities.fair.next_reset() else { return };
            let (period, first) = (priorities.rules.period, self.next_calc);
            let periods = (reset - first + period - 1).div_euclid(period).max(0);
            if first + periods * period > now || !self.has_moving_priorities() {
                return;
            }
            for last in (periods - 1).max(0)..=periods {
                self.next_calc = first + last * period;
                self.recalculate_priorities(self.next_calc * 1000);
            }
        }
    }

    /// Recalculates all priorities. Where the order changes, backfill has to look again.
    pub(super) fn recalculate_priorities(&mut self, at: i64) {
        let now = at.div_euclid(1000);
        let Some(priorities) = &mut self.priorities else { return };
        self.next_calc = (self.next_calc + priorities.rules.period).max(now + 1);
        self.updated = now;
        let machine = &self.cluster.machine;
        if priorities.rules.fair_share > 0.0 {
            let has_assoc = |running: &&RunningModelJob| running.job.assoc != NONE;
            let charged_job = |running: &RunningModelJob| Charged {
                id: running.id,
                assoc: running.job.assoc,
                billed: machine.bill_per_second(running.job.part, &running.alloc)
                    * priorities.usage_factor(running.job.qos),
                start: running.start,
            };
            let mut running_jobs: Vec<Charged> =
                self.cluster.running_jobs().filter(has_assoc).map(charged_job).collect();
            running_jobs.sort_shared_by_key(|running| running.id);
            let mut waiting_jobs: Vec<(u32, u32)> = self.queue.iter().map(|job| (job.id, job.assoc)).collect();
            waiting_jobs.sort_unstable();
            waiting_jobs.dedup();
            priorities.calculate_use(now, &running_jobs, &waiting_jobs);
        }
        let only_grows = priorities.rules.only_grows;
        for job in &mut self.queue {
            job.weighed = true;
            let priority = priorities.priority_of(job, now, machine);
            job.priority = if only_grows { job.priority.max(priority) } else { priority };
        }
        if !self.queue.iter().is_sorted_by_key(|job| job.queue_key(machine)) {
            self.queue.make_contiguous().sort_by_key(|job| job.queue_key(machine));
            self.stale_from = 0;
            self.main_stale = true;
        }
    }

    /// A job has ended: its use is charged.
    pub(super) fn charge_end(&mut self, model_job: &RunningModelJob, now: i64) {
        let machine = &self.cluster.machine;
        if let Some(priorities) = &mut self.priorities
            && priorities.rules.fair_share > 0.0
            && priorities.rules.charges_ends
            && model_job.job.assoc != NONE
        {
            let billed_cpus = machine.bill_per_second(model_job.job.part, &model_job.alloc)
                * priorities.usage_factor(model_job.job.qos);
            priorities.fair.charge_use(model_job.job.assoc as usize, billed_cpus, model_job.start, now);
        }
    }

    /// Takes jobs out of the queue by their places, which ascend.
    pub(super) fn remove(&mut self, places: &[usize]) -> Vec<Pending> {
        let mut jobs: Vec<Pending> = places.iter().rev().filter_map(|&place| self.queue.remove(place)).collect();
        jobs.reverse();
        jobs
    }

    /// Takes a waiting job out, wherever it waits. Returns the entry by which it was submitted.
    pub(super) fn take_out(&mut self, id: u32) -> Option<Pending> {
        let is_its = |entries: &Vec<Pending>| entries.first().is_some_and(|job| job.id == id);
        if let Some(place) = self.outside.iter().position(is_its) {
            return self.outside.remove(place).and_then(|entries| entries.into_iter().next());
        }
        let place = self.queue.iter().position(|job| job.id == id)?;
        let job = self.remove(&[place]).pop()?;
        self.drop_entries(&job);
        self.entries_of(&job).into_iter().next()
    }
}
