//! Multiple queues that adapt themselves (Lawson, Smirni & Puiu 2002).
//!
//! Jobs are sorted into queues by predicted run time. The first of each queue, its *pivot*, is
//! promised a start; a job that delays no promise may start at once. Rules M1–M6 of the
//! specification; with exact predictions a promise is never moved, and is kept to the second. With
//! others it can only come earlier, until a running job outlives its prediction: then the promises
//! that cannot be kept are placed again, in the order of the promised times.

mod classes;
mod controller;
mod kind;
mod literal;
mod news;
mod ordered;
mod partitions;
mod pass;
mod pools;
mod privileges;
mod promises;
mod queues;
mod settings;

pub(crate) use kind::MULTIQUEUE;
pub use settings::{ClassDelay, Control, Own, Promising, QueueBorders, QueueSettings};

use super::{Actions, Gauge, Phase, Policy, PolicyEvent, Priorities, PriorityError, StartReason, View};
use crate::model::{JobId, JobWindow, Procs, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::ranking::{self, Rater};
use crate::parts::{FitStairs, NodeSeat, Profile, RunningJob, RunningSet};
use crate::room::SeatNamer;
use crate::room::pass_pools::PassPools;
use classes::QueueClasses;
use controller::DelayController;
use literal::Literal;
use partitions::Partitions;
use privileges::JobPrivileges;
use promises::PromiseList;
use queues::{ClassQueue, QueuedJob};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The multiple-queue policy.
///
/// A pass after arrivals alone looks at the newcomers only. Any other pass costs a pruned search of
/// each queue per job started, and O(r + q) for each new promise over r running jobs and q
/// promises; after a wrong prediction all promises are placed again, O(q·(r + q)). The variants
/// that break promises ([`Own::Figure4`], [`Own::Split`], [`Promising::Arrival`]) plan again at
/// each pass and cost O((w + q)·(r + q)) for w waiting jobs. With an order other than that of
/// arrival every pass sorts all waiting jobs, O(w log w), and looks at each.
#[derive(Serialize, Deserialize)]
pub struct MultiQueue {
    settings: QueueSettings,
    classes: QueueClasses,
    queues: Vec<ClassQueue>,
    /// Jobs that arrived since the last pass, not in a queue yet.
    fresh: Vec<QueuedJob>,
    /// Jobs that no plan can hold: too many processors are out, for an unknown time. They are in no
    /// queue.
    aside: Vec<QueuedJob>,
    /// Jobs that are not seen before their delay is over, by its end.
    held: BTreeMap<(Time, JobId), QueuedJob>,
    /// Ends of delays, where these are events and known beforehand. Jobs that have gone since are
    /// in it still.
    due: BTreeSet<(Time, JobId)>,
    /// The queue of each job, by which it was taken in or started.
    class_of: JobWindow<u8>,
    running: RunningSet,
    promises: PromiseList,
    /// Seats of promised jobs, where jobs are placed on nodes.
    seats: BTreeMap<JobId, NodeSeat>,
    literal: Literal,
    /// Booked where they count: with [`Own::Shared`] only where an observer listens.
    partitions: Option<Partitions>,
    controller: Option<DelayController>,
    /// Rater that puts jobs in order, where that is not their arrival.
    rater: Option<Rater>,
    /// Priorities and reserved starts of jobs.
    privileges: JobPrivileges,
    /// Usage of users that it needs.
    shares: Option<Shares>,
    /// More than arrivals happened since the last pass.
    dirty: bool,
    /// A promise was dropped in this pass.
    deposed: bool,
    /// True if a prediction has turned out wrong: the promises must be placed again.
    stale: bool,
    /// Time at which the next delay is over, where that is an event.
    wake: Option<Time>,
    /// Last values reported.
    told: Vec<(Gauge, i64)>,
    /// True if an observer listens to its notes.
    #[serde(skip)]
    listened: bool,
    #[serde(skip)]
    scratch: PassScratch,
}

/// Scratch memory of one pass.
#[derive(Default)]
struct PassScratch {
    now: Time,
    /// Free processors.
    free: Procs,
    stairs: FitStairs,
    /// Changes of free processors ahead that are no ends of jobs.
    changes: Vec<(Time, i64)>,
    profile: Option<Profile>,
    /// Further resources, where the machine has some.
    pools: Option<Box<PassPools>>,
    namer: SeatNamer,
    /// True if `profile` shows the present state.
    planned: bool,
    /// Per queue: the next job that may start as far as is known.
    candidates: Vec<pass::QueueCandidate>,
    /// Per queue: whether its pivot has been dealt with in this pass.
    settled: Vec<bool>,
}

impl MultiQueue {
    /// A policy with these choices and empty queues.
    #[must_use]
    pub fn new(settings: QueueSettings, priorities: Priorities) -> MultiQueue {
        let classes = QueueClasses::new(&settings);
        let rater = settings.ordered().then(|| settings.order.clone()).flatten();
        let rater = rater.map(|order| Rater::guarded(order, settings.starve));
        MultiQueue {
            queues: (0..classes.most()).map(|_| ClassQueue::default()).collect(),
            classes,
            fresh: Vec::new(),
            aside: Vec::new(),
            held: BTreeMap::new(),
            due: BTreeSet::new(),
            class_of: JobWindow::default(),
            running: RunningSet::default(),
            promises: PromiseList::default(),
            seats: BTreeMap::new(),
            literal: Literal::default(),
            partitions: None,
            controller: settings.delay.map(DelayController::new),
            shares: rater.as_ref().and_then(Rater::shares),
            rater,
            privileges: JobPrivileges::new(priorities),
            dirty: false,
            deposed: false,
            stale: false,
            wake: None,
            told: Vec::new(),
            listened: false,
            scratch: PassScratch::default(),
            settings,
        }
    }

    fn class(&self, id: JobId) -> usize {
        usize::from(self.class_of[id])
    }

    /// Returns the earliest time at which a job of this class and prediction may start.
    fn ready(&self, class: usize, submit: Time, span: Span, now: Time) -> Time {
        match &self.controller {
            Some(controller) if self.classes.is_long(class) => submit.saturating_add(controller.of(span)),
            _ => now,
        }
    }

    fn arrived(&mut self, id: JobId, view: &View<'_>) {
        let (job, span) = (view.job(id), view.prediction(id).max(Span(1)));
        if self.classes.learn(span) {
            self.sort_anew(view);
        }
        let class = self.classes.of(span, job.procs);
        self.class_of.push(class as u8);
        self.queue_up(id, span, class, view);
    }

    /// Adds a job with this prediction to its queue.
    fn queue_up(&mut self, id: JobId, span: Span, class: usize, view: &View<'_>) {
        let (job, now) = (view.job(id), view.now());
        let reserved = self.privileges.enter(id, view);
        let ready = self.ready(class, job.submit, span, now).max(reserved.unwrap_or(now)).max(now);
        let job = QueuedJob { id, procs: job.procs, span, ready, submit: job.submit };
        if ready > now && self.settings.hold() && reserved.is_none() {
            self.held.insert((ready, id), job);
        } else {
            self.fresh.push(job);
        }
    }

    /// The borders have moved: every waiting job goes to the queue that is now its own. Promises
    /// stay.
    fn sort_anew(&mut self, view: &View<'_>) {
        let now = view.now();
        let jobs: Vec<QueuedJob> = self.queues.iter().flat_map(ClassQueue::jobs).collect();
        self.queues.iter_mut().for_each(|q| *q = ClassQueue::default());
        for job in jobs {
            let class = self.classes.of(job.span, job.procs);
            self.class_of[job.id] = class as u8;
            self.queues[class].insert(job, now);
        }
        for job in self.fresh.iter().chain(self.held.values()) {
            self.class_of[job.id] = self.classes.of(job.span, job.procs) as u8;
        }
        let classes = &self.classes;
        self.promises.classify(|p| classes.of(p.span, p.procs));
        self.literal.clear();
        self.dirty = true;
    }

    fn ended(&mut self, id: JobId, view: &View<'_>) {
        if let Some(shares) = &mut self.shares {
            ranking::account(shares, id, view);
        }
        self.privileges.leave(id, view);
        let class = self.class(id);
        let end = planned_end(id, view.prediction(id), view);
        self.running.remove(end, id);
        self.stale |= end != view.now();
        if let Some(partitions) = &mut self.partitions {
            partitions.end(class, view.job(id).procs);
        }
        if let Some(controller) = &mut self.controller {
            controller.completed(self.classes.is_short(class), view.waited(id), view.ran(id));
        }
        self.dirty = true;
    }

    /// Takes a waiting job out of wherever it is.
    fn withdraw(&mut self, id: JobId) -> Option<QueuedJob> {
        if let Some(at) = self.fresh.iter().position(|j| j.id == id) {
            return Some(self.fresh.remove(at));
        }
        if let Some(&key) = self.held.keys().find(|k| k.1 == id) {
            return self.held.remove(&key);
        }
        if let Some(at) = self.aside.iter().position(|j| j.id == id) {
            return Some(self.aside.remove(at));
        }
        let class = self.class(id);
        self.queues[class].remove(id)
    }

    fn repredicted(&mut self, id: JobId, old: Span, view: &View<'_>) {
        let new = view.prediction(id);
        (self.dirty, self.stale) = (true, true);
        match view.phase(id) {
            Phase::Running => {
                let end = planned_end(id, new, view);
                if let Some(running) = self.running.remove(planned_end(id, old, view), id) {
                    self.running.insert(RunningJob { end, ..running });
                }
            }
            Phase::Waiting => {
                let Some(job) = self.withdraw(id) else { return };
                let span = new.max(Span(1));
                let class = self.classes.of(span, job.procs);
                self.class_of[id] = class as u8;
                self.promises.repredict(id, span, class);
                self.literal.forget(id);
                // Its earliest start has been announced; only a job that was not delayed yet may be
                // now.
                self.fresh.push(QueuedJob { span, ..job });
            }
            Phase::Held | Phase::Suspended | Phase::Done => {}
        }
    }

    /// Lets those start, or be seen, whose delay is over.
    fn release(&mut self, now: Time) {
        while let Some((&key, _)) = self.held.first_key_value().filter(|(key, _)| key.0 <= now) {
            self.fresh.extend(self.held.remove(&key));
            self.dirty = true;
        }
        if let Some(controller) = self.controller.as_ref().filter(|_| self.settings.delay.is_some_and(|d| d.current)) {
            for queue in &mut self.queues {
                queue.set_ready(|job| job.submit.saturating_add(controller.of(job.span)));
            }
        }
        while let Some(&(_, id)) = self.due.first().filter(|due| due.0 <= now) {
            self.due.pop_first();
            let class = self.class_of.get(id).map_or(0, |&c| usize::from(c));
            self.dirty |= self.queues[class].release_one(id);
        }
        if self.settings.delay.is_some_and(|d| d.current || !d.wake) {
            for queue in &mut self.queues {
                self.dirty |= queue.release(now);
            }
        }
    }

    /// A job comes to its queue.
    #[inline]
    fn enqueue(&mut self, job: QueuedJob, class: usize) {
        let now = self.scratch.now;
        if job.ready > now && self.settings.delay.is_some_and(|d| d.wake && !d.current) {
            self.due.insert((job.ready, job.id));
        }
        self.queues[class].insert(job, now);
    }

    /// Returns the time at which the next delay is over.
    fn next_ready(&self) -> Option<Time> {
        let delay = self.settings.delay?;
        let appears = self.held.keys().next().map(|k| k.0).filter(|_| delay.wake || self.running.is_empty());
        let known = [self.due.first().map(|d| d.0), appears];
        // Without events of its own, a delay that is over is found at the next event; there must be
        // one.
        let scan = delay.current && delay.wake || !delay.wake && self.running.is_empty();
        let found = scan.then(|| self.queues.iter().filter_map(ClassQueue::next_ready).min()).flatten();
        // Where delays are cut short while jobs wait, or a pivot is deposed behind which another
        // was promised its start, a promised time may be no other event's. (While a job is overdue,
        // promises are put off from second to second.)
        let now = self.scratch.now;
        let overdue = self.running.first().is_some_and(|r| r.end <= now);
        let lone = (delay.current && delay.wake || delay.hold) && !overdue || self.running.is_empty();
        let promised = lone.then(|| self.promises.iter().map(|p| p.at)).into_iter().flatten();
        // Those of figure 4 pass unseen wherever more was promised than there is.
        let literal = self.running.is_empty().then(|| self.literal.times()).into_iter().flatten();
        let promised = promised.chain(literal).filter(|&at| now < at && at < Time::MAX);
        known.into_iter().flatten().chain(found).chain(promised).min()
    }

    /// A start, wherever it was decided.
    fn start(
        &mut self,
        job: &QueuedJob,
        class: usize,
        (why, seat): (StartReason, &NodeSeat),
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let end = self.scratch.now.saturating_add(job.span);
        self.scratch.namer.start((job.id, why), end, seat, view, actions);
        self.scratch.free -= job.procs;
        self.take_pools(job.id, seat, view);
        self.running.insert(RunningJob { end, id: job.id, procs: job.procs });
        if let Some(partitions) = &mut self.partitions {
            partitions.start(class, job.procs);
        }
    }

    /// Tells observers what has changed.
    fn report(&mut self, actions: &mut Actions) {
        let mut tell = |gauge: Gauge, value: i64| {
            let at = self.told.iter().position(|t| t.0 == gauge).unwrap_or_else(|| {
                self.told.push((gauge, i64::MIN));
                self.told.len() - 1
            });
            if self.told[at].1 != value {
                self.told[at].1 = value;
                actions.push(super::Action::Note { gauge, value });
            }
        };
        for (i, &size) in self.partitions.iter().flat_map(|p| p.sizes().iter().enumerate()) {
            tell(Gauge::Partition(i as u32 + 1), i64::from(size));
        }
        if let Some(controller) = &self.controller {
            tell(Gauge::Delay, controller.seconds().0);
        }
        if matches!(self.settings.borders, QueueBorders::Auto { .. }) {
            tell(Gauge::Queues, self.classes.count() as i64);
            for (i, border) in self.classes.borders().iter().enumerate() {
                tell(Gauge::Border(i as u32 + 1), border.0);
            }
        }
    }
}

/// Returns the planned end of a running job: even one without run time holds its processors for an
/// instant.
fn planned_end(id: JobId, prediction: Span, view: &View<'_>) -> Time {
    view.segment_start(id).saturating_add(prediction.max(Span(1)))
}

impl Policy for MultiQueue {
    fn name(&self) -> &str {
        "multiqueue"
    }

    fn layout(&self) -> u32 {
        3
    }

    #[inline]
    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => self.arrived(id, view),
            PolicyEvent::Ended { job, .. } => self.ended(job, view),
            PolicyEvent::Repredicted { job, old } => self.repredicted(job, old, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                if matches!(event, PolicyEvent::Cancelled(_)) {
                    self.privileges.leave(id, view);
                }
                self.withdraw(id);
                self.promises.drop(id);
                self.seats.remove(&id);
                self.literal.forget(id);
                (self.dirty, self.stale) = (true, true);
            }
            PolicyEvent::Released(id) => self.released(id, view),
            PolicyEvent::Stopped { job, .. } => self.stopped(job, view),
            PolicyEvent::Runs(id) => self.runs(id, view),
            PolicyEvent::Capacity => self.capacity_changed(view),
            PolicyEvent::Woken | PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
        }
    }

    #[inline]
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.scratch.now = view.now();
        self.scratch.free = view.free();
        self.scratch.planned = false;
        self.scratch.namer = SeatNamer::default();
        self.class_of.forget_before(view.oldest());
        self.scratch.changes.clear();
        if let Some(outlook) = view.outlook() {
            self.look_ahead(outlook, view);
        }
        if self.partitions.is_none() && (self.listened || self.settings.own != Own::Shared) {
            // As many as there are queues: the borders may have moved already, in the very second
            // of the first arrivals.
            let (queues, most) = (self.classes.count(), self.queues.len());
            self.partitions = Some(Partitions::new(view.machine().procs, queues, most));
        }
        if self.settings.delay.is_some() {
            self.release(view.now());
        }
        if self.settings.literal() {
            self.literal_pass(view, actions);
        } else if self.rater.is_some() || !self.privileges.is_empty() {
            self.ordered_pass(view, actions);
        } else {
            self.pass(view, actions);
        }
        self.dirty = std::mem::take(&mut self.deposed);
        if self.settings.delay.is_some() {
            self.wake = self.next_ready();
        }
        if self.privileges.reserves() {
            let delayed = self.wake.filter(|_| self.settings.delay.is_some());
            // No other event may fall on a reserved start.
            self.wake = delayed.into_iter().chain(self.privileges.next_reserved(view.now())).min();
        }
        if self.listened {
            self.report(actions);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn hears(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        // Where promises may be broken, partitions of processors decide.
        !self.settings.literal()
    }

    fn places_on_nodes(&self) -> bool {
        !self.settings.literal()
    }

    fn prioritise(&mut self, priorities: Priorities) -> Result<(), PriorityError> {
        self.take_priorities(priorities)
    }

    fn listen(&mut self) {
        self.listened = true;
    }
}
