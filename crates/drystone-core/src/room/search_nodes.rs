//! Nodes of a machine, as one search places jobs on them.

use crate::model::{JobId, Time};
use crate::parts::{JobNodeNeed, NeedWithSeat, NodeFloor, NodeSeat};
use crate::room::node_outlook::core_returns;
use crate::room::planned::Believed;
use crate::room::{OpenRoom, PlanRoom, SeatWish};
use drystone_engine::policy::View;
use std::sync::Arc;

/// Nodes that the jobs of a task are placed on.
#[derive(Clone, PartialEq, Debug)]
pub struct GoalNodes {
    pub(crate) floor: Arc<NodeFloor>,
    /// Room that the running jobs leave over time, further resources included.
    pub(crate) room: PlanRoom,
    pub(crate) free: OpenRoom,
    /// Cores that come back where none go before: when, of which node, and their number.
    pub(crate) returns: Vec<(Time, u32, i64)>,
    /// Seats of the running jobs, in the order of the task.
    held: Vec<NeedWithSeat>,
    /// The waiting jobs and their needs, in the order of the task.
    waiting: Vec<(JobId, Arc<JobNodeNeed>)>,
}

impl GoalNodes {
    /// Nodes with these running and waiting jobs; `None` where jobs are not placed on such.
    pub(crate) fn beside_running(running: &Believed, queue: &[JobId], view: &View<'_>) -> Option<Box<GoalNodes>> {
        let nodes = view.nodes()?;
        let mut room = PlanRoom::new_empty();
        room.fill_running(running, &[], view);
        let seat = |id: JobId| {
            nodes.seat_of(id).cloned().unwrap_or_else(|| NeedWithSeat {
                need: Arc::clone(nodes.need_of(view.job(id))),
                seat: NodeSeat::default(),
            })
        };
        Some(Box::new(GoalNodes {
            floor: Arc::clone(nodes.shared_floor()),
            room,
            free: OpenRoom::of_now(view),
            returns: core_returns(nodes.floor(), view),
            held: running.iter().map(|job| seat(job.id)).collect(),
            waiting: queue.iter().map(|&id| (id, Arc::clone(nodes.need_of(view.job(id))))).collect(),
        }))
    }

    /// Returns these nodes with some of the waiting jobs.
    pub(crate) fn with_some(&self, places: &[u32]) -> GoalNodes {
        let waiting_wishes = places.iter().map(|&place| self.waiting[place as usize].clone()).collect();
        GoalNodes { waiting: waiting_wishes, ..self.clone() }
    }

    pub(crate) fn seat_wish(&self, place: usize) -> SeatWish<'_> {
        let (id, need) = &self.waiting[place];
        SeatWish { id: *id, need, floor: &self.floor, seat: None }
    }

    pub(crate) fn running_seat(&self, at: usize) -> SeatWish<'_> {
        let NeedWithSeat { need, seat } = &self.held[at];
        SeatWish { id: JobId::default(), need, floor: &self.floor, seat: Some(seat) }
    }
}
