//! Settings of a forecaster, in numbers.

use drystone_core::model::Span;
use serde::{Deserialize, Serialize};

/// The numbers of a forecaster. The defaults were chosen on logs of three machines and are flat:
/// the page on start times says how flat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ForecasterSettings {
    /// Futures per question.
    pub samples: u32,
    /// Futures per rehearsed answer, of which only the level of the start is kept.
    pub rehearsed: u32,
    /// Work that all futures of a look may take where the policy is simulated itself, as
    /// [`ForecasterSettings::work_of_step`] counts it: where more would be needed, fewer futures
    /// are simulated, twenty at least. It does not depend on the machine's speed, so that answers
    /// do not, either.
    pub look_work: u64,
    /// Work that all answers of a rehearsal may take; where more would be needed, answers have
    /// fewer futures, five at least. Once twice as much is spent, no further job is asked about.
    pub rehearsal_work: u64,
    /// Ended jobs kept of each kind of history.
    pub kept: usize,
    /// Weight of an ended job relative to the one that ended after it.
    pub decay: f64,
    /// Weight at which a history gets half of what the wider ones leave: same user, limit and size;
    /// same user and limit; same user.
    pub trust: [f64; 3],
    /// Probability that a job shares its luck with the others of its user and limit.
    pub coupling: f64,
    /// Probability that all jobs of a user and limit share their luck in a future: a batch is short
    /// or long as a whole.
    pub batch_coupling: f64,
    /// Least weight of the best statistic of the past in an answer; what the learned weight lacks
    /// counts only as far as the statistic is earlier than the futures.
    pub hedge: f64,
    /// Days of the past that are replayed as the future; 0 for a future without arrivals.
    pub days: u32,
    /// Past predictions that calibrate.
    pub window: usize,
    /// Pseudo-predictions that keep the calibration near the identity.
    pub pseudo: usize,
    /// Length of futures: a job that has not started by then has no start in that future.
    pub horizon: Span,
    /// The time of a midnight before a Monday, which tells working days from weekends.
    pub monday: i64,
    /// Determines every random number.
    pub seed: u64,
}

impl Default for ForecasterSettings {
    fn default() -> ForecasterSettings {
        ForecasterSettings {
            samples: 100,
            rehearsed: 100,
            look_work: u64::MAX,
            rehearsal_work: u64::MAX,
            kept: 30,
            decay: 0.85,
            trust: [3.0, 3.0, 2.0],
            coupling: 0.6,
            batch_coupling: 0.4,
            hedge: 0.25,
            days: 28,
            window: 1000,
            pseudo: 20,
            horizon: Span(14 * Span::DAY.0),
            monday: 0,
            seed: 1,
        }
    }
}

impl ForecasterSettings {
    /// Returns the work of one step of a future while so many jobs wait.
    #[must_use]
    pub fn work_of_step(waiting: u32) -> u64 {
        u64::from(waiting) + 16
    }
}
