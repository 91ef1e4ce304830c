//! Nodes and the numbers of their processors: each node owns a range of numbers, for ever.

use crate::cluster::{LicenceFact, NodeFact, NodeShare};
use drystone::model::ProcSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Assignment of processor numbers to nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodeLayout {
    nodes: Vec<(String, Range<u32>)>,
    at: BTreeMap<String, usize>,
    /// Memory and devices of each node.
    amounts: Vec<NodeAmounts>,
    /// Licences of the cluster and how many there were of each at first.
    licences: BTreeMap<String, u64>,
}

/// Memory, devices, features and weight of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodeAmounts {
    /// Memory in MB; `None` where memory is not counted.
    pub memory: Option<u64>,
    /// Devices, by name: `gpu`, `gpu:a100`. Those with a type count under both names.
    pub devices: BTreeMap<String, u32>,
    pub features: Vec<String>,
    /// Nodes of a lower weight are given out first.
    pub weight: u64,
}

impl NodeLayout {
    /// Numbers the processors of nodes, in the order given.
    pub fn new(nodes: &[NodeFact]) -> NodeLayout {
        let mut layout = NodeLayout::default();
        for node in nodes {
            let from = layout.procs();
            if !layout.at.contains_key(&node.name) {
                layout.at.insert(node.name.clone(), layout.nodes.len());
                layout.nodes.push((node.name.clone(), from..from + node.procs));
                let devices = node.devices.iter().map(|devices| (devices.name.clone(), devices.all)).collect();
                let (memory, features) = (node.whole_memory, node.features.clone());
                layout.amounts.push(NodeAmounts { memory, devices, features, weight: node.weight });
            }
        }
        layout
    }

    #[must_use]
    pub fn with_licences(self, licences: &[LicenceFact]) -> NodeLayout {
        let licences = licences.iter().map(|licence| (licence.name.clone(), licence.total)).collect();
        NodeLayout { licences, ..self }
    }

    /// Takes in how many licences there are, where that is more than before, and new ones.
    pub(crate) fn raise_licences<'a>(&mut self, licences: impl Iterator<Item = &'a LicenceFact>) {
        for licence in licences {
            let most = self.licences.entry(licence.name.clone()).or_default();
            *most = licence.total.max(*most);
        }
    }

    /// Licences of the cluster and how many there were of each at first.
    pub fn licences(&self) -> &BTreeMap<String, u64> {
        &self.licences
    }

    /// Returns whether a later layout has the same nodes, and no licence of this one is missing.
    pub fn is_like(&self, later: &NodeLayout) -> bool {
        let of = |layout: &NodeLayout| NodeLayout { licences: BTreeMap::new(), ..layout.clone() };
        self.licences.keys().all(|name| later.licences.contains_key(name)) && of(self) == of(later)
    }

    /// Memory of all nodes in MB; `None` where memory is not counted.
    pub fn total_memory(&self) -> Option<u64> {
        self.amounts.iter().map(|node| node.memory).sum()
    }

    /// Devices of all nodes, by name: `gpu`, `gpu:a100`.
    pub fn total_devices(&self) -> BTreeMap<String, u64> {
        let mut totals = BTreeMap::new();
        for (name, &count) in self.amounts.iter().flat_map(|node| &node.devices) {
            *totals.entry(name.clone()).or_default() += u64::from(count);
        }
        totals
    }

    /// Memory and devices of each node, in order.
    pub fn node_amounts(&self) -> &[NodeAmounts] {
        &self.amounts
    }

    pub fn procs(&self) -> u32 {
        self.nodes.last().map_or(0, |(_, range)| range.end)
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes and their numbers, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &Range<u32>)> {
        self.nodes.iter().map(|(name, range)| (name.as_str(), range))
    }

    pub fn node_range(&self, node: &str) -> Option<Range<u32>> {
        self.at.get(node).map(|&at| self.nodes[at].1.clone())
    }

    pub fn split_by_node(&self, set: &ProcSet) -> Vec<(&str, u32)> {
        let on = |range: &Range<u32>| set.intersection(&ProcSet::from_range(range.clone())).len();
        self.nodes().map(|(name, range)| (name, on(range))).filter(|&(_, procs)| procs > 0).collect()
    }

    /// Processors of a set, by place of the node.
    pub fn split_at(&self, set: &ProcSet) -> BTreeMap<usize, u32> {
        let on = |range: &Range<u32>| set.intersection(&ProcSet::from_range(range.clone())).len();
        self.nodes().enumerate().map(|(at, (_, range))| (at, on(range))).filter(|&(_, procs)| procs > 0).collect()
    }

    /// As [`NodeLayout::node_counts`], by place of the node.
    pub fn counts_at(&self, places: &[NodeShare], procs: u32) -> BTreeMap<usize, u32> {
        self.node_counts(places, procs).into_iter().filter(|&(_, procs)| procs > 0).collect()
    }

    /// Returns the number of processors that a job of `procs` has on each of our nodes; unknown
    /// shares are spread evenly, at least one per node.
    pub fn node_counts(&self, places: &[NodeShare], procs: u32) -> Vec<(usize, u32)> {
        let stated_procs: u32 = places.iter().filter_map(|place| place.procs).sum();
        let unknown = places.iter().filter(|place| place.procs.is_none()).count() as u32;
        let mut remainder = procs.saturating_sub(stated_procs);
        let mut open = unknown;
        let mut counts = Vec::new();
        for place in places {
            let Some(&at) = self.at.get(&place.node) else {
                // On a node of others: it has its share there.
                if place.procs.is_none() && open > 0 {
                    remainder -= remainder / open;
                    open -= 1;
                }
                continue;
            };
            let room = self.nodes[at].1.end - self.nodes[at].1.start;
            let count = place.procs.unwrap_or_else(|| {
                let share = remainder.div_ceil(open.max(1)).min(room);
                remainder -= share.min(remainder);
                open = open.saturating_sub(1);
                share
            });
            counts.push((at, count.min(room)));
        }
        counts
    }

    /// Returns the number of our processors that such a job holds.
    pub fn held_procs(&self, places: &[NodeShare], procs: u32) -> u32 {
        self.node_counts(places, procs).iter().map(|&(_, count)| count).sum()
    }

    /// Numbers for a job on these nodes: the lowest of each that no other job has; where others
    /// have too many, any of the node's.
    pub fn choose_numbers(&self, places: &[NodeShare], procs: u32, busy: &ProcSet) -> ProcSet {
        let mut set = ProcSet::new();
        for (at, count) in self.node_counts(places, procs) {
            let node_set = ProcSet::from_range(self.nodes[at].1.clone());
            let idle = node_set.difference(busy).lowest_procs(count);
            let more = node_set.difference(&idle).lowest_procs(count - idle.len());
            set = set.union(&idle).union(&more);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::NodeState;

    fn layout() -> NodeLayout {
        let node = |name: &str, procs| NodeFact {
            name: name.into(),
            state: NodeState::Up,
            procs,
            busy: 0,
            memory: None,
            whole_memory: None,
            features: Vec::new(),
            weight: 1,
            devices: Vec::new(),
            windows: Vec::new(),
        };
        NodeLayout::new(&[node("n1", 4), node("n2", 4), node("n3", 8)])
    }

    fn on(node: &str, procs: Option<u32>) -> NodeShare {
        NodeShare { node: node.into(), procs }
    }

    #[test]
    fn each_node_owns_a_range() {
        let layout = layout();
        assert_eq!((layout.procs(), layout.node_range("n3"), layout.node_range("n9")), (16, Some(8..16), None));
        let set = ProcSet::from_range(2..9);
        assert_eq!(layout.split_by_node(&set), [("n1", 2), ("n2", 4), ("n3", 1)]);
    }

    #[test]
    fn numbers_are_the_lowest_that_no_other_has() {
        let layout = layout();
        let busy = ProcSet::from_range(0..2);
        assert_eq!(layout.choose_numbers(&[on("n1", Some(2))], 2, &busy).to_string(), "2-3");
        // One too many on n1: it shares a number there and takes none of another node.
        assert_eq!(layout.choose_numbers(&[on("n1", Some(3))], 3, &busy).to_string(), "0,2-3");
        assert_eq!(layout.choose_numbers(&[on("n1", None), on("n2", None)], 6, &ProcSet::new()).to_string(), "0-2,4-6");
        assert_eq!(
            layout.choose_numbers(&[on("n1", Some(1)), on("n2", None)], 4, &ProcSet::new()).to_string(),
            "0,4-6"
        );
    }

    #[test]
    fn a_job_on_nodes_of_others_holds_its_share_of_ours() {
        let layout = layout();
        assert_eq!(layout.held_procs(&[on("x1", None), on("n1", None)], 6), 3);
        assert_eq!(layout.held_procs(&[on("x1", Some(5)), on("n1", None)], 6), 1);
        assert_eq!(layout.held_procs(&[on("x1", None)], 6), 0);
    }
}
