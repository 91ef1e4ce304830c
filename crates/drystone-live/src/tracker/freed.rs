//! Jobs that the end of another lets try again: a limit or a dependency had stopped them.

use super::flight::DEPENDS;
use super::{LookResult, Retry, Tracked, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::{JobFact, JobKey};
use drystone::model::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of jobs whose dependency is tried again when one of their user's jobs ends.
const TRIED_PER_END: usize = 4;

/// Time at which the last job of a user, and of a class, was seen to end, in milliseconds that
/// never go back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LastEnds {
    of_users: BTreeMap<String, u64>,
    of_classes: BTreeMap<String, u64>,
}

impl LastEnds {
    /// Returns whether a job that may share a limit with this one was seen to end since then.
    pub(super) fn has_end_since(&self, fact: &JobFact, since: u64) -> bool {
        let of_user = self.of_users.get(&fact.user);
        let of_class = if fact.class.is_empty() { None } else { self.of_classes.get(&fact.class) };
        of_user.max(of_class).is_some_and(|end| *end >= since)
    }
}

impl Tracker {
    /// Notes the users and classes of jobs whose end a look showed.
    pub(super) fn note_ends(&mut self, turn: &LookResult) {
        let now = self.stamp.steady;
        for fact in list_ends(turn).iter().filter_map(|key| self.mirror.job_fact(*key)) {
            self.last_ends.of_users.insert(fact.user.clone(), now);
            self.last_ends.of_classes.insert(fact.class.clone(), now);
        }
    }

    /// Returns jobs that a limit stopped, of users and classes of which a job has just ended.
    pub(super) fn list_freed_of_limits(&mut self, turn: &LookResult) -> Vec<JobKey> {
        let ended_jobs = list_ends(turn);
        if ended_jobs.is_empty() {
            return Vec::new();
        }
        self.shorten_limit_pauses();
        let owners: BTreeSet<(String, String)> = ended_jobs
            .iter()
            .filter_map(|key| self.mirror.job_fact(*key))
            .map(|fact| (fact.user.clone(), fact.class.clone()))
            .collect();
        let suits = |key: &JobKey| {
            self.mirror.job_fact(*key).is_some_and(|fact| {
                owners.iter().any(|(user, class)| *user == fact.user || (!class.is_empty() && *class == fact.class))
            })
        };
        // As many as have ended: of a hundred more the same limit would stop all but these.
        let jobs: Vec<JobKey> = self.limited.iter().filter(|key| suits(key)).take(ended_jobs.len()).copied().collect();
        for key in &jobs {
            self.limited.remove(key);
            if let Some(job) = self.jobs.get_mut(key) {
                job.retry = None;
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
        let ended_jobs = list_ends(turn);
        let mut room: BTreeMap<String, usize> = BTreeMap::new();
        for fact in ended_jobs.iter().filter_map(|key| self.mirror.job_fact(*key)) {
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
        let mut candidates: Vec<JobKey> = self.vain.difference(&self.flying).copied().collect();
        candidates.sort_by_key(|key| (self.jobs.get(key).map_or(0, |t| t.vain), *key));
        candidates.retain(|key| {
            let user = self.mirror.job_fact(*key).map(|fact| fact.user.as_str());
            let Some(rest) = user.and_then(|user| room.get_mut(user)).filter(|rest| **rest > 0) else { return false };
            *rest -= 1;
            true
        });
        for key in &candidates {
            self.vain.remove(key);
            if let Some(job) = self.jobs.get_mut(key) {
                job.retry = None;
            }
        }
        candidates
    }

    /// Shortens the pause of jobs that a limit stopped and that are still on their way back, where
    /// an end that this look showed may have made room under it.
    fn shorten_limit_pauses(&mut self) {
        let soon = Time(self.stamp.now + DEPENDS.0);
        for key in &self.flying {
            let Some(fact) = self.mirror.job_fact(*key) else { continue };
            let is_theirs = self.last_ends.has_end_since(fact, self.stamp.steady);
            let Some(job) = self.jobs.get_mut(key).filter(|_| is_theirs) else { continue };
            if let Some(Retry::OnEnd(time)) = &mut job.retry {
                *time = soon.min(*time);
            }
        }
    }

    /// Shortens the pause of jobs that were released in vain and whose attempt has not come back
    /// yet while a job of these users ended: the cluster may have judged them before that end.
    fn shorten_pauses(&mut self, users: &BTreeMap<String, usize>) {
        let soon = Time(self.stamp.now + DEPENDS.0);
        for key in self.vain.intersection(&self.flying) {
            let is_theirs = self.mirror.job_fact(*key).is_some_and(|fact| users.contains_key(&fact.user));
            let Some(job) = self.jobs.get_mut(key).filter(|_| is_theirs) else { continue };
            job.vain = 0;
            if let Some(Retry::At(time)) = &mut job.retry {
                *time = soon.min(*time);
            }
        }
    }
}

fn list_ends(turn: &LookResult) -> Vec<JobKey> {
    let key = |news: &TrackerNews| if let TrackerNews::Ended { key, .. } = news { Some(*key) } else { None };
    turn.news.iter().filter_map(|(_, news)| key(news)).collect()
}
