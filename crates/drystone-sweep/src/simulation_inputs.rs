//! Inputs of simulations besides jobs and a policy: costs of suspension, and priorities.

use crate::error::{Cancelled, SweepError};
use crate::hash::short_hash;
use crate::study::{FileEntry, SweepStudy};
use drystone::engine::Platform;
use drystone::experiment::build_scheduler;
use drystone::log::series::PowerSeries;
use drystone::log::{outages, supply};
use drystone::metrics::{Report, Threshold};
use drystone::model::{Outages, Span, Workload};
use drystone::policy::{PolicySpec, Priorities};
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

/// The files that a workload's entry names, read.
#[derive(Clone, Debug, Default)]
pub struct GivenFiles {
    /// Costs of suspension; zero where no file gives them.
    pub platform: Platform,
    /// Priorities and quotas, for the policies that take them.
    pub priorities: Option<Priorities>,
    /// Processors that are out.
    pub outages: Outages,
    /// True if jobs arrive when others end.
    pub feedback: bool,
    /// Threshold of excessive waits.
    pub excess: Option<ExcessThreshold>,
    /// Carbon and prices over time.
    pub series: Option<Arc<PowerSeries>>,
    /// Hashes of the files: `platform=blake3:…`. Empty without files.
    pub settings: String,
}

impl GivenFiles {
    /// The priorities, if this policy takes them.
    pub(crate) fn priorities_for(&self, policy: &PolicySpec, workload: &Workload) -> Option<&Priorities> {
        self.priorities.as_ref().filter(|priorities| build_scheduler(policy, Some(priorities), workload).is_ok())
    }
}

/// A threshold of excessive waits, and what it is on a workload.
#[derive(Clone, Debug)]
pub struct ExcessThreshold {
    /// As the study has it.
    pub threshold: Threshold,
    /// In seconds, once it is known: one of a baseline is found when it is first asked for.
    seconds: Arc<Mutex<Option<Option<Span>>>>,
}

impl ExcessThreshold {
    pub(crate) fn new(threshold: Threshold) -> ExcessThreshold {
        ExcessThreshold { threshold, seconds: Arc::default() }
    }

    /// The threshold in seconds, of which `baseline` makes the report if one is needed. `None`
    /// where no job of the baseline counts.
    ///
    /// # Errors
    /// The baseline was cancelled.
    pub(crate) fn compute_seconds(
        &self,
        baseline: impl FnOnce() -> Result<Option<Report>, Cancelled>,
    ) -> Result<Option<Span>, Cancelled> {
        let mut guard = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seconds) = *guard {
            return Ok(seconds);
        }
        let seconds = match self.threshold.resolve_seconds(None) {
            None => self.threshold.resolve_seconds(baseline()?.as_ref()),
            threshold => threshold,
        };
        *guard = Some(seconds);
        Ok(seconds)
    }
}

/// Reads the files that an entry of a study names and checks them against its jobs.
pub(crate) fn read_files(
    study: &SweepStudy,
    platform: Option<&FileEntry>,
    priorities: Option<&FileEntry>,
    outages: Option<&FileEntry>,
    workload: &Workload,
) -> Result<GivenFiles, SweepError> {
    let mut files = GivenFiles::default();
    let mut settings = Vec::new();
    if let Some(entry) = platform {
        let text = read_text(study, entry)?;
        files.platform = Platform::from_toml(&text).map_err(|e| file_error(study, entry, e))?;
        settings.push(format!("platform={}", hash(&text)));
    }
    if let Some(entry) = priorities {
        let text = read_text(study, entry)?;
        let priority_table = Priorities::from_toml(&text).map_err(|e| file_error(study, entry, e))?;
        priority_table.check_workload(workload).map_err(|e| file_error(study, entry, e))?;
        files.priorities = Some(priority_table);
        settings.push(format!("priorities={}", hash(&text)));
    }
    if let Some(entry) = outages {
        let (text, name) = (read_text(study, entry)?, entry.as_ref().display().to_string());
        let parsed_outages = outages::read_outages(text.as_bytes(), &name, workload.machine(), &workload.provenance);
        files.outages = parsed_outages.map_err(|e| file_error(study, entry, e))?;
        settings.push(format!("outages={}", hash(&text)));
    }
    files.settings = settings.join(", ");
    Ok(files)
}

/// Returns the workload with the amounts of resources over time that a file gives, and the text of
/// this setting.
pub(crate) fn give_supply(
    study: &SweepStudy,
    entry: &FileEntry,
    workload: &Workload,
) -> Result<(Workload, String), SweepError> {
    let (text, name) = (read_text(study, entry)?, entry.as_ref().display().to_string());
    let workload =
        supply::give_supply(workload.clone(), text.as_bytes(), &name).map_err(|e| file_error(study, entry, e))?;
    Ok((workload, format!("supply={}", hash(&text))))
}

pub(crate) fn read_text(study: &SweepStudy, entry: &FileEntry) -> Result<String, SweepError> {
    std::fs::read_to_string(study.directory().join(entry.as_ref())).map_err(|e| {
        file_error(study, entry, format_args!("cannot be read: {e}; files are looked for beside the study file"))
    })
}

pub(crate) fn file_error(study: &SweepStudy, entry: &FileEntry, problem: impl Display) -> SweepError {
    study.error_at(entry.span(), format!("{}: {problem}", entry.as_ref().display()))
}

pub(crate) fn hash(text: &str) -> String {
    short_hash(blake3::hash(text.as_bytes()))
}
