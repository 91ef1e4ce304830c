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
        let fact = self.mirror.job_fact(t.key)?;
        let is_settled = t.place == TrackedPlace::Running && fact.state == JobState::Running && !fact.leaving;
        let least = fact.least_nodes.filter(|&least| is_settled && t.refused_shrinks < TRIES && least >= 1)?;
        let procs_per_node = self.find_node_procs(fact)?;
        // No job could start on a node that it gives if that node is out.
        let is_up = |name: &str| self.mirror.node_fact(name).is_some_and(|node| node.state == NodeState::Up);
        if !fact.places.iter().all(|place| is_up(&place.node)) {
            return None;
        }
        if !most.is_multiple_of(procs_per_node) || least >= most / procs_per_node {
            return None;
        }
        Some(SizeSet::List((least..=most / procs_per_node).map(|nodes| nodes * procs_per_node).collect()))
    }

    /// Returns the processors that a job has on each of its nodes. `None` where a node is not in
    /// the machine, or where the numbers differ as far as they are known.
    fn find_node_procs(&self, fact: &JobFact) -> Option<Procs> {
        let nodes = u32::try_from(fact.places.len()).ok().filter(|&nodes| nodes > 0 && nodes == fact.nodes)?;
        let procs_per_node = fact.procs / nodes;
        let is_even = fact.places.iter().all(|place| place.procs.is_none_or(|procs| procs == procs_per_node));
        let is_here = self.layout.held_procs(&fact.places, fact.procs) == fact.procs;
        (is_even && is_here && procs_per_node > 0 && procs_per_node * nodes == fact.procs).then_some(procs_per_node)
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
                    self.give_nodes(job, procs, &mut nodes_left, &mut room);
                }
                Action::Start { job, why, .. } => {
                    let key = self.find_key(job);
                    let Some((t, fact)) = key.and_then(|key| Some((self.jobs.get(&key)?, self.mirror.job_fact(key)?)))
                    else {
                        continue;
                    };
                    let fits = room.take_room(&self.compute_need(t, fact, t.narrow));
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
        let (mut room, mut nodes_left) = (self.current_room(), BTreeMap::new());
        let flying: Vec<&Tracked> = self.flying.iter().filter_map(|key| self.jobs.get(key)).collect();
        for t in flying.iter().filter(|t| t.is_flying(Flying::Shrinking)) {
            if let (Some(id), Some(job)) = (t.id, &t.job) {
                self.give_nodes(id, job.procs, &mut nodes_left, &mut room);
            }
        }
        for t in flying.iter().filter(|t| t.is_flying(Flying::Planned)) {
            if let Some(fact) = self.mirror.job_fact(t.key) {
                room.owe_room(&self.compute_need(t, fact, t.narrow));
            }
        }
        (room, nodes_left)
    }

    /// Gives back the nodes that a job loses with so many processors. `nodes_left`: numbers of
    /// nodes of jobs that gave some before.
    fn give_nodes(&self, job: JobId, procs: Procs, nodes_left: &mut BTreeMap<JobId, usize>, room: &mut IdleRoom) {
        let Some(fact) = self.find_key(job).and_then(|key| self.mirror.job_fact(key)) else { return };
        let Some(each) = self.find_node_procs(fact) else { return };
        let counts = self.layout.node_counts(&fact.places, fact.procs);
        let had = nodes_left.insert(job, (procs / each) as usize).unwrap_or(counts.len());
        let lost_nodes = counts.get((procs / each) as usize..had).unwrap_or_default();
        room.give_back(&self.need_anywhere(fact, false), lost_nodes);
    }

    /// Orders a running job to give nodes back.
    pub(super) fn shrink_job(&mut self, t: &mut Tracked, procs: Procs, turn: &mut LookResult) {
        let procs_per_node = self.mirror.job_fact(t.key).and_then(|fact| self.find_node_procs(fact));
        let (Some(each), Some(job)) = (procs_per_node, &mut t.job) else { return };
        // The session has this size already; it learns of it where the cluster keeps another.
        job.procs = procs;
        self.issue_order(t, Flying::Shrinking, ClusterOrder::Shrink { key: t.key, nodes: procs / each }, turn);
    }

    /// Returns whether a job still has to give the nodes that were ordered from it.
    pub(super) fn is_shrinking(&mut self, t: &mut Tracked, fact: &JobFact) -> bool {
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
