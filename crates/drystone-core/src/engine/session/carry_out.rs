//! What a policy decided, carried out in the table of jobs; what is impossible is refused.

use super::{Session, Violation};
use crate::model::{JobId, Procs, Span, TIME_LIMIT, Time};
use crate::parts::Running;
use crate::policy::{Action, Known, Pass, Phase, Placement, Why};

impl Session {
    #[inline(always)]
    pub(super) fn carry_out(&mut self, at: usize) -> Result<(), Violation> {
        // Nearly every action is the start of a waiting job that fits; the rest is checked out of line.
        if let Action::Start { job, why, on: Placement::Any } = self.actions.list()[at]
            && let Some(Known { entry, .. }) = self.s.world.jobs.get_mut(job)
            && entry.phase == Phase::Waiting
            && i64::from(entry.procs) <= self.s.world.free
        {
            entry.phase = Phase::Running;
            entry.segment = self.s.world.now;
            entry.first_start = self.s.world.now;
            entry.as_head = why == Why::Head;
            let (procs, end) = (entry.procs, entry.predicted_end());
            self.s.waiting -= 1;
            self.s.waiting_procs -= u64::from(procs);
            self.run(job, procs, end);
            return Ok(());
        }
        self.carry_out_any(self.actions.list()[at])
    }

    fn carry_out_any(&mut self, action: Action) -> Result<(), Violation> {
        let now = self.s.world.now;
        let job = match action {
            Action::Start { job, .. }
            | Action::Suspend(job)
            | Action::Resume(job)
            | Action::ResumeOn { job, .. }
            | Action::Kill(job)
            | Action::Requeue(job)
            | Action::Reserve { job, .. }
            | Action::Repredict { job, .. } => job,
            Action::Note { .. } => return Ok(()),
        };
        let refuse = |problem: String| Err(Violation { at: now, job: Some(job), problem });
        let free = self.s.world.free;
        let Some(Known { entry, .. }) = self.s.world.jobs.get_mut(job) else {
            return refuse("is not known".into());
        };
        let procs = entry.procs;
        match action {
            Action::Start { on, why, .. } => {
                if entry.phase != Phase::Waiting {
                    return refuse(format!("cannot start: it is {:?}", entry.phase));
                }
                if i64::from(procs) > free && self.scheduler.pass != Pass::Pyss {
                    return refuse(format!("cannot start on {procs} processors: {free} are free"));
                }
                entry.phase = Phase::Running;
                entry.segment = now;
                entry.first_start = now;
                entry.as_head = why == Why::Head;
                let end = entry.predicted_end();
                self.s.waiting -= 1;
                self.s.waiting_procs -= u64::from(procs);
                self.run(job, procs, end);
                if let Placement::Set(index) = on {
                    return self.name(job, procs, index);
                }
            }
            Action::Resume(_) | Action::ResumeOn { .. } => {
                if entry.phase != Phase::Suspended {
                    return refuse(format!("cannot be resumed: it is {:?}", entry.phase));
                }
                if i64::from(procs) > free {
                    return refuse(format!("cannot be resumed on {procs} processors: {free} are free"));
                }
                entry.phase = Phase::Running;
                entry.segment = now;
                let end = entry.predicted_end();
                self.s.suspended -= 1;
                self.s.suspended_procs -= u64::from(procs);
                self.run(job, procs, end);
                if let Action::ResumeOn { on: Placement::Set(index), .. } = action {
                    return self.name(job, procs, index);
                }
                if let Action::ResumeOn { .. } = action {
                    self.s.world.named.remove(&job);
                }
                if let Some(set) = self.s.world.named.get(&job) {
                    if !set.is_disjoint(&self.s.named_busy) {
                        return refuse(format!("cannot be resumed: some of its processors {set} are taken"));
                    }
                    if self.s.are_out(set) {
                        return refuse(format!("cannot be resumed: some of its processors {set} are out"));
                    }
                    self.s.named_busy = self.s.named_busy.union(set);
                }
            }
            Action::Suspend(_) => {
                if entry.phase != Phase::Running {
                    return refuse(format!("cannot be suspended: it is {:?}", entry.phase));
                }
                self.s.world.running.remove(entry.predicted_end(), job);
                entry.phase = Phase::Suspended;
                entry.ran += now - entry.segment;
                entry.suspensions += 1;
                self.note_expiry();
                self.s.world.free += i64::from(procs);
                self.s.suspended += 1;
                self.s.suspended_procs += u64::from(procs);
                if let Some(set) = self.s.world.named.get(&job) {
                    self.s.named_busy = self.s.named_busy.difference(set);
                    if self.s.is_irregular(set) {
                        self.s.refresh();
                    }
                }
                if self.s.draining {
                    self.s.refresh();
                }
                if self.s.names && !self.scheduler.policy.needs().name {
                    // The policy only counts: the job goes on anywhere.
                    self.s.world.named.remove(&job);
                }
            }
            Action::Kill(_) => {
                if entry.phase != Phase::Running {
                    return refuse(format!("cannot be killed: it is {:?}", entry.phase));
                }
                // The machine confirms by ending the job.
                self.s.killed.push(job);
            }
            Action::Requeue(_) => {
                if entry.phase != Phase::Running {
                    return refuse(format!("cannot be sent back: it is {:?}", entry.phase));
                }
                self.send_back(job);
            }
            Action::Reserve { start, .. } => {
                if entry.phase != Phase::Waiting {
                    return refuse(format!("cannot be given a reservation: it is {:?}", entry.phase));
                }
                if entry.first_reservation == Time::MAX {
                    entry.first_reservation = start;
                }
                self.s.reserves = true;
            }
            Action::Repredict { prediction, .. } => {
                if entry.phase == Phase::Done {
                    return refuse("cannot be given another prediction: it is done".into());
                }
                if !(0..=TIME_LIMIT).contains(&prediction.0) {
                    return refuse(format!(
                        "cannot be predicted to run for {prediction} s: 0 to {TIME_LIMIT} are possible"
                    ));
                }
                // Where it would be over, its correction would be due in the past, or again and again at this instant.
                let least = match entry.phase {
                    Phase::Running if self.corrects => entry.ran + (now - entry.segment) + Span(1),
                    _ => Span::ZERO,
                };
                self.repredict(job, prediction.max(least));
            }
            Action::Note { .. } => {}
        }
        Ok(())
    }

    #[inline]
    fn run(&mut self, id: JobId, procs: Procs, predicted_end: Time) {
        self.s.world.free -= i64::from(procs);
        self.s.world.running.insert(Running { end: predicted_end, id, procs });
        if self.corrects {
            self.expiry = self.expiry.min(predicted_end);
        }
    }

    fn name(&mut self, job: JobId, procs: Procs, index: u32) -> Result<(), Violation> {
        let refuse = |problem: String| Err(Violation { at: self.s.world.now, job: Some(job), problem });
        let Some(set) = self.actions.set(index) else {
            return refuse("starts on a set of processors that was not given".into());
        };
        if set.len() != procs {
            return refuse(format!("needs {procs} processors but is placed on {}: {set}", set.len()));
        }
        if set.ranges().last().is_some_and(|r| r.end > self.s.world.machine.procs) {
            return refuse(format!("is placed on {set}, beyond the machine of {}", self.s.world.machine.procs));
        }
        if !set.is_disjoint(&self.s.named_busy) {
            return refuse(format!("is placed on {set}, some of which are taken"));
        }
        if self.s.are_out(set) {
            return refuse(format!("is placed on {set}, some of which are out"));
        }
        self.s.named_busy = self.s.named_busy.union(set);
        self.s.world.named.insert(job, set.clone());
        Ok(())
    }
}
