//! Thresholds of excessive waits, from numbers or from a baseline.

use super::measures::UnknownWord;
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
    pub fn resolve_seconds(self, baseline: Option<&Report>) -> Option<Span> {
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
