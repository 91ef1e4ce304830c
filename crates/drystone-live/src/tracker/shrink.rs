//! Running jobs that give nodes back, as their users allow.

use super::room::IdleRoom;
use super::{Flying, LookResult, Tracked, TrackedPlace, Tracker};
use crate::cluster::{ClusterOrder, JobFact, JobState, NodeState};
use drystone::model::{JobId, Procs, SizeSet};
use drystone::policy::{Action, Actions, StartReason};
use std::collections::{BTreeMap, BTreeSet};

/// Number of orders to a job that does not give its nodes.
const TRIES: u32 = 3;

impl Tracker {
    /// Returns the sizes up to `most` that a running job may be given: whole nodes, no fewer than
    /// its user allows. `None` for its present size alone.
    pub(crate) fn find_sizes(&self, t: &Tracked, most: Procs) -> Option<SizeSet> {
        let fact = self.mirror.fact(t.key)?;
        let is_settled = t.place == TrackedPlace::Running && fact.state == JobState::Running && !fact.leaving;
        let least = fact.least_nodes.filter(|&least| is_settled && t.refused_shrinks < TRIES && least >= 1)?;
        let each = self.find_node_procs(fact)?;
        // No job could start on a node that it gives if that node is out.
        let is_up = |name: &str| self.mirror.node(name).is_some_and(|node| node.state == NodeState::Up);
        if !fact.places.iter().all(|place| is_up(&place.node)) {
            return None;
        }
        if !most.is_multiple_of(each) || least >= most / each {
            return None;
        }
        Some(SizeSet::List((least..=most / each).map(|nodes| nodes * each).collect()))
    }

    /// Returns the processors that a job has on each of its nodes. `None` where a node is not in
    /// the machine, or where the numbers differ as far as they are known.
    fn find_node_procs(&self, fact: &JobFact) -> Option<Procs> {
        let nodes = u32::try_from(fact.places.len()).ok().filter(|&nodes| nodes > 0 && nodes == fact.nodes)?;
        let each = fact.procs / nodes;
        let is_even = fact.places.iter().all(|place| place.procs.is_none_or(|procs| procs == each));
        let is_here = self.layout.held(&fact.places, fact.procs) == fact.procs;
        (is_even && is_here && each > 0 && each * nodes == fact.procs).then_some(each)
    }

    /// Returns the places of actions that would take nodes in vain, and of the starts that these
    /// are for: the policy counts processors, and the nodes may lack the memory or the devices of
    /// the job, or be none of those that it may have.
    pub(crate) fn find_vain(&self, actions: &Actions) -> BTreeSet<usize> {
        let mut vain = BTreeSet::new();
        if !actions.list().iter().any(|action| matches!(action, Action::Resize { .. })) {
            return vain;
        }
        let (mut room, mut nodes_left) = self.room_to_come();
        let mut givers: Vec<usize> = Vec::new();
        let mut before = (room.clone(), nodes_left.clone());
        for (at, action) in actions.list().iter().enumerate() {
            match *action {
                Action::Resize { job, procs, .. } => {
                    givers.push(at);
                    self.give(job, procs, &mut nodes_left, &mut room);
                }
                Action::Start { job, why, .. } => {
                    let key = self.key(job);
                    let Some((t, fact)) = key.and_then(|key| Some((self.jobs.get(&key)?, self.mirror.fact(key)?)))
                    else {
                        continue;
                    };
                    let fits = room.take(&self.need(t, fact, t.narrow));
                    if matches!(why, StartReason::Head) {
                        if !fits && !givers.is_empty() {
                            vain.extend(givers.iter().copied().chain([at]));
                            (room, nodes_left) = before.clone();
                        }
                        givers.clear();
                        before = (room.clone(), nodes_left.clone());
                    }
                }
                _ => {}
            }
        }
        vain
    }

    /// Returns the room once running jobs have given what was ordered from them, and those that
    /// wait for that have started; and the nodes that these keep.
    fn room_to_come(&self) -> (IdleRoom, BTreeMap<JobId, usize>) {
        let (mut room, mut nodes_left) = (self.room(), BTreeMap::new());
        let flying: Vec<&Tracked> = self.flying.iter().filter_map(|key| self.jobs.get(key)).collect();
        for t in flying.iter().filter(|t| t.flies(Flying::Shrinking)) {
            if let (Some(id), Some(job)) = (t.id, &t.job) {
                self.give(id, job.procs, &mut nodes_left, &mut room);
            }
        }
        for t in flying.iter().filter(|t| t.flies(Flying::Planned)) {
            if let Some(fact) = self.mirror.fact(t.key) {
                room.owe(&self.need(t, fact, t.narrow));
            }
        }
        (room, nodes_left)
    }

    /// Gives back the nodes that a job loses with so many processors. `nodes_left`: numbers of
    /// nodes of jobs that gave some before.
    fn give(&self, job: JobId, procs: Procs, nodes_left: &mut BTreeMap<JobId, usize>, room: &mut IdleRoom) {
        let Some(fact) = self.key(job).and_then(|key| self.mirror.fact(key)) else { return };
        let Some(each) = self.find_node_procs(fact) else { return };
        let counts = self.layout.counts(&fact.places, fact.procs);
        let had = nodes_left.insert(job, (procs / each) as usize).unwrap_or(counts.len());
        let lost = counts.get((procs / each) as usize..had).unwrap_or_default();
        room.give_back(&self.need_anywhere(fact, false), lost);
    }

    /// Orders a running job to give nodes back.
    pub(super) fn shrink(&mut self, t: &mut Tracked, procs: Procs, turn: &mut LookResult) {
        let each = self.mirror.fact(t.key).and_then(|fact| self.find_node_procs(fact));
        let (Some(each), Some(job)) = (each, &mut t.job) else { return };
        // The session has this size already; it learns of it where the cluster keeps another.
        job.procs = procs;
        self.order(t, Flying::Shrinking, ClusterOrder::Shrink { key: t.key, nodes: procs / each }, turn);
    }

    /// Returns whether a job still has to give the nodes that were ordered from it.
    pub(super) fn shrinking(&mut self, t: &mut Tracked, fact: &JobFact) -> bool {
        let Some(flight) = t.flight else { return false };
        let is_done = t.job.as_ref().is_none_or(|job| fact.procs <= job.procs);
        if fact.state != JobState::Running || fact.leaving || is_done {
            return false;
        }
        if !flight.doubtful && !self.is_late(t) {
            return true;
        }
        // The cluster has not done it: its size counts.
        t.refused_shrinks += 1;
        self.again = true;
        false
    }
}
