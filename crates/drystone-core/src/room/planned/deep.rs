//! A plan's profile, kept in place where many jobs are planned.

use super::{PlannedJob, compress_in_place};
use crate::model::Time;
use crate::parts::{Chunked, Profile, RunningJob};
use drystone_engine::policy::{Outlook, View};
use serde::{Deserialize, Serialize};

/// From this many planned jobs on a plan is kept in place. Below, flat arrays are faster.
pub(crate) const DEEP: usize = 32;

/// Processors that are given back, or, below 0, taken for longer, than a profile shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DeepEdit {
    from: Time,
    to: Time,
    procs: i32,
}

/// The profile of running and planned jobs, and what has changed since it was settled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Deep {
    profile: Chunked,
    edits: Vec<DeepEdit>,
}

impl Deep {
    /// Takes a compact plan over, where that is possible: no job is without a place, no window is
    /// announced and nothing is drained. The processors that are out, and their expected returns,
    /// stay as they are until all is planned again.
    pub(crate) fn take_over<P: AsRef<PlannedJob>>(profile: &Profile, plan: &[P], view: &View<'_>) -> Option<Deep> {
        let is_placed = plan.last().is_none_or(|last| last.as_ref().start < Time::MAX);
        let steady = view.outlook().is_none_or(Outlook::only_returns);
        let possible = is_placed && steady && Chunked::can_count(view.machine().procs);
        possible.then(|| Deep { profile: Chunked::from_profile(profile), edits: Vec::new() })
    }

    pub(crate) fn into_profile(self) -> Profile {
        self.profile.into()
    }

    /// A job was believed to run, or planned, until `job.end`; it is no more, or only until `end`;
    /// or until then, which is later.
    pub(crate) fn ends_at(&mut self, job: RunningJob, end: Time) {
        let procs = job.procs as i32;
        let edit = if end < job.end {
            DeepEdit { from: end, to: job.end, procs }
        } else {
            DeepEdit { from: job.end, to: end, procs: -procs }
        };
        self.edits.push(edit);
    }

    pub(crate) fn remove_job(&mut self, job: &PlannedJob) {
        self.edits.push(DeepEdit { from: job.start, to: job.planned_end(), procs: job.procs as i32 });
    }

    /// Compresses the plan as of now, with what has changed. `false` if it is impossible now: some
    /// jobs must move back.
    pub(crate) fn compress_plan<P: Copy + AsRef<PlannedJob> + AsMut<PlannedJob>>(
        &mut self,
        plan: &mut Vec<P>,
        now: Time,
        aside: &mut Vec<P>,
        on_move: impl FnMut(&mut P, Time),
    ) -> bool {
        self.profile.advance_to(now);
        if self.edits.is_empty() {
            return true;
        }
        let mut taken_until = now;
        // What is given back first: it may make up for what is taken.
        self.edits.sort_by_key(|edit| edit.procs < 0);
        for edit in self.edits.drain(..) {
            self.profile.add_during(edit.from, edit.to, edit.procs);
            if edit.procs < 0 {
                taken_until = taken_until.max(edit.to);
            }
        }
        if taken_until > now && self.profile.least_free(now, taken_until) < 0 {
            return false;
        }
        compress_in_place(plan, &mut self.profile, now, aside, on_move);
        true
    }

    /// The earliest place of a job, which is no earlier than `bound`.
    pub(crate) fn earliest_start(&self, job: &PlannedJob, bound: Time) -> Time {
        self.profile.earliest_start(job.procs as i32, job.span, bound).unwrap_or(Time::MAX)
    }

    pub(crate) fn reserve_place(&mut self, job: &PlannedJob) {
        self.profile.add_during(job.start, job.planned_end(), -(job.procs as i32));
    }

    /// All newcomers have their places.
    pub(crate) fn settle_plan(&mut self) {
        self.profile.settle_all();
    }
}
