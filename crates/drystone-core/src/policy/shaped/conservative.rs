//! Conservative backfilling where jobs have several sizes, or power is limited: every job has a
//! planned start and a planned size.

use super::choice::SizeWish;
use super::fair::FairWeights;
use super::grant_asks;
use super::scene::{PassScene, job_sizes, single_size_set};
use super::settings::{ShapeRule, SizeChoices};
use super::steps::RoomSteps;
use crate::model::{JobId, Procs, SharedSort, Time};
use crate::policy::{Actions, PolicyEvent, StartReason, View};
use serde::{Deserialize, Serialize};

/// A planned job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct SizedPlan {
    id: JobId,
    start: Time,
    size: Procs,
}

/// Plans with sizes, compressed at every pass.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::policy) struct ShapedConservative {
    choices: SizeChoices,
    plans: Vec<SizedPlan>,
    /// Jobs without a plan, in the order of arrival.
    fresh: Vec<JobId>,
    announced: Vec<(JobId, Time)>,
    fair: FairWeights,
}

impl ShapedConservative {
    /// A policy with an empty plan.
    pub(in crate::policy) fn new(choices: SizeChoices) -> ShapedConservative {
        ShapedConservative { choices, ..ShapedConservative::default() }
    }

    pub(in crate::policy) fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if self.choices.is_fair {
            self.fair.observe(event, view);
        }
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) => {
                let at = self.fresh.partition_point(|&member| member < id);
                self.fresh.insert(at, id);
            }
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                self.fresh.retain(|&member| member != id);
                self.plans.retain(|plan| plan.id != id);
            }
            _ => {}
        }
    }

    /// The next planned start.
    pub(in crate::policy) fn next_wake(&self) -> Option<Time> {
        self.plans.iter().map(|plan| plan.start).filter(|&start| start < Time::MAX).min()
    }

    pub(in crate::policy) fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut scene = PassScene::from_view(view);
        if self.choices.is_fair {
            scene.caps = self.fair.size_caps(view);
        }
        let mut room = scene.room.clone();
        for plan in &self.plans {
            change_room(plan, &scene, &mut room, -1);
        }
        self.plans.sort_shared_by_key(|plan| (plan.start, plan.id));
        for at in 0..self.plans.len() {
            let plan = self.plans[at];
            change_room(&plan, &scene, &mut room, 1);
            self.plans[at] = self.find_better_plan(&plan, &scene, &room);
            change_room(&self.plans[at], &scene, &mut room, -1);
        }
        self.fresh.retain(|&id| {
            let Some((start, size)) = first_plan(self.choices.shape, id, &scene, &room) else { return true };
            let plan = SizedPlan { id, start, size };
            change_room(&plan, &scene, &mut room, -1);
            self.plans.push(plan);
            false
        });
        self.plans.sort_shared_by_key(|plan| plan.id);
        self.plans.retain(|plan| {
            if plan.start > scene.now {
                return true;
            }
            scene.start_job(plan.id, plan.size, StartReason::Planned, actions);
            false
        });
        self.announce_starts(actions);
        scene.room = room;
        if view.shapes().is_some_and(|shapes| shapes.has_asks()) {
            grant_asks(None, &mut scene, actions);
        }
        if self.choices.can_grow() {
            scene.grow_jobs(None, self.choices.share, actions);
        }
    }

    /// An earlier start of a planned job, or under `start` another size, if neither start nor end
    /// gets later.
    fn find_better_plan(&self, plan: &SizedPlan, scene: &PassScene<'_>, room: &RoomSteps) -> SizedPlan {
        // A job without a place for now takes any.
        let end = match plan.start {
            Time::MAX => Time::MAX,
            start => start + scene.predicted_run(plan.id, plan.size),
        };
        let watts = scene.view.job_watts(plan.id);
        let mut best: Option<(Time, SizedPlan)> = None;
        let free = self.choices.shape == ShapeRule::Start && job_sizes(scene.view, plan.id).is_some();
        let sizes = if free { scene.all_sizes(plan.id) } else { single_size_set(plan.size) };
        for size in sizes.iter() {
            let run = scene.predicted_run(plan.id, size);
            let Some(start) = room.earliest_start(size, watts, run) else { continue };
            if start <= plan.start && start + run <= end && best.is_none_or(|(best_end, _)| start + run < best_end) {
                best = Some((start + run, SizedPlan { start, size, ..*plan }));
            }
        }
        match best {
            Some((_, better)) => better,
            // The promise cannot be kept: jobs run longer than predicted, or processors are
            // out.
            None => room
                .earliest_start(plan.size, watts, scene.predicted_run(plan.id, plan.size))
                .map_or(SizedPlan { start: Time::MAX, ..*plan }, |start| SizedPlan { start, ..*plan }),
        }
    }

    fn announce_starts(&mut self, actions: &mut Actions) {
        let before = std::mem::take(&mut self.announced);
        self.announced =
            self.plans.iter().filter(|plan| plan.start < Time::MAX).map(|plan| (plan.id, plan.start)).collect();
        for entry in &self.announced {
            if before.binary_search(entry).is_err() {
                actions.reserve_start(entry.0, entry.1);
            }
        }
    }
}

/// Takes what a planned job would hold out of a room, or puts it back.
fn change_room(plan: &SizedPlan, scene: &PassScene<'_>, room: &mut RoomSteps, sign: i64) {
    if plan.start < Time::MAX {
        let mut span = scene.held_span(plan.id, plan.start, plan.size);
        span.until = span.until.max(span.from + crate::model::Span(1));
        room.change_span(span, scene.view.job_watts(plan.id), sign);
    }
}

fn first_plan(rule: ShapeRule, id: JobId, scene: &PassScene<'_>, room: &RoomSteps) -> Option<(Time, Procs)> {
    if matches!(rule, ShapeRule::Start | ShapeRule::Submit) && job_sizes(scene.view, id).is_some() {
        return scene.best_start(id, &scene.all_sizes(id), room);
    }
    let wish = SizeWish::by_rule(rule, None, id, scene);
    if let Some(size) = scene.size_now(id, &wish, room) {
        return Some((scene.now, size));
    }
    let size = match wish {
        SizeWish::First(sizes) => return scene.best_start(id, &sizes, room),
        SizeWish::One(size) => size,
        SizeWish::Largest(sizes, _) => sizes.min(),
    };
    Some((room.earliest_start(size, scene.view.job_watts(id), scene.predicted_run(id, size))?, size))
}
