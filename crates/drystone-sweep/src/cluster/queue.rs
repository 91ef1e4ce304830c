//! Waiting and running tasks, as Slurm reports them.

use super::batch::run_command;
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
    Running,
}

/// The tasks that have not ended, and the failures that Slurm remembers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TaskQueue {
    /// The jobs that were asked about.
    asked: Vec<String>,
    /// Those of whose tasks some wait or run.
    tasks: Vec<(String, u32, QueuedTaskState)>,
    /// Reasons of tasks that wait, and of those that ended without success: job, task, reason.
    #[serde(default)]
    reasons: Vec<(String, u32, String)>,
}

/// A line of Slurm's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
struct QueueLine {
    job: String,
    task: u32,
    /// `None` for a task that has ended.
    queued: Option<QueuedTaskState>,
    /// Reason of a wait or of a failure.
    reason: Option<String>,
}

impl TaskQueue {
    /// Asks Slurm about jobs, now.
    ///
    /// # Errors
    /// Slurm is not there or does not answer.
    pub fn ask_slurm(jobs: &[String]) -> Result<TaskQueue, SweepError> {
        if jobs.is_empty() {
            return Ok(TaskQueue::default());
        }
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--states=all", "--format=%F|%K|%T|%r"]);
        command.arg(format!("--jobs={}", jobs.join(",")));
        let answer = match run_command(command) {
            Ok(answer) => answer,
            // It has forgotten them: they ended long ago.
            Err(SweepError::Batch { problem }) if problem.contains("Invalid job id") => String::new(),
            Err(error) => return Err(error),
        };
        Ok(TaskQueue::parse_answer(jobs, &answer))
    }

    /// Reads Slurm's answer about jobs.
    fn parse_answer(jobs: &[String], answer: &str) -> TaskQueue {
        let mut queue = TaskQueue { asked: jobs.to_vec(), ..TaskQueue::default() };
        for line in answer.lines().filter_map(parse_line) {
            queue.tasks.extend(line.queued.map(|state| (line.job.clone(), line.task, state)));
            queue.reasons.extend(line.reason.map(|reason| (line.job, line.task, reason)));
        }
        queue
    }

    /// Adds the failures of an earlier answer: Slurm forgets a job minutes after its end.
    fn remember_failures(&mut self, earlier: TaskQueue) {
        let ended_reasons = earlier.reasons.iter().filter(|(job, task, _)| earlier.state_of(job, *task).is_none());
        let is_new = |job: &str, task| self.state_of(job, task).is_none() && self.reason_of(job, task).is_none();
        let new_reasons: Vec<_> = ended_reasons.filter(|(job, task, _)| is_new(job, *task)).cloned().collect();
        self.reasons.extend(new_reasons);
    }

    /// Returns Slurm's report, cached for ten seconds, or `None` where Slurm cannot be asked.
    #[expect(clippy::disallowed_methods, reason = "the age of an answer: no result has it")]
    pub fn recent_report(tasks: &TaskFolder, jobs: &[String]) -> Option<TaskQueue> {
        let file = tasks.path().join("squeue.json");
        let age =
            |file: &std::path::Path| SystemTime::now().duration_since(file.metadata().ok()?.modified().ok()?).ok();
        let earlier = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<TaskQueue>(&bytes).ok());
        let is_fresh = age(&file).is_some_and(|age| age < FRESH);
        if let Some(queue) = &earlier
            && is_fresh
            && jobs.iter().all(|job| queue.asked.contains(job))
        {
            return earlier;
        }
        let mut queue = TaskQueue::ask_slurm(jobs).ok()?;
        queue.remember_failures(earlier.unwrap_or_default());
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
    pub fn state_of(&self, job: &str, task: u32) -> Option<QueuedTaskState> {
        self.tasks.iter().filter(|(j, t, _)| j == job && *t == task).map(|&(_, _, state)| state).next()
    }

    /// Returns the reason that Slurm gives for the wait or the failure of a task.
    pub fn reason_of(&self, job: &str, task: u32) -> Option<&str> {
        self.reasons.iter().find(|(j, t, _)| j == job && *t == task).map(|(_, _, reason)| reason.as_str())
    }

    /// Returns the number of tasks that wait for their start.
    pub fn waiting_tasks(&self) -> usize {
        self.tasks.iter().filter(|(_, _, state)| *state == QueuedTaskState::Waiting).count()
    }

    pub fn running_tasks(&self) -> usize {
        self.tasks.len() - self.waiting_tasks()
    }

    /// The jobs of which some task has not ended.
    pub fn unfinished_jobs(&self) -> Vec<String> {
        let mut jobs: Vec<String> = self.tasks.iter().map(|(job, _, _)| job.clone()).collect();
        jobs.sort();
        jobs.dedup();
        jobs
    }
}

/// Reads a line of the answer: array, task, state, reason. A failure without a reason has its
/// state.
fn parse_line(line: &str) -> Option<QueueLine> {
    let mut words = line.splitn(4, '|');
    let (job, task, state) = (words.next()?.to_string(), words.next()?.parse().ok()?, words.next()?.trim());
    let reason = words.next().map(str::trim).filter(|reason| !reason.is_empty() && *reason != "None");
    let queue_state = match state {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            Some(QueuedTaskState::Waiting)
        }
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
            Some(QueuedTaskState::Running)
        }
        _ => None,
    };
    let reason = match queue_state {
        Some(QueuedTaskState::Waiting) => reason,
        Some(QueuedTaskState::Running) => None,
        None if state == "COMPLETED" => None,
        None => Some(reason.unwrap_or(state)),
    };
    Some(QueueLine { job, task, queued: queue_state, reason: reason.map(str::to_string) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_read() {
        use QueuedTaskState::{Running, Waiting};
        let line_parts = |line: &str| parse_line(line).map(|line| (line.job, line.task, line.queued, line.reason));
        let expected =
            |task, state, reason: Option<&str>| Some(("4711".to_string(), task, state, reason.map(str::to_string)));
        for (line, result) in [
            ("4711|7|RUNNING|None", expected(7, Some(Running), None)),
            ("4711|8|PENDING|Priority", expected(8, Some(Waiting), Some("Priority"))),
            (
                "4711|8|PENDING|launch failed requeued held",
                expected(8, Some(Waiting), Some("launch failed requeued held")),
            ),
            (
                "4711|8|PENDING|ReqNodeNotAvail, UnavailableNodes:n[1|2]",
                expected(8, Some(Waiting), Some("ReqNodeNotAvail, UnavailableNodes:n[1|2]")),
            ),
            ("4711|9|COMPLETED|None", expected(9, None, None)),
            ("4711|9|FAILED|JobLaunchFailure", expected(9, None, Some("JobLaunchFailure"))),
            ("4711|9|FAILED|NonZeroExitCode", expected(9, None, Some("NonZeroExitCode"))),
            ("4711|9|TIMEOUT|TimeLimit", expected(9, None, Some("TimeLimit"))),
            ("4711|9|NODE_FAIL|None", expected(9, None, Some("NODE_FAIL"))),
            ("4711|N/A|RUNNING|None", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(line_parts(line), result, "{line}");
        }
    }

    /// Failures that Slurm has forgotten stay known; a task that it requeued has none any more.
    #[test]
    fn failures_are_remembered_until_a_task_is_queued_again() {
        let queue_of = |lines: &[&str]| TaskQueue::parse_answer(&[], &lines.join("\n"));
        let earlier =
            ["7|1|FAILED|JobLaunchFailure", "7|2|PENDING|Priority", "7|3|NODE_FAIL|None", "7|4|FAILED|NonZeroExitCode"];
        let mut now = queue_of(&["7|3|RUNNING|None", "7|4|CANCELLED|None"]);
        now.remember_failures(queue_of(&earlier));
        let reasons: Vec<Option<&str>> = (1..=4).map(|task| now.reason_of("7", task)).collect();
        assert_eq!(reasons, [Some("JobLaunchFailure"), None, None, Some("CANCELLED")]);
    }
}
