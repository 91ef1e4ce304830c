//! Futures of the plain members of the EASY family, without a session: first come, first served,
//! with the users' limits as plans. Equal to what the policies themselves do; the tests hold them
//! to that.

use crate::days::FutureArrivals;
use crate::draws::Draws;
use crate::world::{DrawnFates, PresentJobs};
use drystone_core::model::{Procs, SharedSort};
use drystone_core::policy::{Phase, PolicySpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Choices in which the members of the family differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EasyRules {
    /// True if jobs overtake at all.
    backfill: bool,
    /// True if the head has a reservation.
    reserve: bool,
    /// True if the walk over the ends stops at the first sufficient one.
    first: bool,
    /// True if overdue jobs count as ending now.
    clamp: bool,
    /// True if expired predictions are put off.
    corrects: bool,
    /// True if a pass follows each event.
    per_event: bool,
}

impl EasyRules {
    /// Those of a policy, if it is one of these.
    pub(crate) fn from_spec(spec: &PolicySpec) -> Option<EasyRules> {
        let set = spec.parameters();
        let is = |name: &str, value: &str| set.iter().any(|(key, setting)| *key == name && setting == value);
        if !is("order", "fcfs") || !is("predict", "estimate") || is("pass", "pyss") {
            return None;
        }
        if !is("correct", "none") && !is("correct", "estimate") {
            return None;
        }
        let (corrects, per_event) = (is("correct", "estimate"), is("pass", "event"));
        let plain = EasyRules { backfill: true, reserve: false, first: false, clamp: true, corrects, per_event };
        match spec.kind().name {
            "fcfs" => Some(EasyRules { backfill: false, ..plain }),
            "greedy" => Some(plain),
            "easy" if is("backfill", "fcfs") && !is("overdue", "free") && is("arrive", "always") => {
                let reserve = match (is("reserve", "0"), is("reserve", "1")) {
                    (true, _) => false,
                    (_, true) => true,
                    _ => return None,
                };
                let clamp = !is("overdue", "stale");
                Some(EasyRules { reserve, first: is("extra", "first"), clamp, ..plain })
            }
            _ => None,
        }
    }
}

/// A running job as the plan sees it.
#[derive(Clone, Copy, Debug)]
struct EasyRun {
    /// Predicted end.
    end: i64,
    job: u32,
    procs: Width,
}

/// A job by its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
struct EasyFacts {
    limit: i64,
    /// Predicted end, once it runs.
    end: i64,
    /// Number of times that its prediction has been put off.
    late: u32,
    /// Its run time, where that is known before it starts.
    run: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct EasyMachine {
    now: i64,
    free: Width,
    running: Vec<EasyRun>,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    queue: EasyQueue,
    facts: Vec<EasyFacts>,
    /// No waiting job needs fewer processors.
    least: Width,
    /// Shadow time and extra processors of the head, as long as nothing has changed.
    reserved: Option<(i64, Width)>,
    /// Bounds under which no job behind the head can start, but for those in the last places.
    rejected: Option<(StartBounds, usize)>,
    /// Jobs that the pass has started.
    started: Vec<u32>,
    /// The job that comes for sure, once it is here.
    extra: Option<u32>,
}

/// Processors, in fewer bits: a machine with more is simulated by the policy itself.
type Width = i32;

/// Waiting jobs in the order of arrival, in places that stay: a job that has left is wider than any
/// machine.
#[derive(Clone, Debug, Default)]
struct EasyQueue {
    jobs: Vec<u32>,
    procs: Vec<Width>,
    /// Their limits, those of 68 years and more as that.
    limits: Vec<i32>,
    /// Place of the first that waits; all before have left.
    head: usize,
    /// Number of those that wait.
    waiting: usize,
}

/// Width of a job that has left the queue.
const LEFT: Width = Width::MAX;
/// Places of jobs that have left are closed when they are more than this, and most.
const MOST_LEFT: usize = 64;

/// Bounds of jobs that may be backfilled: processors, and either the limit or the processors that
/// are extra.
#[derive(Clone, Copy, Debug)]
struct StartBounds {
    free: Width,
    window: i32,
    extra: Width,
}

impl StartBounds {
    #[inline]
    fn allows_job(self, procs: Width, limit: i32) -> bool {
        (procs <= self.free) & ((limit <= self.window) | (procs <= self.extra))
    }

    /// Returns whether whatever these allow the others allow as well.
    #[inline]
    fn is_within(self, bounds: StartBounds) -> bool {
        self.free <= bounds.free && self.window <= bounds.window && self.extra <= bounds.extra
    }
}

impl EasyQueue {
    fn push(&mut self, job: u32, procs: Width, limit: i64) {
        self.jobs.push(job);
        self.procs.push(procs);
        self.limits.push(clamp_limit(limit));
        self.waiting += 1;
    }

    /// The job at a place leaves.
    #[inline]
    fn take_job(&mut self, at: usize) -> (u32, Width) {
        let procs = std::mem::replace(&mut self.procs[at], LEFT);
        self.waiting -= 1;
        while self.procs.get(self.head).is_some_and(|&procs| procs == LEFT) {
            self.head += 1;
        }
        (self.jobs[at], procs)
    }

    /// Closes the places of jobs that have left, where most have; returns whether it did.
    fn close_up(&mut self) -> bool {
        let gap_count = self.jobs.len() - self.waiting;
        if gap_count <= MOST_LEFT || gap_count <= self.waiting {
            return false;
        }
        let mut to = 0;
        for at in self.head..self.jobs.len() {
            if self.procs[at] != LEFT {
                self.jobs[to] = self.jobs[at];
                self.procs[to] = self.procs[at];
                self.limits[to] = self.limits[at];
                to += 1;
            }
        }
        self.jobs.truncate(to);
        self.procs.truncate(to);
        self.limits.truncate(to);
        self.head = 0;
        true
    }

    /// The first place from one on whose job is allowed to start. Deep queues are looked through in
    /// pieces. `any_fits` is set where one needs no more than are free.
    #[inline]
    fn next_allowed(&self, from: usize, bounds: StartBounds, any_fits: &mut bool) -> Option<usize> {
        const PIECE: usize = 16;
        let (procs, limits) = (self.procs.get(from..)?, self.limits.get(from..)?);
        let first_of = |at: usize, procs: &[Width], limits: &[i32]| {
            let allowed_place = procs.iter().zip(limits).position(|(&procs, &limit)| bounds.allows_job(procs, limit));
            allowed_place.map(|place| from + at + place)
        };
        // Without a way out of a loop over a piece it takes a few vector instructions.
        let fits = |procs: &[Width]| procs.iter().fold(false, |fits, &procs| fits | (procs <= bounds.free));
        let (pieces, rest) = procs.as_chunks::<PIECE>();
        let (pieces_of_limits, rest_of_limits) = limits.as_chunks::<PIECE>();
        for (piece, (procs, limits)) in pieces.iter().zip(pieces_of_limits).enumerate() {
            let pairs = procs.iter().zip(limits);
            if pairs.fold(false, |has_fit, (&procs, &limit)| has_fit | bounds.allows_job(procs, limit)) {
                *any_fits = true;
                return first_of(piece * PIECE, procs, limits);
            }
            *any_fits = *any_fits || fits(procs);
        }
        *any_fits = *any_fits || fits(rest);
        first_of(pieces.len() * PIECE, rest, rest_of_limits)
    }
}

/// The present, from which every future begins.
#[derive(Debug, Default)]
pub(crate) struct Present {
    running: Vec<EasyRun>,
    queue: EasyQueue,
    facts: Vec<EasyFacts>,
    least: Width,
}

impl Present {
    pub(crate) fn from_world(world: &PresentJobs) -> Present {
        let mut present = Present { least: Width::MAX, ..Present::default() };
        for (at, job) in (0u32..).zip(&world.here) {
            let (procs, limit, end) = (clamp_width(job.kin.procs), job.kin.limit, job.predicted_end);
            let late = if job.phase == Phase::Running { put_off(end - job.segment - limit) } else { 0 };
            present.facts.push(EasyFacts { limit, end, late, run: None });
            match job.phase {
                Phase::Running => present.running.push(EasyRun { end, job: at, procs }),
                _ => {
                    present.queue.push(at, procs, limit);
                    present.least = present.least.min(procs);
                }
            }
        }
        present.running.sort_shared_by_key(|run| (run.end, run.job));
        present
    }
}

/// The increment of a prediction beyond the limit: 1 min, 15 min, 30 min, 1 h, …
fn prediction_increment(before: u32) -> i64 {
    if before == 0 { 60 } else { 900i64.saturating_mul(1 << (before - 1).min(30)) }
}

/// Returns the number of times that a prediction this far beyond the limit has been put off.
fn put_off(beyond: i64) -> u32 {
    let (mut times, mut sum) = (0, 0);
    while sum < beyond && times < 40 {
        sum += prediction_increment(times);
        times += 1;
    }
    times
}

/// Processors in fewer bits; those of a job that no machine here can hold as that.
fn clamp_width(procs: Procs) -> Width {
    Width::try_from(procs).unwrap_or(LEFT).min(LEFT - 1)
}

/// A limit in fewer bits.
fn clamp_limit(limit: i64) -> i32 {
    i32::try_from(limit).unwrap_or(if limit < 0 { i32::MIN } else { i32::MAX })
}

impl EasyMachine {
    /// One future: when each of `targets` starts, as far as it does by `until`, and behind them the
    /// job that comes for sure, where there is one.
    #[expect(clippy::too_many_arguments, reason = "all that a future is made of")]
    pub(crate) fn run_future(
        &mut self,
        present: &Present,
        rules: EasyRules,
        fates: &mut DrawnFates<'_>,
        draws: Draws,
        mut arrivals: Option<FutureArrivals<'_>>,
        targets: &[usize],
        until: i64,
        starts: &mut [Option<i64>],
    ) {
        self.begin_future(present, fates, draws);
        let mut open = targets.len() + usize::from(arrivals.as_ref().is_some_and(FutureArrivals::has_extra));
        starts.fill(None);
        let mut arrival = next_time(arrivals.as_ref());
        while open > 0 {
            let end = self.ends.peek().map_or(i64::MAX, |next| next.0.0);
            let expiry = if rules.corrects { self.running.first().map_or(i64::MAX, |run| run.end) } else { i64::MAX };
            let now = end.min(arrival).min(expiry.max(self.now));
            if now > until || now == i64::MAX {
                return;
            }
            self.now = now;
            if rules.per_event {
                if end == now {
                    self.end_one();
                } else if expiry <= now {
                    self.correct_first();
                } else {
                    self.admit_arrival(&mut arrivals, fates, draws);
                    arrival = next_time(arrivals.as_ref());
                }
            } else {
                while self.ends.peek().is_some_and(|next| next.0.0 == now) {
                    self.end_one();
                }
                while rules.corrects && self.running.first().is_some_and(|run| run.end <= now) {
                    self.correct_first();
                }
                while arrival == now {
                    self.admit_arrival(&mut arrivals, fates, draws);
                    arrival = next_time(arrivals.as_ref());
                }
            }
            if self.free < self.least {
                continue;
            }
            self.run_pass(rules);
            for at in 0..self.started.len() {
                let job = self.started[at];
                let run = self.facts[job as usize].run.unwrap_or_else(|| fates.present_run(job as usize, draws));
                self.ends.push(Reverse((now + run, job)));
                let extra = (self.extra == Some(job)).then_some(targets.len());
                if let Some(place) = targets.binary_search(&(job as usize)).ok().or(extra) {
                    starts[place] = Some(now - fates.world.now.0);
                    open -= 1;
                }
            }
        }
    }

    fn begin_future(&mut self, present: &Present, fates: &mut DrawnFates<'_>, draws: Draws) {
        let world = fates.world;
        (self.now, self.free, self.extra) = (world.now.0, clamp_width(world.free), None);
        (self.least, self.reserved, self.rejected) = (present.least, None, None);
        self.running.clone_from(&present.running);
        self.facts.clone_from(&present.facts);
        self.queue.jobs.clone_from(&present.queue.jobs);
        self.queue.procs.clone_from(&present.queue.procs);
        self.queue.limits.clone_from(&present.queue.limits);
        (self.queue.head, self.queue.waiting) = (0, present.queue.waiting);
        let mut ends = std::mem::take(&mut self.ends).into_vec();
        ends.clear();
        for run in &present.running {
            let at = run.job as usize;
            let end = world.here[at].end_time(fates.present_run(at, draws), world.now);
            ends.push(Reverse((end, run.job)));
        }
        self.ends = BinaryHeap::from(ends);
    }

    fn end_one(&mut self) {
        self.reserved = None;
        let Some(Reverse((_, job))) = self.ends.pop() else { return };
        let end = self.facts[job as usize].end;
        let mut at = self.running.partition_point(|run| run.end < end);
        while self.running.get(at).is_some_and(|run| run.end == end && run.job != job) {
            at += 1;
        }
        if self.running.get(at).is_some_and(|run| run.job == job) {
            self.free += self.running.remove(at).procs;
        }
    }

    /// The prediction that expires first is put off.
    fn correct_first(&mut self) {
        self.reserved = None;
        let mut run = self.running.remove(0);
        let facts = &mut self.facts[run.job as usize];
        run.end += prediction_increment(facts.late);
        facts.late += 1;
        facts.end = run.end;
        self.insert(run);
    }

    fn insert(&mut self, run: EasyRun) {
        let at = self.running.partition_point(|entry| (entry.end, entry.job) < (run.end, run.job));
        self.running.insert(at, run);
    }

    fn admit_arrival(&mut self, arrivals: &mut Option<FutureArrivals<'_>>, fates: &mut DrawnFates<'_>, draws: Draws) {
        let Some(arrivals) = arrivals else { return };
        let Some((_, past)) = arrivals.peek_next() else { return };
        let (procs, limit) = (clamp_width(past.job.procs), past.job.estimate.0);
        let run = fates.returning_run(past, draws);
        let job = self.facts.len() as u32;
        if arrivals.is_extra_next() {
            self.extra = Some(job);
        }
        self.facts.push(EasyFacts { limit, end: 0, late: 0, run: Some(run) });
        self.queue.push(job, procs, limit);
        self.least = self.least.min(procs);
        arrivals.advance();
    }

    fn start_job(&mut self, at: usize) {
        self.reserved = None;
        let (job, procs) = self.queue.take_job(at);
        let facts = &mut self.facts[job as usize];
        let end = self.now + facts.limit;
        facts.end = end;
        self.free -= procs;
        self.insert(EasyRun { end, job, procs });
        self.started.push(job);
    }

    /// Starts what the rules allow. At least one job may fit.
    fn run_pass(&mut self, rules: EasyRules) {
        self.started.clear();
        if self.queue.close_up() {
            self.rejected = None;
        }
        while self.queue.procs.get(self.queue.head).is_some_and(|&procs| procs <= self.free) {
            self.start_job(self.queue.head);
        }
        if !rules.backfill || self.queue.waiting < 2 || self.free == 0 {
            return;
        }
        let (shadow, extra) = self.head_reservation(rules);
        let window = clamp_limit(if shadow == i64::MAX { shadow } else { shadow - self.now });
        let mut bounds = StartBounds { free: self.free, window, extra };
        // What was refused under bounds as wide or wider is refused again.
        let first = self.queue.head + 1;
        let rejected_until = self.rejected.filter(|&(wider, _)| bounds.is_within(wider)).map_or(0, |(_, upto)| upto);
        let (mut from, mut any_fits) = (first.max(rejected_until), rejected_until > first);
        while let Some(at) = self.queue.next_allowed(from, bounds, &mut any_fits) {
            let procs = self.queue.procs[at];
            from = at + 1;
            bounds.extra -= if self.queue.limits[at] > window { procs } else { 0 };
            self.start_job(at);
            bounds.free = self.free;
            if self.free == 0 {
                return;
            }
        }
        self.rejected = Some((bounds, self.queue.jobs.len()));
        if !any_fits {
            // The head does not fit, and none behind it.
            self.least = self.free + 1;
        }
    }

    /// Shadow time and extra processors of the job that heads the queue.
    fn head_reservation(&mut self, rules: EasyRules) -> (i64, Width) {
        if !rules.reserve {
            return (i64::MAX, 0);
        }
        if let Some(reservation) = self.reserved.filter(|reservation| reservation.0 >= self.now) {
            return reservation;
        }
        let shadow = self.compute_shadow(rules);
        self.reserved = Some(shadow);
        shadow
    }

    fn compute_shadow(&self, rules: EasyRules) -> (i64, Width) {
        let missing = self.queue.procs[self.queue.head] - self.free;
        let mut sum = 0;
        for (at, run) in self.running.iter().enumerate() {
            sum += run.procs;
            if sum >= missing {
                let time = if rules.clamp { run.end.max(self.now) } else { run.end };
                if !rules.first {
                    sum += self.running[at + 1..]
                        .iter()
                        .take_while(|run| run.end <= time)
                        .map(|run| run.procs)
                        .sum::<Width>();
                }
                return (time, sum - missing);
            }
        }
        (i64::MAX, 0)
    }
}

/// The time of the next arrival; the end of time where there is none.
#[inline]
fn next_time(arrivals: Option<&FutureArrivals<'_>>) -> i64 {
    arrivals.and_then(FutureArrivals::peek_next).map_or(i64::MAX, |next| next.0.0)
}
