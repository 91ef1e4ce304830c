//! One task: simulating its share and publishing what comes of it.

use super::folder::{list_published, note_job, store_name};
use super::scratch::ScratchFolder;
use super::submission::TaskSubmission;
use crate::carry_out::carry_out_these;
use crate::error::SweepError;
use crate::execute::InOrder;
use crate::{PlanOutcome, Store, SweepPlan, WorkSummary};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Number of tries for the last copy, with the pauses between them: hours of work may depend on it.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// Identity of an attempt, so that no two attempts of a task publish under one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// `4711-0`: the array and how often Slurm has restarted it; elsewhere machine, process and
    /// time.
    pub name: String,
    /// The array of Slurm.
    pub job: Option<String>,
}

impl Attempt {
    /// This process as an attempt of a task.
    #[expect(clippy::disallowed_methods, reason = "a name that no other attempt has: no result has it")]
    pub fn for_task(task: u32) -> Attempt {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // Other tools use arrays of Slurm with numbers of their own.
        let is_own_array = variable("SLURM_ARRAY_TASK_ID").is_some_and(|id| id == task.to_string());
        match variable("SLURM_ARRAY_JOB_ID").filter(|_| is_own_array) {
            Some(job) => {
                let restarts = variable("SLURM_RESTART_COUNT").unwrap_or_else(|| "0".to_string());
                Attempt { name: format!("{job}-{restarts}"), job: Some(job) }
            }
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
                Attempt { name: format!("{}-{}-{now}", machine_name(), std::process::id()), job: None }
            }
        }
    }
}

/// This machine's name, as far as a file may have it.
pub(super) fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.unwrap_or_default();
    let plain: String = name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    if plain.is_empty() { "node".to_string() } else { plain }
}

#[derive(Clone, Debug)]
pub struct SubmittedTask {
    folder: PathBuf,
    submission: TaskSubmission,
    number: u32,
}

impl SubmittedTask {
    /// The task of this number, from 1, of the submission in a folder.
    ///
    /// # Errors
    /// There is no such submission or task, or another version of Drystone submitted it.
    pub fn open(folder: &Path, number: u32) -> Result<SubmittedTask, SweepError> {
        let submission = TaskSubmission::read_folder(folder)?;
        let count = submission.tasks.len();
        if number == 0 || number as usize > count {
            return Err(SweepError::refusal_error(format!(
                "{}: there is no task {number}; the tasks are 1 to {count}",
                folder.display()
            )));
        }
        Ok(SubmittedTask { folder: folder.to_path_buf(), submission, number })
    }

    pub fn submission(&self) -> &TaskSubmission {
        &self.submission
    }

    pub fn simulation_count(&self) -> usize {
        self.simulation_ids().len()
    }

    fn simulation_ids(&self) -> &[i64] {
        &self.submission.tasks[self.number as usize - 1]
    }

    /// Places in the plan of the simulations that no attempt has published, the longest first.
    ///
    /// # Errors
    /// Error for a publication that cannot be read, or is of another plan or version.
    pub fn remaining_places(&self, plan: &SweepPlan) -> Result<Vec<usize>, SweepError> {
        let mut recorded_ids: BTreeSet<i64> = BTreeSet::new();
        for (task, path) in list_published(&self.folder)? {
            if task == self.number {
                recorded_ids.extend(Store::published_simulations(&path, &plan.hash)?);
            }
        }
        let missing_ids = self.simulation_ids().iter().filter(|id| !recorded_ids.contains(id));
        let place = |id: &i64| {
            let position = plan.simulations.binary_search_by_key(id, |simulation| simulation.id);
            position.map_err(|_| {
                SweepError::refusal_error(format!("{}: the plan has no simulation {id}", self.folder.display()))
            })
        };
        missing_ids.map(place).collect()
    }

    /// Simulates the remainder of the task on this many threads, in a folder below `scratch`.
    /// Publishes at the interval of the submission, on a stop signal, and at the end. `watch` sees
    /// each outcome; `tell` receives warnings.
    ///
    /// # Errors
    /// Scratch or the submission's folder cannot be written, or the disk is full; what was recorded
    /// before is published where that is possible.
    pub fn run(
        &self,
        plan: &SweepPlan,
        (scratch, threads): (&Path, usize),
        cancel: &AtomicBool,
        watch: &mut dyn FnMut(&PlanOutcome),
        tell: &mut dyn FnMut(&str),
    ) -> Result<WorkSummary, SweepError> {
        let attempt = Attempt::for_task(self.number);
        if let Some(job) = &attempt.job {
            // Submitted by hand, it is not noted yet. Without the note only the progress says less.
            let _ = note_job(&self.folder, job);
        }
        let todo = self.remaining_places(plan)?;
        let before = self.simulation_count() - todo.len();
        if todo.is_empty() {
            return Ok(WorkSummary { before, ..WorkSummary::default() });
        }
        // The plan's hash tells the tasks of other studies apart, also on the same node.
        let hash: String = plan.hash.chars().filter(char::is_ascii_alphanumeric).skip(6).take(8).collect();
        let scratch = ScratchFolder::create_folder(scratch, &format!("{hash}-{}", self.number))?;
        let mut store = Store::open(scratch.path().join("task.db"), plan, None)?;
        let mut copies =
            StoreCopies::new(self.publish_path(&attempt), Duration::from_secs(self.submission.terms.publish_every));
        // At once, though there is nothing in it: whether it can be written must be known before
        // hours of work.
        copies.make_copy(&store)?;
        let mut keep_copies = |store: &Store| -> Result<(), SweepError> {
            if let Err(error) = copies.keep_up(store) {
                tell(&format!("{error}; it will be tried again"));
            }
            Ok(())
        };
        let work_result = carry_out_these(&todo, plan, &mut store, &InOrder(threads), cancel, watch, &mut keep_copies);
        if let Err(error) = copies.make_last_copy(&store) {
            let path = scratch.path().join("task.db").display().to_string();
            scratch.keep_folder();
            let problem = format!(
                "{error}\n  the results are kept in {path} on {}: `drystone sweep merge` takes them",
                machine_name()
            );
            return Err(work_result.err().unwrap_or(SweepError::Batch { problem }));
        }
        Ok(WorkSummary { before, ..work_result? })
    }

    /// Returns the path at which an attempt publishes; no other attempt has it.
    fn publish_path(&self, attempt: &Attempt) -> PathBuf {
        let numbered_name = |n: u32| match n {
            0 => attempt.name.clone(),
            _ => format!("{}-{n}", attempt.name),
        };
        let paths = (0..).map(|n| self.folder.join(store_name(self.number, &numbered_name(n))));
        paths.into_iter().find(|path| !path.exists()).unwrap_or_else(|| self.folder.join("lost"))
    }
}

/// The copies of a store for others.
struct StoreCopies {
    target: PathBuf,
    every: Duration,
    last: Instant,
    /// Results in the last copy.
    results: Option<u64>,
}

impl StoreCopies {
    #[expect(clippy::disallowed_methods, reason = "times of publication: no result has them")]
    fn new(target: PathBuf, every: Duration) -> StoreCopies {
        StoreCopies { target, every, last: Instant::now(), results: None }
    }

    fn make_copy(&mut self, store: &Store) -> Result<(), SweepError> {
        let results = store.count_results()?;
        if self.results != Some(results) {
            store.publish_copy(&self.target)?;
            self.results = Some(results);
        }
        Ok(())
    }

    /// Makes a copy where it is time for one.
    #[expect(clippy::disallowed_methods, reason = "times of publication: no result has them")]
    fn keep_up(&mut self, store: &Store) -> Result<(), SweepError> {
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        self.last = Instant::now();
        self.make_copy(store)
    }

    /// Makes the last copy, also where that does not succeed at once.
    fn make_last_copy(&mut self, store: &Store) -> Result<(), SweepError> {
        for _ in 1..TRIES {
            if self.make_copy(store).is_ok() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        self.make_copy(store)
    }
}
