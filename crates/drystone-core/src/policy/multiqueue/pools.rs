//! Resources beyond processors in one pass, and nodes: what is left of them, and what promises
//! leave.
//!
//! On nodes a count of processors bounds nothing: the seats of promises do.

use super::MultiQueue;
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{NodeSeat, PoolProfile, Profile, RunningJob};
use crate::policy::room::{OpenRoom, PlanRoom};
use crate::policy::{View, pool_plan};

/// Processors of a profile that rules nothing out.
pub(super) const UNBOUNDED: Procs = Procs::MAX / 4;

/// Free amounts of one pass, on a machine that has more than processors.
#[derive(Default)]
pub(super) struct PassPools {
    /// Room now, without what jobs took that started in this pass.
    left: OpenRoom,
    /// Free amounts over time beside running jobs and promises.
    plan: PoolProfile,
    /// Plan in place of that where jobs are placed on nodes.
    pub(super) room: Option<PlanRoom>,
}

impl PassPools {
    /// Takes a promise's amounts, or those of a job that starts. Returns the seat that it has.
    pub(super) fn reserve(
        &mut self,
        id: JobId,
        (from, to): (Time, Time),
        seat: Option<&NodeSeat>,
        view: &View<'_>,
    ) -> NodeSeat {
        if from < Time::MAX {
            match &mut self.room {
                None => self.plan.reserve(from, to, view.amounts(id)),
                Some(room) => {
                    room.reserve(from, to, view.need(id).on_seat(seat));
                    return room.seat_of(id).cloned().unwrap_or_default();
                }
            }
        }
        NodeSeat::default()
    }

    /// Gives back the amounts of a promise that is not kept.
    pub(super) fn release(&mut self, id: JobId, from: Time, to: Time, view: &View<'_>) {
        if from < Time::MAX {
            match &mut self.room {
                None => self.plan.release(from, to, view.amounts(id)),
                Some(room) => room.release(from, to, view.need(id)),
            }
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
        match &self.room {
            None => pool_plan::earliest(profile, &self.plan, procs, view.amounts(id), span, from),
            Some(room) => room.earliest(view.need(id), span, from),
        }
    }
}

impl MultiQueue {
    /// Fills the pools beside the running jobs. A job that should have ended holds what it has
    /// until the next second at least.
    pub(super) fn fill_pools(&mut self, view: &View<'_>) {
        if view.resources().is_none() {
            return;
        }
        let now = self.scratch.now;
        let pools = self.scratch.pools.get_or_insert_default();
        pools.left = OpenRoom::of_now(view);
        let ends = self.running.iter().map(|job| RunningJob { end: job.end.max(now + Span(1)), ..*job });
        if view.nodes().is_some() {
            let ends: Vec<RunningJob> = ends.collect();
            pools.room.get_or_insert_with(PlanRoom::empty).fill_ends(&ends, view);
        } else {
            pool_plan::fill(&mut pools.plan, view, ends.map(|job| (job.end, job.id)));
        }
    }

    /// Returns whether jobs are placed on nodes.
    pub(super) fn is_seated(&self) -> bool {
        self.scratch.pools.as_ref().is_some_and(|pools| pools.room.is_some())
    }

    /// Returns whether enough of every further resource is left now, on its promised nodes if it
    /// has some.
    #[inline]
    pub(super) fn is_left(&self, id: JobId, view: &View<'_>) -> bool {
        let seat = || self.seats.get(&id);
        self.scratch.pools.as_ref().is_none_or(|pools| pools.left.admits(view.need(id).on_seat(seat())))
    }

    /// Returns whether a job that starts now takes no further resource from a promise.
    #[inline]
    pub(super) fn disturbs_no_pool(&self, id: JobId, span: Span, view: &View<'_>) -> bool {
        self.scratch.pools.as_ref().is_none_or(|pools| match &pools.room {
            None => pools.left.admits(view.need(id)) && pools.plan.fits(self.scratch.now, span, view.amounts(id)),
            Some(room) => room.fits(self.scratch.now, span, view.need(id)),
        })
    }

    /// A job starts now.
    #[inline]
    pub(super) fn take_pools(&mut self, id: JobId, seat: &NodeSeat, view: &View<'_>) {
        if let Some(pools) = &mut self.scratch.pools {
            pools.left.take(view.need(id).on_seat(Some(seat)));
        }
    }
}
