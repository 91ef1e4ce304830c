//! Passes that are plans of the future: with several reservations, or where processors or nodes go
//! at announced times.
//!
//! No job is placed on processors that go before the job is predicted to end. A running job that
//! has outlived its prediction ends now, as far as the plan goes; what it still holds is not free
//! for a start.

use super::Backfill;
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::ranking;
use crate::parts::{FitStairs, RunningJob, WaitingJob};
use crate::policy::{Actions, StartReason, View};
use crate::room::planned::PlannedJob;
use crate::room::{OpenRoom, PlanRoom, SeatNamer};

/// A pass that plans.
struct PlanningPass<'a> {
    plan: &'a mut PlanRoom,
    namer: SeatNamer,
    /// Room that the starts leave; in all, unless an overdue job holds some.
    left: OpenRoom,
    /// Processors that they leave.
    free: Procs,
}

impl PlanningPass<'_> {
    /// A pass beside the running jobs.
    fn new<'a>(plan: &'a mut PlanRoom, view: &View<'_>) -> PlanningPass<'a> {
        let ends: Vec<RunningJob> = view.running_jobs().iter().copied().collect();
        plan.fill_ends(&ends, view);
        let is_overdue = ends.first().is_some_and(|job| job.end <= view.current_time());
        let open_room = OpenRoom::of_now(view);
        let usable_room = if is_overdue { open_room } else { open_room.in_all() };
        PlanningPass { plan, namer: SeatNamer::default(), left: usable_room, free: view.free_processors() }
    }

    /// A job has started before that is predicted to end then.
    fn take_started(&mut self, job: &RunningJob, view: &View<'_>) {
        let now = view.current_time();
        self.plan.reserve_need(now, job.end.max(now + Span(1)), view.job_need(job.id));
        self.left.take_need(view.job_need(job.id));
        self.free -= job.procs;
    }

    /// Starts a job, if it fits now for so long.
    fn try_start(&mut self, job: &PlannedJob, reason: StartReason, view: &View<'_>, actions: &mut Actions) -> bool {
        let need = job.job_need(view);
        let Some(seat) = self.plan.find_now(need, job.span, view.current_time(), &self.left) else { return false };
        let need = need.on_seat(Some(&seat));
        self.namer.start_job((job.id, reason), job.planned_end(), &seat, view, actions);
        self.plan.reserve_need(job.start, job.planned_end(), need);
        self.left.take_need(need);
        self.free -= job.procs;
        true
    }

    /// Takes the earliest place of a job, and returns when it begins; `None` where it has none.
    fn plan_job(&mut self, job: &PlannedJob, view: &View<'_>) -> Option<Time> {
        self.plan.place_need(job.job_need(view), job.span, view.current_time())
    }
}

impl Backfill {
    /// Makes a plan of the future beside the running jobs and those that this pass has started.
    pub(super) fn plan_ahead(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut plan = self.plan.take().unwrap_or_else(PlanRoom::new_empty);
        let mut pass = PlanningPass::new(&mut plan, view);
        self.started.iter().for_each(|job| pass.take_started(job, view));
        if self.choices.reservations > 1 {
            self.plan_several(&mut pass, view, actions);
        } else {
            self.plan_heads(&mut pass, view, actions);
        }
        self.plan = Some(plan);
    }

    /// Heads start while they may, the first that may not has its reservation, others start where
    /// they delay neither it nor run into a window.
    fn plan_heads(&mut self, pass: &mut PlanningPass<'_>, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let mut skipped_jobs: Vec<JobId> = Vec::new();
        while let Some(head) = self.find_head(view) {
            let job = plan_for_now(&head, head.prediction, now);
            if pass.try_start(&job, StartReason::Head, view, actions) {
                self.take_head(&head, view);
                self.started.push(RunningJob { end: job.planned_end(), id: head.id, procs: head.procs });
                continue;
            }
            if pass.plan.earliest_start(job.job_need(view), job.span, now).is_none() {
                // It fits only before processors go for good, and running jobs hold it up: no other
                // job waits for it.
                self.take_head(&head, view);
                self.aside.push(head.id);
                skipped_jobs.push(head.id);
                continue;
            }
            // An overdue job may hold its processors still.
            if self.choices.reservations > 0
                && let Some(start) = pass.plan_job(&job, view).filter(|&start| start > now)
            {
                self.announce_reservation(head.id, start, actions);
            }
            self.backfill_planned(Some(head.id), pass, view, actions);
            self.around.found_none_behind(&head);
            break;
        }
        for id in skipped_jobs {
            self.aside.retain(|&candidate| candidate != id);
            self.enqueue_job(ranking::waiting_job(&self.choices.order, id, view.prediction(id), view), view);
        }
    }

    /// The first jobs of the queue start or have reservations, others start where they delay none
    /// of these.
    fn plan_several(&mut self, pass: &mut PlanningPass<'_>, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let Backfill { choices, queue, starvation, .. } = &mut *self;
        let mut reserved_count = 0;
        let mut starting: Vec<WaitingJob> = Vec::new();
        let mut plan = |waiting: &WaitingJob| {
            let job = plan_for_now(waiting, waiting.prediction, now);
            let reason = if reserved_count == 0 { StartReason::Head } else { StartReason::Backfilled };
            if pass.try_start(&job, reason, view, actions) {
                starting.push(*waiting);
            } else if let Some(start) = pass.plan_job(&job, view) {
                reserved_count += 1;
                actions.reserve_start(job.id, start);
            }
            reserved_count < choices.reservations
        };
        if choices.order.is_dynamic() || starvation.is_some() {
            let mut queued_jobs = queue.sorted_jobs(&choices.order, view);
            if let Some(starvation) = starvation {
                starvation.put_first(&mut queued_jobs, now);
            }
            let _ = queued_jobs.iter().all(&mut plan);
        } else {
            let _ = queue.queue().iter().all(&mut plan);
        }
        for job in &starting {
            self.dequeue_job(job, view);
        }
        self.backfill_planned(None, pass, view, actions);
    }

    /// Starts jobs beside what is planned, but not the one that heads the queue.
    fn backfill_planned(
        &mut self,
        head: Option<JobId>,
        pass: &mut PlanningPass<'_>,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let mut attempt = |policy: &mut Backfill, waiting: &WaitingJob, pass: &mut PlanningPass<'_>| {
            let job = plan_for_now(waiting, policy.longest_run(waiting, view), view.current_time());
            if head != Some(job.id) && pass.try_start(&job, StartReason::Backfilled, view, actions) {
                policy.dequeue_job(waiting, view);
            }
        };
        if self.choices.backfill.is_none() {
            return;
        }
        if self.backfill_order().is_dynamic() {
            let sorted_candidates =
                self.candidates.as_ref().unwrap_or(&self.queue).sorted_jobs(self.backfill_order(), view);
            return sorted_candidates.iter().for_each(|job| attempt(self, job, pass));
        }
        let (mut after, mut stairs) = (None, FitStairs::default());
        pass.plan.climb_stairs(&mut stairs, view.current_time(), pass.free);
        while let Some(job) = self.candidates.as_mut().unwrap_or(&mut self.queue).queue().next_admitted(after, &stairs)
        {
            after = Some(job.queue_place());
            attempt(self, &job, pass);
            pass.plan.climb_stairs(&mut stairs, view.current_time(), pass.free);
        }
    }
}

/// A job that would start now.
fn plan_for_now(job: &WaitingJob, longest: Span, now: Time) -> PlannedJob {
    PlannedJob { start: now, id: job.id, procs: job.procs, span: longest.max(Span(1)) }
}
