//! Rules: which priority whose jobs have, and when two of them contradict each other.

use super::quota::Account;
use super::{Priorities, PriorityError, Quota, RuleOwner};
use crate::model::{JobId, Span, TIME_LIMIT};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Values of a rule: the two priorities and a reservation; `None` for one that it does not set.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Grade {
    pub(super) up: Option<f64>,
    pub(super) pp: Option<f64>,
    /// Time between the submit and the reserved start.
    #[serde(default)]
    pub(super) reserve: Option<Span>,
}

impl Grade {
    /// Checks that the user's priority is from 0 to 1, and the political one as well, or −∞, and
    /// that no start is reserved before the submit.
    pub(super) fn check_ranges(&self, owner: &dyn fmt::Display) -> Result<(), PriorityError> {
        if let Some(up) = self.up
            && !(0.0..=1.0).contains(&up)
        {
            return Err(PriorityError(format!("{owner}: up = {up} does not lie between 0 and 1")));
        }
        if let Some(pp) = self.pp
            && !(0.0..=1.0).contains(&pp)
            && pp != f64::NEG_INFINITY
        {
            return Err(PriorityError(format!(
                "{owner}: pp = {pp} does not lie between 0 and 1 (-inf makes jobs run only where they delay no other job)"
            )));
        }
        if let Some(reserve) = self.reserve
            && !(0..=TIME_LIMIT).contains(&reserve.0)
        {
            return Err(PriorityError(format!(
                "{owner}: reserve = {} does not lie between 0 and {TIME_LIMIT} (seconds between the submit and the reserved start)",
                reserve.0
            )));
        }
        Ok(())
    }

    /// Adds what another rule about the same jobs says.
    fn join_grade(&mut self, grade: &Grade, owner: &dyn fmt::Display) -> Result<(), PriorityError> {
        join_value(("up", owner), &mut self.up, grade.up)?;
        join_value(("pp", owner), &mut self.pp, grade.pp)?;
        let mut reserve = self.reserve.map(|span| span.0);
        join_value(("reserve", owner), &mut reserve, grade.reserve.map(|span| span.0))?;
        self.reserve = reserve.map(Span);
        Ok(())
    }
}

/// Takes over the value of another rule where this one has none.
fn join_value<T: Copy + PartialEq + fmt::Display>(
    (name, whose): (&str, &dyn fmt::Display),
    value: &mut Option<T>,
    rival: Option<T>,
) -> Result<(), PriorityError> {
    match (*value, rival) {
        (Some(a), Some(b)) if a != b => {
            Err(PriorityError(format!("two rules contradict each other: {whose} has {name} = {a} and {name} = {b}")))
        }
        (None, Some(_)) => {
            *value = rival;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Every this many jobs in the order of arrival.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Every {
    /// One in so many.
    pub(super) nth: u32,
    /// The first of them; the first job is 1.
    pub(super) first: u32,
    pub(super) grade: Grade,
}

impl Every {
    pub(super) fn covers_job(&self, id: JobId) -> bool {
        (id.0 + 1).checked_sub(self.first).is_some_and(|since| since.is_multiple_of(self.nth))
    }

    /// Returns whether some job is covered by both.
    fn has_overlap(&self, rival: &Every) -> bool {
        let (mut a, mut b) = (self.nth, rival.nth);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        self.first.abs_diff(rival.first).is_multiple_of(a)
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one job in {} from job {} on", self.nth, self.first)
    }
}

impl Priorities {
    pub(super) fn set_default(&mut self, grade: Grade) -> Result<(), PriorityError> {
        grade.check_ranges(&"the default")?;
        self.default = grade;
        Ok(())
    }

    pub(super) fn add_owner(
        &mut self,
        owner: RuleOwner,
        id: i64,
        grade: Grade,
        quota: Option<Quota>,
    ) -> Result<(), PriorityError> {
        let owner_label = format!("{owner} {id}");
        let id = i32::try_from(id).map_err(|_| PriorityError(format!("{owner_label}: no log has such a number")))?;
        grade.check_ranges(&owner_label)?;
        self.owners.entry((owner, id)).or_default().join_grade(&grade, &owner_label)?;
        if let Some(quota) = quota {
            quota.check_values(&owner_label)?;
            let account = Account::new(quota);
            if let Some(old_account) = self.accounts.insert((owner, id), account)
                && old_account.quota() != quota
            {
                return Err(PriorityError(format!("two rules contradict each other: {owner_label} has two quotas")));
            }
        }
        Ok(())
    }

    pub(super) fn add_job(&mut self, number: i64, grade: Grade) -> Result<(), PriorityError> {
        let job_label = format!("job {number}");
        grade.check_ranges(&job_label)?;
        self.numbers.entry(number).or_default().join_grade(&grade, &job_label)
    }

    pub(super) fn add_every(&mut self, every: Every) -> Result<(), PriorityError> {
        if every.nth == 0 || every.first == 0 {
            return Err(PriorityError("every: nth and first are counted from 1".into()));
        }
        every.grade.check_ranges(&every)?;
        for rule in self.every.iter().filter(|rule| rule.has_overlap(&every)) {
            let mut joined_grade = rule.grade;
            joined_grade.join_grade(&every.grade, &format!("a job that is both {rule} and {every}"))?;
        }
        self.every.push(every);
        Ok(())
    }
}
