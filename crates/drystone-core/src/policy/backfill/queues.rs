//! The two queues, and the newcomers that are in neither yet.

use super::Backfill;
use crate::model::{JobId, SharedSort, Time};
use crate::parts::ranking::{self, current_moment};
use crate::parts::{Order, WaitingJob};
use crate::policy::{Phase, View};

impl Backfill {
    /// Returns whether the queue of reservations does not follow changed predictions: where it
    /// neither orders nor is searched by them, it is spared the changes, and the prediction of a
    /// job that starts from its head is read again.
    #[inline]
    pub(super) fn predictions_lag(&self) -> bool {
        self.candidates.is_some() && !self.choices.order.heeds_predictions() && self.choices.reservations <= 1
    }

    /// The order in which jobs are tried behind the head.
    #[inline]
    pub(super) fn backfill_order(&self) -> &Order {
        self.choices.backfill.as_ref().unwrap_or(&self.choices.order)
    }

    #[inline]
    pub(super) fn as_candidate(&self, job: &WaitingJob, view: &View<'_>) -> WaitingJob {
        let facts = || ranking::waiting_facts(job.id, job.prediction, view);
        self.backfill_order().waiting_job(job.id, job.submit, job.procs, job.prediction, facts)
    }

    #[inline]
    pub(super) fn enqueue_job(&mut self, job: WaitingJob, view: &View<'_>) {
        if let Some(starvation) = &mut self.starvation {
            starvation.add_job(job.id);
        }
        match &mut self.line {
            Some(line) => line.join_line(job.id),
            None => self.queue.insert(job, &self.choices.order, view),
        }
        if self.candidates.is_some() {
            let job = self.as_candidate(&job, view);
            let order = self.choices.backfill.as_ref().unwrap_or(&self.choices.order);
            if let Some(candidates) = &mut self.candidates {
                candidates.insert(job, order, view);
            }
        }
    }

    /// Takes a job out of both queues, given as either holds it. In line it stays until it would be
    /// first.
    #[inline]
    pub(super) fn dequeue_job(&mut self, job: &WaitingJob, view: &View<'_>) {
        self.leave_queue(job, view);
        self.leave_candidates(job, view);
    }

    #[inline]
    pub(super) fn leave_queue(&mut self, job: &WaitingJob, view: &View<'_>) {
        if self.line.is_none() {
            self.queue.remove(self.choices.queue_place(job, view));
        }
    }

    #[inline]
    pub(super) fn leave_candidates(&mut self, job: &WaitingJob, view: &View<'_>) {
        if self.candidates.is_some() {
            let place = self.as_candidate(job, view).queue_place();
            if let Some(candidates) = &mut self.candidates {
                candidates.remove(place);
            }
        }
    }

    #[inline]
    pub(super) fn enqueue_fresh(&mut self, view: &View<'_>) {
        match self.fresh[..] {
            [] => return,
            [job] => {
                self.fresh.clear();
                return self.enqueue_job(job, view);
            }
            _ => {}
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.drain(..).for_each(|job| self.enqueue_job(job, view));
        self.fresh = fresh;
    }

    #[inline]
    pub(super) fn find_head(&mut self, view: &View<'_>) -> Option<WaitingJob> {
        if let Some(line) = &mut self.line {
            let aside = &self.aside;
            let waits = |id| id >= view.oldest_job() && view.phase(id) == Phase::Waiting && !aside.contains(&id);
            let id = line.first_waiting(waits)?;
            return Some(ranking::waiting_job(&self.choices.order, id, view.prediction(id), view));
        }
        if let Some(starvation) = &mut self.starvation {
            let (started_jobs, aside) = (&self.started, &self.aside);
            let waits = |id| started_jobs.iter().all(|job| job.id != id) && !aside.contains(&id);
            let head = starvation.starving_head(waits, view);
            if head.is_some() {
                return head;
            }
        }
        let head = self.queue.first_job(&self.choices.order, view);
        head.map(|head| WaitingJob { prediction: view.prediction(head.id), ..head })
    }

    /// Returns the time until which a job stays head of the queue as far as patience is concerned.
    #[inline]
    pub(super) fn first_until(&mut self, head: JobId, view: &View<'_>) -> Time {
        match &mut self.starvation {
            Some(starvation) => {
                let started_jobs = &self.started;
                starvation.head_valid_until(head, |id| started_jobs.iter().all(|job| job.id != id), view)
            }
            None => Time::MAX,
        }
    }

    /// Returns whether the queues are empty.
    #[inline]
    pub(super) fn no_job_waits(&self) -> bool {
        self.candidates.as_ref().unwrap_or(&self.queue).is_empty()
    }

    /// Gives every job its place of now in the queues whose order changes with time.
    pub(super) fn rate_queues(&mut self, view: &View<'_>) {
        let Backfill { choices, queue, candidates, shares, .. } = self;
        let formulas = [choices.order.moving_formula(), choices.backfill.as_ref().and_then(Order::moving_formula)];
        if formulas == [None, None] {
            return;
        }
        if let Some(shares) = shares {
            ranking::bring_up_to_date(shares, view);
        }
        let moment = current_moment(candidates.as_ref().unwrap_or(queue).len(), shares.as_ref(), view);
        queue.rate_jobs(formulas[0], &moment);
        if let Some(candidates) = candidates {
            candidates.rate_jobs(formulas[1], &moment);
        }
    }

    /// Jobs that arrived at once in the order in which they are tried.
    #[cold]
    pub(super) fn sort_fresh(&mut self, view: &View<'_>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        match self.backfill_order().moving_formula() {
            None => fresh.sort_shared_by_key(|job| self.as_candidate(job, view).queue_place()),
            Some(_) => {
                if let Some(shares) = &mut self.shares {
                    ranking::bring_up_to_date(shares, view);
                }
                let waiting_count = self.candidates.as_ref().unwrap_or(&self.queue).len() + fresh.len();
                let moment = current_moment(waiting_count, self.shares.as_ref(), view);
                let order = self.backfill_order();
                let place = |job: &WaitingJob| {
                    let facts = ranking::waiting_facts(job.id, job.prediction, view);
                    (order.moving_formula().map(|formula| formula.key_at_moment(&facts, &moment)), job.id)
                };
                fresh.sort_by_cached_key(place);
            }
        }
        self.fresh = fresh;
    }
}
