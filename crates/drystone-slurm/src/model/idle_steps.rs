//! Idle processors of every node after so many of the running jobs have ended, in steps.

use super::{ModelCluster, NodeSet};

/// Steps at most; each takes as much room as the idle processors of the machine.
const MOST_STEPS: usize = 64;

/// Idle processors after ends of running jobs, a few ends for each step.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleSteps {
    /// State of the cluster that they are of.
    of: Option<u64>,
    /// Ends of each step but the first, which has none.
    ends: usize,
    /// Words or nodes of a step.
    width: usize,
    /// Idle nodes of each step, where every node has one processor.
    words: Vec<u64>,
    /// Idle processors of each node and step, where not.
    cpus: Vec<u32>,
}

impl IdleSteps {
    /// Returns a bound of the processors that are idle on these nodes by a time, if no job starts
    /// before.
    pub(super) fn most_on(&mut self, cluster: &ModelCluster, free: &NodeSet, time: i64) -> u64 {
        self.renew_steps(cluster);
        let at = self.step_at(cluster, time) * self.width;
        if cluster.idle.is_single() {
            let words = self.words[at..at + self.width].iter().zip(free.words());
            return words.map(|(idle, free)| u64::from((idle & free).count_ones())).sum();
        }
        let cpus = &self.cpus[at..at + self.width];
        free.iter().filter_map(|node| cpus.get(node)).map(|&cpus| u64::from(cpus)).sum()
    }

    /// Sees to it that the steps are of the present state.
    pub(super) fn renew_steps(&mut self, cluster: &ModelCluster) {
        if self.of != Some(cluster.change_count()) {
            self.rebuild_steps(cluster);
        }
    }

    /// Returns the step behind all ends up to a time.
    pub(super) fn step_at(&self, cluster: &ModelCluster, time: i64) -> usize {
        cluster.end_order().partition_point(|&(end, ..)| end <= time).div_ceil(self.ends)
    }

    /// Number of steps.
    pub(super) fn step_count(&self) -> usize {
        self.words.len().max(self.cpus.len()) / self.width.max(1)
    }

    /// Returns the processors that are idle in a step on these nodes.
    pub(super) fn count_on(&self, step: usize, nodes: &[(u32, u64)]) -> u32 {
        let from = step * self.width;
        if self.cpus.is_empty() {
            let idle = |&(at, word): &(u32, u64)| (self.words[from + at as usize] & word).count_ones();
            return nodes.iter().map(idle).sum();
        }
        let cpus = &self.cpus[from..from + self.width];
        let idle = |&(at, mut bits): &(u32, u64)| {
            let mut sum = 0;
            while bits != 0 {
                sum += cpus[at as usize * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
            sum
        };
        nodes.iter().map(idle).sum()
    }

    fn rebuild_steps(&mut self, cluster: &ModelCluster) {
        let (order, machine) = (cluster.end_order(), &cluster.machine);
        self.of = Some(cluster.change_count());
        self.ends = order.len().div_ceil(MOST_STEPS).max(1);
        self.words.clear();
        self.cpus.clear();
        let single = cluster.idle.is_single();
        if single {
            self.words.extend_from_slice(cluster.idle.usable_nodes(false).words());
        } else {
            self.cpus.extend((0..machine.node_count()).map(|node| cluster.idle.idle_on(node)));
        }
        self.width = self.words.len().max(self.cpus.len());
        for (step, ends) in (1..).zip(order.chunks(self.ends)) {
            let at = step * self.width;
            if single {
                self.words.extend_from_within(at - self.width..at);
            } else {
                self.cpus.extend_from_within(at - self.width..at);
            }
            for running in ends.iter().filter_map(|&(.., slot)| cluster.job_at(slot)) {
                if single {
                    let own = running.alloc.nodes.words();
                    self.words[at..].iter_mut().zip(own).for_each(|(idle, own)| *idle |= own);
                } else {
                    running.alloc.iter(machine).for_each(|(node, cpus)| self.cpus[at + node] += cpus);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alloc, ModelCluster, ModelMachine, Pending};
    use super::*;

    #[test]
    fn steps_are_what_the_ends_leave() {
        for cpus in [1, 4] {
            let mut cluster = ModelCluster::new(ModelMachine::with_equal_nodes(6, cpus));
            for node in 0..4_u32 {
                let nodes = NodeSet::from_members(6, [node as usize]);
                let alloc = Alloc { nodes, cpus: vec![1], more: None };
                cluster.start_job(&Pending::new(node, 1, 60 * i64::from(node + 1)), 0, alloc);
            }
            let (mut steps, full_set) = (IdleSteps::default(), NodeSet::full(6));
            let busy_cpus = |time: i64| (4 - time / 60).clamp(0, 4) as u64;
            for time in [0, 59, 60, 150, 240, 900] {
                assert_eq!(
                    steps.most_on(&cluster, &full_set, time),
                    u64::from(6 * cpus) - busy_cpus(time),
                    "{cpus} {time}"
                );
            }
            // The second node is idle from 120 s on.
            let node_set = NodeSet::from_members(6, [1]);
            let idle = [119, 120].map(|time| steps.most_on(&cluster, &node_set, time));
            assert_eq!(idle, [u64::from(cpus - 1), u64::from(cpus)]);
        }
    }
}
