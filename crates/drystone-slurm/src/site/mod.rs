//! A Slurm at work: jobs come and end, its clocks tick, its two schedulers start jobs.

mod backfilling;
mod clock;
mod fair;
mod futile;
mod leaving;
mod partitions;
mod passes;
mod priority;
mod queue;
mod reach;
mod replay;
mod rules;
mod usage_reset;

pub use fair::{FairShare, PriorityFormula};
pub use priority::{Charged, JobPriorities, Multifactor};
pub use replay::replay_jobs;
pub use rules::SchedulerRules;
pub use usage_reset::{ResetPeriod, UsageReset, read_date};

use crate::model::{
    AdvanceReservation, Alloc, BackfillPass, ModelCluster, NodeSet, PassKind, Pending, VerdictObserver, WillRunScratch,
};
use clock::{ScheduleClocks, pick_below};
use futile::PartRooms;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Milliseconds from a start to the job's own clock.
const LAUNCH: i64 = 50;
/// Milliseconds from a job's end until its nodes are free again.
const COMPLETING: i64 = 10;
/// Milliseconds that a job which is killed needs to go.
const DYING: i64 = 100;
/// Seconds before a job that was sent back may start again: the life of a credential and a second.
const REQUEUE_DELAY: i64 = 121;
/// Seconds of a machine on which nothing runs, before jobs that wait for nodes that are out get
/// others.
pub const STANDSTILL: i64 = 7 * 86_400;
/// Seconds between two looks at limits.
const CHECK: i64 = 30;

/// Action of the schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchedulerDeed {
    /// The job starts.
    Start {
        /// Index of the job.
        id: u32,
        /// Scheduler that starts it.
        by: PassKind,
    },
    /// The running job goes back to the queue, and starts again.
    Requeue(u32),
    /// The running job ends for good.
    Kill(u32),
}

/// Missing capacity, now and announced.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CapacityOutlook {
    /// Nodes that are out of service.
    pub out: NodeSet,
    /// Processors that are out of other nodes.
    pub lame: Alloc,
    /// Announced closures.
    pub closures: Vec<AdvanceReservation>,
    /// Number of each licence, by index; empty where no licence is counted. Slurm learns of a
    /// change when it happens, as by `scontrol reconfigure`.
    pub licences: Vec<u32>,
}

/// Something that has happened and that the schedulers have not seen yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum SiteNews {
    /// The job comes, with an entry of the queue for each of its partitions.
    Arrived(Vec<Pending>),
    Ended(u32),
    Cancelled(u32),
    /// The job does not wait for the time being.
    Held(u32),
    /// It waits again.
    Released(Vec<Pending>),
    /// Nodes are done with a job that had to go.
    Freed(NodeSet),
    /// The job runs, although no scheduler of this site has started it.
    Runs(Box<Pending>, i64, Option<Alloc>),
    /// The running job is there, other than thought so far.
    Moved(u32, Alloc),
    /// These nodes are out of service, and no others; so much is announced.
    Out(Box<CapacityOutlook>),
    /// The machine has too little left for these jobs, and for no others.
    Short(BTreeSet<u32>),
}

/// A Slurm at work. Pure: it receives events and the time up to which its clocks have run, and
/// returns deeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelSite {
    cluster: ModelCluster,
    rules: SchedulerRules,
    priorities: Option<JobPriorities>,
    clock: Option<ScheduleClocks>,
    /// Everything before it has been done, in milliseconds.
    at: i64,
    /// Events since, in order of milliseconds.
    news: VecDeque<(i64, SiteNews)>,
    /// Waiting jobs in the order of the queue.
    queue: VecDeque<Pending>,
    /// Jobs that a limit keeps from being submitted.
    outside: VecDeque<Vec<Pending>>,
    /// Entries of jobs in several partitions, in the order of the request, up to their ends.
    several: BTreeMap<u32, Vec<Pending>>,
    /// Milliseconds within the second at which running jobs end.
    offsets: BTreeMap<u32, i64>,
    /// A backfill pass that sleeps.
    asleep: Option<Box<Asleep>>,
    /// True if a pass of the main scheduler could start a job.
    main_stale: bool,
    /// Place in the queue from which on backfill could start a job; `usize::MAX` for none.
    stale_from: usize,
    /// Time until which that does not change by itself, in seconds.
    holds_until: i64,
    /// Time of the next calculation of priorities, in seconds.
    next_calc: i64,
    /// The second in which a job or a node was changed last.
    updated: i64,
    /// Jobs that have to go once their grace is over.
    graced: BTreeMap<u32, leaving::LeavingWay>,
    /// Jobs that have gone by a deed of the site, and that the driver will tell of.
    gone: BTreeMap<u32, leaving::LeavingWay>,
    /// Time of the next check of limits, in seconds.
    next_check: i64,
    /// Time since which nothing runs although jobs wait, in seconds; [`i64::MAX`]: not so;
    /// [`i64::MIN`]: nothing can be done about it.
    stands_since: i64,
    #[serde(skip)]
    scratch: WillRunScratch,
    #[serde(skip)]
    pass: BackfillPass,
    #[serde(skip)]
    room: NodeSet,
}

/// A backfill pass between two parts of its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asleep {
    pass: BackfillPass,
    began: i64,
    until: i64,
    /// The jobs that it will still look at, each with a partition, the next one last.
    rest: Vec<(u32, u16)>,
    /// Those of them that may still start, in the order of the queue; `None`: all are looked at.
    open: Option<VecDeque<(u32, u16)>>,
    /// [`ModelSite::updated`] when it went to sleep.
    updated: i64,
    /// True if something has changed while it slept.
    changed: bool,
    started: bool,
    /// True if it was cut.
    cut: bool,
    /// True if it has let go of the locks before the next job.
    yielded: bool,
}

impl ModelSite {
    /// A machine without jobs.
    pub fn new(mut cluster: ModelCluster, rules: SchedulerRules, priorities: Option<JobPriorities>) -> ModelSite {
        cluster.kill_wait = rules.kill_wait;
        cluster.window_linear = rules.params.bf_window_linear;
        let room = NodeSet::empty(cluster.machine.node_count());
        ModelSite {
            cluster,
            rules,
            priorities,
            clock: None,
            at: i64::MIN,
            news: VecDeque::new(),
            queue: VecDeque::new(),
            outside: VecDeque::new(),
            several: BTreeMap::new(),
            offsets: BTreeMap::new(),
            asleep: None,
            main_stale: false,
            stale_from: usize::MAX,
            holds_until: i64::MAX,
            next_calc: i64::MIN,
            updated: i64::MIN,
            graced: BTreeMap::new(),
            gone: BTreeMap::new(),
            next_check: i64::MIN,
            stands_since: i64::MAX,
            scratch: WillRunScratch::default(),
            pass: BackfillPass::default(),
            room,
        }
    }

    /// Returns the state of the machine.
    pub fn model_cluster(&self) -> &ModelCluster {
        &self.cluster
    }

    /// The priorities, where several factors make them.
    pub fn job_priorities(&mut self) -> Option<&mut JobPriorities> {
        self.priorities.as_mut()
    }

    /// A job is submitted in the second `now`, with an entry for each of its partitions.
    pub fn submit(&mut self, now: i64, entries: impl AsRef<[Pending]>) {
        let entries = entries.as_ref();
        let Some(first) = entries.first() else { return };
        let offset = pick_below(self.rules.phase ^ 0x5eed, u64::from(first.id), 1000);
        self.queue_news(now * 1000 + offset, SiteNews::Arrived(entries.to_vec()));
    }

    /// A running job ends in the second `now`.
    pub fn end_job(&mut self, now: i64, id: u32) {
        if self.gone.remove(&id).is_some() {
            return;
        }
        let offset = self.offsets.remove(&id).unwrap_or(0);
        self.queue_news(now * 1000 + offset, SiteNews::Ended(id));
    }

    /// A waiting job is withdrawn.
    pub fn cancel_job(&mut self, now: i64, id: u32) {
        self.call_off(now, id, SiteNews::Cancelled(id));
    }

    /// A waiting job is held back.
    pub fn hold_job(&mut self, now: i64, id: u32) {
        self.call_off(now, id, SiteNews::Held(id));
    }

    /// A job waits again, in each of its partitions: it was held, or sent back by the machine.
    pub fn release_job(&mut self, now: i64, entries: impl AsRef<[Pending]>) {
        let entries = entries.as_ref();
        let Some(first) = entries.first() else { return };
        if self.gone.remove(&first.id) != Some(leaving::LeavingWay::Requeue) {
            self.queue_news(now * 1000, SiteNews::Released(entries.to_vec()));
        }
    }

    /// A job runs that no scheduler of this site has started, since `since` seconds: there, or
    /// where the site finds room for it.
    pub fn adopt_job(&mut self, now: i64, job: Pending, since: i64, on: Option<Alloc>) {
        self.gone.remove(&job.id);
        // A job that asked for a type of device has these; others have what is left.
        let at = (now * 1000).max(self.at);
        let names_type = self.cluster.machine.resources.names_a_type(job.demand);
        let last = |time: i64| if names_type { time < at } else { time <= at };
        let place = self.news.partition_point(|&(time, _)| last(time));
        self.news.insert(place, (at, SiteNews::Runs(Box::new(job), since, on)));
    }

    /// A running job is there, other than thought so far.
    pub fn relocate_job(&mut self, now: i64, id: u32, on: Alloc) {
        self.queue_news(now * 1000, SiteNews::Moved(id, on));
    }

    /// Sets the jobs for which the machine has too little left of a resource that no node and no
    /// licence of the configuration stands for. Passes that are due before `now` are made later:
    /// for these a job that has enough again is still short.
    pub fn set_short(&mut self, now: i64, short: BTreeSet<u32>) {
        if *self.cluster.short_jobs() == short {
            return;
        }
        let all_short: BTreeSet<u32> = self.cluster.short_jobs().union(&short).copied().collect();
        let eases = all_short != short;
        self.cluster.set_short(all_short);
        if eases {
            self.queue_news(now * 1000, SiteNews::Short(short));
        }
    }

    /// A job that was to start could not: it waits on.
    pub fn take_back(&mut self, now: i64, id: u32) {
        self.offsets.remove(&id);
        if let Some(model_job) = self.cluster.end_job(id) {
            let entries = self.entries_of(&model_job.job);
            self.move_submission(&model_job.job, &entries[0]);
            self.queue_up(now * 1000, entries);
        }
    }

    /// A running job has left the machine without having ended.
    pub fn stop_job(&mut self, now: i64, id: u32) {
        if !self.gone.contains_key(&id) {
            self.offsets.remove(&id);
            self.queue_news(now * 1000, SiteNews::Ended(id));
        }
    }

    /// From now on this is out of service and announced, and no more.
    pub fn set_out(&mut self, now: i64, outlook: CapacityOutlook) {
        self.queue_news(now * 1000, SiteNews::Out(Box::new(outlook)));
    }

    /// The driver has done what the site wanted with a job that had to go.
    pub fn note_eviction(&mut self, id: u32) {
        self.gone.remove(&id);
    }

    /// A running job is expected to end at `end` seconds, other than thought so far.
    pub fn reschedule_end(&mut self, id: u32, end: i64) {
        self.cluster.reschedule_end(id, end);
        self.stale_from = 0;
    }

    /// A job waits no more. It may not have come yet, or may be on its way back. An end of the same
    /// moment must not start it.
    fn call_off(&mut self, now: i64, id: u32, news: SiteNews) {
        let is_its = |entries: &[Pending]| entries.first().is_some_and(|job| job.id == id);
        self.news.retain(
            |(_, news)| !matches!(news, SiteNews::Arrived(entries) | SiteNews::Released(entries) if is_its(entries)),
        );
        let at = (now * 1000).max(self.at);
        let place = self.news.partition_point(|&(time, _)| time < at);
        self.news.insert(place, (at, news));
    }

    fn queue_news(&mut self, at: i64, news: SiteNews) {
        let at = at.max(self.at);
        let place = self.news.partition_point(|&(time, _)| time <= at);
        self.news.insert(place, (at, news));
    }

    /// Runs to the end of the second `now`. Adds what is to be done to `out`.
    pub fn advance_to(&mut self, now: i64, out: &mut Vec<SchedulerDeed>, watch: &mut impl VerdictObserver) {
        let to = (now + 1) * 1000;
        if self.clock.is_none() {
            self.begin_clock(now);
        }
        while self.run_step(to, out, watch) {}
        self.at = to;
        self.look_after(now);
    }

    /// Jobs may wait for nodes that are out and never come back. Where nothing runs for a week,
    /// those that the nodes left could not have as they ask are given any of these.
    fn look_after(&mut self, now: i64) {
        if self.cluster.running_count() > 0 || self.queue.is_empty() || !self.news.is_empty() {
            self.stands_since = i64::MAX;
        } else if self.stands_since == i64::MAX {
            self.stands_since = now;
        } else if self.stands_since != i64::MIN && now - self.stands_since >= STANDSTILL {
            let within = self.queue.iter().map(|job| self.cluster.within_reach(job)).collect::<Vec<_>>();
            if within.iter().any(Option::is_some) {
                self.stands_since = now;
                for (job, within) in self.queue.iter_mut().zip(within) {
                    *job = within.unwrap_or_else(|| job.clone());
                }
                let machine = &self.cluster.machine;
                self.queue.make_contiguous().sort_by_key(|job| job.queue_key(machine));
                self.stale_from(0);
                self.main_stale = true;
                self.request_pass(self.at);
            } else {
                self.stands_since = i64::MIN;
            }
        }
    }

    fn begin_clock(&mut self, now: i64) {
        self.clock = Some(ScheduleClocks::new(now * 1000, self.rules.phase, &self.rules.params));
        self.at = now * 1000;
        self.next_check = now + pick_below(self.rules.phase, 5, CHECK);
        if let Some(priorities) = &self.priorities {
            self.next_calc = now + pick_below(self.rules.phase, 4, priorities.rules.period);
        }
    }

    /// The second of the next pass that could start a job, if nothing happens before; after
    /// [`ModelSite::advance_to`].
    pub fn next_wake(&self) -> Option<i64> {
        let clock = self.clock.as_ref()?;
        let mut next = i64::MAX;
        if let Some((at, _)) = self.news.front() {
            next = *at;
        }
        if let Some(asleep) = &self.asleep {
            next = next.min(asleep.until);
        }
        if let Some(check) = self.check_at() {
            next = next.min(check.saturating_mul(1000));
        }
        if ![i64::MIN, i64::MAX].contains(&self.stands_since) {
            next = next.min((self.stands_since + STANDSTILL).saturating_mul(1000));
        }
        if !self.queue.is_empty() {
            if self.main_stale {
                next = next.min(clock.next_main(self.at, &self.rules.params));
            }
            // What was looked at and could not start may be able to once that no longer holds.
            let soon = self.stale_from < self.queue.len() && self.last_candidate(self.stale_from).is_some();
            let (first, from) =
                if soon { (self.stale_from, self.at) } else { (0, self.holds_until.saturating_mul(1000)) };
            if self.has_moving_priorities() && self.last_candidate(0).is_some() {
                next = next.min(self.next_calc.saturating_mul(1000));
            }
            if self.asleep.is_none() && from < next && self.last_candidate(first).is_some() {
                next = next.min(clock.next_backfill(from.max(self.at), &self.rules.params));
            }
        }
        (next != i64::MAX).then(|| next.max(self.at).div_euclid(1000))
    }

    /// The last job in the queue, from the place `first` on, that fits on idle nodes: only such a
    /// job can be started. Where jobs may be preempted, any can.
    fn last_candidate(&self, first: usize) -> Option<usize> {
        if self.cluster.preempting.is_on() {
            return self.queue.len().checked_sub(1).filter(|&last| last >= first);
        }
        if self.cluster.idle.is_full() {
            return None;
        }
        let mut rooms = PartRooms::default();
        (first..self.queue.len()).rev().find(|&place| self.fits_idle(&self.queue[place], &mut rooms))
    }

    /// Returns whether a job fits on idle nodes, as far as processors and nodes go.
    fn fits_idle(&self, job: &Pending, rooms: &mut PartRooms) -> bool {
        let part = &self.cluster.machine.parts[usize::from(job.part)];
        part.up && !self.cluster.is_short(job.id) && !rooms.lacks_room(&self.cluster, job)
    }

    /// Jobs before `place` have been looked at by backfill; those from it on may be able to start.
    fn stale_from(&mut self, place: usize) {
        self.stale_from = self.stale_from.min(place);
    }

    fn note_start(&mut self, job: &Pending, at: i64, by: PassKind, out: &mut Vec<SchedulerDeed>) {
        self.leave_other_partitions(job);
        // The engine knows whole seconds: a job that begins late in one still ends within the right
        // one.
        let offset = (at.rem_euclid(1000) + LAUNCH + COMPLETING).min(999);
        self.offsets.insert(job.id, offset);
        self.updated = at.div_euclid(1000);
        out.push(SchedulerDeed::Start { id: job.id, by });
    }
}
