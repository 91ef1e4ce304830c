//! Number of times that a job's size fitted into the free processors while no set of nodes had room
//! for it.

use crate::jobs::{FoundJob, SiteJobFate};
use crate::machine::{NodePool, NodeSets, PoolUnit, Projection, SiteMachine};
use crate::rows::AccountingTable;
use crate::sweep::{Moves, TimeSpan, visit_moves};
use crate::text::{Amount, UNKNOWN};
use drystone::model::SharedSort;
use std::collections::BinaryHeap;

/// Moments that are looked at, at most.
const LOOKS: usize = 20_000;

/// Result of the check.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct PackingCheck {
    /// Moments at which the oldest waiting job fitted by its size.
    pub(crate) fits: u64,
    /// Those of them at which no set of nodes had room.
    pub(crate) gaps: u64,
}

/// Looks at a pool whose nodes are known and shared.
#[expect(clippy::too_many_arguments, reason = "one look at what all stages have found")]
pub(crate) fn check_packing(
    pool: &NodePool,
    number: u16,
    projection: &Projection,
    machine: &SiteMachine,
    jobs: &[FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    sets: &NodeSets,
) -> PackingCheck {
    if projection.unit != PoolUnit::Cpu || !projection.described || pool.nodes.is_empty() {
        return PackingCheck::default();
    }
    let mine = |job: &FoundJob| job.pool == number;
    let mut queue: Vec<&FoundJob> =
        jobs.iter().filter(|job| mine(job) && job.kind == SiteJobFate::Ran && job.start > job.arrive).collect();
    if queue.is_empty() {
        return PackingCheck::default();
    }
    queue.sort_shared_by_key(|job| job.arrive);
    let every = (jobs.len() * 2).div_ceil(LOOKS).max(1);
    let mut free: Vec<u32> = machine.nodes.iter().map(|node| node.cpus).collect();
    let mut total: u64 = pool.nodes.iter().map(|&node| u64::from(machine.nodes[node as usize].cpus)).sum();
    let (mut packing_check, mut seen_count, mut next) = (PackingCheck::default(), 0_usize, 0_usize);
    // The oldest waiting job first.
    let mut waiting_jobs: BinaryHeap<std::cmp::Reverse<(u32, u32)>> = BinaryHeap::new();
    visit_moves(jobs, TimeSpan::ALL, mine, |job, began| {
        let now = if began == Moves::Starts { job.start } else { job.end };
        while next < queue.len() && queue[next].arrive <= now {
            waiting_jobs.push(std::cmp::Reverse((queue[next].arrive, next as u32)));
            next += 1;
        }
        while waiting_jobs.peek().is_some_and(|first| queue[first.0.1 as usize].start <= now) {
            waiting_jobs.pop();
        }
        change_nodes(job, began, &mut free, &mut total, table, sets);
        seen_count += 1;
        if !seen_count.is_multiple_of(every) {
            return;
        }
        let Some(first) = waiting_jobs.peek().map(|first| queue[first.0.1 as usize]) else { return };
        if u64::from(first.units) <= total {
            packing_check.fits += 1;
            let amount = &amounts[first.amount as usize];
            packing_check.gaps += u64::from(!has_room(first, amount, pool, &free, table, sets));
        }
    });
    packing_check
}

/// A job takes its part of each of its nodes, or gives it back.
fn change_nodes(
    job: &FoundJob,
    began: Moves,
    free: &mut [u32],
    total: &mut u64,
    table: &AccountingTable,
    sets: &NodeSets,
) {
    let list = table.rows.get(job.row).nodes;
    let count = sets.len(list).max(1);
    let share = job.units.div_ceil(count);
    for node in sets.list_nodes(list) {
        let free_cpus = &mut free[node as usize];
        *free_cpus =
            if began == Moves::Starts { free_cpus.saturating_sub(share) } else { free_cpus.saturating_add(share) };
    }
    let units = u64::from(job.units);
    *total = if began == Moves::Starts { total.saturating_sub(units) } else { *total + units };
}

/// Returns whether as many nodes as it used each have its part free.
fn has_room(
    job: &FoundJob,
    amount: &Amount,
    pool: &NodePool,
    free: &[u32],
    table: &AccountingTable,
    sets: &NodeSets,
) -> bool {
    let known_count = sets.len(table.rows.get(job.row).nodes);
    let count = if known_count > 0 {
        known_count
    } else if amount.nodes == UNKNOWN {
        1
    } else {
        amount.nodes.max(1)
    };
    let share = job.units.div_ceil(count);
    let mut room_count = 0;
    for &node in &pool.nodes {
        room_count += u32::from(free[node as usize] >= share);
        if room_count >= count {
            return true;
        }
    }
    false
}
