//! Limits at the start of jobs: a job that only waits keeps no other from a limit that they share.
//!
//! Admitted jobs fit their limits together, so that a pass may start any of them. Where one of them
//! finds no room on the machine, the jobs that its claim holds back are tried: they wait beside it,
//! and the policy decides in its own order. Where its starts break a limit, it goes back to its
//! state before the pass, without the jobs that the first starts leave no room for. It may then
//! decide otherwise. So a job that a limit has refused is not tried again at the same instant, and
//! a second refusal of one job ends all trials.

use super::machine::MachineEffect;
use super::{Simulation, SimulationError};
use crate::engine::observer::Observer;
use crate::engine::source::EventSource;
use crate::model::{JobId, Time};
use crate::policy::Action;
use std::collections::BTreeSet;

impl<S: EventSource> Simulation<S> {
    /// Makes a pass where jobs wait for claims of others that wait themselves, and further passes
    /// as long as it leaves jobs to be tried.
    ///
    /// Cost: one saved state of the policy for each limit that starts would break, and one for each
    /// pass with tried jobs.
    #[cold]
    pub(super) fn run_pass_within_limits(
        &mut self,
        now: Time,
        observer: &mut impl Observer,
    ) -> Result<(), SimulationError> {
        if self.s.refused.0 != now {
            self.s.refused = (now, BTreeSet::new());
        }
        for id in self.source.expire_trials(now) {
            self.hold_for_limit(now, id, observer)?;
        }
        loop {
            let starts = self.decide_within_limits(now, observer)?;
            let mut deed = MachineEffect {
                source: &self.source,
                s: &mut self.s,
                transfer: self.transfer.as_ref(),
                thrashing: None,
            };
            self.session.carry_out_decision(now, |session, at| deed.carried_out(session, at, observer))?;
            if let Some(thrashing) = deed.thrashing {
                return Err(thrashing);
            }
            self.report_moves(now, observer);
            self.tell_starts(now);
            if !starts.is_empty() {
                let mut excess_jobs = self.source.expire_trials(now);
                excess_jobs.append(&mut self.source.withdraw_excess(now));
                for id in excess_jobs {
                    self.hold_for_limit(now, id, observer)?;
                }
                self.look_ahead();
            }
            if !self.begin_trials(now, observer)? {
                return Ok(());
            }
        }
    }

    /// Lets jobs take part in the next pass that claims of waiting jobs alone hold back. Returns
    /// whether there are any.
    fn begin_trials(&mut self, now: Time, observer: &mut impl Observer) -> Result<bool, SimulationError> {
        if self.session.view().free_processors() == 0 {
            return Ok(false);
        }
        let mut jobs = self.source.claimed_jobs();
        jobs.retain(|id| !self.s.refused.1.contains(id));
        // A policy that cannot go back to an earlier state sees admitted jobs only.
        if jobs.is_empty() || self.session.save_policy().is_none() {
            return Ok(false);
        }
        self.source.begin_trials(now, &jobs);
        for &id in &jobs {
            if self.session.release_job(now, id)? {
                observer.note_release(now, self.source.observed_id(id));
            }
        }
        Ok(true)
    }

    /// Asks the policy until its starts keep all limits, and returns them.
    fn decide_within_limits(&mut self, now: Time, observer: &mut impl Observer) -> Result<Vec<JobId>, SimulationError> {
        loop {
            // Admitted jobs keep the limits whichever of them start.
            let state = if self.source.has_trials() { self.session.save_policy() } else { None };
            self.session.ask_policy(now);
            let starts: Vec<JobId> = self.session.actions().list().iter().filter_map(started_job).collect();
            let Some(state) = state else { return Ok(starts) };
            let excess_jobs = self.source.excess_of_starts(&starts);
            if excess_jobs.is_empty() {
                return Ok(starts);
            }
            self.session.restore_policy(&state).map_err(|error| {
                let problem = format!("comes to a pass that cannot be made again: {error}");
                SimulationError::Impossible { index: self.session.next_id().0, problem }
            })?;
            let is_repeated = excess_jobs.iter().any(|id| self.s.refused.1.contains(id));
            self.s.refused.1.extend(&excess_jobs);
            if is_repeated {
                for id in self.source.end_trials(now) {
                    self.s.refused.1.insert(id);
                    self.hold_for_limit(now, id, observer)?;
                }
                continue;
            }
            for id in excess_jobs {
                if self.source.withdraw_admission(now, id) {
                    self.hold_for_limit(now, id, observer)?;
                }
            }
        }
    }

    /// A job that waited for the machine waits for a limit again.
    fn hold_for_limit(&mut self, now: Time, id: JobId, observer: &mut impl Observer) -> Result<(), SimulationError> {
        if self.session.hold_job(now, id)? {
            observer.note_hold(now, self.source.observed_id(id));
            self.tell_limit(now, id, observer);
        }
        Ok(())
    }
}

fn started_job(action: &Action) -> Option<JobId> {
    match *action {
        Action::Start { job, .. } | Action::StartWith { job, .. } => Some(job),
        _ => None,
    }
}
