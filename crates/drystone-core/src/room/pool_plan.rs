//! Further resources in the plans of policies: what is left now, and what will be.

use crate::model::{JobId, Procs, ResourceId, Span, Time};
use crate::parts::{ExtraRule, PoolProfile, Profile, RunningJob, Shadow};
use drystone_engine::policy::free_resources::{covers_totals, deduct_totals};
use drystone_engine::policy::{Outlook, View};

/// Makes the profile that of the running jobs, given with their ends in ascending order, and of
/// the announced changes of further resources.
pub(crate) fn fill_profile(profile: &mut PoolProfile, view: &View<'_>, ends: impl Iterator<Item = (Time, JobId)>) {
    if let Some(resources) = view.resources() {
        let ends = ends.map(|(end, id)| (end, resources.table().demand_totals(view.job(id).demand)));
        profile.reset_to(view.current_time(), resources.levels(), ends);
    }
    for step in view.outlook().map_or(&[][..], Outlook::supply_changes) {
        profile.alter_resource(step.at, step.resource, step.change);
    }
}

/// The earliest time at which processors and further resources are free for so long.
pub(crate) fn earliest_start(
    profile: &Profile,
    pools: &PoolProfile,
    procs: Procs,
    totals: &[(ResourceId, u64)],
    span: Span,
    from: Time,
) -> Option<Time> {
    let mut from = from;
    loop {
        let start = profile.earliest_start(procs, span, from)?;
        let pools_start = pools.earliest_start(totals, span, start)?;
        if pools_start == start {
            return Some(start);
        }
        from = pools_start;
    }
}

/// Need of a job that heads its queue.
pub(crate) struct PooledNeed<'a> {
    /// Processors, below 1 where further resources are what it lacks.
    pub(crate) procs: i64,
    /// Demand of the job.
    pub(crate) totals: &'a [(ResourceId, u64)],
}

/// The shadow time over all resources, by a walk over running jobs in the order of their ends;
/// those that the walk does not need count as `extra` says, and ends before `floor` as `floor`.
/// `left` is what is free now, and becomes what is left over at the shadow time. `None`, and `left`
/// is of no use, where even the end of all of them does not suffice.
pub(crate) fn pooled_shadow(
    ends: impl Iterator<Item = RunningJob>,
    need: &PooledNeed<'_>,
    free_amounts: &mut [i64],
    (extra, floor): (ExtraRule, Time),
    view: &View<'_>,
) -> Option<Shadow> {
    let table = view.resources()?.table();
    let give_back = |job: &RunningJob, amounts: &mut [i64]| {
        // Processors that come back are no job.
        if view.is_known(job.id) {
            for &(id, amount) in table.demand_totals(view.job(job.id).demand) {
                amounts[id.index()] += amount as i64;
            }
        }
        i64::from(job.procs)
    };
    let mut ends = ends.peekable();
    let mut procs = 0;
    let time = loop {
        let job = ends.next()?;
        procs += give_back(&job, free_amounts);
        if procs >= need.procs && covers_totals(free_amounts, need.totals) {
            break job.end.max(floor);
        }
    };
    if extra == ExtraRule::All {
        while let Some(job) = ends.next_if(|job| job.end <= time) {
            procs += give_back(&job, free_amounts);
        }
    }
    deduct_totals(free_amounts, need.totals);
    Some(Shadow { time, extra: (procs - need.procs).clamp(0, i64::from(Procs::MAX)) as Procs })
}
