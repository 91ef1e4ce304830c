//! Everything that comes of a search.

use crate::meta::WorkloadMeta;
use drystone_evolve::{OnLog, ScoredCandidate};
use serde::Serialize;

/// Everything that came of a search, and what determined it.
#[derive(Serialize)]
pub(super) struct Evolved {
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) objective: String,
    pub(super) guard: Option<String>,
    /// The guard in numbers, on the weeks that candidates were chosen by.
    pub(super) bound: Option<f64>,
    pub(super) policy: String,
    pub(super) seed: u64,
    pub(super) parts_of_weeks: u32,
    pub(super) generations: u64,
    pub(super) evaluations: u64,
    pub(super) random_evaluations: u64,
    pub(super) front: Vec<ScoredCandidate>,
    pub(super) random_front: Vec<ScoredCandidate>,
    pub(super) logs: Vec<OnLog>,
    /// Printed with everything.
    #[serde(skip)]
    pub(super) whole: bool,
}

pub(super) fn log_heading(log: &OnLog) -> String {
    let weeks = |n: usize| if n == 1 { "1 week".to_string() } else { format!("{n} weeks") };
    let unseen = weeks(log.unseen_weeks);
    match log.seen_weeks {
        0 => format!("{}: {unseen} that the search has not seen", log.log),
        seen_weeks => format!("{}: {} that it was chosen by, {unseen} that it was not", log.log, weeks(seen_weeks)),
    }
}
