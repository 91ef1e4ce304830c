//! Other recordings of the same workload: how far a site is from itself.

use super::case::PoolCase;
use super::errors::{Errors, Starts, WaitPairs};
use super::hours::Hours;
use super::result::Repetition;
use crate::site::Site;
use crate::site_job::SiteJob;
use std::collections::BTreeMap;

/// Returns the identity of a job in both: numbers as the scheduler gives them.
fn key(job: &SiteJob<'_>) -> (u64, u32, u16) {
    (job.of.filter(|_| job.task.is_some()).or(job.id).unwrap_or(job.number), job.task.unwrap_or(u32::MAX), job.attempt)
}

/// Holds another recording against this one, job by job. Its clock may be some seconds off.
pub(super) fn compare(
    name: &str,
    site: &Site,
    other: &Site,
    case: &PoolCase,
    recorded: &Starts,
    recorded_hours: &Hours,
) -> Repetition {
    let theirs: BTreeMap<_, (i64, i64)> =
        other.jobs().filter_map(|job| Some((key(&job), (job.arrive, job.wait()?)))).collect();
    let mut starts = Starts::of_waits(vec![None; case.jobs.len()]);
    let (mut same, mut matched, mut distances) = (0_u64, 0_u64, Vec::new());
    for (at, job) in site.jobs().enumerate() {
        let here = case.places[at];
        if here == super::case::ELSEWHERE {
            continue;
        }
        if let Some(&(arrive, wait)) = theirs.get(&key(&job)) {
            starts.wait[here as usize] = Some(wait);
            matched += 1;
            distances.push(arrive - job.arrive);
            same += u64::from(recorded.wait[here as usize] == Some(wait));
        }
    }
    distances.sort_unstable();
    Repetition {
        name: name.to_string(),
        matched,
        same,
        clock: distances.get(distances.len() / 2).copied().unwrap_or(0),
        errors: Errors::of(&WaitPairs::of(case, &starts, |_| true)),
        hours: Hours::of(case, &starts).errors(recorded_hours),
    }
}
