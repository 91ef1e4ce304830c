//! EASY, conservative backfilling and multiple queues on a machine that loses and regains
//! processors.
//!
//! Processors are alike. Under conservative backfilling and multiple queues no job outlives its
//! estimate, so that a plan is wrong only where the machine was not as expected. Under the others a
//! job that has outlived its estimate ends now, as far as a plan goes; its processors are not free
//! for a start.
//!
//! - Known beforehand is an outage from the time it is announced on, else from its beginning on. A
//!   plan takes its processors away from its beginning, if that is known, to its expected end;
//!   where none is expected, or that has passed, for ever.
//! - When an outage begins that was not announced, it takes neighbours: jobs stand in the order of
//!   their numbers, each on as many places as it has processors that are not drained already, then
//!   come idle ones; of all these places it takes as many as it needs, from the one that lies as
//!   far on as its first processor does in the machine, and from the first again behind the last.
//!   One that was announced takes idle ones first, then the places of the jobs that should have
//!   ended first.
//! - A job that is hit waits again with its number, or is lost. Jobs that are hit in one instant
//!   are planned in the order of their numbers. One that is drained ends as it
//!   would, and gives back this many fewer.
//! - A job that is wider than what is left without processors that have gone and of which no return
//!   is known has no place in any plan, and is in the way of no other job; neither is one that a
//!   plan cannot hold because of an announced outage without an expected end.
//!
//! With checkpoints a job that is hit goes on from its last one, and its limit has room for those
//! of a run without outages. No read may take longer than an interval and a write: then no job
//! outlives its limit.
//!
//! Events of an instant: ends, outages (ends before announcements before beginnings), arrivals;
//! then a pass.

use crate::JobIn;
use crate::checkpoints::NaiveCheckpoints;
use crate::multiqueue::run_class;
use crate::profile::NaiveProfile;
use std::collections::BTreeMap;

/// Fate of jobs on processors that go out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveHit {
    /// They run on.
    Drain,
    /// They wait again.
    Requeue,
    /// They are gone.
    Lose,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutageIn {
    /// Its lowest processor.
    pub first: i64,
    /// Number of processors.
    pub procs: i64,
    /// Time of the announcement; no later than the beginning.
    pub known: i64,
    pub begin: i64,
    /// End; `None` for never.
    pub end: Option<i64>,
    pub expected: Option<i64>,
    /// Fate of its jobs.
    pub hit: NaiveHit,
}

/// Policy of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveRule {
    /// Strictly in the order of arrival.
    Fcfs,
    /// Backfilling without a reservation.
    Greedy,
    /// One reservation.
    Easy,
    /// Every job is planned.
    Conservative,
    /// Four queues by run time, which are known exactly; the first of each is promised its start.
    MultiQueue,
}

/// Outcome of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveOutcome {
    /// Start of its last attempt.
    pub start: i64,
    pub end: i64,
    /// True if it was lost at its end.
    pub lost: bool,
}

/// The time on its processors that a job needs of which so much work is kept.
fn due_time(saving: Option<NaiveCheckpoints>, run: i64, progress: i64) -> i64 {
    saving.map_or(run, |saving| saving.run_attempt(run, progress, i64::MAX).elapsed)
}

const NEVER: i64 = i64::MAX / 4;

/// Runs jobs in order of arrival; `None` for those that never start.
///
/// # Panics
/// If a job is wider than the machine, or outlives its estimate where none may.
pub fn run(rule: NaiveRule, jobs: &[JobIn], machine: i64, outages: &[OutageIn]) -> Vec<Option<NaiveOutcome>> {
    run_saving(rule, jobs, machine, outages, None).0
}

/// Processor-seconds that were no work of jobs that ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NaiveWaste {
    /// Lost by jobs that were hit.
    pub lost: i64,
    /// For checkpoints.
    pub checkpoints: i64,
}

/// As [`run`], where jobs write checkpoints.
///
/// # Panics
/// As there.
pub fn run_saving(
    rule: NaiveRule,
    jobs: &[JobIn],
    machine: i64,
    outages: &[OutageIn],
    saving: Option<NaiveCheckpoints>,
) -> (Vec<Option<NaiveOutcome>>, NaiveWaste) {
    let roomy: Vec<JobIn> = jobs
        .iter()
        .map(|job| JobIn {
            estimate: saving.map_or(job.estimate, |saving| saving.limit_with_writes(job.estimate)),
            ..*job
        })
        .collect();
    let jobs = &roomy[..];
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} does not fit the machine");
        let may_outlive = matches!(rule, NaiveRule::Fcfs | NaiveRule::Greedy | NaiveRule::Easy);
        assert!(job.estimate >= 1 && (may_outlive || job.run <= job.estimate), "job {i} outlives its estimate");
    }
    let mut world = NaiveOutageWorld {
        rule,
        jobs,
        machine,
        outages,
        now: jobs.first().map_or(0, |job| job.submit),
        waiting: Vec::new(),
        running: BTreeMap::new(),
        out: Vec::new(),
        plan: Vec::new(),
        fresh: Vec::new(),
        stale: false,
        changed: None,
        done: vec![None; jobs.len()],
        saving,
        kept: vec![0; jobs.len()],
        due: jobs.iter().map(|job| due_time(saving, job.run, 0)).collect(),
        waste: NaiveWaste::default(),
    };
    // What began before the first job came took idle processors.
    for (at, outage) in outages.iter().enumerate() {
        if outage.begin < world.now && outage.end.is_none_or(|end| end >= world.now) {
            world.out.push((at, BTreeMap::new()));
        }
    }
    let mut arrival_count = 0;
    while let Some(instant) = world.next_instant(arrival_count) {
        world.now = instant;
        world.end_jobs();
        world.change_capacity();
        while arrival_count < jobs.len() && jobs[arrival_count].submit == instant {
            world.enqueue_job(arrival_count);
            arrival_count += 1;
        }
        world.run_pass();
    }
    (world.done, world.waste)
}

struct NaiveOutageWorld<'a> {
    rule: NaiveRule,
    jobs: &'a [JobIn],
    machine: i64,
    outages: &'a [OutageIn],
    now: i64,
    /// By number.
    waiting: Vec<usize>,
    /// Jobs with their starts.
    running: BTreeMap<usize, i64>,
    /// Outages that have begun, and how many of its processors each running job holds that is
    /// drained.
    out: Vec<(usize, BTreeMap<usize, i64>)>,
    /// Planned starts; of queues only those of pivots.
    plan: Vec<(i64, usize)>,
    /// Jobs that have no place in the plan yet, as they came.
    fresh: Vec<usize>,
    /// The plan may be impossible, or too loose.
    stale: bool,
    /// Time at which the capacity was last examined.
    changed: Option<i64>,
    done: Vec<Option<NaiveOutcome>>,
    saving: Option<NaiveCheckpoints>,
    /// Work of each job in checkpoints.
    kept: Vec<i64>,
    /// Time on its processors that each job needs if nothing hits it.
    due: Vec<i64>,
    waste: NaiveWaste,
}

impl NaiveOutageWorld<'_> {
    fn next_instant(&self, arrival_count: usize) -> Option<i64> {
        let over = arrival_count == self.jobs.len() && self.waiting.is_empty() && self.running.is_empty();
        if over {
            return None;
        }
        let arrival = self.jobs.get(arrival_count).map(|job| job.submit);
        let ends = self.running.iter().map(|(&j, &start)| start + self.due[j]);
        let has_begun = |at: usize| self.out.iter().any(|out| out.0 == at);
        let outages = self.outages.iter().enumerate().flat_map(|(at, o)| {
            let comes = (!has_begun(at) && o.begin > self.now).then_some([o.known, o.begin]);
            let goes = has_begun(at).then_some([o.expected.unwrap_or(NEVER), o.end.unwrap_or(NEVER)]);
            comes.into_iter().chain(goes).flatten()
        });
        let planned_starts = self.plan.iter().map(|p| p.0);
        // The first instant itself has not been handled yet when nothing has arrived.
        let next = |&at: &i64| at < NEVER && (at > self.now || (arrival_count == 0 && at == self.now));
        arrival
            .into_iter()
            .chain(ends.filter(|&end| end >= self.now))
            .chain(outages.chain(planned_starts).filter(next))
            .min()
    }

    fn end_jobs(&mut self) {
        let ended_jobs: Vec<usize> =
            self.running.iter().filter(|(j, start)| *start + self.due[**j] == self.now).map(|(&j, _)| j).collect();
        for j in ended_jobs {
            let start = self.remove_job(j);
            if let Some(saving) = self.saving {
                let attempt = saving.run_attempt(self.jobs[j].run, self.kept[j], i64::MAX);
                self.waste.checkpoints += attempt.spent * self.jobs[j].procs;
            }
            // Room that no plan knew of.
            self.stale |= start + self.jobs[j].estimate != self.now;
            self.done[j] = Some(NaiveOutcome { start, end: self.now, lost: false });
        }
    }

    fn lose_job(&mut self, j: usize, start: i64, hit: NaiveHit) {
        let ran = self.now - start;
        let procs = self.jobs[j].procs;
        let Some(saving) = self.saving else {
            self.waste.lost += ran * procs;
            return;
        };
        if hit == NaiveHit::Lose {
            self.waste.lost += (ran + self.kept[j]) * procs;
            return;
        }
        let attempt = saving.run_attempt(self.jobs[j].run, self.kept[j], ran);
        let useful = attempt.kept - self.kept[j];
        let checkpoint_time = if useful > 0 { attempt.spent } else { 0 };
        self.kept[j] = attempt.kept;
        self.due[j] = due_time(self.saving, self.jobs[j].run, attempt.kept);
        self.waste.checkpoints += checkpoint_time * procs;
        self.waste.lost += (ran - useful - checkpoint_time) * procs;
    }

    fn remove_job(&mut self, j: usize) -> i64 {
        for out in &mut self.out {
            out.1.remove(&j);
        }
        self.running.remove(&j).unwrap_or_default()
    }

    fn enqueue_job(&mut self, j: usize) {
        self.fresh.push(j);
        self.waiting.push(j);
        self.waiting.sort_unstable();
    }

    fn change_capacity(&mut self) {
        let (now, outages) = (self.now, self.outages);
        // A job without run time ends in the second in which it starts, which makes another instant
        // of it.
        if self.changed == Some(now) {
            return;
        }
        self.changed = Some(now);
        let before = self.out.len();
        self.out.retain(|out| outages[out.0].end != Some(now));
        let mut has_changed = before > self.out.len();
        has_changed |= self.out.iter().any(|out| outages[out.0].expected == Some(now));
        has_changed |= outages.iter().any(|o| o.known == now || o.begin == now);
        let mut free = self.free_processors();
        let mut places: Vec<(usize, i64)> =
            self.running.keys().map(|&j| (j, self.jobs[j].procs - self.drained_procs(j))).collect();
        for (at, outage) in outages.iter().enumerate().filter(|(_, o)| o.begin == now) {
            let (taken_places, idle) = if outage.known < now {
                self.pick_excess(outage, &places, free)
            } else {
                self.pick_neighbours(outage, &places, free)
            };
            let mut drains = BTreeMap::new();
            free -= idle;
            for (j, procs) in taken_places {
                let Some(place) = places.iter().position(|p| p.0 == j) else { continue };
                match outage.hit {
                    NaiveHit::Drain => {
                        places[place].1 -= procs;
                        drains.insert(j, procs);
                    }
                    NaiveHit::Requeue | NaiveHit::Lose => {
                        free += places.remove(place).1 - procs;
                        let start = self.remove_job(j);
                        self.lose_job(j, start, outage.hit);
                        self.stale = true;
                        if outage.hit == NaiveHit::Requeue {
                            self.enqueue_job(j);
                        } else {
                            self.done[j] = Some(NaiveOutcome { start, end: now, lost: true });
                        }
                    }
                }
            }
            self.out.push((at, drains));
        }
        self.stale |= has_changed;
    }

    /// The places that an outage takes that comes unannounced, and idle ones.
    fn pick_neighbours(&self, outage: &OutageIn, places: &[(usize, i64)], free: i64) -> (Vec<(usize, i64)>, i64) {
        let mut holders: Vec<Option<usize>> = Vec::new();
        for &(j, procs) in places {
            holders.extend((0..procs).map(|_| Some(j)));
        }
        holders.extend((0..free).map(|_| None));
        let first = outage.first * holders.len() as i64 / self.machine;
        let mut taken_places: BTreeMap<usize, i64> = BTreeMap::new();
        let mut idle = 0;
        for k in 0..outage.procs.min(holders.len() as i64) {
            match holders[((first + k) % holders.len() as i64) as usize] {
                Some(j) => *taken_places.entry(j).or_default() += 1,
                None => idle += 1,
            }
        }
        (taken_places.into_iter().collect(), idle)
    }

    /// Idle places first, then those of jobs that should have ended first: whole jobs where they
    /// are hit.
    fn pick_excess(&self, outage: &OutageIn, places: &[(usize, i64)], free: i64) -> (Vec<(usize, i64)>, i64) {
        let idle = free.min(outage.procs);
        let mut missing = outage.procs - idle;
        let mut order: Vec<(i64, usize, i64)> =
            places.iter().map(|&(j, procs)| (self.running[&j] + self.jobs[j].estimate, j, procs)).collect();
        order.sort_unstable();
        let mut taken_places = Vec::new();
        for (_, j, procs) in order {
            if missing > 0 && procs > 0 {
                taken_places.push((j, procs.min(missing)));
                missing -= procs.min(missing);
            }
        }
        (taken_places, idle)
    }

    fn drained_procs(&self, j: usize) -> i64 {
        self.out.iter().filter_map(|out| out.1.get(&j)).sum()
    }

    /// Idle processors that are up.
    fn free_processors(&self) -> i64 {
        let usage: i64 = self.running.keys().map(|&j| self.jobs[j].procs).sum();
        let out = self.out.iter().map(|(at, drains)| self.outages[*at].procs - drains.values().sum::<i64>());
        self.machine - usage - out.sum::<i64>()
    }

    /// Returns the expected end of an outage, as far as it is known now.
    fn expected_end(&self, outage: &OutageIn) -> i64 {
        outage.expected.filter(|&expected| expected > self.now).unwrap_or(NEVER)
    }

    fn known_windows(&self) -> impl Iterator<Item = &OutageIn> + '_ {
        self.outages.iter().filter(|o| o.known <= self.now && o.begin > self.now)
    }

    /// Returns the capacity without processors that have gone and have no known return.
    fn lasting_capacity(&self) -> i64 {
        let out = self.out.iter().map(|out| &self.outages[out.0]);
        self.machine - out.filter(|o| self.expected_end(o) == NEVER).map(|o| o.procs).sum::<i64>()
    }

    /// The machine without running jobs and without what is out or will be.
    fn outlook_profile(&self) -> NaiveProfile {
        let mut ahead = NaiveProfile::new(self.now, self.machine);
        for (&j, start) in &self.running {
            ahead.take_processors(self.now, start + self.jobs[j].estimate, self.jobs[j].procs);
        }
        for (at, drains) in &self.out {
            let outage = &self.outages[*at];
            ahead.take_processors(self.now, self.expected_end(outage), outage.procs - drains.values().sum::<i64>());
            for (j, &procs) in drains {
                ahead.take_processors(self.running[j] + self.jobs[*j].estimate, self.expected_end(outage), procs);
            }
        }
        for outage in self.known_windows() {
            ahead.take_processors(outage.begin, self.expected_end(outage), outage.procs);
        }
        ahead
    }

    fn start_job(&mut self, j: usize) {
        self.waiting.retain(|&w| w != j);
        self.plan.retain(|p| p.1 != j);
        self.running.insert(j, self.now);
        assert!(self.free_processors() >= 0, "more processors used than there are");
    }

    fn earliest_place(&self, plan: &NaiveProfile, j: usize) -> Option<i64> {
        let job = &self.jobs[j];
        plan.earliest_if_any(self.now, job.estimate, job.procs).filter(|&at| at < NEVER)
    }

    fn fits_plan(&self, plan: &NaiveProfile, j: usize) -> bool {
        let job = &self.jobs[j];
        job.procs <= self.free_processors() && plan.fits_throughout(self.now, job.estimate, job.procs)
    }

    fn run_pass(&mut self) {
        match self.rule {
            NaiveRule::Fcfs | NaiveRule::Greedy | NaiveRule::Easy => self.pass_in_line(),
            NaiveRule::Conservative => self.pass_by_plan(),
            NaiveRule::MultiQueue => self.pass_by_queues(),
        }
    }

    fn pass_in_line(&mut self) {
        self.fresh.clear();
        let most = self.lasting_capacity();
        let line = |world: &Self| -> Vec<usize> {
            world.waiting.iter().copied().filter(|&j| world.jobs[j].procs <= most).collect()
        };
        loop {
            let ahead = self.outlook_profile();
            let head = line(self).into_iter().find(|&j| self.earliest_place(&ahead, j).is_some());
            match head {
                Some(head) if self.fits_plan(&ahead, head) => self.start_job(head),
                _ => break,
            }
        }
        let ahead = self.outlook_profile();
        let line: Vec<usize> = line(self).into_iter().filter(|&j| self.earliest_place(&ahead, j).is_some()).collect();
        let Some(&head) = line.first() else { return };
        if self.rule == NaiveRule::Fcfs {
            return;
        }
        let mut ahead = self.outlook_profile();
        if self.rule == NaiveRule::Easy {
            let (span, procs) = (self.jobs[head].estimate, self.jobs[head].procs);
            let at = ahead.earliest_start(self.now, span, procs);
            ahead.take_processors(at, at + span, procs);
        }
        for &j in &line[1..] {
            if self.fits_plan(&ahead, j) {
                ahead.take_processors(self.now, self.now + self.jobs[j].estimate, self.jobs[j].procs);
                self.start_job(j);
            }
        }
    }

    /// Plans a job at its earliest place; one that has none never starts.
    fn place_job(&mut self, plan: &mut NaiveProfile, j: usize) {
        let (span, procs) = (self.jobs[j].estimate, self.jobs[j].procs);
        let at = self.earliest_place(plan, j).unwrap_or(NEVER);
        if at < NEVER {
            plan.take_processors(at, at + span, procs);
        }
        self.plan.retain(|p| p.1 != j);
        self.plan.push((at, j));
        self.plan.sort_unstable();
    }

    /// Returns the machine with all plans taken out; builds it again, in the order of planned
    /// starts, where it may be wrong.
    fn planned_profile(&mut self) -> NaiveProfile {
        let mut plan = self.outlook_profile();
        let order: Vec<(i64, usize)> = self.plan.clone();
        for (at, j) in order {
            if self.stale {
                self.place_job(&mut plan, j);
            } else if at < NEVER {
                plan.take_processors(at, at + self.jobs[j].estimate, self.jobs[j].procs);
            }
        }
        self.stale = false;
        plan
    }

    fn pass_by_plan(&mut self) {
        let mut plan = self.planned_profile();
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        for j in fresh {
            if self.waiting.contains(&j) {
                self.place_job(&mut plan, j);
            }
        }
        while let Some(&(_, j)) = self.plan.first().filter(|p| p.0 <= self.now) {
            self.start_job(j);
        }
    }

    fn pass_by_queues(&mut self) {
        self.fresh.clear();
        // A job that cannot be planned is in no queue.
        let most = self.lasting_capacity();
        self.plan.retain(|p| self.jobs[p.1].procs <= most);
        self.stale |= self.known_windows().next().is_some() || self.out.iter().any(|out| !out.1.is_empty());
        let mut plan = self.planned_profile();
        let line: Vec<usize> = self.waiting.iter().copied().filter(|&j| self.jobs[j].procs <= most).collect();
        let mut has_pivot = [false; 4];
        for j in line {
            let queue = run_class(self.jobs[j].estimate);
            let promised_start = self.plan.iter().find(|p| p.1 == j).map(|p| p.0);
            match promised_start {
                Some(at) if at <= self.now && self.jobs[j].procs <= self.free_processors() => self.start_job(j),
                Some(_) => has_pivot[queue] = true,
                None if self.fits_plan(&plan, j) => {
                    plan.take_processors(self.now, self.now + self.jobs[j].estimate, self.jobs[j].procs);
                    self.start_job(j);
                }
                None if !has_pivot[queue] => {
                    self.place_job(&mut plan, j);
                    has_pivot[queue] = true;
                }
                None => {}
            }
        }
    }
}
