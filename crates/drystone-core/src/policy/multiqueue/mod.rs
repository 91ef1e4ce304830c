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

#[derive(Default)]
struct PassScratch {
    now: Time,
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
        let rater = settings.is_ordered().then(|| settings.order.clone()).flatten();
        let rater = rater.map(|order| Rater::with_guard(order, settings.starve));
        MultiQueue {
            queues: (0..classes.max_queues()).map(|_| ClassQueue::default()).collect(),
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
            shares: rater.as_ref().and_then(Rater::initial_shares),
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

    fn job_class(&self, id: JobId) -> usize {
        usize::from(self.class_of[id])
    }

    /// Returns the earliest time at which a job of this class and prediction may start.
    fn ready_time(&self, class: usize, submit: Time, span: Span, now: Time) -> Time {
        match &self.controller {
            Some(controller) if self.classes.is_long(class) => submit.saturating_add(controller.delay_of(span)),
            _ => now,
        }
    }

    fn note_arrival(&mut self, id: JobId, view: &View<'_>) {
        let (job, span) = (view.job(id), view.prediction(id).max(Span(1)));
        if self.classes.learn_arrival(span) {
            self.sort_anew(view);
        }
        let class = self.classes.queue_of(span, job.procs);
        self.class_of.push(class as u8);
        self.queue_up(id, span, class, view);
    }

    fn queue_up(&mut self, id: JobId, span: Span, class: usize, view: &View<'_>) {
        let (job, now) = (view.job(id), view.current_time());
        let reserved_start = self.privileges.record_job(id, view);
        let ready = self.ready_time(class, job.submit, span, now).max(reserved_start.unwrap_or(now)).max(now);
        let job = QueuedJob { id, procs: job.procs, span, ready, submit: job.submit };
        if ready > now && self.settings.has_hold() && reserved_start.is_none() {
            self.held.insert((ready, id), job);
        } else {
            self.fresh.push(job);
        }
    }

    /// The borders have moved: every waiting job goes to the queue that is now its own. Promises
    /// stay.
    fn sort_anew(&mut self, view: &View<'_>) {
        let now = view.current_time();
        let jobs: Vec<QueuedJob> = self.queues.iter().flat_map(ClassQueue::jobs).collect();
        self.queues.iter_mut().for_each(|q| *q = ClassQueue::default());
        for job in jobs {
            let class = self.classes.queue_of(job.span, job.procs);
            self.class_of[job.id] = class as u8;
            self.queues[class].insert(job, now);
        }
        for job in self.fresh.iter().chain(self.held.values()) {
            self.class_of[job.id] = self.classes.queue_of(job.span, job.procs) as u8;
        }
        let classes = &self.classes;
        self.promises.reassign_classes(|p| classes.queue_of(p.span, p.procs));
        self.literal.clear();
        self.dirty = true;
    }

    fn note_end(&mut self, id: JobId, view: &View<'_>) {
        if let Some(shares) = &mut self.shares {
            ranking::account_usage(shares, id, view);
        }
        self.privileges.forget_job(id, view);
        let class = self.job_class(id);
        let end = planned_end(id, view.prediction(id), view);
        self.running.remove(end, id);
        self.stale |= end != view.current_time();
        if let Some(partitions) = &mut self.partitions {
            partitions.end_job(class, view.job(id).procs);
        }
        if let Some(controller) = &mut self.controller {
            controller.note_completion(self.classes.is_short(class), view.wait_so_far(id), view.run_time_so_far(id));
        }
        self.dirty = true;
    }

    /// Takes a waiting job out of wherever it is.
    fn withdraw_job(&mut self, id: JobId) -> Option<QueuedJob> {
        if let Some(at) = self.fresh.iter().position(|j| j.id == id) {
            return Some(self.fresh.remove(at));
        }
        if let Some(&key) = self.held.keys().find(|k| k.1 == id) {
            return self.held.remove(&key);
        }
        if let Some(at) = self.aside.iter().position(|j| j.id == id) {
            return Some(self.aside.remove(at));
        }
        let class = self.job_class(id);
        self.queues[class].remove(id)
    }

    fn note_prediction(&mut self, id: JobId, old: Span, view: &View<'_>) {
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
                let Some(job) = self.withdraw_job(id) else { return };
                let span = new.max(Span(1));
                let class = self.classes.queue_of(span, job.procs);
                self.class_of[id] = class as u8;
                self.promises.update_prediction(id, span, class);
                self.literal.forget_job(id);
                // Its earliest start has been announced; only a job that was not delayed yet may be
                // now.
                self.fresh.push(QueuedJob { span, ..job });
            }
            Phase::Held | Phase::Suspended | Phase::Done => {}
        }
    }

    /// Lets those start, or be seen, whose delay is over.
    fn release_due(&mut self, now: Time) {
        while let Some((&key, _)) = self.held.first_key_value().filter(|(key, _)| key.0 <= now) {
            self.fresh.extend(self.held.remove(&key));
            self.dirty = true;
        }
        if let Some(controller) = self.controller.as_ref().filter(|_| self.settings.delay.is_some_and(|d| d.current)) {
            for queue in &mut self.queues {
                queue.set_ready(|job| job.submit.saturating_add(controller.delay_of(job.span)));
            }
        }
        while let Some(&(_, id)) = self.due.first().filter(|due| due.0 <= now) {
            self.due.pop_first();
            let class = self.class_of.get(id).map_or(0, |&c| usize::from(c));
            self.dirty |= self.queues[class].release_one(id);
        }
        if self.settings.delay.is_some_and(|d| d.current || !d.wake) {
            for queue in &mut self.queues {
                self.dirty |= queue.release_due(now);
            }
        }
    }

    #[inline]
    fn enqueue_job(&mut self, job: QueuedJob, class: usize) {
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
        let known_times = [self.due.first().map(|d| d.0), appears];
        // Without events of its own, a delay that is over is found at the next event; there must be
        // one.
        let scan = delay.current && delay.wake || !delay.wake && self.running.is_empty();
        let queue_time = scan.then(|| self.queues.iter().filter_map(ClassQueue::next_ready).min()).flatten();
        // Where delays are cut short while jobs wait, or a pivot is deposed behind which another
        // was promised its start, a promised time may be no other event's. (While a job is overdue,
        // promises are put off from second to second.)
        let now = self.scratch.now;
        let overdue = self.running.first_ending().is_some_and(|r| r.end <= now);
        let lone = (delay.current && delay.wake || delay.hold) && !overdue || self.running.is_empty();
        let promised_times = lone.then(|| self.promises.iter().map(|p| p.at)).into_iter().flatten();
        // Those of figure 4 pass unseen wherever more was promised than there is.
        let literal = self.running.is_empty().then(|| self.literal.pivot_times()).into_iter().flatten();
        let future_promises = promised_times.chain(literal).filter(|&at| now < at && at < Time::MAX);
        known_times.into_iter().flatten().chain(queue_time).chain(future_promises).min()
    }

    /// A start, wherever it was decided.
    fn start_job(
        &mut self,
        job: &QueuedJob,
        class: usize,
        (why, seat): (StartReason, &NodeSeat),
        view: &View<'_>,
        actions: &mut Actions,
    ) {
        let end = self.scratch.now.saturating_add(job.span);
        self.scratch.namer.start_job((job.id, why), end, seat, view, actions);
        self.scratch.free -= job.procs;
        self.take_pools(job.id, seat, view);
        self.running.insert(RunningJob { end, id: job.id, procs: job.procs });
        if let Some(partitions) = &mut self.partitions {
            partitions.start_job(class, job.procs);
        }
    }

    fn report_changes(&mut self, actions: &mut Actions) {
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
            tell(Gauge::Delay, controller.longest_delay().0);
        }
        if matches!(self.settings.borders, QueueBorders::Auto { .. }) {
            tell(Gauge::Queues, self.classes.queue_count() as i64);
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
            PolicyEvent::Arrived(id) => self.note_arrival(id, view),
            PolicyEvent::Ended { job, .. } => self.note_end(job, view),
            PolicyEvent::Repredicted { job, old } => self.note_prediction(job, old, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) => {
                if matches!(event, PolicyEvent::Cancelled(_)) {
                    self.privileges.forget_job(id, view);
                }
                self.withdraw_job(id);
                self.promises.drop(id);
                self.seats.remove(&id);
                self.literal.forget_job(id);
                (self.dirty, self.stale) = (true, true);
            }
            PolicyEvent::Released(id) => self.note_release(id, view),
            PolicyEvent::Stopped { job, .. } => self.note_stop(job, view),
            PolicyEvent::Runs(id) => self.note_foreign_start(id, view),
            PolicyEvent::Capacity => self.capacity_changed(view),
            PolicyEvent::Woken | PolicyEvent::Parked(_) | PolicyEvent::Resized { .. } | PolicyEvent::Asks { .. } => {}
        }
    }

    #[inline]
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.scratch.now = view.current_time();
        self.scratch.free = view.free_processors();
        self.scratch.planned = false;
        self.scratch.namer = SeatNamer::default();
        self.class_of.forget_before(view.oldest_job());
        self.scratch.changes.clear();
        if let Some(outlook) = view.outlook() {
            self.look_ahead(outlook, view);
        }
        if self.partitions.is_none() && (self.listened || self.settings.own != Own::Shared) {
            // As many as there are queues: the borders may have moved already, in the very second
            // of the first arrivals.
            let (queues, most) = (self.classes.queue_count(), self.queues.len());
            self.partitions = Some(Partitions::new(view.machine().procs, queues, most));
        }
        if self.settings.delay.is_some() {
            self.release_due(view.current_time());
        }
        if self.settings.is_literal() {
            self.literal_pass(view, actions);
        } else if self.rater.is_some() || !self.privileges.is_empty() {
            self.ordered_pass(view, actions);
        } else {
            self.run_pass(view, actions);
        }
        self.dirty = std::mem::take(&mut self.deposed);
        if self.settings.delay.is_some() {
            self.wake = self.next_ready();
        }
        if self.privileges.has_reservations() {
            let delay_wake = self.wake.filter(|_| self.settings.delay.is_some());
            // No other event may fall on a reserved start.
            self.wake = delay_wake.into_iter().chain(self.privileges.next_reserved(view.current_time())).min();
        }
        if self.listened {
            self.report_changes(actions);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        // Where promises may be broken, partitions of processors decide.
        !self.settings.is_literal()
    }

    fn places_on_nodes(&self) -> bool {
        !self.settings.is_literal()
    }

    fn set_priorities(&mut self, priorities: Priorities) -> Result<(), PriorityError> {
        self.take_priorities(priorities)
    }

    fn enable_notes(&mut self) {
        self.listened = true;
    }
}
