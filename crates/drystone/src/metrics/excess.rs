//! Waits beyond a threshold (Chiang & Vasupongayya 2008).

use super::measures::excessive_wait;
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// Waits in excess of one threshold.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExcessiveWait {
    /// The threshold.
    pub threshold: Span,
    /// Jobs that waited longer.
    pub count: u64,
    /// Sum of their waits beyond the threshold, in seconds.
    pub total: f64,
    /// Mean over these jobs, in seconds; `None` where there is none.
    pub mean: Option<f64>,
}

/// Adds up excessive waits for one threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExcessWaits {
    threshold: Span,
    count: u64,
    total: i128,
}

impl ExcessWaits {
    pub(super) fn new(threshold: Span) -> ExcessWaits {
        ExcessWaits { threshold, count: 0, total: 0 }
    }

    pub(super) fn take_wait(&mut self, wait: Span) {
        let excess = excessive_wait(wait, self.threshold);
        self.count += u64::from(excess > Span::ZERO);
        self.total += i128::from(excess.0);
    }

    pub(super) fn finish(self) -> ExcessiveWait {
        let total = self.total as f64;
        ExcessiveWait {
            threshold: self.threshold,
            count: self.count,
            total,
            mean: (self.count > 0).then(|| total / self.count as f64),
        }
    }
}
