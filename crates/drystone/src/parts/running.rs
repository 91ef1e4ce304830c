//! The running jobs in the order of their predicted ends.

use super::tree::{Item, Packed, Probe, Tree, packed};
use crate::model::{JobId, Procs, Time};
use serde::{Deserialize, Serialize};

/// A running job as the plan sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Running {
    /// When it is predicted to end. May lie in the past where a job has outlived its prediction.
    pub end: Time,
    /// Which job.
    pub id: JobId,
    /// Processors it holds.
    pub procs: Procs,
}

impl Item for Running {
    type Key = Packed;
    type Summary = u64;

    #[inline]
    fn key(&self) -> Packed {
        packed(self.end.0, self.id)
    }

    fn join(&self, sum: &mut u64) {
        *sum += u64::from(self.procs);
    }

    fn merge(sum: &mut u64, child: &u64) {
        *sum += child;
    }

    fn leave(&self, sum: &mut u64, _: &[Running]) {
        *sum -= u64::from(self.procs);
    }

    fn part(&self, sum: &mut u64, _: &[u64]) {
        *sum -= u64::from(self.procs);
    }
}

/// How the extra processors at the shadow time are counted; published results differ in it (spec of the EASY family).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Extra {
    /// All jobs that are predicted to end by the shadow time count.
    #[default]
    All,
    /// The walk over the predicted ends stops at the first sufficient job: others ending at the same time do not count.
    First,
}

/// When the first blocked job of a queue can start, and what it leaves over then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shadow {
    /// Shadow time: when enough processors are predicted to be free.
    pub time: Time,
    /// Extra processors: those left over at that time.
    pub extra: Procs,
}

/// The set of running jobs, by predicted end and id.
///
/// Cost for n running jobs: insert, remove and [`RunningSet::shadow`] O(log n).
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunningSet {
    tree: Tree<Running>,
}

/// Adds up processors in order of predicted end until enough are free.
struct Accumulate {
    sum: u64,
    need: u64,
}

impl Probe<Running> for Accumulate {
    #[inline]
    fn enter(&mut self, sum: &u64) -> bool {
        if self.sum + sum < self.need {
            self.sum += sum;
            return false;
        }
        true
    }

    #[inline]
    fn take(&mut self, job: &Running) -> bool {
        self.sum += u64::from(job.procs);
        self.sum >= self.need
    }
}

/// Adds up processors of all jobs that end by a time.
struct EndingBy {
    sum: u64,
    time: Time,
}

impl Probe<Running> for EndingBy {
    #[inline]
    fn enter(&mut self, _: &u64) -> bool {
        true
    }

    #[inline]
    fn take(&mut self, job: &Running) -> bool {
        if job.end > self.time {
            return true;
        }
        self.sum += u64::from(job.procs);
        false
    }
}

impl RunningSet {
    /// Adds a job that has started.
    #[inline]
    pub fn insert(&mut self, job: Running) {
        self.tree.insert(job);
    }

    /// Removes a job by its predicted end; `None` if it is not there.
    #[inline]
    pub fn remove(&mut self, end: Time, id: JobId) -> Option<Running> {
        self.tree.remove(&packed(end.0, id))
    }

    /// Gives a job another predicted end; `false` if it is not there.
    #[inline]
    pub fn postpone(&mut self, job: Running, end: Time) -> bool {
        self.tree.replace(&job.key(), Running { end, ..job }).is_some()
    }

    /// Number of running jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether nothing runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// The job that is predicted to end first.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<Running> {
        self.tree.first().copied()
    }

    /// The shadow time of a job that lacks `missing` processors now, with the extra processors at that time. `None` where
    /// even the end of all running jobs does not suffice.
    ///
    /// Ends before `floor` count as `floor`: pass the present where overdue jobs are taken to end now, and
    /// [`Time::MIN`] where a shadow time may lie in the past.
    #[inline]
    #[must_use]
    pub fn shadow(&self, missing: Procs, extra: Extra, floor: Time) -> Option<Shadow> {
        let Some(jobs) = self.tree.flat() else {
            return self.deep_shadow(missing, extra, floor);
        };
        let mut sum = 0;
        let mut ends = jobs.iter();
        let last = ends.find(|job| {
            sum += job.procs;
            sum >= missing
        })?;
        let time = last.end.max(floor);
        if extra == Extra::All {
            sum += ends.take_while(|job| job.end <= time).map(|job| job.procs).sum::<Procs>();
        }
        Some(Shadow { time, extra: sum - missing })
    }

    fn deep_shadow(&self, missing: Procs, extra: Extra, floor: Time) -> Option<Shadow> {
        let mut walk = Accumulate { sum: 0, need: u64::from(missing) };
        let last = self.tree.find(None, &mut walk)?;
        let time = last.end.max(floor);
        let mut sum = walk.sum;
        if extra == Extra::All {
            let mut rest = EndingBy { sum, time };
            self.tree.find(Some(last.key()), &mut rest);
            sum = rest.sum;
        }
        Some(Shadow { time, extra: (sum - u64::from(missing)) as Procs })
    }

    /// Processors of the jobs that are predicted to end by `time`. O(log n + number of those jobs).
    #[must_use]
    pub fn ending_by(&self, time: Time) -> Procs {
        self.iter().take_while(|job| job.end <= time).map(|job| job.procs).sum()
    }

    /// Processors of all running jobs. O(n).
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.iter().map(|job| job.procs).sum()
    }

    /// Running jobs in order of predicted end. O(n).
    pub fn iter(&self) -> impl Iterator<Item = &Running> + '_ {
        self.tree.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn obvious(jobs: &[Running], free: Procs, need: Procs, extra: Extra, floor: Time) -> Option<Shadow> {
        let mut sum = free;
        for (i, job) in jobs.iter().enumerate() {
            sum += job.procs;
            if sum >= need {
                let time = job.end.max(floor);
                if extra == Extra::All {
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
            let mut list: Vec<Running> = jobs.iter().enumerate()
                .map(|(i, &(end, procs))| Running { end: Time(end), id: JobId(i as u32), procs }).collect();
            let mut set = RunningSet::default();
            list.iter().for_each(|&j| set.insert(j));
            list.sort_by_key(|j| (j.end, j.id));
            for (free, more, floor, all) in queries {
                let extra = if all { Extra::All } else { Extra::First };
                for floor in [Time(floor), Time::MIN] {
                    let need = free + 1 + more;
                    prop_assert_eq!(set.shadow(need - free, extra, floor), obvious(&list, free, need, extra, floor));
                }
            }
        }
    }
}
