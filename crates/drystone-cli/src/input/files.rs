//! Files beside the log: priorities, what suspension costs, what the machine lacks.

use super::{WorkloadInput, check_priorities};
use crate::args::{FailureArgs, RealArgs};
use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, FileMeta};
use crate::output::message;
use crate::real::read_text;
use drystone::engine::{MemorySource, Platform};
use drystone::generate::measure_failures;
use drystone::model::{Outages, Workload};
use drystone::policy::{PolicySpec, Priorities, PriorityError};
use std::path::Path;

/// Reads a file of priorities and checks it against the jobs.
pub(crate) fn read_priorities(file: &Path, workload: &Workload) -> Result<(Priorities, FileMeta), CommandFailure> {
    let (name, text) = read_text(file)?;
    let in_file = |error: PriorityError| CommandFailure::usage_error(format_args!("{name}: {error}"));
    let priorities = Priorities::from_toml(&text).map_err(in_file)?;
    priorities.check_workload(workload).map_err(in_file)?;
    Ok((priorities, FileMeta::from_text(name, &text)))
}

pub(crate) fn read_platform(file: &Path) -> Result<(Platform, FileMeta), CommandFailure> {
    let (name, text) = read_text(file)?;
    let platform =
        Platform::from_toml(&text).map_err(|error| CommandFailure::usage_error(format_args!("{name}: {error}")))?;
    Ok((platform, FileMeta::from_text(name, &text)))
}

/// Contents of the files on priorities and on the cost of suspensions.
#[derive(Default)]
pub(crate) struct PolicyFiles {
    pub(crate) priorities: Option<Priorities>,
    pub(crate) platform: Platform,
    pub(crate) outages: Outages,
    /// Those of a table or a site alone, without random failures.
    pub(crate) recorded_outages: Outages,
}

impl PolicyFiles {
    /// Reads what there is, for one policy, and records it among the settings.
    pub(crate) fn read_files(
        (priorities_file, platform_file): (Option<&Path>, Option<&Path>),
        (real, failure): (&RealArgs, &FailureArgs),
        spec: &PolicySpec,
        input: &WorkloadInput,
        experiment: &mut ExperimentMeta,
    ) -> Result<PolicyFiles, CommandFailure> {
        let workload = &input.workload;
        let mut files = PolicyFiles { outages: input.find_outages(real, experiment)?, ..PolicyFiles::default() };
        files.add_failures(failure, workload, experiment)?;
        real.heard_by([spec], &files.outages, workload)?;
        if let Some(file) = priorities_file {
            let (file_priorities, meta) = read_priorities(file, workload)?;
            check_priorities(spec, &file_priorities, workload)?;
            (files.priorities, experiment.priorities) = (Some(file_priorities), Some(meta));
        }
        if let Some(file) = platform_file {
            let (file_platform, meta) = read_platform(file)?;
            let from_log = file_platform.suspension.is_some_and(|transfer| transfer.memory == MemorySource::Log);
            if from_log && workload.jobs().iter().all(|job| job.memory_kb < 0) {
                message::print_note("the log says of no job how much memory it has: all of it is drawn");
            }
            files.platform.suspension = file_platform.suspension;
            experiment.platform = Some(meta);
        }
        Ok(files)
    }

    /// Adds random failures to the outages and checkpoints to the platform, and records both among
    /// the settings.
    pub(crate) fn add_failures(
        &mut self,
        failure: &FailureArgs,
        workload: &Workload,
        experiment: &mut ExperimentMeta,
    ) -> Result<(), CommandFailure> {
        if let Some(failures) = failure.failures {
            let wrong = |problem: String| CommandFailure::usage_error(format_args!("--failures: {problem}"));
            let drawn_outages = failures.draw_outages(workload, 0).map_err(|problem| wrong(problem.to_string()))?;
            let outages = self.outages.list().iter().chain(drawn_outages.list()).cloned().collect();
            self.outages = Outages::new(workload.machine(), outages).map_err(|problem| wrong(problem.to_string()))?;
            experiment.failures = Some(failures.to_string());
        }
        if let Some(checkpoints) = failure.checkpoints {
            if workload.shapes().is_some() {
                return Err(CommandFailure::usage_error(
                    "--checkpoints does not go with --shapes, --power and --idle: jobs of several sizes write no checkpoints",
                ));
            }
            let drawn_times = failure.failures.map(|failures| (failures.mtbf, failures.node));
            let nodes = drawn_times.or_else(|| measure_failures(&self.outages, workload));
            let checkpoints = checkpoints.on_nodes(nodes.map(|times| times.0), nodes.map(|times| times.1));
            checkpoints
                .check_intervals()
                .map_err(|problem| CommandFailure::usage_error(format_args!("--checkpoints: {problem}")))?;
            self.platform.checkpoints = Some(checkpoints);
            experiment.checkpoints = Some(checkpoints.to_string());
        }
        Ok(())
    }
}
