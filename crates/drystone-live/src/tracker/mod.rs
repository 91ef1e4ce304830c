//! The tracker: what is seen of a cluster becomes news for a session, and what a policy decides
//! becomes orders. Pure: no clock, no input or output; all rules about states and time-outs are
//! here, and tested without a cluster.

mod actions;
mod blocked;
mod demands;
mod eligible;
mod exported;
mod flight;
mod freed;
mod kept_nodes;
mod layout;
mod licences;
mod message;
mod mirror;
mod names;
mod news;
mod nodes;
mod room;
mod settle;
mod shrink;
mod tracked;
mod words;

pub use exported::ExportedJob;
pub use layout::{NodeAmounts, NodeLayout};
pub use message::{HookMessage, WakePosition};
pub use mirror::{Delta, Mirror};
pub use names::NumberedNames;
pub use news::{Stamp, TrackerNews};
pub(crate) use settle::classify_ending;
pub use tracked::{AnnouncedStart, Flight, Flying, HoldReason, Retry, Tracked, TrackedPlace, TrackedStory};
pub use words::HoldWords;

use crate::cluster::{
    ClusterOrder, HookMark, JobFact, JobKey, JobName, NodeFact, NodeState, OrderOutcome, PendingReason, Want,
};
use drystone::model::{JobId, ResourceId, Time};
use drystone::policy::{CapacityLoss, PolicySpec};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Time for which an order may stay unseen, in milliseconds in which the cluster answers.
pub const PATIENCE: u64 = 10_000;
/// Number of ended jobs kept for display.
const RECENT: usize = 500;

/// Mode of the daemon: observe only, or act.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DaemonMode {
    /// It touches nothing: the cluster starts jobs, and the policy only says what it would do.
    Shadow,
    /// The policy starts jobs.
    Drive,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TrackerSettings {
    pub mode: DaemonMode,
    /// Partitions whose jobs the policy starts. They have the same nodes.
    pub partitions: Vec<String>,
    /// True if jobs that were pending without a hold before are taken over; otherwise the cluster
    /// starts them.
    pub adopt_old: bool,
    /// True if the policy chooses the processors on which jobs start.
    pub names: bool,
    pub suspends: bool,
    /// True if the policy counts memory and devices.
    pub counts: bool,
    /// True if the policy places jobs on nodes: it knows which have room, and keeps nodes for jobs
    /// that wait. Otherwise it counts processors.
    pub on_nodes: bool,
    /// True if the policy takes nodes from running jobs. Such a policy counts processors.
    pub shrinks: bool,
}

impl TrackerSettings {
    pub fn for_mode(
        mode: DaemonMode,
        partitions: Vec<String>,
        adopt_old: bool,
        policy: &PolicySpec,
    ) -> TrackerSettings {
        let policy = policy.build_scheduler().policy;
        let needs = policy.needed_abilities();
        // A job that Slurm suspends keeps its devices as well as its memory.
        let counts = policy.counts_resources() && !needs.suspend && !needs.resize;
        let (names, suspends, shrinks) = (needs.name, needs.suspend, needs.resize);
        let on_nodes = policy.places_among_outages() && !names && !shrinks;
        TrackerSettings { mode, partitions, adopt_old, names, suspends, counts, on_nodes, shrinks }
    }

    /// Lets the policy count processors if `is_by_count`, though it could place jobs on nodes.
    #[must_use]
    pub fn by_count(self, is_by_count: bool) -> TrackerSettings {
        TrackerSettings { on_nodes: self.on_nodes && !is_by_count, ..self }
    }

    /// Returns whether the policy decides on which nodes a job starts.
    fn decides_nodes(&self) -> bool {
        self.names || self.on_nodes
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LookResult {
    /// Events for the session, each with its job where the session already knows it.
    pub news: Vec<(Option<JobId>, TrackerNews)>,
    /// Orders without the policy: holds of jobs that could not start, starts whose room is free
    /// now.
    pub orders: Vec<ClusterOrder>,
    /// Reason to hand the cluster back, if any.
    pub doubt: Option<String>,
    /// True if starts were refused: the policy may choose others.
    pub refused: bool,
    /// Start for which nodes are kept, where it is another than before.
    pub kept: Option<(JobId, Time)>,
}

impl LookResult {
    fn add_news(&mut self, id: Option<JobId>, news: TrackerNews) {
        self.news.push((id, news));
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FinishedJob {
    pub key: JobKey,
    pub procs: u32,
    /// Owner, as an index into [`Tracker::users`].
    pub user: i32,
    /// Submit time, in the session's clock.
    pub submit: Time,
    pub story: TrackedStory,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracker {
    settings: TrackerSettings,
    layout: NodeLayout,
    mirror: Mirror,
    jobs: BTreeMap<JobKey, Tracked>,
    ids: BTreeMap<JobId, JobKey>,
    /// The key under which a number is known.
    alive: BTreeMap<(u64, Option<u32>), JobKey>,
    flying: BTreeSet<JobKey>,
    timers: BTreeSet<(Time, JobKey)>,
    /// Jobs that a limit stopped.
    limited: BTreeSet<JobKey>,
    /// Accounts and shapes of jobs that a limit stopped at this look.
    limited_shapes: BTreeSet<(String, blocked::BlockedShape)>,
    /// Times at which jobs of users and classes were seen to end.
    #[serde(default)]
    last_ends: freed::LastEnds,
    /// Jobs that wait for others.
    depending: BTreeSet<JobKey>,
    /// Jobs that were released and depended on another still.
    vain: BTreeSet<JobKey>,
    /// Shapes of jobs that could not start.
    blocks: BTreeMap<blocked::BlockedShape, blocked::ShapeBlock>,
    /// The job that nodes are kept for.
    ahead: Option<kept_nodes::KeptFor>,
    /// Jobs to look at in this turn whether anything of them was seen or not.
    recheck: BTreeSet<JobKey>,
    /// Time since which released jobs find no room and none has started, by [`Stamp::steady`].
    vain_since: Option<u64>,
    throttles: BTreeMap<u64, u32>,
    /// Jobs that we held before, from the ledger of an earlier daemon.
    taken: BTreeSet<JobKey>,
    /// Jobs that we suspended, from the same.
    stopped: BTreeSet<JobKey>,
    /// Jobs that we bound to nodes, from the same.
    bound: BTreeSet<JobKey>,
    /// Last words on holds that users may take back.
    user_words: HoldWords,
    /// Last words of operators on holds.
    operator_words: HoldWords,
    /// Last words of both in an earlier daemon's ledger, to be applied at the next look.
    ledger_words: (HoldWords, HoldWords),
    /// The cluster's time when this daemon began, if everything was given back before.
    given_back: Option<i64>,
    users: NumberedNames,
    groups: NumberedNames,
    queues: NumberedNames,
    demands: demands::Demands,
    /// Offset between the cluster's time and the session's.
    offset: i64,
    stamp: Stamp,
    losses: Vec<CapacityLoss>,
    /// Number of each licence that is counted, as the session knows it.
    licences: Vec<(ResourceId, u64)>,
    /// True if places of jobs matter: processors are out, or the policy names them.
    named: bool,
    /// True if a decision is due although nothing happened.
    again: bool,
    /// True if pending jobs without a hold are taken over: they show no operator's wish.
    retake: bool,
    /// True if a look has been taken.
    begun: bool,
    recent: VecDeque<FinishedJob>,
}

impl Tracker {
    /// A tracker of a cluster with these processors.
    pub fn new(settings: TrackerSettings, layout: NodeLayout) -> Tracker {
        let has_node_choice = settings.decides_nodes();
        let demands = demands::Demands::new(&layout, &settings);
        let licences = demands.counted_licences().map(|(id, _, total)| (id, total)).collect();
        Tracker {
            demands,
            settings,
            layout,
            mirror: Mirror::default(),
            jobs: BTreeMap::new(),
            ids: BTreeMap::new(),
            alive: BTreeMap::new(),
            flying: BTreeSet::new(),
            timers: BTreeSet::new(),
            limited: BTreeSet::new(),
            last_ends: freed::LastEnds::default(),
            limited_shapes: BTreeSet::new(),
            depending: BTreeSet::new(),
            vain: BTreeSet::new(),
            blocks: BTreeMap::new(),
            ahead: None,
            recheck: BTreeSet::new(),
            vain_since: None,
            throttles: BTreeMap::new(),
            taken: BTreeSet::new(),
            stopped: BTreeSet::new(),
            bound: BTreeSet::new(),
            user_words: HoldWords::default(),
            operator_words: HoldWords::default(),
            ledger_words: Default::default(),
            given_back: None,
            users: NumberedNames::default(),
            groups: NumberedNames::default(),
            queues: NumberedNames::default(),
            offset: 0,
            stamp: Stamp::default(),
            losses: Vec::new(),
            licences,
            named: has_node_choice,
            again: false,
            retake: true,
            begun: false,
            recent: VecDeque::new(),
        }
    }

    /// Takes over the jobs that an earlier daemon held and suspended, where nothing else of it is
    /// left. Call it before the first look.
    pub fn remember_jobs(&mut self, holds: BTreeSet<JobKey>, suspensions: BTreeSet<JobKey>, pins: BTreeSet<JobKey>) {
        (self.taken, self.stopped, self.bound) = (holds, suspensions, pins);
    }

    /// Remembers what an earlier daemon noted of holds of users and operators, and, if everything
    /// was given back since, the cluster's time when this daemon began: what was held before is
    /// held by its user. Call it before the first look.
    pub fn remember_words(&mut self, users: HoldWords, operators: HoldWords, given_back: Option<i64>) {
        (self.ledger_words, self.given_back) = ((users, operators), given_back);
    }

    /// Returns whether a hold of released jobs of this name is one that the daemon has ordered, or
    /// an earlier one, of which the ledger alone is left.
    pub fn is_own_hold(&self, name: JobName) -> bool {
        let is_own = |t: &Tracked| t.is_flying(Flying::Holding) || t.is_flying(Flying::Taking);
        let is_known = |key: &JobKey| self.jobs.get(key).is_some_and(is_own) || self.taken.contains(key);
        self.mirror.named_jobs(name).any(|key| is_known(&key))
    }

    /// Returns whether a word of the hook is known on a job, an array or a task of it.
    pub fn has_word_on(&self, id: u64) -> bool {
        self.user_words.knows_job(id)
    }

    /// The daemon has been away: it is not known whether what was ordered last was carried out, and
    /// what is pending unheld is no operator's wish.
    pub fn note_restart(&mut self, stamp: Stamp) {
        self.stamp = stamp;
        self.retake = true;
        for key in &self.flying {
            if let Some(flight) = self.jobs.get_mut(key).and_then(|job| job.flight.as_mut()) {
                flight.since = stamp.steady;
                flight.doubtful = !matches!(flight.what, Flying::Planned | Flying::PlannedResume);
            }
        }
    }

    /// Takes in what was seen, and what the hook said meanwhile.
    pub fn take_observation(&mut self, stamp: Stamp, delta: &Delta, messages: &[HookMessage]) -> LookResult {
        let mut turn = LookResult::default();
        let flew = self.flying.clone();
        self.limited_shapes.clear();
        self.stamp = stamp;
        self.offset = stamp.now - delta.time;
        let is_back = |node: &NodeFact| {
            let was = self.mirror.node_fact(&node.name).is_some_and(|old| old.state != NodeState::Up);
            node.state == NodeState::Up && was
        };
        let nodes_came = delta.nodes.iter().any(is_back);
        let mut keys = self.mirror.apply(delta);
        if delta.licences.is_some() {
            self.meet_licences();
        }
        self.note_throttles(&keys);
        keys.extend(self.flying.iter().copied());
        keys.extend(self.take_due_jobs());
        if !delta.is_empty() {
            // What one of them waits for may have come.
            keys.extend(self.depending.iter().copied());
        }
        // What is said of a number is said of the job that has it now.
        let moved_jobs = self.take_requeues(&keys);
        keys.extend(self.recall_users());
        keys.extend(self.take_told(messages));
        let mut arrays = BTreeSet::new();
        for key in keys {
            if !moved_jobs.contains(&key) {
                self.advance_job(key, &mut turn, &mut arrays);
            }
        }
        self.note_ends(&turn);
        let freed_jobs: Vec<JobKey> =
            self.list_freed_of_limits(&turn).into_iter().chain(self.list_freed_of_others(&turn)).collect();
        for key in freed_jobs {
            self.advance_job(key, &mut turn, &mut arrays);
        }
        if nodes_came {
            self.lift_nodes_out();
        }
        self.forget_ahead();
        let has_ends = turn.news.iter().any(|(_, news)| matches!(news, TrackerNews::Ended { .. }));
        if has_ends || !delta.nodes.is_empty() || self.flying != flew {
            self.room_came(has_ends);
        }
        // Looking at one never marks itself: this comes to an end.
        while let Some(key) = self.recheck.pop_first() {
            self.advance_job(key, &mut turn, &mut arrays);
        }
        for id in arrays {
            self.advance_array(id, &mut turn);
        }
        self.look_at_nodes(&mut turn);
        self.look_at_licences(&mut turn);
        self.begin_planned(&mut turn);
        (self.begun, self.retake) = (true, false);
        turn
    }

    /// It is later, and nothing was seen.
    pub(crate) fn note_tick(&mut self, stamp: Stamp) {
        self.stamp = stamp;
    }

    /// Takes in what came of orders.
    pub fn note_orders(&mut self, orders: &[ClusterOrder], outcomes: &[OrderOutcome]) {
        for (order, outcome) in orders.iter().zip(outcomes) {
            if *outcome == OrderOutcome::Done {
                continue;
            }
            // What is refused or unknown is looked at: what the cluster shows decides.
            if let Some(flight) = self.jobs.get_mut(&order.job_key()).and_then(|job| job.flight.as_mut()) {
                flight.doubtful = true;
            }
        }
    }

    pub fn wanted_details(&self) -> Want {
        let unclear = |fact: &&JobFact| fact.places.len() > 1 && fact.places.iter().any(|place| place.procs.is_none());
        if !self.named {
            return Want::default();
        }
        let running_facts = self.mirror.records().filter(|fact| fact.state == crate::cluster::JobState::Running);
        Want { places: running_facts.filter(unclear).flat_map(JobFact::job_keys).collect() }
    }

    /// Returns the next time at which something is due without a look: a begin time, a retry.
    pub fn next_deadline(&self) -> Option<Time> {
        self.timers.first().map(|&(time, _)| time)
    }

    /// Returns whether an order is in flight, so that the next look matters soon.
    pub fn is_waiting(&self) -> bool {
        !self.flying.is_empty()
    }

    /// Returns whether orders must not be given now: the controller has not heard of more than half
    /// of the nodes.
    pub fn is_blind(&self) -> bool {
        let node_count = self.layout.len();
        let unknown = |name: &str| {
            self.mirror.node_fact(name).is_none_or(|node| node.state == crate::cluster::NodeState::Unknown)
        };
        self.layout.nodes().filter(|(name, _)| unknown(name)).count() * 2 > node_count
    }

    /// A decision is due at the next look, whether anything happens or not.
    pub(crate) fn decide_again(&mut self) {
        self.again = true;
    }

    /// Returns whether a decision is due although nothing happened.
    pub fn is_undecided(&self) -> bool {
        self.again
    }

    /// Returns whether a look has been taken since the tracker started or came back.
    pub fn has_begun(&self) -> bool {
        self.begun && !self.retake
    }

    /// Takes and clears the flag of [`Tracker::is_undecided`].
    pub fn take_again(&mut self) -> bool {
        std::mem::take(&mut self.again)
    }

    /// Returns the time during which the cluster answered, up to the last look.
    pub fn answered_time(&self) -> u64 {
        self.stamp.steady
    }

    pub fn settings(&self) -> &TrackerSettings {
        &self.settings
    }

    pub fn layout(&self) -> &NodeLayout {
        &self.layout
    }

    /// Returns the last look.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    pub fn jobs(&self) -> impl Iterator<Item = &Tracked> {
        self.jobs.values()
    }

    pub fn find_job(&self, key: JobKey) -> Option<&Tracked> {
        self.jobs.get(&key)
    }

    pub fn find_key(&self, id: JobId) -> Option<JobKey> {
        self.ids.get(&id).copied()
    }

    /// Jobs that are over, the last ones.
    pub fn recent_jobs(&self) -> impl Iterator<Item = &FinishedJob> {
        self.recent.iter()
    }

    pub fn users(&self) -> &NumberedNames {
        &self.users
    }

    /// Returns whether the processors on which jobs run matter.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Jobs that are the cluster's to start, by why.
    pub fn left_out(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let pending = self.mirror.records().filter(|fact| fact.state == crate::cluster::JobState::Pending);
        for fact in pending {
            for reason in self.foreign_reasons(fact, false) {
                *counts.entry(reason).or_insert(0) += fact.job_keys().len();
            }
        }
        counts
    }

    /// Says that the session has this job under this number.
    pub(crate) fn note_number(&mut self, key: JobKey, id: JobId) {
        if let Some(job) = self.jobs.get_mut(&key) {
            job.id = Some(id);
            self.ids.insert(id, key);
        }
    }

    /// Says that the session cannot have this job: it is the cluster's to start.
    pub(crate) fn note_impossible(&mut self, key: JobKey) {
        if let Some(job) = self.jobs.get_mut(&key) {
            (job.foreign, job.place, job.job) = (true, TrackedPlace::Absent, None);
        }
    }

    /// Timers that have come.
    fn take_due_jobs(&mut self) -> Vec<JobKey> {
        let later = self.timers.split_off(&(Time(self.stamp.now + 1), JobKey { id: 0, task: None, submit: i64::MIN }));
        std::mem::replace(&mut self.timers, later).into_iter().map(|(_, key)| key).collect()
    }

    fn note_throttles(&mut self, keys: &BTreeSet<JobKey>) {
        for id in keys.iter().filter(|key| key.task.is_some()).map(|key| key.id).collect::<BTreeSet<u64>>() {
            let mut facts = self.mirror.of_array(id).peekable();
            if facts.peek().is_none() {
                self.throttles.remove(&id);
            } else if let Some(throttle) = facts.find_map(|fact| fact.throttle) {
                self.throttles.insert(id, throttle);
            }
        }
    }

    /// Holds by users and operators, as the hook tells of them.
    fn take_told(&mut self, messages: &[HookMessage]) -> Vec<JobKey> {
        let mut keys = Vec::new();
        for &line in messages {
            let (name, holds, is_operators) = match line {
                HookMessage::Hold(name) => (name, true, false),
                HookMessage::Release(name) => (name, false, false),
                HookMessage::Keep(name) => (name, true, true),
                HookMessage::Rehold(name) if self.is_own_hold(name) => continue,
                HookMessage::Rehold(name) => (name, true, true),
                HookMessage::Overwritten(name) => {
                    keys.extend(self.take_overwritten(name));
                    continue;
                }
            };
            let about: Vec<JobKey> = self.mirror.named_jobs(name).collect();
            if !about.is_empty() {
                self.user_words.note_hold(name, holds);
                if is_operators {
                    self.operator_words.note_hold(name, true);
                }
            }
            for key in about {
                let fact = self.mirror.job_fact(key).cloned();
                let mut entry = self.jobs.remove(&key).unwrap_or_else(|| self.first_seen(key, fact.as_ref()));
                entry.user_hold = holds;
                // Its owner lets a job go that was requeued and held: it waits for the policy.
                // So does one that the cluster set aside.
                let frees = |reason: PendingReason| {
                    matches!(reason, PendingReason::RequeuedHeld | PendingReason::LaunchFailed) || reason.sets_aside()
                };
                entry.freed = !holds && fact.is_some_and(|fact| frees(fact.reason));
                self.jobs.insert(key, entry);
                keys.push(key);
            }
        }
        keys
    }

    /// The hook held these jobs, whose comments no longer say so.
    fn take_overwritten(&mut self, name: JobName) -> Vec<JobKey> {
        let about: Vec<JobKey> = self.mirror.named_jobs(name).collect();
        for &key in &about {
            let fact = self.mirror.job_fact(key).cloned();
            let mut entry = self.jobs.remove(&key).unwrap_or_else(|| self.first_seen(key, fact.as_ref()));
            entry.taken = true;
            // Without the mark it looked like its user's hold.
            entry.user_hold = self.user_words.is_held(key);
            self.jobs.insert(key, entry);
        }
        about
    }

    /// Applies what is known of users' holds from before to the jobs of the first look. Returns
    /// these jobs.
    fn recall_users(&mut self) -> Vec<JobKey> {
        let ((users, operators), given_back) =
            (std::mem::take(&mut self.ledger_words), std::mem::take(&mut self.given_back));
        if users.is_empty() && operators.is_empty() && given_back.is_none() {
            return Vec::new();
        }
        // What the journal knows is newer: an operator's release is not in the ledger.
        self.user_words.add_older(users);
        self.operator_words.add_older(operators);
        let pending = self.mirror.records().filter(|fact| fact.state == crate::cluster::JobState::Pending && fact.held);
        // The hook holds again from the first heartbeat on, and jobs may come before the first
        // look.
        let old = |fact: &&JobFact| given_back.is_some_and(|since| fact.mark != HookMark::Held || fact.submit < since);
        let held_keys: Vec<JobKey> = pending
            .filter(|fact| fact.reason == PendingReason::UserHold)
            .flat_map(|fact| fact.job_keys().into_iter().map(move |key| (fact, key)))
            .filter(|(fact, key)| old(fact) || self.user_words.is_held(*key))
            .map(|(_, key)| key)
            .collect();
        for &key in &held_keys {
            let fact = self.mirror.job_fact(key).cloned();
            let mut entry = self.jobs.remove(&key).unwrap_or_else(|| self.first_seen(key, fact.as_ref()));
            entry.user_hold = true;
            self.jobs.insert(key, entry);
        }
        held_keys
    }

    /// A job that has a new submit time and more restarts is the old one, requeued, and one with an
    /// earlier submit time is what a killed controller remembers of it: it keeps its place. Returns
    /// the old keys.
    fn take_requeues(&mut self, keys: &BTreeSet<JobKey>) -> BTreeSet<JobKey> {
        let mut moved_jobs = BTreeSet::new();
        for &key in keys {
            let Some(fact) = self.mirror.job_fact(key) else { continue };
            let Some(&old) = self.alive.get(&(key.id, key.task)) else { continue };
            if old == key || self.mirror.job_fact(old).is_some() {
                continue;
            }
            let restarts = fact.restarts;
            let Some(mut job) = self.jobs.remove(&old) else { continue };
            // An earlier submit time: a controller that was killed has forgotten the requeue.
            let is_same = restarts > job.restarts || key.submit < old.submit;
            if !is_same || job.place == TrackedPlace::Done {
                // Orders name a job by its number alone: the nodes that were chosen for a job that
                // the controller has forgotten may be those of the job that has its number now.
                if job.pinned && fact.pinned {
                    self.bound.insert(key);
                }
                self.jobs.insert(old, job);
                continue;
            }
            job.key = key;
            (job.restarts, job.freed) = (restarts, false);
            let ends = [Flying::Launching, Flying::Stopping, Flying::Shrinking, Flying::Resuming, Flying::Probing];
            if ends.into_iter().any(|kind| job.is_flying(kind)) {
                job.flight = None;
            }
            if let Some(id) = job.id {
                self.ids.insert(id, key);
            }
            // It was running when it was requeued, whether that was seen or not.
            if self.flying.remove(&old) && job.flight.is_some() {
                self.flying.insert(key);
            }
            self.limited.remove(&old);
            self.depending.remove(&old);
            self.alive.insert((key.id, key.task), key);
            self.jobs.insert(key, job);
            moved_jobs.insert(old);
        }
        moved_jobs
    }

    /// Brings one job up to date.
    fn advance_job(&mut self, key: JobKey, turn: &mut LookResult, arrays: &mut BTreeSet<u64>) {
        let fact = self.mirror.job_fact(key).cloned();
        let mut entry = self.jobs.remove(&key).unwrap_or_else(|| self.first_seen(key, fact.as_ref()));
        if self.still_flies(&mut entry, fact.as_ref(), turn) {
            self.jobs.insert(key, entry);
            return;
        }
        self.flying.remove(&key);
        let pending = fact.as_ref().is_some_and(|fact| fact.state == crate::cluster::JobState::Pending);
        if self.throttles.contains_key(&key.id) && key.task.is_some() {
            arrays.insert(key.id);
            if pending && matches!(entry.place, TrackedPlace::Absent | TrackedPlace::Waiting | TrackedPlace::Held) {
                // Which of them may run is known when all have been looked at.
                self.jobs.insert(key, entry);
                return;
            }
        }
        self.settle_job(&mut entry, fact.as_ref(), false, turn);
        self.keep_job(entry, fact.is_some());
    }

    /// Offers as many tasks of a throttled array as may run, the lowest first.
    fn advance_array(&mut self, id: u64, turn: &mut LookResult) {
        let Some(&throttle) = self.throttles.get(&id) else { return };
        let range = JobKey { id, task: None, submit: i64::MIN }..=JobKey { id, task: Some(u32::MAX), submit: i64::MAX };
        let tasks: Vec<JobKey> = self.jobs.range(range).map(|(&key, _)| key).collect();
        let runs = |key: &JobKey| {
            let place = self.jobs.get(key).map(|job| job.place);
            matches!(place, Some(TrackedPlace::Running | TrackedPlace::Suspended | TrackedPlace::Interrupted))
        };
        let mut room = (throttle as usize).saturating_sub(tasks.iter().filter(|key| runs(key)).count());
        for key in tasks {
            let Some(fact) = self.mirror.job_fact(key).cloned() else { continue };
            let pending = fact.state == crate::cluster::JobState::Pending;
            let Some(job) = self.jobs.get(&key) else { continue };
            if !pending
                || job.flight.is_some()
                || !matches!(job.place, TrackedPlace::Absent | TrackedPlace::Waiting | TrackedPlace::Held)
            {
                continue;
            }
            let Some(mut own_job) = self.jobs.remove(&key) else { continue };
            self.settle_job(&mut own_job, Some(&fact), room == 0, turn);
            room -= usize::from(own_job.place == TrackedPlace::Waiting);
            self.keep_job(own_job, true);
        }
    }

    fn first_seen(&mut self, key: JobKey, fact: Option<&JobFact>) -> Tracked {
        let mut entry = Tracked::new(key);
        entry.story.seen = Some(self.stamp.session_time());
        entry.taken = self.taken.remove(&key);
        entry.stopped = self.stopped.remove(&key);
        entry.pinned = self.bound.remove(&key);
        if let Some(fact) = fact {
            entry.restarts = fact.restarts;
            // The mark is a comment, which an administrator may overwrite.
            entry.taken |= fact.mark != HookMark::None;
            entry.user_hold = self.user_words.last_word(key).unwrap_or(fact.mark == HookMark::User);
            // A policy on nodes knows those that a job excludes.
            let excludes = !self.settings.on_nodes && !fact.request.excluded.is_empty();
            entry.user_nodes = (fact.pinned || excludes) && !entry.pinned;
        }
        self.alive.insert((key.id, key.task), key);
        entry
    }

    /// Puts a job back, unless it is over and not listed any more.
    fn keep_job(&mut self, job: Tracked, is_listed: bool) {
        let key = job.key;
        if job.flight.is_some() {
            self.flying.insert(key);
        } else {
            self.flying.remove(&key);
        }
        if matches!(job.retry, Some(Retry::OnEnd(_))) {
            self.limited.insert(key);
        }
        let over = matches!(job.place, TrackedPlace::Done | TrackedPlace::Absent);
        if over && !is_listed {
            if self.alive.get(&(key.id, key.task)) == Some(&key) {
                self.alive.remove(&(key.id, key.task));
            }
            self.limited.remove(&key);
            self.depending.remove(&key);
            self.vain.remove(&key);
            if let Some(id) = job.id {
                self.ids.remove(&id);
            }
            if self.mirror.of_array(key.id).next().is_none() {
                self.user_words.forget_job(key.id);
                self.operator_words.forget_job(key.id);
            }
            return;
        }
        self.jobs.insert(key, job);
    }

    fn remember_finished(&mut self, record: &Tracked) {
        if let Some(job) = &record.job {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            let (procs, user, submit) = (job.procs, job.user, job.submit);
            self.recent.push_back(FinishedJob { key: record.key, procs, user, submit, story: record.story.clone() });
        }
    }
}
