//! A machine that no file describes: what its jobs show of it.

use super::{NodeSets, SiteMachine, SiteNode, SitePartition};
use crate::jobs::FoundJob;
use crate::rows::{AccountingTable, Symbol};
use crate::sweep::{Crew, Moves, visit_moves};
use crate::text::{Amount, UNKNOWN};
use drystone::model::SharedSort;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes with the most that jobs used of each at once, and partitions on the nodes where their jobs
/// ran. Every number is a lower bound.
pub(crate) fn infer_machine(
    jobs: &[FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    sets: &NodeSets,
    machine: &mut SiteMachine,
    crew: Crew,
) {
    let uses = measure_uses(jobs, table, amounts, sets, machine.nodes.len(), crew);
    let partitions = partitions_of_jobs(jobs, table, sets, crew);
    for (node, usage) in machine.nodes.iter_mut().zip(&uses) {
        fill_node(node, usage);
    }
    machine.partitions = partitions;
    let seen_nodes = machine.nodes.iter().filter(|node| node.cpus > 0).count();
    if seen_nodes > 0 {
        let cpus: u64 = machine.nodes.iter().map(|node| u64::from(node.cpus)).sum();
        machine.evidence.push(format!(
            "no description was given: jobs name {seen_nodes} node{}, of which they used at most {cpus} processors, each node at its \
             busiest; partitions are on the nodes where their jobs ran",
            if seen_nodes == 1 { "" } else { "s" }
        ));
    } else {
        machine.evidence.push(
            "no description was given and no job names its nodes: all partitions are taken as one pool, since nothing tells which share \
             nodes"
                .to_string(),
        );
    }
}

fn measure_uses(
    jobs: &[FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    sets: &NodeSets,
    nodes: usize,
    crew: Crew,
) -> Vec<InferredUse> {
    let parts = crew.map_spans(jobs, |span| {
        let mut uses = vec![InferredUse::default(); nodes];
        let visit = |job: &FoundJob, began: Moves| {
            let list = table.rows.get(job.row).nodes;
            let ranges = sets.list_ranges(list);
            if ranges.is_empty() {
                return;
            }
            let share = InferredShare::from_amount(&amounts[job.amount as usize], sets.len(list));
            for range in ranges {
                for usage in &mut uses[range.start as usize..range.end as usize] {
                    usage.change_use(&share, matches!(began, Moves::Starts));
                }
            }
        };
        visit_moves(jobs, span, |_| true, visit);
        uses
    });
    let mut parts = parts.into_iter();
    let mut uses = parts.next().unwrap_or_default();
    for (node, also) in parts.flat_map(|part| part.into_iter().enumerate()) {
        uses[node].widen_to(&also);
    }
    uses
}

/// Fills the unknown facts of a node from its jobs.
fn fill_node(node: &mut SiteNode, usage: &InferredUse) {
    if node.cpus == 0 {
        node.cpus = u32::try_from(usage.most_cpus).unwrap_or(0);
        node.gpus = u32::try_from(usage.most_gpus).unwrap_or(0);
    }
    if node.memory_kb == 0 {
        node.memory_kb = usage.most_memory;
    }
}

struct InferredShare {
    cpus: u64,
    gpus: u64,
    memory: u64,
}

impl InferredShare {
    fn from_amount(amount: &Amount, nodes: u32) -> InferredShare {
        let nodes = u64::from(nodes.max(1));
        let share_per_node = |n: u32| if n == UNKNOWN { 0 } else { u64::from(n).div_ceil(nodes) };
        let memory = if amount.memory_kb >= Amount::ALL_MEMORY { 0 } else { amount.memory_kb.div_ceil(nodes) };
        InferredShare { cpus: share_per_node(amount.cpus), gpus: share_per_node(amount.gpus), memory }
    }
}

#[derive(Clone, Copy, Default)]
struct InferredUse {
    cpus: u64,
    most_cpus: u64,
    gpus: u64,
    most_gpus: u64,
    memory: u64,
    most_memory: u64,
}

impl InferredUse {
    /// The most of both.
    fn widen_to(&mut self, usage: &InferredUse) {
        self.most_cpus = self.most_cpus.max(usage.most_cpus);
        self.most_gpus = self.most_gpus.max(usage.most_gpus);
        self.most_memory = self.most_memory.max(usage.most_memory);
    }

    fn change_use(&mut self, share: &InferredShare, more: bool) {
        let change = |now: &mut u64, most: &mut u64, by: u64| {
            *now = if more { now.saturating_add(by) } else { now.saturating_sub(by) };
            *most = (*most).max(*now);
        };
        change(&mut self.cpus, &mut self.most_cpus, share.cpus);
        change(&mut self.gpus, &mut self.most_gpus, share.gpus);
        change(&mut self.memory, &mut self.most_memory, share.memory);
    }
}

pub(crate) fn partitions_of_jobs(
    jobs: &[FoundJob],
    table: &AccountingTable,
    sets: &NodeSets,
    crew: Crew,
) -> Vec<SitePartition> {
    // Equal lists of equal partitions are looked at once.
    let parts = crew.map_parts(jobs, |jobs| {
        let mut pairs: Vec<u64> = Vec::new();
        let mut sorted_len = 0;
        for job in jobs {
            let row = table.rows.get(job.row);
            let pair = u64::from(table.place_of(row).partition.0) << 32 | u64::from(row.nodes.0);
            if pairs.last() != Some(&pair) {
                pairs.push(pair);
            }
            // Few of them are different.
            if pairs.len() > 2 * sorted_len + (1 << 16) {
                pairs.sort_unstable();
                pairs.dedup();
                sorted_len = pairs.len();
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    });
    let mut pairs = parts.concat();
    pairs.sort_unstable();
    pairs.dedup();
    let pairs = pairs.into_iter().map(|pair| (Symbol((pair >> 32) as u32), Symbol(pair as u32)));
    let mut nodes: BTreeMap<Symbol, BTreeSet<u32>> = BTreeMap::new();
    for (partition, list) in pairs {
        nodes.entry(partition).or_default().extend(sets.list_nodes(list));
    }
    let mut partitions: Vec<SitePartition> = nodes
        .into_iter()
        .map(|(name, nodes)| SitePartition {
            name: table.names.text_of(name).into_owned(),
            nodes: nodes.into_iter().collect(),
            tier: 1,
            ..SitePartition::default()
        })
        .collect();
    partitions.sort_shared_by(|a, b| a.name.cmp(&b.name));
    partitions
}
