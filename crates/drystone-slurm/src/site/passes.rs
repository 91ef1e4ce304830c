//! One thing after the other: news, passes of the main scheduler, passes of backfill.

use super::{Asleep, News, Site, Start};
use crate::model::{Backfill, Pass, Pending, Watch, main_pass};

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    News,
    Priorities,
    Main,
    Resume,
    Backfill,
}

impl Site {
    /// Does the next thing before `to` milliseconds, if there is one.
    pub(super) fn step(&mut self, to: i64, out: &mut Vec<Start>, watch: &mut impl Watch) -> bool {
        let Some((at, next)) = self.next() else { return false };
        if at >= to {
            return false;
        }
        self.at = at;
        match next {
            Next::News => self.take_news(at, out, watch),
            Next::Priorities => self.recalculate(at),
            Next::Main => {
                let full = self.clock.as_mut().is_some_and(|clock| clock.main_made(at, &self.rules.params));
                self.main(at, full, out, watch);
            }
            Next::Resume => self.resume(at, out, watch),
            Next::Backfill => self.begin_backfill(at, to, out, watch),
        }
        true
    }

    fn next(&self) -> Option<(i64, Next)> {
        let news = self.news.front().map(|&(at, _)| (at, Next::News));
        if self.queue.is_empty() && self.asleep.is_none() {
            return news;
        }
        let clock = self.clock.as_ref()?;
        let mut next = news.unwrap_or((i64::MAX, Next::News));
        if !self.queue.is_empty() {
            next = next.min((clock.next_main(self.at, &self.rules.params), Next::Main));
        }
        if self.recalculates() {
            next = next.min((self.next_calc.saturating_mul(1000).max(self.at), Next::Priorities));
        }
        next = next.min(match &self.asleep {
            Some(asleep) => (asleep.until, Next::Resume),
            None => (clock.next_backfill(self.at, &self.rules.params), Next::Backfill),
        });
        (next.0 < i64::MAX).then_some(next)
    }

    fn take_news(&mut self, at: i64, out: &mut Vec<Start>, watch: &mut impl Watch) {
        let Some((_, news)) = self.news.pop_front() else { return };
        self.changes += 1;
        match news {
            News::Arrived(job) => self.arrive(at, job),
            News::Cancelled(id) => {
                self.queue.retain(|job| job.id != id);
                self.stale_from(0);
                self.main_stale = true;
            }
            News::Ended(id) => {
                self.cluster.end(id);
                self.charge_end(id, at.div_euclid(1000));
                self.stale_from(0);
                self.main_stale = true;
                if self.rules.epilog && self.rules.params.defer == 0 {
                    self.main(at, false, out, watch);
                } else {
                    self.request(at);
                }
            }
        }
    }

    fn arrive(&mut self, at: i64, job: Pending) {
        if self.queue.is_empty() {
            // While no job waited, the clocks went on.
            if let Some(clock) = &mut self.clock {
                clock.skip_main(at, &self.rules.params);
                clock.wake_backfill(at, &self.rules.params);
            }
        }
        let place = self.enqueue(at, job);
        self.stale_from(place);
        self.main_stale = true;
        self.request(at);
    }

    fn request(&mut self, at: i64) {
        if let Some(clock) = &mut self.clock {
            if self.queue.is_empty() {
                clock.skip_main(at, &self.rules.params);
            }
            clock.request();
        }
    }

    /// A pass of the main scheduler.
    fn main(&mut self, at: i64, full: bool, out: &mut Vec<Start>, watch: &mut impl Watch) {
        if !self.main_stale && !watch.wants_plans() {
            return;
        }
        let now = at.div_euclid(1000);
        let starts = main_pass(&mut self.cluster, &self.queue, now, full, &self.rules.params, watch);
        // A quick pass does not see the whole queue, and a pass may have a limit on its starts. Else a second one starts nothing.
        let params = &self.rules.params;
        let cut = params.sched_max_job_start > 0 && starts.len() as i64 >= params.sched_max_job_start;
        self.main_stale = cut || (!full && self.queue.len() as i64 > params.default_queue_depth);
        if !starts.is_empty() {
            self.stale_from(0);
        }
        for job in self.remove(&starts) {
            self.started(&job, at, Pass::Main, out);
        }
    }

    fn begin_backfill(&mut self, at: i64, to: i64, out: &mut Vec<Start>, watch: &mut impl Watch) {
        let now = at.div_euclid(1000);
        if now >= self.holds_until {
            self.stale_from(0);
            self.holds_until = i64::MAX;
        }
        // What comes behind the last job that fits can start nothing, and its plans are forgotten after the pass.
        let all = self.queue.len().checked_sub(1);
        let Some(last) = (if watch.wants_plans() { all } else { self.candidate(self.stale_from) }) else {
            self.skip_backfill(at, to);
            return;
        };
        let rest = self.queue[..=last].iter().rev().map(|job| job.id).collect();
        let pass = Backfill::new(&self.cluster, now, &self.rules.params);
        self.changes = 0;
        self.scratch.clear();
        let asleep = Asleep { pass, began: at, until: at, rest, changes: 0, worked: 0, started: false };
        self.work(at, asleep, out, watch);
    }

    /// This pass changes nothing, nor do those that follow until something happens.
    fn skip_backfill(&mut self, at: i64, to: i64) {
        let params = &self.rules.params;
        let Some(clock) = &mut self.clock else { return };
        let news = self.news.front().map_or(to, |&(at, _)| at);
        let main = if self.main_stale { clock.next_main(at, params) } else { to };
        let main = if self.rules.priority.is_some() { main.min(self.next_calc.saturating_mul(1000)) } else { main };
        let quiet = news.min(main).min(to).min(self.holds_until.saturating_mul(1000));
        let next = clock.next_backfill(quiet.max(at + 1), params);
        clock.skip_backfill(next, params);
    }

    /// A pass wakes up: it goes on, or gives up where jobs have changed.
    fn resume(&mut self, at: i64, out: &mut Vec<Start>, watch: &mut impl Watch) {
        let Some(asleep) = self.asleep.take() else { return };
        if self.changes != asleep.changes && self.rules.params.bf_continue == 0 {
            for &id in asleep.rest.iter().rev() {
                watch.verdict(
                    Pass::Backfill,
                    at.div_euclid(1000),
                    id,
                    crate::model::Verdict::NotReached("bf_continue"),
                );
            }
            self.finish(at, &asleep, false);
            return;
        }
        self.scratch.clear();
        self.work(at, asleep, out, watch);
    }

    /// Looks at jobs until the pass is over or has to let go of the locks.
    fn work(&mut self, at: i64, mut asleep: Asleep, out: &mut Vec<Start>, watch: &mut impl Watch) {
        let (now, cost) = (at.div_euclid(1000), self.rules.test_micros);
        let longest = self.rules.params.pass_seconds() * 1000;
        let slice = (self.rules.params.bf_yield_interval / 1000).max(1);
        let (mut place, mut worked) = (0, 0);
        let (tried_before, mut cut) = (asleep.pass.tried(), false);
        while let Some(id) = asleep.rest.pop() {
            let Some(found) = self.find(id, &mut place) else { continue };
            if at - asleep.began + worked >= longest {
                watch.verdict(Pass::Backfill, now, id, crate::model::Verdict::NotReached("bf_max_time"));
                cut = true;
                continue;
            }
            let Site { cluster, queue, rules, scratch, .. } = self;
            if asleep.pass.look(cluster, &queue[found], now, &rules.params, scratch, watch).is_some() {
                let job = self.queue.remove(found);
                asleep.started = true;
                self.started(&job, at, Pass::Backfill, out);
            }
            worked = (asleep.pass.tried() - tried_before) * cost / 1000;
            if worked >= slice && !asleep.rest.is_empty() {
                asleep.worked += worked;
                asleep.until = at + worked + (self.rules.params.bf_yield_sleep / 1000).max(1);
                // A start of its own is a change as well, but not one that the pass minds.
                asleep.changes = self.changes;
                self.asleep = Some(asleep);
                return;
            }
            if asleep.pass.is_over() && !watch.wants_plans() {
                break;
            }
        }
        self.finish(at + worked, &asleep, !cut);
    }

    /// The place of a job in the queue, at or after `place` where it has not moved.
    fn find(&self, id: u32, place: &mut usize) -> Option<usize> {
        let ahead = self.queue[*place..].iter().position(|job| job.id == id).map(|index| index + *place);
        let found = ahead.or_else(|| self.queue.iter().position(|job| job.id == id))?;
        *place = found;
        Some(found)
    }

    /// The pass is over. `whole`: it has looked at every job it was to look at.
    fn finish(&mut self, at: i64, asleep: &Asleep, whole: bool) {
        if let Some(clock) = &mut self.clock {
            clock.backfill_made(asleep.began, at);
        }
        if asleep.started || !whole || self.changes != asleep.changes {
            self.main_stale |= asleep.started;
            self.stale_from = 0;
            self.holds_until = i64::MAX;
            return;
        }
        self.stale_from = usize::MAX;
        self.holds_until = asleep.pass.holds_until();
        // A job that is past its limit is thought to end any moment.
        if let Some(first) = self.cluster.running().first() {
            self.holds_until = self.holds_until.min(first.end);
        }
    }
}
