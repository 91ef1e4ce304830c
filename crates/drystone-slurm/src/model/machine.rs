//! Nodes, partitions and what jobs ask of them.

use super::{AllocMore, NodeSet, Resources};
use crate::conf::{BillingSum, BillingWeights, PreemptMode};
use serde::{Deserialize, Serialize};

/// A partition as the schedulers see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelPartition {
    pub name: String,
    /// Its nodes that are in service.
    pub nodes: NodeSet,
    /// Jobs of higher tiers come first.
    pub tier: u32,
    /// Its `PriorityJobFactor`.
    pub job_factor: u32,
    /// Longest limit in seconds; [`i64::MAX`] without one.
    pub max_limit: i64,
    /// True if its jobs may start.
    pub up: bool,
    /// True if its jobs get whole nodes.
    pub whole: bool,
    /// True if that is the partition's own rule.
    pub exclusive: bool,
    /// True if a node that runs its jobs runs jobs of one user only.
    pub exclusive_user: bool,
    /// The QOS whose limits hold for all of its jobs; [`NONE`] for none.
    pub qos: u32,
    /// Seconds that a job may run beyond its limit; `None`: as long as it likes.
    pub overtime: Option<i64>,
    /// Fate of its jobs when others take their place; `None` for the general one.
    pub preempt_mode: Option<PreemptMode>,
    /// Seconds that such a job has left.
    pub grace: i64,
    /// Fewest and most nodes of a job.
    pub node_range: (u32, u32),
    /// True if its jobs go to the least loaded nodes.
    pub least_loaded: bool,
    /// Weights by which a job is billed; `None`: for its processors.
    pub billing: Option<BillingWeights>,
}

impl Default for ModelPartition {
    fn default() -> ModelPartition {
        ModelPartition {
            name: "main".to_string(),
            nodes: NodeSet::default(),
            tier: 1,
            job_factor: 1,
            max_limit: i64::MAX,
            up: true,
            whole: false,
            exclusive: false,
            exclusive_user: false,
            qos: NONE,
            overtime: Some(0),
            preempt_mode: None,
            grace: 0,
            node_range: (0, u32::MAX),
            least_loaded: false,
            billing: None,
        }
    }
}

/// No association, no QOS, no array.
pub const NONE: u32 = u32::MAX;

/// Nodes and partitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelMachine {
    /// Processors of each node.
    pub cpus: Vec<u32>,
    /// Processors that are given out together: the threads of a core.
    pub threads: u32,
    /// These of each node where nodes differ; else empty.
    pub mixed_threads: Vec<u32>,
    /// Rule by which the bills of a job's resources make its own.
    pub bills: BillingSum,
    /// True if jobs get whole nodes as `select/linear` gives them out.
    pub linear: bool,
    /// The number of the `NodeName` line of each node, where that matters; else empty.
    pub lines: Vec<u32>,
    pub parts: Vec<ModelPartition>,
    /// The partition of jobs that name none.
    pub default_part: u16,
    /// Resources of nodes beside processors.
    pub resources: Resources,
}

impl ModelMachine {
    /// Equal nodes in one partition.
    pub fn with_equal_nodes(nodes: usize, cpus: u32) -> ModelMachine {
        let part = ModelPartition { nodes: NodeSet::full(nodes), ..ModelPartition::default() };
        ModelMachine {
            cpus: vec![cpus; nodes],
            threads: 1,
            mixed_threads: Vec::new(),
            bills: BillingSum::All,
            linear: false,
            lines: Vec::new(),
            parts: vec![part],
            default_part: 0,
            resources: Resources::default(),
        }
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.cpus.len()
    }

    /// Processors of a node that are given out together.
    #[inline]
    pub fn threads_on(&self, node: usize) -> u32 {
        self.mixed_threads.get(node).copied().unwrap_or(self.threads).max(1)
    }

    /// Returns the processors that a job of whole nodes would have, on nodes like the first of its
    /// partition.
    pub(crate) fn whole_cpus(&self, job: &Pending) -> u32 {
        let first = self.parts[usize::from(job.part)].nodes.iter().next();
        let cpus_per_node = first.map_or(1, |node| self.cpus[node].max(1));
        job.min_nodes.max(job.cpus.div_ceil(cpus_per_node)).saturating_mul(cpus_per_node).max(job.cpus)
    }

    /// Processors in all.
    pub fn total_cpus(&self) -> u64 {
        self.cpus.iter().map(|&c| u64::from(c)).sum()
    }
}

/// A job that waits, as the schedulers see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pending {
    /// Its number: the order of arrival.
    pub id: u32,
    /// Its partition.
    pub part: u16,
    pub user: i32,
    /// Its account or group.
    pub account: i32,
    /// Processors that it needs in all.
    pub cpus: u32,
    /// Nodes that it needs at least.
    pub min_nodes: u32,
    /// Nodes that it asked for itself, where its partition wants more; 0: these.
    pub own_nodes: u32,
    /// Nodes that it may have at most.
    pub max_nodes: u32,
    /// Most nodes of a job in its partition: `MaxNodes`, which says nothing of how many it wants.
    pub node_cap: u32,
    /// True if it gets whole nodes.
    pub whole: bool,
    /// True if it, or its partition, asked for whole nodes where jobs could share them: backfill
    /// then plans with its end once it has started it.
    pub exclusive: bool,
    /// Its limit in seconds, whole minutes; that of its partition if it is shorter.
    pub limit: i64,
    /// Its priority: the larger the earlier. At least 1.
    pub priority: i64,
    /// Submission in seconds; where it was sent back, when that was.
    pub submit: i64,
    /// Time since which its age counts, in seconds.
    pub accrue: i64,
    /// Its association as an index into the accounts; [`NONE`] without one.
    pub assoc: u32,
    /// Its QOS as an index into the accounts; [`NONE`] without one.
    pub qos: u32,
    /// Subtracted from its priority.
    pub nice: i64,
    /// The array that it is a task of, by the number of the first; [`NONE`] for none.
    pub array: u32,
    /// Tasks of its array that may run at once; 0: all.
    pub throttle: u32,
    /// Demand beside processors and nodes, by its number among the demands of the machine; 0 for
    /// none.
    pub demand: u32,
    /// The reservation that it uses, as an index; [`NONE`] for none.
    pub reservation: u32,
    /// True if the cap of its partition on a node's processors does not hold for it.
    pub uncapped: bool,
    /// True once its priority has been calculated while it waited: a job of whole nodes then counts
    /// all of their processors.
    pub weighed: bool,
    /// True if it waits in several partitions: the queue has an entry for each.
    pub several: bool,
}

impl AsRef<[Pending]> for Pending {
    fn as_ref(&self) -> &[Pending] {
        std::slice::from_ref(self)
    }
}

impl Pending {
    /// A job that needs so many processors, wherever they are.
    pub fn new(id: u32, cpus: u32, limit: i64) -> Pending {
        Pending {
            id,
            part: 0,
            user: 0,
            account: 0,
            cpus,
            min_nodes: 1,
            max_nodes: u32::MAX,
            own_nodes: 0,
            node_cap: u32::MAX,
            whole: false,
            exclusive: false,
            limit,
            priority: i64::MAX - i64::from(id),
            submit: 0,
            accrue: 0,
            assoc: NONE,
            qos: NONE,
            nice: 0,
            array: NONE,
            throttle: 0,
            demand: 0,
            reservation: NONE,
            uncapped: false,
            weighed: false,
            several: false,
        }
    }

    /// Nodes that it may have at most, in its partition.
    #[inline]
    pub fn most_nodes(&self) -> u32 {
        self.max_nodes.min(self.node_cap)
    }

    /// Returns whether its number of nodes is not one of its partition: it then waits, and is not
    /// tried.
    #[inline]
    pub fn is_beyond_partition(&self) -> bool {
        self.min_nodes > self.most_nodes()
    }

    /// The number of nodes is within what the partition allows.
    pub fn bind_nodes(&mut self, machine: &ModelMachine) {
        let (least, most) = machine.parts[usize::from(self.part)].node_range;
        if self.min_nodes < least {
            self.own_nodes = self.min_nodes.max(1);
            self.min_nodes = least;
        }
        self.node_cap = most;
    }

    /// The number that orders it among those submitted in the same second: that of its array, else
    /// its own.
    fn order_number(&self) -> u32 {
        if self.array == NONE { self.id } else { self.array }
    }

    /// The order of the queue: jobs of reservations first, then tier, priority, submission, number.
    pub fn queue_key(&self, machine: &ModelMachine) -> (std::cmp::Reverse<(bool, u32, i64)>, i64, u32, u32) {
        let tier = machine.parts[usize::from(self.part)].tier;
        (std::cmp::Reverse((self.reservation != NONE, tier, self.priority)), self.submit, self.order_number(), self.id)
    }
}

/// Allocation of a job: nodes, and processors on each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Alloc {
    pub nodes: NodeSet,
    /// Processors on each of them, ascending; empty: all that they have.
    pub cpus: Vec<u32>,
    /// Allocation beside processors, if any.
    pub more: Option<Box<AllocMore>>,
}

impl Alloc {
    /// Its nodes with the processors that it has on them.
    pub fn iter<'a>(&'a self, machine: &'a ModelMachine) -> impl Iterator<Item = (usize, u32)> + 'a {
        let has_whole_nodes = self.cpus.is_empty();
        self.nodes
            .iter()
            .enumerate()
            .map(move |(k, node)| (node, if has_whole_nodes { machine.cpus[node] } else { self.cpus[k] }))
    }

    /// The first nodes of the machine that have what a job asks for, whatever runs there.
    pub fn first_of(job: &Pending, machine: &ModelMachine) -> Alloc {
        let (mut remaining, mut nodes, mut cpus) = (job.cpus, Vec::new(), Vec::new());
        for (node, &node_cpus) in machine.cpus.iter().enumerate() {
            if remaining == 0 && nodes.len() >= job.min_nodes as usize {
                break;
            }
            nodes.push(node);
            cpus.push(node_cpus.min(remaining.max(1)));
            remaining -= remaining.min(node_cpus);
        }
        let nodes = NodeSet::from_members(machine.node_count(), nodes);
        Alloc { nodes, cpus: if job.whole { Vec::new() } else { cpus }, more: None }
    }

    /// Processors in all.
    pub fn total_cpus(&self, machine: &ModelMachine) -> u64 {
        self.iter(machine).map(|(_, cpus)| u64::from(cpus)).sum()
    }
}

/// A job that runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunningModelJob {
    pub id: u32,
    /// End of its limit, in seconds.
    pub end: i64,
    /// Allocation.
    pub alloc: Alloc,
    /// Its nodes once more, without words in which it has none: most jobs have few nodes.
    pub(super) words: Vec<(u32, u64)>,
    /// The job as it waited.
    pub job: Pending,
    /// Start, in seconds.
    pub start: i64,
}

impl RunningModelJob {
    /// Returns the number of the job's nodes among these.
    pub(crate) fn count_on(&self, nodes: &NodeSet) -> u32 {
        nodes.common_sparse(&self.words) as u32
    }
}
