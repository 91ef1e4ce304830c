//! The model held to recordings of a real Slurm.

mod free_run;
mod golden;
mod pass_by_pass;

pub use free_run::{FreeRun, free_run};
pub use golden::{Golden, GoldenError, GoldenJob, Happening};
pub use pass_by_pass::{Agreement, Difference, pass_by_pass};
