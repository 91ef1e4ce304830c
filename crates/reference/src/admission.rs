//! Admission by shared limits, as defined: instant by instant, job by job.

#[derive(Clone, Debug)]
pub struct NaiveLimited {
    /// Time from which it may start by all other rules.
    pub arrives: i64,
    /// Its part of each limit, by the limit's place.
    pub parts: Vec<(usize, i64)>,
    /// Time at which it has gone; `None` for never.
    pub gone: Option<i64>,
}

/// Returns the time at which each job is admitted; `None` for never.
///
/// At each instant those that have gone leave first. Then each job that waits, in the order of the
/// list, is admitted if it fits beside all that are admitted. Then those that arrive are, in the
/// same order, by the same rule. Jobs run for a second or more.
pub fn admission_times(limits: &[i64], jobs: &[NaiveLimited]) -> Vec<Option<i64>> {
    let mut instants: Vec<i64> = jobs.iter().flat_map(|job| [Some(job.arrives), job.gone]).flatten().collect();
    instants.sort_unstable();
    instants.dedup();
    let mut admission_by_job: Vec<Option<i64>> = vec![None; jobs.len()];
    for now in instants {
        for waits in [true, false] {
            for at in 0..jobs.len() {
                let due = if waits { jobs[at].arrives < now } else { jobs[at].arrives == now };
                if due && admission_by_job[at].is_none() && fits_limits(limits, jobs, &admission_by_job, at, now) {
                    admission_by_job[at] = Some(now);
                }
            }
        }
    }
    admission_by_job
}

/// Returns whether a job fits beside those that are admitted and have not gone by now.
fn fits_limits(limits: &[i64], jobs: &[NaiveLimited], admitted: &[Option<i64>], which: usize, now: i64) -> bool {
    jobs[which].parts.iter().all(|&(limit, part)| {
        let is_present = |at: &usize| admitted[*at].is_some() && jobs[*at].gone.is_none_or(|gone| gone > now);
        let usage: i64 = (0..jobs.len()).filter(is_present).map(|at| part_of(&jobs[at], limit)).sum();
        usage + part <= limits[limit]
    })
}

pub fn part_of(job: &NaiveLimited, limit: usize) -> i64 {
    job.parts.iter().filter(|(own, _)| *own == limit).map(|(_, part)| part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of 8: 6, 4 and 2, of which the first goes at 10 and the last at 5.
    #[test]
    fn one_that_fits_passes_one_that_does_not() {
        let job = |arrives, part, gone| NaiveLimited { arrives, parts: vec![(0, part)], gone: Some(gone) };
        let jobs = [job(0, 6, 10), job(0, 4, 20), job(1, 2, 5)];
        assert_eq!(admission_times(&[8], &jobs), [Some(0), Some(10), Some(1)]);
    }
}
