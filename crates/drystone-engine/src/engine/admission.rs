//! Admission: the jobs that may start, by the limits that they share.
//!
//! A job is admitted when it fits beside all that are admitted already, whether these run or wait.
//! So whatever a policy starts of them keeps every limit, and no admitted job has to be taken back.
//! Of the jobs that wait for a limit, each that fits is admitted when there is room, in the order
//! of their numbers: one that does not fit holds back no other, as in Slurm.
//!
//! Of a limit on time left a job takes less the longer it runs: those that wait are looked at when
//! so much has worn off that the smallest of them fits.

use crate::model::{JobId, JobLimits, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Use of limits by admitted jobs, and the jobs that wait for one.
///
/// ```
/// use drystone_core::engine::Admission;
/// use drystone_core::model::{JobId, JobLimit, JobLimits, LimitClaim};
///
/// // A user may have 8 processors; the jobs ask for 6, 4 and 2.
/// let mut limits = JobLimits::default();
/// let (reason, of, family) = ("QOSMaxCpuPerUserLimit".into(), "QOS normal, user ada".into(), "QOS normal".into());
/// let limit = limits.add_limit(JobLimit { reason, of, family, most: 8 });
/// for (job, amount) in [6, 4, 2].into_iter().enumerate() {
///     let set = limits.intern_claims(vec![LimitClaim { limit, amount, binds: true }]);
///     limits.bind_job(JobId(job as u32), set);
/// }
/// let mut admission = Admission::new(&limits);
/// let admitted = [0, 1, 2].map(|job| admission.admit_or_queue(&limits, JobId(job)));
/// assert_eq!(admitted, [true, false, true]);
/// // The job of 4 processors needs more than the 2 that the last one leaves.
/// admission.note_departure(&limits, JobId(2));
/// assert_eq!(admission.admit_fitting(&limits), []);
/// admission.note_departure(&limits, JobId(0));
/// assert_eq!(admission.admit_fitting(&limits), [JobId(1)]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Admission {
    /// By limit.
    used: Vec<u64>,
    /// Jobs that wait for a limit, by their set of claims.
    waiting: BTreeMap<u32, BTreeSet<JobId>>,
    /// For each limit the sets of claims on it of jobs that wait.
    sets_at: BTreeMap<u32, BTreeSet<u32>>,
    /// Limits for which jobs wait and that have more room than when these were looked at last.
    freed: BTreeSet<u32>,
    /// For each limit on time left what running jobs take of it.
    wearing: BTreeMap<u32, BTreeMap<JobId, WearingClaim>>,
    /// The present, for limits on time left.
    now: Time,
}

/// Part of a limit that wears off while its job runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct WearingClaim {
    since: Time,
    amount: u64,
    /// Seconds after which nothing is left.
    span: i64,
}

impl WearingClaim {
    fn worn_amount(self, at: Time) -> u64 {
        let ran = at.0.saturating_sub(self.since.0);
        if ran <= 0 || self.span <= 0 {
            return 0;
        }
        let worn_share = u128::from(self.amount) * ran.min(self.span) as u128 / self.span as u128;
        u64::try_from(worn_share).unwrap_or(self.amount)
    }
}

impl Admission {
    /// No job is admitted.
    #[must_use]
    pub fn new(limits: &JobLimits) -> Admission {
        Admission { used: vec![0; limits.limits().len()], now: Time::MIN, ..Admission::default() }
    }

    /// A job may start by all other rules. Returns whether it is admitted; else it waits here.
    pub fn admit_or_queue(&mut self, limits: &JobLimits, job: JobId) -> bool {
        let Some(set) = limits.set_of(job) else { return true };
        if self.first_full(limits, set).is_none() {
            self.change_usage(limits, set, u64::saturating_add);
            return true;
        }
        self.waiting.entry(set).or_default().insert(job);
        for claim in limits.claims_of(set) {
            self.sets_at.entry(claim.limit).or_default().insert(set);
        }
        false
    }

    /// A job runs already, within the limits or beyond.
    pub fn claim_limits(&mut self, limits: &JobLimits, job: JobId) {
        if let Some(set) = limits.set_of(job) {
            self.change_usage(limits, set, u64::saturating_add);
        }
    }

    /// A job that arrived here or was taken has gone, however it has. Ask for
    /// [`Admission::admit_fitting`] when all that go in an instant have.
    pub fn note_departure(&mut self, limits: &JobLimits, job: JobId) {
        let Some(set) = limits.set_of(job) else { return };
        if self.remove(limits, set, job) {
            return;
        }
        self.change_usage(limits, set, u64::saturating_sub);
        for claim in limits.claims_of(set) {
            if let Some(running) = self.wearing.get_mut(&claim.limit) {
                running.remove(&job);
            }
        }
        let waits = |limit: &u32| self.sets_at.get(limit).is_some_and(|sets| !sets.is_empty());
        let freed_limits: Vec<u32> = limits.claims_of(set).iter().map(|claim| claim.limit).filter(waits).collect();
        self.freed.extend(freed_limits);
    }

    /// A job that is admitted started at this time: what it takes of limits on time left wears off.
    pub fn note_start(&mut self, limits: &JobLimits, job: JobId, since: Time) {
        let Some(set) = limits.set_of(job) else { return };
        let span = limits.span_of(set);
        for claim in limits.claims_of(set).iter().filter(|claim| limits.wears_off(claim.limit)) {
            let part = WearingClaim { since, amount: claim.amount, span };
            self.wearing.entry(claim.limit).or_default().insert(job, part);
        }
    }

    /// Time goes on: jobs that wait for time that others had left may have room now.
    pub fn advance_to(&mut self, limits: &JobLimits, now: Time) {
        if now <= self.now {
            return;
        }
        self.now = now;
        let waits = self.sets_at.iter().filter(|(_, sets)| !sets.is_empty()).map(|(&limit, _)| limit);
        self.freed.extend(waits.filter(|&limit| limits.wears_off(limit)));
    }

    /// Returns the next time at which so much of a limit on time left has worn off that another of
    /// the jobs that wait for it fits; `None` where none does before a running job has gone.
    #[must_use]
    pub fn next_room(&self, limits: &JobLimits) -> Option<Time> {
        let waits = self.sets_at.iter().filter(|(limit, sets)| !sets.is_empty() && limits.wears_off(**limit));
        waits.filter_map(|(&limit, sets)| self.next_room_at(limits, limit, sets)).min()
    }

    fn next_room_at(&self, limits: &JobLimits, limit: u32, sets: &BTreeSet<u32>) -> Option<Time> {
        let wearing_claims = self.wearing.get(&limit)?;
        let most = limits.limits().get(limit as usize)?.most;
        let claims = sets.iter().flat_map(|&set| limits.claims_of(set)).filter(|claim| claim.limit == limit);
        let usage = self.used_at(limit, self.now);
        // Jobs that fit already wait for another limit.
        let parts = claims.filter(|claim| claim.binds).map(|claim| claim.amount);
        let least = parts.filter(|part| usage.saturating_add(*part) > most).min()?;
        let fits = |at: Time| self.used_at(limit, at).saturating_add(least) <= most;
        let (mut before, mut by) =
            (self.now, wearing_claims.values().map(|part| part.since.saturating_add(Span(part.span))).max()?);
        if by <= before || !fits(by) {
            return None;
        }
        before = before.max(wearing_claims.values().map(|part| part.since).min()?);
        while by.0 - before.0 > 1 {
            let middle = Time(before.0 + (by.0 - before.0) / 2);
            if fits(middle) { by = middle } else { before = middle }
        }
        Some(by)
    }

    fn used_at(&self, limit: u32, at: Time) -> u64 {
        let worn_amount =
            self.wearing.get(&limit).map_or(0, |running| running.values().map(|part| part.worn_amount(at)).sum());
        self.used[limit as usize].saturating_sub(worn_amount)
    }

    /// Returns whether a job that waits may have room now.
    #[must_use]
    pub fn is_due(&self) -> bool {
        !self.freed.is_empty()
    }

    /// Admits each job that fits now, in the order of their numbers, and returns them.
    pub fn admit_fitting(&mut self, limits: &JobLimits) -> Vec<JobId> {
        let first = |waiting: &BTreeMap<u32, BTreeSet<JobId>>, set: u32| Some((*waiting.get(&set)?.first()?, set));
        let freed_limits = std::mem::take(&mut self.freed);
        let sets: BTreeSet<u32> =
            freed_limits.iter().filter_map(|limit| self.sets_at.get(limit)).flatten().copied().collect();
        let mut heads: BTreeSet<(JobId, u32)> = sets.iter().filter_map(|&set| first(&self.waiting, set)).collect();
        let mut admitted_jobs = Vec::new();
        while let Some((job, set)) = heads.pop_first() {
            // Room only shrinks while jobs are admitted: what does not fit now does not fit later.
            if self.first_full(limits, set).is_some() {
                continue;
            }
            self.change_usage(limits, set, u64::saturating_add);
            self.remove(limits, set, job);
            admitted_jobs.push(job);
            heads.extend(first(&self.waiting, set));
        }
        admitted_jobs
    }

    /// Returns the limit for which a job waits; `None` for one that does not wait here.
    #[must_use]
    pub fn limit_of(&self, limits: &JobLimits, job: JobId) -> Option<u32> {
        let set = limits.set_of(job)?;
        self.waiting.get(&set)?.contains(&job).then(|| self.first_full(limits, set)).flatten()
    }

    /// Returns what admitted jobs take of each limit, as if none had run.
    #[must_use]
    pub fn used_amounts(&self) -> &[u64] {
        &self.used
    }

    /// The first limit that has no room for a set of claims.
    fn first_full(&self, limits: &JobLimits, set: u32) -> Option<u32> {
        let full = |limit: u32, amount: u64| {
            self.used_at(limit, self.now).saturating_add(amount) > limits.limits()[limit as usize].most
        };
        limits.claims_of(set).iter().find(|claim| claim.binds && full(claim.limit, claim.amount)).map(|c| c.limit)
    }

    fn change_usage(&mut self, limits: &JobLimits, set: u32, by: impl Fn(u64, u64) -> u64) {
        for claim in limits.claims_of(set) {
            let usage = &mut self.used[claim.limit as usize];
            *usage = by(*usage, claim.amount);
        }
    }

    /// A job waits no more. Returns whether it did.
    fn remove(&mut self, limits: &JobLimits, set: u32, job: JobId) -> bool {
        let Some(jobs) = self.waiting.get_mut(&set) else { return false };
        let has_waited = jobs.remove(&job);
        if jobs.is_empty() {
            self.waiting.remove(&set);
            for claim in limits.claims_of(set) {
                if let Some(sets) = self.sets_at.get_mut(&claim.limit) {
                    sets.remove(&set);
                }
            }
        }
        has_waited
    }
}
