//! Waits beyond a threshold (Chiang & Vasupongayya 2008).

use super::measures::{UnknownWord, excessive_wait};
use super::report::Report;
use crate::model::Span;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A threshold for excessive waits: a number, or taken from a run of a baseline policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// A fixed length of time.
    Fixed(Span),
    /// The longest wait under the baseline.
    BaselineMax,
    /// The 98th percentile of the waits under the baseline.
    BaselineP98,
}

impl Threshold {
    /// The threshold in seconds, those of a baseline rounded up. `None` where it needs a baseline
    /// and there is none, or the baseline has no job or no percentiles.
    #[must_use]
    pub fn resolve(self, baseline: Option<&Report>) -> Option<Span> {
        let wait = || baseline.map(|b| &b.measures.wait);
        let seconds = match self {
            Threshold::Fixed(span) => return Some(span),
            Threshold::BaselineMax => wait()?.max?,
            Threshold::BaselineP98 => wait()?.p98?,
        };
        Some(Span(seconds.ceil() as i64))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Fixed(span) => span.fmt(f),
            Threshold::BaselineMax => f.write_str("baseline-max"),
            Threshold::BaselineP98 => f.write_str("baseline-p98"),
        }
    }
}

impl FromStr for Threshold {
    type Err = UnknownWord;

    /// A number of seconds, `baseline-max` or `baseline-p98`.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match (word, word.parse::<i64>()) {
            ("baseline-max", _) => Ok(Threshold::BaselineMax),
            ("baseline-p98", _) => Ok(Threshold::BaselineP98),
            (_, Ok(seconds)) if seconds >= 0 => Ok(Threshold::Fixed(Span(seconds))),
            _ => Err(UnknownWord {
                what: "threshold",
                word: word.to_string(),
                expected: "a number of seconds, baseline-max or baseline-p98".to_string(),
            }),
        }
    }
}

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

    pub(super) fn take(&mut self, wait: Span) {
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
