//! Shared inputs of every simulation of a comparison.

use crate::args::CompareArgs;
use crate::input::WorkloadInput;
use drystone::engine::Platform;
use drystone::model::Outages;
use drystone::policy::Priorities;
use std::sync::atomic::AtomicBool;

/// Shared inputs of every simulation of a comparison.
#[derive(Clone, Copy)]
pub(super) struct CompareInputs<'a> {
    pub(super) args: &'a CompareArgs,
    pub(super) priorities: Option<&'a Priorities>,
    pub(super) platform: Platform,
    pub(super) outages: &'a Outages,
    /// Those of a table or a site alone, without random failures.
    pub(super) recorded_outages: &'a Outages,
    pub(super) input: &'a WorkloadInput,
    /// True to leave out a policy under which a job would wait for ever for power.
    pub(super) spares: bool,
    /// Set when the work is to stop.
    pub(super) stop: &'a AtomicBool,
    /// True to measure the data of plots.
    pub(super) detailed: bool,
    /// True to keep a row of each job.
    pub(super) keep: bool,
}
