//! One simulation, measured by what a study asks for and no more.

use crate::case::SweepCase;
use crate::error::{Cancelled, SweepError};
use crate::metric::{MeasuredSchedule, SweepMetric, WeekSums};
use crate::plan::SweepPlan;
use drystone::experiment::{Experiment, ExperimentError};
use drystone::inference::PeriodSum;
use drystone::metrics::{JobSelection, Measure, MeasuredWeek, Metric, MetricsConfig, Report};
use drystone::model::Span;
use drystone::policy::PolicySpec;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Result of a simulation: a value for each metric of the plan, or the reason for its failure.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationValues {
    /// The metrics, in the plan's order.
    pub values: Vec<Option<f64>>,
    /// Sums per week of the metrics that are means over jobs, from which intervals are made;
    /// nothing for the others. In the plan's order; empty after a failure.
    pub weeks: Vec<WeekSums>,
    /// Violation by the policy; there are no values then.
    pub error: Option<String>,
}

/// Beginning of the failures of simulations that took too long.
const OVER_LIMIT: &str = "stopped after ";

impl SimulationValues {
    /// A simulation that was stopped, because it took longer than it was given.
    pub(crate) fn over_limit(plan: &SweepPlan, limit: Duration) -> SimulationValues {
        let error = format!("{OVER_LIMIT}{} s, the limit of a simulation", limit.as_secs_f64());
        SimulationValues { values: vec![None; plan.metrics.len()], weeks: Vec::new(), error: Some(error) }
    }

    /// Returns whether it was stopped because it took longer than it was given.
    pub fn is_over_limit(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.starts_with(OVER_LIMIT))
    }
}

/// Carries out the simulation at a place of a plan.
///
/// # Errors
/// [`Cancelled`] if `cancel` was set before it ended.
pub fn simulate_place(plan: &SweepPlan, place: usize, cancel: &AtomicBool) -> Result<SimulationValues, Cancelled> {
    simulate_telling(plan, place, cancel, &|_| ())
}

/// Simulates, and reports jobs that have ended, each time the number since the last report.
pub(crate) fn simulate_telling(
    plan: &SweepPlan,
    place: usize,
    cancel: &AtomicBool,
    on_end: &(dyn Fn(u64) + Sync),
) -> Result<SimulationValues, Cancelled> {
    let (simulation, case) = (&plan.simulations[place], plan.case_of(place));
    let catalogue_metrics: Vec<Metric> = plan.metrics.iter().filter_map(SweepMetric::catalogue_metric).collect();
    let mut config =
        MetricsConfig { excessive: excess_thresholds(case, cancel)?, ..metrics_config(&catalogue_metrics, case.trim) };
    if plan.own.is_some() {
        // A program sees whole schedules.
        (config.keep_jobs, config.sizes) = (true, true);
    }
    let experiment = Experiment::new(&simulation.policy, &case.workload)
        .on_platform(case.given.platform)
        .with_outages(Some(&case.given.outages))
        .feeding_back(case.given.feedback)
        .with_priorities(case.given.priorities_for(&simulation.policy, &case.workload))
        .for_metrics(&catalogue_metrics, case.trim)
        .counting_weeks_from(case.weeks_from)
        .with_power_series(case.given.series.as_deref())
        .with_metrics(config)
        .with_progress(on_end)
        .with_stop(cancel);
    match experiment.run(&mut ()) {
        Ok(Some(mut measurement)) => {
            let mut values: Vec<Option<f64>> =
                catalogue_metrics.iter().map(|metric| metric.value_of(&measurement)).collect();
            let mut weeks: Vec<WeekSums> =
                catalogue_metrics.iter().map(|&metric| week_sums(metric, &measurement.report)).collect();
            if let Some(own) = &plan.own {
                let rows = measurement.report.take_schedule().unwrap_or_default();
                let sizes = measurement.report.sizes.as_ref().map(|sizes| &sizes.jobs);
                let schedule = MeasuredSchedule { policy: &simulation.policy, case, rows: &rows, sizes };
                let (own_values, own_weeks): (Vec<_>, Vec<_>) = own.measure_means(&schedule)?.into_iter().unzip();
                values.extend(own_values);
                weeks.extend(own_weeks);
            }
            Ok(SimulationValues { values, weeks, error: None })
        }
        Ok(None) => Err(Cancelled),
        Err(error) => {
            let (policy, workload) = (simulation.policy.to_string(), case.label());
            let error = match error {
                ExperimentError::Simulation(source) => SweepError::Simulation { policy, workload, source }.to_string(),
                other => format!("policy {policy} on {workload}: {other}"),
            };
            Ok(SimulationValues { values: vec![None; plan.metrics.len()], weeks: Vec::new(), error: Some(error) })
        }
    }
}

/// The baseline of thresholds of excessive waits: FCFS-backfill.
const BASELINE: &str = "easy";

/// The threshold of excessive waits of a case, in its variant of the study. It is the same for
/// every policy of the case, and simulated once.
fn excess_thresholds(case: &SweepCase, cancel: &AtomicBool) -> Result<Vec<Span>, Cancelled> {
    let Some(excess) = &case.given.excess else { return Ok(Vec::new()) };
    let baseline = || {
        let Ok(policy) = BASELINE.parse::<PolicySpec>() else { return Ok(None) };
        let policy = case.published.and_then(|study| policy.in_study(study.name()).ok()).unwrap_or(policy);
        let config = MetricsConfig::for_metrics(&[Metric::Max(Measure::Wait), Metric::P98(Measure::Wait)], case.trim);
        let experiment = Experiment::new(&policy, &case.workload)
            .on_platform(case.given.platform)
            .with_outages(Some(&case.given.outages))
            .feeding_back(case.given.feedback)
            .with_metrics(config)
            .with_stop(cancel);
        match experiment.run(&mut ()) {
            Ok(Some(measurement)) => Ok(Some(measurement.report)),
            Ok(None) => Err(Cancelled),
            Err(_) => Ok(None),
        }
    };
    Ok(excess.compute_seconds(baseline)?.into_iter().collect())
}

/// Measures what these metrics need, and sums per week where one is a mean over jobs.
fn metrics_config(metrics: &[Metric], trim: JobSelection) -> MetricsConfig {
    let weeks = metrics.iter().any(|metric| matches!(metric, Metric::Mean(_)));
    MetricsConfig { weeks, ..MetricsConfig::for_metrics(metrics, trim) }
}

/// The sums per week of a mean over jobs; nothing of another metric.
fn week_sums(metric: Metric, report: &Report) -> WeekSums {
    let Metric::Mean(measure) = metric else { return Vec::new() };
    let of = |week: &MeasuredWeek| {
        let (sum, jobs) = week.sum(measure);
        (week.week, PeriodSum { sum, count: jobs as f64 })
    };
    report.weeks.iter().map(of).collect()
}
