//! The tracker's state of one job.

use crate::cluster::{Ending, JobKey};
use drystone::model::{Job, JobId, Time};
use serde::{Deserialize, Serialize};

/// State in which the session has a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TrackedPlace {
    /// It knows nothing of it.
    Absent,
    Waiting,
    /// It waits, and is held back.
    Held,
    /// It runs, as far as the session knows.
    Running,
    /// The policy suspended it.
    Suspended,
    /// Another than the daemon suspended it.
    Interrupted,
    Done,
}

/// Reason why a pending job may not be started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum HoldReason {
    /// Its user keeps it back.
    User,
    /// An administrator keeps it back.
    Admin,
    /// It could not be launched; its owner or an operator has to release it.
    LaunchFailed,
    /// It waits for another job.
    Dependency,
    /// It may begin later only.
    Begin,
    /// Enough tasks of its array run.
    Throttle,
    /// A limit stopped it; tried again when a job of its user or class ends.
    Limit,
    PartitionClosed,
    /// It could not start where there seemed to be room; tried again a little later.
    Retry,
    /// It was not held yet, and is being held.
    Taking,
    /// An operator let it go: the cluster starts it.
    LetGo,
    /// Nodes that it needs are out or reserved.
    NodesOut,
    /// No set of nodes has what it asks for.
    Unsatisfiable,
    /// Nodes are kept for a job that waits for several whole ones or large parts of them.
    Kept,
    /// It waits for another job, and what it waits for will not happen any more.
    InVain,
}

impl HoldReason {
    pub fn reason_text(self) -> &'static str {
        match self {
            HoldReason::User => "held by its user",
            HoldReason::Admin => "held by an administrator",
            HoldReason::LaunchFailed => {
                "could not be launched: the cluster holds it until its owner or an operator releases it"
            }
            HoldReason::Dependency => "waits for another job",
            HoldReason::Begin => "may begin later only",
            HoldReason::Throttle => "enough tasks of its array run",
            HoldReason::Limit => "a limit of its user, account or class of service",
            HoldReason::PartitionClosed => "its partition is closed to it",
            HoldReason::Retry => "could not start where there seemed to be room; tried again soon",
            HoldReason::Taking => "is being taken over",
            HoldReason::LetGo => "an operator released it: the cluster starts it",
            HoldReason::NodesOut => "nodes that it needs are out or reserved",
            HoldReason::Unsatisfiable => "no nodes of its partition meet its request",
            HoldReason::InVain => {
                "waits for another job in vain (DependencyNeverSatisfied): cancel it, or change its dependency"
            }
            HoldReason::Kept => "nodes are kept for a job before it, which needs them whole or in large parts",
        }
    }
}

/// Something that was decided or ordered and not seen yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Flying {
    /// Its start is decided, and waits until what was suspended for it is seen to be.
    Planned,
    /// It was released.
    Launching,
    /// It did not start, and is being held again.
    Holding,
    /// Ordered to leave its processors.
    Stopping,
    /// It is to resume as soon as what was suspended for it is seen to be.
    PlannedResume,
    Resuming,
    /// It was pending unheld, and is being held.
    Taking,
    /// It is not ours, and is being let go.
    LettingGo,
    /// Ordered to give nodes back.
    Shrinking,
    /// Ordered to end.
    Killing,
    /// It was released to see whether the cluster still says that it cannot start; the session
    /// does not know.
    Probing,
}

/// A job in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flight {
    /// Kind of order.
    pub what: Flying,
    /// Time of the order, in milliseconds by the clock that stands still while the cluster does not
    /// answer.
    pub since: u64,
    /// True if it is unknown whether the order was carried out.
    pub doubtful: bool,
    pub tries: u32,
    /// True if a look has seen the order carried out: a released job without a hold. Of a job that
    /// is let go: if a look has shown that it is held for too long.
    pub seen: bool,
}

/// Time of the next try for a job that could not start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Retry {
    At(Time),
    /// At the end of a job of its user or class, and at this time at the latest.
    OnEnd(Time),
}

/// History of a job, for people and reports. Times are the session's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TrackedStory {
    /// Time at which it was first seen.
    pub seen: Option<Time>,
    /// Time at which the policy first wanted it to start.
    pub wanted: Option<Time>,
    /// Time at which its last start was decided.
    pub decided: Option<Time>,
    /// Start time, by the cluster.
    pub started: Option<Time>,
    /// The first start that was promised, and when that was.
    pub promised: Option<AnnouncedStart>,
    /// The last start that was planned.
    pub planned: Option<AnnouncedStart>,
    /// Time at which its end was seen, and the way in which it ended.
    pub ended: Option<(Time, Ending)>,
}

/// A start that the policy announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AnnouncedStart {
    /// Time of the announcement.
    pub at: Time,
    pub start: Time,
    /// No later than this; [`Time::MAX`] where nothing was promised.
    pub latest: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracked {
    pub key: JobKey,
    /// The session's number, once the session knows it.
    pub id: Option<JobId>,
    /// State in which the session has it.
    pub place: TrackedPlace,
    pub why: Option<HoldReason>,
    pub flight: Option<Flight>,
    /// Last description that the session received.
    pub job: Option<Job>,
    /// True if it was pending without a hold when the daemon came, and the daemon held it, or if
    /// the hook did.
    pub taken: bool,
    /// True if its user holds it, according to the hook or the cluster.
    pub user_hold: bool,
    /// True if its user bound it to nodes.
    pub user_nodes: bool,
    /// True if we bound it to nodes.
    pub pinned: bool,
    /// True if we suspended it.
    pub stopped: bool,
    /// True if it is the cluster's to start, for a reason given by its
    /// [`UnmodelledRequest`](crate::cluster::UnmodelledRequest)s, partition or size.
    pub foreign: bool,
    /// True if the cluster itself holds it, as if an administrator did: it was requeued while it
    /// was suspended.
    pub orphaned: bool,
    /// True if its owner released it after it was requeued and held, after a launch that failed, or
    /// after the cluster set it aside.
    pub freed: bool,
    /// True if it could not start where there was room in several pieces: it needs one.
    pub narrow: bool,
    /// Number of releases that found it dependent still, or held at once, since it last ran.
    pub vain: u32,
    /// Number of times that the cluster did not take nodes from it as ordered.
    pub refused_shrinks: u32,
    /// Number of requeues by the cluster.
    pub restarts: u32,
    /// Time of the next try.
    pub retry: Option<Retry>,
    pub story: TrackedStory,
}

impl Tracked {
    pub(crate) fn new(key: JobKey) -> Tracked {
        Tracked {
            key,
            id: None,
            place: TrackedPlace::Absent,
            why: None,
            flight: None,
            job: None,
            taken: false,
            user_hold: false,
            user_nodes: false,
            pinned: false,
            stopped: false,
            foreign: false,
            orphaned: false,
            freed: false,
            narrow: false,
            vain: 0,
            refused_shrinks: 0,
            restarts: 0,
            retry: None,
            story: TrackedStory::default(),
        }
    }

    pub fn is_flying(&self, kind: Flying) -> bool {
        self.flight.is_some_and(|flight| flight.what == kind)
    }
}
