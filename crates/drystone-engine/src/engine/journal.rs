//! Inputs of a session, as data: written down, they can be replayed, and lead to the same actions
//! bit for bit.

use super::session::{ImpossibleJob, NewsError, PolicyViolation, Session};
use crate::model::{Adopted, How, Job, JobId, ProcSet, Span, Time};
use crate::policy::{CapacityLoss, KnownSupply};
use serde::{Deserialize, Serialize};

/// One call of a [`Session`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionNews {
    /// [`Session::note_arrival`].
    Arrived(Job),
    /// [`Session::adopt_job`].
    Adopted(Job, Adopted),
    /// [`Session::note_start`].
    Started {
        /// Job concerned.
        job: JobId,
        /// Start time.
        since: Time,
        /// Processors, if known.
        on: Option<ProcSet>,
    },
    /// [`Session::note_requeue`].
    Requeued(JobId),
    /// [`Session::hold_job`].
    Held(JobId),
    /// [`Session::release_job`].
    Released(JobId),
    /// [`Session::update_job`].
    Updated(JobId, Job),
    /// [`Session::note_interruption`].
    Interrupted(JobId),
    /// [`Session::note_continuation`].
    Continued(JobId),
    /// [`Session::stays_suspended`].
    StaysSuspended(JobId),
    /// [`Session::note_end`].
    Ended {
        /// Job concerned.
        job: JobId,
        /// Way in which it ended.
        how: How,
        /// Run time, where it is known better than from the time at which the session heard of the
        /// start.
        ran: Option<Span>,
    },
    /// [`Session::withdraw_job`].
    Cancelled(JobId),
    /// [`Session::set_losses`].
    Losses(Vec<CapacityLoss>),
    /// [`Session::set_supply`].
    Supply(Vec<KnownSupply>),
    /// [`Session::expire_due`].
    Expired,
    /// [`Session::decide`]. What was decided is not written down: it follows.
    Decided,
}

/// An input with its time. A list of them is a journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Time of the input.
    pub at: Time,
    /// The input.
    pub news: SessionNews,
}

/// News that a session cannot take.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The policy would not understand, or it cannot be.
    #[error(transparent)]
    News(#[from] NewsError),
    /// The job is impossible on this machine.
    #[error(transparent)]
    Job(#[from] ImpossibleJob),
    /// The policy asked for something impossible.
    #[error(transparent)]
    Violation(#[from] PolicyViolation),
}

impl Session {
    /// Takes one entry of a journal as the call that it stands for. Returns whether it was news:
    /// for [`SessionNews::Arrived`] and [`SessionNews::Adopted`] always, for
    /// [`SessionNews::Decided`] whether there is an action.
    ///
    /// Only for policies whose predictions need no true run times ([`Session::is_clairvoyant`]).
    ///
    /// ```
    /// use drystone_core::engine::{JournalEntry, SessionNews, Session};
    /// use drystone_core::model::{Job, Machine, Span, Time};
    /// use drystone_core::policy::PolicySpec;
    ///
    /// let policy: PolicySpec = "easy".parse()?;
    /// let journal = [
    ///     JournalEntry { at: Time(0), news: SessionNews::Arrived(Job::new(Time(0), 2, Span(60))) },
    ///     JournalEntry { at: Time(0), news: SessionNews::Decided },
    /// ];
    /// let mut session = Session::new(Machine::new(4), policy.build_scheduler());
    /// for entry in &journal {
    ///     assert!(session.take_in(entry)?);
    /// }
    /// assert_eq!(session.running_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the call.
    pub fn take_in(&mut self, entry: &JournalEntry) -> Result<bool, TakeError> {
        let now = entry.at;
        Ok(match &entry.news {
            SessionNews::Arrived(job) => self.note_arrival(now, job, None).map(|_| true)?,
            SessionNews::Adopted(job, adoption) => self.adopt_job(now, job, None, adoption).map(|_| true)?,
            SessionNews::Started { job, since, on } => self.note_start(now, *job, *since, on.as_ref())?,
            SessionNews::Requeued(job) => self.note_requeue(now, *job)?,
            SessionNews::Held(job) => self.hold_job(now, *job)?,
            SessionNews::Released(job) => self.release_job(now, *job)?,
            SessionNews::Updated(id, job) => self.update_job(now, *id, job)?,
            SessionNews::Interrupted(job) => self.note_interruption(now, *job)?,
            SessionNews::Continued(job) => self.note_continuation(now, *job)?,
            SessionNews::StaysSuspended(job) => self.stays_suspended(now, *job)?,
            SessionNews::Ended { job, how, ran } => self.note_end(now, *job, *how, *ran),
            SessionNews::Cancelled(job) => self.withdraw_job(now, *job),
            SessionNews::Losses(losses) => self.set_losses(now, losses)?,
            SessionNews::Supply(supply) => self.set_supply(now, supply)?,
            SessionNews::Expired => self.expire_due(now),
            SessionNews::Decided => !self.decide(now)?.list().is_empty(),
        })
    }
}
