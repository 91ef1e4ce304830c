//! News that no action of the policy explains: what users, operators and the machine do with jobs.
//!
//! Every call here may come late or twice: a call that changes nothing returns `false`. The policy
//! learns of it by a few events that give a job's present place ([`PolicyEvent::Held`] and those
//! behind it), so it handles only four cases: a job leaves its queue or joins it, a running job
//! leaves it or joins it.

use super::{ImpossibleJob, Session};
use crate::model::{Adopted, How, Job, JobId, ProcSet, Procs, Span, Time};
use crate::parts::RunningJob;
use crate::parts::predict::Propagation;
use crate::policy::{KnownEntry, Phase, PolicyEvent, Portion};
use serde::{Deserialize, Serialize};

/// History of a job beyond waiting and running.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(super) struct PastHistory {
    /// Time for which it was held back.
    pub(super) held: Span,
    /// Beginning of the hold.
    since: Option<Time>,
    /// Run time in vain.
    pub(super) lost: Span,
    /// Run time before it was first heard of, if it had started.
    pub(super) found: Option<Span>,
}

/// News that a session cannot take. It is then unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewsError {
    /// The policy would not understand.
    #[error("this policy cannot handle jobs that are held, changed or started by others, or processors that fail")]
    Unheard,
    /// Jobs are placed on nodes that go out and come back.
    #[error("this policy places no jobs on nodes that go out and come back; leave the nodes out (`--on-nodes none`)")]
    Outages,
    /// Several passes are made in a second whose order only a simulator knows.
    #[error("with pass=pyss nothing may change but by arrivals and ends")]
    Pyss,
    /// The job cannot be on this machine.
    #[error(transparent)]
    Impossible(#[from] ImpossibleJob),
    /// The policy cannot resume jobs.
    #[error("this policy never resumes a suspended job: requeue the job, or leave it to its suspender")]
    NeverResumed,
    /// Processors cannot be lost so.
    #[error("{0}")]
    Loss(String),
    /// A supply that is impossible: of a resource that is not there, or beyond its total.
    #[error("{0}")]
    Supply(String),
}

impl Session {
    /// As [`Scheduler::check_hears`](super::Scheduler::check_hears).
    ///
    /// # Errors
    /// Reason why it cannot take news.
    pub fn check_hears(&self) -> Result<(), NewsError> {
        self.scheduler.check_hears()
    }

    /// A job is here already when the session first hears of it. It gets the next number, which is
    /// its place in every order: adopt jobs in the order of their submission. `oracle` is as for
    /// [`Session::note_arrival`].
    ///
    /// # Errors
    /// A job that is impossible on this machine, a policy that does not know of news, and a
    /// suspended job under a policy that never resumes one.
    pub fn adopt_job(
        &mut self,
        now: Time,
        job: &Job,
        oracle: Option<Span>,
        adoption: &Adopted,
    ) -> Result<JobId, NewsError> {
        self.check_hears()?;
        if matches!(adoption, Adopted::Suspended { .. }) && !self.scheduler.policy.can_resume() {
            return Err(NewsError::NeverResumed);
        }
        let now = self.begin_news(now);
        let id = self.note_arrival(now, job, oracle)?;
        match adoption {
            Adopted::Waiting => {}
            Adopted::Held => {
                self.put_back(id);
            }
            Adopted::Running { since, on } => {
                self.put_back(id);
                self.keep_recorded_size(id);
                self.s.beyond.entry(id).or_default().found = Some(now - (*since).min(now));
                self.run_held(id, *since, Span::ZERO, on.as_ref());
                self.correct_what_is_over(now);
            }
            Adopted::Suspended { ran, on } => {
                self.put_back(id);
                self.keep_recorded_size(id);
                self.s.beyond.entry(id).or_default().found = Some(*ran);
                self.park_held(id, *ran, on.as_ref());
            }
        }
        Ok(id)
    }

    /// A job runs that the policy has not started, or not so: since when, and on which processors
    /// if that is known. Of a job that runs already it corrects both. Returns whether that is new.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn note_start(&mut self, now: Time, id: JobId, since: Time, on: Option<&ProcSet>) -> Result<bool, NewsError> {
        self.check_hears()?;
        let now = self.begin_news(now);
        let since = since.min(now);
        let Some(KnownEntry { entry, .. }) = self.s.world.jobs.get(id) else { return Ok(false) };
        let ran = match entry.phase {
            Phase::Done => return Ok(false),
            Phase::Waiting => {
                self.put_back(id);
                Span::ZERO
            }
            Phase::Held => {
                self.forget_short(id);
                Span::ZERO
            }
            Phase::Suspended => {
                let ran = entry.ran;
                self.leave_machine(id);
                ran
            }
            Phase::Running => {
                let same = on.is_none() || on == self.s.world.named.get(&id);
                if entry.segment == since && same {
                    return Ok(false);
                }
                let ran = entry.ran;
                self.leave_machine(id);
                ran
            }
        };
        self.run_held(id, since, ran, on);
        self.correct_what_is_over(now);
        Ok(true)
    }

    /// A running or suspended job waits again, and nothing is left of what it ran: its start was
    /// refused or failed, or it was requeued. It keeps its place in every order; what it was
    /// promised is void, and nothing is learned from it. Returns whether there was such a job.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn note_requeue(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        self.begin_news(now);
        let phase = self.s.world.jobs.get(id).map(|record| record.entry.phase);
        if !matches!(phase, Some(Phase::Running | Phase::Suspended)) {
            return Ok(false);
        }
        let ran = self.s.view().run_time_so_far(id);
        if self.s.world.shapes.is_some() {
            self.forget_size(id);
        }
        self.leave_machine(id);
        if self.s.world.shapes.is_some() {
            self.restore_size(id);
        }
        self.forget_progress(id, ran);
        self.join_queue(id);
        Ok(true)
    }

    /// A job that has run for `ran` starts again, and is predicted as it was.
    fn forget_progress(&mut self, id: JobId, ran: Span) {
        let beyond = self.s.beyond.entry(id).or_default();
        beyond.lost += ran;
        beyond.found = None;
        let entry = self.s.world.entry_mut(id);
        entry.ran = Span::ZERO;
        entry.first_reservation = Time::MAX;
        entry.as_head = false;
        entry.requeues = entry.requeues.saturating_add(1);
        let has_changed = entry.prediction != entry.first_prediction;
        (entry.prediction, entry.corrections, entry.late_corrections) = (entry.first_prediction, 0, 0);
        self.s.world.named.remove(&id);
        if self.propagation > Propagation::None {
            self.predict_anew(id, Span::ZERO);
        } else if self.keeps_changes && has_changed {
            let entry = &mut self.s.world.jobs[id].entry;
            self.s.changes.push(&mut entry.changes, self.s.world.now, entry.prediction);
        }
    }

    /// The policy sends a running job back to wait: it knows, and receives no event.
    pub(super) fn send_back(&mut self, id: JobId) {
        let ran = self.s.view().run_time_so_far(id);
        let entry = self.s.world.job_entry(id);
        let (predicted_end, procs) = (entry.predicted_end(), entry.procs);
        self.s.foreign.remove(&id);
        self.s.world.running.remove(predicted_end, id);
        self.note_expiry();
        self.s.world.free += i64::from(procs);
        self.give_resources(id, Portion::Whole);
        if self.s.world.shapes.is_some() {
            self.forget_size(id);
            self.restore_size(id);
        }
        self.s.world.entry_mut(id).phase = Phase::Waiting;
        self.s.waiting += 1;
        self.s.waiting_procs += u64::from(self.s.world.job_entry(id).procs);
        self.leave_places(id);
        self.forget_progress(id, ran);
        self.hold_if_short(id);
    }

    /// The processors of a job that the policy has just sent back to wait, and how long it ran on
    /// them last.
    pub(in crate::engine) fn sent_back(&self, id: JobId) -> (Procs, Span) {
        let entry = self.s.world.job_entry(id);
        (entry.procs, self.s.world.now - entry.segment)
    }

    /// A waiting job is held back: no policy may start it until it is
    /// [released](Session::release_job). Returns whether it waited.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn hold_job(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        self.begin_news(now);
        let waits = self.s.world.jobs.get(id).is_some_and(|record| record.entry.phase == Phase::Waiting);
        if waits {
            self.put_back(id);
        }
        Ok(waits || self.forget_short(id))
    }

    /// A job that was held back waits again, in its place. Returns whether it was held.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn release_job(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        self.begin_news(now);
        let is_held = self.s.world.jobs.get(id).is_some_and(|record| record.entry.phase == Phase::Held);
        let is_releasable = is_held && !self.short_jobs().any(|short| short == id);
        if is_releasable {
            if self.propagation > Propagation::None {
                self.predict_anew(id, Span::ZERO);
            }
            self.join_queue(id);
        }
        Ok(is_releasable)
    }

    /// A job is another one from now on: its estimate, its size or whatever its order depends on
    /// has changed. A running job is predicted to run no less than it has. Returns whether there is
    /// such a job and it differs.
    ///
    /// # Errors
    /// A policy that does not know of news; a job that is impossible on this machine.
    pub fn update_job(&mut self, now: Time, id: JobId, job: &Job) -> Result<bool, NewsError> {
        self.check_hears()?;
        if let Some(problem) = self.problem_of(job) {
            return Err(ImpossibleJob(problem).into());
        }
        let now = self.begin_news(now);
        let Some(KnownEntry { entry, job: old }) = self.s.world.jobs.get(id) else { return Ok(false) };
        let (phase, foreign) = (entry.phase, self.s.foreign.contains(&id));
        // The machine may keep the old size of a job that the policy has resized.
        let is_resized = matches!(phase, Phase::Running | Phase::Suspended) && entry.procs != job.procs;
        if phase == Phase::Done || (old == job && !is_resized) {
            return Ok(false);
        }
        let (ran, segment, set) = (entry.ran, entry.segment, self.s.world.named.get(&id).cloned());
        let mut is_short = false;
        match phase {
            Phase::Waiting => self.put_back(id),
            Phase::Running | Phase::Suspended => self.leave_machine(id),
            Phase::Held => is_short = self.forget_short(id),
            Phase::Done => {}
        }
        let had = if phase == Phase::Running { ran + (now - segment) } else { ran };
        self.change_held(id, job, had);
        let on = set.map(|set| if set.len() > job.procs { set.lowest_procs(job.procs) } else { set });
        match phase {
            Phase::Waiting => self.join_queue(id),
            Phase::Running => {
                self.run_held(id, segment, ran, on.as_ref());
                self.correct_what_is_over(now);
            }
            Phase::Suspended if foreign => {
                self.park_elsewhere(id, ran);
            }
            Phase::Suspended => self.park_held(id, ran, on.as_ref()),
            Phase::Held if is_short => self.join_queue(id),
            Phase::Held | Phase::Done => {}
        }
        Ok(true)
    }

    /// Another than the policy has suspended a running job: it keeps its progress and gives back
    /// its processors. The suspender resumes it ([`Session::note_continuation`]), not the policy.
    /// Returns whether it ran.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn note_interruption(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        let now = self.begin_news(now);
        let Some(KnownEntry { entry, .. }) = self.s.world.jobs.get(id) else { return Ok(false) };
        if entry.phase != Phase::Running {
            return Ok(false);
        }
        let ran = entry.ran + (now - entry.segment);
        self.leave_machine(id);
        self.park_elsewhere(id, ran);
        Ok(true)
    }

    /// A suspended job runs again that the policy has not resumed, or the policy's suspension was
    /// refused. Returns whether it was suspended.
    ///
    /// # Errors
    /// A policy that does not know of news.
    pub fn note_continuation(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        let now = self.begin_news(now);
        let Some(KnownEntry { entry, .. }) = self.s.world.jobs.get(id) else { return Ok(false) };
        if entry.phase != Phase::Suspended {
            return Ok(false);
        }
        let (ran, set) = (entry.ran, self.s.world.named.get(&id).cloned());
        self.leave_machine(id);
        self.run_held(id, now, ran, set.as_ref());
        self.correct_what_is_over(now);
        Ok(true)
    }

    /// The policy resumed a suspended job, and the machine refused: it is suspended still.
    /// Returns whether it ran.
    ///
    /// # Errors
    /// A policy that does not know of news, or never resumes a suspended job.
    pub fn stays_suspended(&mut self, now: Time, id: JobId) -> Result<bool, NewsError> {
        self.check_hears()?;
        if !self.scheduler.policy.can_resume() {
            return Err(NewsError::NeverResumed);
        }
        self.begin_news(now);
        let Some(KnownEntry { entry, .. }) = self.s.world.jobs.get(id) else { return Ok(false) };
        if entry.phase != Phase::Running {
            return Ok(false);
        }
        let (ran, set) = (entry.ran, self.s.world.named.get(&id).cloned());
        self.leave_machine(id);
        self.park_held(id, ran, set.as_ref());
        Ok(true)
    }

    /// A running job has ended: how, and for how long it ran where the driver knows better than
    /// from when it heard of it. As [`Session::end_job`], but predictors learn from run times only.
    /// Returns whether it ran.
    pub fn note_end(&mut self, now: Time, id: JobId, end_kind: How, ran: Option<Span>) -> bool {
        self.finish_job(now, id, end_kind.is_run_time(), ran.map(|ran| ran.max(Span::ZERO)))
    }

    /// Returns the actions that the policy would take now; nothing changes. A decision that ends in
    /// a [`PolicyViolation`](super::PolicyViolation) is returned as such, and changes nothing,
    /// either. It costs a saved and a restored state.
    ///
    /// # Errors
    /// As [`Session::decide`]; where the state cannot be saved.
    pub fn propose_actions(&mut self, now: Time) -> Result<crate::policy::Actions, ProposalError> {
        Ok(self.propose_with_wake(now)?.0)
    }

    /// Returns the proposal, and the time at which the policy would want to be woken: a caller that
    /// takes proposals only must set it by [`Session::wake_at`], or the policy never wakes.
    ///
    /// # Errors
    /// As [`Session::propose_actions`].
    pub fn propose_with_wake(&mut self, now: Time) -> Result<(crate::policy::Actions, Option<Time>), ProposalError> {
        let saved_state = self.save()?;
        let decision = self.decide(now).cloned();
        let wake = (self.wake < Time::MAX).then_some(self.wake);
        self.load(&saved_state)?;
        Ok((decision?, wake))
    }

    /// Delivers events at the current time, from current knowledge.
    pub(super) fn begin_news(&mut self, now: Time) -> Time {
        let now = self.come_to(now);
        if self.s.lagging {
            self.catch_up_all(now);
        }
        now
    }

    /// A waiting job waits no more.
    pub(super) fn put_back(&mut self, id: JobId) {
        if self.forget_short(id) {
            // The job is held back already, and from now on for another reason.
            return;
        }
        let entry = self.s.world.entry_mut(id);
        entry.phase = Phase::Held;
        self.s.waiting -= 1;
        self.s.waiting_procs -= u64::from(entry.procs);
        self.s.held += 1;
        self.s.beyond.entry(id).or_default().since = Some(self.s.world.now);
        self.notify_policy(PolicyEvent::Held(id));
    }

    /// A held job is held no more.
    fn note_held(&mut self, id: JobId) {
        let now = self.s.world.now;
        if let Some(beyond) = self.s.beyond.get_mut(&id)
            && let Some(since) = beyond.since.take()
        {
            beyond.held += now - since;
        }
    }

    pub(super) fn join_queue(&mut self, id: JobId) {
        self.note_held(id);
        let entry = self.s.world.entry_mut(id);
        entry.phase = Phase::Waiting;
        self.s.waiting += 1;
        self.s.waiting_procs += u64::from(entry.procs);
        self.s.held -= 1;
        self.notify_policy(PolicyEvent::Released(id));
        self.hold_if_short(id);
    }

    /// A running or suspended job is nowhere, for now: held, but with its processors known if they
    /// have names.
    fn leave_machine(&mut self, id: JobId) {
        let entry = self.s.world.job_entry(id);
        let (phase, predicted_end, procs) = (entry.phase, entry.predicted_end(), entry.procs);
        let foreign = self.s.foreign.remove(&id);
        self.give_resources(id, if phase == Phase::Running { Portion::Whole } else { Portion::Staying });
        if phase == Phase::Running {
            self.s.world.running.remove(predicted_end, id);
            self.note_expiry();
            self.s.world.free += i64::from(procs);
            if !self.s.killed.is_empty() {
                self.note_killed(id);
            }
        } else {
            self.s.suspended -= 1;
            self.s.suspended_procs -= u64::from(procs);
        }
        self.s.world.entry_mut(id).phase = Phase::Held;
        self.s.held += 1;
        if phase == Phase::Running {
            self.leave_places(id);
        }
        if !foreign {
            self.notify_policy(PolicyEvent::Stopped { job: id, predicted_end });
        }
    }

    /// A job that does not run any more leaves its processors idle.
    fn leave_places(&mut self, id: JobId) {
        if self.s.names || self.s.draining {
            self.s.refresh_capacity();
        } else if let Some(set) = self.s.world.named.get(&id) {
            self.s.named_busy.remove(set);
        }
    }

    /// A held job runs, since then; `ran` is what it had run before.
    fn run_held(&mut self, id: JobId, since: Time, ran: Span, on: Option<&ProcSet>) {
        // Every job has processors of its own where another scheduler starts jobs, or a policy
        // names processors.
        if on.is_some() || self.scheduler.policy.needed_abilities().name || self.is_on_nodes() {
            self.name_all();
        }
        self.note_held(id);
        let now = self.s.world.now;
        let entry = self.s.world.entry_mut(id);
        entry.phase = Phase::Running;
        entry.segment = since.min(now);
        entry.ran = ran;
        if ran == Span::ZERO {
            entry.first_start = entry.segment;
        }
        entry.as_head = false;
        let (procs, end) = (entry.procs, entry.predicted_end());
        self.s.held -= 1;
        self.s.world.free -= i64::from(procs);
        self.take_resources(id, Portion::Whole);
        self.s.world.running.insert(RunningJob { end, id, procs });
        self.note_expiry();
        if self.s.world.free < 0 && self.counts_losses() {
            // Some of its processors may be draining.
            self.s.refresh_capacity();
        }
        if self.s.world.free < 0 {
            // More runs than there is room for: which processors are shared tells what comes back
            // when.
            self.name_all();
        }
        if self.s.names {
            self.s.world.named.remove(&id);
            self.s.refresh_capacity();
            self.s.take_place(id, on);
            self.s.refresh_capacity();
            if let Some(set) = self.s.world.named.get(&id).filter(|_| self.is_on_nodes()).cloned() {
                self.take_nodes(id, &set, true);
            }
        }
        self.notify_policy(PolicyEvent::Runs(id));
    }

    /// A held job is suspended, and the policy's to resume.
    fn park_held(&mut self, id: JobId, ran: Span, on: Option<&ProcSet>) {
        self.name_all();
        self.suspend_held(id, ran);
        let procs = self.s.world.job_entry(id).procs;
        let machine = ProcSet::from_range(0..self.s.world.machine.procs);
        let given_set = on.filter(|set| set.len() == procs && set.is_subset(&machine));
        let set = given_set.cloned().unwrap_or_else(|| {
            let idle = machine.difference(&self.s.named_busy.to_set()).lowest_procs(procs);
            let missing = procs - idle.len();
            machine.difference(&idle).lowest_procs(missing).union(&idle)
        });
        self.park_on_nodes(id, &set);
        self.s.world.named.insert(id, set);
        self.notify_policy(PolicyEvent::Parked(id));
    }

    /// A held job is suspended; its suspender resumes it.
    fn park_elsewhere(&mut self, id: JobId, ran: Span) {
        self.suspend_held(id, ran);
        self.s.foreign.insert(id);
    }

    fn suspend_held(&mut self, id: JobId, ran: Span) {
        let entry = self.s.world.entry_mut(id);
        entry.phase = Phase::Suspended;
        entry.ran = ran;
        entry.suspensions += 1;
        let procs = u64::from(entry.procs);
        self.s.held -= 1;
        self.s.suspended += 1;
        self.s.suspended_procs += procs;
        self.take_resources(id, Portion::Staying);
    }

    /// A held job is another one.
    fn change_held(&mut self, id: JobId, new: &Job, had: Span) {
        let KnownEntry { entry, job } = &mut self.s.world.jobs[id];
        let old = std::mem::replace(job, new.clone());
        entry.procs = new.procs;
        self.meet_need(id);
        self.scheduler.forecast.predictor.note_withdrawal(id, &old);
        if self.propagation > Propagation::None && old.user != new.user {
            self.s.of_user.value_of(old.user).retain(|&user_job| user_job != id);
            self.s.of_user.value_of(new.user).push(id);
        }
        self.predict_anew(id, had);
        // What was promised to the job that it was is void.
        self.s.world.entry_mut(id).first_reservation = Time::MAX;
    }

    /// Renews the prediction of a job that the policy does not hold: it runs no less than it has.
    fn predict_anew(&mut self, id: JobId, had: Span) {
        let KnownEntry { entry, job } = &mut self.s.world.jobs[id];
        let forecast = &mut self.scheduler.forecast;
        let foreseen = forecast.predictor.predict(id, job, None);
        entry.prediction = forecast.planned_span(foreseen).max(had);
        if self.keeps_changes {
            self.s.changes.push(&mut entry.changes, self.s.world.now, entry.prediction);
        }
    }

    /// Predictions of running jobs that are over by now are corrected, where they are corrected at
    /// all.
    fn correct_what_is_over(&mut self, now: Time) {
        while self.next_expiry() <= now {
            self.correct_first(now);
        }
    }
}

/// A proposal that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProposalError {
    /// The state cannot be saved or restored.
    #[error(transparent)]
    State(#[from] crate::policy::SnapshotError),
    /// The policy asks for something impossible.
    #[error(transparent)]
    Violation(#[from] super::PolicyViolation),
}
