//! Limits that jobs share, as defined: what runs keeps them, and a job that only waits uses
//! nothing.

/// A job that shares limits, and its run.
#[derive(Clone, Debug)]
pub struct NaiveLimited {
    /// Time from which it may start by all other rules.
    pub arrives: i64,
    /// Its processors.
    pub procs: i64,
    /// Its part of each limit, by the limit's place.
    pub parts: Vec<(usize, i64)>,
    /// Time at which it starts first; `None` for never.
    pub starts: Option<i64>,
    /// Time at which it has gone; `None` for never.
    pub gone: Option<i64>,
}

impl NaiveLimited {
    /// Returns whether it has started and has not gone.
    fn is_started(&self, now: i64) -> bool {
        self.starts.is_some_and(|start| start <= now) && self.gone.is_none_or(|gone| gone > now)
    }
}

/// Returns what started jobs take of a limit.
pub fn limit_usage(jobs: &[NaiveLimited], limit: usize, now: i64) -> i64 {
    jobs.iter().filter(|job| job.is_started(now)).map(|job| part_of(job, limit)).sum()
}

/// Returns the first job that waits although the machine and all its limits have room for it, with
/// the instant; `None` where no job does. Nothing is suspended.
pub fn find_idle_room(procs: i64, limits: &[i64], jobs: &[NaiveLimited]) -> Option<(usize, i64)> {
    let mut instants: Vec<i64> =
        jobs.iter().flat_map(|job| [Some(job.arrives), job.starts, job.gone]).flatten().collect();
    instants.sort_unstable();
    instants.dedup();
    instants.into_iter().find_map(|now| {
        let used: i64 = jobs.iter().filter(|job| job.is_started(now)).map(|job| job.procs).sum();
        let has_room = |job: &NaiveLimited| {
            job.procs <= procs - used
                && job.parts.iter().all(|&(limit, part)| limit_usage(jobs, limit, now) + part <= limits[limit])
        };
        let waits = |job: &NaiveLimited| job.arrives <= now && job.starts.is_none_or(|start| start > now);
        jobs.iter().position(|job| waits(job) && has_room(job)).map(|at| (at, now))
    })
}

pub fn part_of(job: &NaiveLimited, limit: usize) -> i64 {
    job.parts.iter().filter(|(own, _)| *own == limit).map(|(_, part)| part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of 8 on 10 processors. While the job of 6 runs, that of 2 may start at 1, and the
    /// other of 2 has the limit's room but not the machine's.
    #[test]
    fn room_is_what_machine_and_limits_leave() {
        let job = |arrives, procs, part, starts, gone| NaiveLimited {
            arrives,
            procs,
            parts: vec![(0, part)],
            starts: Some(starts),
            gone: Some(gone),
        };
        let late = [job(0, 6, 6, 0, 10), job(1, 2, 2, 10, 12)];
        assert_eq!(find_idle_room(10, &[8], &late), Some((1, 1)));
        assert_eq!(find_idle_room(7, &[8], &late), None);
        assert_eq!(find_idle_room(10, &[7], &late), None);
        assert_eq!(limit_usage(&late, 0, 11), 2);
    }
}
