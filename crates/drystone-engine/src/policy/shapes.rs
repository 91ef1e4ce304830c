//! Sizes of jobs and power, as policies see them.

use super::{JobEntry, Phase, View};
use crate::model::{JobId, JobShape, PowerSupply, Procs, ShapeTruth, Span, Time, multiply};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Shapes of the jobs that are here, and what has become of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShapeWorld {
    #[serde(skip)]
    known: Arc<Vec<JobShape>>,
    /// True facts, for a clairvoyant session alone.
    #[serde(skip)]
    truths: Option<Arc<Vec<ShapeTruth>>>,
    #[serde(skip)]
    power: Option<Arc<PowerSupply>>,
    of: BTreeMap<JobId, u32>,
    /// Running jobs whose size has changed, or is to change.
    pub(crate) states: BTreeMap<JobId, SizeState>,
    /// Sizes that running jobs ask for.
    pub(crate) asked: BTreeMap<JobId, Procs>,
    /// Next time at which a job asks for a size.
    pub(crate) asks_at: Option<Time>,
}

/// Changes of a running job's size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SizeState {
    /// Time without progress that was left at the beginning of its present size.
    pub(crate) stall: Span,
    /// Size to come, and when.
    pub(crate) pending: Option<(Procs, Time)>,
    /// The job before the changes of the last instant that changed it.
    pub(crate) base: Option<SizeBase>,
    /// Earlier sizes, and the seconds of progress at each.
    pub(crate) progress: Vec<(Procs, Span)>,
}

/// A running job before the changes of an instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SizeBase {
    pub(crate) at: Time,
    pub(crate) procs: Procs,
    pub(crate) stall: Span,
    /// Predicted seconds left at that size.
    pub(crate) left: Span,
}

impl SizeState {
    /// A job whose size has not changed.
    pub(crate) fn new() -> SizeState {
        SizeState { stall: Span::ZERO, pending: None, base: None, progress: Vec::new() }
    }

    /// Time without progress that is left.
    pub(crate) fn stall_left(&self, entry: &JobEntry, now: Time) -> Span {
        (self.stall - (now - entry.segment)).max(Span::ZERO)
    }
}

impl ShapeWorld {
    /// Shapes of jobs that are still to come.
    pub(crate) fn new(
        known: Arc<Vec<JobShape>>,
        truths: Option<Arc<Vec<ShapeTruth>>>,
        power: Option<Arc<PowerSupply>>,
    ) -> ShapeWorld {
        ShapeWorld { known, truths, power, ..ShapeWorld::default() }
    }

    /// Takes from another what is no part of a saved state.
    pub(crate) fn adopt_tables(&mut self, other: &ShapeWorld) {
        (self.known, self.truths, self.power) = (other.known.clone(), other.truths.clone(), other.power.clone());
    }

    /// A job has this shape.
    pub(crate) fn meet(&mut self, id: JobId, shape: u32) {
        self.of.insert(id, shape);
    }

    /// Forgets jobs before the oldest that is here.
    pub(crate) fn forget_before(&mut self, oldest: JobId) {
        self.of = self.of.split_off(&oldest);
    }

    /// Returns the shape of a job; `None` of one that is rigid and draws nothing.
    #[must_use]
    pub fn shape(&self, id: JobId) -> Option<&JobShape> {
        self.known.get(*self.of.get(&id)? as usize)
    }

    /// Returns whether any job asks for a size.
    #[must_use]
    pub fn has_asks(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns the index of a job's shape.
    pub(crate) fn index(&self, id: JobId) -> Option<usize> {
        self.of.get(&id).map(|at| *at as usize)
    }

    /// The power of the machine; `None` where it is neither limited nor counted.
    #[must_use]
    pub fn power(&self) -> Option<&PowerSupply> {
        self.power.as_deref()
    }

    /// Returns the run time of a job at a size as far as the scheduler knows: the estimate, or of a
    /// clairvoyant scheduler the truth.
    pub(crate) fn known_run(&self, id: JobId, estimate: Span, size: Procs) -> Option<Span> {
        let shape = self.shape(id)?;
        if let Some(truth) = self.truths.as_ref().and_then(|truths| truths.get(self.index(id)?)) {
            return Some(truth.run_at(size, shape));
        }
        Some(shape.estimate_at(estimate, size))
    }

    /// Returns the predicted run time at a size of a waiting job, `prediction` being that at the
    /// preferred one.
    pub(crate) fn predicted_run(&self, id: JobId, estimate: Span, prediction: Span, size: Procs) -> Span {
        let Some(shape) = self.shape(id) else { return prediction };
        if size == shape.preferred {
            return prediction;
        }
        if prediction == estimate && self.truths.is_none() {
            return shape.estimate_at(estimate, size);
        }
        match self.known_run(id, estimate, shape.preferred) {
            Some(run) if run == prediction => self.known_run(id, estimate, size).unwrap_or(prediction),
            _ => shape.convert(prediction, shape.preferred, size),
        }
    }

    /// Returns what is predicted to be left of a running job when it changes from one size to
    /// another, in seconds at the new one.
    pub(crate) fn converted(&self, id: JobId, estimate: Span, left: Span, from: Procs, to: Procs) -> Span {
        let left = left.max(Span(1));
        let run = |size| self.known_run(id, estimate, size);
        match (run(from), run(to)) {
            (Some(at), Some(then)) if at > Span::ZERO && from != to => {
                multiply(left, (then.0.max(0) as u128, at.0 as u128)).max(Span(1))
            }
            _ => left,
        }
    }

    /// Processors that a running job holds beyond its size, because it is to grow.
    pub(crate) fn reserve_of(&self, id: JobId, size: Procs) -> Procs {
        let pending = self.states.get(&id).and_then(|state| state.pending);
        pending.map_or(0, |(to, _)| to.saturating_sub(size))
    }

    /// Returns the next time at which a change takes effect, a job asks, or power changes.
    pub(crate) fn next_due(&self, now: Time) -> Time {
        let points = self.states.values().filter_map(|state| state.pending).map(|(_, at)| at);
        let power = self.power.as_ref().map_or(Time::MAX, |power| power.next_change(now));
        points.fold(power, Time::min).min(self.asks_at.unwrap_or(Time::MAX))
    }
}

/// Processors that a job is predicted to hold from one time to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldSpan {
    /// Beginning.
    pub from: Time,
    /// End.
    pub until: Time,
    /// Processors.
    pub procs: Procs,
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
    pub fn shape(&self, id: JobId) -> Option<&'a JobShape> {
        self.shapes()?.shape(id)
    }

    /// Returns the present size of a running or suspended job; of a waiting one the preferred.
    ///
    /// # Panics
    /// As [`View::job`].
    #[inline]
    #[must_use]
    pub fn size(&self, id: JobId) -> Procs {
        self.world.entry(id).procs
    }

    /// Returns the estimate of a job at a size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn estimate_at(&self, id: JobId, size: Procs) -> Span {
        let estimate = self.job(id).estimate;
        self.shape(id).map_or(estimate, |shape| shape.estimate_at(estimate, size))
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

    /// Returns the size that a running job is to have, and from when on.
    #[must_use]
    pub fn pending(&self, id: JobId) -> Option<(Procs, Time)> {
        self.shapes()?.states.get(&id)?.pending
    }

    /// Returns the size that a running job asks for.
    #[must_use]
    pub fn asked(&self, id: JobId) -> Option<Procs> {
        self.shapes()?.asked.get(&id).copied()
    }

    /// Returns the first time from now on at which a running job may change its size.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn next_point(&self, id: JobId) -> Time {
        let now = self.now();
        match self.shape(id).map(|shape| shape.every) {
            Some(every) if every > Span::ZERO => now + Span((self.segment_start(id) - now).0.rem_euclid(every.0)),
            _ => now,
        }
    }

    /// Returns the time without progress that a change of size costs a job.
    #[must_use]
    pub fn resize_cost(&self, id: JobId, from: Procs, to: Procs) -> Span {
        self.shape(id).map_or(Span::ZERO, |shape| shape.cost(from, to))
    }

    /// Returns the time of a running job's last start.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn began(&self, id: JobId) -> Time {
        self.world.entry(id).first_start
    }

    /// Returns the beginning of a running job's present size.
    #[must_use]
    pub fn sized_at(&self, id: JobId) -> Time {
        self.world.entry(id).segment
    }

    /// Returns the predicted end of a running job that changes its size then, which is now or
    /// later.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn end_at_size(&self, id: JobId, at: Time, to: Procs) -> Time {
        let entry = self.world.entry(id);
        let Some(shapes) = self.shapes() else { return entry.predicted_end() };
        let state = shapes.states.get(&id);
        let base = match state.and_then(|state| state.base).filter(|base| base.at == at) {
            Some(base) => base,
            None => {
                let stall = state.map_or(Span::ZERO, |state| state.stall_left(entry, at));
                SizeBase { at, procs: entry.procs, stall, left: (entry.predicted_end() - at) - stall }
            }
        };
        let cost = self.resize_cost(id, base.procs, to);
        let left = shapes.converted(id, self.job(id).estimate, base.left, base.procs, to);
        at + base.stall + cost + left
    }

    /// Returns the spans that a running job is predicted to hold from now on.
    ///
    /// # Panics
    /// As [`View::job`].
    #[must_use]
    pub fn held_spans(&self, id: JobId) -> (HeldSpan, Option<HeldSpan>) {
        let (now, size) = (self.now(), self.size(id));
        match self.pending(id).filter(|(_, at)| *at > now) {
            Some((to, at)) => {
                let then = HeldSpan { from: at, until: self.end_at_size(id, at, to), procs: to };
                (HeldSpan { from: now, until: at, procs: size.max(to) }, Some(then))
            }
            None => {
                let until = self.predicted_end(id).max(now + Span(1));
                (HeldSpan { from: now, until, procs: size }, None)
            }
        }
    }

    /// Watts of each processor that a job holds, above idle.
    #[must_use]
    pub fn watts(&self, id: JobId) -> i64 {
        self.shape(id).map_or(0, |shape| shape.watts.min(1 << 40) as i64)
    }

    /// Watts that running jobs draw, above idle.
    #[must_use]
    pub fn draw(&self) -> i64 {
        let held = |id, procs| procs + self.shapes().map_or(0, |shapes| shapes.reserve_of(id, procs));
        self.running().iter().map(|job| self.watts(job.id) * i64::from(held(job.id, job.procs))).sum()
    }

    /// Processors that are up, whether a job holds them or not.
    #[must_use]
    pub fn up(&self) -> Procs {
        self.machine().procs - self.outlook().map_or(0, |outlook| outlook.offline.len())
    }

    /// Returns whether a job runs.
    #[must_use]
    pub fn runs(&self, id: JobId) -> bool {
        self.phase(id) == Phase::Running
    }
}
