//! Passes with several reservations.

use super::Backfill;
use crate::model::Span;
use crate::parts::{FitStairs, Profile, WaitingJob};
use crate::policy::pool_plan::PoolPlan;
use crate::policy::{Actions, StartReason, View};

impl Backfill {
    /// A pass with several reservations: a plan of the future, rebuilt each time.
    pub(super) fn planned_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        self.enqueue_fresh(view);
        self.rate(view);
        let mut free = view.free();
        let mut profile = self.profile.take().unwrap_or_else(|| Profile::new(now, 0));
        // In the plan an overdue job ends now; what it still holds is not free for a start.
        view.fill(&mut profile, free, view.running().iter().map(|j| (j.end, j.procs)));
        let mut pools = PoolPlan::beside(view, view.running().iter().map(|job| (job.end, job.id)));
        let Backfill { choices, queue, starvation, .. } = &mut *self;
        let mut planned = 0;
        let mut starting: Vec<WaitingJob> = Vec::new();
        let mut plan = |job: &WaitingJob| {
            let span = job.prediction.max(Span(1));
            let asked = view.job(job.id).demand;
            if let Some(start) = pools.earliest(&profile, asked, job.procs, span, now) {
                profile.reserve(start, start.saturating_add(span), job.procs);
                if start == now && job.procs <= free && pools.are_left(asked) {
                    pools.start(asked, start, start.saturating_add(span));
                    free -= job.procs;
                    let why = if planned == 0 { StartReason::Head } else { StartReason::Backfilled };
                    actions.start(job.id, why);
                    starting.push(*job);
                } else {
                    pools.reserve(asked, start, start.saturating_add(span));
                    planned += 1;
                    actions.reserve(job.id, start);
                }
            }
            planned < choices.reservations
        };
        if choices.order.is_dynamic() || starvation.is_some() {
            let mut waiting = queue.sorted(&choices.order, view);
            if let Some(starvation) = starvation {
                starvation.put_first(&mut waiting, now);
            }
            let _ = waiting.iter().all(&mut plan);
        } else {
            let _ = queue.queue().iter().all(&mut plan);
        }
        for job in &starting {
            self.dequeue(job, view);
        }
        match &self.choices.backfill {
            None => {}
            Some(order) if order.is_dynamic() => {
                let candidates = self.candidates.as_ref().unwrap_or(&self.queue).sorted(order, view);
                for job in &candidates {
                    let span = job.prediction.max(Span(1));
                    let asked = view.job(job.id).demand;
                    let fits = job.procs <= free && profile.least_free(now, span) >= job.procs;
                    if fits && pools.admits(asked, span, now) {
                        profile.reserve(now, now.saturating_add(span), job.procs);
                        pools.start(asked, now, now.saturating_add(span));
                        free -= job.procs;
                        self.dequeue(job, view);
                        actions.start(job.id, StartReason::Backfilled);
                    }
                }
            }
            Some(_) => {
                let (mut after, mut stairs) = (None, FitStairs::default());
                stairs.beside(&profile, now, free);
                while let Some(job) =
                    self.candidates.as_mut().unwrap_or(&mut self.queue).queue().next_admitted(after, &stairs)
                {
                    after = Some(job.place());
                    let (asked, span) = (view.job(job.id).demand, job.prediction.max(Span(1)));
                    if !pools.admits(asked, span, now) {
                        continue;
                    }
                    profile.reserve(now, now.saturating_add(span), job.procs);
                    pools.start(asked, now, now.saturating_add(span));
                    free -= job.procs;
                    self.dequeue(&job, view);
                    actions.start(job.id, StartReason::Backfilled);
                    stairs.beside(&profile, now, free);
                }
            }
        }
        self.profile = Some(profile);
    }
}
