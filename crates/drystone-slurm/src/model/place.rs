//! On which nodes a job fits: the choice of select/cons_tres without topology among nodes of equal weight.

use super::{Alloc, Machine, NodeSet, Pending};
use serde::{Deserialize, Serialize};

/// Idle processors of every node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Idle {
    cpus: Vec<u32>,
    /// Nodes with an idle processor.
    some: NodeSet,
    /// Nodes without a job.
    all: NodeSet,
    /// Whether every node has one processor.
    single: bool,
}

impl Idle {
    /// A machine without jobs.
    #[must_use]
    pub fn new(machine: &Machine) -> Idle {
        let all = NodeSet::full(machine.nodes());
        let single = machine.cpus.iter().all(|&c| c == 1);
        Idle { cpus: machine.cpus.clone(), some: all.clone(), all, single }
    }

    /// Becomes the other, in its own memory.
    pub fn assign(&mut self, other: &Idle) {
        self.cpus.clone_from(&other.cpus);
        self.some.assign(&other.some);
        self.all.assign(&other.all);
    }

    /// Takes what a job gets.
    pub fn take(&mut self, alloc: &Alloc) {
        for (node, &cpus) in alloc.nodes.iter().zip(&alloc.cpus) {
            debug_assert!(self.cpus[node] >= cpus, "node {node} has {} idle, not {cpus}", self.cpus[node]);
            self.cpus[node] -= cpus.min(self.cpus[node]);
            if self.cpus[node] == 0 {
                self.some.remove(node);
            }
        }
        self.all.subtract(&alloc.nodes);
    }

    /// Gives back what a job had.
    pub fn give(&mut self, alloc: &Alloc, machine: &Machine) {
        if self.single {
            self.some.unite(&alloc.nodes);
            self.all.unite(&alloc.nodes);
            alloc.nodes.iter().for_each(|node| self.cpus[node] = 1);
            return;
        }
        for (node, &cpus) in alloc.nodes.iter().zip(&alloc.cpus) {
            self.cpus[node] += cpus;
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
        if whole { &self.all } else { &self.some }
    }

    /// Idle processors of a node.
    #[must_use]
    pub fn on(&self, node: usize) -> u32 {
        self.cpus[node]
    }

    /// Whether a job certainly does not fit: too few nodes or processors. Cheap.
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
        for node in usable.iter().filter(|&node| allowed.contains(node)) {
            left -= i64::from(self.cpus[node]);
            if left <= 0 {
                return false;
            }
        }
        left > 0
    }

    /// Where a job goes on the allowed nodes, if it fits.
    #[must_use]
    pub fn place(&self, job: &Pending, allowed: &NodeSet) -> Option<Alloc> {
        if self.lacks(job, allowed) {
            return None;
        }
        let mut usable = self.usable(job.whole).clone();
        usable.intersect(allowed);
        let mut found = self.evaluate(job, &usable);
        if found.is_some() || self.single {
            return found;
        }
        // A few small nodes may stand in the way: try without those of one idle processor, of two, …
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

    /// One evaluation: whole runs of consecutive nodes, the tightest that suffices first, else the largest.
    fn evaluate(&self, job: &Pending, usable: &NodeSet) -> Option<Alloc> {
        let mut runs = Vec::new();
        usable.runs(&mut runs);
        let mut need =
            Need { cpus: i64::from(job.cpus), nodes: i64::from(job.min_nodes), most: i64::from(job.max_nodes) };
        let mut taken: Vec<(usize, u32)> = Vec::new();
        while !need.met() && need.most > 0 {
            let best = self.best_run(&runs, &need)?;
            let (first, last) = runs.swap_remove(best);
            // The order of runs decides ties.
            runs.sort_unstable();
            self.take_from(first, last, job, &mut need, &mut taken);
        }
        need.met().then(|| self.alloc(taken, job.whole))
    }

    fn best_run(&self, runs: &[(usize, usize)], need: &Need) -> Option<usize> {
        let mut best: Option<(usize, bool, i64)> = None;
        for (index, &(first, last)) in runs.iter().enumerate() {
            let cpus = self.cpus_of(first, last);
            let suffices = cpus >= need.cpus && (last - first + 1) as i64 >= need.nodes;
            let better = match best {
                None => true,
                Some((_, false, _)) if suffices => true,
                Some((_, true, fewest)) => suffices && cpus < fewest,
                Some((_, false, most)) => cpus > most,
            };
            if better {
                best = Some((index, suffices, cpus));
            }
        }
        best.map(|(index, ..)| index)
    }

    fn cpus_of(&self, first: usize, last: usize) -> i64 {
        if self.single {
            return (last - first + 1) as i64;
        }
        self.cpus[first..=last].iter().map(|&c| i64::from(c)).sum()
    }

    fn take_from(&self, first: usize, last: usize, job: &Pending, need: &mut Need, taken: &mut Vec<(usize, u32)>) {
        if need.nodes <= 1 && !self.single && need.cpus > 0 {
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
            need.take(node, self.cpus[node], job.whole, taken);
        }
    }

    fn alloc(&self, mut taken: Vec<(usize, u32)>, whole: bool) -> Alloc {
        taken.sort_unstable();
        let nodes = NodeSet::of(self.cpus.len(), taken.iter().map(|&(node, _)| node));
        let cpus = taken.iter().map(|&(node, cpus)| if whole { self.cpus[node] } else { cpus }).collect();
        Alloc { nodes, cpus }
    }
}

/// What is still missing.
struct Need {
    cpus: i64,
    nodes: i64,
    /// Nodes that may still be added.
    most: i64,
}

impl Need {
    fn met(&self) -> bool {
        self.cpus <= 0 && self.nodes <= 0
    }

    /// Takes from a node what it has to give, but leaves one processor for each node that must come after it.
    fn take(&mut self, node: usize, idle: u32, whole: bool, taken: &mut Vec<(usize, u32)>) {
        let for_others = (self.nodes - 1).max(0);
        let wanted = if whole { i64::from(idle) } else { (self.cpus - for_others).max(1) };
        let cpus = i64::from(idle).min(wanted);
        taken.push((node, cpus as u32));
        self.cpus -= cpus;
        self.nodes -= 1;
        self.most -= 1;
    }
}
