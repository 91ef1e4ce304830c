//! Jobs that ask for any of several partitions (`sbatch -p long,short`).

use crate::fleet::{Fleet, PartitionUnion, plain_name};
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::NodeShape;
use drystone_slurm::model::NodeSet;
use hashbrown::HashSet;
use std::collections::BTreeMap;

impl Fleet {
    /// Takes from a shape the partitions that the machine does not have, and all where the job's
    /// own is none of them: it was moved then. Returns the partitions of the job.
    pub(crate) fn take_partitions(&self, shape: &mut NodeShape, own: &str) -> Vec<u16> {
        let mut names: Vec<String> = Vec::new();
        for name in shape.partitions.drain(..) {
            if self.has_part(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > 1 && names.iter().any(|name| name == own) {
            shape.partitions = names;
        }
        match shape.partitions.is_empty() {
            true => vec![self.find_partition(own)],
            false => shape.partitions.iter().map(|name| self.find_partition(name)).collect(),
        }
    }

    pub(crate) fn union_of(&self, names: &[String]) -> PartitionUnion {
        let mut parts: Vec<u16> = names.iter().map(|name| self.find_partition(name)).collect();
        parts.sort_unstable();
        let of = |part: u16| &self.machine.parts[usize::from(part)];
        let mut nodes = NodeSet::empty(self.machine.node_count());
        parts.iter().for_each(|&part| nodes.unite(&of(part).nodes));
        let on = |node: usize| {
            let parts_here = parts.iter().filter(|&&part| of(part).nodes.contains(node));
            u64::from(parts_here.map(|&part| self.cpus_on(part, node)).max().unwrap_or(0))
        };
        let procs = nodes.iter().map(on).sum();
        let same = parts.iter().copied().find(|&part| of(part).nodes == nodes && self.procs_of(part) == procs);
        let name = match same {
            Some(part) => of(part).name.clone(),
            None => parts.iter().map(|&part| plain_name(&of(part).name)).collect::<Vec<_>>().join("_or_"),
        };
        PartitionUnion { name, nodes, procs }
    }
}

impl Site {
    /// Returns the unions of partitions of which the jobs of a pool ask for any, without those that
    /// are a partition or the whole machine.
    pub(crate) fn partition_unions(&self, fleet: &Fleet, pool: u16) -> Vec<PartitionUnion> {
        let mut known_names = HashSet::new();
        let mut unions: BTreeMap<String, PartitionUnion> = BTreeMap::new();
        for at in (0..self.len()).filter(|&at| self.bare_job(at).pool == pool) {
            let symbols = self.symbols_at(at);
            if !known_names.insert((symbols.asks, symbols.partition)) {
                continue;
            }
            let job: SiteJob<'_> = self.job_at(at);
            if !job.asks.contains("partitions=") {
                continue;
            }
            let mut shape = job.node_shape();
            fleet.take_partitions(&mut shape, &job.partition);
            if shape.partitions.is_empty() {
                continue;
            }
            let union = fleet.union_of(&shape.partitions);
            let is_part = fleet.has_part(&union.name);
            if !is_part && union.procs < u64::from(fleet.procs()) {
                unions.entry(union.name.clone()).or_insert(union);
            }
        }
        unions.into_values().collect()
    }
}
