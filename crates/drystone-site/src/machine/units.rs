//! What a pool counts, and how many of it a job takes.
//!
//! The engine knows one kind of processor. On nodes that jobs share with memory or GPUs a job's
//! size is its dominant share: on each of its nodes the largest of its shares of processors, memory
//! and GPUs, in processors of that node, rounded up. Where GPUs are counted a job's size is the
//! GPUs that it holds or, where that is asked for, its dominant share in GPUs.

use super::pools::Pool;
use super::{Machine, Node, NodeSets, Unit};
use crate::import::Counting;
use crate::jobs::{Job, Marks};
use crate::rows::{Interner, Symbol, Table};
use crate::sweep::{Moves, moves};
use crate::text::{Amount, UNKNOWN};

/// So large a part of a pool's core-seconds, in percent, has to be whole nodes for nodes to be its
/// unit, or of its jobs to hold GPUs.
const NEARLY_ALL: u64 = 95;

/// How a pool is projected, and what that changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Projection {
    pub(crate) unit: Unit,
    /// Units that the pool has.
    pub(crate) units: u32,
    /// Processors of a unit, on average.
    pub(crate) cpus_per_unit: f64,
    pub(crate) nodes: u32,
    pub(crate) cpus: u64,
    pub(crate) gpus: u64,
    /// Whether the description gives its size; else it is the most that jobs used at once.
    pub(crate) described: bool,
    /// Core-seconds of whole nodes, and all.
    pub(crate) whole: (u64, u64),
    /// Jobs with GPUs, and all.
    pub(crate) with_gpus: (u64, u64),
    /// Whether sizes are dominant shares.
    pub(crate) dominant: bool,
    /// Units times seconds that jobs hold, and that their dominant shares stand for.
    pub(crate) inflated: (u64, u64),
    /// Jobs whose dominant share is of something else than what is counted.
    pub(crate) dominated: By,
}

/// Jobs by what their dominant share is of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct By {
    pub(crate) cpus: u64,
    pub(crate) memory: u64,
    pub(crate) gpus: u64,
}

/// Sizes of a pool's nodes where a job's own are unknown: those of its most frequent kind of node.
struct Typical {
    cpus: u32,
    memory_kb: u64,
    gpus: u32,
    /// Whether all nodes have as many processors.
    equal: bool,
}

/// What a projection looks at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) table: &'a Table,
    pub(crate) sets: &'a NodeSets,
    /// Whether the machine is described, not inferred.
    pub(crate) described: bool,
    /// What is to be counted.
    pub(crate) count: Counting,
}

/// Chooses the unit of a pool and gives its jobs their sizes.
pub(crate) fn project(
    scene: Scene<'_>,
    pool: &Pool,
    number: u16,
    jobs: &mut [Job],
    amounts: &mut Interner<Amount>,
) -> Projection {
    let Scene { machine, table, sets, described, count } = scene;
    let typical = typical(pool, machine);
    let exclusive =
        |partition: &str| machine.linear || machine.partitions.iter().any(|p| p.exclusive && p.name == partition);
    let whole_partitions: Vec<bool> = table.names.all().map(|name| exclusive(&table.names.text(name))).collect();
    let mut found = Projection { described, nodes: pool.nodes.len() as u32, ..Projection::default() };
    for job in jobs.iter_mut().filter(|job| job.pool == number) {
        let row = table.rows.get(job.row);
        if whole_partitions[table.at(row).partition.0 as usize] {
            job.marks.set(Marks::EXCLUSIVE);
        }
        let mut amount = *amounts.get(job.amount);
        if amount.cpus == UNKNOWN {
            // All processors of its nodes.
            amount.cpus = amount.nodes.saturating_mul(typical.cpus.max(1)).min(UNKNOWN - 1);
            job.amount = amounts.intern(amount);
        }
        let seconds = job.core_seconds(&amount);
        found.whole.1 += seconds;
        found.with_gpus.1 += 1;
        found.with_gpus.0 += u64::from(amount.gpus != UNKNOWN && amount.gpus > 0);
        if is_whole(job, &amount, row.nodes, machine, sets, &typical) {
            found.whole.0 += seconds;
        }
    }
    for &node in &pool.nodes {
        let node = &machine.nodes[node as usize];
        found.cpus += u64::from(node.cpus);
        found.gpus += u64::from(node.gpus);
    }
    let nearly = |(part, all): (u64, u64)| all > 0 && part.saturating_mul(100) >= all.saturating_mul(NEARLY_ALL);
    // What jobs show of a node is less than it has, and would make whole nodes of parts.
    let nodes_known = described && typical.cpus > 0;
    found.unit = match count {
        Counting::Auto | Counting::Dominant if nodes_known && nearly(found.whole) => Unit::Node,
        Counting::Auto | Counting::Dominant if nearly(found.with_gpus) => Unit::Gpu,
        Counting::Gpus if found.gpus > 0 || found.with_gpus.0 > 0 => Unit::Gpu,
        Counting::Nodes => Unit::Node,
        _ => Unit::Cpu,
    };
    // What is inferred of memory and GPUs is too little to divide by.
    found.dominant = described
        && match found.unit {
            Unit::Cpu => count != Counting::Cpus,
            Unit::Gpu => count == Counting::Dominant,
            Unit::Node => false,
        };
    size_jobs(scene, &mut found, number, jobs, amounts.items(), &typical);
    let total = match found.unit {
        Unit::Cpu => found.cpus,
        Unit::Node => u64::from(found.nodes),
        Unit::Gpu => found.gpus,
    };
    found.units = u32::try_from(total).unwrap_or(u32::MAX);
    if !described || found.units == 0 {
        // A job that waits is no less wide for it.
        let widest = jobs.iter().filter(|job| job.pool == number).map(|job| job.units).max();
        found.units = most_at_once(jobs, number).max(widest.unwrap_or(1)).max(1);
        found.described = false;
    }
    found.cpus_per_unit = match found.unit {
        Unit::Cpu => 1.0,
        Unit::Node | Unit::Gpu => (found.cpus as f64 / total.max(1) as f64).max(1.0),
    };
    found
}

fn typical(pool: &Pool, machine: &Machine) -> Typical {
    let mut kinds: std::collections::BTreeMap<(u32, u64, u32), u32> = std::collections::BTreeMap::new();
    for &node in &pool.nodes {
        let node = &machine.nodes[node as usize];
        *kinds.entry((node.cpus, node.memory_kb, node.gpus)).or_default() += 1;
    }
    let equal = kinds.keys().map(|kind| kind.0).collect::<std::collections::BTreeSet<_>>().len() == 1;
    let most = kinds.into_iter().max_by_key(|&(kind, count)| (count, kind)).map(|(kind, _)| kind);
    let (cpus, memory_kb, gpus) = most.unwrap_or_default();
    Typical { cpus, memory_kb, gpus, equal }
}

/// Whether a job has its nodes for itself.
fn is_whole(job: &Job, amount: &Amount, list: Symbol, machine: &Machine, sets: &NodeSets, typical: &Typical) -> bool {
    if job.marks.has(Marks::EXCLUSIVE) {
        return true;
    }
    let cpus = u64::from(amount.cpus);
    if sets.len(list) > 0 {
        let all: u64 = sets.nodes(list).map(|node| u64::from(machine.nodes[node as usize].cpus)).sum();
        return all > 0 && cpus >= all;
    }
    typical.equal
        && amount.nodes != UNKNOWN
        && typical.cpus > 0
        && cpus >= u64::from(amount.nodes) * u64::from(typical.cpus)
}

/// Gives each job its size.
fn size_jobs(
    scene: Scene<'_>,
    found: &mut Projection,
    number: u16,
    jobs: &mut [Job],
    amounts: &[Amount],
    typical: &Typical,
) {
    let unit = found.unit;
    for job in jobs.iter_mut().filter(|job| job.pool == number) {
        let amount = &amounts[job.amount as usize];
        let known = scene.sets.len(scene.table.rows.get(job.row).nodes);
        let count = if known > 0 { known } else { nodes_or(amount, 1) };
        let held = match unit {
            Unit::Node if known > 0 || amount.nodes != UNKNOWN => count,
            Unit::Node => amount.cpus.div_ceil(typical.cpus.max(1)),
            Unit::Gpu if amount.gpus != UNKNOWN && amount.gpus > 0 => amount.gpus,
            Unit::Gpu => 1,
            Unit::Cpu => amount.cpus,
        };
        job.units = held.max(1);
        if unit == Unit::Node || !scene.described {
            continue;
        }
        let share = dominant(scene, job, amount, count, typical, unit);
        found.dominated.add(share.by);
        let units = share.units.max(job.units);
        if job.kind.started() {
            let run = u64::from(job.occupied());
            found.inflated.0 += u64::from(held) * run;
            found.inflated.1 += u64::from(units) * run;
        }
        if found.dominant {
            job.units = units;
        }
    }
}

fn nodes_or(amount: &Amount, other: u32) -> u32 {
    if amount.nodes == UNKNOWN { other } else { amount.nodes.max(1) }
}

/// A job's dominant share over its nodes, or over as many typical ones.
fn dominant(scene: Scene<'_>, job: &Job, amount: &Amount, count: u32, typical: &Typical, unit: Unit) -> Share {
    let list = scene.table.rows.get(job.row).nodes;
    let mut sum = Share::default();
    let mut scaled = 0_u64;
    let mut add = |node: &Node, times: u64| {
        let (part, by) = share_of(job, amount, node, count, unit);
        scaled = scaled.saturating_add(part.saturating_mul(times));
        sum.by = sum.by.or(by);
    };
    if scene.sets.len(list) > 0 {
        scene.sets.nodes(list).for_each(|node| add(&scene.machine.nodes[node as usize], 1));
    } else {
        let (cpus, memory_kb, gpus) = (typical.cpus, typical.memory_kb, typical.gpus);
        add(&Node { cpus, memory_kb, gpus, threads_per_core: 1, ..Node::default() }, u64::from(count));
    }
    sum.units = u32::try_from(scaled.div_ceil(u64::from(count))).unwrap_or(u32::MAX);
    sum
}

/// A job's dominant share, and what made it so.
#[derive(Clone, Copy, Default)]
struct Share {
    units: u32,
    by: By,
}

impl By {
    /// What any of both is of, once.
    fn or(self, other: By) -> By {
        By { cpus: self.cpus.max(other.cpus), memory: self.memory.max(other.memory), gpus: self.gpus.max(other.gpus) }
    }

    fn add(&mut self, other: By) {
        self.cpus += other.cpus;
        self.memory += other.memory;
        self.gpus += other.gpus;
    }
}

/// A job's share of one of its `count` nodes, times `count`, and what it is of: processors that do
/// not divide evenly stay whole so.
fn share_of(job: &Job, amount: &Amount, node: &Node, count: u32, unit: Unit) -> (u64, By) {
    let all = u64::from(if unit == Unit::Gpu { node.gpus } else { node.cpus });
    let count = u64::from(count);
    let mut cpus = u64::from(amount.cpus);
    // What was granted is whole cores already.
    let threads = u64::from(node.threads_per_core.max(1));
    if !job.kind.started() && threads > 1 {
        cpus = cpus.div_ceil(count).div_ceil(threads) * threads * count;
    }
    // A share of what a node has none of is none, and none is more than the node.
    let part =
        |of: u64, has: u64| if has == 0 { 0 } else { (u128::from(of) * u128::from(all)).div_ceil(u128::from(has)) };
    let capped = |part: u128| u64::try_from(part).unwrap_or(u64::MAX).min(all * count);
    let gpus = if amount.gpus == UNKNOWN { 0 } else { u64::from(amount.gpus) };
    // What is counted itself is taken as it is.
    let (by_cpus, by_gpus) = match unit {
        Unit::Gpu => (capped(part(cpus, u64::from(node.cpus))), gpus),
        Unit::Cpu | Unit::Node => (cpus, capped(part(gpus, u64::from(node.gpus)))),
    };
    if job.marks.has(Marks::EXCLUSIVE) || amount.memory_kb == Amount::ALL_MEMORY {
        return ((all * count).max(if unit == Unit::Gpu { by_gpus } else { by_cpus }), By::default());
    }
    let memory = if amount.memory_kb < Amount::ALL_MEMORY { amount.memory_kb } else { 0 };
    let by_memory = capped(part(memory, node.memory_kb));
    let most = |one: u64, a: u64, b: u64| u64::from(one > a.max(b));
    let by = By {
        cpus: if unit == Unit::Gpu { most(by_cpus, by_memory, by_gpus) } else { 0 },
        memory: most(by_memory, by_cpus, by_gpus),
        gpus: if unit == Unit::Gpu { 0 } else { most(by_gpus, by_cpus, by_memory) },
    };
    (by_cpus.max(by_memory).max(by_gpus), by)
}

/// The most units that jobs of a pool held at once.
fn most_at_once(jobs: &[Job], pool: u16) -> u32 {
    let (mut now, mut most) = (0_u64, 0_u64);
    moves(
        jobs,
        |job| job.pool == pool,
        |job, moves| {
            match moves {
                Moves::Starts => now += u64::from(job.units),
                Moves::Ends => now = now.saturating_sub(u64::from(job.units)),
            }
            most = most.max(now);
        },
    );
    u32::try_from(most).unwrap_or(u32::MAX)
}
