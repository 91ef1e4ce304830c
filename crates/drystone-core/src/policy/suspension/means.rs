//! Running means of slowdowns, or of turnarounds, by category: rule S9.

use super::ratio::Ratio;
use super::settings::{LimitOf, LimitOn, SuspensionLimit};
use super::task::SuspensionTask;
use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};

/// 4 classes of run time (up to 10 min, 1 h, 8 h, more) × 4 of processors (1, up to 8, up to 32,
/// more).
fn category_index(task: &SuspensionTask) -> usize {
    let class = |value: i64, borders: [i64; 3]| borders.iter().filter(|&&border| value > border).count();
    4 * class(task.length, [600, 3_600, 28_800]) + class(i64::from(task.procs), [1, 8, 32])
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ForceLimits {
    limit: SuspensionLimit,
    on: LimitOn,
    of: LimitOf,
    /// The one category with a limit, if it is one.
    only: Option<usize>,
    /// Sum and number per category of what is limited.
    known: [(f64, f64); 16],
    /// The highest value at which a job of each category may be suspended.
    highest: [f64; 16],
}

impl ForceLimits {
    pub(super) fn new(limit: SuspensionLimit, on: LimitOn, of: LimitOf, only: Option<usize>) -> ForceLimits {
        let mut highest = match &limit {
            SuspensionLimit::Given { factor, means } => means.map(|mean| factor * mean),
            SuspensionLimit::None | SuspensionLimit::Online { .. } => [f64::INFINITY; 16],
        };
        for (at, highest) in highest.iter_mut().enumerate() {
            if only.is_some_and(|only| only != at) {
                *highest = f64::INFINITY;
            }
        }
        ForceLimits { limit, on, of, only, known: [(0.0, 0.0); 16], highest }
    }

    /// The limited quantity of a job of this priority: (w + e) / e, or w + e.
    #[inline]
    fn limited_quantity(&self, tau: Ratio) -> f64 {
        match self.of {
            LimitOf::Slowdown => tau.as_f64(),
            LimitOf::Turnaround => tau.over as f64,
        }
    }

    /// Returns whether a running job has too high a priority to be suspended.
    #[inline]
    pub(super) fn is_sheltered(&self, task: &SuspensionTask) -> bool {
        self.limit != SuspensionLimit::None
            && self.on == LimitOn::Victim
            && self.limited_quantity(task.running_priority()) > self.highest[category_index(task)]
    }

    /// Returns whether a job of this priority has too high a one to suspend a running job.
    #[inline]
    pub(super) fn is_forbidden(&self, tau: Ratio, task: &SuspensionTask) -> bool {
        self.on == LimitOn::Preemptor
            && self.limit != SuspensionLimit::None
            && self.limited_quantity(tau) > self.highest[category_index(task)]
    }

    /// Returns whether no job is ever sheltered, whatever job asks.
    pub(super) fn is_none(&self) -> bool {
        self.limit == SuspensionLimit::None || self.on == LimitOn::Preemptor
    }

    pub(super) fn learn_completion(&mut self, task: &SuspensionTask, now: Time) {
        let SuspensionLimit::Online { factor } = self.limit else { return };
        let run = task.executed_time(now);
        let floor = run.max(Span(10)).as_f64();
        let at = category_index(task);
        if self.only.is_some_and(|only| only != at) {
            return;
        }
        let (sum, count) = &mut self.known[at];
        *sum += match self.of {
            LimitOf::Slowdown => ((now - task.submit - run).as_f64() + floor) / floor,
            LimitOf::Turnaround => (now - task.submit).as_f64(),
        };
        *count += 1.0;
        self.highest[at] = factor * (*sum / *count);
    }
}
