//! Sweeps on a cluster: tasks that a batch system runs, each with a share of a study and a store of
//! its own.
//!
//! There is no server and no protocol. A [`TaskSubmission`] is a folder that says which task
//! simulates what. A task ([`SubmittedTask::run`]) works in scratch and publishes its store into
//! that folder by rename. [`Store::gather_results`](crate::Store) merges what is published, at any
//! time. Files of a store `study.db`:
//!
//! | file | what it is |
//! |---|---|
//! | `study.db.tasks/1/` | the first submission |
//! | `study.db.tasks/1/tasks.json` | the study, the hashes of its logs, the simulations of each task |
//! | `study.db.tasks/1/slurm.sh` | the script that the batch system runs |
//! | `study.db.tasks/1/job-4711` | a job of the batch system that runs it |
//! | `study.db.tasks/1/7.4711-0.db` | what attempt `4711-0` of task 7 has published |
//! | `study.db.tasks/1/log/4711_7.log` | what it said |
//!
//! An attempt has a store of its own and leaves out what earlier attempts of its task have
//! published. So a task that is killed, requeued or run twice loses no result, and a gather counts
//! equal results once.

mod balance;
mod batch;
mod cost;
mod divide;
mod folder;
mod progress;
mod queue;
mod recipe;
mod scratch;
mod shell;
mod slurm;
mod submission;
mod task;

pub use batch::{Array, BatchSystem};
pub use cost::{Costs, estimate_costs};
pub use divide::{TaskDivision, TaskShape, divide_tasks, refuse_timed};
pub use folder::TaskFolder;
pub use progress::{TaskProgress, TaskStanding, TaskState};
pub use queue::{QueuedTaskState, TaskQueue};
pub use recipe::{BatchRecipe, RecipeError};
pub use slurm::SlurmBatch;
pub use submission::{TaskSubmission, Terms};
pub use task::{Attempt, SubmittedTask};
