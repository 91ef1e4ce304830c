//! Effort of a policy that searches, from its notes.

use crate::engine::Notes;
use crate::policy::Gauge;
use serde::{Deserialize, Serialize};

/// Effort of the searches of a simulation, all decisions together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SearchEffort {
    /// Decisions at which there was something to search.
    pub searches: u64,
    /// Nodes placed.
    pub nodes: u64,
    /// Paths followed to their end.
    pub paths: u64,
    /// Number of times that a path was better than the best before it.
    pub improvements: u64,
    /// Searches that exhausted their tree: nothing better was left.
    pub exhausted: u64,
}

impl SearchEffort {
    /// `None` where the policy has not searched. O(notes).
    #[must_use]
    pub fn from_notes(notes: &Notes) -> Option<SearchEffort> {
        let mut sums = SearchEffort::default();
        for note in &notes.list {
            let value = note.value.max(0) as u64;
            match note.gauge {
                Gauge::Nodes => {
                    sums.searches += 1;
                    sums.nodes += value;
                }
                Gauge::Paths => sums.paths += value,
                Gauge::Improvements => sums.improvements += value,
                Gauge::Exhausted => sums.exhausted += value,
                _ => {}
            }
        }
        (sums.searches > 0).then_some(sums)
    }
}
