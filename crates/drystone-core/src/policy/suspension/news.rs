//! Processors that go: what policies that name them must know.

use super::task::Task;
use crate::model::{ProcSet, Time};
use crate::policy::{Loss, View};

/// The announced windows, as of the present decision.
#[derive(Default)]
pub(super) struct Ahead {
    windows: Vec<Loss>,
}

impl Ahead {
    /// Looks at what is known now.
    #[inline]
    pub(super) fn look(&mut self, view: &View<'_>) {
        self.windows.clear();
        if let Some(outlook) = view.outlook() {
            self.windows.extend_from_slice(outlook.windows());
        }
    }

    /// The processors that go before a job ends, if it goes on now.
    #[inline]
    pub(super) fn barred(&self, task: &Task, now: Time) -> ProcSet {
        if self.windows.is_empty() {
            return ProcSet::new();
        }
        let end = now.saturating_add(task.left());
        ProcSet::union_of(self.windows.iter().filter(|window| window.from < end).map(|window| &window.on))
    }
}

/// Whether two sets have a processor in common; one of them is empty, as a rule.
#[inline]
pub(super) fn meets(set: &ProcSet, other: &ProcSet) -> bool {
    !other.is_empty() && !set.is_disjoint(other)
}
