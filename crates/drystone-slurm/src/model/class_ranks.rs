//! Running jobs that hold the nodes of each class, where every node has one processor and each
//! class is of one job.

use super::ModelCluster;
use super::end_groups::EndGroups;
use super::node_classes::{NodeClasses, PartedClass, set_members};

/// Running jobs at most. With more, classes would be about as many as nodes.
const MOST_JOBS: usize = 192;

/// Earliest start of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RankedStart {
    /// In seconds.
    pub(super) at: i64,
    /// Number of ends that come before.
    pub(super) ends: usize,
}

/// Classes by the ends of the running jobs that hold them.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassRanks {
    /// Rank and number of nodes of each class. The rank of idle nodes is 0, that of nodes of the
    /// first job to end 1, and so on; nodes that no end leaves idle have one more than the last.
    of_class: Vec<(u32, u32)>,
    /// The set that was tallied last, and its nodes by rank.
    set: Vec<u64>,
    tally: Vec<u32>,
    /// Number of these nodes, and of those that are idle after so many ends.
    all: u64,
    idle: u64,
    ends: usize,
    /// Room for ranks of nodes.
    of_node: Vec<u32>,
}

impl ClassRanks {
    /// Returns whether ranks describe the state of a cluster: all nodes have one processor, and no
    /// two jobs share one.
    pub(super) fn can_describe(cluster: &ModelCluster) -> bool {
        cluster.idle.is_single()
            && !cluster.idle.has_shared()
            && !cluster.machine.linear
            && cluster.end_order().len() <= MOST_JOBS
    }

    /// Takes over the present ranks. Each class is of one job, or of none.
    pub(super) fn rebuild_ranks(&mut self, cluster: &ModelCluster, classes: &NodeClasses) {
        let last = cluster.end_order().len() as u32 + 1;
        self.tally.clear();
        self.tally.resize(last as usize + 1, 0);
        self.set.clear();
        (self.all, self.idle, self.ends) = (0, 0, 0);
        self.of_node.clear();
        self.of_node.resize(cluster.nodes_in_service().capacity(), last);
        for node in cluster.idle.usable_nodes(false).iter() {
            self.of_node[node] = 0;
        }
        for (rank, &(.., slot)) in (1..).zip(cluster.end_order()) {
            let nodes = cluster.job_at(slot).into_iter().flat_map(|running| running.alloc.nodes.iter());
            nodes.for_each(|node| self.of_node[node] = rank);
        }
        self.of_class.clear();
        for class in 0..classes.class_count() {
            let first = classes.class_words(class).first().map(|&(at, word)| at * 64 + word.trailing_zeros());
            let rank = first.map_or(last, |node| self.of_node[node as usize]);
            self.of_class.push((rank, classes.class_size(class)));
        }
    }

    /// Classes were parted. Both parts have the rank of the whole.
    pub(super) fn note_parted(&mut self, pairs: &[PartedClass], classes: &NodeClasses) {
        for &(class, fresh) in pairs {
            let rank = self.of_class[class].0;
            self.of_class.resize(self.of_class.len().max(fresh + 1), (0, 0));
            self.of_class[class].1 = classes.class_size(class);
            self.of_class[fresh] = (rank, classes.class_size(fresh));
            self.set.resize(self.set.len().max(fresh / 64 + 1), 0);
            self.set[fresh / 64] |= (self.set[class / 64] >> (class % 64) & 1) << (fresh % 64);
        }
    }

    /// Returns the nodes of a set of classes that are idle after so many ends.
    pub(super) fn count_idle(&self, set: impl Iterator<Item = u64>, ends: usize) -> u64 {
        let idle = set_members(set).map(|class| self.of_class[class]).filter(|&(rank, _)| rank as usize <= ends);
        idle.map(|(_, size)| u64::from(size)).sum()
    }

    /// Counts the nodes of a set of classes by rank, from the difference to the last set. Returns
    /// the number of all of them, and that of those that are idle after so many ends.
    pub(super) fn tally_set(&mut self, set: impl Iterator<Item = u64>, ends: usize) -> (u64, u64) {
        for (at, word) in set.enumerate() {
            if at == self.set.len() {
                self.set.push(0);
            }
            let mut difference = std::mem::replace(&mut self.set[at], word) ^ word;
            while difference != 0 {
                let bit = difference.trailing_zeros();
                difference &= difference - 1;
                let (rank, size) = self.of_class[at * 64 + bit as usize];
                // What a set lost is added as its negative.
                let sign = if word >> bit & 1 == 1 { 1 } else { -1_i32 };
                let gain = sign * size as i32;
                let count = &mut self.tally[rank as usize];
                *count = count.wrapping_add_signed(gain);
                self.all = self.all.wrapping_add_signed(i64::from(gain));
                if rank as usize <= self.ends {
                    self.idle = self.idle.wrapping_add_signed(i64::from(gain));
                }
            }
        }
        (self.all, self.tallied_idle(ends))
    }

    /// Returns the nodes of the set tallied last that are idle after so many ends.
    pub(super) fn tallied_idle(&mut self, ends: usize) -> u64 {
        while self.ends < ends {
            self.ends += 1;
            self.idle += u64::from(self.tally[self.ends]);
        }
        while self.ends > ends {
            self.idle -= u64::from(self.tally[self.ends]);
            self.ends -= 1;
        }
        self.idle
    }

    /// Returns the earliest start, at or after `now`, of a job that wants so many of the nodes
    /// tallied last, as Slurm's search finds it that lets no group of ends begin after `until`.
    pub(super) fn soonest_start(&self, cluster: &ModelCluster, need: u64, now: i64, until: i64) -> Option<RankedStart> {
        let mut have = u64::from(self.tally[0]);
        if have >= need {
            return Some(RankedStart { at: now, ends: 0 });
        }
        let order = cluster.end_order();
        let mut groups = EndGroups::new(order, (now, until), cluster.window_linear);
        loop {
            let last = groups.next(|place| {
                let gain = self.tally[place + 1];
                have += u64::from(gain);
                gain > 0
            })?;
            if have >= need {
                return Some(RankedStart { at: cluster.freed_at(order[last].2, now), ends: last + 1 });
            }
        }
    }

    /// Returns those of a set of classes that are idle after so many ends.
    pub(super) fn idle_of<'a>(
        &'a self,
        set: impl Iterator<Item = u64> + 'a,
        ends: usize,
    ) -> impl Iterator<Item = u64> + 'a {
        set.enumerate().map(move |(at, word)| {
            let (mut word_rest, mut idle) = (word, 0);
            while word_rest != 0 {
                let bit = word_rest.trailing_zeros();
                word_rest &= word_rest - 1;
                idle |= u64::from(self.of_class[at * 64 + bit as usize].0 as usize <= ends) << bit;
            }
            idle
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alloc, ModelMachine, NodeSet, Pending};
    use super::*;

    /// Nodes 0 to 2 are held up to 100 s, 3 and 4 up to 200 s; 5 to 7 are idle, and 8 is out.
    fn ranked() -> (ModelCluster, NodeClasses, ClassRanks) {
        let mut cluster = ModelCluster::new(ModelMachine::with_equal_nodes(9, 1));
        for (id, nodes, limit) in [(0, 3..5, 200), (1, 0..3, 100)] {
            let alloc = Alloc { nodes: NodeSet::from_members(9, nodes), ..Alloc::default() };
            cluster.start_job(&Pending::new(id, 1, limit), 0, alloc);
        }
        cluster.set_lame(Alloc { nodes: NodeSet::from_members(9, [8]), cpus: vec![1], more: None });
        let mut classes = NodeClasses::default();
        classes.reset_classes(&NodeSet::full(9), [NodeSet::full(9)].iter());
        for nodes in [3..5, 0..3, 5..8] {
            drop(classes.part_by(&NodeSet::from_members(9, nodes)));
        }
        let mut ranks = ClassRanks::default();
        ranks.rebuild_ranks(&cluster, &classes);
        (cluster, classes, ranks)
    }

    #[test]
    fn nodes_are_idle_once_their_job_has_ended() {
        let (.., mut ranks) = ranked();
        let whole_set = || [u64::from(u8::MAX >> 4)].into_iter();
        assert_eq!([0, 1, 2].map(|ends| ranks.count_idle(whole_set(), ends)), [3, 6, 8]);
        assert_eq!([2, 0, 1].map(|ends| ranks.tally_set(whole_set(), ends)), [(9, 8), (9, 3), (9, 6)]);
    }

    /// Without node 0 the first end leaves five idle. Groups begin at 120 s, half a minute behind
    /// the first end: 200 s is a group of its own.
    #[test]
    fn a_start_waits_for_as_many_nodes_as_it_needs() {
        let (cluster, mut classes, mut ranks) = ranked();
        let (pairs, class) = classes.part_by(&NodeSet::from_members(9, [0]));
        ranks.note_parted(&pairs, &classes);
        let rest = class.iter().map(|word| 0b1_1111 & !word);
        assert_eq!(ranks.tally_set(rest, 0), (8, 3));
        let start = |need| ranks.soonest_start(&cluster, need, 10, i64::MAX);
        assert_eq!(start(3), Some(RankedStart { at: 10, ends: 0 }));
        assert_eq!([4, 5].map(start), [Some(RankedStart { at: 100, ends: 1 }); 2]);
        assert_eq!([6, 7].map(start), [Some(RankedStart { at: 200, ends: 2 }); 2]);
        assert_eq!(start(8), None);
        assert_eq!(ranks.soonest_start(&cluster, 6, 10, 199), None);
    }
}
