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
mod plain;
mod planning;
mod queue_news;
mod queues;
mod starvation;

pub use choices::{Arrive, BackfillChoices, OverdueRule, OvertakeGuard};
pub(crate) use kinds::{EASY, FCFS, GREEDY};

use super::shaped::{DropRule, ResizeRule, ShapeRule, ShapedEasy, SizeChoices};
use super::{Abilities, Actions, Policy, PolicyEvent, Requirement, View};
use crate::model::{JobId, PowerTerm, Procs, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, OrderRanking};
use crate::parts::{BackfillFit, ExtraRule, JobLine, Order, QueuePlace, RunningJob, WaitingJob};
use crate::room::PlanRoom;
use crate::room::node_outlook::FinalRoom;
use crate::room::shadow_room::{ShadowEnds, ShadowRoom};
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
    /// Room of passes with one reservation at most.
    #[serde(skip)]
    room: ShadowRoom,
    /// Room that is there in the end; `None` before a pass asks.
    #[serde(skip)]
    final_room: Option<Box<FinalRoom>>,
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
            room: ShadowRoom::default(),
            final_room: None,
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
        debug_assert!(self.is_as_reserved(&blocked_pass, self.free_processors(view), view), "at {now}");
        self.room.begin_backfill(blocked_pass.backfill_fit(view.free_processors(), now));
        let fit = self.room.backfill_fit();
        if let [job] = self.fresh[..]
            && !fit.can_start(job.procs, job.prediction)
        {
            self.fresh.clear();
            self.enqueue_job(job, view);
            if let Some(current_pass) = &mut self.blocked {
                current_pass.room = current_pass.room_beside(&job, fit.free);
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
            if self.room.start_beside(&job, longest, view, actions) {
                is_kept &= self.choices.keeps_reservation(&job, fit.window);
            } else {
                self.enqueue_job(job, view);
                new_blocked_pass.room = new_blocked_pass.room_beside(&job, self.room.backfill_fit().free);
            }
        }
        self.fresh.clear();
        self.blocked = if is_kept { self.blocked_after(new_blocked_pass, view) } else { None };
        true
    }

    /// Returns the obstacle that a pass leaves behind which keeps the reservation as it is.
    #[inline]
    fn blocked_after(&mut self, blocked: BlockedPass, view: &View<'_>) -> Option<BlockedPass> {
        let freed = self.room.end_pass(view)?;
        Some(BlockedPass { extra: self.room.adjustable_extra(), freed, ..blocked })
    }

    /// Returns whether a pass over the queue would backfill no job, as far as predictions say so.
    fn none_fits(&self, fit: BackfillFit) -> bool {
        let queue = self.candidates.as_ref().unwrap_or(&self.queue);
        let by_more = self.choices.guard == OvertakeGuard::Estimate || !self.room.is_plain();
        self.choices.backfill.is_none() || by_more || !queue.any_fits(fit)
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
        if self.no_job_waits()
            && let [job] = self.fresh[..]
            && self.room.start_head(&job, free, view, actions)
        {
            // An idle machine: the job need not go through the queue.
            self.fresh.clear();
            return (free - job.procs, None);
        }
        self.enqueue_fresh(view);
        self.rate_queues(view);
        loop {
            let Some(head) = self.find_head(view) else { return (free, None) };
            if !self.room.start_head(&head, free, view, actions) {
                return (free, Some(head));
            }
            match &mut self.line {
                Some(line) => line.remove_first(),
                None if self.choices.order.is_dynamic() || self.starvation.is_some() => {
                    self.leave_queue(&head, view);
                }
                None => _ = self.queue.queue().take_first(),
            }
            self.leave_candidates(&head, view);
            self.started.push(RunningJob { end: now + head.prediction, id: head.id, procs: head.procs });
            free -= head.procs;
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
            previous_pass => {
                match self.blocked_anew(
                    previous_pass.filter(|b| !b.out_of_date(now, self.choices.overdue)),
                    view,
                    actions,
                ) {
                    Some(pass_state) => pass_state,
                    None => return self.blocked = None,
                }
            }
        };
        let (head, shadow) = (blocked_pass.head.id, blocked_pass.shadow);
        debug_assert!(self.is_as_reserved(&blocked_pass, free, view), "at {now}");
        self.room.begin_backfill(blocked_pass.backfill_fit(free, now));
        let (is_kept, room) = match &self.choices.backfill {
            None => (true, Procs::MAX),
            Some(order) if order.is_dynamic() => self.backfill_as_of_now(head, view, actions),
            Some(_) => self.backfill_in_order(head, view, actions),
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
        self.blocked = if stays { self.blocked_after(BlockedPass { room, ..blocked_pass }, view) } else { None };
    }

    /// Starts jobs from the head of the queue, and answers what is free then and the reservation of
    /// the job that blocks it: the one that is known if it is still that.
    fn blocked_anew(
        &mut self,
        previous_pass: Option<BlockedPass>,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> Option<(Procs, BlockedPass)> {
        let (free, head) = self.start_heads(view, actions);
        let head = head?;
        if let Some(previous_pass) = previous_pass
            && previous_pass.head == head.queue_place()
            && free == view.free_processors()
        {
            return Some((free, previous_pass));
        }
        let (shadow, extra) = self.compute_reservation(head.id, free, view);
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
    fn compute_reservation(&mut self, head: JobId, free: Procs, view: &View<'_>) -> (Time, Procs) {
        if self.choices.backfill.is_none() || self.choices.reservations == 0 {
            self.room.clear_reservation(head, view);
            return (Time::MAX, 0);
        }
        let (now, running, extra) = (view.current_time(), view.running_jobs(), self.choices.extra);
        let floor = if self.choices.overdue == OverdueRule::Now { now } else { Time::MIN };
        let already = match self.choices.overdue {
            OverdueRule::Free => {
                let started_procs =
                    self.started.iter().filter(|job| job.end <= now).map(|job| job.procs).sum::<Procs>();
                running.ending_by(now) + started_procs
            }
            OverdueRule::Now | OverdueRule::Stale => 0,
        };
        let mut ends = ShadowEnds { running, started: &mut self.started, extra, floor, already };
        let shadow = self.room.reserve_head((head, view.job(head).procs), free, &mut ends, view);
        shadow.map_or((Time::MAX, 0), |shadow| (shadow.time, shadow.extra))
    }

    /// Returns whether the reservation of a job that heads the queue would be made as it is, as far
    /// as it can be made twice.
    fn is_as_reserved(&mut self, blocked: &BlockedPass, free: Procs, view: &View<'_>) -> bool {
        !self.room.is_plain()
            || (blocked.shadow, blocked.extra) == self.compute_reservation(blocked.head.id, free, view)
    }

    /// Returns whether the reservation is then as it was, see
    /// [`BackfillChoices::keeps_reservation`], and how many processors may be free for all that are
    /// left to stay.
    fn backfill_in_order(&mut self, head: JobId, view: &View<'_>, actions: &mut Actions) -> (bool, Procs) {
        if self.choices.guard == OvertakeGuard::Estimate {
            return (self.backfill_guarded(head, view, actions), self.room.free_bound());
        }
        let Backfill { choices, queue, candidates, line, room, .. } = self;
        let (window, mut is_kept) = (room.backfill_fit().window, true);
        let bound = match candidates {
            None => room.start_all(queue.queue(), head, view, actions, |job| {
                is_kept &= choices.keeps_reservation(job, window);
            }),
            Some(candidates) => room.start_all(candidates.queue(), head, view, actions, |job| {
                if line.is_none() {
                    queue.remove(choices.queue_place(job, view));
                }
                is_kept &= choices.keeps_reservation(job, window);
            }),
        };
        (is_kept, bound)
    }

    /// [`Backfill::backfill_in_order`] where jobs are tried by their predictions, but judged by
    /// their estimates as well.
    fn backfill_guarded(&mut self, head: JobId, view: &View<'_>, actions: &mut Actions) -> bool {
        let (mut after, mut is_kept) = (None, true);
        while let Some(job) = self.next_candidate(after, view) {
            after = Some(job.queue_place());
            let longest = self.longest_run(&job, view);
            if job.id != head && self.room.start_beside(&job, longest, view, actions) {
                self.dequeue_job(&job, view);
                is_kept &= self.choices.keeps_reservation(&job, self.room.backfill_fit().window);
            }
        }
        is_kept
    }

    /// Returns the first job behind `after` that may start as far as processors are concerned.
    fn next_candidate(&self, after: Option<QueuePlace>, view: &View<'_>) -> Option<WaitingJob> {
        let queue = self.candidates.as_ref().unwrap_or(&self.queue);
        queue.next_fit(after, self.room.backfill_fit(), self.backfill_order(), view)
    }

    /// [`Backfill::backfill_in_order`] where the order changes with time.
    fn backfill_as_of_now(&mut self, head: JobId, view: &View<'_>, actions: &mut Actions) -> (bool, Procs) {
        let (window, mut is_kept) = (self.room.backfill_fit().window, true);
        let mut start = |policy: &mut Backfill, job: &WaitingJob| {
            let starts = job.id != head && policy.room.start_beside(job, job.prediction, view, actions);
            if starts {
                policy.dequeue_job(job, view);
                is_kept &= policy.choices.keeps_reservation(job, window);
            }
            starts
        };
        while let Some(job) = self.next_candidate(None, view) {
            if !start(self, &job) {
                // It lacks something else, and heads every search by processors. What is passed
                // over does not fit later in the pass: less and less is free.
                let queue = self.candidates.as_ref().unwrap_or(&self.queue);
                let sorted_jobs = queue.sorted_jobs(self.backfill_order(), view);
                sorted_jobs.iter().for_each(|job| _ = start(self, job));
                break;
            }
        }
        (is_kept, self.room.free_bound())
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
        if let Some(scheduler) = &mut self.shaped {
            return scheduler.observe(event, view);
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
                    Some(blocked_pass) if predicted_end < blocked_pass.shadow => blocked_pass.freed = true,
                    blocked_pass => *blocked_pass = None,
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
        if let Some(scheduler) = &mut self.shaped {
            return scheduler.decide(view, actions);
        }
        self.started.clear();
        if self.choices.arrive == Arrive::Fits && !self.fresh.is_empty() {
            let free = self.free_processors(view);
            let fits = |job: &WaitingJob| job.procs <= free && has_free_resources(job.id, view);
            if !self.ended && !self.fresh.iter().any(fits) {
                // A job that comes before the head has the next reservation.
                self.blocked = self.blocked.filter(|b| self.fresh.iter().all(|job| job.queue_place() > b.head));
                if let Some(blocked_pass) = &mut self.blocked {
                    blocked_pass.room = self.fresh.iter().fold(blocked_pass.room, |room, job| room.min(job.procs - 1));
                }
                self.enqueue_fresh(view);
                return;
            }
        }
        let has_ended_jobs = std::mem::take(&mut self.ended);
        // One rule, and two kinds of pass. The usual one keeps the reservation between passes and
        // then tries newcomers alone. A plan (`plan_ahead`) is filled from all running jobs at each
        // pass, counts all ends at the shadow time and lets an overdue job end now, so it cannot
        // stand for `extra=first` and `overdue=stale`.
        if let Some(outlook) = view.outlook()
            && self.decide_around(outlook, has_ended_jobs, view, actions)
        {
            return;
        }
        if self.choices.reservations > 1 {
            self.enqueue_fresh(view);
            self.rate_queues(view);
            return self.plan_ahead(view, actions);
        }
        if !self.room.begin_pass(view) {
            self.blocked = None;
        }
        if !self.start_newcomers(view, actions) {
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
        self.shaped.as_ref().and_then(|scheduler| scheduler.next_wake())
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
