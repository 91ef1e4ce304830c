//! A cluster that is made up, with a clock of its own and every fault that a real one has: for
//! tests, deterministic.
//!
//! It keeps to what a real Slurm does where that matters to a daemon: it starts jobs that are not
//! held in the order of their release, and none behind one that does not fit; it takes the priority
//! of one that no nodes can hold, and goes on; it resumes jobs without looking for room; a requeue
//! changes the submit time; a controller that is killed forgets the last seconds and gives their
//! numbers to other jobs.

mod faults;
mod machine;

pub use faults::SeededFaults;

use super::{
    Capabilities, Cluster, ClusterError, ClusterOrder, ClusterSnapshot, Ending, HookMark, JobDependencies, JobFact,
    JobKey, JobName, JobSlot, JobState, LicenceFact, NodeFact, NodeRequest, NodeShare, NodeState, OrderOutcome,
    PendingReason, UnmodelledRequest, Want,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FakeRequest {
    pub procs: u32,
    /// Run time, in seconds.
    pub run: i64,
    /// Its time limit in seconds.
    pub limit: i64,
    pub user: String,
    /// True if the user holds it.
    pub user_hold: bool,
    /// Processors that have to be on one node together.
    pub together: u32,
    pub partition: String,
    /// True if the controller finds no nodes for it: it sets the job aside when it considers it.
    pub never: bool,
    /// Fewest nodes with which its user lets it go on while it runs.
    pub least_nodes: Option<u32>,
    /// Licences that it asks for, by name.
    pub licences: Vec<(String, u32)>,
}

impl FakeRequest {
    /// A job of one user.
    pub fn new(procs: u32, run: i64, limit: i64) -> FakeRequest {
        let (user, partition) = ("anna".into(), "main".into());
        FakeRequest {
            procs,
            run,
            limit,
            user,
            user_hold: false,
            together: 1,
            partition,
            never: false,
            least_nodes: None,
            licences: Vec::new(),
        }
    }
}

/// A job as the made-up controller has it. Times are in milliseconds of its clock.
#[derive(Clone, Debug)]
pub(super) struct FakeJob {
    asked: FakeRequest,
    submit: i64,
    state: JobState,
    reason: PendingReason,
    held: bool,
    mark: HookMark,
    restarts: u32,
    nodes: Option<Vec<usize>>,
    /// Processors on each node.
    on: Vec<(usize, u32)>,
    since: i64,
    started: i64,
    ran: i64,
    ended: i64,
    /// Sequence number of the release; jobs start in that order.
    released: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FakeRecord {
    pub starts: Vec<(JobKey, i64)>,
    /// Every order that was carried out.
    pub orders: Vec<ClusterOrder>,
    /// The most processors that were in use at once, on any node beyond its own.
    pub oversubscribed: u32,
}

#[derive(Clone, Debug)]
pub struct FakeCluster {
    /// Now, in milliseconds.
    now: i64,
    nodes: Vec<(String, u32, NodeState)>,
    /// Windows of reservations by node, in seconds.
    windows: BTreeMap<usize, Vec<(i64, i64)>>,
    /// Nodes of partitions; any others have all of them.
    partitions: BTreeMap<String, Range<usize>>,
    /// Licences by name: how many there are, and how many others have.
    licences: BTreeMap<String, (u64, u64)>,
    jobs: BTreeMap<u64, FakeJob>,
    next: u64,
    releases: u64,
    /// True if the hook holds new jobs.
    hook: bool,
    /// True if the site lets nodes be taken from running jobs.
    shrinks: bool,
    /// True if the controller refuses that nevertheless.
    keeps_nodes: bool,
    /// Last saved state of the controller, and the time of saving.
    saved: (i64, Box<FakeController>),
    faults: SeededFaults,
    record: FakeRecord,
}

/// State that is lost when the controller is killed.
#[derive(Clone, Debug, Default)]
struct FakeController {
    jobs: BTreeMap<u64, FakeJob>,
    next: u64,
}

impl FakeCluster {
    /// A cluster of `nodes` nodes with `procs` processors each, whose hook holds what is submitted.
    pub fn new(nodes: u32, procs: u32) -> FakeCluster {
        FakeCluster {
            now: 1_700_000_000_000,
            nodes: (1..=nodes).map(|k| (format!("n{k}"), procs, NodeState::Up)).collect(),
            windows: BTreeMap::new(),
            partitions: BTreeMap::new(),
            licences: BTreeMap::new(),
            jobs: BTreeMap::new(),
            next: 1,
            releases: 0,
            hook: true,
            shrinks: false,
            keeps_nodes: false,
            saved: (0, Box::default()),
            faults: SeededFaults::default(),
            record: FakeRecord::default(),
        }
    }

    #[must_use]
    pub fn with_faults(mut self, faults: SeededFaults) -> FakeCluster {
        self.faults = faults;
        self
    }

    #[must_use]
    pub fn with_partition(mut self, name: &str, nodes: Range<usize>) -> FakeCluster {
        self.partitions.insert(name.to_string(), nodes);
        self
    }

    /// Lets nodes be taken from running jobs.
    #[must_use]
    pub fn with_shrinking(mut self) -> FakeCluster {
        self.shrinks = true;
        self
    }

    /// Makes the controller refuse to take nodes from running jobs from now on.
    pub fn refuse_shrinking(&mut self) {
        self.keeps_nodes = true;
    }

    /// Overwrites the comment of a job, and the hook's mark in it.
    pub fn overwrite_comment(&mut self, number: u64) {
        if let Some(job) = self.jobs.get_mut(&number) {
            job.mark = HookMark::None;
        }
    }

    /// Switches the hook, which holds new jobs.
    pub fn set_hook(&mut self, on: bool) {
        self.hook = on;
    }

    /// Its clock, in milliseconds.
    pub fn current_time(&self) -> i64 {
        self.now
    }

    pub fn event_record(&self) -> &FakeRecord {
        &self.record
    }

    /// Submits a job. Returns its number.
    pub fn submit(&mut self, request: FakeRequest) -> u64 {
        let number = self.next;
        self.next += 1;
        let is_held = self.hook || request.user_hold;
        let mark = match (self.hook, request.user_hold) {
            (true, true) => HookMark::User,
            (true, false) => HookMark::Held,
            (false, _) => HookMark::None,
        };
        self.releases += 1;
        let job = FakeJob {
            asked: request,
            submit: self.now / 1_000,
            state: JobState::Pending,
            reason: if is_held { PendingReason::UserHold } else { PendingReason::Turn },
            held: is_held,
            mark,
            restarts: 0,
            nodes: None,
            on: Vec::new(),
            since: 0,
            started: 0,
            ran: 0,
            ended: 0,
            released: self.releases,
        };
        self.jobs.insert(number, job);
        number
    }

    /// A user or an operator does something to a job.
    pub fn by_hand(&mut self, order: &ClusterOrder) -> bool {
        self.carry_out(order)
    }

    /// Sets what a node is good for. A node that is not up loses its jobs if it is `down`.
    pub fn set_node(&mut self, at: usize, state: NodeState, down: bool) {
        self.nodes[at].2 = state;
        if down {
            let on: Vec<u64> = self.live_on(at);
            for number in on {
                self.requeue_job(number);
            }
        }
    }

    /// Sets how many licences of a name there are, and how many of them others have.
    pub fn set_licence(&mut self, name: &str, total: u64, foreign_count: u64) {
        self.licences.insert(name.to_string(), (total, foreign_count));
    }

    pub fn add_node(&mut self, name: &str, procs: u32) {
        self.nodes.push((name.into(), procs, NodeState::Up));
    }

    pub fn reserve_node(&mut self, at: usize, from: i64, until: i64) {
        self.windows.entry(at).or_default().push((from, until));
    }

    /// Kills the controller: what it did since it last saved is forgotten. Jobs that have ended
    /// since come back, and so on.
    pub fn kill_controller(&mut self) {
        let FakeController { jobs, next } = (*self.saved.1).clone();
        let running_jobs: BTreeMap<u64, FakeJob> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.state == JobState::Running)
            .map(|(&n, job)| (n, job.clone()))
            .collect();
        self.jobs = jobs;
        self.next = next;
        for (number, job) in running_jobs {
            // Nodes tell of what runs on them: what the controller does not know to run there is
            // killed.
            if let Some(entry) = self.jobs.get_mut(&number)
                && entry.state == JobState::Running
                && entry.submit == job.submit
            {
                *entry = job;
            }
        }
    }

    pub fn is_done(&self) -> bool {
        self.jobs.values().all(|job| matches!(job.state, JobState::Ended(_)))
    }

    pub fn job_state(&self, number: u64) -> Option<JobState> {
        self.jobs.get(&number).map(|job| job.state)
    }

    pub fn is_held(&self, number: u64) -> bool {
        self.jobs.get(&number).is_some_and(|job| job.held && job.state == JobState::Pending)
    }

    /// The whole truth, whether the controller answers or not.
    pub fn true_snapshot(&self) -> ClusterSnapshot {
        ClusterSnapshot {
            time: self.now / 1_000,
            jobs: self.jobs.iter().map(|(&number, job)| self.job_fact(number, job)).collect(),
            nodes: (0..self.nodes.len()).map(|at| self.node_fact(at)).collect(),
            licences: self.licences.keys().map(|name| self.licence_fact(name)).collect(),
        }
    }

    fn job_fact(&self, number: u64, job: &FakeJob) -> JobFact {
        let places = job.on.iter().map(|&(at, procs)| NodeShare { node: self.nodes[at].0.clone(), procs: Some(procs) });
        let over = matches!(job.state, JobState::Ended(_));
        JobFact {
            id: number,
            slot: JobSlot::Single,
            number,
            submit: job.submit,
            state: job.state,
            reason: job.reason,
            held: job.held,
            procs: job.asked.procs,
            nodes: u32::try_from(job.on.len()).unwrap_or(u32::MAX).max(1),
            least_nodes: job.asked.least_nodes.filter(|_| self.shrinks),
            together: job.asked.together,
            memory: None,
            limit: Some(job.asked.limit),
            ran: if job.state == JobState::Running { 0 } else { job.ran / 1_000 },
            start: (job.started > 0).then_some(job.started / 1_000),
            end: over.then_some(job.ended / 1_000),
            places: places.collect(),
            leaving: false,
            depends: JobDependencies::No,
            throttle: None,
            user: job.asked.user.clone(),
            group: "users".into(),
            account: String::new(),
            priority: 0,
            devices: Vec::new(),
            licences: job.asked.licences.clone(),
            partition: job.asked.partition.clone(),
            class: String::new(),
            asks: (!job.asked.licences.is_empty()).then_some(UnmodelledRequest::Licences).into_iter().collect(),
            mark: job.mark,
            restarts: job.restarts,
            pinned: job.nodes.is_some(),
            request: NodeRequest::default(),
        }
    }

    fn node_fact(&self, at: usize) -> NodeFact {
        let (name, procs, mut state) = self.nodes[at].clone();
        let now = self.now / 1_000;
        if state == NodeState::Up && self.is_reserved(at, now, now + 1) {
            state = NodeState::Reserved;
        }
        NodeFact {
            name,
            state,
            procs,
            busy: procs - self.idle_on(at).min(procs),
            memory: None,
            whole_memory: None,
            devices: Vec::new(),
            features: Vec::new(),
            weight: 1,
            windows: self.windows.get(&at).cloned().unwrap_or_default(),
        }
    }

    fn job_key(&self, number: u64) -> JobKey {
        JobKey { id: number, task: None, submit: self.jobs.get(&number).map_or(0, |job| job.submit) }
    }
}

impl Cluster for FakeCluster {
    fn observe(&mut self, _want: &Want) -> Result<ClusterSnapshot, ClusterError> {
        if self.faults.is_silent(self.now) {
            return Err(ClusterError::Silent("no answer within 10 s".into()));
        }
        let mut jobs = self.true_snapshot().jobs;
        // No order can be relied on: `squeue` lists waiting jobs by their priority.
        jobs.reverse();
        self.pass_time(self.faults.between);
        Ok(ClusterSnapshot { jobs, ..self.true_snapshot() })
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder], may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
        let mut outcomes = Vec::new();
        for order in orders {
            if !may() || self.faults.is_silent(self.now) {
                outcomes.push(OrderOutcome::Unknown);
                continue;
            }
            let (happens, answer) = self.faults.next();
            let is_done = happens && self.carry_out(order);
            if is_done {
                self.record.orders.push(order.clone());
            }
            outcomes.push(match (answer, is_done) {
                (false, _) => OrderOutcome::Unknown,
                (true, true) => OrderOutcome::Done,
                (true, false) => OrderOutcome::Refused("refused".into()),
            });
        }
        outcomes
    }

    fn remove_marks(&mut self, jobs: &[JobName]) {
        for name in jobs {
            self.overwrite_comment(name.id);
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { suspend: true, migrate: false, pin: true, hold: true, shrink: self.shrinks }
    }

    fn take_call_cost(&mut self) -> Duration {
        Duration::from_millis(1)
    }

    fn name(&self) -> String {
        "a made-up cluster".into()
    }
}
