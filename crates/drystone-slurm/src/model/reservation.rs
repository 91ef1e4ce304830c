//! Advance reservations: what they keep from jobs, and what their own jobs may use.

use super::{NONE, NodeSet};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AdvanceReservation {
    pub name: String,
    /// Begin in seconds.
    pub begin: i64,
    /// End in seconds.
    pub end: i64,
    pub nodes: NodeSet,
    /// True if it was made for all nodes (`Nodes=ALL`).
    pub all: bool,
    pub maint: bool,
    pub overlap: bool,
    /// The partition whose nodes it has (`PART_NODES`); [`NONE`] without that flag.
    pub part: u32,
    /// Licences by index, and how many.
    pub licences: Vec<(u16, u32)>,
}

/// An end that is not known.
const NO_END: i64 = i64::MAX / 4;
/// The name of what is announced to be out, which no job asks for.
const OUTAGE: &str = "(outage)";

impl AdvanceReservation {
    /// Nodes that are announced to be out, up to a time if that is known.
    pub fn for_outage(nodes: NodeSet, begin: i64, end: Option<i64>) -> AdvanceReservation {
        let (name, end) = (OUTAGE.to_string(), end.unwrap_or(NO_END));
        AdvanceReservation { name, begin, end, nodes, maint: true, part: NONE, ..AdvanceReservation::default() }
    }

    /// Returns whether it is such an outage.
    pub fn is_outage(&self) -> bool {
        self.name == OUTAGE
    }

    /// Returns whether its end is known.
    pub fn has_end(&self) -> bool {
        self.end < NO_END
    }

    pub(super) fn meets_window(&self, start: i64, end: i64) -> bool {
        self.begin < end && self.end > start
    }
}
