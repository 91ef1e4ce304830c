//! Multiple queues by run time, with delayed long jobs (Lawson, Smirni & Puiu 2002; rules M1 to
//! M6).
//!
//! The first waiting job of each class (its *pivot*) gets a promised start; any other job starts
//! whenever it disturbs no promise. With exact run times a promise never moves. With estimates
//! ([`run_estimated`]) all promises are placed again, in the order of their times, ties by arrival,
//! at the pass after a job has ended early or has outlived its estimate.

use crate::predict::{NaiveForecast, NaiveGrowth, Predictions};
use crate::profile::NaiveProfile;
use crate::{JobIn, JobOut};
use std::collections::BTreeSet;

/// Variable rules of the policy.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NaiveMultiQueue {
    /// True if the next pivot of a class gets its promise as soon as the last one starts, instead
    /// of when the pass reaches it.
    pub eager: bool,
    /// Delay of jobs of the longest class; `None` for no delay.
    pub delay: Option<NaiveDelay>,
    /// Variants in which promises do not hold; `None`: they do (rules M3 and M4).
    pub broken: Option<Broken>,
    /// The order of each queue; `None`: that of arrival. Not with `eager` or `broken`.
    pub order: Option<NaiveMultiQueueOrder>,
}

/// Another order than that of arrival, equal jobs in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveMultiQueueOrder {
    Shortest,
    Widest,
    SmallestArea,
}

impl NaiveMultiQueueOrder {
    fn order_key(self, job: &JobIn) -> i64 {
        match self {
            NaiveMultiQueueOrder::Shortest => job.estimate,
            NaiveMultiQueueOrder::Widest => -job.procs,
            NaiveMultiQueueOrder::SmallestArea => job.estimate * job.procs,
        }
    }
}

/// Ways in which promises can be broken: every pass computes each pivot's place again when it
/// reaches it, beside those that come before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// Pivots of older jobs come before it, whenever those became pivots.
    ByArrival,
    /// Pivots before it in the order in which they became it come before it. Figure 4 to the
    /// letter: a job behind its class's pivot may start if it leaves alone that pivot only, on its
    /// partition's processors (rules 6a and 6b), or if it leaves alone all pivots (6c).
    ByOwners,
    /// As above, but instead of 6c: it may start on processors that all partitions can spare
    /// together.
    BySharing,
}

/// The delay of jobs of the longest class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveDelay {
    /// D1: the first delay and the unit of its changes, in seconds.
    pub first: f64,
    /// True if the delay follows the slowdown of the shortest jobs (rule M6).
    pub adapts: bool,
    /// Completed jobs between two changes; 100 in the paper.
    pub batch: u32,
    /// True if a delayed job cannot even become a pivot before its delay is over.
    pub hidden: bool,
}

/// Rule M1: the class of a run time, 0 to 3.
pub fn run_class(run: i64) -> usize {
    match run {
        i64::MIN..=100 => 0,
        101..=1_000 => 1,
        1_001..=10_000 => 2,
        _ => 3,
    }
}

/// A schedule and what was promised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaivePromised {
    /// Starts and ends, in order of arrival.
    pub schedule: Vec<JobOut>,
    /// The start promised to each job that became a pivot.
    pub promised: Vec<Option<i64>>,
}

/// Planned end of a job that has outlived its estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveMultiQueueOverdue {
    /// It is put off as soon as it has passed: by a minute, then by 15, 30, 60 minutes and so on.
    Extended,
    /// The next second, at every pass.
    NextSecond,
}

/// Runs jobs of known run times in order of arrival on a machine of this many processors.
///
/// # Panics
/// If a job is wider than the machine or has no run time.
pub fn run(policy: NaiveMultiQueue, jobs: &[JobIn], machine: i64) -> NaivePromised {
    let exact: Vec<JobIn> = jobs.iter().map(|job| JobIn { estimate: job.run, ..*job }).collect();
    run_estimated(policy, NaiveMultiQueueOverdue::NextSecond, &exact, machine)
}

/// Runs jobs of estimated run times, which they may outlive or not need. A job's class is that of
/// its estimate. Not with [`Broken`] promises.
///
/// # Panics
/// If a job is wider than the machine, or has no run time or estimate.
pub fn run_estimated(
    policy: NaiveMultiQueue,
    overdue: NaiveMultiQueueOverdue,
    jobs: &[JobIn],
    machine: i64,
) -> NaivePromised {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} does not fit the machine");
        assert!(job.run > 0 && job.estimate > 0, "job {i} has no run time");
    }
    let correction = (overdue == NaiveMultiQueueOverdue::Extended).then_some(NaiveGrowth::AtOnce);
    let mut world = NaiveMultiQueueWorld {
        policy,
        jobs,
        machine,
        predictions: Predictions::new(NaiveForecast { correction, ..NaiveForecast::default() }, jobs),
        wrong: false,
        now: 0,
        waiting: BTreeSet::new(),
        running: Vec::new(),
        promise: [None; 4],
        kept: Vec::new(),
        ready: vec![0; jobs.len()],
        wake_ups: BTreeSet::new(),
        controller: NaiveController::new(policy.delay),
        pivots: Vec::new(),
        // Equal parts, the remainder to the lowest classes.
        owned: std::array::from_fn(|q| machine / 4 + i64::from((q as i64) < machine % 4)),
        starts: vec![0; jobs.len()],
        promised: vec![None; jobs.len()],
    };
    let mut arrival_count = 0;
    // Rule M2.
    loop {
        let arrival = jobs.get(arrival_count).map(|job| job.submit);
        let completion = world.running.iter().map(|&j| world.true_end(j)).min();
        let correction = world.running.iter().map(|&j| world.planned_end(j)).min();
        let correction = correction.filter(|_| world.predictions.is_corrected());
        let wake_up = world.wake_ups.first().map(|w| w.0);
        // Else a time that was promised behind a pivot that is one no more could pass without an
        // event. The next second, in which an overdue job is taken to end, is none.
        let promised_starts = world.promise.iter().flatten().chain(&world.kept).map(|p| p.1);
        let next_promise = promised_starts.filter(|&at| at > world.now && !world.has_overdue()).min();
        let next = [arrival, completion, correction, wake_up, next_promise].into_iter().flatten().min();
        let Some(now) = next else { break };
        world.now = now;
        world.complete_jobs();
        world.correct_predictions();
        while arrival_count < jobs.len() && jobs[arrival_count].submit == now {
            world.note_arrival(arrival_count);
            arrival_count += 1;
        }
        world.wake_up();
        world.keep_promises();
        match policy.broken {
            None if policy.order.is_some() => world.pass_in_order(),
            None => world.run_pass(),
            Some(broken) => world.pass_with_broken_promises(broken),
        }
    }
    let out = |(job, &start): (&JobIn, &i64)| JobOut { start, end: start + job.run };
    NaivePromised { schedule: jobs.iter().zip(&world.starts).map(out).collect(), promised: world.promised }
}

struct NaiveMultiQueueWorld<'a> {
    policy: NaiveMultiQueue,
    jobs: &'a [JobIn],
    machine: i64,
    predictions: Predictions<'a>,
    /// True if a job has ended early or outlived its prediction since the promises were placed.
    wrong: bool,
    now: i64,
    /// By index, i.e. in order of arrival.
    waiting: BTreeSet<usize>,
    running: Vec<usize>,
    /// Rule M3: at most one (job, start) per class.
    promise: [Option<(usize, i64)>; 4],
    /// In another order than that of arrival: promised starts.
    kept: Vec<(usize, i64)>,
    /// Rule M5: when a job may start at the earliest.
    ready: Vec<i64>,
    /// (time, job).
    wake_ups: BTreeSet<(i64, usize)>,
    controller: NaiveController,
    /// Pivots and their times where promises can be broken, in the order in which they became
    /// pivots.
    pivots: Vec<(usize, i64)>,
    /// Processors of each class's partition.
    owned: [i64; 4],
    starts: Vec<i64>,
    promised: Vec<Option<i64>>,
}

impl NaiveMultiQueueWorld<'_> {
    fn true_end(&self, j: usize) -> i64 {
        self.starts[j] + self.jobs[j].run
    }

    fn planned_run(&self, j: usize) -> i64 {
        self.predictions.current_prediction(j)
    }

    fn planned_end(&self, j: usize) -> i64 {
        self.starts[j] + self.planned_run(j)
    }

    /// Rule M1. A job keeps its class when its prediction is corrected.
    fn job_class(&self, j: usize) -> usize {
        run_class(self.jobs[j].estimate)
    }

    fn has_overdue(&self) -> bool {
        self.running.iter().any(|&j| self.planned_end(j) <= self.now)
    }

    /// The predictions of jobs that outlive them are put off, where that is asked for.
    fn correct_predictions(&mut self) {
        for j in self.running.clone() {
            if self.predictions.is_corrected() && self.planned_end(j) <= self.now {
                self.predictions.correct_prediction(j, self.now);
                self.wrong = true;
            }
        }
    }

    /// Places all promises again where a prediction was wrong, in the order of their times.
    fn keep_promises(&mut self) {
        let mut promises: Vec<(usize, i64)> = self.promise.iter().flatten().chain(&self.kept).copied().collect();
        let has_passed = promises.iter().any(|p| p.1 < self.now);
        if !std::mem::take(&mut self.wrong) && !self.has_overdue() && !has_passed {
            return;
        }
        promises.sort_unstable_by_key(|&(j, at)| (at, j));
        let mut plan = self.running_jobs();
        for (j, _) in promises {
            let (span, procs) = (self.planned_run(j), self.jobs[j].procs);
            let at = plan.earliest_start(self.now.max(self.ready[j]), span, procs);
            plan.take_processors(at, at + span, procs);
            let own = self.promise.iter_mut().flatten().chain(&mut self.kept).filter(|p| p.0 == j);
            own.for_each(|p| p.1 = at);
        }
    }

    /// Rule M2 (a).
    fn complete_jobs(&mut self) {
        let mut ended_jobs: Vec<usize> =
            self.running.iter().copied().filter(|&j| self.true_end(j) <= self.now).collect();
        ended_jobs.sort_unstable();
        for j in ended_jobs {
            self.running.retain(|&r| r != j);
            self.wrong |= self.planned_end(j) != self.now;
            let wait = self.starts[j] - self.jobs[j].submit;
            self.controller.note_end(self.job_class(j) == 0, self.jobs[j].run, wait);
        }
    }

    /// Rules M2 (b) and M5.
    fn note_arrival(&mut self, j: usize) {
        self.predictions.note_arrival(j, self.now);
        self.ready[j] = self.now;
        if self.job_class(j) == 3 {
            self.ready[j] += self.controller.delay.floor() as i64;
        }
        if self.ready[j] > self.now {
            self.wake_ups.insert((self.ready[j], j));
        }
        let is_hidden = self.policy.delay.is_some_and(|d| d.hidden) && self.ready[j] > self.now;
        if !is_hidden {
            self.waiting.insert(j);
        }
    }

    fn wake_up(&mut self) {
        while let Some(&(time, j)) = self.wake_ups.first() {
            if time > self.now {
                break;
            }
            self.wake_ups.pop_first();
            if self.policy.delay.is_some_and(|d| d.hidden) {
                self.waiting.insert(j);
            }
        }
    }

    /// The machine without running jobs. One that should have ended has its processors until the
    /// next second at least.
    fn running_jobs(&self) -> NaiveProfile {
        let mut plan = NaiveProfile::new(self.now, self.machine);
        for &j in &self.running {
            plan.take_processors(self.now, self.planned_end(j).max(self.now + 1), self.jobs[j].procs);
        }
        plan
    }

    /// Rule M3: the machine without running jobs and without all promises.
    fn build_plan(&self) -> NaiveProfile {
        let mut plan = self.running_jobs();
        for (j, start) in self.promise.iter().flatten().chain(&self.kept) {
            plan.take_processors(*start, start + self.planned_run(*j), self.jobs[*j].procs);
        }
        plan
    }

    /// Rule M4.
    fn run_pass(&mut self) {
        let in_order: Vec<usize> = self.waiting.iter().copied().collect();
        let mut has_pivot = [false; 4];
        for j in in_order {
            let (job, q) = (&self.jobs[j], self.job_class(j));
            let is_pivot = !has_pivot[q];
            if is_pivot {
                self.start_or_promise(j);
            } else if self.now >= self.ready[j]
                && self.build_plan().fits_throughout(self.now, self.planned_run(j), job.procs)
            {
                self.start_job(j);
            }
            has_pivot[q] |= self.waiting.contains(&j);
        }
    }

    /// A pivot starts if its promised time has come.
    fn start_or_promise(&mut self, j: usize) {
        let q = self.job_class(j);
        if self.promise_start(j) > self.now {
            return;
        }
        self.promise[q] = None;
        self.start_job(j);
        let next = self.waiting.iter().copied().find(|&w| self.job_class(w) == q);
        if let (true, Some(next)) = (self.policy.eager, next) {
            self.promise_start(next); // if it may start now, it does when the pass reaches it
        }
    }

    /// The promised start of a pivot, made now if there is none yet.
    fn promise_start(&mut self, j: usize) -> i64 {
        let (job, q) = (&self.jobs[j], self.job_class(j));
        if let Some((owner, at)) = self.promise[q]
            && owner == j
        {
            return at;
        }
        // A younger pivot (before it, this job was hidden) is one no more and loses its promise.
        self.promise[q] = None;
        let at = self.build_plan().earliest_start(self.now.max(self.ready[j]), self.planned_run(j), job.procs);
        self.promise[q] = Some((j, at));
        self.promised[j] = Some(at);
        at
    }

    /// Rule M4 in another order: a job that was promised a start keeps it where another becomes the
    /// first of its class.
    fn pass_in_order(&mut self) {
        let mut in_order: Vec<usize> = self.waiting.iter().copied().collect();
        in_order.sort_by_key(|&j| self.policy.order.map(|order| order.order_key(&self.jobs[j])));
        let mut has_pivot = [false; 4];
        for j in in_order {
            let (job, q) = (&self.jobs[j], self.job_class(j));
            let starts = match self.kept.iter().position(|entry| entry.0 == j) {
                Some(at) if self.kept[at].1 <= self.now => {
                    self.kept.remove(at);
                    true
                }
                Some(_) => false,
                None => {
                    self.now >= self.ready[j]
                        && self.build_plan().fits_throughout(self.now, self.planned_run(j), job.procs)
                }
            };
            if starts {
                if !has_pivot[q] {
                    // The first of its class has its start, as in the order of arrival.
                    self.promised[j] = self.promised[j].or(Some(self.now));
                }
                self.start_job(j);
            } else if !has_pivot[q] {
                has_pivot[q] = true;
                if self.kept.iter().all(|entry| entry.0 != j) {
                    let at =
                        self.build_plan().earliest_start(self.now.max(self.ready[j]), self.planned_run(j), job.procs);
                    self.kept.push((j, at));
                    self.promised[j] = Some(at);
                }
            }
        }
    }

    /// Rule M4 where promises can be broken.
    fn pass_with_broken_promises(&mut self, broken: Broken) {
        let in_order: Vec<usize> = self.waiting.iter().copied().collect();
        let mut has_pivot = [false; 4];
        for j in in_order {
            let (procs, q) = (self.jobs[j].procs, self.job_class(j));
            let can = self.now >= self.ready[j] && procs <= self.machine - self.used_processors();
            if has_pivot[q] {
                if can && self.can_overtake(j, broken) {
                    self.start_job(j);
                }
                continue;
            }
            if self.place_pivot(j, broken) <= self.now && can {
                self.pivots.retain(|p| p.0 != j);
                self.promised[j] = self.promised[j].or(Some(self.now));
                self.start_job(j);
                let next = self.waiting.iter().copied().find(|&w| self.job_class(w) == q);
                if let (true, Some(next)) = (self.policy.eager, next) {
                    self.place_pivot(next, broken);
                }
            } else {
                has_pivot[q] = true;
            }
        }
    }

    /// Running jobs and those pivots of which `which` is true.
    fn plan_beside(&self, which: impl Fn(usize, usize) -> bool) -> NaiveProfile {
        let mut plan = NaiveProfile::new(self.now, self.machine);
        for &r in &self.running {
            plan.take_processors(self.now, self.true_end(r), self.jobs[r].procs);
        }
        for (rank, &(p, at)) in self.pivots.iter().enumerate() {
            if which(rank, p) {
                plan.take_processors(at, at + self.jobs[p].run, self.jobs[p].procs);
            }
        }
        plan
    }

    /// Computes the time of a pivot again.
    fn place_pivot(&mut self, j: usize, broken: Broken) -> i64 {
        let mine = self.pivots.iter().position(|p| p.0 == j);
        let plan = match broken {
            Broken::ByArrival => self.plan_beside(|_, p| p < j),
            Broken::ByOwners | Broken::BySharing => self.plan_beside(|rank, _| mine.is_none_or(|mine| rank < mine)),
        };
        let at = plan.earliest_start(self.now.max(self.ready[j]), self.jobs[j].run, self.jobs[j].procs);
        match mine {
            Some(mine) => self.pivots[mine].1 = at,
            None => self.pivots.push((j, at)),
        }
        if at > self.now {
            // The first time counts; what was to start at once and cannot is promised nothing yet.
            self.promised[j] = self.promised[j].or(Some(at));
        }
        at
    }

    /// Returns whether a job behind its class's pivot, for which enough processors are free now,
    /// may start.
    fn can_overtake(&self, j: usize, broken: Broken) -> bool {
        let (job, q) = (&self.jobs[j], self.job_class(j));
        let leaves_all_alone =
            || self.plan_beside(|_, _| true).fits_throughout(self.now, self.planned_run(j), job.procs);
        match broken {
            Broken::ByArrival => leaves_all_alone(),
            Broken::ByOwners => job.procs <= self.spare_processors(q, job.run) || leaves_all_alone(),
            Broken::BySharing => {
                job.procs <= self.spare_processors(q, job.run)
                    || job.procs <= (0..4).map(|q| self.spare_processors(q, job.run)).sum()
            }
        }
    }

    /// Rules 6a and 6b: processors of a partition that may be used for so long from now on. All
    /// that are idle where that is over by the time of its pivot; else those that are idle and that
    /// no job, the pivot included, needs at its time.
    fn spare_processors(&self, q: usize, run: i64) -> i64 {
        let idle = self.idle_processors(q, self.now);
        match self.pivots.iter().find(|p| self.job_class(p.0) == q) {
            Some(&(pivot, at)) if self.now + run > at => {
                idle.min((self.idle_processors(q, at) - self.jobs[pivot].procs).max(0))
            }
            _ => idle,
        }
    }

    /// Processors of a partition that no running job will use after `after`.
    fn idle_processors(&self, q: usize, after: i64) -> i64 {
        let busy = self.running.iter().filter(|&&r| self.job_class(r) == q && self.true_end(r) > after);
        self.owned[q] - busy.map(|&r| self.jobs[r].procs).sum::<i64>()
    }

    fn used_processors(&self) -> i64 {
        self.running.iter().map(|&r| self.jobs[r].procs).sum()
    }

    /// A starting job takes processors that its partition lacks from idle ones of the others, in
    /// the order of the classes.
    fn move_ownership(&mut self, j: usize) {
        let idle: Vec<i64> = (0..4).map(|q| self.idle_processors(q, self.now)).collect();
        let q = self.job_class(j);
        let mut missing = (self.jobs[j].procs - idle[q]).max(0);
        for class in (0..4).filter(|&class| class != q) {
            let transfer = missing.min(idle[class]);
            self.owned[class] -= transfer;
            self.owned[q] += transfer;
            missing -= transfer;
        }
    }

    fn start_job(&mut self, j: usize) {
        self.move_ownership(j);
        self.waiting.remove(&j);
        self.running.push(j);
        self.starts[j] = self.now;
        let usage: i64 = self.running.iter().map(|&r| self.jobs[r].procs).sum();
        assert!(usage <= self.machine, "more processors used than there are");
    }
}

/// Rule M6: the delay follows the mean slowdown of the shortest jobs in batches of completed jobs.
struct NaiveController {
    settings: Option<NaiveDelay>,
    delay: f64,
    completed: u32,
    short: f64,
    sum: f64,
    last: Option<f64>,
}

impl NaiveController {
    fn new(settings: Option<NaiveDelay>) -> NaiveController {
        let delay = settings.map_or(0.0, |d| d.first);
        NaiveController { settings, delay, completed: 0, short: 0.0, sum: 0.0, last: None }
    }

    fn note_end(&mut self, short: bool, run: i64, wait: i64) {
        self.completed += 1;
        if short {
            self.short += 1.0;
            self.sum += 1.0 + wait as f64 / run as f64;
        }
        if self.settings.is_none_or(|d| self.completed < d.batch) {
            return;
        }
        let mean = if self.short > 0.0 { self.sum / self.short } else { self.last.unwrap_or(1.0) };
        let change = self.last.map_or(mean, |last| (mean - last) / mean.max(last));
        if let Some(NaiveDelay { first, adapts: true, .. }) = self.settings
            && change.abs() > 0.25
        {
            self.delay = (self.delay + change * first).max(0.0);
        }
        (self.completed, self.short, self.sum, self.last) = (0, 0.0, 0.0, Some(mean));
    }
}
