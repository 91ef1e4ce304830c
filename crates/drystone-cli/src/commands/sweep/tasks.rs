//! Progress of a study's tasks, to be printed.

use crate::exit::CommandFailure;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::format_count;
use drystone_sweep::Store;
use drystone_sweep::cluster::{TaskFolder, TaskProgress, TaskStanding, TaskState};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of tasks that need a look listed for people.
const SHOWN: usize = 10;

/// Slurm's reason for a task that a node could not begin: its log cannot be written there.
const NOT_LAUNCHED: &str = "JobLaunchFailure";

#[derive(Serialize)]
pub(super) struct ShownTasks {
    folder: String,
    /// Simulations in the store or published.
    pub(super) recorded: usize,
    /// Of them, those that a gather will add.
    not_gathered: usize,
    complete: usize,
    running: usize,
    waiting: usize,
    /// Number of waiting tasks of each reason.
    waiting_for: BTreeMap<String, usize>,
    incomplete: Vec<Incomplete>,
    #[serde(skip)]
    asked: bool,
}

/// A task that is not complete and that nothing can be expected of.
#[derive(Serialize)]
struct Incomplete {
    submission: u32,
    task: u32,
    simulations: usize,
    missing: usize,
    begun: bool,
    log: Option<String>,
    last: Option<String>,
    /// Slurm's reason for its failure.
    reason: Option<String>,
}

impl Incomplete {
    fn from_task(task: &TaskState) -> Incomplete {
        Incomplete {
            submission: task.submission,
            task: task.task,
            simulations: task.simulations,
            missing: task.simulations - task.recorded,
            begun: task.begun,
            log: task.log.as_ref().map(|log| log.display().to_string()),
            last: task.last_words(),
            reason: task.reason.clone(),
        }
    }

    /// Returns whether it left no trace but that Slurm has ended it: its node could not write the
    /// log.
    fn is_lost(&self) -> bool {
        !self.begun && self.log.is_none() && self.reason.as_deref().is_none_or(|reason| reason == NOT_LAUNCHED)
    }
}

impl ShownTasks {
    pub(super) fn from_store(store: &Store) -> Result<Option<ShownTasks>, CommandFailure> {
        let tasks = TaskFolder::for_store(store.path());
        if tasks.submissions()?.is_empty() {
            return Ok(None);
        }
        let progress = TaskProgress::read_progress(&tasks, store)?;
        let mut waiting_for = BTreeMap::new();
        let waiting_tasks = progress.tasks.iter().filter(|task| task.state == TaskStanding::Waiting);
        for reason in waiting_tasks.filter_map(|task| task.reason.clone()) {
            *waiting_for.entry(reason).or_default() += 1;
        }
        Ok(Some(ShownTasks {
            folder: tasks.path().display().to_string(),
            recorded: progress.recorded,
            not_gathered: progress.published,
            complete: progress.count_tasks(TaskStanding::Complete),
            running: progress.count_tasks(TaskStanding::Running),
            waiting: progress.count_tasks(TaskStanding::Waiting),
            waiting_for,
            incomplete: progress.incomplete_tasks().map(Incomplete::from_task).collect(),
            asked: progress.asked,
        }))
    }

    /// Returns whether progress is still to be expected: of Slurm's tasks one that waits or runs,
    /// of others one that is not complete.
    pub(super) fn goes_on(&self) -> bool {
        self.running + self.waiting > 0 || (!self.asked && !self.incomplete.is_empty())
    }

    pub(super) fn task_facts(&self) -> Vec<(String, String)> {
        let mut parts = vec![format!("{} complete", format_count(self.complete as u64))];
        for (number, state) in [(self.running, "running"), (self.waiting, "waiting")] {
            if self.asked || number > 0 {
                parts.push(format!("{} {state}", format_count(number as u64)));
            }
        }
        if !self.incomplete.is_empty() {
            let incomplete_label = if self.asked { "incomplete and not in the queue" } else { "incomplete" };
            parts.push(format!("{} {incomplete_label}", format_count(self.incomplete.len() as u64)));
        }
        let mut facts = vec![("tasks".to_string(), parts.join(", "))];
        if !self.waiting_for.is_empty() {
            let reason = |(reason, number): (&String, &usize)| format!("{reason} ({})", format_count(*number as u64));
            facts.push(("waiting for".to_string(), self.waiting_for.iter().map(reason).collect::<Vec<_>>().join(", ")));
        }
        if self.not_gathered > 0 {
            let published_text =
                format!("{} simulations (drystone sweep gather)", format_count(self.not_gathered as u64));
            facts.push(("published, not gathered".to_string(), published_text));
        }
        facts
    }

    /// The tasks that need a look, with their logs.
    pub(super) fn append_incomplete(&self, document: &mut Document) {
        if self.incomplete.is_empty() {
            return;
        }
        let mut table = DocumentTable::new(["task", "missing", "of", "log"]).with_text_columns(&[0, 3]);
        for task in self.incomplete.iter().take(SHOWN) {
            let log = match (&task.log, task.begun) {
                (Some(log), _) => log.clone(),
                (None, true) => "no log".to_string(),
                (None, false) => "not begun".to_string(),
            };
            let row: Vec<TableValue> = vec![
                format!("{}/{}", task.submission, task.task).into(),
                format_count(task.missing as u64).into(),
                format_count(task.simulations as u64).into(),
                log.into(),
            ];
            table.add_row(row);
        }
        document.add_table(table);
        for task in self.incomplete.iter().take(SHOWN) {
            let words = [task.reason.as_ref(), task.last.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>();
            if !words.is_empty() {
                document.add_text(format!("task {}/{}: {}", task.submission, task.task, words.join(": ")));
            }
        }
        if self.asked && self.incomplete.iter().any(Incomplete::is_lost) {
            document.add_text(format!(
                "a task that left no log could not write it: every node must find {} at this path; if it does, \
                 `sacct -X -j JOB --format=JobID,State,Reason,ExitCode,NodeList` and the nodes' slurmd.log say more",
                self.folder
            ));
        }
        let more = self.incomplete.len().saturating_sub(SHOWN);
        if more > 0 {
            document.add_text(format!("and {} more tasks; --format json has all", format_count(more as u64)));
        }
    }
}
