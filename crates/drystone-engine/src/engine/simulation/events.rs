//! Events of an instant: jobs end, predictions expire, jobs come and go.

use super::{Simulation, SimulationError};
use crate::engine::ends::QueuedEnd;
use crate::engine::observer::Observer;
use crate::engine::session::Session;
use crate::engine::source::{EventSource, Incoming};
use crate::model::{EndedJob, How, Job, JobId, Span, Time, Truth};
use crate::parts::RunningJob;
use crate::policy::PassRule;

impl<S: EventSource> Simulation<S> {
    #[inline]
    pub(super) fn whole_instant(
        &mut self,
        now: Time,
        end: Time,
        deadline: Time,
        arrival: Time,
        observer: &mut impl Observer,
    ) -> bool {
        let (mut decide, mut deadline) = (false, deadline);
        if end == now {
            decide = true;
            loop {
                self.end_one(now, observer);
                if self.next_end() != now {
                    break;
                }
            }
            // An end renews the prediction of a running job, which may be over at this very
            // instant.
            if self.session.repredicts_running() {
                deadline = self.session.next_deadline();
            }
        }
        if deadline <= now {
            decide |= self.session.expire_predictions(now);
            if self.s.shapes.is_some() {
                self.pass_points(now, observer);
            }
        }
        // Upon an end others may arrive.
        let arrival = if S::NEWS { self.s.next_arrival } else { arrival };
        if arrival == now {
            while self.s.next_arrival == now {
                decide |= self.receive_events(now, observer);
            }
            // A job that was withdrawn while it ran ends before the pass, which could suspend it
            // else: it would be here until it resumes. A job that was withdrawn so has left a mark.
            if self.s.stale {
                while self.next_end() == now {
                    self.end_one(now, observer);
                    decide = true;
                }
            }
        }
        decide
    }

    pub(super) fn one_event(&mut self, now: Time, end: Time, arrival: Time, observer: &mut impl Observer) -> bool {
        if arrival == now && (self.supply_is_due(now) || S::NEWS && self.source.comes_first()) {
            return self.receive_events(now, observer);
        }
        if end == now {
            self.end_one(now, observer);
            return true;
        }
        if self.session.next_expiry() <= now {
            return self.session.correct_first(now);
        }
        if arrival == now {
            return self.receive_events(now, observer);
        }
        self.wake_session(now, observer)
    }

    pub(super) fn one_pyss_event(&mut self, now: Time, end: Time, arrival: Time, observer: &mut impl Observer) -> bool {
        if end == now && self.s.ends.peek_end().is_some_and(QueuedEnd::is_cut) {
            self.end_one(now, observer);
            return true;
        }
        // A job that ends at this very second is not corrected.
        let outlives = |job: &RunningJob| self.s.end_if_running(job.id, self.session.job_entry(job.id)) != now;
        let expired_job = self.session.expired_jobs(now).find(outlives);
        if let Some(job) = expired_job {
            self.session.correct_job(job, now);
            return false;
        }
        if arrival == now {
            return self.receive_events(now, observer);
        }
        if end == now {
            self.end_one(now, observer);
            return true;
        }
        self.wake_session(now, observer)
    }

    fn wake_session(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let has_woken = self.session.wake_policy(now);
        if self.s.shapes.is_some() {
            self.pass_points(now, observer);
        }
        has_woken
    }

    /// Lets predictions expire before anything else happens. Returns the instant of the first
    /// correction that leads to something, at which a decision is due, and what the next deadline
    /// is then.
    #[inline]
    pub(super) fn expire_before(&mut self, end: Time, arrival: Time) -> (Option<Time>, Time) {
        if end < arrival && self.session.lag_until(end) {
            return (None, Time::MAX);
        }
        let heard_time = self.session.expire_before(end.min(arrival).min(self.session.next_wake()));
        if let Some(now) = heard_time
            && self.session.pass_rule() == PassRule::Instant
        {
            while self.session.next_expiry() <= now {
                self.session.correct_first(now);
            }
        }
        (heard_time, self.session.next_deadline())
    }

    #[inline]
    fn end_one<O: Observer>(&mut self, now: Time, observer: &mut O) {
        let Some(next) = self.s.ends.pop() else { return };
        let id = next.job();
        let is_killed = self.session.was_killed(id);
        let record_kind = match self.source.end_kind(id) {
            // People ended it, whatever the records say of a run to its end.
            How::Completed if !self.s.withdrawn.is_empty() && self.s.withdrawn.remove(&id) => How::Cancelled,
            kind => kind,
        };
        let ran = if S::NEWS || record_kind != How::Completed {
            self.session.note_end(now, id, record_kind, None)
        } else {
            self.session.end_job(now, id)
        };
        debug_assert!(ran, "job {id} ends at {now} but does not run");
        debug_assert_eq!(self.session.job_entry(id).ran, self.s.due_time(id), "run time received is the run time due");
        if O::ENDS {
            let end_kind = match is_killed {
                // The policy ended it: at its limit, or before to make room.
                true if self.session.job_entry(id).ran >= self.session.job(id).estimate => How::AtLimit,
                true => How::Cancelled,
                false => record_kind,
            };
            self.report_end(id, end_kind, observer);
        } else {
            self.session.drop_changes(id);
        }
        if !self.s.overhead.is_empty() {
            self.s.overhead.remove(&id);
        }
        if !self.s.kept.is_empty() {
            self.s.kept.remove(&id);
        }
        self.s.gone |= id == self.session.oldest_job();
        if self.s.shapes.is_some() {
            self.s.end_sized(&mut self.session, id);
        }
        if S::NEWS {
            self.tell_gone(now, id);
        }
    }

    #[inline]
    fn report_end(&mut self, id: JobId, end_kind: How, observer: &mut impl Observer) {
        let overhead = self.s.overhead.get(&id).copied().unwrap_or(Span::ZERO);
        let mut outcome = self.session.outcome_with(id, overhead);
        outcome.how = end_kind;
        let kept_work = self.s.kept_of(id);
        outcome.ran += kept_work.work;
        outcome.overhead += kept_work.spent;
        outcome.lost -= kept_work.saved_time();
        outcome.earlier = kept_work.saved_time();
        let checkpointing = self.s.checkpoint_overhead(&self.session, id);
        let truth = &self.s.truth[id];
        debug_assert_eq!(outcome.ran, truth.run, "run time received is the run time due");
        let place = self.source.observed_id(id);
        if checkpointing > Span::ZERO {
            observer.note_checkpoint(outcome.end, place, self.session.job_entry(id).procs, checkpointing);
        }
        observer.note_end(&EndedJob { id: place, job: self.session.job(id), truth, outcome: &outcome });
    }

    #[inline]
    pub(super) fn forget_done(&mut self) {
        self.s.gone = false;
        if let Some(oldest) = self.session.forget_done() {
            self.s.truth.forget_before(oldest);
        }
    }

    #[inline]
    fn receive_events(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        if self.supply.is_some() {
            return self.receive_beside_supply(now, observer);
        }
        let decide = self.take_event(now, observer);
        self.s.next_arrival = match &self.impossible {
            None => self.source.peek_time().unwrap_or(Time::MAX),
            // The next step finds itself in the past, and says why.
            Some(_) => Time::MIN,
        };
        decide
    }

    #[inline]
    pub(super) fn take_event(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        let is_checked = self.source.is_checked();
        match self.source.next() {
            Some(Incoming::Submit(job, truth)) => {
                if !is_checked && let Some(problem) = arrival_problem(job, truth, &self.session, now) {
                    let index = self.session.next_id().0;
                    self.impossible = Some(SimulationError::Impossible { index, problem });
                    return false;
                }
                let oracle = self.session.is_clairvoyant().then(|| self.s.whole_run(job, truth));
                self.s.truth.push(truth.clone());
                let id = if self.s.shapes.is_some() {
                    let job = job.clone();
                    self.admit_sized(now, &job, oracle)
                } else {
                    self.session.admit_job(now, &self.s.known_job(job), oracle)
                };
                observer.note_arrival(now, self.source.observed_id(id));
                true
            }
            Some(Incoming::Cancel(id)) => {
                let was_here = self.session.withdraw_job(now, id);
                if was_here {
                    self.report_withdrawal(now, id, observer);
                } else {
                    self.s.cut_run(&self.session, now, id);
                }
                was_here
            }
            Some(other) => {
                let news = other.into();
                self.take_news(now, news, observer)
            }
            None => {
                let problem = format!("was to come at {now}, and there is none");
                self.impossible = Some(SimulationError::Impossible { index: self.session.next_id().0, problem });
                false
            }
        }
    }

    /// A job that waited to start or to resume was withdrawn. What it has received is all it got.
    pub(super) fn report_withdrawal<O: Observer>(&mut self, now: Time, id: JobId, observer: &mut O) {
        self.s.gone |= id == self.session.oldest_job();
        if S::NEWS {
            self.tell_gone(now, id);
        }
        let entry = self.session.job_entry(id);
        if entry.suspensions == 0 {
            observer.note_withdrawal(now, self.source.observed_id(id));
            self.session.drop_changes(id);
            self.s.kept.remove(&id);
            return;
        }
        self.s.keep_received(&self.session, id, entry.ran);
        if O::ENDS {
            self.report_end(id, How::Cancelled, observer);
        } else {
            self.session.drop_changes(id);
        }
        self.s.overhead.remove(&id);
        self.s.kept.remove(&id);
    }
}

/// Returns the reason why this job cannot come now.
fn arrival_problem(job: &Job, truth: &Truth, session: &Session, now: Time) -> Option<String> {
    let early = || (job.submit != now).then(|| format!("comes at {now}, but was submitted at {}", job.submit));
    session.problem_of(job).or_else(|| truth.run_problem()).or_else(early)
}
