//! Verdict of a pass on a job.

use super::{Alloc, ModelCluster, Pending};
use serde::{Deserialize, Serialize};

/// Scheduler of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PassKind {
    /// The main scheduler.
    Main,
    Backfill,
}

/// Outcome of a job in a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PassVerdict {
    /// It starts, on these nodes.
    Started(Alloc),
    /// Main: it is the first of its partition that does not fit.
    Blocked,
    /// Main: a job before it blocks its partition, or nodes that it would need.
    BehindBlocked,
    /// Main: jobs of other partitions keep so many nodes that it could not run on the rest if that
    /// was idle. It blocks no other.
    Unavailable,
    /// Backfill: planned to start at `start`; its nodes are kept up to `end`.
    Planned {
        /// Start in seconds.
        start: i64,
        /// End of the plan.
        end: i64,
        /// Allocation.
        alloc: Alloc,
    },
    /// Backfill: the start lies beyond `bf_window`, so nothing is kept for it.
    BeyondWindow {
        /// Start in seconds.
        start: i64,
        /// End of what would be the plan.
        end: i64,
        /// Allocation.
        alloc: Alloc,
    },
    /// Backfill: it could start at `start`, but is to have no plan (`bf_min_prio_reserve` and the
    /// like).
    Unplanned {
        /// Start in seconds, where known.
        start: Option<i64>,
    },
    /// Backfill: plans of jobs before it leave no room within the window.
    NoRoom,
    /// Backfill: skipped whole, for the named limit on jobs per user or partition.
    Skipped(&'static str),
    /// The pass ended before it, for the named parameter.
    NotReached(&'static str),
    /// A limit of its association or QOS, by the reason that Slurm shows.
    Limit(&'static str),
    /// Reservations keep its nodes.
    Reserved,
    /// Licences that it asks for are not free.
    Licences,
    /// Too little is left of another resource that it asks for.
    Resources,
    /// Another task of its array was refused in this pass, has a plan for it, or as many of them
    /// run as may.
    Array,
}

impl PassVerdict {
    /// Returns the verdict on a job without any start: one that is to have no plan could start
    /// later.
    pub(super) fn without_start(is_unplanned: bool) -> PassVerdict {
        if is_unplanned { PassVerdict::Unplanned { start: None } } else { PassVerdict::NoRoom }
    }
}

/// Receives the verdicts of passes on jobs.
pub trait VerdictObserver {
    /// The pass at `now` seconds says this of job `id`.
    fn note_verdict(&mut self, pass: PassKind, now: i64, id: u32, verdict: PassVerdict);

    /// A pass turns to this job, when the cluster is as it is here.
    fn turn_to_job(&mut self, _cluster: &ModelCluster, _job: &Pending) {}

    /// Returns whether it needs every job: then passes that can start nothing are made all the
    /// same.
    fn wants_plans(&self) -> bool {
        false
    }
}

/// Wants to know nothing.
impl VerdictObserver for () {
    fn note_verdict(&mut self, _: PassKind, _: i64, _: u32, _: PassVerdict) {}
}
