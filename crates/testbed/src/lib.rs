//! A private, real Slurm on this machine, for tests.
//!
//! [`PrivateSlurm::start_cluster`] starts `slurmctld` and one `slurmd` per node on free ports of
//! the loopback interface, which is the only one that they listen on. The nodes share this machine
//! and may claim more processors than it has. It works as any user, without cgroups, and without
//! munge unless [`ClusterOptions::munge`] asks for one. Dropping the [`PrivateSlurm`] stops every
//! daemon and every job; the same happens when the test process dies.
//!
//! Without an installed Slurm, `start` says so and returns `None`, and the test passes. With
//! `DRYSTONE_SLURM_REQUIRED=1` it panics instead.
//!
//! ```no_run
//! use drystone_testbed::{PrivateSlurm, ClusterOptions};
//! let Some(cluster) = PrivateSlurm::start_cluster(&ClusterOptions::default()) else { return };
//! let job = cluster.command_output("sbatch", &["--parsable", "--wrap", "sleep 1"]);
//! assert!(cluster.command_output("squeue", &["-h", "-o", "%A"]).contains(job.trim()));
//! ```
#![allow(clippy::disallowed_methods, reason = "waits for daemons")]

mod cluster;
mod config;
mod daemons;
mod database;
mod munge;
mod ports;

pub use cluster::PrivateSlurm;
pub use config::ClusterOptions;
pub use daemons::{command_output, find_program};
