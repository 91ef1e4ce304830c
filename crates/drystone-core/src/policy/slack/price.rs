//! Price of rearranging a plan (rules 10, 11c, 14, 17 and 18; Talby & Feitelson 1999, sections 4.2
//! to 4.4).
//!
//! The order of the multiplications is part of the specification: other orders round differently,
//! and a last bit can decide between two schedules.

use crate::model::{JobId, Procs, Span, Time};
use crate::room::planned::PlannedJob;
use serde::{Deserialize, Serialize};

/// Weight of each consideration: exponents between 0 and 1 of the factors of a price.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Weights {
    /// α_u, of the number of processors.
    pub utilisation: f64,
    /// α_t, of the delay.
    pub time: f64,
    /// α_p, of the ratio of priorities.
    pub priority: f64,
    /// α_f, of the share of slack that is left, on top of α_p.
    pub fairness: f64,
}

impl Default for Weights {
    /// All 1, as in the tables of the paper.
    fn default() -> Weights {
        Weights { utilisation: 1.0, time: 1.0, priority: 1.0, fairness: 1.0 }
    }
}

/// `base` to the power of `exponent`; an exponent of 1 leaves it as it is, to the last bit.
#[inline]
fn compute_power(base: f64, exponent: f64) -> f64 {
    if exponent == 1.0 { base } else { base.powf(exponent) }
}

impl Weights {
    /// The first term of a price: what it costs that the newcomer itself waits.
    #[inline]
    #[must_use]
    pub fn of_waiting(&self, procs: Procs, wait: Span) -> f64 {
        if wait == Span::ZERO { 0.0 } else { self.of_killing(procs, wait) }
    }

    /// Returns the price of throwing away a run of `span` on `procs` processors (section 4.7).
    #[inline]
    #[must_use]
    pub fn of_killing(&self, procs: Procs, span: Span) -> f64 {
        compute_power(f64::from(procs), self.utilisation) * compute_power(span.as_f64(), self.time)
    }
}

/// A planned job that could be delayed in favour of another, as section 4.4 of the paper has it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayedJob {
    /// Its processors.
    pub procs: Procs,
    /// s: by how many seconds it may still be delayed.
    pub slack: f64,
    /// s0: the slack it had when it arrived.
    pub first_slack: f64,
    /// p: its priority.
    pub priority: f64,
}

impl DelayedJob {
    /// Returns the price of a delay in favour of a job of this priority; infinite beyond the slack.
    #[must_use]
    pub fn delay_price(&self, by: Span, newcomer: f64, weights: &Weights) -> f64 {
        let planned_job = PlannedJob { start: Time::ZERO, id: JobId::default(), procs: self.procs, span: Span::ZERO };
        let DelayedJob { slack, first_slack, priority, .. } = *self;
        let stake = PromisedJob { planned: planned_job, priority, slack, first_slack }.compute_stake(newcomer, weights);
        if stake.can_bear(by) { stake.move_cost(by) } else { f64::INFINITY }
    }
}

/// A waiting job with what it was promised.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct PromisedJob {
    pub(super) planned: PlannedJob,
    /// p: its priority; −∞ for a job that runs only where it delays no other job.
    pub(super) priority: f64,
    /// s: by how many seconds it may still be delayed.
    pub(super) slack: f64,
    /// s0: the slack it had when it arrived.
    pub(super) first_slack: f64,
}

impl AsRef<PlannedJob> for PromisedJob {
    fn as_ref(&self) -> &PlannedJob {
        &self.planned
    }
}

impl AsMut<PlannedJob> for PromisedJob {
    fn as_mut(&mut self) -> &mut PlannedJob {
        &mut self.planned
    }
}

impl PromisedJob {
    /// The factors of its cost that are the same wherever it is moved in favour of a job of
    /// priority `newcomer`.
    pub(super) fn compute_stake(&self, newcomer: f64, weights: &Weights) -> Stake {
        let free = self.priority == f64::NEG_INFINITY;
        let disturbs_nobody = newcomer == f64::NEG_INFINITY;
        let slack = if free {
            f64::INFINITY
        } else if disturbs_nobody {
            // Any delay of another job is too much.
            self.slack.min(0.0)
        } else {
            self.slack
        };
        if free || disturbs_nobody {
            return Stake { slack, procs: 0.0, ratio: 0.0, fairness: 0.0, time: 1.0 };
        }
        let share = if self.first_slack == self.slack { 1.0 } else { self.first_slack / self.slack };
        Stake {
            slack,
            procs: compute_power(f64::from(self.planned.procs), weights.utilisation),
            ratio: compute_power(self.priority / newcomer, weights.priority),
            fairness: compute_power(share, weights.priority * weights.fairness),
            time: weights.time,
        }
    }
}

/// Loss of one waiting job when it is moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Stake {
    slack: f64,
    procs: f64,
    ratio: f64,
    fairness: f64,
    time: f64,
}

impl Stake {
    /// Returns whether a delay of `by` seconds keeps the promise.
    #[inline]
    pub(super) fn can_bear(&self, by: Span) -> bool {
        by.as_f64() <= self.slack
    }

    /// The cost of a move by `by` seconds that the job bears; negative where it moves up.
    #[inline]
    pub(super) fn move_cost(&self, by: Span) -> f64 {
        // Whole numbers below 2⁵³ are exact, so that the sign may come before or after the power.
        let amount = by.as_f64();
        let time = if self.time == 1.0 { amount } else { amount.signum() * amount.abs().powf(self.time) };
        if self.procs == 0.0 {
            return 0.0;
        }
        self.procs * time * self.ratio * self.fairness
    }

    /// The price of a delay of one second, by which the order `dc` sorts: infinite where not even
    /// that is possible.
    #[inline]
    pub(super) fn of_a_second(&self) -> f64 {
        if self.can_bear(Span(1)) { self.move_cost(Span(1)) } else { f64::INFINITY }
    }
}

/// SP: 1/2 for the average wait, 1 for twice as much or more.
#[inline]
pub(super) fn scheduler_priority(wait: Span, average_wait: f64) -> f64 {
    (wait.as_f64() / (2.0 * average_wait)).min(1.0)
}

/// s0, the slack of a job of priority `p`.
#[inline]
pub(super) fn first_slack(p: f64, slack_factor: f64, average_wait: f64) -> f64 {
    if p == f64::NEG_INFINITY { f64::INFINITY } else { ((1.0 - p) * slack_factor) * average_wait }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_engine::policy::Importance;

    fn waiting(procs: Procs, slack: f64, first_slack: f64, priority: f64) -> PromisedJob {
        let job = PlannedJob { start: Time(0), id: JobId(0), procs, span: Span(2) };
        PromisedJob { planned: job, priority, slack, first_slack }
    }

    fn price(job: &PromisedJob, by: i64, newcomer: f64, weights: &Weights) -> f64 {
        let stake = job.compute_stake(newcomer, weights);
        if stake.can_bear(Span(by)) { stake.move_cost(Span(by)) } else { f64::INFINITY }
    }

    /// Section 4.4: J1 (2 processors) or J2 (1 processor) is delayed by 2 s in favour of J3 (2
    /// processors), or J3 waits. The paper's sixth row was computed with α_p = 1/3, not with the
    /// 1/2 it prints; then its best schedule is S2.
    #[test]
    fn the_worked_example_of_the_paper() {
        let all_one = Weights::default();
        let half = Weights { utilisation: 0.5, ..all_one };
        let third = Weights { priority: 1.0 / 3.0, ..all_one };
        let inf = f64::INFINITY;
        let delay = |procs, [slack, priority]: [f64; 2]| DelayedJob { procs, slack, first_slack: 10.0, priority };
        type Row = (Weights, [f64; 2], [f64; 2], f64, [f64; 3], &'static str);
        let rows: [Row; 6] = [
            (all_one, [10.0, 0.5], [10.0, 0.75], 0.5, [4.0, 3.0, 4.0], "S2"),
            (all_one, [10.0, 0.15], [10.0, 0.9], 0.3, [4.0, 6.0, 2.0], "S3"),
            (all_one, [5.0, 0.15], [10.0, 0.9], 0.3, [4.0, 6.0, 4.0], "S1"),
            (all_one, [1.0, 0.15], [1.0, 0.9], 0.3, [4.0, inf, inf], "S1"),
            (half, [10.0, 0.5], [10.0, 0.75], 0.5, [2.828, 3.0, 2.828], "S1"),
            (third, [10.0, 0.15], [10.0, 0.9], 0.3, [4.0, 2.884, 3.175], "S2"),
        ];
        for (weights, j1, j2, p3, expected_prices, best) in rows {
            let prices = [
                weights.of_waiting(2, Span(2)),
                delay(1, j2).delay_price(Span(2), p3, &weights),
                delay(2, j1).delay_price(Span(2), p3, &weights),
            ];
            for (price, expected) in prices.into_iter().zip(expected_prices) {
                assert!(
                    price == expected || (price - expected).abs() < 0.0006,
                    "{weights:?}: {price} is not {expected}"
                );
            }
            // Among equals the one that moves fewest jobs: S1 moves none. Prices agree to the last
            // digit printed.
            let round = |x: f64| (x * 1e9).round();
            let cheapest = (0..3).min_by(|&a, &b| round(prices[a]).total_cmp(&round(prices[b]))).expect("three");
            assert_eq!(["S1", "S2", "S3"][cheapest], best, "{weights:?}");
        }
    }

    #[test]
    fn jobs_of_absolute_zero_disturb_nobody_and_may_be_moved_at_will() {
        let (w, never) = (Weights::default(), f64::NEG_INFINITY);
        let zero = waiting(4, f64::INFINITY, f64::INFINITY, never);
        assert_eq!(price(&zero, 1_000_000, 0.5, &w), 0.0);
        assert_eq!(price(&zero, -5, 0.5, &w), 0.0);
        assert_eq!(price(&zero, 1_000_000, never, &w), 0.0);
        let plain = waiting(4, 100.0, 100.0, 0.3);
        assert_eq!(price(&plain, 1, never, &w), f64::INFINITY);
        assert_eq!(price(&plain, -5, never, &w), 0.0);
    }

    #[test]
    fn used_up_slack_makes_a_move_up_worth_everything() {
        let w = Weights::default();
        let used_up = waiting(1, 0.0, 10.0, 0.3);
        assert_eq!(price(&used_up, 1, 0.5, &w), f64::INFINITY);
        assert_eq!(price(&used_up, -1, 0.5, &w), f64::NEG_INFINITY);
        // Both zero: nothing was used.
        assert_eq!(price(&waiting(1, 0.0, 0.0, 0.5), -1, 0.5, &w), -1.0);
    }

    #[test]
    fn slack_and_priority_of_section_4_3() {
        let plain = Importance::default();
        assert_eq!(plain.compute_priority(0.5), 0.5 / 3.0);
        assert_eq!(scheduler_priority(Span(2401), 2401.0), 0.5);
        assert_eq!(scheduler_priority(Span(100_000), 2401.0), 1.0);
        assert_eq!(first_slack(0.0, 3.0, 2401.0), 7203.0);
        let zero = Importance { user: 1.0, political: f64::NEG_INFINITY };
        assert_eq!(first_slack(zero.compute_priority(0.5), 3.0, 2401.0), f64::INFINITY);
    }
}
