//! Room for starts, one after another: for policies that plan nothing.

use super::{JobNeed, OpenRoom, SeatNamer};
use crate::model::{JobId, Procs};
use drystone_engine::policy::{Actions, StartReason, View};

/// Room that is free at one moment, and that jobs take one after another: processors, further
/// resources, and nodes where jobs are placed on such.
pub struct StartRoom {
    open: OpenRoom,
    namer: SeatNamer,
}

impl StartRoom {
    /// Room at this moment, before anything starts.
    #[must_use]
    pub fn of_now(view: &View<'_>) -> StartRoom {
        StartRoom { open: OpenRoom::of_now(view), namer: SeatNamer::default() }
    }

    /// Returns whether all that a job asks for is free, on nodes that it may have.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn fits_job(&self, id: JobId, view: &View<'_>) -> bool {
        self.open.has_room(view.job_need(id))
    }

    /// Starts a job, if it fits. Returns whether it does.
    ///
    /// # Panics
    /// As [`View::job`].
    pub fn start_job(&mut self, id: JobId, why: StartReason, view: &View<'_>, actions: &mut Actions) -> bool {
        let need = view.job_need(id);
        let Some(seat) = self.open.find_seat(need) else { return false };
        let end = view.current_time().saturating_add(view.prediction(id));
        self.namer.start_job((id, why), end, &seat, view, actions);
        self.open.take_need(need.on_seat(Some(&seat)));
        true
    }

    /// Takes processors and nothing else, for a job that starts at another size than the preferred.
    pub fn take_procs(&mut self, procs: Procs) {
        self.open.take_need(JobNeed::of_procs(procs));
    }
}
