//! Messages of the hook in the controller: lines of the wake file.

use crate::cluster::JobName;
use serde::{Deserialize, Serialize};

/// Position in the wake file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WakePosition {
    /// Number of the file in its file system: a large one is put aside, and another begun.
    pub file: u64,
    /// Bytes from the beginning of the file.
    pub offset: u64,
}

impl WakePosition {
    /// Returns the earlier of two positions, or that of no file if they are in different ones.
    pub fn earlier_of(self, position: WakePosition) -> WakePosition {
        if self.file == position.file {
            WakePosition { offset: self.offset.min(position.offset), ..self }
        } else {
            WakePosition::default()
        }
    }

    /// Returns whether what ends here was read by one that has read up to `other`.
    pub fn is_within(self, position: WakePosition) -> bool {
        self.file == position.file && self.offset <= position.offset
    }
}

/// Message of the hook in the controller about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HookMessage {
    /// A user holds a job, which may be held by us already.
    Hold(JobName),
    /// A user takes that back.
    Release(JobName),
    /// The hook held it, and an administrator overwrites the comment that says so.
    Overwritten(JobName),
    /// An operator holds a job that is held already.
    Keep(JobName),
    /// An operator or the daemon holds a released job.
    Rehold(JobName),
}

impl HookMessage {
    /// Parses a line of the wake file, if it says more than "look". A user cannot write to the
    /// file; an unknown line only wakes the daemon.
    pub fn parse(line: &str) -> Option<HookMessage> {
        let (verb, number) = line.split_once(' ')?;
        let name = JobName::parse(number.trim())?;
        match verb {
            "hold" => Some(HookMessage::Hold(name)),
            "release" => Some(HookMessage::Release(name)),
            "overwritten" => Some(HookMessage::Overwritten(name)),
            "keep" => Some(HookMessage::Keep(name)),
            "rehold" => Some(HookMessage::Rehold(name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_hook() {
        assert_eq!(HookMessage::parse("hold 21"), Some(HookMessage::Hold(JobName { id: 21, task: None })));
        assert_eq!(HookMessage::parse("release 7_3"), Some(HookMessage::Release(JobName { id: 7, task: Some(3) })));
        let array = JobName { id: 7, task: None };
        assert_eq!(HookMessage::parse("overwritten 7"), Some(HookMessage::Overwritten(array)));
        assert_eq!(HookMessage::parse("keep 7"), Some(HookMessage::Keep(array)));
        assert_eq!(HookMessage::parse("rehold 7"), Some(HookMessage::Rehold(array)));
        for line in ["submit", "change 7", "7 COMPLETED", "hold x", "hold -1", "hold 2_", "hold _3", ""] {
            assert_eq!(HookMessage::parse(line), None, "{line}");
        }
    }
}
