//! Observers of a simulation: metrics, recorders, tests.

use crate::model::{Adopted, EndedJob, JobId, ProcSet, Procs, Span, Time};
use crate::policy::{Gauge, Moved, StartReason};

/// The state of the machine between two instants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Levels {
    /// Free processors.
    pub free: Procs,
    /// Waiting jobs.
    pub waiting: u32,
    /// Processors that they need.
    pub waiting_procs: u64,
    /// Running jobs.
    pub running: u32,
    /// Suspended jobs.
    pub suspended: u32,
    /// Processors that they need.
    pub suspended_procs: u64,
    /// Processors that are out, without those of jobs that still run on them.
    pub down: Procs,
}

impl Levels {
    /// This many processors are free and this many jobs run; none waits and none is suspended.
    #[must_use]
    pub fn new(free: Procs, running: u32) -> Levels {
        Levels { free, running, ..Levels::default() }
    }

    /// Returns the levels with this many waiting jobs that need this many processors.
    #[must_use]
    pub fn with_waiting(self, jobs: u32, procs: u64) -> Levels {
        Levels { waiting: jobs, waiting_procs: procs, ..self }
    }

    /// Returns the levels with this many suspended jobs that need this many processors.
    #[must_use]
    pub fn with_suspended(self, jobs: u32, procs: u64) -> Levels {
        Levels { suspended: jobs, suspended_procs: procs, ..self }
    }

    /// Jobs that are here and do not run: those that wait to start, and those that wait to resume.
    #[inline]
    #[must_use]
    pub fn queued(&self) -> u64 {
        u64::from(self.waiting) + u64::from(self.suspended)
    }

    /// Processors that they need.
    #[inline]
    #[must_use]
    pub fn queued_procs(&self) -> u64 {
        self.waiting_procs + self.suspended_procs
    }
}

/// Watches a simulation. Every method does nothing by default; what is not overridden costs
/// nothing.
pub trait Observer {
    /// True if [`Observer::ended`] does anything: the outcome of a job is put together only for
    /// observers that use it.
    const ENDS: bool = true;

    /// True if [`Observer::noted`] does anything: a policy may skip its notes where nothing
    /// listens.
    const NOTES: bool = true;

    /// A job arrived.
    #[inline]
    fn arrived(&mut self, _now: Time, _id: JobId) {}

    /// A job started.
    #[inline]
    fn started(&mut self, _now: Time, _id: JobId, _why: StartReason) {}

    /// A job that has just started or gone on was put on these processors; told by policies that
    /// name them.
    #[inline]
    fn placed(&mut self, _now: Time, _id: JobId, _on: &ProcSet) {}

    /// A job was suspended.
    #[inline]
    fn suspended(&mut self, _now: Time, _id: JobId) {}

    /// A suspended job resumed.
    #[inline]
    fn resumed(&mut self, _now: Time, _id: JobId) {}

    /// A reservation was announced: planned start and latest start.
    #[inline]
    fn reserved(&mut self, _now: Time, _id: JobId, _start: Time, _latest: Time) {}

    /// A policy explained a change of its plan.
    #[inline]
    fn moved(&mut self, _now: Time, _moved: &Moved) {}

    /// A policy gave a job another prediction
    /// ([`Action::Repredict`](crate::policy::Action::Repredict)). Corrections of predictions that
    /// expire, and predictions renewed from a user's history, are not reported one by one:
    /// [`JobOutcome::corrections`](crate::model::JobOutcome::corrections) counts them,
    /// [`JobOutcome::accuracy`](crate::model::JobOutcome::accuracy) weighs them.
    #[inline]
    fn repredicted(&mut self, _now: Time, _id: JobId, _prediction: Span) {}

    /// A job was withdrawn before it started. One that has started ends when it is withdrawn, also
    /// while it is suspended.
    #[inline]
    fn cancelled(&mut self, _now: Time, _id: JobId) {}

    /// A job ended. Called in the order in which ends are handled: by time, then by id.
    #[inline]
    fn ended(&mut self, _ended: &EndedJob<'_>) {}

    /// A quantity inside the policy has a new value.
    #[inline]
    fn noted(&mut self, _now: Time, _gauge: Gauge, _value: i64) {}

    /// A job is here already at the first instant, which begins with jobs that run and wait: told
    /// after [`Observer::arrived`].
    #[inline]
    fn adopted(&mut self, _now: Time, _id: JobId, _adopted: &Adopted) {}

    /// A waiting job is held back: it may not start until it is released.
    #[inline]
    fn held(&mut self, _now: Time, _id: JobId) {}

    /// A job that was held back waits again.
    #[inline]
    fn released(&mut self, _now: Time, _id: JobId) {}

    /// A running or suspended job has lost its processors, so many, to an outage or because the
    /// policy sent it back, and waits again; nothing is left of what it ran.
    #[inline]
    fn requeued(&mut self, _now: Time, _id: JobId, _procs: Procs, _ran: Span) {}

    /// A job has ended for good because the machine failed under it: it got less than its due.
    #[inline]
    fn lost(&mut self, _ended: &EndedJob<'_>) {}

    /// Processors have gone, have come back, or were announced to go. `foreseen` says whether all
    /// of it was known before: then no plan has to change.
    #[inline]
    fn capacity(&mut self, _now: Time, _foreseen: bool) {}

    /// All events of an instant were handled and all actions carried out; these levels hold until
    /// the next instant.
    #[inline]
    fn settled(&mut self, _now: Time, _levels: Levels) {}
}

/// Ignores every event.
impl Observer for () {
    const ENDS: bool = false;
    const NOTES: bool = false;
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const ENDS: bool = A::ENDS || B::ENDS;
    const NOTES: bool = A::NOTES || B::NOTES;

    fn arrived(&mut self, now: Time, id: JobId) {
        self.0.arrived(now, id);
        self.1.arrived(now, id);
    }
    fn started(&mut self, now: Time, id: JobId, why: StartReason) {
        self.0.started(now, id, why);
        self.1.started(now, id, why);
    }
    fn placed(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.0.placed(now, id, on);
        self.1.placed(now, id, on);
    }
    fn suspended(&mut self, now: Time, id: JobId) {
        self.0.suspended(now, id);
        self.1.suspended(now, id);
    }
    fn resumed(&mut self, now: Time, id: JobId) {
        self.0.resumed(now, id);
        self.1.resumed(now, id);
    }
    fn reserved(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.0.reserved(now, id, start, latest);
        self.1.reserved(now, id, start, latest);
    }
    fn moved(&mut self, now: Time, moved: &Moved) {
        self.0.moved(now, moved);
        self.1.moved(now, moved);
    }
    fn repredicted(&mut self, now: Time, id: JobId, prediction: Span) {
        self.0.repredicted(now, id, prediction);
        self.1.repredicted(now, id, prediction);
    }
    fn cancelled(&mut self, now: Time, id: JobId) {
        self.0.cancelled(now, id);
        self.1.cancelled(now, id);
    }
    fn ended(&mut self, ended: &EndedJob<'_>) {
        self.0.ended(ended);
        self.1.ended(ended);
    }
    fn noted(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.0.noted(now, gauge, value);
        self.1.noted(now, gauge, value);
    }
    fn adopted(&mut self, now: Time, id: JobId, adopted: &Adopted) {
        self.0.adopted(now, id, adopted);
        self.1.adopted(now, id, adopted);
    }
    fn held(&mut self, now: Time, id: JobId) {
        self.0.held(now, id);
        self.1.held(now, id);
    }
    fn released(&mut self, now: Time, id: JobId) {
        self.0.released(now, id);
        self.1.released(now, id);
    }
    fn requeued(&mut self, now: Time, id: JobId, procs: Procs, ran: Span) {
        self.0.requeued(now, id, procs, ran);
        self.1.requeued(now, id, procs, ran);
    }
    fn lost(&mut self, ended: &EndedJob<'_>) {
        self.0.lost(ended);
        self.1.lost(ended);
    }
    fn capacity(&mut self, now: Time, foreseen: bool) {
        self.0.capacity(now, foreseen);
        self.1.capacity(now, foreseen);
    }
    fn settled(&mut self, now: Time, levels: Levels) {
        self.0.settled(now, levels);
        self.1.settled(now, levels);
    }
}

/// Forwards to the referenced observer.
impl<O: Observer> Observer for &mut O {
    const ENDS: bool = O::ENDS;
    const NOTES: bool = O::NOTES;

    fn arrived(&mut self, now: Time, id: JobId) {
        (**self).arrived(now, id);
    }
    fn started(&mut self, now: Time, id: JobId, why: StartReason) {
        (**self).started(now, id, why);
    }
    fn placed(&mut self, now: Time, id: JobId, on: &ProcSet) {
        (**self).placed(now, id, on);
    }
    fn suspended(&mut self, now: Time, id: JobId) {
        (**self).suspended(now, id);
    }
    fn resumed(&mut self, now: Time, id: JobId) {
        (**self).resumed(now, id);
    }
    fn reserved(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        (**self).reserved(now, id, start, latest);
    }
    fn moved(&mut self, now: Time, moved: &Moved) {
        (**self).moved(now, moved);
    }
    fn repredicted(&mut self, now: Time, id: JobId, prediction: Span) {
        (**self).repredicted(now, id, prediction);
    }
    fn cancelled(&mut self, now: Time, id: JobId) {
        (**self).cancelled(now, id);
    }
    fn ended(&mut self, ended: &EndedJob<'_>) {
        (**self).ended(ended);
    }
    fn noted(&mut self, now: Time, gauge: Gauge, value: i64) {
        (**self).noted(now, gauge, value);
    }
    fn adopted(&mut self, now: Time, id: JobId, adopted: &Adopted) {
        (**self).adopted(now, id, adopted);
    }
    fn held(&mut self, now: Time, id: JobId) {
        (**self).held(now, id);
    }
    fn released(&mut self, now: Time, id: JobId) {
        (**self).released(now, id);
    }
    fn requeued(&mut self, now: Time, id: JobId, procs: Procs, ran: Span) {
        (**self).requeued(now, id, procs, ran);
    }
    fn lost(&mut self, ended: &EndedJob<'_>) {
        (**self).lost(ended);
    }
    fn capacity(&mut self, now: Time, foreseen: bool) {
        (**self).capacity(now, foreseen);
    }
    fn settled(&mut self, now: Time, levels: Levels) {
        (**self).settled(now, levels);
    }
}

/// Forwards to the observer, if there is one.
impl<O: Observer> Observer for Option<O> {
    const ENDS: bool = O::ENDS;
    const NOTES: bool = O::NOTES;

    fn arrived(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.arrived(now, id));
    }
    fn started(&mut self, now: Time, id: JobId, why: StartReason) {
        self.iter_mut().for_each(|o| o.started(now, id, why));
    }
    fn placed(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.iter_mut().for_each(|o| o.placed(now, id, on));
    }
    fn suspended(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.suspended(now, id));
    }
    fn resumed(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.resumed(now, id));
    }
    fn reserved(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.iter_mut().for_each(|o| o.reserved(now, id, start, latest));
    }
    fn moved(&mut self, now: Time, moved: &Moved) {
        self.iter_mut().for_each(|o| o.moved(now, moved));
    }
    fn repredicted(&mut self, now: Time, id: JobId, prediction: Span) {
        self.iter_mut().for_each(|o| o.repredicted(now, id, prediction));
    }
    fn cancelled(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.cancelled(now, id));
    }
    fn ended(&mut self, ended: &EndedJob<'_>) {
        self.iter_mut().for_each(|o| o.ended(ended));
    }
    fn noted(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.iter_mut().for_each(|o| o.noted(now, gauge, value));
    }
    fn adopted(&mut self, now: Time, id: JobId, adopted: &Adopted) {
        self.iter_mut().for_each(|o| o.adopted(now, id, adopted));
    }
    fn held(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.held(now, id));
    }
    fn released(&mut self, now: Time, id: JobId) {
        self.iter_mut().for_each(|o| o.released(now, id));
    }
    fn requeued(&mut self, now: Time, id: JobId, procs: Procs, ran: Span) {
        self.iter_mut().for_each(|o| o.requeued(now, id, procs, ran));
    }
    fn lost(&mut self, ended: &EndedJob<'_>) {
        self.iter_mut().for_each(|o| o.lost(ended));
    }
    fn capacity(&mut self, now: Time, foreseen: bool) {
        self.iter_mut().for_each(|o| o.capacity(now, foreseen));
    }
    fn settled(&mut self, now: Time, levels: Levels) {
        self.iter_mut().for_each(|o| o.settled(now, levels));
    }
}

/// The schedule itself: start and end of every job, in order of arrival.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// First start and end per job; `None` for a job that never ended.
    pub spans: Vec<Option<(Time, Time)>>,
}

impl Observer for Schedule {
    const NOTES: bool = false;

    fn ended(&mut self, ended: &EndedJob<'_>) {
        let at = ended.id.index();
        if self.spans.len() <= at {
            self.spans.resize(at + 1, None);
        }
        self.spans[at] = Some((ended.outcome.start, ended.outcome.end));
    }
}
