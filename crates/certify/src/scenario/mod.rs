//! Scripted workloads on a real Slurm, and recordings of what its schedulers did.
//!
//! A [`Scenario`] is a cluster and jobs that sleep. [`Scenario::record_run`] plays it and answers a
//! [`Recording`]: a configuration, a line per job, and what slurmctld's log says to the
//! millisecond. The files of a recording are those of every other recording: `NAME.conf`,
//! `NAME.repK.csv`, `NAME.repK.events`, and `NAME.accounts` where there is a database.

mod draw;
mod families;
mod play;
mod preempting;
mod recording;
mod setup;

pub use families::FAMILIES;
pub use recording::Recording;

use drystone_testbed::ClusterOptions;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct SleepingJob {
    /// Submission, in seconds from the first.
    pub at: f64,
    /// Nodes, where nodes have one processor; else processors.
    pub n: u32,
    /// Limit in minutes.
    pub limit: u32,
    /// Seconds that it runs.
    pub run: u32,
    /// True if it asks for one node.
    pub one: bool,
    /// Nodes that it asks for at least and at most, beside its processors.
    pub nodes: Option<u32>,
    /// True if it asks for whole nodes.
    pub exclusive: bool,
    /// Its partition, if not the default one.
    pub partition: Option<String>,
    /// Its user's name, where tests run as root; else its jobs are those of the user that runs the
    /// tests.
    pub user: Option<String>,
    pub account: Option<String>,
    pub qos: Option<String>,
    /// Subtracted from its priority.
    pub nice: Option<i32>,
    /// Tasks, and how many of them may run at once.
    pub array: Option<(u32, Option<u32>)>,
}

/// A cluster and what is submitted to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    pub name: String,
    pub options: ClusterOptions,
    /// The jobs, in order of submission.
    pub jobs: Vec<SleepingJob>,
    /// Seconds after which it is given up.
    pub patience: u32,
}

impl Scenario {
    /// The scenario of a family, drawn with a seed; `None` for an unknown family.
    pub fn draw_scenario(family: &str, seed: u64) -> Option<Scenario> {
        let (_, make) = FAMILIES.iter().find(|(name, _)| *name == family)?;
        let mut scenario = make(&mut draw::ScenarioDraw::new(seed));
        scenario.name = format!("{family}-{seed}");
        Some(scenario)
    }
}
