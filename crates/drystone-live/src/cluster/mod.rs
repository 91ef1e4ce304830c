//! Interface of a daemon to a cluster: looks and orders.

mod facts;
pub mod fake;
pub mod recorded;
mod sets;
pub mod slurm;

pub use facts::{
    ClusterSnapshot, DependencyCondition, Ending, HookMark, JobDependencies, JobFact, JobKey, JobName, JobSlot,
    JobState, LicenceFact, NodeDevices, NodeFact, NodeRequest, NodeShare, NodeState, PendingReason, RecordId,
    StartCondition, UnmodelledRequest,
};
use serde::{Deserialize, Serialize};
pub use sets::{DrivenSet, seen_by};
use std::fmt;
use std::time::Duration;

/// Details requested of a look.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Want {
    /// Running jobs whose processors on each node are wanted.
    pub places: Vec<JobKey>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ClusterOrder {
    /// The job may run on these nodes only, all of them.
    Pin {
        key: JobKey,
        /// Nodes to run on.
        nodes: Vec<String>,
        /// True if the job asks for another number of nodes, which changes with the order.
        resized: bool,
    },
    /// It may run anywhere again.
    Unpin(JobKey),
    /// It may start.
    Release(JobKey),
    /// It may not start.
    Hold(JobKey),
    /// It leaves its processors.
    Suspend(JobKey),
    /// It resumes where it was.
    Resume(JobKey),
    /// It waits again, with nothing of its progress left, and may begin at once.
    Requeue(JobKey),
    Cancel(JobKey),
    /// It goes on with its first nodes alone, and gives the others back.
    Shrink {
        key: JobKey,
        /// Nodes that it keeps.
        nodes: u32,
    },
}

impl ClusterOrder {
    pub fn job_key(&self) -> JobKey {
        match *self {
            ClusterOrder::Pin { key, .. } | ClusterOrder::Shrink { key, .. } => key,
            ClusterOrder::Unpin(key)
            | ClusterOrder::Release(key)
            | ClusterOrder::Hold(key)
            | ClusterOrder::Suspend(key)
            | ClusterOrder::Resume(key)
            | ClusterOrder::Requeue(key)
            | ClusterOrder::Cancel(key) => key,
        }
    }

    pub fn verb(&self) -> &'static str {
        match self {
            ClusterOrder::Pin { .. } => "pin",
            ClusterOrder::Unpin(_) => "unpin",
            ClusterOrder::Release(_) => "release",
            ClusterOrder::Hold(_) => "hold",
            ClusterOrder::Suspend(_) => "suspend",
            ClusterOrder::Resume(_) => "resume",
            ClusterOrder::Requeue(_) => "requeue",
            ClusterOrder::Cancel(_) => "cancel",
            ClusterOrder::Shrink { .. } => "shrink",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum OrderOutcome {
    /// It was carried out.
    Done,
    /// It was refused, for this reason.
    Refused(String),
    /// It may have been carried out, or not.
    Unknown,
}

/// Capabilities of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Suspend jobs and resume them.
    pub suspend: bool,
    /// Resume suspended jobs elsewhere.
    pub migrate: bool,
    /// Start jobs on given nodes.
    pub pin: bool,
    /// Hold jobs back.
    pub hold: bool,
    /// Take nodes from running jobs whose users allow it.
    pub shrink: bool,
}

/// Something that a site has to know or to change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteRemark {
    /// True if `drive` is impossible until it is changed.
    pub forbids: bool,
    /// Finding and its consequence.
    pub found: String,
    /// The line to change, or what to do.
    pub change: String,
}

impl fmt::Display for SiteRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found, self.change)
    }
}

/// The cluster cannot be looked at.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    #[error("the cluster does not answer: {0}")]
    Silent(String),
    #[error("the cluster's answer is not understood: {0}")]
    Garbled(String),
    #[error("{0}")]
    Broken(String),
}

/// A cluster: real, recorded or made up.
pub trait Cluster {
    /// Looks: every job that it lists, the nodes of the driven partitions, its own time.
    ///
    /// # Errors
    /// It does not answer, or not intelligibly. Nothing may be concluded then.
    fn observe(&mut self, want: &Want) -> Result<ClusterSnapshot, ClusterError>;

    /// Carries out orders, in their order; one outcome for each. Before each command that it sends
    /// it asks `may`, and sends no more once that says no: what is left is `Unknown`.
    fn execute_orders(&mut self, orders: &[ClusterOrder], may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome>;

    /// Writes planned starts into the comments of jobs, for people; one that cannot does nothing.
    fn write_remarks(&mut self, starts: &[(JobKey, String)], may: &mut dyn FnMut() -> bool) {
        let _ = (starts, may);
    }

    /// Takes the hook's mark off these jobs and arrays, once everything is given back; one that
    /// cannot does nothing.
    fn remove_marks(&mut self, jobs: &[JobName]) {
        let _ = jobs;
    }

    fn capabilities(&self) -> Capabilities;

    /// Returns the processor time that calls have cost the cluster and us since the last query.
    fn take_call_cost(&mut self) -> Duration;

    fn name(&self) -> String;
}
