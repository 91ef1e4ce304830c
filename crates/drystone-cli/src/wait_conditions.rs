//! Waits for more than a place on the machine: for limits that jobs share, for licences and other
//! resources that are short, for other jobs, for times.

mod resource_waits;

use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::output::number::format_percent;
use drystone::engine::{Levels, Observer};
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{Adopted, EndedJob, JobId, JobLimit, Outages, Procs, Span, Time};
use drystone::policy::{PolicySpec, StartReason};
use resource_waits::ResourceWaits;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The policy under which waits are measured: which of them place jobs, and where, is of little
/// weight.
const POLICY: &str = "easy";
/// Parts of the waiting below this are not worth a sentence.
const WORTH: f64 = 0.1;
/// Causes that are named.
const NAMED: usize = 2;

/// Parts of all waiting in which jobs were held back, the largest first.
#[derive(Clone, PartialEq, Serialize, Default, Debug)]
pub(crate) struct HeldWaits {
    /// By holder of the limits, such as `the QOS normal`.
    limits: Vec<(String, f64)>,
    /// By resource of which too little was there, or was free beside enough processors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<(String, f64)>,
    /// For other jobs, a time to begin or a release.
    others: f64,
}

enum HoldCause {
    /// A limit, by its holder.
    Limit(String),
    Resource(String),
    /// Other jobs, a time to begin or a release.
    Other,
}

/// Watches for what jobs wait.
#[derive(Default)]
struct HoldObserver<'a> {
    since: BTreeMap<JobId, Time>,
    /// Beginning and cause of the present hold.
    holds: BTreeMap<JobId, (Time, HoldCause)>,
    waited: f64,
    limits: BTreeMap<String, f64>,
    resources: BTreeMap<String, f64>,
    others: f64,
    /// Waits in the queue; `None` where no job asks for a resource that could be short.
    queue: Option<ResourceWaits<'a>>,
}

impl HoldObserver<'_> {
    fn end_wait(&mut self, now: Time, id: JobId) {
        let Some((from, cause)) = self.holds.remove(&id) else { return };
        let part = (now - from).as_f64().max(0.0);
        match cause {
            HoldCause::Limit(family) => *self.limits.entry(family).or_default() += part,
            HoldCause::Resource(name) => *self.resources.entry(name).or_default() += part,
            HoldCause::Other => self.others += part,
        }
    }

    fn begin_hold(&mut self, now: Time, id: JobId, cause: HoldCause) {
        self.end_wait(now, id);
        self.holds.insert(id, (now, cause));
    }
}

impl Observer for HoldObserver<'_> {
    const NOTES: bool = false;

    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.since.insert(id, now);
        self.queue.iter_mut().for_each(|queue| queue.note_wait(id));
    }

    fn note_adoption(&mut self, _: Time, id: JobId, adoption: &Adopted) {
        match adoption {
            Adopted::Running { .. } => self.queue.iter_mut().for_each(|queue| queue.note_start(id)),
            Adopted::Held | Adopted::Suspended { .. } => self.queue.iter_mut().for_each(|queue| queue.note_leave(id)),
            Adopted::Waiting => {}
        }
    }

    fn note_hold(&mut self, now: Time, id: JobId) {
        self.queue.iter_mut().for_each(|queue| queue.note_leave(id));
        self.begin_hold(now, id, HoldCause::Other);
    }

    fn note_limit(&mut self, now: Time, id: JobId, limit: &JobLimit) {
        self.begin_hold(now, id, HoldCause::Limit(limit.family.clone()));
    }

    fn note_shortage(&mut self, now: Time, id: JobId, resource: &str, _: (&str, &str)) {
        self.begin_hold(now, id, HoldCause::Resource(resource.to_string()));
    }

    fn note_release(&mut self, now: Time, id: JobId) {
        self.end_wait(now, id);
        self.queue.iter_mut().for_each(|queue| queue.note_wait(id));
    }

    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        if let Some(since) = self.since.remove(&id) {
            self.waited += (now - since).as_f64();
        }
        self.queue.iter_mut().for_each(|queue| queue.note_start(id));
    }

    fn note_requeue(&mut self, _: Time, id: JobId, _: Procs, _: Span) {
        if let Some(queue) = &mut self.queue {
            queue.note_stop(id);
            queue.note_wait(id);
        }
    }

    fn note_withdrawal(&mut self, _: Time, id: JobId) {
        self.queue.iter_mut().for_each(|queue| queue.note_leave(id));
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.queue.iter_mut().for_each(|queue| queue.note_stop(job.id));
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.queue.iter_mut().for_each(|queue| queue.note_stop(job.id));
    }

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        self.queue.iter_mut().for_each(|queue| queue.settle_levels(now, levels));
    }
}

impl HeldWaits {
    /// Simulates jobs that share limits or ask for resources that could be short; `None` for
    /// others, and on cancellation.
    ///
    /// # Errors
    /// As a simulation.
    pub(crate) fn measure_waits(
        input: &WorkloadInput,
        (outages, feedback): (&Outages, bool),
        stop: &AtomicBool,
    ) -> Result<Option<HeldWaits>, CommandFailure> {
        let queue = ResourceWaits::for_workload(&input.workload);
        if input.workload.circumstances().is_none_or(|circumstances| circumstances.limits.is_empty()) && queue.is_none()
        {
            return Ok(None);
        }
        let spec: PolicySpec = POLICY.parse()?;
        let mut watch = HoldObserver { queue, ..HoldObserver::default() };
        let outcome = Experiment::new(&spec, &input.workload)
            .with_outages(Some(outages))
            .with_division(input.pool_division())
            .feeding_back(feedback)
            .for_metrics(&[], JobSelection::All)
            .with_stop(stop)
            .run(&mut watch)
            .map_err(|error| CommandFailure::experiment_error(POLICY, error))?;
        Ok(outcome.and_then(|_| watch.compute_shares()))
    }

    /// The sentence for people; `None` where hardly any waiting is of this kind. `site` is the path
    /// of the site.
    pub(crate) fn format_sentence(&self, site: &str) -> Option<String> {
        let mut parts: Vec<String> = (self.limits.iter().take(NAMED))
            .filter(|(_, share)| *share >= WORTH)
            .map(|(family, share)| format!("{} of the waiting is a limit of {family}", format_percent(Some(*share), 0)))
            .collect();
        let limits = !parts.is_empty();
        if self.others >= WORTH {
            let share = format_percent(Some(self.others), 0);
            parts.push(format!("{share} of the waiting is for other jobs, a time to begin or a release"));
        }
        let advice = if limits { format!(": `drystone advise {site} --only limits`") } else { String::new() };
        let limits_sentence =
            (!parts.is_empty()).then(|| format!("{}, which no policy changes{advice}", parts.join("; ")));
        let mut sentences: Vec<String> = limits_sentence.into_iter().chain(self.resource_sentence(site)).collect();
        let largest = |shares: &[(String, f64)]| shares.first().map_or(0.0, |(_, share)| *share);
        if largest(&self.resources) > largest(&self.limits).max(self.others) {
            sentences.reverse();
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }

    /// Describes the waits for resources of which too little is free.
    fn resource_sentence(&self, site: &str) -> Option<String> {
        let parts: Vec<String> = (self.resources.iter().take(NAMED))
            .filter(|(_, share)| *share >= WORTH)
            .map(|(name, share)| format!("{} of the waiting is for {name}", format_percent(Some(*share), 0)))
            .collect();
        let (first, _) = self.resources.first().filter(|_| !parts.is_empty())?;
        Some(format!(
            "{}: try more of {first} with `drystone whatif {site} --change 'supply {first}=AMOUNT'` and the same options",
            parts.join("; ")
        ))
    }
}

impl HoldObserver<'_> {
    fn compute_shares(mut self) -> Option<HeldWaits> {
        let total_seconds = self.waited;
        for (name, seconds) in self.queue.take().map(ResourceWaits::finish).into_iter().flatten() {
            *self.resources.entry(name).or_default() += seconds;
        }
        let shares = |seconds: BTreeMap<String, f64>| {
            let mut shares: Vec<(String, f64)> =
                seconds.into_iter().map(|(name, seconds)| (name, seconds / total_seconds)).collect();
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            shares
        };
        let (limits, resources) = (shares(self.limits), shares(self.resources));
        (total_seconds > 0.0).then(|| HeldWaits { limits, resources, others: self.others / total_seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::model::{
        Demand, Job, LogStatus, Machine, Provenance, Resource, ResourceTableBuilder, ResourceUnit, SupplyStep, Truth,
        Workload,
    };

    /// By hand: a job waits 40 s, 30 of them for a limit; another one 60 s, all of them for its
    /// machine: 30 of 100 s.
    #[test]
    fn parts_are_of_all_waiting() {
        let limit = JobLimit {
            reason: "QOSMaxCpuPerUserLimit".to_string(),
            of: "the QOS normal for the user ada".to_string(),
            family: "the QOS normal".to_string(),
            most: 8,
        };
        let mut watch = HoldObserver::default();
        for id in [JobId(0), JobId(1)] {
            watch.note_arrival(Time(0), id);
        }
        watch.note_hold(Time(0), JobId(0));
        watch.note_limit(Time(0), JobId(0), &limit);
        watch.note_release(Time(30), JobId(0));
        watch.note_start(Time(40), JobId(0), StartReason::Head);
        watch.note_start(Time(60), JobId(1), StartReason::Head);
        let shares = watch.compute_shares().expect("jobs waited");
        assert_eq!(shares, HeldWaits { limits: vec![("the QOS normal".to_string(), 0.3)], ..HeldWaits::default() });
        assert_eq!(
            shares.format_sentence("site").as_deref(),
            Some(
                "30% of the waiting is a limit of the QOS normal, which no policy changes: `drystone advise site --only limits`"
            )
        );
    }

    /// By hand, on 4 processors with 2 licences, of which there is one from 100 to 200. Job 0 holds
    /// both from 0 to 60, so job 1, which asks for one, waits 50 of its 50 s for it. Job 2 comes at
    /// 110 and asks for two: it waits 90 s for them to be there. Job 3 has all processors from 230
    /// to 290, and job 4, which comes at 240 and asks for one, waits 50 s for these: 140 of 190 s
    /// are for licences.
    #[test]
    fn waits_for_licences_are_those_beside_free_processors() {
        let rows = [(0, 1, 60, 2), (10, 1, 10, 1), (110, 1, 20, 2), (230, 4, 60, 0), (240, 1, 10, 1)];
        let (mut jobs, mut truth) = (Vec::new(), Vec::new());
        let mut table = ResourceTableBuilder::new();
        let cad = table.add_resource(Resource::new("license:cad", ResourceUnit::Count, 2)).expect("new");
        for (number, (submit, procs, run, licences)) in (1..).zip(rows) {
            let mut job = Job::new(Time(submit), procs, Span(run));
            let totals = if licences > 0 { vec![(cad, licences)] } else { Vec::new() };
            job.demand = table.intern_demand(Demand { totals, shape: None }).expect("known");
            jobs.push(job);
            truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
        }
        let step = |from, amount| SupplyStep { resource: cad, from: Time(from), amount, announced: None };
        let table = table.finish().with_supply(&[step(100, 1), step(200, 2)]).expect("possible");
        let workload =
            Workload::with_resources(Machine::new(4), Some(table.into()), jobs, truth, Provenance::default());
        let workload = workload.expect("possible");
        let spec: PolicySpec = POLICY.parse().expect("a policy");
        let mut watch = HoldObserver { queue: ResourceWaits::for_workload(&workload), ..HoldObserver::default() };
        Experiment::new(&spec, &workload).run(&mut watch).expect("simulated").expect("to its end");
        let shares = watch.compute_shares().expect("jobs waited");
        assert_eq!((shares.limits.len(), shares.others), (0, 0.0));
        let [(name, share)] = &shares.resources[..] else { panic!("{shares:?}") };
        assert_eq!((name.as_str(), *share), ("license:cad", 140.0 / 190.0));
        assert_eq!(
            shares.format_sentence("log.swf").as_deref(),
            Some(
                "74% of the waiting is for license:cad: try more of license:cad with \
                 `drystone whatif log.swf --change 'supply license:cad=AMOUNT'` and the same options"
            )
        );
    }
}
