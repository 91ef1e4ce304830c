//! The simulator of RLScheduler (Zhang et al. 2020): the head of the queue is chosen once.
//!
//! 1. Events are taken one by one: the next arrival if it is no later than the next end, else that
//!    end; of ends at once, that of the job that started first.
//! 2. While no head is chosen and jobs wait, the one of the lowest rank becomes the head, the first
//!    by arrival of several. It starts if it fits, and the next is chosen.
//! 3. A head that does not fit stays. When it is chosen, the time is computed by which enough jobs
//!    have ended by their estimates; that time stays as well.
//! 4. After each event the jobs behind such a head are tried in the order of arrival: one that fits
//!    and would end before that time, by its estimate, starts.

use crate::{JobIn, JobOut};

/// A running job.
#[derive(Clone, Copy)]
struct Running {
    job: usize,
    start: i64,
}

/// Rank of a job at a time: lowest first.
pub type Rank<'a> = &'a dyn Fn(&JobIn, i64) -> f64;

/// Runs the scheduler over jobs in order of arrival on a machine of this many processors.
///
/// # Panics
/// If a job is wider than the machine.
pub fn run(rank: Rank<'_>, backfilling: bool, jobs: &[JobIn], machine: i64) -> Vec<JobOut> {
    let mut out: Vec<Option<JobOut>> = vec![None; jobs.len()];
    let (mut now, mut arrived, mut free) = (0, 0, machine);
    let mut waiting: Vec<usize> = Vec::new();
    let mut running: Vec<Running> = Vec::new();
    let mut head: Option<(usize, i64)> = None;
    let end = |r: &Running| r.start + jobs[r.job].run;
    loop {
        running.sort_by_key(end);
        let next_end = running.first().map(end);
        let next_arrival = jobs.get(arrived).map(|job| job.submit);
        match (next_arrival, next_end) {
            (None, None) => break,
            (Some(arrival), None) => now = arrival.max(now),
            (Some(arrival), Some(end)) if arrival <= end => now = arrival.max(now),
            (_, Some(end)) => now = end,
        }
        if next_arrival.is_some_and(|arrival| next_end.is_none_or(|end| arrival <= end)) {
            waiting.push(arrived);
            arrived += 1;
        } else {
            free += jobs[running.remove(0).job].procs;
        }
        let mut start = |job: usize, waiting: &mut Vec<usize>, running: &mut Vec<Running>, free: &mut i64| {
            waiting.retain(|&other| other != job);
            running.push(Running { job, start: now });
            *free -= jobs[job].procs;
            out[job] = Some(JobOut { start: now, end: now + jobs[job].run });
        };
        loop {
            if head.is_none() {
                let first =
                    |&a: &usize, &b: &usize| rank(&jobs[a], now).total_cmp(&rank(&jobs[b], now)).then(a.cmp(&b));
                let Some(job) = waiting.iter().copied().min_by(first) else { break };
                assert!(jobs[job].procs <= machine, "job {job} does not fit the machine");
                head = Some((job, free_by_estimates(jobs[job].procs, free, &running, jobs).unwrap_or(now)));
            }
            match head {
                Some((job, _)) if jobs[job].procs <= free => {
                    start(job, &mut waiting, &mut running, &mut free);
                    head = None;
                }
                _ => break,
            }
        }
        if let (Some((first, limit)), true) = (head, backfilling) {
            for job in waiting.clone() {
                if job != first && jobs[job].procs <= free && now + jobs[job].estimate < limit {
                    start(job, &mut waiting, &mut running, &mut free);
                }
            }
        }
    }
    out.into_iter().map(|job| job.expect("every job runs")).collect()
}

/// The time at which so many processors are free by estimates; nothing where they are already.
fn free_by_estimates(procs: i64, mut free: i64, running: &[Running], jobs: &[JobIn]) -> Option<i64> {
    let mut ends: Vec<(i64, i64)> =
        running.iter().map(|r| (r.start + jobs[r.job].estimate, jobs[r.job].procs)).collect();
    ends.sort_unstable();
    let mut last = None;
    for (end, procs_back) in ends {
        if free >= procs {
            break;
        }
        free += procs_back;
        last = Some(end);
    }
    last
}
