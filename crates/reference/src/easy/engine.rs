//! Events and passes.

use super::order::NaiveEasyWaiting;
use super::{Easy, NaiveEasyOrder, NaiveEasyOverdue, NaiveExtra, NaivePass, NaiveRecord, NaiveRun, Reservations};
use crate::JobIn;
use crate::formula::{NaiveExpr, NaiveKnown};
use crate::predict::{NaiveHere, Predictions};
use crate::profile::NaiveProfile;
use std::collections::{BTreeMap, BTreeSet};

/// Rule 5: smallest (time, class, index) first.
type NaiveEvent = (i64, NaiveEasyClass, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NaiveEasyClass {
    Termination,
    Expiry,
    Arrival,
}

/// Runs a policy over jobs in order of arrival on a machine of this many processors.
///
/// # Panics
/// If a job is wider than the machine.
pub fn run(policy: &Easy, jobs: &[JobIn], machine: i64) -> NaiveRun {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} needs {} of {machine} processors", job.procs);
    }
    let mut world = NaiveEasyWorld {
        policy,
        jobs,
        free: machine,
        machine,
        load: 0.0,
        waiting: 0,
        used: Vec::new(),
        now: 0,
        queue: Vec::new(),
        running: Vec::new(),
        predictions: Predictions::new(policy.forecast(), jobs),
        events: (0..jobs.len()).map(|i| (jobs[i].submit, NaiveEasyClass::Arrival, i)).collect(),
        records: vec![NaiveRecord::default(); jobs.len()],
        ended: Vec::new(),
    };
    while let Some(event) = world.events.pop_first() {
        world.now = event.0;
        let mut counts = world.apply_event(event);
        if policy.pass == NaivePass::PerInstant {
            while world.events.first().is_some_and(|next| next.0 == world.now) {
                if let Some(next) = world.events.pop_first() {
                    counts |= world.apply_event(next);
                }
            }
        }
        if counts {
            world.run_pass();
        }
    }
    for (j, record) in world.records.iter_mut().enumerate() {
        record.predictions = world.predictions.prediction_history(j).to_vec();
    }
    NaiveRun { jobs: world.records, ended: world.ended }
}

struct NaiveEasyWorld<'a> {
    policy: &'a Easy,
    jobs: &'a [JobIn],
    now: i64,
    free: i64,
    machine: i64,
    /// The part of the machine that was busy, and how many jobs waited, when the pass began.
    load: f64,
    waiting: usize,
    /// Per window what each user had within it.
    used: Vec<(f64, BTreeMap<i64, i64>)>,
    /// Waiting jobs.
    queue: Vec<usize>,
    running: Vec<usize>,
    predictions: Predictions<'a>,
    events: BTreeSet<NaiveEvent>,
    records: Vec<NaiveRecord>,
    ended: Vec<usize>,
}

impl NaiveEasyWorld<'_> {
    /// Applies one event; tells whether it calls for a pass.
    fn apply_event(&mut self, (_, class, j): NaiveEvent) -> bool {
        match class {
            NaiveEasyClass::Termination => {
                self.free += self.jobs[j].procs;
                self.running.retain(|&r| r != j);
                self.records[j].end = self.now;
                self.ended.push(j);
                self.propagate_end(j);
            }
            NaiveEasyClass::Arrival => {
                self.records[j].from_history = self.predictions.note_arrival(j, self.now);
                self.queue.push(j);
            }
            NaiveEasyClass::Expiry => {
                if !self.running.contains(&j) || self.predicted_end(j) != self.now {
                    return false; // ended, or stale
                }
                self.predictions.correct_prediction(j, self.now);
                self.expect_expiry(j);
            }
        }
        true
    }

    /// A job has terminated: its user's other predictions are made again.
    fn propagate_end(&mut self, index: usize) {
        let (queue, running_jobs, records) = (&self.queue, &self.running, &self.records);
        let presence = |j: usize| match j {
            _ if queue.contains(&j) => NaiveHere::Waiting,
            _ if running_jobs.contains(&j) => NaiveHere::Running(records[j].start),
            _ => NaiveHere::No,
        };
        for j in self.predictions.note_end(index, self.now, presence) {
            if self.running.contains(&j) {
                self.expect_expiry(j);
            }
        }
    }

    fn expect_expiry(&mut self, j: usize) {
        if self.predictions.is_corrected() {
            self.events.insert((self.predicted_end(j), NaiveEasyClass::Expiry, j));
        }
    }

    fn predicted_end(&self, j: usize) -> i64 {
        self.records[j].start + self.predictions.current_prediction(j)
    }

    /// Returns the end by the estimate, or the predicted end if the estimate has passed and the
    /// prediction is later.
    fn estimated_end(&self, j: usize) -> i64 {
        let end = self.records[j].start + self.jobs[j].estimate;
        if self.now < end { end } else { end.max(self.predicted_end(j)) }
    }

    /// Rule 17.
    fn start_job(&mut self, j: usize) {
        self.queue.retain(|&q| q != j);
        self.free -= self.jobs[j].procs;
        assert!(self.free >= 0, "more processors used than there are");
        self.running.push(j);
        self.records[j].start = self.now;
        self.events.insert((self.now + self.jobs[j].run, NaiveEasyClass::Termination, j));
        self.expect_expiry(j);
    }

    fn sort_waiting(&self, order: NaiveEasyOrder) -> Vec<usize> {
        let mut waiting_jobs: Vec<NaiveEasyWaiting> = self.queue.iter().map(|&j| self.waiting_job(j)).collect();
        waiting_jobs.sort_by(|a, b| order.compare_jobs(a, b));
        waiting_jobs.iter().map(|w| w.index).collect()
    }

    /// The queue in its order, with those first that have waited too long.
    fn queue_order(&self) -> Vec<usize> {
        let starves = |&j: &usize| self.policy.starve.is_some_and(|limit| self.now - self.jobs[j].submit > limit);
        let (mut first, rest): (Vec<usize>, Vec<usize>) =
            self.sort_waiting(self.policy.queue).into_iter().partition(starves);
        first.sort_unstable();
        first.extend(rest);
        first
    }

    fn waiting_job(&self, j: usize) -> NaiveEasyWaiting {
        let job = &self.jobs[j];
        let (prediction, wait) = (self.predictions.current_prediction(j), self.now - job.submit);
        let facts = NaiveKnown {
            run: prediction as f64,
            estimate: job.estimate as f64,
            procs: job.procs as f64,
            wait: wait as f64,
            submit: (job.submit - self.jobs[0].submit) as f64,
            user: job.user as f64,
            machine: self.machine as f64,
            load: self.load,
            waiting: self.waiting as f64,
            usage: self.usage_by_window(job.user),
        };
        NaiveEasyWaiting { index: j, procs: job.procs, prediction, wait, known: facts }
    }

    /// A user's part of what was used within each window.
    fn usage_by_window(&self, user: i64) -> Vec<(f64, f64)> {
        let of = |usage: &BTreeMap<i64, i64>| match usage.values().sum::<i64>() {
            0 => 0.0,
            total => usage.get(&user).copied().unwrap_or(0) as f64 / total as f64,
        };
        self.used.iter().map(|(window, usage)| (*window, of(usage))).collect()
    }

    /// Sums up the usage of users within the windows that the orders need.
    fn sum_up_usage(&mut self) {
        let mut windows = Vec::new();
        for order in [self.policy.queue, self.policy.backfill] {
            if let NaiveEasyOrder::Formula(formula) = order {
                NaiveExpr::collect_windows(formula, &mut windows);
            }
        }
        self.used = windows.into_iter().map(|window| (window, self.used_within(window as i64))).collect();
    }

    fn used_within(&self, window: i64) -> BTreeMap<i64, i64> {
        let mut usage_by_user = BTreeMap::new();
        let running_ends = self.running.iter().map(|&j| (j, self.now));
        for (j, end) in running_ends.chain(self.ended.iter().map(|&j| (j, self.records[j].end))) {
            let seconds = end - self.records[j].start.max(self.now - window);
            *usage_by_user.entry(self.jobs[j].user).or_default() += seconds.max(0) * self.jobs[j].procs;
        }
        usage_by_user
    }

    fn fits_now(&self, j: usize) -> bool {
        self.jobs[j].procs <= self.free
    }

    /// Rules 13 to 16.
    fn run_pass(&mut self) {
        self.load = (self.machine - self.free) as f64 / self.machine as f64;
        self.waiting = self.queue.len();
        self.sum_up_usage();
        for j in self.queue_order() {
            if !self.fits_now(j) {
                break;
            }
            if self.now > self.jobs[j].submit {
                self.records[j].first_reservation.get_or_insert(self.now); // rule 20
            }
            self.start_job(j);
        }
        if self.queue.is_empty() {
            return;
        }
        match self.policy.reservations {
            Reservations::NoOvertaking => {}
            Reservations::First(0) => {
                for j in self.sort_waiting(self.policy.backfill) {
                    if self.fits_now(j) {
                        self.start_job(j);
                    }
                }
            }
            Reservations::First(1) => self.backfill_behind_the_head(),
            Reservations::First(k) => self.backfill_behind_reservations(k),
        }
    }

    /// Rules 15, 16, 20 and 21.
    fn backfill_behind_the_head(&mut self) {
        let head = self.queue_order()[0];
        let (shadow, mut extra) = self.shadow_and_extra(head, self.policy.plan_by_estimates);
        let announced_start = match self.policy.announce_by_estimates {
            true => self.shadow_and_extra(head, true).0,
            false => shadow,
        };
        self.records[head].first_reservation.get_or_insert(announced_start);
        let mut earliest = self.earliest_by_real_ends(head);
        self.records[head].real_earliest.get_or_insert(earliest);
        for j in self.sort_waiting(self.policy.backfill) {
            let procs = self.jobs[j].procs;
            let span = if self.policy.plan_by_estimates {
                self.jobs[j].estimate
            } else {
                self.predictions.current_prediction(j)
            };
            let mut in_time = self.now + span <= shadow;
            if self.policy.guarded {
                in_time &= self.now + self.jobs[j].estimate <= shadow;
            }
            if j == head || !self.fits_now(j) || !(in_time || procs <= extra) {
                continue;
            }
            if !in_time {
                extra -= procs;
            }
            self.start_job(j);
            let later = self.earliest_by_real_ends(head);
            if later > earliest {
                self.records[head].thieves += 1;
            }
            earliest = later;
        }
    }

    /// Rule 15: when the head can start by the predictions or the estimates, and what it leaves
    /// over then.
    fn shadow_and_extra(&self, head: usize, by_estimates: bool) -> (i64, i64) {
        let end = |r| if by_estimates { self.estimated_end(r) } else { self.predicted_end(r) };
        let mut ends: Vec<(i64, usize)> = self.running.iter().map(|&r| (end(r), r)).collect();
        ends.sort_unstable();
        if self.policy.overdue == NaiveEasyOverdue::EndsNow {
            for (end, _) in &mut ends {
                *end = self.now.max(*end); // keeps the order of the walk
            }
        }
        let need = self.jobs[head].procs;
        let mut sum = self.free;
        let mut shadow = None;
        for (end, r) in ends {
            match shadow {
                Some(at) if self.policy.extra == NaiveExtra::FirstSufficient || end > at => break,
                _ => {}
            }
            sum += self.jobs[r].procs;
            if sum >= need {
                shadow = Some(end);
            }
        }
        match shadow {
            Some(at) => (at, sum - need),
            None => unreachable!("a job that fits the machine fits when all others have ended"),
        }
    }

    /// Rule 21: when the head could start by the real ends.
    fn earliest_by_real_ends(&self, head: usize) -> i64 {
        let mut ends: Vec<(i64, usize)> =
            self.running.iter().map(|&r| (self.records[r].start + self.jobs[r].run, r)).collect();
        ends.sort_unstable();
        let mut sum = self.free;
        for (end, r) in ends {
            sum += self.jobs[r].procs;
            if sum >= self.jobs[head].procs {
                return end;
            }
        }
        unreachable!("a job that fits the machine fits when all others have ended")
    }

    /// See [`Reservations::First`], k ≥ 2.
    fn backfill_behind_reservations(&mut self, k: usize) {
        let usage: i64 = self.running.iter().map(|&r| self.jobs[r].procs).sum();
        let mut plan = NaiveProfile::new(self.now, self.free + usage);
        for &r in &self.running {
            plan.take_processors(self.now, self.predicted_end(r), self.jobs[r].procs);
        }
        let mut reserved_jobs = BTreeSet::new();
        for j in self.queue_order() {
            if reserved_jobs.len() == k {
                break;
            }
            if self.start_undisturbing(j, &mut plan) {
                continue;
            }
            let (span, procs) = (self.planned_span(j), self.jobs[j].procs);
            let at = plan.earliest_start(self.now, span, procs);
            plan.take_processors(at, at + span, procs);
            self.records[j].first_reservation.get_or_insert(at);
            reserved_jobs.insert(j);
        }
        for j in self.sort_waiting(self.policy.backfill) {
            if !reserved_jobs.contains(&j) {
                self.start_undisturbing(j, &mut plan);
            }
        }
    }

    fn planned_span(&self, j: usize) -> i64 {
        self.predictions.current_prediction(j).max(1)
    }

    fn start_undisturbing(&mut self, j: usize, plan: &mut NaiveProfile) -> bool {
        let (span, procs) = (self.planned_span(j), self.jobs[j].procs);
        let possible = self.fits_now(j) && plan.fits_throughout(self.now, span, procs);
        if possible {
            plan.take_processors(self.now, self.now + span, procs);
            self.start_job(j);
        }
        possible
    }
}
