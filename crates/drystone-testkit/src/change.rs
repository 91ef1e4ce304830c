//! Changes of a workload whose effect on the schedule is known.

use crate::case::{CaseRow, PolicyCase};
use crate::check::simulate_case;
use crate::sentence::describe_other_run;
use crate::subject::Subject;
use drystone::engine::Scheduler;
use std::fmt;

/// A change of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CaseChange {
    /// All times are later by the same.
    Shift,
    /// All times and lengths are this many times as long.
    Scale,
    /// Users have other numbers, each one its own.
    Rename,
    /// The log is cut where no job is there, and the pieces are simulated apart.
    Split,
    /// Another job arrives when all others have ended.
    Append,
    /// The machine and every job are twice as wide.
    Double,
}

/// The change as the end of a sentence.
impl fmt::Display for CaseChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CaseChange::Shift => "all times are later by the same",
            CaseChange::Scale => "all times and lengths are multiplied",
            CaseChange::Rename => "users have other numbers",
            CaseChange::Split => "the log is cut where no job is there",
            CaseChange::Append => "a job arrives when all others have ended",
            CaseChange::Double => "the machine and every job are twice as wide",
        })
    }
}

/// All changes.
pub const CHANGES: [CaseChange; 6] = [
    CaseChange::Shift,
    CaseChange::Scale,
    CaseChange::Rename,
    CaseChange::Split,
    CaseChange::Append,
    CaseChange::Double,
];

/// Every `every` that is tried divides seven of it.
const DAY: i64 = 86_400;

/// Starts, suspensions and ends by job, as far as both schedules can be compared.
fn simulate_schedule(make: &dyn Fn() -> Scheduler, case: &PolicyCase) -> Result<Vec<(usize, i64, i64)>, String> {
    let workload = case.to_workload();
    let observer = simulate_case(make(), case, &workload)?;
    let mut segments: Vec<_> = observer.segments.iter().map(|s| (s.job, s.start, s.end)).collect();
    segments.sort_unstable();
    Ok(segments)
}

fn change_case(case: &PolicyCase, change: impl Fn(&mut CaseRow)) -> PolicyCase {
    let mut changed_case = case.clone();
    changed_case.rows.iter_mut().for_each(change);
    changed_case
}

/// Checks that the schedule of a case follows a change of it.
///
/// # Errors
/// The difference, in words.
pub fn check_change(change: CaseChange, subject: &Subject, case: &PolicyCase) -> Result<(), String> {
    let make = &subject.make;
    if make().check_fit(&case.to_workload()).is_err() {
        return Ok(());
    }
    let before = simulate_schedule(make, case)?;
    let same = |expected: Vec<(usize, i64, i64)>, variant: &PolicyCase| {
        let after = simulate_schedule(make, variant)?;
        describe_other_run(&expected, &after).map_or(Ok(()), |different| Err(format!("where {change}: {different}")))
    };
    match change {
        CaseChange::Shift => {
            let by = 7_000 * DAY;
            let expected_schedule = before.iter().map(|&(job, start, end)| (job, start + by, end + by)).collect();
            same(expected_schedule, &change_case(case, |r| r.submit += by))
        }
        CaseChange::Scale => {
            // An estimate of nothing stays one, and the least is a second: shorter ones are left
            // out.
            let by = 7;
            let case = change_case(case, |r| r.submit *= by);
            let longer = |r: &mut CaseRow| (r.run, r.estimate) = (r.run * by, r.estimate * by);
            let cancel = case.cancel.iter().map(|&(job, after)| (job, after * by)).collect();
            let scaled_case = PolicyCase { cancel, ..change_case(&case, longer) };
            same(before.iter().map(|&(job, start, end)| (job, start * by, end * by)).collect(), &scaled_case)
        }
        CaseChange::Rename => {
            same(before, &change_case(case, |r| r.user = [97, 5, 3, 1_000_000, 12][r.user as usize % 5]))
        }
        CaseChange::Append => {
            let last = before.iter().map(|s| s.2).max().unwrap_or(0).max(case.rows.last().map_or(0, |r| r.submit));
            let after = case.cancellations().last().map_or(last, |c| c.0.0.max(last)) + 100;
            let mut longer_case = case.clone();
            longer_case.rows.push(CaseRow { submit: after, procs: case.procs, estimate: 50, run: 40, user: 1 });
            let workload = longer_case.to_workload();
            let observer = simulate_case(make(), &longer_case, &workload)?;
            let new = case.rows.len();
            let mut found_segments: Vec<_> =
                observer.segments.iter().filter(|s| s.job < new).map(|s| (s.job, s.start, s.end)).collect();
            found_segments.sort_unstable();
            if found_segments == before {
                Ok(())
            } else {
                Err(format!("where {change}: what was before it has changed"))
            }
        }
        CaseChange::Split => {
            // The same jobs a second time, long after; where the first are not over by then,
            // nothing is compared.
            let by = 7_000 * DAY;
            let first = case.rows.first().map_or(0, |r| r.submit);
            let over = before.iter().map(|s| s.2).chain(case.cancellations().iter().map(|c| c.0.0)).max().unwrap_or(0);
            if over >= first + by {
                return Ok(());
            }
            let n = case.rows.len();
            let later = change_case(case, |r| r.submit += by);
            let mut doubled_case = case.clone();
            doubled_case.rows.extend(&later.rows);
            doubled_case.cancel.extend(later.cancel.iter().map(|&(job, after)| (job + n, after)));
            let mut expected_segments = before.clone();
            expected_segments
                .extend(simulate_schedule(make, &later)?.iter().map(|&(job, start, end)| (job + n, start, end)));
            same(expected_segments, &doubled_case)
        }
        CaseChange::Double => {
            let mut wider_case = change_case(case, |r| r.procs *= 2);
            wider_case.procs *= 2;
            same(before, &wider_case)
        }
    }
}
