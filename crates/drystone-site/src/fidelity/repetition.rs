//! Other recordings of the same workload: how far a site is from itself.

use super::case::PoolCase;
use super::errors::{Errors, Starts, WaitPairs};
use super::hours::Hours;
use super::result::Repetition;
use crate::site::Site;
use crate::site_job::SiteJob;
use std::collections::BTreeMap;

/// Returns the identity of a job in both: numbers as the scheduler gives them.
fn job_key(job: &SiteJob<'_>) -> (u64, u32, u16) {
    (job.of.filter(|_| job.task.is_some()).or(job.id).unwrap_or(job.number), job.task.unwrap_or(u32::MAX), job.attempt)
}

/// Holds another recording against this one, job by job. Its clock may be some seconds off.
pub(super) fn compare_recordings(
    name: &str,
    site: &Site,
    second_site: &Site,
    case: &PoolCase,
    record_starts: &Starts,
    recorded_hours: &Hours,
) -> Repetition {
    let other_times: BTreeMap<_, (i64, i64)> =
        second_site.jobs().filter_map(|job| Some((job_key(&job), (job.arrive, job.wait()?)))).collect();
    let mut starts = Starts::of_waits(vec![None; case.jobs.len()]);
    let (mut same, mut matched_count, mut distances) = (0_u64, 0_u64, Vec::new());
    for (at, job) in site.jobs().enumerate() {
        let place = case.places[at];
        if place == super::case::ELSEWHERE {
            continue;
        }
        if let Some(&(arrive, wait)) = other_times.get(&job_key(&job)) {
            starts.wait[place as usize] = Some(wait);
            matched_count += 1;
            distances.push(arrive - job.arrive);
            same += u64::from(record_starts.wait[place as usize] == Some(wait));
        }
    }
    distances.sort_unstable();
    Repetition {
        name: name.to_string(),
        matched: matched_count,
        same,
        clock: distances.get(distances.len() / 2).copied().unwrap_or(0),
        errors: Errors::from_waits(&WaitPairs::from_case(case, &starts, |_| true)),
        hours: Hours::from_starts(case, &starts).hour_errors(recorded_hours),
    }
}
