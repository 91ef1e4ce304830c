//! The predictions that a job had, one after another.

use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};

/// For every job that is here, its later predictions and from when on they were in force: what
/// accuracy over a life needs.
///
/// Lists linked from the last change back to the first, in one arena that reuses what is taken. A
/// change costs O(1), taking a job's k changes O(k), and neither asks for memory once the arena has
/// grown to the most there ever were.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Changes {
    nodes: Vec<ChangedNode>,
    /// The first unused node.
    unused: u32,
    /// Nodes in use.
    used: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ChangedNode {
    at: Time,
    prediction: Span,
    /// The one before, or the next unused one.
    before: u32,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { nodes: Vec::new(), unused: Changes::NONE, used: 0 }
    }
}

impl Changes {
    /// No node: the end of a list.
    pub(crate) const NONE: u32 = u32::MAX;

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Adds a change to the list that ends at `last`.
    #[inline]
    pub(crate) fn push(&mut self, last: &mut u32, at: Time, prediction: Span) {
        let node = ChangedNode { at, prediction, before: *last };
        self.used += 1;
        if let Some(free) = self.nodes.get_mut(self.unused as usize) {
            *last = self.unused;
            self.unused = free.before;
            *free = node;
        } else {
            *last = self.nodes.len() as u32;
            self.nodes.push(node);
        }
    }

    /// Moves the list that ends at `last` behind what `into` holds, the first change first.
    pub(crate) fn take_list(&mut self, last: u32, into: &mut Vec<(Time, Span)>) {
        let from = into.len();
        let mut node = last;
        while let Some(n) = self.nodes.get_mut(node as usize) {
            into.push((n.at, n.prediction));
            let before = std::mem::replace(&mut n.before, self.unused);
            self.unused = node;
            self.used -= 1;
            node = before;
        }
        into[from..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_several_jobs_share_an_arena_and_give_it_back() {
        let mut changes = Changes::default();
        let (mut a, mut b) = (Changes::NONE, Changes::NONE);
        for i in 0..3 {
            changes.push(&mut a, Time(i), Span(10 + i));
            changes.push(&mut b, Time(i), Span(20 + i));
        }
        let mut entries = Vec::new();
        changes.take_list(a, &mut entries);
        assert_eq!(entries, [(Time(0), Span(10)), (Time(1), Span(11)), (Time(2), Span(12))]);
        let mut c = Changes::NONE;
        (0..3).for_each(|i| changes.push(&mut c, Time(i), Span(30 + i)));
        assert_eq!(changes.nodes.len(), 6, "taken room is used again");
        assert!(!changes.is_empty());
        for (list, first) in [(b, 20), (c, 30)] {
            entries.clear();
            changes.take_list(list, &mut entries);
            assert_eq!(entries, [(Time(0), Span(first)), (Time(1), Span(first + 1)), (Time(2), Span(first + 2))]);
        }
        assert!(changes.is_empty());
    }
}
