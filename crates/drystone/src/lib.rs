//! Scheduling policies for parallel machines, exact and complete, and the simulator that compares them on real logs.

pub mod engine;
pub mod generate;
pub mod log;
pub mod metrics;
pub mod model;
pub mod parts;
pub mod policy;
