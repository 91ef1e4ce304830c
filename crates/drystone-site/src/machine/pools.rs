//! Pools: nodes that partitions connect belong together, all others are machines of their own.

use super::{NodeSets, SiteMachine, SitePartition};
use crate::rows::{Symbol, Symbols};
use drystone::model::SharedSort;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub(crate) struct NodePool {
    pub(crate) name: String,
    /// Its nodes, ascending.
    pub(crate) nodes: Vec<u32>,
    pub(crate) partitions: Vec<u32>,
}

/// Nodes and partitions that belong together.
#[derive(Debug, Default)]
pub(crate) struct NodePools {
    pub(crate) pools: Vec<NodePool>,
    of_node: Vec<Option<u16>>,
    of_partition: BTreeMap<Symbol, u16>,
}

impl NodePools {
    /// The pool of a node that some partition has.
    pub(crate) fn of_node(&self, node: u32) -> Option<u16> {
        self.of_node.get(node as usize).copied().flatten()
    }

    pub(crate) fn of_partition(&self, partition: Symbol) -> Option<u16> {
        self.of_partition.get(&partition).copied()
    }

    pub(crate) fn adopt_node(&mut self, node: u32, pool: u16) {
        if self.of_node.len() <= node as usize {
            self.of_node.resize(node as usize + 1, None);
        }
        self.of_node[node as usize] = Some(pool);
        self.pools[usize::from(pool)].nodes.push(node);
    }

    /// Returns the pool of a job: that of most of its nodes, else that of its partition.
    pub(crate) fn of_job(&self, list: Symbol, partition: Symbol, sets: &NodeSets) -> Option<u16> {
        self.of_list(list, sets).or_else(|| self.of_partition(partition))
    }

    /// Returns the pool of most nodes of a list.
    pub(crate) fn of_list(&self, list: Symbol, sets: &NodeSets) -> Option<u16> {
        let mut votes: BTreeMap<u16, u32> = BTreeMap::new();
        for node in sets.list_nodes(list) {
            if let Some(pool) = self.of_node(node) {
                *votes.entry(pool).or_default() += 1;
            }
        }
        votes.into_iter().max_by_key(|&(pool, votes)| (votes, std::cmp::Reverse(pool))).map(|(pool, _)| pool)
    }
}

/// Divides a machine. Nodes without a partition belong to no pool. Partitions without a node belong
/// to none either or, with `bundle`, to one together: nothing tells which of them share nodes.
/// Partitions of a list of `together` are in one pool, though they have no node in common.
pub(crate) fn divide_machine(
    machine: &SiteMachine,
    names: &Symbols,
    bundle: bool,
    together: &BTreeSet<Vec<String>>,
) -> NodePools {
    let mut sets = DisjointSets::new(machine.nodes.len());
    for list in together {
        let of_list = machine.partitions.iter().filter(|partition| list.contains(&partition.name));
        let firsts: Vec<u32> = of_list.filter_map(|partition| partition.nodes.first().copied()).collect();
        firsts.windows(2).for_each(|pair| sets.join_sets(pair[0], pair[1]));
    }
    for partition in &machine.partitions {
        for pair in partition.nodes.windows(2) {
            sets.join_sets(pair[0], pair[1]);
        }
    }
    let mut pools_by_root: BTreeMap<u32, NodePool> = BTreeMap::new();
    for (partition, number) in machine.partitions.iter().zip(0..) {
        if let Some(&first) = partition.nodes.first() {
            pools_by_root.entry(sets.find_root(first)).or_default().partitions.push(number);
        }
    }
    for node in 0..machine.nodes.len() as u32 {
        if let Some(pool) = pools_by_root.get_mut(&sets.find_root(node)) {
            pool.nodes.push(node);
        }
    }
    let mut pools: Vec<NodePool> = pools_by_root.into_values().collect();
    let bare = |number: &u32| machine.partitions[*number as usize].nodes.is_empty();
    let partitions: Vec<u32> = (0..machine.partitions.len() as u32).filter(bare).collect();
    if pools.is_empty() || (bundle && !partitions.is_empty()) {
        pools.push(NodePool { partitions, ..NodePool::default() });
    }
    for pool in &mut pools {
        pool.name = pool_name(&machine.partitions, pool);
    }
    pools.sort_shared_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.name.cmp(&b.name)));
    let mut of_node = vec![None; machine.nodes.len()];
    let mut of_partition = BTreeMap::new();
    for (pool, number) in pools.iter().zip(0_u16..) {
        pool.nodes.iter().for_each(|&node| of_node[node as usize] = Some(number));
        for &partition in &pool.partitions {
            if let Some(symbol) = names.find_symbol(machine.partitions[partition as usize].name.as_bytes()) {
                of_partition.insert(symbol, number);
            }
        }
    }
    NodePools { pools, of_node, of_partition }
}

/// Names of partitions, those with most nodes first; of many the first three.
fn pool_name(partitions: &[SitePartition], pool: &NodePool) -> String {
    let mut parts: Vec<&SitePartition> = pool.partitions.iter().map(|&p| &partitions[p as usize]).collect();
    parts.sort_shared_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.name.cmp(&b.name)));
    let partition_names: Vec<&str> = parts.iter().take(3).map(|p| p.name.as_str()).filter(|n| !n.is_empty()).collect();
    match (partition_names.is_empty(), parts.len().saturating_sub(3)) {
        (true, _) => "all".to_string(),
        (false, 0) => partition_names.join("+"),
        (false, more) => format!("{}+{more}more", partition_names.join("+")),
    }
}

struct DisjointSets(Vec<u32>);

impl DisjointSets {
    fn new(count: usize) -> DisjointSets {
        DisjointSets((0..count as u32).collect())
    }

    fn find_root(&mut self, mut of: u32) -> u32 {
        while self.0[of as usize] != of {
            let above = self.0[self.0[of as usize] as usize];
            self.0[of as usize] = above;
            of = above;
        }
        of
    }

    fn join_sets(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SiteNode;

    #[test]
    fn partitions_that_share_a_node_are_one_pool() {
        let node = |name: usize| SiteNode { name: format!("n{name}"), cpus: 4, ..SiteNode::default() };
        let partition = |name: &str, nodes: &[u32]| SitePartition {
            name: name.into(),
            nodes: nodes.to_vec(),
            ..SitePartition::default()
        };
        let machine = SiteMachine {
            nodes: (0..8).map(node).collect(),
            partitions: vec![
                partition("a", &[0, 1, 2]),
                partition("gpu", &[5]),
                partition("b", &[2, 3]),
                partition("none", &[]),
            ],
            ..SiteMachine::default()
        };
        let mut names = Symbols::default();
        let [a, b, gpu, no_pool] = ["a", "b", "gpu", "none"].map(|n| names.intern(n.as_bytes()));
        let pools = divide_machine(&machine, &names, false, &BTreeSet::new());
        let of: Vec<(&str, &[u32])> = pools.pools.iter().map(|p| (p.name.as_str(), p.nodes.as_slice())).collect();
        assert_eq!(of, [("a+b", &[0, 1, 2, 3][..]), ("gpu", &[5][..])]);
        assert_eq!(
            (pools.of_partition(a), pools.of_partition(b), pools.of_partition(gpu)),
            (Some(0), Some(0), Some(1))
        );
        assert_eq!((pools.of_partition(no_pool), pools.of_node(4)), (None, None));
    }
}
