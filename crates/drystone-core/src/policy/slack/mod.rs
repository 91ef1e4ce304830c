//! Slack-based backfilling with priorities (Talby & Feitelson 1999).
//!
//! Every job is planned when it arrives, as in conservative backfilling, but jobs already planned
//! may be moved back for a newcomer, each by no more than its slack in total: every possible plan
//! has a price, and the cheapest is taken. What a job is promised at its arrival, its planned start
//! plus its slack, is an upper bound of its start as long as no job runs longer than predicted.
//!
//! The rules are numbered as in the specification of this study: insertion 10 to 14, removal 15 and
//! 20, orders 16, jobs of absolute zero 17, jobs that do not end 19.

mod average;
mod price;
mod search;
mod settings;
mod tick;

pub use drystone_engine::policy::{Importance, Priorities, PriorityError, Quota};
pub use price::{DelayedJob, Weights};
pub use settings::{AverageWait, Removal, ReturnOrder, SlackSettings, Tick};

use super::shaped::ShapeRule;
use super::{
    Abilities, Action, Actions, Moved, Param, Phase, Policy, PolicyEvent, PolicyKind, StartReason, Takes, Variant, View,
};
use crate::model::{JobId, JobKind, Procs, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, Rater};
use crate::parts::{self, RunningJob};
use crate::room::planned::{Believed, Horizon, OVERDUE, PlannedJob, in_order_of_starts};
use crate::room::{JobNeed, PlanRoom, SeatNamer};
use average::Averages;
use price::{PromisedJob, first_slack, scheduler_priority};
use search::{FitChoice, FitTask, Newcomer, SlackSearch};
use serde::{Deserialize, Serialize};
use settings::CLASSES;
use std::collections::{BTreeMap, VecDeque};

/// Slack-based backfilling.
///
/// With w waiting jobs and s slots (running and waiting jobs), an arrival costs O(s·w·s) at worst,
/// and an early end O(w·s). Most candidates are given up long before their end.
#[derive(Serialize, Deserialize)]
pub struct Slack {
    settings: SlackSettings,
    priorities: Priorities,
    averages: Averages,
    /// The last decision.
    now: Time,
    running: Believed,
    /// Free processors, and further resources, with running jobs and the whole plan taken away. Its
    /// steps are exactly the slots: the present, ends of running jobs, planned starts and planned
    /// ends.
    room: PlanRoom,
    /// Waiting jobs by planned start, then arrival.
    plan: Vec<PromisedJob>,
    /// Jobs that have arrived since the last decision.
    fresh: Vec<JobId>,
    /// Jobs that no plan can hold: too many processors are out, and it is not known for how long.
    /// Those that had a place keep what they were promised; the others are planned as if they
    /// arrived when processors come back.
    unplanned: Vec<PromisedJob>,
    turned_away: Vec<JobId>,
    /// True if each waiting job is planned as early as the running jobs and those before it allow.
    compact: bool,
    /// Jobs beyond the horizon, by arrival.
    beyond: VecDeque<JobId>,
    /// Room has come up: a job ended early or was withdrawn.
    freed: bool,
    /// The plan may be impossible: a prediction has changed or was outlived.
    stale: bool,
    /// Jobs that are being killed; nothing is decided before the machine says that they have ended.
    dying: Vec<JobId>,
    /// A decision was put off until then.
    put_off: bool,
    /// Jobs that run beyond their declared end as long as no job needs their processors; the plan
    /// counts these as free.
    guests: Vec<RunningJob>,
    /// Priorities of running jobs, kept only where they may be given more time.
    held: BTreeMap<JobId, f64>,
    /// Rater that orders displaced jobs, where a formula does.
    rater: Option<Rater>,
    /// Kept where the formula asks for it.
    shares: Option<Shares>,
    #[serde(skip)]
    search: SlackSearch,
}

impl Slack {
    /// A policy with an empty plan.
    #[must_use]
    pub fn new(settings: SlackSettings, priorities: Priorities) -> Slack {
        let rater = match &settings.order {
            ReturnOrder::Formula(formula) => Some(Rater::new(parts::Order::Formula(formula.clone()))),
            _ => None,
        };
        Slack {
            shares: rater.as_ref().and_then(Rater::initial_shares),
            rater,
            priorities,
            averages: Averages::new(settings.average_wait),
            now: Time::MIN,
            running: Believed::new(settings.notice),
            room: PlanRoom::new_empty(),
            plan: Vec::new(),
            fresh: Vec::new(),
            unplanned: Vec::new(),
            turned_away: Vec::new(),
            beyond: VecDeque::new(),
            compact: true,
            freed: false,
            stale: true,
            dying: Vec::new(),
            put_off: false,
            guests: Vec::new(),
            held: BTreeMap::new(),
            search: SlackSearch::default(),
            settings,
        }
    }

    /// Plans the newcomers, and those beyond the horizon as it comes to reach them.
    fn insert_fresh(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut fresh = std::mem::take(&mut self.fresh);
        if self.settings.horizon == Horizon::All {
            fresh.drain(..).for_each(|id| self.insert(id, view, actions));
        }
        for id in fresh.drain(..) {
            self.beyond.insert(self.beyond.partition_point(|&member| member < id), id);
        }
        self.fresh = fresh;
        // Those that start now leave their places to others.
        while !self.beyond.is_empty() {
            let starting = self.plan.partition_point(|job| job.planned.start <= view.current_time());
            if self.settings.horizon.latest_start(view.current_time(), self.plan.len() - starting).is_none() {
                break;
            }
            self.beyond.pop_front().into_iter().for_each(|id| self.insert(id, view, actions));
        }
    }

    /// Rules 10 to 14.
    fn insert(&mut self, id: JobId, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let mut planned_job = self.size_newcomer(id, view);
        let need = planned_job.job_need(view);
        // No job moves.
        let Some(start) = self.room.earliest_start(need, planned_job.span, now) else {
            self.turned_away.push(id);
            return;
        };
        let importance = self.priorities.admit_job(id, view.job(id), now);
        let new = Newcomer { need, span: planned_job.span, priority: importance.compute_priority(0.5) };
        let price = self.settings.weights.of_waiting(need.procs, start - now);
        let mut choice = FitChoice { start, price, compact: self.compact || self.plan.is_empty() };
        self.search.forget_moves();
        if !self.plan.is_empty() {
            choice = self.find_cheapest(new, choice, false, view);
        }
        if choice.start != start {
            actions.explain_move(Moved {
                job: id,
                favour: Some(id),
                from: start,
                to: choice.start,
                price: choice.price,
            });
        }
        let is_rearranged = self.search.has_rearranged();
        self.apply_moves(Some(id), actions);

        let average = self.averages.mean_seconds(planned_job.span);
        let priority = importance.compute_priority(scheduler_priority(choice.start - now, average));
        let slack = first_slack(priority, self.settings.slack_factor, average);
        planned_job.start = choice.start;
        let job = PromisedJob { planned: planned_job, priority, slack, first_slack: slack };
        if choice.start > now {
            // A start at once needs no promise.
            actions.push(promise_action(&job));
        }
        let place = self.plan.partition_point(|p| p.planned.plan_key() < planned_job.plan_key());
        self.plan.insert(place, job);
        self.compact = choice.compact;
        if is_rearranged {
            self.rebuild_room(view);
        } else {
            self.room.reserve_need(planned_job.start, planned_job.planned_end(), need);
        }
    }

    /// A newcomer with its size, for good: the preferred one, or one by what is free where no other
    /// job moves.
    fn size_newcomer(&self, id: JobId, view: &View<'_>) -> PlannedJob {
        let rule = self.settings.shape;
        let several = view.job_shape(id).filter(|shape| shape.kind != JobKind::Rigid && shape.sizes.count() > 1);
        let Some(shape) = several.filter(|_| rule != ShapeRule::Preferred) else { return PlannedJob::new(id, view) };
        let (now, sizes) = (view.current_time(), &shape.sizes);
        let job_with_size = |procs| PlannedJob::with_size(id, procs, view);
        let start = |job: &PlannedJob| self.room.earliest_start(job.job_need(view), job.span, now);
        let most = match rule {
            ShapeRule::Most => sizes.max(),
            ShapeRule::UpTo => shape.preferred,
            ShapeRule::Min => sizes.min(),
            _ => {
                return self
                    .first_to_end(sizes.iter().map(job_with_size), view)
                    .unwrap_or_else(|| PlannedJob::new(id, view));
            }
        };
        // The largest that fits now, or else the smallest.
        let smaller = |procs: &Procs| procs.checked_sub(1).and_then(|procs| sizes.at_most(procs));
        let falling = std::iter::successors(sizes.at_most(most), smaller);
        falling.map(job_with_size).find(|job| start(job) == Some(now)).unwrap_or_else(|| job_with_size(sizes.min()))
    }

    /// Returns the size of a newcomer that ends first, the smallest of equals. With `start-now` it
    /// is one that fits now, if any does.
    fn first_to_end(&self, sizes: impl Iterator<Item = PlannedJob>, view: &View<'_>) -> Option<PlannedJob> {
        let now = view.current_time();
        let rank = |job: PlannedJob| {
            let start = self.room.earliest_start(job.job_need(view), job.span, now)?;
            Some(((self.settings.shape == ShapeRule::StartNow && start > now, start + job.span), job))
        };
        sizes.filter_map(rank).min_by_key(|(rank, _)| *rank).map(|(_, job)| job)
    }

    fn find_cheapest(&mut self, new: Newcomer<'_>, first: FitChoice, only_now: bool, view: &View<'_>) -> FitChoice {
        let now = view.current_time();
        self.search.base.fill_running(&self.running, &self.guests, view);
        self.search.base.take_seats();
        let Slack { settings, room: full, plan, compact, search, rater, shares, .. } = self;
        let needs: Vec<JobNeed<'_>> = match full.is_plain() {
            true => Vec::new(),
            false => plan.iter().map(|job| job.planned.job_need(view)).collect(),
        };
        let rank_result = rater.as_ref().map(|rater| {
            let jobs: Vec<JobId> = plan.iter().map(|job| job.planned.id).collect();
            rater.rank_jobs(&jobs, shares.as_mut(), view)
        });
        let ranked_positions = rank_result.as_deref().unwrap_or_default();
        let task = FitTask {
            settings,
            now,
            full,
            plan,
            needs: &needs,
            compact: *compact,
            new,
            only_now,
            ranked: ranked_positions,
        };
        search.find_cheapest(&task, first)
    }

    /// Rule 13: carries out the moves that were found. The room is left as it was.
    fn apply_moves(&mut self, favour: Option<JobId>, actions: &mut Actions) {
        if let Some(seats) = self.search.take_seats() {
            self.room.set_seats(seats);
        }
        for job_move in self.search.moves() {
            let job = &mut self.plan[job_move.at];
            let (from, to) = (job.planned.start, job_move.to);
            job.slack -= (to - from).as_f64();
            job.planned.start = to;
            actions.explain_move(Moved { job: job.planned.id, favour, from, to, price: job_move.price });
            actions.push(promise_action(job));
        }
        in_order_of_starts(&mut self.plan);
    }

    /// Rebuilds the room from running jobs and plan.
    fn rebuild_room(&mut self, view: &View<'_>) {
        self.room.fill_running(&self.running, &self.guests, view);
        let seats = self.room.take_seats();
        for PromisedJob { planned, .. } in &self.plan {
            self.room.reserve_need(
                planned.start,
                planned.planned_end(),
                planned.job_need(view).on_seat(seats.get(&planned.id)),
            );
        }
    }

    /// Rules 8 and 15: all waiting jobs out, and back in the order of their starts. What that gains
    /// does not touch slacks. Where predictions proved too short it can delay jobs; that uses up
    /// their slack, and beyond it breaks promises.
    fn compress_plan(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.room.fill_running(&self.running, &self.guests, view);
        let now = view.current_time();
        self.room.compress_plan(
            &mut self.plan,
            |_| now,
            view,
            |job, from| {
                if job.planned.start == Time::MAX {
                    return;
                }
                // One that had lost its place has waited for it: that is the machine's doing.
                let by = if from == Time::MAX { 0.0 } else { (job.planned.start - from).as_f64() };
                if by > 0.0 {
                    job.slack = (job.slack - by).max(0.0);
                }
                let to = job.planned.start;
                actions.explain_move(Moved { job: job.planned.id, favour: None, from, to, price: 0.0 });
                actions.push(promise_action(job));
            },
        );
        let placed_count = self.plan.partition_point(|job| job.planned.start < Time::MAX);
        self.unplanned.append(&mut self.plan.split_off(placed_count));
        self.compact = true;
    }

    /// A waiting job waits no more. Returns whether it was in the plan.
    fn leaves_queue(&mut self, id: JobId, view: &View<'_>) {
        let waiting_count = self.plan.len() + self.unplanned.len();
        self.plan.retain(|w| w.planned.id != id);
        self.unplanned.retain(|w| w.planned.id != id);
        if self.plan.len() + self.unplanned.len() < waiting_count {
            self.priorities.note_departure(view.job(id), Span::ZERO, view.current_time());
            self.freed = true;
        }
        self.fresh.retain(|&fresh| fresh != id);
        self.turned_away.retain(|&member| member != id);
        if let Ok(at) = self.beyond.binary_search(&id) {
            self.beyond.remove(at);
        }
    }

    fn leaves_machine(&mut self, job: JobId, view: &View<'_>) {
        self.priorities.note_departure(view.job(job), view.run_time_so_far(job), view.current_time());
        self.dying.retain(|&id| id != job);
        self.guests.retain(|guest| guest.id != job);
        self.held.remove(&job);
    }

    /// Processors have gone or come back: all is planned again, including jobs without a place.
    fn capacity_changed(&mut self) {
        self.plan.append(&mut self.unplanned);
        in_order_of_starts(&mut self.plan);
        self.fresh.append(&mut self.turned_away);
        self.stale = true;
        self.running.capacity_changed();
    }

    /// Plans jobs without a place again where changes of supply are announced: what other jobs give
    /// back may leave room for such a job before a change.
    fn look_at_unplanned(&mut self, view: &View<'_>) {
        if view.outlook().is_some_and(|outlook| !outlook.supply_changes().is_empty()) {
            self.plan.append(&mut self.unplanned);
            in_order_of_starts(&mut self.plan);
            self.fresh.append(&mut self.turned_away);
        }
    }

    /// Room has come up.
    fn remove(&mut self, view: &View<'_>, actions: &mut Actions) {
        match self.settings.removal {
            Removal::Compress => self.compress_plan(view, actions),
            Removal::Priced => {
                // Rule 20.
                self.compact = false;
                self.rebuild_room(view);
                let dummy = Newcomer { need: JobNeed::of_procs(0), span: Span::ZERO, priority: 1.0 };
                let baseline_choice = FitChoice { start: view.current_time(), price: 0.0, compact: false };
                let choice = self.find_cheapest(dummy, baseline_choice, false, view);
                self.compact = choice.compact;
                if self.search.has_rearranged() {
                    self.apply_moves(None, actions);
                    self.rebuild_room(view);
                }
            }
        }
    }

    /// Starts the jobs that are due, unless guests hold their processors.
    fn start_due(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let due = self.plan.partition_point(|job| job.planned.start <= now);
        if self.show_out_guests(due, view, actions) {
            return;
        }
        let mut namer = SeatNamer::default();
        for job in self.plan.drain(..due) {
            let id = job.planned.id;
            let end = now.saturating_add(job.planned.span);
            match job.planned.procs == view.job(id).procs {
                true => namer.start_job((id, StartReason::Planned), end, &self.room.remove_job(id), view, actions),
                false => actions.start_with(id, job.planned.procs, StartReason::Planned),
            }
            self.running.start_job(&job.planned, view);
            if job.priority != f64::NEG_INFINITY {
                self.averages.learn_wait(now - view.job(id).submit, job.planned.span);
            }
            if self.settings.tick == Tick::Extend {
                self.held.insert(id, job.priority);
            }
        }
    }
}

/// Returns the announcement to a waiting job: its planned start, and its latest start. The start is
/// whole, so that a fraction of a second of slack is worth nothing.
fn promise_action(job: &PromisedJob) -> Action {
    let start = job.planned.start;
    let latest = if job.slack.is_finite() { start.saturating_add(Span(job.slack.floor() as i64)) } else { Time::MAX };
    Action::Reserve { job: job.planned.id, start, latest }
}

impl Policy for Slack {
    fn name(&self) -> &str {
        "slack"
    }

    fn layout(&self) -> u32 {
        5
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => self.fresh.push(id),
            PolicyEvent::Ended { job, predicted_end } => {
                if let Some(shares) = &mut self.shares {
                    ranking::account_usage(shares, job, view);
                }
                self.running.note_end(job, predicted_end, view.current_time());
                self.leaves_machine(job, view);
            }
            PolicyEvent::Stopped { job, predicted_end } => {
                self.running.note_stop(job, predicted_end);
                self.leaves_machine(job, view);
                self.stale = true;
            }
            PolicyEvent::Runs(id) => {
                let importance = self.priorities.admit_job(id, view.job(id), view.current_time());
                if self.settings.tick == Tick::Extend {
                    self.held.insert(id, importance.compute_priority(0.5));
                }
                self.running.note_foreign_start(id, view);
                self.stale = true;
            }
            PolicyEvent::Released(id) => self.fresh.push(id),
            PolicyEvent::Capacity => self.capacity_changed(),
            PolicyEvent::Repredicted { job, old } if self.beyond_its_time(job, old, view) => {
                self.running.note_unmoved_end(job, old, view);
            }
            PolicyEvent::Repredicted { job, old } => {
                self.stale = true;
                if view.phase(job) == Phase::Running {
                    self.running.note_prediction(job, old, view);
                } else if let Some(waiting) =
                    self.plan.iter_mut().chain(&mut self.unplanned).find(|w| w.planned.id == job)
                {
                    waiting.planned.span = view.prediction_at(job, waiting.planned.procs).max(Span(1));
                }
            }
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => self.leaves_queue(id, view),
            PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
            PolicyEvent::Woken => self.running.note_wake(),
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        self.now = now;
        if !self.dying.is_empty() {
            return;
        }
        let first = self.plan.first().map(|job| job.planned.start);
        let is_expected = self.put_off || !self.fresh.is_empty() || first.is_some_and(|start| start <= now);
        if !self.running.looks_up(now, is_expected) {
            return;
        }
        self.freed |= self.running.notice_ends(|_| {});
        self.stale |= self.running.has_doubts(self.guests.iter().map(|guest| guest.procs).sum(), view);
        // What drives the policy may be late.
        self.stale |= first.is_some_and(|start| start < now);
        self.find_overdue(view, actions);
        self.put_off = !self.dying.is_empty();
        if self.put_off {
            return;
        }
        if self.freed && self.settings.removal == Removal::Compress {
            self.look_at_unplanned(view);
        }
        if self.stale {
            self.compress_plan(view, actions);
        } else if self.freed {
            self.remove(view, actions);
        } else {
            self.room.advance_to(now);
        }
        (self.stale, self.freed) = (false, false);
        if self.settings.tick == Tick::Extend && !self.guests.is_empty() {
            self.extend_or_kill(view, actions);
            self.put_off = !self.dying.is_empty();
            if self.put_off {
                return;
            }
        }
        self.insert_fresh(view, actions);
        self.start_due(view, actions);
    }

    fn next_wake(&self) -> Option<Time> {
        // What is due when a kill is confirmed needs no other event.
        let start = self.plan.first().map(|job| job.planned.start).filter(|_| self.dying.is_empty());
        let ends_matter = matches!(self.settings.tick, Tick::Kill | Tick::Extend);
        self.running.wake_time(start, ends_matter).filter(|&wake| wake > self.now)
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        true
    }

    fn places_on_nodes(&self) -> bool {
        true
    }

    fn needed_abilities(&self) -> Abilities {
        let shape = self.settings.shape != ShapeRule::Preferred;
        Abilities { kill: self.settings.tick != Tick::Run, shape, ..Abilities::default() }
    }

    fn set_priorities(&mut self, priorities: Priorities) -> Result<(), PriorityError> {
        if !self.priorities.is_empty() {
            return Err(PriorityError::new("the policy's text gives others; leave out one of the two"));
        }
        if priorities.needs_workload() {
            return Err(PriorityError::new("rules for job numbers need the log (Priorities::for_workload)"));
        }
        if priorities.has_reservations() {
            return Err(no_reservations());
        }
        self.priorities = priorities;
        Ok(())
    }
}

fn no_reservations() -> PriorityError {
    PriorityError::new("slack knows no reservations (`reserve`); multiqueue does")
}

const WEIGHT: &[Takes] = &[Takes::Number { from: 0.0, to: 1.0 }];

/// Slack-based backfilling.
pub(crate) static SLACK: PolicyKind = PolicyKind {
    name: "slack",
    summary: "planned jobs may be moved back within a promised bound where that is cheaper; knows priorities and quotas",
    source: "Talby & Feitelson 1999, section 4",
    params: &[
        Param::new(
            "sf",
            "3",
            &[Takes::Number { from: 0.0, to: f64::MAX }],
            "slack factor: how many average waits a job may be delayed; 0 is conservative backfilling",
        ),
        Param::new(
            "order",
            "ast",
            &[settings::ORDER],
            "order in which displaced jobs are put back: by planned start, arrival, largest area, highest cost, \
                      highest priority, or the cheapest of all orders of up to N (by start beyond)",
        ),
        Param::new(
            "awt",
            "auto",
            &[
                Takes::Words(&["auto", "length"]),
                Takes::Above { above: 0.0, to: f64::MAX },
                Takes::Numbers { count: CLASSES },
            ],
            "average wait of the system in seconds; auto: the mean of the waits so far, of about the last 1,000 jobs; length: \
             so for each class of run times by itself: up to 10 min, 1 h, 8 h, more; four numbers above 0: that of each class",
        ),
        Param::new("au", "1", WEIGHT, "weight of processors in prices").for_experts(),
        Param::new("at", "1", WEIGHT, "weight of delays in prices").for_experts(),
        Param::new("ap", "1", WEIGHT, "weight of priorities in prices").for_experts(),
        Param::new(
            "af",
            "1",
            WEIGHT,
            "weight of fairness in prices: surcharge for delaying a job that was delayed before",
        )
        .for_experts(),
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
            "100",
            &[Takes::Words(&["all"]), Takes::COUNT],
            "number of waiting jobs that are planned and promised a start, the first by arrival; the others wait without a \
             promise; all: every job, which takes long on long queues",
        ),
        Param::new(
            "remove",
            "compress",
            &[Takes::Words(&["compress", "priced"])],
            "after an early end: all planned starts move up in order, or the cheapest rearrangement",
        )
        .for_studies(),
        Param::new(
            "tick",
            "run",
            &[Takes::Words(&["run", "kill", "overrun", "extend"])],
            "a job that outlives its estimate: is left to the machine, is killed, is killed when a job needs its \
                      processors, or gets a tenth more where that is cheaper than killing it",
        ),
        Param::new(
            "priorities",
            "equal",
            &[crate::policy::PRIORITIES],
            "user and political priorities where no file gives them",
        ),
        settings::SHAPE,
    ],
    needs: &[],
    unnamed: None,
    variants: &[Variant {
        name: "talby1999",
        sets: "sf=3,order=ast,awt=2401,notice=late,overdue=again,horizon=all",
        meaning: "the simulator behind Talby & Feitelson 1999, tables 1 to 3",
    }],
    build: &|args| {
        // What becomes of predictions is the forecast's affair; a mistake in the word is found
        // here.
        args.get::<String>("overdue")?;
        let settings = SlackSettings::from_args(args)?;
        let priorities =
            Priorities::from_text(args.text_value("priorities")).map_err(|e| args.spec_error(e.to_string()))?;
        if priorities.has_reservations() {
            return Err(args.spec_error(no_reservations().to_string()));
        }
        Ok(Box::new(Slack::new(settings, priorities)))
    },
};
