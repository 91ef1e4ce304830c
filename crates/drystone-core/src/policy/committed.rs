//! A queue whose head is chosen once: the scheduler of environments in which an agent picks the
//! next job, as RLScheduler (Zhang et al. 2020) has it.
//!
//! The job that an order puts first heads the queue until it starts, whatever arrives meanwhile.
//! The time at which it could start is computed when it is chosen, and stays. Others may overtake
//! only if they end before that time: not at it, and not beside the head.
//!
//! The simulators of such environments go from event to event: arrivals of an instant before its
//! ends, each by itself, and one look at the queue after each. So does this policy; it differs from
//! one pass an instant only where jobs overtake.

use super::{Actions, Param, Policy, PolicyEvent, PolicyKind, StartReason, Takes, Variant, View};
use crate::model::{DemandId, JobId, Procs, SharedSort, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, account_usage, bring_up_to_date, current_moment, shares_for};
use crate::parts::{NeedWithSeat, NodeSeat, Order, RunningJob, WaitingJob, more_expanded};
use crate::room::{JobNeed, OpenRoom, PlanRoom, SeatNamer};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Beginning of the submit times that orders see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Zero {
    FirstJob,
    /// The time zero of the log: a window of it has the submit times of the whole.
    Log,
}

/// Share of the machine that a job has until it ends. The job itself may be forgotten by the time
/// of the pass.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct HeldShare {
    /// Expected end.
    end: Time,
    procs: Procs,
    /// Demand beside processors.
    demand: DemandId,
    /// Its nodes, where jobs are placed on such.
    on: Option<NeedWithSeat>,
}

/// An event that the queue has not seen yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Unseen {
    at: Time,
    job: JobId,
    /// Share that the job gave back; nothing for an arrival.
    ended: Option<HeldShare>,
}

/// A queue with a head that stays.
///
/// Choosing a head costs O(w log w) over w waiting jobs, and so does a look at those that might
/// overtake.
#[derive(Serialize, Deserialize)]
struct CommittedQueue {
    order: Order,
    /// Order in which others are tried; nothing where none may overtake.
    backfill: Option<Order>,
    zero: Zero,
    waiting: BTreeSet<JobId>,
    /// The head, and the time before which others must end; `None` where the machine has changed
    /// since.
    head: Option<(JobId, Option<Time>)>,
    /// Running jobs in the order of their starts.
    started: Vec<JobId>,
    /// Their seats, where jobs are placed on nodes.
    seats: BTreeMap<JobId, NeedWithSeat>,
    unseen: Vec<Unseen>,
    /// Kept where a formula asks for it.
    shares: Option<Shares>,
}

/// Resources as the queue knows them while it goes from event to event.
struct Instant {
    free: OpenRoom,
    /// Running jobs by what is known of their ends: those that have ended but were not seen to, and
    /// those that this pass started, included.
    ends: Vec<HeldShare>,
    /// Room over time, where processors are known to go or to come back.
    ahead: Option<PlanRoom>,
    namer: SeatNamer,
}

impl CommittedQueue {
    fn sort_waiting(&mut self, order: &Order, view: &View<'_>) -> Vec<WaitingJob> {
        let mut jobs: Vec<WaitingJob> = match (&self.zero, order) {
            (_, Order::Formula(formula)) => {
                if let Some(shares) = &mut self.shares {
                    bring_up_to_date(shares, view);
                }
                let mut moment = current_moment(self.waiting.len(), self.shares.as_ref(), view);
                let shift = if self.zero == Zero::Log { (view.first_submit() - Time::ZERO).as_f64() } else { 0.0 };
                moment.now += shift;
                let place = |&id: &JobId| {
                    let prediction = view.prediction(id);
                    let mut facts = ranking::waiting_facts(id, prediction, view);
                    facts.submit += shift;
                    let job = view.job(id);
                    let key = formula.key_at_moment(&facts, &moment);
                    WaitingJob { key, prediction, submit: job.submit, id, procs: job.procs }
                };
                self.waiting.iter().map(place).collect()
            }
            _ => self.waiting.iter().map(|&id| ranking::waiting_job(order, id, view.prediction(id), view)).collect(),
        };
        if *order == Order::Lxf {
            jobs.sort_shared_by(|a, b| {
                more_expanded(b, a, view.current_time()).cmp(&more_expanded(a, b, view.current_time()))
            });
        } else {
            jobs.sort_shared_by_key(WaitingJob::queue_place);
        }
        jobs
    }

    /// Starts a job, if everything that it asks for is free. Returns whether it does.
    fn start_job(
        &mut self,
        job: &WaitingJob,
        reason: StartReason,
        instant: &mut Instant,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> bool {
        let need = view.job_need(job.id);
        let Some(seat) = instant.find_seat(job, view) else { return false };
        let end = view.current_time().saturating_add(job.prediction);
        instant.free.take_need(need.on_seat(Some(&seat)));
        if let Some(ahead) = &mut instant.ahead {
            ahead.reserve_need(
                view.current_time(),
                end.max(view.current_time().saturating_add(Span(1))),
                need.on_seat(Some(&seat)),
            );
        }
        instant.namer.start_job((job.id, reason), end, &seat, view, actions);
        let on = need.on.map(|wish| NeedWithSeat { need: wish.need.clone(), seat });
        if let Some(on) = &on {
            self.seats.insert(job.id, on.clone());
        }
        instant.ends.push(HeldShare { end, procs: job.procs, demand: view.job(job.id).demand, on });
        self.waiting.remove(&job.id);
        self.started.push(job.id);
        true
    }

    /// Starts what may start after one event.
    fn start_allowed(&mut self, instant: &mut Instant, view: &View<'_>, actions: &mut Actions) {
        let now = view.current_time();
        loop {
            let (id, until) = match self.head {
                Some(head) => head,
                None => {
                    let order = self.order.clone();
                    let Some(head) = self.sort_waiting(&order, view).first().map(|job| job.id) else { return };
                    (head, None)
                }
            };
            let head = ranking::waiting_job(&Order::Fcfs, id, view.prediction(id), view);
            let until = until.unwrap_or_else(|| instant.earliest_start(&head, view));
            self.head = Some((id, Some(until)));
            if self.start_job(&head, StartReason::Head, instant, view, actions) {
                self.head = None;
                continue;
            }
            if let Some(order) = self.backfill.clone().filter(|_| until > now) {
                for job in self.sort_waiting(&order, view) {
                    if job.id != head.id && now.saturating_add(job.prediction) < until {
                        self.start_job(&job, StartReason::Backfilled, instant, view, actions);
                    }
                }
            }
            return;
        }
    }
}

impl HeldShare {
    fn job_need<'a>(&'a self, view: &View<'a>) -> JobNeed<'a> {
        let amounts = view.resources().map_or(&[][..], |resources| resources.table().demand_totals(self.demand));
        let on = self.on.as_ref().and_then(|on| view.wish_for(JobId::default(), on));
        JobNeed { procs: self.procs, amounts, on }
    }
}

impl Instant {
    /// Plan of a machine of which processors are known to go or to come back.
    fn plan_ahead(view: &View<'_>) -> Option<PlanRoom> {
        view.outlook().filter(|outlook| !outlook.is_settled())?;
        let mut ends: Vec<RunningJob> = view.running_jobs().iter().copied().collect();
        ends.sort_by_key(|job| (job.end, job.id));
        let mut plan = PlanRoom::new_empty();
        plan.fill_ends(&ends, view);
        Some(plan)
    }

    /// Finds a seat for a job that starts now; `None` where something that it asks for is not free,
    /// or is known to go before the job ends.
    fn find_seat(&self, job: &WaitingJob, view: &View<'_>) -> Option<NodeSeat> {
        let (need, span) = (view.job_need(job.id), job.prediction.max(Span(1)));
        let seat = self.free.find_seat(need)?;
        match &self.ahead {
            Some(plan) if !plan.fits_during(view.current_time(), span, need.on_seat(Some(&seat))) => {
                plan.find_now(need, span, view.current_time(), &self.free)
            }
            _ => Some(seat),
        }
    }

    /// Returns the earliest start of a job beside those that run; the present where it can start.
    fn earliest_start(&mut self, job: &WaitingJob, view: &View<'_>) -> Time {
        if self.find_seat(job, view).is_some() {
            return view.current_time();
        }
        let end = self.find_sufficient_end(job, view);
        let (need, span) = (view.job_need(job.id), job.prediction.max(Span(1)));
        match &self.ahead {
            Some(plan) if end == Time::MAX || !plan.fits_during(end.max(view.current_time()), span, need) => {
                plan.earliest_start(need, span, view.current_time()).unwrap_or(Time::MAX)
            }
            _ => end,
        }
    }

    /// Returns the time at which everything that a job asks for is free, by what is known of ends.
    fn find_sufficient_end(&mut self, job: &WaitingJob, view: &View<'_>) -> Time {
        self.ends.sort_shared_by_key(|share| (share.end, share.procs, share.demand));
        let mut free = self.free.clone();
        for share in &self.ends {
            free.return_need(share.job_need(view));
            if free.has_room(view.job_need(job.id)) {
                return share.end;
            }
        }
        Time::MAX
    }
}

impl Policy for CommittedQueue {
    fn name(&self) -> &str {
        "committed"
    }

    fn layout(&self) -> u32 {
        2
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        let at = view.current_time();
        match event {
            PolicyEvent::Arrived(job) => self.unseen.push(Unseen { at, job, ended: None }),
            PolicyEvent::Ended { job, predicted_end } => {
                if let Some(shares) = &mut self.shares {
                    account_usage(shares, job, view);
                }
                let (facts, on) = (view.job(job), self.seats.remove(&job));
                let share = HeldShare { end: predicted_end, procs: facts.procs, demand: facts.demand, on };
                self.unseen.push(Unseen { at, job, ended: Some(share) });
            }
            PolicyEvent::Cancelled(job) | PolicyEvent::Held(job) => {
                self.waiting.remove(&job);
                self.unseen.retain(|unseen| unseen.job != job);
                self.head = self.head.filter(|(head, _)| *head != job);
            }
            PolicyEvent::Released(job) => self.unseen.push(Unseen { at, job, ended: None }),
            PolicyEvent::Stopped { job, .. } => {
                self.started.retain(|&candidate| candidate != job);
                self.seats.remove(&job);
            }
            PolicyEvent::Runs(job) => {
                self.started.push(job);
                view.seat_of(job).cloned().into_iter().for_each(|seat| _ = self.seats.insert(job, seat));
            }
            PolicyEvent::Capacity => self.head = self.head.map(|(head, _)| (head, None)),
            PolicyEvent::Repredicted { .. }
            | PolicyEvent::Woken
            | PolicyEvent::Parked(_)
            | PolicyEvent::Resized { .. }
            | PolicyEvent::Asks { .. } => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut unseen = std::mem::take(&mut self.unseen);
        let place = |job: JobId| self.started.iter().position(|&candidate| candidate == job);
        unseen.sort_by_cached_key(|event| (event.at, event.ended.is_some(), place(event.job), event.job));
        let running_shares = view.running_jobs().iter().map(|job| HeldShare {
            end: job.end,
            procs: job.procs,
            demand: view.job(job.id).demand,
            on: self.seats.get(&job.id).cloned(),
        });
        let mut ends: Vec<HeldShare> = running_shares.collect();
        let mut free = OpenRoom::of_now(view);
        for share in unseen.iter().filter_map(|event| event.ended.as_ref()) {
            free.take_need(share.job_need(view));
            ends.push(share.clone());
        }
        let mut instant = Instant { free, ends, ahead: Instant::plan_ahead(view), namer: SeatNamer::default() };
        if unseen.is_empty() {
            // A head may have been withdrawn.
            self.start_allowed(&mut instant, view, actions);
        }
        for event in unseen {
            match event.ended {
                None => _ = self.waiting.insert(event.job),
                Some(share) => {
                    instant.free.return_need(share.job_need(view));
                    self.started.retain(|&job| job != event.job);
                    if let Some(at) = instant.ends.iter().position(|entry| *entry == share) {
                        instant.ends.swap_remove(at);
                    }
                }
            }
            self.start_allowed(&mut instant, view, actions);
        }
    }

    fn has_wake_ups(&self) -> bool {
        false
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
}

/// A head that stays.
pub(crate) static COMMITTED: PolicyKind = PolicyKind {
    name: "committed",
    summary: "the head of the queue is chosen once and stays until it starts; others overtake only if they end before it could",
    source: "Zhang, Dai, He, Bao & Xie 2020 (SC): the simulator of RLScheduler",
    params: &[
        Param::new("order", "fcfs", &[Order::TAKES], "the order by which the next head is chosen"),
        Param::new(
            "backfill",
            "fcfs",
            &[Takes::Words(&["none"]), Order::TAKES],
            "the order in which others are tried; none: no job overtakes",
        ),
        Param::new(
            "submit",
            "first",
            &[Takes::Words(&["first", "log"])],
            "submit times in orders count from the first job, or from the time zero of the log: a window of a log then has the \
             submit times of the whole",
        )
        .for_studies(),
    ],
    needs: &[],
    unnamed: None,
    variants: &[Variant {
        name: "rlscheduler2020",
        sets: "submit=log",
        meaning: "the simulator of RLScheduler (Zhang et al. 2020): its averages to the last digit",
    }],
    build: &|args| {
        let order = ranking::parse_order(args, "order")?;
        let backfill = match args.text_value("backfill") {
            "none" => None,
            _ => Some(ranking::parse_order(args, "backfill")?),
        };
        let zero = args.choose_value("submit", &[("first", Zero::FirstJob), ("log", Zero::Log)])?;
        Ok(Box::new(CommittedQueue {
            shares: shares_for([&order].into_iter().chain(&backfill)),
            order,
            backfill,
            zero,
            waiting: BTreeSet::new(),
            head: None,
            started: Vec::new(),
            seats: BTreeMap::new(),
            unseen: Vec::new(),
        }))
    },
};
