//! Reasons of waits as they were recorded.

use serde::{Deserialize, Serialize};

/// The recorded reason for which jobs waited longest for more than a place on the machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordedReason {
    /// Word of the scheduler, such as `QOSMaxCpuPerUserLimit`.
    pub name: String,
    /// Its part of all waiting, from 0 to 1.
    pub share: f64,
    /// The part of all such reasons.
    pub all: f64,
}

impl RecordedReason {
    pub(super) fn describe_reason(&self) -> String {
        let percent = |share: f64| format!("{:.0}%", share * 100.0);
        let other_share = match self.all - self.share {
            more if more >= 0.005 => format!(", and {} for others of its kind", percent(more)),
            _ => String::new(),
        };
        format!("{} of the waiting was for {}{other_share}", percent(self.share), self.name)
    }
}
