//! Nodes in the plans of policies: what is left now, and what will be.

use super::node_outlook::core_losses;
use super::planned::{Believed, Bounds, PlannedJob, in_order_of_starts};
use super::{Actions, FreeNodes, Outlook, StartReason, View, pool_plan};
use crate::model::{DemandId, JobId, ProcSet, Procs, Time};
use crate::parts::{NeedWithSeat, NodeLevels, NodeNeedBook, NodeProfile, NodeSeat, PoolProfile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Processors of one pass of a plan: those that its starts leave.
pub(super) struct IdleProcessors<'a> {
    nodes: &'a FreeNodes,
    idle: Vec<u64>,
}

impl<'a> IdleProcessors<'a> {
    /// Those that no job has and that are up.
    pub(super) fn new(nodes: &'a FreeNodes, view: &View<'_>) -> IdleProcessors<'a> {
        IdleProcessors { nodes, idle: up(nodes, view).1 }
    }

    /// Starts a job on its nodes until `end`, as far as possible on processors that stay until
    /// then.
    pub(super) fn start(
        &mut self,
        (id, why): (JobId, StartReason),
        end: Time,
        seat: &NodeSeat,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let windows = view.outlook().map_or(&[][..], Outlook::windows);
        let go = ProcSet::union_of(windows.iter().filter(|window| window.from < end).map(|window| &window.on));
        actions.start_on(id, why, seat.name(self.nodes.floor(), &mut self.idle, &go));
    }
}

/// Returns what is free on nodes and not out, and the idle processors that are not out.
pub(super) fn up(nodes: &FreeNodes, view: &View<'_>) -> (NodeLevels, Vec<u64>) {
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
    seats: BTreeMap<JobId, NeedWithSeat>,
    #[serde(skip)]
    needs: NodeNeedBook,
}

/// Lower bounds of starts by kind of job, while a plan fills up.
type KindBounds = BTreeMap<(DemandId, Procs), Bounds>;

impl NodePlan {
    /// Becomes what the running jobs leave, as they are believed to end, and what goes and comes
    /// back. `running` is in ascending order of ends.
    pub(super) fn fill(&mut self, running: &[(Time, JobId)], nodes: &FreeNodes, view: &View<'_>) {
        let ends = || running.iter().copied();
        pool_plan::fill(&mut self.pools, view, ends());
        let held = ends().filter_map(|(end, id)| nodes.held_by(id).map(|(need, seat)| (end, need, seat)));
        self.nodes.reset(view.now(), &up(nodes, view).0, held, nodes.floor());
        for loss in core_losses(ends(), nodes, view) {
            self.nodes.lose(loss.node, loss.cores, (loss.from, loss.until));
        }
    }

    /// Becomes what the running jobs leave, as a plan believes in them.
    fn fill_believing(&mut self, running: &Believed, nodes: &FreeNodes, view: &View<'_>) {
        let running: Vec<(Time, JobId)> = running.iter().map(|job| (job.end, job.id)).collect();
        self.fill(&running, nodes, view);
    }

    /// Forgets what lies before the present.
    pub(super) fn advance(&mut self, now: Time) {
        self.nodes.advance(now);
        self.pools.advance(now);
    }

    /// Finds the earliest place of a job, which is known to lie no earlier than `from`, without
    /// taking it; `None` if that is later than `latest`.
    fn earliest_from(
        &mut self,
        job: &PlannedJob,
        from: impl FnOnce(&NeedWithSeat) -> Time,
        latest: Time,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> Option<(Time, NeedWithSeat)> {
        let table = view.resources()?.table();
        let need = self.needs.of(view.job(job.id), table, nodes.floor()).ok()?;
        let mut on = NeedWithSeat { need, seat: NodeSeat::default() };
        let totals = view.amounts(job.id);
        let mut from = from(&on);
        loop {
            let start = self.pools.earliest(totals, job.span, from)?;
            let (at, seat) = self.nodes.earliest(&on.need, job.span, (start, latest), nodes.floor())?;
            if at == start {
                on.seat = seat;
                return Some((at, on));
            }
            from = at;
        }
    }

    /// Finds the earliest place of a job, without taking it.
    pub(super) fn earliest(
        &mut self,
        job: &PlannedJob,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> Option<(Time, NeedWithSeat)> {
        self.earliest_from(job, |_| view.now(), Time::MAX, nodes, view)
    }

    /// Finds a place of a job that begins now, without taking it, on what is free in the plan and
    /// among `left` where that is less.
    pub(super) fn place_now(
        &mut self,
        job: &PlannedJob,
        left: Option<&NodeLevels>,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> Option<NeedWithSeat> {
        let now = view.now();
        let Some(left) = left else {
            return self.earliest_from(job, |_| now, now, nodes, view).map(|(_, on)| on);
        };
        if !self.pools.fits(now, job.span, view.amounts(job.id)) {
            return None;
        }
        let need = self.needs.of(view.job(job.id), view.resources()?.table(), nodes.floor()).ok()?;
        let seat = nodes.floor().place(&need, &self.nodes.least(now, job.span).lesser(left))?;
        Some(NeedWithSeat { need, seat })
    }

    /// Takes a place, for a plan that is made again at each pass.
    pub(super) fn take(&mut self, job: &PlannedJob, on: &NeedWithSeat, nodes: &FreeNodes, view: &View<'_>) {
        self.change(job, on, -1, nodes, view);
    }

    /// Takes a place.
    pub(super) fn reserve(&mut self, job: &PlannedJob, on: NeedWithSeat, nodes: &FreeNodes, view: &View<'_>) {
        self.change(job, &on, -1, nodes, view);
        self.seats.insert(job.id, on);
    }

    fn change(&mut self, job: &PlannedJob, on: &NeedWithSeat, sign: i64, nodes: &FreeNodes, view: &View<'_>) {
        let totals = view.amounts(job.id);
        self.nodes.change(&on.need, &on.seat, (job.start, job.end()), nodes.floor(), sign);
        if sign < 0 {
            self.pools.reserve(job.start, job.end(), totals);
        } else {
            self.pools.release(job.start, job.end(), totals);
        }
    }

    fn settle(
        &mut self,
        job: &mut PlannedJob,
        found: Option<(Time, NeedWithSeat)>,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) {
        match found {
            Some((start, on)) => {
                job.start = start;
                self.reserve(job, on, nodes, view);
            }
            None => job.start = Time::MAX,
        }
    }

    /// Plans jobs one after the other, each at its earliest place, where no other is planned. A job
    /// starts no earlier than one before it that asks for no more for no longer. With `no_later`
    /// it ends at the first job that would start later than it was planned; returns whether there
    /// is none.
    fn place_all(&mut self, plan: &mut [PlannedJob], no_later: bool, nodes: &FreeNodes, view: &View<'_>) -> bool {
        let mut kinds = KindBounds::new();
        for job in plan {
            let (demand, procs) = (view.job(job.id).demand, job.procs);
            let (mut kind, mut bound) = ((demand, 0), view.now());
            let from = |on: &NeedWithSeat| {
                // More processors of the same demand may lie on nodes in another way.
                if !on.need.grows() {
                    kind.1 = procs;
                }
                bound = kinds.entry(kind).or_default().of(procs, job.span, bound);
                bound
            };
            let latest = if no_later { job.start.max(view.now()) } else { Time::MAX };
            let found = self.earliest_from(job, from, latest, nodes, view);
            if found.is_none() && latest < Time::MAX
                || found.as_ref().is_some_and(|found| no_later && found.0 > job.start)
            {
                return false;
            }
            self.settle(job, found, nodes, view);
            if job.start < Time::MAX {
                kinds.entry(kind).or_default().learn(procs, job.span, bound, job.start);
            }
        }
        true
    }

    /// Takes the nodes of a job out of the plan.
    pub(super) fn leaves(&mut self, id: JobId) -> Option<NeedWithSeat> {
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
        self.fill_believing(running, nodes, view);
        if !self.place_all(plan, true, nodes, view) {
            plan.clone_from(&old);
            self.seats.clear();
            self.fill_believing(running, nodes, view);
            if self.move_up(&old, &seats, plan, nodes, view) {
                // Every promise is kept.
            } else {
                plan.clone_from(&old);
                self.seats.clear();
                self.fill_believing(running, nodes, view);
                self.place_all(plan, false, nodes, view);
            }
        }
        for (job, old) in plan.iter().zip(&old) {
            if job.start != old.start {
                moved(job);
            }
        }
        in_order_of_starts(plan);
    }

    /// Jobs move up one after the other, the others in place. `false` where they cannot all stay
    /// where they were to begin with.
    fn move_up(
        &mut self,
        old: &[PlannedJob],
        seats: &BTreeMap<JobId, NeedWithSeat>,
        plan: &mut [PlannedJob],
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> bool {
        for job in old.iter().filter(|job| job.start < Time::MAX) {
            let Some(on) = seats.get(&job.id) else { return false };
            let (start, end) = (job.start.max(view.now()), job.end());
            let free = self.nodes.admits(&on.need, &on.seat, (start, end), nodes.floor())
                && self.pools.fits(start, end - start, view.amounts(job.id));
            if !free {
                return false;
            }
            self.reserve(job, on.clone(), nodes, view);
        }
        for (job, old) in plan.iter_mut().zip(old) {
            if let Some(on) = self.seats.remove(&job.id) {
                self.change(old, &on, 1, nodes, view);
            }
            // Its own place is free; but where it has a smaller share on a node, that node need not
            // have room for a larger one.
            let no_later = if old.start >= view.now() { old.start } else { Time::MAX };
            let found = (self.earliest_from(job, |_| view.now(), no_later, nodes, view))
                .or_else(|| self.earliest(job, nodes, view));
            self.settle(job, found, nodes, view);
        }
        true
    }
}
