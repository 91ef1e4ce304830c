//! A pool as its nodes: what its jobs ask of them, on which processors its running jobs are, and
//! which processors are out.
//!
//! Only a site with a `slurm.conf` has fleets. There processors are those of nodes, node after node
//! in the order of the configuration, which is the order in which Slurm's own policy numbers them.

use crate::capacity::{Cause, NodeLoss};
use crate::format;
use crate::machine::PoolUnit;
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::{NodeClass, NodeShape, Outage, OutageHit, ProcSet, SharedSort, Time, Which};
use drystone_slurm::conf::{SlurmConf, expand_hostlist};
use drystone_slurm::model::{Alloc, IdleNodes, ModelMachine, NodeSet, Pending};
use std::collections::{BTreeMap, HashMap};

/// Several partitions of which jobs ask for any, as one of all their nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PartitionUnion {
    /// Its name among the resources: that of the partition which has all of these nodes, else the
    /// names of all.
    pub(crate) name: String,
    pub(crate) nodes: NodeSet,
    /// Processors that jobs can have there at once.
    pub(crate) procs: u64,
}

pub(crate) struct Fleet {
    pub(crate) machine: ModelMachine,
    pub(crate) names: Vec<String>,
    /// The first processor of each node, and one behind the last.
    first: Vec<u32>,
    index: HashMap<String, usize>,
    /// Partitions by name.
    parts: HashMap<String, u16>,
}

impl Site {
    /// Returns the `slurm.conf` in whose order the processors of a pool are those of its nodes;
    /// `None` where they are only counted.
    pub fn nodes_conf(&self, pool: u16) -> Option<String> {
        self.on_nodes.then(|| format::slurm_conf_of(self, pool)).flatten()
    }
}

impl Fleet {
    /// Of a pool; `None` where no configuration describes its nodes.
    pub(crate) fn for_pool(site: &Site, pool: u16) -> Option<Fleet> {
        let conf = SlurmConf::parse(&format::slurm_conf_of(site, pool)?, "slurm.conf").ok()?;
        if conf.nodes.is_empty() || conf.partitions.is_empty() {
            return None;
        }
        let machine = ModelMachine::from_conf(&conf);
        let names: Vec<String> = conf.nodes.iter().map(|node| node.name.clone()).collect();
        let mut first = vec![0];
        for &cpus in &machine.cpus {
            first.push(first[first.len() - 1] + cpus);
        }
        let index = names.iter().cloned().zip(0..).collect();
        let parts = machine.parts.iter().zip(0..).map(|(part, at)| (part.name.clone(), at)).collect();
        Some(Fleet { machine, names, first, index, parts })
    }

    pub(crate) fn procs(&self) -> u32 {
        self.first[self.first.len() - 1]
    }

    fn node_range(&self, node: usize) -> std::ops::Range<u32> {
        self.first[node]..self.first[node + 1]
    }

    /// A partition by name, else the default one.
    pub(crate) fn find_partition(&self, name: &str) -> u16 {
        self.parts.get(name).copied().unwrap_or(self.machine.default_part)
    }

    pub(crate) fn has_part(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    pub(crate) fn has_node(&self, part: u16, name: &str) -> bool {
        let nodes = &self.machine.parts[usize::from(part)].nodes;
        self.index.get(name).is_some_and(|&node| nodes.contains(node))
    }

    /// Processors that jobs of a partition can have at once.
    pub(crate) fn procs_of(&self, part: u16) -> u64 {
        self.machine.parts[usize::from(part)].nodes.iter().map(|node| u64::from(self.cpus_on(part, node))).sum()
    }

    /// Processors that jobs of a partition can have at once on a node.
    pub(crate) fn cpus_on(&self, part: u16, node: usize) -> u32 {
        let cap = self.machine.resources.caps.iter().find(|cap| cap.part == part).map_or(u32::MAX, |cap| cap.cpus);
        self.machine.cpus[node].min(cap)
    }

    /// The nodes by class: those that follow each other and are alike. A partition that is not the
    /// whole machine is a feature of its nodes, as `partition:NAME`, and so are several of which
    /// jobs ask for any.
    pub(crate) fn node_classes(&self, unions: &[PartitionUnion]) -> Vec<NodeClass> {
        // The names stay apart until the end: a class is compared with each node behind it.
        let mut classes: Vec<(NodeClass, Vec<String>)> = Vec::new();
        let resources = &self.machine.resources;
        let parts: Vec<(String, &NodeSet)> = (self.machine.parts.iter().zip(0..))
            .filter(|&(_, at)| self.procs_of(at) < u64::from(self.procs()))
            .map(|(part, _)| (format!("partition:{}", plain_name(&part.name)), &part.nodes))
            .chain(unions.iter().map(|union| (format!("partition:{}", union.name), &union.nodes)))
            .collect();
        for (node, name) in self.names.iter().enumerate() {
            let own = resources.features.iter().filter(|(_, set)| set.contains(node)).map(|(name, _)| name.clone());
            let within = parts.iter().filter(|(_, set)| set.contains(node)).map(|(name, _)| name.clone());
            let devices = resources.kinds.iter().zip(&resources.gres).filter(|(_, gres)| gres[node] > 0);
            let class = NodeClass {
                nodes: Vec::new(),
                cores: self.machine.cpus[node],
                memory_kb: resources.memory.get(node).map_or(0, |mb| mb.saturating_mul(1024)),
                devices: devices.map(|(kind, gres)| (kind.name.clone(), kind.kind.clone(), gres[node])).collect(),
                features: own.chain(within).collect(),
                weight: resources.weights.get(node).copied().map_or(0, u64::from),
            };
            match classes.last_mut() {
                Some((last, nodes)) if *last == class => nodes.push(name.clone()),
                _ => classes.push((class, vec![name.clone()])),
            }
        }
        classes.into_iter().map(|(class, nodes)| NodeClass { nodes, ..class }).collect()
    }

    /// A job as Slurm sees it.
    pub(crate) fn pending_job(&self, part: u16, procs: u32, shape: Option<&NodeShape>, demand: u32) -> Pending {
        let mut pending = Pending { demand, ..Pending::new(0, procs, 60) };
        pending.ask_place(part, &self.machine, false, true);
        if let Some(shape) = shape {
            pending.take_shape(shape, &self.machine);
        }
        pending
    }

    /// Returns the outages of the pool, as processors of nodes.
    pub(crate) fn list_outages(&self, losses: &[&NodeLoss], last: i64, time: impl Fn(i64) -> Time) -> Vec<Outage> {
        let mut out = Vec::new();
        let mut outage_spans: BTreeMap<usize, Vec<(i64, i64, ProcSet)>> = BTreeMap::new();
        let mut order: Vec<&NodeLoss> = losses.to_vec();
        // Whole nodes first: parts of them and what has no name are found on what they leave.
        order.sort_shared_by_key(|loss| (loss.node.is_empty(), loss.cpus.is_some(), loss.begin));
        for loss in order {
            let (begin, end) = (loss.begin, loss.end.unwrap_or(last).max(loss.begin + 1));
            let free = |node: usize, spans: &BTreeMap<usize, Vec<(i64, i64, ProcSet)>>| {
                let node_spans = spans.get(&node).map_or(&[][..], Vec::as_slice);
                let meeting = node_spans.iter().filter(|(from, to, _)| *from < end && begin < *to);
                meeting.fold(ProcSet::from_range(self.node_range(node)), |set, (.., gap)| set.difference(gap))
            };
            let candidates: Vec<usize> = match self.index.get(&loss.node) {
                Some(&node) => vec![node],
                None if loss.node.is_empty() => (0..self.names.len()).rev().collect(),
                None => continue,
            };
            let mut remaining_cpus = loss.cpus.unwrap_or(u32::MAX);
            let mut outage_procs = ProcSet::new();
            for node in candidates {
                let set = free(node, &outage_spans);
                let set = if set.len() > remaining_cpus { set.lowest_procs(remaining_cpus) } else { set };
                if set.is_empty() {
                    continue;
                }
                remaining_cpus -= set.len();
                outage_spans.entry(node).or_default().push((begin, end, set.clone()));
                outage_procs = outage_procs.union(&set);
                if remaining_cpus == 0 {
                    break;
                }
            }
            if !outage_procs.is_empty() {
                out.push(make_outage(loss, outage_procs, time(end), &time));
            }
        }
        out.sort_shared_by_key(|outage| outage.begin);
        out
    }

    /// Finds the processors of jobs that run when the window begins: those of the nodes that the
    /// record names where they are free, else of nodes that the model chooses. A job for which no
    /// nodes are free has none. `jobs` are in the order of their starts; each has what it asks for.
    pub(crate) fn seat_jobs(&mut self, jobs: &[(SiteJob<'_>, u32, Option<NodeShape>)]) -> Seats {
        let mut seats = Seats { of: Vec::with_capacity(jobs.len()), moved: 0, crowded: 0 };
        let demands: Vec<u32> =
            jobs.iter().map(|(.., shape)| shape.as_ref().map_or(0, |shape| self.demand_number(shape))).collect();
        let mut idle = IdleNodes::new(&self.machine);
        let mut free: Vec<ProcSet> =
            (0..self.names.len()).map(|node| ProcSet::from_range(self.node_range(node))).collect();
        for ((job, procs, shape), demand) in jobs.iter().zip(demands) {
            let pending = self.pending_job(self.find_partition(&job.partition), *procs, shape.as_ref(), demand);
            let recorded_share = self.find_recorded(job, *procs, &pending, &idle, &free);
            let has_node_list = !job.node_list.is_empty();
            let allocation = recorded_share.or_else(|| {
                let part = &self.machine.parts[usize::from(pending.part)].nodes;
                let alloc = idle.place_job(&pending, part, &self.machine)?;
                seats.moved += u64::from(has_node_list);
                Some(alloc)
            });
            let Some(alloc) = allocation else {
                seats.crowded += 1;
                seats.of.push(None);
                continue;
            };
            let (mut remaining_procs, mut set) = (*procs, ProcSet::new());
            for (node, cpus) in alloc.iter(&self.machine) {
                let own = free[node].lowest_procs(cpus.min(remaining_procs));
                remaining_procs -= own.len();
                free[node] = free[node].difference(&own);
                set = set.union(&own);
            }
            idle.take_alloc(&alloc, &self.machine);
            seats.crowded += u64::from(remaining_procs > 0);
            seats.of.push((remaining_procs == 0).then_some(set));
        }
        seats
    }

    /// Returns the share of a job of the nodes that its record names; `None` where others have it.
    fn find_recorded(
        &self,
        job: &SiteJob<'_>,
        procs: u32,
        asks: &Pending,
        idle: &IdleNodes,
        free: &[ProcSet],
    ) -> Option<Alloc> {
        let names = expand_hostlist(&job.node_list).ok().filter(|names| !names.is_empty())?;
        let nodes: Vec<usize> = names.iter().map(|name| self.index.get(name).copied()).collect::<Option<_>>()?;
        let nodes = NodeSet::from_members(self.names.len(), nodes);
        let count = nodes.count_nodes() as u32;
        let (procs_per_node, more) = (procs / count, procs % count);
        let mut cpus = Vec::with_capacity(count as usize);
        let mut owed_procs = 0;
        for (at, node) in nodes.iter().enumerate() {
            // What a smaller node cannot give the next ones do.
            let wanted_procs = procs_per_node + u32::from((at as u32) < more) + owed_procs;
            let given_procs = wanted_procs.min(free[node].len()).min(idle.idle_on(node));
            owed_procs = wanted_procs - given_procs;
            if given_procs == 0 {
                return None;
            }
            cpus.push(given_procs);
        }
        let whole = asks.whole && nodes.iter().all(|node| idle.idle_on(node) == self.machine.cpus[node]);
        if owed_procs > 0 || (asks.whole && !whole) {
            return None;
        }
        let mut alloc = Alloc { nodes, cpus: if asks.whole { Vec::new() } else { cpus }, more: None };
        alloc.more = idle.held_share(asks, &alloc, &self.machine);
        idle.has_share(asks, &alloc, &self.machine).then_some(alloc)
    }

    pub(crate) fn demand_number(&mut self, shape: &NodeShape) -> u32 {
        let demand = self.machine.resources.demand_of(shape, &self.names);
        self.machine.resources.intern_demand(demand, &self.machine.cpus)
    }
}

/// Processors of the jobs that run at the beginning.
pub(crate) struct Seats {
    /// Of each job, in their order; `None` where none are free.
    pub(crate) of: Vec<Option<ProcSet>>,
    /// Jobs whose nodes others have, which are elsewhere now.
    pub(crate) moved: u64,
    /// Jobs for which no nodes are free.
    pub(crate) crowded: u64,
}

fn make_outage(loss: &NodeLoss, set: ProcSet, end: Time, time: &impl Fn(i64) -> Time) -> Outage {
    let which = Which::Named(set);
    let (begin, end) = (time(loss.begin), Some(end));
    match loss.cause {
        // What ran there is in the records as it ended: nothing is to be hit a second time.
        Cause::Down | Cause::Cluster | Cause::NewNode => Outage::new_drain(which, begin, end),
        Cause::Reservation | Cause::ReservedJob => {
            let announced_time = loss.announced.map(|at| time(at).min(begin));
            Outage {
                announced: announced_time,
                expected: end,
                hit: OutageHit::Drain,
                ..Outage::new_drain(which, begin, end)
            }
        }
    }
}

/// Returns a name without what separates names.
pub(crate) fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '-' }).collect()
}

impl Site {
    /// Takes the site as its nodes where a `slurm.conf` describes them: from now on its unit is the
    /// processor, a job's size is its processors, and what it asks for beside them is its demand.
    /// Returns whether it does. A job wider than its pool has all of it.
    pub fn take_nodes(&mut self) -> bool {
        if self.on_nodes || self.manifest.swf.is_some() || self.slurm_conf.is_none() {
            return self.on_nodes;
        }
        let pools = 0..u16::try_from(self.manifest.pools.len()).unwrap_or(u16::MAX);
        let procs: Vec<Option<u32>> = pools.map(|pool| Some(Fleet::for_pool(self, pool)?.procs())).collect();
        if procs.is_empty() || procs.iter().any(Option::is_none) {
            return false;
        }
        for (number, (pool, procs)) in (0..).zip(self.manifest.pools.iter_mut().zip(procs.into_iter().flatten())) {
            let scale = if pool.unit == PoolUnit::Cpu { 1.0 } else { pool.cpus_per_unit };
            let mine = self.losses.iter_mut().filter(|loss| loss.pool == number);
            mine.for_each(|loss| loss.units = (f64::from(loss.units) * scale).round() as u32);
            (pool.unit, pool.units, pool.cpus_per_unit, pool.dominant) = (PoolUnit::Cpu, procs, 1.0, false);
        }
        self.on_nodes = true;
        true
    }
}
