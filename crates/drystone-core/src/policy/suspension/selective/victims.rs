//! Rule S8: idle jobs that suspend running ones.

use super::SelectivePolicy;
use crate::model::{Procs, SharedSort, Time};
use crate::policy::suspension::amounts::LackedAmounts;
use crate::policy::suspension::ratio::Ratio;
use crate::policy::suspension::settings::VictimRule;
use crate::policy::suspension::task::SuspensionTask;
use crate::policy::{Actions, StartReason};

impl SelectivePolicy {
    #[inline]
    pub(super) fn widest_victim(&self, task: &SuspensionTask, is_relieved: bool) -> Procs {
        let width = self.settings.width.filter(|_| !is_relieved);
        width.map_or(Procs::MAX, |times| task.procs.saturating_mul(times))
    }

    pub(super) fn sort_idle(&mut self, now: Time) {
        self.idle.sort_unstable_by(|a, b| a.compare_priority(b, now));
    }

    /// Rule S8, PREEMPT.
    pub(super) fn preempt_jobs(&mut self, now: Time, actions: &mut Actions) {
        self.sort_idle(now);
        let mut at = 0;
        while at < self.idle.len() {
            if let Some(set) = self.start_beside(at, now) {
                self.start_task(
                    at,
                    set,
                    if at == 0 { StartReason::Head } else { StartReason::Backfilled },
                    now,
                    actions,
                );
                continue;
            }
            self.picked = None;
            let has_victims = self.ask_without_barred(at, now, |policy| match policy.is_pinned(&policy.idle[at]) {
                true => policy.victims_on_its_processors(at, now),
                false => policy.victims_anywhere(at, now),
            });
            if !has_victims {
                at += 1;
                continue;
            }
            // From the highest position down, so that the others stay where they are.
            self.victims.sort_unstable();
            self.victims.reverse();
            let victims = std::mem::take(&mut self.victims);
            victims.iter().for_each(|&victim| self.suspend_running(victim, now, actions));
            let set = match self.is_pinned(&self.idle[at]) {
                true => Some(self.idle[at].set.clone()),
                false => self.take_seat(at, victims.len(), now),
            };
            self.victims = victims;
            match set {
                Some(set) => self.start_task(at, set, StartReason::Preempting, now, actions),
                None => at += 1,
            }
        }
        // A job that gave way may have left processors that another suspended job was waiting for.
        self.changed = !self.stopped.is_empty();
        self.idle.append(&mut self.stopped);
    }

    /// The jobs that a suspended one must suspend to resume, if it may: all that run on its
    /// processors.
    fn victims_on_its_processors(&mut self, at: usize, now: Time) -> bool {
        self.victims.clear();
        let task = &self.idle[at];
        let Some(mut missing) = self.amounts.missing_amounts(task) else { return false };
        if self.is_lost_on(&task.set) {
            return false;
        }
        let tau = task.idle_priority(now);
        for (j, candidate) in self.running.iter().enumerate() {
            if !task.has_common_processor(candidate) {
                continue;
            }
            let is_spared = self.is_sheltered(candidate) || self.limits.is_forbidden(tau, candidate);
            if candidate.since == now || !tau.is_at_least(self.factor, candidate.running_priority()) || is_spared {
                return false;
            }
            self.amounts.relieve_missing(&mut missing, candidate);
            self.victims.push(j);
        }
        self.victims_beside_its_own(at, missing, now)
    }

    /// The jobs that are to be suspended, besides `own`, so that as many processors are available
    /// as an idle job needs, and nothing is missing. Jobs that give back nothing of what still
    /// lacks are spared.
    pub(super) fn victims_for(
        &mut self,
        at: usize,
        available: u64,
        missing: LackedAmounts,
        own: &[usize],
        now: Time,
    ) -> bool {
        self.victims.clear();
        let task = &self.idle[at];
        let (need, tau) = (u64::from(task.procs), task.idle_priority(now));
        let widest = self.widest_victim(task, self.is_relieved(tau));
        let (mut sum, mut lacks) = (available, missing.clone());
        for (j, candidate) in self.running.iter().enumerate() {
            if self.settings.victims != VictimRule::Widest && sum >= need && lacks.is_none()
                || !tau.is_at_least(self.factor, candidate.running_priority())
            {
                break;
            }
            if candidate.since == now || own.contains(&j) {
                continue;
            }
            if candidate.procs > widest || self.is_sheltered(candidate) || self.limits.is_forbidden(tau, candidate) {
                if self.settings.victims == VictimRule::Exit {
                    break;
                }
                continue;
            }
            if self.settings.victims != VictimRule::Widest && sum >= need && !self.amounts.can_help(&lacks, candidate) {
                continue;
            }
            sum = sum.saturating_add(u64::from(candidate.procs));
            self.amounts.relieve_missing(&mut lacks, candidate);
            self.victims.push(j);
        }
        if sum < need || !lacks.is_none() {
            return false;
        }
        // Stable: of equally wide ones those of lower priority first.
        self.victims.sort_shared_by_key(|&j| std::cmp::Reverse(self.running[j].procs));
        let (mut sum, mut lacks) = (available, missing);
        let (running_tasks, amounts) = (&self.running, &self.amounts);
        self.victims.retain(|&j| {
            let is_wanted = sum < need || amounts.can_help(&lacks, &running_tasks[j]);
            if is_wanted {
                sum = sum.saturating_add(u64::from(running_tasks[j].procs));
                amounts.relieve_missing(&mut lacks, &running_tasks[j]);
            }
            is_wanted
        });
        true
    }

    pub(super) fn is_relieved(&self, tau: Ratio) -> bool {
        self.settings.relief.is_some_and(|relief| tau.is_at_least(relief, Ratio { over: 1, under: 1 }))
    }
}
