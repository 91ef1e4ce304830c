//! Processors on which jobs ran, from the nodes that the accounting lists: the state of any instant
//! has each job on its nodes.

use super::places::NodePlaces;
use drystone::model::{ProcSet, Time};
use drystone_when::Observed;
use std::collections::BTreeMap;
use std::ops::Range;

/// The nodes of jobs that have run or run: their places among the observed, and names of nodes.
pub(super) type ListedNodes = Vec<(usize, Vec<String>)>;

/// Free processors of nodes, by the first of each.
struct FreeProcessors<'a> {
    places: &'a NodePlaces,
    free: BTreeMap<u32, ProcSet>,
}

impl FreeProcessors<'_> {
    fn node_ranges(&self, nodes: &[String]) -> Vec<Range<u32>> {
        nodes.iter().filter_map(|name| self.places.node_range(name)).collect()
    }

    fn free_set(&mut self, range: &Range<u32>) -> &mut ProcSet {
        self.free.entry(range.start).or_insert_with(|| ProcSet::from_range(range.clone()))
    }

    /// Takes processors of these nodes, in equal parts as far as possible; `None` where they have
    /// too few.
    fn take_on_nodes(&mut self, nodes: &[String], procs: u32) -> Option<ProcSet> {
        let mut ranges: Vec<(u32, Range<u32>)> =
            self.node_ranges(nodes).into_iter().map(|range| (self.free_set(&range).len(), range)).collect();
        // Nodes with the least left first, so that what they lack is taken from the others.
        ranges.sort_unstable_by_key(|(free_count, range)| (*free_count, range.start));
        let mut set = ProcSet::new();
        let range_count = ranges.len();
        for (at, (free_count, range)) in ranges.iter().enumerate() {
            let part = (procs - set.len()).div_ceil((range_count - at) as u32).min(*free_count);
            set = set.union(&self.free_set(range).lowest_procs(part));
        }
        if set.len() != procs {
            return None;
        }
        for (_, range) in &ranges {
            let own = self.free_set(range);
            *own = own.difference(&set);
        }
        Some(set)
    }

    fn give_back(&mut self, nodes: &[String], set: &ProcSet) {
        for range in self.node_ranges(nodes) {
            let back = ProcSet::from_range(range.clone()).intersection(set);
            let own = self.free_set(&range);
            *own = own.union(&back);
        }
    }
}

/// Gives each job processors of its nodes for the time that it runs, so that no two share any.
/// Those whose nodes have no room then, since records overlap by seconds, have none in particular.
pub(super) fn place_history(observations: &mut [Observed], placements: &ListedNodes, places: &NodePlaces) {
    // Ends come before starts of the same second.
    let mut events: Vec<(Time, bool, usize)> = Vec::with_capacity(2 * placements.len());
    for (at, (job, _)) in placements.iter().enumerate() {
        let Some(start) = observations[*job].start else { continue };
        let end = observations[*job].end;
        if end.is_some_and(|end| end <= start) {
            continue;
        }
        events.push((start, true, at));
        events.extend(end.map(|end| (end, false, at)));
    }
    events.sort_unstable();
    let mut processors = FreeProcessors { places, free: BTreeMap::new() };
    for (_, starts, at) in events {
        let (job, nodes) = &placements[at];
        let observed_job = &mut observations[*job];
        if starts {
            observed_job.on = processors.take_on_nodes(nodes, observed_job.job.procs);
        } else if let Some(set) = &observed_job.on {
            processors.give_back(nodes, set);
        }
    }
}
