//! Resources beyond processors for the jobs of a study, and nodes for them.

use crate::error::SweepError;
use crate::simulation_inputs;
use crate::study::{SweepStudy, WorkloadEntry};
use drystone::log::nodes::{place_on, read_nodes};
use drystone::log::resources::{ResourceNotes, ResourceSpec, give_resources, read_table};
use drystone::model::Workload;
use std::path::Path;

/// Gives the jobs the resources and nodes that their entry names, with notes on what is odd about
/// them. Tables are looked for beside the study file.
pub(crate) fn furnish_workload(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: Workload,
) -> Result<(Workload, ResourceNotes), SweepError> {
    let (workload, notes) = with_resources(study, entry, workload)?;
    let Some(file) = &entry.on_nodes else { return Ok((workload, notes)) };
    let name = file.as_ref().display().to_string();
    let wrong = |problem: String| study.error_at(file.span(), format!("`on-nodes`: {problem}"));
    let table = read_nodes(&name, &simulation_inputs::read_text(study, file)?).map_err(|e| wrong(e.to_string()))?;
    let placed_workload = place_on(workload, &table.classes, entry.placement, &name);
    Ok((placed_workload.map_err(|e| wrong(format!("{name}: {e}")))?, notes))
}

fn with_resources(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: Workload,
) -> Result<(Workload, ResourceNotes), SweepError> {
    if entry.resources.is_empty() {
        return Ok((workload, ResourceNotes::default()));
    }
    let wrong = |problem: String| study.error_at(entry.resources_at.clone(), format!("`resources`: {problem}"));
    let mut tables = Vec::new();
    for spec in &entry.resources {
        if let ResourceSpec::Table(file) = spec {
            let text = std::fs::read_to_string(study.directory().join(Path::new(file)));
            let beside = "files are looked for beside the study file";
            let text = text.map_err(|e| wrong(format!("{file}: cannot be read: {e}; {beside}")))?;
            tables.push(read_table(file, &text).map_err(|e| wrong(e.to_string()))?);
        }
    }
    // The library's advice names the option; a study has a key.
    let advice = |text: String| text.replace("--resources FILE.csv", "resources = \"FILE.csv\"");
    give_resources(workload, &entry.resources, &tables).map_err(|e| wrong(advice(e.to_string())))
}
