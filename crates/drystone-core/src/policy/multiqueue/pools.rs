//! Resources beyond processors in one pass, and nodes: what is left of them, and what promises
//! leave.
//!
//! On nodes a count of processors bounds nothing: the seats of promises do.

use super::MultiQueue;
use crate::model::{JobId, Procs, Span};
use crate::parts::{NodeSeat, RunningJob};
use crate::policy::View;

/// Processors of a profile that rules nothing out.
pub(super) const UNBOUNDED: Procs = Procs::MAX / 4;

impl MultiQueue {
    /// Fills the pools beside the running jobs. A job that should have ended holds what it has
    /// until the next second at least.
    pub(super) fn fill_pools(&mut self, view: &View<'_>) {
        if view.resources().is_none() {
            return;
        }
        let now = self.scratch.now;
        let pools = self.scratch.pools.get_or_insert_default();
        pools.fill_room(self.running.iter().map(|job| RunningJob { end: job.end.max(now + Span(1)), ..*job }), view);
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
        self.scratch.pools.as_ref().is_none_or(|pools| pools.admits_need(view.job_need(id).on_seat(seat())))
    }

    /// Returns whether a job that starts now takes no further resource from a promise.
    #[inline]
    pub(super) fn disturbs_no_pool(&self, id: JobId, span: Span, view: &View<'_>) -> bool {
        self.scratch.pools.as_ref().is_none_or(|pools| pools.fits_promises(view.job_need(id), span, self.scratch.now))
    }

    /// A job starts now.
    #[inline]
    pub(super) fn take_pools(&mut self, id: JobId, seat: &NodeSeat, view: &View<'_>) {
        if let Some(pools) = &mut self.scratch.pools {
            pools.take_need(view.job_need(id).on_seat(Some(seat)));
        }
    }
}
