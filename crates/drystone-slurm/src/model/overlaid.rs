//! Jobs that share processors with others that are suspended for them: which processor is which
//! counts then.

use super::{Alloc, IdleNodes, ModelCluster, NodeSet, Pending};
use crate::conf::PreemptMode;

/// Processors of a node that bits can tell apart.
const MOST: u32 = 64;

impl ModelCluster {
    /// Returns whether processors are distinguished.
    pub(super) fn tells_cores(&self) -> bool {
        self.preempting.suspends && self.machine.cpus.iter().all(|&cpus| cpus <= MOST)
    }

    /// The processors of each node that running jobs have, but for those in these places.
    fn cores(&self, without: &[u32]) -> Vec<u64> {
        let mut used = vec![0_u64; self.machine.nodes()];
        for &(.., slot) in self.order().iter().filter(|(.., slot)| !without.contains(slot)) {
            let Some(running) = self.at(slot) else { continue };
            let cores = running.alloc.more.as_ref().map_or(&[][..], |more| &more.cores);
            for (node, cores) in running.alloc.nodes.iter().zip(cores) {
                used[node] |= cores;
            }
        }
        used
    }

    /// Sets idle processors to those that no running job has, but for jobs in these places.
    pub(super) fn recount(&self, idle: &mut IdleNodes, without: &[u32]) {
        for (node, used) in self.cores(without).into_iter().enumerate() {
            let cpus = self.machine.cpus[node];
            idle.set(node, cpus.saturating_sub(used.count_ones()), &self.machine);
        }
    }

    /// Places of the jobs that are suspended where this one starts on their processors.
    fn giving_way(&self, job: &Pending, now: i64) -> Vec<u32> {
        let mut all = self.preempting.candidates(self, job, now);
        all.retain(|&slot| {
            self.at(slot)
                .is_some_and(|running| self.preempting.mode_of(&self.machine, &running.job) == PreemptMode::Suspend)
        });
        all
    }

    /// Returns the place of the job if the jobs that it suspends give up their processors, but not
    /// their memory.
    pub(super) fn place_over(&self, job: &Pending, allowed: &NodeSet, now: i64) -> Option<Alloc> {
        if !self.tells_cores() {
            return None;
        }
        let giving = self.giving_way(job, now);
        if giving.is_empty() {
            return None;
        }
        let mut idle = self.idle.clone();
        self.recount(&mut idle, &giving);
        idle.place(job, allowed, &self.machine)
    }

    /// Chooses a job's processors on its nodes: the first that are idle, else the first of jobs
    /// that it suspends.
    pub(super) fn choose_cores(&self, job: &Pending, alloc: &mut Alloc, now: i64) {
        let known = alloc.more.as_ref().is_some_and(|more| !more.cores.is_empty());
        if known || !self.tells_cores() {
            return;
        }
        let used = self.cores(&[]);
        let without = self.cores(&self.giving_way(job, now));
        let mut chosen = Vec::new();
        for (node, cpus) in alloc.iter(&self.machine) {
            let all = u64::MAX >> (64 - self.machine.cpus[node].clamp(1, MOST));
            let idle = all & !used[node];
            let open = if idle.count_ones() >= cpus { idle } else { all & !without[node] };
            chosen.push(first(open, cpus));
        }
        alloc.more.get_or_insert_default().cores = chosen;
    }
}

/// The first so many bits of those that are set.
fn first(mut bits: u64, count: u32) -> u64 {
    let mut found = 0;
    for _ in 0..count.min(bits.count_ones()) {
        let lowest = bits & bits.wrapping_neg();
        found |= lowest;
        bits &= !lowest;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn the_lowest_bits_come_first() {
        assert_eq!(first(0b1011_0100, 3), 0b0011_0100);
        assert_eq!(first(0b1, 4), 0b1);
    }
}
