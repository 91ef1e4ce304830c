//! Verdicts of passes on one job while it waits: for an explanation, which needs more than the
//! contract of policies provides.

use crate::model::{ModelCluster, PassKind, PassVerdict, Pending, VerdictObserver};
use serde::Serialize;
use std::cell::RefCell;

thread_local! {
    /// Job that this thread listens for.
    static HEARD: RefCell<Option<HeardJob>> = const { RefCell::new(None) };
}

/// A job that is listened for.
struct HeardJob {
    job: u32,
    /// True if it has come and waits.
    waits: bool,
    said: Vec<SharedVerdict>,
}

/// Verdict that consecutive passes share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SharedVerdict {
    /// Scheduler of the passes.
    pub pass: &'static str,
    /// Time of the first of them, in seconds.
    pub from: i64,
    /// Time of the last of them, in seconds.
    pub until: i64,
    pub passes: u64,
    /// Verdict of the passes.
    pub verdict: PassReason,
    /// The partition, of a job that waits in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The parameter of Slurm, or the limit of the association or QOS, that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// Passes before which idle nodes would have been enough for it, had they not been kept for
    /// others.
    pub room: u64,
    /// The start that the first of them planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<i64>,
    /// The start that the last of them planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_last: Option<i64>,
}

/// Reason why a pass did not start a job, or its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassReason {
    Started,
    /// Main: it is the first of its partition that does not fit.
    Blocked,
    /// Main: a job before it does not fit, and blocks its partition or its nodes.
    BehindBlocked,
    /// Main: other partitions keep so many nodes that it could never run on the rest.
    Unavailable,
    /// Backfill: it has a plan.
    Planned,
    /// Backfill: its start lies beyond `bf_window`, so nothing is kept for it.
    BeyondWindow,
    /// Backfill: it is to have no plan.
    Unplanned,
    /// Backfill: plans of jobs before it leave no room within the window.
    NoRoom,
    /// It was skipped, for a limit on jobs of its user, account or partition.
    Skipped,
    /// The pass ended before it.
    NotReached,
    /// A limit of its association or QOS.
    Limit,
    /// Other tasks of its array.
    Array,
    /// Reservations keep its nodes.
    Reserved,
    /// Its licences are not free.
    Licences,
    /// Too little is left of another resource.
    Resources,
}

impl PassReason {
    fn from_verdict(verdict: &PassVerdict) -> (PassReason, Option<&'static str>, Option<i64>) {
        match *verdict {
            PassVerdict::Started(_) => (PassReason::Started, None, None),
            PassVerdict::Blocked => (PassReason::Blocked, None, None),
            PassVerdict::BehindBlocked => (PassReason::BehindBlocked, None, None),
            PassVerdict::Unavailable => (PassReason::Unavailable, None, None),
            PassVerdict::Planned { start, .. } => (PassReason::Planned, None, Some(start)),
            PassVerdict::BeyondWindow { start, .. } => (PassReason::BeyondWindow, Some("bf_window"), Some(start)),
            PassVerdict::Unplanned { start } => (PassReason::Unplanned, None, start),
            PassVerdict::NoRoom => (PassReason::NoRoom, None, None),
            PassVerdict::Skipped(by) => (PassReason::Skipped, Some(by), None),
            PassVerdict::NotReached(by) => (PassReason::NotReached, Some(by), None),
            PassVerdict::Limit(by) => (PassReason::Limit, Some(by), None),
            PassVerdict::Array => (PassReason::Array, None, None),
            PassVerdict::Reserved => (PassReason::Reserved, None, None),
            PassVerdict::Licences => (PassReason::Licences, None, None),
            PassVerdict::Resources => (PassReason::Resources, None, None),
        }
    }
}

/// Does some work in which a policy `slurm` may be simulated, on this thread, and also returns the
/// verdicts of its passes on the job with this index while it waited. Where passes take no time,
/// those that can start nothing are made as well; where they take time, making them would change
/// the schedule.
pub fn listen_to_job<T>(job: u32, work: impl FnOnce() -> T) -> (T, Vec<SharedVerdict>) {
    let before = HEARD.replace(Some(HeardJob { job, waits: false, said: Vec::new() }));
    let work_result = work();
    let heard_job = HEARD.replace(before);
    (work_result, heard_job.map(|listener| listener.said).unwrap_or_default())
}

/// The job that this thread listens for, if it waits.
pub(super) fn wanted_job() -> Option<u32> {
    HEARD.with_borrow(|slot| slot.as_ref().filter(|listener| listener.waits).map(|listener| listener.job))
}

/// A job waits from now on.
pub(super) fn note_wait(job: u32) {
    HEARD.with_borrow_mut(|slot| {
        if let Some(listener) = slot.as_mut().filter(|listener| listener.job == job) {
            listener.waits = true;
        }
    });
}

/// The start of a job is taken back: the pass had started another that took what it asks for.
pub(super) fn take_back_start(job: u32) {
    HEARD.with_borrow_mut(|slot| {
        let Some(listener) = slot.as_mut().filter(|listener| listener.job == job) else { return };
        listener.waits = true;
        if let Some(last) = listener.said.iter_mut().rev().find(|last| last.verdict == PassReason::Started) {
            last.verdict = PassReason::Resources;
        }
    });
}

/// Listens for one job that waits.
pub(super) struct JobEar {
    job: u32,
    /// The partition in which it is looked at, where it waits in several.
    partition: Option<String>,
    /// True if idle nodes are enough for it, plans left aside.
    room: bool,
    /// True if passes are made for it that can start nothing.
    full: bool,
}

impl JobEar {
    pub(super) fn new(job: u32, full: bool) -> JobEar {
        JobEar { job, partition: None, room: false, full }
    }
}

impl VerdictObserver for JobEar {
    fn note_verdict(&mut self, pass: PassKind, now: i64, id: u32, verdict: PassVerdict) {
        if id != self.job {
            return;
        }
        let pass = match pass {
            PassKind::Main => "main",
            PassKind::Backfill => "backfill",
        };
        let (reason, by, planned_start) = PassReason::from_verdict(&verdict);
        let room = u64::from(std::mem::take(&mut self.room));
        HEARD.with_borrow_mut(|slot| {
            let Some(HeardJob { waits, said, .. }) = slot else { return };
            *waits &= reason != PassReason::Started;
            let partition = if reason == PassReason::NotReached { &None } else { &self.partition };
            let last = said.iter_mut().rev().find(|entry| entry.pass == pass && entry.partition == *partition);
            match last.filter(|last| (last.verdict, last.by) == (reason, by)) {
                // A pass that ends early says so of each of its partitions.
                Some(last) if reason == PassReason::NotReached && last.until == now => {}
                Some(last) => {
                    (last.until, last.planned_last) = (now, planned_start);
                    last.passes += 1;
                    last.room += room;
                }
                None => said.push(SharedVerdict {
                    pass,
                    from: now,
                    until: now,
                    passes: 1,
                    verdict: reason,
                    partition: partition.clone(),
                    by,
                    room,
                    planned: planned_start,
                    planned_last: planned_start,
                }),
            }
        });
    }

    fn turn_to_job(&mut self, cluster: &ModelCluster, job: &Pending) {
        if job.id == self.job {
            let part = &cluster.machine.parts[usize::from(job.part)];
            self.partition = job.several.then(|| part.name.clone());
            let fits = || job.demand == 0 || cluster.idle.place_job(job, &part.nodes, &cluster.machine).is_some();
            self.room = part.up && !cluster.idle.lacks_room(job, &part.nodes) && fits();
        }
    }

    fn wants_plans(&self) -> bool {
        self.full
    }
}
