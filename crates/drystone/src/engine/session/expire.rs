//! Predictions that expire while their jobs run, and are corrected.

use super::Session;
use crate::model::{JobId, Span, Time};
use crate::parts::Running;
use crate::policy::{Entry, Event};

/// A prediction that was corrected.
struct Corrected {
    /// What it was.
    old: Span,
    /// When the job is predicted to end now.
    end: Time,
    /// Whether that may lead to something.
    heard: bool,
}

impl Session {
    /// When the next prediction of a running job expires and is corrected; [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn next_expiry(&self) -> Time {
        // Without a correction it would expire for ever.
        if self.corrects { self.s.running.first().map_or(Time::MAX, |job| job.end) } else { Time::MAX }
    }

    /// Running jobs whose predictions have expired by `now` and are to be corrected.
    pub(crate) fn expired(&self, now: Time) -> impl Iterator<Item = Running> + '_ {
        let jobs = self.corrects.then(|| self.s.running.iter().copied().take_while(move |job| job.end <= now));
        jobs.into_iter().flatten()
    }

    /// Lets everything happen that is due by `now` without an event from outside. Answers whether a decision is due.
    pub fn expire(&mut self, now: Time) -> bool {
        let mut any = false;
        while self.next_expiry() <= now {
            any |= self.correct_first(now, now, |_, _| Time::MAX);
        }
        self.wake(now) || any
    }

    /// Corrects the prediction that expires first. Answers whether a decision is due: some corrections lead to nothing
    /// ([`Policy::unmoved_until`](crate::policy::Policy::unmoved_until)), and the policy is not told of them.
    ///
    /// `ends` says when the job will end, [`Time::MAX`] if that is not known. Nothing else but expiries will happen before
    /// `quiet`: corrections of the job that are due before then and before any other job's, and that lead to nothing, are made at
    /// once. They are what they would have been, and nobody has seen the prediction in between. (Another job's may lead to a pass,
    /// after which they might lead to something.)
    #[inline]
    pub(crate) fn correct_first(&mut self, now: Time, quiet: Time, ends: impl FnOnce(JobId, &Entry) -> Time) -> bool {
        let Some(first) = self.s.running.first() else { return false };
        let quiet = self.s.running.second_end().unwrap_or(first.end).min(quiet);
        let corrected = self.corrected(first.id, now, quiet, ends);
        self.s.running.postpone_first(first, corrected.end);
        self.tell(first.id, &corrected)
    }

    /// Corrects the prediction of any running job that has expired. Answers as [`Session::correct_first`].
    pub(crate) fn correct(&mut self, job: Running, now: Time) -> bool {
        let corrected = self.corrected(job.id, now, now, |_, _| Time::MAX);
        self.s.running.postpone(job, corrected.end);
        self.tell(job.id, &corrected)
    }

    #[inline]
    fn corrected(&mut self, id: JobId, now: Time, quiet: Time, ends: impl FnOnce(JobId, &Entry) -> Time) -> Corrected {
        let (s, forecast) = (&mut self.s, &self.scheduler.forecast);
        s.now = now;
        let entry = &mut s.table.entries[id];
        let limit = Span(s.table.jobs[id].estimate.0.saturating_mul(i64::from(forecast.factor)));
        let unmoved = self.scheduler.policy.unmoved_until(now);
        let last = quiet.min(ends(id, entry));
        let (old, mut at) = (entry.prediction, now);
        let mut new = forecast.correction.correct(&entry.expired(limit));
        let heard = entry.end_after(new) > unmoved;
        loop {
            entry.correct(new, limit);
            if self.keeps_changes {
                s.changes.push(&mut entry.changes, at, new);
            }
            at = entry.predicted_end();
            if heard || at >= last {
                break;
            }
            new = forecast.correction.correct(&entry.expired(limit));
            if entry.end_after(new) > unmoved {
                break;
            }
        }
        Corrected { old, end: at, heard }
    }

    #[inline]
    fn tell(&mut self, job: JobId, corrected: &Corrected) -> bool {
        if corrected.heard {
            self.observe(Event::Repredicted { job, old: corrected.old });
        }
        corrected.heard
    }
}
