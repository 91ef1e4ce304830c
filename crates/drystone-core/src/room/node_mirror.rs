//! Nodes as a policy searches them: an index that follows the session, and changes of a pass.
//!
//! Three states of the nodes stand beside each other: now, at the shadow time beside the
//! reservation, and the lesser of both. The nodes on which they differ are known. A pass brings the
//! first up to date where the session has changed nodes since the last one; a new reservation makes
//! the second from it on the nodes where they differ, or copies it where these are many; the third
//! is made on the nodes that have changed when a job asks for it.

use crate::model::{JobId, ProcSet, Procs};
use crate::parts::{JobNodeNeed, NodeFloor, NodeIndex, NodeSeat};
use drystone_engine::policy::{Actions, FreeNodes, SeatWish, StartReason, View};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The nodes of a machine, as passes of EASY see them.
#[derive(Default)]
pub(crate) struct NodeMirror {
    /// Free amounts that the starts of this pass leave.
    now: NodeIndex,
    /// Free amounts at the shadow time beside the reservation.
    later: NodeIndex,
    /// Nodes on which `later` differs from `now`.
    later_differs: NodeMarks,
    /// The lesser of both.
    both: NodeIndex,
    /// Nodes on which `both` may be wrong.
    both_is_stale: NodeMarks,
    /// Processors that no job has, in words of 64.
    idle: Vec<u64>,
    /// Jobs that this pass has started.
    started: BTreeMap<JobId, (Arc<JobNodeNeed>, NodeSeat)>,
    /// Changes of the session that are known here; `None` before there are any.
    seen: Option<u64>,
    /// Processors that are out, and the same in words of 64.
    offline: ProcSet,
    out: Vec<u64>,
}

/// Nodes, each marked or not.
#[derive(Default)]
struct NodeMarks {
    words: Vec<u64>,
    count: usize,
}

impl NodeMarks {
    fn clear(&mut self, nodes: usize) {
        self.words.clear();
        self.words.resize(nodes.div_ceil(64), 0);
        self.count = 0;
    }

    fn mark_node(&mut self, node: u32) {
        let (word, bit) = (&mut self.words[node as usize / 64], 1 << (node % 64));
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    fn has_node(&self, node: u32) -> bool {
        self.words[node as usize / 64] >> (node % 64) & 1 == 1
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip(0..).flat_map(|(&word, at): (&u64, u32)| {
            let mut bits = word;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.checked_sub(1)?;
                Some(at * 64 + bit)
            })
        })
    }
}

impl NodeMirror {
    /// Catches up with the session. Returns whether a reservation of the pass before can be kept.
    pub(crate) fn begin_pass(&mut self, nodes: &FreeNodes, view: &View<'_>) -> bool {
        self.started.clear();
        let floor = nodes.floor();
        let empty_set = ProcSet::new();
        let offline = view.outlook().map_or(&empty_set, |outlook| outlook.offline_processors());
        let changes = self.seen.filter(|_| self.offline == *offline).and_then(|count| nodes.changes_since(count));
        self.seen = Some(nodes.change_count());
        let Some(changes) = changes else {
            self.offline.clone_from(offline);
            self.out.clear();
            self.out.resize(nodes.idle_processors().len(), 0);
            for processor in offline.ranges().iter().flat_map(Clone::clone) {
                self.out[processor as usize / 64] |= 1 << (processor % 64);
            }
            let (levels, idle) = nodes.up_levels(view.outlook());
            self.now = NodeIndex::new(levels, floor);
            self.idle = idle;
            self.later = self.now.clone();
            self.both = self.now.clone();
            self.later_differs.clear(floor.len());
            self.both_is_stale.clear(floor.len());
            return false;
        };
        changes.iter().for_each(|&node| self.follow_node(node, nodes));
        debug_assert_eq!(
            (self.now.levels(), &self.idle),
            (&nodes.up_levels(view.outlook()).0, &nodes.up_levels(view.outlook()).1)
        );
        true
    }

    /// A node becomes what it is in the session, without what is out.
    fn follow_node(&mut self, node: u32, nodes: &FreeNodes) {
        let at = node as usize;
        let own = nodes.floor().node_processors(at);
        let words = own.start as usize / 64..(own.end as usize).div_ceil(64);
        let mut down = 0;
        for word in words {
            let (idle, out) = (nodes.idle_processors()[word], self.out[word]);
            self.idle[word] = idle & !out;
            if idle & out != 0 {
                let first = word as Procs * 64;
                let low_bits = |end: Procs| if end >= 64 { u64::MAX } else { (1_u64 << end) - 1 };
                let inside = low_bits(own.end - first) & !low_bits(own.start.saturating_sub(first));
                down += i64::from((idle & out & inside).count_ones());
            }
        }
        self.now.set_node(at, nodes.levels().node_amounts(at), down);
        if !self.later_differs.has_node(node) {
            self.later.set_as(at, &self.now);
        }
        self.both_is_stale.mark_node(node);
    }

    pub(crate) fn find_seat(&self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<NodeSeat> {
        self.now.find_seat(need, floor)
    }

    /// Nodes for a job that are free now and left over by the reservation.
    pub(crate) fn place_beside(&mut self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<NodeSeat> {
        let NodeMirror { both, now, later, both_is_stale, .. } = self;
        if both_is_stale.count > 0 {
            both_is_stale.iter().for_each(|node| both.set_lesser(node as usize, now, later));
            both_is_stale.clear(floor.len());
        }
        both.find_seat(need, floor)
    }

    /// Free cores that jobs may have now.
    pub(crate) fn free_cores(&self) -> Procs {
        self.now.levels().procs()
    }

    /// Free cores at the shadow time beside the reservation.
    pub(crate) fn extra_cores(&self) -> Procs {
        self.later.levels().procs()
    }

    /// Starts a job on its nodes. Where it `outlasts` the shadow time, it takes from what the
    /// reservation leaves over.
    pub(crate) fn start_job(
        &mut self,
        (wish, why): (SeatWish<'_>, StartReason),
        seat: NodeSeat,
        outlasts: bool,
        actions: &mut Actions,
    ) {
        let SeatWish { id, need, floor, .. } = wish;
        actions.start_on(id, why, seat.name_processors(floor, &mut self.idle, &ProcSet::new()));
        self.now.change_seat(need, &seat, floor, -1);
        if outlasts {
            self.later.change_seat(need, &seat, floor, -1);
        }
        for &(node, _) in &seat.on {
            if !outlasts {
                self.later_differs.mark_node(node);
            }
            self.both_is_stale.mark_node(node);
        }
        self.started.insert(id, (Arc::clone(need), seat));
    }

    /// The state at the shadow time becomes that of now, without a reservation.
    pub(crate) fn forget_reservation(&mut self, floor: &NodeFloor) {
        // What `later` becomes on other nodes, `both` is there.
        self.later_differs.iter().for_each(|node| self.both_is_stale.mark_node(node));
        if self.later_differs.count * 8 > floor.len() {
            self.later.copy_from(&self.now);
        } else {
            let NodeMirror { later, later_differs, now, .. } = self;
            later_differs.iter().for_each(|node| later.set_as(node as usize, now));
        }
        self.later_differs.clear(floor.len());
    }

    /// A job that runs or that this pass has started leaves its nodes by the shadow time. `room` is
    /// that for the job that gets the reservation, as far as it is known, and is kept up.
    pub(crate) fn free_by_shadow(&mut self, id: JobId, nodes: &FreeNodes, need: &JobNodeNeed, room: &mut Option<u64>) {
        let own = || self.started.get(&id).map(|(need, seat)| (&**need, seat));
        let Some((job_need, seat)) = nodes.held_by(id).or_else(own) else { return };
        match room {
            Some(room) => *room += self.later.leave_seat(job_need, seat, nodes.floor(), need),
            None => self.later.change_seat(job_need, seat, nodes.floor(), 1),
        }
        for &(node, _) in &seat.on {
            self.later_differs.mark_node(node);
            self.both_is_stale.mark_node(node);
        }
    }

    /// Cores that are out come back by the shadow time; `room` as for
    /// [`NodeMirror::free_by_shadow`].
    pub(crate) fn comes_back(
        &mut self,
        (node, cores): (u32, i64),
        need: &JobNodeNeed,
        room: &mut Option<u64>,
        floor: &NodeFloor,
    ) {
        let more = self.later.regain_cores(node as usize, cores, need, floor);
        if let Some(room) = room {
            *room += more;
        }
        self.later_differs.mark_node(node);
        self.both_is_stale.mark_node(node);
    }

    /// Returns whether a job fits at the shadow time.
    pub(crate) fn fits_later(&self, need: &JobNodeNeed, room: &mut Option<u64>, floor: &NodeFloor) -> bool {
        if need.depends_on_sizes() {
            return self.later.find_seat(need, floor).is_some();
        }
        self.later.levels().procs() >= need.procs()
            && *room.get_or_insert_with(|| self.later.count_room(need, floor)) >= u64::from(need.pieces())
    }

    /// Takes nodes at the shadow time for the job that blocks the queue.
    pub(crate) fn reserve_nodes(&mut self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<NodeSeat> {
        let seat = self.later.find_seat(need, floor)?;
        self.later.change_seat(need, &seat, floor, -1);
        for &(node, _) in &seat.on {
            self.later_differs.mark_node(node);
            self.both_is_stale.mark_node(node);
        }
        Some(seat)
    }

    /// Chooses the nodes of the reservation again, after jobs have taken from what it leaves over.
    /// Returns whether they are others; `None` where there is no choice left, because a node must
    /// have room for the largest share of the job though it is given a smaller one.
    pub(crate) fn reserve_again(&mut self, need: &JobNodeNeed, seat: &mut NodeSeat, floor: &NodeFloor) -> Option<bool> {
        self.later.change_seat(need, seat, floor, 1);
        let again = self.later.find_seat(need, floor)?;
        self.later.change_seat(need, &again, floor, -1);
        if again == *seat {
            return Some(false);
        }
        for &(node, _) in seat.on.iter().chain(&again.on) {
            self.later_differs.mark_node(node);
            self.both_is_stale.mark_node(node);
        }
        *seat = again;
        Some(true)
    }
}
