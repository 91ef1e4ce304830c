//! Needs of a job as policies ask for room with them.

use crate::model::{JobId, Procs, ResourceAmounts};
use crate::parts::{JobNodeNeed, NodeFloor, NodeSeat};
use std::sync::Arc;

/// Needs of a job.
#[derive(Clone, Copy, Debug)]
pub struct JobNeed<'a> {
    /// Processors.
    pub procs: Procs,
    /// Further resources in all, ascending by resource.
    pub amounts: &'a ResourceAmounts,
    /// Nodes, where jobs are placed on such.
    pub on: Option<SeatWish<'a>>,
}

/// Nodes that a job asks for.
#[derive(Clone, Copy, Debug)]
pub struct SeatWish<'a> {
    /// The job.
    pub id: JobId,
    /// Nodes it may have, and amounts on each.
    pub need: &'a Arc<JobNodeNeed>,
    /// The nodes of the machine.
    pub floor: &'a NodeFloor,
    /// The seat that it is to have; `None` for any.
    pub seat: Option<&'a NodeSeat>,
}

impl<'a> JobNeed<'a> {
    /// The need of so many processors, and of nothing else.
    #[inline(always)]
    pub fn of_procs(procs: Procs) -> JobNeed<'a> {
        JobNeed { procs, amounts: &[], on: None }
    }

    /// Returns this need, of this very seat.
    #[inline]
    pub fn on_seat(self, seat: Option<&'a NodeSeat>) -> JobNeed<'a> {
        JobNeed { on: self.on.map(|wish| SeatWish { seat, ..wish }), ..self }
    }
}
