//! Memory and GPUs of a site without a `slurm.conf` as resources beside its processors, in the
//! place of dominant shares. A site with one has them, and more, from that (`job_demands.rs`).
//!
//! If a pool counts processors, a job's size in units may be its dominant share: the processors
//! that its memory or its GPUs represent. With resources a job's size is the processors that it
//! holds, and its memory and its GPUs are counted by themselves. A pool that counts nodes or GPUs
//! stays as it is: what its jobs hold goes with these. A resource is counted where the description
//! says of every node of the pool how much it has.

use crate::machine::PoolUnit;
use crate::scene::SiteScene;
use crate::site_job::SiteJob;
use drystone::model::{
    Demand, Resource, ResourceError, ResourceId, ResourceTable, ResourceTableBuilder, ResourceUnit, Setting, Workload,
    WorkloadError,
};

/// The resources of a scene's pools, and what is odd about them.
#[derive(Clone, Debug)]
pub struct Resourced {
    /// The jobs with their processors as sizes, and with their demands.
    pub workload: Workload,
    /// Sentences for people.
    pub notes: Vec<String>,
}

/// Reason why a site has no resources that can be counted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteResourceError {
    #[error(
        "no pool counts processors and has nodes whose memory or GPUs are described; import it with a description of the machine \
         (--machine FILE)"
    )]
    None,
    #[error(transparent)]
    Resource(#[from] ResourceError),
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Resources of a pool.
#[derive(Clone, Copy, Debug, Default)]
struct ResourcePool {
    memory: Option<(ResourceId, u64)>,
    gpus: Option<(ResourceId, u64)>,
    units: u32,
    nodes: u64,
}

impl SiteScene<'_> {
    /// Returns the jobs with memory and GPUs of their pools as resources, unless they have
    /// resources already. `places` are their places among the jobs of the site.
    ///
    /// # Errors
    /// No pool of which anything can be counted.
    pub fn with_resources(&self, workload: Workload, places: &[u32]) -> Result<Resourced, SiteResourceError> {
        let present_table = workload.resources().cloned();
        if present_table.as_deref().is_some_and(ResourceTable::has_resources) {
            return Ok(Resourced { workload, notes: Vec::new() });
        }
        let mut builder = present_table.as_deref().map_or_else(ResourceTableBuilder::new, ResourceTableBuilder::from);
        let before = builder.table().resources().len();
        let pools = self.pool_resources(&mut builder)?;
        if builder.table().resources().len() == before {
            return Err(SiteResourceError::None);
        }
        let circumstances = workload.circumstances().cloned();
        let (machine, mut jobs, truth, mut provenance) = workload.into_parts();
        let (mut silent, mut cut) = (0_u64, 0_u64);
        for (job, &place) in jobs.iter_mut().zip(places) {
            let of_site = self.site.job_at(place as usize);
            let pool = pools.get(usize::from(of_site.pool)).copied().unwrap_or_default();
            if pool.units == 0 {
                continue;
            }
            if let Some(cpus) = of_site.cpus.filter(|&cpus| cpus > 0) {
                job.procs = cpus.min(pool.units);
            }
            let (totals, odd) = job_demand(&of_site, &pool);
            silent += u64::from(odd.silent);
            cut += u64::from(odd.cut);
            // What it wants of its nodes stays.
            let own =
                present_table.as_ref().and_then(|table| table.find_demand(job.demand)).cloned().unwrap_or_default();
            let totals = own.totals.into_iter().chain(totals).collect();
            job.demand = builder.intern_demand(Demand { totals, shape: own.shape })?;
        }
        let mut notes = Vec::new();
        if silent > 0 {
            notes.push(match silent {
                1 => "1 job does not say how much memory it holds and asks for none".to_string(),
                _ => format!("{silent} jobs do not say how much memory they hold and ask for none"),
            });
        }
        if cut > 0 {
            notes.push(match cut {
                1 => "1 job records more memory or GPUs than its pool has and is taken to hold all of it".to_string(),
                _ => {
                    format!("{cut} jobs record more memory or GPUs than their pool has and are taken to hold all of it")
                }
            });
        }
        provenance.settings.push(Setting { name: "resources".to_string(), value: "site".to_string() });
        let workload = Workload::with_resources(machine, Some(builder.finish()), jobs, truth, provenance)?;
        let workload = match circumstances {
            None => workload,
            Some(circumstances) => workload.with_circumstances(circumstances)?,
        };
        Ok(Resourced { workload, notes })
    }

    /// The resources of each pool, by its number in the site; none for a pool that counts something
    /// else.
    fn pool_resources(&self, builder: &mut ResourceTableBuilder) -> Result<Vec<ResourcePool>, ResourceError> {
        let site = self.site;
        let mut resource_pools = vec![ResourcePool::default(); site.manifest.pools.len()];
        let several = self.pools().len() > 1;
        for pool in self.pools() {
            let summary = &site.manifest.pools[usize::from(pool)];
            if summary.unit != PoolUnit::Cpu || !summary.described {
                continue;
            }
            let nodes = || site.nodes.iter().filter(|node| node.pool.as_ref() == Some(&summary.name));
            let prefix =
                if several { format!("{}.{}/", pool + 1, resource_word(&summary.name)) } else { String::new() };
            let name = |suffix: &str| format!("{prefix}{suffix}");
            let own = &mut resource_pools[usize::from(pool)];
            own.units = summary.units;
            own.nodes = nodes().count() as u64;
            if nodes().next().is_some() && nodes().all(|node| node.memory_kb > 0) {
                let total = nodes().map(|node| node.memory_kb).sum();
                let resource = Resource::new(name("mem"), ResourceUnit::Kilobytes, total);
                own.memory = Some((builder.add_resource(resource)?, total));
            }
            let gpus: u64 = nodes().map(|node| u64::from(node.gpus)).sum();
            if gpus > 0 {
                own.gpus = Some((builder.add_resource(Resource::new(name("gpu"), ResourceUnit::Count, gpus))?, gpus));
            }
        }
        Ok(resource_pools)
    }
}

/// A name of a pool as a part of a resource's name.
fn resource_word(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "_-.+".contains(c) { c } else { '+' }).collect()
}

#[derive(Clone, Copy, Default)]
struct JobOddity {
    /// It does not say how much memory it holds.
    silent: bool,
    /// It holds more than there is.
    cut: bool,
}

fn job_demand(job: &SiteJob<'_>, pool: &ResourcePool) -> (Vec<(ResourceId, u64)>, JobOddity) {
    let (mut totals, mut odd) = (Vec::new(), JobOddity::default());
    let mut ask = |id: ResourceId, amount: u64, total: u64| {
        odd.cut |= amount > total;
        totals.push((id, amount.min(total)));
    };
    if let (Some((id, total)), Some(gpus)) = (pool.gpus, job.gpus) {
        ask(id, u64::from(gpus), total);
    }
    if let Some((id, total)) = pool.memory {
        match (job.memory_kb, job.nodes) {
            // All memory of its nodes: as much as nodes have on average.
            (Some(u64::MAX), Some(nodes)) => {
                ask(id, (total / pool.nodes.max(1)).saturating_mul(u64::from(nodes)), total)
            }
            (Some(u64::MAX), None) | (None, _) => odd.silent = true,
            (Some(kilobytes), _) => ask(id, kilobytes, total),
        }
    }
    (totals, odd)
}
