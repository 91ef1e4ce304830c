//! Processors with identity: which are free, and which of them suspended jobs own.

use super::news::meets;
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
        free.insert(&ProcSet::range(0..procs));
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
    pub(super) fn anew<'a>(
        procs: Procs,
        running: impl Iterator<Item = &'a ProcSet>,
        owners: impl Iterator<Item = &'a ProcSet>,
        out: ProcSet,
    ) -> Processors {
        let mut all = Processors::new(procs);
        let mut busy = ProcSet::new();
        for set in running {
            all.occupy(set);
            all.shared = all.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
        owners.for_each(|set| all.owned.insert(set));
        all.out = out;
        all.forget_lost();
        all.open.copy_from(&all.free);
        all.open.remove_all(&all.owned);
        all
    }

    /// Returns whether several running jobs share a processor.
    pub(super) fn any_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Returns whether no job gains by a job leaving these: some are out, or others are also on
    /// them.
    #[inline]
    pub(super) fn are_no_gain(&self, set: &ProcSet) -> bool {
        meets(set, &self.out) || meets(set, &self.shared)
    }

    /// Returns whether others are also on some of these.
    #[inline]
    pub(super) fn are_shared(&self, set: &ProcSet) -> bool {
        meets(set, &self.shared)
    }

    /// Jobs have left processors that they shared: those that still run are on theirs, and share
    /// what they share.
    #[cold]
    pub(super) fn share_anew<'a>(&mut self, running: impl Iterator<Item = &'a ProcSet>) {
        let mut busy = ProcSet::new();
        self.shared = ProcSet::new();
        for set in running {
            self.occupy(set);
            self.shared = self.shared.union(&busy.intersection(set));
            busy = busy.union(set);
        }
    }

    /// Returns the processors without these.
    pub(super) fn without(&self, barred: &ProcSet) -> Processors {
        let mut all = self.clone();
        all.occupy(barred);
        all
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
    pub(super) fn free(&self) -> &RangePool {
        &self.free
    }

    #[inline]
    pub(super) fn open(&self) -> &RangePool {
        &self.open
    }

    pub(super) fn occupy(&mut self, set: &ProcSet) {
        self.free.remove(set);
        self.open.remove(set);
    }

    /// A running job becomes a suspended one: its processors are free, but owned.
    pub(super) fn hold(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.owned.insert(set);
        self.forget_lost();
    }

    /// A suspended job that owned these resumes on them. `others` are the sets of the other
    /// suspended jobs, at least those that meet its own.
    pub(super) fn reoccupy<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        self.occupy(set);
        self.owned_by(set, others);
    }

    /// Ends the ownership of these; `others` own what they owned. As soon as all are owned again
    /// the rest is not asked for.
    fn owned_by<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        let all = self.owned.len();
        self.owned.remove(set);
        for other in others {
            self.owned.insert(other);
            if self.owned.len() == all {
                break;
            }
        }
    }

    /// A running job ends, or is suspended and owns nothing.
    pub(super) fn release(&mut self, set: &ProcSet) {
        self.free.insert(set);
        self.open.insert_except(set, &self.owned);
        self.forget_lost();
    }

    /// A suspended job was withdrawn. `others` are as for [`Processors::reoccupy`].
    pub(super) fn disown<'a>(&mut self, set: &ProcSet, others: impl Iterator<Item = &'a ProcSet>) {
        self.owned_by(set, others);
        self.open.copy_from(&self.free);
        self.open.remove_all(&self.owned);
    }
}
