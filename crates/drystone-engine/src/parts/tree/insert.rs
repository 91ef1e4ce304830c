//! Items that come: where there is room, and where nodes have to be split.

use super::nodes::{InnerNode, Leaf};
use super::{FANOUT, LEAF, Packed, ROOMY, Tree, TreeItem, WAY};

/// A node that had to be split: the new right neighbour and the lower bound of its keys.
struct Split {
    low: Packed,
    node: u32,
}

impl<T: TreeItem> Tree<T> {
    #[inline(never)]
    pub(super) fn insert_deep(&mut self, item: T) {
        if self.height == 0 {
            self.grow_leaves();
        }
        if self.insert_where_room(item) {
            return;
        }
        if let Some(split) = self.insert_below(self.root, self.height, item) {
            let old = self.root;
            let mut root = InnerNode::new_empty();
            root.len = 2;
            root.child = [0; FANOUT];
            root.child[0] = old;
            root.child[1] = split.node;
            root.low[1] = split.low;
            root.summary[0] = self.summary_of(old, self.height);
            root.summary[1] = self.summary_of(split.node, self.height);
            self.root = self.new_inner(root);
            self.height += 1;
            if self.height as usize > WAY {
                self.rebuild_full();
            }
        }
    }

    /// Makes leaves of the array, with room in each.
    #[cold]
    fn grow_leaves(&mut self) {
        let mut root = InnerNode::new_empty();
        let flat = std::mem::take(&mut self.flat.len);
        for items in self.flat.items[..flat].chunks(ROOMY) {
            let leaf = Leaf::from_items(items);
            root.low[root.len] = leaf.items[0].packed_key();
            root.summary[root.len] = leaf.summary();
            root.child[root.len] = self.leaves.len() as u32;
            root.len += 1;
            self.leaves.push(leaf);
        }
        self.root = self.new_inner(root);
        self.height = 1;
    }

    /// Puts all items into full nodes: then [`WAY`] levels hold them, however many there are.
    #[cold]
    pub(super) fn rebuild_full(&mut self) {
        let items: Vec<T> = self.iter().copied().collect();
        *self = Tree::default();
        items.into_iter().for_each(|item| self.insert(item));
    }

    /// [`Tree::insert`] below inner nodes, where no node has to be split. Else nothing is changed,
    /// and the answer is `false`.
    fn insert_where_room(&mut self, item: T) -> bool {
        let (way, leaf) = self.path_to(&item.packed_key());
        let leaf = &mut self.leaves[leaf as usize];
        if leaf.len == LEAF {
            return false;
        }
        leaf.insert(item);
        for &(node, slot) in way[..self.height as usize].iter().rev() {
            if !item.join_summary(&mut self.inners[node as usize].summary[slot as usize]) {
                break;
            }
        }
        true
    }

    fn insert_below(&mut self, node: u32, height: u32, item: T) -> Option<Split> {
        if height == 0 {
            return self.insert_in_leaf(node, item);
        }
        let slot = self.inners[node as usize].child_slot(&item.packed_key());
        let child = self.inners[node as usize].child[slot];
        let Some(split) = self.insert_below(child, height - 1, item) else {
            item.join_summary(&mut self.inners[node as usize].summary[slot]);
            return None;
        };
        let left = self.summary_of(child, height - 1);
        let right = self.summary_of(split.node, height - 1);
        self.inners[node as usize].summary[slot] = left;
        let mut target = node;
        let mut at = slot + 1;
        let mut result = None;
        if self.inners[node as usize].len == FANOUT {
            // A full node that grows at its end leaves its left part full; otherwise it is halved.
            let keep = if at == FANOUT { FANOUT - 1 } else { FANOUT / 2 };
            let mut new = InnerNode::new_empty();
            let old = &mut self.inners[node as usize];
            new.len = FANOUT - keep;
            new.low[..new.len].copy_from_slice(&old.low[keep..]);
            new.child[..new.len].copy_from_slice(&old.child[keep..]);
            new.summary[..new.len].clone_from_slice(&old.summary[keep..]);
            old.len = keep;
            let low = new.low[0];
            let new = self.new_inner(new);
            result = Some(Split { low, node: new });
            if at > keep {
                target = new;
                at -= keep;
            }
        }
        let inner = &mut self.inners[target as usize];
        inner.open_slot(at);
        inner.low[at] = split.low;
        inner.child[at] = split.node;
        inner.summary[at] = right;
        result
    }

    fn insert_in_leaf(&mut self, node: u32, item: T) -> Option<Split> {
        let key = item.packed_key();
        let mut target = node;
        let at = self.leaves[node as usize].position(&key);
        let mut result = None;
        if self.leaves[node as usize].len == LEAF {
            let keep = if at == LEAF { LEAF } else { LEAF / 2 };
            let old = &mut self.leaves[node as usize];
            let new = Leaf::from_items(&old.items[keep..]);
            old.len = keep;
            let low = if keep == LEAF { key } else { new.items[0].packed_key() };
            let new = self.new_leaf(new);
            result = Some(Split { low, node: new });
            if at > keep || keep == LEAF {
                target = new;
            }
        }
        self.leaves[target as usize].insert(item);
        result
    }

    fn new_leaf(&mut self, leaf: Leaf<T, LEAF>) -> u32 {
        if let Some(at) = self.free_leaves.pop() {
            self.leaves[at as usize] = leaf;
            return at;
        }
        self.leaves.push(leaf);
        (self.leaves.len() - 1) as u32
    }

    fn new_inner(&mut self, inner: InnerNode<T>) -> u32 {
        if let Some(at) = self.free_inners.pop() {
            self.inners[at as usize] = inner;
            return at;
        }
        self.inners.push(inner);
        (self.inners.len() - 1) as u32
    }
}
