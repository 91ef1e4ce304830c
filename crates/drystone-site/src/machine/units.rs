//! Units of a pool, and the number of them that a job takes.
//!
//! The engine knows one kind of processor. On nodes that jobs share with memory or GPUs a job's
//! size is its dominant share: on each of its nodes the largest of its shares of processors, memory
//! and GPUs, in processors of that node, rounded up. Where GPUs are counted a job's size is the
//! GPUs that it holds or, where that is asked for, its dominant share in GPUs.

use super::pools::NodePool;
use super::{NodeSets, PoolUnit, SiteMachine, SiteNode};
use crate::jobs::{self, FoundJob, JobMarks};
use crate::options::Counting;
use crate::rows::{AccountingTable, Interner, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::sweep::{Crew, Moves, visit_moves};
use crate::text::{Amount, UNKNOWN};

/// So large a part of a pool's core-seconds, in percent, has to be whole nodes for nodes to be its
/// unit, or of its jobs to hold GPUs.
const NEARLY_ALL: u64 = 95;

/// Projection of a pool, and its effects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Projection {
    pub(crate) unit: PoolUnit,
    /// Units that the pool has.
    pub(crate) units: u32,
    /// Processors of a unit, on average.
    pub(crate) cpus_per_unit: f64,
    pub(crate) nodes: u32,
    pub(crate) cpus: u64,
    pub(crate) gpus: u64,
    /// True if the description gives its size; otherwise it is what jobs show: the nodes that they
    /// name, or the most that they used at once.
    pub(crate) described: bool,
    /// Core-seconds of whole nodes, and all.
    pub(crate) whole: (u64, u64),
    /// Jobs with GPUs, and all.
    pub(crate) with_gpus: (u64, u64),
    /// True if sizes are dominant shares.
    pub(crate) dominant: bool,
    /// Units times seconds that jobs hold, and that their dominant shares stand for.
    pub(crate) inflated: (u64, u64),
    /// Jobs whose dominant share is of something else than what is counted.
    pub(crate) dominated: DominantKind,
}

/// Jobs by what their dominant share is of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DominantKind {
    pub(crate) cpus: u64,
    pub(crate) memory: u64,
    pub(crate) gpus: u64,
}

/// Sizes of a pool's nodes where a job's own are unknown: those of its most frequent kind of node.
struct Typical {
    cpus: u32,
    memory_kb: u64,
    gpus: u32,
    /// True if all nodes have equally many processors.
    equal: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct ProjectionInputs<'a> {
    pub(crate) machine: &'a SiteMachine,
    pub(crate) table: &'a AccountingTable,
    pub(crate) sets: &'a NodeSets,
    /// True if the machine is described, not inferred.
    pub(crate) described: bool,
    pub(crate) count: Counting,
    /// Threads for walks over the jobs.
    pub(crate) crew: Crew,
}

/// Chooses the unit of every pool and gives the jobs their sizes.
pub(crate) fn project_pools(
    scene: ProjectionInputs<'_>,
    pools: &[NodePool],
    jobs: &mut [FoundJob],
    amounts: &mut Interner<Amount>,
    tally: &mut RuleTally,
) -> Vec<Projection> {
    let ProjectionInputs { machine, crew, .. } = scene;
    let typical: Vec<Typical> = pools.iter().map(|pool| typical_node(pool, machine)).collect();
    size_by_nodes(scene, &typical, jobs, amounts, tally);
    let mut projections: Vec<Projection> = pools.iter().map(|pool| begin_projection(scene, pool)).collect();
    let whole = whole_places(scene);
    let amounts = amounts.items();
    let parts = crew.map_parts_mut(jobs, |jobs| {
        let mut partial_projections = vec![Projection::default(); pools.len()];
        jobs.iter_mut().for_each(|job| survey_job(scene, job, amounts, &whole, &typical, &mut partial_projections));
        partial_projections
    });
    for part in &parts {
        for (projection, part) in projections.iter_mut().zip(part) {
            let add = |to: &mut (u64, u64), more: (u64, u64)| *to = (to.0 + more.0, to.1 + more.1);
            add(&mut projection.whole, part.whole);
            add(&mut projection.with_gpus, part.with_gpus);
        }
    }
    for (projection, typical) in projections.iter_mut().zip(&typical) {
        choose_unit(scene, projection, typical);
    }
    let parts = crew.map_parts_mut(jobs, |jobs| {
        let mut sizes: Vec<SizeSums> = projections.iter().map(|_| SizeSums::default()).collect();
        for job in jobs {
            let pool = usize::from(job.pool);
            size_job(scene, &projections[pool], job, amounts, &typical[pool], &mut sizes[pool]);
        }
        sizes
    });
    let mut widest = vec![1_u32; pools.len()];
    for part in &parts {
        for ((projection, widest), sizes) in projections.iter_mut().zip(&mut widest).zip(part) {
            projection.dominated.add_kind(sizes.dominated);
            projection.inflated = (projection.inflated.0 + sizes.inflated.0, projection.inflated.1 + sizes.inflated.1);
            *widest = (*widest).max(sizes.widest);
        }
    }
    count_units(scene, &mut projections, &widest, jobs);
    projections
}

fn begin_projection(scene: ProjectionInputs<'_>, pool: &NodePool) -> Projection {
    let mut projection =
        Projection { described: scene.described, nodes: pool.nodes.len() as u32, ..Projection::default() };
    for &node in &pool.nodes {
        let node = &scene.machine.nodes[node as usize];
        projection.cpus += u64::from(node.cpus);
        projection.gpus += u64::from(node.gpus);
    }
    projection
}

/// Jobs whose processors are unknown hold all of their nodes'.
fn size_by_nodes(
    scene: ProjectionInputs<'_>,
    typical: &[Typical],
    jobs: &mut [FoundJob],
    amounts: &mut Interner<Amount>,
    tally: &mut RuleTally,
) {
    if !amounts.items().iter().any(|amount| amount.cpus == UNKNOWN) {
        return;
    }
    for job in jobs {
        let mut amount = *amounts.get(job.amount);
        if amount.cpus == UNKNOWN {
            let cpus_per_node = typical[usize::from(job.pool)].cpus.max(1);
            amount.cpus = amount.nodes.saturating_mul(cpus_per_node).min(UNKNOWN - 1);
            job.amount = amounts.intern(amount);
            let row = scene.table.rows.get(job.row);
            jobs::count_rule(tally, scene.table, ImportRule::SizeNodes, row, job.core_seconds(&amount));
        }
    }
}

/// Returns where jobs get whole nodes, by the number of where they are to run.
fn whole_places(scene: ProjectionInputs<'_>) -> Vec<bool> {
    let ProjectionInputs { machine, table, .. } = scene;
    let exclusive: Vec<Symbol> = machine
        .partitions
        .iter()
        .filter(|partition| partition.exclusive)
        .filter_map(|partition| table.names.find_symbol(partition.name.as_bytes()))
        .collect();
    table.at.items().iter().map(|at| machine.linear || exclusive.contains(&at.partition)).collect()
}

/// Adds a job to what is known of its pool.
fn survey_job(
    scene: ProjectionInputs<'_>,
    job: &mut FoundJob,
    amounts: &[Amount],
    whole: &[bool],
    typical: &[Typical],
    projections: &mut [Projection],
) {
    let row = scene.table.rows.get(job.row);
    if whole[row.at as usize] {
        job.marks.set_mark(JobMarks::EXCLUSIVE);
    }
    let pool = usize::from(job.pool);
    let (projection, amount) = (&mut projections[pool], &amounts[job.amount as usize]);
    let seconds = job.core_seconds(amount);
    projection.whole.1 += seconds;
    projection.with_gpus.1 += 1;
    projection.with_gpus.0 += u64::from(amount.gpus != UNKNOWN && amount.gpus > 0);
    if is_whole(job, amount, row.nodes, scene.machine, scene.sets, &typical[pool]) {
        projection.whole.0 += seconds;
    }
}

/// Chooses what a pool counts.
fn choose_unit(scene: ProjectionInputs<'_>, projection: &mut Projection, typical: &Typical) {
    let ProjectionInputs { described, count, .. } = scene;
    let nearly = |(part, total): (u64, u64)| total > 0 && part.saturating_mul(100) >= total.saturating_mul(NEARLY_ALL);
    // What jobs show of a node is less than it has, and would make whole nodes of parts.
    let nodes_known = described && typical.cpus > 0;
    projection.unit = match count {
        Counting::Auto | Counting::Dominant if nodes_known && nearly(projection.whole) => PoolUnit::Node,
        Counting::Auto | Counting::Dominant if nearly(projection.with_gpus) => PoolUnit::Gpu,
        Counting::Gpus if projection.gpus > 0 || projection.with_gpus.0 > 0 => PoolUnit::Gpu,
        Counting::Nodes => PoolUnit::Node,
        _ => PoolUnit::Cpu,
    };
    // What is inferred of memory and GPUs is too little to divide by.
    projection.dominant = described
        && match projection.unit {
            PoolUnit::Cpu => count != Counting::Cpus,
            PoolUnit::Gpu => count == Counting::Dominant,
            PoolUnit::Node => false,
        };
}

/// Counts the units of pools: those of their nodes or, where these are not known, the most that
/// jobs held at once.
fn count_units(scene: ProjectionInputs<'_>, projections: &mut [Projection], widest: &[u32], jobs: &[FoundJob]) {
    let total = |projection: &Projection| match projection.unit {
        PoolUnit::Cpu => projection.cpus,
        PoolUnit::Node => u64::from(projection.nodes),
        PoolUnit::Gpu => projection.gpus,
    };
    let unknown: Vec<bool> = projections.iter().map(|projection| !scene.described || total(projection) == 0).collect();
    let most =
        if unknown.contains(&true) { most_at_once(jobs, &unknown, scene.crew) } else { vec![0; projections.len()] };
    for (at, projection) in projections.iter_mut().enumerate() {
        let total = total(projection);
        projection.units = u32::try_from(total).unwrap_or(u32::MAX);
        if unknown[at] {
            // A job that waits is no less wide for it, and nodes that jobs name are all there.
            let named_units = if projection.unit == PoolUnit::Cpu { projection.units } else { 0 };
            projection.units = most[at].max(widest[at]).max(named_units).max(1);
            projection.described = false;
        }
        projection.cpus_per_unit = match projection.unit {
            PoolUnit::Cpu => 1.0,
            PoolUnit::Node | PoolUnit::Gpu => (projection.cpus as f64 / total.max(1) as f64).max(1.0),
        };
    }
}

fn typical_node(pool: &NodePool, machine: &SiteMachine) -> Typical {
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

fn is_whole(
    job: &FoundJob,
    amount: &Amount,
    list: Symbol,
    machine: &SiteMachine,
    sets: &NodeSets,
    typical: &Typical,
) -> bool {
    if job.marks.has_mark(JobMarks::EXCLUSIVE) {
        return true;
    }
    let cpus = u64::from(amount.cpus);
    if sets.len(list) > 0 {
        let total_cpus: u64 = sets.list_nodes(list).map(|node| u64::from(machine.nodes[node as usize].cpus)).sum();
        return total_cpus > 0 && cpus >= total_cpus;
    }
    typical.equal
        && amount.nodes != UNKNOWN
        && typical.cpus > 0
        && cpus >= u64::from(amount.nodes) * u64::from(typical.cpus)
}

/// Sums over the sizes of a pool's jobs.
#[derive(Default)]
struct SizeSums {
    dominated: DominantKind,
    inflated: (u64, u64),
    widest: u32,
}

fn size_job(
    scene: ProjectionInputs<'_>,
    projection: &Projection,
    job: &mut FoundJob,
    amounts: &[Amount],
    typical: &Typical,
    sizes: &mut SizeSums,
) {
    let unit = projection.unit;
    let amount = &amounts[job.amount as usize];
    let listed_nodes = scene.sets.len(scene.table.rows.get(job.row).nodes);
    let count = if listed_nodes > 0 { listed_nodes } else { nodes_or(amount, 1) };
    let units_taken = match unit {
        PoolUnit::Node if listed_nodes > 0 || amount.nodes != UNKNOWN => count,
        PoolUnit::Node => amount.cpus.div_ceil(typical.cpus.max(1)),
        PoolUnit::Gpu if amount.gpus != UNKNOWN && amount.gpus > 0 => amount.gpus,
        PoolUnit::Gpu => 1,
        PoolUnit::Cpu => amount.cpus,
    };
    job.units = units_taken.max(1);
    if unit != PoolUnit::Node && scene.described {
        let share = dominant_share(scene, job, amount, count, typical, unit);
        sizes.dominated.add_kind(share.by);
        let units = share.units.max(job.units);
        if job.kind.has_start() {
            let run = u64::from(job.occupied_seconds());
            sizes.inflated.0 += u64::from(units_taken) * run;
            sizes.inflated.1 += u64::from(units) * run;
        }
        if projection.dominant {
            job.units = units;
        }
    }
    sizes.widest = sizes.widest.max(job.units);
}

fn nodes_or(amount: &Amount, fallback: u32) -> u32 {
    if amount.nodes == UNKNOWN { fallback } else { amount.nodes.max(1) }
}

/// A job's dominant share over its nodes, or over as many typical ones.
fn dominant_share(
    scene: ProjectionInputs<'_>,
    job: &FoundJob,
    amount: &Amount,
    count: u32,
    typical: &Typical,
    unit: PoolUnit,
) -> DominantShare {
    let list = scene.table.rows.get(job.row).nodes;
    let mut sum = DominantShare::default();
    let mut scaled_share = 0_u64;
    let mut add = |node: &SiteNode, times: u64| {
        let (part, by) = share_of(job, amount, node, count, unit);
        scaled_share = scaled_share.saturating_add(part.saturating_mul(times));
        sum.by = sum.by.union_with(by);
    };
    if scene.sets.len(list) > 0 {
        scene.sets.list_nodes(list).for_each(|node| add(&scene.machine.nodes[node as usize], 1));
    } else {
        let (cpus, memory_kb, gpus) = (typical.cpus, typical.memory_kb, typical.gpus);
        add(&SiteNode { cpus, memory_kb, gpus, threads_per_core: 1, ..SiteNode::default() }, u64::from(count));
    }
    sum.units = u32::try_from(scaled_share.div_ceil(u64::from(count))).unwrap_or(u32::MAX);
    sum
}

/// A job's dominant share, and what made it so.
#[derive(Clone, Copy, Default)]
struct DominantShare {
    units: u32,
    by: DominantKind,
}

impl DominantKind {
    fn union_with(self, kind: DominantKind) -> DominantKind {
        DominantKind {
            cpus: self.cpus.max(kind.cpus),
            memory: self.memory.max(kind.memory),
            gpus: self.gpus.max(kind.gpus),
        }
    }

    fn add_kind(&mut self, kind: DominantKind) {
        self.cpus += kind.cpus;
        self.memory += kind.memory;
        self.gpus += kind.gpus;
    }
}

/// A job's share of one of its `count` nodes, times `count`, and what it is of: processors that do
/// not divide evenly stay whole so.
fn share_of(job: &FoundJob, amount: &Amount, node: &SiteNode, count: u32, unit: PoolUnit) -> (u64, DominantKind) {
    let node_units = u64::from(if unit == PoolUnit::Gpu { node.gpus } else { node.cpus });
    let count = u64::from(count);
    let mut cpus = u64::from(amount.cpus);
    // What was granted is whole cores already.
    let threads = u64::from(node.threads_per_core.max(1));
    if !job.kind.has_start() && threads > 1 {
        cpus = cpus.div_ceil(count).div_ceil(threads) * threads * count;
    }
    // A share of what a node has none of is none, and none is more than the node.
    let part = |of: u64, has: u64| {
        if has == 0 { 0 } else { (u128::from(of) * u128::from(node_units)).div_ceil(u128::from(has)) }
    };
    let cap_part = |part: u128| u64::try_from(part).unwrap_or(u64::MAX).min(node_units * count);
    let gpus = if amount.gpus == UNKNOWN { 0 } else { u64::from(amount.gpus) };
    // What is counted itself is taken as it is; of a node that is smaller than an equal part, all.
    let own_part = |of: u64| if node_units == 0 { of } else { of.min(node_units * count) };
    let (by_cpus, by_gpus) = match unit {
        PoolUnit::Gpu => (cap_part(part(cpus, u64::from(node.cpus))), own_part(gpus)),
        PoolUnit::Cpu | PoolUnit::Node => (own_part(cpus), cap_part(part(gpus, u64::from(node.gpus)))),
    };
    if job.marks.has_mark(JobMarks::EXCLUSIVE) || amount.memory_kb == Amount::ALL_MEMORY {
        return (
            (node_units * count).max(if unit == PoolUnit::Gpu { by_gpus } else { by_cpus }),
            DominantKind::default(),
        );
    }
    let memory = if amount.memory_kb < Amount::ALL_MEMORY { amount.memory_kb } else { 0 };
    let by_memory = cap_part(part(memory, node.memory_kb));
    let most = |value: u64, a: u64, b: u64| u64::from(value > a.max(b));
    let by = DominantKind {
        cpus: if unit == PoolUnit::Gpu { most(by_cpus, by_memory, by_gpus) } else { 0 },
        memory: most(by_memory, by_cpus, by_gpus),
        gpus: if unit == PoolUnit::Gpu { 0 } else { most(by_gpus, by_cpus, by_memory) },
    };
    (by_cpus.max(by_memory).max(by_gpus), by)
}

/// The most units that jobs held at once, of each pool that is asked for.
fn most_at_once(jobs: &[FoundJob], flags: &[bool], crew: Crew) -> Vec<u32> {
    let parts = crew.map_spans(jobs, |span| {
        let mut pool_use = vec![(0_u64, 0_u64); flags.len()];
        let visit = |job: &FoundJob, moves: Moves| {
            let (now, most) = &mut pool_use[usize::from(job.pool)];
            match moves {
                Moves::Starts => *now += u64::from(job.units),
                Moves::Ends => *now = now.saturating_sub(u64::from(job.units)),
            }
            *most = (*now).max(*most);
        };
        visit_moves(jobs, span, |job| flags[usize::from(job.pool)], visit);
        pool_use
    });
    let most = |pool: usize| parts.iter().map(|part| part[pool].1).max().unwrap_or(0);
    (0..flags.len()).map(|pool| u32::try_from(most(pool)).unwrap_or(u32::MAX)).collect()
}
