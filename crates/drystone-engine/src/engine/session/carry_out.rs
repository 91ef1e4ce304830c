//! Execution of a policy's decisions in the table of jobs; impossible ones are refused.

use super::{PolicyViolation, Session};
use crate::model::{JobId, Procs, Span, TIME_LIMIT, Time};
use crate::parts::RunningJob;
use crate::policy::{Action, JobEntry, KnownEntry, PassRule, Phase, Placement, Portion, StartReason};

impl Session {
    #[inline(always)]
    pub(super) fn carry_out(&mut self, at: usize) -> Result<(), PolicyViolation> {
        // Nearly every action is the start of a waiting job that fits; the rest is checked out of
        // line.
        if let Action::Start { job, why, on: Placement::Any } = self.actions.list()[at]
            && let Some(KnownEntry { entry, .. }) = self.s.world.jobs.get_mut(job)
            && entry.phase == Phase::Waiting
            && i64::from(entry.procs) <= self.s.world.free
            && self.s.world.resources.is_none()
            && self.s.world.shapes.is_none()
        {
            entry.phase = Phase::Running;
            entry.segment = self.s.world.now;
            entry.first_start = self.s.world.now;
            entry.as_head = why == StartReason::Head;
            let (procs, end) = (entry.procs, entry.predicted_end());
            self.s.waiting -= 1;
            self.s.waiting_procs -= u64::from(procs);
            self.add_running(job, procs, end);
            return Ok(());
        }
        self.carry_out_any(self.actions.list()[at])
    }

    fn carry_out_any(&mut self, action: Action) -> Result<(), PolicyViolation> {
        match action {
            Action::Start { job, why, on } => self.start_job(job, why, on),
            Action::StartWith { job, procs, pace, why, on } => self.start_with(job, (procs, pace), why, on),
            Action::Resize { job, procs, at_once } => self.resize_job(job, procs, at_once),
            Action::Suspend(job) => self.suspend_job(job),
            Action::Resume(job) => {
                self.resume_job(job)?;
                self.take_back(job)
            }
            Action::ResumeOn { job, on: Placement::Any } => {
                self.resume_job(job)?;
                self.s.world.named.remove(&job);
                Ok(())
            }
            Action::ResumeOn { job, on: Placement::Set(index) } => {
                let procs = self.resume_job(job)?;
                self.name_processors(job, procs, index)
            }
            Action::ResumeWith { job, procs } => self.resume_with(job, procs),
            Action::SetPace { job, pace } => self.set_pace(job, pace),
            Action::Kill(job) => {
                self.entry_in(job, Phase::Running, "be killed")?;
                // The machine confirms by ending the job.
                self.s.killed.push(job);
                Ok(())
            }
            Action::Requeue(job) => {
                self.entry_in(job, Phase::Running, "be sent back")?;
                self.send_back(job);
                Ok(())
            }
            Action::Reserve { job, start, .. } => {
                let entry = self.entry_in(job, Phase::Waiting, "be given a reservation")?;
                if entry.first_reservation == Time::MAX {
                    entry.first_reservation = start;
                }
                self.s.reserves = true;
                Ok(())
            }
            Action::Repredict { job, prediction } => self.revise_prediction(job, prediction),
            Action::Note { .. } => Ok(()),
        }
    }

    pub(super) fn make_violation(&self, job: JobId, problem: String) -> PolicyViolation {
        PolicyViolation { at: self.s.world.now, job: Some(job), problem }
    }

    fn entry_of(&mut self, job: JobId) -> Result<&mut JobEntry, PolicyViolation> {
        let now = self.s.world.now;
        match self.s.world.jobs.get_mut(job) {
            Some(KnownEntry { entry, .. }) => Ok(entry),
            None => Err(PolicyViolation { at: now, job: Some(job), problem: "is not known".into() }),
        }
    }

    pub(super) fn entry_in(&mut self, job: JobId, phase: Phase, deed: &str) -> Result<&mut JobEntry, PolicyViolation> {
        let now = self.s.world.now;
        let entry = self.entry_of(job)?;
        if entry.phase != phase {
            return Err(PolicyViolation {
                at: now,
                job: Some(job),
                problem: format!("cannot {deed}: it is {:?}", entry.phase),
            });
        }
        Ok(entry)
    }

    pub(super) fn start_job(&mut self, job: JobId, reason: StartReason, on: Placement) -> Result<(), PolicyViolation> {
        let (now, free) = (self.s.world.now, self.s.world.free);
        let may_exceed = self.scheduler.pass == PassRule::Pyss;
        let entry = self.entry_in(job, Phase::Waiting, "start")?;
        let procs = entry.procs;
        if i64::from(procs) > free && !may_exceed {
            return Err(self.make_violation(job, format!("cannot start on {procs} processors: {free} are free")));
        }
        if let Some(lack) = self.lacks_resources(job, Portion::Whole).filter(|_| !may_exceed) {
            return Err(self.make_violation(job, format!("cannot start {lack}")));
        }
        if self.s.world.shapes.is_some() {
            self.check_power(job, procs)?;
        }
        self.take_resources(job, Portion::Whole);
        let entry = self.s.world.entry_mut(job);
        entry.phase = Phase::Running;
        entry.segment = now;
        entry.first_start = now;
        entry.as_head = reason == StartReason::Head;
        let end = entry.predicted_end();
        self.s.waiting -= 1;
        self.s.waiting_procs -= u64::from(procs);
        self.add_running(job, procs, end);
        match on {
            Placement::Any if self.is_on_nodes() => {
                Err(self.make_violation(job, "starts, but the policy does not say on which nodes".into()))
            }
            Placement::Any => Ok(()),
            Placement::Set(index) => self.name_processors(job, procs, index),
        }
    }

    /// Returns how many processors the job takes; which, is not settled yet.
    fn resume_job(&mut self, job: JobId) -> Result<Procs, PolicyViolation> {
        let procs = self.entry_in(job, Phase::Suspended, "be resumed")?.procs;
        self.check_resumption(job, procs)?;
        self.go_on(job)
    }

    /// Refuses a resumption with this many processors where not everything that it takes is free.
    pub(super) fn check_resumption(&self, job: JobId, procs: Procs) -> Result<(), PolicyViolation> {
        let free = self.s.world.free;
        if i64::from(procs) > free {
            return Err(self.make_violation(job, format!("cannot be resumed on {procs} processors: {free} are free")));
        }
        match self.s.world.shapes.is_some() {
            true => self.check_power(job, procs),
            false => Ok(()),
        }
    }

    /// Resumes a suspended job with the size that it had.
    pub(super) fn go_on(&mut self, job: JobId) -> Result<Procs, PolicyViolation> {
        let now = self.s.world.now;
        if let Some(lack) = self.lacks_resources(job, Portion::Passing) {
            return Err(self.make_violation(job, format!("cannot be resumed {lack}")));
        }
        self.take_resources(job, Portion::Passing);
        if self.s.world.shapes.is_some() {
            self.keep_limit(job);
        }
        let entry = self.s.world.entry_mut(job);
        entry.phase = Phase::Running;
        entry.segment = now;
        let (procs, end) = (entry.procs, entry.predicted_end());
        self.s.suspended -= 1;
        self.s.suspended_procs -= u64::from(procs);
        self.add_running(job, procs, end);
        Ok(procs)
    }

    /// A job that was resumed takes the processors it had, where it had names of some.
    fn take_back(&mut self, job: JobId) -> Result<(), PolicyViolation> {
        let Some(set) = self.s.world.named.get(&job) else { return Ok(()) };
        let obstacle = if !self.s.named_busy.is_disjoint(set) {
            "taken"
        } else if self.s.are_out(set) {
            "out"
        } else {
            self.s.named_busy.add_set(set);
            if !self.is_on_nodes() {
                return Ok(());
            }
            let set = set.clone();
            let problem = self.take_nodes(job, &set, false);
            return problem.map_or(Ok(()), |problem| Err(self.make_violation(job, problem)));
        };
        Err(self.make_violation(job, format!("cannot be resumed: some of its processors {set} are {obstacle}")))
    }

    fn suspend_job(&mut self, job: JobId) -> Result<(), PolicyViolation> {
        let now = self.s.world.now;
        self.entry_in(job, Phase::Running, "be suspended")?;
        if self.s.world.shapes.is_some() {
            self.pause_size(job);
        }
        let entry = self.s.world.entry_mut(job);
        let (procs, end) = (entry.procs, entry.predicted_end());
        entry.phase = Phase::Suspended;
        entry.ran += now - entry.segment;
        entry.suspensions += 1;
        self.s.world.running.remove(end, job);
        self.note_expiry();
        self.s.world.free += i64::from(procs);
        self.s.suspended += 1;
        self.s.suspended_procs += u64::from(procs);
        self.give_resources(job, Portion::Passing);
        if let Some(set) = self.s.world.named.get(&job) {
            self.s.named_busy.remove(set);
            if self.s.is_irregular(set) {
                self.s.refresh_capacity();
            }
        }
        if self.s.draining {
            self.s.refresh_capacity();
        }
        if self.s.names && !self.scheduler.policy.needed_abilities().name {
            // The policy only counts: the job resumes anywhere.
            self.s.world.named.remove(&job);
        }
        Ok(())
    }

    fn revise_prediction(&mut self, job: JobId, prediction: Span) -> Result<(), PolicyViolation> {
        let (now, corrects) = (self.s.world.now, self.corrects);
        let entry = self.entry_of(job)?;
        // Where it would be over, its correction would be due in the past, or again and again at
        // this instant.
        let least = match entry.phase {
            Phase::Done => {
                return Err(self.make_violation(job, "cannot be given another prediction: it is done".into()));
            }
            Phase::Running if corrects => entry.ran + (now - entry.segment) + Span(1),
            _ => Span::ZERO,
        };
        if !(0..=TIME_LIMIT).contains(&prediction.0) {
            let problem = format!("cannot be predicted to run for {prediction} s: 0 to {TIME_LIMIT} are possible");
            return Err(self.make_violation(job, problem));
        }
        self.update_prediction(job, prediction.max(least));
        Ok(())
    }

    #[inline]
    fn add_running(&mut self, id: JobId, procs: Procs, predicted_end: Time) {
        self.s.world.free -= i64::from(procs);
        self.s.world.running.insert(RunningJob { end: predicted_end, id, procs });
        if self.corrects {
            self.expiry = self.expiry.min(predicted_end);
        }
    }

    fn name_processors(&mut self, job: JobId, procs: Procs, index: u32) -> Result<(), PolicyViolation> {
        let refuse = |problem: String| Err(self.make_violation(job, problem));
        let Some(set) = self.actions.processor_set(index) else {
            return refuse("starts on a set of processors that was not given".into());
        };
        if set.len() != procs {
            return refuse(format!("needs {procs} processors but is placed on {}: {set}", set.len()));
        }
        if set.ranges().last().is_some_and(|r| r.end > self.s.world.machine.procs) {
            return refuse(format!("is placed on {set}, beyond the machine of {}", self.s.world.machine.procs));
        }
        if !self.s.named_busy.is_disjoint(set) {
            return refuse(format!("is placed on {set}, some of which are taken"));
        }
        if self.s.are_out(set) {
            return refuse(format!("is placed on {set}, some of which are out"));
        }
        self.s.named_busy.add_set(set);
        self.s.world.named.insert(job, set.clone());
        if self.is_on_nodes() {
            let set = set.clone();
            if let Some(problem) = self.take_nodes(job, &set, false) {
                return Err(self.make_violation(job, problem));
            }
        }
        Ok(())
    }
}
