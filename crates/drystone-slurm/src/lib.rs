//! Slurm's own scheduler as a model: its configuration, its main scheduler and its backfill.
//!
//! [`conf`] reads `slurm.conf`.

pub mod certify;
pub mod conf;
pub mod model;
pub mod site;
