//! Facts of a cluster: jobs and nodes, in terms that belong to no batch system.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Identity of a job among all jobs ever. Its number alone is not enough, because a controller that
/// was killed gives the same number to another job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct JobKey {
    /// The cluster's number of the job, or of the array that it is a task of.
    pub id: u64,
    /// Index of the array task.
    pub task: Option<u32>,
    /// Submit time, by the cluster's clock; a requeue changes it.
    pub submit: i64,
}

impl JobKey {
    /// As people call it: `21`, `21_3`.
    pub fn name(&self) -> String {
        self.task.map_or_else(|| self.id.to_string(), |task| format!("{}_{task}", self.id))
    }

    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<JobKey> {
        let (name, submit) = text.split_once('@')?;
        let (id, task) = match name.split_once('_') {
            Some((id, task)) => (id, Some(task.parse().ok()?)),
            None => (name, None),
        };
        Some(JobKey { id: id.parse().ok()?, task, submit: submit.parse().ok()? })
    }
}

impl fmt::Display for JobKey {
    /// `21@1795571603`, `21_3@1795571603`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name(), self.submit)
    }
}

/// A job, an array or a task as its user names it: `21`, `21_3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct JobName {
    /// Number of the job or of the array.
    pub id: u64,
    /// Task of the array; `None` for a job, or for all of its tasks.
    pub task: Option<u32>,
}

impl JobName {
    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<JobName> {
        let (id, task) = match text.split_once('_') {
            Some((id, task)) => (id, Some(task.parse().ok()?)),
            None => (text, None),
        };
        Some(JobName { id: id.parse().ok()?, task })
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}_{task}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

/// Jobs that a record of the cluster describes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum JobSlot {
    /// One job that is no task.
    Single,
    Task(u32),
    /// Tasks of an array that have nothing of their own yet: ranges from, to (both included),
    /// ascending.
    Folded(Vec<(u32, u32)>),
}

/// Identity of a record from poll to poll: an array has at most one folded record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RecordId {
    /// Number of the job or of the array.
    pub id: u64,
    /// Index of the task; `None` for a single job and for the folded rest of an array.
    pub task: Option<u32>,
    pub submit: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JobState {
    /// It waits, whatever for.
    Pending,
    /// It has processors, also while it begins or is being cleaned up.
    Running,
    /// It was taken off its processors and keeps its memory.
    Suspended,
    Ended(Ending),
}

/// Way in which a job has ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, well.
    Completed,
    /// By itself, badly.
    Failed,
    /// It ran as long as it was allowed to.
    AtLimit,
    /// It took more memory than it was allowed to.
    OutOfMemory,
    /// Its user or an operator ended it.
    Cancelled,
    /// The machine failed under it, or did not start it.
    MachineFailed,
    /// Another job took its place, or its deadline passed.
    Removed,
}

/// Reason why a pending job does not run, as the cluster gives it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum PendingReason {
    /// Nothing is said.
    None,
    /// A user's hold, which is also ours: see [`JobFact::mark`].
    UserHold,
    AdminHold,
    /// It could not be launched, and the cluster holds it.
    LaunchFailed,
    /// It waits for another job, perhaps in vain.
    Dependency,
    /// It may begin later only.
    Begin,
    /// Enough tasks of its array run.
    Throttle,
    /// A limit of its user, account or class.
    Limit,
    /// Its partition is closed, or does not allow its time.
    PartitionClosed,
    /// Nodes that it needs are out or reserved.
    NodesOut,
    Room,
    Turn,
    /// Anything else.
    Other,
    /// No set of nodes has what it asks for.
    Unsatisfiable,
    /// It was requeued and held in one step, by its owner or an operator.
    RequeuedHeld,
}

impl PendingReason {
    /// Returns whether a job that is held for this reason was set aside by the cluster: it takes
    /// the priority of a released job that no nodes can hold, which looks like a hold.
    pub fn sets_aside(self) -> bool {
        matches!(
            self,
            PendingReason::Limit
                | PendingReason::NodesOut
                | PendingReason::PartitionClosed
                | PendingReason::Unsatisfiable
        )
    }
}

/// Mark that the hook in the controller wrote on a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub enum HookMark {
    /// Nothing: the hook did not see it, or let it pass.
    #[default]
    None,
    /// The hook held it, for the daemon to start.
    Held,
    /// Its user asked for a hold when it was submitted.
    User,
}

drystone::word_enum! {
    /// Request of a job that Drystone does not model; such a job is left to the cluster.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
    pub enum UnmodelledRequest {
        Licences = "licences",
        /// GPUs or other generic resources.
        Devices = "GPUs or other devices",
        /// Nodes with certain features.
        Features = "node features",
        Reservation = "a reservation",
        /// Several components that start together.
        Heterogeneous = "several components",
        SeveralPartitions = "one of several partitions",
    }
}

/// Nodes that a job asks for by what they are, in the cluster's notation; empty where it does not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct NodeRequest {
    /// Nodes that it was bound to when it was first seen, by its user or by us, as a list of hosts;
    /// empty where they are too many to be read.
    pub named: String,
    /// Nodes that it must not have, as a list of hosts.
    pub excluded: String,
    /// Expression of features.
    pub features: String,
    /// True if it has its nodes to itself.
    pub exclusive: bool,
}

/// Condition on another job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum DependencyCondition {
    /// To begin.
    Start,
    End,
    /// To end well.
    Success,
    /// To end badly.
    Failure,
    /// To end well, the task of the same number: `aftercorr`.
    SameTask,
    /// That no other job of its user and name runs or came before it: `singleton`. Only the cluster
    /// knows names.
    Alone,
    /// An event that will not happen any more.
    Never,
}

/// One condition of a job's start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StartCondition {
    /// Number of the other job; 0 for [`DependencyCondition::Alone`].
    pub id: u64,
    /// Task of the other job; `None` for a job, or for every task of an array.
    pub task: Option<u32>,
    pub after: DependencyCondition,
    /// Seconds that have to pass after it.
    pub delay: i64,
}

impl StartCondition {
    /// A condition that holds at once when it happens.
    pub fn new(id: u64, task: Option<u32>, after: DependencyCondition) -> StartCondition {
        StartCondition { id, task, after, delay: 0 }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum JobDependencies {
    /// Nothing.
    #[default]
    No,
    /// All of these.
    On(Vec<StartCondition>),
    /// Any of these.
    Any(Vec<StartCondition>),
    /// Something that only the cluster knows.
    Else,
}

/// Processors of a job on one node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeShare {
    pub node: String,
    /// Number of processors; `None` if unknown.
    pub procs: Option<u32>,
}

/// A record of the cluster: one job, or tasks of an array that have nothing of their own yet. Times
/// are seconds by the cluster's clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobFact {
    /// Number of the job or of the array.
    pub id: u64,
    /// Tasks described.
    pub slot: JobSlot,
    /// The cluster's own number of this record: a task that runs has one beside the array's.
    pub number: u64,
    pub submit: i64,
    pub state: JobState,
    pub reason: PendingReason,
    /// True if it is held: its priority is 0.
    pub held: bool,
    /// Processors: allocated where it runs, else what it will be given.
    pub procs: u32,
    /// Least number of nodes, or that of its nodes.
    pub nodes: u32,
    /// Fewest nodes with which its user lets it go on while it runs; `None` where its user names no
    /// number.
    pub least_nodes: Option<u32>,
    /// Processors that have to be on one node together.
    pub together: u32,
    /// Memory in MB that it asks for in all; `None` where memory is not counted or not said.
    pub memory: Option<u64>,
    /// Time limit in seconds; `None` without one.
    pub limit: Option<i64>,
    /// Run time without suspensions, in seconds; 0 while it runs, because it changes with every
    /// look.
    pub ran: i64,
    /// Start time, or the time from which it may start.
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub places: Vec<NodeShare>,
    /// True if it is over and only being cleaned up: it holds its processors until it is listed as
    /// ended.
    pub leaving: bool,
    /// Dependencies that it waits for. The cluster may list them long after they are fulfilled,
    /// because it examines held jobs only occasionally.
    pub depends: JobDependencies,
    /// Most tasks of its array that run at once.
    pub throttle: Option<u32>,
    pub user: String,
    /// Group of the user, by its number.
    pub group: String,
    /// Account that it is charged to; empty without accounting.
    pub account: String,
    /// Priority that the cluster itself gives it while it waits, the largest first; 0 where that is
    /// not read. See [`Cluster`](super::Cluster).
    pub priority: i64,
    /// Devices that it asks for in all, by name: `gpu`, `gpu:a100`. Empty without devices, and
    /// where their number is not known.
    pub devices: Vec<(String, u32)>,
    /// Licences that it asks for, all of them, by name. Empty without licences, and where any of
    /// several would do.
    pub licences: Vec<(String, u32)>,
    pub partition: String,
    /// Its class of service; empty without one.
    pub class: String,
    pub asks: BTreeSet<UnmodelledRequest>,
    /// Mark written by the hook.
    pub mark: HookMark,
    /// Number of requeues.
    pub restarts: u32,
    /// True if it was bound to certain nodes when it was first seen, by its user or by us.
    pub pinned: bool,
    pub request: NodeRequest,
}

impl JobFact {
    pub fn record_id(&self) -> RecordId {
        let task = if let JobSlot::Task(task) = self.slot { Some(task) } else { None };
        RecordId { id: self.id, task, submit: self.submit }
    }

    pub fn job_keys(&self) -> Vec<JobKey> {
        let key = |task| JobKey { id: self.id, task, submit: self.submit };
        match &self.slot {
            JobSlot::Single => vec![key(None)],
            JobSlot::Task(task) => vec![key(Some(*task))],
            JobSlot::Folded(ranges) => {
                ranges.iter().flat_map(|&(from, to)| (from..=to).map(|t| key(Some(t)))).collect()
            }
        }
    }

    pub fn is_about(&self, key: JobKey) -> bool {
        let same = self.id == key.id && self.submit == key.submit;
        same && match (&self.slot, key.task) {
            (JobSlot::Single, None) => true,
            (JobSlot::Task(a), Some(b)) => *a == b,
            (JobSlot::Folded(ranges), Some(task)) => ranges.iter().any(|&(from, to)| (from..=to).contains(&task)),
            _ => false,
        }
    }
}

/// Usability of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum NodeState {
    /// Jobs can start on it.
    Up,
    /// No job starts on it; jobs that run there keep running.
    Out,
    /// The controller has not heard of it yet.
    Unknown,
    /// A reservation has it: no job of others starts on it.
    Reserved,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeFact {
    pub name: String,
    pub state: NodeState,
    pub procs: u32,
    /// Those that the cluster says are allocated.
    pub busy: u32,
    /// Memory in MB that is not allocated; `None` where memory is not counted.
    pub memory: Option<u64>,
    /// All of its memory in MB; `None` where memory is not counted.
    pub whole_memory: Option<u64>,
    /// Its devices: by type, and of any type together.
    pub devices: Vec<NodeDevices>,
    pub features: Vec<String>,
    /// Nodes of a lower weight are given out first.
    pub weight: u64,
    /// Windows in which reservations have it, in seconds of the cluster's time.
    pub windows: Vec<(i64, i64)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeDevices {
    /// Their name: `gpu`, or with a type `gpu:a100`.
    pub name: String,
    pub all: u32,
    /// Those that are allocated.
    pub busy: u32,
}

/// Licences of one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LicenceFact {
    pub name: String,
    pub total: u64,
    /// Those that no job of the cluster, no reservation and no user elsewhere has.
    pub free: u64,
}

/// All that was seen at one look.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClusterSnapshot {
    /// The cluster's own time, in seconds.
    pub time: i64,
    pub jobs: Vec<JobFact>,
    /// Nodes of the driven partitions.
    pub nodes: Vec<NodeFact>,
    pub licences: Vec<LicenceFact>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for key in [JobKey { id: 21, task: None, submit: 1_795_571_603 }, JobKey { id: 4, task: Some(0), submit: -1 }] {
            assert_eq!(JobKey::parse(&key.to_string()), Some(key));
        }
        for bad in ["", "21", "21@", "@3", "21_@3", "21_x@3", "a@3", "21_3@4x"] {
            assert_eq!(JobKey::parse(bad), None, "{bad}");
        }
    }
}
