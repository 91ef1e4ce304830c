//! Events from the tracker to the session.

use crate::cluster::JobKey;
use drystone::engine::How;
use drystone::model::{Job, ResourceId, Span, Time};
use drystone::policy::CapacityLoss;
use serde::{Deserialize, Serialize};

/// The present, as every rule of the tracker needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stamp {
    /// The session's time, in seconds: steady, whatever happens to clocks.
    pub now: i64,
    /// Milliseconds in which the cluster answered: stands still while it does not.
    pub steady: u64,
}

impl Stamp {
    pub fn session_time(&self) -> Time {
        Time(self.now)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TrackerNews {
    /// A job is new, and waits or is held back.
    Arrive {
        /// Identity of the job.
        key: JobKey,
        /// Facts of the job.
        job: Job,
        /// True if it is held back.
        held: bool,
    },
    /// A job is new, and runs already.
    AdoptRunning {
        /// Identity of the job.
        key: JobKey,
        /// Facts of the job.
        job: Job,
        /// Start time.
        since: Time,
    },
    /// A job is new, and suspended by the daemon itself.
    AdoptSuspended {
        /// Identity of the job.
        key: JobKey,
        /// Facts of the job.
        job: Job,
        /// Run time so far.
        ran: Span,
    },
    /// It runs, unbidden or since another time.
    Started {
        /// Identity of the job.
        key: JobKey,
        /// Start time.
        since: Time,
    },
    /// It runs on other processors than the session has it on.
    Placed(JobKey),
    /// It waits again, from the beginning.
    Requeued(JobKey),
    Held(JobKey),
    /// It waits again, in its place.
    Released(JobKey),
    /// It is another job from now on.
    Updated {
        /// Identity of the job.
        key: JobKey,
        /// Facts of the job.
        job: Job,
    },
    /// Another than the daemon suspended it.
    Interrupted(JobKey),
    /// It runs again that was suspended, or was not suspended after all.
    Continued(JobKey),
    /// It was to resume, and did not.
    StaysSuspended(JobKey),
    Ended {
        /// Identity of the job.
        key: JobKey,
        /// Way in which it ended.
        how: How,
        /// Run time, if known.
        ran: Option<Span>,
    },
    /// It was withdrawn before it ran, or while it was suspended.
    Cancelled(JobKey),
    /// Processors are out: all of them.
    Losses(Vec<CapacityLoss>),
    /// Amounts of resources that change: all of them.
    Supply(Vec<(ResourceId, u64)>),
}

impl TrackerNews {
    /// Returns the job that has moved, if that is the event.
    pub(crate) fn placed_job(&self) -> Option<JobKey> {
        if let TrackerNews::Placed(key) = *self { Some(key) } else { None }
    }

    pub fn job_key(&self) -> Option<JobKey> {
        match *self {
            TrackerNews::Arrive { key, .. }
            | TrackerNews::AdoptRunning { key, .. }
            | TrackerNews::AdoptSuspended { key, .. }
            | TrackerNews::Started { key, .. }
            | TrackerNews::Placed(key)
            | TrackerNews::Requeued(key)
            | TrackerNews::Held(key)
            | TrackerNews::Released(key)
            | TrackerNews::Updated { key, .. }
            | TrackerNews::Interrupted(key)
            | TrackerNews::Continued(key)
            | TrackerNews::StaysSuspended(key)
            | TrackerNews::Ended { key, .. }
            | TrackerNews::Cancelled(key) => Some(key),
            TrackerNews::Losses(_) | TrackerNews::Supply(_) => None,
        }
    }
}
