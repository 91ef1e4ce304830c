//! From closures of nodes to units that a pool lacked.
//!
//! A closed node does not lack the processors of jobs that still run on it: a drained node runs its
//! jobs to their ends, and a job that a failing node took along ends there in the records.

use super::{AHEAD, Cause, NodeLoss, PoolLoss};
use crate::jobs::{FoundJob, JobMarks};
use crate::machine::{NodePools, NodeSets, PoolUnit, Projection, SiteMachine};
use crate::rows::AccountingTable;
use crate::text::{Amount, UNKNOWN};
use drystone::model::SharedSort;
use std::collections::BTreeMap;

/// A time in which a node takes no job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ClosedSpan {
    begin: i64,
    end: i64,
    cause: Cause,
}

#[derive(Default)]
pub(crate) struct Closures {
    of: BTreeMap<u32, Vec<ClosedSpan>>,
}

const NEVER: i64 = i64::MAX / 4;

impl Closures {
    pub(crate) fn add_closure(&mut self, node: u32, begin: i64, end: Option<i64>, cause: Cause) {
        let end = end.unwrap_or(NEVER);
        if end > begin {
            self.of.entry(node).or_default().push(ClosedSpan { begin, end, cause });
        }
    }

    pub(crate) fn take_closures(&mut self, closures: &Closures) {
        for (&node, spans) in &closures.of {
            self.of.entry(node).or_default().extend(spans);
        }
    }

    /// Makes the closures of each node disjoint, within the records. Where a reservation and a
    /// failure meet, the reservation counts: it is known beforehand.
    fn settle_closures(&mut self, from: i64, until: i64) {
        for spans in self.of.values_mut() {
            let mut marks: Vec<i64> = spans.iter().flat_map(|s| [s.begin, s.end]).collect();
            marks.extend([from, until]);
            marks.sort_unstable();
            marks.dedup();
            let mut disjoint_spans: Vec<ClosedSpan> = Vec::new();
            for pair in marks.windows(2) {
                let (begin, end) = (pair[0], pair[1]);
                let over = spans.iter().filter(|s| s.begin <= begin && s.end >= end).map(|s| s.cause);
                let is_reserved = |cause: &Cause| *cause == Cause::Reservation;
                let causes: Vec<Cause> = over.collect();
                let Some(&first) = causes.iter().find(|c| is_reserved(c)).or(causes.first()) else { continue };
                match disjoint_spans.last_mut() {
                    Some(last) if last.end == begin && last.cause == first => last.end = end,
                    _ => disjoint_spans.push(ClosedSpan { begin, end, cause: first }),
                }
            }
            // What begins before the records is as if it began with them, so that equal ones are
            // one.
            disjoint_spans.retain(|s| s.end > from && s.begin < until);
            disjoint_spans.iter_mut().for_each(|s| s.begin = s.begin.max(from));
            *spans = disjoint_spans;
        }
        self.of.retain(|_, spans| !spans.is_empty());
    }
}

/// All that a timeline is made of.
pub(crate) struct TimelineInputs<'a> {
    pub(crate) jobs: &'a [FoundJob],
    pub(crate) table: &'a AccountingTable,
    pub(crate) amounts: &'a [Amount],
    pub(crate) sets: &'a NodeSets,
    pub(crate) machine: &'a SiteMachine,
    pub(crate) pools: &'a NodePools,
    pub(crate) projections: &'a [Projection],
    /// The first and the last moment of the records.
    pub(crate) records: (i64, i64),
}

/// The units that each pool lacked over time, those of `extra` among them.
pub(crate) fn build_timeline(
    scene: &TimelineInputs<'_>,
    closures: &mut Closures,
    extra: Vec<PoolLoss>,
) -> Vec<PoolLoss> {
    closures.settle_closures(scene.records.0, scene.records.1);
    let closures = &*closures;
    let uses = find_uses(scene, closures);
    let mut sum: BTreeMap<(u16, i64, i64, Cause), u64> = BTreeMap::new();
    for (&node, spans) in &closures.of {
        let Some(pool) = scene.pools.of_node(node) else { continue };
        let projection = &scene.projections[usize::from(pool)];
        let has = unit_count(&scene.machine.nodes[node as usize], projection.unit);
        let node_uses = uses.get(&node).map_or(&[][..], Vec::as_slice);
        for span in spans {
            for (begin, end, usage) in closure_steps(span, node_uses) {
                let used_units = if projection.unit == PoolUnit::Node { u64::from(usage > 0) } else { usage };
                let lost_units = has.saturating_sub(used_units);
                if lost_units > 0 {
                    *sum.entry((pool, begin, end, span.cause)).or_default() += lost_units;
                }
            }
        }
    }
    let (first, last) = scene.records;
    let losses = sum.into_iter().map(|((pool, begin, end, cause), units)| PoolLoss {
        pool,
        begin: begin.max(first),
        end: (end < last).then_some(end),
        units: u32::try_from(units).unwrap_or(u32::MAX),
        announced: (cause == Cause::Reservation).then_some(begin - AHEAD),
        cause,
    });
    let inside = |loss: &PoolLoss| loss.begin < last && loss.end.is_none_or(|end| end > first);
    let extra = extra.into_iter().filter(inside).map(|loss| PoolLoss { begin: loss.begin.max(first), ..loss });
    limit_losses(losses.chain(extra).collect(), scene)
}

/// The closures of nodes, which [`build_timeline`] has settled, as whole nodes that were out: what
/// they still run is no matter, since a node that is out keeps its jobs to their ends.
pub(crate) fn nodes_out(scene: &TimelineInputs<'_>, closures: &Closures) -> Vec<NodeLoss> {
    let (first, last) = scene.records;
    let node_losses = |(&node, spans): (&u32, &Vec<ClosedSpan>)| {
        let pool = scene.pools.of_node(node)?;
        let name = scene.machine.nodes[node as usize].name.clone();
        let loss = move |span: &ClosedSpan| NodeLoss {
            pool,
            begin: span.begin.max(first),
            end: (span.end < last).then_some(span.end),
            node: name.clone(),
            cpus: None,
            announced: (span.cause == Cause::Reservation).then_some(span.begin - AHEAD),
            cause: span.cause,
        };
        Some(spans.iter().map(loss).collect::<Vec<_>>())
    };
    closures.of.iter().filter_map(node_losses).flatten().collect()
}

fn unit_count(node: &crate::machine::SiteNode, unit: PoolUnit) -> u64 {
    match unit {
        PoolUnit::Cpu => u64::from(node.cpus),
        PoolUnit::Node => 1,
        PoolUnit::Gpu => u64::from(node.gpus),
    }
}

/// A job's time on a node, and how much it has there.
struct NodeUse {
    begin: i64,
    end: i64,
    units: u64,
}

/// Returns the use of closed nodes while they are closed. Jobs within reservations are what these
/// are for.
fn find_uses(scene: &TimelineInputs<'_>, closures: &Closures) -> BTreeMap<u32, Vec<NodeUse>> {
    let mut uses: BTreeMap<u32, Vec<NodeUse>> = BTreeMap::new();
    if closures.of.is_empty() {
        return uses;
    }
    for job in scene.jobs.iter().filter(|job| job.kind.has_start() && !job.marks.has_mark(JobMarks::RESERVED)) {
        let (begin, end) = (i64::from(job.start), if job.end == 0 { NEVER } else { i64::from(job.end) });
        let list = scene.table.rows.get(job.row).nodes;
        let count = scene.sets.len(list);
        if count == 0 || end <= begin {
            continue;
        }
        let unit = scene.projections[usize::from(job.pool)].unit;
        let amount = &scene.amounts[job.amount as usize];
        for node in scene.sets.list_nodes(list) {
            let is_closed =
                closures.of.get(&node).is_some_and(|spans| spans.iter().any(|s| s.begin < end && begin < s.end));
            if is_closed {
                let units = node_share(job, amount, unit, count);
                uses.entry(node).or_default().push(NodeUse { begin, end, units });
            }
        }
    }
    uses
}

/// Returns the share of a job on each of its nodes.
fn node_share(job: &FoundJob, amount: &Amount, unit: PoolUnit, count: u32) -> u64 {
    let total_amount = match unit {
        PoolUnit::Cpu => job.units,
        PoolUnit::Node => return 1,
        PoolUnit::Gpu if amount.gpus == UNKNOWN => 0,
        PoolUnit::Gpu => amount.gpus,
    };
    u64::from(total_amount).div_ceil(u64::from(count))
}

/// The pieces of a closure in which as much is used.
fn closure_steps(span: &ClosedSpan, uses: &[NodeUse]) -> Vec<(i64, i64, u64)> {
    let mut marks: Vec<i64> = vec![span.begin, span.end];
    let near: Vec<&NodeUse> = uses.iter().filter(|u| u.begin < span.end && u.end > span.begin).collect();
    marks.extend(near.iter().flat_map(|u| [u.begin, u.end]).filter(|t| (span.begin..span.end).contains(t)));
    marks.sort_unstable();
    marks.dedup();
    let mut steps: Vec<(i64, i64, u64)> = Vec::new();
    for pair in marks.windows(2) {
        let used_units = near.iter().filter(|u| u.begin <= pair[0] && u.end >= pair[1]).map(|u| u.units).sum();
        match steps.last_mut() {
            Some(last) if last.2 == used_units => last.1 = pair[1],
            _ => steps.push((pair[0], pair[1], used_units)),
        }
    }
    steps
}

/// Never more than a pool has: of what is too much the later and smaller is cut.
fn limit_losses(mut losses: Vec<PoolLoss>, scene: &TimelineInputs<'_>) -> Vec<PoolLoss> {
    losses.sort_shared_by_key(|l| (l.pool, l.begin, l.end.unwrap_or(NEVER), l.cause));
    let mut active: Vec<(i64, u32)> = Vec::new();
    let mut pool = None;
    for loss in &mut losses {
        if pool.replace(loss.pool) != Some(loss.pool) {
            active.clear();
        }
        active.retain(|(end, _)| *end > loss.begin);
        let out: u64 = active.iter().map(|(_, units)| u64::from(*units)).sum();
        let pool_units = u64::from(scene.projections[usize::from(loss.pool)].units);
        loss.units = u32::try_from(pool_units.saturating_sub(out)).unwrap_or(u32::MAX).min(loss.units);
        active.push((loss.end.unwrap_or(NEVER), loss.units));
    }
    losses.retain(|loss| loss.units > 0);
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_is_cut_where_its_use_changes() {
        let span = ClosedSpan { begin: 100, end: 200, cause: Cause::Down };
        let uses = [NodeUse { begin: 50, end: 150, units: 3 }, NodeUse { begin: 90, end: 120, units: 1 }];
        assert_eq!(closure_steps(&span, &uses), [(100, 120, 4), (120, 150, 3), (150, 200, 0)]);
        assert_eq!(closure_steps(&span, &[]), [(100, 200, 0)]);
    }

    #[test]
    fn closures_of_a_node_become_disjoint() {
        let mut closures = Closures::default();
        closures.add_closure(1, 0, Some(100), Cause::Down);
        closures.add_closure(1, 50, Some(150), Cause::Reservation);
        closures.add_closure(1, 140, None, Cause::Down);
        closures.add_closure(1, 5, Some(5), Cause::Down);
        closures.settle_closures(10, 1_000);
        let spans: Vec<(i64, i64, Cause)> = closures.of[&1].iter().map(|s| (s.begin, s.end, s.cause)).collect();
        assert_eq!(spans[..2], [(10, 50, Cause::Down), (50, 150, Cause::Reservation)]);
        assert_eq!((spans[2].0, spans[2].2), (150, Cause::Down));
    }
}
