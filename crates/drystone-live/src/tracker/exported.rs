//! Jobs of a journal that are over.

use crate::cluster::{Ending, JobKey};
use serde::{Deserialize, Serialize};

/// A job that is over, as the cluster told of it. Times are seconds since 1970 by the cluster's
/// clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExportedJob {
    pub key: JobKey,
    /// First submit time; a requeue does not count.
    pub submit: i64,
    /// Last start time; `None` where it was withdrawn before.
    pub start: Option<i64>,
    pub end: i64,
    /// Run time, suspensions left out.
    pub ran: i64,
    /// Its processors on the driven nodes.
    pub procs: u32,
    pub limit: Option<i64>,
    pub user: String,
    pub group: String,
    /// Its class of service, or its partition.
    pub queue: String,
    pub ending: Ending,
}
