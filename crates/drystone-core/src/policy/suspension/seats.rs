//! Which running job is on a processor.

use crate::model::{JobId, ProcSet, Procs};
use serde::{Deserialize, Serialize};

/// The running jobs by their processors, so that those that are on the processors of a suspended job are found without a look at
/// the others. No two of them share a processor.
///
/// With k ranges in all, a change by one range costs O(log k) and a move of the later ranges; to find the jobs on a range,
/// O(log k) and one step for each.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Seats {
    /// First processor, the one behind the last, and who is on them; ascending.
    taken: Vec<(Procs, Procs, JobId)>,
}

impl Seats {
    pub(super) fn clear(&mut self) {
        self.taken.clear();
    }

    /// A job runs on these.
    pub(super) fn take(&mut self, set: &ProcSet, job: JobId) {
        for range in set.ranges() {
            let at = self.taken.partition_point(|taken| taken.0 < range.start);
            self.taken.insert(at, (range.start, range.end, job));
        }
    }

    /// The job on these has left them.
    pub(super) fn leave(&mut self, set: &ProcSet) {
        for range in set.ranges() {
            let at = self.taken.partition_point(|taken| taken.0 < range.start);
            if self.taken.get(at).is_some_and(|taken| taken.0 == range.start) {
                self.taken.remove(at);
            }
        }
    }

    /// The jobs on these, each once.
    pub(super) fn on(&self, set: &ProcSet) -> Vec<JobId> {
        let mut jobs = Vec::new();
        for range in set.ranges() {
            let first = self.taken.partition_point(|taken| taken.1 <= range.start);
            let on_them = self.taken[first..].iter().take_while(|taken| taken.0 < range.end);
            jobs.extend(on_them.map(|taken| taken.2));
        }
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The jobs that are found are those whose sets meet the one asked for.
        #[test]
        fn finds_those_that_meet(
            owners in prop::collection::vec(0u32..12, 60),
            left in prop::collection::vec(0u32..12, 0..6),
            asked in prop::collection::btree_set(0u32..60, 0..20),
        ) {
            let set_of = |job: u32| -> ProcSet { (0..60).filter(|&p| owners[p as usize] == job).collect() };
            let mut seats = Seats::default();
            // Nobody is on those of job 0.
            (1..12).for_each(|job| seats.take(&set_of(job), JobId(job)));
            left.iter().for_each(|&job| if job > 0 { seats.leave(&set_of(job)) });
            let asked: ProcSet = asked.into_iter().collect();
            let there = (1..12).filter(|job| !left.contains(job) && !set_of(*job).is_disjoint(&asked));
            prop_assert_eq!(seats.on(&asked), there.map(JobId).collect::<Vec<_>>());
        }
    }
}
