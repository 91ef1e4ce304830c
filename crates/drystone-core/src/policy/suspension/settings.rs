//! The choices of selective suspension and immediate service.

use super::ratio::DecimalRatio;
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// Factor by which a waiting job's expansion factor must exceed that of a running one to suspend
/// it: SF.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum SuspensionFactor {
    /// This, at least 1.
    Fixed(DecimalRatio),
    /// Ours: starts at 2 and follows the number of suspensions per completed job, which it holds
    /// near `target`.
    Auto {
        /// Suspensions per completed job to aim at.
        target: DecimalRatio,
    },
}

/// Free processors that a fresh job may take. A suspended job owns the processors on which it must
/// resume.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FreshPlace {
    /// Only those that no suspended job owns, and those of its own victims.
    Strict,
    /// Also those whose owners' priority it exceeds SF times.
    PrioritySf,
    /// Also those whose owners' priority it reaches.
    Priority,
    /// In plain starts as [`FreshPlace::Strict`]; where the preemption routine starts it, all.
    Never,
    /// All, those without owner first, lowest numbers first.
    Avoid,
    /// All, lowest numbers first.
    Lowest,
    /// All: the shortest run of consecutive ones that is long enough, else the lowest.
    Contiguous,
}

impl FreshPlace {
    /// Returns whether the processors that a job may take change while nothing but time passes.
    pub(super) fn changes_with_time(self) -> bool {
        matches!(self, FreshPlace::PrioritySf | FreshPlace::Priority)
    }
}

/// Victims that a fresh job takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum VictimRule {
    /// Of all eligible ones the widest first (section 4.3, formulas).
    Widest,
    /// Eligible ones are collected in order of priority, lowest first, until they are enough; of
    /// these the widest first (the printed pseudocode, where ineligible jobs are skipped).
    Skip,
    /// As above, but the first ineligible job ends the search (the printed pseudocode with its
    /// early exit).
    Exit,
}

/// Above which priority a running job is not suspended any more (TSS), by its category.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum SuspensionLimit {
    /// No limit: SS.
    None,
    /// `factor` times the mean bounded slowdown of the jobs of its category that have completed;
    /// none yet: no limit.
    Online {
        /// 1.5 in the paper.
        factor: f64,
    },
    /// `factor` times these means.
    Given {
        /// 1.5 in the paper.
        factor: f64,
        /// Mean bounded slowdowns by category: run time class × 4 + class of processors.
        means: Box<[f64; 16]>,
    },
}

/// Job whose priority the limit is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum LimitOn {
    /// That of the job that would be suspended: the text of section 4.5.
    #[default]
    Victim,
    /// That of the job that would suspend it: the formula printed there.
    Preemptor,
}

/// Quantity that is limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum LimitOf {
    /// The expansion factor, against mean bounded slowdowns: what the paper shows.
    #[default]
    Slowdown,
    /// The turnaround if the job runs to its end now, in seconds, against mean turnarounds: what
    /// the paper suggests.
    Turnaround,
}

/// The choices of [`SelectivePolicy`](super::SelectivePolicy).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SuspensionSettings {
    /// SF.
    pub factor: SuspensionFactor,
    /// Jobs that are not suspended.
    pub limit: SuspensionLimit,
    /// Job whose priority it limits.
    pub limit_on: LimitOn,
    /// The one category to which the limit applies: run time class × 4 + class of processors;
    /// `None` for all.
    pub only: Option<usize>,
    /// Quantity that it limits.
    pub limit_of: LimitOf,
    /// Period of the preemption routine, which runs at multiples of it.
    pub every: Span,
    /// Processors that fresh jobs may take.
    pub place: FreshPlace,
    /// Victims that they take.
    pub victims: VictimRule,
    /// A fresh job suspends only jobs at most this many times as wide as itself; `None`: any.
    pub width: Option<u32>,
    /// True if jobs start only when the preemption routine runs.
    pub starts_at_ticks: bool,
    /// Ours: how often a job may be suspended.
    pub cap: Option<u32>,
    /// Ours: from this priority on the width of victims does not matter.
    pub relief: Option<DecimalRatio>,
    /// Ours: suspended jobs resume on any processors.
    pub migrate: bool,
}

/// The choices of [`Immediate`](super::Immediate).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Service {
    /// Run time of a job before it may be suspended.
    pub slice: Span,
    /// At multiples of this suspended jobs may suspend others to resume, and no other is tried
    /// between events.
    pub every: Span,
    /// Factor by which a suspended job's instantaneous expansion factor must exceed those of the
    /// jobs that it suspends to resume; `None`: it never suspends any.
    pub resume: Option<DecimalRatio>,
}
