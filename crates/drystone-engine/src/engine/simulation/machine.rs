//! Knowledge of the simulated machine alone: ends of jobs, and the effects of actions there.

use super::{MachineState, SimulationError, THRASHING};
use crate::engine::checkpoint::{AttemptWorth, KeptWork};
use crate::engine::ends::QueuedEnd;
use crate::engine::observer::Observer;
use crate::engine::platform::Transfer;
use crate::engine::session::Session;
use crate::engine::source::EventSource;
use crate::model::{Job, JobId, Span, Time, Truth};
use crate::policy::{Action, JobEntry, Phase, Placement};
use std::borrow::Cow;

pub(super) struct MachineEffect<'a, S> {
    pub(super) source: &'a S,
    pub(super) s: &'a mut MachineState,
    pub(super) transfer: Option<&'a Transfer>,
    pub(super) thrashing: Option<SimulationError>,
}

impl<S: EventSource> MachineEffect<'_, S> {
    /// An action has been carried out in the session's table.
    #[inline(always)]
    pub(super) fn carried_out(&mut self, session: &mut Session, at: usize, observer: &mut impl Observer) {
        let s = &mut *self.s;
        let now = s.now;
        let place = |job| self.source.observed_id(job);
        match session.actions().list()[at] {
            Action::Start { job, why, on } | Action::StartWith { job, why, on, .. } => {
                if s.shapes.is_some() {
                    s.begin_sized(session, job);
                }
                s.begin_attempt(session, job);
                if !s.writing.is_empty() {
                    s.wait_for_writers(session, now, job);
                }
                let end = now + s.due_time(job);
                s.push_end(end, job);
                observer.note_start(now, place(job), why);
                if let Action::StartWith { procs, pace, .. } = session.actions().list()[at] {
                    observer.note_size(now, place(job), procs);
                    if let Some(shape) = session.view().job_shape(job).filter(|_| pace > 0) {
                        observer.note_pace(now, place(job), (shape.numbered_pace(0), shape.numbered_pace(pace)));
                    }
                }
                if on != Placement::Any
                    && let Some(set) = session.named_processors(job)
                {
                    observer.note_placement(now, place(job), set);
                }
            }
            Action::Resume(job) | Action::ResumeOn { job, .. } | Action::ResumeWith { job, .. } => {
                if s.shapes.is_some() {
                    s.resume_sized(session, job);
                }
                s.wait_for_writers(session, now, job);
                if let Some(end) = s.end_of(session, job) {
                    s.push_end(end, job);
                }
                observer.note_resumption(now, place(job));
                if let Action::ResumeWith { .. } = session.actions().list()[at] {
                    s.follow_sizes(session, self.source, observer);
                }
                if let (Action::ResumeOn { .. }, Some(set)) =
                    (session.actions().list()[at], session.named_processors(job))
                {
                    observer.note_placement(now, place(job), set);
                }
            }
            Action::Resize { .. } | Action::SetPace { .. } => s.follow_sizes(session, self.source, observer),
            Action::Suspend(job) => {
                if s.shapes.is_some() {
                    s.pause_sized(session, job);
                }
                self.note_suspension(session, job);
                observer.note_suspension(now, self.source.observed_id(job));
            }
            Action::Kill(job) => s.cut_run(session, now, job),
            Action::Requeue(job) => {
                s.stale = true;
                if s.shapes.is_some() {
                    s.end_sized(session, job);
                }
                let (procs, ran) = session.sent_back(job);
                let lost_attempt = s.end_attempt(session, job, ran);
                observer.note_requeue(now, place(job), procs, ran - lost_attempt.saved_time());
                if lost_attempt.spent > Span::ZERO {
                    observer.note_checkpoint(now, place(job), procs, lost_attempt.spent);
                }
            }
            Action::Reserve { job, start, latest } => observer.note_reservation(now, place(job), start, latest),
            Action::Repredict { job, prediction } => observer.note_prediction(now, place(job), prediction),
            Action::Note { gauge, value } => observer.note_gauge(now, gauge, value),
        }
    }

    fn note_suspension(&mut self, session: &Session, job: JobId) {
        self.s.stale = true;
        if let Some(transfer) = self.transfer {
            self.s.charge_suspension(session, transfer, self.s.now, job);
            if session.known_entry(job).is_some_and(|e| e.suspensions > THRASHING) {
                let submit = session.view().job(job).submit;
                let number = self.s.truth[job].number;
                self.thrashing = Some(SimulationError::Thrashing { job, number, submit });
            }
        }
    }
}

impl MachineState {
    /// Returns the end of a running job if it continues to run.
    pub(super) fn end_of(&self, session: &Session, id: JobId) -> Option<Time> {
        let entry = session.known_entry(id).filter(|e| e.phase == Phase::Running)?;
        Some(self.end_if_running(id, entry))
    }

    #[inline]
    pub(super) fn end_if_running(&self, id: JobId, entry: &JobEntry) -> Time {
        entry.segment + (self.due_time(id) - entry.ran)
    }

    /// Returns the total time for which a job needs its processors.
    #[inline]
    pub(super) fn due_time(&self, id: JobId) -> Span {
        let run = self.truth[id].run;
        if self.overhead.is_empty() && self.kept.is_empty() {
            return run;
        }
        run - self.kept_of(id).work + self.overhead.get(&id).copied().unwrap_or(Span::ZERO)
    }

    /// Work of a job in the checkpoints of earlier attempts.
    #[inline]
    pub(super) fn kept_of(&self, id: JobId) -> KeptWork {
        if self.kept.is_empty() { None } else { self.kept.get(&id) }.copied().unwrap_or_default()
    }

    /// The job as the scheduler knows it: its limit has room for checkpoints.
    pub(super) fn known_job<'a>(&self, job: &'a Job) -> Cow<'a, Job> {
        self.checkpoints.map_or(Cow::Borrowed(job), |checkpoints| Cow::Owned(checkpoints.give_room(job)))
    }

    /// The time on its processors of a job that nothing interrupts.
    pub(super) fn whole_run(&self, job: &Job, truth: &Truth) -> Span {
        self.checkpoints.map_or(truth.run, |checkpoints| truth.run + checkpoints.write_time(job, truth.run))
    }

    /// A job begins an attempt, in which it writes checkpoints, and reads that of an earlier one.
    #[inline]
    pub(super) fn begin_attempt(&mut self, session: &Session, id: JobId) {
        if self.checkpoints.is_some() {
            self.plan_checkpoints(session, id);
        }
    }

    #[cold]
    fn plan_checkpoints(&mut self, session: &Session, id: JobId) {
        let time = self.checkpoint_overhead(session, id);
        self.overhead.remove(&id);
        self.add_overhead(id, time);
    }

    /// Time of the writes and the read of a job's attempt.
    pub(super) fn checkpoint_overhead(&self, session: &Session, id: JobId) -> Span {
        let Some(checkpoints) = &self.checkpoints else { return Span::ZERO };
        let kept_work = self.kept_of(id).work;
        checkpoints.attempt_overhead(session.job(id), kept_work, self.truth[id].run - kept_work)
    }

    /// An attempt of a job is over before its time, after it had its processors for so long.
    /// Returns what it is worth.
    fn attempt_worth(&self, session: &Session, id: JobId, ran: Span) -> AttemptWorth {
        let Some(checkpoints) = &self.checkpoints else { return AttemptWorth::default() };
        let kept_work = self.kept_of(id).work;
        let overhead = self.overhead.get(&id).copied().unwrap_or(Span::ZERO);
        // Memory of suspensions is transferred before any work of a segment.
        let transfers = (overhead - self.checkpoint_overhead(session, id)).max(Span::ZERO);
        let elapsed_time = (ran - transfers).max(Span::ZERO);
        checkpoints.divide_attempt(session.job(id), kept_work, self.truth[id].run - kept_work, elapsed_time)
    }

    /// As [`MachineState::attempt_worth`], and keeps what is in its checkpoints.
    pub(super) fn end_attempt(&mut self, session: &Session, id: JobId, ran: Span) -> AttemptWorth {
        let worth = self.attempt_worth(session, id, ran);
        if self.checkpoints.is_some() {
            self.overhead.remove(&id);
        }
        if worth.kept > Span::ZERO {
            let kept_work = self.kept.entry(id).or_default();
            kept_work.work += worth.kept;
            kept_work.spent += worth.spent;
        }
        worth
    }

    fn add_overhead(&mut self, id: JobId, time: Span) {
        if time > Span::ZERO {
            let sum = self.overhead.entry(id).or_default();
            *sum += time;
        }
    }

    /// A job was suspended: its memory is written now, and read when it resumes.
    fn charge_suspension(&mut self, session: &Session, transfer: &Transfer, now: Time, id: JobId) {
        let once = transfer.transfer_seconds(session.job(id), &self.truth[id]);
        if transfer.pays_read() {
            self.add_overhead(id, once);
        }
        match session.named_processors(id).filter(|_| transfer.busy) {
            _ if !transfer.pays_write() => {}
            Some(set) => self.writing.push((now + once, set.clone())),
            None => self.add_overhead(id, once),
        }
    }

    /// A job has its processors, but begins when the memory of the jobs that left them is written.
    fn wait_for_writers(&mut self, session: &Session, now: Time, id: JobId) {
        self.writing.retain(|&(until, _)| until > now);
        let Some(set) = session.named_processors(id) else { return };
        let on_them = self.writing.iter().filter(|(_, writer)| !writer.is_disjoint(set));
        if let Some(until) = on_them.map(|&(until, _)| until).max() {
            self.add_overhead(id, until - now);
        }
    }

    /// Lets a running job that was withdrawn end now: what it has received is all it will get.
    pub(super) fn cut_run(&mut self, session: &Session, now: Time, id: JobId) {
        let Some(entry) = session.known_entry(id).filter(|e| e.phase == Phase::Running) else { return };
        self.keep_received(session, id, entry.ran + (now - entry.segment));
        self.stale = true;
        self.withdrawn.insert(id);
        self.ends.push(QueuedEnd::new(now, 0, id));
    }

    /// A job gets no more time on its processors than this.
    pub(super) fn keep_received(&mut self, session: &Session, id: JobId, run_time: Span) {
        if self.checkpoints.is_some() {
            let done_work = self.attempt_worth(session, id, run_time).done;
            self.overhead.remove(&id);
            self.add_overhead(id, run_time - done_work);
            self.truth[id].run = self.kept_of(id).work + done_work;
            return;
        }
        let overhead = self.overhead.get(&id).copied().unwrap_or(Span::ZERO).min(run_time);
        if overhead > Span::ZERO {
            self.overhead.insert(id, overhead);
        }
        self.truth[id].run = run_time - overhead;
    }

    #[inline]
    pub(super) fn push_end(&mut self, end: Time, job: JobId) {
        let rank = match &mut self.starts {
            None => 0,
            Some(starts) => {
                *starts += 1;
                *starts
            }
        };
        self.ends.push(QueuedEnd::new(end, rank, job));
    }
}
