//! Room now and beside the reservation of the job that blocks a queue: what a pass of EASY decides
//! with.
//!
//! The rule of EASY holds for everything that is counted. A job starts if all that it asks for is
//! free. The shadow time of the job that blocks the queue is the first at which all that it asks
//! for is predicted to be free, and each resource has its extra amount then. A job that is
//! predicted to end by the shadow time passes; another one passes if it takes no more than the
//! extra amount of anything.
//!
//! On nodes the reservation is of the nodes that the head would be given at the shadow time, and
//! what it leaves over is counted node by node. Its nodes are chosen again where a job has taken
//! from what it leaves over: then another choice may be tighter.

use super::node_mirror::NodeMirror;
use super::node_outlook::core_returns;
use super::pool_plan::{PooledNeed, pooled_shadow};
use crate::model::{JobId, Procs, ResourceAmounts, SharedSort, Span, Time};
use crate::parts::{
    BackfillFit, ExtraRule, JobNodeNeed, NodeSeat, RunningJob, RunningSet, Shadow, WaitQueue, WaitingJob,
};
use drystone_engine::policy::free_resources::{covers_totals, deduct_totals};
use drystone_engine::policy::{Actions, FreeNodes, StartReason, View};
use std::sync::Arc;

/// Condition for a start beside a reservation, in what is counted in all.
pub(crate) struct CountedFit {
    pub(crate) fit: BackfillFit,
    /// Free amounts of further resources now; empty without any.
    pub(crate) left: Vec<i64>,
    /// Amounts of them that the reservation leaves over.
    pub(crate) extra: Vec<i64>,
}

impl CountedFit {
    /// Returns whether amounts of further resources do for a job that may run so long.
    fn covers_amounts(&self, longest: Span, amounts: &ResourceAmounts) -> bool {
        covers_totals(&self.left, amounts) && (longest <= self.fit.window || covers_totals(&self.extra, amounts))
    }

    /// Accounts for a job that may run so long.
    fn take_counts(&mut self, procs: Procs, longest: Span, amounts: &ResourceAmounts) {
        self.fit.account_start(procs, longest);
        deduct_totals(&mut self.left, amounts);
        if longest > self.fit.window {
            deduct_totals(&mut self.extra, amounts);
        }
    }

    /// Accounts for a job that may run so long, if it fits; returns whether it does.
    pub(crate) fn take_if_fits(&mut self, procs: Procs, longest: Span, amounts: &ResourceAmounts) -> bool {
        let fits = self.fit.can_start(procs, longest) && self.covers_amounts(longest, amounts);
        if fits {
            self.take_counts(procs, longest, amounts);
        }
        fits
    }
}

/// Ends that a shadow time is found by, and the rules for counting them.
pub(crate) struct ShadowEnds<'a> {
    /// Running jobs by the ends that count.
    pub(crate) running: &'a RunningSet,
    /// Jobs that this pass has started.
    pub(crate) started: &'a mut Vec<RunningJob>,
    /// Count of the ends at the shadow time itself.
    pub(crate) extra: ExtraRule,
    /// Ends before this count as this.
    pub(crate) floor: Time,
    /// Processors of running jobs that count as free already.
    pub(crate) already: Procs,
}

impl ShadowEnds<'_> {
    /// The jobs that this pass has started, and processors that come back, in order of time.
    fn sort_later_ends(&mut self, view: &View<'_>) -> Vec<RunningJob> {
        self.started.sort_shared_by_key(|job| (job.end, job.id));
        let Some(outlook) = view.outlook().filter(|outlook| !outlook.is_settled()) else {
            return self.started.clone();
        };
        let soonest = view.current_time() + Span(1);
        let returns = outlook.expected_returns().iter().filter(|back| back.0 < Time::MAX);
        let returns = returns.map(|&(end, procs)| RunningJob { end: end.max(soonest), id: JobId(u32::MAX), procs });
        let mut later_ends: Vec<RunningJob> = self.started.iter().copied().chain(returns).collect();
        later_ends.sort_shared_by_key(|job| (job.end, job.id));
        later_ends
    }

    /// Finds the shadow time of a head by processors; `None` where not even the end of all jobs
    /// suffices.
    #[inline]
    fn find_counted(&mut self, procs: Procs, free: Procs, view: &View<'_>) -> Option<Shadow> {
        let missing = procs + self.already - free;
        let has_returns = view.outlook().is_some_and(|outlook| !outlook.is_settled());
        if self.started.is_empty() && !has_returns {
            return self.running.find_shadow(missing, self.extra, self.floor);
        }
        let later_ends = self.sort_later_ends(view);
        self.running.shadow_with(&later_ends, missing, self.extra, self.floor)
    }

    /// Finds the shadow time by everything that is counted in all; `extra` becomes the amounts that
    /// are left over then.
    fn find_pooled(
        &mut self,
        (head, procs): (JobId, Procs),
        free: Procs,
        extra: &mut [i64],
        view: &View<'_>,
    ) -> Option<Shadow> {
        let later_ends = self.sort_later_ends(view);
        let need = PooledNeed { procs: i64::from(procs) - i64::from(free), totals: view.demanded_amounts(head) };
        let ends = in_order(self.running.iter().copied(), later_ends.into_iter());
        pooled_shadow(ends, &need, extra, (self.extra, self.floor), view)
    }
}

/// Room of a pass. What it holds between passes follows from the session.
pub(crate) struct ShadowRoom {
    counted: CountedFit,
    /// True where more than processors is counted.
    has_further: bool,
    /// True if the reservation of the pass before is known here.
    has_reservation: bool,
    /// Extra processors of a reservation that asks for more than processors.
    extra_procs: Procs,
    nodes: Option<Box<ShadowNodes>>,
}

/// Nodes beside a reservation.
#[derive(Default)]
struct ShadowNodes {
    mirror: NodeMirror,
    /// The reservation: what the head asks for, and its nodes.
    reserved: Option<(Arc<JobNodeNeed>, NodeSeat)>,
    /// True if a job has started that takes from what the reservation leaves over.
    took_extra: bool,
}

impl Default for ShadowRoom {
    fn default() -> ShadowRoom {
        let fit = BackfillFit::for_free_procs(0);
        ShadowRoom {
            counted: CountedFit { fit, left: Vec::new(), extra: Vec::new() },
            has_further: false,
            has_reservation: false,
            extra_procs: 0,
            nodes: None,
        }
    }
}

impl ShadowRoom {
    /// Catches up with the session. Returns whether the reservation of the pass before is known
    /// still.
    #[inline]
    pub(crate) fn begin_pass(&mut self, view: &View<'_>) -> bool {
        view.resources().is_none() || self.follow_session(view)
    }

    #[inline(never)]
    fn follow_session(&mut self, view: &View<'_>) -> bool {
        self.has_further = true;
        self.counted.left.clear();
        self.counted.left.extend(view.resources().into_iter().flat_map(|resources| resources.levels()));
        match view.nodes() {
            Some(nodes) => self.nodes.get_or_insert_default().mirror.begin_pass(nodes, view) && self.has_reservation,
            // Amounts may change at announced times.
            None => self.has_reservation && view.outlook().is_none(),
        }
    }

    /// Returns whether processors decide alone: then a search by them finds the jobs that fit.
    pub(crate) fn is_plain(&self) -> bool {
        !self.has_further
    }

    /// Condition of processors for a start beside the reservation.
    #[inline]
    pub(crate) fn backfill_fit(&self) -> BackfillFit {
        self.counted.fit
    }

    /// Extra processors of a reservation that asks for nothing else: changed ends may adjust them.
    /// 0 for any other.
    #[inline]
    pub(crate) fn adjustable_extra(&self) -> Procs {
        if self.has_further { 0 } else { self.counted.fit.extra }
    }

    /// Processors that may be free for all jobs that this pass leaves to stay.
    #[inline]
    pub(crate) fn free_bound(&self) -> Procs {
        if self.has_further { 0 } else { self.counted.fit.free }
    }

    /// Starts a job from the head of the queue, if it fits what is free.
    #[inline]
    pub(crate) fn start_head(
        &mut self,
        head: &WaitingJob,
        free: Procs,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        if head.procs > free {
            return false;
        }
        if self.has_further {
            return self.start_further_head(head, view, actions);
        }
        actions.start_job(head.id, StartReason::Head);
        true
    }

    #[inline(never)]
    fn start_further_head(&mut self, head: &WaitingJob, view: &View<'_>, actions: &mut Actions) -> bool {
        let need = view.job_need(head.id);
        if !covers_totals(&self.counted.left, need.amounts) {
            return false;
        }
        match (&mut self.nodes, need.on) {
            (Some(nodes), Some(wish)) => {
                let Some(seat) = nodes.mirror.find_seat(wish.need, wish.floor) else { return false };
                nodes.mirror.start_job((wish, StartReason::Head), seat, false, actions);
            }
            _ => actions.start_job(head.id, StartReason::Head),
        }
        deduct_totals(&mut self.counted.left, need.amounts);
        true
    }

    /// Forgets the reservation of the pass before: the head has none.
    #[inline]
    pub(crate) fn clear_reservation(&mut self, head: JobId, view: &View<'_>) {
        if self.has_further {
            self.reset_reservation(head, view);
        }
    }

    fn reset_reservation(&mut self, head: JobId, view: &View<'_>) {
        (self.has_reservation, self.extra_procs) = (true, 0);
        let CountedFit { left, extra, .. } = &mut self.counted;
        extra.clone_from(left);
        if let (Some(nodes), Some(wish)) = (&mut self.nodes, view.job_need(head).on) {
            nodes.mirror.forget_reservation(wish.floor);
            nodes.reserved = Some((Arc::clone(wish.need), NodeSeat::default()));
        }
    }

    /// Makes the reservation of the job that blocks the queue, which asks for these processors,
    /// while so many are free. Returns its shadow time and the extra processors; `None` where not
    /// even all of the machine suffices, which a pass within an instant may find: nothing that runs
    /// now can be in the way of the head.
    #[inline]
    pub(crate) fn reserve_head(
        &mut self,
        head: (JobId, Procs),
        free: Procs,
        ends: &mut ShadowEnds<'_>,
        view: &View<'_>,
    ) -> Option<Shadow> {
        if self.has_further {
            self.reserve_further(head, free, ends, view)
        } else {
            ends.find_counted(head.1, free, view)
        }
    }

    #[inline(never)]
    fn reserve_further(
        &mut self,
        head: (JobId, Procs),
        free: Procs,
        ends: &mut ShadowEnds<'_>,
        view: &View<'_>,
    ) -> Option<Shadow> {
        self.reset_reservation(head.0, view);
        let extra = &mut self.counted.extra;
        let shadow = match (&mut self.nodes, view.nodes()) {
            (Some(own), Some(nodes)) => own.reserve_nodes(head.0, extra, ends, nodes, view),
            _ => ends.find_pooled(head, free, extra, view),
        };
        self.extra_procs = shadow.map_or(0, |shadow| shadow.extra);
        shadow
    }

    /// Begins to start jobs behind the head, on as many processors as `fit` says.
    #[inline]
    pub(crate) fn begin_backfill(&mut self, fit: BackfillFit) {
        self.counted.fit = fit;
        if self.has_further {
            self.counted.fit.extra = self.extra_procs;
            if let Some(nodes) = &mut self.nodes {
                nodes.took_extra = false;
                nodes.bound_fit(&mut self.counted.fit);
            }
        }
    }

    /// Starts a job behind the head that may run so long, if it fits.
    #[inline]
    pub(crate) fn start_beside(
        &mut self,
        job: &WaitingJob,
        longest: Span,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        if !self.counted.fit.can_start(job.procs, longest) {
            return false;
        }
        if self.has_further {
            return self.start_further(job, longest, view, actions);
        }
        self.counted.fit.account_start(job.procs, longest);
        actions.start_job(job.id, StartReason::Backfilled);
        true
    }

    #[inline(never)]
    fn start_further(&mut self, job: &WaitingJob, longest: Span, view: &View<'_>, actions: &mut Actions) -> bool {
        let amounts = view.demanded_amounts(job.id);
        if !self.counted.covers_amounts(longest, amounts) {
            return false;
        }
        let outlasts = longest > self.counted.fit.window;
        let (Some(nodes), Some(wish)) = (&mut self.nodes, view.job_need(job.id).on) else {
            self.counted.take_counts(job.procs, longest, amounts);
            self.extra_procs = self.counted.fit.extra;
            actions.start_job(job.id, StartReason::Backfilled);
            return true;
        };
        let free_seat = if outlasts {
            nodes.mirror.place_beside(wish.need, wish.floor)
        } else {
            nodes.mirror.find_seat(wish.need, wish.floor)
        };
        let Some(seat) = free_seat else { return false };
        self.counted.take_counts(job.procs, longest, amounts);
        nodes.mirror.start_job((wish, StartReason::Backfilled), seat, outlasts, actions);
        nodes.took_extra |= outlasts;
        nodes.bound_fit(&mut self.counted.fit);
        if outlasts {
            self.extra_procs = nodes.mirror.extra_cores();
            self.counted.fit.extra = self.extra_procs;
        }
        true
    }

    /// Starts every job of a queue, in its order, that fits beside the reservation and is not the
    /// head, and takes it out. Returns how many processors may be free for the jobs that are left
    /// to stay.
    #[inline]
    pub(crate) fn start_all(
        &mut self,
        queue: &mut WaitQueue,
        head: JobId,
        view: &View<'_>,
        actions: &mut Actions,
        mut leaves: impl FnMut(&WaitingJob),
    ) -> Procs {
        if !self.has_further {
            return queue.take_all(&mut self.counted.fit, |job| {
                actions.start_job(job.id, StartReason::Backfilled);
                leaves(job);
            });
        }
        let mut after = None;
        while let Some(job) = queue.next_fit(after, self.counted.fit) {
            after = Some(job.queue_place());
            if job.id != head && self.start_further(&job, job.prediction, view, actions) {
                queue.remove(job.queue_place());
                leaves(&job);
            }
        }
        self.free_bound()
    }

    /// Ends a pass after which the reservation stays as it is. Returns whether jobs may start now
    /// that could not before, for the nodes of the reservation are others; `None` where the
    /// reservation cannot be kept.
    #[inline]
    pub(crate) fn end_pass(&mut self, view: &View<'_>) -> Option<bool> {
        match (&mut self.nodes, view.nodes()) {
            (Some(own), Some(nodes)) if own.took_extra => {
                let (need, seat) = own.reserved.as_mut()?;
                own.mirror.reserve_again(need, seat, nodes.floor())
            }
            _ => Some(false),
        }
    }
}

impl ShadowNodes {
    /// A job may leave fewer cores to others than it does not have: it may have whole nodes.
    fn bound_fit(&self, fit: &mut BackfillFit) {
        fit.free = fit.free.min(self.mirror.free_cores());
    }

    /// Finds the shadow time and takes nodes then; `extra` becomes the amounts that are left over.
    fn reserve_nodes(
        &mut self,
        head: JobId,
        extra: &mut [i64],
        ends: &mut ShadowEnds<'_>,
        nodes: &FreeNodes,
        view: &View<'_>,
    ) -> Option<Shadow> {
        let ShadowNodes { mirror, reserved, .. } = self;
        let (need, own_seat) = reserved.as_mut()?;
        let (floor, amounts) = (nodes.floor(), view.demanded_amounts(head));
        ends.started.sort_shared_by_key(|job| (job.end, job.id));
        let mut job_ends = in_order(ends.running.iter().copied(), ends.started.iter().copied()).peekable();
        let mut returns = core_returns(floor, view).into_iter().peekable();
        let (mut room, mut shadow) = (None, Time::MAX);
        loop {
            // Nodes that come back are ends of jobs that were never submitted.
            let back = returns.next_if(|back| job_ends.peek().is_none_or(|job| back.0 < job.end));
            let Some(end) = back.map(|back| back.0).or_else(|| job_ends.peek().map(|job| job.end)) else { break };
            if shadow < Time::MAX && (ends.extra == ExtraRule::First || end.max(ends.floor) > shadow) {
                break;
            }
            if let Some((_, node, cores)) = back {
                mirror.comes_back((node, cores), need, &mut room, floor);
            } else if let Some(job) = job_ends.next() {
                for &(id, amount) in view.demanded_amounts(job.id) {
                    extra[id.index()] += amount as i64;
                }
                mirror.free_by_shadow(job.id, nodes, need, &mut room);
            }
            let fits = shadow == Time::MAX && covers_totals(extra, amounts);
            if fits && mirror.fits_later(need, &mut room, floor) {
                shadow = end.max(ends.floor);
            }
        }
        if shadow == Time::MAX {
            return None;
        }
        if let Some(seat) = mirror.reserve_nodes(need, floor) {
            *own_seat = seat;
            deduct_totals(extra, amounts);
        }
        Some(Shadow { time: shadow, extra: mirror.extra_cores() })
    }
}

/// Returns whether a plan can be made in the middle of a pass: it need not know which nodes the
/// starts of the pass have.
pub(crate) fn can_plan_midway(view: &View<'_>) -> bool {
    view.nodes().is_none()
}

/// Two sequences of running jobs, each in the order of their ends, as one.
fn in_order(
    first: impl Iterator<Item = RunningJob>,
    second: impl Iterator<Item = RunningJob>,
) -> impl Iterator<Item = RunningJob> {
    let (mut first_jobs, mut second_jobs) = (first.peekable(), second.peekable());
    std::iter::from_fn(move || match (first_jobs.peek(), second_jobs.peek()) {
        (Some(a), Some(b)) if (b.end, b.id) < (a.end, a.id) => second_jobs.next(),
        (None, _) => second_jobs.next(),
        _ => first_jobs.next(),
    })
}
