//! Nodes for a job, by what is free on them.

use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::{Job, NodeFill, ProcSet, ResourceTable};
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
                let weight = self.classes[usize::from(self.class_of[node])].weight;
                offers.push(NodeOffer { node: node as u32, weight, room, cores: free.cores(node) });
            }
        }
        if held < wanted {
            return None;
        }
        let taken = match self.fill {
            NodeFill::Pack | NodeFill::Whole => packed(offers, need.pieces),
            NodeFill::Spread => spread(offers, need.pieces),
        };
        let mut seat = NodeSeat { on: Vec::with_capacity(taken.len()) };
        let mut at = 0;
        for (node, pieces) in taken {
            seat.on.push((node, need.cores_from(at, pieces)));
            at += pieces;
        }
        seat.on.sort_unstable();
        Some(seat)
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
struct NodeOffer {
    node: u32,
    weight: u64,
    /// Pieces.
    room: u32,
    /// Free cores.
    cores: i64,
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
    offers.sort_unstable_by_key(|offer| (offer.weight, Reverse(offer.room), offer.cores, offer.node));
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

/// Piece by piece, in the order in which nodes are chosen.
fn spread(mut offers: Vec<NodeOffer>, pieces: u32) -> Vec<(u32, u32)> {
    offers.sort_unstable_by_key(|offer| (offer.weight, Reverse(offer.cores), offer.node));
    // Rounds that every node with room has a piece in, and the rest of one more.
    let dealt = |rounds: u32| offers.iter().map(|offer| u64::from(offer.room.min(rounds))).sum::<u64>();
    let (mut rounds, mut above) = (0, pieces);
    while rounds < above {
        let middle = rounds + (above - rounds).div_ceil(2);
        if dealt(middle) <= u64::from(pieces) {
            rounds = middle;
        } else {
            above = middle - 1;
        }
    }
    let mut left = u64::from(pieces) - dealt(rounds);
    let mut taken = Vec::with_capacity(offers.len().min(pieces as usize));
    for offer in &offers {
        let more = u32::from(left > 0 && offer.room > rounds);
        left -= u64::from(more);
        let count = offer.room.min(rounds) + more;
        if count > 0 {
            taken.push((offer.node, count));
        }
    }
    taken
}
