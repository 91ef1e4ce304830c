//! A session with an observer: measurements and explanations of simulations work on a live cluster
//! as well.

use super::observer::Observer;
use super::session::{ImpossibleJob, PolicyViolation, Session};
use crate::model::{EndedJob, Job, JobId, LogStatus, Span, Time, Truth};
use crate::policy::{Action, Actions, Placement};

/// A session, and an observer that receives the events of a simulation: arrivals, starts, promises,
/// ends with their [`JobOutcome`](crate::model::JobOutcome), and the levels after each decision.
/// Drive it as a [`Session`].
///
/// ```
/// use drystone_core::engine::{Schedule, Session, ObservedSession};
/// use drystone_core::model::{Job, Machine, Span, LogStatus, Time};
/// use drystone_core::policy::PolicySpec;
///
/// let policy: PolicySpec = "easy".parse()?;
/// let mut cluster = ObservedSession::new(Session::new(Machine::new(4), policy.scheduler()), Schedule::default());
/// let id = cluster.arrive(Time(0), &Job::new(Time(0), 3, Span(100)), None)?;
/// cluster.decide(Time(2))?;
/// cluster.end(Time(80), id, 4711, LogStatus::Completed);
/// cluster.decide(Time(80))?;
/// assert_eq!(cluster.observer().spans, [Some((Time(2), Time(80)))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ObservedSession<O> {
    session: Session,
    observer: O,
}

impl<O: Observer> ObservedSession<O> {
    /// Watches a session that has no jobs yet.
    #[must_use]
    pub fn new(mut session: Session, observer: O) -> ObservedSession<O> {
        if O::ENDS {
            session.keep_accuracy();
        }
        if O::NOTES {
            session.listen();
        }
        ObservedSession { session, observer }
    }

    /// The session, to look at.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the observer.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Session and observer, apart.
    #[must_use]
    pub fn into_parts(self) -> (Session, O) {
        (self.session, self.observer)
    }

    /// As [`Session::arrive`].
    ///
    /// # Errors
    /// As there.
    pub fn arrive(&mut self, now: Time, job: &Job, oracle: Option<Span>) -> Result<JobId, ImpossibleJob> {
        let id = self.session.arrive(now, job, oracle)?;
        self.observer.arrived(self.session.view().now(), id);
        Ok(id)
    }

    /// As [`Session::end`]. `number` and `status` are what the cluster calls the job and how it
    /// ended.
    pub fn end(&mut self, now: Time, id: JobId, number: i64, status: LogStatus) -> bool {
        let ended = self.session.end(now, id);
        if ended {
            self.tell_end(id, number, status);
        }
        ended
    }

    /// As [`Session::cancel`]. A suspended job that is withdrawn has ended, with what it has
    /// received.
    pub fn cancel(&mut self, now: Time, id: JobId, number: i64) -> bool {
        if !self.session.cancel(now, id) {
            return false;
        }
        if self.session.entry(id).suspensions == 0 {
            self.observer.cancelled(self.session.view().now(), id);
            self.session.drop_changes(id);
        } else {
            self.tell_end(id, number, LogStatus::Cancelled);
        }
        true
    }

    fn tell_end(&mut self, id: JobId, number: i64, status: LogStatus) {
        let outcome = self.session.outcome_with(id, Span::ZERO);
        let truth = Truth { run: outcome.ran, number, status };
        self.observer.ended(&EndedJob { id, job: self.session.job(id), truth: &truth, outcome: &outcome });
    }

    /// As [`Session::expire`].
    pub fn expire(&mut self, now: Time) -> bool {
        self.session.expire(now)
    }

    /// As [`Session::deadline`].
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.session.deadline()
    }

    /// As [`Session::decide`], and tells of every action and of the levels that hold from then on.
    ///
    /// # Errors
    /// As there.
    pub fn decide(&mut self, now: Time) -> Result<&Actions, PolicyViolation> {
        self.session.decide(now)?;
        let (session, observer) = (&self.session, &mut self.observer);
        let now = session.view().now();
        for &action in session.actions().list() {
            tell(session, now, action, observer);
        }
        for moved in session.actions().moves() {
            observer.moved(now, moved);
        }
        observer.settled(now, session.levels());
        Ok(self.session.actions())
    }
}

/// Tells of an action that has been carried out.
fn tell(session: &Session, now: Time, action: Action, observer: &mut impl Observer) {
    match action {
        Action::Start { job, why, on } => {
            observer.started(now, job, why);
            tell_place(session, now, job, on, observer);
        }
        Action::Resume(job) => observer.resumed(now, job),
        Action::ResumeOn { job, on } => {
            observer.resumed(now, job);
            tell_place(session, now, job, on, observer);
        }
        Action::Suspend(job) => observer.suspended(now, job),
        // The machine says when it has ended.
        Action::Kill(_) => {}
        Action::Requeue(job) => {
            let (procs, ran) = session.sent_back(job);
            observer.requeued(now, job, procs, ran);
        }
        Action::Reserve { job, start, latest } => observer.reserved(now, job, start, latest),
        Action::Repredict { job, prediction } => observer.repredicted(now, job, prediction),
        Action::Note { gauge, value } => observer.noted(now, gauge, value),
    }
}

fn tell_place(session: &Session, now: Time, job: JobId, on: Placement, observer: &mut impl Observer) {
    if let Placement::Set(index) = on
        && let Some(set) = session.actions().set(index)
    {
        observer.placed(now, job, set);
    }
}
