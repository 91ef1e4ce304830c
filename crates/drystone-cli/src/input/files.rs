//! Files beside the log: priorities, what suspension costs, what the machine lacks.

use super::{WorkloadInput, takes};
use crate::args::RealArgs;
use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, FileMeta};
use crate::output::message;
use crate::real::read;
use drystone::engine::{MemorySource, Platform};
use drystone::model::{Outages, Workload};
use drystone::policy::{PolicySpec, Priorities, PriorityError};
use std::path::Path;

/// Reads a file of priorities and checks it against the jobs.
pub(crate) fn priorities(file: &Path, workload: &Workload) -> Result<(Priorities, FileMeta), CommandFailure> {
    let (name, text) = read(file)?;
    let in_file = |error: PriorityError| CommandFailure::usage(format_args!("{name}: {error}"));
    let priorities = Priorities::from_toml(&text).map_err(in_file)?;
    priorities.check(workload).map_err(in_file)?;
    Ok((priorities, FileMeta::of(name, &text)))
}

/// Reads a platform file.
pub(crate) fn platform(file: &Path) -> Result<(Platform, FileMeta), CommandFailure> {
    let (name, text) = read(file)?;
    let platform =
        Platform::from_toml(&text).map_err(|error| CommandFailure::usage(format_args!("{name}: {error}")))?;
    Ok((platform, FileMeta::of(name, &text)))
}

/// Contents of the files on priorities and on the cost of suspensions.
#[derive(Default)]
pub(crate) struct PolicyFiles {
    pub(crate) priorities: Option<Priorities>,
    pub(crate) platform: Platform,
    pub(crate) outages: Outages,
}

impl PolicyFiles {
    /// Reads what there is, for one policy, and records it among the settings.
    pub(crate) fn read(
        (priorities_file, platform_file): (Option<&Path>, Option<&Path>),
        real: &RealArgs,
        spec: &PolicySpec,
        input: &WorkloadInput,
        experiment: &mut ExperimentMeta,
    ) -> Result<PolicyFiles, CommandFailure> {
        let workload = &input.workload;
        let mut files = PolicyFiles { outages: input.outages(real, experiment)?, ..PolicyFiles::default() };
        real.heard_by([spec], &files.outages, workload)?;
        if let Some(file) = priorities_file {
            let (read, meta) = priorities(file, workload)?;
            takes(spec, &read, workload)?;
            (files.priorities, experiment.priorities) = (Some(read), Some(meta));
        }
        if let Some(file) = platform_file {
            let (read, meta) = platform(file)?;
            let from_log = read.suspension.is_some_and(|transfer| transfer.memory == MemorySource::Log);
            if from_log && workload.jobs().iter().all(|job| job.memory_kb < 0) {
                message::note("the log says of no job how much memory it has: all of it is drawn");
            }
            (files.platform, experiment.platform) = (read, Some(meta));
        }
        Ok(files)
    }
}
