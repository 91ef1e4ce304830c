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
    fn cores_in_use(&self, without: &[u32]) -> Vec<u64> {
        let mut used_cores = vec![0_u64; self.machine.node_count()];
        for &(.., slot) in self.end_order().iter().filter(|(.., slot)| !without.contains(slot)) {
            let Some(running) = self.job_at(slot) else { continue };
            let cores = running.alloc.more.as_ref().map_or(&[][..], |more| &more.cores);
            for (node, cores) in running.alloc.nodes.iter().zip(cores) {
                used_cores[node] |= cores;
            }
        }
        used_cores
    }

    /// Sets idle processors to those that no running job has, but for jobs in these places.
    pub(super) fn recount_idle(&self, idle: &mut IdleNodes, without: &[u32]) {
        for (node, core_bits) in self.cores_in_use(without).into_iter().enumerate() {
            let cpus = self.machine.cpus[node];
            idle.set_idle(node, cpus.saturating_sub(core_bits.count_ones()), &self.machine);
        }
    }

    /// Places of the jobs that are suspended where this one starts on their processors.
    fn giving_way(&self, job: &Pending, now: i64) -> Vec<u32> {
        let mut candidates = self.preempting.find_candidates(self, job, now);
        candidates.retain(|&slot| {
            self.job_at(slot)
                .is_some_and(|running| self.preempting.mode_of(&self.machine, &running.job) == PreemptMode::Suspend)
        });
        candidates
    }

    /// Returns the place of the job if the jobs that it suspends give up their processors, but not
    /// their memory.
    pub(super) fn place_over(&self, job: &Pending, eligible: &NodeSet, now: i64) -> Option<Alloc> {
        if !self.tells_cores() {
            return None;
        }
        let giving = self.giving_way(job, now);
        if giving.is_empty() {
            return None;
        }
        let mut idle = self.idle.clone();
        self.recount_idle(&mut idle, &giving);
        idle.place_job(job, eligible, &self.machine)
    }

    /// Chooses a job's processors on its nodes: the first that are idle, else the first of jobs
    /// that it suspends.
    pub(super) fn choose_cores(&self, job: &Pending, alloc: &mut Alloc, now: i64) {
        let has_cores = alloc.more.as_ref().is_some_and(|more| !more.cores.is_empty());
        if has_cores || !self.tells_cores() {
            return;
        }
        let used_cores = self.cores_in_use(&[]);
        let without = self.cores_in_use(&self.giving_way(job, now));
        let mut chosen_cores = Vec::new();
        for (node, cpus) in alloc.iter(&self.machine) {
            let node_cores = u64::MAX >> (64 - self.machine.cpus[node].clamp(1, MOST));
            let idle = node_cores & !used_cores[node];
            let open = if idle.count_ones() >= cpus { idle } else { node_cores & !without[node] };
            chosen_cores.push(first_bits(open, cpus));
        }
        alloc.more.get_or_insert_default().cores = chosen_cores;
    }
}

/// The first so many bits of those that are set.
fn first_bits(mut bits: u64, count: u32) -> u64 {
    let mut lowest_bits = 0;
    for _ in 0..count.min(bits.count_ones()) {
        let lowest = bits & bits.wrapping_neg();
        lowest_bits |= lowest;
        bits &= !lowest;
    }
    lowest_bits
}

#[cfg(test)]
mod tests {
    use super::first_bits;

    #[test]
    fn the_lowest_bits_come_first() {
        assert_eq!(first_bits(0b1011_0100, 3), 0b0011_0100);
        assert_eq!(first_bits(0b1, 4), 0b1);
    }
}
