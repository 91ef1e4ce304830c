//! Jobs that the cluster could not start. What stops one stops every job of its shape, so that
//! these are held back together, for a pause that grows with each vain try; other jobs go on
//! meanwhile.

use super::kept_nodes::Found;
use super::{Flying, HoldReason, Retry, Tracked, TrackedPlace, Tracker};
use crate::cluster::{JobFact, JobKey, JobState, NodeRequest, PendingReason};
use drystone::model::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Pauses in seconds, the first and the longest: a job that finds no room is tried again soon.
const ROOM: (i64, i64) = (10, 60);
/// Pauses of jobs that cannot start until their request or the cluster changes.
pub(super) const IMPOSSIBLE: (i64, i64) = (60, 900);
/// Pause in seconds of a job for which no node has room by what the cluster shows; it ends as soon
/// as one has.
const CROWDED: i64 = 60;
/// Pauses of a job whose nodes the policy chose and that are taken; the end of any job ends the
/// first ones.
const CHOSEN: (i64, i64) = (5, 60);
const CHOSEN_AGAIN: u32 = 3;
/// Vain tries from which a job counts as hopeless.
const HOPELESS: u32 = 3;
/// Seconds from one look for room for hopeless jobs to the next, and those after which they wait
/// for the policy without room as well: what stopped them may be over.
const AGAIN: (i64, i64) = (20, 900);
/// Blocks that ended so long ago, in seconds, are forgotten, and how often their jobs failed.
const FORGET: i64 = 3_600;

/// Requests that the cluster cannot tell apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct BlockedShape {
    user: String,
    partition: String,
    class: String,
    size: (u32, u32, u32),
    limit: Option<i64>,
    memory: Option<u64>,
    devices: Vec<(String, u32)>,
    licences: Vec<(String, u32)>,
    request: NodeRequest,
    /// The job or array itself, where its user named nodes: which ones is not known here.
    bound: Option<u64>,
}

/// Duration and reason of a hold of jobs of one shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ShapeBlock {
    why: HoldReason,
    until: Time,
    failures: u32,
    /// True if it ends as soon as a node has room: nothing was released in vain.
    ends_early: bool,
    /// End of its pause, and time of the last look at which nodes had room for another try, where
    /// its jobs are hopeless.
    paused: Time,
    open: Option<Time>,
}

impl ShapeBlock {
    /// Returns whether jobs are tried only when nodes have room: the cluster cannot start them, or
    /// has not done so again and again. In the queue of the policy they would be reserved for.
    fn is_hopeless(&self) -> bool {
        let impossible = matches!(self.why, HoldReason::PartitionClosed | HoldReason::Unsatisfiable);
        self.failures > 0 && (impossible || self.failures >= HOPELESS)
    }

    /// Returns whether the cluster itself has said that its jobs cannot start, which has nothing to
    /// do with room: they are tried beside the policy.
    fn is_impossible(&self) -> bool {
        !self.ends_early && matches!(self.why, HoldReason::PartitionClosed | HoldReason::Unsatisfiable)
    }
}

/// Returns the pause after so many vain tries; each doubles it.
pub(super) fn compute_pause((first, most): (i64, i64), failures: u32) -> i64 {
    first.saturating_mul(1 << failures.min(6)).min(most)
}

fn blocked_shape(t: &Tracked, fact: &JobFact) -> BlockedShape {
    BlockedShape {
        user: fact.user.clone(),
        partition: fact.partition.clone(),
        class: fact.class.clone(),
        size: (fact.procs, fact.nodes, fact.together),
        limit: fact.limit,
        memory: fact.memory,
        devices: fact.devices.clone(),
        licences: fact.licences.clone(),
        // Its own nodes may be ours, of an earlier start.
        request: NodeRequest { named: String::new(), ..fact.request.clone() },
        bound: t.user_nodes.then_some(fact.id),
    }
}

impl Tracker {
    /// Returns the reason why jobs of this shape are held back now, and the end of that. The block
    /// of a hopeless shape ends at a time at which nodes have room, once for all its jobs: O(nodes)
    /// at a look.
    pub(super) fn block_shape(&mut self, t: &Tracked, fact: &JobFact) -> Option<(HoldReason, Time)> {
        if self.blocks.is_empty() {
            return None;
        }
        let (now, shape) = (self.stamp.session_time(), blocked_shape(t, fact));
        let block = self.blocks.get(&shape)?;
        if block.until > now {
            return Some((block.why, block.until));
        }
        if block.is_impossible() {
            return Some((block.why, Time(now.0 + AGAIN.0)));
        }
        // It was in the queue for one decision and did not start: it leaves the queue.
        if block.is_hopeless() && block.open.is_some_and(|open| open < now) {
            let block = self.blocks.get_mut(&shape)?;
            (block.open, block.until) = (None, Time(now.0 + AGAIN.0));
            return Some((block.why, block.until));
        }
        let is_over = now.0 - block.paused.0 >= AGAIN.1;
        if !block.is_hopeless() || block.open == Some(now) || is_over || self.settings.names {
            return None;
        }
        let (mut room, mut nodes) = (self.current_room(), self.kept_nodes());
        let has_room = matches!(self.find_room(t, fact, &mut room, nodes.as_mut()), Found::Anywhere | Found::On(_));
        let block = self.blocks.get_mut(&shape)?;
        if has_room {
            block.open = Some(now);
            // Unless it starts now, it leaves the queue again.
            self.timers.insert((Time(now.0 + 1), t.key));
            return None;
        }
        block.until = Time(now.0 + AGAIN.0);
        Some((block.why, block.until))
    }

    /// Returns whether it is time to try a job beside the policy, of which the cluster said that it
    /// cannot start; the next of its shape has to wait.
    pub(super) fn is_to_be_probed(&mut self, t: &Tracked, fact: &JobFact) -> bool {
        let now = self.stamp.session_time();
        match self.blocks.get_mut(&blocked_shape(t, fact)) {
            Some(block) if block.is_impossible() && block.until <= now => {
                block.until = Time(now.0 + compute_pause(IMPOSSIBLE, block.failures));
                true
            }
            _ => false,
        }
    }

    /// The cluster only lacks room for a job that it could not start before: jobs of its shape wait
    /// for the policy again.
    pub(super) fn can_start(&mut self, t: &Tracked, fact: &JobFact) {
        let shape = blocked_shape(t, fact);
        if self.blocks.remove(&shape).is_some() {
            self.look_again_at(&[shape].into());
        }
    }

    /// Returns whether a released job of this shape failed to start a short time ago. That a
    /// further one found no room says nothing of those on their way.
    pub(super) fn has_failed(&self, t: &Tracked, fact: &JobFact) -> bool {
        let block = self.blocks.get(&blocked_shape(t, fact));
        block.is_some_and(|block| !block.ends_early && block.until > self.stamp.session_time())
    }

    /// Holds back jobs of this shape: one was released and did not start, for this reason.
    pub(super) fn could_not_start(&mut self, t: &Tracked, fact: &JobFact) {
        let (reason, pauses) = match fact.reason {
            PendingReason::PartitionClosed => (HoldReason::PartitionClosed, IMPOSSIBLE),
            PendingReason::Unsatisfiable => (HoldReason::Unsatisfiable, IMPOSSIBLE),
            PendingReason::NodesOut => (HoldReason::NodesOut, ROOM),
            _ => (HoldReason::Retry, ROOM),
        };
        if reason == HoldReason::Retry {
            self.vain_since.get_or_insert(self.stamp.steady);
        }
        let shape = blocked_shape(t, fact);
        let failures = self.blocks.get(&shape).map_or(0, |block| block.failures);
        let pause = compute_pause(pauses, failures);
        let until = Time(self.stamp.now + pause);
        let block =
            ShapeBlock { why: reason, until, failures: failures + 1, ends_early: false, paused: until, open: None };
        self.blocks.insert(shape.clone(), block);
        self.look_again_at(&[shape].into());
    }

    /// Holds back jobs of this shape: no node has room, though the policy, which counts processors
    /// only, saw some. Without a pause it would decide the same at every look.
    pub(super) fn is_crowded_out(&mut self, t: &Tracked, fact: &JobFact) {
        let shape = blocked_shape(t, fact);
        let failures = self.blocks.get(&shape).map_or(0, |block| block.failures);
        let (reason, pause, failures) = if !self.empty_room().take_room(&self.compute_need(t, fact, false)) {
            (HoldReason::Unsatisfiable, compute_pause(IMPOSSIBLE, failures), failures + 1)
        } else if self.settings.names {
            (HoldReason::Retry, compute_pause(CHOSEN, failures), failures + 1)
        } else {
            (HoldReason::Retry, CROWDED, failures)
        };
        self.block_early(shape, reason, pause, failures);
    }

    /// Holds back jobs of the same shape and account: the limit that stopped one stops them all,
    /// and each try would take the room of a job that can start. They are tried again as that one
    /// is: as many as jobs end. Once a look for each shape: O(jobs).
    pub(super) fn limit_alike(&mut self, t: &Tracked, fact: &JobFact, until: Time) {
        let limited_shape = blocked_shape(t, fact);
        if !self.limited_shapes.insert((fact.account.clone(), limited_shape.clone())) {
            return;
        }
        let is_waiting =
            |t: &Tracked| t.flight.is_none() && matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held);
        let is_alike = |t: &Tracked| {
            let fact =
                self.mirror.job_fact(t.key).filter(|peer| peer.user == fact.user && peer.account == fact.account);
            fact.is_some_and(|fact| fact.state == JobState::Pending && blocked_shape(t, fact) == limited_shape)
        };
        let tried_jobs = self.jobs.values().filter(|t| is_waiting(t) && t.retry.is_none() && is_alike(t));
        for key in tried_jobs.map(|t| t.key).collect::<Vec<JobKey>>() {
            if let Some(t) = self.jobs.get_mut(&key) {
                t.retry = Some(Retry::OnEnd(until));
            }
            self.limited.insert(key);
            self.recheck.insert(key);
        }
    }

    /// Holds back jobs of this shape: nodes that they would take are kept for another.
    pub(super) fn gives_way(&mut self, t: &Tracked, fact: &JobFact) {
        let shape = blocked_shape(t, fact);
        let failures = self.blocks.get(&shape).map_or(0, |block| block.failures);
        self.block_early(shape, HoldReason::Kept, CROWDED, failures);
    }

    /// Holds back jobs of a shape until a node has room, at most for so many seconds. One look may
    /// refuse many jobs of a large array: its tasks are searched once.
    fn block_early(&mut self, shape: BlockedShape, reason: HoldReason, pause: i64, failures: u32) {
        let until = Time(self.stamp.now + pause);
        let previous = self.blocks.insert(
            shape.clone(),
            ShapeBlock { why: reason, until, failures, ends_early: true, paused: until, open: None },
        );
        if previous.is_none_or(|block| block.until < until || block.why != reason) {
            self.look_again_at(&[shape].into());
        }
    }

    /// Lets the policy decide again for all that nothing was released of in vain.
    pub(super) fn lift_early(&mut self) {
        let now = self.stamp.session_time();
        let early =
            self.blocks.iter().filter(|(_, b)| b.ends_early && b.until > now && b.why != HoldReason::Unsatisfiable);
        let lifted_shapes: BTreeSet<BlockedShape> = early.map(|(shape, _)| shape.clone()).collect();
        for shape in &lifted_shapes {
            self.blocks.remove(shape);
        }
        self.look_again_at(&lifted_shapes);
    }

    /// A node is back: jobs go on waiting for the policy that the cluster did not start because of
    /// nodes that were out.
    pub(super) fn lift_nodes_out(&mut self) {
        let now = self.stamp.session_time();
        let out = self.blocks.iter().filter(|(_, block)| block.why == HoldReason::NodesOut && block.until > now);
        let lifted_shapes: BTreeSet<BlockedShape> = out.map(|(shape, _)| shape.clone()).collect();
        for shape in &lifted_shapes {
            self.blocks.remove(shape);
        }
        self.look_again_at(&lifted_shapes);
    }

    /// A job of this shape runs: what stopped others is over.
    pub(super) fn did_start(&mut self, t: &Tracked, fact: &JobFact) {
        self.vain_since = None;
        if self.blocks.is_empty() {
            return;
        }
        let shape = blocked_shape(t, fact);
        if self.blocks.remove(&shape).is_some() {
            self.look_again_at(&[shape].into());
        }
    }

    /// Nodes or orders in flight have changed, by the end of a job where `ended`: jobs that found
    /// no room go on waiting for the policy if they find some now.
    pub(super) fn room_came(&mut self, is_end: bool) {
        let now = self.stamp.session_time();
        let early = |block: &ShapeBlock| block.ends_early && block.until > now;
        let mut lifted_shapes: BTreeSet<BlockedShape> = BTreeSet::new();
        if self.settings.names {
            let soon = self.blocks.iter().filter(|(_, block)| early(block) && block.failures <= CHOSEN_AGAIN);
            lifted_shapes.extend(soon.filter(|_| is_end).map(|(shape, _)| shape.clone()));
        } else if self.blocks.values().any(early) {
            let held_jobs = self.jobs.values().filter(|t| t.place == TrackedPlace::Held && t.flight.is_none());
            let mut waits: BTreeMap<BlockedShape, (&Tracked, &JobFact, bool)> = BTreeMap::new();
            for t in held_jobs
                .filter(|t| matches!(t.why, Some(HoldReason::Retry | HoldReason::Unsatisfiable | HoldReason::Kept)))
            {
                let Some(fact) = self.mirror.job_fact(t.key) else { continue };
                let shape = blocked_shape(t, fact);
                if self.blocks.get(&shape).is_some_and(early) {
                    // What one needs in one piece, all of its shape do.
                    let shape_entry = waits.entry(shape).or_insert((t, fact, false));
                    shape_entry.2 |= t.narrow;
                    if self.is_ahead(t.key) {
                        (shape_entry.0, shape_entry.1) = (t, fact);
                    }
                }
            }
            let (room, nodes) = (self.current_room(), self.kept_nodes());
            let fits = |t: &Tracked, fact: &JobFact, narrow: bool| {
                let t = Tracked { narrow, ..t.clone() };
                let spot = self.find_room(&t, fact, &mut room.clone(), nodes.clone().as_mut());
                matches!(spot, Found::Anywhere | Found::On(_))
            };
            let free = waits.into_iter().filter(|(_, (t, fact, narrow))| fits(t, fact, *narrow));
            lifted_shapes.extend(free.map(|(shape, _)| shape));
        }
        for shape in &lifted_shapes {
            self.blocks.remove(shape);
        }
        self.look_again_at(&lifted_shapes);
        self.blocks.retain(|_, block| block.until.0 + FORGET > now.0);
    }

    /// Pending jobs that no node can hold, or that the cluster did not start again and again, the
    /// first of each shape, with the reason.
    pub fn hopeless_jobs(&self) -> Vec<(JobKey, HoldReason)> {
        let is_hopeless = |block: &ShapeBlock| {
            block.why == HoldReason::Unsatisfiable || (!block.ends_early && block.failures >= HOPELESS)
        };
        if !self.blocks.values().any(is_hopeless) {
            return Vec::new();
        }
        let mut shapes = BTreeSet::new();
        let mut jobs = Vec::new();
        for t in self.jobs.values().filter(|t| t.place == TrackedPlace::Held && t.flight.is_none()) {
            let Some(fact) = self.mirror.job_fact(t.key) else { continue };
            let shape = blocked_shape(t, fact);
            if let Some(block) = self.blocks.get(&shape).filter(|block| is_hopeless(block))
                && t.why == Some(block.why)
                && shapes.insert(shape)
            {
                jobs.push((t.key, block.why));
            }
        }
        jobs
    }

    /// Returns the time, in milliseconds, for which released jobs have found no room and none has
    /// started, though a job waits that fits the idle processors; `None` without such a stall.
    pub fn stalls_for(&self) -> Option<u64> {
        let since = self.vain_since?;
        let mut room = self.current_room();
        let fits = self.jobs.values().any(|t| {
            let is_kept = matches!(t.why, Some(HoldReason::Retry)) || t.why.is_none();
            let pending = matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held) && is_kept;
            pending
                && self.mirror.job_fact(t.key).is_some_and(|fact| room.take_room(&self.compute_need(t, fact, false)))
        });
        fits.then(|| self.stamp.steady.saturating_sub(since))
    }

    /// Returns the released job that waits longest for room, before which the cluster may start no
    /// other: the first of those that are left to the cluster, else of those in flight.
    pub fn first_in_the_way(&self) -> Option<(JobKey, bool)> {
        let waits = |fact: &JobFact| fact.state == JobState::Pending && !fact.held;
        let absent = self.jobs.values().filter(|t| t.place == TrackedPlace::Absent && t.flight.is_none());
        let flying = self.jobs.values().filter(|t| t.is_flying(Flying::Launching));
        let first = |t: &&Tracked| self.mirror.job_fact(t.key).map(|fact| (fact.submit, t.key));
        let is_room =
            |t: &&Tracked| self.mirror.job_fact(t.key).is_some_and(|f| waits(f) && f.reason == PendingReason::Room);
        let first_absent = absent.filter(is_room).min_by_key(first).map(|t| (t.key, true));
        let is_there = |t: &&Tracked| self.mirror.job_fact(t.key).is_some_and(waits);
        first_absent.or_else(|| flying.filter(is_there).min_by_key(first).map(|t| (t.key, false)))
    }

    /// Marks the pending jobs of these shapes to be looked at in this turn.
    fn look_again_at(&mut self, shapes: &BTreeSet<BlockedShape>) {
        if shapes.is_empty() {
            return;
        }
        let pending =
            |t: &&Tracked| t.flight.is_some() || matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held);
        let keys: Vec<JobKey> = self
            .jobs
            .values()
            .filter(pending)
            .filter(|t| {
                self.mirror
                    .job_fact(t.key)
                    .is_some_and(|fact| fact.state == JobState::Pending && shapes.contains(&blocked_shape(t, fact)))
            })
            .map(|t| t.key)
            .collect();
        self.recheck.extend(keys);
    }
}
