//! Room on the nodes now, as the cluster shows it.

use super::demands::parse_hosts;
use super::{Flying, Tracked, TrackedPlace, Tracker};
use crate::cluster::{JobFact, JobKey, JobState, NodeState};
use std::collections::BTreeMap;

/// Idle processors of each node, those of jobs in flight taken off.
#[derive(Clone, Debug)]
pub(super) struct IdleRoom {
    idle: Vec<u32>,
    /// Memory in MB of each node that is free; `u64::MAX` where it is not counted.
    memory: Vec<u64>,
    /// Free devices of each node, by name.
    devices: Vec<BTreeMap<String, u32>>,
    /// Needed by jobs in flight that no node was found for.
    owed: u32,
    /// True for nodes that are out.
    out: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct NodeNeed {
    procs: u32,
    /// Memory in MB that these take in all.
    memory: u64,
    /// This many have to be on one node.
    together: u32,
    /// All of them, if it could not start in pieces.
    narrow: bool,
    nodes: u32,
    /// Devices on each of its nodes.
    devices: Vec<(String, u32)>,
    /// By node, whether it may be there; empty for all.
    may: Vec<bool>,
}

impl Tracker {
    /// Returns the needs of a job; one that could not start in pieces needs as few nodes as can
    /// hold it.
    pub(super) fn compute_need(&self, t: &Tracked, fact: &JobFact, narrow: bool) -> NodeNeed {
        NodeNeed { may: self.may_have(t, fact), ..self.need_anywhere(fact, narrow) }
    }

    pub(super) fn need_anywhere(&self, fact: &JobFact, narrow: bool) -> NodeNeed {
        let mut nodes = fact.nodes.max(1);
        if narrow {
            let mut sizes: Vec<u32> = self.layout.nodes().map(|(_, range)| range.end - range.start).collect();
            sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
            let (mut remainder, mut least) = (fact.procs, 0);
            for size in sizes.into_iter().take_while(|&size| size > 0) {
                if remainder == 0 {
                    break;
                }
                remainder = remainder.saturating_sub(size);
                least += 1;
            }
            nodes = nodes.max(least);
        }
        let devices = fact.devices.iter().map(|(name, count)| (name.clone(), count.div_ceil(nodes))).collect();
        NodeNeed {
            devices,
            procs: fact.procs,
            memory: fact.memory.unwrap_or(0),
            together: fact.together.max(1),
            narrow,
            nodes,
            may: Vec::new(),
        }
    }

    /// Returns the nodes that a job may have by what it names and excludes; empty for all. Features
    /// are the policy's alone.
    fn may_have(&self, t: &Tracked, fact: &JobFact) -> Vec<bool> {
        let (named_hosts, excluded_hosts) = (self.named_nodes(t, fact), parse_hosts(&fact.request.excluded));
        if named_hosts.is_empty() && excluded_hosts.is_empty() {
            return Vec::new();
        }
        let is_in = |list: &[String], name: &str| list.iter().any(|own| own == name);
        let may = |name: &str| (named_hosts.is_empty() || is_in(&named_hosts, name)) && !is_in(&excluded_hosts, name);
        self.layout.nodes().map(|(name, _)| may(name)).collect()
    }
}

impl NodeNeed {
    pub(super) fn least_nodes(&self) -> u32 {
        self.nodes
    }

    /// Number of its processors that have to be on one node together.
    pub(super) fn piece_procs(&self) -> u32 {
        self.together
    }

    /// Returns the number of its processors whose memory fits into this much.
    fn fitting_procs(&self, free: u64) -> u32 {
        if self.memory == 0 || free == u64::MAX {
            return u32::MAX;
        }
        let procs = u128::from(free) * u128::from(self.procs) / u128::from(self.memory);
        u32::try_from(procs).unwrap_or(u32::MAX)
    }

    /// Memory of so many of its processors, rounded up.
    fn memory_of(&self, procs: u32) -> u64 {
        let share = u128::from(self.memory) * u128::from(procs);
        u64::try_from(share.div_ceil(u128::from(self.procs.max(1)))).unwrap_or(u64::MAX)
    }
}

/// Returns whether a piece fits on as many nodes as the job wants.
fn fits_spread(fit: &[u32], need: &NodeNeed) -> bool {
    fit.iter().filter(|&&procs| procs >= need.together).count() >= need.nodes as usize
}

impl IdleRoom {
    /// Takes what a job needs, if it fits. A job fits where its pieces do, the fullest nodes last.
    pub(super) fn take_room(&mut self, need: &NodeNeed) -> bool {
        let Some(on) = self.find_place(need) else { return false };
        self.take_at(need, &on);
        true
    }

    /// Returns the nodes that a job fits on, each with the number of its processors there.
    pub(super) fn find_place(&self, need: &NodeNeed) -> Option<Vec<(usize, u32)>> {
        let total: u32 = self.idle.iter().sum();
        if total < need.procs + self.owed {
            return None;
        }
        let piece = need.together;
        // What fits on each node, by processors and by memory.
        let fit: Vec<u32> = (0..self.idle.len()).map(|at| self.fitting_procs(at, need)).collect();
        let mut order: Vec<usize> = (0..fit.len()).filter(|&at| fit[at] >= piece).collect();
        // Few nodes: the emptiest first; where one alone is enough, the fullest that is.
        order.sort_by_key(|&at| (std::cmp::Reverse(fit[at]), at));
        let most = if need.narrow { need.nodes as usize } else { order.len() };
        let mut remainder = need.procs;
        let mut shares = Vec::new();
        if let Some(&index) = order.iter().rev().find(|&&at| fit[at] >= need.procs && need.nodes == 1) {
            shares.push((index, need.procs));
            remainder = 0;
        } else {
            for at in order.into_iter().take(most) {
                let fits = (fit[at] / piece * piece).min(remainder);
                if fits > 0 {
                    shares.push((at, fits));
                    remainder -= fits;
                }
            }
        }
        if remainder > 0 || (need.nodes > 1 && shares.len() < need.nodes as usize && !fits_spread(&fit, need)) {
            return None;
        }
        Some(shares)
    }

    /// Takes what a job needs on these nodes.
    pub(super) fn take_at(&mut self, need: &NodeNeed, on: &[(usize, u32)]) {
        for &(at, procs) in on {
            self.idle[at] = self.idle[at].saturating_sub(procs);
            if self.memory[at] < u64::MAX {
                self.memory[at] = self.memory[at].saturating_sub(need.memory_of(procs));
            }
            for (name, count) in &need.devices {
                if let Some(free) = self.devices[at].get_mut(name) {
                    *free = free.saturating_sub(*count);
                }
            }
        }
    }

    /// Gives back what a job has on these nodes.
    pub(super) fn give_back(&mut self, need: &NodeNeed, on: &[(usize, u32)]) {
        for &(at, procs) in on.iter().filter(|&&(at, _)| !self.out[at]) {
            self.idle[at] += procs;
            self.memory[at] = self.memory[at].saturating_add(need.memory_of(procs));
            for (name, count) in &need.devices {
                if let Some(free) = self.devices[at].get_mut(name) {
                    *free += count;
                }
            }
        }
    }

    /// Returns the room that is in both of two.
    pub(super) fn common_room(&self, room: &IdleRoom) -> IdleRoom {
        let mut least = self.clone();
        for at in 0..self.idle.len() {
            least.idle[at] = self.idle[at].min(room.idle[at]);
            least.memory[at] = self.memory[at].min(room.memory[at]);
            for (name, free) in &mut least.devices[at] {
                *free = (*free).min(room.devices[at].get(name).copied().unwrap_or(0));
            }
        }
        least.owed = self.owed.max(room.owed);
        least
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.idle.len()
    }

    /// Returns the number of a job's processors that a node has room for.
    pub(super) fn fitting_procs(&self, at: usize, need: &NodeNeed) -> u32 {
        if need.may.get(at) == Some(&false) {
            return 0;
        }
        let has = |(name, count): &(String, u32)| self.devices[at].get(name).is_some_and(|free| free >= count);
        if need.devices.iter().all(has) { self.idle[at].min(need.fitting_procs(self.memory[at])) } else { 0 }
    }

    /// Takes what is left of a job in flight, wherever that is.
    pub(super) fn owe_room(&mut self, need: &NodeNeed) {
        if !self.take_room(need) {
            self.owed += need.procs;
        }
    }

    /// Returns whether this many processors are idle on each of these nodes.
    pub(super) fn fits_on(&self, counts: &[(usize, u32)]) -> bool {
        counts.iter().all(|&(at, procs)| self.idle[at] >= procs)
    }

    pub(super) fn idle_procs(&self) -> u32 {
        self.idle.iter().sum()
    }

    /// Returns whether each of these nodes has the memory for this many of a job's processors.
    pub(super) fn has_memory(&self, need: &NodeNeed, counts: &[(usize, u32)]) -> bool {
        counts.iter().all(|&(at, procs)| procs == 0 || need.fitting_procs(self.memory[at]) >= procs)
    }

    pub(super) fn take_on(&mut self, counts: &[(usize, u32)]) {
        for &(at, procs) in counts {
            self.idle[at] = self.idle[at].saturating_sub(procs);
        }
    }
}

impl Tracker {
    /// Returns the room of all nodes without any job, those that are out included.
    pub(super) fn empty_room(&self) -> IdleRoom {
        let of = |name: &str| self.mirror.node_fact(name);
        let nodes = || self.layout.nodes();
        let memory = nodes().map(|(name, _)| of(name).and_then(|node| node.whole_memory).unwrap_or(u64::MAX));
        let devices = nodes().map(|(name, _)| {
            let node_devices = of(name).into_iter().flat_map(|node| &node.devices);
            node_devices.map(|device| (device.name.clone(), device.all)).collect()
        });
        IdleRoom {
            idle: nodes().map(|(_, range)| range.end - range.start).collect(),
            memory: memory.collect(),
            devices: devices.collect(),
            owed: 0,
            out: vec![false; self.layout.len()],
        }
    }

    pub(super) fn idle_room(&self) -> IdleRoom {
        let up = |name: &str| self.mirror.node_fact(name).filter(|node| node.state == NodeState::Up);
        let idle = self
            .layout
            .nodes()
            .map(|(name, range)| up(name).map_or(0, |node| (range.end - range.start).saturating_sub(node.busy)));
        let free = self
            .layout
            .nodes()
            .map(|(name, _)| self.mirror.node_fact(name).and_then(|node| node.memory).unwrap_or(u64::MAX));
        let devices = self.layout.nodes().map(|(name, _)| {
            let node_devices = self.mirror.node_fact(name).into_iter().flat_map(|node| &node.devices);
            node_devices.map(|device| (device.name.clone(), device.all.saturating_sub(device.busy))).collect()
        });
        let out = self.layout.nodes().map(|(name, _)| up(name).is_none());
        let (idle, memory, devices) = (idle.collect(), free.collect(), devices.collect());
        IdleRoom { idle, memory, devices, owed: 0, out: out.collect() }
    }

    /// Returns the number of processors that no listed job explains. The cluster shows its jobs a
    /// moment before its nodes: a job in flight that starts in between is pending and has its
    /// processors. It must not take room twice.
    fn begun_meanwhile(&self) -> u32 {
        let is_launched = |key: &JobKey| self.jobs.get(key).is_some_and(|t| t.is_flying(Flying::Launching));
        if !self.flying.iter().any(is_launched) {
            return 0;
        }
        let nodes = self.layout.nodes().filter_map(|(name, _)| self.mirror.node_fact(name));
        let busy: u32 = nodes.filter(|node| node.state == NodeState::Up).map(|node| node.busy).sum();
        let has = |fact: &&JobFact| matches!(fact.state, JobState::Running | JobState::Suspended);
        let of = |fact: &JobFact| self.layout.held_procs(&fact.places, fact.procs);
        busy.saturating_sub(self.mirror.records().filter(has).map(of).sum())
    }

    /// Returns the idle room as the cluster shows it, less the needs of jobs in flight.
    pub(super) fn current_room(&self) -> IdleRoom {
        let mut room = self.idle_room();
        let mut begun_procs = self.begun_meanwhile();
        for key in &self.flying {
            let (Some(t), Some(fact)) = (self.jobs.get(key), self.mirror.job_fact(*key)) else { continue };
            let is_known = t.place != TrackedPlace::Held;
            if is_known && (t.is_flying(Flying::Launching) || t.is_flying(Flying::Holding)) {
                if fact.procs <= begun_procs {
                    begun_procs -= fact.procs;
                } else {
                    room.owe_room(&self.compute_need(t, fact, t.narrow));
                }
            } else if t.is_flying(Flying::Resuming) {
                room.take_on(&self.layout.node_counts(&fact.places, fact.procs));
            }
        }
        room
    }
}
