//! Models that a replay has to beat: no model at all, and models of no site.

use super::case::{PoolCase, RecordedTimes};
use super::errors::Starts;
use drystone::statistics::lower_median;
use std::collections::BTreeMap;

pub(super) fn nothing_waits(case: &PoolCase) -> Starts {
    Starts::of_waits(case.jobs.iter().map(|_| Some(0)).collect())
}

/// Every job waits as long as the median of its class did in the block of time before: a week or,
/// of less than six weeks, a day. Classes are of size and limit, which are known when a job
/// arrives. Before anything is known, nothing waits.
pub(super) fn class_medians(case: &PoolCase) -> Starts {
    let mut blocks: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, job) in case.jobs.iter().enumerate() {
        blocks.entry(case.block_of(job)).or_default().push(at);
    }
    let mut waits: Vec<Option<i64>> = vec![Some(0); case.jobs.len()];
    let mut class_waits: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    let mut of_all = 0;
    for jobs in blocks.values() {
        let mut seen_waits: BTreeMap<(usize, usize), Vec<i64>> = BTreeMap::new();
        let mut all_waits = Vec::new();
        for &at in jobs {
            let job = &case.jobs[at];
            let class = (size_class(job.units), length_class(job.limit));
            waits[at] = Some(class_waits.get(&class).copied().unwrap_or(of_all));
            if let Some(wait) = job.recorded_wait().filter(|_| job.simulated) {
                seen_waits.entry(class).or_default().push(wait);
                all_waits.push(wait);
            }
        }
        class_waits
            .extend(seen_waits.into_iter().filter_map(|(class, mut waits)| Some((class, lower_median(&mut waits)?))));
        of_all = lower_median(&mut all_waits).unwrap_or(of_all);
    }
    Starts::of_waits(waits)
}

/// Classes of sizes, by their upper ends.
pub(super) const SIZES: &[(u32, &str)] = &[(1, "1"), (8, "2-8"), (64, "9-64"), (512, "65-512"), (u32::MAX, "over 512")];

/// Classes of lengths of time, by their upper ends.
pub(super) const LENGTHS: &[(i64, &str)] = &[
    (600, "up to 10 min"),
    (3_600, "up to 1 h"),
    (28_800, "up to 8 h"),
    (86_400, "up to 1 d"),
    (i64::MAX, "over 1 d"),
];

pub(super) fn size_class(units: u32) -> usize {
    SIZES.iter().position(|(most, _)| units <= *most).unwrap_or(0)
}

pub(super) fn length_class(seconds: i64) -> usize {
    LENGTHS.iter().position(|(most, _)| seconds <= *most).unwrap_or(0)
}

/// The classes of a job by its size and by how long it held its processors.
pub(super) fn job_classes(job: &RecordedTimes) -> (usize, usize) {
    (size_class(job.units), length_class(job.holds))
}
