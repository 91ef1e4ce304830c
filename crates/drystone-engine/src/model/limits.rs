//! Limits that jobs share: of a user, an account, a QOS, a partition.
//!
//! A limit is a bound on what the admitted jobs that count for it have together: jobs, processors,
//! memory. It says nothing of where these are: that is the machine's.

use super::JobId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Amounts beyond this are refused.
const CLAIM_LIMIT: u64 = 1 << 50;

/// A bound on what jobs have together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobLimit {
    /// The reason of a job that waits for it, in the word of the site: `QOSMaxCpuPerUserLimit`.
    pub reason: String,
    /// The holder, for people: `QOS normal, user ada`.
    pub of: String,
    /// The name that jobs of one kind share, for verdicts: `QOS normal`.
    pub family: String,
    /// Largest sum of the amounts of admitted jobs.
    pub most: u64,
}

/// Part of a limit that a job takes while it is admitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LimitClaim {
    /// Place of the limit among [`JobLimits::limits`].
    pub limit: u32,
    /// Amount, in the limit's unit.
    pub amount: u64,
    /// True if the job waits where the amount does not fit; else it only counts.
    pub binds: bool,
}

/// The limits of a site, and what its jobs take of each.
///
/// ```
/// use drystone_core::model::{JobId, JobLimit, JobLimits, LimitClaim};
///
/// let mut limits = JobLimits::default();
/// let of_ada = limits.add_limit(JobLimit {
///     reason: "QOSMaxJobsPerUserLimit".to_string(),
///     of: "QOS normal, user ada".to_string(),
///     family: "QOS normal".to_string(),
///     most: 2,
/// });
/// let claims = limits.intern_claims(vec![LimitClaim { limit: of_ada, amount: 1, binds: true }]);
/// limits.bind_job(JobId(0), claims);
/// assert_eq!(limits.job_claims(JobId(0)).len(), 1);
/// assert!(limits.job_claims(JobId(1)).is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobLimits {
    limits: Vec<JobLimit>,
    /// Equal claims once.
    sets: Vec<Vec<LimitClaim>>,
    /// The set of each job that has claims.
    of: BTreeMap<JobId, u32>,
    /// Limits on time left: what a job takes of them wears off while it runs.
    #[serde(default)]
    wearing: BTreeSet<u32>,
    /// Seconds after which all of it has worn off, by set of claims.
    #[serde(default)]
    spans: BTreeMap<u32, i64>,
    /// Limits that no policy keeps by itself.
    #[serde(default)]
    unkept: BTreeSet<u32>,
}

impl JobLimits {
    /// The limits, by their places.
    #[must_use]
    pub fn limits(&self) -> &[JobLimit] {
        &self.limits
    }

    /// Returns whether no job has a claim.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Adds a limit. Returns its place.
    pub fn add_limit(&mut self, limit: JobLimit) -> u32 {
        self.limits.push(limit);
        (self.limits.len() - 1) as u32
    }

    /// Adds a set of claims, each limit once; the caller keeps equal sets apart from others.
    /// Returns its place.
    pub fn intern_claims(&mut self, claims: Vec<LimitClaim>) -> u32 {
        self.sets.push(claims);
        (self.sets.len() - 1) as u32
    }

    /// Lets what jobs take of a limit wear off while they run, evenly over the seconds of their
    /// claims ([`JobLimits::set_span`]): a limit on the time that running jobs have left.
    pub fn wear_off(&mut self, limit: u32) {
        self.wearing.insert(limit);
    }

    /// Sets the seconds over which the claims of a set wear off, the time limit of its jobs.
    pub fn set_span(&mut self, set: u32, seconds: i64) {
        self.spans.insert(set, seconds);
    }

    /// Returns the seconds over which the claims of a set wear off.
    #[must_use]
    pub fn span_of(&self, set: u32) -> i64 {
        self.spans.get(&set).copied().unwrap_or(0)
    }

    /// Returns whether what jobs take of a limit wears off.
    #[must_use]
    pub fn wears_off(&self, limit: u32) -> bool {
        self.wearing.contains(&limit)
    }

    /// Returns whether any limit is on time left.
    #[must_use]
    pub fn has_wear(&self) -> bool {
        !self.wearing.is_empty()
    }

    /// Keeps a limit before every policy, also before those that keep limits themselves.
    pub fn keep_for_all(&mut self, limit: u32) {
        self.unkept.insert(limit);
    }

    /// Gives a job a set of claims.
    pub fn bind_job(&mut self, job: JobId, set: u32) {
        self.of.insert(job, set);
    }

    /// Returns the place of a job's claims; `None` for a job without any.
    #[must_use]
    pub fn set_of(&self, job: JobId) -> Option<u32> {
        self.of.get(&job).copied()
    }

    /// Returns the claims of a set.
    #[must_use]
    pub fn claims_of(&self, set: u32) -> &[LimitClaim] {
        self.sets.get(set as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the claims of a job.
    #[must_use]
    pub fn job_claims(&self, job: JobId) -> &[LimitClaim] {
        self.set_of(job).map_or(&[], |set| self.claims_of(set))
    }

    /// Jobs with claims, in order.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.of.keys().copied()
    }

    /// Returns the limits for some of the jobs only; `place` returns the new number of each.
    #[must_use]
    pub fn restrict_to(&self, place: impl Fn(JobId) -> Option<JobId>) -> JobLimits {
        let of: BTreeMap<JobId, u32> = self.of.iter().filter_map(|(&job, &set)| Some((place(job)?, set))).collect();
        if of.is_empty() {
            return JobLimits::default();
        }
        JobLimits { of, ..self.without_jobs() }
    }

    fn without_jobs(&self) -> JobLimits {
        JobLimits {
            limits: self.limits.clone(),
            sets: self.sets.clone(),
            of: BTreeMap::new(),
            wearing: self.wearing.clone(),
            spans: self.spans.clone(),
            unkept: self.unkept.clone(),
        }
    }

    /// Returns those of the limits that no policy keeps by itself; the others let every job start.
    #[must_use]
    pub fn kept_for_all(&self) -> JobLimits {
        self.shared_across(|_| 0)
    }

    /// Returns those of the limits of which jobs of several groups take a part, and those that no
    /// policy keeps by itself; the others let every job start. `group` is that of each job.
    #[must_use]
    pub fn shared_across(&self, group: impl Fn(JobId) -> usize) -> JobLimits {
        let mut groups: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for (&job, &set) in &self.of {
            for claim in self.claims_of(set) {
                groups.entry(claim.limit).or_default().insert(group(job));
            }
        }
        let is_shared = |claim: &&LimitClaim| {
            self.unkept.contains(&claim.limit) || groups.get(&claim.limit).is_some_and(|groups| groups.len() > 1)
        };
        let sets: Vec<Vec<LimitClaim>> =
            self.sets.iter().map(|set| set.iter().filter(is_shared).copied().collect()).collect();
        let of = self.of.iter().map(|(&job, &set)| (job, set));
        let of = of.filter(|&(_, set)| sets.get(set as usize).is_some_and(|claims| !claims.is_empty())).collect();
        JobLimits { sets, of, ..self.without_jobs() }
    }

    /// Returns a job with claims that are none, and the reason.
    pub(super) fn find_wrong_claims(&self) -> Option<(JobId, String)> {
        let limits = self.limits.len();
        self.of.iter().find_map(|(&job, &set)| {
            let Some(claims) = self.sets.get(set as usize) else {
                return Some((job, format!("has the claims {set}, of which there are {}", self.sets.len())));
            };
            let mut seen_limits = Vec::with_capacity(claims.len());
            claims.iter().find_map(|claim| {
                let LimitClaim { limit, amount, binds } = *claim;
                let Some(bound) = self.limits.get(limit as usize) else {
                    return Some((job, format!("takes part of the limit {limit}, of which there are {limits}")));
                };
                if seen_limits.contains(&limit) {
                    return Some((job, format!("takes part of `{}` twice", bound.reason)));
                }
                seen_limits.push(limit);
                if amount > CLAIM_LIMIT {
                    return Some((
                        job,
                        format!("takes {amount} of `{}`; expected {CLAIM_LIMIT} at most", bound.reason),
                    ));
                }
                (binds && amount > bound.most).then(|| {
                    let JobLimit { reason, most, .. } = bound;
                    (job, format!("takes {amount} of `{reason}`, which lets {most} be taken: it would never start"))
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs 0 and 2 are of one group, job 1 of another: the first limit is of both groups, the
    /// second of one.
    #[test]
    fn limits_of_one_group_are_left_out() {
        let mut limits = JobLimits::default();
        let name = |text: &str| (text.to_string(), text.to_string(), text.to_string());
        for text in ["both", "one"] {
            let (reason, of, family) = name(text);
            limits.add_limit(JobLimit { reason, of, family, most: 4 });
        }
        let claim = |limit| LimitClaim { limit, amount: 1, binds: true };
        let claim_set = limits.intern_claims(vec![claim(0), claim(1)]);
        let (first, second) = (limits.intern_claims(vec![claim(0)]), limits.intern_claims(vec![claim(1)]));
        limits.bind_job(JobId(0), claim_set);
        limits.bind_job(JobId(1), first);
        limits.bind_job(JobId(2), second);
        let part_limits = limits.shared_across(|job| job.index() % 2);
        assert_eq!(part_limits.job_claims(JobId(0)), [claim(0)]);
        assert_eq!(part_limits.job_claims(JobId(1)), [claim(0)]);
        assert!(part_limits.job_claims(JobId(2)).is_empty() && part_limits.set_of(JobId(2)).is_none());
        // Unless no policy keeps them.
        assert!(limits.kept_for_all().is_empty());
        limits.keep_for_all(1);
        assert_eq!(limits.kept_for_all().job_claims(JobId(2)), [claim(1)]);
        assert_eq!(limits.kept_for_all().job_claims(JobId(1)), []);
    }
}
