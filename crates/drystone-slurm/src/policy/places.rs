//! Which of the engine's processors a job gets: node after node, each with its processors in a row.

use crate::model::{Alloc, Machine, NodeSet};
use drystone_core::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Processors by node, and the jobs that have them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    /// The first processor of each node, and one behind the last.
    first: Vec<Procs>,
    /// What jobs have.
    of: BTreeMap<u32, ProcSet>,
    busy: ProcSet,
    out: ProcSet,
}

impl Places {
    pub(super) fn new(machine: &Machine) -> Places {
        let mut first = vec![0];
        for &cpus in &machine.cpus {
            first.push(first[first.len() - 1] + cpus);
        }
        Places { first, of: BTreeMap::new(), busy: ProcSet::new(), out: ProcSet::new() }
    }

    /// The nodes that have one of these processors.
    pub(super) fn nodes(&self, procs: &ProcSet) -> NodeSet {
        let count = self.first.len() - 1;
        let mut nodes = NodeSet::empty(count);
        for range in procs.ranges() {
            let from = self.first.partition_point(|&first| first <= range.start).saturating_sub(1);
            (from..count).take_while(|&node| self.first[node] < range.end).for_each(|node| nodes.insert(node));
        }
        nodes
    }

    pub(super) fn set_out(&mut self, procs: &ProcSet) {
        self.out = procs.clone();
    }

    /// A job has these.
    pub(super) fn adopt(&mut self, id: u32, procs: ProcSet) {
        self.busy = self.busy.union(&procs);
        self.of.insert(id, procs);
    }

    /// A job has none any more.
    pub(super) fn free(&mut self, id: u32) {
        if let Some(procs) = self.of.remove(&id) {
            self.busy = self.busy.difference(&procs);
        }
    }

    /// Gives a job `procs` of the processors of its nodes: the lowest ones that are free. A job
    /// that has whole nodes has more than it asked for, and is told the first ones.
    pub(super) fn take(&mut self, id: u32, alloc: &Alloc, machine: &Machine, procs: Procs) -> ProcSet {
        let taken = self.busy.union(&self.out);
        let mut sets = Vec::new();
        let mut left = procs;
        for (node, cpus) in alloc.iter(machine) {
            let open = ProcSet::range(self.first[node]..self.first[node + 1]).difference(&taken);
            let own = open.lowest(cpus.min(left));
            left -= own.len();
            sets.push(own);
        }
        let set = ProcSet::union_of(&sets);
        self.adopt(id, set.clone());
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_a_node_stand_in_a_row() {
        let machine = Machine { cpus: vec![2, 4, 2], ..Machine::uniform(3, 4) };
        let mut places = Places::new(&machine);
        assert_eq!(places.nodes(&ProcSet::range(1..3)), NodeSet::of(3, [0, 1]));
        assert_eq!(places.nodes(&ProcSet::range(6..8)), NodeSet::of(3, [2]));
        let alloc = Alloc { nodes: NodeSet::of(3, [0, 1]), cpus: vec![1, 3], more: None };
        assert_eq!(places.take(7, &alloc, &machine, 4).to_string(), "0,2-4");
        let alloc = Alloc { nodes: NodeSet::of(3, [0, 1]), cpus: vec![1, 1], more: None };
        assert_eq!(places.take(8, &alloc, &machine, 2).to_string(), "1,5");
        places.free(7);
        let whole = Alloc { nodes: NodeSet::of(3, [2]), ..Alloc::default() };
        assert_eq!(places.take(9, &whole, &machine, 1).to_string(), "6");
    }
}
