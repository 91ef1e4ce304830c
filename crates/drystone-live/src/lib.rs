//! Drystone's policies on a real cluster: what the simulator runs, driven by what a cluster shows.
//!
//! [`cluster`] is what is needed of a cluster, with Slurm by its commands, a recorded one and a
//! made-up one. [`tracker`] and [`core`] are pure: what is seen goes in, orders come out.
//! [`daemon`] is the shell around them, [`journal`] and [`state`] what it keeps,
//! [`hand_back`](mod@hand_back) what works without it, [`board`] what people see, [`web`] how they
//! get it, [`foretell`] when their jobs will start.
#![cfg(unix)]

pub mod audit;
pub mod board;
pub mod clock;
pub mod cluster;
pub mod core;
pub mod daemon;
mod error;
pub mod foretell;
pub mod hand_back;
pub mod journal;
pub mod report;
pub mod state;
pub mod tracker;
pub mod web;

pub use error::LiveError;
