//! Drystone's policies on a real cluster.
#![cfg(unix)]

pub mod cluster;
pub mod core;
pub mod tracker;
