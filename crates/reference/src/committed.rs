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
    let asks: Vec<Vec<i64>> = jobs.iter().map(|job| vec![job.procs]).collect();
    run_counting(rank, backfilling, jobs, &asks, &[machine])
}

/// Runs the scheduler over jobs that ask for amounts of each of several resources. A job fits if
/// all that it asks for is free.
///
/// # Panics
/// If a job asks for more than the machine has.
pub fn run_counting(
    rank: Rank<'_>,
    backfilling: bool,
    jobs: &[JobIn],
    asks: &[Vec<i64>],
    machine: &[i64],
) -> Vec<JobOut> {
    let fits = |job: usize, free: &[i64]| asks[job].iter().zip(free).all(|(ask, free)| ask <= free);
    let mut out: Vec<Option<JobOut>> = vec![None; jobs.len()];
    let (mut now, mut arrival_count, mut free) = (0, 0, machine.to_vec());
    let mut waiting_jobs: Vec<usize> = Vec::new();
    let mut running_jobs: Vec<Running> = Vec::new();
    let mut head: Option<(usize, i64)> = None;
    let end = |r: &Running| r.start + jobs[r.job].run;
    loop {
        running_jobs.sort_by_key(end);
        let next_end = running_jobs.first().map(end);
        let next_arrival = jobs.get(arrival_count).map(|job| job.submit);
        match (next_arrival, next_end) {
            (None, None) => break,
            (Some(arrival), None) => now = arrival.max(now),
            (Some(arrival), Some(end)) if arrival <= end => now = arrival.max(now),
            (_, Some(end)) => now = end,
        }
        if next_arrival.is_some_and(|arrival| next_end.is_none_or(|end| arrival <= end)) {
            waiting_jobs.push(arrival_count);
            arrival_count += 1;
        } else {
            let ended_job = running_jobs.remove(0).job;
            free.iter_mut().zip(&asks[ended_job]).for_each(|(free, ask)| *free += ask);
        }
        let mut start = |job: usize, waiting: &mut Vec<usize>, running: &mut Vec<Running>, free: &mut [i64]| {
            waiting.retain(|&entry| entry != job);
            running.push(Running { job, start: now });
            free.iter_mut().zip(&asks[job]).for_each(|(free, ask)| *free -= ask);
            out[job] = Some(JobOut { start: now, end: now + jobs[job].run });
        };
        loop {
            if head.is_none() {
                let first =
                    |&a: &usize, &b: &usize| rank(&jobs[a], now).total_cmp(&rank(&jobs[b], now)).then(a.cmp(&b));
                let Some(job) = waiting_jobs.iter().copied().min_by(first) else { break };
                assert!(fits(job, machine), "job {job} does not fit the machine");
                head = Some((job, free_by_estimates(job, &free, &running_jobs, jobs, asks).unwrap_or(now)));
            }
            match head {
                Some((job, _)) if fits(job, &free) => {
                    start(job, &mut waiting_jobs, &mut running_jobs, &mut free);
                    head = None;
                }
                _ => break,
            }
        }
        if let (Some((first, limit)), true) = (head, backfilling) {
            for job in waiting_jobs.clone() {
                if job != first && fits(job, &free) && now + jobs[job].estimate < limit {
                    start(job, &mut waiting_jobs, &mut running_jobs, &mut free);
                }
            }
        }
    }
    out.into_iter().map(|job| job.expect("every job runs")).collect()
}

/// The time at which everything that a job asks for is free by estimates; nothing where it is
/// already.
fn free_by_estimates(job: usize, free: &[i64], running: &[Running], jobs: &[JobIn], asks: &[Vec<i64>]) -> Option<i64> {
    let mut free = free.to_vec();
    let mut ends: Vec<(i64, usize)> = running.iter().map(|r| (r.start + jobs[r.job].estimate, r.job)).collect();
    ends.sort_unstable();
    let mut last = None;
    for (end, by) in ends {
        if asks[job].iter().zip(&free).all(|(ask, free)| ask <= free) {
            break;
        }
        free.iter_mut().zip(&asks[by]).for_each(|(free, ask)| *free += ask);
        last = Some(end);
    }
    last
}
