//! Passes on a machine whose jobs are placed on nodes.
//!
//! The rule of EASY holds node by node. A job starts if nodes have all that it asks for. The shadow
//! time of the job that blocks the queue is the first at which the nodes are predicted to have it,
//! and its reservation is of the nodes that it would be given then. Another job passes on nodes
//! that are free now if it is predicted to end by the shadow time; else on what of them the
//! reservation leaves over.
//!
//! As on processors alone, the reservation is kept while nothing changes it, and only newcomers are
//! tried until something is given back. Its nodes are chosen again where a job has taken from what
//! it leaves over: then another choice may be tighter, and all jobs are tried beside that.

use super::blocked::BlockedPass;
use super::{Backfill, OverdueRule};
use crate::model::{JobId, Procs, ResourceTable, SharedSort, Span, Time};
use crate::parts::{BackfillFit, ExtraRule, JobNodeNeed, NodeFloor, NodeSeat, RunningJob, WaitingJob};
use crate::policy::free_resources::{covers_totals, deduct_totals};
use crate::policy::{Actions, FreeNodes, FreeResources, StartReason, View};
use crate::room::node_mirror::NodeMirror;
use crate::room::node_outlook::core_returns;
use std::sync::Arc;

/// Nodes and the reservation on them between passes. All of it follows from the session.
#[derive(Default)]
pub(super) struct PlacedState {
    nodes: NodeMirror,
    reserved: Option<NodeReservation>,
}

/// Reservation of the job that blocks the queue.
struct NodeReservation {
    need: Arc<JobNodeNeed>,
    /// Shadow time; [`Time::MAX`] without a reservation.
    shadow: Time,
    /// Extra amounts of resources that are counted in all.
    extra: Vec<i64>,
    /// Its nodes.
    seat: NodeSeat,
}

/// A pass after its heads have started, or found that none can.
struct PlacedPass<'a> {
    nodes: &'a mut NodeMirror,
    reserved: &'a mut NodeReservation,
    table: &'a ResourceTable,
    floor: &'a NodeFloor,
    fit: BackfillFit,
    /// Free amounts of resources that are counted in all.
    pools: Vec<i64>,
    /// False if the next pass may find another reservation than this one leaves behind.
    kept: bool,
    /// True if a job has started that takes from what the reservation leaves over.
    took_extra: bool,
}

impl PlacedPass<'_> {
    /// Starts a job behind the head, if it fits.
    fn try_start(
        &mut self,
        job: &WaitingJob,
        longest: Span,
        policy: &Backfill,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let totals = self.table.demand_totals(view.job(job.id).demand);
        let outlasts = longest > self.fit.window;
        if !self.fit.can_start(job.procs, longest)
            || !covers_totals(&self.pools, totals)
            || (outlasts && !covers_totals(&self.reserved.extra, totals))
        {
            return false;
        }
        let Some(need) = self.nodes.job_need(view.job(job.id), self.table, self.floor) else { return false };
        let free_seat =
            if outlasts { self.nodes.place_beside(&need, self.floor) } else { self.nodes.find_seat(&need, self.floor) };
        let Some(seat) = free_seat else { return false };
        self.fit.account_start(job.procs, longest);
        deduct_totals(&mut self.pools, totals);
        if outlasts {
            deduct_totals(&mut self.reserved.extra, totals);
            self.took_extra = true;
        }
        self.kept &= policy.choices.keeps_reservation(job, self.fit.window);
        self.nodes.start_job((job.id, StartReason::Backfilled), need, seat, outlasts, self.floor, actions);
        // A job may leave fewer cores to others than it does not have: it may have whole nodes.
        self.fit.free = self.fit.free.min(self.nodes.free_cores());
        if outlasts {
            self.fit.extra = self.nodes.extra_cores();
        }
        true
    }
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
        let mut state = self.placed.take().unwrap_or_default();
        if !state.nodes.begin_pass(nodes, view) {
            self.blocked = None;
        }
        if !self.placed_newcomers(&mut state, resources, nodes, view, actions) {
            self.placed_full_pass(&mut state, resources, nodes, view, actions);
        }
        self.placed = Some(state);
    }

    /// Jobs arrived, and nothing was given back: the others cannot start now. Returns `false` where
    /// a full pass is due after all.
    fn placed_newcomers(
        &mut self,
        state: &mut PlacedState,
        resources: &FreeResources,
        nodes: &FreeNodes,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let overdue = self.choices.overdue;
        let Some(blocked) = self.blocked.filter(|b| !b.freed && !b.out_of_date(view.current_time(), overdue)) else {
            return false;
        };
        if self.fresh.iter().any(|job| job.queue_place() < blocked.head) || state.reserved.is_none() {
            return false;
        }
        if self.choices.backfill.is_none() {
            self.enqueue_fresh(view);
            return true;
        }
        if self.fresh.len() > 1 {
            self.sort_fresh(view);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        let PlacedState { nodes: mirror, reserved: Some(reserved), .. } = state else { return false };
        let mut pass = placed_pass_of(mirror, reserved, view.free_processors(), resources, nodes, view);
        for job in fresh.drain(..) {
            if !pass.try_start(&job, self.longest_run(&job, view), self, view, actions) {
                self.enqueue_job(job, view);
            }
        }
        self.fresh = fresh;
        self.end_placed(pass, blocked);
        true
    }

    fn placed_full_pass(
        &mut self,
        state: &mut PlacedState,
        resources: &FreeResources,
        nodes: &FreeNodes,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let previous_pass = self.blocked.take().filter(|b| !b.out_of_date(view.current_time(), self.choices.overdue));
        let (table, floor) = (resources.table(), nodes.floor());
        self.enqueue_fresh(view);
        self.rate_queues(view);
        let (mut procs, mut pools) = (view.free_processors(), resources.levels().to_vec());
        let (head, need) = loop {
            let Some(head) = self.find_head(view) else { return };
            let Some(need) = state.nodes.job_need(view.job(head.id), table, floor) else { return };
            let totals = table.demand_totals(view.job(head.id).demand);
            let fits = head.procs <= procs && covers_totals(&pools, totals);
            let Some(seat) = fits.then(|| state.nodes.find_seat(&need, floor)).flatten() else { break (head, need) };
            self.take_head(&head, view);
            state.nodes.start_job((head.id, StartReason::Head), need, seat, false, floor, actions);
            self.started.push(RunningJob {
                end: view.current_time() + head.prediction,
                id: head.id,
                procs: head.procs,
            });
            procs -= head.procs;
            deduct_totals(&mut pools, totals);
        };
        let stays = previous_pass.is_some_and(|known| known.head == head.queue_place()) && self.started.is_empty();
        let mut reservation = match state.reserved.take().filter(|_| stays) {
            Some(reserved) => reserved,
            None => self.placed_reservation(&mut state.nodes, need, head.id, pools, nodes, view),
        };
        if reservation.shadow < Time::MAX {
            self.announce_reservation(head.id, reservation.shadow, actions);
        }
        let mut pass = placed_pass_of(&mut state.nodes, &mut reservation, procs, resources, nodes, view);
        for job in &self.started {
            deduct_totals(&mut pass.pools, table.demand_totals(view.job(job.id).demand));
        }
        if self.choices.backfill.is_some() {
            self.backfill_placed(head.id, &mut pass, view, actions);
        }
        let shadow = pass.reserved.shadow;
        // See `full_pass`.
        let timeless = match self.choices.overdue {
            OverdueRule::Now => shadow > view.current_time(),
            OverdueRule::Stale => true,
            OverdueRule::Free => false,
        };
        if timeless && !self.choices.order.is_dynamic() {
            let until = self.first_until(head.id, view);
            let head = BlockedPass {
                head: head.queue_place(),
                procs: head.procs,
                shadow,
                extra: 0,
                room: 0,
                freed: false,
                until,
            };
            self.end_placed(pass, head);
        }
        state.reserved = Some(reservation);
    }

    /// Notes why no other job could start.
    fn end_placed(&mut self, pass: PlacedPass<'_>, blocked: BlockedPass) {
        let PlacedPass { nodes, reserved, floor, kept, took_extra, .. } = pass;
        let freed_flag = match took_extra {
            true if kept => nodes.reserve_again(&reserved.need, &mut reserved.seat, floor),
            _ => Some(false),
        };
        self.blocked = freed_flag.filter(|_| kept).map(|freed| BlockedPass { freed, ..blocked });
    }

    /// The reservation of the job that blocks the queue.
    fn placed_reservation(
        &mut self,
        mirror: &mut NodeMirror,
        need: Arc<JobNodeNeed>,
        head: JobId,
        pools: Vec<i64>,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> NodeReservation {
        let floor = nodes.floor();
        let mut reservation = NodeReservation { need, shadow: Time::MAX, extra: pools, seat: NodeSeat::default() };
        mirror.forget_reservation(floor);
        if self.choices.backfill.is_none() || self.choices.reservations == 0 {
            return reservation;
        }
        let Some(resources) = view.resources() else { return reservation };
        let table = resources.table();
        let totals = table.demand_totals(view.job(head).demand);
        let overdue = if self.choices.overdue == OverdueRule::Now { view.current_time() } else { Time::MIN };
        self.started.sort_shared_by_key(|job| (job.end, job.id));
        let running_jobs = view.running_jobs().iter().copied();
        let mut ends = super::pooled::in_order(running_jobs, self.started.iter().copied()).peekable();
        let mut returns = core_returns(floor, view).into_iter().peekable();
        let mut room = None;
        loop {
            // Nodes that come back are ends of jobs that were never submitted.
            let back = returns.next_if(|back| ends.peek().is_none_or(|job| back.0 < job.end));
            let Some(end) = back.map(|back| back.0).or_else(|| ends.peek().map(|job| job.end)) else { break };
            if reservation.shadow < Time::MAX
                && (self.choices.extra == ExtraRule::First || end.max(overdue) > reservation.shadow)
            {
                break;
            }
            if let Some((_, node, cores)) = back {
                mirror.comes_back((node, cores), &reservation.need, &mut room, floor);
            } else if let Some(job) = ends.next() {
                for &(id, amount) in table.demand_totals(view.job(job.id).demand) {
                    reservation.extra[id.index()] += amount as i64;
                }
                mirror.free_by_shadow(job.id, nodes, &reservation.need, &mut room);
            }
            if reservation.shadow == Time::MAX
                && covers_totals(&reservation.extra, totals)
                && mirror.fits_later(&reservation.need, &mut room, floor)
            {
                reservation.shadow = end.max(overdue);
            }
        }
        if reservation.shadow < Time::MAX
            && let Some(seat) = mirror.reserve_nodes(&reservation.need, floor)
        {
            reservation.seat = seat;
            deduct_totals(&mut reservation.extra, totals);
        }
        reservation
    }

    fn backfill_placed(&mut self, head: JobId, pass: &mut PlacedPass<'_>, view: &View<'_>, actions: &mut Actions) {
        if self.backfill_order().is_dynamic() {
            for job in self.candidates.as_ref().unwrap_or(&self.queue).sorted_jobs(self.backfill_order(), view) {
                if job.id != head && pass.try_start(&job, job.prediction, self, view, actions) {
                    self.dequeue_job(&job, view);
                }
            }
            return;
        }
        let mut after = None;
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, pass.fit, self.backfill_order(), view)
        {
            after = Some(job.queue_place());
            if job.id != head && pass.try_start(&job, self.longest_run(&job, view), self, view, actions) {
                self.dequeue_job(&job, view);
            }
        }
    }
}

/// A pass beside a reservation, with so many processors free.
fn placed_pass_of<'a>(
    mirror: &'a mut NodeMirror,
    reserved: &'a mut NodeReservation,
    free: Procs,
    resources: &'a FreeResources,
    nodes: &'a FreeNodes,
    view: &View<'_>,
) -> PlacedPass<'a> {
    let shadow = reserved.shadow;
    let window = if shadow == Time::MAX { Span::MAX } else { shadow - view.current_time() };
    let extra = if shadow == Time::MAX { 0 } else { mirror.extra_cores() };
    let free = free.min(mirror.free_cores());
    PlacedPass {
        nodes: mirror,
        reserved,
        table: resources.table(),
        floor: nodes.floor(),
        fit: BackfillFit { free, window, extra },
        pools: resources.levels().to_vec(),
        kept: true,
        took_extra: false,
    }
}
