//! Running jobs that give nodes back, as their users allow.

use super::{Flying, LookResult, Tracked, TrackedPlace, Tracker};
use crate::cluster::{ClusterOrder, JobFact, JobState, NodeState};
use drystone::model::{Procs, SizeSet};

/// Number of times that nodes are ordered from a job that does not give them.
const TRIES: u32 = 3;

impl Tracker {
    /// Returns the sizes that a running job may be given, up to this one: whole nodes, at least as
    /// many as its user allows. `None` for its present size alone.
    pub(crate) fn sizes_of(&self, t: &Tracked, most: Procs) -> Option<SizeSet> {
        let fact = self.mirror.fact(t.key)?;
        let is_settled = t.place == TrackedPlace::Running && fact.state == JobState::Running && !fact.leaving;
        let least = fact.least_nodes.filter(|&least| is_settled && t.kept < TRIES && least >= 1)?;
        let each = self.procs_of_a_node(fact)?;
        // No job could start on a node that it gives and that is out.
        let is_up = |name: &str| self.mirror.node(name).is_some_and(|node| node.state == NodeState::Up);
        if !fact.places.iter().all(|place| is_up(&place.node)) {
            return None;
        }
        if !most.is_multiple_of(each) || least >= most / each {
            return None;
        }
        Some(SizeSet::List((least..=most / each).map(|nodes| nodes * each).collect()))
    }

    /// Processors that a job has on each of its nodes, where these are all in the machine and it has
    /// as many on each as far as is known.
    fn procs_of_a_node(&self, fact: &JobFact) -> Option<Procs> {
        let nodes = u32::try_from(fact.places.len()).ok().filter(|&nodes| nodes > 0 && nodes == fact.nodes)?;
        let each = fact.procs / nodes;
        let is_even = fact.places.iter().all(|place| place.procs.is_none_or(|procs| procs == each));
        let is_here = self.layout.held(&fact.places, fact.procs) == fact.procs;
        (is_even && is_here && each > 0 && each * nodes == fact.procs).then_some(each)
    }

    /// Orders a running job to give nodes back.
    pub(super) fn shrink(&mut self, t: &mut Tracked, procs: Procs, turn: &mut LookResult) {
        let each = self.mirror.fact(t.key).and_then(|fact| self.procs_of_a_node(fact));
        let (Some(each), Some(job)) = (each, &mut t.job) else { return };
        // As the session has it; where the cluster keeps another size, the session hears of that.
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
        // The cluster has not done it, and decides.
        t.kept += 1;
        self.again = true;
        false
    }
}
