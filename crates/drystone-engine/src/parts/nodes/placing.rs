//! Nodes for a job, by what is free on them.

use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::{Job, NodeFill, ProcSet, ResourceTable, SharedSort};
use std::cmp::Reverse;

impl NodeFloor {
    /// Returns the reason why a job can never run here; `None` if it can.
    #[must_use]
    pub fn find_problem(&self, job: &Job, table: &ResourceTable) -> Option<String> {
        let need = match JobNodeNeed::from_job(job, table, self) {
            Ok(need) => need,
            Err(problem) => return Some(problem),
        };
        match self.find_seat(&need, &NodeLevels::from_floor(self)) {
            Some(_) => None,
            None => Some(need.explain_misfit(self)),
        }
    }

    /// The nodes for a job where this much is free; `None` where it does not fit. O(n log n) for n
    /// nodes on which a piece fits.
    #[must_use]
    pub fn find_seat(&self, need: &JobNodeNeed, free: &NodeLevels) -> Option<NodeSeat> {
        if free.procs() < need.procs() {
            return None;
        }
        let mut offers: Vec<NodeOffer> = Vec::new();
        let (mut piece_count, wanted_pieces) = (0_u64, u64::from(need.pieces));
        for node in 0..self.len() {
            let room = need.room_on_node(self, free.node_amounts(node), node).min(need.pieces);
            if room > 0 {
                piece_count += u64::from(room);
                offers.push(NodeOffer {
                    node: node as u32,
                    weight: self.node_weight(node),
                    room,
                    cores: free.free_cores(node),
                });
            }
        }
        let is_enough = || !need.depends_on_sizes() || need.is_met_by(offers.iter().map(|offer| offer.cores).collect());
        (piece_count >= wanted_pieces && is_enough()).then(|| self.choose_nodes(need, offers))
    }

    /// The nodes for a job among some that have room for it, in ascending order.
    pub(super) fn choose_nodes(&self, need: &JobNodeNeed, mut offers: Vec<NodeOffer>) -> NodeSeat {
        let node_pieces = match self.fill {
            NodeFill::Spread if need.depends_on_sizes() => {
                offers.sort_shared_by_key(|offer| (offer.weight, Reverse(offer.cores), offer.node));
                pick_sizes(need, &offers)
            }
            _ if need.depends_on_sizes() => {
                offers.sort_shared_by_key(|offer| (offer.weight, offer.cores, offer.node));
                pick_sizes(need, &offers)
            }
            _ if need.fills_nodes() => pack_pieces(offers, need.pieces),
            NodeFill::Pack | NodeFill::Whole => pack_pieces(offers, need.pieces),
            NodeFill::Spread => {
                offers.sort_shared_by_key(|offer| (offer.weight, Reverse(offer.cores), offer.node));
                deal_pieces(&offers, need.pieces)
            }
        };
        build_seat(need, node_pieces, self)
    }

    /// The nodes of these processors, with how many of them are on each.
    #[must_use]
    pub fn seat_of(&self, set: &ProcSet) -> NodeSeat {
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
    pub(super) cores: i64,
}

/// The seat on these nodes with so many pieces each, in the order in which they were chosen.
pub(super) fn build_seat(need: &JobNodeNeed, mut node_pieces: Vec<(u32, u32)>, floor: &NodeFloor) -> NodeSeat {
    let mut at = 0;
    for (_, count) in &mut node_pieces {
        let pieces = *count;
        *count = need.cores_from(at, pieces);
        at += pieces;
    }
    need.cores_by_size(&mut node_pieces, floor);
    node_pieces.sort_unstable();
    NodeSeat { on: node_pieces }
}

/// One piece on each of the first nodes. As few as possible of the last of these give way, until
/// all together are large enough: one to the first that is enough, the others to the largest ones.
fn pick_sizes(need: &JobNodeNeed, offers: &[NodeOffer]) -> Vec<(u32, u32)> {
    let count = need.pieces as usize;
    let mut by_size: Vec<usize> = (0..offers.len()).collect();
    by_size.sort_shared_by_key(|&at| (Reverse(offers[at].cores), at));
    let mut picks: Vec<usize> = Vec::with_capacity(count);
    for exchanges in 0..=count {
        let first = count - exchanges;
        picks.clear();
        picks.extend(0..first);
        picks.extend(by_size.iter().copied().filter(|&at| at >= first).take(exchanges.saturating_sub(1)));
        let lacking = need.in_all - picks.iter().map(|&at| offers[at].cores).sum::<i64>();
        if exchanges == 0 && lacking <= 0 {
            break;
        }
        let is_enough = |at: &usize| offers[*at].cores >= lacking && !picks.contains(at);
        if let Some(last) = (first..offers.len()).find(is_enough).filter(|_| exchanges > 0) {
            picks.push(last);
            break;
        }
    }
    picks.into_iter().map(|at| (offers[at].node, 1)).collect()
}

/// As few nodes as possible, in the order in which they are chosen.
fn pack_pieces(mut offers: Vec<NodeOffer>, pieces: u32) -> Vec<(u32, u32)> {
    let mut node_pieces = Vec::new();
    let mut pieces_left = pieces;
    let tightest = |offers: &[NodeOffer], rest: u32| {
        let enough = offers.iter().filter(|offer| offer.room >= rest);
        enough.min_by_key(|offer| (offer.weight, offer.cores, offer.node)).map(|offer| offer.node)
    };
    if let Some(node) = tightest(&offers, pieces_left) {
        return vec![(node, pieces_left)];
    }
    offers.sort_shared_by_key(|offer| (offer.weight, Reverse(offer.room), offer.cores, offer.node));
    // The most that any node from a place on holds: where weights differ, a later one may hold
    // more.
    let mut most: Vec<u32> = offers.iter().map(|offer| offer.room).collect();
    (1..most.len()).rev().for_each(|at| most[at - 1] = most[at - 1].max(most[at]));
    for at in 0..offers.len() {
        if most[at] >= pieces_left
            && let Some(node) = tightest(&offers[at..], pieces_left)
        {
            node_pieces.push((node, pieces_left));
            break;
        }
        node_pieces.push((offers[at].node, offers[at].room));
        pieces_left -= offers[at].room;
    }
    node_pieces
}

/// Deals pieces, one to each node in turn, to nodes in the order in which they are chosen.
pub(super) fn deal_pieces(offers: &[NodeOffer], pieces: u32) -> Vec<(u32, u32)> {
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
    let mut pieces_left = u64::from(pieces) - in_rounds(rounds);
    let mut node_pieces = Vec::with_capacity(offers.len().min(pieces as usize));
    for offer in offers {
        let more = u32::from(pieces_left > 0 && offer.room > rounds);
        pieces_left -= u64::from(more);
        let count = offer.room.min(rounds) + more;
        if count > 0 {
            node_pieces.push((offer.node, count));
        }
    }
    node_pieces
}
