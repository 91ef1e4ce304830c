//! The core of Drystone: what a scheduler knows ([`model`]), what policies are made of ([`parts`]),
//! the policies themselves ([`policy`]) and the engine that drives them ([`engine`]).
//!
//! Nothing here reads a log, generates a workload or knows a calendar. Depend on the crate
//! `drystone`, which re-exports all of this beside logs, generators and metrics; depend on this
//! crate where those must not come along.

#![warn(missing_docs)]

pub mod clock_length;
pub mod parts;
pub mod policy;
mod room;

#[doc(hidden)]
pub use drystone_engine::word_enum;
pub use drystone_engine::{engine, model, snapshot, statistics, text};
