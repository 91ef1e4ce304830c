//! Recordings of a real Slurm as text: what slurmctld's log says, and a line for each job.

mod jobs;
mod log;

pub use jobs::JobRecords;
pub use log::{log_events, parse_epoch};
