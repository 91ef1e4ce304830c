//! The model held to recordings of a real Slurm.

mod golden;
mod pass_by_pass;

pub use golden::{Golden, GoldenError, GoldenJob, Happening};
pub use pass_by_pass::{Agreement, Difference, pass_by_pass};
