//! Behaviour of the made-up controller.

use super::{ClusterOrder, Ending, FakeCluster, FakeController, JobState, LicenceFact, NodeState, PendingReason};
use std::collections::BTreeSet;

/// Interval at which the controller looks for jobs to start and saves its state, in milliseconds.
const SCHEDULES: i64 = 500;
const SAVES: i64 = 5_000;

impl FakeCluster {
    pub fn pass_time(&mut self, milliseconds: i64) {
        let until = self.now + milliseconds;
        while self.now < until {
            let step = (until - self.now).min(100);
            self.now += step;
            self.end_jobs();
            if self.now % SCHEDULES < step {
                self.schedule_jobs();
            }
            if self.now - self.saved.0 >= SAVES {
                self.saved = (self.now, Box::new(FakeController { jobs: self.jobs.clone(), next: self.next }));
            }
        }
    }

    fn end_jobs(&mut self) {
        let now = self.now;
        for job in self.jobs.values_mut().filter(|job| job.state == JobState::Running) {
            let ran = job.ran + (now - job.since);
            let (due, limit) = (job.asked.run * 1_000, job.asked.limit * 1_000);
            if ran >= due.min(limit) {
                job.ran = ran;
                job.ended = now;
                job.state = JobState::Ended(if due > limit { Ending::AtLimit } else { Ending::Completed });
                job.reason = PendingReason::None;
            }
        }
    }

    /// Starts released jobs in the order of their release, and none behind one that does not fit.
    fn schedule_jobs(&mut self) {
        let mut waiting_jobs: Vec<u64> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.state == JobState::Pending && !job.held)
            .map(|(&number, _)| number)
            .collect();
        waiting_jobs.sort_by_key(|number| self.jobs[number].released);
        let mut full = BTreeSet::new();
        for number in waiting_jobs {
            let partition = self.jobs[&number].asked.partition.clone();
            if full.contains(&partition) {
                continue;
            }
            if let Some(job) = self.jobs.get_mut(&number).filter(|job| job.asked.never) {
                (job.held, job.reason) = (true, PendingReason::Unsatisfiable);
                continue;
            }
            let placement = if self.faults.is_idle(self.now) { None } else { self.place_job(number) };
            let Some(on) = placement else {
                if let Some(job) = self.jobs.get_mut(&number) {
                    let pinned_nodes = job.nodes.clone().unwrap_or_default();
                    let out =
                        pinned_nodes.iter().any(|&at| self.nodes[at].2 != NodeState::Up) || !self.windows.is_empty();
                    job.reason = if out { PendingReason::NodesOut } else { PendingReason::Room };
                }
                full.insert(partition);
                continue;
            };
            let now = self.now;
            let key = self.job_key(number);
            self.record.starts.push((key, now));
            if let Some(job) = self.jobs.get_mut(&number) {
                (job.state, job.on, job.since, job.started) = (JobState::Running, on, now, now);
                job.reason = PendingReason::None;
            }
        }
        self.note_use();
    }

    fn place_job(&self, number: u64) -> Option<Vec<(usize, u32)>> {
        let job = self.jobs.get(&number)?;
        if job.asked.licences.iter().any(|(name, count)| self.licence_fact(name).free < u64::from(*count)) {
            return None;
        }
        let own = self.partitions.get(&job.asked.partition);
        let bound = |at: &usize| job.nodes.as_ref().is_none_or(|nodes| nodes.contains(at));
        let is_allowed = |at: &usize| own.is_none_or(|nodes| nodes.contains(at)) && bound(at);
        let piece = job.asked.together;
        let mut remainder = job.asked.procs;
        let mut on = Vec::new();
        let now = self.now / 1_000;
        for at in (0..self.nodes.len()).filter(is_allowed) {
            if self.nodes[at].2 != NodeState::Up || self.is_reserved(at, now, now + job.asked.limit) {
                continue;
            }
            let procs = (self.idle_on(at) / piece * piece).min(remainder);
            if procs > 0 {
                on.push((at, procs));
                remainder -= procs;
            }
        }
        (remainder == 0).then_some(on)
    }

    pub(super) fn licence_fact(&self, name: &str) -> LicenceFact {
        let (total, foreign_usage) = self.licences.get(name).copied().unwrap_or_default();
        let running_jobs = self.jobs.values().filter(|job| job.state == JobState::Running);
        let of_name = running_jobs.flat_map(|job| &job.asked.licences).filter(|(own, _)| own == name);
        let held_count: u64 = of_name.map(|&(_, count)| u64::from(count)).sum();
        LicenceFact {
            name: name.to_string(),
            total,
            free: total.saturating_sub(foreign_usage).saturating_sub(held_count),
        }
    }

    /// Returns whether a reservation has a node at some time from one second to another.
    pub(super) fn is_reserved(&self, at: usize, from: i64, until: i64) -> bool {
        self.windows.get(&at).is_some_and(|windows| windows.iter().any(|&(begin, end)| begin < until && from < end))
    }

    pub(super) fn idle_on(&self, at: usize) -> u32 {
        self.nodes[at].1.saturating_sub(self.used_on(at))
    }

    fn used_on(&self, at: usize) -> u32 {
        let running_jobs = self.jobs.values().filter(|job| job.state == JobState::Running);
        running_jobs.flat_map(|job| &job.on).filter(|(node, _)| *node == at).map(|&(_, procs)| procs).sum()
    }

    fn note_use(&mut self) {
        let beyond = (0..self.nodes.len()).map(|at| self.used_on(at).saturating_sub(self.nodes[at].1)).max();
        self.record.oversubscribed = self.record.oversubscribed.max(beyond.unwrap_or(0));
    }

    pub(super) fn live_on(&self, at: usize) -> Vec<u64> {
        let on = |job: &super::FakeJob| job.on.iter().any(|&(node, _)| node == at);
        let live = |job: &super::FakeJob| matches!(job.state, JobState::Running | JobState::Suspended);
        self.jobs.iter().filter(|(_, job)| live(job) && on(job)).map(|(&number, _)| number).collect()
    }

    pub(super) fn requeue_job(&mut self, number: u64) {
        let now = self.now;
        self.releases += 1;
        let release_number = self.releases;
        if let Some(job) = self.jobs.get_mut(&number) {
            // As Slurm does, whose suspended jobs have no priority.
            let is_orphaned = job.state == JobState::Suspended;
            job.held |= is_orphaned;
            job.submit = (now / 1_000).max(job.submit + 1);
            job.restarts += 1;
            let reason = if is_orphaned { PendingReason::AdminHold } else { PendingReason::Turn };
            (job.state, job.reason, job.released) = (JobState::Pending, reason, release_number);
            (job.ran, job.since, job.started) = (0, 0, 0);
            job.on.clear();
        }
    }

    /// Carries out an order, from any source. Returns whether the controller takes it.
    pub(super) fn carry_out(&mut self, order: &ClusterOrder) -> bool {
        let key = order.job_key();
        let now = self.now;
        let nodes = |names: &[String]| {
            self.nodes.iter().enumerate().filter(|(_, n)| names.contains(&n.0)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let pinned_nodes = if let ClusterOrder::Pin { nodes: names, .. } = order { nodes(names) } else { Vec::new() };
        let Some(job) = self.jobs.get_mut(&key.id) else { return false };
        match (order, job.state) {
            (_, JobState::Ended(_)) => return false,
            (ClusterOrder::Pin { .. }, JobState::Pending) => job.nodes = Some(pinned_nodes),
            (ClusterOrder::Unpin(_), _) => job.nodes = None,
            (ClusterOrder::Release(_), JobState::Pending) => {
                self.releases += 1;
                (job.held, job.reason, job.released) = (false, PendingReason::Turn, self.releases);
            }
            (ClusterOrder::Release(_), _) => job.held = false,
            (ClusterOrder::Hold(_), state) => {
                job.held = true;
                if state == JobState::Pending {
                    job.reason = PendingReason::UserHold;
                }
            }
            (ClusterOrder::Suspend(_), JobState::Running) => {
                job.ran += now - job.since;
                job.state = JobState::Suspended;
            }
            (ClusterOrder::Suspend(_), JobState::Suspended) => {}
            (ClusterOrder::Resume(_), JobState::Suspended) => {
                (job.state, job.since) = (JobState::Running, now);
                self.note_use();
            }
            (ClusterOrder::Requeue(_), JobState::Running | JobState::Suspended) => {
                self.requeue_job(key.id);
                if let Some(job) = self.jobs.get_mut(&key.id) {
                    (job.held, job.reason) = (false, PendingReason::Turn);
                }
            }
            (&ClusterOrder::Shrink { nodes, .. }, JobState::Running) if !self.keeps_nodes => {
                let had = i64::from(job.asked.procs);
                job.on.truncate(nodes.max(1) as usize);
                job.asked.procs = job.on.iter().map(|(_, procs)| procs).sum();
                // Its work is spread evenly: fewer processors take longer for the rest of it.
                let ran = (job.ran + now - job.since) / 1_000;
                job.asked.run = ran + (job.asked.run - ran) * had / i64::from(job.asked.procs.max(1));
            }
            (ClusterOrder::Cancel(_), state) => {
                if state == JobState::Running {
                    job.ran += now - job.since;
                }
                (job.state, job.ended) = (JobState::Ended(Ending::Cancelled), now);
            }
            _ => return false,
        }
        true
    }
}
