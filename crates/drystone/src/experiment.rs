//! One experiment: a workload under a policy on a machine, measured. Commands, sweeps and
//! reproduced studies all simulate here.

mod division;
mod side_by_side;

pub use division::{DivisionError, PoolDivision, PoolShare};

use crate::engine::{
    AnyObserver, EventSource, Happenings, NewsError, Observer, Platform, Scheduler, Segments, Simulation,
    SimulationError, Unfit, WorkloadReplay,
};
use crate::log::clean::{CleaningStudy, Trim};
use crate::log::series::{PowerSeries, PowerSeriesError};
use crate::metrics::{
    Collector, JobSelection, Metric, MetricSource, MetricsConfig, PromiseAudit, PromisesKept, Report, Scope, SizeMeter,
};
use crate::model::{EndedJob, Outages, Time, Workload};
use crate::policy::{PolicySpec, Priorities, PriorityError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Simulation of a workload, with the choice of measurements. Everything but policy and workload
/// has a default.
///
/// The workload is cleaned and transformed already: what an overrun means, and the seed of what is
/// generated, are part of it.
///
/// ```
/// use drystone::experiment::Experiment;
/// use drystone::generate::{WorkloadLength, Params, generate_workload};
/// use drystone::metrics::{Measure, Metric};
/// use drystone::policy::PolicySpec;
///
/// let workload = generate_workload(&Params { length: WorkloadLength::Jobs(200), ..Params::new(64, 1) })?;
/// let policy: PolicySpec = "easy".parse()?;
/// let measured = Experiment::new(&policy, &workload).run(&mut ())?.expect("nothing stops it");
/// assert_eq!(measured.report.trimmed.kept, 200);
/// assert!(Metric::Mean(Measure::BoundedSlowdown).value_of(&measured) >= Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "an experiment does nothing before it is run"]
pub struct Experiment<'a> {
    policy: &'a PolicySpec,
    whole: &'a Workload,
    parts: &'a [Workload],
    platform: Platform,
    outages: Option<&'a Outages>,
    feedback: bool,
    division: Option<&'a PoolDivision>,
    priorities: Option<&'a Priorities>,
    grades: Option<&'a Priorities>,
    config: MetricsConfig,
    promises: bool,
    stop: Option<&'a AtomicBool>,
    progress: Option<&'a (dyn Fn(u64) + Sync)>,
    threads: u32,
    weeks_from: Option<Time>,
    series: Option<&'a PowerSeries>,
}

/// Results of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct ExperimentResult {
    /// Everything that the configuration asked for.
    pub report: Report,
    /// Announced starts; nothing where they were not watched.
    pub promises: PromisesKept,
    /// Each pool by itself, where the workload is divided.
    pub pools: Vec<PoolMeasured>,
    /// Wall-clock time of the simulation with everything that watches it, without the summing up at
    /// the end. Differs from run to run.
    pub took: Duration,
}

/// Measurements of a pool.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolMeasured {
    /// Its name.
    pub name: String,
    /// Its processors, as its own policy counts them.
    pub procs: u32,
    /// Report, in the pool's own processors.
    pub report: Report,
}

impl<'a> From<&'a ExperimentResult> for MetricSource<'a> {
    fn from(result: &'a ExperimentResult) -> MetricSource<'a> {
        MetricSource { report: &result.report, promises: Some(&result.promises) }
    }
}

/// Reason why an experiment failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The policy requires something of workloads that this one lacks.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The policy takes no priorities, or not these.
    #[error(transparent)]
    Priorities(#[from] PriorityError),
    /// The policy does not know what to do when processors go, or jobs are held or here already.
    #[error(transparent)]
    News(#[from] NewsError),
    /// The policy broke its contract.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The workload cannot be divided so.
    #[error(transparent)]
    Division(#[from] DivisionError),
    /// Carbon and prices are not known for the whole schedule.
    #[error(transparent)]
    Series(#[from] PowerSeriesError),
}

impl<'a> Experiment<'a> {
    /// A policy on the whole of a workload, on a machine where suspension costs nothing, measured
    /// by [`MetricsConfig::default`].
    pub fn new(policy: &'a PolicySpec, workload: &'a Workload) -> Experiment<'a> {
        Experiment {
            policy,
            whole: workload,
            parts: std::slice::from_ref(workload),
            platform: Platform::default(),
            outages: None,
            feedback: false,
            division: None,
            priorities: None,
            grades: None,
            config: MetricsConfig::default(),
            promises: true,
            stop: None,
            progress: None,
            threads: 1,
            weeks_from: None,
            series: None,
        }
    }

    /// With carbon and prices over time, where power is counted.
    pub fn with_power_series(self, series: Option<&'a PowerSeries>) -> Experiment<'a> {
        Experiment { series, ..self }
    }

    /// Counts the weeks of submits from this time, such as the first submit of the log of which the
    /// workload is a slice; else from the first submit.
    pub fn counting_weeks_from(self, origin: Option<Time>) -> Experiment<'a> {
        Experiment { weeks_from: origin, ..self }
    }

    /// Simulates these parts, one after the other and each from an empty machine, and measures them
    /// as one workload. Together they hold the jobs of the whole, in the same order.
    pub fn in_parts(self, parts: &'a [Workload]) -> Experiment<'a> {
        Experiment { parts, ..self }
    }

    /// On a machine where suspension costs what `platform` says, and jobs write its checkpoints.
    pub fn on_platform(self, platform: Platform) -> Experiment<'a> {
        Experiment { platform, ..self }
    }

    /// On a machine that loses and regains processors. The workload's
    /// [circumstances](Workload::circumstances) are heeded in any case.
    pub fn with_outages(self, outages: Option<&'a Outages>) -> Experiment<'a> {
        Experiment { outages: outages.filter(|outages| !outages.is_empty()), ..self }
    }

    /// Lets jobs that depend on others arrive when these have ended, instead of at their submit
    /// times ([`DependencyEffect::Arrives`](crate::model::DependencyEffect::Arrives)).
    pub fn feeding_back(self, feedback: bool) -> Experiment<'a> {
        Experiment { feedback, ..self }
    }

    /// On pools side by side, each with a scheduler of its own, measured each by itself and all as
    /// one. Outages are those of the pools. Parts are not simulated so.
    pub fn with_division(self, division: Option<&'a PoolDivision>) -> Experiment<'a> {
        Experiment { division, ..self }
    }

    /// With priorities and quotas, where there are any.
    pub fn with_priorities(self, priorities: Option<&'a Priorities>) -> Experiment<'a> {
        Experiment { priorities, ..self }
    }

    /// Sorts jobs by these priorities where they are to be sorted by priority, whether the policy
    /// knows of them or not.
    pub fn with_grades(self, grades: Option<&'a Priorities>) -> Experiment<'a> {
        Experiment { grades, ..self }
    }

    /// Measures this. Accuracies of predictions are recorded only where `config` asks for
    /// predictability or for rows.
    pub fn with_metrics(self, config: MetricsConfig) -> Experiment<'a> {
        Experiment { config, ..self }
    }

    /// Measures what these metrics need, over the jobs of this selection, and no more.
    pub fn for_metrics(self, metrics: &[Metric], selection: JobSelection) -> Experiment<'a> {
        let promises =
            metrics.iter().any(|metric| metric.needed_measurements().contains(&crate::metrics::MetricNeeds::Promises));
        Experiment { config: MetricsConfig::for_metrics(metrics, selection), promises, ..self }
    }

    /// Lets a policy that searches use this many threads within a decision. The results do not
    /// depend on it.
    pub fn with_threads(self, threads: u32) -> Experiment<'a> {
        Experiment { threads, ..self }
    }

    /// Stops soon after this is set.
    pub fn with_stop(self, stop: &'a AtomicBool) -> Experiment<'a> {
        Experiment { stop: Some(stop), ..self }
    }

    /// Tells of jobs that have ended: how many more each time, every few hundred jobs.
    pub fn with_progress(self, progress: &'a (dyn Fn(u64) + Sync)) -> Experiment<'a> {
        Experiment { progress: Some(progress), ..self }
    }

    /// Simulates and measures; `None` on cancellation. `also` is a further observer, called through
    /// a pointer; ids of jobs are those of the part in progress.
    ///
    /// # Errors
    /// The policy requires something that a workload lacks, does not take the priorities, or breaks
    /// its contract.
    pub fn run<O: Observer>(&self, also: &mut O) -> Result<Option<ExperimentResult>, ExperimentError> {
        if O::NOTES { self.run_noted(AnyObserver::new(also)) } else { self.run_plain(AnyObserver::new(also)) }
    }

    // These two have no type parameters: they are compiled here, and not where they are called.

    fn run_noted(&self, mut also: AnyObserver<'_, true>) -> Result<Option<ExperimentResult>, ExperimentError> {
        self.run_watched(&mut also)
    }

    fn run_plain(&self, mut also: AnyObserver<'_, false>) -> Result<Option<ExperimentResult>, ExperimentError> {
        self.run_watched(&mut also)
    }

    #[expect(clippy::disallowed_methods, reason = "the duration, which decides nothing")]
    fn run_watched(&self, also: &mut impl Observer) -> Result<Option<ExperimentResult>, ExperimentError> {
        let since = Instant::now();
        if let Some(division) = self.division {
            return self.run_divided(division, also, since);
        }
        let real = self.platform.checkpoints.is_some() || self.parts.iter().any(|part| self.is_real(part));
        let config = MetricsConfig { disruptions: real, ..self.config.clone() };
        let mut collector = Collector::new(self.collector_scope(), config);
        let mut ineligible_count = 0;
        let mut promises = PromisesKept::default();
        let mut offset = 0;
        let mut sizes: Option<SizeMeter> = None;
        for part in self.parts {
            if self.parts.len() > 1 {
                collector.begin_part(part.len() as u32, Scope::submit_span(part));
            }
            let mut audit = self.promises.then(PromiseAudit::default);
            let mut ended_counter = EndedCounter { progress: self.progress, ended: 0 };
            let mut segments = part.shapes().filter(|_| self.config.sizes).map(|_| Segments::default());
            let watching = &mut ((&mut collector, &mut audit), ((&mut ended_counter, &mut segments), &mut *also));
            match self.simulate_part(part, watching)? {
                None => return Ok(None),
                Some(more) => ineligible_count += more,
            }
            if let Some(segments) = segments {
                sizes.get_or_insert_default().add_part(part, &segments, self.series)?;
            }
            promises = promises
                .merge_with(audit.map(|audit| audit.kept_promises().with_numbers(part)).unwrap_or_default(), offset);
            offset += part.len() as u32;
        }
        let took = since.elapsed();
        let mut report = collector.finish();
        report.sizes = sizes.map(SizeMeter::finish);
        if let Some(disruptions) = &mut report.disruptions {
            disruptions.left = ineligible_count;
        }
        Ok(Some(ExperimentResult { report, promises, pools: Vec::new(), took }))
    }

    fn run_divided(
        &self,
        division: &PoolDivision,
        also: &mut impl Observer,
        since: Instant,
    ) -> Result<Option<ExperimentResult>, ExperimentError> {
        let config = MetricsConfig { disruptions: true, ..self.config.clone() };
        let mut collector = Collector::new(self.collector_scope(), config.clone());
        let mut audit = self.promises.then(PromiseAudit::default);
        let mut ended_counter = EndedCounter { progress: self.progress, ended: 0 };
        let watching = &mut ((&mut collector, &mut audit), (&mut ended_counter, &mut *also));
        let Some((pools, rest_count)) = side_by_side::run_pools(self, division, &config, watching)? else {
            return Ok(None);
        };
        let promises = audit.map(|audit| audit.kept_promises().with_numbers(self.whole)).unwrap_or_default();
        let mut report = collector.finish();
        if let Some(disruptions) = &mut report.disruptions {
            disruptions.left = rest_count;
        }
        Ok(Some(ExperimentResult { report, promises, pools, took: since.elapsed() }))
    }

    /// Facts of the whole workload that a collector needs.
    fn collector_scope(&self) -> Scope {
        Scope::from_workload(self.whole).with_grades(self.grades, self.whole).counting_weeks_from(self.weeks_from)
    }

    /// Returns whether a part has events besides arrivals and ends.
    fn is_real(&self, part: &Workload) -> bool {
        self.outages.is_some() || part.circumstances().is_some()
    }

    /// Simulates one part to its end. Returns the number of jobs left that were never eligible;
    /// `None` on cancellation.
    fn simulate_part(&self, part: &Workload, observer: &mut impl Observer) -> Result<Option<u64>, ExperimentError> {
        let scheduler = build_scheduler(self.policy, self.priorities, part)?;
        scheduler.check_fit(part)?;
        if !self.is_real(part) {
            return Ok(self.run_to_end(part, scheduler, WorkloadReplay::new(part), observer)?.map(|_| 0));
        }
        scheduler.check_hears()?;
        let no_outages = Outages::default();
        let outages = self.outages.unwrap_or(&no_outages);
        scheduler.check_outages(part, outages)?;
        let source = Happenings::new(part, outages, self.feedback);
        Ok(self.run_to_end(part, scheduler, source, observer)?.map(|source| source.jobs_left()))
    }

    /// Returns the source as it is at the end.
    fn run_to_end<S: EventSource>(
        &self,
        part: &Workload,
        scheduler: Scheduler,
        source: S,
        observer: &mut impl Observer,
    ) -> Result<Option<S>, ExperimentError> {
        let simulation = Simulation::new(part.machine(), scheduler, source);
        let mut simulation = simulation.with_platform(&self.platform).with_threads(self.threads);
        if !(self.config.predictability || self.config.keep_jobs) {
            simulation = simulation.without_accuracy();
        }
        while simulation.step(observer)? {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(None);
            }
        }
        Ok(Some(simulation.into_source()))
    }
}

/// A fresh scheduler for a workload, with priorities where there are any.
///
/// # Errors
/// The policy takes no priorities, or not these.
pub fn build_scheduler(
    policy: &PolicySpec,
    priorities: Option<&Priorities>,
    workload: &Workload,
) -> Result<Scheduler, PriorityError> {
    let mut scheduler = policy.build_scheduler();
    if let Some(priorities) = priorities {
        scheduler.policy.set_priorities(priorities.clone().for_part(workload))?;
    }
    Ok(scheduler)
}

/// Number of ends between two reports of progress.
const STRIDE: u64 = 256;

struct EndedCounter<'a> {
    progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Not reported yet.
    ended: u64,
}

impl EndedCounter<'_> {
    fn report_progress(&mut self) {
        if let Some(progress) = self.progress {
            progress(std::mem::take(&mut self.ended));
        }
    }
}

impl Observer for EndedCounter<'_> {
    const NOTES: bool = false;

    #[inline]
    fn note_end(&mut self, _: &EndedJob<'_>) {
        self.ended += 1;
        if self.ended == STRIDE {
            self.report_progress();
        }
    }
}

impl Drop for EndedCounter<'_> {
    fn drop(&mut self) {
        self.report_progress();
    }
}

/// Returns the selection of jobs for the averages of a study; all jobs without a study.
#[must_use]
pub fn study_selection(study: Option<CleaningStudy>) -> JobSelection {
    match study.map_or(Trim::Nothing, CleaningStudy::trim_rule) {
        Trim::Nothing => JobSelection::All,
        Trim::Tsafrir => JobSelection::Tsafrir,
    }
}
