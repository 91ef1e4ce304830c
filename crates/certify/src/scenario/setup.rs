//! Settings that families of scenarios share.

use super::{Scenario, SleepingJob};
use drystone_testbed::ClusterOptions;

pub(super) const USERS: [&str; 6] = ["daemon", "bin", "sys", "games", "man", "lp"];

/// A fast backfill on a fine grid.
pub(super) const FAST: &str = "bf_interval=2,bf_resolution=1";

pub(super) fn scenario_on(nodes: u32, cpus: u32, parameters: &str, jobs: Vec<SleepingJob>) -> Scenario {
    let options = ClusterOptions {
        nodes,
        cpus,
        memory: 1000,
        scheduler: "backfill".to_string(),
        parameters: parameters.to_string(),
        ..ClusterOptions::default()
    };
    Scenario { name: String::new(), options, jobs, patience: 600 }
}

pub(super) fn own_lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}
