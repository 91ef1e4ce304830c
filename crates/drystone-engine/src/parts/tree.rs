//! A B+tree whose inner nodes carry a summary of each child, so that searches skip whole subtrees.
//!
//! Both the queue of waiting jobs ([`super::WaitQueue`]) and the set of running jobs
//! ([`super::RunningSet`]) are such trees. A queue of up to [`FLAT`] jobs, the usual case on real
//! logs, is one sorted array and pays for no summary. What has grown beyond that is one again when
//! it has shrunk to half of it.
//!
//! Cost, for n items: insert and remove O(log n) with memory moves of at most one node; a search
//! visits only subtrees whose summary admits a match.

mod insert;
mod nodes;
mod remove;

use crate::model::JobId;
use nodes::{InnerNode, Leaf};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeSeq, Serializer};

/// Items in one sorted array without nodes.
const FLAT: usize = 192;
/// Items in one leaf: fewer, for there a change of the summary looks at all of them, and a search
/// at those of leaves that look as if they had a match.
const LEAF: usize = 48;
/// Items in each leaf when an array becomes leaves.
const ROOMY: usize = LEAF * 3 / 4;
/// Children of one inner node.
const FANOUT: usize = 16;
/// Levels of inner nodes at most: full nodes hold more items than there are job ids.
const WAY: usize = 7;

/// Something kept in a [`Tree`], in the order of its key.
pub(crate) trait TreeItem: Copy + Default {
    type Summary: Clone + Default;

    /// Unique within a tree.
    fn packed_key(&self) -> Packed;
    /// Adds this item to the summary of a subtree. Returns whether that has changed: where not,
    /// larger ones around it do not, either.
    fn join_summary(&self, summary: &mut Self::Summary) -> bool;
    /// Adds a subtree to the summary of a larger one.
    fn merge_summary(summary: &mut Self::Summary, child: &Self::Summary);
    /// Takes this item out of the summary of a leaf that now holds `rest`, all of which were
    /// joined. Returns whether the summary has changed.
    fn leave_summary(&self, summary: &mut Self::Summary, rest: &[Self]) -> bool;
    /// Takes this item out of the summary of an inner node whose children now have these summaries.
    /// Returns whether it has changed.
    fn part_summary(&self, summary: &mut Self::Summary, children: &[Self::Summary]) -> bool;
}

/// A key and the job that breaks its ties, as one number that compares fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Packed(i128);

impl Packed {
    /// The key alone.
    #[inline]
    fn major_key(self) -> i64 {
        (self.0 >> 64) as i64
    }

    /// As `self < other`; the keys alone say so, as a rule.
    #[inline]
    fn comes_before(self, entry: Packed) -> bool {
        self.major_key() < entry.major_key() || (self.major_key() == entry.major_key() && self < entry)
    }
}

#[inline]
pub(crate) fn pack_key(key: i64, id: JobId) -> Packed {
    Packed(i128::from(key) << 64 | i128::from(id.0))
}

/// Guide of a search through a tree: the subtrees and items worth a visit.
pub(crate) trait Probe<T: TreeItem> {
    /// May the subtree hold a match?
    fn can_enter(&mut self, summary: &T::Summary) -> bool;
    /// Is this item what we look for?
    fn is_match(&mut self, item: &T) -> bool;
}

/// Takes whatever comes first.
struct AnyItem;

impl<T: TreeItem> Probe<T> for AnyItem {
    fn can_enter(&mut self, _: &T::Summary) -> bool {
        true
    }

    fn is_match(&mut self, _: &T) -> bool {
        true
    }
}

/// The tree. Nodes live in two arenas and refer to each other by position; freed nodes are reused.
#[derive(Clone)]
pub(crate) struct Tree<T: TreeItem> {
    /// All items, while there are no nodes.
    flat: Box<Leaf<T, FLAT>>,
    leaves: Vec<Leaf<T, LEAF>>,
    inners: Vec<InnerNode<T>>,
    free_leaves: Vec<u32>,
    free_inners: Vec<u32>,
    root: u32,
    /// 0: there are no nodes.
    height: u32,
    len: usize,
}

impl<T: TreeItem> Default for Tree<T> {
    fn default() -> Self {
        Tree {
            flat: Box::new(Leaf::new_empty()),
            leaves: Vec::new(),
            inners: Vec::new(),
            free_leaves: Vec::new(),
            free_inners: Vec::new(),
            root: 0,
            height: 0,
            len: 0,
        }
    }
}

/// A way down: per level of inner nodes the node and the slot of its child.
type TreePath = [(u32, u32); WAY];

impl<T: TreeItem> Tree<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item with the smallest key. O(log n), no search.
    #[inline]
    pub(crate) fn first_item(&self) -> Option<&T> {
        self.first_items().first()
    }

    /// The item with the largest key. O(log n), no search.
    pub(crate) fn last_item(&self) -> Option<&T> {
        if self.height == 0 {
            return self.flat.items().last();
        }
        let mut node = self.root;
        for _ in 0..self.height {
            let inner = &self.inners[node as usize];
            node = inner.child[inner.len - 1];
        }
        self.leaves[node as usize].items().last()
    }

    /// The items that come first: all, or those of the first leaf.
    #[inline]
    fn first_items(&self) -> &[T] {
        if self.height == 0 {
            return self.flat.items();
        }
        let mut node = self.root;
        for _ in 0..self.height {
            node = self.inners[node as usize].child[0];
        }
        self.leaves[node as usize].items()
    }

    /// The item behind the first, unless it lies in another leaf.
    #[inline]
    pub(crate) fn second_in_leaf(&self) -> Option<&T> {
        self.first_items().get(1)
    }

    /// Adds an item whose key is not in the tree yet.
    #[inline(always)]
    pub(crate) fn insert(&mut self, item: T) {
        self.len += 1;
        if self.height == 0 && self.flat.len < FLAT {
            return self.flat.insert(item);
        }
        self.insert_deep(item);
    }

    #[inline]
    pub(crate) fn remove(&mut self, key: &Packed) -> Option<T> {
        if self.height == 0 {
            let removed_item = self.flat.remove(key)?;
            self.len -= 1;
            return Some(removed_item);
        }
        self.remove_deep(key)
    }

    /// The way down to the leaf whose range holds `key`, and the leaf.
    #[inline]
    fn path_to(&self, key: &Packed) -> (TreePath, u32) {
        let mut way = [(0, 0); WAY];
        let mut node = self.root;
        for step in &mut way[..self.height as usize] {
            let inner = &self.inners[node as usize];
            let slot = inner.child_slot(key);
            *step = (node, slot as u32);
            node = inner.child[slot];
        }
        (way, node)
    }

    /// Puts `item` in the place of the item with this key, or where its own key belongs; `None`,
    /// and nothing is changed, if there is no item with this key. As cheap as half a removal and an
    /// insertion while it stays in its leaf.
    #[inline]
    pub(crate) fn replace_item(&mut self, key: &Packed, item: T) -> Option<T> {
        if self.height == 0 {
            return self.flat.replace_item(key, item);
        }
        if self.height == 1 {
            let inner = &mut self.inners[self.root as usize];
            let slot = inner.child_slot(key);
            if slot == inner.child_slot(&item.packed_key()) {
                let leaf = &mut self.leaves[inner.child[slot] as usize];
                let replaced_item = leaf.replace_item(key, item)?;
                item.join_summary(&mut inner.summary[slot]);
                replaced_item.leave_summary(&mut inner.summary[slot], leaf.items());
                return Some(replaced_item);
            }
        }
        let replaced_item = self.remove_deep(key)?;
        self.insert(item);
        Some(replaced_item)
    }

    /// [`Tree::replace_item`] for the first item, which must be there.
    #[inline]
    pub(crate) fn replace_first(&mut self, item: T) {
        if self.height == 0 {
            return self.flat.replace_first(item);
        }
        if let Some(first) = self.first_item().map(T::packed_key) {
            self.replace_item(&first, item);
        }
    }

    /// All items as one sorted array, while they are one: then searches are plain scans and need no
    /// probe.
    #[inline]
    pub(crate) fn flat_items(&self) -> Option<&[T]> {
        (self.height == 0).then(|| self.flat.items())
    }

    /// The first item in key order, after `after` if given, that the probe takes.
    pub(crate) fn find_after(&self, after: Option<Packed>, probe: &mut impl Probe<T>) -> Option<T> {
        if self.height == 0 {
            return self.flat.find_from(after, probe).map(|at| self.flat.items[at]);
        }
        let (leaf, at) = self.find_way(after, probe, &mut [(0, 0); WAY])?;
        Some(self.leaves[leaf as usize].items[at])
    }

    /// Finds an item and removes it: without a second way down.
    pub(crate) fn take_after(&mut self, after: Option<Packed>, probe: &mut impl Probe<T>) -> Option<T> {
        if self.height == 0 {
            let at = self.flat.find_from(after, probe)?;
            return self.take_flat(at);
        }
        let mut way = [(0, 0); WAY];
        let (leaf, at) = self.find_way(after, probe, &mut way)?;
        self.remove_on(&way, leaf, at)
    }

    /// Removes the item at this position of [`Tree::flat_items`].
    #[inline]
    pub(crate) fn take_flat(&mut self, at: usize) -> Option<T> {
        debug_assert!(self.height == 0);
        if at >= self.flat.len {
            return None;
        }
        self.len -= 1;
        Some(self.flat.remove_at(at))
    }

    /// Removes the first item. No search.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<T> {
        if self.height == 0 {
            return self.take_flat(0);
        }
        self.take_after(None, &mut AnyItem)
    }

    /// All items in key order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        let mut stack = if self.height == 0 { Vec::new() } else { vec![(self.root, self.height, 0usize)] };
        let mut leaf: &[T] = if self.height == 0 { self.flat.items() } else { &[] };
        std::iter::from_fn(move || {
            loop {
                if let Some((first, rest)) = leaf.split_first() {
                    leaf = rest;
                    return Some(first);
                }
                let (node, height, next) = stack.pop()?;
                if height == 0 {
                    leaf = self.leaves[node as usize].items();
                } else if next < self.inners[node as usize].len {
                    stack.push((node, height, next + 1));
                    stack.push((self.inners[node as usize].child[next], height - 1, 0));
                }
            }
        })
    }

    /// The summary of all items below `key`. O(log n).
    pub(crate) fn summary_before(&self, key: &Packed) -> T::Summary {
        let mut sum = T::Summary::default();
        let mut node = self.root;
        for _ in 0..self.height {
            let inner = &self.inners[node as usize];
            let slot = inner.child_slot(key);
            inner.summary[..slot].iter().for_each(|child| T::merge_summary(&mut sum, child));
            node = inner.child[slot];
        }
        let last = if self.height == 0 { self.flat.items() } else { self.leaves[node as usize].items() };
        for item in last.iter().take_while(|item| item.packed_key() < *key) {
            item.join_summary(&mut sum);
        }
        sum
    }

    /// Hands every leaf's items, in key order, to `visit` until it answers `false`. `enter` sees
    /// the summary of each whole subtree first and may consume it by answering `false`.
    pub(crate) fn walk_leaves(&self, enter: &mut impl FnMut(&T::Summary) -> bool, visit: &mut impl FnMut(&T) -> bool) {
        if self.height == 0 {
            self.flat.items().iter().all(visit);
            return;
        }
        self.walk_below(self.root, self.height, enter, visit);
    }

    fn walk_below(
        &self,
        node: u32,
        height: u32,
        enter: &mut impl FnMut(&T::Summary) -> bool,
        visit: &mut impl FnMut(&T) -> bool,
    ) -> bool {
        if height == 0 {
            return self.leaves[node as usize].items().iter().all(visit);
        }
        let inner = &self.inners[node as usize];
        for i in 0..inner.len {
            if enter(&inner.summary[i]) && !self.walk_below(inner.child[i], height - 1, enter, visit) {
                return false;
            }
        }
        true
    }

    pub(crate) fn clear(&mut self) {
        *self = Tree::default();
    }

    /// The leaf of the first item behind `after` that the probe takes, its place there, and the way
    /// to it.
    #[inline]
    fn find_way(&self, after: Option<Packed>, probe: &mut impl Probe<T>, way: &mut TreePath) -> Option<(u32, usize)> {
        let mut after = after;
        let (mut node, mut level, mut from) = (self.root, 0, self.slot_in(self.root, 0, after));
        loop {
            if level == self.height as usize {
                if let Some(at) = self.leaves[node as usize].find_from(after, probe) {
                    return Some((node, at));
                }
            } else {
                let inner = &self.inners[node as usize];
                let summaries = inner.summary[..inner.len].get(from..).unwrap_or_default();
                if let Some(slot) = summaries.iter().position(|s| probe.can_enter(s)).map(|place| from + place) {
                    after = after.filter(|_| slot == from);
                    way[level] = (node, slot as u32);
                    (node, level) = (inner.child[slot], level + 1);
                    from = self.slot_in(node, level, after);
                    continue;
                }
            }
            // Whatever else there is lies behind `after`.
            after = None;
            level = level.checked_sub(1)?;
            (node, from) = (way[level].0, way[level].1 as usize + 1);
        }
    }

    /// The child of a node of this level in which what lies behind `after` begins.
    #[inline]
    fn slot_in(&self, node: u32, level: usize, after: Option<Packed>) -> usize {
        match after {
            Some(key) if level < self.height as usize => self.inners[node as usize].child_slot(&key),
            _ => 0,
        }
    }

    fn size_of(&self, node: u32, height: u32) -> usize {
        if height == 0 { self.leaves[node as usize].len } else { self.inners[node as usize].len }
    }

    fn summary_of(&self, node: u32, height: u32) -> T::Summary {
        if height == 0 { self.leaves[node as usize].summary() } else { self.inners[node as usize].total_summary() }
    }
}

// The shape of the tree is no part of the state: only the items are saved, and put back one by one.
impl<T: TreeItem + Serialize> Serialize for Tree<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.len))?;
        for item in self.iter() {
            seq.serialize_element(item)?;
        }
        seq.end()
    }
}

impl<'de, T: TreeItem + Deserialize<'de>> Deserialize<'de> for Tree<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<T>::deserialize(deserializer)?;
        let mut tree = Tree::default();
        items.into_iter().for_each(|i| tree.insert(i));
        Ok(tree)
    }
}

#[cfg(test)]
mod tests;
