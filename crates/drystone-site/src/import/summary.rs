//! Summary of a site's pools, partitions and nodes.

use super::machine::DividedMachine;
use crate::capacity::{NodeLoss, PoolLoss};
use crate::error::SiteError;
use crate::jobs::{FoundJob, SiteJobFate};
use crate::machine::{Projection, SiteMachine};
use crate::manifest::MeasuredWindow;
use crate::manifest::{Manifest, NodeSummary, PartitionSummary, PoolSummary};
use crate::rows::AccountingTable;
use crate::sweep::Crew;
use drystone::model::SharedSort;

/// Jobs of each pool, and core-seconds of those that ran and ended.
pub(super) fn sum_work(
    jobs: &[FoundJob],
    amounts: &[crate::text::Amount],
    (pools, until): (usize, i64),
    crew: Crew,
) -> Vec<(u64, u64)> {
    let until = u32::try_from(until).unwrap_or(u32::MAX);
    let parts = crew.map_parts(jobs, |jobs| {
        let mut work = vec![(0_u64, 0_u64); pools];
        for job in jobs {
            let (count, seconds) = &mut work[usize::from(job.pool)];
            *count += 1;
            let amount = &amounts[job.amount as usize];
            *seconds += match job.kind {
                SiteJobFate::Ran => job.core_seconds(amount),
                // As far as the records go.
                SiteJobFate::Running => job.core_seconds_until(until, amount),
                _ => 0,
            };
        }
        work
    });
    let sum =
        |pool: usize| parts.iter().fold((0, 0), |sum: (u64, u64), part| (sum.0 + part[pool].0, sum.1 + part[pool].1));
    (0..pools).map(sum).collect()
}

pub(super) fn summarise_pool(
    pool: &crate::machine::NodePool,
    projection: &Projection,
    machine: &SiteMachine,
    (jobs, core_seconds): (u64, u64),
) -> PoolSummary {
    let percent = |(part, total): (u64, u64)| if total == 0 { 0.0 } else { part as f64 / total as f64 * 100.0 };
    let (held_seconds, stood_seconds) = projection.inflated;
    PoolSummary {
        name: pool.name.clone(),
        unit: projection.unit,
        units: projection.units,
        cpus_per_unit: projection.cpus_per_unit,
        nodes: projection.nodes,
        cpus: projection.cpus,
        gpus: projection.gpus,
        described: projection.described,
        partitions: pool.partitions.iter().map(|&p| machine.partitions[p as usize].name.clone()).collect(),
        jobs,
        core_seconds,
        whole_nodes: percent(projection.whole),
        with_gpus: percent(projection.with_gpus),
        dominant: projection.dominant,
        by_cpus: projection.dominated.cpus,
        by_memory: projection.dominated.memory,
        by_gpus: projection.dominated.gpus,
        inflated: if held_seconds == 0 { 0.0 } else { (stood_seconds as f64 / held_seconds as f64 - 1.0) * 100.0 },
        ..PoolSummary::default()
    }
}

/// The part of a pool's time that was out, in percent.
pub(super) fn outage_percent(losses: &[PoolLoss], pool: u16, projection: &Projection, window: &MeasuredWindow) -> f64 {
    let of = |loss: &PoolLoss| {
        let end = loss.end.unwrap_or(window.until).min(window.until);
        (end - loss.begin.max(window.from)).max(0) as f64 * f64::from(loss.units)
    };
    let lost_seconds: f64 = losses.iter().filter(|loss| loss.pool == pool).map(of).sum();
    lost_seconds / ((window.until - window.from).max(1) as f64 * f64::from(projection.units.max(1))) * 100.0
}

pub(super) fn summarise_partitions(
    machine: &SiteMachine,
    table: &AccountingTable,
    division: &DividedMachine,
    pool_name: impl Fn(Option<u16>) -> Option<String>,
) -> Vec<PartitionSummary> {
    let pool = |name: &str| {
        let number = table.names.find_symbol(name.as_bytes()).and_then(|symbol| division.pools.of_partition(symbol));
        pool_name(number)
    };
    machine
        .partitions
        .iter()
        .map(|p| PartitionSummary {
            name: p.name.clone(),
            pool: pool(&p.name),
            nodes: p.nodes.len() as u32,
            max_limit: p.max_limit,
            default_limit: p.default_limit,
            max_nodes: p.max_nodes,
            tier: p.tier,
            exclusive: p.exclusive,
        })
        .collect()
}

pub(super) fn summarise_nodes(
    machine: &SiteMachine,
    division: &DividedMachine,
    pool_name: impl Fn(Option<u16>) -> Option<String>,
) -> Vec<NodeSummary> {
    let node_summary = |(node, number): (&crate::machine::SiteNode, u32)| NodeSummary {
        name: node.name.clone(),
        cpus: node.cpus,
        memory_kb: node.memory_kb,
        gpus: node.gpus,
        gres: node.gres.clone(),
        pool: pool_name(division.pools.of_node(number)),
        described: division.described && number < division.sets.described,
    };
    machine.nodes.iter().zip(0..).map(node_summary).collect()
}

/// Puts the pool with most work first, and leaves out pools without a job.
pub(super) fn order_pools(
    manifest: &mut Manifest,
    jobs: &mut [FoundJob],
    (losses, node_losses): (Vec<PoolLoss>, Vec<NodeLoss>),
) -> Result<(Vec<PoolLoss>, Vec<NodeLoss>), SiteError> {
    let pools = std::mem::take(&mut manifest.pools);
    let mut order: Vec<usize> = (0..pools.len()).filter(|&at| pools[at].jobs > 0).collect();
    order.sort_shared_by(|&a, &b| {
        pools[b].core_seconds.cmp(&pools[a].core_seconds).then_with(|| pools[a].name.cmp(&pools[b].name))
    });
    let idle: Vec<&str> = pools.iter().filter(|pool| pool.jobs == 0).map(|pool| pool.name.as_str()).collect();
    if !idle.is_empty() {
        manifest.warnings.push(format!("pools without a job are left out: {}", idle.join(", ")));
    }
    let mut moved_pools = vec![None; pools.len()];
    for (new, &old) in order.iter().enumerate() {
        moved_pools[old] = u16::try_from(new).ok();
    }
    manifest.pools = order.iter().map(|&at| pools[at].clone()).collect();
    if order.iter().enumerate().any(|(new, &old)| new != old) {
        jobs.iter_mut().for_each(|job| job.pool = moved_pools[usize::from(job.pool)].unwrap_or(0));
    }
    let keep = |loss: PoolLoss| moved_pools[usize::from(loss.pool)].map(|pool| PoolLoss { pool, ..loss });
    let mut losses: Vec<PoolLoss> = losses.into_iter().filter_map(keep).collect();
    losses.sort_unstable();
    let keep = |loss: NodeLoss| moved_pools[usize::from(loss.pool)].map(|pool| NodeLoss { pool, ..loss });
    let mut node_losses: Vec<NodeLoss> = node_losses.into_iter().filter_map(keep).collect();
    node_losses.sort_unstable();
    Ok((losses, node_losses))
}
