//! Sizes of jobs, as a policy sees them.

use super::shapes::{HeldSpan, ShapeWorld, SizeBase, SizeState};
use super::{JobEntry, Phase, View};
use crate::model::{JobId, JobShape, PaceNumber, Procs, Span, Time};

impl SizeState {
    /// Time without progress that is left.
    pub(crate) fn stall_left(&self, entry: &JobEntry, now: Time) -> Span {
        (self.stall - (now - entry.segment)).max(Span::ZERO)
    }
}

impl ShapeWorld {
    /// Returns the time at which a running job is killed, where that does not move with its size.
    /// Suspended time does not count.
    pub(crate) fn kill_time(&self, id: JobId, entry: &JobEntry) -> Option<Time> {
        if !self.resize_rules().keeps_limits {
            return None;
        }
        let estimate =
            |shape: &JobShape| shape.numbered_pace(self.job_pace(id)).run_time(shape.estimate_of_log(entry.procs));
        let first = || Some(entry.first_start + estimate(self.job_shape(id)?));
        self.states.get(&id).and_then(|state| state.limit).or_else(first)
    }
}

impl<'a> View<'a> {
    /// Returns the shapes of jobs and the power; `None` where every job has one size and power is
    /// unlimited.
    #[inline]
    #[must_use]
    pub fn shapes(&self) -> Option<&'a ShapeWorld> {
        self.world.shapes.as_deref()
    }

    /// Returns the shape of a job; `None` of one that is rigid and draws nothing.
    #[must_use]
    pub fn job_shape(&self, id: JobId) -> Option<&'a JobShape> {
        self.shapes()?.job_shape(id)
    }

    /// Returns the present size of a running or suspended job; of a waiting one the preferred.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn job_size(&self, id: JobId) -> Procs {
        self.world.job_entry(id).procs
    }

    /// Returns the estimate of a job at a size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn estimate_at(&self, id: JobId, size: Procs) -> Span {
        let estimate = self.job(id).estimate;
        self.job_shape(id).map_or(estimate, |shape| shape.estimate_at(estimate, size))
    }

    /// Returns the predicted run time of a waiting job at a size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn prediction_at(&self, id: JobId, size: Procs) -> Span {
        let prediction = self.prediction(id);
        let Some(shapes) = self.shapes() else { return prediction };
        shapes.predicted_run(id, self.job(id).estimate, prediction, size)
    }

    /// Returns the predicted run time of a waiting job at a size and a pace.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn prediction_at_pace(&self, id: JobId, size: Procs, pace: PaceNumber) -> Span {
        let run = self.prediction_at(id, size);
        match pace {
            0 => run,
            _ => self.job_shape(id).map_or(run, |shape| shape.numbered_pace(pace).run_time(run)),
        }
    }

    /// Returns the pace of a running or suspended job; the full one, 0, of any other.
    #[inline]
    #[must_use]
    pub fn job_pace(&self, id: JobId) -> PaceNumber {
        self.shapes().map_or(0, |shapes| shapes.job_pace(id))
    }

    /// Returns the size that a running job is to have, and from when on.
    #[must_use]
    pub fn pending_size(&self, id: JobId) -> Option<(Procs, Time)> {
        self.shapes()?.states.get(&id)?.pending
    }

    /// Returns whether a running job has begun to shrink and is about to give processors back. Only
    /// an outage or a suspension stops that.
    #[must_use]
    pub fn gives_back(&self, id: JobId) -> bool {
        self.shapes().and_then(|shapes| shapes.states.get(&id)).is_some_and(|state| state.changes_since.is_some())
    }

    /// Returns the time at which a running job gives processors back, or has new ones, if it begins
    /// to change to this size at `at`, which is now or later.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn release_time(&self, id: JobId, at: Time, to: Procs) -> Time {
        let Some(shapes) = self.shapes() else { return at };
        let base = shapes.states.get(&id).and_then(|state| state.base).filter(|base| base.at == at);
        let from = base.map_or_else(|| self.job_size(id), |base| base.procs);
        shapes.release_time(id, at, from, to)
    }

    /// Returns the size that a running job asks for.
    #[must_use]
    pub fn asked_size(&self, id: JobId) -> Option<Procs> {
        self.shapes()?.asked.get(&id).copied()
    }

    /// Returns the first time from now on at which a running job may change its size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn next_point(&self, id: JobId) -> Time {
        let now = self.current_time();
        match self.job_shape(id).map(|shape| shape.every) {
            Some(every) if every > Span::ZERO => now + Span((self.segment_start(id) - now).0.rem_euclid(every.0)),
            _ => now,
        }
    }

    /// Returns the time without progress that a change of size costs a job.
    #[must_use]
    pub fn resize_cost(&self, id: JobId, from: Procs, to: Procs) -> Span {
        self.job_shape(id).map_or(Span::ZERO, |shape| shape.resize_cost(from, to))
    }

    /// Returns the time of a running job's last start.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn last_start(&self, id: JobId) -> Time {
        self.world.job_entry(id).first_start
    }

    /// Returns the beginning of a running job's present size.
    #[must_use]
    pub fn sized_at(&self, id: JobId) -> Time {
        self.world.job_entry(id).segment
    }

    /// Returns the predicted end of a running job that changes its size then, which is now or
    /// later.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn end_at_size(&self, id: JobId, at: Time, to: Procs) -> Time {
        self.end_at_shape(id, at, (to, self.job_pace(id)))
    }

    /// Returns the predicted end of a running job that changes to a size and a pace then, which is
    /// now or later.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn end_at_shape(&self, id: JobId, at: Time, (to, pace): (Procs, PaceNumber)) -> Time {
        let entry = self.world.job_entry(id);
        let Some(shapes) = self.shapes() else { return entry.predicted_end() };
        let state = shapes.states.get(&id);
        let base = match state.and_then(|state| state.base).filter(|base| base.at == at) {
            Some(base) => base,
            None => {
                let stall = state.map_or(Span::ZERO, |state| state.stall_left(entry, at));
                let beyond = state.map_or(Span::ZERO, |state| state.beyond);
                let time_left = (entry.predicted_end() - at) - stall + beyond;
                SizeBase { at, procs: entry.procs, pace: shapes.job_pace(id), stall, left: time_left }
            }
        };
        // A job that gives processors back has paid for the change.
        let is_paid = state.is_some_and(|state| state.changes_since.is_some() && state.pending == Some((to, at)));
        let cost = if is_paid { Span::ZERO } else { self.resize_cost(id, base.procs, to) };
        let estimate = self.job(id).estimate;
        let converted_time = shapes.convert_remaining(id, (estimate, base.left), (base.procs, base.pace), (to, pace));
        let end = at + base.stall + cost + converted_time;
        shapes.kill_time(id, entry).map_or(end, |limit| end.min(limit.max(at + Span(1))))
    }

    /// Returns the time for which a suspended job is predicted to hold its processors after it
    /// resumes with this size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn rest_at_size(&self, id: JobId, to: Procs) -> Span {
        let entry = self.world.job_entry(id);
        let whole = (entry.prediction - entry.ran).max(Span(1));
        let Some(shapes) = self.shapes().filter(|_| to != entry.procs) else { return whole };
        let state = shapes.states.get(&id);
        let stall = state.map_or(Span::ZERO, |state| state.stall);
        let beyond = state.map_or(Span::ZERO, |state| state.beyond);
        let rest = (entry.prediction - entry.ran) - stall + beyond;
        let cost = self.resize_cost(id, entry.procs, to);
        let (estimate, pace) = (self.job(id).estimate, shapes.job_pace(id));
        let rest = stall + cost + shapes.convert_remaining(id, (estimate, rest), (entry.procs, pace), (to, pace));
        let limit = state.and_then(|state| Some((state.limit? - state.paused?).max(Span(1))));
        limit.map_or(rest, |limit| rest.min(limit))
    }

    /// Returns the spans that a running job is predicted to hold from now on.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn held_spans(&self, id: JobId) -> (HeldSpan, Option<HeldSpan>) {
        let (now, size) = (self.current_time(), self.job_size(id));
        match self.pending_size(id).filter(|(_, at)| *at > now) {
            Some((to, at)) => {
                let until = self.end_at_size(id, at, to);
                let at = if self.gives_back(id) { at } else { self.release_time(id, at, to) };
                let next = HeldSpan { from: at, until, procs: to };
                (HeldSpan { from: now, until: at, procs: size.max(to) }, Some(next))
            }
            None => {
                let until = self.predicted_end(id).max(now + Span(1));
                (HeldSpan { from: now, until, procs: size }, None)
            }
        }
    }

    /// Watts of each processor that a job holds at its present pace, above idle; of a job that is
    /// to start, at the full one.
    #[must_use]
    pub fn job_watts(&self, id: JobId) -> i64 {
        self.watts_at(id, self.job_pace(id))
    }

    /// Watts of each processor that a job holds at a pace, above idle.
    #[must_use]
    pub fn watts_at(&self, id: JobId, pace: PaceNumber) -> i64 {
        self.job_shape(id).map_or(0, |shape| shape.numbered_pace(pace).watts.min(1 << 40) as i64)
    }

    /// Watts that running jobs draw, above idle.
    #[must_use]
    pub fn power_draw(&self) -> i64 {
        let held_procs = |id, procs| procs + self.shapes().map_or(0, |shapes| shapes.reserve_of(id, procs));
        self.running_jobs().iter().map(|job| self.job_watts(job.id) * i64::from(held_procs(job.id, job.procs))).sum()
    }

    /// Processors that are up, whether a job holds them or not.
    #[must_use]
    pub fn up_processors(&self) -> Procs {
        self.machine().procs - self.outlook().map_or(0, |outlook| outlook.offline.len())
    }

    /// Returns whether a job runs.
    #[must_use]
    pub fn is_running(&self, id: JobId) -> bool {
        self.phase(id) == Phase::Running
    }
}
