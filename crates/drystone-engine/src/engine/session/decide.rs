//! Passes: asking the policy, and carrying out what it answers.

use super::{PolicyViolation, Session};
use crate::model::Time;
use crate::policy::Actions;
use crate::snapshot::SnapshotError;

impl Session {
    /// One scheduling pass, where one can do anything: a job waits to start or to resume, or the
    /// policy wanted to be woken. The actions are carried out in the table and can be read from
    /// [`Session::actions`]; what drives the session carries them out on the machine. Jobs that
    /// have ended are forgotten then, as far as no older one is still here.
    ///
    /// # Errors
    /// A policy that starts a job that does not wait or does not fit, resumes one that is not
    /// suspended, suspends or kills one that does not run, names processors that are taken, gives a
    /// reservation to a job that does not wait, makes a prediction that is negative or beyond 2⁴⁰ s
    /// or one of a job that is done, or asks to be woken in the past. What the session holds
    /// afterwards is of no use.
    pub fn decide(&mut self, now: Time) -> Result<&Actions, PolicyViolation> {
        if self.wants_pass() {
            let now = self.come_to(now);
            self.decide_with(now, |_, _| {})?;
        } else {
            self.actions.clear();
        }
        self.forget_done();
        Ok(&self.actions)
    }

    /// As [`Session::decide`], and tells `then` of each action, by its place among
    /// [`Session::actions`], as soon as it is carried out in the table.
    #[inline]
    pub(crate) fn decide_with(
        &mut self,
        now: Time,
        then: impl FnMut(&mut Session, usize),
    ) -> Result<(), PolicyViolation> {
        self.ask_policy(now);
        self.carry_out_decision(now, then)
    }

    /// Asks the policy for its actions, and carries out none.
    #[inline]
    pub(crate) fn ask_policy(&mut self, now: Time) {
        self.s.world.now = now;
        self.woken = false;
        self.actions.clear();
        let mut view = self.s.view();
        if let Some(limit) = self.time_limit {
            self.stopwatch.start_timer(limit);
            view.stopwatch = Some(&*self.stopwatch);
        }
        self.scheduler.policy.decide(&view, &mut self.actions);
    }

    /// Carries out what the policy has decided.
    #[inline]
    pub(crate) fn carry_out_decision(
        &mut self,
        now: Time,
        then: impl FnMut(&mut Session, usize),
    ) -> Result<(), PolicyViolation> {
        self.carry_out_all(then)?;
        if self.wakes {
            self.wake = self.scheduler.policy.next_wake().unwrap_or(Time::MAX);
            if self.wake <= now {
                let problem = format!("asks to be woken at {}", self.wake);
                return Err(PolicyViolation { at: now, job: None, problem });
            }
        }
        if self.s.world.shapes.is_some() {
            self.policy_wake = if self.wakes { self.wake } else { Time::MAX };
            self.merge_wakes();
        }
        Ok(())
    }

    /// Returns the policy's state; `None` for a policy that has none to be saved.
    pub(crate) fn save_policy(&self) -> Option<Vec<u8>> {
        self.scheduler.policy.save().ok()
    }

    /// Brings the policy back to a state that it had between two decisions.
    ///
    /// # Errors
    /// The policy refuses its own state.
    pub(crate) fn restore_policy(&mut self, state: &[u8]) -> Result<(), SnapshotError> {
        self.scheduler.policy.load(state)?;
        if self.listened {
            self.scheduler.policy.enable_notes();
        }
        self.scheduler.policy.set_threads(self.threads);
        Ok(())
    }

    #[inline]
    fn carry_out_all(&mut self, mut then: impl FnMut(&mut Session, usize)) -> Result<(), PolicyViolation> {
        for at in 0..self.actions.list().len() {
            self.carry_out(at)?;
            then(self, at);
        }
        if self.s.names {
            self.place_started();
        }
        Ok(())
    }

    /// Carries out actions from outside in the table: those of another scheduler that is watched,
    /// or of what decides instead of the policy. The policy is neither asked nor told, so it should
    /// be one that keeps nothing, [`Outside`](crate::policy::Outside).
    ///
    /// # Errors
    /// As [`Session::decide`].
    pub fn apply_actions(&mut self, now: Time, actions: &Actions) -> Result<(), PolicyViolation> {
        self.come_to(now);
        self.act_with(actions, |_, _| {})
    }

    /// Carries out actions now, and calls `then` as [`Session::decide_with`] does.
    pub(crate) fn act_with(
        &mut self,
        actions: &Actions,
        then: impl FnMut(&mut Session, usize),
    ) -> Result<(), PolicyViolation> {
        self.woken = false;
        self.actions.clone_from(actions);
        self.carry_out_all(then)
    }

    /// The pass that was due is over, whatever made it.
    pub(crate) fn leave_pass(&mut self) {
        self.woken = false;
    }

    /// Wakes the policy then, if nothing else leads to a pass before: for callers that act from
    /// outside. A decision of the policy replaces this time by its own wish.
    pub fn wake_at(&mut self, time: Time) {
        self.wake = time;
    }

    /// The instant is over: whatever was started on processors that are given back later in it must
    /// have them by now.
    pub(crate) fn settle_instant(&self) -> Result<(), PolicyViolation> {
        if self.s.world.free >= 0 {
            return self.settle_resources();
        }
        let problem = format!("{} processors more are in use than there are", -self.s.world.free);
        Err(PolicyViolation { at: self.s.world.now, job: None, problem })
    }
}
