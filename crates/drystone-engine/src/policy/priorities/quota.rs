//! Quotas: what one user, group or queue may have at once or use up. A job beyond a quota is not
//! refused; it runs only where it delays no other job (Talby & Feitelson 1999, section 4.3).

use super::PriorityError;
use crate::model::{Job, Span, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Limits; what is not given is unlimited.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Jobs waiting or running at once.
    pub jobs: Option<u32>,
    /// Processors of the jobs waiting or running at once.
    pub procs: Option<u32>,
    /// Processor-hours used in a period; jobs waiting or running count with their declared run
    /// times.
    pub processor_hours: Option<f64>,
    /// Length of that period in days, counted from time 0 of the log; without it, use is never
    /// forgotten.
    pub days: Option<u32>,
}

impl Quota {
    pub(super) fn check_values(&self, owner: &dyn fmt::Display) -> Result<(), PriorityError> {
        let fail = |problem: &str| Err(PriorityError(format!("{owner}: {problem}")));
        match *self {
            Quota { processor_hours: Some(hours), .. } if !(hours >= 0.0 && hours.is_finite()) => {
                fail("a quota of processor_hours is a number from 0 on")
            }
            Quota { days: Some(0), .. } => fail("a quota's period is at least one day"),
            Quota { days: Some(_), processor_hours: None, .. } => {
                fail("days without processor_hours: say how much may be used in the period")
            }
            Quota { jobs: None, procs: None, processor_hours: None, .. } => {
                fail("a quota limits jobs, procs or processor_hours")
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    quota: Quota,
    jobs: u64,
    procs: u64,
    /// Processor-seconds declared by the jobs waiting or running.
    declared: i128,
    /// Processor-seconds used in the current period.
    used: i128,
    period: i64,
}

impl Account {
    pub(super) fn new(quota: Quota) -> Account {
        Account { quota, jobs: 0, procs: 0, declared: 0, used: 0, period: 0 }
    }

    pub(super) fn quota(&self) -> Quota {
        self.quota
    }

    /// Charges a job that arrives. Returns whether the account is still within its quota, this job
    /// included.
    pub(super) fn admit_job(&mut self, job: &Job, now: Time) -> bool {
        self.turn_to(now);
        self.jobs += 1;
        self.procs += u64::from(job.procs);
        self.declared += job_work(job, job.estimate);
        let Quota { jobs, procs, processor_hours, .. } = self.quota;
        let hours = (self.declared + self.used) as f64 / Span::HOUR.as_f64();
        jobs.is_none_or(|most| self.jobs <= u64::from(most))
            && procs.is_none_or(|most| self.procs <= u64::from(most))
            && processor_hours.is_none_or(|most| hours <= most)
    }

    /// A job that was charged has left after running for so long.
    pub(super) fn note_departure(&mut self, job: &Job, ran: Span, now: Time) {
        self.turn_to(now);
        self.jobs -= 1;
        self.procs -= u64::from(job.procs);
        self.declared -= job_work(job, job.estimate);
        self.used += job_work(job, ran);
    }

    /// Forgets what was used in earlier periods.
    fn turn_to(&mut self, now: Time) {
        let Some(days) = self.quota.days else { return };
        let period = now.0.div_euclid(i64::from(days) * Span::DAY.0);
        if period != self.period {
            (self.period, self.used) = (period, 0);
        }
    }
}

fn job_work(job: &Job, span: Span) -> i128 {
    i128::from(job.procs) * i128::from(span.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_hold_what_is_here_and_what_was_used() {
        let job = |procs, hours: i64| Job::new(Time(0), procs, Span(hours * 3_600));
        let quota = Quota { jobs: Some(2), procs: Some(10), processor_hours: Some(40.0), days: Some(1) };
        let mut account = Account::new(quota);
        assert!(account.admit_job(&job(4, 2), Time(0)), "8 hours declared");
        assert!(account.admit_job(&job(6, 5), Time(0)), "38 hours, 10 processors, 2 jobs");
        assert!(!account.admit_job(&job(1, 0), Time(0)), "3 jobs");
        account.note_departure(&job(1, 0), Span(0), Time(1));
        account.note_departure(&job(6, 5), Span(3_600), Time(2));
        assert!(!account.admit_job(&job(1, 27), Time(3)), "8 + 6 + 27 hours");
        account.note_departure(&job(1, 27), Span(0), Time(4));
        assert!(account.admit_job(&job(1, 26), Time(5)), "8 + 6 + 26 hours");
        account.note_departure(&job(1, 26), Span(0), Time(6));
        assert!(account.admit_job(&job(6, 5), Time(86_400)), "a new day: 8 + 30 hours");
    }
}
