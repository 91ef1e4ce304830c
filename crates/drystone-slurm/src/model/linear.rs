//! Choice of whole nodes for a job: that of select/linear.

use super::fit::NodeFit;
use super::resources::{JobDemand, KnownDemand, MemoryDemand};
use super::{Alloc, IdleNodes, ModelMachine, NodeSet, Pending};

/// Use of the scheduling weights of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WeightUse {
    /// A start takes nodes of the lowest weights that suffice.
    Start,
    /// A plan takes any nodes.
    Plan,
}

impl IdleNodes {
    /// Returns the place of a job on whole nodes among the allowed ones, if it fits.
    pub(super) fn place_whole(
        &self,
        job: &Pending,
        eligible: &NodeSet,
        machine: &ModelMachine,
        weights: WeightUse,
    ) -> Option<Alloc> {
        let demand = machine.resources.known_demand(job.demand);
        let mut usable = self.usable_nodes(true).clone();
        usable.intersect(eligible);
        if let Some(demand_entry) = demand {
            usable.intersect(&demand_entry.suitable);
            let lacking: Vec<usize> =
                usable.iter().filter(|&node| lacks_resources(machine, demand_entry, node)).collect();
            lacking.into_iter().for_each(|node| usable.remove(node));
        }
        let nodes = match demand.map(|demand| demand.one_of.as_slice()) {
            None | Some([]) => choose_whole_nodes(job, &usable, machine, weights)?,
            Some(sets) => sets.iter().find_map(|set| {
                let mut usable = usable.clone();
                usable.intersect(set);
                choose_whole_nodes(job, &usable, machine, weights)
            })?,
        };
        let shares = nodes.into_iter().map(|node| (node, i64::from(machine.cpus[node]), 0)).collect();
        Some(NodeFit::new(self, machine, job, &JobDemand::default()).build_alloc(shares))
    }
}

/// Returns whether a node without jobs lacks memory or devices. All of its processors count for the
/// memory of each processor.
fn lacks_resources(machine: &ModelMachine, demand_entry: &KnownDemand, node: usize) -> bool {
    let (resources, demand) = (&machine.resources, &demand_entry.demand);
    let least = match demand.memory {
        MemoryDemand::PerNode(mb) => mb,
        MemoryDemand::PerCpu(mb) => mb.saturating_mul(u64::from(machine.cpus[node])),
        MemoryDemand::None | MemoryDemand::PerGpu(_) | MemoryDemand::WholeNode => 0,
    };
    let devices = |kinds: u64| -> u64 {
        let of = resources.gres.iter().enumerate().filter(|&(kind, _)| kinds >> kind & 1 == 1);
        of.map(|(_, gres)| u64::from(gres[node])).sum()
    };
    let gpus = demand.gpus.as_ref().map(|gpus| (gpus.kinds, gpus.per_node));
    resources.memory.get(node).is_some_and(|&has| has < least)
        || gpus.iter().chain(&demand.gres).any(|&(kinds, count)| devices(kinds) < u64::from(count))
}

/// Chooses nodes. At a start, the nodes of one line of the configuration after the other are added,
/// those of low weight first, until they suffice.
fn choose_whole_nodes(
    job: &Pending,
    usable: &NodeSet,
    machine: &ModelMachine,
    weights: WeightUse,
) -> Option<Vec<usize>> {
    if weights == WeightUse::Plan {
        return WholeChoice::new(job, usable, machine).choose_nodes();
    }
    let of = |node: usize| {
        let weight = machine.resources.weights.get(node).copied().unwrap_or(1);
        (weight, machine.lines.get(node).copied().unwrap_or(0))
    };
    let mut steps: Vec<(u32, u32)> = usable.iter().map(of).collect();
    steps.sort_unstable();
    steps.dedup();
    let most = asked_nodes(job, machine).1 as usize;
    let mut light = NodeSet::empty(machine.node_count());
    for (at, &step) in steps.iter().enumerate() {
        usable.iter().filter(|&node| of(node) == step).for_each(|node| light.insert(node));
        let is_last = at + 1 == steps.len();
        if light.count_nodes() < most && !is_last {
            continue;
        }
        if let Some(nodes) = WholeChoice::new(job, &light, machine).choose_nodes() {
            return Some(nodes);
        }
    }
    None
}

/// Nodes that the job needs, and those that it wants: of a range the upper end.
fn asked_nodes(job: &Pending, machine: &ModelMachine) -> (i64, i64) {
    let least = i64::from(job.min_nodes);
    let most = if job.max_nodes == u32::MAX { least } else { most_nodes(job, machine) };
    (least, most.max(least))
}

/// Returns the most nodes that a job may have: one for each task.
fn most_nodes(job: &Pending, machine: &ModelMachine) -> i64 {
    let tasks = machine.resources.known_demand(job.demand).map_or(0, |entry| entry.demand.tasks);
    let most = i64::from(job.most_nodes());
    if tasks == 0 { most } else { most.min(i64::from(tasks.max(job.min_nodes))) }
}

/// Consecutive usable nodes, without those that the job names.
struct NodeRun {
    first: usize,
    last: usize,
    nodes: i64,
    cpus: i64,
    /// The first named node within.
    named: Option<usize>,
}

/// A choice being made.
struct WholeChoice<'a> {
    machine: &'a ModelMachine,
    usable: &'a NodeSet,
    named: &'a [u32],
    taken: Vec<usize>,
    cpus: i64,
    nodes: i64,
    /// Nodes that may still be added.
    most: i64,
    /// Nodes of those wanted that need not be there.
    spare: i64,
    least: i64,
}

impl<'a> WholeChoice<'a> {
    fn new(job: &Pending, usable: &'a NodeSet, machine: &'a ModelMachine) -> WholeChoice<'a> {
        let (least, wanted_nodes) = asked_nodes(job, machine);
        let demand = machine.resources.known_demand(job.demand);
        WholeChoice {
            machine,
            usable,
            named: demand.map_or(&[], |entry| entry.demand.named.0.as_slice()),
            taken: Vec::new(),
            cpus: i64::from(job.cpus),
            nodes: wanted_nodes,
            most: most_nodes(job, machine),
            spare: wanted_nodes - least,
            least,
        }
    }

    fn choose_nodes(mut self) -> Option<Vec<usize>> {
        let is_free = |&node: &u32| self.usable.contains(node as usize);
        if (self.usable.count_nodes() as i64) < self.least || !self.named.iter().all(is_free) {
            return None;
        }
        self.named.iter().for_each(|&node| self.take_node(node as usize));
        let sizes = || self.usable.iter().map(|node| self.machine.cpus[node]);
        let smallest = i64::from(sizes().min()?);
        if sizes().any(|cpus| i64::from(cpus) != smallest) && self.cpus > smallest * self.nodes {
            self.take_largest();
        } else {
            self.take_runs();
        }
        let enough = self.cpus <= 0 && self.nodes - self.spare <= 0;
        self.taken.sort_unstable();
        enough.then_some(self.taken)
    }

    fn is_met(&self) -> bool {
        self.cpus <= 0 && self.nodes <= 0
    }

    fn take_node(&mut self, node: usize) {
        self.taken.push(node);
        self.cpus -= i64::from(self.machine.cpus[node]);
        self.nodes -= 1;
        self.most -= 1;
    }

    /// Takes the largest nodes, of equal ones the last.
    fn take_largest(&mut self) {
        let mut remaining: Vec<usize> = self.usable.iter().filter(|node| !self.taken.contains(node)).collect();
        remaining.sort_by_key(|&node| (self.machine.cpus[node], node));
        while self.most > 0 && !self.is_met() {
            let Some(node) = remaining.pop() else { return };
            self.take_node(node);
        }
    }

    /// Takes runs of consecutive nodes: with named nodes first, then the tightest that suffices,
    /// else the largest.
    fn take_runs(&mut self) {
        let mut runs = self.find_runs();
        while self.most > 0 {
            let Some(best) = self.best_run(&runs) else { return };
            let NodeRun { first, last, named, .. } = runs.remove(best);
            let from = named.unwrap_or(first);
            for node in (from..=last).chain((first..from).rev()) {
                if self.most <= 0 || self.is_met() {
                    break;
                }
                if !self.taken.contains(&node) {
                    self.take_node(node);
                }
            }
            if self.is_met() {
                return;
            }
        }
    }

    fn find_runs(&self) -> Vec<NodeRun> {
        let mut ends = Vec::new();
        self.usable.collect_runs(&mut ends);
        let run = |&(first, last): &(usize, usize)| {
            let is_named = |node: &usize| self.named.contains(&(*node as u32));
            let unnamed_nodes = || (first..=last).filter(|node| !is_named(node));
            NodeRun {
                first,
                last,
                nodes: unnamed_nodes().count() as i64,
                cpus: unnamed_nodes().map(|node| i64::from(self.machine.cpus[node])).sum(),
                named: (first..=last).find(is_named),
            }
        };
        ends.iter().map(run).filter(|run| run.nodes > 0).collect()
    }

    fn best_run(&self, runs: &[NodeRun]) -> Option<usize> {
        let mut best: Option<(usize, &NodeRun, bool)> = None;
        for (at, run) in runs.iter().enumerate() {
            let suffices = run.cpus >= self.cpus && run.nodes >= self.nodes - self.spare;
            let better = best.is_none_or(|(_, rival, is_sufficient)| {
                (rival.named.is_none() && run.named.is_some())
                    || (suffices && !is_sufficient)
                    || (suffices && run.cpus < rival.cpus)
                    // Also where the other suffices: Slurm does not look at that.
                    || (!suffices && run.cpus > rival.cpus)
            });
            if better {
                best = Some((at, run, suffices));
            }
        }
        best.map(|(at, ..)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpus: &[u32]) -> ModelMachine {
        ModelMachine { cpus: cpus.to_vec(), linear: true, ..ModelMachine::with_equal_nodes(cpus.len(), 1) }
    }

    fn place_job(machine: &ModelMachine, free: &[usize], job: &Pending, weights: WeightUse) -> Option<Vec<usize>> {
        let node_set = NodeSet::from_members(machine.node_count(), free.iter().copied());
        let alloc = IdleNodes::new(machine).place_whole(job, &node_set, machine, weights)?;
        Some(alloc.nodes.iter().collect())
    }

    fn job(cpus: u32, nodes: (u32, u32)) -> Pending {
        Pending { min_nodes: nodes.0, max_nodes: nodes.1, whole: true, ..Pending::new(0, cpus, 60) }
    }

    #[test]
    fn processors_beyond_the_smallest_nodes_take_the_largest_from_the_end() {
        let machine = machine(&[8, 8, 4, 4]);
        // 12 processors need more than one smallest node has: 8 + 8, not 8 + 4.
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(12, (1, u32::MAX)), WeightUse::Plan), Some(vec![0, 1]));
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(8, (1, u32::MAX)), WeightUse::Plan), Some(vec![1]));
        // Four processors are on any node: the first of the run.
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(4, (1, u32::MAX)), WeightUse::Plan), Some(vec![0]));
        assert_eq!(place_job(&machine, &[2, 3], &job(9, (1, u32::MAX)), WeightUse::Plan), None);
    }

    #[test]
    fn the_tightest_run_is_taken_and_a_range_takes_what_it_can() {
        let machine = machine(&[4; 8]);
        let free = [0, 1, 2, 4, 5, 7];
        assert_eq!(place_job(&machine, &free, &job(1, (2, 2)), WeightUse::Plan), Some(vec![4, 5]));
        assert_eq!(place_job(&machine, &free, &job(1, (1, 1)), WeightUse::Plan), Some(vec![7]));
        assert_eq!(place_job(&machine, &free, &job(1, (2, 7)), WeightUse::Plan), Some(vec![0, 1, 2, 4, 5, 7]));
        assert_eq!(place_job(&machine, &free, &job(1, (7, 7)), WeightUse::Plan), None);
    }

    #[test]
    fn a_start_adds_the_nodes_of_one_line_after_the_other() {
        let machine = ModelMachine { lines: vec![0, 1, 1, 1], ..machine(&[8; 4]) };
        // One node of the first line is too few: those of the second are a run of two.
        assert_eq!(place_job(&machine, &[0, 2, 3], &job(1, (2, 2)), WeightUse::Start), Some(vec![2, 3]));
        assert_eq!(place_job(&machine, &[0, 2, 3], &job(1, (1, 1)), WeightUse::Start), Some(vec![0]));
        let each = ModelMachine { lines: vec![0, 1, 2, 3], ..machine };
        assert_eq!(place_job(&each, &[0, 2, 3], &job(1, (2, 2)), WeightUse::Start), Some(vec![0, 2]));
    }

    #[test]
    fn a_start_looks_at_weights_and_a_plan_does_not() {
        let mut machine = machine(&[4; 4]);
        machine.resources.weights = vec![2, 2, 1, 1];
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(1, (1, 1)), WeightUse::Start), Some(vec![2]));
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(1, (1, 1)), WeightUse::Plan), Some(vec![0]));
        assert_eq!(place_job(&machine, &[0, 1, 2, 3], &job(1, (3, 3)), WeightUse::Start), Some(vec![0, 1, 2]));
    }
}
