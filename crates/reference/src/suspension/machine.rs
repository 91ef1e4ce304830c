//! Numbered processors, and jobs that wait, run, or are suspended on them.

use super::set::Set;
use super::{NaiveAmounts, Suspended};
use crate::checker::NaiveSegment;
use crate::{JobIn, JobOut};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Activity of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    /// Not arrived, or completed.
    Absent,
    /// Never started.
    Fresh,
    Running(i64),
    /// Suspended; owns its processors.
    Suspended,
}

pub(super) struct NaiveMachine<'a> {
    pub(super) jobs: &'a [JobIn],
    pub(super) now: i64,
    overhead: &'a [i64],
    amounts: &'a NaiveAmounts,
    /// Free amount of each resource beyond processors.
    levels: Vec<i64>,
    /// F: processors on which no job runs.
    free: Set,
    doing: Vec<Doing>,
    fresh: BTreeSet<usize>,
    running: BTreeSet<usize>,
    suspended: BTreeSet<usize>,
    /// Processors of running and suspended jobs.
    sets: Vec<Set>,
    /// Time run in finished segments.
    ran: Vec<i64>,
    /// Time to run in all, overheads included.
    due: Vec<i64>,
    out: Suspended,
}

impl<'a> NaiveMachine<'a> {
    pub(super) fn new(
        jobs: &'a [JobIn],
        processors: i64,
        overhead: &'a [i64],
        amounts: &'a NaiveAmounts,
    ) -> NaiveMachine<'a> {
        let n = jobs.len();
        NaiveMachine {
            jobs,
            now: i64::MIN / 2,
            overhead,
            amounts,
            levels: amounts.totals.clone(),
            free: Set::first_processors(processors),
            doing: vec![Doing::Absent; n],
            fresh: BTreeSet::new(),
            running: BTreeSet::new(),
            suspended: BTreeSet::new(),
            sets: vec![Set::default(); n],
            ran: vec![0; n],
            due: jobs.iter().map(|job| job.run).collect(),
            out: Suspended {
                schedule: vec![JobOut { start: 0, end: 0 }; n],
                suspensions: vec![0; n],
                segments: Vec::new(),
            },
        }
    }

    pub(super) fn into_result(self) -> Suspended {
        self.out
    }

    /// Running jobs, by index.
    pub(super) fn running_jobs(&self) -> Vec<usize> {
        self.running.iter().copied().collect()
    }

    /// Suspended jobs, by index.
    pub(super) fn suspended_jobs(&self) -> Vec<usize> {
        self.suspended.iter().copied().collect()
    }

    /// Jobs never started, by index.
    pub(super) fn fresh_jobs(&self) -> Vec<usize> {
        self.fresh.iter().copied().collect()
    }

    /// Jobs waiting or suspended, by index.
    pub(super) fn idle_jobs(&self) -> Vec<usize> {
        self.fresh.union(&self.suspended).copied().collect()
    }

    pub(super) fn anyone_idle(&self) -> bool {
        !(self.fresh.is_empty() && self.suspended.is_empty())
    }

    pub(super) fn job_state(&self, j: usize) -> Doing {
        self.doing[j]
    }

    pub(super) fn is_running(&self, j: usize) -> bool {
        matches!(self.doing[j], Doing::Running(_))
    }

    pub(super) fn segment_start(&self, j: usize) -> i64 {
        match self.doing[j] {
            Doing::Running(since) => since,
            _ => self.now,
        }
    }

    /// g: seconds run so far.
    pub(super) fn executed_time(&self, j: usize) -> i64 {
        self.ran[j] + self.now - self.segment_start(j)
    }

    /// Rule S3, w: seconds not run since submission; stands still while the job runs.
    pub(super) fn waited_time(&self, j: usize) -> i64 {
        self.now - self.jobs[j].submit - self.executed_time(j)
    }

    /// Rule S3: tau = (w + e) / e as a fraction.
    pub(super) fn job_priority(&self, j: usize) -> Fraction {
        let e = self.jobs[j].estimate;
        Fraction { over: self.waited_time(j) + e, under: e }
    }

    /// Rule S12: ixf = (w + g) / g as a fraction.
    pub(super) fn instantaneous_factor(&self, j: usize) -> Fraction {
        let g = self.executed_time(j);
        Fraction { over: self.waited_time(j) + g, under: g }
    }

    pub(super) fn job_set(&self, j: usize) -> Set {
        self.sets[j]
    }

    /// Running jobs on some of these processors.
    pub(super) fn running_on(&self, set: Set) -> Vec<usize> {
        self.running.iter().copied().filter(|&r| self.sets[r].has_common(set)).collect()
    }

    /// F: processors on which no job runs.
    pub(super) fn free_set(&self) -> Set {
        self.free
    }

    /// O: processors of those suspended jobs for which `counts` holds.
    pub(super) fn owned_set(&self, counts: impl Fn(usize) -> bool) -> Set {
        let owners = self.suspended.iter().filter(|&&s| counts(s));
        owners.fold(Set::default(), |set, &s| set.union_with(self.sets[s]))
    }

    /// Amounts of each resource that an idle job lacks, given what others have given back: 0 where
    /// there is enough.
    pub(super) fn lacking_amounts(&self, j: usize, given_back: &[i64]) -> Vec<i64> {
        let asks = self.amounts.asks[j].iter().zip(&self.amounts.stay);
        let takes = asks.map(|(&ask, &stays)| if stays && self.doing[j] == Doing::Suspended { 0 } else { ask });
        takes.zip(self.levels.iter().zip(given_back)).map(|(take, (free, more))| (take - free - more).max(0)).collect()
    }

    /// Amounts that a job gives back if these are suspended.
    pub(super) fn given_back(&self, jobs: &[usize]) -> Vec<i64> {
        let resources = self.amounts.stay.iter().enumerate();
        resources
            .map(|(r, &stays)| if stays { 0 } else { jobs.iter().map(|&j| self.amounts.asks[j][r]).sum() })
            .collect()
    }

    /// Returns whether everything that an idle job asks for is free, once these are suspended.
    pub(super) fn can_serve(&self, j: usize, victims: &[usize]) -> bool {
        self.lacking_amounts(j, &self.given_back(victims)).iter().all(|&lack| lack == 0)
    }

    /// Returns whether a job lacks more of something without this running job giving it back.
    pub(super) fn can_help(&self, lacks: &[i64], running: usize) -> bool {
        lacks.iter().zip(self.given_back(&[running])).any(|(&lack, more)| lack > 0 && more > 0)
    }

    /// The job takes (−1) or gives back (+1) everything, or what does not stay.
    fn change_amounts(&mut self, j: usize, is_whole: bool, sign: i64) {
        for (r, level) in self.levels.iter_mut().enumerate() {
            if is_whole || !self.amounts.stay[r] {
                *level += sign * self.amounts.asks[j][r];
            }
        }
        assert!(self.levels.iter().all(|&level| level >= 0), "more is held than there is");
    }

    pub(super) fn next_completion(&self) -> Option<i64> {
        self.running.iter().map(|&r| self.segment_start(r) + self.due[r] - self.ran[r]).min()
    }

    /// Takes completed jobs out, by index.
    pub(super) fn complete_jobs(&mut self) -> Vec<usize> {
        let is_done = |&r: &usize| self.executed_time(r) >= self.due[r];
        let completed_jobs: Vec<usize> = self.running.iter().copied().filter(is_done).collect();
        for &j in &completed_jobs {
            self.end_segment(j);
            self.change_amounts(j, true, 1);
            self.out.schedule[j].end = self.now;
            self.doing[j] = Doing::Absent;
        }
        completed_jobs
    }

    pub(super) fn note_arrival(&mut self, j: usize) {
        self.doing[j] = Doing::Fresh;
        self.fresh.insert(j);
    }

    pub(super) fn start_job(&mut self, j: usize, set: Set) {
        assert_eq!(set.len(), self.jobs[j].procs, "wrong number of processors");
        assert_eq!(set.difference_with(self.free), Set::default(), "two jobs on one processor");
        self.change_amounts(j, self.doing[j] == Doing::Fresh, -1);
        if self.doing[j] == Doing::Fresh {
            self.out.schedule[j].start = self.now;
        }
        self.fresh.remove(&j);
        self.suspended.remove(&j);
        self.running.insert(j);
        self.free = self.free.difference_with(set);
        self.sets[j] = set;
        self.doing[j] = Doing::Running(self.now);
    }

    pub(super) fn suspend_job(&mut self, j: usize) {
        self.end_segment(j);
        self.change_amounts(j, false, 1);
        self.doing[j] = Doing::Suspended;
        self.suspended.insert(j);
        self.due[j] += self.overhead.get(j).copied().unwrap_or(0);
        self.out.suspensions[j] += 1;
    }

    fn end_segment(&mut self, j: usize) {
        let start = self.segment_start(j);
        self.ran[j] += self.now - start;
        self.running.remove(&j);
        self.free = self.free.union_with(self.sets[j]);
        let processors = Some(self.sets[j].list_numbers());
        self.out.segments.push(NaiveSegment { job: j, start, end: self.now, processors });
    }
}

/// A positive fraction, compared exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    pub(super) over: i64,
    under: i64,
}

impl Fraction {
    pub(super) fn compare_with(self, rival: Fraction) -> Ordering {
        let wide = i128::from;
        (wide(self.over) * wide(rival.under)).cmp(&(wide(rival.over) * wide(self.under)))
    }

    /// Returns whether this is at least `factor` (numerator, denominator) times the other.
    pub(super) fn is_at_least(self, factor: (i64, i64), rival: Fraction) -> bool {
        let wide = i128::from;
        wide(self.over) * wide(rival.under) * wide(factor.1) >= wide(factor.0) * wide(rival.over) * wide(self.under)
    }

    pub(super) fn as_f64(self) -> f64 {
        self.over as f64 / self.under as f64
    }
}
