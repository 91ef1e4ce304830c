//! The variants in which promises can be broken or displaced: figure 4 to the letter, strict
//! partitions, arrival order.
//!
//! Each pass places every pivot again when it reaches it, beside the promises that come before its
//! own: those made earlier, or those to older jobs. A job behind the pivot is measured by all
//! promises as they stand, those not placed again yet included, so more may be promised than there
//! is.

use super::queues::QueuedJob;
use super::{MultiQueue, Own, Promising, StartReason};
use crate::model::{JobId, Procs, SharedSort, Span, Time};
use crate::parts::NodeSeat;
use crate::policy::{Actions, View};
use serde::{Deserialize, Serialize};

/// A pivot and where it stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pivot {
    id: JobId,
    class: usize,
    procs: Procs,
    span: Span,
    at: Time,
}

/// The pivots, in the order in which they became it.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Literal {
    pivots: Vec<Pivot>,
}

impl Literal {
    pub(super) fn clear(&mut self) {
        self.pivots.clear();
    }

    pub(super) fn forget_job(&mut self, id: JobId) {
        self.pivots.retain(|p| p.id != id);
    }

    pub(super) fn pivot_times(&self) -> impl Iterator<Item = Time> + '_ {
        self.pivots.iter().map(|p| p.at)
    }

    fn of_class(&self, class: usize) -> Option<&Pivot> {
        self.pivots.iter().find(|p| p.class == class)
    }
}

/// Processors over future time that may be promised more often than there are.
struct PromisePlan {
    steps: Vec<(Time, i64)>,
}

impl PromisePlan {
    /// This many more from then on, which is no earlier than the last step.
    fn append_step(&mut self, at: Time, procs: i64) {
        match self.steps.last_mut() {
            Some(last) if last.0 >= at => last.1 += procs,
            last => {
                let free = last.map_or(0, |last| last.1);
                self.steps.push((at, free + procs));
            }
        }
    }

    fn take_procs(&mut self, from: Time, to: Time, procs: Procs) {
        let from = from.max(self.steps[0].0);
        if from >= to {
            return;
        }
        let (first, last) = (self.insert_border(from), self.insert_border(to));
        self.steps[first..last].iter_mut().for_each(|s| s.1 -= i64::from(procs));
    }

    fn insert_border(&mut self, time: Time) -> usize {
        let at = self.steps.partition_point(|s| s.0 <= time) - 1;
        if self.steps[at].0 == time {
            return at;
        }
        self.steps.insert(at + 1, (time, self.steps[at].1));
        at + 1
    }

    fn fits_during(&self, from: Time, span: Span, procs: Procs) -> bool {
        let end = from.saturating_add(span);
        let at = self.steps.partition_point(|s| s.0 <= from) - 1;
        self.steps[at..].iter().take_while(|s| s.0 < end || s.0 <= from).all(|s| s.1 >= i64::from(procs))
    }

    fn earliest_start(&self, from: Time, span: Span, procs: Procs) -> Time {
        let later = self.steps.iter().map(|s| s.0).filter(|&t| t > from);
        std::iter::once(from).chain(later).find(|&t| self.fits_during(t, span, procs)).unwrap_or(Time::MAX)
    }
}

impl MultiQueue {
    pub(super) fn literal_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = self.scratch.now;
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            let class = self.job_class(job.id);
            self.enqueue_job(job, class);
        }
        self.fresh = fresh;
        let of_class =
            |(class, queue): (usize, &super::ClassQueue)| queue.jobs().map(|j| (j, class)).collect::<Vec<_>>();
        let mut waiting_jobs: Vec<(QueuedJob, usize)> = self.queues.iter().enumerate().flat_map(of_class).collect();
        waiting_jobs.sort_shared_by_key(|(job, _)| job.id);
        let mut settled_classes = vec![false; self.queues.len()];
        // All promises and running jobs, as long as nothing has changed.
        let mut plan: Option<PromisePlan> = None;
        for (job, class) in waiting_jobs {
            if settled_classes[class] {
                let may = job.ready <= now && job.procs <= self.scratch.free;
                if may && self.may_overtake(&job, class, &mut plan) {
                    self.queues[class].remove(job.id);
                    self.start_job(&job, class, (StartReason::Backfilled, &NodeSeat::default()), view, actions);
                    plan = None;
                }
                continue;
            }
            plan = None;
            let at = self.place_pivot(&job, class, actions);
            if at <= now && job.procs <= self.scratch.free {
                self.literal.forget_job(job.id);
                self.queues[class].remove(job.id);
                self.start_job(&job, class, (StartReason::Head, &NodeSeat::default()), view, actions);
                if let (Promising::Eager, Some(next)) = (self.settings.promise, self.queues[class].first_job()) {
                    self.place_pivot(&next, class, actions);
                }
            } else {
                settled_classes[class] = true;
            }
        }
    }

    /// Places the pivot of a queue beside the promises that come before its own.
    fn place_pivot(&mut self, job: &QueuedJob, class: usize, actions: &mut Actions) -> Time {
        let rank = self.literal.pivots.iter().position(|p| p.id == job.id);
        let arrival = self.settings.promise == Promising::Arrival;
        let before = |i: usize, pivot: &Pivot| match arrival {
            true => pivot.id < job.id,
            false => rank.is_none_or(|rank| i < rank),
        };
        let plan = self.plan_with(before);
        let at = plan.earliest_start(job.ready.max(self.scratch.now), job.span, job.procs);
        let pivot = Pivot { id: job.id, class, procs: job.procs, span: job.span, at };
        let was = rank.map(|rank| self.literal.pivots[rank].at);
        match rank {
            Some(rank) => self.literal.pivots[rank] = pivot,
            None => {
                self.literal.pivots.retain(|p| p.class != class);
                self.literal.pivots.push(pivot);
            }
        }
        if was != Some(at) && at > self.scratch.now && at < Time::MAX {
            actions.reserve_start(job.id, at);
        }
        at
    }

    /// Running jobs and some of the promises.
    fn plan_with(&self, which: impl Fn(usize, &Pivot) -> bool) -> PromisePlan {
        let now = self.scratch.now;
        let mut plan = PromisePlan { steps: vec![(now, i64::from(self.scratch.free))] };
        let ends = self.running.iter().map(|r| (r.end.max(now + Span(1)), i64::from(r.procs)));
        if self.scratch.changes.is_empty() {
            ends.for_each(|(at, procs)| plan.append_step(at, procs));
        } else {
            let mut changes: Vec<(Time, i64)> = ends.chain(self.scratch.changes.iter().copied()).collect();
            changes.sort_shared_by_key(|change| change.0);
            changes.into_iter().for_each(|(at, procs)| plan.append_step(at, procs));
        }
        for (_, p) in self.literal.pivots.iter().enumerate().filter(|(i, p)| which(*i, p)) {
            if p.at < Time::MAX {
                plan.take_procs(p.at, p.at.saturating_add(p.span), p.procs);
            }
        }
        plan
    }

    /// Returns whether a job behind its queue's pivot may start now: rules 6a to 6c of figure 4, as
    /// far as they are in force.
    fn may_overtake(&self, job: &QueuedJob, class: usize, plan: &mut Option<PromisePlan>) -> bool {
        // What is left alone of a partition may go with the processors that will be out.
        let some_go = self.scratch.changes.iter().any(|change| change.1 < 0);
        if some_go && !self.plan_with(|_, _| false).fits_during(self.scratch.now, job.span, job.procs) {
            return false;
        }
        if self.settings.own != Own::Shared && job.procs <= self.spare_procs(job, class) {
            return true;
        }
        if self.settings.own == Own::Split {
            let spare: Procs = (0..self.queues.len()).map(|q| self.spare_procs(job, q)).sum();
            return job.procs <= spare;
        }
        let plan = plan.get_or_insert_with(|| self.plan_with(|_, _| true));
        plan.fits_during(self.scratch.now, job.span, job.procs)
    }

    /// Processors of a partition that the job may use for all its run without delaying that
    /// partition's pivot: idle ones if it ends by the pivot's time, else idle ones that are extra
    /// then.
    fn spare_procs(&self, job: &QueuedJob, class: usize) -> Procs {
        let Some(partitions) = &self.partitions else { return 0 };
        let (size, idle) = (partitions.queue_size(class), partitions.idle_procs(class));
        let now = self.scratch.now;
        match self.literal.of_class(class) {
            Some(pivot) if now.saturating_add(job.span) > pivot.at => {
                let still = |end: Time| end.max(now + Span(1)) > pivot.at;
                let running_jobs = self.running.iter().filter(|r| self.job_class(r.id) == class && still(r.end));
                let busy: Procs = running_jobs.map(|r| r.procs).sum();
                idle.min(size.saturating_sub(busy).saturating_sub(pivot.procs))
            }
            _ => idle,
        }
    }
}
