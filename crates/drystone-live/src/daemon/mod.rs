//! The shell: clocks, commands, journal, lock. Everything that decides is in [`crate::core`].

pub(crate) mod budget;
pub(crate) mod config;
pub(crate) mod desk;
mod faults;
mod given_nodes;
mod remarks;
mod resume;
pub(crate) mod stats;
mod turn;

pub use budget::Budget;
pub use config::DaemonConfig;
pub use desk::LiveDesk;
pub use faults::{POINTS, PointFaults};
pub use resume::{ResumeHistory, resume_daemon};
pub use stats::{PersonNote, Stats};

use crate::board::PublishedBoard;
use crate::clock::{DaemonClock, processor_time};
use crate::cluster::{Cluster, ClusterSnapshot, HookMark, JobFact, JobKey, JobState};
use crate::core::{Core, CoreInput};
use crate::error::LiveError;
use crate::hand_back::{HandBackOptions, HandBackSummary, hand_back};
use crate::state::{ActionLedger, Heartbeat, Lock, Wake};
use crate::tracker::{DaemonMode, HookMessage, Stamp, WakePosition};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest sleep of the daemon, and so the interval of its checks for wake-ups.
const NAP: Duration = Duration::from_millis(10);
/// Delay of a look after a wake-up, and after one by ends alone. The hook speaks before its cause
/// is carried out, the script of ends while the nodes clean up.
const AFTER_WAKE: Duration = Duration::from_millis(50);
const AFTER_END: Duration = Duration::from_millis(20);
/// Interval of heartbeats between two looks, the last of which was answered.
const BEAT: Duration = Duration::from_secs(3);
/// Backoff while the cluster does not answer.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DaemonEnd {
    /// It was stopped.
    Asked,
    /// Another scheduler drives, or everything was given back.
    Fenced,
    /// It gave everything back by itself: why.
    GaveBack(String),
    /// The policy broke its contract, and everything was given back: how.
    Violation(String),
}

pub struct Daemon<C, K> {
    config: DaemonConfig,
    cluster: C,
    clock: K,
    /// One for each set of nodes.
    desks: Vec<LiveDesk>,
    ledger: ActionLedger,
    wake: Wake,
    heartbeat: Option<Heartbeat>,
    budget: Budget,
    faults: PointFaults,
    stats: Stats,
    board: Arc<PublishedBoard>,
    /// Time in which the cluster answered since the daemon began.
    answered: Duration,
    /// Time of its last answer.
    heard: Option<Duration>,
    /// Time of the next look, and true if an event causes it.
    due: Duration,
    backoff: Duration,
    /// Time of the last publication of status file and board.
    told: Option<Duration>,
    written: Option<Duration>,
    /// Files that cannot be written now, and that it does without.
    unwritten: BTreeSet<PathBuf>,
    /// Time of the last heartbeat.
    beaten: Duration,
    /// True if the last look led to orders, so that the next comes soon.
    soon: bool,
    /// True if ends alone woke the daemon for the next look.
    after_end: bool,
    /// True if the last look saw jobs that nodes still clean up after.
    leaves: bool,
    /// Messages of the hook while the cluster was silent.
    unheard: Vec<(WakePosition, HookMessage)>,
    /// Nodes that the policy has, and new ones of which that was said.
    known_nodes: BTreeSet<String>,
    /// The highest number of a job that was seen.
    highest: Option<u64>,
    /// Processor time of this process that looks were charged with.
    charged: Duration,
    /// Processor time of the commands of this look, before its orders.
    looked: Duration,
    _lock: Lock,
    _run_lock: Option<Lock>,
}

impl<C: Cluster, K: DaemonClock> Daemon<C, K> {
    /// Takes the lock, continues from the journal or starts without one, and in `drive` beats for
    /// the first time. The state is published on `board`.
    ///
    /// # Errors
    /// Another daemon works here, the policy cannot work on this cluster, the cluster does not
    /// answer, or a file cannot be written.
    pub fn begin_daemon(
        config: DaemonConfig,
        mut cluster: C,
        clock: K,
        faults: PointFaults,
        board: Arc<PublishedBoard>,
    ) -> Result<Daemon<C, K>, LiveError> {
        Core::check_policy(&config.policy, cluster.capabilities())?;
        config.home.make_folders().map_err(LiveError::io_error(config.home.state_folder().display()))?;
        let lock = Lock::take_lock(&config.home.lock_path(), &format!("{} ({:?})\n", config.instance, config.mode))?;
        // The hook reads one heartbeat: two that drive would take it from each other.
        let run_lock = match config.mode {
            DaemonMode::Drive => Some(Lock::take_lock(&config.home.run_lock(), &format!("{}\n", config.instance))?),
            DaemonMode::Shadow => None,
        };
        config.home.note_run().map_err(LiveError::io_error(config.home.state_folder().display()))?;
        let snapshot = cluster.observe(&crate::cluster::Want::default())?;
        let ledger = ActionLedger::open(config.home.ledger_path())
            .map_err(LiveError::io_error(config.home.ledger_path().display()))?;
        let (wall, steady) = (clock.wall_seconds(), clock.steady_time());
        let desk_results = (0..config.sets.len()).map(|at| LiveDesk::begin_desk(&config, at, &snapshot, wall, steady));
        let mut desk_beginnings = desk_results.collect::<Result<Vec<_>, LiveError>>()?;
        // Where no journal says how far the wake file was read, the ledger has the words up to its
        // own position.
        for beginning in desk_beginnings.iter_mut().filter(|beginning| beginning.desk.heard == WakePosition::default())
        {
            beginning.desk.heard = ledger.standing().heard;
        }
        config.home.note_partitions(&config.sets).map_err(LiveError::io_error(config.home.state_folder().display()))?;
        config.home.note_sets(&config.sets).map_err(LiveError::io_error(config.home.state_folder().display()))?;
        // From where the first of them reads on; what others have read before they pass over.
        let heard_position = desk_beginnings
            .iter()
            .map(|beginning| beginning.desk.heard)
            .reduce(WakePosition::earlier_of)
            .unwrap_or_default();
        let wake = Wake::open(config.home.wake_path(), heard_position, config.waker)
            .map_err(LiveError::io_error(config.home.wake_path().display()))?;
        let mut desks = Vec::new();
        let mut first = Vec::new();
        for beginning in desk_beginnings {
            desks.push(beginning.desk);
            first.push((beginning.notes, beginning.inputs));
        }
        let layouts = desks.iter().flat_map(|desk| desk.core.tracker().layout().nodes());
        let known_nodes: BTreeSet<String> = layouts.map(|(name, _)| name.to_string()).collect();
        let mut daemon = Daemon {
            board,
            budget: Budget::new(steady),
            answered: Duration::ZERO,
            heard: None,
            due: steady,
            backoff: BACKOFF.0,
            told: None,
            written: None,
            unwritten: BTreeSet::new(),
            beaten: steady,
            soon: false,
            after_end: false,
            leaves: false,
            unheard: Vec::new(),
            highest: None,
            known_nodes,
            charged: processor_time(),
            looked: Duration::ZERO,
            stats: Stats::default(),
            heartbeat: None,
            _lock: lock,
            _run_lock: run_lock,
            config,
            cluster,
            clock,
            desks,
            ledger,
            wake,
            faults,
        };
        for (at, (notes, inputs)) in first.into_iter().enumerate() {
            for note in notes {
                daemon.note_of(at, &note)?;
            }
            for input in inputs {
                daemon.feed_input(at, &input)?;
            }
        }
        if daemon.config.mode == DaemonMode::Drive {
            daemon.remember_ledger(&snapshot)?;
        }
        if daemon.config.mode == DaemonMode::Drive {
            let (path, instance) = (daemon.config.home.heartbeat_path(), daemon.config.instance.clone());
            let beat = Heartbeat::begin_beating(path.clone(), instance, daemon.clock.wall_seconds());
            daemon.heartbeat = Some(beat.map_err(LiveError::io_error(path.display()))?);
        }
        Ok(daemon)
    }

    /// Restores the jobs that an earlier daemon held and suspended, where no journal has them.
    fn remember_ledger(&mut self, snapshot: &ClusterSnapshot) -> Result<(), LiveError> {
        let garbled_lines = self.ledger.standing().garbled.len();
        for at in 0..self.desks.len() {
            self.remember_set(at, snapshot)?;
        }
        if garbled_lines > 0 {
            let path = self.config.home.ledger_path();
            self.write_note(&format!(
                "{}: lines that are not understood and left out: {garbled_lines}",
                path.display()
            ))?;
        }
        self.ledger.begin_again().map_err(LiveError::io_error(self.config.home.ledger_path().display()))
    }

    /// Restores those of one set: of several sets, jobs that are listed in its partitions.
    fn remember_set(&mut self, at: usize, snapshot: &ClusterSnapshot) -> Result<(), LiveError> {
        let (standing, desk) = (self.ledger.standing(), &self.desks[at]);
        let several = self.desks.len() > 1;
        let own = snapshot.jobs.iter().filter(|fact| several && desk.set.partitions.contains(&fact.partition));
        let own: BTreeSet<JobKey> = own.flat_map(JobFact::job_keys).collect();
        let unknown = |key: &&JobKey| desk.core.tracker().find_job(**key).is_none() && (!several || own.contains(key));
        let is_bare = |fact: &&JobFact| fact.state == JobState::Pending && fact.mark == HookMark::None;
        let marked_keys =
            snapshot.jobs.iter().filter(is_bare).flat_map(JobFact::job_keys).filter(|key| standing.is_ours(*key));
        let owned_jobs: BTreeSet<JobKey> = standing.held.iter().copied().chain(marked_keys).collect();
        let held_jobs: BTreeSet<JobKey> = owned_jobs.iter().filter(unknown).copied().collect();
        let stopped_jobs: BTreeSet<JobKey> = standing.suspended.iter().filter(unknown).copied().collect();
        let pinned_jobs: BTreeSet<JobKey> = standing.pinned.iter().filter(unknown).copied().collect();
        let (users, operators, given_back) = (standing.users.clone(), standing.operators.clone(), standing.given_back);
        if !held_jobs.is_empty() || !stopped_jobs.is_empty() || !pinned_jobs.is_empty() {
            self.feed_input(
                at,
                &CoreInput::Remembered { taken: held_jobs, stopped: stopped_jobs, pinned: pinned_jobs },
            )?;
        }
        if !users.is_empty() || !operators.is_empty() || given_back {
            self.feed_input(at, &CoreInput::RememberedWords { users, operators, given_back, since: snapshot.time })?;
        }
        Ok(())
    }

    /// The core of the first set of nodes, to look at.
    pub fn first_core(&self) -> &Core {
        &self.desks[0].core
    }

    /// State of each set of nodes.
    pub fn desks(&self) -> &[LiveDesk] {
        &self.desks
    }

    pub fn cluster(&mut self) -> &mut C {
        &mut self.cluster
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Works until it is stopped or must stop.
    ///
    /// # Errors
    /// As [`Daemon::run_turn`]; what can be given back was.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<DaemonEnd, LiveError> {
        loop {
            self.wait_for_look(stop);
            if stop.load(Ordering::SeqCst) {
                return Ok(DaemonEnd::Asked);
            }
            if let Some(end) = self.run_turn()? {
                return Ok(end);
            }
        }
    }

    /// Waits for the next look: until it is due, something wakes, or something is due without
    /// anything having been seen.
    fn wait_for_look(&mut self, stop: &AtomicBool) {
        let mut is_woken = false;
        while !stop.load(Ordering::SeqCst) {
            let now = self.clock.steady_time();
            if now >= self.due || self.tick_due().is_some() {
                return;
            }
            if !is_woken && self.heard.is_some() && self.wake.is_new() && self.budget.allows_look(now) {
                is_woken = true;
                self.after_end = self.wake.tells_of_ends();
                self.due = self.due.min(now + if self.after_end { AFTER_END } else { AFTER_WAKE });
            }
            self.beat_between(now);
            let pause = self.due.saturating_sub(self.clock.steady_time());
            self.clock.sleep(NAP.min(pause.max(Duration::from_millis(1))));
        }
    }

    /// The present, as the session of a set has it.
    fn current_stamp(&self, at: usize) -> Stamp {
        let desk = &self.desks[at];
        let elapsed_time = self.clock.steady_time().saturating_sub(desk.base.1);
        let now = desk.base.0 + i64::try_from(elapsed_time.as_secs()).unwrap_or(0);
        let answered_ms = u64::try_from(self.answered.as_millis()).unwrap_or(u64::MAX);
        Stamp { now, steady: desk.steady.saturating_add(answered_ms) }
    }

    /// Returns the set for which something is due without a look, and the time of that. The last
    /// look must not be old.
    fn tick_due(&self) -> Option<(usize, Stamp)> {
        let fresh = self.heard.is_some_and(|contact| {
            self.clock.steady_time().saturating_sub(contact) <= self.budget.look_period() + Duration::from_secs(2)
        });
        (0..self.desks.len()).filter(|_| fresh).find_map(|at| {
            let stamp = self.current_stamp(at);
            let due = self.desks[at].core.tick_due(stamp.session_time())?;
            Some((at, Stamp { now: due.0, ..stamp }))
        })
    }

    /// Gives everything back, as `live hand-back` does.
    ///
    /// # Errors
    /// The cluster does not answer, or files cannot be written.
    pub fn give_back(&mut self, options: &HandBackOptions) -> Result<HandBackSummary, LiveError> {
        let clock = &mut self.clock;
        hand_back(&mut self.cluster, &self.config.home, options, &mut |time| clock.sleep(time))
    }
}
