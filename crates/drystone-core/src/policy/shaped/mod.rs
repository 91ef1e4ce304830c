//! Backfilling where jobs have several sizes, or power is limited.
//!
//! The EASY family and conservative backfilling hand over to these policies on such workloads. They
//! plan with steps of free processors and free power, and make the whole of a pass each time: what
//! makes the others fast rests on sizes that stay.

mod choice;
mod conservative;
mod drops;
mod fair;
mod resizing;
mod scene;
mod settings;
mod steps;
mod suspended;

use super::{Action, Actions, HeldSpan, PolicyEvent, StartReason, View};
use crate::model::{JobId, PowerTerms, Procs, Span, Time};
use crate::parts::Order;
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, Rater};
use choice::SizeWish;
pub(super) use conservative::ShapedConservative;
use fair::FairWeights;
use resizing::Shrunk;
use scene::{PassScene, job_sizes};
use serde::{Deserialize, Serialize};
pub(super) use settings::{
    CAP, DROP, GROW, HOLD, LADDER, MIGRATION, MOST, PACE, QUANTILE, RESIZE, RESIZE_NEEDS, SHAPE, SHARE, size_choices,
};
pub use settings::{DropRule, ResizeRule, ShapeRule, ShareRule, ShrinkLadder, SizeChoices, TermHold};
pub(super) use settings::{PLANNED_RESIZE, PLANNED_SHAPE, planned_choices};
use std::collections::{BTreeMap, BTreeSet};
use steps::RoomSteps;

/// Queue, one reservation, backfilling, changes of size.
///
/// A pass costs O((r + w)·s) for r running and w waiting jobs and s steps of the plan, and more
/// where jobs look for the size that ends first.
#[derive(Serialize, Deserialize)]
pub(super) struct ShapedEasy {
    choices: SizeChoices,
    /// True if the head gets a reservation.
    reserves: bool,
    order: Rater,
    arrival: bool,
    /// Order of the others; `None` for no backfilling.
    backfill: Option<Rater>,
    same_order: bool,
    shares: Option<Shares>,
    /// Waiting jobs in the order of arrival.
    queue: Vec<JobId>,
    /// Jobs that have arrived since the last pass.
    fresh: Vec<JobId>,
    /// Sizes of waiting jobs that were chosen before: at the arrival, or because others shrink.
    chosen: BTreeMap<JobId, Procs>,
    /// Suspended jobs.
    parked: Vec<JobId>,
    announced: Option<(JobId, Time)>,
    fair: FairWeights,
    /// Next step of carbon intensity or price, where jobs wait for it.
    wake: Option<Time>,
}

impl ShapedEasy {
    /// A policy with an empty queue.
    pub(super) fn new(
        choices: SizeChoices,
        order: &Order,
        backfill: Option<&Order>,
        starve: Option<Span>,
        reserves: bool,
    ) -> ShapedEasy {
        ShapedEasy {
            choices,
            reserves,
            order: Rater::with_guard(order.clone(), starve),
            arrival: *order == Order::Fcfs,
            backfill: backfill.map(|order| Rater::new(order.clone())),
            // Jobs that have waited too long head the queue, and are not tried earlier behind it.
            same_order: backfill == Some(order) && starve.is_none(),
            shares: ranking::shares_for([order].into_iter().chain(backfill)),
            queue: Vec::new(),
            fresh: Vec::new(),
            chosen: BTreeMap::new(),
            parked: Vec::new(),
            announced: None,
            fair: FairWeights::default(),
            wake: None,
        }
    }

    pub(super) fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if self.choices.is_fair {
            self.fair.observe(event, view);
        }
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) => self.fresh.push(id),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                self.fresh.retain(|&member| member != id);
                self.queue.retain(|&member| member != id);
                self.parked.retain(|&member| member != id);
                self.chosen.remove(&id);
            }
            PolicyEvent::Parked(id) => self.parked.push(id),
            PolicyEvent::Ended { job, .. } | PolicyEvent::Stopped { job, .. } => {
                self.parked.retain(|&member| member != job);
                if let Some(shares) = &mut self.shares {
                    ranking::account_usage(shares, job, view);
                }
            }
            PolicyEvent::Repredicted { .. }
            | PolicyEvent::Woken
            | PolicyEvent::Runs(_)
            | PolicyEvent::Capacity
            | PolicyEvent::Resized { .. }
            | PolicyEvent::Asks { .. } => {}
        }
    }

    pub(super) fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut scene = PassScene::from_view(view);
        scene.any_pace = self.choices.any_pace;
        if self.choices.is_fair {
            scene.caps = self.fair.size_caps(view);
        }
        let back = self.heed_drop(&mut scene, actions);
        let parked_reservation = self.resume_parked(&mut scene, actions);
        for id in std::mem::take(&mut self.fresh) {
            if self.choices.shape == ShapeRule::Submit {
                self.choose_at_arrival(id, &scene);
            }
            let at = self.queue.partition_point(|&member| member < id);
            self.queue.insert(at, id);
        }
        let holds = self.held_back(view);
        let grows = self.choices.can_grow() && self.is_time_to_grow(view);
        if self.choices.grows_first && grows {
            scene.grow_jobs(parked_reservation, self.choices.share, actions);
        }
        let mut order = self.rank_jobs(true, view);
        order.retain(|id| !holds.contains(id));
        let mut waiting_jobs = order.into_iter().peekable();
        let (mut reservation, mut head) = (parked_reservation, None);
        // A suspended job that has to wait for room takes the place of the head.
        if parked_reservation.is_none() {
            while let Some(&head) = waiting_jobs.peek() {
                if !self.start_head(head, &mut scene, actions) {
                    break;
                }
                waiting_jobs.next();
            }
            reservation = waiting_jobs.peek().copied().and_then(|head| self.reserve_for_head(head, &scene, actions));
            head = waiting_jobs.next();
        }
        let mut rest: Vec<JobId> = if self.same_order { waiting_jobs.collect() } else { self.rank_jobs(false, view) };
        rest.retain(|&id| !holds.contains(&id) && Some(id) != head);
        if self.backfill.is_some() && (head.is_some() || parked_reservation.is_some()) {
            self.start_others(&rest, reservation, &mut scene, actions);
        }
        grant_asks(reservation, &mut scene, actions);
        scene.raise_paces(reservation, actions);
        if grows && !self.choices.grows_first {
            scene.grow_jobs(reservation, self.choices.share, actions);
        }
        for id in back {
            let at = self.queue.partition_point(|&member| member < id);
            self.queue.insert(at, id);
        }
    }

    /// Waiting jobs in the order of the queue, or in that of backfilling.
    fn rank_jobs(&mut self, queue: bool, view: &View<'_>) -> Vec<JobId> {
        let rater = match (queue, &self.backfill) {
            (false, Some(backfill)) => backfill,
            (false, None) => return Vec::new(),
            (true, _) => &self.order,
        };
        if queue && self.arrival || self.queue.is_empty() {
            return self.queue.clone();
        }
        let ranked_positions = rater.rank_jobs(&self.queue, self.shares.as_mut(), view);
        ranked_positions.into_iter().map(|at| self.queue[at]).collect()
    }

    fn remove_job(&mut self, id: JobId) {
        if let Ok(at) = self.queue.binary_search(&id) {
            self.queue.remove(at);
        }
        self.chosen.remove(&id);
    }

    fn size_wish(&self, id: JobId, scene: &PassScene<'_>) -> SizeWish {
        SizeWish::by_rule(self.choices.shape, self.chosen.get(&id).copied(), id, scene)
    }

    /// The next time at which a job that waits for low carbon or prices may start.
    pub(super) fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    /// Waiting jobs for which a later step of carbon intensity or price is a better start.
    fn held_back(&mut self, view: &View<'_>) -> BTreeSet<JobId> {
        self.wake = None;
        let Some((TermHold { term, most, .. }, terms)) = self.choices.hold.zip(known_terms(view)) else {
            return BTreeSet::new();
        };
        let now = view.current_time();
        let waits = |id: &&JobId| {
            let run = view.prediction(**id).max(Span(1));
            let mean = |from: Time| terms.sum(term, from, from + run);
            let current_mean = mean(now);
            terms.step_times(now, view.job(**id).submit + most).any(|step| mean(step) < current_mean)
        };
        let held_jobs: BTreeSet<JobId> = self.queue.iter().filter(waits).copied().collect();
        // Running jobs may grow at a later step, at which nothing else need happen.
        let may_grow =
            self.choices.can_grow() && !self.is_time_to_grow(view) && view.running_jobs().iter().next().is_some();
        if !held_jobs.is_empty() || may_grow {
            self.wake = terms.step_times(now, Time::MAX).next();
        }
        held_jobs
    }

    /// Returns whether carbon intensity or price are low enough for jobs to grow.
    fn is_time_to_grow(&self, view: &View<'_>) -> bool {
        let Some((hold, terms)) = self.choices.hold.zip(known_terms(view)) else { return true };
        const DAY: Span = Span(86_400);
        let below = terms.seconds_below(hold.term, view.current_time(), DAY);
        hold.quantile >= 1_000_000 || below.0 * 1_000_000 < i64::from(hold.quantile) * DAY.0
    }

    /// Starts the head of the queue, if it can, or if others shrink for it at once.
    fn start_head(&mut self, head: JobId, scene: &mut PassScene<'_>, actions: &mut Actions) -> bool {
        let rule = self.choices.shape;
        let wish = self.size_wish(head, scene);
        if let Some(shape) = scene.shape_now(head, &wish, scene.choose_plan(head, rule, &wish), &scene.room) {
            scene.start_at(head, shape, StartReason::Head, actions);
            self.remove_job(head);
            return true;
        }
        if !self.choices.can_shrink() {
            return false;
        }
        let reserved_start = |scene: &PassScene<'_>| scene.choose_plan(head, rule, &wish).map(|(start, _)| start);
        match scene.shrink_for(head, (self.choices.ladder, self.choices.share), reserved_start, actions) {
            Shrunk::Starts(size) => {
                scene.start_job(head, size, StartReason::Head, actions);
                self.remove_job(head);
                true
            }
            Shrunk::Waits(size) => {
                self.chosen.insert(head, size);
                false
            }
            Shrunk::Not => false,
        }
    }

    /// Reserves a start and a size for the head. Returns what it would hold.
    fn reserve_for_head(
        &mut self,
        head: JobId,
        scene: &PassScene<'_>,
        actions: &mut Actions,
    ) -> Option<(HeldSpan, i64)> {
        if !self.reserves {
            return None;
        }
        let (start, (size, pace)) = scene.choose_plan(head, self.choices.shape, &self.size_wish(head, scene))?;
        if self.announced != Some((head, start)) {
            self.announced = Some((head, start));
            match self.choices.promises_starts() {
                true => actions.reserve_start(head, start),
                false => actions.push(Action::Reserve { job: head, start, latest: Time::MAX }),
            }
        }
        Some((scene.span_at(head, start, (size, pace)), scene.view.watts_at(head, pace)))
    }

    /// Starts jobs behind the head, as far as they do not disturb the reservation.
    fn start_others(
        &mut self,
        rest: &[JobId],
        reservation: Option<(HeldSpan, i64)>,
        scene: &mut PassScene<'_>,
        actions: &mut Actions,
    ) {
        if let Some((span, watts)) = reservation {
            scene.room.change_span(span, watts, -1);
        }
        for &id in rest {
            if scene.room.free_now().0 <= 0 {
                break;
            }
            let wish = self.size_wish(id, scene);
            if let Some(shape) = scene.shape_beside(id, &wish) {
                scene.start_at(id, shape, StartReason::Backfilled, actions);
                self.remove_job(id);
            }
        }
        if let Some((span, watts)) = reservation {
            scene.room.change_span(span, watts, 1);
        }
    }

    /// Chooses the size of a job that has arrived, as if all others ran at theirs, in order.
    fn choose_at_arrival(&mut self, id: JobId, scene: &PassScene<'_>) {
        if job_sizes(scene.view, id).is_none() {
            return;
        }
        let mut room: RoomSteps = scene.room.clone();
        for &rival in &self.parked {
            let Some((start, size, rest)) = self.best_resumption(rival, scene, &room) else { continue };
            let span = HeldSpan { from: start, until: start + rest, procs: size };
            room.change_span(span, scene.view.job_watts(rival), -1);
        }
        for &rival in self.queue.iter().filter(|&&rival| rival < id) {
            let size = self.chosen.get(&rival).copied().unwrap_or(scene.view.job(rival).procs);
            let watts = scene.view.job_watts(rival);
            if let Some(start) = room.earliest_start(size, watts, scene.predicted_run(rival, size)) {
                room.change_span(scene.held_span(rival, start, size), watts, -1);
            }
        }
        if let Some((_, size)) = scene.best_start(id, &scene.all_sizes(id), &room) {
            self.chosen.insert(id, size);
        }
    }
}

/// Carbon intensity and price over time, where they are known.
fn known_terms<'a>(view: &View<'a>) -> Option<&'a PowerTerms> {
    view.shapes()?.terms()
}

/// Gives running jobs the sizes that they ask for: smaller ones at once, larger ones if they fit
/// around all others and the reservation.
fn grant_asks(reservation: Option<(HeldSpan, i64)>, scene: &mut PassScene<'_>, actions: &mut Actions) {
    for at in 0..scene.runners.len() {
        let runner = &scene.runners[at];
        let Some(wish) = scene.view.asked_size(runner.id) else { continue };
        // A job that has started or resumed at this pass changes at the next one at the earliest,
        // and a job that gives processors back changes after that.
        if scene.view.last_start(runner.id) == scene.now
            || !scene.view.is_running(runner.id)
            || scene.view.gives_back(runner.id)
        {
            continue;
        }
        let grants = wish <= runner.size || {
            let mut room = scene.room.clone();
            PassScene::change_room(runner, &mut room, 1);
            if let Some((span, watts)) = reservation {
                room.change_span(span, watts, -1);
            }
            let until = scene.view.end_at_shape(runner.id, scene.now, (wish, runner.pace));
            room.fits_span(HeldSpan { from: scene.now, until, procs: wish }, runner.watts)
        };
        if grants {
            scene.resize_job(at, wish, true, actions);
        }
    }
}
