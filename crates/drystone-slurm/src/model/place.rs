//! Choice of nodes for a job: that of select/cons_tres without topology among nodes of equal
//! weight.

use super::fit::NodeFit;
use super::resources::{IdleMore, JobDemand};
use super::{Alloc, AllocMore, ModelMachine, NodeSet, Pending};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Idle processors of every node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IdleNodes {
    /// Of each node; not kept up where every node has one processor.
    cpus: Vec<u32>,
    /// Nodes with an idle processor.
    some: NodeSet,
    /// Nodes without a job; not kept up where every node has one processor.
    all: NodeSet,
    /// True if every node has one processor.
    single: bool,
    /// Processors that are given out together.
    threads: u32,
    /// Memory and generic resources, where nodes have such.
    more: Option<Box<IdleMore>>,
    /// Processors of nodes that two jobs have, one of them suspended.
    twice: BTreeMap<usize, u32>,
}

impl IdleNodes {
    /// A machine without jobs.
    #[must_use]
    pub fn new(machine: &ModelMachine) -> IdleNodes {
        let all = NodeSet::full(machine.nodes());
        let resources = &machine.resources;
        let single = machine.cpus.iter().all(|&c| c == 1) && resources.is_plain();
        let more = IdleMore::new(resources);
        IdleNodes {
            cpus: machine.cpus.clone(),
            some: all.clone(),
            all,
            single,
            threads: machine.threads.max(1),
            more,
            twice: BTreeMap::new(),
        }
    }

    /// Becomes the other, in its own memory.
    pub fn assign(&mut self, other: &IdleNodes) {
        self.some.assign(&other.some);
        self.twice.clone_from(&other.twice);
        if !self.single {
            self.cpus.clone_from(&other.cpus);
            self.all.assign(&other.all);
        }
        if let (Some(own), Some(other)) = (&mut self.more, &other.more) {
            own.assign(other);
        }
    }

    /// Memory and generic resources.
    #[inline]
    pub(super) fn more(&self) -> Option<&IdleMore> {
        self.more.as_deref()
    }

    fn change_more(&mut self, alloc: &Alloc, machine: &ModelMachine, take: bool) {
        if let (Some(own), Some(more)) = (&mut self.more, &alloc.more) {
            own.change(&alloc.nodes, more, &machine.resources, take);
        }
    }

    /// Returns whether every node has one processor.
    #[inline]
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Takes what a job gets.
    pub fn take(&mut self, alloc: &Alloc, machine: &ModelMachine) {
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
            return self.take(alloc, machine);
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
    pub fn give(&mut self, alloc: &Alloc, machine: &ModelMachine) {
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
                let shared = cpus.min(*twice);
                *twice -= shared;
                cpus -= shared;
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
    #[must_use]
    pub fn usable(&self, whole: bool) -> &NodeSet {
        if whole && !self.single { &self.all } else { &self.some }
    }

    /// Sets the idle processors of a node.
    pub(super) fn set(&mut self, node: usize, cpus: u32, machine: &ModelMachine) {
        self.cpus[node] = cpus;
        let set = |set: &mut NodeSet, is: bool| if is { set.insert(node) } else { set.remove(node) };
        set(&mut self.some, cpus > 0);
        set(&mut self.all, cpus == machine.cpus[node]);
    }

    /// Returns whether no processor is idle.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.some.is_empty()
    }

    /// Idle processors of a node.
    #[must_use]
    pub fn on(&self, node: usize) -> u32 {
        if self.single { u32::from(self.some.contains(node)) } else { self.cpus[node] }
    }

    /// Returns whether a job certainly does not fit: too few nodes or processors. Cheap.
    #[must_use]
    pub fn lacks(&self, job: &Pending, allowed: &NodeSet) -> bool {
        let usable = self.usable(job.whole);
        let nodes = usable.common(allowed);
        if self.single {
            return nodes < (job.cpus.max(job.min_nodes)) as usize;
        }
        if nodes < job.min_nodes as usize {
            return true;
        }
        let mut left = i64::from(job.cpus);
        for node in usable.iter_common(allowed) {
            left -= i64::from(self.cpus[node]);
            if left <= 0 {
                return false;
            }
        }
        left > 0
    }

    /// Returns the place of a job on the allowed nodes, if it fits.
    #[must_use]
    pub fn place(&self, job: &Pending, allowed: &NodeSet, machine: &ModelMachine) -> Option<Alloc> {
        let alone = job.demand == 0 && machine.resources.is_plain();
        if !alone
            && machine.resources.demand(job.demand).is_none_or(|known| known.demand.gpus.is_none())
            && self.lacks(job, allowed)
        {
            return None;
        }
        if !alone {
            return NodeFit::new(self, machine, job, &JobDemand::default()).place(allowed);
        }
        if self.lacks(job, allowed) {
            return None;
        }
        if self.single {
            return Some(self.place_single(job.cpus.max(job.min_nodes) as usize, allowed));
        }
        let mut usable = self.usable(job.whole).clone();
        usable.intersect(allowed);
        if job.max_nodes == 1 {
            // What is too small for a job of one node is not even looked at, and so parts what is
            // beside it.
            let small = usable.iter().filter(|&node| self.cpus[node] < job.cpus).collect::<Vec<_>>();
            small.into_iter().for_each(|node| usable.remove(node));
        }
        let mut found = self.evaluate(job, &usable);
        if found.is_some() {
            return found;
        }
        // A few small nodes may stand in the way: try without those of one idle processor, of two,
        // …
        let most = usable.iter().map(|node| self.cpus[node]).max().unwrap_or(0);
        for few in 1..most {
            let before = usable.count();
            let small = usable.iter().filter(|&node| self.cpus[node] <= few).collect::<Vec<_>>();
            small.into_iter().for_each(|node| usable.remove(node));
            if usable.count() < before {
                found = self.evaluate(job, &usable);
                if found.is_some() {
                    break;
                }
            }
        }
        found
    }

    /// Returns the share, beside processors, of a job that runs where `alloc` says: of devices
    /// those that are idle, as far as there are enough.
    #[must_use]
    pub fn held(&self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) -> Option<Box<AllocMore>> {
        self.more()?;
        NodeFit::new(self, machine, job, &JobDemand::default()).held(alloc)
    }

    /// Returns whether the share of a job beside processors, where `alloc` says, is idle there.
    #[must_use]
    pub fn has(&self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) -> bool {
        let Some(own) = self.more() else { return true };
        let memory = alloc.more.as_ref().map_or(&[][..], |more| more.memory.as_slice());
        alloc.nodes.iter().zip(memory).all(|(node, &mb)| own.memory[node] >= mb)
            && NodeFit::new(self, machine, job, &JobDemand::default()).has_devices(alloc)
    }

    /// Returns the place where every node has one processor: whole runs of consecutive nodes, the
    /// tightest that suffices first, else the largest. There are enough.
    fn place_single(&self, mut need: usize, allowed: &NodeSet) -> Alloc {
        let mut usable = self.some.clone();
        usable.intersect(allowed);
        let mut runs = Vec::with_capacity(32);
        usable.runs(&mut runs);
        let mut nodes = NodeSet::empty(self.some.capacity());
        let length = |&(first, last): &(usize, usize)| last - first + 1;
        while need > 0 {
            let mut best: Option<(usize, usize)> = None;
            for (index, run) in runs.iter().enumerate() {
                let long = length(run);
                let better =
                    best.is_none_or(|(_, most)| if most >= need { (need..most).contains(&long) } else { long > most });
                if better {
                    best = Some((index, long));
                }
            }
            let Some((index, long)) = best else { break };
            let (first, _) = runs.remove(index);
            nodes.insert_range(first, long.min(need));
            need -= long.min(need);
        }
        Alloc { nodes, ..Alloc::default() }
    }

    /// One evaluation: whole runs of consecutive nodes, the tightest that suffices first, else the
    /// largest.
    fn evaluate(&self, job: &Pending, usable: &NodeSet) -> Option<Alloc> {
        let mut runs = Vec::with_capacity(32);
        usable.runs(&mut runs);
        let mut need = MissingAmounts {
            cpus: i64::from(job.cpus),
            nodes: i64::from(job.min_nodes),
            most: i64::from(job.max_nodes),
            threads: i64::from(self.threads),
        };
        let mut taken: Vec<(usize, u32)> = Vec::with_capacity(job.min_nodes.clamp(16, 256) as usize);
        while !need.met() && need.most > 0 {
            let best = self.best_run(&runs, &need)?;
            // The order of runs decides ties.
            let (first, last) = runs.remove(best);
            self.take_from(first, last, job, &mut need, &mut taken);
        }
        need.met().then(|| self.alloc(taken, job.whole))
    }

    fn best_run(&self, runs: &[(usize, usize)], need: &MissingAmounts) -> Option<usize> {
        let mut best: Option<(usize, bool, i64)> = None;
        for (index, &(first, last)) in runs.iter().enumerate() {
            let cpus = self.cpus_of(first, last);
            let suffices = cpus >= need.cpus && (last - first + 1) as i64 >= need.nodes;
            let better = match best {
                None => true,
                Some((_, false, _)) if suffices => true,
                Some((_, _, fewest)) if suffices => cpus < fewest,
                // Also where the best so far suffices: Slurm does not look at that.
                Some((_, _, most)) => cpus > most,
            };
            if better {
                best = Some((index, suffices, cpus));
            }
        }
        best.map(|(index, ..)| index)
    }

    fn cpus_of(&self, first: usize, last: usize) -> i64 {
        self.cpus[first..=last].iter().map(|&c| i64::from(c)).sum()
    }

    fn take_from(
        &self,
        first: usize,
        last: usize,
        job: &Pending,
        need: &mut MissingAmounts,
        taken: &mut Vec<(usize, u32)>,
    ) {
        if need.nodes <= 1 && need.cpus > 0 {
            let enough = (first..=last).filter(|&node| i64::from(self.cpus[node]) >= need.cpus);
            if let Some(node) = enough.min_by_key(|&node| (self.cpus[node], node)) {
                need.take(node, self.cpus[node], job.whole, taken);
                return;
            }
        }
        for node in first..=last {
            if need.met() || need.most <= 0 {
                return;
            }
            // The last node that it may have must give it the rest.
            if need.most == 1 && i64::from(self.cpus[node]) < need.cpus {
                continue;
            }
            need.take(node, self.cpus[node], job.whole, taken);
        }
    }

    fn alloc(&self, mut taken: Vec<(usize, u32)>, whole: bool) -> Alloc {
        let nodes = NodeSet::of(self.some.capacity(), taken.iter().map(|&(node, _)| node));
        // A whole node is all that it has.
        if whole {
            return Alloc { nodes, ..Alloc::default() };
        }
        taken.sort_unstable();
        Alloc { nodes, cpus: taken.iter().map(|&(_, cpus)| cpus).collect(), more: None }
    }
}

/// Missing amounts.
struct MissingAmounts {
    cpus: i64,
    nodes: i64,
    /// Nodes that may still be added.
    most: i64,
    /// Processors that are given out together.
    threads: i64,
}

impl MissingAmounts {
    fn met(&self) -> bool {
        self.cpus <= 0 && self.nodes <= 0
    }

    /// Takes from a node what it has to give, but leaves one processor for each node that must come
    /// after it.
    fn take(&mut self, node: usize, idle: u32, whole: bool, taken: &mut Vec<(usize, u32)>) {
        let for_others = (self.nodes - 1).max(0);
        let wanted = if whole { i64::from(idle) } else { (self.cpus - for_others).max(1) };
        let cores = (wanted + self.threads - 1) / self.threads * self.threads;
        let cpus = i64::from(idle).min(cores);
        taken.push((node, cpus as u32));
        self.cpus -= cpus;
        self.nodes -= 1;
        self.most -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_jobs_have_at_once_is_idle_when_both_have_ended() {
        for cpus in [1, 4] {
            let machine = ModelMachine::uniform(2, cpus);
            let mut idle = IdleNodes::new(&machine);
            let both = Alloc { nodes: NodeSet::of(2, [0]), cpus: vec![cpus], more: None };
            idle.take_anyway(&both, &machine);
            idle.take_anyway(&both, &machine);
            idle.give(&both, &machine);
            assert_eq!((idle.on(0), idle.on(1)), (0, cpus));
            idle.give(&both, &machine);
            assert_eq!(idle, IdleNodes::new(&machine));
        }
    }
}
