//! The running jobs in the order of their predicted ends.

use super::tree::{Packed, Probe, Tree, TreeItem, pack_key};
use crate::model::{JobId, Procs, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A running job as the plan sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RunningJob {
    /// Predicted end. May lie in the past where a job has outlived its prediction.
    pub end: Time,
    /// Identity of the job.
    pub id: JobId,
    /// Processors it holds.
    pub procs: Procs,
}

impl TreeItem for RunningJob {
    type Summary = u64;

    #[inline]
    fn packed_key(&self) -> Packed {
        pack_key(self.end.0, self.id)
    }

    fn join_summary(&self, sum: &mut u64) -> bool {
        *sum += u64::from(self.procs);
        true
    }

    fn merge_summary(sum: &mut u64, child: &u64) {
        *sum += child;
    }

    fn leave_summary(&self, sum: &mut u64, _: &[RunningJob]) -> bool {
        *sum -= u64::from(self.procs);
        true
    }

    fn part_summary(&self, sum: &mut u64, _: &[u64]) -> bool {
        *sum -= u64::from(self.procs);
        true
    }
}

/// Count of the extra processors at the shadow time; published results differ in it (spec of the
/// EASY family).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ExtraRule {
    /// All jobs that are predicted to end by the shadow time count.
    #[default]
    All,
    /// The walk over the predicted ends stops at the first sufficient job: others ending at the
    /// same time do not count.
    First,
}

/// Shadow time of a queue's first blocked job, and the processors left over then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shadow {
    /// Shadow time: when enough processors are predicted to be free.
    pub time: Time,
    /// Extra processors: those left over at that time.
    pub extra: Procs,
}

/// The set of running jobs, by predicted end and id.
///
/// Cost for n running jobs: insert, remove and [`RunningSet::find_shadow`] O(log n).
///
/// The reservation of EASY: a blocked job lacks 3 processors.
///
/// ```
/// use drystone_core::model::{JobId, Time};
/// use drystone_core::parts::{ExtraRule, RunningJob, RunningSet, Shadow};
///
/// let mut running = RunningSet::default();
/// for (id, end, procs) in [(0, 50, 2), (1, 80, 4), (2, 200, 8)] {
///     running.insert(RunningJob { end: Time(end), id: JobId(id), procs });
/// }
///
/// // At 50 two are free, at 80 six: three more than the job lacks.
/// let shadow = running.find_shadow(3, ExtraRule::All, Time(10));
/// assert_eq!(shadow, Some(Shadow { time: Time(80), extra: 3 }));
/// // The end of all of them does not suffice for 15.
/// assert_eq!(running.find_shadow(15, ExtraRule::All, Time(10)), None);
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunningSet {
    tree: Tree<RunningJob>,
}

impl fmt::Debug for RunningSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Adds up processors in order of predicted end until enough are free.
struct Accumulate {
    sum: u64,
    need: u64,
}

impl Probe<RunningJob> for Accumulate {
    #[inline]
    fn can_enter(&mut self, sum: &u64) -> bool {
        if self.sum + sum < self.need {
            self.sum += sum;
            return false;
        }
        true
    }

    #[inline]
    fn is_match(&mut self, job: &RunningJob) -> bool {
        self.sum += u64::from(job.procs);
        self.sum >= self.need
    }
}

impl RunningSet {
    /// Adds a job that has started.
    #[inline]
    pub fn insert(&mut self, job: RunningJob) {
        self.tree.insert(job);
    }

    /// Removes a job by its predicted end; `None` if it is not there.
    #[inline]
    pub fn remove(&mut self, end: Time, id: JobId) -> Option<RunningJob> {
        self.tree.remove(&pack_key(end.0, id))
    }

    /// Gives a job another predicted end; `false` if it is not there.
    #[inline]
    pub fn postpone_end(&mut self, job: RunningJob, end: Time) -> bool {
        self.tree.replace_item(&job.packed_key(), RunningJob { end, ..job }).is_some()
    }

    /// Gives the first job, which must be there, another predicted end.
    #[inline]
    pub(crate) fn postpone_first(&mut self, first: RunningJob, end: Time) {
        debug_assert_eq!(self.first_ending(), Some(first));
        self.tree.replace_first(RunningJob { end, ..first });
    }

    /// Number of running jobs.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether nothing runs.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// The job that is predicted to end first.
    #[inline]
    #[must_use]
    pub fn first_ending(&self) -> Option<RunningJob> {
        self.tree.first_item().copied()
    }

    /// The job that is predicted to end last. O(log n).
    #[inline]
    #[must_use]
    pub fn last_ending(&self) -> Option<RunningJob> {
        self.tree.last_item().copied()
    }

    /// Returns the predicted end of the job behind the first, if that is known without a search.
    #[inline]
    pub(crate) fn second_end(&self) -> Option<Time> {
        self.tree.second_in_leaf().map(|job| job.end)
    }

    /// The shadow time of a job that lacks `missing` processors now, with the extra processors at
    /// that time. `None` where even the end of all running jobs does not suffice.
    ///
    /// Ends before `floor` count as `floor`: pass the present where overdue jobs are taken to end
    /// now, and [`Time::MIN`] where a shadow time may lie in the past.
    #[inline]
    #[must_use]
    pub fn find_shadow(&self, missing: Procs, extra: ExtraRule, floor: Time) -> Option<Shadow> {
        match self.tree.flat_items() {
            Some(jobs) => walk_shadow(jobs.iter(), missing, extra, floor),
            None => self.deep_shadow(&[], missing, extra, floor),
        }
    }

    /// Returns the shadow as if these jobs, in order of predicted end and id, were also in the set.
    /// O((k + 1) log n) for k of them.
    #[must_use]
    pub fn shadow_with(&self, more: &[RunningJob], missing: Procs, extra: ExtraRule, floor: Time) -> Option<Shadow> {
        debug_assert!(more.is_sorted_by_key(RunningJob::packed_key), "{more:?}");
        let Some(jobs) = self.tree.flat_items() else {
            return self.deep_shadow(more, missing, extra, floor);
        };
        let (mut jobs, mut more) = (jobs.iter().peekable(), more.iter().peekable());
        let merged_ends = std::iter::from_fn(|| match (jobs.peek(), more.peek()) {
            (Some(job), Some(other)) if other.packed_key() < job.packed_key() => more.next(),
            (None, _) => more.next(),
            _ => jobs.next(),
        });
        walk_shadow(merged_ends, missing, extra, floor)
    }

    fn deep_shadow(&self, more: &[RunningJob], missing: Procs, extra: ExtraRule, floor: Time) -> Option<Shadow> {
        let missing = u64::from(missing);
        // What the first of the others add, and the job of the set with which that suffices: unless
        // the next one comes before.
        let mut added_procs = 0;
        let mut more_left = more;
        let (last, enough) = loop {
            let mut walk = Accumulate { sum: added_procs, need: missing };
            let last = self.tree.find_after(None, &mut walk);
            let next = more_left.first();
            match (last, next) {
                (Some(last), None) => break (last, walk.sum),
                (Some(last), Some(next)) if last.packed_key() < next.packed_key() => break (last, walk.sum),
                (None, None) => return None,
                (_, Some(next)) => {
                    added_procs += u64::from(next.procs);
                    more_left = &more_left[1..];
                    let sum = self.tree.summary_before(&next.packed_key()) + added_procs;
                    if sum >= missing {
                        break (*next, sum);
                    }
                }
            }
        };
        let time = last.end.max(floor);
        let sum = match extra {
            ExtraRule::First => enough,
            ExtraRule::All => {
                let ended_procs = more.iter().take_while(|job| job.end <= time).map(|job| u64::from(job.procs));
                self.sum_by(time) + ended_procs.sum::<u64>()
            }
        };
        Some(Shadow { time, extra: (sum - missing) as Procs })
    }

    /// Processors of the jobs that are predicted to end by `time`. O(log n).
    fn sum_by(&self, time: Time) -> u64 {
        self.tree.summary_before(&pack_key(time.0, JobId(u32::MAX)))
    }

    /// Processors of the jobs that are predicted to end by `time`. O(log n).
    #[inline]
    #[must_use]
    pub fn ending_by(&self, time: Time) -> Procs {
        self.sum_by(time) as Procs
    }

    /// Processors of all running jobs. O(n).
    #[inline]
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.iter().map(|job| job.procs).sum()
    }

    /// Running jobs in order of predicted end. O(n).
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &RunningJob> + '_ {
        self.tree.iter()
    }
}

#[inline(always)]
fn walk_shadow<'a>(
    mut ends: impl Iterator<Item = &'a RunningJob>,
    missing: Procs,
    extra: ExtraRule,
    floor: Time,
) -> Option<Shadow> {
    let mut sum = 0;
    let last = ends.find(|job| {
        sum += job.procs;
        sum >= missing
    })?;
    let time = last.end.max(floor);
    if extra == ExtraRule::All {
        sum += ends.take_while(|job| job.end <= time).map(|job| job.procs).sum::<Procs>();
    }
    Some(Shadow { time, extra: sum - missing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn obvious(jobs: &[RunningJob], free: Procs, need: Procs, extra: ExtraRule, floor: Time) -> Option<Shadow> {
        let mut sum = free;
        for (i, job) in jobs.iter().enumerate() {
            sum += job.procs;
            if sum >= need {
                let time = job.end.max(floor);
                if extra == ExtraRule::All {
                    sum += jobs[i + 1..].iter().filter(|j| j.end <= time).map(|j| j.procs).sum::<Procs>();
                }
                return Some(Shadow { time, extra: sum - need });
            }
        }
        None
    }

    proptest! {
        #[test]
        fn shadow_agrees_with_a_walk(
            jobs in prop::collection::vec((0i64..300, 1u32..50), 0..400),
            queries in prop::collection::vec((0u32..40, 0u32..3000, 0i64..350, any::<bool>()), 20),
        ) {
            let mut list: Vec<RunningJob> = jobs.iter().enumerate()
                .map(|(i, &(end, procs))| RunningJob { end: Time(end), id: JobId(i as u32), procs }).collect();
            let (mut set, mut apart, mut more) = (RunningSet::default(), RunningSet::default(), Vec::new());
            list.iter().for_each(|&j| set.insert(j));
            list.iter().for_each(|&j| if j.id.0 % 29 == 0 { more.push(j) } else { apart.insert(j) });
            list.sort_by_key(|j| (j.end, j.id));
            more.sort_by_key(|j| (j.end, j.id));
            prop_assert_eq!(set.last_ending(), list.last().copied());
            for (free, lacks, floor, is_all) in queries {
                let extra = if is_all { ExtraRule::All } else { ExtraRule::First };
                for floor in [Time(floor), Time::MIN] {
                    let need = free + 1 + lacks;
                    let expected = obvious(&list, free, need, extra, floor);
                    prop_assert_eq!(set.find_shadow(need - free, extra, floor), expected);
                    prop_assert_eq!(apart.shadow_with(&more, need - free, extra, floor), expected);
                }
            }
        }
    }
}
