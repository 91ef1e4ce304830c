//! Further resources in the plans of policies: what is left now, and what will be.

use super::View;
use super::free_resources::{covers, deduct};
use crate::model::{DemandId, JobId, Procs, ResourceId, ResourceTable, Span, Time};
use crate::parts::{ExtraRule, PoolProfile, Profile, RunningJob};
use std::sync::Arc;

/// The further resources of one pass beside the [`Profile`] of its processors. On a machine without
/// them it is empty, and a plan is one of processors alone.
#[derive(Default)]
pub(super) struct PoolPlan {
    known: Option<KnownJob>,
}

struct KnownJob {
    table: Arc<ResourceTable>,
    /// Amounts that no job holds now, this pass's starts taken away.
    left: Vec<i64>,
    profile: PoolProfile,
}

impl PoolPlan {
    /// A plan beside running jobs, given with their ends as they are believed, in ascending order.
    pub(super) fn beside(view: &View<'_>, ends: impl Iterator<Item = (Time, JobId)>) -> PoolPlan {
        let known = view.resources().map(|resources| {
            let mut profile = PoolProfile::default();
            fill(&mut profile, view, ends);
            KnownJob { table: Arc::clone(resources.table()), left: resources.levels().to_vec(), profile }
        });
        PoolPlan { known }
    }

    /// The earliest time at which processors and all further resources are free for so long: the
    /// maximum over resources, again and again until it is stable.
    pub(super) fn earliest(
        &self,
        profile: &Profile,
        demand: DemandId,
        procs: Procs,
        span: Span,
        from: Time,
    ) -> Option<Time> {
        match &self.known {
            None => profile.earliest(procs, span, from),
            Some(known) => earliest(profile, &known.profile, procs, known.table.totals(demand), span, from),
        }
    }

    /// Returns whether further resources are free from now on for this span, and no overdue job
    /// holds them.
    pub(super) fn admits(&self, demand: DemandId, span: Span, now: Time) -> bool {
        self.known.as_ref().is_none_or(|known| {
            let totals = known.table.totals(demand);
            covers(&known.left, totals) && known.profile.fits(now, span, totals)
        })
    }

    /// Returns whether no free amount is lacking now.
    pub(super) fn are_left(&self, demand: DemandId) -> bool {
        self.known.as_ref().is_none_or(|known| covers(&known.left, known.table.totals(demand)))
    }

    /// Reserves what a job asks for.
    pub(super) fn reserve(&mut self, demand: DemandId, from: Time, to: Time) {
        if let Some(known) = &mut self.known {
            known.profile.reserve(from, to, known.table.totals(demand));
        }
    }

    /// A job starts in this pass and is planned to run until `to`.
    pub(super) fn start(&mut self, demand: DemandId, now: Time, to: Time) {
        if let Some(known) = &mut self.known {
            let totals = known.table.totals(demand);
            deduct(&mut known.left, totals);
            known.profile.reserve(now, to, totals);
        }
    }
}

/// Makes the profile that of the running jobs, given with their ends in ascending order.
pub(super) fn fill(profile: &mut PoolProfile, view: &View<'_>, ends: impl Iterator<Item = (Time, JobId)>) {
    if let Some(resources) = view.resources() {
        let ends = ends.map(|(end, id)| (end, resources.table().totals(view.job(id).demand)));
        profile.reset(view.now(), resources.levels(), ends);
    }
}

/// The earliest time at which processors and further resources are free for so long.
pub(super) fn earliest(
    profile: &Profile,
    pools: &PoolProfile,
    procs: Procs,
    totals: &[(ResourceId, u64)],
    span: Span,
    from: Time,
) -> Option<Time> {
    let mut from = from;
    loop {
        let start = profile.earliest(procs, span, from)?;
        let all = pools.earliest(totals, span, start)?;
        if all == start {
            return Some(start);
        }
        from = all;
    }
}

/// Start of the first blocked job of a queue as far as every resource is concerned, and the amounts
/// left over then.
pub(super) struct PooledShadow {
    /// Shadow time.
    pub(super) time: Time,
    /// Extra processors.
    pub(super) extra: Procs,
}

/// Need of a job that heads its queue.
pub(super) struct PooledNeed<'a> {
    /// Processors, below 1 where further resources are what it lacks.
    pub(super) procs: i64,
    /// Demand of the job.
    pub(super) totals: &'a [(ResourceId, u64)],
}

/// The shadow time over all resources, by a walk over running jobs in the order of their ends;
/// those that the walk does not need count as `extra` says, and ends before `floor` as `floor`.
/// `left` is what is free now, and becomes what is left over at the shadow time. `None`, and `left`
/// is of no use, where even the end of all of them does not suffice.
pub(super) fn pooled_shadow(
    ends: impl Iterator<Item = RunningJob>,
    need: &PooledNeed<'_>,
    left: &mut [i64],
    (extra, floor): (ExtraRule, Time),
    view: &View<'_>,
) -> Option<PooledShadow> {
    let table = view.resources()?.table();
    let give_back = |job: &RunningJob, left: &mut [i64]| {
        // Processors that come back are no job.
        if view.knows(job.id) {
            for &(id, amount) in table.totals(view.job(job.id).demand) {
                left[id.index()] += amount as i64;
            }
        }
        i64::from(job.procs)
    };
    let mut ends = ends.peekable();
    let mut procs = 0;
    let time = loop {
        let job = ends.next()?;
        procs += give_back(&job, left);
        if procs >= need.procs && covers(left, need.totals) {
            break job.end.max(floor);
        }
    };
    if extra == ExtraRule::All {
        while let Some(job) = ends.next_if(|job| job.end <= time) {
            procs += give_back(&job, left);
        }
    }
    deduct(left, need.totals);
    Some(PooledShadow { time, extra: (procs - need.procs).clamp(0, i64::from(Procs::MAX)) as Procs })
}
