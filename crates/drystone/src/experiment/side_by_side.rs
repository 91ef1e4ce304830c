//! Pools simulated side by side and watched as one: at each moment the pool in which something
//! happens next goes on.

use super::division::{PoolDivision, PoolPart};
use super::{Experiment, ExperimentError, PoolMeasured, build_scheduler};
use crate::engine::{Happenings, Levels, Observer, Simulation, SimulationError, SiteAdmission};
use crate::metrics::{Collector, MetricsConfig, Scope};
use crate::model::{
    Adopted, DemandId, EndedJob, JobId, JobLimit, JobOutcome, ProcSet, Procs, ResourceId, Span, Time, Workload,
};
use crate::policy::{Moved, PolicySpec, StartReason};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

enum PoolEvent {
    Arrived(JobId),
    Started(JobId, StartReason),
    Placed(JobId, ProcSet),
    Suspended(JobId),
    Resumed(JobId),
    Reserved(JobId, Time, Time),
    Moved(Moved),
    Repredicted(JobId, Span),
    Cancelled(JobId),
    Ended(JobId, Box<JobOutcome>),
    Adopted(JobId, Adopted),
    Held(JobId),
    Limited(JobId, Box<JobLimit>),
    Short(JobId, Box<[String; 3]>),
    Released(JobId),
    Requeued(JobId, Procs, Span),
    Checkpointed(JobId, Procs, Span),
    Lost(JobId, Box<JobOutcome>),
    Capacity(bool),
    Settled(Levels),
}

/// Keeps what happens in one instant of one pool.
#[derive(Default)]
struct Recorder {
    told: Vec<(Time, PoolEvent)>,
}

impl Recorder {
    fn push_event(&mut self, now: Time, event: PoolEvent) {
        self.told.push((now, event));
    }
}

impl Observer for Recorder {
    const NOTES: bool = false;

    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Arrived(id));
    }
    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.push_event(now, PoolEvent::Started(id, reason));
    }
    fn note_placement(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.push_event(now, PoolEvent::Placed(id, on.clone()));
    }
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Suspended(id));
    }
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Resumed(id));
    }
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.push_event(now, PoolEvent::Reserved(id, start, latest));
    }
    fn note_move(&mut self, now: Time, job_move: &Moved) {
        self.push_event(now, PoolEvent::Moved(*job_move));
    }
    fn note_prediction(&mut self, now: Time, id: JobId, prediction: Span) {
        self.push_event(now, PoolEvent::Repredicted(id, prediction));
    }
    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Cancelled(id));
    }
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.push_event(job_end.outcome.end, PoolEvent::Ended(job_end.id, Box::new(job_end.outcome.clone())));
    }
    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        self.push_event(now, PoolEvent::Adopted(id, adoption.clone()));
    }
    fn note_hold(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Held(id));
    }
    fn note_limit(&mut self, now: Time, id: JobId, limit: &JobLimit) {
        self.push_event(now, PoolEvent::Limited(id, Box::new(limit.clone())));
    }
    fn note_shortage(&mut self, now: Time, id: JobId, resource: &str, (asks, there): (&str, &str)) {
        self.push_event(now, PoolEvent::Short(id, Box::new([resource, asks, there].map(str::to_string))));
    }
    fn note_release(&mut self, now: Time, id: JobId) {
        self.push_event(now, PoolEvent::Released(id));
    }
    fn note_requeue(&mut self, now: Time, id: JobId, procs: Procs, ran: Span) {
        self.push_event(now, PoolEvent::Requeued(id, procs, ran));
    }
    fn note_checkpoint(&mut self, now: Time, id: JobId, procs: Procs, cost: Span) {
        self.push_event(now, PoolEvent::Checkpointed(id, procs, cost));
    }
    fn note_loss(&mut self, job_end: &EndedJob<'_>) {
        self.push_event(job_end.outcome.end, PoolEvent::Lost(job_end.id, Box::new(job_end.outcome.clone())));
    }
    fn note_capacity(&mut self, now: Time, foreseen: bool) {
        self.push_event(now, PoolEvent::Capacity(foreseen));
    }
    fn note_settlement(&mut self, now: Time, levels: Levels) {
        self.push_event(now, PoolEvent::Settled(levels));
    }
}

/// A pool at work.
struct PoolAtWork<'a> {
    simulation: Simulation<Happenings<'a>>,
    recorder: Recorder,
    collector: Collector,
    part: &'a PoolPart,
    /// Processors of the whole for each of its own, and those of the pools before it.
    scale: Procs,
    base: Procs,
    levels: Levels,
    /// Time of the recorded event; [`Time::MAX`] at its end.
    at: Time,
}

impl PoolAtWork<'_> {
    /// Goes on by one instant.
    fn step_once(&mut self) -> Result<(), SimulationError> {
        self.recorder.told.clear();
        let more = self.simulation.step(&mut (&mut self.recorder, &mut self.collector))?;
        self.at = if more { self.simulation.current_time() } else { Time::MAX };
        Ok(())
    }

    /// Returns the time of the pass that it stands at, else one before which nothing happens.
    fn next(&mut self) -> Time {
        if self.simulation.is_at_pass() { self.simulation.current_time() } else { self.simulation.next_event() }
    }

    /// Goes on to the pass of one instant, of this time at most, or to its end.
    fn reach_pass(&mut self, horizon: Time) -> Result<(), SimulationError> {
        self.recorder.told.clear();
        self.simulation.reach_pass(horizon, &mut (&mut self.recorder, &mut self.collector)).map(drop)
    }

    /// Makes the pass that it stands at.
    fn decide_now(&mut self) -> Result<(), SimulationError> {
        self.simulation.step(&mut (&mut self.recorder, &mut self.collector)).map(drop)
    }

    /// Takes what jobs of other pools hold of shared resources.
    fn set_held_elsewhere(&mut self, now: Time, amounts: &[(ResourceId, u64)]) {
        self.simulation.set_held_elsewhere(now, amounts, &mut (&mut self.recorder, &mut self.collector));
    }

    fn whole_id(&self, id: JobId) -> JobId {
        self.part.ids.get(id.index()).copied().unwrap_or(id)
    }

    /// Processors by their numbers in the whole.
    fn whole_processors(&self, on: &ProcSet) -> ProcSet {
        let range = |r: &std::ops::Range<Procs>| {
            ProcSet::from_range(r.start * self.scale + self.base..r.end * self.scale + self.base)
        };
        let ranges: Vec<ProcSet> = on.ranges().iter().map(range).collect();
        ProcSet::union_of(&ranges)
    }

    /// In processors of the whole.
    fn scale_levels(&self, levels: Levels) -> Levels {
        let scale = u64::from(self.scale);
        let mut whole_levels = Levels::new(levels.free * self.scale, levels.running)
            .with_waiting(levels.waiting, levels.waiting_procs * scale)
            .with_suspended(levels.suspended, levels.suspended_procs * scale);
        whole_levels.down = levels.down * self.scale;
        whole_levels
    }
}

/// Adds up the levels of pools.
fn sum<'a>(levels: impl Iterator<Item = &'a Levels>) -> Levels {
    levels.fold(Levels::default(), |mut total, part| {
        total.free += part.free;
        total.running += part.running;
        total.waiting += part.waiting;
        total.waiting_procs += part.waiting_procs;
        total.suspended += part.suspended;
        total.suspended_procs += part.suspended_procs;
        total.down += part.down;
        total
    })
}

/// Tells an observer of the whole what happened in a pool.
fn replay_events(pools: &mut [PoolAtWork<'_>], at: usize, whole: &Workload, observer: &mut impl Observer) {
    let events = std::mem::take(&mut pools[at].recorder.told);
    for (now, event) in events {
        let pool = &pools[at];
        let id = |id: JobId| pool.whole_id(id);
        let report_end = |id: JobId, tell: &mut dyn FnMut(&EndedJob<'_>), outcome: &JobOutcome| {
            let id = pool.whole_id(id);
            tell(&EndedJob { id, job: whole.job(id), truth: &whole.truth()[id.index()], outcome });
        };
        match event {
            PoolEvent::Arrived(job) => observer.note_arrival(now, id(job)),
            PoolEvent::Started(job, reason) => observer.note_start(now, id(job), reason),
            PoolEvent::Placed(job, on) => observer.note_placement(now, id(job), &pool.whole_processors(&on)),
            PoolEvent::Suspended(job) => observer.note_suspension(now, id(job)),
            PoolEvent::Resumed(job) => observer.note_resumption(now, id(job)),
            PoolEvent::Reserved(job, start, latest) => observer.note_reservation(now, id(job), start, latest),
            PoolEvent::Moved(job_move) => {
                let favour = job_move.favour.map(id);
                observer.note_move(now, &Moved { job: id(job_move.job), favour, ..job_move });
            }
            PoolEvent::Repredicted(job, prediction) => observer.note_prediction(now, id(job), prediction),
            PoolEvent::Cancelled(job) => observer.note_withdrawal(now, id(job)),
            PoolEvent::Ended(job, outcome) => report_end(job, &mut |e| observer.note_end(e), &outcome),
            PoolEvent::Adopted(job, adoption) => observer.note_adoption(now, id(job), &adoption),
            PoolEvent::Held(job) => observer.note_hold(now, id(job)),
            PoolEvent::Limited(job, limit) => observer.note_limit(now, id(job), &limit),
            PoolEvent::Short(job, words) => {
                let [resource, asks, supply] = &*words;
                observer.note_shortage(now, id(job), resource, (asks, supply));
            }
            PoolEvent::Released(job) => observer.note_release(now, id(job)),
            PoolEvent::Requeued(job, procs, ran) => observer.note_requeue(now, id(job), procs * pool.scale, ran),
            PoolEvent::Checkpointed(job, procs, cost) => {
                observer.note_checkpoint(now, id(job), procs * pool.scale, cost)
            }
            PoolEvent::Lost(job, outcome) => report_end(job, &mut |e| observer.note_loss(e), &outcome),
            PoolEvent::Capacity(foreseen) => observer.note_capacity(now, foreseen),
            PoolEvent::Settled(levels) => {
                pools[at].levels = pools[at].scale_levels(levels);
                observer.note_settlement(now, sum(pools.iter().map(|pool| &pool.levels)));
            }
        }
    }
}

/// Steps pools whose jobs share nothing; false on cancellation.
fn run_apart(
    pools: &mut [PoolAtWork<'_>],
    experiment: &Experiment<'_>,
    observer: &mut impl Observer,
) -> Result<bool, SimulationError> {
    for pool in pools.iter_mut() {
        pool.step_once()?;
    }
    // The pool in which something happened first; of several the first.
    while let Some(at) = (0..pools.len()).filter(|&at| pools[at].at < Time::MAX).min_by_key(|&at| pools[at].at) {
        replay_events(pools, at, experiment.whole, observer);
        pools[at].step_once()?;
        if experiment.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Steps pools whose jobs share limits or resources: an end in one pool may admit a job of another,
/// so none goes beyond the next event of the others, and none decides before all events of the
/// instant are known. False on cancellation.
fn run_sharing(
    pools: &mut [PoolAtWork<'_>],
    resources: &mut SharedResources,
    experiment: &Experiment<'_>,
    observer: &mut impl Observer,
) -> Result<bool, SimulationError> {
    loop {
        let next: Vec<Time> = pools.iter_mut().map(PoolAtWork::next).collect();
        let now = next.iter().copied().min().unwrap_or(Time::MAX);
        if now == Time::MAX {
            break;
        }
        let due = || (0..pools.len()).filter(|&at| next[at] == now);
        let is_at_pass = |at: usize| pools[at].simulation.is_at_pass();
        let at = if let Some(at) = due().find(|&at| !is_at_pass(at)) {
            let other_times = next.iter().enumerate().filter(|&(place, _)| place != at).map(|(_, &time)| time);
            pools[at].reach_pass(other_times.min().unwrap_or(Time::MAX))?;
            at
        } else {
            // The job that has been there for the longest time comes first.
            let Some(at) = due().min_by_key(|&at| (resources.first_claim(&pools[at]), at)) else { break };
            let held_amounts = resources.held_elsewhere(at);
            pools[at].recorder.told.clear();
            pools[at].set_held_elsewhere(now, &held_amounts);
            pools[at].decide_now()?;
            at
        };
        let now = pools[at].simulation.current_time();
        replay_events(pools, at, experiment.whole, observer);
        resources.look_at(at, &pools[at]);
        for (place, pool) in pools.iter_mut().enumerate().filter(|&(place, _)| place != at) {
            pool.simulation.catch_up(now);
            if !pool.simulation.is_at_pass() {
                pool.set_held_elsewhere(now, &resources.held_elsewhere(place));
            }
        }
        if experiment.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(false);
        }
    }
    // What is left waits for ever, or nothing is.
    for at in 0..pools.len() {
        pools[at].step_once()?;
        replay_events(pools, at, experiment.whole, observer);
    }
    Ok(true)
}

/// Resources that jobs of several pools ask for, such as licences: each is there once.
struct SharedResources {
    ids: Vec<ResourceId>,
    /// For each pool the amounts that its jobs hold.
    held: Vec<Vec<u64>>,
}

impl SharedResources {
    fn for_parts(parts: &[PoolPart]) -> SharedResources {
        let mut pools: BTreeMap<ResourceId, usize> = BTreeMap::new();
        for part in parts {
            let Some(table) = part.workload.resources() else { continue };
            let demands: BTreeSet<DemandId> = part.workload.jobs().iter().map(|job| job.demand).collect();
            let asked_resources =
                demands.iter().flat_map(|&demand| table.demand_totals(demand)).map(|&(resource, _)| resource);
            let resource_set: BTreeSet<ResourceId> = asked_resources.collect();
            resource_set.into_iter().for_each(|resource| *pools.entry(resource).or_default() += 1);
        }
        let ids: Vec<ResourceId> = pools.into_iter().filter(|&(_, pools)| pools > 1).map(|(id, _)| id).collect();
        SharedResources { held: vec![vec![0; ids.len()]; parts.len()], ids }
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Takes in what the jobs of a pool hold by now.
    fn look_at(&mut self, at: usize, pool: &PoolAtWork<'_>) {
        for (amount, &id) in self.held[at].iter_mut().zip(&self.ids) {
            *amount = pool.simulation.held_amount(id);
        }
    }

    /// Returns what jobs of all other pools hold.
    fn held_elsewhere(&self, at: usize) -> Vec<(ResourceId, u64)> {
        let other_pools = || self.held.iter().enumerate().filter(|&(pool, _)| pool != at);
        let of = |(nth, &id): (usize, &ResourceId)| (id, other_pools().map(|(_, amounts)| amounts[nth]).sum::<u64>());
        self.ids.iter().enumerate().map(of).filter(|&(_, amount)| amount > 0).collect()
    }

    /// Returns the first job of the site that waits in a pool and asks for a shared resource; the
    /// last of all where none does.
    fn first_claim(&self, pool: &PoolAtWork<'_>) -> JobId {
        if self.is_empty() {
            return JobId(u32::MAX);
        }
        let (session, view) = (pool.simulation.session(), pool.simulation.session().view());
        let asks = |&id: &JobId| view.demanded_amounts(id).iter().any(|(resource, _)| self.ids.contains(resource));
        let claimants = view.waiting_jobs().chain(view.suspended_jobs()).chain(session.short_jobs());
        claimants.filter(asks).min().map_or(JobId(u32::MAX), |id| pool.whole_id(id))
    }
}

/// Returns the limits that jobs of the pools share. A policy that keeps those of its pool itself
/// cannot keep those of several.
fn shared_limits(experiment: &Experiment<'_>, parts: &[PoolPart], specs: &[PolicySpec]) -> Option<SiteAdmission> {
    let limits = experiment.whole.circumstances().map(|circumstances| &circumstances.limits)?;
    let keeps = specs.iter().any(|spec| spec.build_scheduler().policy.keeps_limits());
    let pool = |job: JobId| parts.iter().position(|part| part.ids.binary_search(&job).is_ok()).unwrap_or(0);
    let limits = if keeps { limits.shared_across(pool) } else { limits.clone() };
    (!limits.is_empty()).then(|| SiteAdmission::new(limits))
}

/// Simulates every pool to its end; `None` on cancellation. Returns the measurements of each, and
/// the number of jobs left that were never eligible.
pub(super) fn run_pools(
    experiment: &Experiment<'_>,
    division: &PoolDivision,
    config: &MetricsConfig,
    observer: &mut impl Observer,
) -> Result<Option<(Vec<PoolMeasured>, u64)>, ExperimentError> {
    let parts = division.divide_workload(experiment.whole)?;
    let specs: Vec<PolicySpec> =
        (0..parts.len()).map(|at| division.pool_policy(at, experiment.policy)).collect::<Result<_, _>>()?;
    let mut pools = Vec::with_capacity(parts.len());
    let site_admission = shared_limits(experiment, &parts, &specs);
    let mut resources = SharedResources::for_parts(&parts);
    let mut base = 0;
    for ((part, spec), share) in parts.iter().zip(&specs).zip(division.shares()) {
        let scheduler = build_scheduler(spec, experiment.priorities, &part.workload)?;
        scheduler.check_fit(&part.workload)?;
        scheduler.check_hears()?;
        scheduler.check_outages(&part.workload, &part.outages)?;
        let source = Happenings::new(&part.workload, &part.outages, experiment.feedback);
        let source = match &site_admission {
            Some(site) => source.at_desk(site.desk_for(part.ids.clone())),
            None => source,
        };
        let simulation = Simulation::new(part.workload.machine(), scheduler, source)
            .with_platform(&experiment.platform)
            .with_threads(experiment.threads);
        let simulation = if resources.is_empty() { simulation } else { simulation.sharing_resources() };
        let free = share.procs * share.scale;
        pools.push(PoolAtWork {
            simulation,
            recorder: Recorder::default(),
            collector: Collector::new(
                Scope::from_workload(&part.workload).with_grades(experiment.grades, &part.workload),
                config.clone(),
            ),
            part,
            scale: share.scale.max(1),
            base,
            levels: Levels::new(free, 0),
            at: Time::MIN,
        });
        base += free;
    }
    let is_finished = match (&site_admission, resources.is_empty()) {
        (None, true) => run_apart(&mut pools, experiment, observer)?,
        _ => run_sharing(&mut pools, &mut resources, experiment, observer)?,
    };
    if !is_finished {
        return Ok(None);
    }
    let mut ineligible_count = 0;
    let pool_results = pools.into_iter().zip(division.shares()).map(|(pool, share)| {
        ineligible_count += pool.simulation.into_source().jobs_left();
        PoolMeasured { name: share.name.clone(), procs: share.procs, report: pool.collector.finish() }
    });
    let pool_results = pool_results.collect();
    Ok(Some((pool_results, ineligible_count)))
}
