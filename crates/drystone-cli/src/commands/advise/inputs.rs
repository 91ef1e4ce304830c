//! Inputs that every simulation of `advise` shares.

use drystone::metrics::JobSelection;
use drystone::model::Outages;
use drystone_advise::{GoalFigure, Periods};
use std::sync::atomic::AtomicBool;

/// Shared inputs of every simulation.
#[derive(Clone, Copy)]
pub(super) struct AdviseInputs<'a> {
    pub(super) outages: &'a Outages,
    pub(super) selection: JobSelection,
    pub(super) periods: &'a Periods,
    pub(super) figures: &'a [GoalFigure],
    pub(super) feedback: bool,
    pub(super) stop: &'a AtomicBool,
}
