//! Rules S6 to S8 as far as they depend on what a seat is: processors, or nodes with them.
//!
//! Sums of processors and amounts tell who has to give way where processors are alike: one walk
//! over the running jobs. On nodes no sum tells that: a place is looked for with some jobs gone,
//! again and again until as few as possible are (`placed.rs`). So there are two searches, and no
//! machine of processors alone pays for a place at each step.

use super::SelectivePolicy;
use crate::model::{ProcSet, Time};
use crate::policy::suspension::amounts::LackedAmounts;

impl SelectivePolicy {
    #[inline]
    fn has_nodes(&self) -> bool {
        self.amounts.nodes.is_some()
    }

    /// Rule S7: the processors on which an idle job starts without suspending another.
    pub(super) fn plain_start(&mut self, at: usize, now: Time) -> Option<ProcSet> {
        if self.has_nodes() {
            return self.pick_processors(at, &[], false, now);
        }
        let task = &self.idle[at];
        if self.is_pinned(task) {
            let free = self.processors.as_ref()?.free_pool();
            return (task.procs <= free.len() && free.contains_set(&task.set)).then(|| task.set.clone());
        }
        self.choose_processors(at, None, now)
    }

    /// Returns whether an idle job for which enough is free in all has a seat without suspending
    /// another.
    pub(super) fn has_seat(&mut self, at: usize, now: Time) -> bool {
        if self.has_nodes() {
            return self.pick_processors(at, &[], false, now).is_some();
        }
        let task = &self.idle[at];
        if self.is_pinned(task) {
            return self.processors.as_ref().is_some_and(|processors| processors.free_pool().contains_set(&task.set));
        }
        let need = task.procs;
        self.available_procs(at, false, now) >= need
    }

    /// Takes the processors of a fresh job for which the last `victims` jobs were stopped.
    pub(super) fn take_seat(&mut self, at: usize, victims: usize, now: Time) -> Option<ProcSet> {
        if self.has_nodes() {
            return self.picked.take();
        }
        self.ask_without_barred(at, now, |policy| policy.choose_processors(at, Some(victims), now))
    }

    /// Completes the victims of a suspended job, all that run on its processors, by those that have
    /// what it gave back beside them. Returns whether there are enough.
    pub(super) fn victims_beside_its_own(&mut self, at: usize, missing: LackedAmounts, now: Time) -> bool {
        if self.has_nodes() {
            let own = std::mem::take(&mut self.victims);
            return self.victims_on_nodes(at, own, now);
        }
        if missing.is_none() {
            return true;
        }
        let own = std::mem::take(&mut self.victims);
        let own_victims = self.victims_for(at, u64::MAX, missing, &own, now);
        self.victims.extend(own);
        own_victims
    }

    /// The jobs that a fresh one suspends, if there are enough.
    pub(super) fn victims_anywhere(&mut self, at: usize, now: Time) -> bool {
        if self.has_nodes() {
            return self.victims_on_nodes(at, Vec::new(), now);
        }
        let available = self.available_procs(at, true, now);
        let missing = self.amounts.missing_amounts(&self.idle[at]);
        missing.is_some_and(|missing| self.victims_for(at, u64::from(available), missing, &[], now))
    }
}
