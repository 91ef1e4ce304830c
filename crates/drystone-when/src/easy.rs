//! Futures of the plain members of the EASY family, without a session: first come, first served,
//! with the users' limits as plans. Equal to what the policies themselves do; the tests hold them
//! to that.

use crate::days::FutureArrivals;
use crate::draws::Draws;
use crate::world::{DrawnFates, PresentJobs};
use drystone_core::model::Procs;
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
    pub(crate) fn of(spec: &PolicySpec) -> Option<EasyRules> {
        let set = spec.parameters();
        let is = |name: &str, value: &str| set.iter().any(|(key, found)| *key == name && found == value);
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
    procs: Procs,
}

/// A job by its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
struct EasyFacts {
    procs: Procs,
    limit: i64,
    /// Predicted end, once it runs.
    end: i64,
    /// Number of times that its prediction has been put off.
    late: u32,
    /// Its run time, where that is known before it starts.
    run: Option<i64>,
}

/// A machine with its queue, from the present on.
#[derive(Debug, Default)]
pub(crate) struct EasyMachine {
    now: i64,
    free: Procs,
    running: Vec<EasyRun>,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    /// Waiting jobs in the order of arrival.
    queue: Vec<u32>,
    procs: Vec<Procs>,
    /// Their limits, those of 68 years and more as that.
    limits: Vec<i32>,
    facts: Vec<EasyFacts>,
    /// No waiting job needs fewer processors.
    least: Procs,
    /// Jobs that the pass has started.
    started: Vec<u32>,
    /// The job that comes for sure, once it is here.
    extra: Option<u32>,
}

/// The present, from which every future begins.
#[derive(Debug, Default)]
pub(crate) struct Present {
    running: Vec<EasyRun>,
    queue: Vec<u32>,
    facts: Vec<EasyFacts>,
}

impl Present {
    pub(crate) fn of(world: &PresentJobs) -> Present {
        let mut present = Present::default();
        for (at, here) in (0u32..).zip(&world.here) {
            let (procs, limit, end) = (here.kin.procs, here.kin.limit, here.predicted_end);
            let late = if here.phase == Phase::Running { put_off(end - here.segment - limit) } else { 0 };
            present.facts.push(EasyFacts { procs, limit, end, late, run: None });
            match here.phase {
                Phase::Running => present.running.push(EasyRun { end, job: at, procs }),
                _ => present.queue.push(at),
            }
        }
        present.running.sort_unstable_by_key(|run| (run.end, run.job));
        present
    }
}

/// The increment of a prediction beyond the limit: 1 min, 15 min, 30 min, 1 h, …
fn increment(before: u32) -> i64 {
    if before == 0 { 60 } else { 900i64.saturating_mul(1 << (before - 1).min(30)) }
}

/// Returns the number of times that a prediction this far beyond the limit has been put off.
fn put_off(beyond: i64) -> u32 {
    let (mut times, mut sum) = (0, 0);
    while sum < beyond && times < 40 {
        sum += increment(times);
        times += 1;
    }
    times
}

/// A limit in fewer bits.
fn short(limit: i64) -> i32 {
    i32::try_from(limit).unwrap_or(if limit < 0 { i32::MIN } else { i32::MAX })
}

impl EasyMachine {
    /// One future: when each of `targets` starts, as far as it does by `until`, and behind them the
    /// job that comes for sure, where there is one.
    #[expect(clippy::too_many_arguments, reason = "all that a future is made of")]
    pub(crate) fn run(
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
        self.begin(present, fates, draws);
        let mut open = targets.len() + usize::from(arrivals.as_ref().is_some_and(FutureArrivals::has_extra));
        starts.fill(None);
        while open > 0 {
            let end = self.ends.peek().map_or(i64::MAX, |next| next.0.0);
            let next = arrivals.as_ref().and_then(FutureArrivals::peek);
            let arrival = next.map_or(i64::MAX, |next| next.0.0);
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
                    self.arrive(&mut arrivals, fates, draws);
                }
            } else {
                while self.ends.peek().is_some_and(|next| next.0.0 == now) {
                    self.end_one();
                }
                while rules.corrects && self.running.first().is_some_and(|run| run.end <= now) {
                    self.correct_first();
                }
                while arrivals.as_ref().and_then(FutureArrivals::peek).is_some_and(|next| next.0.0 == now) {
                    self.arrive(&mut arrivals, fates, draws);
                }
            }
            self.pass(rules);
            for at in 0..self.started.len() {
                let job = self.started[at];
                let facts = self.facts[job as usize];
                let run = facts.run.unwrap_or_else(|| fates.run(job as usize, draws));
                self.ends.push(Reverse((now + run, job)));
                let extra = (self.extra == Some(job)).then_some(targets.len());
                if let Some(place) = targets.binary_search(&(job as usize)).ok().or(extra) {
                    starts[place] = Some(now - fates.world.now.0);
                    open -= 1;
                }
            }
        }
    }

    fn begin(&mut self, present: &Present, fates: &mut DrawnFates<'_>, draws: Draws) {
        let world = fates.world;
        (self.now, self.free, self.extra) = (world.now.0, world.free, None);
        self.running.clone_from(&present.running);
        self.facts.clone_from(&present.facts);
        self.queue.clone_from(&present.queue);
        self.procs.clear();
        self.procs.extend(present.queue.iter().map(|&job| present.facts[job as usize].procs));
        self.limits.clear();
        self.limits.extend(present.queue.iter().map(|&job| short(present.facts[job as usize].limit)));
        self.least = self.procs.iter().copied().min().unwrap_or(Procs::MAX);
        let mut ends = std::mem::take(&mut self.ends).into_vec();
        ends.clear();
        for run in &present.running {
            let at = run.job as usize;
            let end = world.here[at].end(fates.run(at, draws), world.now);
            ends.push(Reverse((end, run.job)));
        }
        self.ends = BinaryHeap::from(ends);
    }

    fn end_one(&mut self) {
        let Some(Reverse((_, job))) = self.ends.pop() else { return };
        let end = self.facts[job as usize].end;
        if let Ok(at) = self.running.binary_search_by_key(&(end, job), |run| (run.end, run.job)) {
            self.free += self.running.remove(at).procs;
        }
    }

    /// The prediction that expires first is put off.
    fn correct_first(&mut self) {
        let mut run = self.running.remove(0);
        let facts = &mut self.facts[run.job as usize];
        run.end += increment(facts.late);
        facts.late += 1;
        facts.end = run.end;
        self.insert(run);
    }

    fn insert(&mut self, run: EasyRun) {
        let at = self.running.partition_point(|other| (other.end, other.job) < (run.end, run.job));
        self.running.insert(at, run);
    }

    fn arrive(&mut self, arrivals: &mut Option<FutureArrivals<'_>>, fates: &mut DrawnFates<'_>, draws: Draws) {
        let Some(arrivals) = arrivals else { return };
        let Some((_, past)) = arrivals.peek() else { return };
        let (procs, limit) = (past.job.procs, past.job.estimate.0);
        let run = fates.again(past, draws);
        let job = self.facts.len() as u32;
        if arrivals.is_extra_next() {
            self.extra = Some(job);
        }
        self.facts.push(EasyFacts { procs, limit, end: 0, late: 0, run: Some(run) });
        self.queue.push(job);
        self.procs.push(procs);
        self.limits.push(short(limit));
        self.least = self.least.min(procs);
        arrivals.advance();
    }

    fn start(&mut self, at: usize) {
        let (job, procs) = (self.queue.remove(at), self.procs.remove(at));
        self.limits.remove(at);
        let facts = &mut self.facts[job as usize];
        let end = self.now + facts.limit;
        facts.end = end;
        self.free -= procs;
        self.insert(EasyRun { end, job, procs });
        self.started.push(job);
    }

    fn pass(&mut self, rules: EasyRules) {
        self.started.clear();
        if self.free < self.least {
            return;
        }
        while self.procs.first().is_some_and(|&procs| procs <= self.free) {
            self.start(0);
        }
        if !rules.backfill || self.queue.len() < 2 || self.free == 0 {
            return;
        }
        let (shadow, mut extra) = self.reservation(rules);
        let window = short(if shadow == i64::MAX { shadow } else { shadow - self.now });
        let (mut from, mut any_fits) = (1, false);
        while let Some(at) = self.next_that_may(from, window, extra, &mut any_fits) {
            let procs = self.procs[at];
            from = at;
            extra -= if self.limits[at] > window { procs } else { 0 };
            self.start(at);
            if self.free == 0 {
                return;
            }
        }
        if !any_fits {
            // The head does not fit, and none behind it.
            self.least = self.free + 1;
        }
    }

    /// The first waiting job from a place on that needs no more processors than are free, and ends
    /// within the window or needs no more than are extra. Deep queues are looked through in pieces.
    /// `any_fits` is set where one needs no more than are free.
    fn next_that_may(&self, from: usize, window: i32, extra: Procs, any_fits: &mut bool) -> Option<usize> {
        const PIECE: usize = 16;
        let free = self.free;
        let may = |procs: Procs, limit: i32| (procs <= free) & ((limit <= window) | (procs <= extra));
        let mut at = from;
        let pieces = self.procs.get(from..)?.chunks(PIECE).zip(self.limits.get(from..)?.chunks(PIECE));
        for (procs, limits) in pieces {
            let each = || procs.iter().zip(limits);
            let (found, fits) = each().fold((false, false), |(found, fits), (&procs, &limit)| {
                (found | may(procs, limit), fits | (procs <= free))
            });
            *any_fits |= fits;
            if found {
                return each().position(|(&procs, &limit)| may(procs, limit)).map(|place| at + place);
            }
            at += PIECE;
        }
        None
    }

    /// Shadow time and extra processors of the job that heads the queue.
    fn reservation(&self, rules: EasyRules) -> (i64, Procs) {
        if !rules.reserve {
            return (i64::MAX, 0);
        }
        let missing = self.procs[0] - self.free;
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
                        .sum::<Procs>();
                }
                return (time, sum - missing);
            }
        }
        (i64::MAX, 0)
    }
}
