//! Checks that a description fits the jobs, and adds the nodes that only the jobs show.

use super::side_data::BesideData;
use crate::capacity::{Cause, Closures};
use crate::error::SiteError;
use crate::jobs::{FoundJob, count_rule};
use crate::machine::{
    NodePool, NodePools, NodeSets, SiteMachine, SiteNode, SitePartition, divide_machine, infer_machine,
    partitions_of_jobs,
};
use crate::rows::{AccountingTable, Interner, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::sweep::Crew;
use crate::text::Amount;
use std::collections::{BTreeMap, BTreeSet};

/// So large a part of core-seconds, in percent, has to be on nodes or in partitions that a
/// description has.
const HALF: u64 = 50;

/// No pool.
const NOWHERE: u16 = u16::MAX;

/// The machine, divided, and each job put into its pool.
pub(super) struct DividedMachine {
    pub(super) sets: NodeSets,
    pub(super) pools: NodePools,
    pub(super) closures: Closures,
    pub(super) described: bool,
}

/// Returns the lists of partitions of which jobs ask for any.
fn partitions_of_one_job(table: &AccountingTable) -> BTreeSet<Vec<String>> {
    let mut lists = BTreeSet::new();
    for place in table.at.items() {
        let asks = table.names.text_of(place.asks);
        let Some(list) = asks.split_ascii_whitespace().find_map(|word| word.strip_prefix("partitions=")) else {
            continue;
        };
        let list: Vec<String> = list.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect();
        // One whose partition is none of these was moved.
        let own = table.names.text_of(place.partition);
        if list.iter().any(|name| *name == own) {
            lists.insert(list);
        }
    }
    lists
}

/// Completes the machine by what jobs show, and gives every job its pool.
pub(super) fn place_on_machine(
    beside: &mut BesideData,
    table: &AccountingTable,
    jobs: &mut Vec<FoundJob>,
    amounts: &Interner<Amount>,
    tally: &mut RuleTally,
    crew: Crew,
) -> Result<DividedMachine, SiteError> {
    let described_nodes = beside.described;
    let sets = NodeSets::new(&table.node_lists, &mut beside.machine.nodes);
    if sets.unreadable > 0 {
        beside
            .warnings
            .push(format!("{} lists of nodes cannot be read: where these jobs ran is not known", sets.unreadable));
    }
    if described_nodes {
        check_fit(beside, table, jobs, amounts.items(), &sets)?;
    } else {
        infer_machine(jobs, table, amounts.items(), &sets, &mut beside.machine, crew);
    }
    if described_nodes && beside.machine.open_nodes {
        open_queues(&mut beside.machine, table, jobs, &sets, crew);
    }
    let placeless = described_nodes && beside.machine.partitions.iter().all(|partition| partition.nodes.is_empty());
    if placeless {
        give_queues_nodes(&mut beside.machine, table, jobs, &sets, crew);
    }
    let together = if described_nodes { partitions_of_one_job(table) } else { BTreeSet::new() };
    let mut pools = divide_machine(&beside.machine, &table.names, !described_nodes, &together);
    let apart = divide_machine(&beside.machine, &table.names, !described_nodes, &BTreeSet::new());
    if pools.pools.len() < apart.pools.len() {
        let sentence = "jobs ask for any of several partitions that have no node in common: these are one pool";
        beside.machine.evidence.push(sentence.to_string());
    }
    beside.machine.evidence.extend(list_overlaps(&beside.machine, &pools));
    let mut closures = Closures::default();
    if described_nodes {
        adopt_nodes(&mut beside.machine, &mut pools, &mut closures, table, jobs, amounts.items(), &sets, tally);
        drop_idle(&mut beside.machine, &mut pools, table, jobs, &sets, &mut beside.warnings);
    }
    let fallback = (pools.pools.len() == 1).then_some(0);
    let of_lists: Vec<Option<u16>> = table.node_lists.all_symbols().map(|list| pools.of_list(list, &sets)).collect();
    let of_places: Vec<Option<u16>> = table.at.items().iter().map(|at| pools.of_partition(at.partition)).collect();
    let parts = crew.map_parts_mut(jobs, |jobs| {
        let (mut counted_tally, mut foreign): (RuleTally, BTreeMap<Symbol, u64>) = Default::default();
        let mut has_lost = false;
        for job in jobs {
            let row = table.rows.get(job.row);
            let own = of_lists[row.nodes.0 as usize].or(of_places[row.at as usize]);
            if own.is_none() && fallback.is_some() && described_nodes {
                *foreign.entry(table.place_of(row).partition).or_default() += 1;
            }
            job.pool = own.or(fallback).unwrap_or(NOWHERE);
            if job.pool == NOWHERE {
                has_lost = true;
                count_rule(
                    &mut counted_tally,
                    table,
                    ImportRule::NoPool,
                    row,
                    job.core_seconds(amounts.get(job.amount)),
                );
            }
        }
        (counted_tally, foreign, has_lost)
    });
    let mut foreign: BTreeMap<Symbol, u64> = BTreeMap::new();
    let has_lost = parts.iter().any(|part| part.2);
    for (part_tally, names, _) in parts {
        tally.absorb_tally(part_tally);
        names.into_iter().for_each(|(name, jobs)| *foreign.entry(name).or_default() += jobs);
    }
    if has_lost {
        jobs.retain(|job| job.pool != NOWHERE);
    }
    for (name, jobs) in foreign {
        beside.warnings.push(format!(
            "the description lacks the partition `{}`; its only pool takes the jobs of that partition: {jobs}",
            table.names.text_of(name)
        ));
    }
    Ok(DividedMachine { sets, pools, closures, described: described_nodes })
}

/// Gives partitions nodes where the description names nodes and does not say which belong to which:
/// those where their jobs ran. Where all ran on some nodes alike, the others are of the same pool.
fn give_queues_nodes(
    machine: &mut SiteMachine,
    table: &AccountingTable,
    jobs: &[FoundJob],
    sets: &NodeSets,
    crew: Crew,
) {
    let described_partitions = std::mem::take(&mut machine.partitions);
    machine.partitions = partitions_of_jobs(jobs, table, sets, crew);
    for partition in &mut machine.partitions {
        if let Some(entry) = described_partitions.iter().find(|entry| entry.name == partition.name) {
            *partition = SitePartition { nodes: std::mem::take(&mut partition.nodes), ..entry.clone() };
        }
    }
    let of_jobs: Vec<&str> = machine.partitions.iter().map(|partition| partition.name.as_str()).collect();
    let more: Vec<SitePartition> =
        described_partitions.into_iter().filter(|entry| !of_jobs.contains(&entry.name.as_str())).collect();
    machine.partitions.extend(more);
    if divide_machine(machine, &table.names, false, &BTreeSet::new())
        .pools
        .iter()
        .filter(|pool| !pool.nodes.is_empty())
        .count()
        == 1
        && let Some(partition) = machine.partitions.iter_mut().find(|partition| !partition.nodes.is_empty())
    {
        partition.nodes = (0..machine.nodes.len() as u32).collect();
    }
    machine.evidence.push("no description says which nodes a partition has: those where its jobs ran".to_string());
}

/// Gives each queue that has no nodes of its own the nodes without a queue, of the kinds that its
/// jobs ran on.
fn open_queues(machine: &mut SiteMachine, table: &AccountingTable, jobs: &[FoundJob], sets: &NodeSets, crew: Crew) {
    let owned_nodes: BTreeSet<u32> = machine.partitions.iter().flat_map(|p| p.nodes.iter().copied()).collect();
    let nodes = &machine.nodes;
    let is_open = |at: &u32| !owned_nodes.contains(at) && nodes[*at as usize].cpus > 0;
    let kind = |at: &u32| {
        let node = &nodes[*at as usize];
        (node.cpus, node.memory_kb, node.gpus)
    };
    let open: Vec<u32> = (0..nodes.len() as u32).filter(is_open).collect();
    let mut served_queues = Vec::new();
    for mut queue in partitions_of_jobs(jobs, table, sets, crew) {
        if machine.partitions.iter().any(|entry| entry.name == queue.name && !entry.nodes.is_empty()) {
            continue;
        }
        let kinds: BTreeSet<_> = queue.nodes.iter().filter(|at| is_open(at)).map(kind).collect();
        queue.nodes = open.iter().copied().filter(|at| kinds.contains(&kind(at))).collect();
        if !queue.nodes.is_empty() {
            served_queues.push(queue);
        }
    }
    if served_queues.is_empty() {
        return;
    }
    machine.evidence.push(format!(
        "nodes without a queue: {}; each queue that has none of its own has those of the kinds that its jobs ran on",
        open.len()
    ));
    machine.partitions.retain(|entry| served_queues.iter().all(|queue| queue.name != entry.name));
    machine.partitions.extend(served_queues);
}

/// Returns the partitions that form one pool because they share nodes.
fn list_overlaps(machine: &SiteMachine, pools: &NodePools) -> Vec<String> {
    let several = pools.pools.iter().filter(|pool| pool.partitions.len() > 1 && !pool.nodes.is_empty());
    let describe_pool = |pool: &NodePool| {
        let names: Vec<&str> =
            pool.partitions.iter().map(|&at| machine.partitions[at as usize].name.as_str()).collect();
        format!("partitions that share nodes are one pool: {}", names.join(", "))
    };
    several.map(describe_pool).collect()
}

/// Checks that most work is on nodes, or in partitions, that the description has.
fn check_fit(
    beside: &BesideData,
    table: &AccountingTable,
    jobs: &[FoundJob],
    amounts: &[Amount],
    sets: &NodeSets,
) -> Result<(), SiteError> {
    let machine = &beside.machine;
    let partitions: BTreeSet<Symbol> =
        machine.partitions.iter().filter_map(|p| table.names.find_symbol(p.name.as_bytes())).collect();
    let (mut on_known, mut on_all, mut in_known, mut in_all) = (0_u64, 0_u64, 0_u64, 0_u64);
    for job in jobs {
        let row = table.rows.get(job.row);
        // A job without work counts a little.
        let work = job.core_seconds(&amounts[job.amount as usize]).max(1);
        let nodes = sets.len(row.nodes);
        if nodes > 0 {
            let known_count = sets.list_nodes(row.nodes).filter(|&node| node < sets.described).count() as u64;
            on_known += work / u64::from(nodes) * known_count;
            on_all += work / u64::from(nodes) * u64::from(nodes);
        }
        in_all += work;
        in_known += if partitions.contains(&table.place_of(row).partition) { work } else { 0 };
    }
    let file = beside.described_by.first().map_or("the description".to_string(), |path| path.display().to_string());
    let too_few = |part: u64, total: u64| total > 0 && part.saturating_mul(100) < total.saturating_mul(HALF);
    let some = |names: Vec<&str>| names.into_iter().take(3).collect::<Vec<_>>().join(", ");
    if too_few(on_known, on_all) {
        let missing = machine.nodes[sets.described as usize..].iter().map(|n| n.name.as_str()).collect();
        let machine_names = machine.nodes[..sets.described as usize].iter().map(|n| n.name.as_str()).collect();
        let cluster = machine.cluster.as_deref().map_or(String::new(), |name| format!(" of the cluster {name}"));
        let evidence = format!(
            "jobs ran on nodes such as {}, and it has{cluster} nodes such as {}; {} % of the core-seconds are on nodes that it knows",
            some(missing),
            some(machine_names),
            on_known.saturating_mul(100) / on_all.max(1)
        );
        return Err(SiteError::OtherMachine { file, evidence });
    }
    let pools = divide_machine(machine, &table.names, false, &BTreeSet::new()).pools.len();
    if on_all == 0 && pools > 1 && too_few(in_known, in_all) {
        let machine_names = machine.partitions.iter().map(|p| p.name.as_str()).collect();
        let used_partitions: BTreeSet<Symbol> =
            jobs.iter().map(|job| table.place_of(table.rows.get(job.row)).partition).collect();
        let names: Vec<String> = used_partitions.iter().map(|&name| table.names.text_of(name).into_owned()).collect();
        let evidence = format!(
            "jobs are of partitions such as {}, and it has such as {}",
            some(names.iter().map(String::as_str).collect()),
            some(machine_names)
        );
        return Err(SiteError::OtherMachine { file, evidence });
    }
    Ok(())
}

/// Adds nodes that the description lacks: to the pool of the jobs that ran there, from the first
/// sighting to the last.
#[expect(clippy::too_many_arguments, reason = "one step between two tables")]
fn adopt_nodes(
    machine: &mut SiteMachine,
    pools: &mut NodePools,
    closures: &mut Closures,
    table: &AccountingTable,
    jobs: &[FoundJob],
    amounts: &[Amount],
    sets: &NodeSets,
    tally: &mut RuleTally,
) {
    if sets.described as usize == machine.nodes.len() {
        return;
    }
    // First and last sighting, and votes for pools.
    let mut seen_nodes: BTreeMap<u32, (u32, u32, BTreeMap<u16, u32>)> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.kind.has_start()) {
        let row = table.rows.get(job.row);
        if sets.list_ranges(row.nodes).last().is_none_or(|range| range.end <= sets.described) {
            continue;
        }
        count_rule(tally, table, ImportRule::NewNode, row, job.core_seconds(&amounts[job.amount as usize]));
        let pool = pools.of_job(row.nodes, table.place_of(row).partition, sets);
        let end = if job.end == 0 { u32::MAX } else { job.end };
        for node in sets.list_nodes(row.nodes).filter(|&node| node >= sets.described) {
            let node_extent = seen_nodes.entry(node).or_insert((u32::MAX, 0, BTreeMap::new()));
            (node_extent.0, node_extent.1) = (node_extent.0.min(job.start), node_extent.1.max(end));
            if let Some(pool) = pool {
                *node_extent.2.entry(pool).or_default() += 1;
            }
        }
    }
    for (node, (first, last, votes)) in seen_nodes {
        let most = votes.into_iter().max_by_key(|&(pool, votes)| (votes, std::cmp::Reverse(pool)));
        let pool = match most {
            Some((pool, _)) => pool,
            None if pools.pools.len() == 1 => 0,
            None => continue,
        };
        let model = most_frequent(machine, pools, pool);
        let name = std::mem::take(&mut machine.nodes[node as usize].name);
        machine.nodes[node as usize] = SiteNode { name, ..model };
        pools.adopt_node(node, pool);
        closures.add_closure(node, 0, Some(i64::from(first)), Cause::NewNode);
        if last < u32::MAX {
            closures.add_closure(node, i64::from(last), None, Cause::NewNode);
        }
    }
}

/// The most frequent kind of node of a pool.
fn most_frequent(machine: &SiteMachine, pools: &NodePools, pool: u16) -> SiteNode {
    let mut kinds: BTreeMap<(u32, u64, u32, u32), u32> = BTreeMap::new();
    for &node in &pools.pools[usize::from(pool)].nodes {
        let node = &machine.nodes[node as usize];
        *kinds.entry((node.cpus, node.memory_kb, node.gpus, node.threads_per_core)).or_default() += 1;
    }
    let most = kinds.into_iter().max_by_key(|&(kind, count)| (count, kind)).map(|(kind, _)| kind).unwrap_or_default();
    let (cpus, memory_kb, gpus, threads_per_core) = most;
    SiteNode { cpus, memory_kb, gpus, threads_per_core, ..SiteNode::default() }
}

/// Nodes that the description says are out, and on which no job ran, are no part of the machine.
fn drop_idle(
    machine: &mut SiteMachine,
    pools: &mut NodePools,
    table: &AccountingTable,
    jobs: &[FoundJob],
    sets: &NodeSets,
    warnings: &mut Vec<String>,
) {
    if !machine.nodes.iter().any(|node| node.down) || table.node_lists.len() <= 1 {
        return;
    }
    let mut used_nodes = vec![false; machine.nodes.len()];
    for job in jobs {
        sets.list_nodes(table.rows.get(job.row).nodes).for_each(|node| used_nodes[node as usize] = true);
    }
    let is_gone = |node: &u32| machine.nodes[*node as usize].down && !used_nodes[*node as usize];
    let mut dropped_count = 0;
    for pool in &mut pools.pools {
        let before = pool.nodes.len();
        // A pool stays a pool, even if all of it is out now.
        if pool.nodes.iter().any(|node| !is_gone(node)) {
            pool.nodes.retain(|node| !is_gone(node));
        }
        dropped_count += before - pool.nodes.len();
    }
    if dropped_count > 0 {
        warnings.push(format!(
            "nodes that are out of service by the description and ran no job: {dropped_count}; they are not counted"
        ));
    }
}

/// Partitions by the symbols of their names.
pub(super) fn by_symbol<'a>(machine: &'a SiteMachine, table: &AccountingTable) -> BTreeMap<Symbol, &'a SitePartition> {
    let named_partition = |p: &'a SitePartition| table.names.find_symbol(p.name.as_bytes()).map(|symbol| (symbol, p));
    machine.partitions.iter().filter_map(named_partition).collect()
}
