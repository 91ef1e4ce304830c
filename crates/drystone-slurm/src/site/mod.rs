//! A Slurm at work: jobs come and end, its clocks tick, its two schedulers start jobs.

mod clock;
mod fair;
mod passes;
mod priority;
mod queue;
mod replay;
mod rules;

pub use fair::{FairShare, Formula};
pub use priority::Multifactor;
pub use replay::replay;
pub use rules::Rules;

use crate::model::{Backfill, Cluster, Machine, Pass, Pending, Scratch, Watch};
use clock::{Clock, pick};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Milliseconds from a start to the job's own clock.
const LAUNCH: i64 = 50;
/// Milliseconds from a job's end until its nodes are free again.
const COMPLETING: i64 = 10;

/// A start, in whole seconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// The job.
    pub id: u32,
    /// Which scheduler started it.
    pub by: Pass,
}

/// Something that has happened and that the schedulers have not seen yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum News {
    Arrived(Pending),
    Ended(u32),
    Cancelled(u32),
}

/// A Slurm at work. Pure: it is told what happens and up to when its clocks have run, and answers with starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Site {
    cluster: Cluster,
    rules: Rules,
    clock: Option<Clock>,
    /// Everything before it has been done, in milliseconds.
    at: i64,
    /// What happened since, in order of milliseconds.
    news: VecDeque<(i64, News)>,
    /// Waiting jobs in the order of the queue.
    queue: Vec<Pending>,
    /// Where within their second running jobs end, in milliseconds.
    offsets: BTreeMap<u32, i64>,
    /// A backfill pass that sleeps.
    asleep: Option<Asleep>,
    /// Whether a pass of the main scheduler could start a job.
    main_stale: bool,
    /// From which place in the queue on backfill could start a job; `usize::MAX`: none.
    stale_from: usize,
    /// When that may change by itself, in seconds.
    holds_until: i64,
    /// Running jobs whose use counts: account, user, processors, and since when it has not been charged.
    charged: BTreeMap<u32, (i32, i32, u32, i64)>,
    /// When priorities are calculated next, in seconds.
    next_calc: i64,
    /// Jobs that have come, ended or started since the last backfill pass.
    changes: u64,
    #[serde(skip)]
    scratch: Scratch,
}

/// A backfill pass between two parts of its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asleep {
    pass: Backfill,
    began: i64,
    until: i64,
    /// The jobs that it will still look at.
    rest: Vec<u32>,
    /// [`Site::changes`] when it went to sleep.
    changes: u64,
    /// Milliseconds of work so far.
    worked: i64,
    started: bool,
}

impl Site {
    /// A machine without jobs.
    #[must_use]
    pub fn new(machine: Machine, rules: Rules) -> Site {
        let mut cluster = Cluster::new(machine);
        cluster.kill_wait = rules.kill_wait;
        cluster.window_linear = rules.params.bf_window_linear;
        Site {
            cluster,
            rules,
            clock: None,
            at: i64::MIN,
            news: VecDeque::new(),
            queue: Vec::new(),
            offsets: BTreeMap::new(),
            asleep: None,
            main_stale: false,
            stale_from: usize::MAX,
            holds_until: i64::MAX,
            charged: BTreeMap::new(),
            next_calc: i64::MIN,
            changes: 0,
            scratch: Scratch::default(),
        }
    }

    /// What runs where.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The waiting jobs in the order of the queue.
    #[must_use]
    pub fn queue(&self) -> &[Pending] {
        &self.queue
    }

    /// A job is submitted in the second `now`.
    pub fn submit(&mut self, now: i64, job: Pending) {
        let offset = pick(self.rules.phase ^ 0x5eed, u64::from(job.id), 1000);
        self.hear(now * 1000 + offset, News::Arrived(job));
    }

    /// A running job ends in the second `now`.
    pub fn end(&mut self, now: i64, id: u32) {
        let offset = self.offsets.remove(&id).unwrap_or(0);
        self.hear(now * 1000 + offset, News::Ended(id));
    }

    /// A waiting job is withdrawn.
    pub fn cancel(&mut self, now: i64, id: u32) {
        self.hear(now * 1000, News::Cancelled(id));
    }

    /// A running job is expected to end at `end` seconds, other than thought so far.
    pub fn reschedule(&mut self, id: u32, end: i64) {
        self.cluster.reschedule(id, end);
        self.stale_from = 0;
    }

    fn hear(&mut self, at: i64, news: News) {
        let at = at.max(self.at);
        let place = self.news.partition_point(|&(other, _)| other <= at);
        self.news.insert(place, (at, news));
    }

    /// Runs to the end of the second `now`. Adds the starts to `out`.
    pub fn advance(&mut self, now: i64, out: &mut Vec<Start>, watch: &mut impl Watch) {
        let to = (now + 1) * 1000;
        if self.clock.is_none() {
            self.clock = Some(Clock::new(now * 1000, self.rules.phase, &self.rules.params));
            self.at = now * 1000;
        }
        while self.step(to, out, watch) {}
        self.at = to;
    }

    /// The second of the next pass that could start a job, if nothing happens before; after [`Site::advance`].
    #[must_use]
    pub fn next_wake(&self) -> Option<i64> {
        let clock = self.clock.as_ref()?;
        let mut next = i64::MAX;
        if let Some((at, _)) = self.news.front() {
            next = *at;
        }
        if let Some(asleep) = &self.asleep {
            next = next.min(asleep.until);
        }
        if !self.queue.is_empty() {
            if self.main_stale {
                next = next.min(clock.next_main(self.at, &self.rules.params));
            }
            // Nothing was left to start, but that holds only for so long.
            let quiet = self.stale_from >= self.queue.len();
            let (first, from) =
                if quiet { (0, self.holds_until.saturating_mul(1000)) } else { (self.stale_from, self.at) };
            let fits = self.candidate(0).is_some();
            if fits && self.recalculates() {
                next = next.min(self.next_calc.saturating_mul(1000));
            }
            if from < i64::MAX && self.candidate(first).is_some() {
                next = next.min(clock.next_backfill(from.max(self.at), &self.rules.params));
            }
        }
        (next != i64::MAX).then(|| next.max(self.at).div_euclid(1000))
    }

    /// The last job in the queue, from the place `first` on, that fits on idle nodes: only such a job can be started.
    fn candidate(&self, first: usize) -> Option<usize> {
        let fits = |job: &Pending| {
            let part = &self.cluster.machine.parts[usize::from(job.part)];
            part.up && !self.cluster.idle.lacks(job, &part.nodes)
        };
        (first..self.queue.len()).rev().find(|&place| fits(&self.queue[place]))
    }

    /// Jobs before `place` have been looked at by backfill; those from it on may be able to start.
    fn stale_from(&mut self, place: usize) {
        self.stale_from = self.stale_from.min(place);
    }

    fn started(&mut self, job: &Pending, at: i64, by: Pass, out: &mut Vec<Start>) {
        // The engine knows whole seconds: a job that begins late in one still ends within the right one.
        let offset = (at.rem_euclid(1000) + LAUNCH + COMPLETING).min(999);
        self.offsets.insert(job.id, offset);
        self.changes += 1;
        self.charge_from(job, at.div_euclid(1000));
        out.push(Start { id: job.id, by });
    }
}
