//! Resources beyond processors, as the suspending policies count them within a pass.
//!
//! A suspended job keeps what [stays](crate::model::Resource) with it, such as memory, and gives
//! back the rest, which it needs again to resume. Where changes of supply are announced, enough
//! must also be left for a job at each change before its end, beside the jobs that run beyond that
//! change.

use super::seats::PassNodes;
use super::task::{SuspensionTask, believed_length};
use crate::model::{ProcSet, ResourceId, ResourceTable, Span, Time};
use crate::policy::View;
use crate::policy::free_resources::release_totals;
use std::sync::Arc;

/// Free amounts of each resource during a pass. Without further resources nothing is ever missing.
#[derive(Default)]
pub(super) struct PassLevels {
    table: Option<Arc<ResourceTable>>,
    now: Time,
    levels: Vec<i64>,
    /// Announced changes of supply, in order of time.
    ahead: Vec<LevelsAhead>,
    /// Nodes, where jobs are placed on such.
    pub(super) nodes: Option<PassNodes>,
}

/// Free amounts at an announced change of supply, if the running jobs end as believed.
struct LevelsAhead {
    at: Time,
    levels: Vec<i64>,
}

/// Amounts that a job needs beyond what is free, of resources that suspended jobs give back. Empty:
/// the job lacks nothing.
#[derive(Clone, Default)]
pub(super) struct LackedAmounts(Vec<LackedAmount>);

/// An amount that a job lacks.
#[derive(Clone, Copy)]
struct LackedAmount {
    /// Time at which the amount is missing: the present, or an announced change of supply.
    at: Time,
    resource: ResourceId,
    amount: i64,
}

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
    pub(super) fn observe_levels(&mut self, view: &View<'_>) {
        if let Some(resources) = view.resources() {
            self.table = Some(Arc::clone(resources.table()));
            self.levels.clear();
            self.levels.extend_from_slice(resources.levels());
            self.now = view.current_time();
            self.ahead.clear();
            if view.outlook().is_some_and(|outlook| !outlook.supply_changes().is_empty()) {
                self.look_ahead(view);
            }
            self.nodes = PassNodes::of_now(view);
        }
    }

    /// Works out what is free at each announced change of supply.
    #[cold]
    fn look_ahead(&mut self, view: &View<'_>) {
        let (Some(outlook), Some(table)) = (view.outlook(), &self.table) else { return };
        let mut levels = self.levels.clone();
        for steps in outlook.supply_changes().chunk_by(|a, b| a.at == b.at) {
            steps.iter().for_each(|step| levels[step.resource.index()] += step.change);
            self.ahead.push(LevelsAhead { at: steps[0].at, levels: levels.clone() });
        }
        for job in view.running_jobs().iter() {
            let end = view
                .current_time()
                .saturating_add(Span(believed_length(view.prediction(job.id)) - view.run_time_so_far(job.id).0));
            for ahead in self.ahead.iter_mut().filter(|ahead| ahead.at >= end) {
                release_totals(&mut ahead.levels, table.demand_totals(view.job(job.id).demand));
            }
        }
    }

    /// Returns whether there are further resources.
    #[inline]
    pub(super) fn are_counted(&self) -> bool {
        self.table.is_some()
    }

    /// Calls `each` with what a job takes now: all that it asks for, or what a suspended one gave
    /// back (`passing`); `stays` is true for what a suspended job keeps.
    fn visit_parts(&self, task: &SuspensionTask, passing: bool, mut each: impl FnMut(ResourceId, i64, bool)) {
        let Some(table) = &self.table else { return };
        for &(id, amount) in table.demand_totals(task.demand) {
            let stays = table.find_resource(id).is_some_and(|resource| resource.stays);
            if !(passing && stays) {
                each(id, amount as i64, stays);
            }
        }
    }

    /// Amounts that an idle job lacks; `None` where suspensions do not help, for it lacks something
    /// that suspended jobs keep.
    #[inline]
    pub(super) fn missing_amounts(&self, task: &SuspensionTask) -> Option<LackedAmounts> {
        if self.table.is_none() {
            return Some(LackedAmounts::default());
        }
        let (mut missing, mut lacks_kept) = (LackedAmounts::default(), false);
        let end = self.now.saturating_add(task.remaining_time());
        let ahead = self.ahead.iter().take_while(|ahead| ahead.at < end);
        for (at, levels) in [(self.now, &self.levels)].into_iter().chain(ahead.map(|ahead| (ahead.at, &ahead.levels))) {
            self.visit_parts(task, task.has_run(), |resource, amount, stays| {
                let lack = amount - levels[resource.index()];
                if lack > 0 {
                    lacks_kept |= stays;
                    missing.0.push(LackedAmount { at, resource, amount: lack });
                }
            });
        }
        (!lacks_kept).then_some(missing)
    }

    /// Returns whether everything that an idle job takes is free.
    #[inline]
    pub(super) fn can_serve(&self, task: &SuspensionTask) -> bool {
        self.missing_amounts(task).is_some_and(|missing| missing.is_none())
    }

    /// Returns whether a running job, once suspended, gives back some of what is missing.
    #[inline]
    pub(super) fn can_help(&self, missing: &LackedAmounts, running: &SuspensionTask) -> bool {
        let mut helps = false;
        if !missing.is_none() {
            let end = self.end_of(running);
            let lacks = |id| missing.0.iter().any(|lack| lack.resource == id && (lack.at == self.now || lack.at < end));
            self.visit_parts(running, true, |id, _, _| helps |= lacks(id));
        }
        helps
    }

    /// Reduces what is missing by what a running job gives back.
    #[inline]
    pub(super) fn relieve_missing(&self, missing: &mut LackedAmounts, running: &SuspensionTask) {
        if missing.is_none() {
            return;
        }
        let (now, end) = (self.now, self.end_of(running));
        self.visit_parts(running, true, |id, amount, _| {
            let lacks = missing.0.iter_mut().filter(|lack| lack.resource == id && (lack.at == now || lack.at < end));
            lacks.for_each(|lack| lack.amount -= amount);
        });
        missing.0.retain(|lack| lack.amount > 0);
    }

    fn end_of(&self, running: &SuspensionTask) -> Time {
        running.since.saturating_add(Span(running.length - running.ran.0))
    }

    /// An idle job starts or resumes.
    #[inline]
    pub(super) fn take_amounts(&mut self, task: &SuspensionTask) {
        let end = self.now.saturating_add(task.remaining_time());
        self.change_amounts(task, task.has_run(), end, -1);
    }

    /// An idle job that starts or resumes has these processors.
    #[inline]
    pub(super) fn seat_task(&mut self, task: &mut SuspensionTask, set: &ProcSet) {
        if let Some(nodes) = &mut self.nodes {
            nodes.seat_task(task, set);
        }
    }

    /// A running job is suspended.
    #[inline]
    pub(super) fn give_back(&mut self, task: &SuspensionTask) {
        let end = self.now.saturating_add(Span(task.length - task.ran.0));
        self.change_amounts(task, true, end, 1);
        if let Some(nodes) = &mut self.nodes {
            nodes.park_task(task);
        }
    }

    /// Returns whether a suspension or an end of this job gives back something that suspended jobs
    /// need again; on nodes that may be any of it.
    #[inline]
    pub(super) fn frees_needed_amounts(&self, task: &SuspensionTask) -> bool {
        let mut passes = self.nodes.is_some();
        self.visit_parts(task, true, |_, _, _| passes = true);
        passes
    }

    /// Takes what a job takes now (`sign` −1), or gives it back (+1). The job is believed to run
    /// until `end`.
    fn change_amounts(&mut self, task: &SuspensionTask, passing: bool, end: Time, sign: i64) {
        if self.table.is_none() {
            return;
        }
        let mut levels = std::mem::take(&mut self.levels);
        self.visit_parts(task, passing, |id, amount, _| levels[id.index()] += sign * amount);
        self.levels = levels;
        if self.ahead.is_empty() {
            return;
        }
        let mut ahead = std::mem::take(&mut self.ahead);
        for LevelsAhead { at, levels } in &mut ahead {
            if *at < end {
                self.visit_parts(task, passing, |id, amount, _| levels[id.index()] += sign * amount);
            } else if passing {
                // By then a resumed job no longer holds what stays with it; a suspended one still
                // does.
                self.visit_parts(task, false, |id, amount, stays| {
                    levels[id.index()] -= if stays { sign * amount } else { 0 }
                });
            }
        }
        self.ahead = ahead;
    }
}
