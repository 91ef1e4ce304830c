//! Items that leave: nodes that become small join their neighbours, and a small tree becomes one
//! array again.

use super::nodes::{InnerNode, Leaf};
use super::{FANOUT, FLAT, LEAF, Packed, Tree, TreeItem, TreePath};

impl<T: TreeItem> Tree<T> {
    /// Makes an array of the leaves again, if few items are left: as many must come, or leave,
    /// before the next such change.
    #[inline]
    fn shrink_tree(&mut self) {
        if self.len <= FLAT / 2 {
            self.flatten_tree();
        }
    }

    #[cold]
    fn flatten_tree(&mut self) {
        let Tree { flat, leaves, inners, .. } = self;
        gather_items(flat, leaves, inners, self.root, self.height);
        self.height = 0;
        self.leaves.clear();
        self.inners.clear();
        self.free_leaves.clear();
        self.free_inners.clear();
    }

    pub(super) fn remove_deep(&mut self, key: &Packed) -> Option<T> {
        let (way, leaf) = self.path_to(key);
        let at = self.leaves[leaf as usize].place_of(key)?;
        self.remove_on(&way, leaf, at)
    }

    /// Removes what is at a place in a leaf, to which this way leads.
    pub(super) fn remove_on(&mut self, way: &TreePath, leaf: u32, at: usize) -> Option<T> {
        let height = self.height as usize;
        let (parent, slot) = way[height - 1];
        let inner = &self.inners[parent as usize];
        let left = self.leaves[leaf as usize].len;
        let right =
            inner.child[..inner.len].get(slot as usize + 1).map_or(LEAF, |&next| self.leaves[next as usize].len);
        if left <= 1 || left + right <= LEAF / 2 + 1 {
            let key = self.leaves[leaf as usize].items[at].packed_key();
            return self.remove_and_merge(&key);
        }
        let leaf = &mut self.leaves[leaf as usize];
        let removed_item = leaf.remove_at(at);
        self.len -= 1;
        let mut has_changed =
            removed_item.leave_summary(&mut self.inners[parent as usize].summary[slot as usize], leaf.items());
        for at in (1..height).rev() {
            let ((upper, slot), (lower, _)) = (way[at - 1], way[at]);
            if !has_changed {
                break;
            }
            if let Ok([upper, lower]) = self.inners.get_disjoint_mut([upper as usize, lower as usize]) {
                has_changed = removed_item.part_summary(&mut upper.summary[slot as usize], &lower.summary[..lower.len]);
            }
        }
        self.shrink_tree();
        Some(removed_item)
    }

    /// [`Tree::remove`] below inner nodes, where nodes may become empty or so small that they join
    /// their neighbours.
    fn remove_and_merge(&mut self, key: &Packed) -> Option<T> {
        let removed_item = self.remove_below(self.root, self.height, key)?;
        self.len -= 1;
        self.shrink_tree();
        while self.height > 1 && self.inners[self.root as usize].len == 1 {
            let old = self.root;
            self.root = self.inners[old as usize].child[0];
            self.free_inners.push(old);
            self.height -= 1;
        }
        Some(removed_item)
    }

    fn remove_below(&mut self, node: u32, height: u32, key: &Packed) -> Option<T> {
        if height == 0 {
            return self.leaves[node as usize].remove(key);
        }
        let slot = self.inners[node as usize].child_slot(key);
        let child = self.inners[node as usize].child[slot];
        let removed_item = self.remove_below(child, height - 1, key)?;
        if self.size_of(child, height - 1) == 0 {
            self.free_node(child, height - 1);
            self.inners[node as usize].close_slot(slot);
            return Some(removed_item);
        }
        if !self.merge_small(node, slot, height) {
            let mut summary = std::mem::take(&mut self.inners[node as usize].summary[slot]);
            if height == 1 {
                removed_item.leave_summary(&mut summary, self.leaves[child as usize].items());
            } else {
                let inner = &self.inners[child as usize];
                removed_item.part_summary(&mut summary, &inner.summary[..inner.len]);
            }
            self.inners[node as usize].summary[slot] = summary;
        }
        Some(removed_item)
    }

    /// Joins the child at `slot` with its right neighbour when both together fill at most half a
    /// node, so that removals in the middle of a long queue do not leave a trail of nearly empty
    /// leaves.
    fn merge_small(&mut self, node: u32, slot: usize, height: u32) -> bool {
        let inner = &self.inners[node as usize];
        if slot + 1 >= inner.len {
            return false;
        }
        let (left, right) = (inner.child[slot], inner.child[slot + 1]);
        let limit = if height == 1 { LEAF / 2 } else { FANOUT / 2 };
        if self.size_of(left, height - 1) + self.size_of(right, height - 1) > limit {
            return false;
        }
        if height == 1 {
            let from = self.leaves[right as usize].clone();
            let to = &mut self.leaves[left as usize];
            to.items[to.len..to.len + from.len].copy_from_slice(from.items());
            to.len += from.len;
        } else {
            let from = self.inners[right as usize].clone();
            let low = self.inners[node as usize].low[slot + 1];
            let to = &mut self.inners[left as usize];
            let (a, b) = (to.len, to.len + from.len);
            to.low[a..b].copy_from_slice(&from.low[..from.len]);
            to.low[a] = low;
            to.child[a..b].copy_from_slice(&from.child[..from.len]);
            to.summary[a..b].clone_from_slice(&from.summary[..from.len]);
            to.len = b;
        }
        self.free_node(right, height - 1);
        let summary = self.summary_of(left, height - 1);
        let inner = &mut self.inners[node as usize];
        inner.close_slot(slot + 1);
        inner.summary[slot] = summary;
        true
    }

    fn free_node(&mut self, node: u32, height: u32) {
        if height == 0 {
            self.free_leaves.push(node);
        } else {
            self.free_inners.push(node);
        }
    }
}

/// Adds what is below a node to an array that has room for it.
fn gather_items<T: TreeItem>(
    to: &mut Leaf<T, FLAT>,
    leaves: &[Leaf<T, LEAF>],
    inners: &[InnerNode<T>],
    node: u32,
    height: u32,
) {
    if height == 0 {
        return to.append_items(leaves[node as usize].items());
    }
    let inner = &inners[node as usize];
    inner.child[..inner.len].iter().for_each(|&child| gather_items(to, leaves, inners, child, height - 1));
}
