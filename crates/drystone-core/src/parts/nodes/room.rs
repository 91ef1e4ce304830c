//! Room for a job, kept up while running jobs leave their nodes.

use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};

/// Room for one job by node, kept up as seats become free.
pub(crate) struct NodeRoom<'a> {
    need: &'a JobNodeNeed,
    /// Pieces by node, no more than the job has.
    of: Vec<u32>,
    held: u64,
}

impl<'a> NodeRoom<'a> {
    /// Room where so much is free.
    pub(crate) fn new(need: &'a JobNodeNeed, floor: &NodeFloor, free: &NodeLevels) -> NodeRoom<'a> {
        let of: Vec<u32> =
            (0..floor.len()).map(|node| need.room(floor, free.row(node), node).min(need.pieces)).collect();
        let held = of.iter().map(|&room| u64::from(room)).sum();
        NodeRoom { need, of, held }
    }

    /// A seat has become free in `free`.
    pub(crate) fn freed(&mut self, seat: &NodeSeat, floor: &NodeFloor, free: &NodeLevels) {
        for &(node, _) in &seat.on {
            let own = &mut self.of[node as usize];
            let room = self.need.room(floor, free.row(node as usize), node as usize).min(self.need.pieces);
            self.held = self.held + u64::from(room) - u64::from(*own);
            *own = room;
        }
    }

    /// Returns whether the job fits.
    #[inline]
    pub(crate) fn suffices(&self) -> bool {
        self.held >= u64::from(self.need.pieces)
    }
}
