//! Processors and further resources over time, as one thing that plans are made in.

use super::View;
use super::planned::{Believed, PlannedJob, in_order_of_starts};
use super::pool_plan;
use crate::model::{Procs, Span, Time};
use crate::parts::{PoolProfile, Profile, ProfileMark, ResourceAmounts, RunningJob};
use serde::{Deserialize, Serialize};

/// Free processors over time, and free amounts of further resources where the machine has some.
///
/// Without further resources it is the [`Profile`] of its processors, at the cost of one question.
/// With them every search repeats the maximum over resources until it is stable.
#[derive(Serialize, Deserialize)]
pub(super) struct PlanRoom {
    procs: Profile,
    pools: Option<Box<PoolProfile>>,
    /// Reservations of further resources since the oldest mark, latest last.
    #[serde(skip)]
    trail: Vec<TakenReservation>,
    #[serde(skip)]
    marks: u32,
}

/// A reservation that a rollback takes back.
struct TakenReservation {
    from: Time,
    to: Time,
    amounts: Box<ResourceAmounts>,
}

/// Needs of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobNeed<'a> {
    /// Processors.
    pub(super) procs: Procs,
    /// Further resources, ascending by resource.
    pub(super) amounts: &'a ResourceAmounts,
}

/// A state of a [`PlanRoom`] to go back to.
#[must_use = "a mark that is never rolled back keeps the trail growing"]
pub(super) struct RoomMark {
    procs: ProfileMark,
    trail: usize,
}

impl PlanRoom {
    /// These processors and no further resources.
    pub(super) fn of(procs: Profile) -> PlanRoom {
        PlanRoom { procs, pools: None, trail: Vec::new(), marks: 0 }
    }

    /// No processors at all.
    pub(super) fn empty() -> PlanRoom {
        PlanRoom::of(Profile::new(Time::MIN, 0))
    }

    /// Returns whether the machine has further resources.
    #[inline]
    pub(super) fn is_pooled(&self) -> bool {
        self.pools.is_some()
    }

    /// Becomes what the running jobs leave, as they are believed to end; `guests` count as gone.
    pub(super) fn fill(&mut self, running: &Believed, guests: &[RunningJob], view: &View<'_>) {
        let free = view.free() + guests.iter().map(|guest| guest.procs).sum::<Procs>();
        running.fill(&mut self.procs, view, free);
        if view.resources().is_none() {
            return;
        }
        let pools = self.pools.get_or_insert_default();
        pool_plan::fill(pools, view, running.iter().map(|job| (job.end, job.id)));
        for guest in guests.iter().filter(|guest| guest.procs > 0) {
            pools.release(view.now(), Time::MAX, view.amounts(guest.id));
        }
    }

    /// Becomes a copy of another; keeps its own memory.
    pub(super) fn copy_from(&mut self, other: &PlanRoom) {
        self.procs.copy_from(&other.procs);
        match (&mut self.pools, &other.pools) {
            (Some(own), Some(pools)) => own.copy_from(pools),
            (own, pools) => own.clone_from(pools),
        }
    }

    /// Steps of the free processors. Every job needs processors, so that starts and ends of all
    /// jobs are among them.
    pub(super) fn steps(&self) -> impl ExactSizeIterator<Item = (Time, Procs)> + '_ {
        self.procs.steps()
    }

    /// Returns the earliest time from `from` on at which the need is free for so long.
    #[inline(always)]
    pub(super) fn earliest(&self, need: JobNeed<'_>, span: Span, from: Time) -> Option<Time> {
        match &self.pools {
            None => self.procs.earliest(need.procs, span, from),
            Some(pools) => pool_plan::earliest(&self.procs, pools, need.procs, need.amounts, span, from),
        }
    }

    /// Returns whether the need is free from `from` on for so long.
    #[inline(always)]
    pub(super) fn fits(&self, from: Time, span: Span, need: JobNeed<'_>) -> bool {
        self.procs.fits(from, span, need.procs)
            && self.pools.as_ref().is_none_or(|pools| pools.fits(from, span, need.amounts))
    }

    /// Takes a need from `from` until `to`.
    #[inline(always)]
    pub(super) fn reserve(&mut self, from: Time, to: Time, need: JobNeed<'_>) {
        self.procs.reserve(from, to, need.procs);
        if self.pools.is_some() {
            self.reserve_amounts(from, to, need.amounts);
        }
    }

    #[inline(never)]
    fn reserve_amounts(&mut self, from: Time, to: Time, amounts: &ResourceAmounts) {
        if let Some(pools) = &mut self.pools
            && !amounts.is_empty()
        {
            pools.reserve(from, to, amounts);
            if self.marks > 0 {
                self.trail.push(TakenReservation { from, to, amounts: amounts.into() });
            }
        }
    }

    /// Takes a need at its earliest place from `from` on, and returns that place.
    #[inline(always)]
    pub(super) fn place(&mut self, need: JobNeed<'_>, span: Span, from: Time) -> Option<Time> {
        if self.pools.is_none() {
            return self.procs.place(need.procs, span, from);
        }
        let start = self.earliest(need, span, from)?;
        self.reserve(start, start.saturating_add(span), need);
        Some(start)
    }

    /// Forgets what lies before the present.
    pub(super) fn advance(&mut self, now: Time) {
        self.procs.advance(now);
        if let Some(pools) = &mut self.pools {
            pools.advance(now);
        }
    }

    /// Marks the state to go back to.
    pub(super) fn mark(&mut self) -> RoomMark {
        self.marks += 1;
        RoomMark { procs: self.procs.mark(), trail: self.trail.len() }
    }

    /// Goes back to a mark: the youngest that has not been rolled back.
    pub(super) fn rollback(&mut self, mark: RoomMark) {
        self.procs.rollback(mark.procs);
        self.marks -= 1;
        if let Some(pools) = &mut self.pools {
            // Steps that a reservation began remain; beside equal ones they change no answer.
            for taken in self.trail.drain(mark.trail..).rev() {
                pools.release(taken.from, taken.to, &taken.amounts);
            }
        }
    }

    /// Puts all waiting jobs of a plan back, in its order, each at its earliest place: as
    /// [`compress`](super::planned::compress), over every resource.
    pub(super) fn compress<P: AsRef<PlannedJob> + AsMut<PlannedJob>>(
        &mut self,
        plan: &mut [P],
        view: &View<'_>,
        mut moved: impl FnMut(&mut P, Time),
    ) {
        if !self.is_pooled() {
            return super::planned::compress(plan, &mut self.procs, view.now(), moved);
        }
        for job in plan.iter_mut() {
            let planned = job.as_mut();
            let (old, need) = (planned.start, planned.need(view));
            planned.start = self.place(need, planned.span, view.now()).unwrap_or(Time::MAX);
            if planned.start != old {
                moved(job, old);
            }
        }
        in_order_of_starts(plan);
    }
}

impl PlannedJob {
    /// Needs of the job, as the view knows them.
    #[inline]
    pub(super) fn need<'a>(&self, view: &View<'a>) -> JobNeed<'a> {
        JobNeed { procs: self.procs, amounts: view.amounts(self.id) }
    }
}
