//! Outcome of a job, put together when it has ended.

use super::Session;
use crate::engine::Levels;
use crate::engine::changes::Changes;
use crate::model::{How, JobId, JobOutcome, Span, Time};
use crate::parts::predict::prediction_accuracy;
use crate::policy::Phase;

impl Session {
    /// Returns the outcome of a job that has ended just now: asked between the call that ended it
    /// and the next one, and once only, since the record of its predictions goes with it. `None`
    /// for a job that is not known or has not ended.
    ///
    /// Its accuracy is there if the session keeps it ([`Session::keep_accuracy`]). A job that was
    /// withdrawn before it started has no outcome of use.
    pub fn job_outcome(&mut self, id: JobId) -> Option<JobOutcome> {
        let has_ended = self.known_entry(id).is_some_and(|entry| entry.phase == Phase::Done);
        has_ended.then(|| self.outcome_with(id, Span::ZERO))
    }

    /// Returns the outcome, where this much of the time on its processors was the price of
    /// suspensions.
    #[inline]
    pub(crate) fn outcome_with(&mut self, id: JobId, overhead: Span) -> JobOutcome {
        let mut changes = std::mem::take(&mut self.changed);
        self.take_changes(id, &mut changes);
        let now = self.s.world.now;
        let (entry, job) = (self.job_entry(id), self.job(id));
        let beyond = if self.s.beyond.is_empty() { None } else { self.s.beyond.get(&id) }.copied().unwrap_or_default();
        let ran = entry.ran - overhead;
        let outcome = JobOutcome {
            start: entry.first_start,
            end: now,
            ran,
            suspensions: entry.suspensions,
            overhead,
            first_reservation: match entry.first_reservation {
                // It became the head of its queue at the pass that started it.
                Time::MAX if entry.as_head && entry.first_start > job.submit && self.has_reservations() => {
                    Some(entry.first_start)
                }
                Time::MAX => None,
                time => Some(time),
            },
            first_prediction: entry.first_prediction,
            learned: entry.learned,
            corrections: u32::from(entry.corrections),
            accuracy: (self.keeps_changes())
                .then(|| life_accuracy(job.submit, now, entry.first_prediction, &changes, ran)),
            requeues: u32::from(entry.requeues),
            lost: beyond.lost,
            earlier: Span::ZERO,
            held: beyond.held,
            found: beyond.found,
            // The session forgets it; what drives it knows.
            how: How::Completed,
        };
        self.changed = changes;
        outcome
    }

    /// Forgets the predictions that a job had.
    #[inline]
    pub(crate) fn drop_changes(&mut self, id: JobId) {
        let mut changes = std::mem::take(&mut self.changed);
        self.take_changes(id, &mut changes);
        self.changed = changes;
    }

    /// Hands over the predictions of a job that changed while it was here: from when on, and to
    /// what.
    #[inline]
    fn take_changes(&mut self, id: JobId, into: &mut Vec<(Time, Span)>) {
        into.clear();
        if self.s.changes.is_empty() {
            return;
        }
        let entry = self.s.world.entry_mut(id);
        let last = std::mem::replace(&mut entry.changes, Changes::NONE);
        if last != Changes::NONE {
            self.s.changes.take_list(last, into);
        }
    }

    /// Jobs and processors by what they do now.
    #[inline]
    #[must_use]
    pub fn levels(&self) -> Levels {
        Levels {
            free: self.free_processors(),
            waiting: self.waiting_count() + self.short_jobs().count() as u32,
            waiting_procs: self.waiting_procs(),
            running: self.running_count(),
            suspended: self.suspended_count(),
            suspended_procs: self.suspended_procs(),
            down: self.down_processors(),
        }
    }
}

/// Accuracy of a job's predictions over its life, each weighted by the time it was in force
/// (Tsafrir et al. 2007, section 3.3). A job that ends when it arrives counts with the prediction
/// in force then.
fn life_accuracy(submit: Time, end: Time, first: Span, changes: &[(Time, Span)], run: Span) -> f64 {
    let last = changes.last().map_or(first, |c| c.1);
    if end <= submit {
        return prediction_accuracy(last, run);
    }
    if changes.is_empty() {
        return prediction_accuracy(first, run);
    }
    let (mut since, mut prediction, mut sum) = (submit, first, 0.0);
    for &(at, next) in changes {
        sum += prediction_accuracy(prediction, run) * (at - since).as_f64();
        (since, prediction) = (at, next);
    }
    sum += prediction_accuracy(prediction, run) * (end - since).as_f64();
    sum / (end - submit).as_f64()
}
