//! Processors that are out.

use super::{News, Place, Tracker, Turn};
use crate::cluster::{Key, NodeState};
use drystone::model::{ProcSet, Time};
use drystone::policy::Loss;

impl Tracker {
    /// Tells the session of nodes that went out or came back. From the first loss on it matters
    /// where jobs run.
    pub(super) fn look_at_nodes(&mut self, turn: &mut Turn) {
        if self.is_blind() {
            // The controller has just begun, and says nothing of use.
            return;
        }
        let since = |set: &ProcSet| self.losses.iter().find(|loss| loss.on == *set).map(|loss| loss.from);
        let is_up = |name: &str| self.mirror.node(name).is_some_and(|node| node.state == NodeState::Up);
        let out = self.layout.nodes().filter(|(name, _)| !is_up(name));
        let losses: Vec<Loss> = out
            .map(|(_, range)| {
                let on = ProcSet::range(range.clone());
                Loss { from: since(&on).unwrap_or(self.stamp.time()), on, until: Time::MAX }
            })
            .collect();
        if losses == self.losses {
            return;
        }
        if !self.named {
            let running: Vec<_> =
                self.name_all().into_iter().map(|key| (self.jobs[&key].id, News::Placed(key))).collect();
            turn.news.extend(running);
        }
        self.losses.clone_from(&losses);
        turn.news.push((None, News::Losses(losses)));
    }

    /// From now on it matters where jobs run. Returns those that do.
    pub(crate) fn name_all(&mut self) -> Vec<Key> {
        self.named = true;
        let running = self.jobs.values().filter(|t| t.place == Place::Running && t.flight.is_none());
        running.map(|t| t.key).collect()
    }
}
