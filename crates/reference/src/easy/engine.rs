//! Events and passes.

use super::order::Waiting;
use super::predict::{History, Predictor, Propagation};
use super::{Easy, Extra, Growth, Order, Overdue, Pass, Record, Reservations, Run};
use crate::JobIn;
use crate::profile::Profile;
use std::collections::BTreeSet;

/// Rule 5: smallest (time, class, index) first.
type Event = (i64, Class, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Termination,
    Expiry,
    Arrival,
}

/// Runs a policy over jobs in order of arrival on a machine of so many processors.
///
/// # Panics
/// If a job is wider than the machine.
#[must_use]
pub fn run(policy: &Easy, jobs: &[JobIn], machine: i64) -> Run {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} needs {} of {machine} processors", job.procs);
    }
    let mut world = World {
        policy,
        jobs,
        free: machine,
        now: 0,
        queue: Vec::new(),
        running: Vec::new(),
        corrections: vec![0; jobs.len()],
        late_corrections: vec![0; jobs.len()],
        history: History::default(),
        events: (0..jobs.len()).map(|i| (jobs[i].submit, Class::Arrival, i)).collect(),
        records: vec![Record::default(); jobs.len()],
        ended: Vec::new(),
    };
    while let Some(event) = world.events.pop_first() {
        world.now = event.0;
        let mut counts = world.apply(event);
        if policy.pass == Pass::PerInstant {
            while world.events.first().is_some_and(|next| next.0 == world.now) {
                if let Some(next) = world.events.pop_first() {
                    counts |= world.apply(next);
                }
            }
        }
        if counts {
            world.pass();
        }
    }
    Run { jobs: world.records, ended: world.ended }
}

struct World<'a> {
    policy: &'a Easy,
    jobs: &'a [JobIn],
    now: i64,
    free: i64,
    /// Waiting jobs.
    queue: Vec<usize>,
    /// Running jobs.
    running: Vec<usize>,
    /// Corrections, per job.
    corrections: Vec<u32>,
    /// Corrections past the estimate, per job.
    late_corrections: Vec<u32>,
    history: History,
    events: BTreeSet<Event>,
    records: Vec<Record>,
    ended: Vec<usize>,
}

impl World<'_> {
    /// Applies one event; tells whether it calls for a pass.
    fn apply(&mut self, (_, class, j): Event) -> bool {
        match class {
            Class::Termination => {
                self.free += self.jobs[j].procs;
                self.running.retain(|&r| r != j);
                self.history.insert(self.policy.predictor, self.jobs, j, self.now);
                self.records[j].end = self.now;
                self.ended.push(j);
                self.propagate(j);
            }
            Class::Arrival => {
                let (prediction, from_history) = self.history.predict(self.policy.predictor, self.jobs, j);
                let factor = if self.policy.doubled { 2 } else { 1 };
                self.records[j].predictions.push((self.now, factor * prediction));
                self.records[j].from_history = from_history;
                self.queue.push(j);
            }
            Class::Expiry => {
                if !self.running.contains(&j) || self.predicted_end(j) != self.now {
                    return false; // ended, or stale
                }
                self.correct(j);
            }
        }
        true
    }

    /// A job of the user has terminated: which predictions are made anew. None falls behind what a job has run already.
    fn propagate(&mut self, terminated: usize) {
        let Predictor::Recent(recent) = self.policy.predictor else { return };
        for j in 0..self.jobs.len() {
            let renewed = match recent.propagation {
                Propagation::No => false,
                Propagation::Waiting => self.queue.contains(&j),
                Propagation::Running => {
                    self.queue.contains(&j) || self.running.contains(&j) && self.corrections[j] == 0
                }
            };
            if !renewed || self.jobs[j].user != self.jobs[terminated].user {
                continue;
            }
            let factor = if self.policy.doubled { 2 } else { 1 };
            let mut prediction = factor * self.history.predict(self.policy.predictor, self.jobs, j).0;
            if self.running.contains(&j) {
                prediction = prediction.max(self.now - self.records[j].start);
            }
            if prediction != self.records[j].prediction() {
                self.records[j].predictions.push((self.now, prediction));
                if self.policy.corrected && self.running.contains(&j) {
                    self.events.insert((self.predicted_end(j), Class::Expiry, j));
                }
            }
        }
    }

    /// Rule 8: up to the estimate, then one minute, then a quarter of an hour, doubling.
    fn correct(&mut self, j: usize) {
        let limit = self.jobs[j].estimate * if self.policy.doubled { 2 } else { 1 };
        let prediction = self.records[j].prediction();
        let step = |i: u32| if i == 1 { 60 } else { 900 * (1 << (i - 2)) };
        self.corrections[j] += 1;
        let longer = if prediction < limit {
            match self.policy.growth {
                Growth::AtOnce => limit,
                Growth::Gradual => limit.min(prediction + step(self.corrections[j])),
                Growth::Exponential => limit.min(prediction + (prediction / 5).max(60)),
            }
        } else {
            self.late_corrections[j] += 1;
            prediction + step(self.late_corrections[j])
        };
        self.records[j].predictions.push((self.now, longer));
        self.events.insert((self.predicted_end(j), Class::Expiry, j));
    }

    fn predicted_end(&self, j: usize) -> i64 {
        self.records[j].start + self.records[j].prediction()
    }

    /// Rule 17.
    fn start(&mut self, j: usize) {
        self.queue.retain(|&q| q != j);
        self.free -= self.jobs[j].procs;
        assert!(self.free >= 0, "more processors used than there are");
        self.running.push(j);
        self.records[j].start = self.now;
        self.events.insert((self.now + self.jobs[j].run, Class::Termination, j));
        if self.policy.corrected {
            self.events.insert((self.predicted_end(j), Class::Expiry, j));
        }
    }

    /// The waiting jobs in some order as of now.
    fn sorted(&self, order: Order) -> Vec<usize> {
        let mut waiting: Vec<Waiting> = self.queue.iter().map(|&j| self.waiting(j)).collect();
        waiting.sort_by(|a, b| order.compare(a, b));
        waiting.iter().map(|w| w.index).collect()
    }

    fn waiting(&self, j: usize) -> Waiting {
        Waiting {
            index: j,
            procs: self.jobs[j].procs,
            prediction: self.records[j].prediction(),
            wait: self.now - self.jobs[j].submit,
        }
    }

    fn fits(&self, j: usize) -> bool {
        self.jobs[j].procs <= self.free
    }

    /// Rules 13 to 16.
    fn pass(&mut self) {
        for j in self.sorted(self.policy.queue) {
            if !self.fits(j) {
                break;
            }
            if self.now > self.jobs[j].submit {
                self.records[j].first_reservation.get_or_insert(self.now); // rule 20
            }
            self.start(j);
        }
        if self.queue.is_empty() {
            return;
        }
        match self.policy.reservations {
            Reservations::NoOvertaking => {}
            Reservations::First(0) => {
                for j in self.sorted(self.policy.backfill) {
                    if self.fits(j) {
                        self.start(j);
                    }
                }
            }
            Reservations::First(1) => self.backfill_behind_the_head(),
            Reservations::First(k) => self.backfill_behind_reservations(k),
        }
    }

    /// Rules 15, 16, 20 and 21.
    fn backfill_behind_the_head(&mut self) {
        let head = self.sorted(self.policy.queue)[0];
        let (shadow, mut extra) = self.shadow_and_extra(head);
        self.records[head].first_reservation.get_or_insert(shadow);
        let mut earliest = self.earliest_by_real_ends(head);
        self.records[head].real_earliest.get_or_insert(earliest);
        for j in self.sorted(self.policy.backfill) {
            let procs = self.jobs[j].procs;
            let mut in_time = self.now + self.records[j].prediction() <= shadow;
            if self.policy.guarded {
                in_time &= self.now + self.jobs[j].estimate <= shadow;
            }
            if j == head || !self.fits(j) || !(in_time || procs <= extra) {
                continue;
            }
            if !in_time {
                extra -= procs;
            }
            self.start(j);
            let later = self.earliest_by_real_ends(head);
            if later > earliest {
                self.records[head].thieves += 1;
            }
            earliest = later;
        }
    }

    /// Rule 15: when the head can start by the predictions, and what it leaves over then.
    fn shadow_and_extra(&self, head: usize) -> (i64, i64) {
        let mut ends: Vec<(i64, usize)> = self.running.iter().map(|&r| (self.predicted_end(r), r)).collect();
        ends.sort_unstable();
        if self.policy.overdue == Overdue::EndsNow {
            for (end, _) in &mut ends {
                *end = self.now.max(*end); // keeps the order of the walk
            }
        }
        let need = self.jobs[head].procs;
        let mut sum = self.free;
        let mut shadow = None;
        for (end, r) in ends {
            match shadow {
                Some(at) if self.policy.extra == Extra::FirstSufficient || end > at => break,
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
        let used: i64 = self.running.iter().map(|&r| self.jobs[r].procs).sum();
        let mut plan = Profile::new(self.now, self.free + used);
        for &r in &self.running {
            plan.take(self.now, self.predicted_end(r), self.jobs[r].procs);
        }
        let mut reserved = BTreeSet::new();
        for j in self.sorted(self.policy.queue) {
            if reserved.len() == k {
                break;
            }
            if self.start_undisturbing(j, &mut plan) {
                continue;
            }
            let (span, procs) = (self.planned_span(j), self.jobs[j].procs);
            let at = plan.earliest(self.now, span, procs);
            plan.take(at, at + span, procs);
            self.records[j].first_reservation.get_or_insert(at);
            reserved.insert(j);
        }
        for j in self.sorted(self.policy.backfill) {
            if !reserved.contains(&j) {
                self.start_undisturbing(j, &mut plan);
            }
        }
    }

    fn planned_span(&self, j: usize) -> i64 {
        self.records[j].prediction().max(1)
    }

    fn start_undisturbing(&mut self, j: usize, plan: &mut Profile) -> bool {
        let (span, procs) = (self.planned_span(j), self.jobs[j].procs);
        let possible = self.fits(j) && plan.fits(self.now, span, procs);
        if possible {
            plan.take(self.now, self.now + span, procs);
            self.start(j);
        }
        possible
    }
}
