//! Priorities: first come first served, or several factors.

use super::fair::{FairShare, Formula};
use crate::conf;
use crate::model::{Machine, Pending};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weights of priority/multifactor and what they need. Size, partition and the order they make are certified; age and fair
/// share are from Slurm's source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Multifactor {
    /// Weight of the age.
    pub age: f64,
    /// Weight of the fair share.
    pub fair_share: f64,
    /// Weight of the size.
    pub size: f64,
    /// Weight of the partition.
    pub partition: f64,
    /// Seconds after which the age counts in full.
    pub max_age: i64,
    /// Seconds between two calculations.
    pub period: i64,
    /// Whether small jobs are favoured.
    pub favor_small: bool,
    /// Whether size counts relative to the limit.
    pub size_by_time: bool,
    /// Use, where fair share counts.
    pub fair: FairShare,
}

impl Multifactor {
    /// Of a configuration; `None` where the queue is first come, first served. Without slurmdbd Slurm ignores the weights of age
    /// and fair share.
    #[must_use]
    pub fn from_conf(conf: &conf::SlurmConf) -> Option<Multifactor> {
        let p = &conf.priority;
        if !p.multifactor {
            return None;
        }
        let accounts =
            conf.setting("AccountingStorageType").is_some_and(|t| t.to_ascii_lowercase().ends_with("slurmdbd"));
        let counted = if accounts { 1.0 } else { 0.0 };
        let formula = if p.has("NO_FAIR_TREE") { Formula::Classic } else { Formula::Tree };
        Some(Multifactor {
            age: p.age * counted,
            fair_share: p.fair_share * counted,
            size: p.size,
            partition: p.partition,
            max_age: p.max_age.max(1),
            period: p.calc_period.max(1),
            favor_small: p.favor_small,
            size_by_time: p.has("SMALL_RELATIVE_TO_TIME"),
            fair: FairShare::new(formula, p.half_life, p.dampening),
        })
    }

    /// Whether priorities change while jobs wait.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.age > 0.0 || self.fair_share > 0.0
    }

    /// The priority of a job at `now` seconds; `factors` are fair shares.
    #[must_use]
    pub fn of(&self, job: &Pending, now: i64, machine: &Machine, factors: &BTreeMap<(i32, i32), f64>) -> i64 {
        let age = (now - job.submit).max(0) as f64 / self.max_age as f64;
        let fair = factors.get(&(job.account, job.user)).copied().unwrap_or(1.0);
        let largest = machine.parts.iter().map(|p| p.job_factor).max().unwrap_or(1).max(1);
        let partition = f64::from(machine.parts[usize::from(job.part)].job_factor) / f64::from(largest);
        let sum = self.age * age.min(1.0)
            + self.fair_share * fair
            + self.size * self.size_of(job, machine)
            + self.partition * partition;
        (sum as i64).max(1)
    }

    fn size_of(&self, job: &Pending, machine: &Machine) -> f64 {
        let (nodes, cpus) = (machine.nodes().max(1) as f64, machine.total().max(1) as f64);
        let (n, c) = (f64::from(job.min_nodes), f64::from(job.cpus));
        if self.size_by_time {
            let minutes = (job.limit / 60).max(1) as f64;
            let relative = (c / minutes / cpus).min(1.0);
            return if self.favor_small { 1.0 - relative } else { relative };
        }
        if self.favor_small { ((nodes - n) / nodes + (cpus - c) / cpus) / 2.0 } else { (n / nodes + c / cpus) / 2.0 }
    }
}
