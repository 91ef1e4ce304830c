//! Resources beyond processors, as the suspending policies count them within a pass.
//!
//! A suspended job keeps what [stays](crate::model::Resource) with it, such as memory, and gives
//! back the rest, which it needs again to resume.

use super::seats::PassNodes;
use super::task::SuspensionTask;
use crate::model::{ProcSet, ResourceId, ResourceTable};
use crate::policy::View;
use std::sync::Arc;

/// Free amounts of each resource during a pass. Without further resources nothing is ever missing.
#[derive(Default)]
pub(super) struct PassLevels {
    table: Option<Arc<ResourceTable>>,
    levels: Vec<i64>,
    /// Nodes, where jobs are placed on such.
    pub(super) nodes: Option<PassNodes>,
}

/// Amounts that a job needs beyond what is free, of resources that suspended jobs give back. Empty:
/// the job lacks nothing.
#[derive(Clone, Default)]
pub(super) struct LackedAmounts(Vec<(ResourceId, i64)>);

impl LackedAmounts {
    /// Returns whether nothing is missing.
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl PassLevels {
    /// Looks at what is free now.
    #[inline]
    pub(super) fn look(&mut self, view: &View<'_>) {
        if let Some(resources) = view.resources() {
            self.table = Some(Arc::clone(resources.table()));
            self.levels.clear();
            self.levels.extend_from_slice(resources.levels());
            self.nodes = view.nodes().map(|nodes| PassNodes::of_now(nodes, view));
        }
    }

    /// Returns whether there are further resources.
    #[inline]
    pub(super) fn are_counted(&self) -> bool {
        self.table.is_some()
    }

    /// Calls `each` with what a job takes now: all that it asks for, or what a suspended one gave
    /// back (`passing`); `stays` is true for what a suspended job keeps.
    fn parts(&self, task: &SuspensionTask, passing: bool, mut each: impl FnMut(ResourceId, i64, bool)) {
        let Some(table) = &self.table else { return };
        for &(id, amount) in table.totals(task.demand) {
            let stays = table.resource(id).is_some_and(|resource| resource.stays);
            if !(passing && stays) {
                each(id, amount as i64, stays);
            }
        }
    }

    /// Amounts that an idle job lacks; `None` where suspensions do not help, for it lacks something
    /// that suspended jobs keep.
    #[inline]
    pub(super) fn missing(&self, task: &SuspensionTask) -> Option<LackedAmounts> {
        if self.table.is_none() {
            return Some(LackedAmounts::default());
        }
        let (mut missing, mut kept) = (LackedAmounts::default(), false);
        self.parts(task, task.has_run(), |id, amount, stays| {
            let lack = amount - self.levels[id.index()];
            if lack > 0 {
                kept |= stays;
                missing.0.push((id, lack));
            }
        });
        (!kept).then_some(missing)
    }

    /// Returns whether everything that an idle job takes is free.
    #[inline]
    pub(super) fn serve(&self, task: &SuspensionTask) -> bool {
        self.missing(task).is_some_and(|missing| missing.is_none())
    }

    /// Returns whether a running job, once suspended, gives back some of what is missing.
    #[inline]
    pub(super) fn helps(&self, missing: &LackedAmounts, running: &SuspensionTask) -> bool {
        let mut helps = false;
        if !missing.is_none() {
            self.parts(running, true, |id, _, _| helps |= missing.0.iter().any(|lack| lack.0 == id));
        }
        helps
    }

    /// Reduces what is missing by what a running job gives back.
    #[inline]
    pub(super) fn relieve(&self, missing: &mut LackedAmounts, running: &SuspensionTask) {
        if missing.is_none() {
            return;
        }
        self.parts(running, true, |id, amount, _| {
            missing.0.iter_mut().filter(|lack| lack.0 == id).for_each(|lack| lack.1 -= amount);
        });
        missing.0.retain(|lack| lack.1 > 0);
    }

    /// An idle job starts or resumes.
    #[inline]
    pub(super) fn take(&mut self, task: &SuspensionTask) {
        self.change(task, task.has_run(), -1);
    }

    /// An idle job that starts or resumes has these processors.
    #[inline]
    pub(super) fn seat(&mut self, task: &mut SuspensionTask, set: &ProcSet) {
        if let Some(nodes) = &mut self.nodes {
            nodes.seat(task, set);
        }
    }

    /// A running job is suspended.
    #[inline]
    pub(super) fn give_back(&mut self, task: &SuspensionTask) {
        self.change(task, true, 1);
        if let Some(nodes) = &mut self.nodes {
            nodes.park(task);
        }
    }

    /// Returns whether a suspension or an end of this job gives back something that suspended jobs
    /// need again; on nodes that may be any of it.
    #[inline]
    pub(super) fn passes(&self, task: &SuspensionTask) -> bool {
        let mut passes = self.nodes.is_some();
        self.parts(task, true, |_, _, _| passes = true);
        passes
    }

    fn change(&mut self, task: &SuspensionTask, passing: bool, sign: i64) {
        if self.table.is_none() {
            return;
        }
        let mut levels = std::mem::take(&mut self.levels);
        self.parts(task, passing, |id, amount, _| levels[id.index()] += sign * amount);
        self.levels = levels;
    }
}
