//! Jobs that still run when they should have ended (rule 19; Talby & Feitelson 1999, section 4.7).
//!
//! A job is beyond its time when it has run as long as it was planned and as long as its user
//! declared. Then no correction of its prediction gives it more. A job is killed in two steps: the
//! machine gets the order, and nothing else is decided before it reports the end of the job.

use super::Slack;
use super::price::PromisedJob;
use super::search::{FitChoice, Newcomer};
use super::settings::Tick;
use crate::model::{JobId, SharedSort, Span, Time};
use crate::parts::RunningJob;
use crate::policy::{Action, Actions, Phase, View};
use crate::room::planned::grace_end;
use crate::room::{JobNeed, OpenRoom};

impl Slack {
    /// Returns whether a job that had been predicted to run for `old` has outlived that and its
    /// user's declaration, and this decides its fate.
    pub(super) fn beyond_its_time(&self, job: JobId, old: Span, view: &View<'_>) -> bool {
        self.settings.tick != Tick::Run
            && view.phase(job) == Phase::Running
            && view.run_time_so_far(job) >= old.max(declared_run_time(job, view))
    }

    /// Finds the jobs that are overdue now. Those beyond their time become guests, whose processors
    /// the plan counts as free, or are killed.
    pub(super) fn find_overdue(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.settings.tick == Tick::Run {
            self.stale |= self.running.extend_overdue(view, |_, _| {});
            return;
        }
        let guest_count = self.guests.len();
        while let Some(job) = self.running.first_overdue(view.current_time()) {
            let (ran, declared_span) = (view.run_time_so_far(job.id), declared_run_time(job.id, view));
            if ran < declared_span {
                // Only its prediction was too short; its user had asked for more.
                self.running.extend_end(job, grace_end(&job, view).min(view.current_time() + (declared_span - ran)));
                self.stale = true;
            } else {
                self.running.forget_job(job);
                self.guests.push(job);
            }
        }
        if self.settings.tick != Tick::Overrun {
            // Rule 19. Which job has to leave is another matter: the one that should have ended
            // first.
            self.guests[guest_count..].sort_shared_by_key(|job| job.id);
        }
        if self.settings.tick == Tick::Kill {
            for job in std::mem::take(&mut self.guests) {
                self.kill_job(job, actions);
            }
        }
    }

    /// Prices a tenth of its declared time more for each job beyond its time, as if it were a new
    /// job that must start now, against what killing it throws away. All of them are guests until
    /// it is their turn.
    pub(super) fn extend_or_kill(&mut self, view: &View<'_>, actions: &mut Actions) {
        for at in 0..self.guests.len() {
            let job = self.guests[at];
            let declared_span = declared_run_time(job.id, view);
            let span = Span((declared_span.0 + 9) / 10);
            let seat = view.seat_of(job.id).map(|on| &on.seat);
            let need = JobNeed { procs: job.procs, ..view.job_need(job.id).on_seat(seat) };
            let priority = self.held.get(&job.id).copied().unwrap_or_default();
            let price = self.settings.weights.of_killing(job.procs, declared_span);
            let killing = FitChoice { start: Time::MAX, price, compact: self.compact };
            let choice = self.find_cheapest(Newcomer { need, span, priority }, killing, true, view);
            if choice.start == Time::MAX {
                self.kill_job(job, actions);
                continue;
            }
            self.apply_moves(Some(job.id), actions);
            // It holds its processors again: no guest any more.
            self.guests[at].procs = 0;
            self.running.extend_end(job, view.current_time() + span);
            self.compact = choice.compact;
            self.rebuild_room(view);
        }
        self.guests.clear();
    }

    /// Kills guests, those first that are beyond their time for longest, until the first `due` jobs
    /// of the plan can start. Returns whether one had to go.
    pub(super) fn show_out_guests(&mut self, due: usize, view: &View<'_>, actions: &mut Actions) -> bool {
        if self.guests.is_empty() {
            return false;
        }
        let mut free = OpenRoom::of_now(view);
        for PromisedJob { planned, .. } in &self.plan[..due] {
            free.take_need(planned.job_need(view).on_seat(self.room.seat_of(planned.id)));
        }
        let (mut leaving, mut staying) = (Vec::new(), Vec::new());
        for guest in self.guests.drain(..) {
            let seat = view.seat_of(guest.id).map(|on| &on.seat);
            let need = JobNeed { procs: guest.procs, ..view.job_need(guest.id).on_seat(seat) };
            if free.gains_by(need) {
                free.return_need(need);
                leaving.push(guest);
            } else {
                staying.push(guest);
            }
        }
        self.guests = staying;
        let has_leaving = !leaving.is_empty();
        leaving.into_iter().for_each(|guest| self.kill_job(guest, actions));
        has_leaving
    }

    fn kill_job(&mut self, job: RunningJob, actions: &mut Actions) {
        self.dying.push(job.id);
        actions.push(Action::Kill(job.id));
    }
}

/// Returns the run time that its user declared; at least a second, as it was planned.
fn declared_run_time(job: JobId, view: &View<'_>) -> Span {
    view.job(job).estimate.max(Span(1))
}
