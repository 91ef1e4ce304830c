//! The choices that make one EASY differ from another.

use super::{NaiveEasyOrder, NaiveGrowth, NaiveLearnerPredictor};
use crate::predict::NaiveForecast;

/// Moments at which the scheduler examines the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaivePass {
    /// Once per instant, after all terminations, expiries and arrivals of that second. What a pass
    /// itself causes at the same second (a job of no run time ends) is applied next, with another
    /// pass.
    PerInstant,
    /// After every single event; a pass then sees running jobs that end at this very second but
    /// have not been handled.
    PerEvent,
}

/// Processors that the head leaves over at its shadow time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveExtra {
    /// Everything free at the shadow time: all running jobs that end up to it are counted.
    All,
    /// The walk over the running jobs, by (predicted end, index), stops at the first one that makes
    /// the head fit.
    FirstSufficient,
}

/// Meaning of a running job's predicted end that has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveEasyOverdue {
    /// The job counts as ending now: the shadow is never in the past.
    EndsNow,
    /// The passed end is used as it is: the shadow may lie in the past, and then only extra
    /// processors can be used.
    Stale,
}

/// Jobs that hold a reservation during a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reservations {
    /// No job overtakes at all: starts stop at the first job that does not fit.
    NoOvertaking,
    /// The first this many jobs that cannot start.
    ///
    /// * 0: a job that fits starts, after the front of the queue in backfill order.
    /// * 1: EASY; the shadow and the extra processors decide ([`NaiveExtra`],
    ///   [`NaiveEasyOverdue`]).
    /// * k ≥ 2: the queue is walked in queue order. A job that can start now without disturbing the
    ///   reservations made so far in this pass starts; any other gets one at its earliest start.
    ///   The walk stops with the k-th reservation; the jobs behind it are tried in backfill order
    ///   and start where they disturb none. Overdue jobs count as ending now for the plan, but no
    ///   job starts on processors that are not free. A prediction of 0 occupies one second of the
    ///   plan.
    First(usize),
}

/// One policy of the family.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Easy {
    /// Moments at which the scheduler examines the queue.
    pub pass: NaivePass,
    /// Processors that the head leaves over.
    pub extra: NaiveExtra,
    /// Meaning of a predicted end that has passed.
    pub overdue: NaiveEasyOverdue,
    /// Order of the queue: which job is the head.
    pub queue: NaiveEasyOrder,
    /// Order in which jobs behind the head are tried.
    pub backfill: NaiveEasyOrder,
    /// Jobs that hold a reservation.
    pub reservations: Reservations,
    /// Predictor of the run time of an arriving job.
    pub predictor: NaiveLearnerPredictor,
    /// Rule 12: every prediction is doubled, whatever it comes from.
    pub doubled: bool,
    /// Rule 8: a job that outlives its prediction gets a longer one.
    pub corrected: bool,
    /// Growth of the prediction up to the estimate.
    pub growth: NaiveGrowth,
    /// Section 4: a job is backfilled only if its estimated end respects the reservation, not just
    /// its predicted one.
    pub guarded: bool,
    /// Section 4, second solution: reservations are made and jobs admitted by estimates;
    /// predictions only put jobs in order. A job that has outlived its estimate counts until its
    /// prediction.
    pub plan_by_estimates: bool,
    /// Section 4, first solution: the reservation that is recorded is the one that estimates give.
    pub announce_by_estimates: bool,
    /// A job that has waited longer than this many seconds heads the queue; of several the first to
    /// arrive.
    pub starve: Option<i64>,
}

impl Default for Easy {
    /// EASY with user estimates, as Kettimuthu et al. (2005) and Lawson et al. (2002) use it.
    fn default() -> Easy {
        Easy {
            pass: NaivePass::PerInstant,
            extra: NaiveExtra::All,
            overdue: NaiveEasyOverdue::EndsNow,
            queue: NaiveEasyOrder::Fcfs,
            backfill: NaiveEasyOrder::Fcfs,
            reservations: Reservations::First(1),
            predictor: NaiveLearnerPredictor::Estimate,
            doubled: false,
            corrected: false,
            growth: NaiveGrowth::AtOnce,
            guarded: false,
            plan_by_estimates: false,
            announce_by_estimates: false,
            starve: None,
        }
    }
}

impl Easy {
    /// Returns the way it plans with run times.
    pub(super) fn forecast(&self) -> NaiveForecast {
        let factor = if self.doubled { 2 } else { 1 };
        NaiveForecast { predictor: self.predictor, factor, correction: self.corrected.then_some(self.growth) }
    }
}
