//! When a job could start beside the running ones: Slurm's simulation of their ends.
//!
//! Late by design: ends within a window that doubles are taken together, and the last of them counts.

use super::{Alloc, Cluster, Idle, NodeSet, Pending, Running};

/// Seconds of the first group of ends that are taken together.
const FIRST_WINDOW: i64 = 30;
/// More releases in one group, and Slurm does not look whether the job fits after them.
const MOST_RELEASES: u32 = 201;

/// Room that passes reuse.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    idle: Option<Idle>,
    /// Nodes of the jobs that were released.
    released: NodeSet,
    /// Places of the jobs that were released since `idle` was up to date.
    since: Vec<u32>,
    /// Room for the nodes that a job may use.
    free: NodeSet,
}

impl Scratch {
    /// Room for a set of nodes.
    pub(super) fn take_free(&mut self, nodes: usize) -> NodeSet {
        let free = std::mem::take(&mut self.free);
        if free.capacity() < nodes { NodeSet::empty(nodes) } else { free }
    }

    /// Gives it back.
    pub(super) fn give_free(&mut self, free: NodeSet) {
        self.free = free;
    }
}

/// When a job could start on the allowed nodes, at or after `now` seconds, and where. `only_now`: whether it could now.
pub(super) fn will_run(
    cluster: &Cluster,
    job: &Pending,
    allowed: &NodeSet,
    now: i64,
    only_now: bool,
    scratch: &mut Scratch,
) -> Option<(i64, Alloc)> {
    if let Some(alloc) = cluster.idle.place(job, allowed) {
        return Some((now, alloc));
    }
    let victims = cluster.preempting.candidates(cluster, job, now);
    if only_now && victims.is_empty() {
        return None;
    }
    let mut search = Search::new(cluster, job, allowed, scratch);
    if !victims.is_empty() {
        victims.iter().for_each(|&slot| search.release(slot));
        // It cannot start now, but backfill is to begin with the preemption.
        if let Some(alloc) = search.place() {
            return Some((now, alloc));
        }
        if only_now {
            return None;
        }
    }
    search.ends(now, &victims)
}

struct Search<'a> {
    cluster: &'a Cluster,
    job: &'a Pending,
    allowed: &'a NodeSet,
    scratch: &'a mut Scratch,
    /// Whether every node has one processor.
    single: bool,
    /// Idle processors on the allowed nodes with all that was released; where nodes have several, an upper bound.
    have: u64,
    /// Whether `scratch.idle` is of this search.
    ready: bool,
}

impl<'a> Search<'a> {
    fn new(cluster: &'a Cluster, job: &'a Pending, allowed: &'a NodeSet, scratch: &'a mut Scratch) -> Search<'a> {
        let single = cluster.idle.is_single();
        scratch.since.clear();
        let have = if single {
            scratch.released.assign(cluster.idle.usable(false));
            cluster.idle.usable(false).common(allowed) as u64
        } else {
            let usable = cluster.idle.usable(false);
            usable.iter_common(allowed).map(|node| u64::from(cluster.idle.on(node))).sum()
        };
        Search { cluster, job, allowed, scratch, single, have, ready: false }
    }

    /// Takes a running job away. Nothing is worked out before the job could fit.
    fn release(&mut self, slot: u32) {
        let Some(running) = self.cluster.at(slot) else { return };
        if self.single {
            self.have += running.alloc.nodes.common(self.allowed) as u64;
            self.scratch.released.unite(&running.alloc.nodes);
            return;
        }
        let machine = &self.cluster.machine;
        let on = running.alloc.iter(machine).filter(|&(node, _)| self.allowed.contains(node));
        self.have += on.map(|(_, cpus)| u64::from(cpus)).sum::<u64>();
        self.scratch.since.push(slot);
    }

    /// Where the job fits now that some are gone.
    fn place(&mut self) -> Option<Alloc> {
        if self.have < u64::from(self.job.cpus.max(self.job.min_nodes)) {
            return None;
        }
        let idle = self.scratch.idle.get_or_insert_with(|| self.cluster.idle.clone());
        if !self.ready {
            idle.assign(&self.cluster.idle);
            self.ready = true;
        }
        if self.single {
            idle.set_usable(&self.scratch.released);
        }
        for slot in self.scratch.since.drain(..) {
            if let Some(running) = self.cluster.at(slot) {
                idle.give(&running.alloc, &self.cluster.machine);
            }
        }
        idle.place(self.job, self.allowed)
    }

    /// Lets running jobs end, group by group.
    fn ends(&mut self, now: i64, gone: &[u32]) -> Option<(i64, Alloc)> {
        let all = self.cluster.order();
        let staying: Vec<(i64, u64, u32)>;
        let order = if gone.is_empty() {
            all
        } else {
            staying = all.iter().copied().filter(|(.., slot)| !gone.contains(slot)).collect();
            &staying
        };
        let (mut window, mut mark, mut next) = (FIRST_WINDOW, None, 0);
        while next < order.len() {
            let group = self.group(order, &mut next, &mut mark, window);
            if let Group::TooMany = group {
                continue;
            }
            let Group::UpTo(last) = group else { return None };
            let reach = mark.unwrap_or(now);
            window = self.widen(window);
            while order.get(next).is_some_and(|&(end, ..)| end > reach + window) {
                window = self.widen(window);
            }
            if let Some(alloc) = self.place() {
                return Some((self.when(last, now), alloc));
            }
        }
        None
    }

    fn when(&self, last: u32, now: i64) -> i64 {
        match self.cluster.at(last) {
            Some(running) if running.end <= now => self.cluster.guess_end(running, now),
            Some(running) => running.end,
            None => now + 1,
        }
    }

    fn widen(&self, window: i64) -> i64 {
        let linear = self.cluster.window_linear;
        if linear > 0 { window + linear } else { window.saturating_mul(2) }
    }

    /// Releases the next jobs whose ends are taken together.
    fn group(
        &mut self,
        order: &[(i64, u64, u32)],
        next: &mut usize,
        mark: &mut Option<i64>,
        window: i64,
    ) -> Group {
        let (mut last, mut released) = (None, 0);
        while let Some(&(end, _, slot)) = order.get(*next) {
            *next += 1;
            let touches = |running: &Running| running.alloc.nodes.meets(self.allowed);
            if !self.cluster.at(slot).is_some_and(touches) {
                continue;
            }
            let from = *mark.get_or_insert(end + FIRST_WINDOW - end.rem_euclid(FIRST_WINDOW));
            self.release(slot);
            last = Some(slot);
            if order.get(*next).is_some_and(|&(end, ..)| end > from + window) {
                break;
            }
            released += 1;
            if released >= MOST_RELEASES && *next < order.len() {
                return Group::TooMany;
            }
        }
        last.map_or(Group::Nothing, Group::UpTo)
    }
}

/// What a group of ends came to.
enum Group {
    /// No job was left that touches the allowed nodes.
    Nothing,
    /// So many that Slurm does not look.
    TooMany,
    /// Jobs up to this place.
    UpTo(u32),
}
