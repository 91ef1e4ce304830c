//! Processors that are out.

use super::{LookResult, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::{JobKey, NodeState};
use drystone::model::{ProcSet, Time};
use drystone::policy::CapacityLoss;

impl Tracker {
    /// Tells the session of nodes that went out or came back. From the first loss on it matters
    /// where jobs run.
    pub(super) fn look_at_nodes(&mut self, turn: &mut LookResult) {
        if self.is_blind() {
            // The controller has just begun, and says nothing of use.
            return;
        }
        let since = |set: &ProcSet| self.losses.iter().find(|loss| loss.on == *set).map(|loss| loss.from);
        let is_up = |name: &str| self.mirror.node(name).is_some_and(|node| node.state == NodeState::Up);
        let out = self.layout.nodes().filter(|(name, _)| !is_up(name));
        let losses: Vec<CapacityLoss> = out
            .map(|(_, range)| {
                let on = ProcSet::range(range.clone());
                CapacityLoss { from: since(&on).unwrap_or(self.stamp.time()), on, until: Time::MAX }
            })
            .collect();
        if losses == self.losses {
            return;
        }
        if !self.named {
            let running: Vec<_> =
                self.name_all().into_iter().map(|key| (self.jobs[&key].id, TrackerNews::Placed(key))).collect();
            turn.news.extend(running);
        }
        self.losses.clone_from(&losses);
        turn.news.push((None, TrackerNews::Losses(losses)));
    }

    /// From now on it matters where jobs run. Returns those that do.
    pub(crate) fn name_all(&mut self) -> Vec<JobKey> {
        self.named = true;
        let running = self.jobs.values().filter(|t| t.place == TrackedPlace::Running && t.flight.is_none());
        running.map(|t| t.key).collect()
    }
}
