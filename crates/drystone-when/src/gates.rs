//! Jobs that wait for more than room: for a limit that they share with others, for other jobs, for
//! a time. In each future they compete from the instant on at which that is over.

use drystone_core::engine::{Admission, Incoming};
use drystone_core::model::{Job, JobId, JobLimits, LimitClaim, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Conditions of jobs that are held back in a session, by the numbers that they have there.
#[derive(Clone, Debug, Default)]
pub struct StartGates {
    /// Limits that jobs share, and what each takes of them, whether it runs or is held back.
    pub limits: JobLimits,
    /// Earliest times.
    pub eligible: BTreeMap<JobId, Time>,
    /// Jobs that have to be over before.
    pub after: BTreeMap<JobId, BTreeSet<JobId>>,
    /// Claims of jobs that come in futures, by their user.
    pub of_user: BTreeMap<i32, Vec<UserClaim>>,
}

/// Claim of every job of a user that comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserClaim {
    /// Place of the limit.
    pub limit: u32,
    /// True if processors count, else jobs do.
    pub processors: bool,
    /// Least amount with which a job waits where the limit is full.
    pub least: u64,
}

impl StartGates {
    /// Returns whether no job is held back by any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty() && self.eligible.is_empty() && self.after.is_empty()
    }
}

/// The gates in one future.
#[derive(Clone, Debug)]
pub(crate) struct GateKeeper<'a> {
    gates: &'a StartGates,
    /// Those of the gates, and of jobs that have come since.
    limits: JobLimits,
    admission: Admission,
    /// Other jobs that have to be over, of each job that waits for some.
    waits: BTreeMap<JobId, BTreeSet<JobId>>,
    agenda: BTreeSet<(Time, JobId)>,
    /// Jobs that compete from now on.
    open: VecDeque<JobId>,
    now: Time,
    freed: bool,
}

impl<'a> GateKeeper<'a> {
    /// Gates at the present, before which these jobs run and those are held back.
    pub(crate) fn new(
        gates: &'a StartGates,
        now: Time,
        running: impl Iterator<Item = JobId>,
        holds: impl Iterator<Item = JobId>,
    ) -> GateKeeper<'a> {
        let mut keeper = GateKeeper {
            gates,
            limits: gates.limits.clone(),
            admission: Admission::new(&gates.limits),
            waits: gates.after.clone(),
            agenda: BTreeSet::new(),
            open: VecDeque::new(),
            now: Time(now.0 + 1),
            freed: false,
        };
        running.for_each(|job| keeper.admission.claim_limits(&keeper.limits, job));
        for job in holds {
            match gates.eligible.get(&job) {
                Some(&time) if time > now => _ = keeper.agenda.insert((time, job)),
                _ => keeper.admit_job(job),
            }
        }
        keeper
    }

    fn has_gate(&self, job: JobId) -> bool {
        let StartGates { eligible, after, .. } = self.gates;
        eligible.contains_key(&job) || after.contains_key(&job) || self.limits.set_of(job).is_some()
    }

    /// Its time has come: a job competes unless others or a limit hold it back. A job without any
    /// gate is held back for good.
    fn admit_job(&mut self, job: JobId) {
        let waits_for_others = self.waits.get(&job).is_some_and(|blockers| !blockers.is_empty());
        if !waits_for_others && self.has_gate(job) && self.admission.admit_or_queue(&self.limits, job) {
            self.open.push_back(job);
        }
    }

    /// The time of its next event.
    pub(crate) fn next_time(&self) -> Option<Time> {
        if self.freed || !self.open.is_empty() {
            return Some(self.now);
        }
        self.agenda.first().map(|due| due.0)
    }

    /// Takes it.
    pub(crate) fn next(&mut self) -> Incoming<'static> {
        if std::mem::take(&mut self.freed) {
            self.open.extend(self.admission.admit_fitting(&self.limits));
        } else if self.open.is_empty()
            && let Some((time, job)) = self.agenda.pop_first()
        {
            self.now = time;
            self.admit_job(job);
        }
        self.open.pop_front().map_or(Incoming::Nothing, Incoming::Release)
    }

    /// A job comes. Returns whether it competes at once.
    pub(crate) fn note_arrival(&mut self, id: JobId, job: &Job) -> bool {
        let Some(claims) = self.gates.of_user.get(&job.user).filter(|_| job.user >= 0) else { return true };
        let claim = |claim: &UserClaim| {
            let amount = if claim.processors { u64::from(job.procs) } else { 1 };
            let most = self.limits.limits().get(claim.limit as usize).map_or(0, |limit| limit.most);
            LimitClaim { limit: claim.limit, amount: amount.min(most), binds: amount >= claim.least }
        };
        let claims = claims.iter().map(claim).collect();
        let set = self.limits.intern_claims(claims);
        self.limits.bind_job(id, set);
        self.admission.admit_or_queue(&self.limits, id)
    }

    /// A job has gone. Returns whether others may compete now.
    pub(crate) fn note_departure(&mut self, id: JobId, now: Time) -> bool {
        self.now = now;
        self.admission.note_departure(&self.limits, id);
        self.freed |= self.admission.is_due();
        let freed_jobs = self.waits.iter_mut().filter_map(|(&job, blockers)| {
            let last = blockers.remove(&id) && blockers.is_empty();
            last.then_some(job)
        });
        for job in freed_jobs.collect::<Vec<JobId>>() {
            // One whose time has not come is looked at then.
            if !self.agenda.iter().any(|due| due.1 == job) {
                self.admit_job(job);
            }
        }
        self.freed || !self.open.is_empty()
    }
}
