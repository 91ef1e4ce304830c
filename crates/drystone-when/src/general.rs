//! Futures of any policy: the policy itself goes on from a copy of the session.

use crate::days::{FutureArrivals, PastArrival};
use crate::draws::Draws;
use crate::gates::{GateKeeper, StartGates};
use crate::runs::{Runs, Tables};
use crate::settings::ForecasterSettings;
use crate::world::{Assume, DrawnFates, PresentJobs};
use drystone_core::engine::{
    EventSource, Incoming, Observer, OutageTurn, Scheduler, Session, Simulation, SimulationError, Stroke,
};
use drystone_core::model::{Job, JobId, LogStatus, Machine, OutageHit, Span, Time, Truth};
use drystone_core::policy::{CapacityLoss, Phase, StartReason};
use drystone_core::snapshot::SnapshotError;
use std::cell::{Cell, RefCell};
use std::ops::Range;

pub(crate) struct Wanted<'a> {
    /// Question that names the draws.
    pub(crate) question: u64,
    pub(crate) arrivals: bool,
    pub(crate) assume: Assume,
    pub(crate) samples: u32,
    /// Work that the futures of a policy which is simulated itself may take, and how many are made
    /// whatever that takes.
    pub(crate) budget: (u64, u32),
    /// A job that comes for sure, and its time.
    pub(crate) later: Option<(Time, PastArrival)>,
    /// Called after each future of a policy that is simulated itself, by any thread.
    pub(crate) progress: &'a (dyn Fn() + Sync),
    /// Called after each future, by any thread: true if the others are left out.
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Wanted<'_> {
    /// So many futures with arrivals, and run times that are drawn.
    pub(crate) fn with_draws(question: u64, samples: u32) -> Self {
        Wanted {
            question,
            arrivals: true,
            assume: Assume::Drawn,
            samples,
            budget: (u64::MAX, samples),
            later: None,
            progress: &|| {},
            stop: &|| false,
        }
    }
}

/// Reason why a policy cannot be simulated forward.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FutureError {
    /// The policy or its predictor knows true run times: an answer would use the future.
    #[error(
        "it knows true run times, which lie in the future; take a policy whose predictions are learned or the users' limits"
    )]
    Clairvoyant,
    /// Its state cannot be copied.
    #[error(transparent)]
    State(#[from] SnapshotError),
    /// It broke its contract in one of the futures.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// There is no such job, or it does not wait.
    #[error("job {0} does not wait, so that no start of it lies ahead")]
    NotWaiting(JobId),
}

/// The state of a session, from which every future begins.
pub(crate) struct Origin<'a> {
    state: Vec<u8>,
    machine: Machine,
    /// Processors that are out or announced to be.
    losses: &'a [CapacityLoss],
    /// Conditions of the jobs that are held back.
    gates: Option<GateKeeper<'a>>,
}

impl<'a> Origin<'a> {
    pub(crate) fn from_session(session: &'a Session, gates: Option<&'a StartGates>) -> Result<Origin<'a>, FutureError> {
        if session.is_clairvoyant() {
            return Err(FutureError::Clairvoyant);
        }
        let view = session.view();
        let ids = (view.oldest_job().0..session.next_id().0).map(JobId);
        let held_jobs = ids.filter(|&id| view.is_known(id) && view.phase(id) == Phase::Held);
        let running_jobs = view.running_jobs().iter().map(|run| run.id).chain(view.suspended_jobs());
        let gates = gates.map(|gates| GateKeeper::new(gates, view.current_time(), running_jobs, held_jobs));
        Ok(Origin { state: session.save()?, machine: view.machine(), losses: session.announced_losses(), gates })
    }
}

/// A session to simulate futures in, used again and again.
pub(crate) struct SessionCopies<'a> {
    origin: &'a Origin<'a>,
    spare: Option<Session>,
}

impl<'a> SessionCopies<'a> {
    /// Copies of a session, in sessions with a fresh scheduler of the same policy.
    pub(crate) fn from_origin(
        origin: &'a Origin<'a>,
        fresh: impl FnOnce() -> Scheduler,
        had: Option<Session>,
    ) -> SessionCopies<'a> {
        let spare = had.unwrap_or_else(|| Session::new(origin.machine, fresh()));
        SessionCopies { origin, spare: Some(spare) }
    }

    pub(crate) fn into_session(self) -> Option<Session> {
        self.spare
    }

    /// One future: when each of `targets` starts, as far as it does by `until`. Returns the work.
    pub(crate) fn run_future(
        &mut self,
        fates: &mut DrawnFates<'_>,
        draws: Draws,
        arrivals: Option<FutureArrivals<'_>>,
        targets: &[JobId],
        until: Time,
        starts: &mut [Option<i64>],
    ) -> Result<u64, FutureError> {
        let Some(mut session) = self.spare.take() else { return Ok(0) };
        session.load(&self.origin.state)?;
        let losses = self.origin.losses;
        let now = fates.world.now;
        let turns = if losses.is_empty() { Vec::new() } else { known_turns(losses, now) };
        let extra = Cell::new(None);
        let open = targets.len() + usize::from(arrivals.as_ref().is_some_and(FutureArrivals::has_extra));
        let mut watch = TargetObserver { targets, extra: &extra, now, starts, open, work: 0 };
        watch.starts.fill(None);
        let fates = RefCell::new(fates);
        let next_id = session.next_id();
        let source = ExternalEvents {
            fates: &fates,
            draws,
            arrivals,
            turns: &turns,
            turn: 0,
            job: None,
            taken: 0,
            next_id,
            extra: &extra,
            gates: self.origin.gates.clone(),
        };
        let world: &PresentJobs = fates.borrow().world;
        let run = |id: JobId, _: drystone_core::policy::View<'_>| {
            world.find_job(id).map_or(Span::ZERO, |at| Span(fates.borrow_mut().present_run(at, draws)))
        };
        let (session, outcome) = if losses.is_empty() && self.origin.gates.is_none() {
            simulate_until(Simulation::from_session(session, Plain(source), run), &mut watch, until)
        } else {
            simulate_until(Simulation::from_session(session, source, run), &mut watch, until)
        };
        self.spare = Some(session);
        outcome?;
        Ok(watch.work)
    }
}

/// Futures that tell what a future takes.
const PILOT: u32 = 4;

/// A question whose futures are those of the policy itself.
pub(crate) struct GeneralQuestion<'a, 'd> {
    pub(crate) origin: &'a Origin<'a>,
    pub(crate) world: &'a PresentJobs,
    pub(crate) runs: &'a Runs,
    pub(crate) settings: &'a ForecasterSettings,
    pub(crate) draws: Draws,
    /// Ascending.
    pub(crate) targets: &'a [JobId],
    pub(crate) until: Time,
    /// Starts of each future.
    pub(crate) of_each: usize,
    pub(crate) wanted: &'a Wanted<'a>,
    pub(crate) fresh: &'a (dyn Fn() -> Scheduler + Send + Sync),
    /// Arrivals of a future.
    pub(crate) ahead: &'a (dyn Fn(Draws) -> Option<FutureArrivals<'d>> + Sync),
}

/// Starts in some futures, and the work that these took.
pub(crate) type SimulatedFutures = (Vec<Vec<Option<i64>>>, u64);

/// Room that futures use again: a session, and tables of run times.
type FutureRoom = (Option<Session>, Tables);

impl GeneralQuestion<'_, '_> {
    /// The starts in each future, with the work of all. The first few tell how many the budget
    /// allows.
    pub(crate) fn answer_question(&self, threads: u32, room: &mut FutureRoom) -> Result<SimulatedFutures, FutureError> {
        let (samples, (budget, fewest)) = (self.wanted.samples, self.wanted.budget);
        let pilot = if budget == u64::MAX { samples } else { samples.min(PILOT) };
        let (mut rows, mut work) = self.run_futures(0..pilot, threads, room)?;
        if pilot < samples && rows.len() == pilot as usize {
            let mean_work = (work / u64::from(pilot)).max(1);
            let most = u32::try_from(budget / mean_work).unwrap_or(u32::MAX).clamp(fewest.max(pilot), samples);
            let (more_rows, more) = self.run_futures(pilot..most, threads, room)?;
            rows.extend(more_rows);
            work += more;
        }
        Ok((rows, work))
    }

    /// These futures, each by one of so many threads.
    fn run_futures(
        &self,
        samples: Range<u32>,
        threads: u32,
        room: &mut FutureRoom,
    ) -> Result<SimulatedFutures, FutureError> {
        let threads = threads.clamp(1, samples.len().max(1) as u32);
        if threads == 1 {
            return self.run_part(samples, 1, room);
        }
        std::thread::scope(|scope| {
            let parts = (1..threads).map(|first| samples.start + first..samples.end);
            let own = |part: Range<u32>| move || self.run_part(part, threads, &mut FutureRoom::default());
            let helpers: Vec<_> = parts.map(|part| scope.spawn(own(part))).collect();
            let (own, mut work) = self.run_part(samples.clone(), threads, room)?;
            let mut parts = vec![own.into_iter()];
            for helper in helpers {
                let futures = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let (rows, more) = futures?;
                work += more;
                parts.push(rows.into_iter());
            }
            let all_rows = (0..samples.len()).filter_map(|at| parts[at % threads as usize].next());
            Ok((all_rows.collect(), work))
        })
    }

    /// Every so many-th of these futures.
    fn run_part(&self, samples: Range<u32>, step: u32, room: &mut FutureRoom) -> Result<SimulatedFutures, FutureError> {
        let mut copies = SessionCopies::from_origin(self.origin, self.fresh, room.0.take());
        let mut fates = DrawnFates::new(self.world, (self.runs, &mut room.1), self.settings, self.wanted.assume);
        let (mut rows, mut work) = (Vec::with_capacity(samples.len() / step as usize + 1), 0);
        let mut starts = vec![None; self.of_each];
        for sample in samples.step_by(step as usize) {
            let draws = self.draws.for_sample(sample);
            let ahead = (self.ahead)(draws);
            work += copies.run_future(&mut fates, draws, ahead, self.targets, self.until, &mut starts)?;
            rows.push(starts.clone());
            (self.wanted.progress)();
            if (self.wanted.stop)() {
                break;
            }
        }
        room.0 = copies.into_session();
        Ok((rows, work))
    }
}

/// Simulates until all targets have started, or the horizon is reached.
fn simulate_until<S: EventSource>(
    mut simulation: Simulation<S>,
    watch: &mut TargetObserver<'_>,
    until: Time,
) -> (Session, Result<(), SimulationError>) {
    let mut simulation_error = None;
    while watch.open > 0 && simulation.current_time() <= until {
        watch.work += ForecasterSettings::work_of_step(simulation.session().waiting_count());
        match simulation.step(watch) {
            Ok(true) => {}
            Ok(false) => break,
            // Jobs that never start have no start in this future: that is an answer.
            Err(
                SimulationError::Starved { .. }
                | SimulationError::TooFew { .. }
                | SimulationError::TooLittlePower { .. },
            ) => break,
            Err(error) => {
                simulation_error = Some(error);
                break;
            }
        }
    }
    for start in watch.starts.iter_mut() {
        *start = start.filter(|&start| start <= (until - watch.now).0);
    }
    (simulation.into_session(), simulation_error.map_or(Ok(()), Err))
}

struct TargetObserver<'a> {
    /// Ascending.
    targets: &'a [JobId],
    /// The job that comes for sure, once it is here: behind the targets.
    extra: &'a Cell<Option<JobId>>,
    now: Time,
    starts: &'a mut [Option<i64>],
    open: usize,
    work: u64,
}

impl Observer for TargetObserver<'_> {
    const ENDS: bool = false;
    const NOTES: bool = false;

    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        let extra = (self.extra.get() == Some(id)).then_some(self.targets.len());
        if let Some(place) = self.targets.binary_search(&id).ok().or(extra)
            && self.starts[place].is_none()
        {
            self.starts[place] = Some((now - self.now).0);
            self.open -= 1;
        }
    }
}

/// Known processors from some instant on.
#[derive(Clone, Debug)]
struct KnownTurn {
    at: Time,
    losses: Vec<CapacityLoss>,
    strokes: Vec<Stroke>,
}

/// Announced windows begin, and processors come back when they are expected; what is overdue does
/// not come back.
fn known_turns(losses: &[CapacityLoss], now: Time) -> Vec<KnownTurn> {
    let mut times: Vec<(Time, bool)> = Vec::new();
    for loss in losses {
        if loss.from > now {
            times.push((loss.from, true));
        }
        if loss.until > now && loss.until < Time::MAX {
            times.push((loss.until, false));
        }
    }
    times.sort_unstable();
    times.dedup();
    let turn = |&(at, begins): &(Time, bool)| {
        let over = |loss: &CapacityLoss| loss.until > now && loss.until <= at;
        let remaining_losses = losses.iter().filter(|loss| !over(loss)).cloned().collect();
        let begun_losses = losses.iter().filter(|loss| begins && loss.from == at && !over(loss));
        let stroke = |loss: &CapacityLoss| Stroke {
            on: loss.on.clone(),
            hit: OutageHit::Drain,
            foreseen: true,
            for_good: loss.until == Time::MAX,
        };
        KnownTurn { at, losses: remaining_losses, strokes: begun_losses.map(stroke).collect() }
    };
    times.iter().map(turn).collect()
}

/// External events of a future: arrivals, and processors that go and come back.
struct ExternalEvents<'a, 'f, 'd> {
    fates: &'a RefCell<&'a mut DrawnFates<'f>>,
    draws: Draws,
    arrivals: Option<FutureArrivals<'d>>,
    turns: &'a [KnownTurn],
    turn: usize,
    job: Option<(Job, Truth)>,
    taken: u64,
    /// The session's number of the next job.
    next_id: JobId,
    extra: &'a Cell<Option<JobId>>,
    gates: Option<GateKeeper<'a>>,
}

impl ExternalEvents<'_, '_, '_> {
    fn next_arrival(&self) -> Option<Time> {
        self.arrivals.as_ref().and_then(FutureArrivals::peek_next).map(|next| next.0)
    }

    fn next_turn(&self) -> Option<Time> {
        self.turns.get(self.turn).map(|turn| turn.at)
    }

    fn next_gate(&self) -> Option<Time> {
        self.gates.as_ref().and_then(GateKeeper::next_time)
    }
}

impl EventSource for ExternalEvents<'_, '_, '_> {
    const NEWS: bool = true;

    fn peek_time(&self) -> Option<Time> {
        [self.next_turn(), self.next_gate(), self.next_arrival()].into_iter().flatten().min()
    }

    fn next(&mut self) -> Option<Incoming<'_>> {
        self.taken += 1;
        let next = self.peek_time()?;
        if let Some(turn) = self.turns.get(self.turn).filter(|turn| turn.at == next) {
            self.turn += 1;
            return Some(Incoming::Capacity(OutageTurn {
                losses: &turn.losses,
                strokes: &turn.strokes,
                foreseen: true,
            }));
        }
        if let Some(gates) = self.gates.as_mut().filter(|gates| gates.next_time() == Some(next)) {
            return Some(gates.next());
        }
        let arrivals = self.arrivals.as_mut()?;
        let (time, past) = arrivals.peek_next()?;
        if arrivals.is_extra_next() {
            self.extra.set(Some(self.next_id));
        }
        let id = self.next_id;
        self.next_id.0 += 1;
        let run = self.fates.borrow_mut().returning_run(past, self.draws).max(0);
        let truth = Truth { run: Span(run), number: self.taken as i64, status: LogStatus::Unknown };
        let mut job = past.job.clone();
        job.submit = time;
        arrivals.advance();
        let competes = self.gates.as_mut().is_none_or(|gates| gates.note_arrival(id, &job));
        let (job, truth) = self.job.insert((job, truth));
        Some(if competes { Incoming::Submit(job, truth) } else { Incoming::SubmitHeld(job, truth) })
    }

    fn position(&self) -> u64 {
        self.taken
    }

    fn seek(&mut self, _: u64) {}

    fn note_departure(&mut self, now: Time, id: JobId) -> bool {
        self.gates.as_mut().is_some_and(|gates| gates.note_departure(id, now))
    }

    fn comes_first(&self) -> bool {
        self.turns.get(self.turn).is_some_and(|turn| turn.strokes.is_empty())
    }
}

/// External events where no processors go or come: then policies need not hear of news.
struct Plain<'a, 'f, 'd>(ExternalEvents<'a, 'f, 'd>);

impl EventSource for Plain<'_, '_, '_> {
    fn peek_time(&self) -> Option<Time> {
        self.0.peek_time()
    }

    fn next(&mut self) -> Option<Incoming<'_>> {
        self.0.next()
    }

    fn position(&self) -> u64 {
        self.0.position()
    }

    fn seek(&mut self, _: u64) {}
}
