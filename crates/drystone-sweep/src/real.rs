//! The real machine as a study describes it: circumstances of jobs, dependencies, a busy beginning.

use crate::error::SweepError;
use crate::simulation_inputs;
use crate::study::{SweepStudy, WorkloadEntry};
use drystone::log::circumstances;
use drystone::log::recorded::{Dependencies, RecordedState};
use drystone::log::swf::SwfRecord;
use drystone::log::transform;
use drystone::model::{Circumstances, Setting, Span, Workload};

/// A log's workload as the entry wants it to begin and to depend.
pub(crate) fn apply_circumstances(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: Workload,
    records: &[SwfRecord],
) -> Result<Workload, SweepError> {
    let wrong = |problem: String| study.error_at(entry.file_at.clone(), format!("workload {}: {problem}", entry.name));
    let mut workload = workload;
    if let Some(file) = &entry.circumstances {
        let text = simulation_inputs::read_text(study, file)?;
        let name = file.as_ref().display().to_string();
        let reading = circumstances::read_circumstances(text.as_bytes(), &name, &workload);
        let reading = reading.map_err(|e| simulation_inputs::file_error(study, file, e))?;
        workload = workload
            .with_circumstances(reading.circumstances)
            .map_err(|e| simulation_inputs::file_error(study, file, e))?;
    }
    if entry.feedback {
        let dependencies = Dependencies::from_records(&workload, records, &entry.name)
            .map_err(|source| SweepError::Log { name: entry.name.clone(), source })?;
        let circumstances = workload.circumstances().cloned().unwrap_or_default();
        if dependencies.after.is_empty() && !circumstances.feeds_back() {
            return Err(wrong(
                "`feedback` needs jobs that depend on others, and field 17 of no record names one".into(),
            ));
        }
        let after = dependencies.after.into_iter().chain(circumstances.after).collect();
        workload.provenance.settings.push(Setting { name: "feedback".to_string(), value: "true".to_string() });
        workload =
            workload.with_circumstances(Circumstances { after, ..circumstances }).map_err(|e| wrong(e.to_string()))?;
    }
    match entry.warm_start {
        None => Ok(workload),
        Some(after) => start_warm(&workload, records, after).map_err(wrong),
    }
}

/// The window that begins so long after the first submit.
fn start_warm(workload: &Workload, records: &[SwfRecord], after: Span) -> Result<Workload, String> {
    let Some((first, last)) = workload.submit_range() else { return Ok(workload.clone()) };
    let begin = first.saturating_add(after);
    if last < begin {
        return Err(format!("`warm-start` would begin at {begin} s, and the last job is submitted at {last} s"));
    }
    let recorded_state = RecordedState::from_records(workload, records);
    let (unknown, before) = recorded_state.unknown_before(begin);
    if before > 0 && unknown == before {
        return Err("`warm-start` needs to know when jobs started, and the log records no wait (field 3)".into());
    }
    let mut window =
        transform::cut_window(workload, begin, |job| recorded_state.state_at(job, begin)).map_err(|e| e.to_string())?;
    window.provenance.settings.push(Setting { name: "warm-start".to_string(), value: after.0.to_string() });
    Ok(window)
}
