//! Measures at one decision: how jobs count, and how their terms become a value.

use super::measures::{GoalMeasure, MOST_MEASURES};
use super::task::GoalTask;
use crate::model::Procs;

/// Unit of [`GoalMeasure::Slowdown`]: a slowdown of 1.
const ONE: i64 = 1 << 32;

/// Bound of the bounded slowdown, in seconds.
const BOUND: i64 = 60;

/// A job as the search sees it; times relative to the present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SearchRow {
    /// Planned run time, at least 1 s.
    pub(super) span: i64,
    /// Wait so far.
    pub(super) age: i64,
    /// Increase of its slowdown per second of wait, in units of 2⁻⁶⁴.
    pub(super) pace: u64,
    /// Processors it needs.
    pub(super) procs: Procs,
    /// Weight of its wait in each measure of the objective that weighs waits.
    pub(super) weights: [u16; MOST_MEASURES],
}

impl SearchRow {
    /// Placed for `span`, with the slowdown of a job that runs for `run`.
    pub(super) fn new(procs: Procs, span: i64, run: i64, age: i64) -> SearchRow {
        let bounded_run = run.max(BOUND) as u128;
        SearchRow {
            span,
            age,
            pace: (((1 << 64) + bounded_run / 2) / bounded_run) as u64,
            procs,
            weights: [0; MOST_MEASURES],
        }
    }
}

/// A measure at one decision: thresholds resolved, in a form that is cheap to add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GoalRule {
    MaxWait,
    /// Sum of waits beyond a threshold.
    Excess(i64),
    /// Sum of waits.
    Wait,
    /// Sum of bounded slowdowns.
    Slowdown,
    /// Maximum of end × processors − work; `last` is the last end of a running job.
    Unused {
        procs: i64,
        work: i64,
        last: i64,
    },
    /// Number of waits beyond a threshold.
    Late(i64),
    /// Sum of waits × processors.
    Area,
    /// Sum of waits × the weight for this measure.
    Weighted(usize),
    /// Maximum of waits beyond a threshold.
    LargestExcess(i64),
}

impl GoalRule {
    /// The term of a job that starts `start` seconds from now. Never negative, and never less for a
    /// later start.
    #[inline(always)]
    pub(super) fn compute_term(self, job: &SearchRow, start: i64) -> i64 {
        let wait = job.age.saturating_add(start);
        match self {
            GoalRule::MaxWait | GoalRule::Wait => wait,
            GoalRule::Excess(threshold) | GoalRule::LargestExcess(threshold) => (wait - threshold).max(0),
            GoalRule::Slowdown => compute_slowdown(wait, job.pace),
            GoalRule::Unused { procs, work, last } => {
                start.saturating_add(job.span).max(last).saturating_mul(procs).saturating_sub(work).max(0)
            }
            GoalRule::Late(threshold) => i64::from(wait > threshold),
            GoalRule::Area => wait.saturating_mul(i64::from(job.procs)),
            GoalRule::Weighted(at) => wait.saturating_mul(i64::from(job.weights[at])),
        }
    }

    /// Returns whether terms are added up; otherwise the largest counts.
    #[inline(always)]
    pub(super) fn is_sum(self) -> bool {
        !matches!(self, GoalRule::MaxWait | GoalRule::Unused { .. } | GoalRule::LargestExcess(_))
    }
}

/// The slowdown of a job that waits for so long, in units of 1 / [`ONE`]. Waits of up to a hundred
/// years are off by no more than a unit.
#[inline(always)]
fn compute_slowdown(wait: i64, pace: u64) -> i64 {
    let added_slowdown = (i128::from(wait) * i128::from(pace) + (1 << 31)) >> 32;
    i64::try_from(added_slowdown).map_or(i64::MAX, |extra| extra.saturating_add(ONE))
}

impl GoalMeasure {
    /// The measure for the decision of a task; it is the `at`-th of its objective.
    pub(super) fn rule_for_task(self, at: usize, task: &GoalTask) -> GoalRule {
        match self {
            GoalMeasure::MaxWait => GoalRule::MaxWait,
            GoalMeasure::Excess(threshold) => GoalRule::Excess(threshold.map_or_else(|| task.oldest_wait(), |t| t.0)),
            GoalMeasure::LargestExcess(threshold) => {
                GoalRule::LargestExcess(threshold.map_or_else(|| task.oldest_wait(), |t| t.0))
            }
            GoalMeasure::Wait => GoalRule::Wait,
            GoalMeasure::Slowdown => GoalRule::Slowdown,
            GoalMeasure::Unused => {
                let last = task.running_ends().map(|(end, _)| end).max().unwrap_or(0);
                GoalRule::Unused { procs: i64::from(task.procs()), work: task.remaining_work(), last }
            }
            GoalMeasure::Late(threshold) => GoalRule::Late(threshold.0),
            GoalMeasure::Area => GoalRule::Area,
            GoalMeasure::Fair(_) | GoalMeasure::Special(_) | GoalMeasure::ShareArea(_) => GoalRule::Weighted(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job of 4 processors and 600 s that has waited for 100 s and starts in 50 s.
    #[test]
    fn terms_by_hand() {
        let job = SearchRow::new(4, 600, 600, 100);
        assert_eq!(GoalRule::MaxWait.compute_term(&job, 50), 150);
        assert_eq!(GoalRule::Wait.compute_term(&job, 50), 150);
        assert_eq!(GoalRule::Excess(120).compute_term(&job, 50), 30);
        assert_eq!(GoalRule::Excess(200).compute_term(&job, 50), 0);
        assert_eq!(GoalRule::Late(149).compute_term(&job, 50), 1);
        assert_eq!(GoalRule::Late(150).compute_term(&job, 50), 0);
        assert_eq!(GoalRule::Area.compute_term(&job, 50), 600);
        let mut heavy = job;
        heavy.weights[2] = 7;
        assert_eq!([GoalRule::Weighted(1), GoalRule::Weighted(2)].map(|rule| rule.compute_term(&heavy, 50)), [0, 1050]);
        // 10 processors until 650 s from now, less the 4 × 600 s of work.
        assert_eq!(GoalRule::Unused { procs: 10, work: 2400, last: 0 }.compute_term(&job, 50), 4100);
        // A running job that ends at 700 s is the last.
        assert_eq!(GoalRule::Unused { procs: 10, work: 2400, last: 700 }.compute_term(&job, 50), 4600);
        // 1 + 150/600 = 1.25; a job of a second counts as one of a minute: 1 + 90/60 = 2.5.
        let slowdown = |job: &SearchRow, start| GoalRule::Slowdown.compute_term(job, start) as f64 / ONE as f64;
        assert!((slowdown(&job, 50) - 1.25).abs() < 1e-6);
        // Placed for 600 s and believed to run for 300 s: 1 + 150/300.
        assert!((slowdown(&SearchRow::new(4, 600, 300, 100), 50) - 1.5).abs() < 1e-6);
        assert!((slowdown(&SearchRow::new(1, 1, 1, 40), 50) - 2.5).abs() < 1e-6);
    }

    #[test]
    fn absurd_times_saturate() {
        let job = SearchRow::new(u32::MAX, i64::MAX / 4, 1, i64::MAX / 2);
        for rule in [
            GoalRule::MaxWait,
            GoalRule::Excess(0),
            GoalRule::Slowdown,
            GoalRule::Unused { procs: 1 << 31, work: 0, last: 0 },
            GoalRule::Area,
        ] {
            assert!(rule.compute_term(&job, i64::MAX / 2) > 0, "{rule:?}");
        }
    }
}
