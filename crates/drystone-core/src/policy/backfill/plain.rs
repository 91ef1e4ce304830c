//! EASY where plan, announcement or notice of ends are not those of the predictions in force.
//!
//! Three choices part what the rest of the family takes as one: by which run times reservations are
//! made and jobs admitted while predictions order the queue, by which run times a reservation is
//! announced, and when an early end is noticed. Each pass is made afresh from books of its own.

use super::{BackfillChoices, OverdueRule, OvertakeGuard};
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, Rater};
use crate::parts::{BackfillFit, NodeSeat, Order, QueuePlace, RunningJob, RunningSet, Shadow, WaitQueue, WaitingJob};
use crate::policy::free_resources::{covers_totals, deduct_totals};
use crate::policy::{Actions, Notice, Phase, Policy, PolicyEvent, StartReason, View};
use crate::room::pool_plan::{PooledNeed, pooled_shadow};
use crate::room::shadow_room::CountedFit;
use crate::room::{OpenRoom, PlanRoom, SeatNamer, hangs_on_ends};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Run time of a job that counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum RunTimeBasis {
    /// The prediction in force.
    #[default]
    Prediction,
    /// The user's estimate; once a job has outlived it, the prediction if that is later.
    Estimate,
}

/// Choices in which this EASY differs from the rest of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Parting {
    /// Run times by which reservations are made and jobs admitted. Both orders follow predictions.
    pub(super) plan: RunTimeBasis,
    /// Run times of the announced reservation.
    pub(super) announce: RunTimeBasis,
    /// Notice of early ends.
    pub(super) notice: Notice,
}

/// The running jobs and when each is planned to end.
#[derive(Serialize, Deserialize)]
struct EndBook {
    basis: RunTimeBasis,
    set: RunningSet,
    ends: BTreeMap<JobId, Time>,
}

impl EndBook {
    fn new(basis: RunTimeBasis) -> EndBook {
        EndBook { basis, set: RunningSet::default(), ends: BTreeMap::new() }
    }

    /// Returns the planned run time of a job that does not run yet.
    fn planned_span(&self, id: JobId, view: &View<'_>) -> Span {
        match self.basis {
            RunTimeBasis::Prediction => view.prediction(id),
            RunTimeBasis::Estimate => view.job(id).estimate,
        }
    }

    fn insert(&mut self, id: JobId, procs: Procs, end: Time) {
        self.ends.insert(id, end);
        self.set.insert(RunningJob { end, id, procs });
    }

    fn remove(&mut self, id: JobId) -> Option<RunningJob> {
        let end = self.ends.remove(&id)?;
        self.set.remove(end, id)
    }

    /// Takes note of a new prediction of a running job, or of its being there.
    fn renew_end(&mut self, id: JobId, view: &View<'_>) {
        let prediction_end = view.predicted_end(id);
        let estimate_end = prediction_end + (view.job(id).estimate - view.prediction(id));
        let end = match self.basis {
            RunTimeBasis::Prediction => prediction_end,
            RunTimeBasis::Estimate if view.current_time() < estimate_end => estimate_end,
            RunTimeBasis::Estimate => estimate_end.max(prediction_end),
        };
        if self.ends.get(&id) != Some(&end) {
            self.remove(id);
            self.insert(id, view.job(id).procs, end);
        }
    }

    /// Jobs that have outlived their estimate count as long as they are predicted to run.
    fn renew_outlived(&mut self, view: &View<'_>) {
        if self.basis == RunTimeBasis::Prediction {
            return;
        }
        let due = self.set.iter().take_while(|job| job.end <= view.current_time());
        let outlived_jobs: Vec<JobId> =
            due.filter(|job| view.predicted_end(job.id) > job.end).map(|job| job.id).collect();
        outlived_jobs.into_iter().for_each(|id| self.renew_end(id, view));
    }
}

/// Waiting jobs in one order: searchable where their places stay, else rated at each pass.
#[derive(Serialize, Deserialize)]
struct OrderLane {
    order: Order,
    /// A job that has waited longer comes first.
    starve: Option<Span>,
    placed: Option<WaitQueue>,
}

impl OrderLane {
    fn new(order: Order, starve: Option<Span>) -> OrderLane {
        let wait_queue = (!order.is_dynamic() && starve.is_none()).then(WaitQueue::default);
        OrderLane { order, starve, placed: wait_queue }
    }

    fn queue_place(&self, id: JobId, prediction: Span, view: &View<'_>) -> QueuePlace {
        let procs = view.job(id).procs;
        QueuePlace {
            key: self.order.queue_key(procs, prediction, id, || ranking::waiting_facts(id, prediction, view)),
            id,
        }
    }

    /// A job joins; searches find it by how long it would have to run at most.
    fn add_job(&mut self, id: JobId, longest: Span, view: &View<'_>) {
        let job = ranking::waiting_job(&self.order, id, view.prediction(id), view);
        if let Some(queue) = &mut self.placed {
            queue.insert(WaitingJob { prediction: longest, ..job });
        }
    }

    /// A job leaves that joined when it was predicted to run so long.
    fn remove_job(&mut self, id: JobId, prediction: Span, view: &View<'_>) {
        let place = self.queue_place(id, prediction, view);
        if let Some(queue) = &mut self.placed {
            queue.remove(place);
        }
    }

    /// All jobs in the order of now, where that has to be found out.
    fn rate_jobs(&self, waiting: &BTreeSet<JobId>, shares: Option<&mut Shares>, view: &View<'_>) -> Option<Vec<JobId>> {
        if self.placed.is_some() {
            return None;
        }
        let jobs: Vec<JobId> = waiting.iter().copied().collect();
        let positions = Rater::with_guard(self.order.clone(), self.starve).rank_jobs(&jobs, shares, view);
        Some(positions.into_iter().map(|at| jobs[at]).collect())
    }

    /// All jobs in order.
    fn list_jobs(&self, ranking: Option<Vec<JobId>>) -> Vec<JobId> {
        let queued_ids = || self.placed.iter().flat_map(WaitQueue::iter).map(|job| job.id).collect();
        ranking.unwrap_or_else(queued_ids)
    }
}

/// EASY with books of its own.
///
/// A pass costs O(log r) for the shadow time over r running jobs and a pruned search of the queue
/// per job started; O(n log n) over n waiting jobs in an order that changes with time, and while
/// processors are out or will be.
#[derive(Serialize, Deserialize)]
pub(super) struct PlainBackfill {
    choices: BackfillChoices,
    notice: Notice,
    plan: EndBook,
    /// Book of announced ends, where announcements follow other run times than the plan.
    announced_by: Option<EndBook>,
    waiting: BTreeSet<JobId>,
    heads: OrderLane,
    candidates: OrderLane,
    shares: Option<Shares>,
    /// Ends that were not noticed yet.
    unnoticed: Vec<JobId>,
    /// Something has happened that calls for a pass even with late notice.
    looks: bool,
    wake: Option<Time>,
    announced: Option<(JobId, Time)>,
    #[serde(skip)]
    namer: SeatNamer,
}

impl PlainBackfill {
    pub(super) fn new(choices: BackfillChoices, parting: Parting) -> PlainBackfill {
        let backfill = choices.backfill.clone().unwrap_or(Order::Fcfs);
        let starve = choices.starve.filter(|_| choices.order != Order::Fcfs);
        let apart = parting.announce != parting.plan && parting.announce == RunTimeBasis::Estimate;
        PlainBackfill {
            notice: parting.notice,
            plan: EndBook::new(parting.plan),
            announced_by: apart.then(|| EndBook::new(parting.announce)),
            waiting: BTreeSet::new(),
            heads: OrderLane::new(choices.order.clone(), starve),
            shares: ranking::shares_for([&choices.order, &backfill].into_iter()),
            candidates: OrderLane::new(backfill, None),
            choices,
            unnoticed: Vec::new(),
            looks: false,
            wake: None,
            announced: None,
            namer: SeatNamer::default(),
        }
    }

    /// Returns the longest run time of a job as far as backfilling is concerned.
    fn longest_run(&self, id: JobId, view: &View<'_>) -> Span {
        let planned_span = self.plan.planned_span(id, view);
        match self.choices.guard {
            OvertakeGuard::Estimate if self.plan.basis == RunTimeBasis::Prediction => {
                planned_span.max(view.job(id).estimate)
            }
            OvertakeGuard::Prediction | OvertakeGuard::Estimate => planned_span,
        }
    }

    fn add_job(&mut self, id: JobId, view: &View<'_>) {
        let longest = self.longest_run(id, view);
        self.waiting.insert(id);
        self.heads.add_job(id, longest, view);
        self.candidates.add_job(id, longest, view);
        self.looks = true;
    }

    fn remove_job(&mut self, id: JobId, prediction: Span, view: &View<'_>) {
        if self.waiting.remove(&id) {
            self.heads.remove_job(id, prediction, view);
            self.candidates.remove_job(id, prediction, view);
        }
    }

    fn books(&mut self) -> impl Iterator<Item = &mut EndBook> {
        std::iter::once(&mut self.plan).chain(&mut self.announced_by)
    }

    fn forget_job(&mut self, id: JobId) {
        self.books().for_each(|book| _ = book.remove(id));
    }

    fn start_job(&mut self, id: JobId, (why, seat): (StartReason, &NodeSeat), view: &View<'_>, actions: &mut Actions) {
        let (now, procs) = (view.current_time(), view.job(id).procs);
        self.remove_job(id, view.prediction(id), view);
        self.books().for_each(|book| {
            // A job that asks for no time has outlived its estimate at once.
            let span = book.planned_span(id, view);
            let span = if span <= Span::ZERO { view.prediction(id) } else { span };
            book.insert(id, procs, now.saturating_add(span));
        });
        let end = now.saturating_add(self.plan.planned_span(id, view));
        self.namer.start_job((id, why), end, seat, view, actions);
    }

    fn note_prediction(&mut self, id: JobId, old: Span, view: &View<'_>) {
        match view.phase(id) {
            Phase::Running => {
                self.looks |= self.plan.ends.get(&id).is_some_and(|&end| end <= view.current_time());
                self.books().for_each(|book| book.renew_end(id, view));
            }
            Phase::Waiting if self.waiting.contains(&id) => {
                let looks = self.looks;
                self.remove_job(id, old, view);
                self.add_job(id, view);
                self.looks = looks;
            }
            _ => {}
        }
    }

    fn run_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        let mut free = view.free_processors();
        let rated_heads = self.heads.rate_jobs(&self.waiting, self.shares.as_mut(), view);
        let rated_candidates = self.candidates.rate_jobs(&self.waiting, self.shares.as_mut(), view);
        if !hangs_on_ends(view) {
            return self.pass_around(rated_heads, rated_candidates, view, actions);
        }
        let totals = |id: JobId| view.demanded_amounts(id);
        let mut free_levels = view.resources().map_or_else(Vec::new, |resources| resources.levels().to_vec());
        let mut start_count = 0;
        let head = loop {
            let first = match (&rated_heads, &self.heads.placed) {
                (Some(ranking), _) => ranking.get(start_count).copied(),
                (None, queue) => queue.as_ref().and_then(WaitQueue::first_job).map(|job| job.id),
            };
            let Some(first) = first else { return };
            let procs = view.job(first).procs;
            if procs > free || !covers_totals(&free_levels, totals(first)) {
                break first;
            }
            free -= procs;
            deduct_totals(&mut free_levels, totals(first));
            start_count += 1;
            self.start_job(first, (StartReason::Head, &NodeSeat::default()), view, actions);
        };
        let need = PooledNeed { procs: i64::from(view.job(head).procs) - i64::from(free), totals: totals(head) };
        let mut extra_left = free_levels.clone();
        let shadow = self.find_shadow(&self.plan, &need, &mut extra_left, view);
        let announced_book = self.announced_by.as_ref();
        let apart = announced_book.map(|book| self.find_shadow(book, &need, &mut free_levels.clone(), view));
        if let Some(shadow) = apart.unwrap_or(shadow) {
            self.announce_start(head, shadow.time, actions);
        }
        let (window, extra) = shadow.map_or((Span::MAX, 0), |shadow| (shadow.time - now, shadow.extra));
        let mut fit = CountedFit { fit: BackfillFit { free, window, extra }, left: free_levels, extra: extra_left };
        match rated_candidates {
            Some(candidates) => {
                for id in candidates {
                    let (procs, longest) = (view.job(id).procs, self.longest_run(id, view));
                    let waits = id != head && self.waiting.contains(&id);
                    if waits && fit.take_if_fits(procs, longest, totals(id)) {
                        self.start_job(id, (StartReason::Backfilled, &NodeSeat::default()), view, actions);
                    }
                }
            }
            None => {
                let mut after = None;
                while let Some(job) = self.candidates.placed.as_ref().and_then(|queue| queue.next_fit(after, fit.fit)) {
                    after = Some(job.queue_place());
                    if job.id != head && fit.take_if_fits(job.procs, job.prediction, totals(job.id)) {
                        self.start_job(job.id, (StartReason::Backfilled, &NodeSeat::default()), view, actions);
                    }
                }
            }
        }
    }

    /// The reservation of the job that blocks the queue, by the ends of a book. `left` is what is
    /// free of further resources, and becomes what is left over then.
    fn find_shadow(
        &self,
        book: &EndBook,
        need: &PooledNeed<'_>,
        levels: &mut [i64],
        view: &View<'_>,
    ) -> Option<Shadow> {
        let floor = if self.choices.overdue == OverdueRule::Now { view.current_time() } else { Time::MIN };
        if view.resources().is_none() {
            return book.set.find_shadow(need.procs as Procs, self.choices.extra, floor);
        }
        pooled_shadow(book.set.iter().copied(), need, levels, (self.choices.extra, floor), view)
    }

    /// The pass on nodes, and while processors are out or will be: a plan of the future with one
    /// reservation.
    fn pass_around(
        &mut self,
        ranking: Option<Vec<JobId>>,
        candidates: Option<Vec<JobId>>,
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let now = view.current_time();
        let room_of_book = |book: &EndBook| {
            let mut room = PlanRoom::new_empty();
            room.fill_ends(&book.set.iter().copied().collect::<Vec<_>>(), view);
            room
        };
        let mut plan = room_of_book(&self.plan);
        let mut apart = self.announced_by.as_ref().map(room_of_book);
        let is_overdue = self.plan.set.first_ending().is_some_and(|job| job.end <= now);
        let mut open_room = OpenRoom::of_now(view);
        if !is_overdue {
            open_room = open_room.in_all();
        }
        let mut head = None;
        for id in self.heads.list_jobs(ranking) {
            let (need, span) = (view.job_need(id), self.plan.planned_span(id, view).max(Span(1)));
            let announced_span = self.announced_by.as_ref().map(|book| book.planned_span(id, view).max(Span(1)));
            if let Some(seat) = plan.find_now(need, span, now, &open_room) {
                let need = need.on_seat(Some(&seat));
                plan.reserve_need(now, now.saturating_add(span), need);
                open_room.take_need(need);
                if let (Some(apart), Some(span)) = (&mut apart, announced_span) {
                    apart.reserve_need(now, now.saturating_add(span), need);
                }
                self.start_job(id, (StartReason::Head, &seat), view, actions);
                continue;
            }
            // If it fits only before processors go for good, no other job waits for it.
            let Some(start) = plan.place_need(need, span, now) else { continue };
            let announced_start = match (&apart, announced_span) {
                (Some(apart), Some(span)) => apart.earliest_start(need, span, now),
                _ => Some(start),
            };
            if let Some(announcement) = announced_start.filter(|&announcement| announcement > now) {
                self.announce_start(id, announcement, actions);
            }
            head = Some(id);
            break;
        }
        if head.is_none() {
            return;
        }
        for id in self.candidates.list_jobs(candidates) {
            let (need, longest) = (view.job_need(id), self.longest_run(id, view).max(Span(1)));
            let waits = Some(id) != head && self.waiting.contains(&id);
            if let Some(seat) = waits.then(|| plan.find_now(need, longest, now, &open_room)).flatten() {
                let need = need.on_seat(Some(&seat));
                plan.reserve_need(now, now.saturating_add(longest), need);
                open_room.take_need(need);
                self.start_job(id, (StartReason::Backfilled, &seat), view, actions);
            }
        }
    }

    fn announce_start(&mut self, job: JobId, start: Time, actions: &mut Actions) {
        if self.announced != Some((job, start)) {
            self.announced = Some((job, start));
            actions.reserve_start(job, start);
        }
    }
}

impl Policy for PlainBackfill {
    fn name(&self) -> &str {
        "backfill-plain"
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) => self.add_job(id, view),
            PolicyEvent::Ended { job, .. } | PolicyEvent::Stopped { job, .. } => {
                if let Some(shares) = &mut self.shares {
                    ranking::account_usage(shares, job, view);
                }
                self.looks |= self.plan.ends.get(&job).is_some_and(|&end| end <= view.current_time());
                if self.notice == Notice::Late && matches!(event, PolicyEvent::Ended { .. }) {
                    self.unnoticed.push(job);
                } else {
                    self.forget_job(job);
                    self.looks |= matches!(event, PolicyEvent::Stopped { .. });
                }
            }
            PolicyEvent::Repredicted { job, old } => self.note_prediction(job, old, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                self.remove_job(id, view.prediction(id), view);
                self.looks = true;
            }
            PolicyEvent::Runs(id) => {
                self.books().for_each(|book| book.renew_end(id, view));
                self.looks = true;
            }
            PolicyEvent::Woken | PolicyEvent::Capacity => self.looks = true,
            PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.looks || self.notice == Notice::Immediate {
            self.looks = false;
            for id in std::mem::take(&mut self.unnoticed) {
                self.forget_job(id);
            }
            self.books().for_each(|book| book.renew_outlived(view));
            self.namer = SeatNamer::default();
            self.run_pass(view, actions);
        }
        let later = |job: &&RunningJob| job.end > view.current_time();
        let watches = self.notice == Notice::Late && !self.waiting.is_empty();
        self.wake = if watches { self.plan.set.iter().find(later).map(|job| job.end) } else { None };
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn has_wake_ups(&self) -> bool {
        self.notice == Notice::Late
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn has_reservations(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        true
    }

    fn places_on_nodes(&self) -> bool {
        true
    }
}
