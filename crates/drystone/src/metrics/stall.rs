//! "Heel and toe": how backfilling pushes the first job of the queue away (Tsafrir et al. 2007,
//! section 5, table 10).

use super::selection::{JobSelection, Selector};
use super::summary::{Distribution, Summary};
use crate::engine::Observer;
use crate::model::{EndedJob, JobId, Span, Time, Workload};
use crate::policy::StartReason;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Delay that backfilled jobs caused to jobs with a reservation, judged by true run times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stalls {
    /// Share of stalled jobs among the jobs that waited and had a reservation: those from which a
    /// thief stole time. `None` without such jobs.
    pub rate: Option<f64>,
    /// Stall time of stalled jobs: start less the earliest start they could have had by true run
    /// times when they first had a reservation; in seconds.
    pub stall: Summary,
    /// Thieves per stalled job: backfilled jobs by whose start the job's earliest possible start
    /// moved back.
    pub thieves: Summary,
}

/// Watches a simulation of policies with one reservation, and knows the truth.
///
/// Cost: O(running jobs) per backfilled job and per new reservation.
pub struct HeelAndToe<'a> {
    workload: &'a Workload,
    selector: Selector,
    /// Free processors. Below 0 only within an instant, and only with
    /// [`Pass::Pyss`](crate::policy::Pass::Pyss).
    free: i64,
    /// True ends of running jobs.
    running: BTreeSet<(Time, JobId)>,
    /// Ends by job.
    ends: BTreeMap<JobId, Time>,
    /// Remaining run time of suspended jobs.
    left: BTreeMap<JobId, Span>,
    head: Option<JobId>,
    /// Earliest possible start when it first had a reservation, and thieves so far, of waiting jobs
    /// that had one.
    robbed: BTreeMap<JobId, (Time, u32)>,
    reserved: u64,
    stall: Distribution,
    thieves: Distribution,
}

impl<'a> HeelAndToe<'a> {
    /// For a simulation of `workload`; `selection` says which jobs count.
    #[must_use]
    pub fn new(workload: &'a Workload, selection: JobSelection) -> HeelAndToe<'a> {
        let submits = workload.submit_range().unwrap_or((Time::ZERO, Time::ZERO));
        HeelAndToe {
            workload,
            selector: Selector::new(selection, workload.len() as u64, submits),
            free: i64::from(workload.machine().procs),
            running: BTreeSet::new(),
            ends: BTreeMap::new(),
            left: BTreeMap::new(),
            head: None,
            robbed: BTreeMap::new(),
            reserved: 0,
            stall: Distribution::new(true),
            thieves: Distribution::new(true),
        }
    }

    /// Returns the result.
    #[must_use]
    pub fn finish(self) -> Stalls {
        let stall_count = self.stall.value_count() as f64;
        Stalls {
            rate: (self.reserved > 0).then(|| stall_count / self.reserved as f64),
            stall: self.stall.finish(),
            thieves: self.thieves.finish(),
        }
    }

    /// Returns the earliest start of the job by true ends if nothing else started before.
    fn earliest_start(&self, head: JobId) -> Time {
        let need = i64::from(self.workload.job(head).procs);
        let mut free = self.free;
        for &(end, id) in &self.running {
            free += i64::from(self.workload.job(id).procs);
            if free >= need {
                return end;
            }
        }
        Time::MAX
    }

    fn take_processors(&mut self, id: JobId, end: Time) {
        self.free -= i64::from(self.workload.job(id).procs);
        self.running.insert((end, id));
        self.ends.insert(id, end);
    }

    /// Gives its processors back if it runs. Returns when it was to end.
    fn give_back(&mut self, id: JobId) -> Option<Time> {
        let end = self.ends.remove(&id)?;
        self.free += i64::from(self.workload.job(id).procs);
        self.running.remove(&(end, id));
        Some(end)
    }
}

impl Observer for HeelAndToe<'_> {
    const NOTES: bool = false;

    fn note_reservation(&mut self, _: Time, id: JobId, _: Time, _: Time) {
        self.head = Some(id);
        if !self.robbed.contains_key(&id) {
            self.robbed.insert(id, (self.earliest_start(id), 0));
        }
    }

    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        if self.head == Some(id) {
            self.head = None;
        }
        let head = self.head.filter(|_| reason == StartReason::Backfilled);
        let before = head.map(|head| self.earliest_start(head));
        self.take_processors(id, now + self.workload.truth()[id.index()].run);
        if let Some(head) = head
            && Some(self.earliest_start(head)) > before
            && let Some((_, thieves)) = self.robbed.get_mut(&head)
        {
            *thieves += 1;
        }
    }

    fn note_suspension(&mut self, now: Time, id: JobId) {
        if let Some(end) = self.give_back(id) {
            self.left.insert(id, end - now);
        }
    }

    fn note_resumption(&mut self, now: Time, id: JobId) {
        if let Some(rest) = self.left.remove(&id) {
            self.take_processors(id, now + rest);
        }
    }

    fn note_withdrawal(&mut self, _: Time, id: JobId) {
        self.robbed.remove(&id);
        self.head = self.head.filter(|&head| head != id);
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        // It may have been cut short, or withdrawn while it was suspended.
        if self.give_back(job_end.id).is_none() {
            self.left.remove(&job_end.id);
        }
        let robbery = self.robbed.remove(&job_end.id);
        let has_waited = job_end.outcome.start > job_end.job.submit;
        if !self.selector.keeps_job(job_end) || !has_waited || job_end.outcome.first_reservation.is_none() {
            return;
        }
        self.reserved += 1;
        if let Some((earliest, thieves)) = robbery.filter(|r| r.1 > 0) {
            self.stall.push((job_end.outcome.start - earliest).as_f64());
            self.thieves.push(f64::from(thieves));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Simulation, WorkloadReplay};
    use crate::model::{Job, LogStatus, Machine, Provenance, Truth};
    use crate::policy::PolicySpec;

    /// Submit, processors, estimate, run time, on four processors.
    fn workload(jobs: &[(i64, u32, i64, i64)]) -> Workload {
        let truth = jobs.iter().map(|j| Truth { run: Span(j.3), number: 1, status: LogStatus::Unknown }).collect();
        let list = jobs.iter().map(|j| Job::new(Time(j.0), j.1, Span(j.2))).collect();
        Workload::new(Machine::new(4), list, truth, Provenance::default()).expect("sound")
    }

    /// Four processors. Job 0 holds three until 10 though it is estimated until 100; job 1 needs
    /// all four and is reserved at 100, but could start at 10. Job 2 takes the last processor for
    /// 50 s at time 1: one thief, and job 1 starts at 51, 41 s later than it could have. Job 3
    /// comes when nothing is in its way.
    #[test]
    fn a_thief_is_caught() {
        let jobs = [(0, 3, 100, 10), (0, 4, 20, 20), (1, 1, 60, 50), (500, 1, 1, 1)];
        let workload = workload(&jobs);
        let easy: PolicySpec = "easy".parse().expect("known");
        let mut watcher = HeelAndToe::new(&workload, JobSelection::All);
        Simulation::new(workload.machine(), easy.build_scheduler(), WorkloadReplay::new(&workload))
            .run(&mut watcher)
            .expect("runs");
        let stalls = watcher.finish();
        assert_eq!(stalls.rate, Some(1.0));
        assert_eq!(stalls.stall.mean, Some(41.0));
        assert_eq!(stalls.thieves.mean, Some(1.0));
    }

    /// Four processors. Job 0 has them all, but is withdrawn at 20, having run for 20 s of 100. Job
    /// 1 takes three at 30 until 230; job 2 needs all four and could start then; job 3 takes the
    /// fourth at 40 for 250 s: a thief, and job 2 starts at 290, 60 s late.
    #[test]
    fn a_job_that_is_withdrawn_is_gone() {
        let workload = workload(&[(0, 4, 100, 100), (30, 3, 200, 200), (31, 4, 10, 10), (40, 1, 100, 250)]);
        let easy: PolicySpec = "easy".parse().expect("known");
        let mut watcher = HeelAndToe::new(&workload, JobSelection::All);
        let withdrawn = [(Time(20), JobId(0))];
        let source = WorkloadReplay::with_cancellations(&workload, &withdrawn);
        Simulation::new(workload.machine(), easy.build_scheduler(), source).run(&mut watcher).expect("runs");
        let stalls = watcher.finish();
        assert_eq!((stalls.rate, stalls.stall.mean), (Some(1.0), Some(60.0)));
    }

    /// After every instant it counts the processors that are free, and the suspended jobs; also
    /// where one of them is withdrawn.
    #[test]
    fn suspended_jobs_have_no_processors() {
        let workload =
            workload(&[(0, 4, 3000, 3000), (10, 4, 50, 50), (700, 2, 2000, 2000), (800, 2, 900, 700), (9000, 1, 1, 1)]);
        for policy in ["is", "ss(sf=1,every=10)", "tss(sf=1,every=10)"] {
            for withdrawn in [vec![], vec![(Time(1000), JobId(0))]] {
                let spec: PolicySpec = policy.parse().expect("known");
                let mut watcher = HeelAndToe::new(&workload, JobSelection::All);
                let source = WorkloadReplay::with_cancellations(&workload, &withdrawn);
                let mut simulation = Simulation::new(workload.machine(), spec.build_scheduler(), source);
                let mut suspension_count = 0;
                while simulation.step(&mut watcher).expect("sound") {
                    let session = simulation.session();
                    assert_eq!(
                        watcher.free,
                        i64::from(session.free_processors()),
                        "{policy} at {}",
                        simulation.current_time()
                    );
                    assert_eq!(
                        watcher.left.len(),
                        session.suspended_count() as usize,
                        "{policy} at {}",
                        simulation.current_time()
                    );
                    suspension_count = suspension_count.max(watcher.left.len());
                }
                assert!(suspension_count > 0, "{policy} suspends here");
                assert_eq!((watcher.free, watcher.running.len(), watcher.ends.len(), watcher.left.len()), (4, 0, 0, 0));
            }
        }
    }
}
