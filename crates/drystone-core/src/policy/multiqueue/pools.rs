//! Resources beyond processors in one pass: what is left of them, and what promises leave.

use super::MultiQueue;
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{PoolProfile, Profile};
use crate::policy::free_resources::{covers, deduct};
use crate::policy::{View, pool_plan};

/// Free amounts of one pass, on a machine that has more than processors.
#[derive(Default)]
pub(super) struct PassPools {
    /// Free amounts now, without those of jobs that started in this pass.
    left: Vec<i64>,
    /// Free amounts over time beside running jobs and promises.
    plan: PoolProfile,
}

impl PassPools {
    /// Takes a promise's amounts.
    pub(super) fn reserve(&mut self, id: JobId, from: Time, to: Time, view: &View<'_>) {
        if from < Time::MAX {
            self.plan.reserve(from, to, view.amounts(id));
        }
    }

    /// Gives back the amounts of a promise that is not kept.
    pub(super) fn release(&mut self, id: JobId, from: Time, to: Time, view: &View<'_>) {
        if from < Time::MAX {
            self.plan.release(from, to, view.amounts(id));
        }
    }

    /// Returns the earliest start of a job beside running jobs and promises.
    pub(super) fn earliest(
        &self,
        (id, procs, span): (JobId, Procs, Span),
        profile: &Profile,
        from: Time,
        view: &View<'_>,
    ) -> Option<Time> {
        pool_plan::earliest(profile, &self.plan, procs, view.amounts(id), span, from)
    }
}

impl MultiQueue {
    /// Fills the pools beside the running jobs. A job that should have ended holds what it has
    /// until the next second at least.
    pub(super) fn fill_pools(&mut self, view: &View<'_>) {
        let Some(resources) = view.resources() else { return };
        let now = self.scratch.now;
        let pools = self.scratch.pools.get_or_insert_default();
        pools.left.clear();
        pools.left.extend_from_slice(resources.levels());
        let ends = self.running.iter().map(|job| (job.end.max(now + Span(1)), job.id));
        pool_plan::fill(&mut pools.plan, view, ends);
    }

    /// Returns whether enough of every further resource is left now.
    #[inline]
    pub(super) fn is_left(&self, id: JobId, view: &View<'_>) -> bool {
        self.scratch.pools.as_ref().is_none_or(|pools| covers(&pools.left, view.amounts(id)))
    }

    /// Returns whether a job that starts now takes no further resource from a promise.
    #[inline]
    pub(super) fn disturbs_no_pool(&self, id: JobId, span: Span, view: &View<'_>) -> bool {
        self.scratch.pools.as_ref().is_none_or(|pools| {
            let amounts = view.amounts(id);
            covers(&pools.left, amounts) && pools.plan.fits(self.scratch.now, span, amounts)
        })
    }

    /// A job starts now.
    #[inline]
    pub(super) fn take_pools(&mut self, id: JobId, view: &View<'_>) {
        if let Some(pools) = &mut self.scratch.pools {
            deduct(&mut pools.left, view.amounts(id));
        }
    }
}
