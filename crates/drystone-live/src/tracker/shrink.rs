//! Running jobs that give nodes back, as their users allow.

use super::{Flying, LookResult, Tracked, TrackedPlace, Tracker};
use crate::cluster::{ClusterOrder, JobFact, JobState, NodeState};
use drystone::model::{Procs, SizeSet};

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
