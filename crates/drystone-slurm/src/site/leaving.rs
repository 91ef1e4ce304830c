//! Jobs that leave: withdrawn, replaced by others, past their limits; and those that come back.

use super::{CHECK, DYING, ModelSite, REQUEUE_DELAY, SchedulerDeed, SiteNews};
use crate::conf::PreemptMode;
use crate::model::{Alloc, Pending, Victim};
use serde::{Deserialize, Serialize};

/// Way in which a job goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum LeavingWay {
    Requeue,
    Kill,
}

impl ModelSite {
    /// A waiting job is withdrawn or held back.
    pub(super) fn withdraw_job(&mut self, at: i64, id: u32) {
        let outside = self.outside.iter().flatten().any(|job| job.id == id);
        self.cluster.forget_limit(id);
        let job = self.take_out(id).filter(|_| !outside);
        self.several.remove(&id);
        if let Some(job) = job {
            self.stale_from(0);
            self.main_stale = true;
            self.note_departure(at, &job);
        }
    }

    /// A job has left for good: others may be submitted in its place.
    pub(super) fn note_departure(&mut self, at: i64, job: &Pending) {
        let Some(ledger) = &mut self.cluster.ledger else { return };
        ledger.note_departure(job, &self.cluster.machine);
        let now = at.div_euclid(1000);
        let mut place = 0;
        while place < self.outside.len() {
            if self.is_refused(&self.outside[place]) {
                place += 1;
                continue;
            }
            let Some(mut entries) = self.outside.remove(place) else { return };
            entries.iter_mut().for_each(|job| (job.submit, job.accrue) = (now, now));
            if let (Some(ledger), Some(job)) = (&mut self.cluster.ledger, entries.first()) {
                ledger.submit(job, &self.cluster.machine);
            }
            self.queue_up(at, entries);
        }
    }

    /// A job that was held back, or sent back, waits again.
    pub(super) fn come_back(&mut self, at: i64, entries: Vec<Pending>) {
        if let (Some(ledger), Some(job)) = (&mut self.cluster.ledger, entries.first()) {
            ledger.submit(job, &self.cluster.machine);
        }
        self.queue_up(at, entries);
    }

    /// A job runs already: where it is said to, else on idle nodes of its partition, else on any
    /// idle ones, else beside others.
    pub(super) fn takes_over(&mut self, job: &Pending, since: i64, now: i64, on: Option<Alloc>) {
        let queued_entries = self.take_out(job.id);
        let part = &self.cluster.machine.parts[usize::from(job.part)].nodes;
        let idle = &self.cluster.idle;
        let machine = &self.cluster.machine;
        let known_alloc = on.or_else(|| idle.place_job(job, part, machine));
        let alloc = known_alloc.or_else(|| idle.place_job(job, self.cluster.nodes_in_service(), machine));
        let mut alloc = alloc.unwrap_or_else(|| Alloc::first_of(job, machine));
        if alloc.more.is_none() {
            alloc.more = idle.held_share(job, &alloc, machine);
        }
        match (&queued_entries, &mut self.cluster.ledger) {
            (Some(first), _) => self.move_submission(first, job),
            (None, Some(ledger)) => ledger.submit(job, &self.cluster.machine),
            (None, None) => {}
        }
        self.cluster.adopt_job(job, since, alloc);
        self.offsets.insert(job.id, 0);
        debug_assert!(since <= now);
        self.stale_from(0);
        self.main_stale = true;
    }

    /// Jobs have to go for `by`.
    pub(super) fn preempt_victims(&mut self, at: i64, by: u32, victims: Vec<Victim>, out: &mut Vec<SchedulerDeed>) {
        if victims.is_empty() {
            return;
        }
        let now = at.div_euclid(1000);
        self.cluster.note_preemption(by, now);
        for victim in victims {
            let way = if victim.mode == PreemptMode::Requeue { LeavingWay::Requeue } else { LeavingWay::Kill };
            if self.cluster.claim_place(&victim, now) {
                self.start_leaving(at, victim.id, way, out);
            } else if self.cluster.get(victim.id).is_some() {
                self.graced.entry(victim.id).or_insert(way);
            }
        }
    }

    /// A running job goes, unless it has ended by itself and only the news of it is on its way.
    fn start_leaving(&mut self, at: i64, id: u32, way: LeavingWay, out: &mut Vec<SchedulerDeed>) {
        if self.news.iter().any(|(_, news)| matches!(news, SiteNews::Ended(job) if *job == id)) {
            return;
        }
        let Some(victim) = self.cluster.evict_job(id) else { return };
        let now = at.div_euclid(1000);
        self.graced.remove(&id);
        self.offsets.remove(&id);
        self.charge_end(&victim, now);
        self.gone.insert(id, way);
        self.updated = now;
        // Its nodes are not free yet, but limits that it counted for have room.
        self.stale_from(0);
        self.main_stale = true;
        // The machine says that a killed job has ended when the second in which it was asked for is
        // over: nothing starts in its place before the next.
        let free_time = if way == LeavingWay::Kill { at + DYING + 1000 } else { at + DYING };
        self.queue_news(free_time, SiteNews::Freed(victim.alloc.nodes.clone()));
        match way {
            LeavingWay::Kill => {
                out.push(SchedulerDeed::Kill(id));
                self.several.remove(&id);
                self.note_departure(at, &victim.job);
            }
            LeavingWay::Requeue => {
                out.push(SchedulerDeed::Requeue(id));
                if let Some(ledger) = &mut self.cluster.ledger {
                    ledger.note_departure(&victim.job, &self.cluster.machine);
                }
                let again = now + REQUEUE_DELAY;
                let again_in = |job: Pending| Pending { submit: now, accrue: again, ..job };
                let entries = self.entries_of(&victim.job).into_iter().map(again_in).collect();
                self.queue_news(again * 1000, SiteNews::Released(entries));
            }
        }
    }

    /// Returns the time of the next check of limits, in seconds; `None` while no job is near one.
    pub(super) fn check_at(&self) -> Option<i64> {
        if self.graced.is_empty() && !self.rules.kills {
            return None;
        }
        let ends = self.graced.keys().filter_map(|&id| self.cluster.get(id)).map(|running| running.end);
        let limits = self.rules.kills.then(|| self.cluster.first_end()).flatten();
        let first = ends.chain(limits).min()?;
        // Looks are a constant time apart.
        let looks = (first - self.next_check + CHECK - 1).div_euclid(CHECK).max(0);
        Some(self.next_check + looks * CHECK)
    }

    /// Jobs whose grace or limit is over have to go.
    pub(super) fn check_limits(&mut self, at: i64, out: &mut Vec<SchedulerDeed>) {
        let now = at.div_euclid(1000);
        self.next_check = now + CHECK;
        let graced_jobs: Vec<(u32, LeavingWay)> = self.graced.iter().map(|(&id, &way)| (id, way)).collect();
        for (id, way) in graced_jobs {
            if self.cluster.get(id).is_none_or(|running| running.end <= now) {
                self.start_leaving(at, id, way, out);
            }
        }
        if !self.rules.kills {
            return;
        }
        let machine = &self.cluster.machine;
        let over = self.cluster.running_jobs().take_while(|running| running.end <= now).filter(|running| {
            let overtime = machine.parts[usize::from(running.job.part)].overtime;
            overtime.is_some_and(|overtime| running.end + overtime <= now)
        });
        let over: Vec<u32> = over.map(|running| running.id).collect();
        over.into_iter().for_each(|id| self.start_leaving(at, id, LeavingWay::Kill, out));
    }
}
