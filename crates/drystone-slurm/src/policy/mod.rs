//! `slurm(...)`: the model as a policy like every other.
//!
//! The contract counts processors; nodes live in here. Where nothing happens but arrivals and ends,
//! what the model starts never needs more processors than are free, so the engine need not know
//! where. Where jobs are here already or processors go, every job has processors of its nodes.

mod heard;
mod kind;
mod people;
mod places;
mod priority;
mod shape;

pub use heard::{PassReason, SharedVerdict, listen_to_job};
pub use kind::{SLURM, build_among, register_policy};

use crate::model::{
    AdvanceReservation, IdleNodes, ModelCluster, ModelMachine, NONE, PassKind, Pending, Resources, VerdictObserver,
};
use crate::site::{CapacityOutlook, JobPriorities, ModelSite, SchedulerDeed, SchedulerRules};
use drystone_core::model::{JobId, ProcSet, Resource, ResourceId, ResourceTable, Time};
use drystone_core::policy::{Abilities, Action, Actions, FreeResources, Phase, Policy, PolicyEvent, StartReason, View};
use people::People;
use places::Places;
use serde::{Deserialize, Serialize};
use shape::RequestShape;
use std::collections::BTreeSet;

/// Slurm's two schedulers.
#[derive(Serialize, Deserialize)]
pub struct SlurmPolicy {
    shape: RequestShape,
    rules: SchedulerRules,
    /// Users of jobs.
    people: People,
    /// Priorities, before the first event.
    priorities: Option<JobPriorities>,
    /// True if it chooses the processors on which jobs start: from the first news on, or from the
    /// first event on where news is expected.
    places: bool,
    /// From the first event on: only then the machine's size is known.
    live: Option<SiteAtWork>,
    #[serde(skip)]
    deeds: Vec<SchedulerDeed>,
}

#[derive(Serialize, Deserialize)]
struct SiteAtWork {
    site: ModelSite,
    /// The machine with all of its nodes, whichever are in service.
    whole: ModelMachine,
    /// Idle nodes without jobs.
    empty: IdleNodes,
    places: Places,
    /// The workload's demands by their numbers among those of the machine.
    demands: Vec<u32>,
    /// Announced outages that are not over.
    announced: Vec<AdvanceReservation>,
    /// The array that the last job may be a task of.
    array: shape::ArrayFinder,
}

impl SlurmPolicy {
    fn new(
        shape: RequestShape,
        rules: SchedulerRules,
        people: People,
        priorities: Option<JobPriorities>,
    ) -> SlurmPolicy {
        SlurmPolicy { shape, rules, people, priorities, places: false, live: None, deeds: Vec::new() }
    }

    /// Returns the state of the machine, from the first event on.
    pub fn model_cluster(&self) -> Option<&ModelCluster> {
        self.live.as_ref().map(|live| live.site.model_cluster())
    }

    fn site_at_work(&mut self, view: &View<'_>) -> &mut SiteAtWork {
        let SlurmPolicy { shape, rules, priorities, live, .. } = self;
        live.get_or_insert_with(|| {
            let (mut cluster, demands) = shape.build_cluster(view.machine().procs, resource_table(view));
            if let Some(free) = view.resources() {
                let counts = count_licences(&cluster.machine.resources, free);
                cluster.set_licences(&counts);
            }
            let whole = cluster.machine.clone();
            let (empty, places) = (IdleNodes::new(&cluster.machine), Places::new(&cluster.machine));
            let site = ModelSite::new(cluster, rules.clone(), priorities.take());
            let (announcements, array) = (Vec::new(), shape::ArrayFinder::default());
            SiteAtWork { site, whole, empty, places, demands, announced: announcements, array }
        })
    }

    /// The job as Slurm sees it in the partition of its record.
    fn pending_job(&mut self, id: JobId, view: &View<'_>) -> Pending {
        let (job, limit) = (view.job(id), view.prediction(id));
        self.site_at_work(view);
        let SlurmPolicy { shape, people, live: Some(live), .. } = self else { unreachable!("it was just made") };
        let (assoc, qos) = people.assoc_and_qos(job, |account, user| {
            live.site.job_priorities().map(|priorities| priorities.intern_assoc(account, user))
        });
        let mut pending =
            shape.pending_job(id.0, job, limit, &live.job_background(people.log_names(), resource_table(view)));
        (pending.assoc, pending.qos) = (assoc, qos);
        pending
    }

    /// The job as it waits in each of its partitions.
    fn part_entries(&mut self, id: JobId, view: &View<'_>) -> Vec<Pending> {
        let own = self.pending_job(id, view);
        let Some(live) = &self.live else { return vec![own] };
        let ground = live.job_background(self.people.log_names(), resource_table(view));
        self.shape.part_entries(own, view.job(id), view.prediction(id), &ground)
    }

    fn observe_with(&mut self, event: PolicyEvent, view: &View<'_>) {
        let now = view.current_time().0;
        match event {
            PolicyEvent::Arrived(id) => {
                let mut entries = self.part_entries(id, view);
                let array = self.shape.arrays;
                let live = self.site_at_work(view);
                let array = if array { live.array.array_of(id.0, view.job(id)) } else { NONE };
                entries.iter_mut().for_each(|entry| entry.array = array);
                live.site.submit(now, entries);
            }
            PolicyEvent::Released(id) => {
                let mut entries = self.part_entries(id, view);
                entries.iter_mut().for_each(|entry| (entry.submit, entry.accrue) = (now, now));
                self.site_at_work(view).site.release_job(now, entries);
            }
            PolicyEvent::Runs(id) => {
                let pending = self.pending_job(id, view);
                let since = now - view.run_time_so_far(id).0;
                self.name_all(view);
                let live = self.site_at_work(view);
                let on = view.job_processors(id).map(|on| {
                    live.places.adopt_processors(id.0, on.clone());
                    live.places.alloc_of(on, &pending, &live.site.model_cluster().machine)
                });
                live.site.adopt_job(now, pending, since, on);
            }
            PolicyEvent::Capacity => {
                self.name_all(view);
                self.site_at_work(view).take_outlook(view);
            }
            _ => self.observe_known(event, view),
        }
    }

    /// From now on it says where jobs start. The machine has put those somewhere that run already.
    fn name_all(&mut self, view: &View<'_>) {
        if std::mem::replace(&mut self.places, true) {
            return;
        }
        let Some(live) = &mut self.live else { return };
        for running in view.running_jobs().iter() {
            let Some(on) = view.job_processors(running.id) else { continue };
            let id = running.id.0;
            if let Some(model_job) = live.site.model_cluster().get(id) {
                let alloc = live.places.alloc_of(on, &model_job.job, &live.site.model_cluster().machine);
                live.site.relocate_job(view.current_time().0, id, alloc);
            }
            live.places.adopt_processors(id, on.clone());
        }
    }

    /// Handles an event of a job that it knows.
    fn observe_known(&mut self, event: PolicyEvent, view: &View<'_>) {
        let now = view.current_time().0;
        let Some(live) = &mut self.live else { return };
        match event {
            PolicyEvent::Ended { job, .. } => {
                live.places.free_processors(job.0);
                live.site.end_job(now, job.0);
            }
            PolicyEvent::Stopped { job, .. } => {
                live.places.free_processors(job.0);
                live.site.stop_job(now, job.0);
            }
            PolicyEvent::Cancelled(job) => live.site.cancel_job(now, job.0),
            PolicyEvent::Held(job) => live.site.hold_job(now, job.0),
            PolicyEvent::Repredicted { job, .. } if view.phase(job) == Phase::Running => {
                live.site.reschedule_end(job.0, view.predicted_end(job).0);
            }
            PolicyEvent::Repredicted { job, .. } => {
                let (job_of, limit) = (view.job(job), view.prediction(job));
                let ground = live.job_background(self.people.log_names(), resource_table(view));
                let own = self.shape.pending_job(job.0, job_of, limit, &ground);
                let entries = self.shape.part_entries(own, job_of, limit, &ground);
                live.site.change_limit(&entries);
            }
            _ => {}
        }
    }

    /// Makes the passes of this instant, and tells `watch` of them.
    fn decide_with(&mut self, view: &View<'_>, actions: &mut Actions, watch: &mut impl VerdictObserver) {
        let (has_places, Some(live)) = (self.places, &mut self.live) else { return };
        // Free resources of the machine as a whole, those of jobs that start now taken.
        let mut remaining = view.resources().map_or_else(Vec::new, |free| free.levels().to_vec());
        if !remaining.is_empty() {
            let short = live.short_jobs(view, &remaining);
            live.site.set_short(view.current_time().0, short);
        }
        live.site.advance_to(view.current_time().0, &mut self.deeds, watch);
        for deed in self.deeds.drain(..) {
            match deed {
                SchedulerDeed::Start { id, by } => {
                    let reason = if by == PassKind::Main { StartReason::Head } else { StartReason::Backfilled };
                    // A job whose nodes are out for good gets others in the end, and may then find
                    // fewer devices than its record counts: it waits for these.
                    let amounts = view.demanded_amounts(JobId(id));
                    if amounts.iter().any(|&(resource, amount)| exceeds_remaining(resource, amount, &remaining)) {
                        heard::take_back_start(id);
                        live.site.take_back(view.current_time().0, id);
                        continue;
                    }
                    for &(resource, amount) in amounts {
                        remaining[resource.index()] -= amount as i64;
                    }
                    if !has_places {
                        actions.start_job(JobId(id), reason);
                        continue;
                    }
                    let cluster = live.site.model_cluster();
                    let Some(running) = cluster.get(id) else { continue };
                    let procs = view.job(JobId(id)).procs;
                    // What a job asks of its nodes is there and nowhere else.
                    let whole =
                        running.job.demand == 0 || live.places.has_free(&running.alloc, &cluster.machine, procs);
                    let set = whole
                        .then(|| live.places.claim_processors(id, &running.alloc, &cluster.machine, procs))
                        .flatten();
                    match set {
                        Some(set) => actions.start_on(JobId(id), reason, set),
                        None => live.site.take_back(view.current_time().0, id),
                    }
                }
                SchedulerDeed::Requeue(id) => {
                    live.places.free_processors(id);
                    live.site.note_eviction(id);
                    actions.push(Action::Requeue(JobId(id)));
                }
                SchedulerDeed::Kill(id) => {
                    live.places.free_processors(id);
                    actions.push(Action::Kill(JobId(id)));
                }
            }
        }
    }
}

/// Returns whether an amount is more than what is left of its resource.
fn exceeds_remaining(resource: ResourceId, amount: u64, rest: &[i64]) -> bool {
    i128::from(amount) > i128::from(rest.get(resource.index()).copied().unwrap_or(0))
}

/// Returns whether a resource of a table is the licence of this name, in whatever pool it stands.
fn is_licence(resource: &str, name: &str) -> bool {
    let resource = resource.rsplit_once('/').map_or(resource, |(_, name)| name);
    resource.strip_prefix("license:") == Some(name)
}

/// Returns how many there are of each licence of the configuration: as the workload's table says,
/// else as the configuration does.
fn count_licences(resources: &Resources, free: &FreeResources) -> Vec<u32> {
    let table = free.table();
    let count = |(name, count): &(String, u32)| {
        let place = table.resources().iter().position(|resource| is_licence(&resource.name, name));
        let amount = |at: usize| u32::try_from(free.present_amount(ResourceId(at as u16))).unwrap_or(u32::MAX);
        place.map_or(*count, amount)
    };
    resources.licences.iter().map(count).collect()
}

/// Returns the demands of the workload's jobs beside processors.
fn resource_table<'a>(view: &View<'a>) -> Option<&'a ResourceTable> {
    view.resources().map(|free| &**free.table())
}

impl SiteAtWork {
    /// Returns the background against which jobs are seen.
    fn job_background<'a>(
        &'a self,
        names: &'a people::LogNames,
        table: Option<&'a ResourceTable>,
    ) -> shape::JobBackground<'a> {
        shape::JobBackground { machine: &self.whole, empty: &self.empty, names, table, demands: &self.demands }
    }

    /// Takes in which processors are out and which will be. What was announced and lasts no longer
    /// than that is kept, not lost: plans go on behind it.
    fn take_outlook(&mut self, view: &View<'_>) {
        let (now, no_procs) = (view.current_time().0, ProcSet::new());
        let (offline, windows) =
            view.outlook().map_or((&no_procs, [].as_slice()), |o| (o.offline_processors(), o.windows()));
        let (mut out, lame) = self.places.nodes_out(offline);
        let has_begun = |own: &AdvanceReservation| own.begin <= now && now < own.end && own.has_end();
        let kept_closures =
            self.announced.drain(..).filter(|closure| has_begun(closure) && closure.nodes.is_subset(&out));
        let mut closures: Vec<AdvanceReservation> = kept_closures.collect();
        closures.iter().for_each(|closure| out.subtract(&closure.nodes));
        closures.extend(windows.iter().map(|window| {
            let end = (window.until < Time::MAX).then_some(window.until.0);
            AdvanceReservation::for_outage(self.places.nodes_of(&window.on), window.from.0, end)
        }));
        self.announced.clone_from(&closures);
        self.places.set_out(offline);
        let counts = |free| count_licences(&self.site.model_cluster().machine.resources, free);
        let licences = view.resources().map_or_else(Vec::new, counts);
        self.site.set_out(now, CapacityOutlook { out, lame, closures, licences });
    }

    /// Returns the waiting jobs that ask for more than this of a resource that passes know nothing
    /// of: no licence of the configuration, and on a machine with nodes only other licences and
    /// what changes over time.
    fn short_jobs(&self, view: &View<'_>, rest: &[i64]) -> BTreeSet<u32> {
        let Some(table) = resource_table(view) else { return BTreeSet::new() };
        let licences = &self.site.model_cluster().machine.resources.licences;
        let changes = |at: usize| table.supply_steps().iter().any(|step| step.resource.index() == at);
        let is_unknown = |(at, resource): (usize, &Resource)| {
            let is_licence = licences.iter().any(|(name, _)| is_licence(&resource.name, name));
            !is_licence && (table.node_classes().is_empty() || resource.name.contains("license:") || changes(at))
        };
        let unknown: Vec<bool> = table.resources().iter().enumerate().map(is_unknown).collect();
        if !unknown.contains(&true) {
            return BTreeSet::new();
        }
        let is_short = |&(resource_id, amount): &(ResourceId, u64)| {
            unknown.get(resource_id.index()) == Some(&true) && exceeds_remaining(resource_id, amount, rest)
        };
        view.waiting_jobs().filter(|&id| view.demanded_amounts(id).iter().any(is_short)).map(|id| id.0).collect()
    }
}

impl Policy for SlurmPolicy {
    fn name(&self) -> &str {
        "slurm"
    }

    fn layout(&self) -> u32 {
        12
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        if let PolicyEvent::Arrived(id) | PolicyEvent::Released(id) = event {
            heard::note_wait(id.0);
        }
        self.observe_with(event, view);
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        match heard::wanted_job() {
            Some(job) => self.decide_with(view, actions, &mut heard::JobEar::new(job, self.rules.test_micros == 0)),
            None => self.decide_with(view, actions, &mut ()),
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.live.as_ref().and_then(|live| live.site.next_wake()).map(Time)
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        true
    }

    fn keeps_limits(&self) -> bool {
        self.shape.ledger.is_some()
    }

    fn places_on_nodes(&self) -> bool {
        true
    }

    fn models_nodes(&self) -> bool {
        true
    }

    fn expect_news(&mut self) {
        self.places = true;
    }

    fn needed_abilities(&self) -> Abilities {
        let preempts = self.shape.can_preempt();
        Abilities { name: true, kill: self.rules.kills || preempts, requeue: preempts, ..Abilities::default() }
    }
}
