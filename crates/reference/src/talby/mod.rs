//! Conservative, slack-based priority, and EASY backfilling on the same events (Talby & Feitelson
//! 1999).
//!
//! The study plans with estimates, which no job outlives there ([`run`]; cut the run times before).
//! The numbers in the comments are the rules of the settled semantics.
//!
//! Conservative and priority scheduling plan with any predictions, too ([`run_predicted`]). What
//! the study does not need to say then:
//!
//! - A prediction takes the place of the estimate in all rules. A plan gives every job at least a
//!   second.
//! - Early is what comes before the plan has it end.
//! - A new prediction of a waiting job is its new length in the plan, one of a running job moves
//!   the end that the plan has it at. Either can make the plan impossible, or too loose: all
//!   waiting jobs are put back (rule 8), whatever [`NaiveRemoval`] says, once for all that has
//!   changed at an instant.
//! - A job that still runs at its planned end, because its prediction is not corrected, is planned
//!   to run for as long again as it is over its prediction, at least a minute; jobs are put back in
//!   this case as well.
//! - Putting back can delay jobs now. A delay uses up slack, down to none, and may break the
//!   promise.
//! - Nothing is planned before a job waits: how long a job is over its prediction is seen then.
//! - With late notice nothing of this is seen before the next instant that the plan knew about;
//!   what predicts learns of every end at once. The end that the plan had a job at is such an
//!   instant even if the job is given more time in that very second.

mod priority;

pub use priority::{Exponents, Heuristic, NaiveImportance, NaivePriority, NaiveRemoval, NaiveTalbyWaiting, move_cost};

use crate::predict::{NaiveForecast, NaiveHere, Predictions};
use crate::profile::NaiveProfile;
use crate::{JobIn, JobOut};

/// Moment at which the scheduler learns that a job has ended before its estimated end (rule 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveNotice {
    Immediate,
    /// At the next instant it knew about anyway: an arrival, the planned start of a waiting job, or
    /// the estimated end of a running one. Until then the job holds its processors. This is what
    /// the simulator behind the paper did.
    Late,
}

/// Decision maker of the simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NaiveTalbyScheduler<'a> {
    /// Every job gets a start time when it arrives; early ends move jobs up, never back (rules 7
    /// and 8).
    Conservative,
    /// Optimising for some of the waiting jobs only; the others wait without a plan, and are
    /// considered again at every pass.
    Horizon(NaiveHorizon),
    /// EASY; equal estimated ends are counted together; a pass after every arrival and at the end
    /// of every instant (rule 9).
    Easy,
    /// Slack-based backfilling: waiting jobs may be moved within their slack, for a price (rules 10
    /// to 20).
    Priority(&'a NaivePriority),
}

/// Waiting jobs that [`NaiveTalbyScheduler::Horizon`] plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveHorizon {
    /// So many of those that do not start now, in the order of arrival.
    Jobs(usize),
    /// Those that can start within this many seconds.
    Seconds(i64),
}

/// A schedule and what was promised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaivePlanned {
    /// Starts and ends, in order of arrival.
    pub schedule: Vec<JobOut>,
    /// The latest start promised to each job when it arrived: its planned start, plus its slack
    /// under priority scheduling; `None` under EASY, which plans none, and where the slack is
    /// infinite.
    pub promised: Vec<Option<i64>>,
    /// Announcements to each job while it waited: its place in the plan where that was not an
    /// immediate start, and every change of it.
    pub announced: Vec<Vec<NaiveAnnounced>>,
    /// The predictions in force for each job, each with the time from which it held; the first one
    /// at submit.
    pub predictions: Vec<Vec<(i64, i64)>>,
}

/// A place in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveAnnounced {
    /// Start time.
    pub at: i64,
    pub start: i64,
    /// The latest start; `None` where the slack is infinite.
    pub latest: Option<i64>,
}

/// Runs a scheduler over jobs in order of arrival on a machine of this many processors.
///
/// # Panics
/// If a job is wider than the machine, has an estimate below 1, or runs longer than its estimate.
pub fn run(scheduler: NaiveTalbyScheduler<'_>, notice: NaiveNotice, jobs: &[JobIn], machine: i64) -> NaivePlanned {
    for (i, job) in jobs.iter().enumerate() {
        assert!(job.estimate >= 1 && job.run <= job.estimate, "job {i} outlives its estimate");
    }
    run_schedule(scheduler, notice, NaiveForecast::default(), jobs, machine)
}

/// Runs conservative or priority scheduling with predictions, which jobs may outlive.
///
/// # Panics
/// If a job is wider than the machine, and with [`NaiveTalbyScheduler::Easy`]: for that there is
/// [`crate::easy`].
pub fn run_predicted(
    scheduler: NaiveTalbyScheduler<'_>,
    notice: NaiveNotice,
    forecast: NaiveForecast,
    jobs: &[JobIn],
    machine: i64,
) -> NaivePlanned {
    assert!(scheduler != NaiveTalbyScheduler::Easy, "EASY plans nothing");
    run_schedule(scheduler, notice, forecast, jobs, machine)
}

fn run_schedule(
    scheduler: NaiveTalbyScheduler<'_>,
    notice: NaiveNotice,
    forecast: NaiveForecast,
    jobs: &[JobIn],
    machine: i64,
) -> NaivePlanned {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} does not fit the machine");
    }
    let mut world = NaiveTalbyWorld {
        scheduler,
        notice,
        jobs,
        machine,
        now: 0,
        predictions: Predictions::new(forecast, jobs),
        arrived: 0,
        waiting: Vec::new(),
        beyond: Vec::new(),
        running: Vec::new(),
        early: false,
        changed: false,
        starts: vec![None; jobs.len()],
        promised: vec![None; jobs.len()],
        announced: vec![Vec::new(); jobs.len()],
    };
    while let Some(instant) = world.next_instant() {
        world.now = instant;
        while world.step_instant() {}
    }
    let out = |(job, start): (&JobIn, &Option<i64>)| match *start {
        Some(start) => JobOut { start, end: start + job.run },
        None => unreachable!("instants go on until every job has started"),
    };
    NaivePlanned {
        schedule: jobs.iter().zip(&world.starts).map(out).collect(),
        promised: world.promised,
        announced: world.announced,
        predictions: (0..jobs.len()).map(|j| world.predictions.prediction_history(j).to_vec()).collect(),
    }
}

struct NaiveTalbyWorld<'a> {
    scheduler: NaiveTalbyScheduler<'a>,
    notice: NaiveNotice,
    jobs: &'a [JobIn],
    machine: i64,
    now: i64,
    predictions: Predictions<'a>,
    /// Jobs before this index have arrived.
    arrived: usize,
    /// In order of arrival.
    waiting: Vec<NaiveTalbyWaiting>,
    /// Jobs that wait without a plan, in order of arrival.
    beyond: Vec<usize>,
    /// Running as far as the scheduler knows, in order of start.
    running: Vec<NaiveRunning>,
    /// A job has ended early since the plan was last looked at.
    early: bool,
    /// A prediction has changed or was outlived since then.
    changed: bool,
    starts: Vec<Option<i64>>,
    promised: Vec<Option<i64>>,
    announced: Vec<Vec<NaiveAnnounced>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NaiveRunning {
    job: usize,
    start: i64,
    /// Planned end.
    until: i64,
    /// It has ended, but that was not noticed yet.
    over: bool,
}

impl NaiveTalbyWorld<'_> {
    /// Rule 4: the next arrival, planned start, real end, or end of a prediction that is corrected,
    /// and with late notice, while a job waits, the next end that the plan has.
    fn next_instant(&self) -> Option<i64> {
        let arrival = self.jobs.get(self.arrived).map(|job| job.submit);
        let planned_start = self.waiting.iter().filter_map(|w| w.start).min();
        let happens = self.running.iter().filter_map(|r| self.next_event(r)).min();
        let looks = self.notice == NaiveNotice::Late && self.anyone_waits();
        let known_end = self.running.iter().map(|r| r.until).min().filter(|_| looks);
        [arrival, planned_start, happens, known_end].into_iter().flatten().min()
    }

    /// Returns the next event of a running job: its end, or the correction of its prediction.
    fn next_event(&self, r: &NaiveRunning) -> Option<i64> {
        let end = r.start + self.jobs[r.job].run;
        let next = if self.predictions.is_corrected() { end.min(self.predicted_end(r)) } else { end };
        (!r.over).then_some(next)
    }

    fn predicted_end(&self, r: &NaiveRunning) -> i64 {
        r.start + self.predictions.current_prediction(r.job)
    }

    fn planned_run(&self, j: usize) -> i64 {
        self.predictions.current_prediction(j).max(1)
    }

    /// Rule 5. Tells whether the same instant has to be gone through once more.
    fn step_instant(&mut self) -> bool {
        let (jobs, now) = (self.jobs, self.now);
        let mut is_end_due = self.running.iter().any(|r| r.until <= now);
        self.end_jobs();
        self.correct_predictions();
        is_end_due |= self.running.iter().any(|r| r.until <= now);
        let known_arrived = self.arrived;
        while self.arrived < jobs.len() && jobs[self.arrived].submit <= now {
            self.predictions.note_arrival(self.arrived, now);
            self.arrived += 1;
        }
        let due = |w: &NaiveTalbyWaiting| w.start.is_some_and(|start| start <= now);
        let looks = self.notice == NaiveNotice::Immediate || is_end_due || self.waiting.iter().any(due);
        if self.arrived > known_arrived || self.anyone_waits() && looks {
            self.run_pass(known_arrived..self.arrived);
        }
        // A job of no run time ends at the instant of its start, a prediction of no time is over
        // then.
        self.running.iter().any(|r| self.next_event(r).is_some_and(|at| at <= now))
    }

    fn anyone_waits(&self) -> bool {
        !self.waiting.is_empty() || !self.beyond.is_empty()
    }

    /// In order of arrival.
    fn end_jobs(&mut self) {
        let ends = |r: &&NaiveRunning| !r.over && r.start + self.jobs[r.job].run <= self.now;
        let mut ended_jobs: Vec<usize> = self.running.iter().filter(ends).map(|r| r.job).collect();
        ended_jobs.sort_unstable();
        for j in ended_jobs {
            for r in self.running.iter_mut().filter(|r| r.job == j) {
                r.over = true;
                self.early |= r.until > self.now;
            }
            let (waiting_jobs, beyond, running_jobs) = (&self.waiting, &self.beyond, &self.running);
            let presence = |j: usize| match running_jobs.iter().find(|r| r.job == j && !r.over) {
                Some(r) => NaiveHere::Running(r.start),
                None if waiting_jobs.iter().any(|w| w.job == j) || beyond.contains(&j) => NaiveHere::Waiting,
                None => NaiveHere::No,
            };
            for job in self.predictions.note_end(j, self.now, presence) {
                self.changed = true;
                self.plan_the_prediction(job);
            }
        }
    }

    fn correct_predictions(&mut self) {
        for r in self.running.clone() {
            if self.next_event(&r).is_some_and(|at| at <= self.now) {
                self.predictions.correct_prediction(r.job, self.now);
                self.changed = true;
                self.plan_the_prediction(r.job);
            }
        }
    }

    /// The plan has a running job end when it is predicted to.
    fn plan_the_prediction(&mut self, j: usize) {
        let span = self.planned_run(j);
        for r in self.running.iter_mut().filter(|r| r.job == j) {
            r.until = r.start + span;
        }
    }

    /// Looks at the plan: first what has changed, then these newcomers, then jobs that are due.
    fn run_pass(&mut self, newcomers: std::ops::Range<usize>) {
        let now = self.now;
        // a. Ends. One compression if at least one of them is early, or where predictions have
        // changed or were outlived.
        self.running.retain(|r| !r.over);
        for i in 0..self.running.len() {
            let r = self.running[i];
            if r.until <= now {
                self.running[i].until = now + (now - self.predicted_end(&r)).max(60);
                self.changed = true;
            }
        }
        let (has_changed, early) = (std::mem::take(&mut self.changed), std::mem::take(&mut self.early));
        if has_changed && self.scheduler != NaiveTalbyScheduler::Easy {
            self.compress_plan();
        } else if early {
            self.remove();
        }
        // b. Arrivals.
        for j in newcomers {
            self.insert(j);
        }
        if let NaiveTalbyScheduler::Horizon(horizon) = self.scheduler {
            self.look_beyond(horizon);
        }
        // c. Starts.
        if self.scheduler == NaiveTalbyScheduler::Easy {
            self.easy_pass();
        }
        for w in self.waiting.clone() {
            if w.start.is_some_and(|start| start <= now) {
                self.begin_job(w.job);
            }
        }
    }

    fn insert(&mut self, j: usize) {
        match self.scheduler {
            NaiveTalbyScheduler::Easy => {
                self.waiting.push(NaiveTalbyWaiting::new(j, None));
                self.easy_pass();
            }
            NaiveTalbyScheduler::Conservative => {
                let start = self.earliest_start(&self.build_plan(), j); // rule 7
                self.admit_job(NaiveTalbyWaiting::new(j, Some(start)));
            }
            NaiveTalbyScheduler::Priority(priority) => self.insert_by_price(priority, j),
            NaiveTalbyScheduler::Horizon(_) => self.beyond.push(j),
        }
    }

    /// Plans the jobs without a plan that the horizon reaches.
    fn look_beyond(&mut self, horizon: NaiveHorizon) {
        for j in std::mem::take(&mut self.beyond) {
            let start = self.earliest_start(&self.build_plan(), j);
            let later = self.waiting.iter().filter(|w| w.start > Some(self.now)).count();
            let is_reached = match horizon {
                NaiveHorizon::Jobs(most) => later < most,
                NaiveHorizon::Seconds(seconds) => start <= self.now + seconds,
            };
            match is_reached {
                true => self.admit_job(NaiveTalbyWaiting::new(j, Some(start))),
                false => self.beyond.push(j),
            }
        }
    }

    /// A newcomer has its first place in the plan, which makes the promise.
    fn admit_job(&mut self, w: NaiveTalbyWaiting) {
        self.promised[w.job] = w.latest_start();
        self.waiting.push(w);
        if w.start > Some(self.now) {
            self.announce_start(w.job);
        }
    }

    fn announce_start(&mut self, j: usize) {
        for w in self.waiting.iter().filter(|w| w.job == j) {
            let start = w.start.unwrap_or(self.now);
            self.announced[j].push(NaiveAnnounced { at: self.now, start, latest: w.latest_start() });
        }
    }

    /// A job has ended early.
    fn remove(&mut self) {
        match self.scheduler {
            NaiveTalbyScheduler::Easy => {}
            NaiveTalbyScheduler::Priority(priority) if priority.removal == NaiveRemoval::Priced => {
                self.remove_by_price(priority)
            }
            NaiveTalbyScheduler::Conservative | NaiveTalbyScheduler::Horizon(_) | NaiveTalbyScheduler::Priority(_) => {
                self.compress_plan()
            }
        }
    }

    /// Rule 8: all waiting jobs out, then back one by one, in order of planned start. Rule 15: what
    /// that gains does not touch slacks.
    fn compress_plan(&mut self) {
        let mut order = std::mem::take(&mut self.waiting);
        order.sort_by_key(|w| (w.start, w.job));
        let mut plan = self.build_plan(); // of the running jobs
        for w in order {
            let start = self.earliest_start(&plan, w.job);
            plan.take_processors(start, start + self.planned_run(w.job), self.jobs[w.job].procs);
            let delay = start - w.start.unwrap_or(start);
            let slack = if delay > 0 { (w.slack - delay as f64).max(0.0) } else { w.slack };
            self.waiting.push(NaiveTalbyWaiting { start: Some(start), slack, ..w });
            if delay != 0 {
                self.announce_start(w.job);
            }
        }
        self.waiting.sort_by_key(|w| w.job);
    }

    /// Rule 6: the machine without the running jobs until their planned ends and without the
    /// reservations.
    fn build_plan(&self) -> NaiveProfile {
        let mut plan = NaiveProfile::new(self.now, self.machine);
        for r in &self.running {
            plan.take_processors(r.start, r.until, self.jobs[r.job].procs);
        }
        for w in &self.waiting {
            if let Some(start) = w.start {
                plan.take_processors(start, start + self.planned_run(w.job), self.jobs[w.job].procs);
            }
        }
        plan
    }

    fn earliest_start(&self, plan: &NaiveProfile, j: usize) -> i64 {
        plan.earliest_start(self.now, self.planned_run(j), self.jobs[j].procs)
    }

    fn begin_job(&mut self, j: usize) {
        self.waiting.retain(|w| w.job != j);
        self.running.push(NaiveRunning { job: j, start: self.now, until: self.now + self.planned_run(j), over: false });
        self.starts[j] = Some(self.now);
        assert!(self.free_processors() >= 0, "more processors used than there are");
    }

    fn free_processors(&self) -> i64 {
        self.machine - self.running.iter().map(|r| self.jobs[r.job].procs).sum::<i64>()
    }

    /// Rule 9.
    fn easy_pass(&mut self) {
        while let Some(head) = self.waiting.first() {
            if self.jobs[head.job].procs > self.free_processors() {
                break;
            }
            self.begin_job(head.job);
        }
        let Some(head) = self.waiting.first() else {
            return;
        };
        let need = self.jobs[head.job].procs;
        let free_at = |time: i64| {
            let ended_runs = self.running.iter().filter(|r| r.until <= time);
            self.free_processors() + ended_runs.map(|r| self.jobs[r.job].procs).sum::<i64>()
        };
        let Some(shadow) = self.running.iter().map(|r| r.until).filter(|&t| free_at(t) >= need).min() else {
            unreachable!("a job that fits the machine fits when all others have ended")
        };
        let mut extra = free_at(shadow) - need;
        let behind: Vec<NaiveTalbyWaiting> = self.waiting[1..].to_vec();
        for w in behind {
            let job = &self.jobs[w.job];
            if job.procs > self.free_processors() {
                continue;
            }
            if self.now + job.estimate <= shadow {
                self.begin_job(w.job);
            } else if job.procs <= extra {
                extra -= job.procs;
                self.begin_job(w.job);
            }
        }
    }
}
