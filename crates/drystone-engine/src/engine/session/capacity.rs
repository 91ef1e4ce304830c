//! Processors that fail, come back or are announced to be out.

mod alike;

use super::busy::BusyProcessors;
use super::{NewsError, Session, SessionState};
use crate::model::{JobId, ProcSet, Procs, SharedSort, Time};
use crate::policy::{Action, CapacityLoss, Drain, Outlook, Phase, Placement, PolicyEvent};
use alike::BegunLoss;
use serde::{Deserialize, Serialize};

/// Announced losses, and the time of their next check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AnnouncedLosses {
    losses: Vec<CapacityLoss>,
    /// As of when they were looked at last: the policy knows what had begun by then.
    seen: Time,
    /// Time at which the next announced window begins, or the next loss lasts longer than expected;
    /// [`Time::MAX`] for never.
    due: Time,
    /// True if running jobs share processors, because another scheduler started them so.
    shared: bool,
    /// Begun losses, where losses are counted.
    alike: Option<Vec<BegunLoss>>,
}

impl Default for AnnouncedLosses {
    fn default() -> AnnouncedLosses {
        AnnouncedLosses { losses: Vec::new(), seen: Time::MIN, due: Time::MAX, shared: false, alike: None }
    }
}

impl Session {
    /// Says which processors are out now and which will be, all of them: what was said before is
    /// forgotten. A loss that has begun is in force until it is no longer among `losses`, also
    /// beyond its expected end. Jobs on lost processors run on, and their processors go when they
    /// end: a driver that knows of jobs that have failed says so ([`Session::note_requeue`],
    /// [`Session::note_end`]) before. Returns whether anything has changed.
    ///
    /// From the first loss on, each job has named processors: those on which it was started, else
    /// the lowest that are idle and up, and as far as possible not announced to go before its
    /// predicted end.
    ///
    /// # Errors
    /// A policy that does not [hear](crate::policy::Policy::can_hear_news) of it; a processor
    /// beyond the machine; an end that does not come after its beginning. The session is then
    /// unchanged.
    pub fn set_losses(&mut self, now: Time, losses: &[CapacityLoss]) -> Result<bool, NewsError> {
        self.check_hears()?;
        let machine = self.s.world.machine.procs;
        for loss in losses {
            let procs = loss.on.len();
            if loss.on.ranges().last().is_some_and(|r| r.end > machine) {
                return Err(NewsError::Loss(format!("processors {} are not all of the machine of {machine}", loss.on)));
            }
            if loss.until <= loss.from && procs > 0 {
                return Err(NewsError::Loss(format!(
                    "processors {} are out from {} until {}: the end must come after the beginning",
                    loss.on, loss.from, loss.until
                )));
            }
        }
        let now = self.begin_news(now);
        if self.s.capacity.as_ref().map_or(losses.is_empty(), |capacity| capacity.losses == losses) {
            return Ok(false);
        }
        if self.counts_losses() {
            return self.set_counted_losses(now, losses, &[]);
        }
        self.name_all();
        let capacity = self.s.capacity.get_or_insert_default();
        (capacity.losses, capacity.seen) = (losses.to_vec(), now);
        self.s.refresh_capacity();
        debug_assert!(self.s.world.now == now);
        self.notify_policy(PolicyEvent::Capacity);
        Ok(true)
    }

    /// Returns the last announcement of processors that are out or will be.
    #[must_use]
    pub fn announced_losses(&self) -> &[CapacityLoss] {
        self.s.capacity.as_ref().map_or(&[], |capacity| &capacity.losses)
    }

    /// Idle processors that are out; those of jobs that still run are in use.
    #[must_use]
    #[inline]
    pub fn down_processors(&self) -> Procs {
        match &self.s.world.outlook {
            None => 0,
            Some(outlook) => outlook.down,
        }
    }

    /// Processors that are out, idle ones and those of jobs that still run on them.
    #[must_use]
    pub fn offline_processors(&self) -> Procs {
        self.s.world.outlook.as_ref().map_or(0, |outlook| outlook.offline.len())
    }

    /// True if the policy chooses the processors on which jobs start, or their nodes.
    pub(crate) fn names_processors(&self) -> bool {
        self.scheduler.policy.needed_abilities().name || self.is_on_nodes()
    }

    /// Running jobs on some of these processors, by number; suspended ones that were there only
    /// where `all`, or where `suspended` alone asks for them.
    pub(crate) fn on_processors(&self, on: &ProcSet, has_running: bool, has_suspended: bool) -> Vec<JobId> {
        let world = &self.s.world;
        let affected_jobs = world.named.iter().filter(|(_, set)| !set.is_disjoint(on)).map(|(&id, _)| id);
        let counts = |id: &JobId| match world.job_entry(*id).phase {
            Phase::Running => has_running,
            Phase::Suspended => has_running || has_suspended,
            _ => false,
        };
        affected_jobs.filter(counts).collect()
    }

    /// Returns the time of the next check of capacity; [`Time::MAX`] for never.
    pub(super) fn capacity_due(&self) -> Time {
        self.s.capacity.as_ref().map_or(Time::MAX, |capacity| capacity.due)
    }

    /// A window begins by now, or a loss lasts longer than was expected. Returns whether there was
    /// one.
    pub(crate) fn look_at_capacity(&mut self, now: Time) -> bool {
        if self.capacity_due() > now {
            return false;
        }
        if let Some(capacity) = &mut self.s.capacity {
            capacity.seen = now;
        }
        self.s.refresh_capacity();
        self.notify_policy(PolicyEvent::Capacity);
        true
    }

    /// From now on every job has named processors.
    pub(super) fn name_all(&mut self) {
        if self.s.names {
            return;
        }
        self.s.names = true;
        self.s.draining = false;
        self.s.capacity.get_or_insert_default().alike = None;
        let nameless = |id: &JobId| !self.s.world.named.contains_key(id);
        let nameless_jobs: Vec<JobId> = self.s.world.running.iter().map(|job| job.id).filter(nameless).collect();
        for id in nameless_jobs {
            self.s.take_place(id, None);
        }
        self.s.refresh_capacity();
    }

    /// Gives processors to the jobs that this pass has started anywhere.
    #[cold]
    pub(super) fn place_started(&mut self) {
        for at in 0..self.actions.list().len() {
            let (Action::Start { job, on: Placement::Any, .. }
            | Action::StartWith { job, on: Placement::Any, .. }
            | Action::Resume(job)
            | Action::ResumeOn { job, on: Placement::Any }
            | Action::ResumeWith { job, .. }) = self.actions.list()[at]
            else {
                continue;
            };
            if self.s.world.job_entry(job).phase == Phase::Running && !self.s.world.named.contains_key(&job) {
                self.s.take_place(job, None);
            }
        }
    }
}

impl SessionState {
    /// Gives a running job processors: those it is said to be on, if they suit it, also where
    /// another job is on them; else idle ones, and where there are too few any others.
    pub(super) fn take_place(&mut self, id: JobId, on: Option<&ProcSet>) {
        let (procs, end) = (self.world.job_entry(id).procs, self.world.job_entry(id).predicted_end());
        let machine = ProcSet::from_range(0..self.world.machine.procs);
        let given_set = on.filter(|set| set.len() == procs && set.is_subset(&machine));
        let set = given_set.cloned().unwrap_or_else(|| {
            let idle = machine.difference(&self.named_busy.to_set());
            let (mut up, mut ahead, mut later) = (idle.clone(), ProcSet::new(), ProcSet::new());
            if let Some(outlook) = self.world.outlook.as_deref() {
                up = idle.difference(&outlook.offline);
                for window in &outlook.windows {
                    let side = if window.from < end { &mut ahead } else { &mut later };
                    *side = side.union(&window.on);
                }
            }
            // On what goes after its end, so that what stays is left to longer jobs; on what goes
            // before it only at last.
            let wishes = [up.intersection(&later).difference(&ahead), up.difference(&ahead), up, idle, machine];
            wishes.iter().fold(ProcSet::new(), |set, wish| {
                let missing = procs - set.len();
                if missing == 0 { set } else { set.union(&wish.difference(&set).lowest_procs(missing)) }
            })
        });
        self.named_busy.add_set(&set);
        self.world.named.insert(id, set);
    }

    /// Recomputes, from the losses and the running jobs, the free processors and the known future.
    pub(super) fn refresh_capacity(&mut self) {
        if self.capacity.as_ref().is_some_and(|capacity| capacity.alike.is_some()) {
            return self.count_free(&[]);
        }
        let runs = |id: &JobId| self.world.job_entry(*id).phase == Phase::Running;
        let named_running: Vec<(&JobId, &ProcSet)> = self.world.named.iter().filter(|(id, _)| runs(id)).collect();
        let busy = ProcSet::union_of(named_running.iter().map(|(_, set)| *set));
        let held_procs: u64 = named_running.iter().map(|(_, set)| u64::from(set.len())).sum();
        let Some(capacity) = &mut self.capacity else {
            self.world.free = i64::from(self.world.machine.procs) - i64::from(busy.len());
            self.named_busy = BusyProcessors::from_set(&busy);
            return;
        };
        let mut outlook = Outlook::default();
        let now = capacity.seen;
        capacity.due = Time::MAX;
        capacity.shared = held_procs > u64::from(busy.len());
        if capacity.shared {
            outlook.shared.extend(named_running.iter().map(|&(&id, set)| (id, set.clone())));
        }
        // What is in two losses at once is back when both are over.
        let mut losses: Vec<&CapacityLoss> = capacity.losses.iter().filter(|loss| !loss.on.is_empty()).collect();
        losses.sort_shared_by_key(|loss| (std::cmp::Reverse(loss.until), loss.from));
        for loss in losses {
            if loss.from > now {
                capacity.due = capacity.due.min(loss.from);
                outlook.windows.push(loss.clone());
                continue;
            }
            // It is not known when a loss will be over that has lasted longer than was expected.
            let until = if loss.until <= now { Time::MAX } else { loss.until };
            if until < Time::MAX {
                capacity.due = capacity.due.min(until);
            }
            let out = loss.on.difference(&outlook.offline);
            let idle = out.difference(&busy).len();
            if idle > 0 {
                outlook.returns.push((until, idle));
            }
            for (id, set) in &named_running {
                let procs = set.intersection(&out).len();
                if procs > 0 {
                    outlook.drains.push(Drain { job: **id, procs, until });
                }
            }
            outlook.offline = outlook.offline.union(&out);
            if until < Time::MAX {
                outlook.back.push((until, out));
            }
        }
        outlook.sort_all();
        self.world.free = i64::from(self.world.machine.procs) - i64::from(busy.union(&outlook.offline).len());
        self.named_busy = BusyProcessors::from_set(&busy);
        let plain = outlook.offline.is_empty() && outlook.windows.is_empty() && outlook.shared.is_empty();
        self.world.outlook = (!plain).then(|| Box::new(outlook));
        self.show_supply();
    }

    pub(super) fn are_out(&self, set: &ProcSet) -> bool {
        self.world.outlook.as_ref().is_some_and(|outlook| !outlook.offline.is_disjoint(set))
    }

    /// Returns whether a job that leaves these processors leaves some that are out, or that another
    /// job runs on.
    pub(super) fn is_irregular(&self, set: &ProcSet) -> bool {
        self.capacity.as_ref().is_some_and(|capacity| capacity.shared) || self.are_out(set)
    }
}
