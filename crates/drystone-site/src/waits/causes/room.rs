//! Free processors and GPUs of pools over time.

use crate::capacity::Cause;
use crate::site::Site;
use std::collections::BTreeMap;

/// Free units and GPUs from a moment on.
#[derive(Clone, Copy)]
pub(super) struct FreeStep {
    at: i64,
    pub(super) units: i64,
    pub(super) gpus: i64,
}

/// Free units and GPUs of each pool over time.
pub(super) struct FreeOverTime {
    pools: Vec<Vec<FreeStep>>,
}

/// Jobs of one pool and size: their places in the question, beginnings and ends.
pub(super) type SizeSpans = Vec<(usize, i64, i64)>;

impl FreeOverTime {
    pub(super) fn for_site(site: &Site) -> FreeOverTime {
        let end_of_records = site.manifest.window.until;
        let mut changes: Vec<Vec<(i64, i64, i64)>> = vec![Vec::new(); site.manifest.pools.len()];
        for job in (0..site.len()).map(|at| site.bare_job(at)).filter(|job| job.kind.has_start()) {
            let (Some(start), Some(own)) = (job.start, changes.get_mut(usize::from(job.pool))) else { continue };
            let end = job.end.unwrap_or(end_of_records);
            let (units, gpus) = (i64::from(job.units), i64::from(job.gpus.unwrap_or(0)));
            if end > start {
                own.extend([(start, -units, -gpus), (end, units, gpus)]);
            }
        }
        // What reservations keep from others, jobs within them use.
        let lacks_capacity = |cause: Cause| !matches!(cause, Cause::Reservation | Cause::ReservedJob);
        for loss in site.losses.iter().filter(|loss| lacks_capacity(loss.cause)) {
            let Some(own) = changes.get_mut(usize::from(loss.pool)) else { continue };
            let units = i64::from(loss.units);
            own.extend([(loss.begin, -units, 0), (loss.end.unwrap_or(end_of_records), units, 0)]);
        }
        let sizes = site.manifest.pools.iter().map(|pool| (i64::from(pool.units), pool.gpus as i64));
        FreeOverTime { pools: changes.into_iter().zip(sizes).map(|(own, size)| free_steps(own, size)).collect() }
    }

    /// Returns the pool of a job with the units and GPUs that it asks for there.
    pub(super) fn size_of(site: &Site, at: usize) -> (u16, u32, u32) {
        let job = site.bare_job(at);
        let has_gpus = site.manifest.pools.get(usize::from(job.pool)).is_some_and(|pool| pool.gpus > 0);
        (job.pool, job.units, if has_gpus { job.gpus.unwrap_or(0) } else { 0 })
    }

    /// Returns what is free of something else over time, beside the room for a job of this size: 1
    /// GPU stands for time in which it fits, 0 for all other time.
    pub(super) fn join_steps(&self, rival_steps: &[FreeStep], (pool, units, gpus): (u16, u32, u32)) -> Vec<FreeStep> {
        let own = &self.pools[usize::from(pool)];
        let mut times: Vec<i64> = own.iter().chain(rival_steps).map(|step| step.at).collect();
        times.sort_unstable();
        times.dedup();
        let at = |steps: &[FreeStep], time: i64| steps[steps.partition_point(|step| step.at <= time) - 1];
        let joint_steps = |time: i64| {
            let room = at(own, time);
            let fits = room.units >= i64::from(units) && room.gpus >= i64::from(gpus);
            FreeStep { at: time, units: at(rival_steps, time).units, gpus: fits.into() }
        };
        times.into_iter().map(joint_steps).collect()
    }

    /// Returns the seconds of each wait in which as much is free as its job asks for.
    pub(super) fn free_for(&self, site: &Site, waits: &[(usize, i64, i64)]) -> Vec<f64> {
        let mut sizes: BTreeMap<(u16, u32, u32), SizeSpans> = BTreeMap::new();
        for (place, &(at, begin, end)) in waits.iter().enumerate() {
            sizes.entry(FreeOverTime::size_of(site, at)).or_default().push((place, begin, end));
        }
        let mut free = vec![0.0; waits.len()];
        for ((pool, units, gpus), spans) in sizes {
            let steps = &self.pools[usize::from(pool)];
            let fits = |step: &FreeStep| step.units >= i64::from(units) && step.gpus >= i64::from(gpus);
            for (place, seconds) in sum_fitting(steps, fits, &spans) {
                free[place] = seconds as f64;
            }
        }
        free
    }
}

pub(super) fn free_steps(mut changes: Vec<(i64, i64, i64)>, (mut units, mut gpus): (i64, i64)) -> Vec<FreeStep> {
    changes.sort_unstable();
    let mut steps = vec![FreeStep { at: i64::MIN, units, gpus }];
    for (at, more, more_gpus) in changes {
        (units, gpus) = (units + more, gpus + more_gpus);
        let step = FreeStep { at, units, gpus };
        match steps.last_mut() {
            Some(last) if last.at == at => *last = step,
            _ => steps.push(step),
        }
    }
    steps
}

/// The seconds of each span in which a condition holds: by sums up to each step, so that many spans
/// cost little.
pub(super) fn sum_fitting(
    steps: &[FreeStep],
    fits: impl Fn(&FreeStep) -> bool,
    spans: &[(usize, i64, i64)],
) -> Vec<(usize, i64)> {
    let Some(from) = spans.iter().map(|span| span.1).min() else { return Vec::new() };
    let first = steps.partition_point(|step| step.at <= from).saturating_sub(1);
    let steps = &steps[first..];
    let mut sums = Vec::with_capacity(steps.len());
    let mut sum = 0;
    for (at, step) in steps.iter().enumerate() {
        sums.push(sum);
        if fits(step)
            && let Some(next) = steps.get(at + 1)
        {
            sum += next.at - step.at.max(from);
        }
    }
    let until = |moment: i64| {
        let at = steps.partition_point(|step| step.at <= moment).saturating_sub(1);
        let rest = if fits(&steps[at]) { moment - steps[at].at.max(from) } else { 0 };
        sums[at] + rest
    };
    spans.iter().map(|&(place, begin, end)| (place, until(end) - until(begin))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn free_time_is_that_of_every_second(
            jobs in prop::collection::vec((0_i64..60, 1_i64..30, 1_i64..4), 0..12),
            spans in prop::collection::vec((0_i64..50, 0_i64..40), 1..8),
            wanted in 1_i64..6,
        ) {
            let changes = jobs.iter().flat_map(|&(at, run, units)| [(at, -units, 0), (at + run, units, 0)]).collect();
            let steps = free_steps(changes, (6, 0));
            let spans: Vec<(usize, i64, i64)> =
                spans.iter().enumerate().map(|(at, &(begin, length))| (at, begin, begin + length)).collect();
            for (at, seconds) in sum_fitting(&steps, |step| step.units >= wanted, &spans) {
                let (_, begin, end) = spans[at];
                let free = |now: i64| {
                    let use_sum: i64 = jobs.iter().filter(|job| job.0 <= now && now < job.0 + job.1).map(|job| job.2).sum();
                    6 - use_sum >= wanted
                };
                prop_assert_eq!(seconds, (begin..end).filter(|&now| free(now)).count() as i64);
            }
        }
    }
}
