//! Objective over jobs: the mean or the maximum of a measure.

use super::Measure;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The mean or the maximum of a measure over the jobs that count; less is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MeasureObjective {
    /// The measure.
    pub measure: Measure,
    /// True for the maximum, false for the mean.
    pub maximum: bool,
}

impl Default for MeasureObjective {
    fn default() -> MeasureObjective {
        MeasureObjective { measure: Measure::BoundedSlowdown, maximum: false }
    }
}

impl fmt::Display for MeasureObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.measure.id(), if self.maximum { "max" } else { "mean" })
    }
}

impl FromStr for MeasureObjective {
    type Err = String;

    fn from_str(text: &str) -> Result<MeasureObjective, String> {
        let parse = || {
            let (measure, statistic) = text.trim().rsplit_once('_')?;
            let maximum = match statistic {
                "mean" => false,
                "max" => true,
                _ => return None,
            };
            Some(MeasureObjective { measure: measure.parse().ok()?, maximum })
        };
        parse().ok_or_else(|| {
            let measures = Measure::ALL.map(Measure::id).join("|");
            format!("`{text}` is no objective; expected ({measures})_(mean|max), such as bounded_slowdown_mean")
        })
    }
}
