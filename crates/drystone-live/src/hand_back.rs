//! Giving everything back: without the daemon, at any time, also twice.

use crate::clock::unix_seconds;
use crate::cluster::{
    Cluster, ClusterError, ClusterOrder, ClusterSnapshot, HookMark, JobFact, JobKey, JobName, JobState, OrderOutcome,
    PendingReason, Want,
};
use crate::error::LiveError;
use crate::state::{ActionLedger, Beat, Heartbeat, Home, LedgerLine, LedgerStanding, Wake};
use crate::tracker::{HookMessage, NodeLayout};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Interval of looks while suspended jobs wait for room.
const LOOK: Duration = Duration::from_secs(2);
/// Number of looks at a cluster that does not answer, and number of tries of an order that is not
/// carried out.
const TRIES: u32 = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandBackOptions {
    /// Only if no daemon has beaten for this many seconds.
    pub if_silent: Option<u64>,
    /// Requeue suspended jobs that have no room, instead of resuming them beside others.
    pub requeue: bool,
    /// Time for which suspended jobs wait for room before waiting jobs are released, which would
    /// take it.
    pub patience: Duration,
}

impl Default for HandBackOptions {
    fn default() -> HandBackOptions {
        HandBackOptions { if_silent: None, requeue: false, patience: Duration::from_secs(30) }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HandBackSummary {
    /// Reason why nothing was done, if so.
    pub skipped: Option<String>,
    /// Jobs that were let go.
    pub released: usize,
    /// Suspended jobs that go on where they have room.
    pub resumed: usize,
    /// Suspended jobs that go on beside others on the same processors: they had no room within the
    /// time that was given.
    pub crowded: usize,
    /// Suspended jobs that were requeued.
    pub requeued: usize,
    /// Jobs that may run on any node again.
    pub unpinned: usize,
    /// Jobs that their users hold, and that stay held.
    pub users: usize,
    /// Jobs of the driven partitions that stay held.
    pub held: Vec<HeldJob>,
    /// Actions that failed.
    pub left: Vec<String>,
}

/// A job that stays held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HeldJob {
    /// Its number, with that of the task.
    pub job: String,
    /// Its holder, as far as known.
    pub by: JobHolder,
}

/// Holder of a job that stays held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobHolder {
    User,
    Administrator,
    /// The cluster: it could not be launched, or no nodes meet its request.
    Cluster,
    /// It is held as by its user, of which no hook told: that was while nothing drove, or mark and
    /// ledger are gone.
    Unknown,
}

impl HandBackSummary {
    /// Returns whether jobs stay held of which nothing says that they should.
    pub fn is_doubtful(&self) -> bool {
        self.held.iter().any(|hold| hold.by == JobHolder::Unknown)
    }
}

/// Gives everything back: switches the hook off and fences the daemon; resumes suspended jobs,
/// before waiting ones take their place; lets every job go that is held for the daemon and not by
/// its user, in the order of submission; frees jobs from nodes that they were bound to; and takes
/// the hook's marks off.
///
/// # Errors
/// The cluster does not answer, or files cannot be written.
pub fn hand_back<C: Cluster>(
    cluster: &mut C,
    home: &Home,
    options: &HandBackOptions,
    sleep: &mut dyn FnMut(Duration),
) -> Result<HandBackSummary, LiveError> {
    let beat = Beat::read_beat(&home.heartbeat_path());
    if let (Some(seconds), Beat::At { second, instance }) = (options.if_silent, &beat) {
        let age = unix_seconds() - second;
        if age.unsigned_abs() < seconds {
            let skip_reason = Some(format!("{instance} beat {age} s ago"));
            return Ok(HandBackSummary { skipped: skip_reason, ..HandBackSummary::default() });
        }
    }
    if options.if_silent.is_none() || beat != Beat::Off {
        switch_off(home)?;
    }
    let standing = read_standing(home);
    let partitions = home.read_partitions();
    let mut back = HandBack { cluster, standing, partitions, given: HandBackSummary::default(), layout: None };
    back.resume_jobs(options, sleep)?;
    back.release_jobs(sleep)?;
    back.unpin_jobs()?;
    if back.given.left.is_empty() && back.standing.garbled.is_empty() {
        back.remove_marks()?;
    }
    let mut summary = back.given;
    if !back.standing.garbled.is_empty() {
        let path = home.ledger_path();
        summary.left.push(format!(
            "lines of {} that are not understood: {}",
            path.display(),
            back.standing.garbled.len()
        ));
    }
    if summary.left.is_empty() {
        // From now on one of these jobs is suspended by others only; what users hold stays known.
        let _ = ActionLedger::give_back(&home.ledger_path(), &back.standing);
    }
    Ok(summary)
}

/// Switches the hook off, even on a full disk.
fn switch_off(home: &Home) -> Result<(), LiveError> {
    let path = home.heartbeat_path();
    let token = format!("{} {}", unix_seconds(), std::process::id());
    if let Err(error) = Heartbeat::give_back(&path, &token) {
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return Err(LiveError::Io(path.display().to_string(), error)),
        }
    }
    Ok(())
}

/// Returns what the daemon left behind: its ledger, and hook messages that it has not read.
fn read_standing(home: &Home) -> LedgerStanding {
    let mut standing = ActionLedger::read_ledger(&home.ledger_path()).unwrap_or_default();
    for (behind, line) in Wake::lines_since(&home.wake_path(), standing.heard) {
        match HookMessage::parse(&line) {
            Some(HookMessage::Hold(name)) => standing.note_entry(LedgerLine::UserHold(name)),
            Some(HookMessage::Release(name)) => standing.note_entry(LedgerLine::UserRelease(name)),
            Some(HookMessage::Overwritten(name)) => standing.note_entry(LedgerLine::Overwritten(name)),
            Some(HookMessage::Keep(name)) => standing.note_entry(LedgerLine::OperatorHold(name)),
            // The ledger has every hold that the daemon ordered.
            Some(HookMessage::Rehold(name)) if !standing.holds_any(name) => {
                standing.note_entry(LedgerLine::OperatorHold(name));
            }
            Some(HookMessage::Rehold(_)) | None => {}
        }
        standing.heard = behind;
    }
    standing
}

struct HandBack<'a, C> {
    cluster: &'a mut C,
    standing: LedgerStanding,
    /// Driven partitions; empty where they are not known.
    partitions: Vec<String>,
    given: HandBackSummary,
    layout: Option<NodeLayout>,
}

impl<C: Cluster> HandBack<'_, C> {
    fn look_at_cluster(&mut self) -> Result<ClusterSnapshot, LiveError> {
        let snapshot = self.cluster.observe(&Want::default())?;
        self.layout.get_or_insert_with(|| NodeLayout::new(&snapshot.nodes));
        Ok(snapshot)
    }

    fn patient_look(&mut self, sleep: &mut dyn FnMut(Duration)) -> Result<ClusterSnapshot, LiveError> {
        for _ in 1..TRIES {
            match self.look_at_cluster() {
                Err(LiveError::Cluster(ClusterError::Silent(_) | ClusterError::Garbled(_))) => sleep(LOOK),
                other => return other,
            }
        }
        self.look_at_cluster()
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder]) -> usize {
        let outcomes = self.cluster.execute_orders(orders, &mut || true);
        outcomes.iter().filter(|outcome| **outcome == OrderOutcome::Done).count()
    }

    /// Suspended jobs resume: where they have room, and as they have it; when patience is at an end
    /// all the same.
    fn resume_jobs(&mut self, options: &HandBackOptions, sleep: &mut dyn FnMut(Duration)) -> Result<(), LiveError> {
        let mut wait_time = Duration::ZERO;
        loop {
            let snapshot = self.patient_look(sleep)?;
            let mut stopped_jobs: Vec<&JobFact> = snapshot
                .jobs
                .iter()
                .filter(|fact| {
                    fact.state == JobState::Suspended
                        && fact.job_keys().iter().any(|key| self.standing.suspended.contains(key))
                })
                .collect();
            if stopped_jobs.is_empty() {
                return Ok(());
            }
            stopped_jobs.sort_by_key(|fact| fact.submit);
            let late = wait_time >= options.patience;
            let (fits, crowded_jobs) = self.with_room(&snapshot, &stopped_jobs);
            self.given.resumed +=
                self.execute_orders(&fits.iter().map(|&key| ClusterOrder::Resume(key)).collect::<Vec<_>>());
            if crowded_jobs.is_empty() && fits.is_empty() {
                return Ok(());
            }
            if late && !crowded_jobs.is_empty() {
                if options.requeue {
                    let orders: Vec<ClusterOrder> =
                        crowded_jobs.iter().map(|&key| ClusterOrder::Requeue(key)).collect();
                    self.given.requeued += self.execute_orders(&orders);
                } else {
                    self.given.crowded += self
                        .execute_orders(&crowded_jobs.iter().map(|&key| ClusterOrder::Resume(key)).collect::<Vec<_>>());
                }
                return Ok(());
            }
            sleep(LOOK);
            wait_time += LOOK;
        }
    }

    /// Splits the suspended jobs into those with room in place and those without.
    fn with_room(&self, snapshot: &ClusterSnapshot, facts: &[&JobFact]) -> (Vec<JobKey>, Vec<JobKey>) {
        let Some(layout) = &self.layout else { return (Vec::new(), Vec::new()) };
        let mut idle: BTreeMap<&str, u32> =
            snapshot.nodes.iter().map(|node| (node.name.as_str(), node.procs.saturating_sub(node.busy))).collect();
        let names: Vec<&str> = layout.nodes().map(|(name, _)| name).collect();
        let (mut fits, mut crowded_jobs) = (Vec::new(), Vec::new());
        for fact in facts {
            let counts = layout.node_counts(&fact.places, fact.procs);
            let room = counts.iter().all(|&(at, procs)| idle.get(names[at]).is_some_and(|&idle| idle >= procs));
            if !room {
                crowded_jobs.extend(fact.job_keys());
                continue;
            }
            for (at, procs) in counts {
                idle.entry(names[at]).and_modify(|idle| *idle -= procs);
            }
            fits.extend(fact.job_keys());
        }
        (fits, crowded_jobs)
    }

    /// Lets every job go that is held for the daemon, whatever reason the cluster gives. Jobs are
    /// counted by what it shows: a command about an array may fail for one task of it.
    fn release_jobs(&mut self, sleep: &mut dyn FnMut(Duration)) -> Result<(), LiveError> {
        let mut tried_jobs: BTreeSet<JobKey> = BTreeSet::new();
        for attempt in 1..=TRIES {
            let snapshot = self.patient_look(sleep)?;
            let mut held_facts: Vec<(JobKey, &JobFact)> =
                held_jobs(&snapshot).filter(|(key, fact)| self.is_ours(*key, fact)).collect();
            // Each gets a lower priority than those before it.
            held_facts.sort_by_key(|(key, fact)| (fact.submit, *key));
            if attempt == TRIES {
                // The cluster takes the priority of a released job that it cannot start.
                let refused_jobs =
                    held_facts.iter().filter(|(key, fact)| !(fact.reason.sets_aside() && tried_jobs.contains(key)));
                let ids: BTreeSet<u64> = refused_jobs.map(|(key, _)| key.id).collect();
                let sentence =
                    |id: &u64| format!("job {id} is still held although it was released: `scontrol release {id}`");
                self.given.left = ids.iter().map(sentence).collect();
                held_facts.retain(|(key, _)| ids.contains(&key.id));
            }
            let own_jobs: Vec<JobKey> = held_facts.into_iter().map(|(key, _)| key).collect();
            self.list_held(&snapshot, &own_jobs);
            if own_jobs.is_empty() || attempt == TRIES {
                self.given.released = tried_jobs.iter().filter(|key| !own_jobs.contains(key)).count();
                return Ok(());
            }
            self.let_go(&snapshot, &own_jobs, attempt == 1);
            tried_jobs.extend(own_jobs);
        }
        Ok(())
    }

    /// Notes the jobs of the driven partitions that stay held, and their holders.
    fn list_held(&mut self, snapshot: &ClusterSnapshot, keys: &[JobKey]) {
        let released_jobs: BTreeSet<JobKey> = keys.iter().copied().collect();
        let is_driven = |fact: &JobFact| self.partitions.is_empty() || self.partitions.contains(&fact.partition);
        let jobs = held_jobs(snapshot).filter(|(key, fact)| is_driven(fact) && !released_jobs.contains(key));
        let facts: BTreeMap<JobKey, &JobFact> = jobs.collect();
        let held_rows = facts.into_iter().map(|(key, fact)| HeldJob { job: key.name(), by: self.holder_of(key, fact) });
        self.given.held = held_rows.collect();
        self.given.users = self.given.held.iter().filter(|hold| hold.by == JobHolder::User).count();
    }

    /// Returns who holds a job that stays held.
    fn holder_of(&self, key: JobKey, fact: &JobFact) -> JobHolder {
        match fact.reason {
            PendingReason::AdminHold => JobHolder::Administrator,
            PendingReason::RequeuedHeld => JobHolder::User,
            PendingReason::LaunchFailed => JobHolder::Cluster,
            _ if self.is_users(key, fact) => JobHolder::User,
            // Where no daemon drove, or all was given back, no hook tells of users' holds.
            PendingReason::UserHold if self.standing.given_back || self.partitions.is_empty() => JobHolder::User,
            PendingReason::UserHold => JobHolder::Unknown,
            _ => JobHolder::Cluster,
        }
    }

    /// Takes the hook's marks off: of an array at once, where all of it bears one.
    fn remove_marks(&mut self) -> Result<(), LiveError> {
        let snapshot = self.look_at_cluster()?;
        let live = snapshot.jobs.iter().filter(|fact| !matches!(fact.state, JobState::Ended(_)));
        let mut marks: BTreeMap<JobName, bool> = BTreeMap::new();
        for fact in live {
            let is_marked = marks.entry(JobName { id: fact.id, task: None }).or_insert(true);
            *is_marked &= fact.mark != HookMark::None;
        }
        let marked_names: Vec<JobName> =
            marks.into_iter().filter(|(_, is_marked)| *is_marked).map(|(name, _)| name).collect();
        if !marked_names.is_empty() {
            self.cluster.remove_marks(&marked_names);
        }
        Ok(())
    }

    /// Releases jobs, in the first attempt an array whose waiting tasks all go by its own number:
    /// one by one the cluster would make a record of each.
    fn let_go(&mut self, snapshot: &ClusterSnapshot, keys: &[JobKey], by_array: bool) {
        let released_jobs: BTreeSet<JobKey> = keys.iter().copied().collect();
        let staying_ids: BTreeSet<u64> =
            held_jobs(snapshot).filter(|(key, _)| !released_jobs.contains(key)).map(|(key, _)| key.id).collect();
        let mut orders: Vec<ClusterOrder> = Vec::new();
        for &key in keys {
            let is_whole = by_array && key.task.is_some() && !staying_ids.contains(&key.id);
            let order = ClusterOrder::Release(if is_whole { JobKey { task: None, ..key } } else { key });
            if orders.last() != Some(&order) {
                orders.push(order);
            }
        }
        self.execute_orders(&orders);
    }

    /// Returns whether a held job is held for the daemon alone. The cluster's reason says little:
    /// it names the limit or the partition that stopped a task of the same array, and calls every
    /// job of priority 0 an administrator's whose own reason it has lost.
    fn is_ours(&self, key: JobKey, fact: &JobFact) -> bool {
        let is_marked = fact.mark != HookMark::None || self.standing.is_ours(key) || self.is_orphan(key, fact);
        // The hook kept its owner's release from the cluster.
        let is_freed = fact.reason == PendingReason::UserHold && self.standing.users.last_word(key) == Some(false);
        let is_others = match fact.reason {
            PendingReason::AdminHold => self.standing.operators.is_held(key),
            PendingReason::RequeuedHeld | PendingReason::LaunchFailed => true,
            _ => false,
        };
        (is_marked || is_freed) && !is_others && !self.is_users(key, fact)
    }

    /// Returns whether it was requeued while the daemon had it suspended: it is held then as if an
    /// administrator held it.
    fn is_orphan(&self, key: JobKey, fact: &JobFact) -> bool {
        let mut suspended_jobs = self.standing.suspended.iter();
        fact.reason == PendingReason::AdminHold
            && fact.restarts > 0
            && suspended_jobs.any(|own| own.id == key.id && own.task == key.task)
    }

    fn is_users(&self, key: JobKey, fact: &JobFact) -> bool {
        self.standing.users.last_word(key).unwrap_or(fact.mark == HookMark::User)
    }

    fn unpin_jobs(&mut self) -> Result<(), LiveError> {
        if self.standing.pinned.is_empty() {
            return Ok(());
        }
        let snapshot = self.look_at_cluster()?;
        let pending = snapshot.jobs.iter().filter(|fact| fact.state == JobState::Pending).flat_map(JobFact::job_keys);
        let orders: Vec<ClusterOrder> =
            pending.filter(|key| self.standing.pinned.contains(key)).map(ClusterOrder::Unpin).collect();
        self.given.unpinned += self.execute_orders(&orders);
        Ok(())
    }
}

fn held_jobs(snapshot: &ClusterSnapshot) -> impl Iterator<Item = (JobKey, &JobFact)> {
    let jobs = snapshot.jobs.iter().filter(|fact| fact.state == JobState::Pending && fact.held);
    jobs.flat_map(|fact| fact.job_keys().into_iter().map(move |key| (key, fact)))
}
