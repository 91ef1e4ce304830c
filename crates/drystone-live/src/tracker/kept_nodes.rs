//! Nodes kept for one job. A policy that only counts starts a job where enough processors are free,
//! on whatever nodes; a job that no set of nodes has room for then would be overtaken for as long
//! as others come. The first such job holds a reservation by nodes: others start where they end by
//! its time, or beside it.

use super::room::{IdleRoom, NodeNeed};
use super::{AnnouncedStart, Flying, HoldReason, Tracked, TrackedPlace, Tracker};
use crate::cluster::{JobFact, JobKey, JobState};
use drystone::model::{JobId, Time};
use drystone::policy::StartReason as Cause;
use serde::{Deserialize, Serialize};

/// Time limit assumed for a job without one, in seconds: a year.
const UNLIMITED: i64 = 365 * 86_400;

/// The job that nodes are kept for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct KeptFor {
    key: JobKey,
    /// Its start as it was announced last.
    start: Option<Time>,
}

/// Reservation of a job by nodes.
#[derive(Clone, Debug)]
pub(super) struct KeptNodes {
    /// Time at which its nodes are free at the latest.
    at: Time,
    /// IdleRoom at that time beside it.
    beside: IdleRoom,
}

/// IdleRoom for a start.
pub(super) enum Found {
    /// Wherever the cluster puts it.
    Anywhere,
    /// On these nodes only: others are kept.
    On(Vec<usize>),
    /// No set of nodes has what it needs.
    Crowded,
    /// Nodes are kept for another job.
    Kept,
}

impl Tracker {
    /// The reservation by nodes, if a job holds one. One that was released has its room as every
    /// job in flight.
    pub(super) fn kept_nodes(&self) -> Option<KeptNodes> {
        let t = self.jobs.get(&self.ahead?.key).filter(|t| t.flight.is_none())?;
        self.kept_for(t, self.mirror.job_fact(t.key)?)
    }

    /// Returns whether nodes are kept for this job.
    pub(super) fn is_ahead(&self, key: JobKey) -> bool {
        self.ahead.is_some_and(|ahead| ahead.key == key)
    }

    /// A reservation for a job: at the first time at which nodes have room for it, when every job
    /// takes all the time it may. `None` where nodes that are out do not allow any.
    pub(super) fn kept_for(&self, t: &Tracked, fact: &JobFact) -> Option<KeptNodes> {
        let (now, need) = (self.stamp.session_time(), self.compute_need(t, fact, t.narrow));
        let mut times: Vec<Time> = self.mirror.records().filter_map(|fact| self.ends_by(fact)).collect();
        let flying = self.flying.iter().filter_map(|&key| self.mirror.job_fact(key));
        times.extend(flying.map(|fact| self.would_end(fact)));
        times.push(now);
        times.sort_unstable();
        times.dedup();
        let first = times.partition_point(|&time| self.room_at(time).find_place(&need).is_none());
        let at = *times.get(first)?;
        let mut beside = self.room_at(at);
        beside.take_room(&need).then_some(KeptNodes { at, beside })
    }

    fn ends_by(&self, fact: &JobFact) -> Option<Time> {
        if fact.state != JobState::Running || fact.places.is_empty() {
            return None;
        }
        let (now, limit) = (self.stamp.now, fact.limit.unwrap_or(UNLIMITED));
        let start = fact.start.map_or(now, |start| start + self.offset);
        Some(Time(if fact.leaving { now } else { start.saturating_add(limit).max(now + 1) }))
    }

    /// Latest end of a job that starts now.
    fn would_end(&self, fact: &JobFact) -> Time {
        Time(self.stamp.now.saturating_add(fact.limit.unwrap_or(UNLIMITED)))
    }

    /// IdleRoom of the nodes at a time, if nothing else starts before.
    fn room_at(&self, time: Time) -> IdleRoom {
        let mut room = self.idle_room();
        for fact in self.mirror.records() {
            if self.ends_by(fact).is_some_and(|end| end <= time) {
                room.give_back(&self.need_anywhere(fact, false), &self.layout.node_counts(&fact.places, fact.procs));
            }
        }
        // A job that ended between the looks at jobs and at nodes would give its room back twice.
        room = room.common_room(&self.empty_room());
        for key in &self.flying {
            let (Some(t), Some(fact)) = (self.jobs.get(key), self.mirror.job_fact(*key)) else { continue };
            if t.is_flying(Flying::Launching) && self.would_end(fact) > time {
                room.owe_room(&self.compute_need(t, fact, t.narrow));
            }
        }
        room
    }

    /// Looks for room for a job beside what is kept, and takes it.
    pub(super) fn find_room(
        &self,
        t: &Tracked,
        fact: &JobFact,
        room: &mut IdleRoom,
        reserve: Option<&mut KeptNodes>,
    ) -> Found {
        let need = self.compute_need(t, fact, t.narrow);
        let Some(on) = room.find_place(&need) else { return Found::Crowded };
        let Some(reserve) = reserve.filter(|reserve| !self.is_ahead(t.key) && self.would_end(fact) > reserve.at) else {
            room.take_at(&need, &on);
            return Found::Anywhere;
        };
        let shared_room = room.common_room(&reserve.beside);
        let elsewhere = room.allows_more(&shared_room, &need);
        let Some(on) = shared_room.find_place(&need).filter(|_| !(elsewhere && t.user_nodes)) else {
            return Found::Kept;
        };
        room.take_at(&need, &on);
        reserve.beside.take_at(&need, &on);
        if elsewhere { Found::On(on.into_iter().map(|(at, _)| at).collect()) } else { Found::Anywhere }
    }

    /// A start that the policy decided finds no room: the job is the one that nodes are kept for,
    /// unless another is, or the policy only moved it ahead of others. Returns whether it is now.
    pub(super) fn comes_first(&mut self, t: &Tracked, cause: Cause) -> bool {
        if self.settings.decides_nodes() || !matches!(cause, Cause::Head | Cause::Planned) || self.is_ahead(t.key) {
            return false;
        }
        // A job that is held back was not compared with this one.
        let job_ahead = self.ahead.and_then(|ahead| self.jobs.get(&ahead.key));
        let stays = job_ahead.is_some_and(|rival| rival.place != TrackedPlace::Waiting && is_first(rival));
        let fits = self
            .mirror
            .job_fact(t.key)
            .is_some_and(|fact| self.empty_room().take_room(&self.compute_need(t, fact, false)));
        if stays || !fits {
            return false;
        }
        self.ahead = Some(KeptFor { key: t.key, start: None });
        true
    }

    /// Nothing is kept any more for a job that starts, ends or must not start now. The policy
    /// decides again for the others.
    pub(super) fn forget_ahead(&mut self) {
        let Some(ahead) = self.ahead else { return };
        let t = self.jobs.get(&ahead.key);
        if t.is_some_and(is_first)
            && self.mirror.job_fact(ahead.key).is_some_and(|fact| fact.state == JobState::Pending)
        {
            return;
        }
        self.ahead = None;
        self.lift_early();
    }

    /// Returns the start that is kept for a job, where it is another than before, and notes it.
    pub(super) fn announce_kept(&mut self, reserve: Option<&KeptNodes>) -> Option<(JobId, Time)> {
        let (ahead, reserve) = (self.ahead.as_mut()?, reserve?);
        if ahead.start == Some(reserve.at) {
            return None;
        }
        ahead.start = Some(reserve.at);
        let t = self.jobs.get_mut(&ahead.key)?;
        t.note_promise(AnnouncedStart { at: self.stamp.session_time(), start: reserve.at, latest: Time::MAX });
        Some((t.id?, reserve.at))
    }
}

/// Returns whether a job still waits for the nodes that are kept for it. One that was released and
/// does not start is held again, and must find them then.
fn is_first(t: &Tracked) -> bool {
    if t.flight.is_some() {
        return t.is_flying(Flying::Launching) || t.is_flying(Flying::Holding);
    }
    match t.place {
        TrackedPlace::Waiting => true,
        TrackedPlace::Held => matches!(t.why, Some(HoldReason::Retry | HoldReason::Kept)),
        _ => false,
    }
}

impl IdleRoom {
    /// Returns whether a job fits on a node here more than in a smaller room.
    fn allows_more(&self, smaller: &IdleRoom, need: &NodeNeed) -> bool {
        (0..self.len()).any(|at| {
            self.fitting_procs(at, need) >= need.piece_procs()
                && self.fitting_procs(at, need) > smaller.fitting_procs(at, need)
        })
    }
}
