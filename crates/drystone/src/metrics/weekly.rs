//! Results of each class of jobs week by week.

use super::category::lawson_class;
use super::measures::job_slowdown;
use super::row::JobRow;
use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One class of run times (up to 100, 1,000, 10,000 s, more) in one week of submits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassWeek {
    /// Number of the week, from 0, counted from the first submit.
    pub week: i64,
    /// Class of the run time received, 0 to 3.
    pub class: usize,
    /// Jobs submitted that count.
    pub jobs: u64,
    /// Their mean wait, in seconds; `None` without jobs.
    pub wait: Option<f64>,
    /// Mean of 1 + wait / run over those that ran for more than 0 s; `None` without such jobs.
    pub slowdown: Option<f64>,
}

/// Largest number of weeks reported one by one, almost two centuries: in a log with a longer gap
/// only the weeks with jobs matter.
pub const MANY_WEEKS: i64 = 10_000;

/// Every class in every week of all submits, from rows in order of arrival, of which those count
/// that the selection counts: four entries per week, by class. Weeks without submits are included,
/// unless there are more than [`MANY_WEEKS`] in all.
///
/// Memory follows the jobs, not the time between them.
#[must_use]
pub fn weekly_classes(rows: &[JobRow]) -> Vec<ClassWeek> {
    let Some(first) = rows.iter().map(|r| r.submit).min() else { return Vec::new() };
    let week = |submit: Time| (submit - first).0 / Span::WEEK.0;
    let weeks = rows.iter().map(|r| week(r.submit)).max().unwrap_or(0) + 1;
    // Jobs, sum of waits, jobs with a slowdown, sum of slowdowns.
    let mut sums = BTreeMap::<i64, [(u64, f64, u64, f64); 4]>::new();
    if weeks <= MANY_WEEKS {
        sums.extend((0..weeks).map(|week| (week, Default::default())));
    }
    for row in rows {
        let classes = sums.entry(week(row.submit)).or_default();
        if !row.counted {
            continue;
        }
        let sum = &mut classes[lawson_class(row.ran)];
        sum.0 += 1;
        sum.1 += row.wait().as_f64();
        if let Some(s) = job_slowdown(row.wait(), row.ran) {
            sum.2 += 1;
            sum.3 += s;
        }
    }
    let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
    let entry = |week: i64, class: usize, &(jobs, waits, with, slowdowns): &(u64, f64, u64, f64)| ClassWeek {
        week,
        class,
        jobs,
        wait: mean(waits, jobs),
        slowdown: mean(slowdowns, with),
    };
    let of_week = |(week, classes): (&i64, &[_; 4])| -> [ClassWeek; 4] {
        std::array::from_fn(|class| entry(*week, class, &classes[class]))
    };
    sums.iter().flat_map(of_week).collect()
}
