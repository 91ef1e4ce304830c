//! Promised starts, and what they leave to others.

use crate::model::{JobId, Procs, SharedSort, Span, Time};
use crate::parts::{FitStairs, Profile};
use crate::policy::View;
use crate::room::pass_pools::PassPools;
use crate::room::planned::PlannedJob;
use serde::{Deserialize, Serialize};

/// A promised start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PromisedStart {
    pub(super) at: Time,
    pub(super) id: JobId,
    pub(super) procs: Procs,
    /// Planned run time, at least 1 s.
    pub(super) span: Span,
    /// The job may not start before.
    pub(super) ready: Time,
    /// Its queue.
    pub(super) class: usize,
    /// Processors left over at `at` when all jobs that run then and all that are promised that time
    /// have theirs.
    pub(super) left: Procs,
}

impl PromisedStart {
    pub(super) fn promised_end(&self) -> Time {
        self.at.saturating_add(self.span)
    }

    pub(super) fn planned_job(&self) -> PlannedJob {
        PlannedJob { start: self.at, id: self.id, procs: self.procs, span: self.span }
    }
}

/// The promises in order of time, with what each leaves over: enough to know, without a plan of the
/// future, whether a job that starts now disturbs any (free processors fall only where a promise
/// begins).
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct PromiseList {
    list: Vec<PromisedStart>,
}

impl PromiseList {
    pub(super) fn iter(&self) -> impl Iterator<Item = &PromisedStart> + '_ {
        self.list.iter()
    }

    pub(super) fn set_promises(&mut self, promises: Vec<PromisedStart>) {
        self.list = promises;
        self.list.sort_shared_by_key(|p| (p.at, p.id));
    }

    pub(super) fn first_promise(&self) -> Option<&PromisedStart> {
        self.list.first()
    }

    pub(super) fn find_promise(&self, id: JobId) -> Option<&PromisedStart> {
        self.list.iter().find(|p| p.id == id)
    }

    /// A job starts now that will be gone by `end`.
    pub(super) fn note_start(&mut self, end: Time, procs: Procs) {
        for promise in self.list.iter_mut().take_while(|p| p.at < end) {
            debug_assert!(promise.left >= procs, "a start disturbs the promise of {}", promise.id);
            promise.left = promise.left.saturating_sub(procs);
        }
    }

    /// Adds a promise that `profile` holds already.
    pub(super) fn add_promise(&mut self, promise: PromisedStart, profile: &Profile) {
        for neighbour in &mut self.list {
            if promise.at <= neighbour.at && neighbour.at < promise.promised_end() {
                neighbour.left = neighbour.left.saturating_sub(promise.procs);
            }
        }
        let at = self.list.partition_point(|p| (p.at, p.id) < (promise.at, promise.id));
        self.list.insert(at, PromisedStart { left: profile.free_at(promise.at), ..promise });
    }

    /// Takes out a promise that is kept now, or dropped. Where it is kept, the job runs in its
    /// place and nothing changes for the others; where not, see [`PromiseList::drop`].
    pub(super) fn remove(&mut self, id: JobId) -> Option<PromisedStart> {
        let at = self.list.iter().position(|p| p.id == id)?;
        Some(self.list.remove(at))
    }

    /// Takes out a promise that will not be kept: its processors are left over again.
    pub(super) fn drop(&mut self, id: JobId) -> Option<PromisedStart> {
        let dropped_promise = self.remove(id)?;
        for neighbour in &mut self.list {
            if dropped_promise.at <= neighbour.at && neighbour.at < dropped_promise.promised_end() {
                neighbour.left += dropped_promise.procs;
            }
        }
        Some(dropped_promise)
    }

    /// Changes the known facts of a promised job; the promises must be placed again then.
    pub(super) fn update_prediction(&mut self, id: JobId, span: Span, class: usize) {
        if let Some(promise) = self.list.iter_mut().find(|p| p.id == id) {
            (promise.span, promise.class) = (span, class);
        }
    }

    /// Changes queues where borders have moved.
    pub(super) fn reassign_classes(&mut self, class: impl Fn(&PromisedStart) -> usize) {
        self.list.iter_mut().for_each(|p| p.class = class(p));
    }

    /// Puts every promise at its earliest place in `profile`, in order of their times. No job is
    /// moved back as long as running jobs end by their predicted ends. Tells each that moved.
    pub(super) fn replace_promises(
        &mut self,
        now: Time,
        profile: &mut Profile,
        (mut pools, view): (Option<&mut PassPools>, &View<'_>),
        mut note_move: impl FnMut(JobId, Time),
    ) {
        for promise in &mut self.list {
            let ready = now.max(promise.ready);
            let start = match &pools {
                None => profile.earliest_start(promise.procs, promise.span, ready),
                Some(pools) => pools.earliest_start((promise.id, promise.procs, promise.span), profile, ready, view),
            };
            let start = start.unwrap_or(Time::MAX);
            if let Some(pools) = &mut pools {
                pools.reserve_seat(promise.id, (start, start.saturating_add(promise.span)), None, view);
            }
            if start < Time::MAX {
                profile.reserve_procs(start, start.saturating_add(promise.span), promise.procs);
            }
            if start != promise.at {
                promise.at = start;
                note_move(promise.id, start);
            }
        }
        self.list.sort_shared_by_key(|p| (p.at, p.id));
        for promise in &mut self.list {
            promise.left = profile.free_at(promise.at);
        }
    }

    /// Takes the processors of all promises out of a profile of running jobs.
    pub(super) fn reserve_promises(&self, profile: &mut Profile) {
        for promise in self.list.iter().filter(|p| p.at < Time::MAX) {
            profile.reserve_procs(promise.at, promise.promised_end(), promise.procs);
        }
    }

    /// Computes the condition for a start now beside the promises.
    pub(super) fn compute_stairs(&self, now: Time, free: Procs, stairs: &mut FitStairs) {
        stairs.free = free;
        stairs.steps.clear();
        stairs.steps.extend(self.list.iter().filter(|p| p.at < Time::MAX).map(|p| (p.at - now, p.left)));
    }
}
