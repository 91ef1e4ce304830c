//! Processors of running jobs, node by node.

use super::state::QueueEntry;
use drystone::model::ProcSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// Processors by node, and those of each running job.
#[derive(Default)]
pub(super) struct NodePlaces {
    nodes: BTreeMap<String, Range<u32>>,
    /// Processors that jobs hold, of which no job is known yet: the first of each node.
    busy: BTreeMap<u32, Range<u32>>,
    jobs: BTreeMap<String, ProcSet>,
}

impl NodePlaces {
    /// A node has these processors, so many of which are busy.
    pub(super) fn add_node(&mut self, node: &str, range: Range<u32>, busy: u32) {
        self.busy.insert(range.start, range.start..range.start + busy);
        self.nodes.insert(node.to_string(), range);
    }

    pub(super) fn node_range(&self, node: &str) -> Option<Range<u32>> {
        self.nodes.get(node).cloned()
    }

    pub(super) fn job_processors(&self, job: &str) -> Option<ProcSet> {
        self.jobs.get(job).cloned()
    }

    /// Gives busy processors to these jobs: those whose nodes are listed get theirs, in equal parts
    /// as far as possible, then the others what is left.
    ///
    /// Jobs that do not add up, such as those that share processors, have none in particular.
    pub(super) fn give_processors(&mut self, jobs: &[&QueueEntry]) {
        let has_nodes = |job: &&&QueueEntry| !job.nodes.is_empty();
        for job in jobs.iter().filter(has_nodes) {
            let starts: Vec<u32> = job.nodes.iter().filter_map(|name| Some(self.nodes.get(name)?.start)).collect();
            let mut set = ProcSet::new();
            // Nodes with the least left first, so that what they lack is taken from the others.
            let mut order: Vec<(u32, u32)> =
                starts.iter().map(|&start| (self.remaining_processors(start), start)).collect();
            order.sort_unstable();
            for (at, &(_, start)) in order.iter().enumerate() {
                let nodes = (order.len() - at) as u32;
                set = set.union(&self.claim_processors(start, (job.procs - set.len()).div_ceil(nodes)));
            }
            self.note_place(job, set);
        }
        let starts: Vec<u32> = self.busy.keys().copied().collect();
        for job in jobs.iter().filter(|job| !has_nodes(job)) {
            let mut set = ProcSet::new();
            for &start in &starts {
                set = set.union(&self.claim_processors(start, job.procs - set.len()));
            }
            self.note_place(job, set);
        }
    }

    fn remaining_processors(&self, start: u32) -> u32 {
        self.busy.get(&start).map_or(0, |range| range.end - range.start)
    }

    fn claim_processors(&mut self, start: u32, most: u32) -> ProcSet {
        let Some(range) = self.busy.get_mut(&start) else { return ProcSet::new() };
        let until = range.end.min(range.start.saturating_add(most));
        let claimed_range = range.start..until;
        range.start = until;
        if claimed_range.is_empty() { ProcSet::new() } else { ProcSet::from_range(claimed_range) }
    }

    fn note_place(&mut self, job: &QueueEntry, set: ProcSet) {
        if set.len() == job.procs {
            self.jobs.insert(job.name.clone(), set);
        }
    }
}
