//! Counters, and the last notes for people.

use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Number of notes kept.
const NOTES: usize = 50;

/// Something for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PersonNote {
    /// Time, in seconds since 1970.
    pub at: i64,
    pub text: String,
}

/// Counters since the daemon began.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Stats {
    /// Looks that the cluster answered, and that it did not.
    pub looks: u64,
    /// Looks that came to nothing.
    pub failures: u64,
    /// True if the last look failed.
    pub silent: bool,
    /// True if released jobs do not start although there is room.
    pub stalled: bool,
    /// Decisions that led to something.
    pub decisions: u64,
    /// Starts that were decided, or proposed where the daemon only looks.
    pub starts: u64,
    /// Orders by verb and outcome.
    pub orders: BTreeMap<String, u64>,
    /// Jobs whose numbers were passed over: they came and went unseen.
    pub missed: u64,
    /// Number of differences between the books and the last look.
    pub differences: u64,
    /// Notes for people, the last one last.
    pub notes: VecDeque<PersonNote>,
}

impl Stats {
    pub(super) fn note_text(&mut self, at: i64, text: &str) {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(PersonNote { at, text: text.to_string() });
    }

    pub(super) fn count_order(&mut self, verb: &str, outcome: &str) {
        *self.orders.entry(format!("{verb} {outcome}")).or_insert(0) += 1;
    }
}
