//! Sizes of jobs on the simulated machine: true run times at each size, and jobs that ask.

use super::{MachineState, Simulation, SimulationError};
use crate::engine::observer::Observer;
use crate::engine::session::{Session, SizeChange};
use crate::engine::source::EventSource;
use crate::model::{Job, JobId, PaceNumber, Procs, ShapeTruth, Span, Time, WorkloadShapes, multiply_span};
use crate::policy::Phase;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Knowledge of sizes that only the machine has.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct ShapeMachine {
    #[serde(skip)]
    truths: Arc<Vec<ShapeTruth>>,
    /// Seconds that were left of a job before the changes of the last instant that changed it.
    before: BTreeMap<JobId, (Time, Span)>,
    /// Jobs that will ask: the number of their asks so far, and the time of the next.
    asks: BTreeMap<JobId, (usize, Time)>,
    /// Jobs that are killed at a limit that stays where it is: the limit, and the seconds at the
    /// present size that are left then.
    limits: BTreeMap<JobId, (Time, Span)>,
}

impl ShapeMachine {
    pub(super) fn new(shapes: &WorkloadShapes) -> ShapeMachine {
        ShapeMachine { truths: shapes.truths.clone(), ..ShapeMachine::default() }
    }

    /// Takes from another what is no part of a saved state.
    pub(super) fn adopt_tables(&mut self, source: &ShapeMachine) {
        self.truths = source.truths.clone();
    }

    /// Returns the true run time of a job at a size and a pace; `None` of one without a shape.
    /// Where a limit ends the job, it is that of all its work.
    fn run_at(&self, session: &Session, id: JobId, (size, pace): (Procs, PaceNumber)) -> Option<Span> {
        let shapes = session.view().shapes()?;
        let (truth, shape) = (self.truths.get(shapes.shape_index(id)?)?, shapes.job_shape(id)?);
        let run = match self.limits.contains_key(&id) {
            true => truth.whole_run_at(size),
            false => truth.run_at(size, shape),
        };
        Some(shape.numbered_pace(pace).run_time(run))
    }

    /// Seconds of a job that its limit leaves undone.
    fn undone_span(&self, id: JobId) -> Span {
        self.limits.get(&id).map_or(Span::ZERO, |limit| limit.1)
    }

    fn next_ask(&self) -> Time {
        self.asks.values().map(|(_, at)| *at).fold(Time::MAX, Time::min)
    }
}

fn shape_of(session: &Session, id: JobId) -> (Procs, PaceNumber) {
    (session.view().job_size(id), session.view().job_pace(id))
}

impl MachineState {
    /// A job starts: its run time is that of its size.
    #[cold]
    pub(super) fn begin_sized(&mut self, session: &mut Session, id: JobId) {
        let Some(shapes) = &mut self.shapes else { return };
        let size = session.view().job_size(id);
        if let Some(run) = shapes.run_at(session, id, shape_of(session, id)) {
            self.truth[id].run = run;
        }
        let limit = session.view().shapes().and_then(|world| world.kill_time(id, session.job_entry(id)));
        if let (Some(limit), Some(index)) = (limit, session.view().shapes().and_then(|world| world.shape_index(id))) {
            let pace = session.view().job_shape(id).map(|shape| shape.numbered_pace(session.view().job_pace(id)));
            let whole = shapes.truths.get(index).map_or(Span::ZERO, |truth| truth.whole_run_at(size));
            let whole = pace.map_or(whole, |pace| pace.run_time(whole));
            shapes.limits.insert(id, (limit, whole - self.truth[id].run));
        }
        self.plan_ask(session, id, 0, Span::ZERO);
    }

    /// A job is here at the first instant. One that runs then has the run time of its size and,
    /// from its start on, its limit. Of the requests that it has made by now only the last stands.
    #[cold]
    pub(super) fn adopt_sized(&mut self, session: &mut Session, id: JobId) {
        match session.job_entry(id).phase {
            Phase::Running => {
                self.begin_sized(session, id);
                let is_over = |number| self.ask_time(session, id, number, Span::ZERO).is_some_and(|at| at <= self.now);
                let past = (1..).take_while(|&number| is_over(number)).count();
                self.plan_ask(session, id, past, Span::ZERO);
                // It may grow at once.
                session.want_pass();
            }
            Phase::Suspended => {
                let shape = shape_of(session, id);
                let run = self.shapes.as_ref().and_then(|shapes| shapes.run_at(session, id, shape));
                self.truth[id].run = run.unwrap_or(self.truth[id].run);
            }
            _ => {}
        }
    }

    /// Puts off the requests of a suspended job until it resumes.
    #[cold]
    pub(super) fn pause_sized(&mut self, session: &mut Session, id: JobId) {
        let Some(shapes) = &mut self.shapes else { return };
        if let Some(ask) = shapes.asks.get_mut(&id) {
            ask.1 = Time::MAX;
            session.set_asks_at(shapes.next_ask());
        }
    }

    /// Moves the limit and the requests of a suspended job that resumes with the size that it had.
    #[cold]
    pub(super) fn resume_sized(&mut self, session: &mut Session, id: JobId) {
        let Some(shapes) = &mut self.shapes else { return };
        let later = session.view().shapes().and_then(|world| world.kill_time(id, session.job_entry(id)));
        if let (Some(limit), Some(later)) = (shapes.limits.get_mut(&id), later) {
            limit.0 = later;
        }
        let number = shapes.asks.get(&id).map(|ask| ask.0);
        if let Some(number) = number {
            let stall = session.stall_of(id);
            self.plan_ask(session, id, number, stall);
        }
    }

    #[cold]
    pub(super) fn end_sized(&mut self, session: &mut Session, id: JobId) {
        let Some(shapes) = &mut self.shapes else { return };
        shapes.before.remove(&id);
        shapes.limits.remove(&id);
        if shapes.asks.remove(&id).is_some() {
            session.set_asks_at(shapes.next_ask());
        }
    }

    /// Returns the time at which a job makes this one of its requests; `None` without such a
    /// request. `stall` is the time without progress that was left when its present size began.
    fn ask_time(&self, session: &Session, id: JobId, number: usize, stall: Span) -> Option<Time> {
        let shapes = self.shapes.as_ref()?;
        let index = session.view().shapes()?.shape_index(id)?;
        let (share, _) = shapes.truths.get(index)?.asks.get(number).copied()?;
        let (entry, due) = (session.job_entry(id), self.due_time(id));
        let run = shapes.run_at(session, id, shape_of(session, id)).unwrap_or(due);
        let time_left = due - entry.ran - stall + shapes.undone_span(id);
        Some(entry.segment + stall + (share.share_of(run) - (run - time_left)).max(Span::ZERO))
    }

    /// Finds out when a job makes this one of its requests.
    fn plan_ask(&mut self, session: &mut Session, id: JobId, number: usize, stall: Span) {
        // Of a job that is here at the first instant it may be over.
        let at = self.ask_time(session, id, number, stall).map(|at| at.max(self.now));
        let Some(shapes) = &mut self.shapes else { return };
        let had = shapes.asks.contains_key(&id);
        match at {
            Some(at) => _ = shapes.asks.insert(id, (number, at)),
            None => _ = shapes.asks.remove(&id),
        }
        if had || at.is_some() {
            session.set_asks_at(shapes.next_ask());
        }
    }

    /// A running job has another size or pace: its end is another one.
    fn note_resize(&mut self, session: &mut Session, now: Time, change: &SizeChange) {
        let SizeChange { job, to, base, stalls, lost, .. } = *change;
        let ran = session.job_entry(job).ran;
        let time_left = (self.due_time(job) - ran) - stalls.0 + lost;
        let Some(shapes) = &mut self.shapes else { return };
        let full_time_left = time_left + shapes.undone_span(job);
        let base_time_left = match shapes.before.get(&job) {
            Some((at, span)) if *at == now => *span,
            _ => {
                shapes.before.insert(job, (now, full_time_left));
                full_time_left
            }
        };
        let (at, run_after) = (shapes.run_at(session, job, base), shapes.run_at(session, job, to));
        let new_time_left = match (at, run_after) {
            (Some(at), Some(then)) if at > Span::ZERO && base != to => {
                multiply_span(base_time_left, (then.0.max(0) as u128, at.0 as u128))
            }
            _ => base_time_left,
        };
        let mut rest = stalls.1 + new_time_left;
        if let Some((limit, undone)) = shapes.limits.get_mut(&job) {
            rest = rest.min(*limit - now);
            *undone = stalls.1 + new_time_left - rest;
        }
        let overhead = self.overhead.get(&job).copied().unwrap_or(Span::ZERO);
        self.truth[job].run = ran + rest - overhead;
        self.stale = true;
        if let Some(end) = self.end_of(session, job) {
            self.push_end(end, job);
        }
        let number = self.shapes.as_ref().and_then(|shapes| shapes.asks.get(&job)).map(|ask| ask.0);
        if let Some(number) = number {
            self.plan_ask(session, job, number, stalls.1);
        }
    }

    /// Sizes have changed in the session's table: so do the ends of their jobs.
    #[cold]
    pub(super) fn follow_sizes<S: EventSource>(
        &mut self,
        session: &mut Session,
        source: &S,
        observer: &mut impl Observer,
    ) {
        let now = self.now;
        for change in session.take_size_changes() {
            self.note_resize(session, now, &change);
            let (from, to) = (change.from, change.to);
            if from == to {
                // The change has only begun, or was withdrawn.
                continue;
            }
            let stalls = change.stalls.1 - change.stalls.0;
            let place = source.observed_id(change.job);
            if from.0 != to.0 {
                observer.note_resize(now, place, (from.0, to.0), (stalls, change.lost));
            }
            if from.1 != to.1
                && let Some(shape) = session.view().job_shape(change.job)
            {
                observer.note_pace(now, place, (shape.numbered_pace(from.1), shape.numbered_pace(to.1)));
            }
        }
    }
}

impl<S: EventSource> Simulation<S> {
    /// The shapes of a source's jobs are known from now on.
    pub(super) fn take_shapes(&mut self) {
        let Some(shapes) = self.source.shapes() else { return };
        self.session.set_shapes(&shapes);
        self.s.shapes = Some(Box::new(ShapeMachine::new(&shapes)));
    }

    /// Returns the error if a job that waits to start or resume draws more than the last cap
    /// leaves.
    #[cold]
    pub(super) fn too_little_power(&self) -> Option<SimulationError> {
        let view = self.session.view();
        let power = view.shapes()?.power()?;
        let watts = power.for_jobs(view.current_time(), view.current_time(), view.up_processors());
        let needs = |id: JobId| view.job_watts(id) * i64::from(view.job_size(id));
        let least = |id: JobId| {
            let pace = view.job_shape(id).and_then(|shape| shape.slower_paces().next_back()).unwrap_or(0);
            view.watts_at(id, pace) * i64::from(view.job_size(id))
        };
        let jobs = || view.waiting_jobs().chain(view.suspended_jobs());
        let first = jobs().find(|&id| least(id) > watts).or_else(|| jobs().find(|&id| needs(id) > watts))?;
        let (submit, number) = (view.job(first).submit, self.s.truth[first].number);
        let waiting_count = self.session.waiting_count() + self.session.suspended_count();
        let (first, needs) = (self.source.observed_id(first), needs(first));
        Some(SimulationError::TooLittlePower {
            waiting: waiting_count,
            left: watts.max(0),
            first,
            number,
            submit,
            needs,
        })
    }

    /// A running job loses this many processors to an outage. Returns whether it goes on with
    /// fewer.
    #[cold]
    pub(super) fn shrink_to_survive(
        &mut self,
        now: Time,
        id: JobId,
        procs: Procs,
        observer: &mut impl Observer,
    ) -> bool {
        let survives = self.session.shrink_to_survive(now, id, procs);
        if survives {
            self.s.follow_sizes(&mut self.session, &self.source, observer);
        }
        survives
    }

    /// The next job arrives: its shape is known from now on.
    #[cold]
    pub(super) fn meet_next_shape(&mut self) {
        let id = self.session.next_id();
        if let Some(shape) = self.source.shape_of(id) {
            self.session.assign_shape(id, shape);
        }
    }

    /// A job arrives that may have several sizes. The policy sees them from the first event on.
    #[cold]
    pub(super) fn admit_sized(&mut self, now: Time, job: &Job, oracle: Option<Span>) -> JobId {
        self.meet_next_shape();
        self.session.admit_job(now, &self.s.known_job(job), oracle)
    }

    /// Sizes whose point has come have changed, and jobs ask.
    #[cold]
    pub(super) fn pass_points(&mut self, now: Time, observer: &mut impl Observer) {
        self.s.follow_sizes(&mut self.session, &self.source, observer);
        let Some(shapes) = &self.s.shapes else { return };
        let asking: Vec<(JobId, usize)> =
            shapes.asks.iter().filter(|(_, (_, at))| *at <= now).map(|(&id, &(number, _))| (id, number)).collect();
        for (id, number) in asking {
            let index = self.session.view().shapes().and_then(|world| world.shape_index(id));
            let ask = self.s.shapes.as_ref().and_then(|shapes| shapes.truths.get(index?)?.asks.get(number)).copied();
            let stall = self.session.stall_of(id);
            if let Some((_, procs)) = ask {
                self.session.note_size_request(now, id, procs);
                observer.note_size_request(now, self.source.observed_id(id), procs);
            }
            self.s.plan_ask(&mut self.session, id, number + 1, stall);
        }
    }
}
