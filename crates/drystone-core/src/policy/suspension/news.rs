//! Processors that go: what policies that name them must know.

use super::task::SuspensionTask;
use crate::model::{ProcSet, Procs, Time};
use crate::policy::{CapacityLoss, View};

#[derive(Default)]
pub(super) struct AnnouncedWindows {
    windows: Vec<CapacityLoss>,
}

impl AnnouncedWindows {
    /// Looks at what is known now.
    #[inline]
    pub(super) fn observe_windows(&mut self, view: &View<'_>) {
        let windows = view.outlook().map_or(&[][..], |outlook| outlook.windows());
        if self.windows != windows {
            self.windows = windows.to_vec();
        }
    }

    /// The processors that go before a job ends, if it resumes now.
    #[inline]
    pub(super) fn barred_processors(&self, task: &SuspensionTask, now: Time) -> ProcSet {
        let end = now.saturating_add(task.remaining_time());
        match self.windows.iter().take_while(|window| window.from < end).count() {
            0 => ProcSet::new(),
            1 => self.windows[0].on.clone(),
            many => ProcSet::union_of(self.windows[..many].iter().map(|window| &window.on)),
        }
    }

    /// Returns whether a job cannot resume now, whatever runs: too few processors stay until its
    /// end, or not those that it must resume on (`pinned`). That stays so until a window begins or
    /// is forgotten, or the job's prediction changes.
    #[inline]
    pub(super) fn rules_out(&self, task: &SuspensionTask, is_pinned: bool, machine: Procs, now: Time) -> bool {
        let end = now.saturating_add(task.remaining_time());
        let ahead = self.windows.iter().take_while(|window| window.from < end);
        if is_pinned {
            return ahead.into_iter().any(|window| have_common_processor(&task.set, &window.on));
        }
        // The widest alone: that suffices where the whole machine goes.
        ahead.map(|window| window.on.len()).max().is_some_and(|most| machine.saturating_sub(most) < task.procs)
    }
}

/// Returns whether two sets have a processor in common; one of them is empty, as a rule.
#[inline]
pub(super) fn have_common_processor(set: &ProcSet, counterpart: &ProcSet) -> bool {
    !counterpart.is_empty() && !set.is_disjoint(counterpart)
}
