//! The folder beside a store in which its tasks are.

use super::submission::TaskSubmission;
use crate::error::SweepError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Every submission of a store: `study.db.tasks`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskFolder {
    path: PathBuf,
}

impl TaskFolder {
    /// Those of a store; there may be none yet.
    pub fn for_store(store: &Path) -> TaskFolder {
        // The whole name: other stores may differ in their ending alone.
        let mut name = std::path::absolute(store).unwrap_or_else(|_| store.to_path_buf()).into_os_string();
        name.push(".tasks");
        TaskFolder { path: name.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folders of all submissions, the first one first.
    ///
    /// # Errors
    /// The folder cannot be read. That there is none is no error.
    pub fn submissions(&self) -> Result<Vec<PathBuf>, SweepError> {
        let number = |name: &str| name.parse::<u32>().ok();
        let mut numbers: Vec<u32> = list_names(&self.path)?.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|number| self.path.join(number.to_string())).collect())
    }

    /// Every published store of every submission, in a fixed order.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn published_stores(&self) -> Result<Vec<PathBuf>, SweepError> {
        let mut store_paths = Vec::new();
        for folder in self.submissions()? {
            store_paths.extend(list_published(&folder)?.into_iter().map(|(_, path)| path));
        }
        Ok(store_paths)
    }

    /// Makes the folder of a new submission, complete: it appears whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add_submission(&self, submission: &TaskSubmission) -> Result<PathBuf, SweepError> {
        let bytes = submission.to_bytes()?;
        let make = || -> io::Result<PathBuf> {
            std::fs::create_dir_all(&self.path)?;
            let part = tempfile::Builder::new().prefix(".new.").tempdir_in(&self.path)?;
            let mut file = std::fs::File::create_new(part.path().join("tasks.json"))?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::create_dir(part.path().join("log"))?;
            open_to_others(part.path())?;
            let last = self.submissions().map_err(io::Error::other)?.last().cloned();
            let last = last.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok()).unwrap_or(0);
            let folder = self.path.join((last + 1).to_string());
            // The store is locked, so that no other process takes the number.
            std::fs::rename(part.path(), &folder)?;
            Ok(folder)
        };
        make().map_err(|e| SweepError::store_error(self.path.display(), format!("tasks cannot be written there: {e}")))
    }
}

/// The published stores of a submission, each with its task, in a fixed order.
pub(super) fn list_published(folder: &Path) -> Result<Vec<(u32, PathBuf)>, SweepError> {
    let mut files: Vec<(u32, String)> = Vec::new();
    for name in list_names(folder)? {
        if let Some(task) = task_of(&name) {
            files.push((task, name));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(task, name)| (task, folder.join(name))).collect())
}

/// The name under which an attempt of a task publishes.
pub(super) fn store_name(task: u32, attempt: &str) -> String {
    format!("{task}.{attempt}.db")
}

/// The task whose attempt publishes under this name.
fn task_of(name: &str) -> Option<u32> {
    let (task, attempt) = name.strip_suffix(".db")?.split_once('.')?;
    (!attempt.is_empty() && task.bytes().all(|b| b.is_ascii_digit())).then(|| task.parse().ok()).flatten()
}

/// Notes that a job of the batch system runs a submission. Noted twice is noted once.
pub(super) fn note_job(folder: &Path, job: &str) -> io::Result<()> {
    std::fs::File::options().create(true).truncate(false).write(true).open(folder.join(format!("job-{job}"))).map(drop)
}

/// The jobs of the batch system that run a submission, the oldest first.
pub(super) fn list_jobs(folder: &Path) -> Result<Vec<String>, SweepError> {
    let mut jobs: Vec<String> =
        list_names(folder)?.iter().filter_map(|name| name.strip_prefix("job-").map(String::from)).collect();
    // Numbers by their size.
    jobs.sort_by(|first, second| (first.len(), first).cmp(&(second.len(), second)));
    Ok(jobs)
}

/// The newest log of each task of a submission.
pub(super) fn newest_logs(folder: &Path) -> Result<std::collections::BTreeMap<u32, PathBuf>, SweepError> {
    let mut newest: std::collections::BTreeMap<u32, (std::time::SystemTime, PathBuf)> = Default::default();
    let folder = folder.join("log");
    for name in list_names(&folder)? {
        let task = name.strip_suffix(".log").and_then(|stem| stem.rsplit_once('_')?.1.parse().ok());
        let path = folder.join(&name);
        let modification_time = std::fs::metadata(&path).and_then(|m| m.modified());
        if let (Some(task), Ok(mtime)) = (task, modification_time)
            && newest.get(&task).is_none_or(|(before, _)| *before <= mtime)
        {
            newest.insert(task, (mtime, path));
        }
    }
    Ok(newest.into_iter().map(|(task, (_, path))| (task, path)).collect())
}

/// The names in a folder, none where there is no folder.
fn list_names(folder: &Path) -> Result<Vec<String>, SweepError> {
    let fail = |e: io::Error| SweepError::store_error(folder.display(), format!("cannot be read: {e}"));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(fail(e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(fail)?.file_name().to_str().map(String::from));
    }
    names.sort();
    Ok(names)
}

/// Gives a temporary folder, made for its owner alone, the permissions of the folder around it.
fn open_to_others(folder: &Path) -> io::Result<()> {
    match folder.parent() {
        Some(around) => std::fs::set_permissions(folder, std::fs::metadata(around)?.permissions()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_known_by_their_names() {
        assert_eq!(task_of(&store_name(7, "4711-0")), Some(7));
        assert_eq!(task_of("12.node.domain-99.db"), Some(12));
        for strange in [".7.4711-0.db.x1.part", "7.db", "7..db", "x.4711.db", "tasks.json", "7.4711-0.db.lock", ".db"] {
            assert_eq!(task_of(strange), None, "{strange}");
        }
        assert_eq!(TaskFolder::for_store(Path::new("/a/study.db")).path(), Path::new("/a/study.db.tasks"));
    }
}
