//! Free amounts of every node, searchable by free cores.
//!
//! Nodes of one weight are bits, in one row of words for each number of free cores. A change on a
//! node moves a bit. [`NodeIndex::find_seat`] chooses the nodes that [`NodeFloor::find_seat`]
//! chooses, and looks at few others.

use super::placing::{NodeOffer, build_seat, deal_pieces};
use super::{JobNodeNeed, NodeFloor, NodeLevels, NodeSeat};
use crate::model::NodeFill;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Free amounts of every node with an index by free cores.
#[derive(Clone, Default)]
pub struct NodeIndex {
    levels: NodeLevels,
    /// Ascending by weight.
    groups: Vec<WeightGroup>,
    /// Group of each node, and its place there.
    spots: Vec<(u32, u32)>,
}

#[derive(Clone, Default)]
struct WeightGroup {
    weight: u64,
    /// Ascending.
    nodes: Vec<u32>,
    /// Words of one row of bits.
    words: usize,
    /// A row for each number of free cores; that of 0 stays empty.
    bits: Vec<u64>,
    /// Nodes in each row.
    counts: Vec<u32>,
    /// Rows that have a node, as bits.
    filled: Vec<u64>,
}

impl WeightGroup {
    #[inline]
    fn enter_node(&mut self, at: u32, cores: i64) {
        if cores > 0 {
            let (row, at) = (cores as usize, at as usize);
            self.bits[row * self.words + at / 64] |= 1 << (at % 64);
            self.counts[row] += 1;
            self.filled[row / 64] |= 1 << (row % 64);
        }
    }

    #[inline]
    fn leave_node(&mut self, at: u32, cores: i64) {
        if cores > 0 {
            let (row, at) = (cores as usize, at as usize);
            self.bits[row * self.words + at / 64] &= !(1 << (at % 64));
            self.counts[row] -= 1;
            if self.counts[row] == 0 {
                self.filled[row / 64] &= !(1 << (row % 64));
            }
        }
    }

    /// The first row with a node from this one on.
    fn row_from(&self, row: usize) -> Option<usize> {
        let mut word = row / 64;
        let mut bits = self.filled.get(word)? & (u64::MAX << (row % 64));
        while bits == 0 {
            word += 1;
            bits = *self.filled.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// The last row with a node, no later than this one.
    fn row_until(&self, row: usize) -> Option<usize> {
        let row = row.min(self.counts.len() - 1);
        let mut word = row / 64;
        let mut bits = self.filled[word] & (u64::MAX >> (63 - row % 64));
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.filled[word];
        }
        Some(word * 64 + 63 - bits.leading_zeros() as usize)
    }

    /// Rows with nodes from one to another, ascending.
    fn rows_upward(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = from;
        std::iter::from_fn(move || {
            let row = self.row_from(next).filter(|&row| row <= to)?;
            next = row + 1;
            Some(row)
        })
    }

    /// Rows with nodes, descending to one that is above 0.
    fn rows_downward(&self, to: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = usize::MAX;
        std::iter::from_fn(move || {
            let row = self.row_until(next).filter(|&row| row >= to)?;
            next = row - 1;
            Some(row)
        })
    }

    /// The nodes in a row, ascending.
    fn row_nodes(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.bits[row * self.words..(row + 1) * self.words].iter().enumerate();
        words.flat_map(move |(word, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.checked_sub(1)?;
                Some(self.nodes[word * 64 + bit])
            })
        })
    }
}

impl NodeIndex {
    /// An index of these amounts. O(nodes · width).
    pub fn new(levels: NodeLevels, floor: &NodeFloor) -> NodeIndex {
        let mut weights: Vec<u64> = (0..floor.len()).map(|node| floor.node_weight(node)).collect();
        weights.sort_unstable();
        weights.dedup();
        let group = |&weight: &u64| WeightGroup { weight, ..WeightGroup::default() };
        let mut groups: Vec<WeightGroup> = weights.iter().map(group).collect();
        let mut spots = Vec::with_capacity(floor.len());
        let mut most = vec![0; groups.len()];
        for node in 0..floor.len() {
            let at = weights.partition_point(|&weight| weight < floor.node_weight(node));
            spots.push((at as u32, groups[at].nodes.len() as u32));
            groups[at].nodes.push(node as u32);
            most[at] = floor.empty_row(node)[0].max(most[at]);
        }
        for (group, most) in groups.iter_mut().zip(most) {
            let rows = most as usize + 1;
            group.words = group.nodes.len().div_ceil(64);
            group.bits = vec![0; rows * group.words];
            group.counts = vec![0; rows];
            group.filled = vec![0; rows.div_ceil(64)];
        }
        let mut index = NodeIndex { levels, groups, spots };
        (0..floor.len()).for_each(|node| index.enter_node(node));
        index
    }

    /// Free amounts of every node.
    #[inline]
    pub fn levels(&self) -> &NodeLevels {
        &self.levels
    }

    #[inline]
    fn enter_node(&mut self, node: usize) {
        let (group, at) = self.spots[node];
        self.groups[group as usize].enter_node(at, self.levels.free_cores(node));
    }

    /// A node had `before` free cores, and may have others now.
    #[inline]
    fn move_node(&mut self, node: usize, before: i64) {
        let cores = self.levels.free_cores(node);
        if cores != before {
            let (group, at) = self.spots[node];
            let group = &mut self.groups[group as usize];
            group.leave_node(at, before);
            group.enter_node(at, cores);
        }
    }

    /// A node has these amounts from now on, without so many cores that are out.
    #[inline]
    pub fn set_node(&mut self, node: usize, row: &[i64], out: i64) {
        let cores = row.iter().take(1).map(|cores| cores - out);
        self.set_each(node, cores.chain(row.iter().skip(1).copied()));
    }

    /// More cores of a node are up. Returns by how many pieces the room for a job grows by that.
    pub fn regain_cores(&mut self, node: usize, cores: i64, need: &JobNodeNeed, floor: &NodeFloor) -> u64 {
        let (before, room) =
            (self.levels.free_cores(node), need.room_on_node(floor, self.levels.node_amounts(node), node));
        self.levels.add_cores(node, cores);
        self.move_node(node, before);
        u64::from(need.room_on_node(floor, self.levels.node_amounts(node), node) - room)
    }

    /// A node has the amounts of another index from now on.
    #[inline]
    pub fn set_as(&mut self, node: usize, source: &NodeIndex) {
        self.set_node(node, source.levels.node_amounts(node), 0);
    }

    /// A node has the lesser amounts of two indices from now on.
    #[inline]
    pub fn set_lesser(&mut self, node: usize, first: &NodeIndex, second: &NodeIndex) {
        let (first_row, second_row) = (first.levels.node_amounts(node), second.levels.node_amounts(node));
        self.set_each(node, first_row.iter().zip(second_row).map(|(a, b)| *a.min(b)));
    }

    #[inline]
    fn set_each(&mut self, node: usize, row: impl Iterator<Item = i64>) {
        let before = self.levels.free_cores(node);
        self.levels.set_node(node, row);
        self.move_node(node, before);
    }

    /// Becomes a copy of an index of the same nodes, in its own memory.
    pub fn copy_from(&mut self, source: &NodeIndex) {
        self.levels.copy_from(&source.levels);
        for (own, group) in self.groups.iter_mut().zip(&source.groups) {
            own.bits.clone_from(&group.bits);
            own.counts.clone_from(&group.counts);
            own.filled.clone_from(&group.filled);
        }
    }

    /// A job takes its seat (`sign` −1), or leaves it (+1).
    pub fn change_seat(&mut self, need: &JobNodeNeed, seat: &NodeSeat, floor: &NodeFloor, sign: i64) {
        seat.on.iter().for_each(|&on| self.change_on(need, on, floor, sign));
    }

    #[inline]
    fn change_on(&mut self, need: &JobNodeNeed, on: (u32, u32), floor: &NodeFloor, sign: i64) {
        let node = on.0 as usize;
        let before = self.levels.free_cores(node);
        self.levels.change_on(need, on, floor, sign);
        self.move_node(node, before);
    }

    /// A job leaves its seat. Returns by how many pieces the room for another grows by that.
    pub fn leave_seat(
        &mut self,
        job_need: &JobNodeNeed,
        seat: &NodeSeat,
        floor: &NodeFloor,
        need: &JobNodeNeed,
    ) -> u64 {
        let mut more = 0;
        for &on in &seat.on {
            let node = on.0 as usize;
            let before = need.room_on_node(floor, self.levels.node_amounts(node), node);
            self.change_on(job_need, on, floor, 1);
            more += u64::from(need.room_on_node(floor, self.levels.node_amounts(node), node) - before);
        }
        more
    }

    /// Pieces of a job for which there is room; where there is enough, perhaps fewer than that.
    pub fn count_room(&self, need: &JobNodeNeed, floor: &NodeFloor) -> u64 {
        let mut piece_count = 0;
        for group in &self.groups {
            for node in group.rows_downward(need.cores as usize).flat_map(|row| group.row_nodes(row)) {
                piece_count +=
                    u64::from(need.room_on_node(floor, self.levels.node_amounts(node as usize), node as usize));
                if piece_count >= u64::from(need.pieces) {
                    return piece_count;
                }
            }
        }
        piece_count
    }

    /// Returns whether the job would fit if only cores counted. O(cores of a node).
    fn may_hold(&self, need: &JobNodeNeed) -> bool {
        let (cores, mut pieces_left) = (need.cores as usize, u64::from(need.pieces));
        for group in &self.groups {
            for row in group.rows_downward(cores) {
                let node_pieces = if need.is_apart() { 1 } else { row / cores };
                let row_pieces = node_pieces as u64 * u64::from(group.counts[row]);
                if row_pieces >= pieces_left {
                    return true;
                }
                pieces_left -= row_pieces;
            }
        }
        false
    }

    /// The nodes for a job; `None` where it does not fit. Where free cores decide about room, it
    /// costs O(cores of a node) and a step for each 64 nodes and for each node that the job takes.
    pub fn find_seat(&self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<NodeSeat> {
        if self.levels.procs() < need.procs() || !self.may_hold(need) {
            return None;
        }
        if need.depends_on_sizes() {
            return floor.find_seat(need, &self.levels);
        }
        let node_pieces = match floor.fill {
            _ if need.fills_nodes() => self.pack_pieces(need, floor)?,
            NodeFill::Spread => self.spread_pieces(need, floor)?,
            NodeFill::Pack | NodeFill::Whole if need.is_apart() => self.pick_tightest(need, floor)?,
            NodeFill::Pack | NodeFill::Whole => self.pack_pieces(need, floor)?,
        };
        Some(build_seat(need, node_pieces, floor))
    }

    /// One piece on each of the tightest nodes.
    fn pick_tightest(&self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<Vec<(u32, u32)>> {
        let has_room =
            |&node: &u32| need.room_on_node(floor, self.levels.node_amounts(node as usize), node as usize) > 0;
        let rows = |group| WeightGroup::rows_upward(group, need.cores as usize, usize::MAX);
        let nodes = self.groups.iter().flat_map(|group| rows(group).flat_map(|row| group.row_nodes(row)));
        let node_pieces: Vec<(u32, u32)> =
            nodes.filter(has_room).take(need.pieces as usize).map(|node| (node, 1)).collect();
        (node_pieces.len() == need.pieces as usize).then_some(node_pieces)
    }

    /// As few nodes as possible.
    fn pack_pieces(&self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<Vec<(u32, u32)>> {
        let mut pieces_left = need.pieces;
        let mut used_nodes = vec![0_u64; if pieces_left == 1 { 0 } else { floor.len().div_ceil(64) }];
        match self.find_tightest(need, pieces_left, &self.groups, &used_nodes, floor) {
            Some(node) => return Some(vec![(node, pieces_left)]),
            None if pieces_left == 1 => return None,
            None => {}
        }
        let mut node_pieces = Vec::new();
        for at in 0..self.groups.len() {
            let search_end = self.by_room(&self.groups[at], need, floor, |node, room| {
                node_pieces.push((node, room));
                used_nodes[node as usize / 64] |= 1 << (node % 64);
                pieces_left -= room;
                match self.find_tightest(need, pieces_left, &self.groups[at..], &used_nodes, floor) {
                    None => ControlFlow::Continue(()),
                    Some(node) => {
                        node_pieces.push((node, pieces_left));
                        ControlFlow::Break(())
                    }
                }
            });
            if search_end.is_break() {
                return Some(node_pieces);
            }
        }
        None
    }

    /// The node with the fewest free cores of those that are not used and hold so many pieces.
    fn find_tightest(
        &self,
        need: &JobNodeNeed,
        pieces: u32,
        groups: &[WeightGroup],
        mask: &[u64],
        floor: &NodeFloor,
    ) -> Option<u32> {
        let cores = u64::from(need.cores) * u64::from(pieces);
        let is_used = |node: u32| mask.get(node as usize / 64).is_some_and(|word| word >> (node % 64) & 1 == 1);
        let mut nodes = groups
            .iter()
            .flat_map(|group| group.rows_upward(cores as usize, usize::MAX).flat_map(|row| group.row_nodes(row)));
        nodes.find(|&node| {
            !is_used(node) && need.room_on_node(floor, self.levels.node_amounts(node as usize), node as usize) >= pieces
        })
    }

    /// Passes on the nodes of a group with room: those with most of it first, of these the ones
    /// with the fewest free cores.
    fn by_room(
        &self,
        group: &WeightGroup,
        need: &JobNodeNeed,
        floor: &NodeFloor,
        mut pass: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let cores = need.cores as usize;
        // Nodes whose room other amounts than cores bound: room, cores, node.
        let mut bound: BinaryHeap<(u32, Reverse<usize>, Reverse<u32>)> = BinaryHeap::new();
        let mut next = group.row_until(usize::MAX);
        while let Some(top) = next.filter(|&row| row >= cores) {
            // The most that nodes of these rows hold.
            let most = top / cores;
            while let Some((room, _, Reverse(node))) = bound.peek().copied().filter(|&(room, ..)| room as usize > most)
            {
                bound.pop();
                pass(node, room)?;
            }
            for row in group.rows_upward(most * cores, top) {
                for node in group.row_nodes(row) {
                    match need.room_on_node(floor, self.levels.node_amounts(node as usize), node as usize) {
                        0 => {}
                        room if room as usize == most => pass(node, room)?,
                        room => bound.push((room, Reverse(row), Reverse(node))),
                    }
                }
            }
            // They have more cores.
            while let Some((room, _, Reverse(node))) = bound.peek().copied().filter(|&(room, ..)| room as usize >= most)
            {
                bound.pop();
                pass(node, room)?;
            }
            next = group.row_until(most * cores - 1);
        }
        while let Some((room, _, Reverse(node))) = bound.pop() {
            pass(node, room)?;
        }
        ControlFlow::Continue(())
    }

    fn spread_pieces(&self, need: &JobNodeNeed, floor: &NodeFloor) -> Option<Vec<(u32, u32)>> {
        let mut offers: Vec<NodeOffer> = Vec::new();
        let mut piece_count = 0;
        'all: for group in &self.groups {
            for row in group.rows_downward(need.cores as usize) {
                for node in group.row_nodes(row) {
                    let room = need
                        .room_on_node(floor, self.levels.node_amounts(node as usize), node as usize)
                        .min(need.pieces);
                    if room > 0 {
                        piece_count += u64::from(room);
                        offers.push(NodeOffer { node, weight: group.weight, room, cores: row as i64 });
                    }
                    if offers.len() == need.pieces as usize {
                        break 'all;
                    }
                }
            }
        }
        (piece_count >= u64::from(need.pieces)).then(|| deal_pieces(&offers, need.pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Demand, DeviceDemand, DevicePer, Job, NodeClass, NodeMemory, NodeShape, ResourceTable, ResourceTableBuilder,
        Span, Time,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Nodes of three classes, of which two have one weight; each class has more than 64.
    fn table(fill: NodeFill, shapes: &[NodeShape]) -> (Arc<ResourceTable>, Vec<Job>) {
        let mut table = ResourceTableBuilder::new();
        for (name, cores, memory_kb, gpus, weight) in [("a", 4, 8, 0, 1), ("b", 8, 12, 2, 5), ("c", 6, 9, 0, 1)] {
            table.add_class(NodeClass {
                nodes: (0..70).map(|at| format!("{name}{at}")).collect(),
                cores,
                memory_kb,
                devices: if gpus > 0 { vec![("gpu".into(), String::new(), gpus)] } else { Vec::new() },
                features: vec![name.into()],
                weight,
            });
        }
        table.set_fill(fill);
        let mut jobs = Vec::new();
        for shape in shapes {
            let mut job = Job::new(Time(0), shape.tasks.max(1), Span(1));
            let demand = Demand { shape: Some(NodeShape { tasks: 0, ..shape.clone() }), ..Demand::default() };
            job.demand = table.intern_demand(demand).expect("no resources");
            jobs.push(job);
        }
        (table.finish(), jobs)
    }

    /// Shapes of jobs; `tasks` is the number of processors.
    fn shape() -> impl Strategy<Value = NodeShape> {
        let memory = prop_oneof![
            Just(NodeMemory::None),
            (1u64..4).prop_map(NodeMemory::PerCore),
            (1u64..9).prop_map(NodeMemory::PerNode),
            Just(NodeMemory::Whole),
        ];
        let size = prop_oneof![3 => 1u32..9, 2 => 1u32..60, 1 => 1u32..900];
        let nodes = prop_oneof![2 => Just(0u32), 1 => 1u32..90];
        let features = prop_oneof![4 => Just(""), 1 => Just("a"), 1 => Just("b|c")];
        (size, nodes, memory, 0u32..4, features, prop::bool::weighted(0.1)).prop_map(
            |(size, nodes, memory, gpus, features, exclusive)| NodeShape {
                nodes: (nodes.min(size), nodes.min(size)),
                tasks: size,
                memory,
                devices: match gpus {
                    1 => vec![DeviceDemand { name: "gpu".into(), count: 1, per: DevicePer::Job, ..Default::default() }],
                    _ => Vec::new(),
                },
                features: features.into(),
                exclusive,
                ..NodeShape::default()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Jobs come and go; each time, the index chooses the nodes that a look at every node does.
        #[test]
        fn the_index_finds_what_a_look_at_every_node_finds(
            shapes in prop::collection::vec(shape(), 1..60),
            fill in prop_oneof![Just(NodeFill::Pack), Just(NodeFill::Spread), Just(NodeFill::Whole)],
            leaves in prop::collection::vec(any::<prop::sample::Index>(), 60),
            drained in prop::collection::vec((0usize..210, 0i64..9), 0..40),
        ) {
            let (table, jobs) = table(fill, &shapes);
            let floor = NodeFloor::from_table(&table).expect("nodes");
            let mut levels = NodeLevels::from_floor(&floor);
            for (node, cores) in drained {
                (0..cores).for_each(|_| levels.lose_core(node));
            }
            let mut index = NodeIndex::new(levels.clone(), &floor);
            let mut copy = index.clone();
            let mut seats: Vec<(JobNodeNeed, NodeSeat)> = Vec::new();
            for (job, leaves) in jobs.iter().zip(leaves) {
                let Ok(need) = JobNodeNeed::from_job(job, &table, &floor) else { continue };
                let seat = index.find_seat(&need, &floor);
                prop_assert_eq!(&seat, &floor.find_seat(&need, &levels), "{:?}", need);
                let room: u64 = (0..floor.len()).map(|node| u64::from(need.room_on_node(&floor, levels.node_amounts(node), node))).sum();
                let most = u64::from(need.pieces());
                prop_assert_eq!(index.count_room(&need, &floor).min(most), room.min(most));
                if let Some(seat) = seat {
                    index.change_seat(&need, &seat, &floor, -1);
                    levels.change_seat(&need, &seat, &floor, -1);
                    seats.push((need.clone(), seat));
                }
                if seats.len() > 3 {
                    let (own, seat) = seats.swap_remove(leaves.index(seats.len()));
                    let before = room_in_all(&need, &levels, &floor);
                    levels.change_seat(&own, &seat, &floor, 1);
                    let more = index.leave_seat(&own, &seat, &floor, &need);
                    prop_assert_eq!(room_in_all(&need, &levels, &floor), before + more);
                }
                prop_assert_eq!(index.levels(), &levels);
                // Another index becomes as this one, node by node and at once.
                let mut twin = copy.clone();
                twin.copy_from(&index);
                (0..floor.len()).for_each(|node| copy.set_as(node, &index));
                for index in [&copy, &twin] {
                    prop_assert_eq!(index.levels(), &levels);
                    prop_assert_eq!(index.find_seat(&need, &floor), floor.find_seat(&need, &levels));
                }
            }
        }
    }

    fn room_in_all(need: &JobNodeNeed, levels: &NodeLevels, floor: &NodeFloor) -> u64 {
        (0..floor.len()).map(|node| u64::from(need.room_on_node(floor, levels.node_amounts(node), node))).sum()
    }
}
