//! Jobs with known run times through a [`ModelSite`]: the smallest simulation there is.

use super::{ModelSite, SchedulerDeed};
use crate::model::{Pending, VerdictObserver};
use std::collections::BTreeSet;

/// Last starts of all jobs in seconds, `None` for those that never start. A job is its entries, one
/// for each of its partitions. `runs` are run times; jobs must be in order of submission and their
/// numbers their places.
pub fn replay_jobs(
    site: &mut ModelSite,
    jobs: &[impl AsRef<[Pending]>],
    runs: &[i64],
    watch: &mut impl VerdictObserver,
) -> Vec<Option<i64>> {
    let mut starts = vec![None; jobs.len()];
    let mut ends: BTreeSet<(i64, u32)> = BTreeSet::new();
    let mut end_of = vec![0; jobs.len()];
    let (mut next, mut wake) = (0, None::<i64>);
    let mut out: Vec<SchedulerDeed> = Vec::new();
    loop {
        let submission = |job: &[Pending]| job.first().map_or(0, |job| job.submit);
        let arrival = jobs.get(next).map(|job| submission(job.as_ref()));
        let end = ends.first().map(|&(end, _)| end);
        let Some(now) = [arrival, end, wake].into_iter().flatten().min() else { return starts };
        while let Some((_, id)) = ends.first().copied().filter(|&(end, _)| end == now) {
            ends.pop_first();
            site.end_job(now, id);
        }
        while let Some(job) = jobs.get(next).filter(|job| submission(job.as_ref()) == now) {
            site.submit(now, job);
            next += 1;
        }
        site.advance_to(now, &mut out, watch);
        for deed in out.drain(..) {
            match deed {
                SchedulerDeed::Start { id, .. } => {
                    let place = id as usize;
                    starts[place] = Some(now);
                    end_of[place] = now + runs[place];
                    ends.insert((end_of[place], id));
                }
                SchedulerDeed::Requeue(id) | SchedulerDeed::Kill(id) => {
                    ends.remove(&(end_of[id as usize], id));
                    // The driver tells what the site has done itself.
                    site.note_eviction(id);
                }
            }
        }
        wake = site.next_wake();
    }
}
