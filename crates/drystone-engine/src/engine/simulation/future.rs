//! A simulation that goes on from the present of a session: one possible future.

use super::{MachineState, Simulation, SupplyTimetable};
use crate::engine::ends::EndQueue;
use crate::engine::session::Session;
use crate::engine::source::EventSource;
use crate::model::{JobId, LogStatus, Span, Time, Truth};
use crate::policy::{PassRule, Phase, View};
use std::collections::{BTreeMap, BTreeSet};

impl<S: EventSource> Simulation<S> {
    /// Goes on from the present of a session, adopted or simulated: jobs that are here run as long
    /// in all as `run` says, those of the source come on top. A run time no longer than what a job
    /// has run already counts as one second more, so that nothing ends before the next second.
    ///
    /// The session must stand behind its last decision. Events that it missed, expired predictions
    /// and wake-ups, happen now, and a pass follows a second later. The cost of suspensions is not
    /// counted.
    ///
    /// ```
    /// use drystone_core::engine::{WorkloadReplay, Schedule, Session, Simulation};
    /// use drystone_core::model::{Job, Machine, Provenance, Span, Time, Workload};
    /// use drystone_core::policy::PolicySpec;
    ///
    /// let policy: PolicySpec = "easy".parse()?;
    /// let mut session = Session::new(Machine::new(4), policy.build_scheduler());
    /// for (procs, estimate) in [(3, 100), (4, 100)] {
    ///     session.note_arrival(Time(0), &Job::new(Time(0), procs, Span(estimate)), None)?;
    /// }
    /// session.decide(Time(0))?;
    /// // No job comes any more, and each runs for half of its estimate.
    /// let none = Workload::new(Machine::new(4), Vec::new(), Vec::new(), Provenance::default())?;
    /// let mut schedule = Schedule::default();
    /// let half = |id, view: drystone_core::policy::View<'_>| Span(view.job(id).estimate.0 / 2);
    /// Simulation::from_session(session, WorkloadReplay::new(&none), half).run(&mut schedule)?;
    /// assert_eq!(schedule.spans, [Some((Time(0), Time(50))), Some((Time(50), Time(100)))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_session(
        mut session: Session,
        source: S,
        mut run: impl FnMut(JobId, View<'_>) -> Span,
    ) -> Simulation<S> {
        let now = session.view().current_time();
        if session.next_deadline() < now && session.expire_predictions(now) {
            session.wake_at(now + Span(1));
        }
        let supply = SupplyTimetable::known_to(&session);
        if supply.is_some() {
            session.list_sifted();
        }
        let view = session.view();
        let truth = view.world().jobs.map(|id, record| {
            let run = match record.entry.phase {
                Phase::Done => Span::ZERO,
                Phase::Waiting | Phase::Held => run(id, view).max(Span::ZERO),
                Phase::Running | Phase::Suspended => run(id, view).max(view.run_time_so_far(id) + Span(1)),
            };
            Truth { run, number: i64::from(id.0), status: LogStatus::Unknown }
        });
        let next_arrival = source.peek_time().unwrap_or(Time::MAX);
        let starts = (session.pass_rule() == PassRule::Pyss).then_some(0);
        let mut s = MachineState {
            truth,
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
            supply_at: supply.as_ref().map_or(0, |supply| supply.begun_count(now)),
            now,
            shapes: None,
            refused: (Time::MIN, BTreeSet::new()),
            at: super::SimulationPosition::Rest,
        };
        let mut running_starts: Vec<(Time, JobId)> =
            view.running_jobs().iter().map(|job| (view.segment_start(job.id), job.id)).collect();
        running_starts.sort_unstable();
        for (_, id) in running_starts {
            if let Some(end) = s.end_of(&session, id) {
                s.push_end(end, id);
            }
        }
        let mut simulation = Simulation { source, session, transfer: None, supply, impossible: None, s };
        simulation.s.next_arrival = simulation.next_incoming();
        simulation
    }

    /// Its session, as it is now.
    #[must_use]
    pub fn into_session(self) -> Session {
        self.session
    }
}
