//! Agents that are not learned, and logs to try them on.

use drystone::generate::{Params, generate_workload};
use drystone::model::Workload;
use drystone_env::{Agent, ObservationShape};
use std::sync::Arc;

/// The first possible action.
pub(crate) struct First;

impl Agent for First {
    fn choose_action(&mut self, observation: ObservationShape<'_>) -> Option<usize> {
        observation.mask.iter().position(|can| *can)
    }
}

/// The row with the smallest value of a feature.
pub(crate) struct Least {
    pub(crate) feature: usize,
    pub(crate) width: usize,
}

impl Agent for Least {
    fn choose_action(&mut self, observation: ObservationShape<'_>) -> Option<usize> {
        let value = |row: usize| observation.jobs[row * self.width + self.feature];
        let rows = (0..observation.mask.len()).filter(|&row| observation.mask[row]);
        rows.min_by(|&a, &b| value(a).total_cmp(&value(b)))
    }
}

/// Pseudo-random choices that depend on nothing but a count.
pub(crate) struct Arbitrary(pub(crate) u64);

impl Arbitrary {
    pub(crate) fn of(&mut self, mask: &[bool]) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let can: Vec<usize> = (0..mask.len()).filter(|&at| mask[at]).collect();
        can[(self.0 >> 33) as usize % can.len()]
    }
}

pub(crate) fn log(procs: u32, jobs: u32, load: f64, seed: u64) -> Arc<Workload> {
    Arc::new(generate_workload(&Params { load: Some(load), seed, ..Params::new(procs, jobs) }).expect("a workload"))
}
