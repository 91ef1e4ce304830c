//! Demands of recorded jobs, from their command lines.

use super::golden::Golden;
use super::recorded::GoldenJob;
use drystone_slurm::conf::{ConfPartition, SlurmConf};
use drystone_slurm::model::{GpuDemand, JobDemand, MemoryDemand, ModelMachine, Resources, parse_gres, parse_licences};

/// A key of a partition, else of the whole configuration, as a number.
fn find_limit(conf: &SlurmConf, part: &ConfPartition, key: &str) -> Option<u64> {
    let own = part.others.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str());
    own.or_else(|| conf.setting_value(key)).and_then(|text| text.parse().ok()).filter(|&mb| mb > 0)
}

/// A job's demand, and the processors that it needs at least.
pub(super) fn find_demand(
    golden: &Golden,
    job: &GoldenJob,
    machine: &ModelMachine,
    part: &ConfPartition,
) -> (JobDemand, u32) {
    let (conf, resources) = (&golden.conf, &machine.resources);
    let Some((tasks, cpus_per_task)) = job.tasks else { return (JobDemand::default(), job.n) };
    let nodes = job.nodes.unwrap_or(1).max(named_nodes(job).len() as u32);
    let nodes = if tasks == 0 { nodes } else { nodes.min(tasks) };
    let mut demand = JobDemand {
        tasks: if tasks == 0 { nodes } else { tasks },
        cpus_per_task: cpus_per_task.max(1),
        gpus: find_gpus(job, resources),
        features: job.constraint.clone(),
        licences: wanted_licences(&job.licences, resources),
        named: (node_numbers(conf, named_nodes(job)), node_numbers(conf, &job.named.1)),
        ..JobDemand::default()
    };
    let (first, other_gres) = per_node(&job.gres[0], resources);
    if let (None, Some((kinds, count))) = (&demand.gpus, first) {
        let cpus_per_gpu = job.each_gpu.0;
        demand.gpus = Some(GpuDemand { kinds, per_node: count, cpus_each: cpus_per_gpu, ..GpuDemand::default() });
    }
    demand.gres = other_gres;
    if !resources.memory.is_empty() {
        set_memory(&mut demand, job, conf, part, machine);
    }
    let cpus = demand.tasks.saturating_mul(demand.cpus_per_task).max(nodes);
    (demand, cpus)
}

/// The nodes that a job asks for: sbatch passes on as many as it has tasks.
pub(super) fn named_nodes(job: &GoldenJob) -> &[String] {
    let most = job.tasks.map_or(usize::MAX, |(tasks, _)| if tasks == 0 { usize::MAX } else { tasks as usize });
    &job.named.0[..job.named.0.len().min(most)]
}

fn node_numbers(conf: &SlurmConf, names: &[String]) -> Vec<u32> {
    names.iter().filter_map(|name| conf.find_node(name)).collect()
}

/// The memory of a job. Above `MaxMemPerCPU` memory becomes processors.
fn set_memory(demand: &mut JobDemand, job: &GoldenJob, conf: &SlurmConf, part: &ConfPartition, machine: &ModelMachine) {
    let of_gpus = job.each_gpu.1.filter(|_| demand.gpus.is_some());
    demand.memory = match (job.memory, of_gpus) {
        (_, Some(mb)) => MemoryDemand::PerGpu(mb),
        ((Some(0), _), _) => MemoryDemand::WholeNode,
        ((Some(mb), _), _) => MemoryDemand::PerNode(mb),
        ((_, Some(mb)), _) => MemoryDemand::PerCpu(mb),
        _ => match (find_limit(conf, part, "DefMemPerCPU"), find_limit(conf, part, "DefMemPerNode")) {
            (Some(mb), _) => MemoryDemand::PerCpu(mb),
            (None, Some(mb)) => MemoryDemand::PerNode(mb),
            (None, None) => MemoryDemand::WholeNode,
        },
    };
    let Some(most) = find_limit(conf, part, "MaxMemPerCPU") else { return };
    match demand.memory {
        MemoryDemand::PerCpu(mb) if mb > most => {
            let times = mb.div_ceil(most);
            demand.cpus_per_task = demand.cpus_per_task.saturating_mul(times as u32);
            demand.memory = MemoryDemand::PerCpu(mb.div_ceil(times));
        }
        MemoryDemand::PerNode(mb) => demand.least_cpus = mb.div_ceil(most) as u32,
        MemoryDemand::WholeNode => {
            // Slurm takes the first node of the partition for all.
            let first = part.nodes.first().and_then(|&node| machine.resources.memory.get(node as usize));
            demand.least_cpus = first.map_or(0, |mb| mb.div_ceil(most) as u32);
        }
        _ => {}
    }
}

/// GPUs by `--gpus`, `--gpus-per-node` and `--gpus-per-task`.
fn find_gpus(job: &GoldenJob, resources: &Resources) -> Option<GpuDemand> {
    let mut demand = None::<GpuDemand>;
    for (at, text) in job.gres.iter().enumerate().skip(1).filter(|(_, text)| !text.is_empty()) {
        // `2`, or `a:2`.
        for (name, kind, count) in parse_gres(&format!("gpu:{text}")) {
            let gpu_demand = demand.get_or_insert_with(|| GpuDemand {
                kinds: resources.kinds_of(&name, &kind),
                cpus_each: job.each_gpu.0,
                ..GpuDemand::default()
            });
            match at {
                1 => gpu_demand.per_job = count,
                2 => gpu_demand.per_node = count,
                _ => gpu_demand.per_task = count,
            }
        }
    }
    demand
}

/// `--gres`: GPUs, and everything else.
#[expect(clippy::type_complexity, reason = "GPUs and a list of the rest")]
fn per_node(text: &str, resources: &Resources) -> (Option<(u64, u32)>, Vec<(u64, u32)>) {
    let (mut gpus, mut other_gres) = (None, Vec::new());
    for (name, kind, count) in parse_gres(text) {
        let request = (resources.kinds_of(&name, &kind), count);
        if name == "gpu" && gpus.is_none() {
            gpus = Some(request);
        } else {
            other_gres.push(request);
        }
    }
    (gpus, other_gres)
}

fn wanted_licences(text: &str, resources: &Resources) -> Vec<(u16, u32)> {
    let place = |name: &str| resources.licences.iter().position(|(own, _)| own == name);
    // A licence that the cluster does not have is never free.
    let numbered_licence = |(name, count): (String, u32)| (place(&name).map_or(u16::MAX, |at| at as u16), count);
    parse_licences(text).into_iter().map(numbered_licence).collect()
}
