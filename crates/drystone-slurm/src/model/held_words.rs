//! Nodes of the running jobs in one piece of memory: searches go through them again and again.

use super::{ModelCluster, NodeSet};

/// Words of the running jobs' node sets that are not empty, one job after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldWords {
    /// State of the cluster to which they belong.
    of: Option<u64>,
    words: Vec<(u32, u64)>,
    /// Beginning and end of the words of the job in each place.
    spans: Vec<(u32, u32)>,
}

impl HeldWords {
    /// Brings the words up to the present state.
    pub(super) fn renew_words(&mut self, cluster: &ModelCluster) {
        if self.of == Some(cluster.change_count()) {
            return;
        }
        self.of = Some(cluster.change_count());
        self.words.clear();
        self.spans.clear();
        for &(.., slot) in cluster.end_order() {
            let from = self.words.len() as u32;
            self.words.extend(cluster.job_at(slot).map_or(&[][..], |running| &running.words));
            let slot = slot as usize;
            if self.spans.len() <= slot {
                self.spans.resize(slot + 1, (0, 0));
            }
            self.spans[slot] = (from, self.words.len() as u32);
        }
    }

    /// Returns the number of nodes that the job in a place has among these.
    #[inline]
    pub(super) fn count_on(&self, slot: u32, nodes: &NodeSet) -> usize {
        let (from, to) = self.spans.get(slot as usize).copied().unwrap_or_default();
        nodes.common_sparse(&self.words[from as usize..to as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alloc, ModelMachine, Pending};
    use super::*;

    #[test]
    fn nodes_are_those_of_the_present_jobs() {
        let mut cluster = ModelCluster::new(ModelMachine::with_equal_nodes(200, 1));
        let mut words = HeldWords::default();
        let start = |cluster: &mut ModelCluster, id: u32, nodes: &[usize]| {
            let alloc = Alloc { nodes: NodeSet::from_members(200, nodes.iter().copied()), ..Alloc::default() };
            cluster.start_job(&Pending::new(id, 1, 600), 0, alloc);
        };
        start(&mut cluster, 0, &[0, 64, 199]);
        start(&mut cluster, 1, &[65]);
        words.renew_words(&cluster);
        let nodes = NodeSet::from_members(200, [64, 65, 199]);
        let counts = |words: &HeldWords| [0, 1, 2].map(|slot| words.count_on(slot, &nodes));
        assert_eq!(counts(&words), [2, 1, 0]);
        cluster.end_job(0);
        start(&mut cluster, 2, &[199]);
        words.renew_words(&cluster);
        let of = |words: &HeldWords| {
            cluster.end_order().iter().map(|&(.., slot)| words.count_on(slot, &nodes)).sum::<usize>()
        };
        assert_eq!(of(&words), 2);
    }
}
