//! The loop: a simulated machine that runs jobs as long as they really take, and asks the scheduler
//! at every event.

mod claims;
mod error;
mod events;
mod future;
mod machine;
mod news;
mod sizes;
mod supply;

use super::checkpoint::{Checkpoints, KeptWork};
use super::ends::EndQueue;
use super::observer::Observer;
use super::platform::{Platform, Transfer};
use super::session::{Scheduler, Session};
use super::source::EventSource;
use crate::model::{JobId, JobWindow, Machine, ProcSet, Span, Time, Truth};
use crate::policy::{Actions, Moved, PassRule};
use crate::snapshot::{self, Contents, SnapshotError};
pub use error::{SimulationError, SupplyLack};
use machine::MachineEffect;
use serde::{Deserialize, Serialize};
use sizes::ShapeMachine;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use supply::SupplyTimetable;

/// A simulation of one scheduler on one stream of arrivals.
///
/// Events of one instant are handled in a fixed order: ends (by id), expiries of predictions and
/// wake-ups, arrivals and cancellations in the order of the source, ends (by id) of running jobs
/// that were withdrawn. Then the policy makes one pass, or one after each of them ([`PassRule`]).
///
/// A policy may take something for granted about the jobs: [`Scheduler::check_fit`] says whether a
/// workload has it. Where it has not, the simulation may stop with a
/// [`PolicyViolation`](super::PolicyViolation).
///
/// ```
/// use drystone_core::engine::{WorkloadReplay, Schedule, Simulation};
/// use drystone_core::model::{Job, Machine, Provenance, Span, LogStatus, Time, Truth, Workload};
/// use drystone_core::policy::PolicySpec;
///
/// // Submit, processors, estimate, run time: two jobs that fill the machine, and a small one that fits in between.
/// let (mut jobs, mut truth) = (Vec::new(), Vec::new());
/// for (number, (submit, procs, estimate, run)) in [(0, 3, 100, 100), (1, 4, 100, 80), (2, 1, 50, 40)].into_iter().enumerate() {
///     jobs.push(Job::new(Time(submit), procs, Span(estimate)));
///     truth.push(Truth { run: Span(run), number: number as i64 + 1, status: LogStatus::Completed });
/// }
/// let workload = Workload::new(Machine::new(4), jobs, truth, Provenance::default())?;
/// let policy: PolicySpec = "easy".parse()?;
/// let mut schedule = Schedule::default();
/// Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload)).run(&mut schedule)?;
/// // Start and end of each.
/// assert_eq!(schedule.spans, [(0, 100), (100, 180), (2, 42)].map(|(start, end)| Some((Time(start), Time(end)))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<S> {
    source: S,
    session: Session,
    /// Cost of suspension.
    transfer: Option<Transfer>,
    /// Changes of the supply of further resources, where there are any.
    supply: Option<Box<SupplyTimetable>>,
    /// Impossible event from the source.
    impossible: Option<SimulationError>,
    s: MachineState,
}

/// State of the simulated machine alone.
#[derive(Clone, Serialize, Deserialize)]
struct MachineState {
    truth: JobWindow<Truth>,
    /// Ends of running jobs: see [`End`]. Ends of jobs that were suspended or cut short
    /// since are stale.
    ends: EndQueue,
    /// Processor time added by suspensions, for jobs that are here.
    overhead: BTreeMap<JobId, Span>,
    /// Checkpoints that jobs write.
    checkpoints: Option<Checkpoints>,
    /// Work in the checkpoints of past attempts, for jobs that are here.
    kept: BTreeMap<JobId, KeptWork>,
    /// Jobs that were withdrawn while they ran and have not ended yet.
    withdrawn: BTreeSet<JobId>,
    /// Processors from which memory is still being written, and until when.
    writing: Vec<(Time, ProcSet)>,
    /// Starts so far, where ends of the same time come in the order of the starts.
    starts: Option<u32>,
    stale: bool,
    /// True if the oldest job that was here has ended or was withdrawn in this step.
    gone: bool,
    /// Time of the source's next event; [`Time::MAX`] for never.
    next_arrival: Time,
    /// Number of times of the timetable of supply that have come.
    supply_at: usize,
    now: Time,
    /// Sizes of jobs, where there are any.
    shapes: Option<Box<ShapeMachine>>,
    /// Jobs that a limit refused at an instant, which is the first of the pair.
    refused: (Time, BTreeSet<JobId>),
    /// Position within the instant.
    at: SimulationPosition,
}

/// Position of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum SimulationPosition {
    /// Between two instants.
    Rest,
    /// The events of an instant have been handled, and a pass is due.
    Pass,
    /// At a pass, after actions from outside have been carried out.
    Acted,
}

/// Progress of the events of an instant.
enum Reached {
    /// Nothing will ever happen again.
    End,
    /// No pass is due.
    Instant,
    Pass,
}

#[derive(Serialize, Deserialize)]
struct SavedSimulation {
    state: MachineState,
    session: Vec<u8>,
    position: u64,
    /// State of the source beyond its position.
    memory: Vec<u8>,
}

/// Suspensions after which a job counts as thrashing, where they cost time.
pub(super) const THRASHING: u32 = 100_000;

impl<S: EventSource> Simulation<S> {
    /// A machine without jobs at the beginning of a stream of arrivals.
    #[must_use]
    pub fn new(machine: Machine, scheduler: Scheduler, mut source: S) -> Simulation<S> {
        if scheduler.policy.keeps_limits() {
            source.drop_limits();
        }
        let next_arrival = source.peek_time().unwrap_or(Time::MAX);
        let starts = (scheduler.pass == PassRule::Pyss).then_some(0);
        let mut session = Session::new(machine, scheduler);
        session.keep_accuracy();
        let (mut impossible, mut now) = (None, Time::MIN);
        let mut supply = None;
        if let Some(table) = source.resources() {
            if table.has_resources() && !session.counts_resources() {
                // The first step finds itself in the past, and says why.
                (impossible, now) = (Some(SimulationError::Uncounted), Time::MAX);
            } else if table.node_fill().is_some() && !session.places_on_nodes() {
                (impossible, now) = (Some(SimulationError::Unplaced), Time::MAX);
            }
            session.set_resources(Arc::clone(&table));
            supply = Some(table);
        }
        let mut simulation = Simulation {
            source,
            session,
            transfer: None,
            supply: None,
            impossible,
            s: MachineState {
                truth: JobWindow::default(),
                ends: EndQueue::default(),
                overhead: BTreeMap::new(),
                checkpoints: None,
                kept: BTreeMap::new(),
                withdrawn: BTreeSet::new(),
                writing: Vec::new(),
                starts,
                stale: false,
                gone: false,
                next_arrival,
                supply_at: 0,
                now,
                shapes: None,
                refused: (Time::MIN, BTreeSet::new()),
                at: SimulationPosition::Rest,
            },
        };
        simulation.take_shapes();
        if let Some(table) = supply.filter(|table| !table.supply_steps().is_empty()) {
            simulation.expect_supply(&table);
        }
        simulation
    }

    /// Sets the costs of suspension, and the checkpoints of jobs.
    ///
    /// # Panics
    /// A job is suspended, possibly, where [`Transfer::check_values`] refuses the platform's
    /// values.
    #[must_use]
    pub fn with_platform(self, platform: &Platform) -> Simulation<S> {
        let mut simulation = Simulation { transfer: platform.suspension, ..self };
        simulation.s.checkpoints = platform.checkpoints;
        if platform.checkpoints.is_some() && simulation.s.shapes.is_some() {
            // The first step finds itself in the past, and says why.
            simulation.impossible = Some(SimulationError::SizedCheckpoints);
            simulation.s.now = Time::MAX;
        }
        simulation
    }

    /// Drops the record of predictions over a job's life, for observers that do not ask for it:
    /// [`JobOutcome::accuracy`](crate::model::JobOutcome::accuracy) is then `None`. Where
    /// predictions are corrected often, that record is a good part of the work.
    #[must_use]
    pub fn without_accuracy(mut self) -> Simulation<S> {
        self.session.forget_changes();
        self
    }

    /// Makes room for this many jobs at once: a program of many short simulations saves time.
    #[must_use]
    pub fn with_room(mut self, jobs: usize) -> Simulation<S> {
        self.s.truth.reserve(jobs);
        self.session.reserve_slots(jobs);
        self
    }

    /// Lets a policy that searches use this many threads within a decision
    /// ([`Policy::set_threads`](crate::policy::Policy::set_threads)). The results do not depend on
    /// it.
    #[must_use]
    pub fn with_threads(mut self, threads: u32) -> Simulation<S> {
        self.session.set_threads(threads);
        self
    }

    /// Its source, as it is now.
    #[must_use]
    pub fn into_source(self) -> S {
        self.source
    }

    /// The present: the instant that was handled last.
    #[must_use]
    pub fn current_time(&self) -> Time {
        self.s.now
    }

    /// The scheduler at work.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Runs until every job has ended.
    ///
    /// # Errors
    /// See [`SimulationError`]; all of them are bugs of a policy or a source.
    pub fn run<O: Observer>(&mut self, observer: &mut O) -> Result<(), SimulationError> {
        if !O::ENDS {
            self.session.forget_changes();
        }
        while self.step(observer)? {}
        Ok(())
    }

    /// Handles one instant with everything that happens in it (with [`PassRule::Event`]: one
    /// event). `false` at the end.
    ///
    /// If the simulation stands at a pass ([`Simulation::next_pass`]), the policy makes this pass,
    /// unless actions from outside have been carried out.
    ///
    /// # Errors
    /// See [`SimulationError`].
    #[inline]
    pub fn step(&mut self, observer: &mut impl Observer) -> Result<bool, SimulationError> {
        let reached_stage = match self.s.at {
            SimulationPosition::Rest => self.reach_instant(observer)?,
            SimulationPosition::Pass => Reached::Pass,
            SimulationPosition::Acted => Reached::Instant,
        };
        match reached_stage {
            Reached::End => return Ok(false),
            Reached::Instant => {}
            Reached::Pass => self.run_pass(self.s.now, observer)?,
        }
        self.settle_instant(observer);
        Ok(true)
    }

    /// Goes on to the next scheduling pass and stops before it, when all events that lead to it
    /// have been handled: now [`Session::view`] shows what a policy would see, and
    /// [`Simulation::apply_actions`] takes actions from outside. `false` at the end.
    ///
    /// A simulation that stands at a pass already leaves that one behind. To let the policy make
    /// it, call [`Simulation::step`].
    ///
    /// ```
    /// use drystone_core::engine::{WorkloadReplay, Scheduler, Schedule, Simulation};
    /// use drystone_core::model::{Job, JobId, Machine, Provenance, Span, LogStatus, Time, Truth, Workload};
    /// use drystone_core::policy::{Actions, Outside, StartReason};
    ///
    /// // Two jobs that both need the whole machine, the second a shorter one.
    /// let jobs = vec![Job::new(Time(0), 4, Span(100)), Job::new(Time(0), 4, Span(10))];
    /// let truth = [100, 10].iter().zip(1..).map(|(&run, number)| Truth { run: Span(run), number, status: LogStatus::Completed });
    /// let workload = Workload::new(Machine::new(4), jobs, truth.collect(), Provenance::default())?;
    /// let scheduler = Scheduler::new(Box::new(Outside));
    /// let mut simulation = Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(&workload));
    /// let mut schedule = Schedule::default();
    /// while simulation.next_pass(&mut schedule)? {
    ///     // The shortest job that fits starts.
    ///     let view = simulation.session().view();
    ///     let fits = view.waiting_jobs().filter(|&id| view.job(id).procs <= view.free_processors());
    ///     let Some(shortest) = fits.min_by_key(|&id| view.prediction(id)) else { continue };
    ///     let mut actions = Actions::default();
    ///     actions.start_job(shortest, StartReason::Backfilled);
    ///     simulation.apply_actions(&actions, &mut schedule)?;
    /// }
    /// assert_eq!(schedule.spans, [(10, 110), (0, 10)].map(|(start, end)| Some((Time(start), Time(end)))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`SimulationError`].
    pub fn next_pass(&mut self, observer: &mut impl Observer) -> Result<bool, SimulationError> {
        if self.s.at != SimulationPosition::Rest {
            self.session.leave_pass();
            self.settle_instant(observer);
        }
        loop {
            match self.reach_instant(observer)? {
                Reached::End => return Ok(false),
                Reached::Instant => self.settle_instant(observer),
                Reached::Pass => {
                    self.s.at = SimulationPosition::Pass;
                    return Ok(true);
                }
            }
        }
    }

    /// Carries out actions from outside at the pass that the simulation stands at, instead of the
    /// policy's: at once, so that [`Session::view`] shows what they led to and more can follow. The
    /// policy is neither asked nor told, so it should be one that keeps nothing,
    /// [`Outside`](crate::policy::Outside).
    ///
    /// # Errors
    /// Actions that are impossible: the simulation is then of no further use. No pass is due.
    pub fn apply_actions(&mut self, actions: &Actions, observer: &mut impl Observer) -> Result<(), SimulationError> {
        if self.s.at == SimulationPosition::Rest {
            return Err(SimulationError::NoPass);
        }
        self.s.at = SimulationPosition::Acted;
        let mut deed =
            MachineEffect { source: &self.source, s: &mut self.s, transfer: self.transfer.as_ref(), thrashing: None };
        self.session.act_with(actions, |session, at| deed.carried_out(session, at, observer))?;
        let thrashing = deed.thrashing;
        self.tell_starts(self.s.now);
        thrashing.map_or(Ok(()), Err)
    }

    /// Returns a time before which nothing happens; [`Time::MAX`] where nothing ever will.
    pub fn next_event(&mut self) -> Time {
        let (end, deadline) = (self.next_end(), self.session.next_deadline());
        let arrival = if self.is_over(end) { Time::MAX } else { self.s.next_arrival };
        let over = end.min(arrival) == Time::MAX && (deadline == Time::MAX || self.is_idle());
        if over { Time::MAX } else { end.min(arrival).min(deadline) }
    }

    /// Takes what other machines of the site have caused by now: jobs that wait for a limit may be
    /// admitted when others end there.
    pub fn catch_up(&mut self, now: Time) {
        self.source.catch_up(now);
        self.look_ahead();
    }

    /// Handles the events of one instant, of this time at the latest, and stops before the pass
    /// that is due, if any: [`Simulation::step`] makes it. Returns whether one is due.
    ///
    /// # Errors
    /// See [`SimulationError`].
    pub fn reach_pass(&mut self, horizon: Time, observer: &mut impl Observer) -> Result<bool, SimulationError> {
        // A wake-up by then bounds the time as well. Where each event has a pass of its own it
        // comes last in its instant, behind the horizon's event, which would come again and again.
        if self.session.next_wake() > horizon {
            self.source.set_horizon(horizon);
        }
        self.look_ahead();
        let stop_place = self.reach_instant(observer)?;
        self.source.set_horizon(Time::MAX);
        self.look_ahead();
        match stop_place {
            Reached::End => {}
            Reached::Instant => self.settle_instant(observer),
            Reached::Pass => self.s.at = SimulationPosition::Pass,
        }
        Ok(self.is_at_pass())
    }

    /// Asks the source for its next event again.
    fn look_ahead(&mut self) {
        if self.impossible.is_none() {
            self.s.next_arrival = self.next_incoming();
        }
    }

    /// Asks for a pass at this time, if nothing leads to one before; for callers that act from
    /// outside. Does nothing if the time is past.
    pub fn wake_at(&mut self, time: Time) {
        if time > self.s.now {
            self.session.wake_at(time);
        }
    }

    /// Returns whether it stands at a pass, before its end.
    #[must_use]
    pub fn is_at_pass(&self) -> bool {
        self.s.at != SimulationPosition::Rest
    }

    /// Handles the events of one instant (with [`PassRule::Event`]: one event).
    #[inline]
    fn reach_instant<O: Observer>(&mut self, observer: &mut O) -> Result<Reached, SimulationError> {
        if O::NOTES && !self.session.is_listened_to() {
            self.session.enable_notes();
        }
        if S::NEWS {
            self.open_simulation(observer)?;
        }
        let end = self.next_end();
        let mut deadline = self.session.next_deadline();
        let arrival = if self.is_over(end) { Time::MAX } else { self.s.next_arrival };
        if end.min(arrival) == Time::MAX && (deadline == Time::MAX || self.is_idle()) {
            return self.check_complete().map(|()| Reached::End);
        }
        let mut heard_time = None;
        if deadline < end.min(arrival) && self.session.pass_rule() != PassRule::Pyss {
            (heard_time, deadline) = self.expire_before(end, arrival);
        }
        let now = heard_time.unwrap_or(end.min(arrival).min(deadline));
        if now != self.s.now {
            self.advance_to(now)?;
        }
        let decide = match self.session.pass_rule() {
            _ if heard_time.is_some() => true,
            PassRule::Instant => self.whole_instant(now, end, deadline, arrival, observer),
            PassRule::Event => self.one_event(now, end, arrival, observer),
            PassRule::Pyss => self.one_pyss_event(now, end, arrival, observer),
        };
        Ok(if decide && self.session.wants_pass() { Reached::Pass } else { Reached::Instant })
    }

    /// The instant is over, or the event with its pass.
    #[inline]
    fn settle_instant(&mut self, observer: &mut impl Observer) {
        self.s.at = SimulationPosition::Rest;
        if self.s.gone {
            self.forget_done();
        }
        observer.note_settlement(self.s.now, self.session.levels());
    }

    /// The whole state, between two instants or at a pass; observers save their own.
    ///
    /// # Errors
    /// Serialisation fails.
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        let (position, memory) = (self.source.position(), self.source.save_memory()?);
        let saved_simulation =
            SavedSimulation { state: self.s.clone(), session: self.session.save()?, position, memory };
        snapshot::write_state(Contents::Simulation, &saved_simulation)
    }

    /// Goes on from a saved state of a simulation with the same scheduler and source; the results
    /// are then the same as without the interruption.
    ///
    /// # Errors
    /// Bytes that are no such state. The simulation is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let saved_simulation: SavedSimulation = snapshot::read_state(Contents::Simulation, bytes)?;
        self.session.load(&saved_simulation.session)?;
        self.source.seek(saved_simulation.position);
        self.source.restore_memory(&saved_simulation.memory)?;
        let shapes = self.s.shapes.take();
        self.s = saved_simulation.state;
        if let (Some(shapes), Some(before)) = (&mut self.s.shapes, &shapes) {
            shapes.adopt_tables(before);
        }
        Ok(())
    }

    #[inline]
    fn advance_to(&mut self, now: Time) -> Result<(), SimulationError> {
        if now < self.s.now {
            if let Some(impossible) = self.impossible.take() {
                return Err(impossible);
            }
            return Err(SimulationError::Disorder { now: self.s.now, next: now });
        }
        self.session.settle_instant()?;
        self.s.now = now;
        Ok(())
    }

    /// No job is here: what is left are wake-ups of a policy that waits for more.
    fn is_idle(&self) -> bool {
        self.session.waiting_count() == 0 && self.session.suspended_count() == 0
    }

    fn check_complete(&self) -> Result<(), SimulationError> {
        if let Some(never) = self.source.peek_time() {
            let index = self.session.next_id().0;
            return Err(SimulationError::Impossible { index, problem: format!("comes at {never}, which is never") });
        }
        if let Some(short) = self.too_short() {
            return Err(short);
        }
        if self.is_idle() {
            return Ok(());
        }
        if S::NEWS
            && let Some(few) = self.too_few()
        {
            return Err(few);
        }
        if let Some(error) = self.too_little_power() {
            return Err(error);
        }
        Err(SimulationError::Starved {
            waiting: self.session.waiting_count(),
            suspended: self.session.suspended_count(),
            first: self.session.oldest_job(),
        })
    }

    /// Returns the time at which the next job ends; [`Time::MAX`] for never.
    #[inline]
    fn next_end(&mut self) -> Time {
        if self.s.stale {
            self.drop_stale_ends();
        }
        self.s.ends.next()
    }

    #[cold]
    fn drop_stale_ends(&mut self) {
        while let Some(end) = self.s.ends.peek_end() {
            let (end, id) = (end.time(), end.job());
            if self.s.end_of(&self.session, id) == Some(end) {
                // Each running job has one that is not stale.
                self.s.stale = self.s.ends.len() > self.session.running_count() as usize;
                return;
            }
            self.s.ends.pop();
        }
        self.s.stale = false;
    }

    #[inline]
    fn run_pass(&mut self, now: Time, observer: &mut impl Observer) -> Result<(), SimulationError> {
        if S::NEWS && self.source.has_claims() {
            return self.run_pass_within_limits(now, observer);
        }
        let mut deed =
            MachineEffect { source: &self.source, s: &mut self.s, transfer: self.transfer.as_ref(), thrashing: None };
        self.session.decide_with(now, |session, at| deed.carried_out(session, at, observer))?;
        let thrashing = deed.thrashing;
        self.report_moves(now, observer);
        self.tell_starts(now);
        thrashing.map_or(Ok(()), Err)
    }

    #[inline]
    fn report_moves(&self, now: Time, observer: &mut impl Observer) {
        for moved in self.session.actions().moves() {
            let place = |job| self.source.observed_id(job);
            observer.note_move(now, &Moved { job: place(moved.job), favour: moved.favour.map(place), ..*moved });
        }
    }
}
