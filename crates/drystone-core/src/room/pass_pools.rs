//! Room of one pass beside promises, for a policy that keeps a profile of processors of its own:
//! further resources over time, or nodes in place of both.

use super::{JobNeed, OpenRoom, PlanRoom, pool_plan};
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{NodeSeat, PoolProfile, Profile, RunningJob};
use drystone_engine::policy::View;

/// Free amounts of one pass, on a machine that has more than processors.
#[derive(Default)]
pub(crate) struct PassPools {
    /// Room now, without what jobs took that started in this pass.
    left: OpenRoom,
    /// Free amounts over time beside running jobs and promises.
    plan: PoolProfile,
    /// Plan in place of that where jobs are placed on nodes.
    pub(crate) room: Option<PlanRoom>,
}

impl PassPools {
    /// Takes a promise's amounts, or those of a job that starts. Returns the seat that it has.
    pub(crate) fn reserve_seat(
        &mut self,
        id: JobId,
        (from, to): (Time, Time),
        seat: Option<&NodeSeat>,
        view: &View<'_>,
    ) -> NodeSeat {
        if from < Time::MAX {
            match &mut self.room {
                None => self.plan.reserve_amounts(from, to, view.demanded_amounts(id)),
                Some(room) => {
                    room.reserve_need(from, to, view.job_need(id).on_seat(seat));
                    return room.seat_of(id).cloned().unwrap_or_default();
                }
            }
        }
        NodeSeat::default()
    }

    /// Gives back the amounts of a promise that is not kept.
    pub(crate) fn release_amounts(&mut self, id: JobId, from: Time, to: Time, view: &View<'_>) {
        if from < Time::MAX {
            match &mut self.room {
                None => self.plan.release_amounts(from, to, view.demanded_amounts(id)),
                Some(room) => room.release_need(from, to, view.job_need(id)),
            }
        }
    }

    /// Returns the earliest start of a job beside running jobs and promises.
    pub(crate) fn earliest_start(
        &self,
        (id, procs, span): (JobId, Procs, Span),
        profile: &Profile,
        from: Time,
        view: &View<'_>,
    ) -> Option<Time> {
        match &self.room {
            None => pool_plan::earliest_start(profile, &self.plan, procs, view.demanded_amounts(id), span, from),
            Some(room) => room.earliest_start(view.job_need(id), span, from),
        }
    }

    /// Becomes what the running jobs leave, which hold what they have until these ends.
    pub(crate) fn fill_room(&mut self, ends: impl Iterator<Item = RunningJob>, view: &View<'_>) {
        self.left = OpenRoom::of_now(view);
        if view.nodes().is_some() {
            let ends: Vec<RunningJob> = ends.collect();
            self.room.get_or_insert_with(PlanRoom::new_empty).fill_ends(&ends, view);
        } else {
            pool_plan::fill_profile(&mut self.plan, view, ends.map(|job| (job.end, job.id)));
        }
    }

    /// Returns whether enough of everything is left now.
    pub(crate) fn admits_need(&self, need: JobNeed<'_>) -> bool {
        self.left.has_room(need)
    }

    /// Returns whether a job that starts now takes nothing from a promise.
    pub(crate) fn fits_promises(&self, need: JobNeed<'_>, span: Span, now: Time) -> bool {
        match &self.room {
            None => self.left.has_room(need) && self.plan.fits_during(now, span, need.amounts),
            Some(room) => room.fits_during(now, span, need),
        }
    }

    pub(crate) fn take_need(&mut self, need: JobNeed<'_>) {
        self.left.take_need(need);
    }
}
