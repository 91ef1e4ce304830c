//! Scheduling policies for parallel machines, exact and complete, and the simulator that compares them on real logs.

pub mod generate;
pub mod log;
pub mod metrics;

pub use drystone_core::{engine, model, parts, policy};
