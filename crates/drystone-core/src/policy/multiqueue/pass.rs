//! One pass over all queues (rule M4).

use super::pools::UNBOUNDED;
use super::promises::PromisedStart;
use super::queues::{QueuedJob, queue_place};
use super::{MultiQueue, Promising, StartReason};
use crate::model::{JobId, Span, Time};
use crate::parts::Profile;
use crate::policy::outlook::merge_changes;
use crate::policy::{Actions, View};

/// The next job of a queue that may start beside the promises.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum QueueCandidate {
    /// Not looked for yet.
    #[default]
    Unknown,
    /// There is none. What may start only becomes less during a pass, so there will be none.
    None,
    /// This one, unless what may start has become less since.
    Job(QueuedJob),
}

impl MultiQueue {
    /// Waiting jobs of all queues in order of arrival: pivots start if their time has come and are
    /// promised one if they have none; others start where they disturb no promise.
    pub(super) fn run_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.keep_promises(view, actions);
        self.compute_stairs();
        // A pivot among several newcomers may hand over to another of them.
        let eager = self.settings.promise == Promising::Eager && self.fresh.len() > 1;
        if self.dirty || eager || self.promises.first_promise().is_some_and(|p| p.at <= self.scratch.now) {
            self.full_pass(view, actions);
        } else {
            self.start_newcomers(view, actions);
        }
    }

    /// Places promises again where predictions have turned out wrong: earlier where jobs ended
    /// early, later where they cannot be kept.
    pub(super) fn keep_promises(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = self.scratch.now;
        self.fill_pools(view);
        let Some(first) = self.promises.first_promise() else {
            self.stale = false;
            return;
        };
        let overdue = self.running.first_ending().is_some_and(|r| r.end <= now);
        if !(self.stale || first.at < now || overdue && first.at <= now) {
            self.reserve_promised(view);
            return;
        }
        // An overdue job is taken to end in the next second, which is no event to rely on.
        self.stale = overdue;
        if self.is_seated() {
            return self.replace_seated(view, actions);
        }
        let mut profile = self.profile_of_running();
        let pools = self.scratch.pools.as_deref_mut();
        self.promises.replace_promises(now, &mut profile, (pools, view), |id, at| {
            actions.reserve_start(id, at);
            // Put off beyond the end of another job, it may leave room for a job that waited
            // before.
            self.dirty = true;
        });
        self.scratch.profile = Some(profile);
        self.scratch.planned = true;
    }

    pub(super) fn reserve_promised(&mut self, view: &View<'_>) {
        let MultiQueue { promises, seats, scratch, .. } = self;
        if let Some(pools) = scratch.pools.as_deref_mut() {
            for promise in promises.iter() {
                pools.reserve_seat(promise.id, (promise.at, promise.promised_end()), seats.get(&promise.id), view);
            }
        }
    }

    /// Places all promises again on nodes, beside the running jobs.
    pub(super) fn replace_seated(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = self.scratch.now;
        let MultiQueue { promises, seats, scratch, dirty, .. } = self;
        let Some(room) = scratch.pools.as_deref_mut().and_then(|pools| pools.room.as_mut()) else { return };
        room.set_seats(std::mem::take(seats));
        let mut plan: Vec<PromisedStart> = promises.iter().copied().collect();
        let ready = |id: JobId| promises.find_promise(id).map_or(now, |promise| promise.ready.max(now));
        let mut planned_jobs: Vec<_> = plan.iter().map(PromisedStart::planned_job).collect();
        room.compress_plan(&mut planned_jobs, ready, view, |job, _| {
            if job.start < Time::MAX {
                actions.reserve_start(job.id, job.start);
            }
            *dirty = true;
        });
        for promise in &mut plan {
            promise.at = planned_jobs.iter().find(|job| job.id == promise.id).map_or(Time::MAX, |job| job.start);
            promise.left = UNBOUNDED;
        }
        promises.set_promises(plan);
        *seats = room.planned_seats().cloned().unwrap_or_default();
    }

    /// Free processors over time without running jobs. One that should have ended holds its
    /// processors until the next second at least.
    fn profile_of_running(&mut self) -> Profile {
        let now = self.scratch.now;
        let mut profile = self.scratch.profile.take().unwrap_or_else(|| Profile::new(now, 0));
        let ends = self.running.iter().map(|r| (r.end.max(now + Span(1)), r.procs));
        if self.is_seated() {
            profile.reset_to(now, UNBOUNDED);
        } else if self.scratch.changes.is_empty() {
            profile.reset_to_running(now, self.scratch.free, ends);
        } else {
            let ends = ends.map(|(end, procs)| (end, i64::from(procs)));
            profile.reset_to_changes(now, self.scratch.free, merge_changes(self.scratch.changes.iter().copied(), ends));
        }
        profile
    }

    fn planned_profile(&mut self) -> Profile {
        if self.scratch.planned
            && let Some(profile) = self.scratch.profile.take()
        {
            return profile;
        }
        let mut profile = self.profile_of_running();
        self.promises.reserve_promises(&mut profile);
        profile
    }

    /// Only jobs arrived and no promise was moved: a job that could not start before cannot start
    /// now, since all promises have come nearer and nothing was given back.
    fn start_newcomers(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            let class = self.job_class(job.id);
            let pivot = self.queues[class].is_empty();
            if self.may_start(&job, view) {
                self.start_beside(
                    &job,
                    class,
                    if pivot { StartReason::Head } else { StartReason::Backfilled },
                    view,
                    actions,
                );
            } else {
                self.enqueue_job(job, class);
                if pivot {
                    self.promise_start(&job, class, view, actions);
                }
            }
        }
        self.fresh = fresh;
    }

    fn full_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = self.scratch.now;
        let mut fresh = std::mem::take(&mut self.fresh);
        for job in fresh.drain(..) {
            let class = self.job_class(job.id);
            self.enqueue_job(job, class);
        }
        self.fresh = fresh;
        let count = self.queues.len();
        self.scratch.settled.clear();
        self.scratch.settled.resize(count, false);
        // A pivot whose time has not come has nothing to do in this pass.
        for promise in self.promises.iter().filter(|p| p.at > now) {
            let first = self.queues[promise.class].first_job();
            self.scratch.settled[promise.class] |= first.is_some_and(|f| f.id == promise.id);
        }
        self.scratch.candidates.clear();
        self.scratch.candidates.resize(count, QueueCandidate::Unknown);
        let mut after: Option<JobId> = None;
        loop {
            let pivot = self.next_pivot(after, view);
            let candidate = self.next_candidate(after, view);
            match (pivot, candidate) {
                (None, None) => return,
                (Some((class, job)), other) if other.is_none_or(|(_, c)| job.id <= c.id) => {
                    after = Some(job.id);
                    self.visit_pivot(&job, class, view, actions);
                }
                (_, Some((class, job))) => {
                    after = Some(job.id);
                    self.queues[class].remove(job.id);
                    self.start_beside(&job, class, StartReason::Backfilled, view, actions);
                }
                (Some(_), None) => return,
            }
        }
    }

    /// The next job behind `after` that is the first of its queue, or whose promised time has come.
    fn next_pivot(&mut self, after: Option<JobId>, view: &View<'_>) -> Option<(usize, QueuedJob)> {
        let mut next: Option<(usize, QueuedJob)> = None;
        for (class, queue) in self.queues.iter().enumerate() {
            if self.scratch.settled[class] {
                continue;
            }
            match queue.first_job() {
                Some(job) if after.is_none_or(|a| job.id > a) => {
                    if next.is_none_or(|(_, n)| job.id < n.id) {
                        next = Some((class, job));
                    }
                }
                Some(_) => {}
                None => self.scratch.settled[class] = true,
            }
        }
        // A promise outlives the place at the head of a queue where borders move.
        for promise in self.promises.iter().take_while(|p| p.at <= self.scratch.now) {
            let due = after.is_none_or(|a| promise.id > a) && next.is_none_or(|(_, n)| promise.id < n.id);
            if due && promise.procs <= self.scratch.free && self.is_left(promise.id, view) {
                next = Some((promise.class, job_of(promise)));
            }
        }
        next
    }

    /// The next job behind `after` that disturbs no promise and has none itself.
    fn next_candidate(&mut self, after: Option<JobId>, view: &View<'_>) -> Option<(usize, QueuedJob)> {
        if self.scratch.free == 0 {
            return None;
        }
        let mut candidates = std::mem::take(&mut self.scratch.candidates);
        let stairs = &self.scratch.stairs;
        let mut next: Option<(usize, QueuedJob)> = None;
        for (class, candidate) in candidates.iter_mut().enumerate() {
            let mut from = after;
            match *candidate {
                QueueCandidate::None => continue,
                QueueCandidate::Unknown => {}
                QueueCandidate::Job(job) => {
                    if after.is_none_or(|a| job.id > a) {
                        from = Some(job.id);
                        if stairs.can_start(job.procs, job.span) && self.disturbs_no_pool(job.id, job.span, view) {
                            if next.is_none_or(|(_, n)| job.id < n.id) {
                                next = Some((class, job));
                            }
                            continue;
                        }
                    }
                }
            }
            let queue = &self.queues[class].ready;
            let next_job = loop {
                let admitted_job = queue.next_admitted(from.map(queue_place), stairs);
                match admitted_job {
                    Some(job)
                        if self.promises.find_promise(job.id).is_some()
                            || !self.disturbs_no_pool(job.id, job.prediction, view) =>
                    {
                        from = Some(job.id);
                    }
                    choice => break choice,
                }
            };
            *candidate = next_job.map_or(QueueCandidate::None, |w| QueueCandidate::Job(QueuedJob::from_waiting(&w)));
            if let Some(job) = next_job
                && next.is_none_or(|(_, n)| job.id < n.id)
            {
                next = Some((class, QueuedJob::from_waiting(&job)));
            }
        }
        self.scratch.candidates = candidates;
        next
    }

    fn visit_pivot(&mut self, job: &QueuedJob, class: usize, view: &View<'_>, actions: &mut Actions) {
        let now = self.scratch.now;
        match self.promises.find_promise(job.id).map(|p| p.at) {
            Some(at) if at <= now && job.procs <= self.scratch.free && self.is_left(job.id, view) => {
                // It runs where its promise was: nothing changes for the others.
                self.promises.remove(job.id);
                self.queues[class].remove(job.id);
                let seat = self.seats.remove(&job.id).unwrap_or_default();
                self.start_job(job, class, (StartReason::Head, &seat), view, actions);
                self.compute_stairs();
                self.hand_over(class, view, actions);
            }
            Some(_) => self.scratch.settled[class] = true,
            None => {
                self.depose_pivot(job.id, class, view);
                if self.may_start(job, view) {
                    self.queues[class].remove(job.id);
                    self.start_beside(job, class, StartReason::Head, view, actions);
                    self.hand_over(class, view, actions);
                } else {
                    self.promise_start(job, class, view, actions);
                    self.scratch.settled[class] = true;
                }
            }
        }
    }

    /// Hands over where the next pivot is promised its start as soon as the last one starts.
    fn hand_over(&mut self, class: usize, view: &View<'_>, actions: &mut Actions) {
        if self.settings.promise == Promising::Eager
            && let Some(next) = self.queues[class].first_job()
            && self.promises.find_promise(next.id).is_none()
        {
            self.promise_start(&next, class, view, actions);
        }
    }

    /// A job that was not seen until now stands before the pivot of its queue, which loses its
    /// promise.
    fn depose_pivot(&mut self, id: JobId, class: usize, view: &View<'_>) {
        if !self.settings.has_hold() {
            return;
        }
        let pivot_id = self.promises.iter().find(|p| p.class == class && p.id > id).map(|p| p.id);
        if let Some(promise) = pivot_id.and_then(|id| self.promises.drop(id)) {
            self.seats.remove(&promise.id);
            if self.scratch.planned
                && let Some(profile) = &mut self.scratch.profile
            {
                profile.release_procs(promise.at, promise.promised_end(), promise.procs);
            }
            if let Some(pools) = &mut self.scratch.pools {
                pools.release_amounts(promise.id, promise.at, promise.promised_end(), view);
            }
            // There is more room than before, also for those that this pass has already passed.
            self.deposed = true;
            self.scratch.candidates.fill(QueueCandidate::Unknown);
            self.compute_stairs();
        }
    }

    /// Returns whether a job without a promise may start now beside the promises.
    #[inline]
    pub(super) fn may_start(&self, job: &QueuedJob, view: &View<'_>) -> bool {
        let now = self.scratch.now;
        job.ready <= now
            && self.scratch.stairs.can_start(job.procs, job.span)
            && self.disturbs_no_pool(job.id, job.span, view)
    }

    /// Starts a job that has no promise and disturbs none.
    pub(super) fn start_beside(
        &mut self,
        job: &QueuedJob,
        class: usize,
        reason: StartReason,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let (now, end) = (self.scratch.now, self.scratch.now.saturating_add(job.span));
        let pools = self.scratch.pools.as_deref_mut();
        let seat = pools.map(|pools| pools.reserve_seat(job.id, (now, end), None, view)).unwrap_or_default();
        self.start_job(job, class, (reason, &seat), view, actions);
        self.promises.note_start(end, job.procs);
        if self.scratch.planned
            && let Some(profile) = &mut self.scratch.profile
        {
            profile.reserve_procs(now, end, job.procs);
        }
        self.compute_stairs();
    }

    pub(super) fn promise_start(&mut self, job: &QueuedJob, class: usize, view: &View<'_>, actions: &mut Actions) {
        let mut profile = self.planned_profile();
        let ready = job.ready.max(self.scratch.now);
        let at = match &self.scratch.pools {
            None => profile.earliest_start(job.procs, job.span, ready),
            Some(pools) => pools.earliest_start((job.id, job.procs, job.span), &profile, ready, view),
        };
        let at = at.unwrap_or(Time::MAX);
        let promise =
            PromisedStart { at, id: job.id, procs: job.procs, span: job.span, ready: job.ready, class, left: 0 };
        if at < Time::MAX {
            profile.reserve_procs(at, promise.promised_end(), job.procs);
            if let Some(pools) = &mut self.scratch.pools {
                let seat = pools.reserve_seat(job.id, (at, promise.promised_end()), None, view);
                if !seat.on.is_empty() {
                    self.seats.insert(job.id, seat);
                }
            }
            if at > self.scratch.now {
                actions.reserve_start(job.id, at);
            }
        }
        self.promises.add_promise(promise, &profile);
        // A job that should have ended may do so this very second, as planned, after which nothing
        // would happen any more.
        self.stale |= self.running.first_ending().is_some_and(|r| r.end <= self.scratch.now);
        self.scratch.profile = Some(profile);
        self.scratch.planned = true;
        self.compute_stairs();
    }

    /// Computes the condition for a start beside the promises as they are now.
    pub(super) fn compute_stairs(&mut self) {
        if self.scratch.changes.iter().any(|change| change.1 < 0) {
            // Free processors may also fall elsewhere than where a promise begins.
            let profile = self.planned_profile();
            self.scratch.stairs.fill_beside(&profile, self.scratch.now, self.scratch.free);
            self.scratch.profile = Some(profile);
            self.scratch.planned = true;
            return;
        }
        self.promises.compute_stairs(self.scratch.now, self.scratch.free, &mut self.scratch.stairs);
    }
}

fn job_of(promise: &PromisedStart) -> QueuedJob {
    QueuedJob { id: promise.id, procs: promise.procs, span: promise.span, ready: promise.ready, submit: Time::MIN }
}
