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
        let losses: Vec<CapacityLoss> = self
            .layout
            .nodes()
            .flat_map(|(name, range)| self.losses_of(name, ProcSet::from_range(range.clone())))
            .collect();
        if losses == self.losses {
            return;
        }
        if !self.named {
            let placement_news: Vec<_> =
                self.name_all().into_iter().map(|key| (self.jobs[&key].id, TrackerNews::Placed(key))).collect();
            turn.news.extend(placement_news);
        }
        self.losses.clone_from(&losses);
        turn.news.push((None, TrackerNews::Losses(losses)));
    }

    /// Returns when a node is out: now, and in the windows of reservations.
    fn losses_of(&self, name: &str, on: ProcSet) -> Vec<CapacityLoss> {
        let now = self.stamp.session_time();
        let node = self.mirror.node_fact(name);
        let mut losses = Vec::new();
        let windows = node.into_iter().flat_map(|node| &node.windows);
        let windows = windows.map(|&(from, until)| (Time(from + self.offset), Time(until + self.offset)));
        let windows: Vec<(Time, Time)> = windows.filter(|&(from, until)| until > now && from < until).collect();
        let state = node.map_or(NodeState::Out, |node| node.state);
        let current = windows.iter().filter(|(from, _)| *from <= now).map(|&(_, until)| until).max();
        if state != NodeState::Up {
            let until = current.filter(|_| state == NodeState::Reserved).unwrap_or(Time::MAX);
            let earlier =
                self.losses.iter().find(|loss| loss.on == on && loss.from <= now && is_near(loss.until, until));
            losses.push(CapacityLoss { on: on.clone(), from: earlier.map_or(now, |loss| loss.from), until });
        }
        if losses.first().is_none_or(|loss| loss.until < Time::MAX) {
            let more = windows.into_iter().filter(|(from, _)| state == NodeState::Up || *from > now);
            losses.extend(more.map(|(from, until)| CapacityLoss { on: on.clone(), from, until }));
        }
        // The two clocks differ by a second more or less from look to look.
        for loss in &mut losses {
            let is_same = |old: &&CapacityLoss| {
                old.on == loss.on && is_near(old.from, loss.from) && is_near(old.until, loss.until)
            };
            if let Some(old) = self.losses.iter().find(is_same) {
                loss.clone_from(old);
            }
        }
        losses
    }

    /// From now on it matters where jobs run. Returns those that do.
    pub(crate) fn name_all(&mut self) -> Vec<JobKey> {
        self.named = true;
        let running_jobs = self.jobs.values().filter(|t| t.place == TrackedPlace::Running && t.flight.is_none());
        running_jobs.map(|t| t.key).collect()
    }
}

/// Returns whether two times differ by no more than clocks do.
fn is_near(a: Time, b: Time) -> bool {
    a.0.abs_diff(b.0) <= 2
}
