//! Passes on a machine whose jobs are placed on nodes.
//!
//! The rule of EASY holds node by node. A job starts if nodes have all that it asks for. The shadow
//! time of the job that blocks the queue is the first at which the nodes are predicted to have it,
//! and its reservation is of the nodes that it would be given then. Another job passes on nodes
//! that are free now if it is predicted to end by the shadow time; else on what of them the
//! reservation leaves over.

use super::{Backfill, OverdueRule};
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{BackfillFit, ExtraRule, JobNodeNeed, NodeLevels, NodeRoom, RunningJob, WaitingJob};
use crate::policy::free_resources::{covers, deduct};
use crate::policy::node_plan::NodesNow;
use crate::policy::{Actions, FreeNodes, FreeResources, StartReason, View};

/// Reservation of the job that blocks the queue.
struct NodeReservation {
    /// Shadow time; [`Time::MAX`] without a reservation.
    shadow: Time,
    /// Extra amounts of resources that are counted in all.
    extra: Vec<i64>,
    /// Free amounts of each node beside it at the shadow time.
    nodes: NodeLevels,
}

/// Free amounts of a pass.
struct PassLeft<'a> {
    now: NodesNow<'a>,
    procs: Procs,
    pools: Vec<i64>,
}

impl Backfill {
    /// A pass with one reservation at most.
    pub(super) fn placed_pass(
        &mut self,
        resources: &FreeResources,
        nodes: &FreeNodes,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        self.blocked = None;
        self.enqueue_fresh(view);
        self.rate(view);
        let table = resources.table();
        let now = NodesNow::new(nodes, table, view);
        let mut left = PassLeft { now, procs: view.free(), pools: resources.levels().to_vec() };
        let (head, need) = loop {
            let Some(head) = self.head(view) else { return };
            let Some(need) = left.now.need(head.id, view) else { return };
            let totals = table.totals(view.job(head.id).demand);
            let fits = head.procs <= left.procs && covers(&left.pools, totals);
            let Some(seat) = fits.then(|| left.now.place(&need)).flatten() else { break (head, need) };
            self.take_head(&head, view);
            left.now.start(head.id, StartReason::Head, need, seat, actions);
            self.started.push(RunningJob { end: view.now() + head.prediction, id: head.id, procs: head.procs });
            left.procs -= head.procs;
            deduct(&mut left.pools, totals);
        };
        if self.choices.backfill.is_none() || left.procs == 0 && self.choices.reservations == 0 {
            return;
        }
        let reserved = self.placed_reservation(&head, &need, &left, view);
        if reserved.shadow < Time::MAX {
            self.announce(head.id, reserved.shadow, actions);
        }
        self.backfill_placed(head.id, reserved, left, view, actions);
    }

    /// The reservation of the job that blocks the queue.
    fn placed_reservation(
        &mut self,
        head: &WaitingJob,
        need: &JobNodeNeed,
        left: &PassLeft<'_>,
        view: &View<'_>,
    ) -> NodeReservation {
        let (nodes, floor) = (left.now.left.clone(), left.now.nodes.floor());
        let mut reserved = NodeReservation { shadow: Time::MAX, extra: left.pools.clone(), nodes };
        let Some(resources) = view.resources().filter(|_| self.choices.reservations > 0) else { return reserved };
        let table = resources.table();
        let totals = table.totals(view.job(head.id).demand);
        let overdue = if self.choices.overdue == OverdueRule::Now { view.now() } else { Time::MIN };
        self.started.sort_unstable_by_key(|job| (job.end, job.id));
        let running = view.running().iter().copied();
        let ends = super::pooled::in_order(running, self.started.iter().copied());
        let mut room = NodeRoom::new(need, floor, &reserved.nodes);
        for job in ends {
            if reserved.shadow < Time::MAX
                && (self.choices.extra == ExtraRule::First || job.end.max(overdue) > reserved.shadow)
            {
                break;
            }
            for &(id, amount) in table.totals(view.job(job.id).demand) {
                reserved.extra[id.index()] += amount as i64;
            }
            if let Some((held, seat)) = left.now.held_by(job.id) {
                reserved.nodes.change(held, seat, floor, 1);
                room.freed(seat, floor, &reserved.nodes);
            }
            if reserved.shadow == Time::MAX && room.suffices() && covers(&reserved.extra, totals) {
                reserved.shadow = job.end.max(overdue);
            }
        }
        if reserved.shadow < Time::MAX
            && let Some(seat) = floor.place(need, &reserved.nodes)
        {
            reserved.nodes.change(need, &seat, floor, -1);
            deduct(&mut reserved.extra, totals);
        }
        reserved
    }

    fn backfill_placed(
        &mut self,
        head: JobId,
        mut reserved: NodeReservation,
        mut left: PassLeft<'_>,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let shadow = reserved.shadow;
        let window = if shadow == Time::MAX { Span::MAX } else { shadow - view.now() };
        let extra = if shadow == Time::MAX { 0 } else { reserved.nodes.procs() };
        let mut fit = BackfillFit { free: left.procs, window, extra };
        // What is free now and left over by the reservation, once a job asks for that.
        let mut both: Option<NodeLevels> = None;
        let mut attempt = |job: &WaitingJob, longest: Span, fit: &mut BackfillFit, actions: &mut Actions| -> bool {
            let totals = view.amounts(job.id);
            let outlasts = longest > window;
            if job.id == head
                || !fit.admits(job.procs, longest)
                || !covers(&left.pools, totals)
                || (outlasts && !covers(&reserved.extra, totals))
            {
                return false;
            }
            let Some(need) = left.now.need(job.id, view) else { return false };
            let floor = left.now.nodes.floor();
            let found = if outlasts {
                let both = both.get_or_insert_with(|| NodeLevels::lesser_of(&left.now.left, &reserved.nodes));
                floor.place(&need, both)
            } else {
                floor.place(&need, &left.now.left)
            };
            let Some(seat) = found else { return false };
            fit.take(job.procs, longest);
            deduct(&mut left.pools, totals);
            if outlasts {
                deduct(&mut reserved.extra, totals);
                reserved.nodes.change(&need, &seat, floor, -1);
            }
            left.now.start(job.id, StartReason::Backfilled, need, seat.clone(), actions);
            if let Some(both) = &mut both {
                both.lower_on(&seat, &left.now.left, &reserved.nodes);
            }
            true
        };
        if self.backfill_order().is_dynamic() {
            for job in self.candidates.as_ref().unwrap_or(&self.queue).sorted(self.backfill_order(), view) {
                if attempt(&job, job.prediction, &mut fit, actions) {
                    self.dequeue(&job, view);
                }
            }
            return;
        }
        let mut after = None;
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, fit, self.backfill_order(), view)
        {
            after = Some(job.place());
            if attempt(&job, self.longest(&job, view), &mut fit, actions) {
                self.dequeue(&job, view);
            }
        }
    }
}
