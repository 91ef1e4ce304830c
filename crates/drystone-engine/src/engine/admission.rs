//! Admission: the jobs that may start, by the limits that they share.
//!
//! A job is admitted when it fits beside all that are admitted already, whether these run or wait.
//! So whatever a policy starts of them keeps every limit. Of the jobs that wait for a limit, each
//! that fits is admitted when there is room, in the order of their numbers: one that does not fit
//! holds back no other, as in Slurm.
//!
//! A job that only waits uses nothing of a limit. Where an admitted job finds no room on the
//! machine, the jobs that its claim holds back are tried ([`Admission::claimed_jobs`]): they wait
//! beside it without a claim. Of the starts of a pass the first keep the limits
//! ([`Admission::excess_of_starts`]), and jobs for which they leave nothing wait for the limit
//! again ([`Admission::expire_trials`], [`Admission::withdraw_excess`]).
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
    /// Jobs that share a limit, are admitted and have not started.
    booked: BTreeSet<JobId>,
    /// Jobs that wait for a limit, and that a policy may start if they fit it then.
    tried: BTreeSet<JobId>,
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
            self.booked.insert(job);
            return true;
        }
        self.queue_job(limits, set, job);
        false
    }

    /// A job waits for a limit.
    fn queue_job(&mut self, limits: &JobLimits, set: u32, job: JobId) {
        self.waiting.entry(set).or_default().insert(job);
        for claim in limits.claims_of(set) {
            self.sets_at.entry(claim.limit).or_default().insert(set);
        }
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
        self.booked.remove(&job);
        self.change_usage(limits, set, u64::saturating_sub);
        for claim in limits.claims_of(set) {
            if let Some(running) = self.wearing.get_mut(&claim.limit) {
                running.remove(&job);
            }
        }
        self.note_freed(limits, set);
    }

    /// The limits of a set of claims have more room.
    fn note_freed(&mut self, limits: &JobLimits, set: u32) {
        let waits = |limit: &u32| self.sets_at.get(limit).is_some_and(|sets| !sets.is_empty());
        let freed_limits: Vec<u32> = limits.claims_of(set).iter().map(|claim| claim.limit).filter(waits).collect();
        self.freed.extend(freed_limits);
    }

    /// A job that is admitted or was tried started at this time: what it takes of limits on time
    /// left wears off.
    pub fn note_start(&mut self, limits: &JobLimits, job: JobId, since: Time) {
        let Some(set) = limits.set_of(job) else { return };
        self.booked.remove(&job);
        if self.remove(limits, set, job) {
            self.change_usage(limits, set, u64::saturating_add);
        }
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
            self.booked.insert(job);
            admitted_jobs.push(job);
            heads.extend(first(&self.waiting, set));
        }
        admitted_jobs
    }

    /// Returns whether a job may wait for the claim of another that waits itself.
    #[must_use]
    pub fn has_claims(&self) -> bool {
        let lacks_claims = self.booked.is_empty() && self.tried.is_empty();
        !self.waiting.is_empty() && !lacks_claims
    }

    /// Returns the jobs that claims of waiting jobs alone hold back, in the order of their numbers:
    /// each of them fits beside the jobs that have started, and none is tried yet. `is_own` is
    /// false for a job of another machine, whose claim stays.
    ///
    /// Cost: O(sets + result + admitted jobs that wait).
    #[must_use]
    pub fn claimed_jobs(&self, limits: &JobLimits, is_own: impl Fn(JobId) -> bool) -> Vec<JobId> {
        if !self.has_claims() {
            return Vec::new();
        }
        let room = RoomBesideStarted::new(self, limits, &is_own);
        let fitting_sets = self.waiting.iter().filter(|(set, _)| room.has_room(limits, **set));
        let jobs = fitting_sets.flat_map(|(_, jobs)| jobs.iter().copied());
        let mut jobs: Vec<JobId> = jobs.filter(|job| is_own(*job) && !self.tried.contains(job)).collect();
        jobs.sort_unstable();
        jobs
    }

    /// Returns whether claims of waiting jobs alone hold this job back.
    #[must_use]
    pub fn is_claimed(&self, limits: &JobLimits, job: JobId, is_own: impl Fn(JobId) -> bool) -> bool {
        let Some(set) = limits.set_of(job).filter(|_| self.has_claims()) else { return false };
        self.waiting.get(&set).is_some_and(|jobs| jobs.contains(&job))
            && RoomBesideStarted::new(self, limits, is_own).has_room(limits, set)
    }

    /// Jobs that wait for a limit are tried from now on.
    pub fn begin_trials(&mut self, jobs: &[JobId]) {
        self.tried.extend(jobs);
    }

    /// Returns whether a job is tried.
    #[must_use]
    pub fn has_trials(&self, is_own: impl Fn(JobId) -> bool) -> bool {
        self.tried.iter().any(|&job| is_own(job))
    }

    /// Ends the trials of jobs that do not fit beside the jobs that have started, and returns them.
    pub fn expire_trials(&mut self, limits: &JobLimits, is_own: impl Fn(JobId) -> bool) -> Vec<JobId> {
        let room = RoomBesideStarted::new(self, limits, &is_own);
        let lacks_room = |job: &JobId| limits.set_of(*job).is_some_and(|set| !room.has_room(limits, set));
        let jobs: Vec<JobId> = self.tried.iter().copied().filter(|job| is_own(*job) && lacks_room(job)).collect();
        jobs.iter().for_each(|job| _ = self.tried.remove(job));
        jobs
    }

    /// Ends all trials of a machine's jobs, and returns these jobs.
    pub fn end_trials(&mut self, is_own: impl Fn(JobId) -> bool) -> Vec<JobId> {
        let jobs: Vec<JobId> = self.tried.iter().copied().filter(|&job| is_own(job)).collect();
        jobs.iter().for_each(|job| _ = self.tried.remove(job));
        jobs
    }

    /// Ends the trial of a job, or lets an admitted job wait for its limit again. Returns whether
    /// it was either.
    pub fn withdraw_admission(&mut self, limits: &JobLimits, job: JobId) -> bool {
        if self.tried.remove(&job) {
            return true;
        }
        let Some(set) = limits.set_of(job).filter(|_| self.booked.remove(&job)) else { return false };
        self.change_usage(limits, set, u64::saturating_sub);
        self.note_freed(limits, set);
        self.queue_job(limits, set, job);
        true
    }

    /// Returns the jobs to hold back so that these starts, in this order, keep every limit: of the
    /// tried and the admitted jobs, those that do not fit beside the starts before the first one
    /// that breaks a limit. Empty where all starts keep the limits.
    #[must_use]
    pub fn excess_of_starts(&self, limits: &JobLimits, starts: &[JobId], is_own: impl Fn(JobId) -> bool) -> Vec<JobId> {
        let mut room = RoomBesideStarted::new(self, limits, &is_own);
        // A job that was sent back and starts again has kept its claim.
        let counts = |job: &JobId| self.tried.contains(job) || self.booked.contains(job);
        for (at, job) in starts.iter().enumerate().filter(|(_, job)| counts(job)) {
            let Some(set) = limits.set_of(*job) else { continue };
            if !room.has_room(limits, set) {
                let first_starts: BTreeSet<JobId> = starts[..at].iter().copied().collect();
                let lacks_room = |job: &JobId| {
                    !first_starts.contains(job) && limits.set_of(*job).is_some_and(|set| !room.has_room(limits, set))
                };
                let candidates = self.tried.iter().chain(&self.booked).copied().filter(|job| is_own(*job));
                return candidates.filter(lacks_room).collect();
            }
            room.take_claims(limits, set);
        }
        Vec::new()
    }

    /// Lets admitted jobs wait again that do not fit beside the started ones any more, nor beside
    /// admitted ones of smaller numbers. Returns them.
    pub fn withdraw_excess(&mut self, limits: &JobLimits, is_own: impl Fn(JobId) -> bool) -> Vec<JobId> {
        let mut room = RoomBesideStarted::new(self, limits, &is_own);
        let mut excess_jobs = Vec::new();
        for &job in self.booked.iter().filter(|job| is_own(**job)) {
            let Some(set) = limits.set_of(job) else { continue };
            if room.has_room(limits, set) {
                room.take_claims(limits, set);
            } else {
                excess_jobs.push(job);
            }
        }
        for &job in &excess_jobs {
            self.withdraw_admission(limits, job);
        }
        excess_jobs
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
        self.tried.remove(&job);
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

/// Use of limits by jobs that have started, and by more that are added.
struct RoomBesideStarted<'a> {
    admission: &'a Admission,
    /// By limit: amounts that are added, less claims of admitted jobs that wait.
    changes: BTreeMap<u32, i128>,
}

impl<'a> RoomBesideStarted<'a> {
    fn new(admission: &'a Admission, limits: &JobLimits, is_own: impl Fn(JobId) -> bool) -> RoomBesideStarted<'a> {
        let mut changes = BTreeMap::new();
        for set in admission.booked.iter().filter(|job| is_own(**job)).filter_map(|&job| limits.set_of(job)) {
            for claim in limits.claims_of(set) {
                *changes.entry(claim.limit).or_default() -= i128::from(claim.amount);
            }
        }
        RoomBesideStarted { admission, changes }
    }

    fn has_room(&self, limits: &JobLimits, set: u32) -> bool {
        limits.claims_of(set).iter().filter(|claim| claim.binds).all(|claim| {
            let change = self.changes.get(&claim.limit).copied().unwrap_or(0);
            let usage = i128::from(self.admission.used_at(claim.limit, self.admission.now)) + change;
            usage + i128::from(claim.amount) <= i128::from(limits.limits()[claim.limit as usize].most)
        })
    }

    fn take_claims(&mut self, limits: &JobLimits, set: u32) {
        for claim in limits.claims_of(set) {
            *self.changes.entry(claim.limit).or_default() += i128::from(claim.amount);
        }
    }
}
