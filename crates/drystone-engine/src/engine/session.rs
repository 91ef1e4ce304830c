//! A scheduler at work: policy, predictions and the table of jobs, driven by events from outside.

mod about;
mod busy;
mod capacity;
mod carry_out;
mod decide;
mod expire;
mod news;
mod origin;
mod outcome;
mod pools;
mod refused;
mod saving;
mod scheduler;
mod sizes;
mod supply;

use super::changes::Changes;
use super::stopwatch::WallClock;
use crate::model::{FURTHEST, Job, JobId, JobWindow, Machine, Span, Time};
use crate::parts::by_user::ByUser;
use crate::parts::predict::{Correction, Propagation};
use crate::parts::{RunningJob, RunningSet};
use crate::policy::{Actions, JobEntry, KnownEntry, Phase, PolicyEvent, PolicyWorld, Portion, Stopwatch, View};
use crate::snapshot::SnapshotError;
use capacity::AnnouncedLosses;
use news::PastHistory;
pub use news::{NewsError, ProposalError};
use origin::SchedulerOrigin;
pub use refused::{ImpossibleJob, PolicyViolation};
pub use scheduler::Scheduler;
use serde::{Deserialize, Serialize};
pub(crate) use sizes::SizeChange;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use supply::SupplyBook;

/// A scheduler at work. It is as pure as its policy: time and events come in as arguments, actions
/// come out, and the whole state can be saved and restored. The simulator drives it, and a live
/// cluster can.
///
/// The session owns what every policy would otherwise repeat: the table of jobs, the account of
/// free processors, the predictions and their corrections, and it refuses impossible actions.
///
/// # Driving one
///
/// Whenever something happens, and at each [`Session::next_due_time`], tell the session what has
/// happened by then, in this order: [`Session::end_job`] of jobs, lower numbers first;
/// [`Session::expire_due`]; [`Session::note_arrival`] and [`Session::withdraw_job`] as they came;
/// `end` of running jobs that were withdrawn ([`Session::withdraw_job`] answers `false` for them)
/// or killed ([`Action::Kill`](crate::policy::Action::Kill)). Then ask once for [`Session::decide`]
/// and carry out what it answers. With [`PassRule::Event`](crate::policy::PassRule::Event) a
/// decision follows each of them. That is what the simulator does, and what does so gets the
/// simulator's schedule. Coming late is no fault: time is what the last call said, and never goes
/// back; what lies beyond ±2⁶¹ s counts as that. [`PassRule::Pyss`](crate::policy::PassRule::Pyss)
/// is for simulations alone: it has to know of jobs that will end later in the same second.
///
/// ```
/// use drystone_core::engine::Session;
/// use drystone_core::model::{Job, JobId, Machine, Span, Time};
/// use drystone_core::policy::{Action, PolicySpec};
///
/// let policy: PolicySpec = "easy".parse()?;
/// let mut session = Session::new(Machine::new(4), policy.build_scheduler());
/// let starts = |session: &mut Session, now| -> Result<Vec<u32>, Box<dyn std::error::Error>> {
///     let actions = session.decide(now)?.list().iter();
///     Ok(actions.filter_map(|action| if let Action::Start { job, .. } = action { Some(job.0) } else { None }).collect())
/// };
/// // The first job leaves one processor free, the second needs all four and has to wait, the third fits beside the first.
/// for (procs, estimate) in [(3, 100), (4, 100), (1, 50)] {
///     session.note_arrival(Time(0), &Job::new(Time(0), procs, Span(estimate)), None)?;
/// }
/// // The third is over before the second can start.
/// assert_eq!(starts(&mut session, Time(0))?, [0, 2]);
/// // Both end early.
/// assert!(session.end_job(Time(20), JobId(0)) && session.end_job(Time(20), JobId(2)));
/// session.expire_due(Time(20));
/// assert_eq!(starts(&mut session, Time(20))?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    scheduler: Scheduler,
    /// Identity of the scheduler, from its state before the first event: see [`Session::load`].
    /// Where that cannot be saved, why.
    origin: Result<SchedulerOrigin, SnapshotError>,
    clairvoyant: bool,
    corrects: bool,
    /// True if the predictor learns from ends.
    learns: bool,
    /// True if the policy may ask to be woken.
    wakes: bool,
    propagation: Propagation,
    time_limit: Option<Duration>,
    /// True if an observer wants the predictions of a job over its life.
    keeps_changes: bool,
    actions: Actions,
    /// Room for the predictions that one job had.
    changed: Vec<(Time, Span)>,
    /// Wake-up time of the policy, read once after each decision; [`Time::MAX`] for never.
    wake: Time,
    /// The policy's own, where sizes and power also wake the session.
    policy_wake: Time,
    /// Changes of sizes that the machine has not received yet.
    size_changes: Vec<SizeChange>,
    /// Time at which the next prediction expires: see [`Session::next_expiry`].
    expiry: Time,
    /// Jobs held back for lack of supply (true) or released from that (false) since the list was
    /// taken; `None` where no list is kept.
    sifted: Option<Vec<(JobId, bool)>>,
    /// True if it was woken since its last decision.
    woken: bool,
    /// True if the policy's notes have a listener.
    listened: bool,
    /// Threads that the policy may use within a decision.
    threads: u32,
    /// For policies that heed a time limit.
    stopwatch: Box<dyn Stopwatch>,
    s: SessionState,
}

/// Everything that changes while the session works, except the policy's and the predictor's own
/// state.
#[derive(Clone, Serialize, Deserialize)]
struct SessionState {
    world: PolicyWorld,
    waiting: u32,
    /// Processors that waiting jobs need.
    waiting_procs: u64,
    suspended: u32,
    /// Processors that suspended jobs need.
    suspended_procs: u64,
    /// Processors held by running jobs among those whose processors have names
    /// ([`PolicyWorld::named`]).
    named_busy: busy::BusyProcessors,
    /// Jobs that wait but are held back.
    held: u32,
    /// True if every running job has named processors.
    names: bool,
    /// True if running jobs hold processors that go when they end; only where losses are counted.
    draining: bool,
    /// Losses of processors, once there was one.
    capacity: Option<Box<AnnouncedLosses>>,
    /// Supply of further resources; `None` until it is set.
    supply: Option<Box<SupplyBook>>,
    /// Suspended jobs unknown to the policy: another than the policy suspended them and resumes
    /// them.
    foreign: BTreeSet<JobId>,
    /// True if corrections may be due that nothing has asked for yet.
    lagging: bool,
    /// True if any job was ever given a reservation.
    reserves: bool,
    /// Running jobs that were killed; the machine has not said yet that they have ended.
    killed: Vec<JobId>,
    /// History of present jobs beyond waiting and running.
    beyond: BTreeMap<JobId, PastHistory>,
    /// The later predictions of jobs whose prediction changed.
    changes: Changes,
    /// Jobs that wait or run, by user; kept only where history changes predictions already made.
    of_user: ByUser<Vec<JobId>>,
}

impl Session {
    /// A session without jobs.
    #[must_use]
    pub fn new(machine: Machine, scheduler: Scheduler) -> Session {
        let clairvoyant = scheduler.forecast.predictor.is_clairvoyant();
        let propagation = scheduler.forecast.predictor.propagation();
        let corrects = scheduler.forecast.correction != Correction::None;
        let (learns, wakes) = (scheduler.forecast.predictor.is_learning(), scheduler.policy.has_wake_ups());
        let time_limit = scheduler.policy.time_limit();
        let s = SessionState {
            world: PolicyWorld {
                now: Time(-FURTHEST),
                origin: Time::ZERO,
                machine,
                free: i64::from(machine.procs),
                jobs: JobWindow::default(),
                oldest: JobId::default(),
                running: RunningSet::default(),
                outlook: None,
                resources: None,
                named: BTreeMap::new(),
                shapes: None,
            },
            waiting: 0,
            waiting_procs: 0,
            suspended: 0,
            suspended_procs: 0,
            named_busy: busy::BusyProcessors::default(),
            held: 0,
            names: false,
            draining: false,
            capacity: None,
            supply: None,
            foreign: BTreeSet::new(),
            lagging: false,
            reserves: false,
            killed: Vec::new(),
            beyond: BTreeMap::new(),
            changes: Changes::default(),
            of_user: ByUser::default(),
        };
        let origin = scheduler.scheduler_origin();
        Session {
            scheduler,
            origin,
            clairvoyant,
            corrects,
            learns,
            wakes,
            propagation,
            keeps_changes: false,
            time_limit,
            actions: Actions::default(),
            changed: Vec::new(),
            wake: Time::MAX,
            policy_wake: Time::MAX,
            size_changes: Vec::new(),
            expiry: Time::MAX,
            sifted: None,
            woken: false,
            listened: false,
            threads: 1,
            stopwatch: Box::new(WallClock::default()),
            s,
        }
    }

    /// A job arrives, and gets the next number: the first is 0. `oracle` is its true run time where
    /// the session is [`Session::is_clairvoyant`].
    ///
    /// # Errors
    /// A job that is impossible on this machine: without processors, wider than the machine, with a
    /// negative estimate, with a submit time or an estimate beyond ±2⁴⁰ s, or with a demand beyond
    /// the machine's resources. The session is then unchanged.
    pub fn note_arrival(&mut self, now: Time, job: &Job, oracle: Option<Span>) -> Result<JobId, ImpossibleJob> {
        match self.problem_of(job) {
            None => Ok(self.admit_job(now, job, oracle)),
            Some(problem) => Err(ImpossibleJob(problem)),
        }
    }

    /// A job arrives that is possible.
    #[inline(always)]
    pub(crate) fn admit_job(&mut self, now: Time, job: &Job, oracle: Option<Span>) -> JobId {
        self.come_to(now);
        let id = self.s.world.jobs.next_id();
        if id == JobId::default() {
            self.s.world.origin = job.submit;
        }
        let forecast = &mut self.scheduler.forecast;
        let foreseen = forecast.predictor.predict(id, job, oracle);
        let prediction = forecast.planned_span(foreseen);
        let entry = JobEntry {
            prediction,
            segment: Time::ZERO,
            ran: Span::ZERO,
            first_start: Time::ZERO,
            first_prediction: prediction,
            first_reservation: Time::MAX,
            corrections: 0,
            late_corrections: 0,
            requeues: 0,
            procs: job.procs,
            suspensions: 0,
            phase: Phase::Waiting,
            learned: foreseen.learned,
            as_head: false,
            changes: Changes::NONE,
        };
        self.s.world.jobs.push(KnownEntry { entry, job: job.clone() });
        self.meet_need(id);
        self.s.waiting += 1;
        self.s.waiting_procs += u64::from(job.procs);
        if self.propagation > Propagation::None {
            // Asked of the table: a use of the job itself here would split its copy into parts that
            // the processor reads back late.
            self.s.of_user.value_of(self.s.world.jobs[id].job.user).push(id);
        }
        self.notify_policy(PolicyEvent::Arrived(id));
        self.hold_if_short(id);
        id
    }

    /// A running job ends. Returns whether there was such a job: a live cluster may report one end
    /// twice.
    #[inline]
    pub fn end_job(&mut self, now: Time, id: JobId) -> bool {
        self.finish_job(now, id, true, None)
    }

    /// Ends a job, with its run time where it is known better than from the time at which the
    /// session heard of the start; `teaches` is false for a time that is no run time.
    #[inline(always)]
    pub(super) fn finish_job(&mut self, now: Time, id: JobId, teaches: bool, ran: Option<Span>) -> bool {
        let Some(KnownEntry { entry, .. }) =
            self.s.world.jobs.get(id).filter(|record| record.entry.phase == Phase::Running)
        else {
            return false;
        };
        let mut predicted_end = entry.predicted_end();
        let now = self.come_to(now);
        self.s.world.running.remove(predicted_end, id);
        if predicted_end == self.expiry {
            self.note_expiry();
        }
        if predicted_end < now {
            predicted_end = self.catch_up(id, predicted_end, now);
        }
        let KnownEntry { entry, .. } = &mut self.s.world.jobs[id];
        entry.ran = ran.unwrap_or(entry.ran + (now - entry.segment));
        entry.phase = Phase::Done;
        self.s.world.free += i64::from(entry.procs);
        let mut received_time = entry.ran;
        if self.s.world.shapes.is_some() {
            received_time = self.forget_size(id).unwrap_or(received_time);
        }
        if self.learns && teaches {
            self.scheduler.forecast.predictor.learn_from_end(id, &self.s.world.jobs[id].job, received_time, now);
        }
        self.give_resources(id, Portion::Whole);
        self.s.forget_processors(id);
        if !self.s.killed.is_empty() {
            self.note_killed(id);
        }
        self.notify_policy(PolicyEvent::Ended { job: id, predicted_end });
        if self.propagation > Propagation::None && teaches {
            self.propagate_predictions(id);
        }
        true
    }

    /// Makes room for this many more jobs at once.
    pub(crate) fn reserve_slots(&mut self, jobs: usize) {
        self.s.world.jobs.reserve(jobs);
    }

    /// Returns whether the policy killed a job whose end has not been reported yet.
    #[inline]
    pub(crate) fn was_killed(&self, id: JobId) -> bool {
        !self.s.killed.is_empty() && self.s.killed.contains(&id)
    }

    /// Notes the end of a job that was killed: the policy may have waited for it, whatever other
    /// job waits.
    #[cold]
    fn note_killed(&mut self, id: JobId) {
        let killed_count = self.s.killed.len();
        self.s.killed.retain(|&victim| victim != id);
        self.woken |= self.s.killed.len() < killed_count;
    }

    /// Advances the clock, clamped; it never goes back, though the clock of a live cluster may.
    /// Returns what time it is then.
    #[inline]
    fn come_to(&mut self, now: Time) -> Time {
        // It begins at the one end and never goes back.
        self.s.world.now = self.s.world.now.max(now.min(Time(FURTHEST)));
        self.s.world.now
    }

    /// New history of a user renews the predictions of the user's other jobs. A running job's
    /// prediction is never less than it has run already. Jobs that this will never concern again
    /// leave the list of the user's jobs.
    fn propagate_predictions(&mut self, cause: JobId) {
        let user = self.s.world.jobs[cause].job.user;
        let mut jobs = std::mem::take(self.s.of_user.value_of(user));
        jobs.retain(|&id| {
            let Some(KnownEntry { entry, job }) = self.s.world.jobs.get(id) else { return false };
            let least = match (entry.phase, self.propagation) {
                (Phase::Waiting, _) => Span::ZERO,
                (Phase::Running, Propagation::Running) if entry.corrections == 0 => {
                    entry.ran + (self.s.world.now - entry.segment)
                }
                (Phase::Held, _) => return true,
                (phase, propagation) => return phase == Phase::Suspended && propagation == Propagation::Running,
            };
            let forecast = &mut self.scheduler.forecast;
            let new = forecast.predictor.predict(id, job, None);
            let new = forecast.planned_span(new).max(least);
            if new != entry.prediction {
                self.update_prediction(id, new);
            }
            true
        });
        *self.s.of_user.value_of(user) = jobs;
    }

    /// A waiting, held or suspended job is withdrawn. Returns whether there was such a job.
    pub fn withdraw_job(&mut self, now: Time, id: JobId) -> bool {
        self.come_to(now);
        self.forget_short(id);
        let Some(KnownEntry { entry, job }) = self.s.world.jobs.get_mut(id) else {
            return false;
        };
        match entry.phase {
            Phase::Waiting => {
                self.s.waiting -= 1;
                self.s.waiting_procs -= u64::from(entry.procs);
            }
            Phase::Held => self.s.held -= 1,
            Phase::Suspended => {
                self.s.suspended -= 1;
                self.s.suspended_procs -= u64::from(entry.procs);
            }
            Phase::Running | Phase::Done => return false,
        }
        let is_suspended = entry.phase == Phase::Suspended;
        let is_known = entry.phase != Phase::Held && !(entry.phase == Phase::Suspended && self.s.foreign.remove(&id));
        entry.phase = Phase::Done;
        self.s.world.named.remove(&id);
        self.scheduler.forecast.predictor.note_withdrawal(id, job);
        if is_suspended {
            self.give_resources(id, Portion::Staying);
            if self.s.world.shapes.is_some() {
                self.forget_size(id);
            }
        }
        if is_known {
            self.notify_policy(PolicyEvent::Cancelled(id));
        }
        true
    }

    /// The next time at which something happens without an event from outside: a prediction expires
    /// or the policy wakes.
    #[inline]
    #[must_use]
    pub fn next_due_time(&self) -> Option<Time> {
        let next = self.next_deadline().min(self.capacity_due()).min(self.supply_due());
        (next < Time::MAX).then_some(next)
    }

    /// Returns the deadline, [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Time {
        self.next_wake().min(self.next_expiry())
    }

    /// Returns the time at which the policy wakes next; [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        self.wake
    }

    /// Wakes the policy if it asked to be woken by now.
    pub(crate) fn wake_policy(&mut self, now: Time) -> bool {
        if self.wake > now || self.wake == Time::MAX {
            return false;
        }
        if self.s.world.shapes.is_some() {
            self.wake_sized(now);
            return true;
        }
        self.wake = Time::MAX;
        self.woken = true;
        self.come_to(now);
        self.notify_policy(PolicyEvent::Woken);
        true
    }

    /// Forgets jobs that are done, as far as no older one is still here. Returns the oldest that
    /// is, if it is another now.
    #[inline]
    pub(crate) fn forget_done(&mut self) -> Option<JobId> {
        let first = self.s.world.oldest;
        let mut oldest = first;
        while self.s.world.jobs.get(oldest).is_some_and(|record| record.entry.phase == Phase::Done) {
            oldest.0 += 1;
        }
        if oldest == first {
            return None;
        }
        self.s.world.oldest = oldest;
        self.s.world.jobs.forget_before(oldest);
        if !self.s.beyond.is_empty() {
            self.s.beyond = self.s.beyond.split_off(&oldest);
        }
        if let Some(shapes) = &mut self.s.world.shapes {
            shapes.forget_before(oldest);
        }
        Some(oldest)
    }

    /// The oldest job that is not done.
    pub(crate) fn oldest_job(&self) -> JobId {
        self.s.world.oldest
    }

    #[inline(always)]
    fn notify_policy(&mut self, event: PolicyEvent) {
        self.scheduler.policy.observe(event, &self.s.view());
    }

    fn update_prediction(&mut self, id: JobId, new: Span) {
        let now = self.s.world.now;
        let entry = &mut self.s.world.jobs[id].entry;
        let before = RunningJob { end: entry.predicted_end(), id, procs: entry.procs };
        let old = std::mem::replace(&mut entry.prediction, new);
        if self.keeps_changes {
            self.s.changes.push(&mut entry.changes, now, new);
        }
        if entry.phase == Phase::Running {
            self.s.world.running.postpone_end(before, entry.predicted_end());
            self.note_expiry();
        }
        self.notify_policy(PolicyEvent::Repredicted { job: id, old });
    }
}

impl SessionState {
    #[inline]
    fn view(&self) -> View<'_> {
        View { world: &self.world, stopwatch: None }
    }

    #[inline]
    fn forget_processors(&mut self, id: JobId) {
        if self.draining {
            self.refresh_capacity();
        }
        if !self.world.named.is_empty()
            && let Some(set) = self.world.named.remove(&id)
        {
            self.named_busy.remove(&set);
            if self.is_irregular(&set) {
                self.refresh_capacity();
            }
        }
    }
}
