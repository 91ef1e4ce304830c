//! Outcome of a job in one simulation.

use super::{How, Job, JobId, Span, Time, Truth};
use serde::{Deserialize, Serialize};

/// Outcome of one job: everything a metric may need when the job has ended.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct JobOutcome {
    /// First start; where it was requeued, the first since.
    pub start: Time,
    /// End of its last run segment.
    pub end: Time,
    /// Run time received, overheads of suspension excluded. Equals the run time due.
    pub ran: Span,
    /// Number of suspensions.
    pub suspensions: u32,
    /// Time on its processors in which memory was written or read because of suspensions or as a
    /// checkpoint, or in which it waited for that of others.
    pub overhead: Span,
    /// Start for which the policy first reserved processors for it. A job that waited and then
    /// started as the head of its queue without a reservation counts as reserved at its start,
    /// where the policy makes reservations at all. `None` for all others.
    pub first_reservation: Option<Time>,
    /// The prediction of its run time when it arrived.
    pub first_prediction: Span,
    /// True if that prediction was learned from other jobs.
    pub learned: bool,
    /// Number of corrections of its prediction while it ran.
    pub corrections: u32,
    /// Accuracy of its predictions over its life, each weighted by the time it was in force from
    /// submit to end (spec of Tsafrir et al. 2007, section 3.3): 1 is perfect. `None` where
    /// predictions were not recorded.
    pub accuracy: Option<f64>,
    /// Number of times that it was sent back to wait with nothing left of its progress. Its start
    /// is that of the last attempt.
    pub requeues: u32,
    /// Time on its processors in the attempts before the last of which nothing is left.
    pub lost: Span,
    /// The part of [`ran`](Self::ran) and [`overhead`](Self::overhead) that attempts before the
    /// last left in checkpoints.
    pub earlier: Span,
    /// Time for which it was held back: not eligible, or held.
    pub held: Span,
    /// Run time before it was first heard of, where it was running or suspended then already.
    pub found: Option<Span>,
    /// Way in which it ended.
    pub how: How,
}

impl JobOutcome {
    /// Time between its first start and its end in which it was suspended.
    #[must_use]
    pub fn suspended_time(&self) -> Span {
        (self.end - self.start) - (self.ran + self.overhead - self.earlier)
    }
}

/// A job that has ended, as shown to observers of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct EndedJob<'a> {
    /// Its position in the order of arrival.
    pub id: JobId,
    /// Facts known to the scheduler.
    pub job: &'a Job,
    /// The truth about it.
    pub truth: &'a Truth,
    /// Outcome of the job.
    pub outcome: &'a JobOutcome,
}

impl EndedJob<'_> {
    /// Time not running between submit and end: for jobs never suspended, `start − submit`.
    #[must_use]
    pub fn wait_time(&self) -> Span {
        self.response_time() - self.outcome.ran
    }

    /// Time not running while it might have been started or gone on: the wait without the time in
    /// which it was held back.
    #[must_use]
    pub fn eligible_wait(&self) -> Span {
        self.wait_time() - self.outcome.held
    }

    /// Turnaround: `end − submit`.
    #[must_use]
    pub fn response_time(&self) -> Span {
        self.outcome.end - self.job.submit
    }
}
