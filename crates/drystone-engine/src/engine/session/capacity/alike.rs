//! Processors that are alike: losses are counted, and jobs have no names of processors.
//!
//! That is how a machine is simulated whose policy only counts. Idle processors go first; where
//! there are too few, running jobs keep theirs until they end, and give back this many fewer. A
//! plan that leaves enough processors free by then is never let down by where jobs happen to be.

use super::super::{Session, SessionState};
use super::{AnnouncedLosses, NewsError};
use crate::model::{JobId, ProcSet, Procs, Time};
use crate::parts::RunningJob;
use crate::policy::{CapacityLoss, Drain, Outlook, PolicyEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BegunLoss {
    loss: CapacityLoss,
    /// Running jobs that hold some of its processors, and how many.
    drains: Vec<(JobId, Procs)>,
}

impl BegunLoss {
    fn idle_procs(&self) -> Procs {
        self.loss.on.len() - self.drains.iter().map(|drain| drain.1).sum::<Procs>()
    }
}

impl Session {
    /// Counts losses instead of giving names to jobs; for a driver that starts jobs on any
    /// processors. Call it before the first event, and only where the policy names none.
    pub(crate) fn count_losses(&mut self) {
        self.s.capacity.get_or_insert_default().alike = Some(Vec::new());
    }

    pub(crate) fn counts_losses(&self) -> bool {
        self.s.capacity.as_ref().is_some_and(|capacity| capacity.alike.is_some())
    }

    /// As [`Session::set_losses`] where losses are counted. `drains` says of losses that begin now
    /// which running jobs hold their processors, and how many; the others go from idle ones, and
    /// where these are too few from running jobs in the order of their predicted ends.
    pub(crate) fn set_counted_losses(
        &mut self,
        now: Time,
        losses: &[CapacityLoss],
        drains: &[(ProcSet, Vec<(JobId, Procs)>)],
    ) -> Result<bool, NewsError> {
        self.check_hears()?;
        let now = self.begin_news(now);
        let capacity = self.s.capacity.get_or_insert_default();
        let is_unchanged = capacity.losses == losses && capacity.due > now;
        if is_unchanged {
            return Ok(false);
        }
        (capacity.losses, capacity.seen) = (losses.to_vec(), now);
        self.s.count_free(drains);
        self.notify_policy(PolicyEvent::Capacity);
        Ok(true)
    }

    /// Running jobs by number, with the processors that they give back when they end.
    pub(crate) fn undrained_procs(&self) -> Vec<(JobId, Procs)> {
        let mut jobs: Vec<(JobId, Procs)> =
            self.s.world.running.iter().map(|job| (job.id, self.undrained_of(job.id))).collect();
        jobs.sort_unstable();
        jobs
    }

    /// Processors that a running job gives back when it ends.
    pub(crate) fn undrained_of(&self, id: JobId) -> Procs {
        self.s.world.job_entry(id).procs - self.s.drained_of(id)
    }
}

impl SessionState {
    fn begun_losses(&self) -> &[BegunLoss] {
        self.capacity.as_ref().and_then(|capacity| capacity.alike.as_deref()).unwrap_or(&[])
    }

    /// Processors of a running job that go when it ends.
    pub(super) fn drained_of(&self, id: JobId) -> Procs {
        self.begun_losses()
            .iter()
            .flat_map(|loss| &loss.drains)
            .filter(|drain| drain.0 == id)
            .map(|drain| drain.1)
            .sum()
    }

    /// Recomputes the free processors and the known future. `drains` are those of losses that begin
    /// now.
    pub(super) fn count_free(&mut self, drains: &[(ProcSet, Vec<(JobId, Procs)>)]) {
        let Some(mut capacity) = self.capacity.take() else { return };
        let before = capacity.alike.take().unwrap_or_default();
        let now = capacity.seen;
        let mut begun_losses: Vec<BegunLoss> = Vec::new();
        for loss in capacity.losses.iter().filter(|loss| !loss.on.is_empty() && loss.from <= now) {
            let known_loss = before.iter().find(|b| b.loss.from == loss.from && b.loss.on == loss.on);
            let announced_drains = || drains.iter().find(|entry| entry.0 == loss.on).map(|entry| entry.1.clone());
            let drains =
                known_loss.map_or_else(|| announced_drains().unwrap_or_default(), |old_loss| old_loss.drains.clone());
            begun_losses.push(BegunLoss { loss: loss.clone(), drains });
        }
        for loss in &mut begun_losses {
            loss.drains.retain(|drain| {
                self.world.jobs.get(drain.0).is_some_and(|record| record.entry.phase == crate::policy::Phase::Running)
            });
        }
        self.limit_to_sizes(&mut begun_losses);
        self.drain_what_lacks(&mut begun_losses);
        let outlook = build_outlook(&mut capacity, &begun_losses, now);
        let idle: i64 = begun_losses.iter().map(|b| i64::from(b.idle_procs())).sum();
        self.world.free = self.unused_procs() - idle;
        self.keep_reserves();
        self.draining = begun_losses.iter().any(|b| !b.drains.is_empty());
        capacity.alike = Some(begun_losses);
        self.capacity = Some(capacity);
        let plain = outlook.offline.is_empty() && outlook.windows.is_empty();
        self.world.outlook = (!plain).then(|| Box::new(outlook));
        self.show_supply();
    }

    /// Leaves no job more processors that are out than it has. A job that shrinks gives up others
    /// first; those beyond its size go at once.
    fn limit_to_sizes(&self, losses: &mut [BegunLoss]) {
        let mut procs_of: BTreeMap<JobId, Procs> = BTreeMap::new();
        for loss in losses {
            for (id, procs) in &mut loss.drains {
                let procs_left = procs_of.entry(*id).or_insert_with(|| self.world.job_entry(*id).procs);
                *procs = (*procs).min(*procs_left);
                *procs_left -= *procs;
            }
            loss.drains.retain(|drain| drain.1 > 0);
        }
    }

    /// Takes those out of the free processors that jobs hold because they are to grow. Where too
    /// few are left, the last of these jobs keep their sizes.
    fn keep_reserves(&mut self) {
        let Some(shapes) = &mut self.world.shapes else { return };
        let jobs = &self.world.jobs;
        let mut free = self.world.free;
        for (&id, state) in &mut shapes.states {
            let size = jobs.get(id).map_or(Procs::MAX, |record| record.entry.procs);
            let Some(more) = state.pending.and_then(|(to, _)| to.checked_sub(size)).filter(|&more| more > 0) else {
                continue;
            };
            match i64::from(more) <= free {
                true => free -= i64::from(more),
                false => state.pending = None,
            }
        }
        self.world.free = free;
    }

    /// Processors on which no job runs.
    fn unused_procs(&self) -> i64 {
        i64::from(self.world.machine.procs) - i64::from(self.world.running.procs())
    }

    /// Drains running jobs, those that are predicted to end first, where more processors are to go
    /// than are idle.
    fn drain_what_lacks(&self, losses: &mut [BegunLoss]) {
        let mut unused_procs = self.unused_procs();
        let mut running_jobs: Vec<RunningJob> = Vec::new();
        let mut at = 0;
        for i in 0..losses.len() {
            let mut lacking = i64::from(losses[i].idle_procs()) - unused_procs.max(0);
            unused_procs = (unused_procs - i64::from(losses[i].idle_procs())).max(0);
            if lacking > 0 && running_jobs.is_empty() {
                running_jobs = self.world.running.iter().copied().collect();
            }
            while lacking > 0 && at < running_jobs.len() {
                let job = running_jobs[at];
                let drained_procs: Procs =
                    losses.iter().flat_map(|b| &b.drains).filter(|d| d.0 == job.id).map(|d| d.1).sum();
                let more = i64::from(job.procs - drained_procs).min(lacking);
                if more > 0 {
                    let drains = &mut losses[i].drains;
                    match drains.iter_mut().find(|drain| drain.0 == job.id) {
                        Some(drain) => drain.1 += more as Procs,
                        None => drains.push((job.id, more as Procs)),
                    }
                    lacking -= more;
                }
                at += usize::from(lacking > 0);
            }
        }
    }
}

fn build_outlook(capacity: &mut AnnouncedLosses, losses: &[BegunLoss], now: Time) -> Outlook {
    let mut outlook = Outlook::default();
    capacity.due = Time::MAX;
    for BegunLoss { loss, drains } in losses {
        // No plan knows when a loss will be over that has lasted longer than was expected.
        let until = if loss.until <= now { Time::MAX } else { loss.until };
        if until < Time::MAX {
            capacity.due = capacity.due.min(until);
        }
        let idle = loss.on.len() - drains.iter().map(|drain| drain.1).sum::<Procs>();
        if idle > 0 {
            outlook.returns.push((until, idle));
        }
        outlook.drains.extend(drains.iter().map(|&(job, procs)| Drain { job, procs, until }));
        outlook.offline = outlook.offline.union(&loss.on);
    }
    for loss in capacity.losses.iter().filter(|loss| !loss.on.is_empty() && loss.from > now) {
        capacity.due = capacity.due.min(loss.from);
        outlook.windows.push(loss.clone());
    }
    outlook.sort_all();
    outlook
}
