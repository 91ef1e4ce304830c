//! Resources of nodes beside processors, and what jobs ask of them.

use super::{NodeSet, StoredBytes};
use serde::{Deserialize, Serialize};

/// A generic resource: `gpu` with a type, or without one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GresKind {
    /// Its name, such as `gpu`.
    pub name: String,
    /// Its type; empty without one.
    pub kind: String,
}

/// Kinds of generic resources as bits: those that a job may be given.
pub type Kinds = u64;

/// The kind that one more device of an unlimited count would be.
const MOST_KINDS: usize = 64;

/// Memory that a job asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum MemoryDemand {
    /// None, or nothing is known of it.
    #[default]
    None,
    /// So many megabytes of each node.
    PerNode(u64),
    /// So many megabytes for each of its processors.
    PerCpu(u64),
    /// So many megabytes for each of its GPUs.
    PerGpu(u64),
    WholeNode,
}

/// GPUs that a job asks for. Of the three counts those that it does not name are 0.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GpuDemand {
    /// Kinds that serve.
    pub kinds: Kinds,
    pub per_node: u32,
    pub per_job: u32,
    pub per_task: u32,
    /// Processors for each GPU.
    pub cpus_each: u32,
}

impl GpuDemand {
    /// GPUs for the whole job where it counts them so; 0 where it does not.
    pub(super) fn in_all(&self, tasks: u32) -> u32 {
        if self.per_task > 0 { self.per_task.saturating_mul(tasks) } else { self.per_job }
    }
}

/// Demand of a job beside processors and nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobDemand {
    /// Its tasks; 0: one for each processor.
    pub tasks: u32,
    /// Processors of each task; 0: one.
    pub cpus_per_task: u32,
    /// Processors that it has on each of its nodes at least.
    pub least_cpus: u32,
    pub memory: MemoryDemand,
    pub gpus: Option<GpuDemand>,
    /// Other generic resources on each node: kinds that serve, and how many.
    pub gres: Vec<(Kinds, u32)>,
    /// Features that its nodes have, as Slurm writes them; empty for none.
    pub features: String,
    /// Licences by their index, and how many.
    pub licences: Vec<(u16, u32)>,
    /// Nodes that it must have, and nodes that it must not have, by index.
    pub named: (Vec<u32>, Vec<u32>),
}

/// A demand with the nodes that could ever serve it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KnownDemand {
    pub demand: JobDemand,
    /// Nodes that are large enough and have the features.
    pub suitable: NodeSet,
    /// Sets of nodes of which one is to have all of the job's nodes (`[a|b]`).
    pub one_of: Vec<NodeSet>,
}

/// Resources of nodes beside processors, licences, and the demands of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Megabytes of each node; empty where memory is not given out.
    pub memory: Vec<u64>,
    /// Kinds of generic resources.
    pub kinds: Vec<GresKind>,
    /// Of each kind the devices of each node.
    pub gres: Vec<Vec<u32>>,
    /// `Weight` of each node; empty where all are equal.
    pub weights: Vec<u32>,
    /// Features with their nodes.
    pub features: Vec<(String, NodeSet)>,
    /// Licences and how many there are.
    pub licences: Vec<(String, u32)>,
    /// Demands by number; the first one is of jobs that ask for nothing more.
    pub demands: Vec<KnownDemand>,
    /// Low bytes of the scheduling weights; empty without GPUs.
    pub bytes: StoredBytes,
    /// Partitions whose jobs may have so many processors of a node together.
    pub caps: Vec<NodeCap>,
}

/// Most processors of one node that the jobs of a partition have together: `MaxCPUsPerNode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeCap {
    /// The partition's index.
    pub part: u16,
    pub cpus: u32,
}

impl Resources {
    /// Returns whether nodes differ in nothing but processors.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.memory.is_empty() && self.gres.is_empty() && self.weights.is_empty() && self.caps.is_empty()
    }

    /// The place of the cap of a partition among the caps.
    pub(super) fn cap_of(&self, part: u16) -> Option<usize> {
        self.caps.iter().position(|cap| cap.part == part)
    }

    /// The kinds of a name and type; an empty type means all of the name.
    pub fn kinds_of(&self, name: &str, kind: &str) -> Kinds {
        let is = |k: &GresKind| k.name.eq_ignore_ascii_case(name) && (kind.is_empty() || k.kind == kind);
        let bits = self.kinds.iter().enumerate().filter(|(_, k)| is(k)).map(|(at, _)| 1_u64 << at);
        bits.fold(0, |mask, bit| mask | bit)
    }

    /// The place of a kind, made where there is none. `None`: there are too many.
    pub(crate) fn find_kind(&mut self, name: &str, kind: &str, nodes: usize) -> Option<usize> {
        let gres_kind = GresKind { name: name.to_string(), kind: kind.to_string() };
        if let Some(at) = self.kinds.iter().position(|k| *k == gres_kind) {
            return Some(at);
        }
        if self.kinds.len() >= MOST_KINDS {
            return None;
        }
        self.kinds.push(gres_kind);
        self.gres.push(vec![0; nodes]);
        if self.bytes == StoredBytes::default() {
            self.bytes = StoredBytes::new(nodes);
        }
        Some(self.kinds.len() - 1)
    }

    /// The number of a demand, made where there is none; 0 for none.
    pub fn intern_demand(&mut self, demand: JobDemand, cpus: &[u32]) -> u32 {
        if let Some(at) = self.demands.iter().position(|entry| entry.demand == demand) {
            return at as u32;
        }
        self.add_demand(demand, cpus)
    }

    /// Returns whether a demand is for GPUs of one kind, where there are several.
    pub(crate) fn names_a_type(&self, number: u32) -> bool {
        let gpus = self.known_demand(number).and_then(|entry| entry.demand.gpus.as_ref());
        gpus.is_some_and(|gpus| gpus.kinds.count_ones() == 1)
    }

    /// Takes back the last demand, where it has this number.
    pub fn forget_demand(&mut self, number: u32) {
        if number > 0 && number as usize + 1 == self.demands.len() {
            self.demands.pop();
        }
    }

    /// The number of a demand that is not there yet.
    pub(crate) fn add_demand(&mut self, demand: JobDemand, cpus: &[u32]) -> u32 {
        if self.demands.is_empty() {
            let all_nodes = NodeSet::full(cpus.len());
            self.demands.push(KnownDemand { demand: JobDemand::default(), suitable: all_nodes, one_of: Vec::new() });
        }
        if demand == JobDemand::default() {
            return 0;
        }
        let (mut suitable, one_of) = self.featured_nodes(&demand.features, cpus.len());
        let least = demand.cpus_per_task.max(1);
        let fits = |&node: &usize| {
            let memory = match demand.memory {
                MemoryDemand::PerNode(mb) => mb,
                MemoryDemand::PerCpu(mb) => mb.saturating_mul(u64::from(least)),
                _ => 0,
            };
            cpus[node] >= least && self.memory.get(node).is_none_or(|&has| has >= memory)
        };
        let small: Vec<usize> = suitable.iter().filter(|node| !fits(node)).collect();
        small.into_iter().for_each(|node| suitable.remove(node));
        demand.named.1.iter().for_each(|&node| suitable.remove(node as usize));
        self.demands.push(KnownDemand { demand, suitable, one_of });
        self.demands.len() as u32 - 1
    }

    /// Returns the resources for this many nodes: those behind the last are left out, and further
    /// ones are as the last, without features.
    pub(crate) fn resized_to(&self, nodes: usize) -> Resources {
        let mut resources = self.clone();
        let last = |of: &[u32]| of.last().copied().unwrap_or_default();
        if !self.memory.is_empty() {
            resources.memory.resize(nodes, self.memory.last().copied().unwrap_or_default());
        }
        if !self.weights.is_empty() {
            resources.weights.resize(nodes, last(&self.weights));
        }
        resources.gres.iter_mut().for_each(|gres| gres.resize(nodes, last(gres)));
        for (_, set) in &mut resources.features {
            *set = NodeSet::from_members(nodes, set.iter().filter(|&node| node < nodes));
        }
        if self.bytes != StoredBytes::default() {
            resources.bytes = StoredBytes::new(nodes);
        }
        resources.demands.clear();
        resources
    }

    /// The demand of a number; `None` where the job asks for nothing more.
    #[inline]
    pub(super) fn known_demand(&self, number: u32) -> Option<&KnownDemand> {
        if number == 0 { None } else { self.demands.get(number as usize) }
    }

    /// Nodes with these features, and sets of which one is to have all nodes of the job.
    fn featured_nodes(&self, text: &str, nodes: usize) -> (NodeSet, Vec<NodeSet>) {
        let text = text.trim();
        if text.is_empty() {
            return (NodeSet::full(nodes), Vec::new());
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let sets: Vec<NodeSet> = inner.split('|').map(|part| self.evaluate_expression(part, nodes)).collect();
            let mut union_set = NodeSet::empty(nodes);
            sets.iter().for_each(|set| union_set.unite(set));
            return (union_set, sets);
        }
        (self.evaluate_expression(text, nodes), Vec::new())
    }

    /// `a&b|c`, from left to right. A count (`a*2`) means that as many nodes have the feature, but
    /// others may be beside them: such a part leaves all nodes.
    fn evaluate_expression(&self, text: &str, nodes: usize) -> NodeSet {
        let mut combined_set: Option<NodeSet> = None;
        let (mut rest, mut and) = (text, true);
        loop {
            let end = rest.find(['&', '|', ',']).unwrap_or(rest.len());
            let set = self.nodes_with_feature(&rest[..end], nodes);
            combined_set = Some(match combined_set {
                None => set,
                Some(mut before) => {
                    if and {
                        before.intersect(&set);
                    } else {
                        before.unite(&set);
                    }
                    before
                }
            });
            if end >= rest.len() {
                return combined_set.unwrap_or_default();
            }
            and = rest.as_bytes()[end] != b'|';
            rest = &rest[end + 1..];
        }
    }

    fn nodes_with_feature(&self, name: &str, nodes: usize) -> NodeSet {
        let name = name.trim_matches(['(', ')', '[', ']', ' ']);
        if name.contains('*') {
            return NodeSet::full(nodes);
        }
        let feature_entry = self.features.iter().find(|(own, _)| own == name);
        feature_entry.map_or_else(|| NodeSet::empty(nodes), |(_, set)| set.clone())
    }
}

/// Allocation of a job on its nodes beside processors.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AllocMore {
    /// Megabytes on each node, ascending by node; empty for none.
    pub memory: Vec<u64>,
    /// Kind, node and number of devices.
    pub gres: Vec<(u16, u32, u32)>,
    /// Its processors on each node as bits, where jobs may be suspended for others.
    pub cores: Vec<u64>,
    /// The cap of its partition, by its place among the caps.
    pub cap: Option<u16>,
}

impl AllocMore {
    pub fn device_count(&self) -> u64 {
        self.gres.iter().map(|&(.., count)| u64::from(count)).sum()
    }
}

/// Idle resources of nodes beside processors.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct IdleMore {
    pub(super) memory: Vec<u64>,
    pub(super) gres: Vec<Vec<u32>>,
    /// Of each cap the processors of each node that its jobs have.
    pub(super) capped: Vec<Vec<u32>>,
}

impl IdleMore {
    /// Of a machine without jobs; `None` where there is nothing of the kind.
    pub(super) fn new(resources: &Resources, nodes: usize) -> Option<Box<IdleMore>> {
        let has_any = !resources.memory.is_empty() || !resources.gres.is_empty() || !resources.caps.is_empty();
        has_any.then(|| {
            let capped_cpus = vec![vec![0; nodes]; resources.caps.len()];
            Box::new(IdleMore { memory: resources.memory.clone(), gres: resources.gres.clone(), capped: capped_cpus })
        })
    }

    pub(super) fn copy_from(&mut self, source: &IdleMore) {
        self.memory.clone_from(&source.memory);
        for (own, source_gres) in self.gres.iter_mut().zip(&source.gres) {
            own.clone_from(source_gres);
        }
        for (own, source_cap) in self.capped.iter_mut().zip(&source.capped) {
            own.clone_from(source_cap);
        }
    }

    /// Counts the processors of a job of a capped partition, or counts them no more.
    pub(super) fn change_capped(&mut self, cap: u16, cpus: impl Iterator<Item = (usize, u32)>, take: bool) {
        let Some(node_cpus) = self.capped.get_mut(usize::from(cap)) else { return };
        for (node, cpus) in cpus {
            node_cpus[node] = if take { node_cpus[node] + cpus } else { node_cpus[node].saturating_sub(cpus) };
        }
    }

    /// Takes what a job gets on its nodes, or gives it back.
    pub(super) fn change_share(&mut self, nodes: &NodeSet, more: &AllocMore, resources: &Resources, take: bool) {
        for (node, &mb) in nodes.iter().zip(&more.memory) {
            let Some(own) = self.memory.get_mut(node) else { continue };
            *own = if take { own.saturating_sub(mb) } else { (*own + mb).min(resources.memory[node]) };
        }
        for &(kind, node, count) in &more.gres {
            let (kind, node) = (usize::from(kind), node as usize);
            let Some(own) = self.gres.get_mut(kind).and_then(|gres| gres.get_mut(node)) else { continue };
            *own = if take { own.saturating_sub(count) } else { (*own + count).min(resources.gres[kind][node]) };
        }
    }

    /// Idle devices of these kinds on a node.
    pub(super) fn idle_devices(&self, kinds: Kinds, node: usize) -> i64 {
        let of = |(at, gres): (usize, &Vec<u32>)| if kinds >> at & 1 == 1 { i64::from(gres[node]) } else { 0 };
        self.gres.iter().enumerate().map(of).sum()
    }
}
