//! Nodes, partitions and what jobs ask of them.

use super::NodeSet;
use serde::{Deserialize, Serialize};

/// A partition as the schedulers see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its nodes that are in service.
    pub nodes: NodeSet,
    /// Jobs of higher tiers come first.
    pub tier: u32,
    /// Its `PriorityJobFactor`.
    pub job_factor: u32,
    /// Longest limit in seconds; [`i64::MAX`] without one.
    pub max_limit: i64,
    /// Whether its jobs may start.
    pub up: bool,
    /// Whether its jobs get whole nodes.
    pub whole: bool,
}

/// Nodes and partitions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Processors of each node.
    pub cpus: Vec<u32>,
    /// The partitions.
    pub parts: Vec<Part>,
    /// The partition of jobs that name none.
    pub default_part: u16,
}

impl Machine {
    /// Equal nodes in one partition.
    #[must_use]
    pub fn uniform(nodes: usize, cpus: u32) -> Machine {
        let part = Part {
            name: "main".to_string(),
            nodes: NodeSet::full(nodes),
            tier: 1,
            job_factor: 1,
            max_limit: i64::MAX,
            up: true,
            whole: false,
        };
        Machine { cpus: vec![cpus; nodes], parts: vec![part], default_part: 0 }
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.cpus.len()
    }

    /// Processors in all.
    #[must_use]
    pub fn total(&self) -> u64 {
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
    /// Its user.
    pub user: i32,
    /// Its account or group.
    pub account: i32,
    /// Processors that it needs in all.
    pub cpus: u32,
    /// Nodes that it needs at least.
    pub min_nodes: u32,
    /// Nodes that it may have at most.
    pub max_nodes: u32,
    /// Whether it wants its nodes for itself.
    pub whole: bool,
    /// Its limit in seconds, whole minutes; that of its partition if it is shorter.
    pub limit: i64,
    /// Its priority: the larger the earlier. At least 1.
    pub priority: i64,
    /// Submission in seconds.
    pub submit: i64,
}

impl Pending {
    /// A job that needs so many processors, wherever they are.
    #[must_use]
    pub fn new(id: u32, cpus: u32, limit: i64) -> Pending {
        Pending {
            id,
            part: 0,
            user: 0,
            account: 0,
            cpus,
            min_nodes: 1,
            max_nodes: u32::MAX,
            whole: false,
            limit,
            priority: i64::MAX - i64::from(id),
            submit: 0,
        }
    }

    /// The order of the queue: tier, priority, submission, number.
    #[must_use]
    pub fn key(&self, machine: &Machine) -> (std::cmp::Reverse<(u32, i64)>, i64, u32) {
        let tier = machine.parts[usize::from(self.part)].tier;
        (std::cmp::Reverse((tier, self.priority)), self.submit, self.id)
    }
}

/// What a job has: nodes, and processors on each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Alloc {
    /// The nodes.
    pub nodes: NodeSet,
    /// Processors on each of them, ascending.
    pub cpus: Vec<u32>,
}

/// A job that runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Running {
    /// Its number.
    pub id: u32,
    /// When its limit is over, in seconds.
    pub end: i64,
    /// What it has.
    pub alloc: Alloc,
}
