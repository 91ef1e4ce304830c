//! Licences: the number of each that the policy's jobs can have.
//!
//! Jobs of others hold some, of the cluster or elsewhere, for an unknown time. To the session that
//! is less supply.

use super::{DaemonMode, Flying, LookResult, Tracked, TrackedPlace, Tracker, TrackerNews};
use crate::cluster::{JobFact, JobState};
use drystone::model::ResourceId;
use std::collections::BTreeMap;

impl Tracker {
    /// Returns whether the licences that a job asks for are counted: then the policy starts it.
    pub(super) fn counts_licences(&self, fact: &JobFact) -> bool {
        !fact.licences.is_empty() && fact.licences.iter().all(|(name, _)| self.demands.licence_number(name).is_some())
    }

    /// Counts licences whose names are new to the cluster. Call it before jobs are looked at that
    /// may ask for them.
    pub(super) fn meet_licences(&mut self) {
        if !self.settings.counts {
            return;
        }
        for licence in self.mirror.licences() {
            if self.demands.licence_number(&licence.name).is_none() {
                self.demands.add_licence(&licence.name, licence.total);
            }
        }
    }

    /// Returns how many of each licence jobs have been ordered to start with that no look has seen
    /// running yet: to the cluster these are free.
    pub(crate) fn ordered_licences(&self) -> BTreeMap<&str, u64> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        if self.settings.mode != DaemonMode::Drive {
            return counts;
        }
        let launches = |tracked: &&Tracked| tracked.is_flying(Flying::Launching) || tracked.is_flying(Flying::Planned);
        let launching_jobs = self.flying.iter().filter_map(|key| self.jobs.get(key)).filter(launches);
        let facts = launching_jobs.filter_map(|tracked| self.mirror.job_fact(tracked.key));
        for (name, count) in facts.filter(|fact| fact.state == JobState::Pending).flat_map(|fact| &fact.licences) {
            *counts.entry(name).or_default() += u64::from(*count);
        }
        counts
    }

    /// Tells the session how many licences there are, where that has changed.
    pub(super) fn look_at_licences(&mut self, turn: &mut LookResult) {
        let present_licences = self.licences_here();
        if present_licences == self.licences {
            return;
        }
        for licence in self.mirror.licences() {
            if let Some(id) = self.demands.licence_number(&licence.name) {
                self.demands.raise_total(id, licence.total);
            }
        }
        self.licences.clone_from(&present_licences);
        turn.news.push((None, TrackerNews::Supply(present_licences)));
    }

    /// Returns how many there are of each licence that is counted: those that are free, and those
    /// of the jobs that the session knows to run.
    fn licences_here(&self) -> Vec<(ResourceId, u64)> {
        let mut present_counts: BTreeMap<&str, u64> = BTreeMap::new();
        if self.demands.counted_licences().next().is_none() {
            return Vec::new();
        }
        for job in self.jobs.values().filter(|job| job.place == TrackedPlace::Running) {
            let fact = self.mirror.job_fact(job.key).filter(|fact| fact.state == JobState::Running);
            for (name, count) in fact.into_iter().flat_map(|fact| &fact.licences) {
                *present_counts.entry(name).or_default() += u64::from(*count);
            }
        }
        let mut of = |(id, name, _)| {
            let held_count = present_counts.remove(name).unwrap_or(0);
            let seen_licence = self.mirror.licences().iter().find(|licence| licence.name == name);
            (id, seen_licence.map_or(0, |licence| licence.total.min(licence.free.saturating_add(held_count))))
        };
        self.demands.counted_licences().map(&mut of).collect()
    }
}
