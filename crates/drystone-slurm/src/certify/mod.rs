//! The model held to recordings of a real Slurm.

mod agreement;
mod asked;
mod deeds;
mod eligible;
mod free_run;
mod golden;
mod holds;
mod lines;
mod pass_by_pass;
mod pending;
mod priorities;
mod recorded;

pub use agreement::{Agreement, Difference};
pub use free_run::{FreeRun, free_run};
pub use golden::{Golden, GoldenError};
pub use pass_by_pass::pass_by_pass;
pub use priorities::{PriorityAgreement, priorities};
pub use recorded::{GoldenJob, GoldenShare, Happening, LineJob};
