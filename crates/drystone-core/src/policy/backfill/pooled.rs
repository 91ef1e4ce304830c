//! Passes on a machine with resources beyond processors.
//!
//! The rule of EASY for processors holds for each resource. A job starts if all that it asks for is
//! free. The shadow time of the job that blocks the queue is the first at which all that it asks
//! for is predicted to be free, and each resource has its extra amount then. A job that is
//! predicted to end by the shadow time passes; another one passes if it takes no more than the
//! extra amount of anything.

use super::blocked::BlockedPass;
use super::{Backfill, OverdueRule};
use crate::model::{DemandId, JobId, Procs, ResourceTable, SharedSort, Span, Time};
use crate::parts::{BackfillFit, RunningJob, WaitingJob};
use crate::policy::free_resources::{covers, deduct};
use crate::policy::{Actions, FreeResources, StartReason, View};
use crate::room::pool_plan::{PooledNeed, pooled_shadow};

/// Condition for a start beside the reservation.
pub(super) struct PooledFit<'a> {
    pub(super) table: Option<&'a ResourceTable>,
    pub(super) fit: BackfillFit,
    /// Free amounts of further resources now.
    pub(super) left: Vec<i64>,
    /// Amounts of them that the reservation leaves over.
    pub(super) extra: Vec<i64>,
}

impl PooledFit<'_> {
    /// Accounts for a job that may run so long, if it fits; answers whether it does.
    pub(super) fn take(&mut self, procs: Procs, longest: Span, demand: DemandId) -> bool {
        let totals = self.table.map_or(&[][..], |table| table.totals(demand));
        let outlasts = longest > self.fit.window;
        if !self.fit.admits(procs, longest) || !covers(&self.left, totals) || (outlasts && !covers(&self.extra, totals))
        {
            return false;
        }
        self.fit.take(procs, longest);
        deduct(&mut self.left, totals);
        if outlasts {
            deduct(&mut self.extra, totals);
        }
        true
    }
}

/// Amounts that the reservation of the last pass leaves over.
pub(super) struct PooledExtra {
    procs: Procs,
    amounts: Vec<i64>,
}

impl Backfill {
    /// A pass with one reservation at most. As on processors alone, the reservation is kept while
    /// nothing changes it, and only newcomers are tried until something is given back.
    pub(super) fn pooled_pass(&mut self, resources: &FreeResources, view: &View<'_>, actions: &mut Actions) {
        let usable = |b: &BlockedPass| !b.out_of_date(view.now(), self.choices.overdue) && view.outlook().is_none();
        let known = self.blocked.take().filter(usable).zip(self.pooled.take());
        let table = resources.table();
        let known = match known {
            Some((blocked, extra)) if !blocked.freed && self.fresh.iter().all(|job| job.place() > blocked.head) => {
                return self.pooled_newcomers((blocked, extra), resources, view, actions);
            }
            known => known,
        };
        if self.no_job_waits()
            && let [job] = self.fresh[..]
            && job.procs <= view.free()
            && resources.admits(view.job(job.id).demand)
        {
            // An idle machine: the job need not go through the queue.
            self.fresh.clear();
            return actions.start(job.id, StartReason::Head);
        }
        self.enqueue_fresh(view);
        self.rate(view);
        let (mut free, mut left) = (view.free(), resources.levels().to_vec());
        let head = loop {
            let Some(head) = self.head(view) else { return };
            let totals = table.totals(view.job(head.id).demand);
            if head.procs > free || !covers(&left, totals) {
                break head;
            }
            self.take_head(&head, view);
            actions.start(head.id, StartReason::Head);
            self.started.push(RunningJob { end: view.now() + head.prediction, id: head.id, procs: head.procs });
            free -= head.procs;
            deduct(&mut left, totals);
        };
        let stays = |known: &(BlockedPass, PooledExtra)| known.0.head == head.place() && self.started.is_empty();
        let (shadow, extra) = match known.filter(stays) {
            Some((blocked, extra)) => (blocked.shadow, extra),
            None => {
                let mut amounts = left.clone();
                let (shadow, procs) = self.pooled_reservation(&head, free, &mut amounts, view);
                (shadow, PooledExtra { procs, amounts })
            }
        };
        if self.is_in_the_way(&head, shadow, view.now()) {
            return self.plan_ahead(view, actions);
        }
        if shadow < Time::MAX {
            self.announce(head.id, shadow, actions);
        }
        let window = if shadow == Time::MAX { Span::MAX } else { shadow - view.now() };
        let fit = BackfillFit { free, window, extra: extra.procs };
        let mut fit = PooledFit { table: Some(table), fit, left, extra: extra.amounts };
        let kept = self.choices.backfill.is_none() || self.backfill_pooled(head.id, &mut fit, view, actions);
        // See `full_pass`.
        let timeless = self.choices.overdue == OverdueRule::Stale || shadow > view.now();
        if kept && timeless && !self.choices.order.is_dynamic() {
            let until = self.first_until(head.id, view);
            let (head, procs) = (head.place(), head.procs);
            // Processors left over are among the other amounts, which no change of an end adjusts.
            let blocked = BlockedPass { head, procs, shadow, extra: 0, room: 0, freed: false, until };
            self.keep_pooled(blocked, fit);
        }
    }

    fn keep_pooled(&mut self, blocked: BlockedPass, fit: PooledFit<'_>) {
        self.blocked = Some(BlockedPass { freed: false, ..blocked });
        self.pooled = Some(PooledExtra { procs: fit.fit.extra, amounts: fit.extra });
    }

    /// Jobs arrived, and nothing was given back: the others cannot start now.
    fn pooled_newcomers(
        &mut self,
        (blocked, extra): (BlockedPass, PooledExtra),
        resources: &FreeResources,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let fit = BackfillFit { extra: extra.procs, ..blocked.fit(view.free(), view.now()) };
        let (left, window) = (resources.levels().to_vec(), fit.window);
        let mut fit = PooledFit { table: Some(resources.table()), fit, left, extra: extra.amounts };
        let mut kept = true;
        if self.choices.backfill.is_none() {
            self.enqueue_fresh(view);
        } else if self.fresh.len() > 1 {
            self.sort_fresh(view);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            if fit.take(job.procs, self.longest(&job, view), view.job(job.id).demand) {
                kept &= self.choices.keeps_reservation(&job, window);
                actions.start(job.id, StartReason::Backfilled);
            } else {
                self.enqueue(job, view);
            }
        }
        self.fresh = fresh;
        if kept {
            self.keep_pooled(blocked, fit);
        }
    }

    /// Shadow time and extra processors of the job that blocks the queue, and the extra amounts of
    /// further resources; [`Time::MAX`] where it has no reservation.
    fn pooled_reservation(
        &mut self,
        head: &WaitingJob,
        free: Procs,
        extra: &mut [i64],
        view: &View<'_>,
    ) -> (Time, Procs) {
        if self.choices.backfill.is_none() || self.choices.reservations == 0 {
            return (Time::MAX, 0);
        }
        let now = view.now();
        let floor = if self.choices.overdue == OverdueRule::Now { now } else { Time::MIN };
        let more = match view.outlook().filter(|outlook| !outlook.is_settled()) {
            Some(outlook) => self.started_and_returns(outlook, now),
            None => {
                self.started.sort_shared_by_key(|job| (job.end, job.id));
                self.started.clone()
            }
        };
        let need = PooledNeed {
            procs: i64::from(head.procs) - i64::from(free),
            totals: view.resources().map_or(&[][..], |resources| resources.table().totals(view.job(head.id).demand)),
        };
        let ends = in_order(view.running().iter().copied(), more.into_iter());
        let choices = (self.choices.extra, floor);
        pooled_shadow(ends, &need, extra, choices, view).map_or((Time::MAX, 0), |shadow| (shadow.time, shadow.extra))
    }

    /// Returns whether the reservation is then as it was, see
    /// [`BackfillChoices::keeps_reservation`](super::BackfillChoices).
    fn backfill_pooled(
        &mut self,
        head: JobId,
        fit: &mut PooledFit<'_>,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let (window, mut kept) = (fit.fit.window, true);
        if self.backfill_order().is_dynamic() {
            // What is passed over does not fit later in the pass: less and less is free.
            for job in self.candidates.as_ref().unwrap_or(&self.queue).sorted(self.backfill_order(), view) {
                if job.id != head && fit.take(job.procs, job.prediction, view.job(job.id).demand) {
                    self.dequeue(&job, view);
                    kept &= self.choices.keeps_reservation(&job, window);
                    actions.start(job.id, StartReason::Backfilled);
                }
            }
            return kept;
        }
        let mut after = None;
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, fit.fit, self.backfill_order(), view)
        {
            after = Some(job.place());
            let longest = self.longest(&job, view);
            if job.id != head && fit.take(job.procs, longest, view.job(job.id).demand) {
                self.dequeue(&job, view);
                kept &= self.choices.keeps_reservation(&job, window);
                actions.start(job.id, StartReason::Backfilled);
            }
        }
        kept
    }
}

/// Two sequences of running jobs, each in the order of their ends, as one.
pub(super) fn in_order(
    one: impl Iterator<Item = RunningJob>,
    other: impl Iterator<Item = RunningJob>,
) -> impl Iterator<Item = RunningJob> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(a), Some(b)) if (b.end, b.id) < (a.end, a.id) => other.next(),
        (None, _) => other.next(),
        _ => one.next(),
    })
}
