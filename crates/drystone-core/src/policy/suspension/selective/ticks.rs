//! Rule S9: ticks at which nothing can change are slept through.

use super::SelectivePolicy;
use crate::model::Time;
use crate::policy::suspension::amounts::LackedAmounts;
use crate::policy::suspension::ratio::Ratio;
use crate::policy::suspension::settings::{FreshPlace, VictimRule};
use crate::policy::suspension::task::SuspensionTask;

impl SelectivePolicy {
    /// The next tick at which something can change if nothing else happens; only the idle jobs from
    /// `from` on are asked.
    pub(super) fn next_tick_for(&mut self, from: usize, now: Time, tick: Option<Time>) -> Option<Time> {
        let every = self.settings.every.0;
        let first = Time((now.0.div_euclid(every) + 1) * every);
        let mut best = tick.filter(|&t| t > now).unwrap_or(Time::MAX);
        for at in from..self.idle.len() {
            if best <= first {
                break;
            }
            let ready = self.ready_time(at, now, best);
            if ready < best {
                best = Time((ready.max(first).0 - 1).div_euclid(every) * every + every);
            }
        }
        (best < Time::MAX).then_some(best)
    }

    /// Returns the time from which an idle job can start as things are, no later than it really
    /// can; [`Time::MAX`] for never. Not computed to the end where it is `bound` or later.
    fn ready_time(&mut self, at: usize, now: Time, bound: Time) -> Time {
        if self.is_ruled_out(at, now) {
            return Time::MAX;
        }
        if self.can_start(at, now) {
            return now;
        }
        let time_over = |task: &SuspensionTask, tau: Ratio| task.when_over(self.factor.least_over(tau, task.length));
        let task = &self.idle[at];
        // What suspended jobs keep is given back by ends only.
        let Some(missing) = self.amounts.missing_amounts(task) else { return Time::MAX };
        // Free processors of suspended jobs may come to be its own as time passes, or are at the
        // next tick, whatever runs.
        if !self.is_pinned(task)
            && missing.is_none()
            && (self.settings.place.changes_with_time() || self.settings.place == FreshPlace::Never)
            && self.processors.as_ref().is_some_and(|p| p.free_pool().len() >= task.procs)
        {
            return now;
        }
        let Some(first) = self.running.first() else { return Time::MAX };
        if time_over(task, first.running_priority()) >= bound {
            return bound;
        }
        if self.is_pinned(task) {
            let simple = self.limits.is_none() && self.settings.cap.is_none();
            let mut highest = None;
            for rival in self.running.iter().rev().filter(|rival| task.has_common_processor(rival)) {
                if !simple && self.is_sheltered(rival) {
                    return Time::MAX;
                }
                highest = highest.or(Some(rival.running_priority()));
                if simple {
                    break;
                }
            }
            let on_its_processors = highest.map_or(now, |tau| time_over(task, tau));
            return match self.relieved_by(task, missing) {
                Some(tau) => on_its_processors.max(tau.map_or(now, |tau| time_over(task, tau))),
                None => Time::MAX,
            };
        }
        let available = match self.settings.place {
            FreshPlace::Strict => self.processors.as_ref().map_or(0, |p| p.open_pool().len()),
            _ => self.processors.as_ref().map_or(0, |p| p.free_pool().len()),
        };
        // These are too few: a job that has enough without victims was answered above.
        let with = |is_relieved: bool| {
            let (widest, mut sum) = (self.widest_victim(task, is_relieved), u64::from(available));
            let mut missing = missing.clone();
            for candidate in &self.running {
                if candidate.procs > widest || self.is_sheltered(candidate) {
                    if self.settings.victims == VictimRule::Exit {
                        break;
                    }
                    continue;
                }
                sum += u64::from(candidate.procs);
                self.amounts.relieve_missing(&mut missing, candidate);
                if sum >= u64::from(task.procs) && missing.is_none() {
                    return time_over(task, candidate.running_priority());
                }
            }
            Time::MAX
        };
        match self.settings.relief {
            None => with(false),
            Some(relief) => {
                let relief_time = task.when_over(relief.least_over(Ratio { over: 1, under: 1 }, task.length));
                with(false).min(with(true).max(relief_time))
            }
        }
    }

    /// The highest expansion factor among the jobs elsewhere that must be suspended so that a
    /// suspended job lacks nothing beside its processors, if any must; `None` where it lacks
    /// something whichever are.
    fn relieved_by(&self, task: &SuspensionTask, mut missing: LackedAmounts) -> Option<Option<Ratio>> {
        let mut highest = None;
        if missing.is_none() {
            return Some(highest);
        }
        self.running
            .iter()
            .filter(|rival| task.has_common_processor(rival))
            .for_each(|o| self.amounts.relieve_missing(&mut missing, o));
        for rival in self.running.iter().filter(|rival| !task.has_common_processor(rival) && !self.is_sheltered(rival))
        {
            if self.amounts.can_help(&missing, rival) {
                self.amounts.relieve_missing(&mut missing, rival);
                highest = Some(rival.running_priority());
            }
        }
        missing.is_none().then_some(highest)
    }
}
