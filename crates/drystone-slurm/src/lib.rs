//! Slurm's own scheduler as a model: its configuration, its main scheduler and its backfill, held
//! to a real one.
//!
//! [`conf`] reads `slurm.conf`. [`model`] is the two schedulers, pass by pass. [`site`] lets them
//! run by themselves, with their clocks. [`policy`] is `slurm(...)`, a policy like every other.
//! [`recording`] writes down what a real Slurm does. The crate `drystone-certify` compares both
//! schedulers with recordings of a real slurmctld.

pub mod accounts;
pub mod conf;
pub mod model;
pub mod policy;
pub mod recording;
pub mod site;
