//! Observers of a simulation: metrics, recorders, tests.

use crate::model::{Adopted, EndedJob, JobId, JobLimit, JobPace, ProcSet, Procs, Span, Time};
use crate::policy::{Gauge, Moved, StartReason};

/// The state of the machine between two instants.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Levels {
    /// Free processors.
    pub free: Procs,
    /// Waiting jobs, with those that are held back for lack of a further resource.
    pub waiting: u32,
    /// Processors that those of them need that are not held back.
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
    pub fn queued_jobs(&self) -> u64 {
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
///
/// ```
/// use drystone_core::engine::{Observer, Simulation, WorkloadReplay};
/// use drystone_core::model::{EndedJob, Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
/// use drystone_core::policy::PolicySpec;
///
/// /// The longest wait of all jobs.
/// #[derive(Default)]
/// struct LongestWait(Span);
///
/// impl Observer for LongestWait {
///     fn note_end(&mut self, ended: &EndedJob<'_>) {
///         self.0 = self.0.max(ended.wait_time());
///     }
/// }
///
/// // Both jobs need the whole machine, and each runs for ten seconds.
/// let jobs = [0, 4].map(|submit| Job::new(Time(submit), 2, Span(10))).to_vec();
/// let truth = [1, 2].map(|number| Truth { run: Span(10), number, status: LogStatus::Completed }).to_vec();
/// let workload = Workload::new(Machine::new(2), jobs, truth, Provenance::default())?;
/// let policy: PolicySpec = "fcfs".parse()?;
/// let mut longest = LongestWait::default();
/// Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload)).run(&mut longest)?;
/// assert_eq!(longest.0, Span(6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer {
    /// True if [`Observer::note_end`] does anything: the outcome of a job is put together only for
    /// observers that use it.
    const ENDS: bool = true;

    /// True if [`Observer::note_gauge`] does anything: a policy may skip its notes where nothing
    /// listens.
    const NOTES: bool = true;

    /// True if any method does anything.
    const WATCHES: bool = true;

    /// A job arrived.
    #[inline]
    fn note_arrival(&mut self, _now: Time, _id: JobId) {}

    /// A job started.
    #[inline]
    fn note_start(&mut self, _now: Time, _id: JobId, _why: StartReason) {}

    /// A job that has just started or gone on was put on these processors; told by policies that
    /// name them.
    #[inline]
    fn note_placement(&mut self, _now: Time, _id: JobId, _on: &ProcSet) {}

    /// A job that has just started, or is here at the first instant, has this size, one of several.
    #[inline]
    fn note_size(&mut self, _now: Time, _id: JobId, _procs: Procs) {}

    /// A running job has another size, the second instead of the first: time without progress that
    /// it costs (less than before, where another change of the same instant is taken back), and
    /// time whose progress is lost.
    #[inline]
    fn note_resize(&mut self, _now: Time, _id: JobId, _sizes: (Procs, Procs), _times: (Span, Span)) {}

    /// A job that has just started, or runs, has another pace, the second instead of the first.
    #[inline]
    fn note_pace(&mut self, _now: Time, _id: JobId, _paces: (JobPace, JobPace)) {}

    /// A running job asks for another size.
    #[inline]
    fn note_size_request(&mut self, _now: Time, _id: JobId, _procs: Procs) {}

    /// A job was suspended.
    #[inline]
    fn note_suspension(&mut self, _now: Time, _id: JobId) {}

    /// A suspended job resumed.
    #[inline]
    fn note_resumption(&mut self, _now: Time, _id: JobId) {}

    /// A reservation was announced: planned start and latest start.
    #[inline]
    fn note_reservation(&mut self, _now: Time, _id: JobId, _start: Time, _latest: Time) {}

    /// A policy explained a change of its plan.
    #[inline]
    fn note_move(&mut self, _now: Time, _moved: &Moved) {}

    /// A policy gave a job another prediction
    /// ([`Action::Repredict`](crate::policy::Action::Repredict)). Corrections of predictions that
    /// expire, and predictions renewed from a user's history, are not reported one by one:
    /// [`JobOutcome::corrections`](crate::model::JobOutcome::corrections) counts them,
    /// [`JobOutcome::accuracy`](crate::model::JobOutcome::accuracy) weighs them.
    #[inline]
    fn note_prediction(&mut self, _now: Time, _id: JobId, _prediction: Span) {}

    /// A job was withdrawn before it started. One that has started ends when it is withdrawn, also
    /// while it is suspended.
    #[inline]
    fn note_withdrawal(&mut self, _now: Time, _id: JobId) {}

    /// A job ended. Called in the order in which ends are handled: by time, then by id.
    #[inline]
    fn note_end(&mut self, _ended: &EndedJob<'_>) {}

    /// A quantity inside the policy has a new value.
    #[inline]
    fn note_gauge(&mut self, _now: Time, _gauge: Gauge, _value: i64) {}

    /// A job is here already at the first instant, which begins with jobs that run and wait: told
    /// after [`Observer::note_arrival`].
    #[inline]
    fn note_adoption(&mut self, _now: Time, _id: JobId, _adopted: &Adopted) {}

    /// A waiting job is held back: it may not start until it is released.
    #[inline]
    fn note_hold(&mut self, _now: Time, _id: JobId) {}

    /// A job that is held back waits for a limit that it shares with others, and for nothing else
    /// any more.
    #[inline]
    fn note_limit(&mut self, _now: Time, _id: JobId, _limit: &JobLimit) {}

    /// A job is held back because it asks for more of a resource than there is and than is
    /// announced to come. `_amounts` has the amount asked for and the amount that there is, as
    /// texts.
    #[inline]
    fn note_shortage(&mut self, _now: Time, _id: JobId, _resource: &str, _amounts: (&str, &str)) {}

    /// A job that was held back waits again.
    #[inline]
    fn note_release(&mut self, _now: Time, _id: JobId) {}

    /// A running or suspended job has lost its processors, so many, to an outage or because the
    /// policy sent it back, and waits again; so much of what it ran is lost: all of it, or what was
    /// in no checkpoint.
    #[inline]
    fn note_requeue(&mut self, _now: Time, _id: JobId, _procs: Procs, _ran: Span) {}

    /// An attempt of a job is over in which writes of checkpoints and the read of an earlier one
    /// took so much time on its processors, without those that were in vain.
    #[inline]
    fn note_checkpoint(&mut self, _now: Time, _id: JobId, _procs: Procs, _spent: Span) {}

    /// A job has ended for good because the machine failed under it: it got less than its due.
    #[inline]
    fn note_loss(&mut self, _ended: &EndedJob<'_>) {}

    /// Processors have gone, have come back, or were announced to go, or the amount of a further
    /// resource has changed or was announced to change. `foreseen` says whether all
    /// of it was known before: then no plan has to change.
    #[inline]
    fn note_capacity(&mut self, _now: Time, _foreseen: bool) {}

    /// All events of an instant were handled and all actions carried out; these levels hold until
    /// the next instant.
    #[inline]
    fn note_settlement(&mut self, _now: Time, _levels: Levels) {}
}

/// Ignores every event.
impl Observer for () {
    const ENDS: bool = false;
    const NOTES: bool = false;
    const WATCHES: bool = false;
}

/// Every event, each made into a method by a macro.
macro_rules! events {
    ($method:ident) => {
        $method!(note_arrival(now: Time, id: JobId));
        $method!(note_start(now: Time, id: JobId, why: StartReason));
        $method!(note_placement(now: Time, id: JobId, on: &ProcSet));
        $method!(note_size(now: Time, id: JobId, procs: Procs));
        $method!(note_resize(now: Time, id: JobId, sizes: (Procs, Procs), times: (Span, Span)));
        $method!(note_pace(now: Time, id: JobId, paces: (JobPace, JobPace)));
        $method!(note_size_request(now: Time, id: JobId, procs: Procs));
        $method!(note_suspension(now: Time, id: JobId));
        $method!(note_resumption(now: Time, id: JobId));
        $method!(note_reservation(now: Time, id: JobId, start: Time, latest: Time));
        $method!(note_move(now: Time, moved: &Moved));
        $method!(note_prediction(now: Time, id: JobId, prediction: Span));
        $method!(note_withdrawal(now: Time, id: JobId));
        $method!(note_end(ended: &EndedJob<'_>));
        $method!(note_gauge(now: Time, gauge: Gauge, value: i64));
        $method!(note_adoption(now: Time, id: JobId, adopted: &Adopted));
        $method!(note_hold(now: Time, id: JobId));
        $method!(note_limit(now: Time, id: JobId, limit: &JobLimit));
        $method!(note_shortage(now: Time, id: JobId, resource: &str, amounts: (&str, &str)));
        $method!(note_release(now: Time, id: JobId));
        $method!(note_requeue(now: Time, id: JobId, procs: Procs, ran: Span));
        $method!(note_checkpoint(now: Time, id: JobId, procs: Procs, spent: Span));
        $method!(note_loss(ended: &EndedJob<'_>));
        $method!(note_capacity(now: Time, foreseen: bool));
        $method!(note_settlement(now: Time, levels: Levels));
    };
}

macro_rules! to_both {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        fn $event(&mut self, $($fact: $type),*) {
            self.0.$event($($fact),*);
            self.1.$event($($fact),*);
        }
    };
}

macro_rules! to_referenced {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        fn $event(&mut self, $($fact: $type),*) {
            (**self).$event($($fact),*);
        }
    };
}

macro_rules! to_any {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        fn $event(&mut self, $($fact: $type),*) {
            if let Some(observer) = self {
                observer.$event($($fact),*);
            }
        }
    };
}

macro_rules! to_pointed {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        #[inline]
        fn $event(&mut self, $($fact: $type),*) {
            if let Some(observer) = &mut self.0 {
                observer.$event($($fact),*);
            }
        }
    };
}

macro_rules! of_any_type {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        fn $event(&mut self, $($fact: $type),*);
    };
}

macro_rules! by_its_type {
    ($event:ident($($fact:ident: $type:ty),*)) => {
        fn $event(&mut self, $($fact: $type),*) {
            Observer::$event(self, $($fact),*);
        }
    };
}

/// The methods of an observer behind a pointer.
trait DynObserver {
    events!(of_any_type);
}

impl<O: Observer> DynObserver for O {
    events!(by_its_type);
}

/// Any observer. A simulation that is watched through it is compiled once, in the crate that
/// optimises it, and not again for each type of observer. `NOTES` is that of the observer.
pub struct AnyObserver<'a, const NOTES: bool>(Option<&'a mut dyn DynObserver>);

impl<'a, const NOTES: bool> AnyObserver<'a, NOTES> {
    /// An observer whose type is forgotten.
    pub fn new<O: Observer>(observer: &'a mut O) -> Self {
        AnyObserver(if O::WATCHES { Some(observer) } else { None })
    }
}

impl<const NOTES: bool> Observer for AnyObserver<'_, NOTES> {
    const NOTES: bool = NOTES;

    events!(to_pointed);
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    const ENDS: bool = A::ENDS || B::ENDS;
    const NOTES: bool = A::NOTES || B::NOTES;
    const WATCHES: bool = A::WATCHES || B::WATCHES;

    events!(to_both);
}

/// Forwards to the referenced observer.
impl<O: Observer> Observer for &mut O {
    const ENDS: bool = O::ENDS;
    const NOTES: bool = O::NOTES;
    const WATCHES: bool = O::WATCHES;

    events!(to_referenced);
}

/// Forwards to the observer, if there is one.
impl<O: Observer> Observer for Option<O> {
    const ENDS: bool = O::ENDS;
    const NOTES: bool = O::NOTES;
    const WATCHES: bool = O::WATCHES;

    events!(to_any);
}

/// The schedule itself: start and end of every job, in order of arrival.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// First start and end per job; `None` for a job that never ended.
    pub spans: Vec<Option<(Time, Time)>>,
}

impl Observer for Schedule {
    const NOTES: bool = false;

    fn note_end(&mut self, job: &EndedJob<'_>) {
        let at = job.id.index();
        if self.spans.len() <= at {
            self.spans.resize(at + 1, None);
        }
        self.spans[at] = Some((job.outcome.start, job.outcome.end));
    }
}
