//! Predictions that expire while their jobs run, and are corrected.

use super::Session;
use crate::model::{JobId, Span, Time};
use crate::parts::RunningJob;
use crate::policy::{KnownEntry, PolicyEvent};

struct Corrected {
    old: Span,
    /// Predicted end of the job now.
    end: Time,
    /// True if that may have consequences.
    heard: bool,
}

impl Session {
    /// Returns the time at which the next prediction of a running job expires and is corrected;
    /// [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn next_expiry(&self) -> Time {
        debug_assert_eq!(self.expiry, self.expiry_anew());
        self.expiry
    }

    /// Recomputes the next expiry: due whenever the first of the running jobs may be another one,
    /// or have another end.
    #[inline]
    pub(super) fn note_expiry(&mut self) {
        self.expiry = self.expiry_anew();
    }

    #[inline]
    fn expiry_anew(&self) -> Time {
        // Without a correction it would expire for ever.
        if self.corrects { self.s.world.running.first_ending().map_or(Time::MAX, |job| job.end) } else { Time::MAX }
    }

    /// Running jobs whose predictions have expired by `now` and are to be corrected.
    pub(crate) fn expired_jobs(&self, now: Time) -> impl Iterator<Item = RunningJob> + '_ {
        let jobs = self.corrects.then(|| self.s.world.running.iter().copied().take_while(move |job| job.end <= now));
        jobs.into_iter().flatten()
    }

    /// Lets everything happen that is due by `now` without an event from outside; nothing where
    /// that is [`Time::MAX`], which is never. Returns whether a decision is due.
    pub fn expire_due(&mut self, now: Time) -> bool {
        if now == Time::MAX {
            return false;
        }
        let now = self.come_to(now);
        let has_corrected = self.correct_expired(now);
        let has_looked = self.look_at_capacity(now) | self.look_at_supply(now);
        self.wake_policy(now) || has_corrected || has_looked
    }

    /// Lets predictions expire without a look at capacity: a simulation announces the events of
    /// processors at this instant, and whether they come back as expected.
    pub(crate) fn expire_predictions(&mut self, now: Time) -> bool {
        let now = self.come_to(now);
        let has_corrected = self.correct_expired(now);
        self.wake_policy(now) || has_corrected
    }

    fn correct_expired(&mut self, now: Time) -> bool {
        let mut has_corrected = false;
        while self.next_expiry() <= now {
            has_corrected |= self.correct_first(now);
        }
        has_corrected
    }

    /// Corrects the prediction that expires first. Returns whether a decision is due: some
    /// corrections lead to nothing
    /// ([`Policy::unmoved_until`](crate::policy::Policy::unmoved_until)), and the policy is not
    /// told of them.
    pub(crate) fn correct_first(&mut self, now: Time) -> bool {
        let Some(first) = self.s.world.running.first_ending() else { return false };
        self.s.world.now = now;
        let unmoved_until = self.scheduler.policy.unmoved_until(now);
        let correction = self.apply_correction(first.id, now, unmoved_until, now);
        self.s.world.running.postpone_first(first, correction.end);
        self.note_expiry();
        self.tell_policy(first.id, now, &correction)
    }

    /// Corrects the prediction of any running job that has expired. Returns as
    /// [`Session::correct_first`].
    pub(crate) fn correct_job(&mut self, job: RunningJob, now: Time) -> bool {
        self.s.world.now = now;
        let unmoved_until = self.scheduler.policy.unmoved_until(now);
        let correction = self.apply_correction(job.id, now, unmoved_until, now);
        self.s.world.running.postpone_end(job, correction.end);
        self.note_expiry();
        self.tell_policy(job.id, now, &correction)
    }

    /// Corrects predictions that expire before `quiet`, until one of them leads to something:
    /// answers when that was. Nothing else may happen before `quiet`.
    pub(crate) fn expire_before(&mut self, quiet: Time) -> Option<Time> {
        if self.s.lagging {
            self.catch_up_all(quiet);
        }
        if self.next_expiry() >= quiet {
            return None;
        }
        let mut first = self.s.world.running.first_ending()?;
        let mut unmoved_until = self.scheduler.policy.unmoved_until(first.end);
        loop {
            // The job's later corrections also come before another job's, which may lead to a pass:
            // they are what they would have been, and the prediction in between was not seen.
            let last = match unmoved_until {
                Time::MAX => quiet,
                _ => self.s.world.running.second_end().unwrap_or(first.end).min(quiet),
            };
            let correction = self.apply_correction(first.id, first.end, unmoved_until, last);
            self.s.world.running.postpone_first(first, correction.end);
            self.note_expiry();
            // What leads to nothing does not change the policy's answer, which is not in the past
            // by the next expiry.
            if correction.heard {
                if self.tell_policy(first.id, first.end, &correction) {
                    return Some(first.end);
                }
                unmoved_until = self.scheduler.policy.unmoved_until(first.end);
            }
            if self.expiry >= quiet {
                return None;
            }
            first = self.s.world.running.first_ending()?;
        }
    }

    /// Returns whether corrections may wait until a job arrives or the job itself ends, if nothing
    /// else than ends happens up to then: no job waits, so the ends of running jobs do not matter.
    /// They wait, if so.
    pub(crate) fn lag_until(&mut self, then: Time) -> bool {
        let may = !self.wants_pass()
            && !self.repredicts_running()
            && self.next_wake() > then
            && self.scheduler.policy.unmoved_until(then) == Time::MAX;
        self.s.lagging |= may;
        may
    }

    /// Makes the corrections that have waited.
    #[cold]
    pub(super) fn catch_up_all(&mut self, quiet: Time) {
        self.s.lagging = false;
        let passed_time = self.s.world.now.min(quiet);
        while let Some(first) = self.s.world.running.first_ending().filter(|job| job.end < passed_time) {
            let correction = self.apply_correction(first.id, first.end, Time::MAX, passed_time);
            self.s.world.running.postpone_first(first, correction.end);
        }
        self.note_expiry();
    }

    /// Makes those of a job that ends now, and is no longer among the running ones. Returns when it
    /// was predicted to end.
    #[cold]
    pub(super) fn catch_up(&mut self, id: JobId, expiry: Time, now: Time) -> Time {
        if self.s.lagging { self.apply_correction(id, expiry, Time::MAX, now).end } else { expiry }
    }

    /// A running job's prediction expires now. Later corrections that lead to nothing, either, are
    /// made at once, unless they are due at `last` or later.
    #[inline]
    fn apply_correction(&mut self, id: JobId, now: Time, threshold: Time, last: Time) -> Corrected {
        let (s, forecast) = (&mut self.s, &self.scheduler.forecast);
        let KnownEntry { entry, job } = &mut s.world.jobs[id];
        let limit = forecast.times_factor(job.estimate);
        let (old, mut at) = (entry.prediction, now);
        let mut new = forecast.correction.correct_prediction(&entry.as_expired(limit));
        let is_heard = entry.end_after(new) > threshold;
        loop {
            entry.correct_prediction(new, limit);
            if self.keeps_changes {
                s.changes.push(&mut entry.changes, at, new);
            }
            at = entry.predicted_end();
            if is_heard || at >= last {
                break;
            }
            new = forecast.correction.correct_prediction(&entry.as_expired(limit));
            if entry.end_after(new) > threshold {
                break;
            }
        }
        Corrected { old, end: at, heard: is_heard }
    }

    /// Tells the policy, unless the correction leads to nothing. Returns whether a decision is due:
    /// the policy may have taken it into account.
    #[inline]
    fn tell_policy(&mut self, job: JobId, now: Time, correction: &Corrected) -> bool {
        if !correction.heard {
            return false;
        }
        self.s.world.now = now;
        self.notify_policy(PolicyEvent::Repredicted { job, old: correction.old });
        !self.scheduler.policy.has_taken_in(now)
    }
}
