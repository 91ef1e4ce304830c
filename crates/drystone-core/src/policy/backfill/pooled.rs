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
use crate::policy::free_resources::{covers_totals, deduct_totals};
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
    pub(super) fn take_if_fits(&mut self, procs: Procs, longest: Span, demand: DemandId) -> bool {
        let totals = self.table.map_or(&[][..], |table| table.demand_totals(demand));
        let outlasts = longest > self.fit.window;
        if !self.fit.can_start(procs, longest)
            || !covers_totals(&self.left, totals)
            || (outlasts && !covers_totals(&self.extra, totals))
        {
            return false;
        }
        self.fit.account_start(procs, longest);
        deduct_totals(&mut self.left, totals);
        if outlasts {
            deduct_totals(&mut self.extra, totals);
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
        let usable =
            |b: &BlockedPass| !b.out_of_date(view.current_time(), self.choices.overdue) && view.outlook().is_none();
        let known_state = self.blocked.take().filter(usable).zip(self.pooled.take());
        let table = resources.table();
        let usable_state = match known_state {
            Some((blocked, extra))
                if !blocked.freed && self.fresh.iter().all(|job| job.queue_place() > blocked.head) =>
            {
                return self.pooled_newcomers((blocked, extra), resources, view, actions);
            }
            known => known,
        };
        if self.no_job_waits()
            && let [job] = self.fresh[..]
            && job.procs <= view.free_processors()
            && resources.has_free(view.job(job.id).demand)
        {
            // An idle machine: the job need not go through the queue.
            self.fresh.clear();
            return actions.start_job(job.id, StartReason::Head);
        }
        self.enqueue_fresh(view);
        self.rate_queues(view);
        let (mut free, mut levels_left) = (view.free_processors(), resources.levels().to_vec());
        let head = loop {
            let Some(head) = self.find_head(view) else { return };
            let totals = table.demand_totals(view.job(head.id).demand);
            if head.procs > free || !covers_totals(&levels_left, totals) {
                break head;
            }
            self.take_head(&head, view);
            actions.start_job(head.id, StartReason::Head);
            self.started.push(RunningJob {
                end: view.current_time() + head.prediction,
                id: head.id,
                procs: head.procs,
            });
            free -= head.procs;
            deduct_totals(&mut levels_left, totals);
        };
        let stays = |known: &(BlockedPass, PooledExtra)| known.0.head == head.queue_place() && self.started.is_empty();
        let (shadow, extra) = match usable_state.filter(stays) {
            Some((blocked, extra)) => (blocked.shadow, extra),
            None => {
                let mut amounts = levels_left.clone();
                let (shadow, procs) = self.pooled_reservation(&head, free, &mut amounts, view);
                (shadow, PooledExtra { procs, amounts })
            }
        };
        if self.is_in_the_way(&head, shadow, view.current_time()) {
            return self.plan_ahead(view, actions);
        }
        if shadow < Time::MAX {
            self.announce_reservation(head.id, shadow, actions);
        }
        let window = if shadow == Time::MAX { Span::MAX } else { shadow - view.current_time() };
        let fit = BackfillFit { free, window, extra: extra.procs };
        let mut fit = PooledFit { table: Some(table), fit, left: levels_left, extra: extra.amounts };
        let is_kept = self.choices.backfill.is_none() || self.backfill_pooled(head.id, &mut fit, view, actions);
        // See `full_pass`.
        let timeless = self.choices.overdue == OverdueRule::Stale || shadow > view.current_time();
        if is_kept && timeless && !self.choices.order.is_dynamic() {
            let until = self.first_until(head.id, view);
            let (head, procs) = (head.queue_place(), head.procs);
            // Processors left over are among the other amounts, which no change of an end adjusts.
            let blocked_pass = BlockedPass { head, procs, shadow, extra: 0, room: 0, freed: false, until };
            self.keep_pooled(blocked_pass, fit);
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
        let fit =
            BackfillFit { extra: extra.procs, ..blocked.backfill_fit(view.free_processors(), view.current_time()) };
        let (levels_left, window) = (resources.levels().to_vec(), fit.window);
        let mut fit = PooledFit { table: Some(resources.table()), fit, left: levels_left, extra: extra.amounts };
        let mut is_kept = true;
        if self.choices.backfill.is_none() {
            self.enqueue_fresh(view);
        } else if self.fresh.len() > 1 {
            self.sort_fresh(view);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            if fit.take_if_fits(job.procs, self.longest_run(&job, view), view.job(job.id).demand) {
                is_kept &= self.choices.keeps_reservation(&job, window);
                actions.start_job(job.id, StartReason::Backfilled);
            } else {
                self.enqueue_job(job, view);
            }
        }
        self.fresh = fresh;
        if is_kept {
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
        let now = view.current_time();
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
            totals: view
                .resources()
                .map_or(&[][..], |resources| resources.table().demand_totals(view.job(head.id).demand)),
        };
        let ends = in_order(view.running_jobs().iter().copied(), more.into_iter());
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
        let (window, mut is_kept) = (fit.fit.window, true);
        if self.backfill_order().is_dynamic() {
            // What is passed over does not fit later in the pass: less and less is free.
            for job in self.candidates.as_ref().unwrap_or(&self.queue).sorted_jobs(self.backfill_order(), view) {
                if job.id != head && fit.take_if_fits(job.procs, job.prediction, view.job(job.id).demand) {
                    self.dequeue_job(&job, view);
                    is_kept &= self.choices.keeps_reservation(&job, window);
                    actions.start_job(job.id, StartReason::Backfilled);
                }
            }
            return is_kept;
        }
        let mut after = None;
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, fit.fit, self.backfill_order(), view)
        {
            after = Some(job.queue_place());
            let longest = self.longest_run(&job, view);
            if job.id != head && fit.take_if_fits(job.procs, longest, view.job(job.id).demand) {
                self.dequeue_job(&job, view);
                is_kept &= self.choices.keeps_reservation(&job, window);
                actions.start_job(job.id, StartReason::Backfilled);
            }
        }
        is_kept
    }
}

/// Two sequences of running jobs, each in the order of their ends, as one.
pub(super) fn in_order(
    one: impl Iterator<Item = RunningJob>,
    other: impl Iterator<Item = RunningJob>,
) -> impl Iterator<Item = RunningJob> {
    let (mut first_jobs, mut second_jobs) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (first_jobs.peek(), second_jobs.peek()) {
        (Some(a), Some(b)) if (b.end, b.id) < (a.end, a.id) => second_jobs.next(),
        (None, _) => second_jobs.next(),
        _ => first_jobs.next(),
    })
}
