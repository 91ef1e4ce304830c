//! Sizes of jobs and power, as policies see them.

use crate::model::{
    Decimal, JobId, JobShape, PaceNumber, PowerSupply, PowerTerms, Procs, ResizeRules, ShapeTruth, Span, Time,
    WorkloadShapes, multiply_span,
};
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
    #[serde(skip)]
    terms: Option<Arc<PowerTerms>>,
    #[serde(skip)]
    rules: ResizeRules,
    of: BTreeMap<JobId, u32>,
    /// Shapes of running jobs, learned while they run.
    learned: BTreeMap<JobId, JobShape>,
    /// Running jobs whose size has changed, or is to change.
    pub(crate) states: BTreeMap<JobId, SizeState>,
    /// Running and suspended jobs that have another pace than the full one.
    pub(crate) paces: BTreeMap<JobId, PaceNumber>,
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
    /// Time at which the pending change began, where processors are given back at its end.
    pub(crate) changes_since: Option<Time>,
    /// The job before the changes of the last instant that changed it.
    pub(crate) base: Option<SizeBase>,
    /// Earlier sizes and speeds, and the seconds of progress at each.
    pub(crate) progress: Vec<(Procs, Decimal, Span)>,
    /// Time at which it is killed, where its limit stays as it was at its start.
    pub(crate) limit: Option<Time>,
    /// Predicted seconds that are left beyond that time.
    pub(crate) beyond: Span,
    /// Time of the suspension, where the job is suspended and its limit does not move.
    pub(crate) paused: Option<Time>,
}

/// A running job before the changes of an instant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SizeBase {
    pub(crate) at: Time,
    pub(crate) procs: Procs,
    pub(crate) pace: PaceNumber,
    pub(crate) stall: Span,
    /// Predicted seconds left at that size and pace.
    pub(crate) left: Span,
}

impl SizeState {
    /// A job whose size has not changed.
    pub(crate) fn new() -> SizeState {
        SizeState {
            stall: Span::ZERO,
            pending: None,
            changes_since: None,
            base: None,
            progress: Vec::new(),
            limit: None,
            beyond: Span::ZERO,
            paused: None,
        }
    }
}

impl ShapeWorld {
    /// Shapes of jobs that are still to come.
    pub(crate) fn new(shapes: &WorkloadShapes, is_clairvoyant: bool) -> ShapeWorld {
        let WorkloadShapes { known, truths, power, terms, rules, .. } = shapes;
        // A limit at which no job is killed changes no end.
        let keeps_limits = rules.keeps_limits && truths.iter().any(|truth| truth.cut);
        ShapeWorld {
            known: known.clone(),
            truths: is_clairvoyant.then(|| truths.clone()),
            power: power.clone(),
            terms: terms.clone(),
            rules: ResizeRules { keeps_limits, ..*rules },
            ..ShapeWorld::default()
        }
    }

    /// Takes from another what is no part of a saved state.
    pub(crate) fn adopt_tables(&mut self, source: &ShapeWorld) {
        (self.known, self.truths, self.power) = (source.known.clone(), source.truths.clone(), source.power.clone());
        (self.terms, self.rules) = (source.terms.clone(), source.rules);
    }

    pub(crate) fn assign_shape(&mut self, id: JobId, shape: u32) {
        self.of.insert(id, shape);
    }

    pub(crate) fn forget_before(&mut self, oldest: JobId) {
        self.of = self.of.split_off(&oldest);
        self.learned = self.learned.split_off(&oldest);
        self.paces = self.paces.split_off(&oldest);
    }

    /// Replaces all learned shapes by those of these jobs. Returns whether any differ.
    pub(crate) fn replace_learned(&mut self, shapes: BTreeMap<JobId, JobShape>) -> bool {
        let is_new = self.learned != shapes;
        self.learned = shapes;
        is_new
    }

    /// Returns the shape of a job; `None` of one that is rigid and draws nothing.
    #[must_use]
    pub fn job_shape(&self, id: JobId) -> Option<&JobShape> {
        match self.of.get(&id) {
            Some(at) => self.known.get(*at as usize),
            None => self.learned.get(&id),
        }
    }

    /// Returns whether any job asks for a size.
    #[must_use]
    pub fn has_asks(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns the pace of a running or suspended job; the full one of any other.
    #[inline]
    #[must_use]
    pub fn job_pace(&self, id: JobId) -> PaceNumber {
        self.paces.get(&id).copied().unwrap_or(0)
    }

    /// Returns the speed of a running or suspended job as a share of the full one.
    pub(crate) fn job_speed(&self, id: JobId) -> Decimal {
        match self.job_pace(id) {
            0 => Decimal::ONE,
            pace => self.job_shape(id).map_or(Decimal::ONE, |shape| shape.numbered_pace(pace).speed),
        }
    }

    pub(crate) fn set_pace(&mut self, id: JobId, pace: PaceNumber) {
        match pace {
            0 => self.paces.remove(&id),
            _ => self.paces.insert(id, pace),
        };
    }

    pub(crate) fn shape_index(&self, id: JobId) -> Option<usize> {
        self.of.get(&id).map(|at| *at as usize)
    }

    /// The power of the machine; `None` where it is neither limited nor counted.
    #[must_use]
    pub fn power(&self) -> Option<&PowerSupply> {
        self.power.as_deref()
    }

    /// Carbon intensity and price over time, where they are known.
    #[must_use]
    pub fn terms(&self) -> Option<&PowerTerms> {
        self.terms.as_deref()
    }

    /// Rules of the machine for changes of size.
    #[must_use]
    pub fn resize_rules(&self) -> ResizeRules {
        self.rules
    }

    /// Returns the run time of a job at a size as far as the scheduler knows: the estimate, or of a
    /// clairvoyant scheduler the truth.
    pub(crate) fn known_run(&self, id: JobId, estimate: Span, size: Procs) -> Option<Span> {
        let shape = self.job_shape(id)?;
        if let Some(truth) = self.truths.as_ref().and_then(|truths| truths.get(self.shape_index(id)?)) {
            return Some(truth.run_at(size, shape));
        }
        Some(shape.estimate_at(estimate, size))
    }

    /// Returns the predicted run time at a size of a waiting job, `prediction` being that at the
    /// preferred one.
    pub(crate) fn predicted_run(&self, id: JobId, estimate: Span, prediction: Span, size: Procs) -> Span {
        let Some(shape) = self.job_shape(id) else { return prediction };
        if size == shape.preferred {
            return prediction;
        }
        if prediction == estimate && self.truths.is_none() {
            return shape.estimate_at(estimate, size);
        }
        match self.known_run(id, estimate, shape.preferred) {
            Some(run) if run == prediction => self.known_run(id, estimate, size).unwrap_or(prediction),
            _ => shape.convert_time(prediction, shape.preferred, size),
        }
    }

    /// Returns what is predicted to be left of a running job when it changes from one size and pace
    /// to others, in seconds at the new ones.
    pub(crate) fn convert_remaining(
        &self,
        id: JobId,
        (estimate, left): (Span, Span),
        from: (Procs, PaceNumber),
        to: (Procs, PaceNumber),
    ) -> Span {
        let time_left = left.max(Span(1));
        let run =
            |(size, pace)| Some(self.job_shape(id)?.numbered_pace(pace).run_time(self.known_run(id, estimate, size)?));
        match (run(from), run(to)) {
            (Some(at), Some(then)) if at > Span::ZERO && from != to => {
                multiply_span(time_left, (then.0.max(0) as u128, at.0 as u128)).max(Span(1))
            }
            _ => time_left,
        }
    }

    /// Processors that a running job holds beyond its size, because it is to grow.
    pub(crate) fn reserve_of(&self, id: JobId, size: Procs) -> Procs {
        let pending = self.states.get(&id).and_then(|state| state.pending);
        pending.map_or(0, |(to, _)| to.saturating_sub(size))
    }

    /// Returns the time at which a job that begins a change at `at` gives processors back.
    pub(crate) fn release_time(&self, id: JobId, at: Time, from: Procs, to: Procs) -> Time {
        match self.rules.releases_late && to < from {
            true => at + self.job_shape(id).map_or(Span::ZERO, |shape| shape.shrink_cost),
            false => at,
        }
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
