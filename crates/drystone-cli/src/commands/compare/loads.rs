//! Results of policies as the load rises: the same jobs, arriving faster.

use super::bench::CompareInputs;
use super::simulate::WatchedPolicy;
use crate::exit::CommandFailure;
use crate::input::{PolicyFiles, WorkloadParts};
use crate::meta::ExperimentMeta;
use drystone::engine::Platform;
use drystone::log::transform::{LoadFactor, scale_load, scale_outages};
use drystone::metrics::Report;
use drystone::model::{Outages, Workload};
use drystone::policy::PolicySpec;
use drystone_report::LoadPoint;

pub(super) struct Loads {
    pub(super) points: Vec<LoadPoint>,
    /// Those at which some policy was not done when the work was interrupted.
    pub(super) left_out: Vec<LoadFactor>,
}

/// Simulates every policy at every load factor; `known` are the reports at factor 1.
pub(super) fn load_points(
    bench: &CompareInputs<'_>,
    workload: &Workload,
    specs: &[PolicySpec],
    reports: &[&Report],
) -> Result<Loads, CommandFailure> {
    let bench = CompareInputs { detailed: false, ..*bench };
    let mut factors: Vec<LoadFactor> = bench.args.loads.clone();
    factors.sort_by(|a, b| a.as_f64().total_cmp(&b.as_f64()));
    factors.dedup();
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for factor in factors {
        let mut add = |spec: &PolicySpec, load: Option<f64>, report: &Report| {
            points.push(LoadPoint {
                factor: factor.as_f64(),
                load,
                policy: spec.text().to_string(),
                wait: report.measures.wait.mean,
                response: report.measures.response.mean,
                bounded_slowdown: report.measures.bounded_slowdown.mean,
                utilisation: report.machine.period_utilisation,
                categories: report.categories.clone(),
            });
        };
        if factor.as_f64() == 1.0 {
            specs.iter().zip(reports).for_each(|(spec, report)| add(spec, workload.offered_load(), report));
            continue;
        }
        let scaled_workload = scale_load(workload.clone(), factor).map_err(CommandFailure::usage_error)?;
        let parts = WorkloadParts::of_jobs(&scaled_workload, false, &bench.input.windows)?;
        let (outages, platform) = outages_at(&bench, &scaled_workload, factor)?;
        let bench = CompareInputs { outages: &outages, platform, ..bench };
        let results = bench.simulate_all(&scaled_workload, parts.as_slice(), specs, &[], None)?;
        let results: Option<Vec<WatchedPolicy>> = results.into_iter().collect();
        match results {
            Some(runs) => specs
                .iter()
                .zip(&runs)
                .for_each(|(spec, s)| add(spec, scaled_workload.offered_load(), &s.measured.report)),
            None => left_out.push(factor),
        }
    }
    Ok(Loads { points, left_out })
}

/// Returns the outages at a load, and the platform: recorded ones come as much faster as the jobs,
/// random failures and checkpoints are those of the scaled workload.
fn outages_at(
    bench: &CompareInputs<'_>,
    scaled_workload: &Workload,
    factor: LoadFactor,
) -> Result<(Outages, Platform), CommandFailure> {
    let mut recorded_outages = bench.recorded_outages.list().to_vec();
    scale_outages(&mut recorded_outages, factor);
    let outages = Outages::new(scaled_workload.machine(), recorded_outages)
        .map_err(|error| CommandFailure::usage_error(format_args!("--outages at the load factor {factor}: {error}")))?;
    let mut files = PolicyFiles { platform: bench.platform, outages, ..PolicyFiles::default() };
    files.add_failures(&bench.args.common.failure, scaled_workload, &mut ExperimentMeta::default())?;
    Ok((files.outages, files.platform))
}
