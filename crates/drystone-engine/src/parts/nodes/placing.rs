//! Nodes for a job, by what is free on them.

use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::{Job, NodeFill, ProcSet, ResourceTable, SharedSort};
use std::cmp::Reverse;

impl NodeFloor {
    /// Returns the reason why a job can never run here; `None` if it can.
    #[must_use]
    pub fn problem(&self, job: &Job, table: &ResourceTable) -> Option<String> {
        let need = match JobNodeNeed::of(job, table, self) {
            Ok(need) => need,
            Err(problem) => return Some(problem),
        };
        match self.place(&need, &NodeLevels::empty(self)) {
            Some(_) => None,
            None => Some(need.beyond(self)),
        }
    }

    /// The nodes for a job where this much is free; `None` where it does not fit. O(n log n) for n
    /// nodes on which a piece fits.
    #[must_use]
    pub fn place(&self, need: &JobNodeNeed, free: &NodeLevels) -> Option<NodeSeat> {
        if free.procs() < need.procs() {
            return None;
        }
        let mut offers: Vec<NodeOffer> = Vec::new();
        let (mut held, wanted) = (0_u64, u64::from(need.pieces));
        for node in 0..self.len() {
            let room = need.room(self, free.row(node), node).min(need.pieces);
            if room > 0 {
                held += u64::from(room);
                offers.push(NodeOffer { node: node as u32, weight: self.weight(node), room, cores: free.cores(node) });
            }
        }
        (held >= wanted).then(|| self.choose(need, offers))
    }

    /// The nodes for a job among some that have room for it, in ascending order.
    pub(super) fn choose(&self, need: &JobNodeNeed, mut offers: Vec<NodeOffer>) -> NodeSeat {
        let taken = match self.fill {
            NodeFill::Pack | NodeFill::Whole => packed(offers, need.pieces),
            NodeFill::Spread => {
                offers.sort_shared_by_key(|offer| (offer.weight, Reverse(offer.cores), offer.node));
                dealt(&offers, need.pieces)
            }
        };
        seated(need, taken)
    }

    /// The nodes of these processors, with how many of them are on each.
    #[must_use]
    pub fn seat(&self, set: &ProcSet) -> NodeSeat {
        let mut seat = NodeSeat::default();
        for range in set.ranges() {
            let mut from = range.start;
            while from < range.end.min(self.procs()) {
                let node = self.node_of(from);
                let until = range.end.min(self.first[node + 1]);
                match seat.on.last_mut() {
                    Some((last, cores)) if *last as usize == node => *cores += until - from,
                    _ => seat.on.push((node as u32, until - from)),
                }
                from = until;
            }
        }
        seat
    }
}

/// A node with the room that it has for a job.
#[derive(Clone, Copy)]
pub(super) struct NodeOffer {
    pub(super) node: u32,
    pub(super) weight: u64,
    /// Pieces.
    pub(super) room: u32,
    /// Free cores.
    pub(super) cores: i64,
}

/// The seat on these nodes with so many pieces each, in the order in which they were chosen.
pub(super) fn seated(need: &JobNodeNeed, mut taken: Vec<(u32, u32)>) -> NodeSeat {
    let mut at = 0;
    for (_, count) in &mut taken {
        let pieces = *count;
        *count = need.cores_from(at, pieces);
        at += pieces;
    }
    taken.sort_unstable();
    NodeSeat { on: taken }
}

/// As few nodes as possible, in the order in which they are chosen.
fn packed(mut offers: Vec<NodeOffer>, pieces: u32) -> Vec<(u32, u32)> {
    let mut taken = Vec::new();
    let mut left = pieces;
    let tightest = |offers: &[NodeOffer], left: u32| {
        let enough = offers.iter().filter(|offer| offer.room >= left);
        enough.min_by_key(|offer| (offer.weight, offer.cores, offer.node)).map(|offer| offer.node)
    };
    if let Some(node) = tightest(&offers, left) {
        return vec![(node, left)];
    }
    offers.sort_shared_by_key(|offer| (offer.weight, Reverse(offer.room), offer.cores, offer.node));
    // The most that any node from a place on holds: where weights differ, a later one may hold
    // more.
    let mut most: Vec<u32> = offers.iter().map(|offer| offer.room).collect();
    (1..most.len()).rev().for_each(|at| most[at - 1] = most[at - 1].max(most[at]));
    for at in 0..offers.len() {
        if most[at] >= left
            && let Some(node) = tightest(&offers[at..], left)
        {
            taken.push((node, left));
            break;
        }
        taken.push((offers[at].node, offers[at].room));
        left -= offers[at].room;
    }
    taken
}

/// Deals pieces, one to each node in turn, to nodes in the order in which they are chosen.
pub(super) fn dealt(offers: &[NodeOffer], pieces: u32) -> Vec<(u32, u32)> {
    // Rounds that every node with room has a piece in, and the rest of one more.
    let in_rounds = |rounds: u32| offers.iter().map(|offer| u64::from(offer.room.min(rounds))).sum::<u64>();
    let (mut rounds, mut above) = (0, pieces);
    while rounds < above {
        let middle = rounds + (above - rounds).div_ceil(2);
        if in_rounds(middle) <= u64::from(pieces) {
            rounds = middle;
        } else {
            above = middle - 1;
        }
    }
    let mut left = u64::from(pieces) - in_rounds(rounds);
    let mut taken = Vec::with_capacity(offers.len().min(pieces as usize));
    for offer in offers {
        let more = u32::from(left > 0 && offer.room > rounds);
        left -= u64::from(more);
        let count = offer.room.min(rounds) + more;
        if count > 0 {
            taken.push((offer.node, count));
        }
    }
    taken
}
