//! Conservative backfilling: every job is promised a start when it arrives, and the promise is
//! held.
//!
//! Rules 4–8 of the specification after Talby & Feitelson 1999, section 2: a new job is planned at
//! the earliest place that disturbs no other; when a job ends early, all waiting jobs are taken out
//! of the plan and put back in the order of their planned starts, each at its earliest place
//! (compression). No job's start moves back by that. Replanning in any other order would break
//! promises.
//!
//! With a horizon only some of the waiting jobs are planned; the others wait without a promise, as
//! in real schedulers (Slurm's `bf_max_job_test` and `bf_window`), and what they might disturb does
//! not wait for them. They are asked again at every decision, in the order of their arrival.
//!
//! A plan counts whole seconds: a job that is predicted to run for no time has its processors for
//! the second of its start, and a job that would fit a gap but for that second does not.
//!
//! A changed prediction, or a running job that outlives its planned end, has the same effect: that
//! plan may be impossible. Then starts can move back as well, and a promise may be broken.

use super::shaped::{
    CAP, PLANNED_RESIZE, PLANNED_SHAPE, ResizeRule, SHARE, ShapeRule, ShapedConservative, SizeChoices, planned_choices,
};
use super::{
    Abilities, Actions, Param, ParamCondition, ParamNeeds, Phase, Policy, PolicyEvent, PolicyKind, StartReason, Takes,
    Variant, View,
};
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::{NodeSeat, RunningJob};
use crate::room::planned::{Believed, Bounds, DEEP, Deep, Horizon, Notice, OVERDUE, PlannedJob};
use crate::room::{PlanRoom, SeatNamer};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Conservative backfilling.
///
/// With w waiting jobs and s steps in the plan, an arrival costs O(s + w) and an early end O(w·s).
/// Where many wait, the plan is kept in place instead: an early end costs O(w), and more only for
/// the jobs that may move.
#[derive(Serialize, Deserialize)]
pub struct Conservative {
    /// Room with running jobs and all plans taken away; unused while the plan is deep.
    room: PlanRoom,
    /// Structure for many planned jobs.
    deep: Option<Deep>,
    /// From this many planned jobs on the plan is deep. How it works, not what it is: no part of
    /// the saved state.
    #[serde(skip, default = "default_deep_from")]
    deep_from: usize,
    running: Believed,
    /// Waiting jobs by planned start, then arrival.
    plan: Vec<PlannedJob>,
    /// Jobs that have arrived since the last decision.
    fresh: Vec<JobId>,
    horizon: Horizon,
    /// Jobs beyond the horizon, by arrival.
    beyond: VecDeque<JobId>,
    /// Something has changed that the plan does not show yet.
    stale: bool,
    #[serde(skip)]
    aside: Vec<PlannedJob>,
    /// Sizes of jobs at their starts.
    sizes: SizeChoices,
    /// Makes the passes where jobs have several sizes, or power is limited.
    shaped: Option<Box<ShapedConservative>>,
}

impl Conservative {
    /// A policy with an empty plan.
    #[must_use]
    pub fn new(notice: Notice) -> Conservative {
        Conservative::deep_from(notice, DEEP)
    }

    /// Makes the policy with the number of planned jobs from which on the plan is kept in place,
    /// which makes it faster where many wait and changes no schedule.
    #[must_use]
    pub fn deep_from(notice: Notice, jobs: usize) -> Conservative {
        Conservative {
            room: PlanRoom::new_empty(),
            deep: None,
            deep_from: jobs,
            running: Believed::new(notice),
            plan: Vec::new(),
            fresh: Vec::new(),
            horizon: Horizon::All,
            beyond: VecDeque::new(),
            stale: true,
            aside: Vec::new(),
            sizes: SizeChoices::default(),
            shaped: None,
        }
    }

    /// Sets the rule for the sizes of jobs at their starts.
    #[must_use]
    pub fn with_sizes(self, sizes: SizeChoices) -> Conservative {
        Conservative { sizes, ..self }
    }

    /// Sets the horizon.
    #[must_use]
    pub fn with_horizon(self, horizon: Horizon) -> Conservative {
        Conservative { horizon, ..self }
    }

    /// Takes note of what the running jobs did.
    fn look_at_running(&mut self, view: &View<'_>) {
        let Conservative { running, deep, .. } = self;
        let tell = |deep: &mut Option<Deep>, job: RunningJob, end: Time| {
            if let Some(deep) = deep {
                deep.ends_at(job, end);
            }
        };
        let early = running.notice_ends(|job| tell(deep, job, view.current_time()));
        let overdue = running.extend_overdue(view, |job, end| tell(deep, job, end));
        // Called in every pass: a doubt that is not asked about would last into the next.
        let doubts = running.has_doubts(0, view);
        self.stale |= deep.is_none() && (early || overdue) || doubts;
    }

    /// Moves all waiting jobs to their earliest places, in the order of their planned starts.
    fn compress_plan(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        if let Some(deep) = self.deep.as_mut().filter(|_| !self.stale) {
            if deep.compress_plan(&mut self.plan, now, &mut self.aside, |job, _| announce_start(job, actions)) {
                return;
            }
        } else if !self.stale {
            return self.room.advance_to(now);
        }
        self.deep = None;
        self.stale = false;
        self.room.fill_running(&self.running, &[], view);
        self.room.compress_plan(&mut self.plan, |_| now, view, |job, _| announce_start(job, actions));
    }

    /// Plans the newcomers, and those that waited beyond the horizon.
    fn insert(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let mut bounds: Bounds = Bounds::default();
        if self.horizon == Horizon::All {
            let mut fresh = std::mem::take(&mut self.fresh);
            // Jobs that wait again come before those that arrived later.
            fresh.sort_unstable();
            for id in fresh.drain(..) {
                self.plan_one(id, Time::MAX, &mut bounds, view, actions);
            }
            self.fresh = fresh;
            return;
        }
        for id in self.fresh.drain(..) {
            self.beyond.insert(self.beyond.partition_point(|&member| member < id), id);
        }
        // Those that start now leave their places to others, and those without one take none.
        let placed_jobs = self.plan.iter().filter(|job| job.start > now && job.start < Time::MAX);
        let mut planned_count = placed_jobs.count();
        let mut at = 0;
        while at < self.beyond.len()
            && let Some(latest) = self.horizon.latest_start(now, planned_count)
        {
            match self.plan_one(self.beyond[at], latest, &mut bounds, view, actions) {
                Some(start) => {
                    planned_count += usize::from(start > now && start < Time::MAX);
                    self.beyond.remove(at);
                }
                None => at += 1,
            }
        }
    }

    /// Plans a job at its earliest place, if that is no later than `latest`.
    fn plan_one(
        &mut self,
        id: JobId,
        latest: Time,
        bounds: &mut Bounds,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> Option<Time> {
        let mut job = PlannedJob::new(id, view);
        let need = job.job_need(view);
        let is_plain = self.room.is_plain();
        let bound = if is_plain {
            bounds.earliest_bound(job.procs, job.span, view.current_time())
        } else {
            view.current_time()
        };
        if bound > latest {
            return None;
        }
        let place = match &self.deep {
            Some(deep) => Some((deep.earliest_start(&job, bound), NodeSeat::default())),
            None => self.room.find_place(need, job.span, (bound, latest)),
        };
        job.start = place.as_ref().map_or(Time::MAX, |place| place.0);
        if is_plain {
            bounds.learn_start(job.procs, job.span, bound, job.start);
        }
        if job.start > latest {
            return None;
        }
        if job.start == Time::MAX
            && let Some(deep) = self.deep.take()
        {
            // Too many processors are out for it, for an unknown time.
            self.room = PlanRoom::from_profile(deep.into_profile());
        }
        match (&mut self.deep, &place) {
            (Some(deep), _) => deep.reserve_place(&job),
            (None, Some((_, seat))) if job.start < Time::MAX => {
                self.room.reserve_need(job.start, job.planned_end(), need.on_seat(Some(seat)));
            }
            (None, _) => {}
        }
        if job.start > view.current_time() {
            // A start at once needs no promise.
            announce_start(&job, actions);
        }
        let place = self.plan.partition_point(|p| p.plan_key() < job.plan_key());
        self.plan.insert(place, job);
        Some(job.start)
    }

    /// Keeps the plan in the way that suits its depth.
    fn change_over(&mut self, view: &View<'_>) {
        if self.deep.is_none()
            && self.room.is_plain()
            && self.plan.len() >= self.deep_from
            && self.running.fits_machine(0, view)
        {
            self.deep = Deep::take_over(self.room.procs_profile(), &self.plan, view);
        } else if self.plan.len() < self.deep_from / 2
            && let Some(deep) = self.deep.take()
        {
            self.room = PlanRoom::from_profile(deep.into_profile());
        }
        if let Some(deep) = &mut self.deep {
            deep.settle_plan();
        }
    }

    /// Returns whether less is free than the jobs need that are due: processors that were expected
    /// back in this second are not back yet.
    fn is_short(&self, view: &View<'_>) -> bool {
        let due = self.plan.iter().take_while(|p| p.start <= view.current_time());
        view.outlook().is_some() && due.map(|p| p.procs).sum::<Procs>() > view.free_processors()
    }

    /// A job is taken out of the plan.
    fn note_departure(&mut self, id: JobId) {
        self.fresh.retain(|&fresh| fresh != id);
        if let Ok(at) = self.beyond.binary_search(&id) {
            self.beyond.remove(at);
        }
        self.room.remove_job(id);
        match (&mut self.deep, self.plan.iter().position(|p| p.id == id)) {
            (Some(deep), Some(at)) => deep.remove_job(&self.plan.remove(at)),
            // It had no place yet.
            (Some(_), None) => {}
            (None, at) => {
                at.map(|at| self.plan.remove(at));
                self.stale = true;
            }
        }
    }

    fn note_prediction(&mut self, job: JobId, old: Span, view: &View<'_>) {
        if view.phase(job) == Phase::Running {
            let moved_end = self.running.note_prediction(job, old, view);
            match (&mut self.deep, moved_end) {
                (Some(deep), Some((job, end))) => deep.ends_at(job, end),
                _ => self.stale = true,
            }
            return;
        }
        self.stale = true;
        if let Some(waiting) = self.plan.iter_mut().find(|p| p.id == job) {
            waiting.span = view.prediction(job).max(Span(1));
        }
    }
}

impl Policy for Conservative {
    fn name(&self) -> &str {
        "conservative"
    }

    fn layout(&self) -> u32 {
        4
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if let Some(scheduler) = &mut self.shaped {
            return scheduler.observe(event, view);
        }
        match event {
            PolicyEvent::Arrived(id) => self.fresh.push(id),
            PolicyEvent::Ended { job, predicted_end } => self.running.note_end(job, predicted_end, view.current_time()),
            PolicyEvent::Repredicted { job, old } => self.note_prediction(job, old, view),
            PolicyEvent::Released(id) => self.fresh.push(id),
            PolicyEvent::Stopped { job, predicted_end } => {
                self.running.note_stop(job, predicted_end);
                self.stale = true;
            }
            PolicyEvent::Runs(id) => {
                self.running.note_foreign_start(id, view);
                self.stale = true;
            }
            PolicyEvent::Capacity => {
                self.running.capacity_changed();
                self.stale = true;
            }
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => self.note_departure(id),
            PolicyEvent::Woken => self.running.note_wake(),
            PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        if let Some(scheduler) = &mut self.shaped {
            return scheduler.decide(view, actions);
        }
        let now = view.current_time();
        let due = self.plan.first().is_some_and(|p| p.start <= now);
        if !self.running.looks_up(now, due || !self.fresh.is_empty()) {
            return;
        }
        // On a live cluster a start may come late: what was planned behind it has to wait as long.
        self.stale |= self.plan.first().is_some_and(|p| p.start < now) || self.is_short(view);
        self.look_at_running(view);
        self.compress_plan(view, actions);
        self.insert(view, actions);
        self.change_over(view);
        let due = self.plan.partition_point(|p| p.start <= now);
        let mut namer = SeatNamer::default();
        for job in self.plan.drain(..due) {
            let seat = self.room.remove_job(job.id);
            namer.start_job((job.id, StartReason::Planned), now.saturating_add(job.span), &seat, view, actions);
            self.running.start_job(&job, view);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        if let Some(scheduler) = &self.shaped {
            return scheduler.next_wake();
        }
        // Late notice of ends also matters where only jobs beyond the horizon wait.
        let ends = self.running.is_late() && !self.beyond.is_empty();
        self.running.wake_time(self.plan.first().map(|p| p.start), ends)
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn knows_shapes(&self) -> bool {
        !self.running.is_late()
    }

    fn expect_shapes(&mut self) {
        if self.knows_shapes() {
            self.shaped = Some(Box::new(ShapedConservative::new(self.sizes)));
        }
    }

    fn needed_abilities(&self) -> Abilities {
        let SizeChoices { shape, resize, is_fair, .. } = self.sizes;
        let shape = shape != ShapeRule::default() || is_fair;
        Abilities { shape, resize: resize != ResizeRule::default(), ..Abilities::default() }
    }

    fn counts_resources(&self) -> bool {
        true
    }

    fn places_on_nodes(&self) -> bool {
        true
    }
}

fn default_deep_from() -> usize {
    DEEP
}

/// Says where a job is planned. One that has no place in the plan, because too many processors are
/// out and it is not known for how long, is promised nothing.
fn announce_start(job: &PlannedJob, actions: &mut Actions) {
    if job.start < Time::MAX {
        actions.reserve_start(job.id, job.start);
    }
}

pub(crate) static CONSERVATIVE: PolicyKind = PolicyKind {
    name: "conservative",
    summary: "every job is promised a start when it arrives, and the promise is held; a job of 0 s is planned as one of 1 s",
    source: "Feitelson & Weil 1998; rules after Talby & Feitelson 1999, section 2",
    params: &[
        Param::new(
            "notice",
            "immediate",
            &[Takes::Words(&["immediate", "late"])],
            "early ends are noticed at once, or at the next arrival, planned start or predicted end",
        )
        .for_studies(),
        OVERDUE,
        Param::new(
            "horizon",
            "2000",
            Horizon::TAKES,
            "waiting jobs that are planned and promised a start: a number by arrival, those that can start within a time, or all, \
             which takes long on long queues; the others wait without a promise",
        ),
        PLANNED_SHAPE,
        PLANNED_RESIZE,
        SHARE,
        CAP,
    ],
    needs: &[ParamNeeds { params: &["share"], any: &[ParamCondition::Not("resize", "none")] }],
    unnamed: None,
    variants: &[Variant {
        name: "talby1999",
        sets: "notice=late,overdue=again,horizon=all",
        meaning: "the simulator behind Talby & Feitelson 1999, table 1",
    }],
    build: &|args| {
        // What becomes of predictions is the forecast's affair; a mistake in the word is found
        // here.
        args.get::<String>("overdue")?;
        let sizes = planned_choices(args)?;
        let policy = Conservative::new(args.choose_value("notice", Notice::NAMES)?);
        if sizes != SizeChoices::default() && policy.running.is_late() {
            return Err(args.spec_error("`shape`, `resize` and `cap` go with `notice=immediate` only".into()));
        }
        Ok(Box::new(policy.with_horizon(Horizon::from_args(args)?).with_sizes(sizes)))
    },
};
