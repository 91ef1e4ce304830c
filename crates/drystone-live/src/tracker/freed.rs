//! Jobs that the end of another lets try again: a limit or a dependency had stopped them.

use super::flight::DEPENDS;
use super::{LookResult, Retry, Tracked, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::JobKey;
use drystone::model::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Number of jobs whose dependency is tried again when one of their user's jobs ends.
const TRIED_PER_END: usize = 4;

impl Tracker {
    /// Returns jobs that a limit stopped, of users and classes of which a job has just ended.
    pub(super) fn list_freed_of_limits(&mut self, turn: &LookResult) -> Vec<JobKey> {
        if self.limited.is_empty() {
            return Vec::new();
        }
        let ended = list_ends(turn);
        let owners: BTreeSet<(String, String)> = ended
            .iter()
            .filter_map(|key| self.mirror.fact(*key))
            .map(|fact| (fact.user.clone(), fact.class.clone()))
            .collect();
        let suits = |key: &JobKey| {
            self.mirror.fact(*key).is_some_and(|fact| {
                owners.iter().any(|(user, class)| *user == fact.user || (!class.is_empty() && *class == fact.class))
            })
        };
        // As many as have ended: of a hundred more the same limit would stop all but these.
        let jobs: Vec<JobKey> = self.limited.iter().filter(|key| suits(key)).take(ended.len()).copied().collect();
        for key in &jobs {
            self.limited.remove(key);
            if let Some(tracked) = self.jobs.get_mut(key) {
                tracked.retry = None;
            }
        }
        jobs
    }

    /// Returns jobs that were released in vain because of other jobs, where a job of their user has
    /// just ended: those tried least often first, a few for each end.
    pub(super) fn list_freed_of_others(&mut self, turn: &LookResult) -> Vec<JobKey> {
        if self.vain.is_empty() {
            return Vec::new();
        }
        let ended = list_ends(turn);
        let mut room: BTreeMap<String, usize> = BTreeMap::new();
        for fact in ended.iter().filter_map(|key| self.mirror.fact(*key)) {
            *room.entry(fact.user.clone()).or_default() += TRIED_PER_END;
        }
        let (jobs, flying) = (&self.jobs, &self.flying);
        self.vain.retain(|key| {
            let waits = |t: &Tracked| matches!(t.place, TrackedPlace::Waiting | TrackedPlace::Held);
            flying.contains(key) || jobs.get(key).is_some_and(waits)
        });
        if !room.is_empty() {
            self.shorten_pauses(&room);
        }
        let mut all: Vec<JobKey> = self.vain.difference(&self.flying).copied().collect();
        all.sort_by_key(|key| (self.jobs.get(key).map_or(0, |t| t.vain), *key));
        all.retain(|key| {
            let user = self.mirror.fact(*key).map(|fact| fact.user.as_str());
            let Some(rest) = user.and_then(|user| room.get_mut(user)).filter(|rest| **rest > 0) else { return false };
            *rest -= 1;
            true
        });
        for key in &all {
            self.vain.remove(key);
            if let Some(tracked) = self.jobs.get_mut(key) {
                tracked.retry = None;
            }
        }
        all
    }

    /// Shortens the pause of jobs that were released in vain and whose attempt has not come back
    /// yet while a job of these users ended: the cluster may have judged them before that end.
    fn shorten_pauses(&mut self, users: &BTreeMap<String, usize>) {
        let soon = Time(self.stamp.now + DEPENDS.0);
        for key in self.vain.intersection(&self.flying) {
            let is_theirs = self.mirror.fact(*key).is_some_and(|fact| users.contains_key(&fact.user));
            let Some(tracked) = self.jobs.get_mut(key).filter(|_| is_theirs) else { continue };
            tracked.vain = 0;
            if let Some(Retry::At(time)) = &mut tracked.retry {
                *time = soon.min(*time);
            }
        }
    }
}

/// Lists the jobs whose end a look showed.
fn list_ends(turn: &LookResult) -> Vec<JobKey> {
    let key = |news: &TrackerNews| if let TrackerNews::Ended { key, .. } = news { Some(*key) } else { None };
    turn.news.iter().filter_map(|(_, news)| key(news)).collect()
}
