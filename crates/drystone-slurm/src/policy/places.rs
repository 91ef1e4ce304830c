//! Assignment of the engine's processors to jobs: node after node, each with its processors in a
//! row.

use crate::model::{Alloc, ModelMachine, NodeSet, Pending};
use drystone_core::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Processors by node, and the jobs that have them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    /// The first processor of each node, and one behind the last.
    first: Vec<Procs>,
    /// Processors of jobs.
    of: BTreeMap<u32, ProcSet>,
    busy: ProcessorMarks,
    out: ProcessorMarks,
    /// True if some jobs have processors in common.
    shared: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ProcessorMarks(Vec<u64>);

impl ProcessorMarks {
    fn without_marks(procs: Procs) -> ProcessorMarks {
        ProcessorMarks(vec![0; (procs as usize).div_ceil(64)])
    }

    /// Calls `each` for the part of every word that a range covers.
    fn visit_words(range: &Range<Procs>, mut each: impl FnMut(usize, u64)) {
        let mut at = range.start;
        while at < range.end {
            let (word, bit) = ((at / 64) as usize, at % 64);
            let bits = (64 - bit).min(range.end - at);
            let mask = if bits == 64 { u64::MAX } else { ((1 << bits) - 1) << bit };
            each(word, mask);
            at += bits;
        }
    }

    fn set_marks(&mut self, procs: &ProcSet, on: bool) {
        for range in procs.ranges() {
            ProcessorMarks::visit_words(range, |word, mask| match (self.0.get_mut(word), on) {
                (Some(marks), true) => *marks |= mask,
                (Some(marks), false) => *marks &= !mask,
                (None, _) => {}
            });
        }
    }

    fn has_any(&self, procs: &ProcSet) -> bool {
        let mut meets = false;
        for range in procs.ranges() {
            ProcessorMarks::visit_words(range, |word, mask| {
                meets |= self.0.get(word).is_some_and(|marks| marks & mask != 0)
            });
        }
        meets
    }

    fn has_mark(&self, proc: Procs) -> bool {
        self.0.get((proc / 64) as usize).is_some_and(|marks| marks >> (proc % 64) & 1 == 1)
    }
}

impl Places {
    pub(super) fn new(machine: &ModelMachine) -> Places {
        let mut first = vec![0];
        for &cpus in &machine.cpus {
            first.push(first[first.len() - 1] + cpus);
        }
        let procs = first[first.len() - 1];
        let (busy, out) = (ProcessorMarks::without_marks(procs), ProcessorMarks::without_marks(procs));
        Places { first, of: BTreeMap::new(), busy, out, shared: false }
    }

    /// The nodes that have one of these processors, with how many.
    fn count_by_node(&self, procs: &ProcSet) -> BTreeMap<usize, u32> {
        let mut counts = BTreeMap::new();
        let last = self.first.len() - 1;
        for range in procs.ranges() {
            let from = self.first.partition_point(|&first| first <= range.start).saturating_sub(1);
            for node in (from..last).take_while(|&node| self.first[node] < range.end) {
                let own = range.end.min(self.first[node + 1]) - range.start.max(self.first[node]);
                *counts.entry(node).or_default() += own;
            }
        }
        counts
    }

    /// The nodes that have one of these processors.
    pub(super) fn nodes_of(&self, procs: &ProcSet) -> NodeSet {
        NodeSet::from_members(self.first.len() - 1, self.count_by_node(procs).into_keys())
    }

    /// The nodes of which all of these processors are, and the others that have some, with how
    /// many.
    pub(super) fn nodes_out(&self, procs: &ProcSet) -> (NodeSet, Alloc) {
        let (mut out, mut some, mut cpus) = (Vec::new(), Vec::new(), Vec::new());
        for (node, count) in self.count_by_node(procs) {
            if count == self.first[node + 1] - self.first[node] {
                out.push(node);
            } else {
                some.push(node);
                cpus.push(count);
            }
        }
        let nodes = |list: Vec<usize>| NodeSet::from_members(self.first.len() - 1, list);
        (nodes(out), Alloc { nodes: nodes(some), cpus, more: None })
    }

    /// Returns the allocation of a job that is on these processors: whole cores, or whole nodes.
    pub(super) fn alloc_of(&self, procs: &ProcSet, job: &Pending, machine: &ModelMachine) -> Alloc {
        let counts = self.count_by_node(procs);
        let nodes = NodeSet::from_members(self.first.len() - 1, counts.keys().copied());
        let cores = |(node, cpus): (usize, u32)| {
            let threads = machine.threads_on(node);
            (cpus.div_ceil(threads) * threads).min(machine.cpus[node])
        };
        Alloc { nodes, cpus: if job.whole { Vec::new() } else { counts.into_iter().map(cores).collect() }, more: None }
    }

    pub(super) fn set_out(&mut self, procs: &ProcSet) {
        self.out.0.fill(0);
        self.out.set_marks(procs, true);
    }

    /// A job has these.
    pub(super) fn adopt_processors(&mut self, id: u32, procs: ProcSet) {
        self.free_processors(id);
        self.shared |= self.busy.has_any(&procs);
        self.busy.set_marks(&procs, true);
        self.of.insert(id, procs);
    }

    /// A job has none any more.
    pub(super) fn free_processors(&mut self, id: u32) {
        let Some(procs) = self.of.remove(&id) else { return };
        self.busy.set_marks(&procs, false);
        if self.shared {
            // Others may have them as well.
            self.shared = false;
            self.busy.0.fill(0);
            for procs in self.of.values() {
                self.shared |= self.busy.has_any(procs);
                self.busy.set_marks(procs, true);
            }
        }
    }

    /// Adds up to `most` processors of a range that no job has and that are not out.
    fn gather_free(&self, range: Range<Procs>, most: Procs, into: &mut Vec<Range<Procs>>) -> Procs {
        let mut free_count = 0;
        for proc in range {
            if free_count == most {
                break;
            }
            if self.busy.has_mark(proc) || self.out.has_mark(proc) {
                continue;
            }
            match into.last_mut() {
                Some(last) if last.end == proc => last.end += 1,
                _ => into.push(proc..proc + 1),
            }
            free_count += 1;
        }
        free_count
    }

    /// Returns whether `procs` of the processors of these nodes are free and in service.
    pub(super) fn has_free(&self, alloc: &Alloc, machine: &ModelMachine, procs: Procs) -> bool {
        let mut remaining = procs;
        for (node, cpus) in alloc.iter(machine) {
            remaining -= self.gather_free(self.first[node]..self.first[node + 1], cpus.min(remaining), &mut Vec::new());
        }
        remaining == 0
    }

    /// Gives a job `procs` of the processors of its nodes: the lowest ones that are free. A job
    /// that has whole nodes has more than it asked for, and gets the first ones. `None` where the
    /// machine has not so many, whatever the nodes promise.
    pub(super) fn claim_processors(
        &mut self,
        id: u32,
        alloc: &Alloc,
        machine: &ModelMachine,
        procs: Procs,
    ) -> Option<ProcSet> {
        let (mut ranges, mut remaining) = (Vec::new(), procs);
        for (node, cpus) in alloc.iter(machine) {
            remaining -= self.gather_free(self.first[node]..self.first[node + 1], cpus.min(remaining), &mut ranges);
        }
        let single = |range: &Range<Procs>| ProcSet::from_range(range.clone());
        let mut set = ProcSet::union_of(&ranges.iter().map(single).collect::<Vec<_>>());
        if remaining > 0 {
            let mut free_ranges = Vec::new();
            let all_procs = 0..self.first[self.first.len() - 1];
            self.gather_free(all_procs, Procs::MAX, &mut free_ranges);
            let other_procs = ProcSet::union_of(&free_ranges.iter().map(single).collect::<Vec<_>>()).difference(&set);
            set = set.union(&other_procs.lowest_procs(remaining));
            if set.len() < procs {
                return None;
            }
        }
        self.adopt_processors(id, set.clone());
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(places: &mut Places, id: u32, alloc: &Alloc, machine: &ModelMachine, procs: Procs) -> String {
        places.claim_processors(id, alloc, machine, procs).map_or("none".to_string(), |set| set.to_string())
    }

    #[test]
    fn processors_of_a_node_stand_in_a_row() {
        let machine = ModelMachine { cpus: vec![2, 4, 2], ..ModelMachine::with_equal_nodes(3, 4) };
        let mut places = Places::new(&machine);
        assert_eq!(places.nodes_of(&ProcSet::from_range(1..3)), NodeSet::from_members(3, [0, 1]));
        assert_eq!(places.nodes_of(&ProcSet::from_range(6..8)), NodeSet::from_members(3, [2]));
        let alloc = Alloc { nodes: NodeSet::from_members(3, [0, 1]), cpus: vec![1, 3], more: None };
        assert_eq!(taken(&mut places, 7, &alloc, &machine, 4), "0,2-4");
        let alloc = Alloc { nodes: NodeSet::from_members(3, [0, 1]), cpus: vec![1, 1], more: None };
        assert_eq!(taken(&mut places, 8, &alloc, &machine, 2), "1,5");
        places.free_processors(7);
        let whole = Alloc { nodes: NodeSet::from_members(3, [2]), cpus: Vec::new(), more: None };
        assert_eq!(taken(&mut places, 9, &whole, &machine, 1), "6");
    }

    #[test]
    fn what_two_jobs_have_is_free_when_both_are_gone() {
        let machine = ModelMachine::with_equal_nodes(2, 2);
        let mut places = Places::new(&machine);
        places.adopt_processors(1, ProcSet::from_range(0..3));
        places.adopt_processors(2, ProcSet::from_range(2..4));
        places.free_processors(1);
        let first = Alloc { nodes: NodeSet::from_members(2, [0]), cpus: vec![2], more: None };
        assert_eq!(taken(&mut places, 3, &first, &machine, 2), "0-1");
        // The node promises two, but the other job has them.
        let second = Alloc { nodes: NodeSet::from_members(2, [1]), cpus: vec![2], more: None };
        assert_eq!(taken(&mut places, 4, &second, &machine, 2), "none");
        places.free_processors(2);
        assert_eq!(taken(&mut places, 4, &second, &machine, 2), "2-3");
    }

    #[test]
    fn a_job_that_is_somewhere_has_the_cores_and_nodes_around_it() {
        let machine = ModelMachine { threads: 2, ..ModelMachine::with_equal_nodes(2, 4) };
        let places = Places::new(&machine);
        let job = Pending::new(1, 3, 60);
        let alloc = places.alloc_of(&ProcSet::from_range(2..5), &job, &machine);
        assert_eq!((alloc.nodes.count_nodes(), alloc.cpus), (2, vec![2, 2]));
        let whole = Pending { whole: true, ..job };
        assert_eq!(places.alloc_of(&ProcSet::from_range(2..5), &whole, &machine).total_cpus(&machine), 8);
    }
}
