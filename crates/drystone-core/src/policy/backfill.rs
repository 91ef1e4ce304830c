//! The EASY family: a queue in some order, reservations for its first jobs, and backfilling around
//! them.
//!
//! One policy with its choices as parameters covers FCFS without backfilling, greedy backfilling
//! without a reservation, EASY, and plans with k reservations. "EASY" is not one algorithm:
//! published results differ in how extra processors are counted, what an overdue job means, and
//! when a pass is made; each choice is a parameter here.

mod around;
mod blocked;
mod choices;
mod kinds;
mod placed;
mod plain;
mod planning;
mod pooled;
mod queue_news;
mod queues;
mod starvation;

pub use choices::{Arrive, BackfillChoices, OverdueRule, OvertakeGuard};
pub(crate) use kinds::{EASY, FCFS, GREEDY};

use super::shaped::{DropRule, ResizeRule, ShapeRule, ShapedEasy, SizeChoices};
use super::{Abilities, Actions, Policy, PolicyEvent, Requirement, StartReason, View};
use crate::model::{JobId, PowerTerm, Procs, SharedSort, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, OrderRanking};
use crate::parts::{BackfillFit, ExtraRule, JobLine, Order, RunningJob, WaitingJob};
use crate::room::PlanRoom;
use blocked::BlockedPass;
use serde::{Deserialize, Serialize};
use starvation::StarvationQueue;

/// Queue, reservations, backfilling.
///
/// A pass costs O(log r) for the shadow time over r running jobs, and a pruned search of the queue
/// per job started; a pass after arrivals, and after ends that leave the reservation as it was and
/// give back too little for any job that waits, looks at the newcomers only. With two or more
/// reservations each pass plans again: O(k·r), and a pruned search per job started, in an order
/// that does not change with time.
#[derive(Serialize, Deserialize)]
pub struct Backfill {
    choices: BackfillChoices,
    /// Waiting jobs in the order of reservations, unless they are in line. See
    /// [`Backfill::predictions_lag`].
    queue: OrderRanking,
    /// Instead of it where only the first of it is ever asked for, and the order is that of
    /// arrival.
    line: Option<JobLine>,
    /// The waiting jobs in the order of backfilling, where that is another.
    candidates: Option<OrderRanking>,
    /// Jobs that this pass has started from the head of the queue.
    #[serde(skip)]
    started: Vec<RunningJob>,
    /// Jobs that arrived since the last pass, not in a queue yet.
    fresh: Vec<WaitingJob>,
    /// Reason why no job in the queue could start at the last pass; `None` when the reservation may
    /// have changed.
    blocked: Option<BlockedPass>,
    /// Jobs that no plan can hold: too many processors are out, for an unknown time. They are in no
    /// queue.
    aside: Vec<JobId>,
    /// True if a job has ended since the last pass while another waited: then a pass is due,
    /// whatever arrives.
    ended: bool,
    /// State of passes around announced windows.
    around: around::Around,
    /// The reservation announced last.
    announced: Option<(JobId, Time)>,
    /// Kept where jobs may not wait for ever.
    starvation: Option<StarvationQueue>,
    /// Kept where a formula asks for it.
    shares: Option<Shares>,
    #[serde(skip)]
    plan: Option<PlanRoom>,
    /// State of passes with further resources.
    #[serde(skip)]
    pooled: Option<pooled::PooledExtra>,
    /// State of passes on nodes.
    #[serde(skip)]
    placed: Option<Box<placed::PlacedState>>,
    /// Nodes that are there in the end; `None` before a pass asks.
    #[serde(skip)]
    nodes_left: Option<Box<planning::NodesLeft>>,
    /// Choices about sizes.
    sizes: SizeChoices,
    /// Makes the passes where jobs have several sizes, or power is limited.
    shaped: Option<Box<ShapedEasy>>,
}

impl Backfill {
    /// A policy with these choices and an empty queue.
    #[must_use]
    pub fn new(choices: BackfillChoices) -> Backfill {
        let separate = choices.backfill.as_ref().filter(|&backfill| *backfill != choices.order);
        let in_line = separate.is_some() && choices.order == Order::Fcfs && choices.reservations <= 1;
        // In the order of arrival, a job that has waited too long heads the queue anyway.
        let starve = choices.starve.filter(|_| choices.order != Order::Fcfs);
        Backfill {
            queue: OrderRanking::new(&choices.order),
            line: in_line.then(JobLine::default),
            candidates: separate.map(OrderRanking::new),
            starvation: starve.map(StarvationQueue::new),
            shares: ranking::shares_for([&choices.order].into_iter().chain(&choices.backfill)),
            choices,
            started: Vec::new(),
            fresh: Vec::new(),
            aside: Vec::new(),
            blocked: None,
            ended: false,
            around: around::Around::default(),
            announced: None,
            plan: None,
            pooled: None,
            placed: None,
            nodes_left: None,
            sizes: SizeChoices::default(),
            shaped: None,
        }
    }

    /// Sets the choices about sizes.
    #[must_use]
    pub fn with_sizes(self, sizes: SizeChoices) -> Backfill {
        Backfill { sizes, ..self }
    }

    /// Jobs arrived, and what others gave back is too little for the jobs that could not start
    /// before: they cannot start now. Returns `false` where a full pass is due after all.
    fn start_newcomers(&mut self, view: &View<'_>, actions: &mut Actions) -> bool {
        let now = view.current_time();
        let overdue = self.choices.overdue;
        let blocked_pass = match &mut self.blocked {
            Some(b) if (!b.freed || view.free_processors() <= b.room) && !b.out_of_date(now, overdue) => {
                b.freed = false;
                *b
            }
            _ => return false,
        };
        debug_assert!(
            self.none_fits(blocked_pass.backfill_fit(view.free_processors(), now)),
            "a job in the queue can start at {now}"
        );
        if self.fresh.is_empty() {
            return true;
        }
        if self.fresh.iter().any(|job| job.queue_place() < blocked_pass.head) {
            return false;
        }
        if self.choices.backfill.is_none() {
            self.enqueue_fresh(view);
            return true;
        }
        debug_assert_eq!(
            (blocked_pass.shadow, blocked_pass.extra),
            self.reservation_of(blocked_pass.head.id, self.free_processors(view), view),
            "at {now}"
        );
        let mut fit = blocked_pass.backfill_fit(view.free_processors(), now);
        if let [job] = self.fresh[..]
            && !fit.can_start(job.procs, job.prediction)
        {
            self.fresh.clear();
            self.enqueue_job(job, view);
            if let Some(blocked) = &mut self.blocked {
                blocked.room = blocked.room_beside(&job, fit.free);
            }
            return true;
        }
        if self.fresh.len() > 1 {
            self.sort_fresh(view);
        }
        let (mut is_kept, mut new_blocked_pass) = (true, blocked_pass);
        for at in 0..self.fresh.len() {
            let job = self.fresh[at];
            let longest = self.longest_run(&job, view);
            if fit.can_start(job.procs, longest) {
                is_kept &= self.choices.keeps_reservation(&job, fit.window);
                fit.account_start(job.procs, longest);
                actions.start_job(job.id, StartReason::Backfilled);
            } else {
                self.enqueue_job(job, view);
                new_blocked_pass.room = new_blocked_pass.room_beside(&job, fit.free);
            }
        }
        self.fresh.clear();
        self.blocked = is_kept.then_some(BlockedPass { extra: fit.extra, ..new_blocked_pass });
        true
    }

    /// Returns whether a pass over the queue would backfill no job, as far as predictions say so.
    fn none_fits(&self, fit: BackfillFit) -> bool {
        let queue = self.candidates.as_ref().unwrap_or(&self.queue);
        self.choices.backfill.is_none() || self.choices.guard == OvertakeGuard::Estimate || !queue.any_fits(fit)
    }

    /// Processors that count as free.
    #[inline]
    fn free_processors(&self, view: &View<'_>) -> Procs {
        match self.choices.overdue {
            OverdueRule::Now | OverdueRule::Stale => view.free_processors(),
            OverdueRule::Free => {
                view.machine().procs
                    - (view.running_jobs().procs() - view.running_jobs().ending_by(view.current_time()))
            }
        }
    }

    /// Returns the longest run time of a job as far as backfilling is concerned.
    #[inline]
    fn longest_run(&self, job: &WaitingJob, view: &View<'_>) -> Span {
        match self.choices.guard {
            OvertakeGuard::Prediction => job.prediction,
            OvertakeGuard::Estimate => job.prediction.max(view.job(job.id).estimate),
        }
    }

    /// Starts jobs from the head of the queue while they fit. Returns what is free then and the job
    /// that blocks the queue.
    fn start_heads(&mut self, view: &View<'_>, actions: &mut Actions) -> (Procs, Option<WaitingJob>) {
        let now = view.current_time();
        let mut free = self.free_processors(view);
        if self.no_job_waits() && self.fresh.len() == 1 && self.fresh[0].procs <= free {
            // An idle machine: the job need not go through the queue.
            if let Some(job) = self.fresh.pop() {
                actions.start_job(job.id, StartReason::Head);
                return (free - job.procs, None);
            }
        }
        self.enqueue_fresh(view);
        self.rate_queues(view);
        loop {
            match self.find_head(view) {
                Some(head) if head.procs <= free => {
                    match &mut self.line {
                        Some(line) => line.remove_first(),
                        None if self.choices.order.is_dynamic() || self.starvation.is_some() => {
                            self.leave_queue(&head, view);
                        }
                        None => _ = self.queue.queue().take_first(),
                    }
                    self.leave_candidates(&head, view);
                    actions.start_job(head.id, StartReason::Head);
                    self.started.push(RunningJob { end: now + head.prediction, id: head.id, procs: head.procs });
                    free -= head.procs;
                }
                head => return (free, head),
            }
        }
    }

    fn full_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let (free, blocked_pass) = match &self.blocked {
            // The head is still too large for what was given back.
            Some(known)
                if known.procs > view.free_processors()
                    && self.fresh.is_empty()
                    && !known.out_of_date(now, self.choices.overdue) =>
            {
                let current_pass = *known;
                self.rate_queues(view);
                (view.free_processors(), current_pass)
            }
            known => {
                match self.blocked_anew(known.filter(|b| !b.out_of_date(now, self.choices.overdue)), view, actions) {
                    Some(blocked) => blocked,
                    None => return self.blocked = None,
                }
            }
        };
        let BlockedPass { shadow, extra, .. } = blocked_pass;
        debug_assert_eq!((shadow, extra), self.reservation_of(blocked_pass.head.id, free, view), "at {now}");
        let mut fit = blocked_pass.backfill_fit(free, now);
        let (is_kept, room) = match &self.choices.backfill {
            None => (true, Procs::MAX),
            Some(order) if order.is_dynamic() => (self.backfill_as_of_now(&mut fit, view, actions), fit.free),
            Some(_) => self.backfill_in_order(&mut fit, view, actions),
        };
        let room = room.min(blocked_pass.procs - 1);
        // Where the order changes with time, or overdue jobs are clamped to the present, the result
        // may change with time alone.
        let timeless = match self.choices.overdue {
            OverdueRule::Now => shadow > now,
            OverdueRule::Stale => true,
            OverdueRule::Free => false,
        };
        let stays = timeless && is_kept && !self.choices.order.is_dynamic();
        self.blocked = stays.then_some(BlockedPass { extra: fit.extra, room, freed: false, ..blocked_pass });
    }

    /// Starts jobs from the head of the queue, and answers what is free then and the reservation of
    /// the job that blocks it: the one that is known if it is still that.
    fn blocked_anew(
        &mut self,
        known: Option<BlockedPass>,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> Option<(Procs, BlockedPass)> {
        let (free, head) = self.start_heads(view, actions);
        let head = head?;
        if let Some(known) = known
            && known.head == head.queue_place()
            && free == view.free_processors()
        {
            return Some((free, known));
        }
        let (shadow, extra) = self.compute_reservation(head.procs, free, view);
        if self.is_in_the_way(&head, shadow, view.current_time()) {
            self.plan_ahead(view, actions);
            return None;
        }
        if shadow < Time::MAX {
            self.announce_reservation(head.id, shadow, actions);
        }
        let until = self.first_until(head.id, view);
        Some((
            free,
            BlockedPass { head: head.queue_place(), procs: head.procs, shadow, extra, room: 0, freed: false, until },
        ))
    }

    /// Shadow time and extra processors of the job that blocks the queue; [`Time::MAX`] where it
    /// has no reservation.
    #[inline]
    fn compute_reservation(&mut self, procs: Procs, free: Procs, view: &View<'_>) -> (Time, Procs) {
        if self.choices.backfill.is_none() || self.choices.reservations == 0 {
            return (Time::MAX, 0);
        }
        let (now, running_jobs, extra) = (view.current_time(), view.running_jobs(), self.choices.extra);
        let floor = if self.choices.overdue == OverdueRule::Now { now } else { Time::MIN };
        let already = match self.choices.overdue {
            OverdueRule::Free => {
                let started_procs =
                    self.started.iter().filter(|job| job.end <= now).map(|job| job.procs).sum::<Procs>();
                running_jobs.ending_by(now) + started_procs
            }
            OverdueRule::Now | OverdueRule::Stale => 0,
        };
        let missing = procs + already - free;
        let shadow = if let Some(outlook) = view.outlook().filter(|outlook| !outlook.is_settled()) {
            running_jobs.shadow_with(&self.started_and_returns(outlook, now), missing, extra, floor)
        } else if self.started.is_empty() {
            running_jobs.find_shadow(missing, extra, floor)
        } else {
            self.started.sort_shared_by_key(|job| (job.end, job.id));
            running_jobs.shadow_with(&self.started, missing, extra, floor)
        };
        match shadow {
            Some(shadow) => (shadow.time, shadow.extra),
            // Not even all of the machine suffices, which a pass within an instant may find:
            // nothing that runs now can be in the way of the head.
            None => (Time::MAX, 0),
        }
    }

    /// Recomputes the reservation of a job that heads the queue.
    fn reservation_of(&mut self, head: JobId, free: Procs, view: &View<'_>) -> (Time, Procs) {
        self.compute_reservation(view.job(head).procs, free, view)
    }

    /// Returns whether the reservation is then as it was, see
    /// [`BackfillChoices::keeps_reservation`], and how many processors may be free for all that are
    /// left to stay.
    fn backfill_in_order(&mut self, fit: &mut BackfillFit, view: &View<'_>, actions: &mut Actions) -> (bool, Procs) {
        if self.choices.guard == OvertakeGuard::Estimate {
            return (self.backfill_guarded(fit, view, actions), fit.free);
        }
        let Backfill { choices, queue, candidates, line, .. } = self;
        let (window, mut is_kept) = (fit.window, true);
        let mut starts = |job: &WaitingJob| {
            is_kept &= choices.keeps_reservation(job, window);
            actions.start_job(job.id, StartReason::Backfilled);
        };
        let room = match candidates {
            None => queue.queue().take_all(fit, starts),
            Some(candidates) => candidates.queue().take_all(fit, |job| {
                if line.is_none() {
                    queue.remove(choices.queue_place(job, view));
                }
                starts(job);
            }),
        };
        (is_kept, room)
    }

    /// [`Backfill::backfill_in_order`] where jobs are tried by their predictions, but judged by
    /// their estimates as well.
    fn backfill_guarded(&mut self, fit: &mut BackfillFit, view: &View<'_>, actions: &mut Actions) -> bool {
        let (mut after, mut is_kept) = (None, true);
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, *fit, self.backfill_order(), view)
        {
            after = Some(job.queue_place());
            let longest = self.longest_run(&job, view);
            if fit.can_start(job.procs, longest) {
                self.dequeue_job(&job, view);
                is_kept &= self.choices.keeps_reservation(&job, fit.window);
                fit.account_start(job.procs, longest);
                actions.start_job(job.id, StartReason::Backfilled);
            }
        }
        is_kept
    }

    /// [`Backfill::backfill_in_order`] where the order changes with time.
    fn backfill_as_of_now(&mut self, fit: &mut BackfillFit, view: &View<'_>, actions: &mut Actions) -> bool {
        let mut is_kept = true;
        loop {
            let queue = self.candidates.as_ref().unwrap_or(&self.queue);
            let Some(job) = queue.next_fit(None, *fit, self.backfill_order(), view) else {
                return is_kept;
            };
            self.dequeue_job(&job, view);
            is_kept &= self.choices.keeps_reservation(&job, fit.window);
            fit.account_start(job.procs, job.prediction);
            actions.start_job(job.id, StartReason::Backfilled);
        }
    }

    fn announce_reservation(&mut self, job: JobId, shadow: Time, actions: &mut Actions) {
        if self.announced != Some((job, shadow)) {
            self.announced = Some((job, shadow));
            actions.reserve_start(job, shadow);
        }
    }
}

/// Returns whether all demands of a job beyond processors are free.
#[inline]
fn has_free_resources(id: JobId, view: &View<'_>) -> bool {
    view.resources().is_none_or(|resources| resources.has_free(view.job(id).demand))
}

impl Policy for Backfill {
    fn name(&self) -> &str {
        "backfill"
    }

    #[inline]
    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if let Some(shaped) = &mut self.shaped {
            return shaped.observe(event, view);
        }
        match event {
            PolicyEvent::Arrived(id) => self.note_arrival(id, view),
            PolicyEvent::Ended { job, predicted_end } | PolicyEvent::Stopped { job, predicted_end } => {
                if let Some(shares) = &mut self.shares {
                    ranking::account_usage(shares, job, view);
                }
                self.ended = !self.no_job_waits();
                // The processors that it gives back now were counted as free at the shadow time,
                // and also just before it.
                match &mut self.blocked {
                    Some(blocked) if predicted_end < blocked.shadow => blocked.freed = true,
                    blocked => *blocked = None,
                }
            }
            PolicyEvent::Repredicted { job, old } => self.note_prediction(job, old, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => self.note_withdrawal(id, view),
            PolicyEvent::Released(id) => {
                (self.blocked, self.ended) = (None, true);
                self.note_arrival(id, view);
            }
            PolicyEvent::Runs(_) => (self.blocked, self.ended) = (None, true),
            PolicyEvent::Capacity => self.capacity_changed(view),
            PolicyEvent::Woken | PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
        }
    }

    #[inline]
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        if let Some(shaped) = &mut self.shaped {
            return shaped.decide(view, actions);
        }
        self.started.clear();
        if self.choices.arrive == Arrive::Fits && !self.fresh.is_empty() {
            let free = self.free_processors(view);
            let fits = |job: &WaitingJob| job.procs <= free && has_free_resources(job.id, view);
            if !self.ended && !self.fresh.iter().any(fits) {
                // A job that comes before the head has the next reservation.
                self.blocked = self.blocked.filter(|b| self.fresh.iter().all(|job| job.queue_place() > b.head));
                if let Some(blocked) = &mut self.blocked {
                    blocked.room = self.fresh.iter().fold(blocked.room, |room, job| room.min(job.procs - 1));
                }
                self.enqueue_fresh(view);
                return;
            }
        }
        let has_ended_jobs = std::mem::take(&mut self.ended);
        // One rule, and a pass for each kind of shadow time: a walk over ends for counts
        // (`full_pass`), one that also adds up amounts (`pooled_pass`), states of nodes
        // (`placed_pass`), and a plan (`plan_ahead`). The first three keep the reservation between
        // passes and then try newcomers alone. A plan is filled from all running jobs at each pass,
        // counts all ends at the shadow time and lets an overdue job end now, so it cannot stand
        // for `extra=first` and `overdue=stale`.
        if let Some(resources) = view.resources()
            && let Some(nodes) = resources.nodes()
        {
            if !self.placed_ahead(nodes, has_ended_jobs, view, actions) {
                self.placed_pass(resources, nodes, view, actions);
            }
            return;
        }
        if let Some(outlook) = view.outlook()
            && self.decide_around(outlook, has_ended_jobs, view, actions)
        {
            return;
        }
        if self.choices.reservations > 1 {
            self.enqueue_fresh(view);
            self.rate_queues(view);
            self.plan_ahead(view, actions);
        } else if let Some(resources) = view.resources() {
            self.pooled_pass(resources, view, actions);
        } else if !self.start_newcomers(view, actions) {
            self.full_pass(view, actions);
        }
    }

    #[inline]
    fn unmoved_until(&self, now: Time) -> Time {
        if !self.fresh.is_empty() || self.shaped.is_some() {
            return Time::MIN;
        }
        match self.blocked {
            Some(b) if !b.freed && !b.out_of_date(now, self.choices.overdue) => match self.choices.extra {
                ExtraRule::All => b.shadow.min(b.until),
                // Of the ends at the shadow time itself only some were counted.
                ExtraRule::First => (b.shadow - Span(1)).min(b.until),
            },
            None if self.no_job_waits() => Time::MAX,
            _ => Time::MIN,
        }
    }

    #[inline]
    fn has_taken_in(&self, now: Time) -> bool {
        self.unmoved_until(now) > Time::MIN
    }

    fn next_wake(&self) -> Option<Time> {
        self.shaped.as_ref().and_then(|shaped| shaped.next_wake())
    }

    fn has_wake_ups(&self) -> bool {
        self.sizes.hold.is_some()
    }

    fn awaits_term(&self) -> Option<PowerTerm> {
        self.sizes.hold.map(|hold| hold.term)
    }

    fn can_hear_news(&self) -> bool {
        // Processors of overdue jobs that count as free are free only where nothing else can happen
        // in that second.
        self.choices.overdue != OverdueRule::Free
    }

    fn has_reservations(&self) -> bool {
        self.choices.backfill.is_some() && self.choices.reservations > 0
    }

    fn knows_shapes(&self) -> bool {
        self.choices.know_sizes()
    }

    fn expect_shapes(&mut self) {
        if self.knows_shapes() {
            let BackfillChoices { order, backfill, starve, reservations, .. } = &self.choices;
            let shaped_easy = ShapedEasy::new(self.sizes, order, backfill.as_ref(), *starve, *reservations > 0);
            self.shaped = Some(Box::new(shaped_easy));
        }
    }

    fn can_resume(&self) -> bool {
        // Where no power is counted the policy never suspends a job.
        self.sizes.drop == DropRule::Suspend && self.shaped.is_some()
    }

    fn needed_abilities(&self) -> Abilities {
        let SizeChoices { shape, resize, drop, migrates, is_fair, .. } = self.sizes;
        Abilities {
            shape: shape != ShapeRule::default() || is_fair,
            resize: resize != ResizeRule::default() || matches!(drop, DropRule::Shrink | DropRule::Pace) || migrates,
            pace: drop == DropRule::Pace,
            suspend: drop == DropRule::Suspend,
            migrate: drop == DropRule::Suspend,
            requeue: drop == DropRule::Requeue,
            kill: drop == DropRule::Kill,
            ..Abilities::default()
        }
    }

    fn counts_resources(&self) -> bool {
        // What overdue jobs hold of them is not free.
        self.choices.overdue != OverdueRule::Free
    }

    fn places_on_nodes(&self) -> bool {
        self.choices.overdue != OverdueRule::Free
    }

    fn requirement(&self) -> Requirement {
        // A job past its prediction counts as having given back its processors: it must have, by
        // the end of the second.
        if self.choices.overdue == OverdueRule::Free { Requirement::Punctual } else { Requirement::Nothing }
    }
}
