//! Sets of nodes as bits.

use serde::{Deserialize, Serialize};

/// A set of nodes by index. All sets of one machine have the same length.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// No node of a machine of `nodes`.
    pub fn empty(nodes: usize) -> NodeSet {
        NodeSet { words: vec![0; nodes.div_ceil(64)] }
    }

    /// All nodes of a machine of `nodes`.
    pub fn full(nodes: usize) -> NodeSet {
        let mut set = NodeSet::empty(nodes);
        set.insert_range(0, nodes);
        set
    }

    /// These nodes of a machine of `nodes`.
    pub fn from_members(nodes: usize, members: impl IntoIterator<Item = usize>) -> NodeSet {
        let mut set = NodeSet::empty(nodes);
        members.into_iter().for_each(|node| set.insert(node));
        set
    }

    /// Adds a node.
    #[inline]
    pub fn insert(&mut self, node: usize) {
        self.words[node / 64] |= 1 << (node % 64);
    }

    /// Adds so many nodes from one on.
    pub(crate) fn insert_range(&mut self, first: usize, count: usize) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let length = (64 - at % 64).min(end - at);
            let mask = u64::MAX >> (64 - length);
            self.words[at / 64] |= mask << (at % 64);
            at += length;
        }
    }

    /// Takes a node out.
    #[inline]
    pub fn remove(&mut self, node: usize) {
        self.words[node / 64] &= !(1 << (node % 64));
    }

    /// Returns whether it has a node.
    #[inline]
    pub fn contains(&self, node: usize) -> bool {
        self.words[node / 64] >> (node % 64) & 1 == 1
    }

    /// Returns the number of nodes.
    #[inline]
    pub fn count_nodes(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Returns whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Keeps only the nodes that the other also has.
    #[inline]
    pub fn intersect(&mut self, set: &NodeSet) {
        self.words.iter_mut().zip(&set.words).for_each(|(a, b)| *a &= b);
    }

    /// Adds all of the other.
    #[inline]
    pub fn unite(&mut self, set: &NodeSet) {
        self.words.iter_mut().zip(&set.words).for_each(|(a, b)| *a |= b);
    }

    /// Takes all of the other out.
    #[inline]
    pub fn subtract(&mut self, set: &NodeSet) {
        self.words.iter_mut().zip(&set.words).for_each(|(a, b)| *a &= !b);
    }

    /// Becomes the other, in its own memory.
    #[inline]
    pub fn copy_from(&mut self, source: &NodeSet) {
        self.words.clone_from(&source.words);
    }

    /// Returns whether the other has all of its nodes.
    #[inline]
    pub fn is_subset(&self, superset: &NodeSet) -> bool {
        self.words.iter().zip(&superset.words).all(|(a, b)| a & !b == 0)
    }

    /// Returns whether they have a node in common.
    #[inline]
    pub fn has_common(&self, set: &NodeSet) -> bool {
        self.words.iter().zip(&set.words).any(|(a, b)| a & b != 0)
    }

    /// Returns the number of nodes that both have.
    #[inline]
    pub fn count_common(&self, set: &NodeSet) -> usize {
        self.words.iter().zip(&set.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Its words that are not empty, by index.
    pub(super) fn nonzero_words(&self) -> Vec<(u32, u64)> {
        self.sparse_words().collect()
    }

    /// Its words that are not empty, by index, one after the other.
    pub(super) fn sparse_words(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.words.iter().copied()).filter(|&(_, word)| word != 0)
    }

    /// Returns the number of nodes in common with these words.
    #[inline]
    pub(super) fn common_sparse(&self, words: &[(u32, u64)]) -> usize {
        words.iter().map(|&(at, word)| (self.words[at as usize] & word).count_ones() as usize).sum()
    }

    /// Its nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().zip(0..).flat_map(|(&word, index)| nodes_of_word(word, index))
    }

    /// The nodes that both have, ascending.
    pub fn iter_common<'a>(&'a self, set: &'a NodeSet) -> impl Iterator<Item = usize> + 'a {
        let words = self.words.iter().zip(&set.words).map(|(a, b)| a & b);
        words.zip(0..).flat_map(|(word, index)| nodes_of_word(word, index))
    }

    /// Nodes that a set of this length has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.words.len() * 64
    }

    /// The words of its bits.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of its bits, to be changed.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Its runs of consecutive nodes, as first and last.
    pub(crate) fn collect_runs(&self, into: &mut Vec<(usize, usize)>) {
        into.clear();
        for (&word, index) in self.words.iter().zip(0_usize..) {
            let (mut bits, base) = (word, index * 64);
            while bits != 0 {
                let begin = bits.trailing_zeros();
                let length = (bits >> begin).trailing_ones();
                let (first, end) = (base + begin as usize, base + (begin + length) as usize);
                match into.last_mut() {
                    Some((_, last)) if *last + 1 == first => *last = end - 1,
                    _ => into.push((first, end - 1)),
                }
                if begin + length >= 64 {
                    break;
                }
                bits &= !0 << (begin + length);
            }
        }
    }
}

/// The nodes of one word.
fn nodes_of_word(word: u64, index: usize) -> impl Iterator<Item = usize> {
    let mut bits = word;
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            index * 64 + bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::NodeSet;

    #[test]
    fn runs_cross_words() {
        let set = NodeSet::from_members(130, [0, 2, 3, 62, 63, 64, 65, 129]);
        let mut runs = Vec::new();
        set.collect_runs(&mut runs);
        assert_eq!(runs, [(0, 0), (2, 3), (62, 65), (129, 129)]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 2, 3, 62, 63, 64, 65, 129]);
    }
}
