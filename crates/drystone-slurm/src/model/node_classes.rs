//! Classes of nodes that have the same plans in a table. A set of classes is as short as plans are
//! few, however many nodes there are.

use super::NodeSet;
use serde::{Deserialize, Serialize};

/// Nodes by class, and partitions as sets of classes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NodeClasses {
    /// Words of the nodes of each class that are not empty. What lies behind the last class is
    /// memory to be used again.
    words: Vec<Vec<(u32, u64)>>,
    /// For each class, the remainders by 64 of the numbers of these words: classes without one of
    /// those of other nodes do not have these.
    traces: Vec<u64>,
    /// Number of nodes of each class.
    sizes: Vec<u32>,
    /// Words of a set of classes.
    width: usize,
    /// The classes of each partition, one set after the other.
    parts: Vec<u64>,
}

/// A class that was parted, and the new class with a part of its nodes.
pub(super) type PartedClass = (usize, usize);

impl NodeClasses {
    /// Starts again with these nodes. Those of a class are in the same partitions.
    pub(super) fn reset_classes<'a>(&mut self, nodes: &NodeSet, parts: impl Iterator<Item = &'a NodeSet> + Clone) {
        // The next table is likely to need as many as the last one.
        self.width = self.sizes.len().div_ceil(64).max(1);
        self.sizes.clear();
        self.traces.clear();
        self.parts.clear();
        self.add_class();
        self.words[0].extend(nodes.sparse_words());
        self.sizes[0] = sum_bits(&self.words[0]);
        self.traces[0] = trace_words(&self.words[0]);
        for part in parts.clone() {
            drop(self.part_by(part));
        }
        for part in parts {
            let mut members = self.classes_meeting(part);
            members.resize(self.width, 0);
            self.parts.extend(members);
        }
    }

    fn add_class(&mut self) {
        if self.words.len() == self.sizes.len() {
            self.words.push(Vec::new());
        }
        self.words[self.sizes.len()].clear();
        self.sizes.push(0);
        self.traces.push(0);
    }

    /// Words of a set of classes.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of nodes of a class.
    pub(super) fn class_size(&self, class: usize) -> u32 {
        self.sizes[class]
    }

    /// Number of classes.
    pub(super) fn class_count(&self) -> usize {
        self.sizes.len()
    }

    /// The words of the nodes of a class.
    pub(super) fn class_words(&self, class: usize) -> &[(u32, u64)] {
        &self.words[class]
    }

    /// The classes of a partition.
    #[inline]
    pub(super) fn part_classes(&self, number: usize) -> &[u64] {
        &self.parts[number * self.width..(number + 1) * self.width]
    }

    /// Returns the classes with any of these nodes.
    pub(super) fn classes_meeting(&self, nodes: &NodeSet) -> Vec<u64> {
        let mut set = vec![0; self.width.max(self.sizes.len().div_ceil(64))];
        let trace = trace_of(nodes);
        let nodes = nodes.words();
        for (class, words) in self.words[..self.sizes.len()].iter().enumerate() {
            if self.traces[class] & trace == 0 {
                continue;
            }
            if words.iter().any(|&(at, word)| nodes[at as usize] & word != 0) {
                set[class / 64] |= 1 << (class % 64);
            }
        }
        set
    }

    /// Parts classes that have some of these nodes and others. Returns the parted classes, and the
    /// set of classes that make up the nodes.
    pub(super) fn part_by(&mut self, nodes: &NodeSet) -> (Vec<PartedClass>, Vec<u64>) {
        self.part_among(0..self.sizes.len(), nodes)
    }

    /// As [`NodeClasses::part_by`], where all of these nodes are in some of the classes.
    pub(super) fn part_among(
        &mut self,
        classes: impl Iterator<Item = usize>,
        nodes: &NodeSet,
    ) -> (Vec<PartedClass>, Vec<u64>) {
        let (trace_of_nodes, nodes, mut split_classes) = (trace_of(nodes), nodes.words(), Vec::new());
        let mut inner = vec![0; self.width];
        for class in classes {
            if self.traces[class] & trace_of_nodes == 0 {
                continue;
            }
            let (inside, outside) = self.compare_class(class, trace_of_nodes, nodes);
            if inside && !outside {
                inner[class / 64] |= 1 << (class % 64);
            }
            if !inside || !outside {
                continue;
            }
            self.add_class();
            let fresh = self.sizes.len() - 1;
            inner.resize(inner.len().max(fresh / 64 + 1), 0);
            inner[fresh / 64] |= 1 << (fresh % 64);
            let (before, behind) = self.words.split_at_mut(fresh);
            let (own, new) = (&mut before[class], &mut behind[0]);
            new.extend(own.iter().map(|&(at, word)| (at, word & nodes[at as usize])).filter(|&(_, word)| word != 0));
            own.iter_mut().for_each(|(at, word)| *word &= !nodes[*at as usize]);
            own.retain(|&(_, word)| word != 0);
            self.sizes[fresh] = sum_bits(new);
            (self.traces[fresh], self.traces[class]) = (trace_words(new), trace_words(own));
            self.sizes[class] -= self.sizes[fresh];
            split_classes.push((class, fresh));
        }
        let width = self.sizes.len().div_ceil(64);
        if width > self.width {
            self.parts = widen_sets(&self.parts, self.width, width);
            self.width = width;
        }
        copy_members(&mut self.parts, self.width, &split_classes);
        (split_classes, inner)
    }

    /// Returns whether a class has some of these nodes, and whether it has others.
    fn compare_class(&self, class: usize, trace_of_nodes: u64, nodes: &[u64]) -> (bool, bool) {
        let (words, trace) = (&self.words[class], self.traces[class]);
        let (mut inside, mut outside) = (0, 0);
        if nodes.len() > 64 {
            for &(at, word) in words {
                inside |= word & nodes[at as usize];
                outside |= word & !nodes[at as usize];
            }
            return (inside != 0, outside != 0);
        }
        // Each bit of a trace is one word: only words that both have are looked at.
        let has_more = trace & !trace_of_nodes != 0;
        let mut common = trace & trace_of_nodes;
        while common != 0 && (inside == 0 || (outside == 0 && !has_more)) {
            let bit = common & common.wrapping_neg();
            common ^= bit;
            let (at, word) = words[(trace & (bit - 1)).count_ones() as usize];
            inside |= word & nodes[at as usize];
            outside |= word & !nodes[at as usize];
        }
        (inside != 0, outside != 0 || has_more)
    }

    /// Sets `into` to the nodes of some classes.
    pub(super) fn spread_into(&self, set: impl Iterator<Item = u64>, into: &mut NodeSet) {
        let into = into.words_mut();
        into.fill(0);
        for class in set_members(set) {
            self.words[class].iter().for_each(|&(at, word)| into[at as usize] |= word);
        }
    }

    /// Returns the number of nodes of some classes.
    pub(super) fn count_nodes(&self, set: impl Iterator<Item = u64>) -> u32 {
        set_members(set).map(|class| self.sizes[class]).sum()
    }
}

/// Remainders by 64 of the numbers of words.
fn trace_words(words: &[(u32, u64)]) -> u64 {
    words.iter().fold(0, |trace, &(at, _)| trace | 1 << (at % 64))
}

/// Remainders by 64 of the numbers of the words of a set that are not empty.
fn trace_of(nodes: &NodeSet) -> u64 {
    let words = nodes.words().iter().enumerate();
    words.fold(0, |trace, (at, &word)| trace | u64::from(word != 0) << (at % 64))
}

/// Number of nodes.
fn sum_bits(words: &[(u32, u64)]) -> u32 {
    words.iter().map(|&(_, word)| word.count_ones()).sum()
}

/// The members of a set of classes, ascending.
pub(super) fn set_members(set: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    set.enumerate().flat_map(|(at, mut bits)| {
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                at * 64 + bit
            })
        })
    })
}

/// Returns sets of `width` words as sets of `wider` words.
pub(super) fn widen_sets(sets: &[u64], width: usize, wider: usize) -> Vec<u64> {
    let mut wide = vec![0; sets.len() / width.max(1) * wider];
    wide.chunks_mut(wider).zip(sets.chunks(width.max(1))).for_each(|(wide, set)| wide[..width].copy_from_slice(set));
    wide
}

/// Adds the new part of each parted class to the sets that have the class.
pub(super) fn copy_members(sets: &mut [u64], width: usize, splits: &[PartedClass]) {
    for set in sets.chunks_mut(width) {
        for &(class, fresh) in splits {
            set[fresh / 64] |= (set[class / 64] >> (class % 64) & 1) << (fresh % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_parted_where_a_plan_ends() {
        let mut classes = NodeClasses::default();
        let half = NodeSet::from_members(100, 50..100);
        classes.reset_classes(&NodeSet::full(100), [&NodeSet::full(100), &half].into_iter());
        assert_eq!(
            (classes.class_count(), classes.part_classes(0), classes.part_classes(1)),
            (2, &[0b11][..], &[0b10][..])
        );
        let plan = NodeSet::from_members(100, 40..60);
        assert_eq!(classes.part_by(&plan), (vec![(0, 2), (1, 3)], vec![0b1100]));
        assert_eq!((classes.part_classes(0), classes.part_classes(1)), (&[0b1111][..], &[0b1010][..]));
        assert_eq!(classes.classes_meeting(&plan), [0b1100]);
        let sizes = [0, 1, 2, 3].map(|class| classes.class_size(class));
        assert_eq!((sizes, classes.count_nodes([0b1100].into_iter())), ([40, 40, 10, 10], 20));
        let mut nodes = NodeSet::empty(100);
        classes.spread_into([0b1100].into_iter(), &mut nodes);
        assert_eq!(nodes, plan);
        assert_eq!(classes.part_by(&plan), (vec![], vec![0b1100]));
    }

    #[test]
    fn many_classes_need_more_words() {
        let mut classes = NodeClasses::default();
        classes.reset_classes(&NodeSet::full(200), [NodeSet::from_members(200, 100..200)].iter());
        for node in 0..199 {
            classes.part_by(&NodeSet::from_members(200, [node]));
        }
        assert_eq!((classes.class_count(), classes.width()), (200, 4));
        assert_eq!(classes.count_nodes(classes.part_classes(0).iter().copied()), 100);
    }
}
