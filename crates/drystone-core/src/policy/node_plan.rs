//! Nodes in the plans of policies: what is left now, and what will be.

use super::planned::{Believed, PlannedJob};
use super::{Actions, FreeNodes, StartReason, View, pool_plan};
use crate::model::{JobId, ResourceTable, Span, Time};
use crate::parts::{JobNodeNeed, NodeLevels, NodeProfile, NodeSeat, PoolProfile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Nodes at one pass: what its starts leave.
pub(super) struct NodesNow<'a> {
    pub(super) nodes: &'a FreeNodes,
    table: &'a ResourceTable,
    pub(super) left: NodeLevels,
    /// Processors that no job has, in words of 64.
    idle: Vec<u64>,
    /// Jobs that this pass has started.
    pub(super) started: BTreeMap<JobId, (JobNodeNeed, NodeSeat)>,
}

impl<'a> NodesNow<'a> {
    pub(super) fn new(nodes: &'a FreeNodes, table: &'a ResourceTable, view: &View<'_>) -> NodesNow<'a> {
        let (left, idle) = up(nodes, view);
        NodesNow { nodes, table, left, idle, started: BTreeMap::new() }
    }

    /// Returns what a job asks of the nodes; `None` for a job that no machine like this can run.
    pub(super) fn need(&self, id: JobId, view: &View<'_>) -> Option<JobNodeNeed> {
        JobNodeNeed::of(view.job(id), self.table, self.nodes.floor()).ok()
    }

    /// The nodes for a job now.
    pub(super) fn place(&self, need: &JobNodeNeed) -> Option<NodeSeat> {
        self.nodes.floor().place(need, &self.left)
    }

    /// Starts a job on its nodes.
    pub(super) fn start(
        &mut self,
        id: JobId,
        why: StartReason,
        need: JobNodeNeed,
        seat: NodeSeat,
        actions: &mut Actions,
    ) {
        let floor = self.nodes.floor();
        actions.start_on(id, why, seat.name(floor, &mut self.idle));
        self.left.change(&need, &seat, floor, -1);
        self.started.insert(id, (need, seat));
    }

    /// Returns what a job holds that runs or that this pass has started.
    pub(super) fn held_by(&self, id: JobId) -> Option<(&JobNodeNeed, &NodeSeat)> {
        self.nodes.held_by(id).or_else(|| self.started.get(&id).map(|(need, seat)| (need, seat)))
    }
}

/// Returns what is free on nodes and not out, and the idle processors that are not out. Plans count
/// on no return of what is out.
fn up(nodes: &FreeNodes, view: &View<'_>) -> (NodeLevels, Vec<u64>) {
    let (mut levels, mut idle) = (nodes.levels().clone(), nodes.idle().to_vec());
    let out = view.outlook().into_iter().flat_map(|outlook| outlook.offline().ranges());
    for processor in out.flat_map(Clone::clone) {
        let (word, bit) = (processor as usize / 64, 1_u64 << (processor % 64));
        if idle[word] & bit != 0 {
            idle[word] &= !bit;
            levels.lose_core(nodes.floor().node_of(processor));
        }
    }
    (levels, idle)
}

/// A plan of starts on nodes: every waiting job has its nodes at a time of its own.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct NodePlan {
    nodes: NodeProfile,
    pools: PoolProfile,
    /// Nodes of each planned job.
    seats: BTreeMap<JobId, (JobNodeNeed, NodeSeat)>,
}

impl NodePlan {
    /// Becomes what the running jobs leave, as they are believed to end.
    fn fill(&mut self, running: &Believed, nodes: &FreeNodes, view: &View<'_>) {
        let ends = || running.iter().map(|job| (job.end, job.id));
        pool_plan::fill(&mut self.pools, view, ends());
        let held = ends().filter_map(|(end, id)| nodes.held_by(id).map(|(need, seat)| (end, need, seat)));
        self.nodes.reset(view.now(), &up(nodes, view).0, held, nodes.floor());
    }

    /// Forgets what lies before the present.
    pub(super) fn advance(&mut self, now: Time) {
        self.nodes.advance(now);
        self.pools.advance(now);
    }

    /// Finds the earliest place of a job, without taking it.
    pub(super) fn earliest(
        &self,
        id: JobId,
        span: Span,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> Option<(Time, JobNodeNeed, NodeSeat)> {
        let table = view.resources()?.table();
        let need = JobNodeNeed::of(view.job(id), table, nodes.floor()).ok()?;
        let totals = view.amounts(id);
        let mut from = view.now();
        loop {
            let start = self.pools.earliest(totals, span, from)?;
            let (at, seat) = self.nodes.earliest(&need, span, start, nodes.floor())?;
            if at == start {
                return Some((at, need, seat));
            }
            from = at;
        }
    }

    /// Takes a place.
    pub(super) fn reserve(
        &mut self,
        job: &PlannedJob,
        (need, seat): (JobNodeNeed, NodeSeat),
        nodes: &FreeNodes,
        view: &View<'_>,
    ) {
        self.change(job, &need, &seat, -1, nodes, view);
        self.seats.insert(job.id, (need, seat));
    }

    fn change(
        &mut self,
        job: &PlannedJob,
        need: &JobNodeNeed,
        seat: &NodeSeat,
        sign: i64,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) {
        let totals = view.amounts(job.id);
        self.nodes.change(need, seat, (job.start, job.end()), nodes.floor(), sign);
        if sign < 0 {
            self.pools.reserve(job.start, job.end(), totals);
        } else {
            self.pools.release(job.start, job.end(), totals);
        }
    }

    /// Plans a job at its earliest place, and takes it.
    fn place(&mut self, job: &mut PlannedJob, nodes: &FreeNodes, view: &View<'_>) {
        match self.earliest(job.id, job.span, nodes, view) {
            Some((start, need, seat)) => {
                job.start = start;
                self.reserve(job, (need, seat), nodes, view);
            }
            None => job.start = Time::MAX,
        }
    }

    /// Takes the nodes of a job out of the plan.
    pub(super) fn leaves(&mut self, id: JobId) -> Option<(JobNodeNeed, NodeSeat)> {
        self.seats.remove(&id)
    }

    /// Puts all waiting jobs back, in the order of their planned starts, each at its earliest
    /// place. Where a job would come later than it was planned, because another is on other nodes
    /// than before, all keep their nodes and move up one after the other, the others in place: then
    /// no job moves back. `moved` receives each job that has moved.
    pub(super) fn compress(
        &mut self,
        plan: &mut Vec<PlannedJob>,
        running: &Believed,
        nodes: &FreeNodes,
        view: &View<'_>,
        mut moved: impl FnMut(&PlannedJob),
    ) {
        let old = plan.clone();
        let seats = std::mem::take(&mut self.seats);
        self.fill(running, nodes, view);
        plan.iter_mut().for_each(|job| self.place(job, nodes, view));
        if plan.iter().zip(&old).any(|(job, old)| job.start > old.start) {
            let new = plan.clone();
            self.seats.clear();
            self.fill(running, nodes, view);
            if self.move_up(&old, &seats, plan, nodes, view) {
                // Every promise is kept.
            } else {
                plan.clone_from(&new);
                self.seats.clear();
                self.fill(running, nodes, view);
                plan.iter_mut().for_each(|job| self.place(job, nodes, view));
            }
        }
        for (job, old) in plan.iter().zip(&old) {
            if job.start != old.start {
                moved(job);
            }
        }
        plan.sort_unstable_by_key(PlannedJob::key);
    }

    /// Jobs move up one after the other, the others in place. `false` where they cannot all stay
    /// where they were to begin with.
    fn move_up(
        &mut self,
        old: &[PlannedJob],
        seats: &BTreeMap<JobId, (JobNodeNeed, NodeSeat)>,
        plan: &mut [PlannedJob],
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> bool {
        for job in old.iter().filter(|job| job.start < Time::MAX) {
            let Some((need, seat)) = seats.get(&job.id) else { return false };
            let (start, end) = (job.start.max(view.now()), job.end());
            let free = self.nodes.admits(need, seat, (start, end), nodes.floor())
                && self.pools.fits(start, end - start, view.amounts(job.id));
            if !free {
                return false;
            }
            self.reserve(job, (need.clone(), seat.clone()), nodes, view);
        }
        for (job, old) in plan.iter_mut().zip(old) {
            if let Some((need, seat)) = self.seats.remove(&job.id) {
                self.change(old, &need, &seat, 1, nodes, view);
            }
            self.place(job, nodes, view);
        }
        true
    }
}
