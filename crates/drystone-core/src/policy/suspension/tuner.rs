//! SF chosen automatically: ours, beyond the paper.

use super::ratio::DecimalRatio;
use serde::{Deserialize, Serialize};

/// Completed jobs between two changes.
const BATCH: u32 = 100;
/// Bounds of SF in thousandths.
const LEAST: i64 = 1_100;
const MOST: i64 = 20_000;

/// Holds the number of suspensions per completed job near a target: after each batch of completions
/// SF grows by a tenth if there were more, and shrinks by as much if there were fewer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tuner {
    target: f64,
    /// SF in thousandths.
    factor: i64,
    completions: u32,
    suspensions: u32,
}

impl Tuner {
    pub(super) fn new(target: DecimalRatio) -> Tuner {
        Tuner { target: target.as_f64(), factor: 2_000, completions: 0, suspensions: 0 }
    }

    pub(super) fn note_suspension(&mut self) {
        self.suspensions += 1;
    }

    /// A job has completed; answers the new SF where it changes.
    pub(super) fn note_completion(&mut self) -> Option<DecimalRatio> {
        self.completions += 1;
        if self.completions < BATCH {
            return None;
        }
        let rate = f64::from(self.suspensions) / f64::from(self.completions);
        (self.completions, self.suspensions) = (0, 0);
        let factor = if rate > self.target { self.factor * 11 / 10 } else { self.factor * 10 / 11 };
        self.factor = factor.clamp(LEAST, MOST);
        Some(DecimalRatio::from_thousandths(self.factor))
    }
}
