//! Recorded jobs as the schedulers see them.

use super::golden::Golden;
use crate::conf::Sharing;
use crate::model::{Alloc, Cluster, Machine, NONE, NodeSet, Pending};

/// Makes what the schedulers see of a recording.
pub(super) struct Makes<'a> {
    golden: &'a Golden,
    /// Processors of the largest node.
    widest: u32,
    /// Seconds before a job that was requeued may start again.
    pub(super) requeue_delay: i64,
}

/// What `slurmctld` adds to the present when it requeues a job: the life of a credential and a
/// second.
const REQUEUE_DELAY: i64 = 121;

impl<'a> Makes<'a> {
    pub(super) fn new(golden: &'a Golden) -> Makes<'a> {
        let widest = golden.conf.nodes.iter().map(|node| node.cpus).max().unwrap_or(1);
        Makes { golden, widest, requeue_delay: REQUEUE_DELAY }
    }

    /// Whether backfill lets go of its locks after each job, as recordings do that are to have long
    /// passes.
    pub(super) fn yields(&self) -> bool {
        self.golden.conf.sched.bf_yield_interval == 1
    }

    /// Whether the recording says all that priorities depend on. Those that do not have what was
    /// subtracted for being nice in the priorities alone.
    pub(super) fn has_factors(&self) -> bool {
        self.golden.jobs.iter().all(|job| job.one.is_some())
    }

    /// The nodes of these names.
    pub(super) fn nodes(&self, names: &[String]) -> NodeSet {
        let index = names.iter().filter_map(|name| self.golden.conf.node(name)).map(|index| index as usize);
        NodeSet::of(self.golden.conf.nodes.len(), index)
    }

    /// The job as it was submitted: by nodes where nodes have one processor, else by processors,
    /// and on one node if it asks for that; recordings that do not say so asked for one node
    /// wherever the job fits on it.
    pub(super) fn pending(&self, id: u32, priority: i64, machine: &Machine) -> Pending {
        let (job, conf) = (&self.golden.jobs[id as usize], &self.golden.conf);
        let part = machine.part(&job.partition);
        let read = &conf.partitions[usize::from(part)];
        let one = job.one.unwrap_or(job.n <= self.widest);
        let (min_nodes, max_nodes) = match (self.widest, job.nodes) {
            (1, _) => (job.n, job.n),
            (_, Some(nodes)) => (nodes, nodes),
            _ if one => (1, 1),
            _ => (1, u32::MAX),
        };
        let limit = read.max_minutes.map_or(job.limit, |max| max.min(job.limit));
        let accounts = &self.golden.accounts;
        let assoc = accounts.find(&job.account, &job.user);
        let default = assoc.and_then(|assoc| accounts.assocs[assoc].default_qos);
        let qos = accounts.find_qos(&job.qos).or(default);
        let index = |index: Option<usize>| index.map_or(NONE, |index| index as u32);
        Pending {
            part,
            user: number(&job.user),
            account: number(&job.account),
            min_nodes,
            max_nodes,
            whole: job.exclusive || machine.parts[usize::from(part)].whole,
            exclusive: job.exclusive || read.sharing == Sharing::Exclusive,
            priority,
            submit: job.submit + self.golden.base,
            accrue: job.submit + self.golden.base,
            assoc: index(assoc),
            qos: index(qos),
            nice: job.nice,
            array: job.task.map_or(NONE, |(array, _)| self.first_of(array)),
            throttle: job.throttle,
            ..Pending::new(id, job.n, limit * 60)
        }
    }

    /// The first task of an array.
    fn first_of(&self, array: u32) -> u32 {
        let is = |job: &super::GoldenJob| job.task.is_some_and(|(of, _)| of == array);
        self.golden.jobs.iter().position(is).unwrap_or(0) as u32
    }

    /// The processors that the job has on each of its nodes: the log names nodes alone.
    pub(super) fn share_out(&self, cluster: &Cluster, job: &Pending, nodes: NodeSet) -> Alloc {
        let machine = &cluster.machine;
        if job.whole || self.widest == 1 {
            return Alloc { nodes, cpus: Vec::new() };
        }
        if let Some(alloc) = cluster.idle.place(job, &nodes).filter(|alloc| alloc.nodes == nodes) {
            return alloc;
        }
        let (mut left, mut behind) = (job.cpus, nodes.count() as u32);
        let mut cpus = Vec::new();
        for node in nodes.iter() {
            behind -= 1;
            let here = cluster.idle.on(node).min(left.saturating_sub(behind).max(1)).min(machine.cpus[node]);
            left = left.saturating_sub(here);
            cpus.push(here);
        }
        Alloc { nodes, cpus }
    }
}

/// A number for a name: users and accounts are only told apart.
fn number(name: &str) -> i32 {
    name.bytes().fold(7_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}
