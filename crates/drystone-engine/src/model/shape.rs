//! Shapes of jobs: the sizes that a job may have, and its run time at each.
//!
//! A [`JobShape`] is what a scheduler may know; a [`ShapeTruth`] is what the machine alone knows.

mod paces;
mod power;
mod rules;
mod series;
mod sizes;
mod speedup;

use super::{Procs, Span};
pub use paces::{JobPace, PaceNumber};
pub use power::{PowerCap, PowerSupply, UNLIMITED};
pub use rules::ResizeRules;
use serde::{Deserialize, Serialize};
pub use series::{PowerTerm, PowerTerms};
pub use sizes::SizeSet;
pub(crate) use speedup::multiply_span;
pub use speedup::{Decimal, SPEEDUPS, Speedup};

crate::word_enum! {
    /// Kind of a job, by who chooses its size and when.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
    pub enum JobKind {
        /// The user chose it at the submission.
        #[default]
        Rigid = "rigid",
        /// The scheduler chooses it at the start, for life.
        Moldable = "moldable",
        /// The scheduler chooses it at the start and while the job runs.
        Malleable = "malleable",
        /// The job asks for it while it runs.
        Evolving = "evolving",
        /// Malleable and evolving.
        Adaptive = "adaptive",
    }
}

impl JobKind {
    /// Returns whether the scheduler may change its size while it runs.
    #[inline]
    #[must_use]
    pub fn is_malleable(self) -> bool {
        matches!(self, JobKind::Malleable | JobKind::Adaptive)
    }

    /// Returns whether it may ask for another size while it runs.
    #[inline]
    #[must_use]
    pub fn can_ask(self) -> bool {
        matches!(self, JobKind::Evolving | JobKind::Adaptive)
    }
}

/// Facts about a job's sizes that a scheduler may know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobShape {
    /// Kind of the job.
    pub kind: JobKind,
    /// Its sizes.
    pub sizes: SizeSet,
    /// The preferred one: [`Job::procs`](super::Job::procs).
    pub preferred: Procs,
    /// The size that the log gives it.
    pub reference: Procs,
    /// The speedup as far as the scheduler knows.
    pub declared: Speedup,
    /// Estimate at the reference.
    pub reference_estimate: Span,
    /// Estimates are no less than these run times at each size.
    pub least: Option<(Speedup, Span)>,
    /// Changes take effect at multiples of this time; [`Span::ZERO`]: at any time.
    pub every: Span,
    /// Time without progress when it grows.
    pub grow_cost: Span,
    /// Time without progress when it shrinks.
    pub shrink_cost: Span,
    /// Draw of each processor that it holds at its full pace, above idle.
    pub watts: u64,
    /// Its paces from the full one down, with draws that fall; empty where there is none but the
    /// full one.
    pub paces: Vec<JobPace>,
}

/// Seconds at a size, where `base` is the time at the reference.
fn seconds_at_size(speedup: &Speedup, base: Span, reference: Procs, size: Procs) -> Span {
    speedup.listed_seconds(size).unwrap_or_else(|| speedup.convert_run(base, reference, size))
}

impl JobShape {
    /// Returns the estimate at a size, of a job with this estimate at its preferred size.
    #[must_use]
    pub fn estimate_at(&self, estimate: Span, size: Procs) -> Span {
        if size == self.preferred {
            return estimate;
        }
        if estimate == self.estimate_of_log(self.preferred) {
            return self.estimate_of_log(size);
        }
        self.convert_time(estimate, self.preferred, size)
    }

    /// Returns the estimate at a size as the log and the shape say it.
    #[must_use]
    pub fn estimate_of_log(&self, size: Procs) -> Span {
        let estimate = seconds_at_size(&self.declared, self.reference_estimate, self.reference, size);
        match &self.least {
            None => estimate,
            Some((speedup, run)) => estimate.max(seconds_at_size(speedup, *run, self.reference, size)),
        }
    }

    /// Returns a time at one size as a time at another, as far as the scheduler knows, rounded up.
    #[must_use]
    pub fn convert_time(&self, time: Span, from: Procs, to: Procs) -> Span {
        self.declared.convert_run(time, from, to)
    }

    /// Returns the time without progress at a change of size.
    #[inline]
    #[must_use]
    pub fn resize_cost(&self, from: Procs, to: Procs) -> Span {
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.grow_cost,
            std::cmp::Ordering::Greater => self.shrink_cost,
            std::cmp::Ordering::Equal => Span::ZERO,
        }
    }
}

/// Facts about a job's sizes that only the machine knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShapeTruth {
    /// The true speedup.
    pub speedup: Speedup,
    /// The size that the log gives it.
    pub reference: Procs,
    /// Run time at the reference.
    pub reference_run: Span,
    /// Run times are no more than the estimates.
    pub cut: bool,
    /// The share of its work that is done when it asks for a size, and the size.
    pub asks: Vec<(Decimal, Procs)>,
}

impl ShapeTruth {
    /// Returns the run time at a size of a job with this shape.
    #[must_use]
    pub fn run_at(&self, size: Procs, shape: &JobShape) -> Span {
        let run = self.whole_run_at(size);
        if self.cut { run.min(shape.estimate_of_log(size)) } else { run }
    }

    /// Returns the run time at a size that no limit cuts.
    #[must_use]
    pub fn whole_run_at(&self, size: Procs) -> Span {
        seconds_at_size(&self.speedup, self.reference_run, self.reference, size)
    }
}

/// The shapes of a workload's jobs, and the power that its machine has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkloadShapes {
    /// Known facts of the jobs that have a shape.
    pub known: std::sync::Arc<Vec<JobShape>>,
    /// True facts, in the same order.
    pub truths: std::sync::Arc<Vec<ShapeTruth>>,
    /// Index of the shape of each job, in order of arrival; `None` of a job that is rigid and draws
    /// nothing.
    pub of: Vec<Option<u32>>,
    /// Power over time, where it is limited or counted.
    pub power: Option<std::sync::Arc<PowerSupply>>,
    /// Carbon intensity and price over time, where they are known.
    pub terms: Option<std::sync::Arc<PowerTerms>>,
    /// Rules of the machine for changes of size.
    pub rules: ResizeRules,
}

impl WorkloadShapes {
    /// Returns the shape of the job at this place.
    #[must_use]
    pub fn shape_at(&self, place: usize) -> Option<(&JobShape, &ShapeTruth)> {
        let at = self.of.get(place).copied().flatten()? as usize;
        Some((self.known.get(at)?, self.truths.get(at)?))
    }

    /// Returns whether any job has slower paces than the full one.
    #[must_use]
    pub fn has_paces(&self) -> bool {
        self.known.iter().any(|shape| !shape.paces.is_empty())
    }

    /// Returns the size that the log gives the job at this place, and the run time at it; `None` of
    /// a job without a shape.
    pub(super) fn recorded_at(&self, place: usize) -> Option<(Procs, Span)> {
        let (shape, truth) = self.shape_at(place)?;
        Some((shape.reference, truth.run_at(shape.reference, shape)))
    }

    /// Returns those of the jobs at the places that are kept.
    #[must_use]
    pub fn restrict_to(&self, keeps: impl Fn(usize) -> bool) -> WorkloadShapes {
        let kept_shapes = self.of.iter().enumerate().filter(|(place, _)| keeps(*place));
        WorkloadShapes { of: kept_shapes.map(|(_, at)| *at).collect(), ..self.clone() }
    }

    /// Returns them with times of power that are earlier by so much.
    #[must_use]
    pub fn shifted_earlier(&self, by: Span) -> WorkloadShapes {
        let power = self.power.as_ref().map(|power| std::sync::Arc::new(power.shifted_earlier(by)));
        let terms = self.terms.as_ref().map(|terms| std::sync::Arc::new(terms.shifted_earlier(by)));
        WorkloadShapes { power, terms, ..self.clone() }
    }

    /// Returns those of the jobs at these places.
    #[must_use]
    pub fn slice_jobs(&self, places: std::ops::Range<usize>) -> WorkloadShapes {
        let of = self.of.get(places).unwrap_or_default().to_vec();
        WorkloadShapes { of, ..self.clone() }
    }
}
