//! Fairness of a policy to jobs and users.

use super::keyed::Keyed;
use super::report::JobRow;
use super::summary::Summary;
use serde::{Deserialize, Serialize};

/// Fairness of the bounded slowdowns (10 s, Tsafrir's form) of the jobs that count.
///
/// The index of Jain, Chiu & Hawe (1984) of values x is (Σx)² / (n Σx²): 1 where all are equal, 1/n
/// where one has everything.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Fairness {
    /// Jain's index over the bounded slowdowns of jobs; `None` without jobs.
    pub jobs: Option<f64>,
    /// Jain's index over the users' mean bounded slowdowns; jobs without a user count as one
    /// user's.
    pub users: Option<f64>,
    /// The user with the largest mean bounded slowdown; the smallest number among equals.
    pub worst_user: Option<i32>,
    /// That mean.
    pub worst_user_slowdown: Option<f64>,
    /// Share of jobs that started later than some job submitted after them; `None` where job rows
    /// were not kept.
    pub overtaken: Option<f64>,
}

/// Mean bounded slowdowns per user.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    sums: Keyed<(u64, f64)>,
}

impl Users {
    pub(super) fn take(&mut self, user: i32, slowdown: f64) {
        let (count, sum) = self.sums.at(i64::from(user), Default::default);
        *count += 1;
        *sum += slowdown;
    }

    pub(super) fn finish(self, slowdown: &Summary, rows: Option<&[JobRow]>) -> Fairness {
        let means: Vec<(i32, f64)> =
            self.sums.into_sorted().map(|(user, (count, sum))| (user as i32, sum / count as f64)).collect();
        let worst = means.iter().copied().reduce(|worst, user| if user.1 > worst.1 { user } else { worst });
        let jobs = || {
            let variation = slowdown.deviation? / slowdown.mean?;
            Some(1.0 / (1.0 + variation * variation))
        };
        Fairness {
            jobs: jobs(),
            users: jain(means.iter().map(|m| m.1)),
            worst_user: worst.map(|w| w.0),
            worst_user_slowdown: worst.map(|w| w.1),
            overtaken: rows.and_then(overtaken),
        }
    }
}

/// Jain's index of fairness; `None` without values or where all are 0.
#[must_use]
pub fn jain(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

/// Share of counted jobs that started later than some job submitted strictly after them. `None`
/// without counted jobs.
///
/// `rows` in order of arrival, all jobs of the simulation. Cost: O(n).
#[must_use]
pub fn overtaken(rows: &[JobRow]) -> Option<f64> {
    let (mut jobs, mut late) = (0_u64, 0_u64);
    // Earliest start among jobs submitted after `submit`, and among those submitted at `submit` or
    // after.
    let (mut after, mut from) = (i64::MAX, i64::MAX);
    let mut submit = None;
    for row in rows.iter().rev() {
        if submit != Some(row.submit) {
            (after, submit) = (from, Some(row.submit));
        }
        from = from.min(row.start.0);
        if row.counted {
            jobs += 1;
            late += u64::from(row.start.0 > after);
        }
    }
    (jobs > 0).then(|| late as f64 / jobs as f64)
}
