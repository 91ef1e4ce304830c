//! Jobs that start with another size than the preferred, and that change their size while they run.

use super::{PolicyViolation, Session};
use crate::model::{
    Decimal, JobId, JobKind, JobShape, PaceNumber, ProcSet, Procs, SizeSet, Span, Speedup, Time, WorkloadShapes,
};
use crate::parts::RunningJob;
use crate::policy::{KnownEntry, Phase, Placement, PolicyEvent, ShapeWorld, SizeBase, SizeState, StartReason};
use std::collections::BTreeMap;

/// A change of a running job's size or pace, for the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SizeChange {
    pub(crate) job: JobId,
    /// Size and pace just before.
    pub(crate) from: (Procs, PaceNumber),
    pub(crate) to: (Procs, PaceNumber),
    /// Size and pace before this instant.
    pub(crate) base: (Procs, PaceNumber),
    /// Time without progress that was left before this instant, and that is left now.
    pub(crate) stalls: (Span, Span),
    /// Time whose progress is lost.
    pub(crate) lost: Span,
}

impl Session {
    /// Gives the machine jobs of several sizes, and power. Call it before the first event.
    pub(crate) fn set_shapes(&mut self, shapes: &WorkloadShapes) {
        self.scheduler.policy.expect_shapes();
        self.s.world.shapes = Some(Box::new(ShapeWorld::new(shapes, self.clairvoyant)));
    }

    /// Lets running jobs have other sizes, which [`Session::set_sizes`] names while they run. Call
    /// it before the first event.
    pub fn expect_sizes(&mut self) {
        self.scheduler.policy.expect_shapes();
        self.s.world.shapes = Some(Box::default());
    }

    /// Sets the sizes that the policy may give to running jobs until the next call, with the
    /// present size of each. Other jobs keep theirs. Limits stay, and the speed of a job at other
    /// sizes is unknown. Counts only after [`Session::expect_sizes`].
    pub fn set_sizes(&mut self, sizes: impl IntoIterator<Item = (JobId, SizeSet)>) {
        let shape_of = |(id, sizes)| Some((id, self.make_shape(id, sizes)?));
        let jobs: BTreeMap<JobId, JobShape> = sizes.into_iter().filter_map(shape_of).collect();
        if let Some(shapes) = &mut self.s.world.shapes {
            self.woken |= shapes.replace_learned(jobs);
        }
    }

    /// Returns the shape of a job that may have these sizes; `None` of a job that is not here.
    fn make_shape(&self, id: JobId, sizes: SizeSet) -> Option<JobShape> {
        let job = &self.s.world.jobs.get(id)?.job;
        Some(JobShape {
            kind: JobKind::Malleable,
            sizes,
            preferred: job.procs,
            reference: job.procs,
            declared: Speedup::None,
            reference_estimate: job.estimate,
            least: None,
            every: Span::ZERO,
            grow_cost: Span::ZERO,
            shrink_cost: Span::ZERO,
            watts: 0,
            paces: Vec::new(),
        })
    }

    /// Returns whether the policy knows sizes and counts power.
    pub(crate) fn knows_shapes(&self) -> bool {
        self.scheduler.policy.knows_shapes()
    }

    /// Makes a pass due though no job waits: running jobs may change their sizes.
    pub(crate) fn want_pass(&mut self) {
        self.woken |= self.knows_shapes();
    }

    pub(crate) fn assign_shape(&mut self, id: JobId, shape: u32) {
        if let Some(shapes) = &mut self.s.world.shapes {
            shapes.assign_shape(id, shape);
        }
    }

    /// Time without progress that a running job had left at the beginning of its present size.
    pub(crate) fn stall_of(&self, id: JobId) -> Span {
        let state = self.s.world.shapes.as_ref().and_then(|shapes| shapes.states.get(&id));
        state.map_or(Span::ZERO, |state| state.stall)
    }

    /// Takes the changes of sizes that have taken effect since the last call.
    pub(crate) fn take_size_changes(&mut self) -> Vec<SizeChange> {
        std::mem::take(&mut self.size_changes)
    }

    pub(crate) fn note_size_request(&mut self, now: Time, id: JobId, procs: Procs) {
        self.come_to(now);
        let Some(shapes) = &mut self.s.world.shapes else { return };
        shapes.asked.insert(id, procs);
        self.woken = true;
        if self.knows_shapes() {
            self.notify_policy(PolicyEvent::Asks { job: id, procs });
        }
    }

    /// Says when the next job asks for a size.
    pub(crate) fn set_asks_at(&mut self, time: Time) {
        if let Some(shapes) = &mut self.s.world.shapes {
            shapes.asks_at = (time < Time::MAX).then_some(time);
        }
        self.merge_wakes();
    }

    /// Wakes for the policy, and for what happens to sizes and power.
    pub(super) fn merge_wakes(&mut self) {
        let due = self.s.world.shapes.as_ref().map_or(Time::MAX, |shapes| shapes.next_due(self.s.world.now));
        self.wake = self.policy_wake.min(due);
    }

    /// The time has come for the policy to wake, for a change of size or for another cap on power.
    #[cold]
    pub(super) fn wake_sized(&mut self, now: Time) {
        self.come_to(now);
        self.woken = true;
        if self.policy_wake <= now {
            self.policy_wake = Time::MAX;
            self.notify_policy(PolicyEvent::Woken);
        }
        let states = self.s.world.shapes.iter().flat_map(|shapes| &shapes.states);
        let pending = states.filter_map(|(&id, state)| Some((id, state.pending?)));
        let due: Vec<(JobId, Procs)> =
            pending.filter(|(_, (_, at))| *at <= now).map(|(id, (to, _))| (id, to)).collect();
        for (id, to) in due {
            let from = self.s.world.job_entry(id).procs;
            self.take_effect(id, to);
            if self.s.world.job_entry(id).procs != from {
                self.tell_resized(id, from);
            }
        }
        self.merge_wakes();
    }

    /// Tells the policy of a change that is not its own at this moment.
    fn tell_resized(&mut self, id: JobId, from: Procs) {
        if self.knows_shapes() {
            let predicted_end = self.s.world.job_entry(id).predicted_end();
            self.notify_policy(PolicyEvent::Resized { job: id, from, predicted_end });
        }
    }

    pub(super) fn start_with(
        &mut self,
        job: JobId,
        (procs, pace): (Procs, PaceNumber),
        reason: StartReason,
        on: Placement,
    ) -> Result<(), PolicyViolation> {
        self.entry_in(job, Phase::Waiting, "start")?;
        let has = self
            .s
            .view()
            .job_shape(job)
            .map_or(procs == self.s.world.job_entry(job).procs, |s| s.sizes.contains(procs));
        if !has {
            return Err(self.make_violation(job, format!("cannot start with {procs} processors: it has no such size")));
        }
        self.check_pace(job, pace, "start")?;
        let prediction = self.s.view().prediction_at_pace(job, procs, pace);
        if let Some(shapes) = &mut self.s.world.shapes {
            shapes.set_pace(job, pace);
        }
        let KnownEntry { entry, .. } = &mut self.s.world.jobs[job];
        let before = std::mem::replace(&mut entry.procs, procs);
        if before != procs || pace > 0 {
            entry.prediction = prediction;
            self.s.waiting_procs = self.s.waiting_procs - u64::from(before) + u64::from(procs);
            if self.keeps_changes {
                self.s.changes.push(&mut entry.changes, self.s.world.now, prediction);
            }
        }
        self.start_job(job, reason, on)
    }

    fn check_pace(&self, job: JobId, pace: PaceNumber, deed: &str) -> Result<(), PolicyViolation> {
        match pace == 0 || self.s.view().job_shape(job).is_some_and(|shape| shape.has_pace(pace)) {
            true => Ok(()),
            false => Err(self.make_violation(job, format!("cannot {deed} at pace {pace}: it has no such pace"))),
        }
    }

    /// Changes the pace of a running job at once.
    pub(super) fn set_pace(&mut self, job: JobId, pace: PaceNumber) -> Result<(), PolicyViolation> {
        let now = self.s.world.now;
        self.entry_in(job, Phase::Running, "change its pace")?;
        self.check_pace(job, pace, "run")?;
        let view = self.s.view();
        let refuse = |session: &Session, reason: &str| {
            Err(session.make_violation(job, format!("cannot change to pace {pace}: {reason}")))
        };
        if view.last_start(job) == now {
            return refuse(self, "it starts at this instant");
        }
        if view.pending_size(job).is_some() {
            return refuse(self, "a change of its size is pending");
        }
        if view.job_pace(job) == pace {
            return Ok(());
        }
        let size = view.job_size(job);
        let more = (view.watts_at(job, pace) - view.job_watts(job)) * i64::from(size);
        if let Some(power) = view.shapes().and_then(ShapeWorld::power)
            && more > 0
        {
            let watts_left = power.for_jobs(now, now, view.up_processors()) - view.power_draw();
            if more > watts_left {
                return refuse(self, &format!("that takes {more} W more, and {} W are left", watts_left.max(0)));
            }
        }
        // A change of size at this instant has its cost already.
        let state = view.shapes().and_then(|shapes| shapes.states.get(&job));
        let base = state.and_then(|state| Some((state.stall, state.base.filter(|base| base.at == now)?)));
        let cost = base.map_or(Span::ZERO, |(stall, base)| stall - base.stall);
        self.set_shape(job, (size, pace), cost, Span::ZERO);
        self.merge_wakes();
        Ok(())
    }

    /// A job that is here at the first instant, and has started before, has the size that the log
    /// gives it, whatever the preferred one is.
    pub(super) fn keep_recorded_size(&mut self, id: JobId) {
        let Some(procs) = self.s.view().job_shape(id).map(|shape| shape.reference) else { return };
        let prediction = self.s.view().prediction_at(id, procs);
        let entry = &mut self.s.world.jobs[id].entry;
        if procs != entry.procs {
            (entry.procs, entry.prediction) = (procs, prediction);
            if self.keeps_changes {
                self.s.changes.push(&mut entry.changes, self.s.world.now, prediction);
            }
        }
    }

    /// Refuses a start or a resumption for which there is too little power.
    pub(super) fn check_power(&self, job: JobId, procs: Procs) -> Result<(), PolicyViolation> {
        let view = self.s.view();
        let Some(power) = view.shapes().and_then(ShapeWorld::power) else { return Ok(()) };
        let (watts, now) = (view.job_watts(job), view.current_time());
        let watts_left = power.for_jobs(now, now, view.up_processors()) - view.power_draw();
        match watts > 0 && watts * i64::from(procs) > watts_left {
            true => Err(self.make_violation(
                job,
                format!("cannot run with {procs} processors of {watts} W each: {} W are left", watts_left.max(0)),
            )),
            false => Ok(()),
        }
    }

    /// Changes the size of a running job, at once or at its next point.
    pub(super) fn resize_job(&mut self, job: JobId, to: Procs, at_once: bool) -> Result<(), PolicyViolation> {
        let now = self.s.world.now;
        self.entry_in(job, Phase::Running, "be resized")?;
        let refuse = |session: &Session, reason: &str| {
            Err(session.make_violation(job, format!("cannot be resized to {to} processors: {reason}")))
        };
        let view = self.s.view();
        let Some(shape) = view.job_shape(job) else { return refuse(self, "it is rigid") };
        let is_requested = shape.kind.can_ask() && view.asked_size(job) == Some(to);
        if !shape.kind.is_malleable() && !is_requested {
            return refuse(self, &format!("it is {}", shape.kind.name()));
        }
        if !shape.sizes.contains(to) {
            return refuse(self, "it has no such size");
        }
        if view.last_start(job) == now {
            return refuse(self, "it starts at this instant");
        }
        if view.gives_back(job) && view.sized_at(job) < now {
            if to != view.job_size(job) {
                return refuse(self, "it gives processors back");
            }
            if let Some(state) = self.s.world.shapes.as_mut().and_then(|shapes| shapes.states.get_mut(&job)) {
                (state.pending, state.changes_since) = (None, None);
            }
            self.merge_wakes();
            return Ok(());
        }
        let (size, point) = (view.job_size(job), if at_once { now } else { view.next_point(job) });
        let held_procs = size + self.s.world.shapes.as_ref().map_or(0, |shapes| shapes.reserve_of(job, size));
        if i64::from(to) > i64::from(held_procs) + self.s.world.free {
            return refuse(self, &format!("{} are free", self.s.world.free));
        }
        if is_requested && let Some(shapes) = &mut self.s.world.shapes {
            shapes.asked.remove(&job);
        }
        if point <= now && to == size && held_procs == size && self.s.view().pending_size(job).is_none() {
            // Nothing changes.
        } else if point <= now {
            self.take_effect(job, to);
        } else if let Some(shapes) = &mut self.s.world.shapes {
            let state = shapes.states.entry(job).or_insert_with(SizeState::new);
            state.pending = (to != size).then_some((to, point));
            self.s.world.free += i64::from(held_procs) - i64::from(to.max(size));
        }
        self.merge_wakes();
        Ok(())
    }

    /// Prepares a job for its suspension: keeps its size and what is left of its time without
    /// progress, and drops a pending change.
    #[cold]
    pub(super) fn pause_size(&mut self, id: JobId) {
        let now = self.s.world.now;
        let Some(mut shapes) = self.s.world.shapes.take() else { return };
        let entry = self.s.world.job_entry(id);
        let reserve = shapes.reserve_of(id, entry.procs);
        let limit = shapes.kill_time(id, entry);
        if limit.is_some() {
            let state = shapes.states.entry(id).or_insert_with(SizeState::new);
            (state.limit, state.paused) = (limit, Some(now));
        }
        let speed = shapes.job_speed(id);
        if let Some(state) = shapes.states.get_mut(&id) {
            let stall = state.stall_left(entry, now);
            state.progress.push((entry.procs, speed, (now - entry.segment) - (state.stall - stall)));
            state.stall = stall;
            (state.pending, state.changes_since) = (None, None);
        }
        self.s.world.free += i64::from(reserve);
        self.s.world.shapes = Some(shapes);
        self.merge_wakes();
    }

    /// Moves the limit of a job that resumes by the time for which it was suspended, where the
    /// limit does not move with the size.
    pub(super) fn keep_limit(&mut self, id: JobId) {
        let now = self.s.world.now;
        let state = self.s.world.shapes.as_mut().and_then(|shapes| shapes.states.get_mut(&id));
        if let Some(state) = state
            && let Some(paused) = state.paused.take()
        {
            state.limit = state.limit.map(|limit| limit + (now - paused));
        }
    }

    /// Resumes a suspended job with another size, which it has at once.
    pub(super) fn resume_with(&mut self, job: JobId, to: Procs) -> Result<(), PolicyViolation> {
        self.entry_in(job, Phase::Suspended, "be resumed")?;
        let refuse = |session: &Session, reason: &str| {
            Err(session.make_violation(job, format!("cannot be resumed with {to} processors: {reason}")))
        };
        let Some(shape) = self.s.view().job_shape(job) else { return refuse(self, "it is rigid") };
        if !shape.kind.is_malleable() {
            return refuse(self, &format!("it is {}", shape.kind.name()));
        }
        if !shape.sizes.contains(to) {
            return refuse(self, "it has no such size");
        }
        self.check_resumption(job, to)?;
        let from = self.go_on(job)?;
        self.s.world.named.remove(&job);
        if to != from {
            self.change_size(job, to, Span::ZERO);
        }
        self.merge_wakes();
        Ok(())
    }

    /// Lets a change of a running job's size take effect. Where the job gives its processors back
    /// after the cost of the change, the first call begins the change and the second one ends it.
    fn take_effect(&mut self, id: JobId, to: Procs) {
        let now = self.s.world.now;
        let view = self.s.view();
        let state = view.shapes().and_then(|shapes| shapes.states.get(&id));
        let base = state.and_then(|state| state.base).filter(|base| base.at == now);
        let before = base.map_or_else(|| view.job_size(id), |base| base.procs);
        let ends = state.is_some_and(|state| state.changes_since.is_some_and(|began| began < now));
        let release = if ends { now } else { view.release_time(id, now, to) };
        if release <= now {
            return self.change_size(id, to, Span::ZERO);
        }
        // The job keeps its size until then, without progress. An outage may have taken some of it.
        let size = self.s.world.job_entry(id).procs;
        let pace = self.s.view().job_pace(id);
        self.set_shape(id, (before.min(size), pace), release - now, Span::ZERO);
        if let Some(state) = self.s.world.shapes.as_mut().and_then(|shapes| shapes.states.get_mut(&id)) {
            (state.pending, state.changes_since) = (Some((to, release)), Some(now));
        }
    }

    /// A running job has another size from now on. All changes of one instant are one, from the
    /// size before it to the last.
    fn change_size(&mut self, id: JobId, to: Procs, loss: Span) {
        let now = self.s.world.now;
        let view = self.s.view();
        let state = view.shapes().and_then(|shapes| shapes.states.get(&id));
        let is_paid = state.is_some_and(|state| state.changes_since.is_some() && state.pending == Some((to, now)));
        let from = state.and_then(|state| state.base).filter(|base| base.at == now);
        let from = from.map_or_else(|| view.job_size(id), |base| base.procs);
        let cost = if is_paid { Span::ZERO } else { view.resize_cost(id, from, to) };
        let pace = view.job_pace(id);
        self.set_shape(id, (to, pace), cost, loss);
    }

    /// Gives a running job this size and pace from now on, with `cost` as time without progress.
    fn set_shape(&mut self, id: JobId, (to, pace): (Procs, PaceNumber), cost: Span, loss: Span) {
        let now = self.s.world.now;
        let Some(mut shapes) = self.s.world.shapes.take() else { return };
        let reserve = shapes.reserve_of(id, self.s.world.job_entry(id).procs);
        let limit = shapes.kill_time(id, self.s.world.job_entry(id));
        let mut state = shapes.states.remove(&id).unwrap_or_else(SizeState::new);
        let (pace_before, speed) = (shapes.job_pace(id), shapes.job_speed(id));
        let KnownEntry { entry, job } = &mut self.s.world.jobs[id];
        let (from, end) = (entry.procs, entry.predicted_end());
        (state.pending, state.changes_since) = (None, None);
        let base = match state.base.filter(|base| base.at == now) {
            Some(base) => base,
            None => {
                let stall = state.stall_left(entry, now);
                state.progress.push((from, speed, (now - entry.segment) - (state.stall - stall)));
                let time_left = (end - now) - stall + state.beyond + loss;
                SizeBase { at: now, procs: from, pace: pace_before, stall, left: time_left }
            }
        };
        entry.ran += now - entry.segment;
        (entry.segment, entry.procs) = (now, to);
        let before = (base.procs, base.pace);
        let rest = match (to, pace) == before {
            true => base.left,
            false => shapes.convert_remaining(id, (job.estimate, base.left), before, (to, pace)),
        };
        shapes.set_pace(id, pace);
        let stall = base.stall + cost;
        (state.stall, state.base, state.limit) = (stall, Some(base), limit);
        // A job that will be killed at its limit leaves the rest undone.
        let most = limit.map_or(stall + rest, |limit| (stall + rest).min((limit - now).max(Span(1))));
        state.beyond = stall + rest - most;
        entry.prediction = entry.ran + most;
        let (new_end, prediction) = (entry.predicted_end(), entry.prediction);
        if self.keeps_changes {
            self.s.changes.push(&mut entry.changes, now, prediction);
        }
        shapes.states.insert(id, state);
        self.s.world.shapes = Some(shapes);
        self.s.world.free += i64::from(from) + i64::from(reserve) - i64::from(to);
        self.s.world.running.remove(end, id);
        self.s.world.running.insert(RunningJob { end: new_end, id, procs: to });
        if self.s.names {
            self.place_resized(id, to);
        } else if self.s.draining {
            self.s.refresh_capacity();
        }
        self.note_expiry();
        let (from, to, stalls) = ((from, pace_before), (to, pace), (base.stall, stall));
        self.size_changes.push(SizeChange { job: id, from, to, base: before, stalls, lost: loss });
    }

    /// Gives a resized job its place: if it shrinks, its lowest processors; if it grows, any.
    fn place_resized(&mut self, id: JobId, to: Procs) {
        let lowest: Option<ProcSet> = self.s.world.named.remove(&id).map(|set| set.lowest_procs(to));
        self.s.refresh_capacity();
        self.s.take_place(id, lowest.as_ref());
        self.s.refresh_capacity();
    }

    /// A running job leaves the machine. Returns its run time as it would have been at the
    /// preferred size, where its size has changed or was another: predictors learn from that.
    pub(super) fn forget_size(&mut self, id: JobId) -> Option<Span> {
        let knows = self.knows_shapes();
        let now = self.s.world.now;
        let shapes = self.s.world.shapes.as_mut()?;
        self.woken |= knows;
        let entry = &self.s.world.jobs[id].entry;
        let reserve = shapes.reserve_of(id, entry.procs);
        self.s.world.free += i64::from(reserve);
        shapes.asked.remove(&id);
        let state = shapes.states.remove(&id);
        let pending = state.as_ref().is_some_and(|state| state.pending.is_some());
        let shape = shapes.job_shape(id)?;
        let speed = shapes.job_speed(id);
        let learned_time = (state.is_some() || entry.procs != shape.preferred || speed != Decimal::ONE).then(|| {
            let mut progress = state.as_ref().map_or(Vec::new(), |state| state.progress.clone());
            let stall = state.map_or(Span::ZERO, |state| state.stall);
            progress.push((entry.procs, speed, ((now - entry.segment) - stall).max(Span::ZERO)));
            shape.declared.convert_all(&progress, shape.preferred)
        });
        shapes.set_pace(id, 0);
        if pending {
            self.merge_wakes();
        }
        learned_time
    }

    /// A job waits again: it has its preferred size.
    pub(super) fn restore_size(&mut self, id: JobId) {
        let KnownEntry { entry, job } = &mut self.s.world.jobs[id];
        entry.procs = job.procs;
    }

    /// A running job loses this many processors to an outage. Returns whether it goes on with
    /// fewer: what it did since its last point is lost then.
    pub(crate) fn shrink_to_survive(&mut self, now: Time, id: JobId, procs: Procs) -> bool {
        let now = self.come_to(now);
        let view = self.s.view();
        let (true, Some(shape)) = (self.knows_shapes() && view.is_running(id), view.job_shape(id)) else {
            return false;
        };
        let (size, began) = (view.job_size(id), view.last_start(id));
        let Some(to) = shape.sizes.at_most(size.saturating_sub(procs)) else { return false };
        if view.shapes().is_some_and(|shapes| shapes.resize_rules().outages_kill) {
            return false;
        }
        if !(shape.kind.is_malleable() || shape.kind.can_ask()) || began == now {
            return false;
        }
        let mut lost_time = Span::ZERO;
        if shape.every > Span::ZERO {
            let since = view.segment_start(id);
            let stall = view.shapes().and_then(|s| s.states.get(&id)).map_or(Span::ZERO, |state| state.stall);
            let point = now - Span((now - since).0.rem_euclid(shape.every.0));
            lost_time = (now - point.max(since + stall)).max(Span::ZERO);
        }
        self.change_size(id, to, lost_time);
        self.tell_resized(id, size);
        self.merge_wakes();
        true
    }
}
