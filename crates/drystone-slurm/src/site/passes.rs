//! One thing after the other: news, passes of the main scheduler, passes of backfill.

use super::{CapacityOutlook, ModelSite, SchedulerDeed, SiteNews};
use crate::model::{PassKind, Pending, VerdictObserver, main_pass};

/// Next event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NextPass {
    News,
    Limits,
    Priorities,
    Main,
    Resume,
    Backfill,
}

impl ModelSite {
    /// Does the next thing before `to` milliseconds, if there is one.
    pub(super) fn run_step(&mut self, to: i64, out: &mut Vec<SchedulerDeed>, watch: &mut impl VerdictObserver) -> bool {
        let Some((at, next)) = self.next() else { return false };
        if at >= to {
            return false;
        }
        self.at = at;
        match next {
            NextPass::News => self.take_news(at, out, watch),
            NextPass::Limits => self.check_limits(at, out),
            NextPass::Priorities => self.recalculate_priorities(at),
            NextPass::Main => {
                let full = self.clock.as_mut().is_some_and(|clock| clock.main_made(at, &self.rules.params));
                self.main(at, full, out, watch);
            }
            NextPass::Resume => self.resume_pass(at, out, watch),
            NextPass::Backfill => self.begin_backfill(at, to, out, watch),
        }
        true
    }

    fn next(&self) -> Option<(i64, NextPass)> {
        let news = self.news.front().map(|&(at, _)| (at, NextPass::News));
        let mut next = news.unwrap_or((i64::MAX, NextPass::News));
        if let Some(check) = self.check_at() {
            next = next.min((check.saturating_mul(1000).max(self.at), NextPass::Limits));
        }
        if !self.queue.is_empty() || self.asleep.is_some() {
            let clock = self.clock.as_ref()?;
            if !self.queue.is_empty() {
                next = next.min((clock.next_main(self.at, &self.rules.params), NextPass::Main));
            }
            if self.has_moving_priorities() {
                next = next.min((self.next_calc.saturating_mul(1000).max(self.at), NextPass::Priorities));
            }
            next = next.min(match &self.asleep {
                Some(asleep) => (asleep.until, NextPass::Resume),
                None => (clock.next_backfill(self.at, &self.rules.params), NextPass::Backfill),
            });
        }
        (next.0 < i64::MAX).then_some(next)
    }

    fn take_news(&mut self, at: i64, out: &mut Vec<SchedulerDeed>, watch: &mut impl VerdictObserver) {
        let Some((_, news)) = self.news.pop_front() else { return };
        let now = at.div_euclid(1000);
        self.forget_use(now);
        match news {
            SiteNews::Arrived(entries) => self.note_arrival(at, entries),
            SiteNews::Released(entries) => self.come_back(at, entries),
            SiteNews::Cancelled(id) | SiteNews::Held(id) => self.withdraw_job(at, id),
            SiteNews::Freed(nodes) => {
                self.cluster.completing.subtract(&nodes);
                self.stale_from(0);
                self.main_stale = true;
                self.main(at, false, out, watch);
            }
            SiteNews::Runs(job, since, on) => self.takes_over(&job, since, now, on),
            SiteNews::Moved(id, on) => {
                self.cluster.relocate_job(id, on);
                self.stale_from(0);
                self.main_stale = true;
            }
            SiteNews::Out(outlook) => {
                let CapacityOutlook { out, lame, closures, licences } = *outlook;
                self.cluster.set_licences(&licences);
                self.cluster.set_out(&out);
                self.cluster.set_lame(lame);
                self.cluster.reservations.retain(|own| !own.is_outage());
                self.cluster.reservations.extend(closures);
                self.stale_from(0);
                self.main_stale = true;
                self.request_pass(at);
            }
            SiteNews::Short(short) => {
                // No pass is requested: the end or change of capacity that freed it has done so.
                self.cluster.set_short(short);
                self.stale_from(0);
                self.main_stale = true;
            }
            SiteNews::Ended(id) => {
                let Some(model_job) = self.cluster.end_job(id) else { return };
                if let Some(asleep) = &mut self.asleep {
                    asleep.pass.ignore_nodes(&model_job.alloc.nodes);
                }
                self.graced.remove(&id);
                self.several.remove(&id);
                self.charge_end(&model_job, now);
                self.note_departure(at, &model_job.job);
                self.stale_from(0);
                self.main_stale = true;
                self.updated = now;
                if self.rules.epilog && self.rules.params.defer == 0 {
                    self.main(at, false, out, watch);
                } else {
                    self.request_pass(at);
                }
            }
        }
        self.updated = now;
        if let Some(asleep) = &mut self.asleep {
            asleep.changed = true;
        }
    }

    /// A job comes. Where a limit keeps it from being submitted, its user tries again once there is
    /// room.
    fn note_arrival(&mut self, at: i64, entries: Vec<Pending>) {
        let Some(job) = entries.first() else { return };
        if self.is_refused(&entries) {
            self.outside.push_back(entries);
            return;
        }
        if let Some(ledger) = &mut self.cluster.ledger {
            ledger.submit(job, &self.cluster.machine);
        }
        if self.rules.params.assoc_limit_stop != 0 {
            self.cluster.meet_limits(job);
        }
        self.queue_up(at, entries);
    }

    /// A job waits from now on, in each of its partitions.
    pub(super) fn queue_up(&mut self, at: i64, entries: Vec<Pending>) {
        if self.queue.is_empty() {
            // While no job waited, the clocks went on.
            if let Some(clock) = &mut self.clock {
                clock.skip_main(at, &self.rules.params);
                clock.wake_backfill(at, &self.rules.params);
            }
            self.skip_calculations(at);
        }
        self.note_partitions(&entries);
        for job in entries {
            let place = self.enqueue_job(at, job);
            self.stale_from(place);
        }
        self.main_stale = true;
        self.request_pass(at);
    }

    pub(super) fn request_pass(&mut self, at: i64) {
        if let Some(clock) = &mut self.clock {
            if self.queue.is_empty() {
                clock.skip_main(at, &self.rules.params);
            }
            clock.request_pass();
        }
    }

    /// A pass of the main scheduler.
    pub(super) fn main(&mut self, at: i64, full: bool, out: &mut Vec<SchedulerDeed>, watch: &mut impl VerdictObserver) {
        let now = at.div_euclid(1000);
        // A pass that leaves a job behind another one touches that job.
        if self.queue.len() > 1 {
            self.updated = now;
        }
        if self.queue.is_empty() || (!self.main_stale && !watch.wants_plans()) {
            return;
        }
        let queue = self.queue.make_contiguous();
        let deeds = main_pass(&mut self.cluster, queue, now, full, &self.rules.params, watch);
        // A quick pass does not see the whole queue, and a pass may have a limit on its starts.
        // Where there are limits, a job that has started may put one on a job that blocked its
        // partition, which then blocks it no longer; and a job that has started in one partition
        // may have blocked another. Else a second pass starts nothing.
        let limits = self.cluster.ledger.is_some() && !deeds.starts.is_empty();
        let elsewhere = deeds.starts.iter().any(|&place| queue[place].several);
        self.main_stale = !deeds.whole || limits || elsewhere || self.cluster.take_limit_changes();
        if !deeds.starts.is_empty() {
            self.stale_from(0);
        }
        for (place, victims) in deeds.victims {
            let id = self.queue[place].id;
            self.preempt_victims(at, id, victims, out);
        }
        for job in self.remove(&deeds.starts) {
            self.note_start(&job, at, PassKind::Main, out);
        }
    }
}
