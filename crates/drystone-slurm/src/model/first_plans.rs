//! First plans of the nodes of a plan table: the times until which nodes are free from its
//! beginning on.

use super::node_classes::{NodeClasses, PartedClass, set_members};
use serde::{Deserialize, Serialize};

/// Beginnings of first plans, and the number of nodes of each partition with that beginning.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FirstPlans {
    /// Beginning of the first plan of each class; [`i64::MAX`]: it has no plan.
    of_class: Vec<i64>,
    /// All that any node ever had, ascending.
    begins: Vec<i64>,
    /// Number of nodes of each partition, for each of these beginnings.
    counts: Vec<u32>,
    /// Number of partitions.
    parts: usize,
}

impl FirstPlans {
    /// Starts again, with no plan on any node.
    pub(super) fn reset_plans(&mut self, classes: &NodeClasses, parts: usize) {
        self.of_class.clear();
        self.of_class.resize(classes.class_count(), i64::MAX);
        self.parts = parts;
        self.begins.clear();
        self.begins.push(i64::MAX);
        self.counts.clear();
        self.counts.extend((0..parts).map(|number| classes.count_nodes(classes.part_classes(number).iter().copied())));
    }

    /// Copies the plans of classes that were parted to their new parts.
    pub(super) fn copy_parted(&mut self, pairs: &[PartedClass]) {
        for &(class, fresh) in pairs {
            self.of_class.resize(self.of_class.len().max(fresh + 1), i64::MAX);
            self.of_class[fresh] = self.of_class[class];
        }
    }

    /// Adds a plan of some classes that begins at `begin`.
    pub(super) fn add_plan(&mut self, begin: i64, class_words: &[u64], classes: &NodeClasses) {
        let at = self.begins.partition_point(|&moment| moment < begin);
        if self.begins[at] != begin {
            self.begins.insert(at, begin);
            let from = at * self.parts;
            drop(self.counts.splice(from..from, std::iter::repeat_n(0, self.parts)));
        }
        for class in set_members(class_words.iter().copied()) {
            let before = self.of_class[class];
            if before <= begin {
                continue;
            }
            self.of_class[class] = begin;
            let old = self.begins.partition_point(|&moment| moment < before);
            for number in 0..self.parts {
                if classes.part_classes(number)[class / 64] >> (class % 64) & 1 == 1 {
                    self.counts[old * self.parts + number] -= classes.class_size(class);
                    self.counts[at * self.parts + number] += classes.class_size(class);
                }
            }
        }
    }

    /// Returns the time before which `count` nodes of a partition have no plan, from the beginning
    /// of the table on.
    pub(super) fn free_until(&self, number: usize, count: u32) -> i64 {
        let mut free_count = 0;
        for (at, &begin) in self.begins.iter().enumerate().rev() {
            free_count += self.counts[at * self.parts + number];
            if free_count >= count {
                return begin;
            }
        }
        i64::MIN
    }
}
