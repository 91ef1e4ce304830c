//! The model of Slurm's schedulers held to recordings of a real slurmctld, pass by pass and in free
//! runs; and [`scenario`]s, which are played on a private Slurm to make recordings.

mod agreement;
mod deeds;
mod eligible;
mod free_run;
mod golden;
mod lines;
mod pass_by_pass;
mod pending;
mod priorities;
mod recorded;
mod recorded_demands;
#[allow(clippy::disallowed_methods, reason = "scenarios are played in real time")]
pub mod scenario;
mod site_commands;

pub use agreement::{Agreement, Difference};
pub use free_run::{FreeRun, free_run};
pub use golden::{Golden, GoldenError};
pub use pass_by_pass::pass_by_pass;
pub use priorities::{PriorityAgreement, compare_priorities};
pub use recorded::{GoldenJob, GoldenShare, Happening, LineJob};
