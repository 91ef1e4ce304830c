//! Progress of the tasks of a store.

use super::folder::{TaskFolder, list_jobs, list_published, newest_logs};
use super::queue::{QueuedTaskState, TaskQueue};
use super::submission::TaskSubmission;
use crate::Store;
use crate::error::SweepError;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// State of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStanding {
    /// All its simulations are recorded.
    Complete,
    Running,
    /// It waits for its start.
    Waiting,
    /// It is not complete, and the batch system does not have it any more; or no Slurm can be asked
    /// about it.
    Incomplete,
}

/// A task whose simulations no later submission has taken over.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskState {
    /// The number of its submission.
    pub submission: u32,
    /// Its own number.
    pub task: u32,
    /// Its simulations, without those that a later submission has.
    pub simulations: usize,
    /// Of them, those that are recorded.
    pub recorded: usize,
    pub state: TaskStanding,
    /// True if an attempt has begun the task.
    pub begun: bool,
    /// Its newest log.
    pub log: Option<PathBuf>,
    /// The reason that Slurm gives for its wait or its failure, of the last job that has one.
    pub reason: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskProgress {
    /// Simulations that are recorded, in the store or published.
    pub recorded: usize,
    /// Of them, those that are published and not in the store: a gather will add them.
    pub published: usize,
    /// Every task with simulations of its own.
    pub tasks: Vec<TaskState>,
    /// True if Slurm has reported the waiting and running tasks.
    pub asked: bool,
}

/// A submission as it lies there.
struct Lying {
    number: u32,
    folder: PathBuf,
    submission: TaskSubmission,
}

impl TaskProgress {
    /// Reads the progress of a store's tasks, including their partial results. Slurm is asked no
    /// more often than every ten seconds.
    ///
    /// # Errors
    /// The store or what is published cannot be read.
    ///
    /// Cost: opens every published store.
    pub fn read_progress(tasks: &TaskFolder, store: &Store) -> Result<TaskProgress, SweepError> {
        TaskProgress::read_with_queue(tasks, store, &mut |jobs| TaskQueue::recent_report(tasks, jobs))
    }

    /// Reads the progress; `ask` reports the state of the tasks of jobs.
    ///
    /// # Errors
    /// As [`TaskProgress::read_progress`].
    pub fn read_with_queue(
        tasks: &TaskFolder,
        store: &Store,
        ask: &mut dyn FnMut(&[String]) -> Option<TaskQueue>,
    ) -> Result<TaskProgress, SweepError> {
        let mut lying = Vec::new();
        for folder in tasks.submissions()? {
            let number = folder.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0);
            lying.push(Lying { number, submission: TaskSubmission::read_any_version(&folder)?, folder });
        }
        let mut recorded_ids: BTreeSet<i64> = store.recorded_simulations()?.into_iter().collect();
        let gathered_count = recorded_ids.len();
        let mut begun_tasks: BTreeSet<(u32, u32)> = BTreeSet::new();
        for entry in &lying {
            for (task, path) in list_published(&entry.folder)? {
                recorded_ids.extend(Store::published_simulations(&path, &entry.submission.plan)?);
                begun_tasks.insert((entry.number, task));
            }
        }
        let mut all_jobs: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for entry in &lying {
            all_jobs.insert(entry.number, list_jobs(&entry.folder)?);
        }
        let queue = ask(&all_jobs.values().flatten().cloned().collect::<Vec<_>>());
        let mut states = Vec::new();
        // The last submission first: what it has, no earlier one need do.
        let mut later_ids: BTreeSet<i64> = BTreeSet::new();
        for entry in lying.iter().rev() {
            let logs = newest_logs(&entry.folder)?;
            let mut of_one = Vec::new();
            for (task, ids) in (1u32..).zip(&entry.submission.tasks) {
                let own: Vec<i64> = ids.iter().copied().filter(|id| !later_ids.contains(id)).collect();
                let count = own.iter().filter(|id| recorded_ids.contains(id)).count();
                let queue_state = queue.as_ref().and_then(|queue| {
                    all_jobs[&entry.number]
                        .iter()
                        .filter_map(|job| queue.state_of(job, task))
                        .max_by_key(|q| *q == QueuedTaskState::Running)
                });
                let state = match queue_state {
                    _ if count == own.len() => TaskStanding::Complete,
                    Some(QueuedTaskState::Running) => TaskStanding::Running,
                    Some(QueuedTaskState::Waiting) => TaskStanding::Waiting,
                    None => TaskStanding::Incomplete,
                };
                let of_job = |job: &String| queue.as_ref()?.reason_of(job, task).map(str::to_string);
                if !own.is_empty() {
                    of_one.push(TaskState {
                        submission: entry.number,
                        task,
                        simulations: own.len(),
                        recorded: count,
                        state,
                        begun: begun_tasks.contains(&(entry.number, task)),
                        log: logs.get(&task).cloned(),
                        reason: all_jobs[&entry.number].iter().rev().find_map(of_job),
                    });
                }
            }
            later_ids.extend(entry.submission.tasks.iter().flatten());
            of_one.append(&mut states);
            states = of_one;
        }
        let is_asked = queue.is_some() && all_jobs.values().any(|jobs| !jobs.is_empty());
        Ok(TaskProgress {
            published: recorded_ids.len() - gathered_count,
            recorded: recorded_ids.len(),
            tasks: states,
            asked: is_asked,
        })
    }

    pub fn count_tasks(&self, state: TaskStanding) -> usize {
        self.tasks.iter().filter(|task| task.state == state).count()
    }

    /// The tasks that are neither complete nor to be expected.
    pub fn incomplete_tasks(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(|task| task.state == TaskStanding::Incomplete)
    }
}

impl TaskFolder {
    /// The numbers of the simulations whose tasks wait or run, and the jobs that have them.
    ///
    /// # Errors
    /// Slurm or a folder cannot be read.
    pub fn under_way(&self) -> Result<(BTreeSet<i64>, Vec<String>), SweepError> {
        let mut ids = BTreeSet::new();
        let mut busy = Vec::new();
        for folder in self.submissions()? {
            let jobs = list_jobs(&folder)?;
            if jobs.is_empty() {
                continue;
            }
            let queue = TaskQueue::ask_slurm(&jobs)?;
            let submission = TaskSubmission::read_any_version(&folder)?;
            for (task, simulations) in (1u32..).zip(&submission.tasks) {
                if jobs.iter().any(|job| queue.state_of(job, task).is_some()) {
                    ids.extend(simulations);
                }
            }
            busy.extend(queue.unfinished_jobs());
        }
        Ok((ids, busy))
    }

    /// Every job that was noted.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn noted_jobs(&self) -> Result<Vec<String>, SweepError> {
        let mut all_jobs = Vec::new();
        for folder in self.submissions()? {
            all_jobs.extend(list_jobs(&folder)?);
        }
        Ok(all_jobs)
    }

    /// Notes that a job runs a submission.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn note_job(folder: &Path, job: &str) -> Result<(), SweepError> {
        super::folder::note_job(folder, job)
            .map_err(|e| SweepError::store_error(folder.display(), format!("the job {job} cannot be noted: {e}")))
    }
}

impl TaskState {
    /// Returns the last line of the log, preferably the last error.
    pub fn last_words(&self) -> Option<String> {
        let bytes = std::fs::read(self.log.as_ref()?).ok()?;
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(1 << 16)..]).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let error = lines.iter().rev().find(|line| line.contains("error:"));
        error.or(lines.last()).map(ToString::to_string)
    }
}
