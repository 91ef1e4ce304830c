//! Waiting and running tasks, as Slurm reports them.

use super::batch::said;
use super::folder::TaskFolder;
use crate::error::SweepError;
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Age up to which an answer is good enough for progress: a cluster's scheduler has better things
/// to do.
const FRESH: Duration = Duration::from_secs(10);

/// Queue state of an unfinished task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueuedTaskState {
    /// It waits for its start.
    Waiting,
    /// It runs.
    Running,
}

/// The tasks that have not ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TaskQueue {
    /// The jobs that were asked about.
    asked: Vec<String>,
    /// Those of whose tasks some wait or run.
    tasks: Vec<(String, u32, QueuedTaskState)>,
}

impl TaskQueue {
    /// Asks Slurm about jobs, now.
    ///
    /// # Errors
    /// Slurm is not there or does not answer.
    pub fn ask(jobs: &[String]) -> Result<TaskQueue, SweepError> {
        if jobs.is_empty() {
            return Ok(TaskQueue::default());
        }
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--states=all", "--format=%F|%K|%T"]);
        command.arg(format!("--jobs={}", jobs.join(",")));
        let answer = match said(command) {
            Ok(answer) => answer,
            // It has forgotten them: they ended long ago.
            Err(SweepError::Batch { problem }) if problem.contains("Invalid job id") => String::new(),
            Err(error) => return Err(error),
        };
        Ok(TaskQueue { asked: jobs.to_vec(), tasks: answer.lines().filter_map(entry).collect() })
    }

    /// Returns Slurm's report, cached for ten seconds, or `None` where Slurm cannot be asked.
    #[expect(clippy::disallowed_methods, reason = "the age of an answer: no result has it")]
    pub fn recent(tasks: &TaskFolder, jobs: &[String]) -> Option<TaskQueue> {
        let file = tasks.path().join("squeue.json");
        let age =
            |file: &std::path::Path| SystemTime::now().duration_since(file.metadata().ok()?.modified().ok()?).ok();
        if age(&file).is_some_and(|age| age < FRESH)
            && let Ok(bytes) = std::fs::read(&file)
            && let Ok(queue) = serde_json::from_slice::<TaskQueue>(&bytes)
            && jobs.iter().all(|job| queue.asked.contains(job))
        {
            return Some(queue);
        }
        let queue = TaskQueue::ask(jobs).ok()?;
        if !jobs.is_empty() {
            // Others may look at the same time, and each replaces the whole file. Where that cannot
            // be written, it is asked again.
            let keep = || -> std::io::Result<()> {
                let file = tempfile::NamedTempFile::new_in(tasks.path())?;
                std::fs::write(file.path(), serde_json::to_vec(&queue)?)?;
                file.persist(tasks.path().join("squeue.json")).map(drop).map_err(|e| e.error)
            };
            let _ = keep();
        }
        Some(queue)
    }

    /// Returns the state of a task of a job; `None` if it has ended.
    pub fn of(&self, job: &str, task: u32) -> Option<QueuedTaskState> {
        self.tasks.iter().filter(|(j, t, _)| j == job && *t == task).map(|&(_, _, queued)| queued).next()
    }

    /// Returns the number of tasks that wait for their start.
    pub fn waiting(&self) -> usize {
        self.tasks.iter().filter(|(_, _, queued)| *queued == QueuedTaskState::Waiting).count()
    }

    /// Returns the number of running tasks.
    pub fn running(&self) -> usize {
        self.tasks.len() - self.waiting()
    }

    /// The jobs of which some task has not ended.
    pub fn jobs(&self) -> Vec<String> {
        let mut jobs: Vec<String> = self.tasks.iter().map(|(job, _, _)| job.clone()).collect();
        jobs.sort();
        jobs.dedup();
        jobs
    }
}

/// A line of the answer: array, task, state. Tasks that have ended are none.
fn entry(line: &str) -> Option<(String, u32, QueuedTaskState)> {
    let mut words = line.split('|');
    let (job, task, state) = (words.next()?, words.next()?.parse().ok()?, words.next()?.trim());
    let queued = match state {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            QueuedTaskState::Waiting
        }
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
            QueuedTaskState::Running
        }
        _ => return None,
    };
    Some((job.to_string(), task, queued))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read() {
        assert_eq!(entry("4711|7|RUNNING"), Some(("4711".to_string(), 7, QueuedTaskState::Running)));
        assert_eq!(entry("4711|8|PENDING"), Some(("4711".to_string(), 8, QueuedTaskState::Waiting)));
        for ended in ["4711|9|COMPLETED", "4711|9|TIMEOUT", "4711|9|NODE_FAIL", "4711|N/A|RUNNING", "", "x"] {
            assert_eq!(entry(ended), None, "{ended}");
        }
    }
}
