//! Recent usage of the machine by users.

use super::Believed;
use crate::model::{Span, Time};
use crate::policy::View;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A job that ran and has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct UsageRecord {
    pub(super) user: i32,
    pub(super) procs: i64,
    pub(super) from: Time,
    pub(super) to: Time,
}

/// The jobs that ended within a window before the present, in the order of their ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WindowUsage {
    ended: VecDeque<UsageRecord>,
}

impl WindowUsage {
    pub(super) fn note_end(&mut self, ran: UsageRecord, window: Span) {
        while self.ended.front().is_some_and(|first| first.to <= ran.to - window) {
            self.ended.pop_front();
        }
        self.ended.push_back(ran);
    }

    /// Processor-seconds by user between `now − window` and now, running jobs included. O(jobs in
    /// the window).
    pub(super) fn by_user(&self, running: &Believed, view: &View<'_>, window: Span, usage: &mut BTreeMap<i32, i64>) {
        usage.clear();
        let (now, since) = (view.current_time(), view.current_time() - window);
        let running_records = running.iter().map(|job| UsageRecord {
            user: view.job(job.id).user,
            procs: i64::from(job.procs),
            from: view.segment_start(job.id),
            to: now,
        });
        for ran in self.ended.iter().copied().chain(running_records) {
            let seconds = (ran.to - ran.from.max(since)).0.max(0);
            let user_usage = usage.entry(ran.user).or_default();
            *user_usage = user_usage.saturating_add(seconds.saturating_mul(ran.procs));
        }
    }
}
