//! Conservative, slack-based priority, and EASY backfilling on the same events (Talby & Feitelson 1999).
//!
//! Jobs here never outlive their estimate (cut the run times before). The numbers in the comments are the rules of the
//! settled semantics.

mod priority;

pub use priority::{Exponents, Heuristic, Importance, Priority, Removal, Waiting, cost};

use crate::profile::Profile;
use crate::{JobIn, JobOut};

/// When the scheduler learns that a job has ended before its estimated end (rule 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// At once.
    Immediate,
    /// At the next instant it knew about anyway: an arrival, the planned start of a waiting job, or the estimated end of a
    /// running one. Until then the job holds its processors. This is what the simulator behind the paper did.
    Late,
}

/// Who decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scheduler<'a> {
    /// Every job gets a start time when it arrives; early ends move jobs up, never back (rules 7 and 8).
    Conservative,
    /// EASY; equal estimated ends are counted together; a pass after every arrival and at the end of every instant (rule 9).
    Easy,
    /// Slack-based backfilling: waiting jobs may be moved within their slack, for a price (rules 10 to 20).
    Priority(&'a Priority),
}

/// A schedule and what was promised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Starts and ends, in order of arrival.
    pub schedule: Vec<JobOut>,
    /// The latest start promised to each job when it arrived: its planned start, plus its slack under priority scheduling;
    /// `None` under EASY, which plans none, and where the slack is infinite.
    pub promised: Vec<Option<i64>>,
}

/// Runs a scheduler over jobs in order of arrival on a machine of so many processors.
///
/// # Panics
/// If a job is wider than the machine, has an estimate below 1, or runs longer than its estimate.
#[must_use]
pub fn run(scheduler: Scheduler<'_>, notice: Notice, jobs: &[JobIn], machine: i64) -> Planned {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} does not fit the machine");
        assert!(job.estimate >= 1 && job.run <= job.estimate, "job {i} outlives its estimate");
    }
    let mut world = World {
        scheduler,
        notice,
        jobs,
        machine,
        now: 0,
        arrived: 0,
        waiting: Vec::new(),
        running: Vec::new(),
        starts: vec![None; jobs.len()],
        promised: vec![None; jobs.len()],
    };
    while let Some(instant) = world.next_instant() {
        world.now = instant;
        while world.instant() {}
    }
    let out = |(job, start): (&JobIn, &Option<i64>)| match *start {
        Some(start) => JobOut { start, end: start + job.run },
        None => unreachable!("instants go on until every job has started"),
    };
    Planned { schedule: jobs.iter().zip(&world.starts).map(out).collect(), promised: world.promised }
}

struct World<'a> {
    scheduler: Scheduler<'a>,
    notice: Notice,
    jobs: &'a [JobIn],
    machine: i64,
    now: i64,
    /// Jobs before this index have arrived.
    arrived: usize,
    /// In order of arrival.
    waiting: Vec<Waiting>,
    /// Running as far as the scheduler knows: (start, job).
    running: Vec<(i64, usize)>,
    starts: Vec<Option<i64>>,
    promised: Vec<Option<i64>>,
}

impl World<'_> {
    /// Rule 4: the next arrival, planned start, or end that the scheduler will notice.
    fn next_instant(&self) -> Option<i64> {
        let arrival = self.jobs.get(self.arrived).map(|job| job.submit);
        let planned = self.waiting.iter().filter_map(|w| w.start).min();
        let noticed = |&(start, j): &(i64, usize)| match self.notice {
            Notice::Immediate => start + self.jobs[j].run,
            Notice::Late => start + self.jobs[j].estimate,
        };
        let end = self.running.iter().map(noticed).min();
        [arrival, planned, end].into_iter().flatten().min()
    }

    /// Rule 5. Tells whether the same instant has to be gone through once more.
    fn instant(&mut self) -> bool {
        // a. Ends. One compression if at least one of them is early.
        let (jobs, now) = (self.jobs, self.now);
        let has_ended = |&(start, j): &(i64, usize)| start + jobs[j].run <= now;
        let ended: Vec<(i64, usize)> = self.running.iter().copied().filter(has_ended).collect();
        self.running.retain(|r| !has_ended(r));
        if ended.iter().any(|&(_, j)| jobs[j].run < jobs[j].estimate) {
            self.remove();
        }
        // b. Arrivals.
        while self.arrived < jobs.len() && jobs[self.arrived].submit <= now {
            self.insert(self.arrived);
            self.arrived += 1;
        }
        // c. Starts.
        if self.scheduler == Scheduler::Easy {
            self.easy_pass();
        }
        for w in self.waiting.clone() {
            if w.start.is_some_and(|start| start <= now) {
                self.begin(w.job);
            }
        }
        // d. A job of no run time ends at the instant of its start.
        self.notice == Notice::Immediate && self.running.iter().any(has_ended)
    }

    fn insert(&mut self, j: usize) {
        match self.scheduler {
            Scheduler::Easy => {
                self.waiting.push(Waiting::new(j, None));
                self.easy_pass();
            }
            Scheduler::Conservative => {
                let start = self.earliest(&self.plan(), j); // rule 7
                self.promised[j] = Some(start);
                self.waiting.push(Waiting::new(j, Some(start)));
            }
            Scheduler::Priority(priority) => self.insert_by_price(priority, j),
        }
    }

    /// A job has ended early.
    fn remove(&mut self) {
        match self.scheduler {
            Scheduler::Easy => {}
            Scheduler::Priority(priority) if priority.removal == Removal::Priced => self.remove_by_price(priority),
            Scheduler::Conservative | Scheduler::Priority(_) => self.compress(),
        }
    }

    /// Rule 8: all waiting jobs out, then back one by one, in order of planned start.
    fn compress(&mut self) {
        let mut order = std::mem::take(&mut self.waiting);
        order.sort_by_key(|w| (w.start, w.job));
        let mut plan = self.plan(); // of the running jobs
        for w in order {
            let start = self.earliest(&plan, w.job);
            let job = &self.jobs[w.job];
            plan.take(start, start + job.estimate, job.procs);
            self.waiting.push(Waiting { start: Some(start), ..w });
        }
        self.waiting.sort_by_key(|w| w.job);
    }

    /// Rule 6: the machine without the running jobs until their estimated ends and without the reservations.
    fn plan(&self) -> Profile {
        let mut plan = Profile::new(self.now, self.machine);
        let waiting = self.waiting.iter().filter_map(|w| Some((w.start?, w.job)));
        for (start, j) in self.running.iter().copied().chain(waiting) {
            plan.take(start, start + self.jobs[j].estimate, self.jobs[j].procs);
        }
        plan
    }

    fn earliest(&self, plan: &Profile, j: usize) -> i64 {
        plan.earliest(self.now, self.jobs[j].estimate, self.jobs[j].procs)
    }

    fn begin(&mut self, j: usize) {
        self.waiting.retain(|w| w.job != j);
        self.running.push((self.now, j));
        self.starts[j] = Some(self.now);
        assert!(self.free() >= 0, "more processors used than there are");
    }

    fn free(&self) -> i64 {
        self.machine - self.running.iter().map(|&(_, j)| self.jobs[j].procs).sum::<i64>()
    }

    /// Rule 9.
    fn easy_pass(&mut self) {
        while let Some(head) = self.waiting.first() {
            if self.jobs[head.job].procs > self.free() {
                break;
            }
            self.begin(head.job);
        }
        let Some(head) = self.waiting.first() else {
            return;
        };
        let need = self.jobs[head.job].procs;
        let end = |&(start, j): &(i64, usize)| start + self.jobs[j].estimate;
        let free_at = |time: i64| {
            let ended = self.running.iter().filter(|r| end(r) <= time);
            self.free() + ended.map(|&(_, j)| self.jobs[j].procs).sum::<i64>()
        };
        let Some(shadow) = self.running.iter().map(end).filter(|&t| free_at(t) >= need).min() else {
            unreachable!("a job that fits the machine fits when all others have ended")
        };
        let mut extra = free_at(shadow) - need;
        let behind: Vec<Waiting> = self.waiting[1..].to_vec();
        for w in behind {
            let job = &self.jobs[w.job];
            if job.procs > self.free() {
                continue;
            }
            if self.now + job.estimate <= shadow {
                self.begin(w.job);
            } else if job.procs <= extra {
                extra -= job.procs;
                self.begin(w.job);
            }
        }
    }
}
