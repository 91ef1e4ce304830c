//! Looks of the backfill pass before, which a pass repeats as long as nothing has changed but the
//! time.

use super::bounds::LateDemand;
use super::{NodeSet, PassVerdict, Pending};

/// Verdicts of a pass that has started no job, in the order of the queue.
#[derive(Clone, Debug, Default)]
pub(super) struct PastLooks {
    /// True if this pass repeats verdicts and notes its own.
    pub(super) is_on: bool,
    /// State of the cluster, and nodes in service.
    pub(super) state: u64,
    pub(super) up: NodeSet,
    /// Verdicts of this pass, then those of the one before.
    pub(super) looks: Vec<PastLook>,
    /// Number of those of this pass.
    pub(super) done: usize,
    /// Bound that the present look has shown.
    pub(super) late: Option<LateDemand>,
}

/// Verdict on a job, and what else the look has done.
#[derive(Clone, Debug)]
pub(super) struct PastLook {
    pub(super) job: Pending,
    /// True if it was to have no plan.
    pub(super) unplanned: bool,
    pub(super) verdict: PassVerdict,
    /// Number of jobs that it added to those tested.
    pub(super) tried: i64,
    /// Time before which the verdict is the same.
    pub(super) holds_until: i64,
    pub(super) late: Option<LateDemand>,
    /// True if its plan reaches the end of the table, and is cut there.
    pub(super) is_cut: bool,
}

impl PastLooks {
    /// A pass begins, and does not repeat verdicts unless that is asked for.
    pub(super) fn pause_repeats(&mut self) {
        self.is_on = false;
    }

    /// Forgets all verdicts, and notes no more of this pass.
    pub(super) fn stop_repeats(&mut self) {
        self.is_on = false;
        self.looks.clear();
    }

    /// The present look has shown that a demand cannot be met before a time.
    pub(super) fn note_late(&mut self, late: LateDemand) {
        self.late = Some(late);
    }

    /// Notes a verdict. Where it is another one than before, those behind it are forgotten; so they
    /// are where a table that reaches further may show more of a plan.
    pub(super) fn note_verdict(&mut self, look: PastLook) {
        let same = self.looks.get(self.done).is_some_and(|past| {
            let is_same = !past.is_cut && asks_alike(&past.job, &look.job);
            is_same && (past.tried, &past.verdict) == (look.tried, &look.verdict)
        });
        if same {
            self.looks[self.done] = look;
        } else {
            self.looks.truncate(self.done);
            self.looks.push(look);
        }
        self.done += 1;
    }
}

/// Returns whether two are the same job with the same request, whatever its priority is.
pub(super) fn asks_alike(first: &Pending, second: &Pending) -> bool {
    *first == Pending { priority: first.priority, ..second.clone() }
}
