//! Sources of arrivals.

use crate::model::{
    Adopted, How, Job, JobId, JobLimit, OutageHit, ProcSet, ResourceTable, Time, Truth, Workload, WorkloadShapes,
};
use crate::policy::CapacityLoss;
use crate::snapshot::SnapshotError;
use std::sync::Arc;

/// Something that comes in from outside.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Incoming<'a> {
    /// A job, and the truth about it.
    Submit(&'a Job, &'a Truth),
    /// A job is withdrawn by its user.
    Cancel(JobId),
    /// A job is withdrawn unless it has started: then it runs as long as it does.
    Withdraw(JobId),
    /// A job that was here before the first instant.
    Adopt(&'a Job, &'a Truth, &'a Adopted),
    /// A job that is held back from the beginning.
    SubmitHeld(&'a Job, &'a Truth),
    /// A waiting job is held back.
    Hold(JobId),
    /// A job that was held back waits again.
    Release(JobId),
    /// A held job waits for a limit that it shares with others, and for nothing else any more.
    Limited(JobId),
    /// Processors go, come back, or are announced to go.
    Capacity(OutageTurn<'a>),
    /// Nothing, but a pass is due.
    Look,
    /// Nothing.
    Nothing,
}

/// Known processors that are out or will be, from now on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutageTurn<'a> {
    /// All that are out or announced, as in a [`Session`](super::Session).
    pub losses: &'a [CapacityLoss],
    /// Outages that begin now.
    pub strokes: &'a [Stroke],
    /// True if all of these changes were known before to happen now.
    pub foreseen: bool,
}

/// An outage begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stroke {
    /// Its processors.
    pub on: ProcSet,
    /// Fate of the jobs on them.
    pub hit: OutageHit,
    /// True if it was announced.
    pub foreseen: bool,
    /// True if they are drained for good: a suspended job that waits for them would wait for ever.
    pub for_good: bool,
}

/// A stream of arrivals and cancellations in order of time: a log, a generator, a live cluster.
///
/// Jobs are numbered in the order in which they come. Each must be possible on the machine, as
/// those of a [`Workload`] are, and come at its submit time; the simulation refuses others
/// ([`SimulationError::Impossible`](super::SimulationError::Impossible)).
///
/// A source of more than arrivals and cancellations says so ([`EventSource::NEWS`]) and also has
/// the other methods; a policy that does not [hear](crate::policy::Policy::can_hear_news) of news
/// cannot be simulated with it.
pub trait EventSource {
    /// True if it sends more than arrivals and cancellations, or follows the fates of jobs.
    const NEWS: bool = false;

    /// Returns the time of the next event, within ±2⁴⁰ s and not before the last; `None` after the
    /// last.
    fn peek_time(&self) -> Option<Time>;

    /// Takes the next one: `Some` wherever [`EventSource::peek_time`] has said so.
    fn next(&mut self) -> Option<Incoming<'_>>;

    /// Returns the number of events taken so far, so that a source can be put back to its position.
    fn position(&self) -> u64;

    /// Goes to a position where it was before.
    fn seek(&mut self, position: u64);

    /// Returns whether all jobs are known to be possible: then they are not checked one by one.
    fn is_checked(&self) -> bool {
        false
    }

    /// Returns the machine's resources beyond processors, where its jobs ask for more. A simulation
    /// asks once, at its beginning.
    fn resources(&self) -> Option<Arc<ResourceTable>> {
        None
    }

    /// Returns the shapes of its jobs, and the power of the machine, where they are more than one
    /// size each. A simulation asks once, at its beginning.
    fn shapes(&self) -> Option<Arc<WorkloadShapes>> {
        None
    }

    /// Returns the index of the shape of a job that has arrived.
    fn shape_of(&self, id: JobId) -> Option<u32> {
        self.shapes()?.of.get(self.observed_id(id).index()).copied().flatten()
    }

    /// Returns the state beyond its position that it needs to continue.
    ///
    /// # Errors
    /// Serialisation fails.
    fn save_memory(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(Vec::new())
    }

    /// Goes on from what it kept.
    ///
    /// # Errors
    /// Bytes that are no such memory.
    fn restore_memory(&mut self, _memory: &[u8]) -> Result<(), SnapshotError> {
        Ok(())
    }

    /// Returns the first instant, as long as the initial state has not been delivered.
    fn first_instant(&self) -> Option<Time> {
        None
    }

    /// Returns whether the next event is a return of processors: where a pass follows each event,
    /// returns come before ends of the same instant, because plans count on them.
    fn comes_first(&self) -> bool {
        false
    }

    /// Delivers the initial state, one event after the other: processors that are out, jobs.
    fn next_opening(&mut self) -> Option<Incoming<'_>> {
        None
    }

    /// A job has gone: it has ended, was withdrawn or lost. Returns whether
    /// [`EventSource::peek_time`] may answer something else now.
    fn note_departure(&mut self, _now: Time, _id: JobId) -> bool {
        false
    }

    /// Returns whether it follows starts.
    fn follows_starts(&self) -> bool {
        false
    }

    /// A job has started. Asked for by sources that follow starts.
    fn note_start(&mut self, _now: Time, _id: JobId) {}

    /// Returns the way in which a job ends that runs to its end.
    fn end_kind(&self, _id: JobId) -> How {
        How::Completed
    }

    /// Returns the limit for which this job waits; `None` where it is not held back by one.
    fn limit_of(&self, _id: JobId) -> Option<JobLimit> {
        None
    }

    /// Returns whether a job may wait for a claim of another that waits itself; see
    /// [`Admission`](super::Admission), whose methods the next ones pass on.
    fn has_claims(&self) -> bool {
        false
    }

    /// Returns the jobs that claims of waiting jobs alone hold back.
    fn claimed_jobs(&self) -> Vec<JobId> {
        Vec::new()
    }

    /// Returns whether claims of waiting jobs alone hold this job back.
    fn is_claimed(&self, _id: JobId) -> bool {
        false
    }

    /// Held jobs are tried: they wait, without a claim.
    fn begin_trials(&mut self, _now: Time, _ids: &[JobId]) {}

    /// Returns whether a job is tried.
    fn has_trials(&self) -> bool {
        false
    }

    /// Ends the trials of jobs for which started ones leave no room in a limit. Returns them.
    fn expire_trials(&mut self, _now: Time) -> Vec<JobId> {
        Vec::new()
    }

    /// Ends all trials. Returns the jobs.
    fn end_trials(&mut self, _now: Time) -> Vec<JobId> {
        Vec::new()
    }

    /// Returns the jobs to hold back so that these starts keep all limits.
    fn excess_of_starts(&self, _starts: &[JobId]) -> Vec<JobId> {
        Vec::new()
    }

    /// Lets a tried or admitted job wait for its limit again. Returns whether it was either.
    fn withdraw_admission(&mut self, _now: Time, _id: JobId) -> bool {
        false
    }

    /// Lets admitted jobs wait again for which starts have left no room in a limit. Returns them.
    fn withdraw_excess(&mut self, _now: Time) -> Vec<JobId> {
        Vec::new()
    }

    /// Lets jobs start whatever limits they share: the policy keeps these itself.
    fn drop_limits(&mut self) {}

    /// Takes what other machines of the site have caused by now.
    fn catch_up(&mut self, _now: Time) {}

    /// Sends [`Incoming::Nothing`] at this time, if nothing comes before; [`Time::MAX`] for never.
    fn set_horizon(&mut self, _horizon: Time) {}

    /// Returns the number of this job for observers, where jobs arrive in another order than they
    /// are known in.
    #[inline]
    fn observed_id(&self, id: JobId) -> JobId {
        id
    }
}

/// The jobs of a workload, with cancellations if there are any.
///
/// ```
/// use drystone_core::engine::{Schedule, Simulation, WorkloadReplay};
/// use drystone_core::model::{Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
/// use drystone_core::policy::PolicySpec;
///
/// let truth = Truth { run: Span(50), number: 1, status: LogStatus::Completed };
/// let jobs = vec![Job::new(Time(0), 1, Span(60))];
/// let workload = Workload::new(Machine::new(1), jobs, vec![truth], Provenance::default())?;
/// let policy: PolicySpec = "fcfs".parse()?;
/// // Its user withdraws the job after 20 s.
/// let replay = WorkloadReplay::with_cancellations(&workload, &[(Time(20), JobId(0))]);
/// let mut schedule = Schedule::default();
/// Simulation::new(workload.machine(), policy.build_scheduler(), replay).run(&mut schedule)?;
/// assert_eq!(schedule.spans, [Some((Time(0), Time(20)))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkloadReplay<'a> {
    workload: &'a Workload,
    /// In order of time; at one instant after the arrivals.
    cancellations: &'a [(Time, JobId)],
    next_job: usize,
    next_cancellation: usize,
}

impl<'a> WorkloadReplay<'a> {
    /// All jobs of the workload.
    #[must_use]
    pub fn new(workload: &'a Workload) -> WorkloadReplay<'a> {
        WorkloadReplay::with_cancellations(workload, &[])
    }

    /// All jobs, some of them withdrawn at the times given, which must be ascending. A job that has
    /// started when it is withdrawn ends there; the withdrawal of a job that has ended, or has not
    /// come yet, is ignored.
    #[must_use]
    pub fn with_cancellations(workload: &'a Workload, cancellations: &'a [(Time, JobId)]) -> WorkloadReplay<'a> {
        WorkloadReplay { workload, cancellations, next_job: 0, next_cancellation: 0 }
    }

    fn cancels_first(&self) -> bool {
        if self.cancellations.is_empty() {
            return false;
        }
        let submit = self.workload.jobs().get(self.next_job).map(|j| j.submit);
        match (self.cancellations.get(self.next_cancellation), submit) {
            (Some(&(cancel, _)), Some(submit)) => cancel < submit,
            (cancel, _) => cancel.is_some(),
        }
    }
}

impl EventSource for WorkloadReplay<'_> {
    #[inline]
    fn peek_time(&self) -> Option<Time> {
        let submit = self.workload.jobs().get(self.next_job).map(|j| j.submit);
        if self.cancellations.is_empty() {
            return submit;
        }
        let cancel = self.cancellations.get(self.next_cancellation).map(|c| c.0);
        match (submit, cancel) {
            (Some(s), Some(c)) => Some(s.min(c)),
            (s, c) => s.or(c),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Incoming<'_>> {
        if self.cancels_first() {
            let (_, id) = *self.cancellations.get(self.next_cancellation)?;
            self.next_cancellation += 1;
            return Some(Incoming::Cancel(id));
        }
        let at = self.next_job;
        let job = self.workload.jobs().get(at)?;
        self.next_job += 1;
        Some(Incoming::Submit(job, self.workload.truth().get(at)?))
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn resources(&self) -> Option<Arc<ResourceTable>> {
        self.workload.resources().cloned()
    }

    fn shapes(&self) -> Option<Arc<WorkloadShapes>> {
        self.workload.shapes().cloned()
    }

    fn position(&self) -> u64 {
        (self.next_job + self.next_cancellation) as u64
    }

    fn seek(&mut self, position: u64) {
        (self.next_job, self.next_cancellation) = (0, 0);
        while self.position() < position {
            if self.cancels_first() {
                self.next_cancellation += 1;
            } else if self.next_job < self.workload.len() {
                self.next_job += 1;
            } else {
                break;
            }
        }
    }
}
