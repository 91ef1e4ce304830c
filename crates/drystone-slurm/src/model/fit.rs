//! Choice of nodes for a job where nodes have memory, GPUs, weights or features: that of
//! select/cons_tres without topology. [`IdleNodes::place_job`] is the same for processors alone.

use super::resources::{GpuDemand, IdleMore, JobDemand, KnownDemand, MemoryDemand};
use super::{Alloc, AllocMore, IdleNodes, ModelMachine, NodeSet, Pending};
use drystone_core::model::SharedSort;

/// Offer of one node to a job.
#[derive(Clone, Copy, Debug)]
struct Offer {
    node: usize,
    /// Processors that it counts with.
    cpus: i64,
    /// GPUs that it counts with.
    gpus: i64,
    /// Processors and GPUs in all, by which small nodes are left out.
    size: i64,
    /// Its scheduling weight.
    weight: u64,
}

/// A node that was chosen, with processors and GPUs.
pub(super) type TakenNode = (usize, i64, i64);

/// The question where a job goes.
pub(super) struct NodeFit<'a> {
    idle: &'a IdleNodes,
    machine: &'a ModelMachine,
    job: &'a Pending,
    demand: &'a JobDemand,
    known: Option<&'a KnownDemand>,
    /// Its tasks, and processors of each.
    tasks: i64,
    per_task: i64,
    /// True if it asks for exactly one node.
    one_node: bool,
    /// The cap of its partition, by its place among the caps.
    cap: Option<usize>,
}

impl<'a> NodeFit<'a> {
    pub(super) fn new(
        idle: &'a IdleNodes,
        machine: &'a ModelMachine,
        job: &'a Pending,
        nothing: &'a JobDemand,
    ) -> NodeFit<'a> {
        let known_demand = machine.resources.known_demand(job.demand);
        let demand = known_demand.map_or(nothing, |entry| &entry.demand);
        let tasks = if demand.tasks == 0 { job.cpus } else { demand.tasks };
        let (tasks, per_task) = (i64::from(tasks.max(1)), i64::from(demand.cpus_per_task.max(1)));
        let cap = machine.resources.cap_of(job.part).filter(|_| !job.uncapped);
        NodeFit { idle, machine, job, demand, known: known_demand, tasks, per_task, one_node: job.max_nodes == 1, cap }
    }

    /// Returns its place on the allowed nodes, if it fits.
    pub(super) fn place_job(&self, candidates: &NodeSet) -> Option<Alloc> {
        let Some(entry) = self.known else { return self.place_on(candidates.clone()) };
        let mut nodes = candidates.clone();
        nodes.intersect(&entry.suitable);
        if entry.one_of.is_empty() {
            return self.place_on(nodes);
        }
        entry.one_of.iter().find_map(|set| {
            let mut nodes = nodes.clone();
            nodes.intersect(set);
            self.place_on(nodes)
        })
    }

    fn place_on(&self, mut nodes: NodeSet) -> Option<Alloc> {
        if self.demand.gpus.is_some() {
            let out: Vec<usize> = nodes.iter().filter(|&node| self.is_filtered(node)).collect();
            out.into_iter().for_each(|node| nodes.remove(node));
            if nodes.count_nodes() < self.job.min_nodes as usize {
                return None;
            }
            // A first run as if no core was in use matters for the weights alone.
            self.choose_nodes(&self.collect_offers(&nodes, true))?;
        } else {
            // Of nodes without an idle processor nothing else needs to be known.
            nodes.intersect(self.idle.usable_nodes(false));
            if nodes.count_nodes() < self.job.min_nodes as usize {
                return None;
            }
        }
        let taken_nodes = self.choose_nodes(&self.collect_offers(&nodes, false))?;
        Some(self.build_alloc(taken_nodes))
    }

    fn memory_on(&self, node: usize) -> Option<i64> {
        self.idle.more_resources().and_then(|more| more.memory.get(node)).map(|&mb| mb as i64)
    }

    fn devices_on(&self, kinds: u64, node: usize) -> i64 {
        self.idle.more_resources().map_or(0, |more| more.idle_devices(kinds, node))
    }

    /// Returns whether a node is out before anything is counted.
    fn is_filtered(&self, node: usize) -> bool {
        let demand = self.demand;
        let gpus = demand.gpus.as_ref();
        if let Some(free) = self.memory_on(node) {
            let least = match demand.memory {
                MemoryDemand::None => 0,
                MemoryDemand::PerNode(mb) => mb as i64,
                MemoryDemand::PerCpu(mb) => (mb as i64).saturating_mul(self.per_task),
                MemoryDemand::PerGpu(mb) => mb as i64 * gpus.map_or(0, |gpus| i64::from(gpus.per_node)),
                MemoryDemand::WholeNode => self.machine.resources.memory[node] as i64,
            };
            if free < least {
                return true;
            }
        }
        let resources = &self.machine.resources;
        if self.job.whole {
            let is_in_use = |(kind, gres): (usize, &Vec<u32>)| {
                self.idle.more_resources().is_some_and(|more: &IdleMore| more.gres[kind][node] < gres[node])
            };
            if resources.gres.iter().enumerate().any(is_in_use) {
                return true;
            }
        }
        let short = |gpus: &GpuDemand| self.devices_on(gpus.kinds, node) < i64::from(gpus.per_node).max(1);
        gpus.is_some_and(short)
            || demand.gres.iter().any(|&(kinds, count)| self.devices_on(kinds, node) < i64::from(count))
    }

    /// Processors of a node that the cap of its partition leaves to the job.
    fn under_cap(&self, node: usize, as_if_idle: bool) -> i64 {
        let Some(cap) = self.cap else { return i64::MAX };
        let usage = self.idle.more_resources().map_or(0, |more| more.capped[cap][node]);
        i64::from(self.machine.resources.caps[cap].cpus) - if as_if_idle { 0 } else { i64::from(usage) }
    }

    fn collect_offers(&self, nodes: &NodeSet, as_if_idle: bool) -> Vec<Offer> {
        nodes.iter().filter_map(|node| self.offer_of(node, as_if_idle)).collect()
    }

    /// Returns the offer of a node; `None` if it cannot be used.
    #[inline]
    fn offer_of(&self, node: usize, as_if_idle: bool) -> Option<Offer> {
        let (node_cpus, idle) = (i64::from(self.machine.cpus[node]), i64::from(self.idle.idle_on(node)));
        let free = match (as_if_idle, self.job.whole) {
            (true, _) => node_cpus,
            (false, true) if idle < node_cpus => 0,
            (false, _) => idle,
        };
        let free = free.min(self.under_cap(node, as_if_idle));
        let least = self.per_task.max(i64::from(self.demand.least_cpus));
        if free < least || (self.one_node && free < self.per_task * self.tasks) {
            return None;
        }
        // Those that ask for GPUs have been filtered before.
        if self.demand.gpus.is_none() && self.is_filtered(node) {
            return None;
        }
        let gpus = match &self.demand.gpus {
            Some(gpus) => self.gpus_on(gpus, node, free)?,
            None => 0,
        };
        let mut cpus = free;
        if let Some(memory) = self.memory_on(node) {
            match self.demand.memory {
                MemoryDemand::PerCpu(mb) if mb > 0 => {
                    cpus = cpus.min(memory / mb as i64);
                    if self.job.whole && cpus < free {
                        return None;
                    }
                    cpus -= cpus % self.per_task;
                    // Tasks per node are looked at again with the processors that memory leaves.
                    if cpus < least {
                        return None;
                    }
                }
                MemoryDemand::PerNode(mb) if memory < mb as i64 => return None,
                _ => {}
            }
        }
        let mut tasks = cpus / self.per_task;
        if tasks == 0 || (self.one_node && tasks < self.tasks) {
            return None;
        }
        let size = cpus + gpus;
        let mut gpu_count = gpus;
        if let Some(gpu_demand) = &self.demand.gpus {
            if self.one_node || self.tasks == 1 {
                tasks = self.tasks;
            }
            if gpu_demand.per_task > 0 {
                tasks = tasks.min(gpus / i64::from(gpu_demand.per_task));
                if tasks == 0 || (self.one_node && tasks < self.tasks) {
                    return None;
                }
            }
            let cpus_per_gpu = i64::from(gpu_demand.cpus_each);
            let have = cpus;
            cpus = tasks * self.per_task;
            if cpus_per_gpu > 0 {
                let gpus_needed = if gpu_demand.per_node > 0 { i64::from(gpu_demand.per_node) } else { gpus };
                cpus = cpus.max((gpus_needed * cpus_per_gpu).min(have));
                gpu_count = gpus.min(cpus / cpus_per_gpu);
            }
        }
        if self.job.whole {
            cpus = node_cpus.min(self.under_cap(node, as_if_idle));
        }
        let weights = &self.machine.resources.weights;
        let weight = weights.get(node).map_or(1, |&weight| u64::from(weight)) << 8;
        let weight = weight | u64::from(self.machine.resources.bytes.get(node));
        Some(Offer { node, cpus, gpus: gpu_count, size, weight })
    }

    /// GPUs that a node with so many free processors offers.
    fn gpus_on(&self, gpu_demand: &GpuDemand, node: usize, free: i64) -> Option<i64> {
        let mut total = self.devices_on(gpu_demand.kinds, node);
        let (per_node, per_task) = (i64::from(gpu_demand.per_node), i64::from(gpu_demand.per_task));
        let in_all = i64::from(gpu_demand.in_all(self.tasks as u32));
        let mut cap = match (per_node, in_all) {
            (0, 0) => i64::MAX,
            (0, in_all) => in_all,
            (per_node, _) => per_node,
        };
        if gpu_demand.cpus_each > 0 {
            let by_cpus = free / i64::from(gpu_demand.cpus_each);
            if by_cpus == 0 || by_cpus < per_node.max(per_task) {
                return None;
            }
            cap = cap.min(by_cpus);
        }
        if let (MemoryDemand::PerGpu(mb), Some(memory)) = (self.demand.memory, self.memory_on(node))
            && mb > 0
        {
            let by_memory = memory / mb as i64;
            total = total.min(by_memory);
            cap = cap.min(by_memory);
        }
        if total.min(cap) < per_node.max(1) {
            return None;
        }
        self.machine.resources.bytes.note_gpu_test(node, total.min(cap));
        Some(total)
    }

    /// The choice; where it fails, once more without the smallest nodes.
    fn choose_nodes(&self, offers: &[Offer]) -> Option<Vec<TakenNode>> {
        if offers.len() < self.job.min_nodes as usize || !self.could_suffice(offers) {
            return None;
        }
        if let choice @ Some(_) = self.evaluate_offers(offers) {
            return choice;
        }
        let most = offers.iter().map(|offer| offer.size).max().unwrap_or(0);
        let mut remaining = offers.to_vec();
        loop {
            let unnamed_offers = remaining.iter().filter(|offer| !self.is_named(offer));
            let least = unnamed_offers.map(|offer| offer.size).min().filter(|&least| least < most)?;
            if remaining.len() <= self.job.min_nodes as usize {
                return None;
            }
            remaining.retain(|offer| offer.size > least || self.is_named(offer));
            // Without further nodes it can be no better.
            if !self.could_suffice(&remaining) {
                return None;
            }
            if let choice @ Some(_) = self.evaluate_offers(&remaining) {
                return choice;
            }
        }
    }

    /// Returns false if no choice among these offers can be enough, in time linear in them.
    fn could_suffice(&self, offers: &[Offer]) -> bool {
        // Named nodes are taken whatever the job's number of nodes says.
        if !self.demand.named.0.is_empty() {
            return true;
        }
        let need = Wanting::new(self);
        let (mut cpus, mut gpus, mut largest) = (0, 0, 0);
        for offer in offers {
            cpus += offer.cpus;
            gpus += offer.gpus;
            largest = largest.max(offer.cpus);
        }
        cpus.min(need.most.saturating_mul(largest)) >= need.cpus && gpus >= need.gpus
    }

    fn evaluate_offers(&self, offers: &[Offer]) -> Option<Vec<TakenNode>> {
        let mut need = Wanting::new(self);
        let mut taken_nodes: Vec<TakenNode> = Vec::new();
        if !self.demand.named.0.is_empty() {
            for offer in offers.iter().filter(|offer| self.is_named(offer)) {
                self.take_offer(offer, &mut need, &mut taken_nodes);
            }
            if taken_nodes.len() < self.demand.named.0.len() {
                return None;
            }
        }
        if self.machine.parts[usize::from(self.job.part)].least_loaded {
            let unnamed_offers: Vec<Offer> = offers.iter().filter(|offer| !self.is_named(offer)).copied().collect();
            self.take_least_loaded(&unnamed_offers, &mut need, &mut taken_nodes);
            return need.is_enough().then_some(taken_nodes);
        }
        let mut sets = self.offer_sets(offers);
        while !need.is_met() && need.most > 0 && !sets.is_empty() {
            let best = best_set(&sets, &need);
            let OfferSet { first, last, named, .. } = sets.remove(best);
            match named {
                Some(place) => {
                    let neighbours = (place..=last).chain((first..place).rev()).map(|at| &offers[at]);
                    self.take_each(neighbours.filter(|offer| !self.is_named(offer)), &mut need, &mut taken_nodes);
                }
                None => self.take_from(&offers[first..=last], &mut need, &mut taken_nodes),
            }
        }
        need.is_enough().then_some(taken_nodes)
    }

    /// Takes nodes one by one: of the lowest weight those of which the largest part is idle.
    fn take_least_loaded(&self, offers: &[Offer], need: &mut Wanting, picks: &mut Vec<TakenNode>) {
        let mut offers: Vec<&Offer> = offers.iter().collect();
        let node_cpus = |offer: &Offer| i64::from(self.machine.cpus[offer.node]);
        offers.sort_shared_by(|a, b| {
            let load = (b.cpus * node_cpus(a)).cmp(&(a.cpus * node_cpus(b)));
            a.weight.cmp(&b.weight).then(load).then(a.node.cmp(&b.node))
        });
        for offer in offers {
            if need.is_met() || need.most <= 0 {
                return;
            }
            self.take_offer(offer, need, picks);
        }
    }

    /// Returns whether the job asks for this node by name.
    fn is_named(&self, offer: &Offer) -> bool {
        self.demand.named.0.contains(&(offer.node as u32))
    }

    /// Returns the sets of consecutive nodes of one weight. Named nodes are taken already, but part
    /// no set.
    fn offer_sets(&self, offers: &[Offer]) -> Vec<OfferSet> {
        let mut sets: Vec<OfferSet> = Vec::new();
        for (at, offer) in offers.iter().enumerate() {
            let follows = |set: &OfferSet| {
                set.last + 1 == at && offers[set.last].node + 1 == offer.node && set.weight == offer.weight
            };
            if !sets.last().is_some_and(follows) {
                let weight = offer.weight;
                sets.push(OfferSet { first: at, last: at, weight, nodes: 0, cpus: 0, gpus: 0, named: None });
            }
            if let Some(set) = sets.last_mut() {
                set.last = at;
                if self.is_named(offer) {
                    set.named = set.named.or(Some(at));
                } else {
                    set.nodes += 1;
                    set.cpus += offer.cpus;
                    set.gpus += offer.gpus;
                }
            }
        }
        sets.retain(|set| set.nodes > 0);
        sets
    }

    fn take_from(&self, offers: &[Offer], need: &mut Wanting, picks: &mut Vec<TakenNode>) {
        if need.nodes <= 1 {
            let fits = |offer: &&Offer| offer.cpus >= need.cpus && offer.gpus >= need.gpus;
            if let Some(offer) = offers.iter().filter(fits).min_by_key(|offer| (offer.cpus, offer.node)) {
                self.take_offer(offer, need, picks);
                return;
            }
        }
        self.take_each(offers.iter(), need, picks);
    }

    fn take_each<'o>(&self, offers: impl Iterator<Item = &'o Offer>, need: &mut Wanting, picks: &mut Vec<TakenNode>) {
        for offer in offers {
            if need.is_met() || need.most <= 0 {
                return;
            }
            // The last node that it may have must give it the rest.
            if need.most == 1 && offer.cpus < need.cpus {
                continue;
            }
            self.take_offer(offer, need, picks);
        }
    }

    /// Takes from a node what it offers, but leaves one processor for each node that must come
    /// after it.
    fn take_offer(&self, offer: &Offer, need: &mut Wanting, picks: &mut Vec<TakenNode>) {
        let mut cpus = offer.cpus;
        if !self.job.whole {
            let wanted_cpus = need.cpus - (need.least_nodes - 1).max(0);
            if cpus > wanted_cpus {
                let gpus = self.demand.gpus.as_ref();
                let of_gpus = gpus.map_or(0, |gpus| i64::from(gpus.per_node) * i64::from(gpus.cpus_each));
                let least = self.per_task.max(i64::from(self.demand.least_cpus)).max(of_gpus);
                let threads = i64::from(self.machine.threads_on(offer.node));
                cpus = cpus.min((wanted_cpus.max(least) + threads - 1) / threads * threads);
            }
        }
        picks.push((offer.node, cpus, offer.gpus));
        need.cpus -= cpus;
        need.gpus -= if need.counts_gpus { offer.gpus } else { 0 };
        need.nodes -= 1;
        need.least_nodes -= 1;
        need.most -= 1;
    }

    /// Returns the allocation on the chosen nodes.
    pub(super) fn build_alloc(&self, mut picks: Vec<TakenNode>) -> Alloc {
        picks.sort_unstable();
        let nodes = NodeSet::from_members(self.machine.node_count(), picks.iter().map(|&(node, ..)| node));
        let cpus = if self.job.whole { Vec::new() } else { picks.iter().map(|pick| self.cpus_of(pick)).collect() };
        Alloc { nodes, cpus, more: self.build_share(&picks) }
    }

    fn cpus_of(&self, &(node, cpus, _): &TakenNode) -> u32 {
        if self.job.whole { self.machine.cpus[node] } else { cpus as u32 }
    }

    /// Returns the share of a job that is on these nodes already, beside processors: of devices
    /// those that are idle, as far as there are enough.
    pub(super) fn held_share(&self, alloc: &Alloc) -> Option<Box<AllocMore>> {
        let kinds = self.demand.gpus.as_ref().map_or(0, |gpus| gpus.kinds);
        let taken_node = |(node, cpus): (usize, u32)| (node, i64::from(cpus), self.devices_on(kinds, node));
        self.build_share(&alloc.iter(self.machine).map(taken_node).collect::<Vec<_>>())
    }

    /// Returns whether the devices that the job has there are as many as it asks for.
    pub(super) fn has_devices(&self, alloc: &Alloc) -> bool {
        if self.job.whole {
            let idle = |(kind, counts): (usize, &Vec<u32>)| {
                alloc.nodes.iter().all(|node| self.devices_on(1 << kind, node) >= i64::from(counts[node]))
            };
            return self.machine.resources.gres.iter().enumerate().all(idle);
        }
        let kinds = self.demand.gpus.as_ref().map_or(0, |gpus| gpus.kinds);
        let taken_node = |(node, cpus): (usize, u32)| (node, i64::from(cpus), self.devices_on(kinds, node));
        let taken_nodes: Vec<TakenNode> = alloc.iter(self.machine).map(taken_node).collect();
        let other_devices: i64 = self.demand.gres.iter().map(|&(_, count)| i64::from(count)).sum();
        let in_all = self.demand.gpus.as_ref().map_or(0, |gpus| i64::from(gpus.in_all(self.tasks as u32)));
        let asked_devices =
            self.shared_gpus(&taken_nodes).iter().sum::<i64>().max(in_all) + other_devices * taken_nodes.len() as i64;
        alloc.more.as_ref().map_or(0, |more| more.device_count() as i64) >= asked_devices
    }

    /// Returns the share of the job of these nodes beside processors.
    fn build_share(&self, picks: &[TakenNode]) -> Option<Box<AllocMore>> {
        let resources = &self.machine.resources;
        let gpus = self.shared_gpus(picks);
        let mut more = AllocMore::default();
        if !resources.memory.is_empty() {
            let of = |(pick, &gpus): (&TakenNode, &i64)| match self.demand.memory {
                MemoryDemand::None => 0,
                MemoryDemand::PerNode(mb) => mb,
                MemoryDemand::PerCpu(mb) => mb * u64::from(self.cpus_of(pick)),
                MemoryDemand::PerGpu(mb) => mb * gpus as u64,
                MemoryDemand::WholeNode => resources.memory[pick.0],
            };
            more.memory = picks.iter().zip(&gpus).map(of).collect();
        }
        if self.job.whole {
            for (kind, gres) in resources.gres.iter().enumerate() {
                let nodes_with_gres = picks.iter().filter(|pick| gres[pick.0] > 0);
                more.gres.extend(nodes_with_gres.map(|&(node, ..)| (kind as u16, node as u32, gres[node])));
            }
        } else {
            for (&(node, ..), &count) in picks.iter().zip(&gpus) {
                let kinds = self.demand.gpus.as_ref().map_or(0, |gpus| gpus.kinds);
                self.give_devices(kinds, node, count, &mut more);
                for &(kinds, count) in &self.demand.gres {
                    self.give_devices(kinds, node, i64::from(count), &mut more);
                }
            }
        }
        more.cap = self.cap.map(|cap| cap as u16);
        let some = !more.memory.is_empty() || !more.gres.is_empty() || more.cap.is_some();
        some.then(|| Box::new(more))
    }

    /// GPUs that the job has on each of its nodes.
    fn shared_gpus(&self, picks: &[TakenNode]) -> Vec<i64> {
        let Some(gpu_demand) = &self.demand.gpus else { return vec![0; picks.len()] };
        if gpu_demand.per_node > 0 {
            return vec![i64::from(gpu_demand.per_node); picks.len()];
        }
        let mut remaining = i64::from(gpu_demand.in_all(self.tasks as u32));
        // Those of one task on each node, then more from the first one on.
        let gpus_per_task = i64::from(gpu_demand.per_task.max(1));
        let mut shares: Vec<i64> = picks.iter().map(|pick| pick.2.min(gpus_per_task)).collect();
        remaining -= shares.iter().sum::<i64>();
        for (share, pick) in shares.iter_mut().zip(picks) {
            let more = remaining.clamp(0, (pick.2 - *share).max(0)) / gpus_per_task * gpus_per_task;
            *share += more;
            remaining -= more;
        }
        shares
    }

    /// Gives devices of these kinds, the first kind first.
    fn give_devices(&self, kinds: u64, node: usize, count: i64, more: &mut AllocMore) {
        let Some(idle) = self.idle.more_resources() else { return };
        let mut remaining = count as u32;
        for (kind, gres) in idle.gres.iter().enumerate().filter(|&(kind, _)| kinds >> kind & 1 == 1) {
            let device_count = remaining.min(gres[node]);
            if device_count > 0 {
                more.gres.push((kind as u16, node as u32, device_count));
                remaining -= device_count;
            }
        }
    }
}

/// Consecutive nodes of one weight.
struct OfferSet {
    /// First and last place among the offers.
    first: usize,
    last: usize,
    weight: u64,
    /// Sum of what those offer that the job does not name.
    nodes: i64,
    cpus: i64,
    gpus: i64,
    /// The place of the first offer of a node that it names.
    named: Option<usize>,
}

/// The place of the best set: of the lowest weight one with named nodes, then the tightest that
/// suffices, else the largest.
fn best_set(sets: &[OfferSet], need: &Wanting) -> usize {
    let mut best: Option<(usize, &OfferSet, bool)> = None;
    for (index, set) in sets.iter().enumerate() {
        let suffices = set.cpus >= need.cpus && set.nodes >= need.nodes - need.spare && set.gpus >= need.gpus;
        let better = best.is_none_or(|(_, rival, sufficient)| {
            set.weight < rival.weight
                || (set.weight == rival.weight
                    && ((rival.named.is_none() && set.named.is_some())
                        || match (suffices, sufficient) {
                            (true, false) => true,
                            (true, true) => set.cpus < rival.cpus,
                            // Also where the best so far suffices: Slurm does not look at that.
                            (false, _) => set.cpus > rival.cpus,
                        }))
        });
        if better {
            best = Some((index, set, suffices));
        }
    }
    best.map_or(0, |(index, ..)| index)
}

/// Missing amounts.
struct Wanting {
    cpus: i64,
    /// Nodes that are wanted, nodes that are needed, nodes that may still be added.
    nodes: i64,
    least_nodes: i64,
    most: i64,
    /// Nodes of those wanted that need not be there.
    spare: i64,
    /// GPUs that the job counts in all.
    gpus: i64,
    counts_gpus: bool,
}

impl Wanting {
    fn new(fit: &NodeFit<'_>) -> Wanting {
        let (least, most) = (i64::from(fit.job.min_nodes), i64::from(fit.job.most_nodes()));
        // A range asks for its upper end; that of the partition is none of the job.
        let wanted_nodes = if most > least && fit.job.max_nodes != u32::MAX { most } else { least };
        let most = if fit.demand.tasks == 0 { most } else { most.min(fit.tasks.max(least)) };
        let wanted_count = wanted_nodes.min(most.max(least));
        let gpus = fit.demand.gpus.as_ref().map_or(0, |gpus| i64::from(gpus.in_all(fit.tasks as u32)));
        Wanting {
            cpus: i64::from(fit.job.cpus),
            nodes: if gpus > 0 { least } else { wanted_count },
            least_nodes: least,
            most,
            spare: wanted_count - least,
            gpus,
            counts_gpus: gpus > 0,
        }
    }

    fn is_met(&self) -> bool {
        self.cpus <= 0 && self.nodes <= 0 && self.gpus <= 0
    }

    /// Returns whether the nodes found suffice, though they may be fewer than wanted.
    fn is_enough(&self) -> bool {
        self.cpus <= 0 && self.nodes - self.spare <= 0 && self.gpus <= 0
    }
}
