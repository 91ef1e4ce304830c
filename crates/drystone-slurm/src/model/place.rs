//! Choice of nodes for a job: that of select/cons_tres without topology among nodes of equal
//! weight.

use super::fit::NodeFit;
use super::linear::WeightUse;
use super::resources::JobDemand;
use super::{Alloc, AllocMore, IdleNodes, ModelMachine, NodeSet, Pending};

impl IdleNodes {
    /// Returns the place of a job on the allowed nodes, if it fits.
    pub fn place_job(&self, job: &Pending, eligible: &NodeSet, machine: &ModelMachine) -> Option<Alloc> {
        if machine.linear {
            return self.place_whole(job, eligible, machine, WeightUse::Start);
        }
        let least_loaded = machine.parts[usize::from(job.part)].least_loaded && !self.single;
        let alone = job.demand == 0 && machine.resources.is_plain() && !least_loaded;
        if !alone
            && machine.resources.known_demand(job.demand).is_none_or(|entry| entry.demand.gpus.is_none())
            && self.lacks_room(job, eligible)
        {
            return None;
        }
        if !alone {
            return NodeFit::new(self, machine, job, &JobDemand::default()).place_job(eligible);
        }
        if self.lacks_room(job, eligible) {
            return None;
        }
        if self.single {
            let mut usable = self.some.clone();
            usable.intersect(eligible);
            return Some(usable.place_in_runs(job.cpus.max(job.min_nodes) as usize));
        }
        let mut usable = self.usable_nodes(job.whole).clone();
        usable.intersect(eligible);
        if job.max_nodes == 1 {
            // What is too small for a job of one node is not even looked at, and so parts what is
            // beside it.
            let small = usable.iter().filter(|&node| self.cpus[node] < job.cpus).collect::<Vec<_>>();
            small.into_iter().for_each(|node| usable.remove(node));
        }
        let mut placement = self.evaluate_runs(job, &usable);
        if placement.is_some() {
            return placement;
        }
        // A few small nodes may stand in the way: try without those of one idle processor, of two,
        // …
        let most = usable.iter().map(|node| self.cpus[node]).max().unwrap_or(0);
        for few in 1..most {
            let before = usable.count_nodes();
            let small = usable.iter().filter(|&node| self.cpus[node] <= few).collect::<Vec<_>>();
            small.into_iter().for_each(|node| usable.remove(node));
            if usable.count_nodes() < before {
                placement = self.evaluate_runs(job, &usable);
                if placement.is_some() {
                    break;
                }
            }
        }
        placement
    }

    /// Returns the share, beside processors, of a job that runs where `alloc` says: of devices
    /// those that are idle, as far as there are enough.
    pub fn held_share(&self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) -> Option<Box<AllocMore>> {
        self.more_resources()?;
        NodeFit::new(self, machine, job, &JobDemand::default()).held_share(alloc)
    }

    /// Returns whether the share of a job beside processors, where `alloc` says, is idle there.
    pub fn has_share(&self, job: &Pending, alloc: &Alloc, machine: &ModelMachine) -> bool {
        let Some(own) = self.more_resources() else { return true };
        let memory = alloc.more.as_ref().map_or(&[][..], |more| more.memory.as_slice());
        alloc.nodes.iter().zip(memory).all(|(node, &mb)| own.memory[node] >= mb)
            && NodeFit::new(self, machine, job, &JobDemand::default()).has_devices(alloc)
    }

    /// One evaluation: whole runs of consecutive nodes, the tightest that suffices first, else the
    /// largest.
    fn evaluate_runs(&self, job: &Pending, usable: &NodeSet) -> Option<Alloc> {
        let mut runs = Vec::with_capacity(32);
        usable.collect_runs(&mut runs);
        let mut need = MissingAmounts {
            cpus: i64::from(job.cpus),
            nodes: i64::from(job.min_nodes),
            most: i64::from(job.most_nodes()),
        };
        let mut taken_nodes: Vec<(usize, u32)> = Vec::with_capacity(job.min_nodes.clamp(16, 256) as usize);
        while !need.is_met() && need.most > 0 {
            let best = self.best_run(&runs, &need)?;
            // The order of runs decides ties.
            let (first, last) = runs.remove(best);
            self.take_from(first, last, job, &mut need, &mut taken_nodes);
        }
        need.is_met().then(|| self.build_alloc(taken_nodes, job.whole))
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
        picks: &mut Vec<(usize, u32)>,
    ) {
        if need.nodes <= 1 && need.cpus > 0 {
            let enough = (first..=last).filter(|&node| i64::from(self.cpus[node]) >= need.cpus);
            if let Some(node) = enough.min_by_key(|&node| (self.cpus[node], node)) {
                need.take_node(node, self.cpus[node], self.threads_on(node), job.whole, picks);
                return;
            }
        }
        for node in first..=last {
            if need.is_met() || need.most <= 0 {
                return;
            }
            // The last node that it may have must give it the rest.
            if need.most == 1 && i64::from(self.cpus[node]) < need.cpus {
                continue;
            }
            need.take_node(node, self.cpus[node], self.threads_on(node), job.whole, picks);
        }
    }

    fn build_alloc(&self, mut picks: Vec<(usize, u32)>, whole: bool) -> Alloc {
        let nodes = NodeSet::from_members(self.some.capacity(), picks.iter().map(|&(node, _)| node));
        // A whole node is all that it has.
        if whole {
            return Alloc { nodes, ..Alloc::default() };
        }
        picks.sort_unstable();
        Alloc { nodes, cpus: picks.iter().map(|&(_, cpus)| cpus).collect(), more: None }
    }
}

impl NodeSet {
    /// Returns the place on these nodes where every node has one processor: whole runs of
    /// consecutive nodes, the tightest that suffices first, else the largest. There are enough.
    pub(super) fn place_in_runs(&self, mut need: usize) -> Alloc {
        let mut runs = Vec::with_capacity(32);
        self.collect_runs(&mut runs);
        let mut nodes = NodeSet::empty(self.capacity());
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
}

struct MissingAmounts {
    cpus: i64,
    nodes: i64,
    /// Nodes that may still be added.
    most: i64,
}

impl MissingAmounts {
    fn is_met(&self) -> bool {
        self.cpus <= 0 && self.nodes <= 0
    }

    /// Takes from a node what it has to give, but leaves one processor for each node that must come
    /// after it.
    fn take_node(&mut self, node: usize, idle: u32, threads: i64, whole: bool, picks: &mut Vec<(usize, u32)>) {
        let for_others = (self.nodes - 1).max(0);
        let wanted_cpus = if whole { i64::from(idle) } else { (self.cpus - for_others).max(1) };
        let cores = (wanted_cpus + threads - 1) / threads * threads;
        let cpus = i64::from(idle).min(cores);
        picks.push((node, cpus as u32));
        self.cpus -= cpus;
        self.nodes -= 1;
        self.most -= 1;
    }
}
