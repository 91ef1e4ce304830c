//! Queues in another order than that of arrival, and jobs with priorities and reservations.

use super::queues::QueuedJob;
use super::{ClassQueue, MultiQueue, StartReason};
use crate::model::{JobId, SharedSort};
use crate::policy::{Actions, View};

impl MultiQueue {
    /// All waiting jobs in the order asked for. The first of each queue is promised a start and
    /// keeps the promise where another job comes before it later; the others start where they delay
    /// no promise.
    pub(super) fn ordered_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.keep_promises(view, actions);
        self.compute_stairs();
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            let class = self.job_class(job.id);
            self.enqueue_job(job, class);
            if let Some(start) =
                self.privileges.reserved_start(job.id).filter(|_| self.promises.find_promise(job.id).is_none())
            {
                self.promise_start(&QueuedJob { ready: job.ready.max(start), ..job }, class, view, actions);
            }
        }
        self.fresh = fresh;
        let mut has_pivot = vec![false; self.queues.len()];
        for (job, class) in self.in_order(view) {
            let waits = match self.promises.find_promise(job.id).map(|promise| promise.at) {
                Some(at) => !self.start_promised(&job, class, at <= self.scratch.now, view, actions),
                None => !self.start_unpromised(&job, class, has_pivot[class], view, actions),
            };
            if waits && !has_pivot[class] && self.privileges.reserved_start(job.id).is_none() {
                has_pivot[class] = true;
                if self.promises.find_promise(job.id).is_none() {
                    self.promise_start(&job, class, view, actions);
                }
            }
        }
    }

    /// Every waiting job with its queue, the first in the order first.
    fn in_order(&mut self, view: &View<'_>) -> Vec<(QueuedJob, usize)> {
        let of_class = |(class, queue): (usize, &ClassQueue)| queue.jobs().map(|job| (job, class)).collect::<Vec<_>>();
        let mut waiting_jobs: Vec<(QueuedJob, usize)> = self.queues.iter().enumerate().flat_map(of_class).collect();
        waiting_jobs.sort_shared_by_key(|(job, _)| job.id);
        let ids: Vec<JobId> = waiting_jobs.iter().map(|(job, _)| job.id).collect();
        let ranked_positions = self.rater.as_ref().map(|rater| rater.rank_jobs(&ids, self.shares.as_mut(), view));
        let mut ordered_jobs = match ranked_positions {
            Some(positions) => positions.into_iter().map(|at| waiting_jobs[at]).collect(),
            None => waiting_jobs,
        };
        if !self.privileges.is_empty() {
            self.put_important_first(&mut ordered_jobs, view);
        }
        ordered_jobs
    }

    /// Moves jobs of higher priority forward, and those that have waited too long before all
    /// others; the rest of the order stays.
    fn put_important_first(&self, jobs: &mut [(QueuedJob, usize)], view: &View<'_>) {
        let starves =
            |job: &QueuedJob| self.settings.starve.is_some_and(|patience| view.wait_so_far(job.id) > patience);
        let grade = |job: &QueuedJob| if starves(job) { f64::INFINITY } else { self.privileges.job_priority(job.id) };
        let mut graded_positions: Vec<(f64, usize)> = jobs.iter().map(|(job, _)| grade(job)).zip(0..).collect();
        graded_positions.sort_shared_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let sorted_jobs: Vec<(QueuedJob, usize)> = graded_positions.into_iter().map(|(_, at)| jobs[at]).collect();
        jobs.copy_from_slice(&sorted_jobs);
    }

    /// Starts a job whose promised time has come. Returns whether it started.
    fn start_promised(
        &mut self,
        job: &QueuedJob,
        class: usize,
        due: bool,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let starts = due && job.procs <= self.scratch.free && self.is_left(job.id, view);
        if starts {
            // It runs where its promise was: nothing changes for the others.
            self.promises.remove(job.id);
            self.queues[class].remove(job.id);
            let seat = self.seats.remove(&job.id).unwrap_or_default();
            self.start_job(job, class, (StartReason::Head, &seat), view, actions);
            self.compute_stairs();
        }
        starts
    }

    /// Starts a job without a promise where it delays none. Returns whether it started.
    fn start_unpromised(
        &mut self,
        job: &QueuedJob,
        class: usize,
        behind_pivot: bool,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let starts = self.may_start(job, view);
        if starts {
            self.queues[class].remove(job.id);
            let reason = if behind_pivot { StartReason::Backfilled } else { StartReason::Head };
            self.start_beside(job, class, reason, view, actions);
        }
        starts
    }
}
