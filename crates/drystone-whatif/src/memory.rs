//! Memory: of nodes, and what jobs get of it by default or at most for each processor.

use super::change::SiteChange;
use super::change_values::MemoryAmount;
use super::conf_text::ConfText;
use super::places::recompute_totals;
use super::premises::ApplyError;
use super::setting_text::{DEFAULT_MEMORY, MOST_MEMORY};
use super::state::{Applied, needs_slurm};
use super::words::count_things;
use drystone::model::{Demand, NodeMemory, NodeShape, ResourceTableBuilder};
use drystone_slurm::conf::{ConfPartition, SlurmConf};
use drystone_slurm::model::ModelMachine;

/// The error of a configuration under which memory holds no job back.
fn check_memory_counted(change: &SiteChange, conf: &SlurmConf) -> Result<(), ApplyError> {
    match ModelMachine::from_conf(conf).resources.memory.is_empty() {
        false => Ok(()),
        true => Err(ApplyError::new(
            change,
            "slurm.conf does not count memory, so it would change nothing: that needs RealMemory of its nodes and \
             SelectTypeParameters with _Memory, such as CR_Core_Memory",
        )),
    }
}

/// Gives the nodes of a partition, a pool or the site another memory.
pub(super) fn change_node_memory(
    state: &mut Applied,
    change: &SiteChange,
    of: Option<&str>,
    amount: MemoryAmount,
) -> Result<(), ApplyError> {
    needs_slurm(state, change, "memory of nodes")?;
    let places: Vec<(usize, Option<&str>)> = match of {
        None => (0..state.premises.pools.len()).map(|at| (at, None)).collect(),
        Some(name) => match state.premises.find_place(change, name)? {
            (at, true) => vec![(at, Some(name))],
            (at, false) => vec![(at, None)],
        },
    };
    let mut change_count = 0;
    for (at, partition) in places {
        let pool = &mut state.premises.pools[at];
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::from_text(conf);
        let wrong = |problem: String| ApplyError::new(change, problem);
        check_memory_counted(change, &text.parse_conf().map_err(wrong)?)?;
        change_count += text.set_memory(partition, |megabytes| amount.apply_to(megabytes)).map_err(wrong)?;
        let conf = text.parse_conf().map_err(wrong)?;
        pool.conf = Some(text.render_text());
        if let Some(table) = &state.table {
            state.table = Some(recompute_totals(table, pool, &conf).map_err(|error| wrong(error.to_string()))?);
        }
    }
    let relative = matches!(amount, MemoryAmount::By(_) | MemoryAmount::Percent(_));
    let s = if change_count == 1 { "" } else { "s" };
    state.add_note(format!(
        "{change_count} node{s} have a memory of {amount}{}",
        if relative { " beside what there was" } else { "" }
    ));
    let drafts = state.job_drafts();
    state.rebuild_jobs(change, drafts)
}

/// A key of a partition, else of the whole configuration, in megabytes.
fn memory_limit(conf: &SlurmConf, part: &ConfPartition, key: &str) -> Option<u64> {
    let own = part.others.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str());
    own.or_else(|| conf.setting_value(key)).and_then(|text| text.parse().ok()).filter(|&mb| mb > 0)
}

/// Returns whether a job's memory is what it gets without asking.
fn is_default(shape: &NodeShape, procs: u64, conf: &SlurmConf, part: &ConfPartition) -> bool {
    let nodes = u64::from(shape.nodes.0.max(1));
    let default_memory = match (memory_limit(conf, part, DEFAULT_MEMORY), memory_limit(conf, part, "DefMemPerNode")) {
        (Some(mb), _) => mb.saturating_mul(1_024).saturating_mul(procs),
        (None, Some(mb)) => mb.saturating_mul(1_024).saturating_mul(nodes),
        (None, None) => return matches!(shape.memory, NodeMemory::Whole | NodeMemory::None),
    };
    let requested_memory = match shape.memory {
        NodeMemory::PerCore(kb) => kb.saturating_mul(procs),
        NodeMemory::PerNode(kb) => kb.saturating_mul(nodes),
        NodeMemory::None => return true,
        NodeMemory::Whole | NodeMemory::PerDevice(_) => return false,
    };
    // Records have rounded megabytes of each node.
    requested_memory.abs_diff(default_memory) < 1_024 * nodes
}

/// Gives a job the processors that its memory costs. Returns how many it has then.
fn widen_for_memory(shape: &mut NodeShape, procs: u64, most: u64) -> u64 {
    let most = most.saturating_mul(1_024);
    match shape.memory {
        NodeMemory::PerCore(kb) if kb > most => {
            let times = kb.div_ceil(most);
            shape.cores_per_task = shape.cores_per_task.max(1).saturating_mul(u32::try_from(times).unwrap_or(u32::MAX));
            shape.memory = NodeMemory::PerCore(kb.div_ceil(times));
            procs.saturating_mul(times)
        }
        NodeMemory::PerNode(kb) => {
            let least = kb.div_ceil(most);
            let nodes = u64::from(shape.nodes.0.max(1));
            if least.saturating_mul(nodes) <= procs {
                return procs;
            }
            shape.least_cores = shape.least_cores.max(u32::try_from(least).unwrap_or(u32::MAX));
            least.saturating_mul(nodes)
        }
        _ => procs,
    }
}

/// Gives jobs the memory and the processors of the default and the most memory for each processor.
/// `was` are the configurations before, pool by pool.
pub(super) fn per_processor(
    state: &mut Applied,
    change: &SiteChange,
    was: &[Option<String>],
) -> Result<(), ApplyError> {
    let wrong = |problem: String| ApplyError::new(change, problem);
    let read_conf = |text: &Option<String>| {
        text.as_deref().map(|text| ConfText::from_text(text).parse_conf().map_err(wrong)).transpose()
    };
    let old: Vec<Option<SlurmConf>> = was.iter().map(read_conf).collect::<Result<_, _>>()?;
    let pools = state.premises.pools.iter();
    let new: Vec<Option<SlurmConf>> = pools.map(|pool| read_conf(&pool.conf)).collect::<Result<_, _>>()?;
    new.iter().flatten().try_for_each(|conf| check_memory_counted(change, conf))?;
    let Some(table) = state.table.clone() else { return Ok(()) };
    let mut builder = ResourceTableBuilder::from(&*table);
    let (mut defaults, mut wider, mut more) = (0_u64, 0_u64, 0_u64);
    let mut drafts = state.job_drafts();
    for draft in &mut drafts {
        let job = &mut draft.job;
        let at = state.premises.pool_of(job);
        let pool = &state.premises.pools[at];
        let name = pool.partitions.iter().find(|partition| partition.number == job.partition);
        let part = |conf: &SlurmConf| {
            name.and_then(|name| conf.find_partition(&name.name)).or(conf.partitions.first()).cloned()
        };
        let (Some(before), Some(after)) = (&old[at], &new[at]) else { continue };
        let (Some(own), Some(demand)) = (part(before), table.find_demand(job.demand)) else { continue };
        let Some(mut shape) =
            demand.shape.clone().filter(|_| !draft.place.is_some_and(|place| state.is_running(place)))
        else {
            continue;
        };
        let scale = pool.scale.max(1);
        let procs = u64::from(job.procs.div_ceil(scale));
        if memory_limit(before, &own, DEFAULT_MEMORY) != memory_limit(after, &own, DEFAULT_MEMORY)
            && is_default(&shape, procs, before, &own)
        {
            shape.memory = memory_limit(after, &own, DEFAULT_MEMORY)
                .map_or(NodeMemory::Whole, |mb| NodeMemory::PerCore(mb * 1_024));
            defaults += 1;
        }
        let needed_procs =
            memory_limit(after, &own, MOST_MEMORY).map_or(procs, |most| widen_for_memory(&mut shape, procs, most));
        if needed_procs > procs {
            wider += 1;
            more += needed_procs - procs;
            job.procs = u32::try_from(needed_procs).unwrap_or(u32::MAX).saturating_mul(scale);
        }
        if Some(&shape) != demand.shape.as_ref() {
            // The model of Slurm counts the amounts by itself.
            let demand = Demand { totals: Vec::new(), shape: Some(shape) };
            job.demand = builder.intern_demand(demand).map_err(|error| wrong(error.to_string()))?;
        }
    }
    state.table = Some(builder.finish());
    let (one_changed, several_changed) =
        ("job that got the old default gets the new one", "jobs that got the old default get the new one");
    let (one_wider, several_wider) =
        ("job asks for more memory than its processors have", "jobs ask for more memory than their processors have");
    state.add_note(format!(
        "{}; {}: {} more for it",
        count_things(defaults, one_changed, several_changed),
        count_things(wider, one_wider, several_wider),
        count_things(more, "processor", "processors")
    ));
    state.rebuild_jobs(change, drafts)
}
