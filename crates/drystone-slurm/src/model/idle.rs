//! Idle processors of the nodes, and what runs there beside.

use super::resources::IdleMore;
use super::{Alloc, ModelMachine, NodeSet, Pending};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Idle processors of every node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IdleNodes {
    /// Of each node; not kept up where every node has one processor.
    pub(super) cpus: Vec<u32>,
    /// Nodes with an idle processor.
    pub(super) some: NodeSet,
    /// Nodes without a job; not kept up where every node has one processor.
    pub(super) all: NodeSet,
    /// True if every node has one processor.
    pub(super) single: bool,
    /// Processors that are given out together.
    pub(super) threads: u32,
    /// These of each node where nodes differ; else empty.
    mixed_threads: Vec<u32>,
    /// Memory and generic resources, where nodes have such.
    pub(super) more: Option<Box<IdleMore>>,
    /// Processors of nodes that two jobs have, one of them suspended.
    twice: BTreeMap<usize, u32>,
}

impl IdleNodes {
    /// A machine without jobs.
    pub fn new(machine: &ModelMachine) -> IdleNodes {
        let all_nodes = NodeSet::full(machine.node_count());
        let resources = &machine.resources;
        let single = machine.cpus.iter().all(|&c| c == 1) && resources.is_plain();
        let more = IdleMore::new(resources, machine.node_count());
        IdleNodes {
            cpus: machine.cpus.clone(),
            some: all_nodes.clone(),
            all: all_nodes,
            single,
            threads: machine.threads.max(1),
            mixed_threads: machine.mixed_threads.clone(),
            more,
            twice: BTreeMap::new(),
        }
    }

    /// Becomes the other, in its own memory.
    pub fn copy_from(&mut self, source: &IdleNodes) {
        self.some.copy_from(&source.some);
        self.twice.clone_from(&source.twice);
        if !self.single {
            self.cpus.clone_from(&source.cpus);
            self.all.copy_from(&source.all);
        }
        if let (Some(own), Some(source_more)) = (&mut self.more, &source.more) {
            own.copy_from(source_more);
        }
    }

    /// Memory and generic resources.
    #[inline]
    pub(super) fn more_resources(&self) -> Option<&IdleMore> {
        self.more.as_deref()
    }

    fn change_more(&mut self, alloc: &Alloc, machine: &ModelMachine, take: bool) {
        if let (Some(own), Some(more)) = (&mut self.more, &alloc.more) {
            own.change_share(&alloc.nodes, more, &machine.resources, take);
            if let Some(cap) = more.cap {
                own.change_capped(cap, alloc.iter(machine), take);
            }
        }
    }

    /// Returns whether every node has one processor.
    #[inline]
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Returns whether two jobs have the same processors, one of them suspended or unforeseen.
    pub(crate) fn has_shared(&self) -> bool {
        !self.twice.is_empty()
    }

    /// Takes what a job gets.
    pub fn take_alloc(&mut self, alloc: &Alloc, machine: &ModelMachine) {
        if self.single {
            self.some.subtract(&alloc.nodes);
            return;
        }
        self.change_more(alloc, machine, true);
        for (node, cpus) in alloc.iter(machine) {
            if self.cpus[node] < cpus {
                // A job that is suspended, or was recorded so, shares processors with another.
                *self.twice.entry(node).or_default() += cpus - self.cpus[node];
            }
            self.cpus[node] -= cpus.min(self.cpus[node]);
            if self.cpus[node] == 0 {
                self.some.remove(node);
            }
        }
        self.all.subtract(&alloc.nodes);
    }

    /// Takes what a job has that no scheduler of this site has placed. Where others have it as
    /// well, it counts as in use until as much has been given back.
    pub fn take_anyway(&mut self, alloc: &Alloc, machine: &ModelMachine) {
        if alloc.nodes.is_empty() {
            return;
        }
        if !self.single {
            return self.take_alloc(alloc, machine);
        }
        for node in alloc.nodes.iter() {
            if self.some.contains(node) {
                self.some.remove(node);
            } else {
                *self.twice.entry(node).or_default() += 1;
            }
        }
    }

    /// Gives back what a job had.
    pub fn give_back(&mut self, alloc: &Alloc, machine: &ModelMachine) {
        if alloc.nodes.is_empty() {
            return;
        }
        if self.single && self.twice.is_empty() {
            self.some.unite(&alloc.nodes);
            return;
        }
        if self.single {
            for node in alloc.nodes.iter() {
                match self.twice.get_mut(&node) {
                    Some(1) => _ = self.twice.remove(&node),
                    Some(more) => *more -= 1,
                    None => self.some.insert(node),
                }
            }
            return;
        }
        self.change_more(alloc, machine, false);
        for (node, mut cpus) in alloc.iter(machine) {
            if let Some(twice) = self.twice.get_mut(&node) {
                let shared_cpus = cpus.min(*twice);
                *twice -= shared_cpus;
                cpus -= shared_cpus;
                if *twice == 0 {
                    self.twice.remove(&node);
                }
            }
            if cpus == 0 {
                continue;
            }
            self.cpus[node] = (self.cpus[node] + cpus).min(machine.cpus[node]);
            self.some.insert(node);
            if self.cpus[node] == machine.cpus[node] {
                self.all.insert(node);
            }
        }
    }

    /// The nodes that a job could use a part of.
    #[inline]
    pub fn usable_nodes(&self, whole: bool) -> &NodeSet {
        if whole && !self.single { &self.all } else { &self.some }
    }

    /// Sets the idle processors of a node.
    pub(super) fn set_idle(&mut self, node: usize, cpus: u32, machine: &ModelMachine) {
        self.cpus[node] = cpus;
        let set = |set: &mut NodeSet, is: bool| if is { set.insert(node) } else { set.remove(node) };
        set(&mut self.some, cpus > 0);
        set(&mut self.all, cpus == machine.cpus[node]);
    }

    /// Returns whether no processor is idle.
    pub fn is_full(&self) -> bool {
        self.some.is_empty()
    }

    /// Processors of a node that are given out together.
    #[inline]
    pub(super) fn threads_on(&self, node: usize) -> i64 {
        i64::from(self.mixed_threads.get(node).copied().unwrap_or(self.threads).max(1))
    }

    /// Idle processors of a node.
    pub fn idle_on(&self, node: usize) -> u32 {
        if self.single { u32::from(self.some.contains(node)) } else { self.cpus[node] }
    }

    /// Returns the number of allowed nodes that a job could use, and their idle processors.
    ///
    /// A job that is `whole` uses whole nodes only, another one also a part of a node.
    pub fn count_usable(&self, whole: bool, candidates: &NodeSet) -> (u64, u64) {
        let usable = self.usable_nodes(whole);
        let nodes = usable.count_common(candidates) as u64;
        let cpus = || usable.iter_common(candidates).map(|node| u64::from(self.cpus[node])).sum();
        (nodes, if self.single { nodes } else { cpus() })
    }

    /// Returns whether a job certainly does not fit: too few nodes or processors. Cheap.
    pub fn lacks_room(&self, job: &Pending, candidates: &NodeSet) -> bool {
        let usable = self.usable_nodes(job.whole);
        let nodes = usable.count_common(candidates);
        if self.single {
            return nodes < (job.cpus.max(job.min_nodes)) as usize;
        }
        if nodes < job.min_nodes as usize {
            return true;
        }
        let mut remaining = i64::from(job.cpus);
        for node in usable.iter_common(candidates) {
            remaining -= i64::from(self.cpus[node]);
            if remaining <= 0 {
                return false;
            }
        }
        remaining > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_jobs_have_at_once_is_idle_when_both_have_ended() {
        for cpus in [1, 4] {
            let machine = ModelMachine::with_equal_nodes(2, cpus);
            let mut idle = IdleNodes::new(&machine);
            let two_cpus = Alloc { nodes: NodeSet::from_members(2, [0]), cpus: vec![cpus], more: None };
            idle.take_anyway(&two_cpus, &machine);
            idle.take_anyway(&two_cpus, &machine);
            idle.give_back(&two_cpus, &machine);
            assert_eq!((idle.idle_on(0), idle.idle_on(1)), (0, cpus));
            idle.give_back(&two_cpus, &machine);
            assert_eq!(idle, IdleNodes::new(&machine));
        }
    }
}
