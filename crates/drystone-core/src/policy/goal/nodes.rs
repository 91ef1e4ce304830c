//! Nodes of a machine, as one search places jobs on them.

use crate::model::{JobId, Time};
use crate::parts::{JobNodeNeed, NeedWithSeat, NodeFloor, NodeSeat};
use crate::policy::node_outlook::core_returns;
use crate::policy::planned::Believed;
use crate::policy::room::{OpenRoom, PlanRoom, SeatWish};
use crate::policy::{FreeNodes, View};
use std::sync::Arc;

/// Nodes that the jobs of a task are placed on.
#[derive(Clone, PartialEq, Debug)]
pub struct GoalNodes {
    pub(super) floor: Arc<NodeFloor>,
    /// Room that the running jobs leave over time, further resources included.
    pub(super) room: PlanRoom,
    /// Room now.
    pub(super) free: OpenRoom,
    /// Cores that come back where none go before: when, of which node, and their number.
    pub(super) returns: Vec<(Time, u32, i64)>,
    /// Seats of the running jobs, in the order of the task.
    held: Vec<NeedWithSeat>,
    /// The waiting jobs and their needs, in the order of the task.
    waiting: Vec<(JobId, Arc<JobNodeNeed>)>,
}

impl GoalNodes {
    /// Nodes with these running and waiting jobs.
    pub(super) fn new(running: &Believed, queue: &[JobId], nodes: &FreeNodes, view: &View<'_>) -> GoalNodes {
        let mut room = PlanRoom::empty();
        room.fill(running, &[], view);
        let seat = |id: JobId| {
            nodes.seat_of(id).cloned().unwrap_or_else(|| NeedWithSeat {
                need: Arc::clone(nodes.need_of(view.job(id))),
                seat: NodeSeat::default(),
            })
        };
        GoalNodes {
            floor: Arc::clone(nodes.shared_floor()),
            room,
            free: OpenRoom::of_now(view),
            returns: core_returns(nodes.floor(), view),
            held: running.iter().map(|job| seat(job.id)).collect(),
            waiting: queue.iter().map(|&id| (id, Arc::clone(nodes.need_of(view.job(id))))).collect(),
        }
    }

    /// Returns these nodes with some of the waiting jobs.
    pub(super) fn with_some(&self, places: &[u32]) -> GoalNodes {
        let waiting = places.iter().map(|&place| self.waiting[place as usize].clone()).collect();
        GoalNodes { waiting, ..self.clone() }
    }

    /// Wish of a waiting job.
    pub(super) fn wish(&self, place: usize) -> SeatWish<'_> {
        let (id, need) = &self.waiting[place];
        SeatWish { id: *id, need, floor: &self.floor, seat: None }
    }

    /// Seat of a running job.
    pub(super) fn seat(&self, at: usize) -> SeatWish<'_> {
        let NeedWithSeat { need, seat } = &self.held[at];
        SeatWish { id: JobId::default(), need, floor: &self.floor, seat: Some(seat) }
    }
}
