//! The nodes of a tree: sorted arrays of items, and of children with what they say of their items.

use super::{FANOUT, Packed, Probe, TreeItem};

/// A sorted array of up to `N` items.
#[derive(Clone)]
pub(super) struct Leaf<T, const N: usize> {
    pub(super) len: usize,
    pub(super) items: [T; N],
}

#[derive(Clone)]
pub(super) struct InnerNode<T: TreeItem> {
    pub(super) len: usize,
    /// A lower bound of the keys in each child; the first is never read.
    pub(super) low: [Packed; FANOUT],
    pub(super) child: [u32; FANOUT],
    pub(super) summary: [T::Summary; FANOUT],
}

/// Returns the number of these items, which are in order, that come before `key`. The comparisons
/// cannot be foretold, and one of plain numbers takes no branch: ties come second.
#[inline(always)]
fn count_below<T: TreeItem>(items: &[T], key: &Packed) -> usize {
    let at = items.partition_point(|i| i.packed_key().major_key() < key.major_key());
    match items.get(at) {
        Some(next) if next.packed_key() < *key => at + items[at..].partition_point(|i| i.packed_key() < *key),
        _ => at,
    }
}

/// This many neighbours are compared and moved one by one where an item looks for its place among
/// them. It cannot be foretold how many they are: to move them at once, one would have to wait
/// until a search has found out.
const NEAR: usize = 16;

/// Moves items before the gap at `at` up by one, as far as `key` comes before them. Returns where
/// the gap is then.
#[inline(always)]
fn sink_gap<T: TreeItem>(items: &mut [T], mut at: usize, key: &Packed) -> usize {
    if at >= NEAR && *key < items[at - NEAR].packed_key() {
        let to = count_below(&items[..at], key);
        items.copy_within(to..at, to + 1);
        return to;
    }
    while at > 0 && key.comes_before(items[at - 1].packed_key()) {
        items[at] = items[at - 1];
        at -= 1;
    }
    at
}

/// Moves items behind the gap at `at` down by one, as far as they come before `key`. Returns where
/// the gap is then.
#[inline(always)]
fn raise_gap<T: TreeItem>(items: &mut [T], mut at: usize, key: &Packed) -> usize {
    if items.len() - at > NEAR && items[at + NEAR].packed_key() < *key {
        let to = at + count_below(&items[at + 1..], key);
        items.copy_within(at + 1..to + 1, at);
        return to;
    }
    while at + 1 < items.len() && items[at + 1].packed_key().comes_before(*key) {
        items[at] = items[at + 1];
        at += 1;
    }
    at
}

impl<T: TreeItem, const N: usize> Leaf<T, N> {
    pub(super) fn new_empty() -> Self {
        Leaf { len: 0, items: [T::default(); N] }
    }

    /// With these items, which are in order and at most `N`.
    pub(super) fn from_items(items: &[T]) -> Self {
        let mut leaf = Leaf::new_empty();
        leaf.append_items(items);
        leaf
    }

    /// Adds items that come behind all others; there must be room.
    pub(super) fn append_items(&mut self, items: &[T]) {
        self.items[self.len..self.len + items.len()].copy_from_slice(items);
        self.len += items.len();
    }

    /// The place of the first item behind `after` that the probe takes.
    #[inline]
    pub(super) fn find_from(&self, after: Option<Packed>, probe: &mut impl Probe<T>) -> Option<usize> {
        let items = self.items();
        let from = after.map_or(0, |key| items.partition_point(|i| i.packed_key() <= key));
        items[from..].iter().position(|i| probe.is_match(i)).map(|at| from + at)
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items[..self.len]
    }

    #[inline(always)]
    pub(super) fn position(&self, key: &Packed) -> usize {
        // Appending is the common case: queues in order of arrival only grow at the end.
        if self.len == 0 || self.items[self.len - 1].packed_key() < *key {
            return self.len;
        }
        count_below(self.items(), key)
    }

    /// As [`Leaf::position`], for an item that is there, as a rule: often the first.
    #[inline(always)]
    pub(super) fn find_position(&self, key: &Packed) -> usize {
        match self.items().first() {
            Some(first) if first.packed_key() != *key => count_below(self.items(), key),
            _ => 0,
        }
    }

    #[inline(always)]
    pub(super) fn place_of(&self, key: &Packed) -> Option<usize> {
        let at = self.find_position(key);
        (at < self.len && self.items[at].packed_key() == *key).then_some(at)
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, key: &Packed) -> Option<T> {
        let at = self.place_of(key)?;
        Some(self.remove_at(at))
    }

    /// Removes the item at this place, which must be one.
    #[inline(always)]
    pub(super) fn remove_at(&mut self, at: usize) -> T {
        let removed_item = self.items[at];
        self.items.copy_within(at + 1..self.len, at);
        self.len -= 1;
        removed_item
    }

    /// Puts an item in its place; there must be room.
    #[inline(always)]
    pub(super) fn insert(&mut self, item: T) {
        let at = sink_gap(&mut self.items[..=self.len], self.len, &item.packed_key());
        self.items[at] = item;
        self.len += 1;
    }

    pub(super) fn replace_item(&mut self, key: &Packed, item: T) -> Option<T> {
        let at = self.place_of(key)?;
        let replaced_item = self.items[at];
        let (items, new) = (&mut self.items[..self.len], item.packed_key());
        let to = if new < *key { sink_gap(items, at, &new) } else { raise_gap(items, at, &new) };
        items[to] = item;
        Some(replaced_item)
    }

    /// Puts `item` in the place of the first, or where its key belongs.
    #[inline]
    pub(super) fn replace_first(&mut self, item: T) {
        let new = item.packed_key();
        let mut to = 0;
        for at in 1..self.len.min(N) {
            if new < self.items[at].packed_key() {
                break;
            }
            self.items[to] = self.items[at];
            to = at;
        }
        self.items[to] = item;
    }

    pub(super) fn summary(&self) -> T::Summary {
        let mut s = T::Summary::default();
        for item in self.items() {
            item.join_summary(&mut s);
        }
        s
    }
}

impl<T: TreeItem> InnerNode<T> {
    pub(super) fn new_empty() -> Self {
        InnerNode {
            len: 0,
            low: [Packed::default(); FANOUT],
            child: [0; FANOUT],
            summary: std::array::from_fn(|_| T::Summary::default()),
        }
    }

    /// The child whose range holds `key`.
    pub(super) fn child_slot(&self, key: &Packed) -> usize {
        let mut i = self.len - 1;
        while i > 0 && *key < self.low[i] {
            i -= 1;
        }
        i
    }

    pub(super) fn total_summary(&self) -> T::Summary {
        let mut s = T::Summary::default();
        self.summary[..self.len].iter().for_each(|c| T::merge_summary(&mut s, c));
        s
    }

    pub(super) fn open_slot(&mut self, at: usize) {
        self.low[at..=self.len].rotate_right(1);
        self.child[at..=self.len].rotate_right(1);
        self.summary[at..=self.len].rotate_right(1);
        self.len += 1;
    }

    pub(super) fn close_slot(&mut self, at: usize) {
        self.low[at..self.len].rotate_left(1);
        self.child[at..self.len].rotate_left(1);
        self.summary[at..self.len].rotate_left(1);
        self.len -= 1;
    }
}
