//! Priorities of users, groups, queues and jobs, and quotas.
//!
//! A rule may also reserve a start. Rules come from a TOML file ([`Priorities::from_toml`]) or from
//! a short text ([`Priorities::from_text`]). Names are numbers, as logs give them.

mod file;
mod quota;
mod rules;
mod text;

pub use quota::Quota;
pub use text::TAKES as PRIORITIES;

use crate::model::{Job, JobId, Span, Time, UNKNOWN, Workload};
use quota::Account;
use rules::{Every, Grade};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The parts of a job's priority that are given when it is submitted.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Importance {
    /// UP: how important the user says the job is, from 0 to 1.
    pub user: f64,
    /// PP: how important the administrator says it is, from 0 to 1; −∞ makes it run only where it
    /// delays no other job.
    pub political: f64,
}

impl Importance {
    /// p, with the scheduler's own share SP between 0 and 1.
    #[inline]
    #[must_use]
    pub fn compute_priority(&self, scheduler: f64) -> f64 {
        (self.user + self.political + scheduler) / 3.0
    }
}

/// Mistake in priorities, and its correction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("priorities: {0}")]
pub struct PriorityError(pub(super) String);

impl PriorityError {
    /// A mistake, in words.
    pub fn new(problem: impl Into<String>) -> PriorityError {
        PriorityError(problem.into())
    }

    /// A policy was given priorities that has no use for them.
    pub(super) fn unused_error() -> PriorityError {
        PriorityError("this policy has no use for them; `slack` and `multiqueue` have".into())
    }
}

/// Owner of the jobs of a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) enum RuleOwner {
    User,
    Group,
    Queue,
}

impl RuleOwner {
    const ALL: [RuleOwner; 3] = [RuleOwner::User, RuleOwner::Group, RuleOwner::Queue];

    fn owner_of(self, job: &Job) -> i32 {
        match self {
            RuleOwner::User => job.user,
            RuleOwner::Group => job.group,
            RuleOwner::Queue => job.queue,
        }
    }
}

impl fmt::Display for RuleOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleOwner::User => "user",
            RuleOwner::Group => "group",
            RuleOwner::Queue => "queue",
        })
    }
}

/// Priorities of users, groups, queues and jobs, with the account of their quotas.
///
/// If several rules are about a job, the most specific one decides, separately for the user's and
/// the political priority: its number, then its place in the order of arrival, its user, its group,
/// its queue, and the default, which is 0 for both.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Priorities {
    default: Grade,
    owners: BTreeMap<(RuleOwner, i32), Grade>,
    every: Vec<Every>,
    /// By the log's number; [`Priorities::for_part`] turns them into places in the order of
    /// arrival.
    numbers: BTreeMap<i64, Grade>,
    jobs: BTreeMap<JobId, Grade>,
    accounts: BTreeMap<(RuleOwner, i32), Account>,
}

impl Priorities {
    /// Returns whether all jobs are equal and unlimited, with priorities of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Priorities { default, owners, every, numbers, jobs, accounts } = self;
        let rules = owners.is_empty() && every.is_empty() && numbers.is_empty() && jobs.is_empty();
        rules && accounts.is_empty() && *default == Grade::default()
    }

    /// Priorities for the jobs of this workload: every user, group, queue and job that is named
    /// must be in it.
    ///
    /// # Errors
    /// A name that no job of the workload has, or a job number that several have.
    pub fn for_workload(self, workload: &Workload) -> Result<Priorities, PriorityError> {
        self.check_workload(workload)?;
        Ok(self.for_part(workload))
    }

    /// Checks that every user, group, queue and job that is named is in this workload.
    ///
    /// # Errors
    /// As for [`Priorities::for_workload`].
    pub fn check_workload(&self, workload: &Workload) -> Result<(), PriorityError> {
        for owner in RuleOwner::ALL {
            let known_owners: BTreeSet<i32> = workload.jobs().iter().map(|job| owner.owner_of(job)).collect();
            let named_owners = self.owners.keys().chain(self.accounts.keys()).filter(|(kind, _)| *kind == owner);
            for (_, id) in named_owners {
                if !known_owners.contains(id) {
                    return Err(unknown_error(owner, i64::from(*id), known_owners.iter().map(|&id| i64::from(id))));
                }
            }
        }
        let mut known_numbers: BTreeMap<i64, u32> = BTreeMap::new();
        if !self.numbers.is_empty() {
            workload.truth().iter().for_each(|truth| *known_numbers.entry(truth.number).or_default() += 1);
        }
        for &number in self.numbers.keys() {
            match known_numbers.get(&number) {
                Some(1) => {}
                Some(_) => return Err(PriorityError(format!("several jobs of the log have the number {number}"))),
                None => return Err(unknown_error("job", number, known_numbers.keys().copied())),
            }
        }
        Ok(())
    }

    /// Places the rules for a part of a workload that was checked: rules for job numbers find their
    /// jobs, those for jobs of other parts are left out.
    #[must_use]
    pub fn for_part(mut self, part: &Workload) -> Priorities {
        let numbers = std::mem::take(&mut self.numbers);
        if !numbers.is_empty() {
            let ids = part.truth().iter().enumerate().map(|(at, truth)| (JobId(at as u32), truth.number));
            self.jobs = ids.filter_map(|(id, number)| Some((id, *numbers.get(&number)?))).collect();
        }
        self
    }

    /// Returns whether there are rules for job numbers that [`Priorities::for_part`] has not placed
    /// yet.
    #[must_use]
    pub fn needs_workload(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// The user's and the political priority of a job, whatever quotas say.
    #[must_use]
    pub fn job_importance(&self, id: JobId, job: &Job) -> Importance {
        let mut grade = Grade::default();
        for rule in self.rules_about(id, job) {
            grade.up = grade.up.or(rule.up);
            grade.pp = grade.pp.or(rule.pp);
        }
        Importance { user: grade.up.unwrap_or(0.0), political: grade.pp.unwrap_or(0.0) }
    }

    /// Returns the time between the submit of a job and the start that is reserved for it, if any.
    #[must_use]
    pub fn reserved_delay(&self, id: JobId, job: &Job) -> Option<Span> {
        self.rules_about(id, job).find_map(|grade| grade.reserve)
    }

    /// Returns whether a rule reserves a start.
    #[must_use]
    pub fn has_reservations(&self) -> bool {
        let named_grades = self.owners.values().chain(self.numbers.values()).chain(self.jobs.values());
        named_grades
            .chain(self.every.iter().map(|every| &every.grade))
            .chain([&self.default])
            .any(|g| g.reserve.is_some())
    }

    /// The rules about a job, the most specific one first.
    fn rules_about<'a>(&'a self, id: JobId, job: &'a Job) -> impl Iterator<Item = &'a Grade> + 'a {
        let every = self.every.iter().filter(move |e| e.covers_job(id)).map(|e| &e.grade);
        let owners = RuleOwner::ALL.iter().filter_map(move |&o| self.owners.get(&(o, o.owner_of(job))));
        self.jobs.get(&id).into_iter().chain(every).chain(owners).chain([&self.default])
    }

    /// A job arrives and is charged to the accounts of its owners. Beyond a quota its political
    /// priority is −∞.
    pub fn admit_job(&mut self, id: JobId, job: &Job, now: Time) -> Importance {
        let mut importance = self.job_importance(id, job);
        for owner in RuleOwner::ALL {
            if let Some(account) = self.accounts.get_mut(&(owner, owner.owner_of(job)))
                && !account.admit_job(job, now)
            {
                importance.political = f64::NEG_INFINITY;
            }
        }
        importance
    }

    /// A job that was admitted has left: it ran for so long, or was withdrawn.
    pub fn note_departure(&mut self, job: &Job, ran: Span, now: Time) {
        if self.accounts.is_empty() {
            return;
        }
        for owner in RuleOwner::ALL {
            if let Some(account) = self.accounts.get_mut(&(owner, owner.owner_of(job))) {
                account.note_departure(job, ran, now);
            }
        }
    }
}

fn unknown_error(subject: impl fmt::Display, id: i64, ids: impl Iterator<Item = i64> + Clone) -> PriorityError {
    let known_ids = ids.filter(|&id| id != i64::from(UNKNOWN));
    let range = match (known_ids.clone().min(), known_ids.max()) {
        (Some(first), Some(last)) => format!("numbers from {first} to {last} occur in it"),
        _ => format!("it names no {subject} at all"),
    };
    PriorityError(format!("the log has no {subject} {id}; {range}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User 7 may have one job here at a time; what is beyond has no political weight until another
    /// has left.
    #[test]
    fn jobs_beyond_a_quota_weigh_nothing_until_others_leave() {
        let toml = "[[user]]\nid = 7\npp = 0.5\nquota = { jobs = 1 }\n";
        let mut priorities = Priorities::from_toml(toml).expect("a quota");
        let job = |user| Job::new(Time(0), 1, Span(10)).with_user(user);
        let arrive = |p: &mut Priorities, user| p.admit_job(JobId(0), &job(user), Time(0)).political;
        assert_eq!(arrive(&mut priorities, 7), 0.5);
        assert_eq!(arrive(&mut priorities, 7), f64::NEG_INFINITY, "a second one");
        assert_eq!(arrive(&mut priorities, 8), 0.0, "another user");
        priorities.note_departure(&job(7), Span(10), Time(10));
        assert_eq!(arrive(&mut priorities, 7), f64::NEG_INFINITY, "the second one is still here");
        priorities.note_departure(&job(7), Span(10), Time(10));
        priorities.note_departure(&job(7), Span(10), Time(20));
        assert_eq!(arrive(&mut priorities, 7), 0.5, "no job is here");
    }
}
