//! EASY and conservative backfilling where jobs ask for several resources, by definition.
//!
//! A demand is a list of amounts, one for each resource; the first one is processors. A job fits
//! where every amount is free. Time is walked from event to event, and what is free at a time is
//! summed up from scratch each time it is asked for.
//!
//! - EASY: jobs start from the head of the queue while they fit. The first that does not has the
//!   shadow time: the first predicted end by which everything that it asks for is free. What is
//!   free then beyond its demand is extra, for each resource. Another job starts if it fits now and
//!   either ends by the shadow time or takes no more than the extra amount of every resource; what
//!   outlasts the shadow time takes its demand out of the extra amounts.
//! - With several reservations, in the heuristic path of a search and in conservative backfilling,
//!   a job is planned at the first time from which on everything that it asks for is free for as
//!   long as it is predicted to run.

use crate::JobOut;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorJob {
    /// Arrival, in seconds.
    pub submit: i64,
    /// Predicted run time, in seconds, at least 1.
    pub estimate: i64,
    /// Run time, in seconds, at least 1.
    pub run: i64,
    /// Demand for each resource; the first one is processors.
    pub asks: Vec<i64>,
}

/// A policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorRule {
    /// EASY with these choices.
    Easy {
        /// Shortest prediction first, else first come first served: queue and backfilling.
        shortest: (bool, bool),
        reservations: usize,
        /// The walk over predicted ends stops at the first sufficient job.
        first: bool,
        /// An overdue job's predicted end stays in the past.
        stale: bool,
    },
    /// Conservative backfilling. No job may outlive its prediction.
    Conservative,
    /// The heuristic path of a goal-oriented search: at each event every waiting job is placed at
    /// its earliest in this order, and those placed now start. No job may outlive its prediction.
    Heuristic {
        /// Largest slowdown first, else first come first served.
        slowdown: bool,
    },
}

/// A time during which something is taken.
#[derive(Clone, Copy)]
struct NaiveTaken<'a> {
    from: i64,
    to: i64,
    asks: &'a [i64],
}

struct NaiveVectorWorld<'a> {
    jobs: &'a [VectorJob],
    machine: &'a [i64],
    now: i64,
    waiting: Vec<usize>,
    running: Vec<usize>,
    /// Planned starts of waiting jobs.
    planned: Vec<Option<i64>>,
    out: Vec<JobOut>,
}

/// Runs a policy over jobs in order of arrival on a machine with so much of each resource.
///
/// # Panics
/// If a job asks for more than there is.
pub fn run(rule: VectorRule, jobs: &[VectorJob], machine: &[i64]) -> Vec<JobOut> {
    for (at, job) in jobs.iter().enumerate() {
        assert!(job.asks.iter().zip(machine).all(|(ask, has)| ask <= has), "job {at} asks for too much");
    }
    let never = JobOut { start: -1, end: -1 };
    let mut world = NaiveVectorWorld {
        jobs,
        machine,
        now: i64::MIN,
        waiting: Vec::new(),
        running: Vec::new(),
        planned: vec![None; jobs.len()],
        out: vec![never; jobs.len()],
    };
    let mut arrival_count = 0;
    loop {
        let ends = world.running.iter().map(|&j| world.out[j].end);
        let starts = world.waiting.iter().filter_map(|&j| world.planned[j]);
        let arrival = jobs.get(arrival_count).map(|job| job.submit);
        let Some(next) = ends.chain(starts.filter(|&start| start > world.now)).chain(arrival).min() else {
            assert!(world.waiting.is_empty(), "jobs wait for ever");
            return world.out;
        };
        world.now = next;
        let out = &world.out;
        world.running.retain(|&j| out[j].end != next);
        while jobs.get(arrival_count).is_some_and(|job| job.submit == next) {
            world.waiting.push(arrival_count);
            arrival_count += 1;
        }
        match rule {
            VectorRule::Conservative => world.run_conservative(),
            VectorRule::Heuristic { slowdown } => world.run_heuristic(slowdown),
            VectorRule::Easy { shortest, reservations, first, stale } => {
                if reservations > 1 {
                    world.run_several(shortest, reservations);
                } else {
                    world.run_easy(shortest, reservations, (first, stale));
                }
            }
        }
    }
}

fn covers_asks(free: &[i64], asks: &[i64]) -> bool {
    free.iter().zip(asks).all(|(free, ask)| free >= ask)
}

impl<'a> NaiveVectorWorld<'a> {
    fn predicted_end(&self, j: usize) -> i64 {
        self.out[j].start + self.jobs[j].estimate
    }

    fn free_amounts(&self) -> Vec<i64> {
        let used_amount = |r: usize| self.running.iter().map(|&j| self.jobs[j].asks[r]).sum::<i64>();
        self.machine.iter().enumerate().map(|(r, has)| has - used_amount(r)).collect()
    }

    fn start_job(&mut self, j: usize) {
        assert!(covers_asks(&self.free_amounts(), &self.jobs[j].asks), "job {j} does not fit");
        self.waiting.retain(|&w| w != j);
        self.running.push(j);
        self.out[j] = JobOut { start: self.now, end: self.now + self.jobs[j].run };
    }

    fn sort_waiting(&self, shortest: bool) -> Vec<usize> {
        let mut list = self.waiting.clone();
        list.sort_by_key(|&j| (if shortest { self.jobs[j].estimate } else { 0 }, j));
        list
    }

    fn run_easy(&mut self, shortest: (bool, bool), reservations: usize, (first, stale): (bool, bool)) {
        for j in self.sort_waiting(shortest.0) {
            if !covers_asks(&self.free_amounts(), &self.jobs[j].asks) {
                break;
            }
            self.start_job(j);
        }
        let Some(&head) = self.sort_waiting(shortest.0).first() else { return };
        let (shadow, mut extra) = if reservations == 0 {
            (i64::MAX, vec![0; self.machine.len()])
        } else {
            self.compute_shadow(head, first, stale)
        };
        for j in self.sort_waiting(shortest.1) {
            let asks = &self.jobs[j].asks;
            let in_time = shadow == i64::MAX || self.now + self.jobs[j].estimate <= shadow;
            if j == head || !covers_asks(&self.free_amounts(), asks) || !(in_time || covers_asks(&extra, asks)) {
                continue;
            }
            if !in_time {
                extra.iter_mut().zip(asks).for_each(|(extra, ask)| *extra -= ask);
            }
            self.start_job(j);
        }
    }

    fn compute_shadow(&self, head: usize, first: bool, stale: bool) -> (i64, Vec<i64>) {
        let mut ends: Vec<(i64, usize)> = self.running.iter().map(|&j| (self.predicted_end(j), j)).collect();
        ends.sort_unstable();
        let mut free = self.free_amounts();
        let mut shadow = None;
        for (end, j) in ends {
            let end = if stale { end } else { end.max(self.now) };
            if shadow.is_some_and(|shadow| first || end > shadow) {
                break;
            }
            free.iter_mut().zip(&self.jobs[j].asks).for_each(|(free, ask)| *free += ask);
            if shadow.is_none() && covers_asks(&free, &self.jobs[head].asks) {
                shadow = Some(end);
            }
        }
        let shadow = shadow.expect("a job that fits the machine fits when all others have ended");
        free.iter_mut().zip(&self.jobs[head].asks).for_each(|(free, ask)| *free -= ask);
        (shadow, free)
    }

    /// Returns the amounts that running jobs take from now on.
    fn taken_amounts(&self) -> Vec<NaiveTaken<'a>> {
        let jobs = self.jobs;
        let of = |&j: &usize| NaiveTaken { from: self.now, to: self.predicted_end(j), asks: &jobs[j].asks };
        self.running.iter().map(of).collect()
    }

    fn fits_throughout(&self, bookings: &[NaiveTaken<'_>], from: i64, span: i64, asks: &[i64]) -> bool {
        // What is free falls only where something begins.
        let begins = bookings.iter().map(|t| t.from).filter(|&begin| from < begin && begin < from + span);
        std::iter::once(from).chain(begins).all(|at| {
            let used_amount =
                |r: usize| bookings.iter().filter(|t| t.from <= at && at < t.to).map(|t| t.asks[r]).sum::<i64>();
            asks.iter().enumerate().all(|(r, ask)| used_amount(r) + ask <= self.machine[r])
        })
    }

    fn earliest_start(&self, bookings: &[NaiveTaken<'_>], span: i64, asks: &[i64]) -> i64 {
        let mut times: Vec<i64> = bookings.iter().map(|t| t.to).filter(|&to| to > self.now).collect();
        times.push(self.now);
        times.sort_unstable();
        times.into_iter().find(|&at| self.fits_throughout(bookings, at, span, asks)).expect("it fits an empty machine")
    }

    fn run_several(&mut self, shortest: (bool, bool), reservations: usize) {
        let jobs = self.jobs;
        let mut taken_amounts = self.taken_amounts();
        let mut reserved_jobs = Vec::new();
        for j in self.sort_waiting(shortest.0) {
            if reserved_jobs.len() == reservations {
                break;
            }
            let (span, asks) = (jobs[j].estimate, &jobs[j].asks[..]);
            let at = self.earliest_start(&taken_amounts, span, asks);
            taken_amounts.push(NaiveTaken { from: at, to: at + span, asks });
            if at == self.now && covers_asks(&self.free_amounts(), asks) {
                self.start_job(j);
            } else {
                reserved_jobs.push(j);
            }
        }
        for j in self.sort_waiting(shortest.1) {
            let (span, asks) = (jobs[j].estimate, &jobs[j].asks[..]);
            let waits = !reserved_jobs.contains(&j);
            if waits
                && covers_asks(&self.free_amounts(), asks)
                && self.fits_throughout(&taken_amounts, self.now, span, asks)
            {
                taken_amounts.push(NaiveTaken { from: self.now, to: self.now + span, asks });
                self.start_job(j);
            }
        }
    }

    fn run_heuristic(&mut self, slowdown: bool) {
        let jobs = self.jobs;
        let mut list = self.waiting.clone();
        if slowdown {
            // Wait over run time, as a fraction: a/b > c/d where a·d > c·b.
            let wait = |j: usize| self.now - jobs[j].submit;
            list.sort_by(|&a, &b| (wait(b) * jobs[a].estimate).cmp(&(wait(a) * jobs[b].estimate)).then(a.cmp(&b)));
        }
        let mut taken_amounts = self.taken_amounts();
        for j in list {
            let at = self.earliest_start(&taken_amounts, jobs[j].estimate, &jobs[j].asks);
            taken_amounts.push(NaiveTaken { from: at, to: at + jobs[j].estimate, asks: &jobs[j].asks });
            if at == self.now {
                self.start_job(j);
            }
        }
    }

    /// Takes all waiting jobs out of the plan and puts them back in the order of their planned
    /// starts, newcomers last: where no job has ended early, each stays where it was.
    fn run_conservative(&mut self) {
        let jobs = self.jobs;
        let mut taken_amounts = self.taken_amounts();
        let mut list = self.waiting.clone();
        list.sort_by_key(|&j| (self.planned[j].unwrap_or(i64::MAX), j));
        for &j in &list {
            let at = self.earliest_start(&taken_amounts, jobs[j].estimate, &jobs[j].asks);
            taken_amounts.push(NaiveTaken { from: at, to: at + jobs[j].estimate, asks: &jobs[j].asks });
            self.planned[j] = Some(at);
        }
        for j in list {
            if self.planned[j] == Some(self.now) {
                self.start_job(j);
            }
        }
    }
}
