//! Processors after nodes have come or gone: their new numbers, and what the machine has in all.

use super::premises::PoolPremises;
use drystone::model::{
    Adopted, Circumstances, Demand, DemandId, JobId, NodeMemory, NodeShape, ProcSet, Procs, ResourceError, ResourceId,
    ResourceTable, ResourceTableBuilder, SupplyStep, Time,
};
use drystone_slurm::conf::{ConfNode, SlurmConf};
use drystone_slurm::model::ModelMachine;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Runs of processors with their new beginnings; `None`: they are gone.
pub(super) struct Renumbering(Vec<(Range<Procs>, Option<Procs>)>);

impl Renumbering {
    /// The processors of a pool by the nodes that have them, before and after; without
    /// configurations the last ones come and go.
    pub(super) fn between_pools(
        old: (&PoolPremises, Option<&SlurmConf>),
        new: (Procs, Option<&SlurmConf>),
    ) -> Renumbering {
        let (Some(before), Some(after)) = (old.1, new.1) else {
            let kept_procs = old.0.procs.min(new.0);
            return Renumbering(vec![(0..kept_procs, Some(0)), (kept_procs..old.0.procs, None)]);
        };
        let mut first = 0;
        let mut starts = BTreeMap::new();
        for node in &after.nodes {
            starts.insert(node.name.as_str(), first);
            first += node.cpus;
        }
        let mut first = 0;
        let mut ranges = Vec::new();
        for node in &before.nodes {
            ranges.push((first..first + node.cpus, starts.get(node.name.as_str()).copied()));
            first += node.cpus;
        }
        Renumbering(ranges)
    }

    /// Returns the renumbering where others stand before these and behind them.
    pub(super) fn shift_among(self, before: Procs, old: Procs, new: Procs, behind: Procs) -> Renumbering {
        let shift = |(range, to): (Range<Procs>, Option<Procs>)| {
            (range.start + before..range.end + before, to.map(|to| to + before))
        };
        let mut ranges = vec![(0..before, Some(0))];
        ranges.extend(self.0.into_iter().map(shift));
        ranges.push((before + old..before + old + behind, Some(before + new)));
        Renumbering(ranges)
    }

    /// Returns the new places of processors, of those that are still there.
    pub(super) fn map(&self, set: &ProcSet) -> ProcSet {
        let mut parts = Vec::new();
        for range in set.ranges() {
            let from = self.0.partition_point(|(run, _)| run.end <= range.start);
            for (run, to) in self.0[from..].iter().take_while(|(run, _)| run.start < range.end) {
                let (start, end) = (run.start.max(range.start), run.end.min(range.end));
                if let Some(to) = to
                    && start < end
                {
                    parts.push(ProcSet::from_range(to + start - run.start..to + end - run.start));
                }
            }
        }
        ProcSet::union_of(&parts)
    }

    /// Returns the new places of running jobs, and the jobs that lose their place: those on nodes
    /// that are gone.
    pub(super) fn renumber_jobs(&self, source: &Circumstances) -> (Circumstances, BTreeSet<JobId>) {
        let (mut circumstances, mut lost_jobs) = (source.clone(), BTreeSet::new());
        for (&id, adoption) in &mut circumstances.here {
            let (Adopted::Running { on, .. } | Adopted::Suspended { on, .. }) = adoption else { continue };
            let Some(set) = on.take() else { continue };
            let now = self.map(&set);
            match now.len() == set.len() {
                true => *on = Some(now),
                false => drop(lost_jobs.insert(id)),
            }
        }
        (circumstances, lost_jobs)
    }
}

/// Returns the partition of a pool whose processors a resource counts.
pub(super) fn own_partition<'a>(pool: &'a PoolPremises, resource: &str) -> Option<&'a str> {
    let own_name = match resource.split_once('/') {
        None => resource,
        Some((head, rest)) => Some(rest).filter(|_| head.ends_with(&format!(".{}", plain_name(&pool.name))))?,
    };
    let counted = own_name.strip_prefix("partition:")?;
    let mut names = pool.partitions.iter().map(|partition| partition.name.as_str());
    names.find(|name| plain_name(name) == counted)
}

/// A name as resources have it.
fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '-' }).collect()
}

/// The totals of a pool by a configuration.
fn resource_totals(conf: &SlurmConf) -> BTreeMap<String, u64> {
    let machine = ModelMachine::from_conf(conf);
    let resources = &machine.resources;
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    if !resources.memory.is_empty() {
        totals.insert("mem".to_string(), resources.memory.iter().map(|mb| mb.saturating_mul(1024)).sum());
    }
    for (kind, gres) in resources.kinds.iter().zip(&resources.gres) {
        let count: u64 = gres.iter().map(|&count| u64::from(count)).sum();
        *totals.entry(plain_name(&kind.name)).or_default() += count;
        if !kind.kind.is_empty() {
            *totals.entry(format!("{}:{}", plain_name(&kind.name), plain_name(&kind.kind))).or_default() += count;
        }
    }
    for part in &machine.parts {
        let procs = part.nodes.iter().map(|node| u64::from(machine.cpus[node])).sum();
        totals.insert(format!("partition:{}", plain_name(&part.name)), procs);
    }
    totals
}

/// The processors of several partitions of which jobs ask for any, `partition:long_or_short`.
fn total_of_union(conf: &SlurmConf, resource: &str) -> Option<u64> {
    let names: Vec<&str> = resource.strip_prefix("partition:")?.split("_or_").collect();
    let is_named = |name: &str| names.iter().any(|own| *own == plain_name(name));
    let parts = conf.partitions.iter().filter(|part| names.len() > 1 && is_named(&part.name));
    let nodes: BTreeSet<u32> = parts.flat_map(|part| part.nodes.iter().copied()).collect();
    (!nodes.is_empty()).then(|| nodes.iter().map(|&at| u64::from(conf.nodes[at as usize].cpus)).sum())
}

/// The table of a workload after the nodes of a pool have changed.
pub(super) fn recompute_totals(
    table: &ResourceTable,
    pool: &PoolPremises,
    conf: &SlurmConf,
) -> Result<Arc<ResourceTable>, ResourceError> {
    let end = format!(".{}/", plain_name(&pool.name));
    let totals = resource_totals(conf);
    let mut builder = ResourceTableBuilder::new();
    for (resource, at) in table.resources().iter().zip(0..) {
        let mut resource = resource.clone();
        resource.total = table.supply_at(ResourceId(at), Time::MIN);
        let own = match resource.name.split_once('/') {
            None => Some(resource.name.clone()),
            Some((head, rest)) => format!("{head}/").ends_with(&end).then(|| rest.to_string()),
        };
        let total = own.and_then(|own| totals.get(&own).copied().or_else(|| total_of_union(conf, &own)));
        resource.total = total.unwrap_or(resource.total);
        builder.add_resource(resource)?;
    }
    table.node_classes().iter().for_each(|class| builder.add_class(class.clone()));
    for demand in table.demands() {
        builder.intern_demand(demand.clone())?;
    }
    let new = builder.finish();
    let steps: Vec<SupplyStep> = table.supply_steps().iter().filter(|step| step.from > Time::MIN).copied().collect();
    // They were possible before.
    Ok(if steps.is_empty() { new } else { new.with_supply(&steps).map_or(new, Arc::new) })
}

/// Demands without their totals: of jobs that move to another partition, whose nodes the model of
/// Slurm counts by itself. Returns the table with them, and what each demand becomes.
pub(super) fn drop_totals(
    table: &ResourceTable,
    demands: &BTreeSet<DemandId>,
) -> Result<(Arc<ResourceTable>, BTreeMap<DemandId, DemandId>), ResourceError> {
    let mut builder = ResourceTableBuilder::from(table);
    let mut new_ids = BTreeMap::new();
    for &id in demands {
        if let Some(demand) = table.find_demand(id) {
            let shape = demand.shape.clone().map(|shape| NodeShape { partitions: Vec::new(), ..shape });
            new_ids.insert(id, builder.intern_demand(Demand { totals: Vec::new(), shape })?);
        }
    }
    Ok((builder.finish(), new_ids))
}

/// Returns whether a job's demand can be met on the nodes of a partition. Features and named nodes
/// are not looked for elsewhere: a job with them stays where it is.
pub(super) fn can_go(shape: Option<&NodeShape>, procs: Procs, conf: &SlurmConf, partition: &str) -> bool {
    let Some(partition) = conf.find_partition(partition) else { return false };
    let nodes: Vec<&ConfNode> = partition.nodes.iter().map(|&at| &conf.nodes[at as usize]).collect();
    let cpus: u64 = nodes.iter().map(|node| u64::from(node.cpus)).sum();
    let Some(shape) = shape else { return u64::from(procs) <= cpus };
    let memory = |node: &&&ConfNode| {
        let kb = node.memory_mb.saturating_mul(1_024);
        match shape.memory {
            NodeMemory::PerNode(need_kb) => need_kb <= kb,
            NodeMemory::PerCore(need_kb) => need_kb <= kb / u64::from(node.cpus.max(1)),
            _ => true,
        }
    };
    let devices = |node: &&&ConfNode| {
        shape.devices.iter().all(|device| node.gres.split(',').any(|gres| gres.starts_with(&device.name)))
    };
    u64::from(procs) <= cpus
        && shape.features.is_empty()
        && shape.only.is_empty()
        && nodes.iter().filter(memory).filter(devices).count() >= shape.nodes.0.max(1) as usize
}

/// Processors and nodes of a partition.
pub(super) fn size_of(conf: &SlurmConf, partition: &str) -> Option<(u64, u32)> {
    let partition = conf.find_partition(partition)?;
    let cpus = partition.nodes.iter().map(|&at| u64::from(conf.nodes[at as usize].cpus)).sum();
    Some((cpus, partition.nodes.len() as u32))
}
