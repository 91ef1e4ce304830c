//! Distance of the compared policies from the best possible.

use super::bench::CompareInputs;
use super::simulate::FinishedPolicies;
use crate::args::Grid;
use crate::commands::headroom::BEGINNINGS;
use crate::commands::headroom::bracket::{Bracket, BracketSchedule, Seek, say_others, seek_bracket};
use crate::exit::CommandFailure;
use crate::input;
use crate::parallel;
use drystone::experiment::Experiment;
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::model::Span;
use drystone::policy::PolicySpec;
use drystone_headroom::{DelayMeasure, HeadroomCase, TimeLimit};
use std::time::Duration;

/// The bracket of the mean wait, where it was asked for. Policies with other jobs than the baseline
/// have no place in it.
pub(super) fn find_bracket(
    bench: &CompareInputs<'_>,
    runs: &FinishedPolicies,
    baseline: &str,
) -> Result<Option<Bracket>, CommandFailure> {
    let Some(time) = bench.args.headroom else { return Ok(None) };
    let input = bench.input;
    if input.pool_division().is_some() {
        return Err(CommandFailure::usage_error(
            "--headroom brackets one machine, and the site has several pools; SITE#POOL names one",
        ));
    }
    let schedules: Vec<(&str, &[JobRow])> = runs
        .specs
        .iter()
        .zip(&runs.watched)
        .map(|(spec, run)| (spec.text(), run.measured.report.jobs.as_deref().unwrap_or_default()))
        .collect();
    let Some(&(_, first)) = schedules.iter().find(|(policy, _)| *policy == baseline) else { return Ok(None) };
    let real = (bench.outages, bench.args.common.real.feedback);
    let measured_jobs = (DelayMeasure::Wait, input.job_selection(&bench.args.common));
    let case = HeadroomCase::from_rows(&input.workload, first, real, measured_jobs)
        .map_err(|problem| CommandFailure::usage_error(format_args!("--headroom: {problem}")))?;
    let other_policies: Vec<(String, usize)> = schedules
        .iter()
        .map(|&(policy, rows)| (policy.to_string(), case.count_differing(rows)))
        .filter(|(_, count)| *count > 0)
        .collect();
    say_others(&other_policies);
    let fits = |policy: &str| !other_policies.iter().any(|(name, _)| name == policy);
    let further = simulate_beginnings(bench, &schedules)?;
    let beside = schedules.iter().filter(|(policy, _)| fits(policy));
    let further = further.iter().filter(|(_, rows)| case.count_differing(rows) == 0);
    let simulated_schedules: Vec<BracketSchedule<'_>> = beside
        .map(|&(policy, rows)| BracketSchedule { policy, rows, shown: true })
        .chain(further.map(|(spec, rows)| BracketSchedule { policy: spec.text(), rows, shown: false }))
        .collect();
    let seek = Seek {
        grids: Grid::Quarter.grid_steps(),
        limit: (time > Span::ZERO).then(|| TimeLimit::Time(Duration::from_secs(time.0.unsigned_abs()))),
        seed: bench.args.common.seed,
        threads: bench.thread_count(),
        stop: bench.stop,
    };
    Ok(Some(seek_bracket(&case, &simulated_schedules, &seek)?.bracket))
}

/// Simulates the further starting points of the search, as `drystone headroom` does, but for those
/// that are compared anyway. Cancelled ones are left out.
fn simulate_beginnings(
    bench: &CompareInputs<'_>,
    schedules: &[(&str, &[JobRow])],
) -> Result<Vec<(PolicySpec, Vec<JobRow>)>, CommandFailure> {
    let (input, common) = (bench.input, &bench.args.common);
    let mut specs = Vec::new();
    for spec in BEGINNINGS.iter().filter_map(|text| text.parse::<PolicySpec>().ok()) {
        // The comparison does not depend on them: one without a form here is no starting point.
        let Ok(spec) = input::in_study(&spec, common.log.study) else { continue };
        let spec = input.localised_policy(&spec)?;
        if input.check_fit(std::iter::once(&spec)).is_ok()
            && !schedules.iter().any(|(policy, _)| *policy == spec.text())
        {
            specs.push(spec);
        }
    }
    let simulate_spec = |_: usize, spec: PolicySpec| -> Result<Option<(PolicySpec, Vec<JobRow>)>, CommandFailure> {
        let config =
            MetricsConfig { selection: input.job_selection(common), keep_jobs: true, ..MetricsConfig::default() };
        let simulation = Experiment::new(&spec, &input.workload)
            .with_outages(Some(bench.outages))
            .feeding_back(common.real.feedback)
            .with_metrics(config)
            .with_stop(bench.stop);
        let measurement = simulation.run(&mut ()).map_err(|e| CommandFailure::experiment_error(spec.text(), e))?;
        Ok(measurement.map(|mut run| (spec, run.report.take_schedule().unwrap_or_default())))
    };
    let ran: Result<Vec<_>, CommandFailure> =
        parallel::map(specs, bench.thread_count(), simulate_spec).into_iter().collect();
    Ok(ran?.into_iter().flatten().collect())
}
