//! Choices of a site, beside the machine.

use crate::conf::{SchedParams, SlurmConf};
use serde::{Deserialize, Serialize};

/// The choices that both schedulers go by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SchedulerRules {
    /// `SchedulerParameters`.
    pub params: SchedParams,
    /// True if each end calls the main scheduler at once, as where an Epilog is configured.
    pub epilog: bool,
    /// Seconds from SIGTERM to SIGKILL.
    pub kill_wait: i64,
    /// Microseconds that backfill takes for each job it tests.
    pub test_micros: i64,
    /// True if jobs that run past their limits are killed.
    pub kills: bool,
    /// Picks where the clocks stand, and where within their second jobs arrive.
    pub phase: u64,
}

impl Default for SchedulerRules {
    fn default() -> SchedulerRules {
        SchedulerRules {
            params: SchedParams::default(),
            epilog: true,
            kill_wait: 30,
            test_micros: 0,
            kills: false,
            phase: 0,
        }
    }
}

impl SchedulerRules {
    /// The choices of a configuration.
    pub fn from_conf(conf: &SlurmConf) -> SchedulerRules {
        let mut params = conf.sched.clone();
        if !conf.backfill {
            params.bf_interval = -1;
        }
        SchedulerRules { params, epilog: conf.ends.epilog, kill_wait: conf.ends.kill_wait, ..SchedulerRules::default() }
    }
}
