//! Record of a submission to a batch system: the division into tasks and the terms.

use super::divide::TaskDivision;
use crate::error::SweepError;
use crate::{SweepPlan, SweepStudy, VERSION};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The layout of `tasks.json`.
const SCHEMA: &str = "drystone/sweep-tasks/1";

/// The terms of a submission: what its user asked for. The next submission of the same study takes
/// them over.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// Requested number of tasks.
    pub tasks: u32,
    /// Processors of each.
    pub cpus: u32,
    /// The time limit of each in seconds, if there is one.
    pub limit: Option<u64>,
    /// Limit on tasks that run at the same time, if any.
    pub max_running: Option<u32>,
    /// Working folder of tasks; the shell replaces variables on the node. Without it, the folder
    /// for temporary files there.
    pub scratch: Option<String>,
    /// Interval of publication, in seconds.
    pub publish_every: u64,
    /// Folder that is searched first for logs.
    pub logs: Option<PathBuf>,
    /// More arguments for the batch system.
    pub args: Vec<String>,
    /// True if results may depend on the speed of nodes.
    pub not_reproducible: bool,
}

/// A workload as it was when the tasks were submitted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct KnownWorkload {
    label: String,
    hash: String,
    jobs: usize,
}

/// Tasks of a study, as `tasks.json` has them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskSubmission {
    schema: String,
    /// The version that divided the study; only the same may simulate it.
    pub drystone: String,
    /// The study file and its text.
    file: String,
    text: String,
    /// The plan's fingerprint.
    pub plan: String,
    workloads: Vec<KnownWorkload>,
    pub terms: Terms,
    /// The numbers of the simulations of each task, the longest first.
    pub tasks: Vec<Vec<i64>>,
    /// Predicted seconds of each task.
    pub seconds: Vec<f64>,
}

impl TaskSubmission {
    pub fn new(plan: &SweepPlan, division: &TaskDivision, terms: Terms) -> TaskSubmission {
        let known_workload = |case: &crate::SweepCase| KnownWorkload {
            label: case.label(),
            hash: case.hash.clone(),
            jobs: case.workload.len(),
        };
        let ids = |places: &Vec<usize>| places.iter().map(|&place| plan.simulations[place].id).collect();
        TaskSubmission {
            schema: SCHEMA.to_string(),
            drystone: VERSION.to_string(),
            file: plan.file.clone(),
            text: plan.text.clone(),
            plan: plan.hash.clone(),
            workloads: plan.cases.iter().map(known_workload).collect(),
            terms,
            tasks: division.tasks.iter().map(ids).collect(),
            seconds: division.seconds.clone(),
        }
    }

    /// Reads `tasks.json` of a folder.
    ///
    /// # Errors
    /// It is missing, damaged, or of another version of Drystone.
    pub fn read_folder(folder: &Path) -> Result<TaskSubmission, SweepError> {
        let submission = TaskSubmission::read_any_version(folder)?;
        if submission.drystone != VERSION {
            let program = std::env::current_exe().map_or(String::new(), |path| format!(" ({})", path.display()));
            return Err(SweepError::refusal_error(format!(
                "{}: the tasks were submitted by drystone {}, and this is {VERSION}{program}: results of different versions do \
                 not mix. Use that version on every node, or begin another store",
                folder.display(),
                submission.drystone
            )));
        }
        Ok(submission)
    }

    /// Reads `tasks.json` of a folder, also of another version.
    pub(crate) fn read_any_version(folder: &Path) -> Result<TaskSubmission, SweepError> {
        let file = folder.join("tasks.json");
        let name = || file.display().to_string();
        let text = std::fs::read(&file).map_err(|source| SweepError::Unreadable { file: name(), source })?;
        let submission: TaskSubmission = serde_json::from_slice(&text)
            .map_err(|e| SweepError::refusal_error(format!("{}: is no list of tasks: {e}", name())))?;
        if submission.schema != SCHEMA {
            let schema = &submission.schema;
            return Err(SweepError::refusal_error(format!(
                "{}: has the layout `{schema}`, made by drystone {}; this is {VERSION}, which knows `{SCHEMA}`",
                name(),
                submission.drystone
            )));
        }
        Ok(submission)
    }

    /// The bytes of `tasks.json`.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SweepError> {
        let mut bytes = serde_json::to_vec(self)
            .map_err(|e| SweepError::refusal_error(format!("the tasks cannot be written: {e}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The plan, from the study as it was submitted and the logs as they are here.
    ///
    /// # Errors
    /// A log is missing, or another than when the tasks were submitted.
    pub fn build_plan(&self) -> Result<SweepPlan, SweepError> {
        let study = SweepStudy::parse(Path::new(&self.file), self.text.clone())?;
        let plan = SweepPlan::from_study(&study, self.terms.logs.as_deref())?;
        if plan.hash == self.plan {
            return Ok(plan);
        }
        let changed_log = self.workloads.iter().find_map(|then| {
            let now = plan.cases.iter().find(|case| case.label() == then.label)?;
            (now.hash != then.hash).then(|| {
                format!(
                    "workload {} is another than when the tasks were submitted ({} jobs, {} then; {} jobs, {} here)",
                    then.label,
                    then.jobs,
                    then.hash,
                    now.workload.len(),
                    now.hash
                )
            })
        });
        let difference = changed_log.unwrap_or_else(|| "the study is planned in another way here".to_string());
        Err(SweepError::refusal_error(format!("{difference}: nothing was simulated; have the same logs on every node")))
    }
}
