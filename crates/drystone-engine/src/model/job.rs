//! Facts of a job that a scheduler may know, and, separately, those that only the machine knows.

use super::{DemandId, Machine, Procs, Span, TIME_LIMIT, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of an attribute that a log leaves unset.
pub const UNKNOWN: i32 = -1;

/// A job's position in the order of arrival: by submit time, then by place in the log. The first
/// job is 0.
///
/// Every tie that a policy does not break otherwise is broken by this number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// The position as an index into arrays kept in order of arrival.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Facts that a scheduler may know of a job when it arrives. The true run time is not here: see
/// [`Truth`].
///
/// Attributes that the log leaves unset are [`UNKNOWN`].
///
/// ```
/// use drystone_engine::model::{Job, Span, Time, UNKNOWN};
///
/// // Submitted after a minute, by user 7: four processors for an hour at most.
/// let job = Job::new(Time(60), 4, Span::HOUR).with_user(7);
/// assert_eq!((job.procs, job.user, job.group), (4, 7, UNKNOWN));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Job {
    /// Arrival.
    pub submit: Time,
    /// The user's requested time: kill time where jobs are killed, and the default prediction.
    /// Never negative.
    pub estimate: Span,
    /// Processors needed, all at once. At least 1.
    pub procs: Procs,
    /// The user that submitted it.
    pub user: i32,
    /// The user's group or project.
    pub group: i32,
    /// Program that it runs, as numbered by the log.
    pub executable: i32,
    /// The queue it was submitted to.
    pub queue: i32,
    /// The partition it was submitted to.
    pub partition: i32,
    /// Memory per processor in kilobytes, requested or else used; [`UNKNOWN`] where the log has
    /// neither.
    pub memory_kb: i64,
    /// Priority that a live site gives it, the largest first; 0 where none is known, as in every
    /// log.
    pub priority: i64,
    /// Demand beyond processors, in the machine's [`ResourceTable`](super::ResourceTable).
    pub demand: DemandId,
}

impl Job {
    /// A job with nothing but the essentials; every other attribute is [`UNKNOWN`].
    #[must_use]
    pub fn new(submit: Time, procs: Procs, estimate: Span) -> Job {
        Job {
            submit,
            estimate,
            procs,
            user: UNKNOWN,
            group: UNKNOWN,
            executable: UNKNOWN,
            queue: UNKNOWN,
            partition: UNKNOWN,
            memory_kb: i64::from(UNKNOWN),
            priority: 0,
            demand: DemandId::NONE,
        }
    }

    /// Sets the user.
    #[must_use]
    pub fn with_user(mut self, user: i32) -> Job {
        self.user = user;
        self
    }

    /// Returns the reason why this job is impossible on a machine that has nothing but processors;
    /// `None` if it is possible.
    #[inline]
    pub(crate) fn unserved_problem(&self) -> Option<String> {
        (self.demand != DemandId::NONE)
            .then(|| "asks for resources beyond processors, of which the machine has none".to_string())
    }

    /// Returns the reason why this job is impossible on the machine; `None` if it is possible.
    #[inline]
    pub(crate) fn machine_problem(&self, machine: Machine) -> Option<String> {
        let fits = (1..=machine.procs).contains(&self.procs);
        let far = self.submit.0.unsigned_abs() > TIME_LIMIT.unsigned_abs();
        if fits && !far && (0..=TIME_LIMIT).contains(&self.estimate.0) {
            None
        } else {
            Some(self.what_is_wrong(machine))
        }
    }

    #[cold]
    fn what_is_wrong(&self, machine: Machine) -> String {
        if self.procs == 0 {
            "needs no processor".to_string()
        } else if self.procs > machine.procs {
            format!("needs {} processors of a machine of {}", self.procs, machine.procs)
        } else if self.estimate < Span::ZERO {
            "has a negative estimate".to_string()
        } else {
            format!("has a time beyond ±{TIME_LIMIT} s")
        }
    }
}

/// Way in which a job ended according to its log (SWF field 11).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum LogStatus {
    /// 0: failed.
    Failed,
    /// 1: completed.
    Completed,
    /// 2, 3, 4: a partial execution of a checkpointed job.
    Partial,
    /// 5: cancelled, before or after its start.
    Cancelled,
    /// −1 or any other number.
    #[default]
    Unknown,
}

impl LogStatus {
    /// Reads the status code of SWF field 11.
    #[must_use]
    pub fn from_swf(code: i64) -> LogStatus {
        match code {
            0 => LogStatus::Failed,
            1 => LogStatus::Completed,
            2..=4 => LogStatus::Partial,
            5 => LogStatus::Cancelled,
            _ => LogStatus::Unknown,
        }
    }

    /// The status code to write as SWF field 11. A partial execution becomes 2, its first code.
    #[must_use]
    pub fn to_swf(self) -> i64 {
        match self {
            LogStatus::Failed => 0,
            LogStatus::Completed => 1,
            LogStatus::Partial => 2,
            LogStatus::Cancelled => 5,
            LogStatus::Unknown => -1,
        }
    }
}

/// Facts of a job that only the machine knows: its run time. Belongs to workloads and simulated
/// machines, never to policies.
///
/// ```
/// use drystone_engine::model::{LogStatus, Span, Truth};
///
/// // Job 4711 of the log ran for ten minutes.
/// let truth = Truth { run: Span(600), number: 4711, status: LogStatus::Completed };
/// assert!(truth.run < Span::HOUR);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Truth {
    /// Actual run time on its processors. Never negative; 0 is allowed.
    pub run: Span,
    /// The log's own number of the job (SWF field 1): how people find it again.
    pub number: i64,
    /// Way in which it ended, according to the log.
    pub status: LogStatus,
}

impl Truth {
    /// Returns the reason why no job can run this long; `None` if one can.
    #[inline]
    pub(crate) fn run_problem(&self) -> Option<String> {
        match self.run.0 {
            0..=TIME_LIMIT => None,
            i64::MIN..0 => Some("has a negative run time".to_string()),
            _ => Some(format!("has a time beyond ±{TIME_LIMIT} s")),
        }
    }
}
