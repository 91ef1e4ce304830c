//! What the tracker holds of one job.

use crate::cluster::{Ending, Key};
use drystone::model::{Job, JobId, Time};
use serde::{Deserialize, Serialize};

/// Where the session has a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Place {
    /// It knows nothing of it.
    Absent,
    /// It waits.
    Waiting,
    /// It waits, and is held back.
    Held,
    /// It runs, as far as the session knows.
    Running,
    /// The policy suspended it.
    Suspended,
    /// Somebody else suspended it.
    Interrupted,
    /// It is over.
    Done,
}

/// Why a pending job may not be started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Why {
    /// Its user keeps it back.
    User,
    /// An administrator keeps it back.
    Admin,
    /// It could not be launched; an administrator has to release it.
    LaunchFailed,
    /// It waits for another job.
    Dependency,
    /// It may begin later only.
    Begin,
    /// Enough tasks of its array run.
    Throttle,
    /// A limit stopped it; tried again when a job of its user or class ends.
    Limit,
    /// Its partition is closed.
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
}

impl Why {
    /// For people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Why::User => "held by its user",
            Why::Admin => "held by an administrator",
            Why::LaunchFailed => "could not be launched, held until an administrator releases it",
            Why::Dependency => "waits for another job",
            Why::Begin => "may begin later only",
            Why::Throttle => "enough tasks of its array run",
            Why::Limit => "a limit of its user, account or class of service",
            Why::PartitionClosed => "its partition is closed to it",
            Why::Retry => "could not start where there seemed to be room; tried again soon",
            Why::Taking => "is being taken over",
            Why::LetGo => "an operator released it: the cluster starts it",
            Why::NodesOut => "nodes that it needs are out or reserved",
            Why::Unsatisfiable => "no nodes of its partition have what it asks for",
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
    /// It was told to leave its processors.
    Stopping,
    /// It is to resume as soon as what was suspended for it is seen to be.
    PlannedResume,
    /// It was told to resume.
    Resuming,
    /// It was pending unheld, and is being held.
    Taking,
    /// It is not ours, and is being let go.
    LettingGo,
    /// It was told to end.
    Killing,
}

/// A job in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flight {
    /// What was ordered.
    pub what: Flying,
    /// When, by the clock that stands still while the cluster does not answer; milliseconds.
    pub since: u64,
    /// Whether it is unknown if the order was carried out.
    pub doubtful: bool,
    /// How often it was ordered.
    pub tries: u32,
}

/// When a job that could not start is tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Retry {
    /// At this time.
    At(Time),
    /// When a job of its user or class ends, and at this time at the latest.
    OnEnd(Time),
}

/// What happened to a job, for people and reports. Times are the session's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Story {
    /// When it was first seen.
    pub seen: Option<Time>,
    /// When the policy first wanted it to start.
    pub wanted: Option<Time>,
    /// When its last start was decided.
    pub decided: Option<Time>,
    /// Since when it runs, by the cluster.
    pub started: Option<Time>,
    /// The first start that was promised, and when that was.
    pub promised: Option<Promise>,
    /// The last start that was planned.
    pub planned: Option<Promise>,
    /// When it was seen to be over, and how it ended.
    pub ended: Option<(Time, Ending)>,
}

/// A start that the policy announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Promise {
    /// When it was announced.
    pub at: Time,
    /// The planned start.
    pub start: Time,
    /// No later than this; [`Time::MAX`] where nothing was promised.
    pub latest: Time,
}

/// A job as the tracker has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracked {
    /// Its name.
    pub key: Key,
    /// The session's number, once the session knows it.
    pub id: Option<JobId>,
    /// Where the session has it.
    pub place: Place,
    /// Why it is held back, where it is.
    pub why: Option<Why>,
    /// What is on its way.
    pub flight: Option<Flight>,
    /// What the session was told of it.
    pub job: Option<Job>,
    /// Whether it was pending unheld when the daemon came, and the daemon held it.
    pub taken: bool,
    /// Whether its user holds it, as far as the hook or the cluster tells.
    pub user_hold: bool,
    /// Whether its user bound it to nodes.
    pub user_nodes: bool,
    /// Whether we bound it to nodes.
    pub pinned: bool,
    /// Whether we suspended it.
    pub stopped: bool,
    /// Whether it is the cluster's to start, and why is among its [`Ask`](crate::cluster::Ask)s,
    /// its partition, its size.
    pub foreign: bool,
    /// Whether the cluster itself holds it, as if an administrator did: it was requeued while it
    /// was suspended.
    pub orphaned: bool,
    /// Whether its owner let it go after it was requeued and held.
    pub freed: bool,
    /// Whether the cluster shows our hold of it as an administrator's: it does so of waiting tasks
    /// once another task of their array was released and found no room.
    pub slipped: bool,
    /// Whether it could not start where there was room in several pieces: it needs one.
    pub narrow: bool,
    /// How often the cluster had requeued it.
    pub restarts: u32,
    /// When it is tried again.
    pub retry: Option<Retry>,
    /// What happened to it.
    pub story: Story,
}

impl Tracked {
    pub(crate) fn new(key: Key) -> Tracked {
        Tracked {
            key,
            id: None,
            place: Place::Absent,
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
            slipped: false,
            freed: false,
            narrow: false,
            restarts: 0,
            retry: None,
            story: Story::default(),
        }
    }

    /// Whether it is in flight so.
    #[must_use]
    pub fn flies(&self, what: Flying) -> bool {
        self.flight.is_some_and(|flight| flight.what == what)
    }
}
