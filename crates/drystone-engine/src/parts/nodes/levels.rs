//! Free amounts of every node at one time.

use super::{JobNodeNeed, NodeFloor};
use crate::model::{ProcSet, Procs, SharedSort};
use serde::{Deserialize, Serialize};

/// Free amounts of every node: cores, memory where it is given out, devices. Below 0 where another
/// scheduler has started more than there is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NodeLevels {
    width: usize,
    /// Node after node.
    rows: Vec<i64>,
    /// Free cores in all, of nodes that have some.
    free: i64,
}

/// Nodes of a job, ascending, with its cores on each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodeSeat {
    /// Node and cores.
    pub on: Vec<(u32, u32)>,
}

impl NodeLevels {
    /// The machine without jobs.
    #[must_use]
    pub fn from_floor(floor: &NodeFloor) -> NodeLevels {
        let rows = (0..floor.len()).flat_map(|node| floor.empty_row(node).iter().copied()).collect();
        NodeLevels { width: floor.width(), rows, free: i64::from(floor.procs()) }
    }

    /// These amounts, node after node.
    pub(super) fn of_rows(width: usize, rows: Vec<i64>) -> NodeLevels {
        let free = rows.chunks_exact(width.max(1)).map(|row| row[0].max(0)).sum();
        NodeLevels { width, rows, free }
    }

    /// The lesser amounts of both.
    pub fn lesser_of(&self, levels: &NodeLevels) -> NodeLevels {
        let rows = self.rows.iter().zip(&levels.rows).map(|(own, amount)| *own.min(amount)).collect();
        NodeLevels::of_rows(self.width, rows)
    }

    /// Becomes a copy of another, in its own memory.
    pub fn copy_from(&mut self, source: &NodeLevels) {
        (self.width, self.free) = (source.width, source.free);
        self.rows.clone_from(&source.rows);
    }

    /// Free amounts of a node.
    #[inline]
    #[must_use]
    pub fn node_amounts(&self, node: usize) -> &[i64] {
        &self.rows[node * self.width..(node + 1) * self.width]
    }

    /// Free amounts, node after node.
    pub fn amounts(&self) -> &[i64] {
        &self.rows
    }

    /// Free cores of a node.
    #[inline]
    #[must_use]
    pub fn free_cores(&self, node: usize) -> i64 {
        self.rows[node * self.width]
    }

    /// A core is out that no job has.
    #[inline]
    pub fn lose_core(&mut self, node: usize) {
        self.add_cores(node, -1);
    }

    /// More cores of a node are up; fewer, below 0.
    pub fn add_cores(&mut self, node: usize, more: i64) {
        let cores = &mut self.rows[node * self.width];
        let before = (*cores).max(0);
        *cores += more;
        self.free += (*cores).max(0) - before;
    }

    /// Free cores in all, of nodes that have some.
    #[inline]
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.free as Procs
    }

    /// A job takes its seat (`sign` −1), or leaves it (+1).
    #[inline]
    pub fn change_seat(&mut self, need: &JobNodeNeed, seat: &NodeSeat, floor: &NodeFloor, sign: i64) {
        seat.on.iter().for_each(|&on| self.change_on(need, on, floor, sign));
    }

    /// A suspended job takes the memory that it keeps (`sign` −1), or leaves it (+1).
    pub fn change_memory(&mut self, need: &JobNodeNeed, seat: &NodeSeat, floor: &NodeFloor, sign: i64) {
        for &(node, cores) in seat.on.iter().filter(|_| floor.memory) {
            let row = node as usize * self.width;
            need.each_amount(floor.empty_row(node as usize), cores, |column, amount| {
                if column == 1 {
                    self.rows[row + column] += sign * amount;
                }
            });
        }
    }

    #[inline]
    pub(super) fn change_on(&mut self, need: &JobNodeNeed, (node, cores): (u32, u32), floor: &NodeFloor, sign: i64) {
        let node = node as usize;
        let row = &mut self.rows[node * self.width..(node + 1) * self.width];
        let before = row[0].max(0);
        need.each_amount(floor.empty_row(node), cores, |column, amount| row[column] += sign * amount);
        self.free += row[0].max(0) - before;
    }

    /// A node has these amounts from now on.
    #[inline]
    pub(super) fn set_node(&mut self, node: usize, amounts: impl Iterator<Item = i64>) {
        let row = &mut self.rows[node * self.width..(node + 1) * self.width];
        let before = row[0].max(0);
        row.iter_mut().zip(amounts).for_each(|(own, amount)| *own = amount);
        self.free += row[0].max(0) - before;
    }

    /// Returns whether a seat is free for a job that had it. One that ran before the simulation
    /// began may have had a seat that it would not be given.
    #[must_use]
    pub fn is_seat_free(&self, need: &JobNodeNeed, seat: &NodeSeat, floor: &NodeFloor) -> bool {
        let mut taken_amounts = vec![0; self.width];
        seat.on.iter().all(|&(node, cores)| {
            let node = node as usize;
            taken_amounts.fill(0);
            need.each_amount(floor.empty_row(node), cores, |column, amount| taken_amounts[column] += amount);
            self.node_amounts(node).iter().zip(&taken_amounts).all(|(free, claim)| free >= claim)
        })
    }
}

impl NodeSeat {
    /// Its processors, the lowest free ones of each node, those of `last` behind others; takes them
    /// out of `free`, the free processors in words of 64.
    #[must_use]
    pub fn name_processors(&self, floor: &NodeFloor, free: &mut [u64], last: &ProcSet) -> ProcSet {
        let mut ranges: Vec<std::ops::Range<Procs>> = Vec::with_capacity(self.on.len());
        for &(node, cores) in &self.on {
            let own = floor.node_processors(node as usize);
            let mut cores_left = cores;
            let mut add = |at: Procs| {
                let (word, bit) = (at as usize / 64, 1_u64 << (at % 64));
                if cores_left == 0 || free[word] & bit == 0 {
                    return;
                }
                free[word] &= !bit;
                cores_left -= 1;
                match ranges.last_mut() {
                    Some(last) if last.end == at => last.end = at + 1,
                    _ => ranges.push(at..at + 1),
                }
            };
            if last.is_empty() {
                own.for_each(add);
            } else {
                own.clone().filter(|&at| !last.contains(at)).for_each(&mut add);
                own.filter(|&at| last.contains(at)).for_each(&mut add);
            }
        }
        if !last.is_empty() {
            ranges.sort_shared_by_key(|range| range.start);
            // Some of the one kind may lie right beside some of the other.
            ranges.dedup_by(|next, range| {
                let touches = range.end == next.start;
                if touches {
                    range.end = next.end;
                }
                touches
            });
        }
        ProcSet::from_ascending(ranges)
    }
}
