//! Sizes of the jobs of a study, and power.

use crate::error::SweepError;
use crate::simulation_inputs::{self, GivenFiles};
use crate::study::{SweepStudy, WorkloadEntry};
use drystone::generate::reshape::Reshape;
use drystone::log::power::{CapTable, give_power, give_terms, read_caps};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{give_shapes, read_shapes};
use drystone::model::Workload;
use std::sync::Arc;

/// Gives the jobs of a workload the sizes that the entry asks for, and the machine its power. Last
/// of all changes: tables and draws name jobs by their numbers.
pub(crate) fn shape_workload(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    mut workload: Workload,
    draw: Option<&Reshape>,
    files: &mut GivenFiles,
) -> Result<Workload, SweepError> {
    let shape = &entry.shape;
    let overrun = entry.options.overrun;
    if let Some(draw) = draw {
        let wrong =
            |problem: String| study.error_at(shape.draws_at.clone(), format!("workload {}: {problem}", entry.name));
        workload = draw.apply(workload, overrun).map_err(wrong)?.0;
    }
    if let Some(file) = &shape.shapes {
        let (name, text) = (file.as_ref().display().to_string(), simulation_inputs::read_text(study, file)?);
        let wrong = |problem: String| study.error_at(file.span(), problem);
        let table = read_shapes(&name, &text).map_err(|e| wrong(e.to_string()))?;
        workload = give_shapes(workload, &table, overrun).map_err(|e| wrong(e.to_string()))?.0;
    }
    if shape.power.is_some() || shape.idle > 0 {
        let wrong = |problem: String| study.error_at(shape.power_at.clone(), problem.replace("--idle", "`idle`"));
        let caps = match &shape.power {
            None => CapTable::from_caps("no caps", Vec::new()),
            Some(file) => {
                let (name, text) = (file.as_ref().display().to_string(), simulation_inputs::read_text(study, file)?);
                read_caps(&name, &text).map_err(|e| wrong(e.to_string()))?
            }
        };
        workload = give_power(workload, &caps, shape.idle).map_err(|e| wrong(e.to_string()))?;
    }
    if let Some(file) = &shape.series {
        let (name, text) = (file.as_ref().display().to_string(), simulation_inputs::read_text(study, file)?);
        let wrong = |problem: String| study.error_at(file.span(), problem);
        let series = PowerSeries::parse_table(&name, &text).map_err(|e| wrong(e.to_string()))?;
        if let Some((first, _)) = workload.submit_range() {
            series.check_from(first).map_err(|e| wrong(e.to_string()))?;
        }
        // The metrics of a simulation depend on it.
        let settings = [std::mem::take(&mut files.settings), format!("series={}", simulation_inputs::hash(&text))];
        files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        workload = give_terms(workload, &series);
        files.series = Some(Arc::new(series));
    }
    Ok(workload)
}
