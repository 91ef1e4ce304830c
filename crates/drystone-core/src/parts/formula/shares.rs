//! Recent usage of the machine by users, exactly.

use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A run of a job: whose, on how many processors, since when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RunUsage {
    /// The user.
    pub user: i32,
    /// Processors.
    pub procs: i64,
    /// Beginning of the run.
    pub from: Time,
}

/// Each user's share of the processor-seconds that were used within a window before the present,
/// running jobs included.
///
/// Whole numbers throughout, so the shares do not depend on the order in which they were added up.
/// What was used within the window is what was used until now, less what had been used at its
/// begin: the second account is the first with a delay. An end costs O(log n) for the n runs that
/// ended within the window, [`Shares::update_usage`] O(running jobs + users).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Shares {
    windows: Vec<ShareWindow>,
    #[serde(skip)]
    now: Vec<BTreeMap<i32, i64>>,
    #[serde(skip)]
    totals: Vec<i64>,
}

/// One window: the runs that have ended and are not wholly before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ShareWindow {
    length: Span,
    /// Ended runs by their begins, as far as these are within the window.
    whole: BinaryHeap<Reverse<(Time, Time, i32, i64)>>,
    /// Ended runs that began before the window, by their ends.
    cut: BinaryHeap<Reverse<(Time, Time, i32, i64)>>,
    /// Processor-seconds per user of the runs in `whole`.
    areas: BTreeMap<i32, i64>,
}

impl Shares {
    /// For these windows in seconds; `None` where there are none.
    #[must_use]
    pub fn new(windows: &[f64]) -> Option<Shares> {
        let window = |&length: &f64| ShareWindow {
            length: Span(length as i64),
            whole: BinaryHeap::new(),
            cut: BinaryHeap::new(),
            areas: BTreeMap::new(),
        };
        let windows: Vec<ShareWindow> = windows.iter().map(window).collect();
        (!windows.is_empty()).then(|| Shares { windows, now: Vec::new(), totals: Vec::new() })
    }

    /// A run has ended.
    pub fn note_end(&mut self, run: RunUsage, end: Time) {
        let area = (end - run.from).0.saturating_mul(run.procs);
        for window in &mut self.windows {
            let whole = window.areas.entry(run.user).or_default();
            *whole = whole.saturating_add(area);
            window.whole.push(Reverse((run.from, end, run.user, run.procs)));
        }
    }

    /// Makes `Shares::user_share` answer for the present, with these jobs running.
    pub fn update_usage(&mut self, now: Time, running: impl Iterator<Item = RunUsage>) {
        let running_usage: Vec<RunUsage> = running.collect();
        self.now.clear();
        self.totals.clear();
        for window in &mut self.windows {
            let user_areas = window.usage_by_user(now, running_usage.iter().copied());
            self.totals.push(user_areas.values().fold(0, |sum, &area| sum.saturating_add(area)));
            self.now.push(user_areas);
        }
    }

    /// A user's share, from 0 to 1; 0 where nothing was used.
    pub(super) fn user_share(&self, user: i32, window: f64) -> f64 {
        let at = self.windows.iter().position(|w| w.length.0 as f64 == window);
        let Some(at) = at.filter(|&at| at < self.now.len()) else { return 0.0 };
        match self.totals[at] {
            0 => 0.0,
            total => self.now[at].get(&user).copied().unwrap_or(0) as f64 / total as f64,
        }
    }
}

impl ShareWindow {
    /// Processor-seconds per user within the window.
    fn usage_by_user(&mut self, now: Time, running: impl Iterator<Item = RunUsage>) -> BTreeMap<i32, i64> {
        let since = now - self.length;
        while let Some(&Reverse((from, end, user, procs))) = self.whole.peek().filter(|run| run.0.0 < since) {
            self.whole.pop();
            let remaining_area = self.areas.get(&user).map_or(0, |area| area - (end - from).0.saturating_mul(procs));
            if remaining_area == 0 {
                self.areas.remove(&user);
            } else {
                self.areas.insert(user, remaining_area);
            }
            self.cut.push(Reverse((end, from, user, procs)));
        }
        while self.cut.peek().is_some_and(|run| run.0.0 <= since) {
            self.cut.pop();
        }
        let mut user_areas = self.areas.clone();
        let mut add = |user: i32, area: i64| {
            let sum = user_areas.entry(user).or_default();
            *sum = sum.saturating_add(area);
        };
        self.cut.iter().for_each(|&Reverse((end, _, user, procs))| add(user, (end - since).0.saturating_mul(procs)));
        running.for_each(|run| add(run.user, (now - run.from.max(since)).0.max(0).saturating_mul(run.procs)));
        user_areas
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The sum over all runs that ever were, second by second of the window.
        #[test]
        fn shares_are_those_of_the_definition(
            runs in prop::collection::vec((0i32..4, 1i64..8, 0i64..200, 0i64..80), 1..40),
            length in 1i64..100,
            steps in prop::collection::vec(0i64..60, 1..12),
        ) {
            let mut shares = Shares::new(&[length as f64]).expect("a window");
            let (mut now, mut flags) = (0, vec![false; runs.len()]);
            for step in steps {
                now += step;
                for (run, has_ended) in runs.iter().zip(&mut flags) {
                    let &(user, procs, from, span) = run;
                    if !*has_ended && from + span <= now {
                        shares.note_end(RunUsage { user, procs, from: Time(from) }, Time(from + span));
                        *has_ended = true;
                    }
                }
                let running = runs.iter().filter(|r| r.2 <= now && r.2 + r.3 > now);
                shares.update_usage(Time(now), running.map(|&(user, procs, from, _)| RunUsage { user, procs, from: Time(from) }));
                let usage = |user: i32| -> i64 {
                    let of = runs.iter().filter(|r| r.0 == user);
                    of.map(|r| r.1 * ((r.2 + r.3).min(now) - r.2.max(now - length)).max(0)).sum()
                };
                let total: i64 = (0..4).map(usage).sum();
                for user in 0..4 {
                    let expected = if total == 0 { 0.0 } else { usage(user) as f64 / total as f64 };
                    prop_assert_eq!(shares.user_share(user, length as f64), expected);
                }
            }
        }
    }
}
