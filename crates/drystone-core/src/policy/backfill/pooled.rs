//! Passes on a machine with resources beyond processors.
//!
//! The rule of EASY for processors holds for each resource. A job starts if all that it asks for is
//! free. The shadow time of the job that blocks the queue is the first at which all that it asks
//! for is predicted to be free, and each resource has its extra amount then. A job that is
//! predicted to end by the shadow time passes; another one passes if it takes no more than the
//! extra amount of anything.

use super::{Backfill, OverdueRule};
use crate::model::{DemandId, JobId, Procs, ResourceTable, Span, Time};
use crate::parts::{BackfillFit, RunningJob, WaitingJob};
use crate::policy::free_resources::{covers, deduct};
use crate::policy::pool_plan::{PooledNeed, pooled_shadow};
use crate::policy::{Actions, FreeResources, StartReason, View};

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

impl Backfill {
    /// A pass with one reservation at most.
    pub(super) fn pooled_pass(&mut self, resources: &FreeResources, view: &View<'_>, actions: &mut Actions) {
        self.blocked = None;
        let table = resources.table();
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
        if self.choices.backfill.is_none() {
            return;
        }
        let mut extra = left.clone();
        let (shadow, extra_procs) = self.pooled_reservation(&head, free, &mut extra, view);
        if self.is_in_the_way(&head, shadow, view.now()) {
            return self.plan_around(free, view, actions);
        }
        if shadow < Time::MAX {
            self.announce(head.id, shadow, actions);
        }
        let window = if shadow == Time::MAX { Span::MAX } else { shadow - view.now() };
        let fit = BackfillFit { free, window, extra: extra_procs };
        self.backfill_pooled(head.id, PooledFit { table: Some(table), fit, left, extra }, view, actions);
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
        if self.choices.reservations == 0 {
            return (Time::MAX, 0);
        }
        let now = view.now();
        let floor = if self.choices.overdue == OverdueRule::Now { now } else { Time::MIN };
        let more = match view.outlook().filter(|outlook| !outlook.is_settled()) {
            Some(outlook) => self.started_and_returns(outlook, now),
            None => {
                self.started.sort_unstable_by_key(|job| (job.end, job.id));
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

    fn backfill_pooled(&mut self, head: JobId, mut fit: PooledFit<'_>, view: &View<'_>, actions: &mut Actions) {
        if self.backfill_order().is_dynamic() {
            // What is passed over does not fit later in the pass: less and less is free.
            for job in self.candidates.as_ref().unwrap_or(&self.queue).sorted(self.backfill_order(), view) {
                if job.id != head && fit.take(job.procs, job.prediction, view.job(job.id).demand) {
                    self.dequeue(&job, view);
                    actions.start(job.id, StartReason::Backfilled);
                }
            }
            return;
        }
        let mut after = None;
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, fit.fit, self.backfill_order(), view)
        {
            after = Some(job.place());
            let longest = self.longest(&job, view);
            if job.id != head && fit.take(job.procs, longest, view.job(job.id).demand) {
                self.dequeue(&job, view);
                actions.start(job.id, StartReason::Backfilled);
            }
        }
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
