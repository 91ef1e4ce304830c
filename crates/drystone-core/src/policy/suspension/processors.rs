//! Processors with identity: which are free, and which of them suspended jobs own.

use super::news::have_common_processor;
use super::pool::RangePool;
use crate::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};

/// Free processors, and the owners of processors. A suspended job owns the processors on which it
/// must resume.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Processors {
    /// F: no job runs on them.
    free: RangePool,
    /// O: suspended jobs own them.
    owned: RangePool,
    /// F \ O.
    open: RangePool,
    /// Those that are out: never free, though a job may still run on some of them.
    out: ProcSet,
    /// Processors shared by several running jobs, because another scheduler started them so.
    shared: ProcSet,
}

impl Processors {
    pub(super) fn new(procs: Procs) -> Processors {
        let mut free = RangePool::default();
        free.insert(&ProcSet::from_range(0..procs));
        Processors {
            open: free.clone(),
            owned: RangePool::default(),
            free,
            out: ProcSet::new(),
            shared: ProcSet::new(),
        }
    }

    /// Recomputes all of it on a machine of this size: from the processors of running jobs, those
    /// owned by suspended jobs, and those that are out.
    pub(super) fn from_sets<'a>(
        procs: Procs,
        running: impl Iterator<Item = &'a ProcSet>,
        owners: impl Iterator<Item = &'a ProcSet>,
        out: ProcSet,
    ) -> Processors {
        let mut processors = Processors::new(procs);
        let mut busy = ProcSet::new();
        for set in running {
            processors.occupy_set(set);
            processors.shared = processors.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
        owners.for_each(|set| processors.owned.insert(set));
        processors.out = out;
        processors.forget_lost();
        processors.open.copy_from(&processors.free);
        processors.open.remove_all(&processors.owned);
        processors
    }

    /// Returns whether several running jobs share a processor.
    pub(super) fn any_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Returns whether no job gains by a job leaving these: some are out, or others are also on
    /// them.
    #[inline]
    pub(super) fn are_no_gain(&self, set: &ProcSet) -> bool {
        have_common_processor(set, &self.out) || have_common_processor(set, &self.shared)
    }

    /// Returns whether others are also on some of these.
    #[inline]
    pub(super) fn are_shared(&self, set: &ProcSet) -> bool {
        have_common_processor(set, &self.shared)
    }

    /// Jobs have left processors that they shared: those that still run are on theirs, and share
    /// what they share.
    #[cold]
    pub(super) fn share_anew<'a>(&mut self, running: impl Iterator<Item = &'a ProcSet>) {
        let mut busy = ProcSet::new();
        self.shared = ProcSet::new();
        for set in running {
            self.occupy_set(set);
            self.shared = self.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
    }

    pub(super) fn without_barred(&self, barred_procs: &ProcSet) -> Processors {
        let mut open_processors = self.clone();
        open_processors.occupy_set(barred_procs);
        open_processors
    }

    /// Removes the processors that are out from the free ones.
    #[inline]
    fn forget_lost(&mut self) {
        if !self.out.is_empty() {
            self.free.remove(&self.out);
            self.open.remove(&self.out);
        }
    }

    #[inline]
    pub(super) fn free_pool(&self) -> &RangePool {
        &self.free
    }

    #[inline]
    pub(super) fn open_pool(&self) -> &RangePool {
        &self.open
    }

    pub(super) fn occupy_set(&mut self, set: &ProcSet) {
        self.free.remove(set);
        self.open.remove(set);
    }

    /// A running job becomes a suspended one: its processors are free, but owned.
    pub(super) fn hold_set(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.owned.insert(set);
        self.forget_lost();
    }

    /// A suspended job that owned these resumes on them. `others` are the sets of the other
    /// suspended jobs, at least those that meet its own.
    pub(super) fn reoccupy_set<'a>(&mut self, set: &ProcSet, owner_sets: impl Iterator<Item = &'a ProcSet>) {
        self.occupy_set(set);
        self.owned_by(set, owner_sets);
    }

    /// Ends the ownership of these; `others` own what they owned. As soon as all are owned again
    /// the rest is not asked for.
    fn owned_by<'a>(&mut self, set: &ProcSet, owner_sets: impl Iterator<Item = &'a ProcSet>) {
        let owned_count = self.owned.len();
        self.owned.remove(set);
        for owner_set in owner_sets {
            self.owned.insert(owner_set);
            if self.owned.len() == owned_count {
                break;
            }
        }
    }

    /// A running job ends, or is suspended and owns nothing.
    pub(super) fn release_set(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.open.insert_except(set, &self.owned);
        self.forget_lost();
    }

    /// A suspended job was withdrawn. `others` are as for [`Processors::reoccupy_set`].
    pub(super) fn disown_set<'a>(&mut self, set: &ProcSet, owner_sets: impl Iterator<Item = &'a ProcSet>) {
        self.owned_by(set, owner_sets);
        self.open.copy_from(&self.free);
        self.open.remove_all(&self.owned);
    }
}
