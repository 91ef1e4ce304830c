//! Batch systems, as far as a sweep needs them.

use super::shell::{quote_word, with_variables};
use super::submission::Terms;
use crate::error::SweepError;
use std::path::Path;
use std::process::Command;

/// Tasks of a submission.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Job name for the batch system.
    pub name: &'a str,
    /// The submission's folder.
    pub folder: &'a Path,
    /// This program, as nodes find it.
    pub program: &'a Path,
    pub tasks: usize,
    /// Number of simulations in all tasks together.
    pub simulations: usize,
    /// Terms the user asked for.
    pub terms: &'a Terms,
}

/// A system that runs the tasks of a submission. It outlives this process, so that it is no
/// [`Executor`](crate::Executor): it is given a script, and what comes of it is gathered.
pub trait BatchSystem {
    /// A script that runs every task and that people can read.
    fn render_script(&self, array: &Array<'_>) -> String;

    /// Hands a script over. Returns what the system says: for Slurm, the number of the job.
    ///
    /// # Errors
    /// The system is not there, or refuses.
    fn submit(&self, script: &Path) -> Result<String, SweepError>;
}

impl Array<'_> {
    /// The command of a task, for a shell; `task` is what the shell makes its number of.
    pub(super) fn task_command(&self, task: &str) -> String {
        let (program, folder) =
            (quote_word(&self.program.to_string_lossy()), quote_word(&self.folder.to_string_lossy()));
        let scratch = self.terms.scratch.as_ref().map(|place| format!(" --scratch {}", with_variables(place)));
        format!("{program} sweep task {task} {folder}{}", scratch.unwrap_or_default())
    }

    /// The log of a task, for a shell, which replaces variables in `name`.
    pub(super) fn task_log(&self, name: &str) -> String {
        format!("{}/log/{name}.log", quote_word(&self.folder.to_string_lossy()))
    }

    /// Returns the header comment of a script, each line behind `mark`.
    pub(super) fn header_comment(&self, mark: &str, run: &str) -> String {
        let (tasks, simulations) = (self.tasks, self.simulations);
        format!(
            "{mark} {simulations} simulations of a Drystone sweep in {tasks} tasks: {run}\n\
             {mark} A task that is stopped, killed or run twice loses nothing; `drystone sweep gather` merges the \
             results.\n"
        )
    }
}

/// The standard output of a command that succeeds, trimmed.
pub(super) fn run_command(mut command: Command) -> Result<String, SweepError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            SweepError::batch_error(format!("{name}: there is no such program; is this a machine of the cluster?"))
        }
        _ => SweepError::batch_error(format!("{name}: {e}")),
    })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(SweepError::batch_error(format!("{name} failed ({}): {}", output.status, stderr.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
