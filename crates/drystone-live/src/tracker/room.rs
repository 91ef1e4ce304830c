//! What fits on which node now, as the cluster itself shows it.

use super::{Flying, Tracker};
use crate::cluster::{JobFact, NodeState};

/// Idle processors of each node, those of jobs in flight taken off.
#[derive(Clone, Debug)]
pub(super) struct Room {
    idle: Vec<u32>,
    /// Needed by jobs in flight that no node was found for.
    owed: u32,
}

/// What a job needs of nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    procs: u32,
    /// So many have to be on one node.
    together: u32,
    /// All of them, if it could not start in pieces.
    narrow: bool,
    nodes: u32,
}

impl Tracker {
    /// What a job needs; if it could not start in pieces, on as few nodes as can hold it.
    pub(super) fn need(&self, fact: &JobFact, narrow: bool) -> Need {
        let mut nodes = fact.nodes.max(1);
        if narrow {
            let mut sizes: Vec<u32> = self.layout.nodes().map(|(_, range)| range.end - range.start).collect();
            sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
            let (mut left, mut least) = (fact.procs, 0);
            for size in sizes.into_iter().take_while(|&size| size > 0) {
                if left == 0 {
                    break;
                }
                left = left.saturating_sub(size);
                least += 1;
            }
            nodes = nodes.max(least);
        }
        Need { procs: fact.procs, together: fact.together.max(1), narrow, nodes }
    }
}

impl Room {
    /// Takes what a job needs, if it fits. A job fits where its pieces do, the fullest nodes last.
    pub(super) fn take(&mut self, need: Need) -> bool {
        let total: u32 = self.idle.iter().sum();
        if total < need.procs + self.owed {
            return false;
        }
        let piece = need.together;
        let mut order: Vec<usize> = (0..self.idle.len()).filter(|&at| self.idle[at] >= piece).collect();
        // Few nodes: the emptiest first; where one alone is enough, the fullest that is.
        order.sort_by_key(|&at| (std::cmp::Reverse(self.idle[at]), at));
        let most = if need.narrow { need.nodes as usize } else { order.len() };
        let mut left = need.procs;
        let mut taken = Vec::new();
        if let Some(&one) = order.iter().rev().find(|&&at| self.idle[at] >= need.procs && need.nodes == 1) {
            taken.push((one, need.procs));
            left = 0;
        } else {
            for at in order.into_iter().take(most) {
                let fits = (self.idle[at] / piece * piece).min(left);
                if fits > 0 {
                    taken.push((at, fits));
                    left -= fits;
                }
            }
        }
        if left > 0 || (need.nodes > 1 && taken.len() < need.nodes as usize && !self.spreads(need)) {
            return false;
        }
        for (at, procs) in taken {
            self.idle[at] -= procs;
        }
        true
    }

    /// Whether there are as many nodes as it wants, with a piece free on each.
    fn spreads(&self, need: Need) -> bool {
        self.idle.iter().filter(|&&idle| idle >= need.together).count() >= need.nodes as usize
    }

    /// Takes what is left of a job in flight, wherever that is.
    fn owe(&mut self, need: Need) {
        if !self.take(need) {
            self.owed += need.procs;
        }
    }

    /// Whether so many are idle on each of these nodes.
    pub(super) fn fits_on(&self, counts: &[(usize, u32)]) -> bool {
        counts.iter().all(|&(at, procs)| self.idle[at] >= procs)
    }

    /// All that is idle.
    pub(super) fn idle(&self) -> u32 {
        self.idle.iter().sum()
    }

    /// Takes them.
    pub(super) fn take_on(&mut self, counts: &[(usize, u32)]) {
        for &(at, procs) in counts {
            self.idle[at] = self.idle[at].saturating_sub(procs);
        }
    }
}

impl Tracker {
    /// What is idle now, as the cluster shows it, without what jobs in flight will take.
    pub(super) fn room(&self) -> Room {
        let idle = self.layout.nodes().map(|(name, range)| match self.mirror.node(name) {
            Some(node) if node.state == NodeState::Up => (range.end - range.start).saturating_sub(node.busy),
            _ => 0,
        });
        let mut room = Room { idle: idle.collect(), owed: 0 };
        for key in &self.flying {
            let (Some(t), Some(fact)) = (self.jobs.get(key), self.mirror.fact(*key)) else { continue };
            if t.flies(Flying::Launching) || t.flies(Flying::Holding) {
                room.owe(self.need(fact, t.narrow));
            } else if t.flies(Flying::Resuming) {
                room.take_on(&self.layout.counts(&fact.places, fact.procs));
            }
        }
        room
    }
}
