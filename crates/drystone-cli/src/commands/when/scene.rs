//! The state of a cluster as a forecaster takes it: one pool of processors, jobs observed.

use super::conditions::QueueConditions;
use super::history::{ListedNodes, place_history};
use super::places::NodePlaces;
use super::reasons::{Condition, WaitEffect, WaitReason};
use super::reserved::ReservedPool;
use super::site_nodes::{QueueNames, SchedulerSource, SiteNodes, shape_of_queued};
use super::state::{self, ClusterState, QueueEntry, StateNode};
use super::unmet::NodeDemand;
use crate::args::WhenArgs;
use crate::exit::CommandFailure;
use crate::output::message;
use crate::output::number::format_plural;
use crate::progress::WorkProgress;
use drystone::model::{Job, JobId, Machine, ProcSet, Span, Time};
use drystone::policy::{CapacityLoss, PolicySpec};
use drystone_site::{ImportObserver, ImportOptions, Site, SiteError, import_files};
use drystone_when::{
    Adoption, Forecaster, ForecasterSettings, FutureError, Observed, Rehearsal, RehearsalMachine, RehearsalQuestions,
    StartGates, adopt_jobs,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// The job that is not submitted yet, as it is called.
const HYPOTHETICAL: &str = "the job";
/// Jobs without a limit are taken to have this one.
const NO_LIMIT: i64 = 365 * 86_400;
/// Waits that are no longer than Slurm takes to look are none.
const PATIENCE: Span = Span(60);

/// Rehearsed answers that tell how long the others will take.
const FIRST_ANSWERS: usize = 5;

/// Past answers that are rehearsed whatever the budget.
const LEAST_REHEARSED: usize = 40;

/// Futures of a rehearsed answer under a policy with passes of its own clocks.
const FUTURES_OF_CLOCKS: u32 = 20;
/// Work of the futures of such a policy unless another number is asked for, and of its rehearsal:
/// each takes a few seconds on one core.
const WORK_OF_CLOCKS: [u64; 2] = [5_000_000, 2_500_000];
/// Futures unless another number is asked for.
const FUTURES: u32 = 100;

pub(super) struct WhenScene {
    pub(super) now: i64,
    /// The policy, of the folder's own `slurm.conf` where it is Slurm's.
    pub(super) policy: PolicySpec,
    pub(super) schedulers: SchedulerSource,
    /// The cluster that `slurm.conf` describes, under Slurm's own policy.
    site_nodes: Option<SiteNodes>,
    /// Nodes of jobs that ran or run, where nodes count.
    listed: ListedNodes,
    /// Processors of nodes that take new jobs, and those that jobs still hold on others.
    machine: Machine,
    /// Those of nodes that take new jobs, now or after a reservation.
    open: u32,
    /// Windows that are announced, and processors that are lost when the jobs there are over.
    losses: Vec<CapacityLoss>,
    /// Jobs of the past and of the queue.
    pub(super) observed: Vec<Observed>,
    /// Jobs of the queue: where they are among the observed.
    queue: Vec<(QueueEntry, Option<usize>)>,
    /// Conditions of jobs of the queue, by their places there.
    conditions: QueueConditions,
    pub(super) reserved: BTreeMap<String, ReservedPool>,
    /// The first of the observed that is in the queue.
    present: usize,
    users: BTreeMap<String, i32>,
    pub(super) has_accounting: bool,
    /// Times at which the accounting has all jobs that ran or waited; empty without accounting.
    pub(super) known: RangeInclusive<Time>,
    pub(super) remarks: Vec<String>,
}

impl WhenScene {
    pub(super) fn read_scene(dir: &Path, args: &WhenArgs, policy: &PolicySpec) -> Result<WhenScene, CommandFailure> {
        let mut state = state::read_state(dir)?;
        let site_nodes = SiteNodes::read_conf(policy, dir)?;
        // Where nodes count, the whole cluster is simulated.
        let partition = args.partition.as_deref().filter(|_| site_nodes.is_none());
        if let Some(name) = partition {
            state.take_in_neighbours(name);
        }
        let site = state.accounting.as_deref().map(|path| read_accounting(path, args)).transpose()?.flatten();
        let policy = site_nodes.as_ref().map_or_else(|| policy.clone(), |nodes| nodes.policy_with_priorities(policy));
        let plain = policy.clone();
        let mut scene = WhenScene {
            now: state.now,
            policy,
            schedulers: Arc::new(move || plain.build_scheduler()),
            site_nodes,
            listed: ListedNodes::new(),
            machine: Machine::new(1),
            open: 1,
            losses: Vec::new(),
            observed: Vec::new(),
            queue: Vec::new(),
            conditions: QueueConditions::default(),
            reserved: ReservedPool::of_state(&state),
            present: 0,
            users: BTreeMap::new(),
            has_accounting: state.accounting.is_some(),
            known: RangeInclusive::new(Time::MAX, Time::MIN),
            remarks: Vec::new(),
        };
        check_partition(&state, args, dir)?;
        let places = scene.build_machine(&state, partition, dir)?;
        if let Some(site) = &site {
            scene.take_past(site, &state, partition);
        }
        scene.present = scene.observed.len();
        scene.take_queue(&state, partition, &places);
        scene.settle_nodes(&places)?;
        Ok(scene)
    }

    fn user_number(&mut self, name: &str) -> i32 {
        let next = self.users.len() as i32;
        *self.users.entry(name.to_string()).or_insert(next)
    }

    /// Sets the processors of nodes that take new jobs, and those that jobs still hold on others.
    /// Returns where nodes are.
    fn build_machine(
        &mut self,
        state: &ClusterState,
        partition_filter: Option<&str>,
        dir: &Path,
    ) -> Result<NodePlaces, CommandFailure> {
        let is_in_partition = |job: &&QueueEntry| {
            partition_filter.is_none_or(|name| job.partition.split(',').any(|partition_name| partition_name == name))
        };
        let running_jobs: Vec<&QueueEntry> =
            state.jobs.iter().filter(|job| job.since.is_some()).filter(is_in_partition).collect();
        self.open = 0;
        let (procs, mut places) = match &self.site_nodes {
            Some(nodes) => {
                nodes.check_nodes(&state.nodes);
                let described_nodes: Vec<(String, u32)> =
                    nodes.nodes().map(|(name, cpus)| (name.to_string(), cpus)).collect();
                self.lay_out(state, &described_nodes)
            }
            None => self.gather_nodes(state, partition_filter, &running_jobs),
        };
        if self.open == 0 {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: no node is up and takes new jobs, so that no job can start",
                dir.join("nodes.txt").display()
            )));
        }
        self.machine = Machine::new(procs);
        for window in state.windows.iter().filter(|window| window.until > state.now && window.from < window.until) {
            let mut on = ProcSet::new();
            for range in window.nodes.iter().filter_map(|name| places.node_range(name)) {
                let missing = window.procs.map_or(u32::MAX, |procs| procs.saturating_sub(on.len()));
                on = on.union(&ProcSet::from_range(range.start..range.end.min(range.start.saturating_add(missing))));
            }
            if !on.is_empty() {
                self.losses.push(CapacityLoss { on, from: Time(window.from), until: Time(window.until) });
            }
        }
        // Where nothing is out and nodes do not count, it does not matter which processors a job
        // has.
        if !self.losses.is_empty() && self.site_nodes.is_none() {
            places.give_processors(&running_jobs);
        }
        Ok(places)
    }

    /// Puts the nodes that the configuration describes one behind the other; those that take no new
    /// jobs are out from now on.
    fn lay_out(&mut self, state: &ClusterState, node_sizes: &[(String, u32)]) -> (u32, NodePlaces) {
        let nodes_by_name: BTreeMap<&str, &StateNode> =
            state.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let (mut procs, mut places) = (0u32, NodePlaces::default());
        for (name, cpus) in node_sizes {
            let range = procs..procs + cpus;
            let node = nodes_by_name.get(name.as_str());
            if node.is_some_and(|node| state.takes_jobs(node)) {
                self.open += cpus;
            } else {
                let on = ProcSet::from_range(range.clone());
                self.losses.push(CapacityLoss { on, from: Time(state.now), until: Time::MAX });
            }
            places.add_node(name, range, node.map_or(0, |node| node.busy.min(*cpus)));
            procs += cpus;
        }
        (procs, places)
    }

    /// Counts the processors of nodes that take new jobs, and of others as many as running jobs
    /// hold.
    fn gather_nodes(
        &mut self,
        state: &ClusterState,
        partition_filter: Option<&str>,
        running: &[&QueueEntry],
    ) -> (u32, NodePlaces) {
        let partitions: BTreeSet<&String> = state.nodes.iter().flat_map(|node| &node.partitions).collect();
        if partition_filter.is_none() && partitions.len() > 1 {
            self.remarks.push(format!(
                "the nodes are in {} partitions and taken as one pool; --partition takes one of them, and --policy slurm with the \
                 folder's slurm.conf all as they are",
                partitions.len()
            ));
        }
        // Nodes that are out hold no more than the running jobs do.
        let mut occupied_procs = running.iter().fold(0u32, |sum, job| sum.saturating_add(job.procs));
        let (mut procs, mut places) = (0u32, NodePlaces::default());
        let is_here = |node: &&StateNode| partition_filter.is_none_or(|name| node.partitions.iter().any(|p| p == name));
        for node in state.nodes.iter().filter(is_here) {
            let busy = node.busy.min(node.procs);
            let open = state.takes_jobs(node);
            let usable = if open { node.procs } else { busy.min(occupied_procs) };
            occupied_procs -= if open { 0 } else { usable };
            if usable > 0 {
                let range = procs..procs + usable;
                if open {
                    self.open += usable;
                } else {
                    let on = ProcSet::from_range(range.clone());
                    self.losses.push(CapacityLoss { on, from: Time(state.now), until: Time::MAX });
                }
                places.add_node(&node.name, range, busy.min(usable));
                procs += usable;
            }
        }
        (procs, places)
    }

    fn take_past(&mut self, site: &Site, state: &ClusterState, partition_filter: Option<&str>) {
        let queued_names: BTreeSet<&str> = state.jobs.iter().map(|job| job.name.as_str()).collect();
        let mut nodes: Vec<String> = Vec::new();
        // A record has all jobs that ended in its period, so all that ran since the first such end.
        let first = site.jobs().filter_map(|job| job.end).min().unwrap_or(i64::MAX);
        let last = site.jobs().flat_map(|job| [Some(job.submit), job.start, job.end]).flatten().max();
        let last = last.map_or(self.now, |last| last.min(self.now));
        self.known = Time(first)..=Time(last);
        let days = (self.now - last) / Span::DAY.0;
        if days > 0 {
            self.remarks.push(format!(
                "the accounting ends {} before the queue: only past answers up to its end correct the new ones",
                format_plural(days as u64, "day")
            ));
        }
        for job in site.jobs() {
            let Some(end) = job.end.filter(|&end| end <= state.now) else { continue };
            let procs = job.cpus.or(job.asked_cpus).unwrap_or(job.units);
            let apart = partition_filter.is_some_and(|name| job.partition != name)
                || queued_names.contains(job.display_name().as_str());
            if apart || procs == 0 || procs > self.machine.procs {
                continue;
            }
            let mut wants = Job::new(Time(job.submit), procs, Span(i64::from(job.limit).max(1)));
            wants.user = self.user_number(&job.user);
            if let Some(own) = &mut self.site_nodes {
                own.describe_job(&mut wants, QueueNames::of_past(&job), job.node_shape());
                nodes.push(job.node_list.to_string());
            }
            let eligible = Time(job.eligible.unwrap_or(job.submit).max(job.submit));
            let start = job.start.filter(|&start| start <= end).map(Time);
            let rank = 0;
            self.observed.push(Observed {
                job: wants,
                eligible,
                start,
                end: Some(Time(end)),
                rank,
                on: None,
                held: false,
            });
        }
        // Days are replayed in the order of arrival.
        let mut order: Vec<usize> = (0..self.observed.len()).collect();
        order.sort_by_key(|&at| self.observed[at].job.submit);
        self.observed = order.iter().map(|&at| self.observed[at].clone()).collect();
        let list = |(at, &before): (usize, &usize)| Some((at, state::expand_hosts(nodes.get(before)?)));
        self.listed = order.iter().enumerate().filter_map(list).collect();
    }

    /// Puts jobs on their nodes, once all are known.
    fn settle_nodes(&mut self, places: &NodePlaces) -> Result<(), CommandFailure> {
        let Some(nodes) = &self.site_nodes else { return Ok(()) };
        place_history(&mut self.observed, &self.listed, places);
        self.schedulers = nodes.scheduler_source(&self.policy, &self.users)?;
        Ok(())
    }

    /// The machine with what jobs ask of its nodes.
    fn site_machine(&self) -> RehearsalMachine {
        RehearsalMachine { machine: self.machine, resources: self.site_nodes.as_ref().map(SiteNodes::resource_table) }
    }

    fn take_queue(&mut self, state: &ClusterState, partition_filter: Option<&str>, places: &NodePlaces) {
        let mut without = 0;
        let is_in_partition = |job: &&QueueEntry| {
            partition_filter.is_none_or(|name| job.partition.split(',').any(|partition_name| partition_name == name))
        };
        let mut jobs: Vec<QueueEntry> = state.jobs.iter().filter(is_in_partition).cloned().collect();
        let keeps_limits = self.site_nodes.as_ref().is_some_and(SiteNodes::keeps_limits);
        self.conditions = QueueConditions::resolve_queue(&mut jobs, self.now, keeps_limits);
        let open: BTreeSet<&str> =
            state.nodes.iter().filter(|node| state.takes_jobs(node)).map(|node| node.name.as_str()).collect();
        for (at, mut entry) in jobs.into_iter().enumerate() {
            without += u32::from(entry.limit.is_none());
            let pool = self.reserved.get(&entry.reservation);
            let never = pool.is_some_and(|pool| pool.is_too_small_for(&entry, self.now));
            let waits = |reason: &&mut WaitReason| never && reason.condition() == Some(Condition::Reservation);
            if let Some(reason) = entry.reason.as_mut().filter(waits) {
                reason.bar_start("asks for more processors or time than its reservation has left");
            }
            let partition = self.find_partition(&entry, &open);
            if let Err(explanation) = &partition {
                let (effect, explanation) = (WaitEffect::Bars, explanation.clone().into());
                entry.reason = Some(WaitReason { effect, why: explanation, word: String::new(), begin: None });
            }
            let partition = partition.unwrap_or_default();
            let place = entry.barring_reason().is_none().then_some(self.observed.len());
            if place.is_some() {
                let limit = Span(entry.limit.unwrap_or(NO_LIMIT).max(1));
                let mut job = Job::new(Time(entry.submit.min(self.now)), entry.procs, limit);
                job.user = self.user_number(&entry.user);
                if let Some(own) = &mut self.site_nodes {
                    let names = QueueNames { partition: &partition, ..QueueNames::of_queue(&entry) };
                    let mut shape = shape_of_queued(&entry);
                    if entry.since.is_none() {
                        let demand = NodeDemand { partitions: &partition, procs: entry.procs, shape: &shape };
                        shape = own.spread_shape(&demand, &partition);
                    }
                    own.describe_job(&mut job, names, shape);
                    if entry.since.is_some() {
                        self.listed.push((self.observed.len(), entry.nodes.clone()));
                    }
                }
                let start = entry.since.map(|since| Time(since.min(self.now)));
                // The past asks about jobs from the time on at which they compete.
                let is_reserved = entry.reason.as_ref().and_then(WaitReason::condition) == Some(Condition::Reservation);
                let is_held = !is_reserved && self.conditions.is_held(at);
                let later = is_held || is_reserved;
                let (eligible, rank) = (if later { Time::MAX } else { job.submit }, -entry.priority);
                let on = places.job_processors(&entry.name);
                let observed_job = Observed { job, eligible, start, end: None, rank, on, held: is_held };
                if let Some(pool) = self.reserved.get_mut(&entry.reservation) {
                    pool.add_job(&entry, &observed_job, place, self.now);
                }
                self.observed.push(observed_job);
            }
            self.queue.push((entry, place));
        }
        if without > 0 {
            self.remarks.push(format!("jobs without a limit: {without}; a year is assumed"));
        }
    }

    /// Returns the partitions of a job; of several the one that a waiting job fits in. A job that
    /// is wider than the whole machine has a row of its own. `open`: nodes that take new jobs.
    ///
    /// # Errors
    /// The demand of a waiting job that no node of its partitions meets.
    fn find_partition(&self, entry: &QueueEntry, open: &BTreeSet<&str>) -> Result<String, String> {
        let waits = entry.since.is_none() && entry.barring_reason().is_none() && entry.reservation.is_empty();
        let own = self.site_nodes.as_ref().filter(|_| waits && entry.procs <= self.open);
        let Some(own) = own else { return Ok(entry.partition.clone()) };
        let shape = shape_of_queued(entry);
        let demand = NodeDemand { partitions: &entry.partition, procs: entry.procs, shape: &shape };
        own.find_partition(&demand, &|name| open.contains(name)).map(str::to_string)
    }

    /// Numbers of the forecaster. Under a policy with passes of its own clocks there are as many
    /// futures as a certain work allows.
    pub(super) fn forecaster_settings(&self, args: &WhenArgs) -> ForecasterSettings {
        let clocks = super::has_clocks(&self.policy);
        let samples = args.samples.unwrap_or(FUTURES);
        let rehearsal_samples = if clocks { samples.min(FUTURES_OF_CLOCKS) } else { samples };
        let bound_work = |work: u64, is_explicit: bool| if clocks && !is_explicit { work } else { u64::MAX };
        // 5 January 1970 was a Monday.
        let monday = 4 * 86_400;
        ForecasterSettings {
            samples,
            rehearsed: rehearsal_samples,
            look_work: bound_work(WORK_OF_CLOCKS[0], args.samples.is_some()),
            rehearsal_work: bound_work(WORK_OF_CLOCKS[1], args.rehearse.is_some()),
            seed: args.seed,
            monday,
            ..ForecasterSettings::default()
        }
    }

    /// Learns from the past, and from the jobs of the queue as they arrived. Shows `plan` if that
    /// takes long enough to be watched.
    pub(super) fn rehearse_past(
        &self,
        forecaster: &mut Forecaster,
        questions: usize,
        plan: Option<String>,
    ) -> Result<Rehearsal, FutureError> {
        // The job that is not submitted yet comes on top later.
        let progress = WorkProgress::new("rehearsing", "answers", Some(questions as u64));
        let (answers, plan) = (Cell::new(0), Cell::new(plan));
        let step = || {
            progress.add_done(1);
            if progress.is_watched()
                && let Some(plan) = plan.take()
            {
                progress.print_notice(&plan);
            }
            answers.set(answers.get() + 1);
            // Where no bar can be seen, one line says how long it will take.
            if answers.get() == FIRST_ANSWERS {
                progress.forecast_remaining(
                    FIRST_ANSWERS as u64,
                    questions as u64,
                    "answers of the rehearsal; --rehearse 0 leaves it out",
                );
            }
        };
        let questions = RehearsalQuestions {
            most: questions,
            least: LEAST_REHEARSED.min(questions),
            patience: PATIENCE,
            known: self.known.clone(),
        };
        forecaster.rehearse_answers(self.site_machine(), &self.observed, Time(self.now), &questions, &step)
    }

    /// The job that was asked about, if one was. One that is not submitted yet is added.
    pub(super) fn asked_job(&mut self, args: &WhenArgs) -> Result<Option<usize>, CommandFailure> {
        if let (Some(procs), Some(limit)) = (args.procs, args.limit) {
            if procs > self.open {
                return Err(CommandFailure::usage_error(format_args!(
                    "--procs: {procs} processors are more than the {} of the nodes that take new jobs",
                    self.open
                )));
            }
            let mut job = Job::new(Time(self.now), procs, limit);
            if let Some(name) = &args.user {
                if !self.users.contains_key(name) {
                    message::print_warning(&format!(
                        "no job of user {name} is known: run times are those of all users"
                    ));
                }
                job.user = self.user_number(name);
            }
            self.describe_hypothetical(&mut job, args);
            let at = self.observed.len();
            let (eligible, rank) = (Time(self.now), i64::MAX);
            self.observed.push(Observed { job, eligible, start: None, end: None, rank, on: None, held: false });
            return Ok(Some(at));
        }
        let Some(name) = &args.job else { return Ok(None) };
        let Some((entry, place)) = self.queue.iter().find(|(entry, _)| entry.name == *name) else {
            return Err(CommandFailure::usage_error(format_args!(
                "--job: the queue has no job {name}{}; without --job every waiting job is listed",
                args.partition.as_ref().map(|p| format!(" in partition {p}")).unwrap_or_default()
            )));
        };
        if let Some(reason) = entry.barring_reason().filter(|reason| place.is_none() && reason.word.is_empty()) {
            return Err(CommandFailure::usage_error(format_args!("--job: job {name} {reason}: it cannot start")));
        }
        if let Some(bar) = entry.barring_reason().filter(|_| place.is_none()) {
            return Err(CommandFailure::usage_error(format_args!(
                "--job: job {name} {bar}: no start can be foretold before that is over"
            )));
        }
        if entry.since.is_some() {
            return Err(CommandFailure::usage_error(format_args!("--job: job {name} runs already")));
        }
        Ok(*place)
    }

    /// A job that is not submitted yet is of the account, QOS and partition of its user's last.
    fn describe_hypothetical(&mut self, job: &mut Job, args: &WhenArgs) {
        let last = self.observed.iter().rev().find(|observation| observation.job.user == job.user && job.user >= 0);
        if let Some(Observed { job: last, .. }) = last {
            (job.group, job.queue, job.partition) = (last.group, last.queue, last.partition);
        }
        if let (Some(nodes), Some(partition)) = (&mut self.site_nodes, &args.partition) {
            nodes.move_to(job, partition);
        }
    }

    /// The session of the present.
    pub(super) fn adopt_jobs(&self) -> Result<Adoption, FutureError> {
        self.adopt_observed(&self.observed[self.present..])
    }

    pub(super) fn adopt_with(&self, job: usize, variant: &Job) -> Result<Adoption, FutureError> {
        let mut jobs = self.observed[self.present..].to_vec();
        jobs[job - self.present].job = variant.clone();
        self.adopt_observed(&jobs)
    }

    /// The session of the present without the last of the jobs, which is not submitted yet.
    pub(super) fn adopt_without_last(&self) -> Result<Adoption, FutureError> {
        let last = self.observed.len().saturating_sub(1).max(self.present);
        self.adopt_observed(&self.observed[self.present..last])
    }

    /// Jobs of the queue that wait and are wider than all nodes that take new jobs.
    pub(super) fn too_wide(&self) -> impl Iterator<Item = usize> {
        let waits = |observation: &Observed| {
            observation.start.is_none() && (observation.held || observation.eligible.0 <= self.now)
        };
        let wide = move |observation: &Observed| waits(observation) && observation.job.procs > self.open;
        (self.present..self.observed.len()).filter(move |&at| wide(&self.observed[at]))
    }

    /// Returns whether a job waits for room in a reservation.
    pub(super) fn is_reserved(&self, job: usize) -> bool {
        self.reserved.values().any(|pool| pool.waiting_jobs().any(|candidate| candidate == job))
    }

    /// Processors of nodes that take new jobs.
    pub(super) fn procs(&self) -> u32 {
        self.open
    }

    /// Returns whether a job is of the partition that was asked about.
    pub(super) fn is_of(&self, job: usize, partition: Option<&str>) -> bool {
        let own = self.queue.iter().find(|(_, place)| *place == Some(job)).map(|(entry, _)| &entry.partition);
        let is_of = |name: &str| own.is_none_or(|own| own.split(',').any(|partition_name| partition_name == name));
        partition.is_none_or(is_of)
    }

    /// Returns whether a job is not submitted yet.
    pub(super) fn is_hypothetical(&self, job: usize) -> bool {
        job >= self.present && !self.queue.iter().any(|(_, place)| *place == Some(job))
    }

    fn adopt_observed(&self, jobs: &[Observed]) -> Result<Adoption, FutureError> {
        // Jobs that are too wide for all nodes that take jobs do not stand in the way of others.
        let (mut observed_jobs, open) = (jobs.to_vec(), self.open);
        for observation in
            observed_jobs.iter_mut().filter(|observation| observation.start.is_none() && observation.job.procs > open)
        {
            (observation.eligible, observation.held) = (Time::MAX, false);
        }
        if let Some(nodes) = &self.site_nodes {
            // Only here: the past has the times at which they came.
            let mut queue: Vec<&mut Observed> =
                observed_jobs.iter_mut().filter(|observation| observation.start.is_none()).collect();
            queue.sort_by_key(|observation| (observation.rank, observation.job.submit));
            nodes.put_in_order(&mut queue.into_iter().map(|observation| &mut observation.job).collect::<Vec<_>>());
        }
        let mut adoption =
            adopt_jobs((self.schedulers)(), self.site_machine(), &observed_jobs, &self.losses, Time(self.now))?;
        adoption.jobs.iter_mut().for_each(|job| *job += self.present);
        Ok(adoption)
    }

    /// Returns the name of a job, and the time of its arrival.
    pub(super) fn job_name(&self, job: usize) -> (String, Option<String>) {
        let queue_entry = self.queue.iter().find(|(_, place)| *place == Some(job));
        match queue_entry {
            Some((entry, _)) => (entry.name.clone(), Some(entry.user.clone())),
            None => (HYPOTHETICAL.to_string(), None),
        }
    }

    /// Jobs that cannot start whatever is free: their names and reasons.
    pub(super) fn kept_jobs(&self) -> Vec<(String, WaitReason)> {
        self.queue.iter().filter_map(|(entry, _)| Some((entry.name.clone(), entry.barring_reason()?.clone()))).collect()
    }

    /// Reason of a job to wait for more than processors: a time to begin, or what is not simulated.
    pub(super) fn also_waits(&self, job: usize) -> Option<WaitReason> {
        let (queue_entry, _) = self.queue.iter().find(|(_, place)| *place == Some(job))?;
        queue_entry.reason.clone()
    }

    /// Conditions of the jobs that are held back in this session.
    pub(super) fn start_gates(&self, adoption: &Adoption) -> StartGates {
        let ids: BTreeMap<usize, JobId> = (0u32..).zip(&adoption.jobs).map(|(id, &job)| (job, JobId(id))).collect();
        let id = |at: usize| self.queue.get(at)?.1.and_then(|place| ids.get(&place).copied());
        self.conditions.start_gates(id, |name| self.users.get(name).copied())
    }
}

/// Checks that the partition that was asked about is there.
fn check_partition(state: &ClusterState, args: &WhenArgs, dir: &Path) -> Result<(), CommandFailure> {
    let partitions: BTreeSet<&str> = state.nodes.iter().flat_map(|node| &node.partitions).map(String::as_str).collect();
    match args.partition.as_deref().filter(|name| !partitions.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let names: Vec<&str> = partitions.into_iter().collect();
            Err(CommandFailure::usage_error(format_args!(
                "--partition: no node in {} is in `{name}`; expected one of {}",
                dir.join("nodes.txt").display(),
                names.join(", ")
            )))
        }
    }
}

/// Imports the accounting, whatever kind it is of; `None` where it has no job, as that of a new
/// cluster.
fn read_accounting(path: &Path, args: &WhenArgs) -> Result<Option<Site>, CommandFailure> {
    let options = ImportOptions { time_zone: args.timezone.clone(), ..ImportOptions::default() };
    let open = |path: &Path| -> std::io::Result<Box<dyn Read>> { Ok(Box::new(File::open(path)?)) };
    match import_files(&[path.to_path_buf()], &options, &open, ImportObserver::default()) {
        Err(SiteError::NoRows { .. }) => Ok(None),
        site => Ok(Some(site?)),
    }
}
