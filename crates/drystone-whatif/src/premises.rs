//! Starting point of a simulation, and reasons why a change cannot be made to it.

use super::change::SiteChange;
use drystone::model::{Job, JobLimits, Outage, Procs, Workload};
use drystone_slurm::accounts::Accounts;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionPremises {
    /// Its name; empty for jobs of no partition.
    pub name: String,
    /// Its number in the workload.
    pub number: i32,
    /// Its number in the pool by itself.
    pub own: i32,
}

/// A pool: a log's machine, or nodes of a site that share no partition with others.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolPremises {
    pub name: String,
    /// Its processors, as its own policy counts them.
    pub procs: Procs,
    /// Processors of the workload for each of these.
    pub scale: Procs,
    /// Its processors on one node, on average, at least 1.
    pub per_node: f64,
    pub partitions: Vec<PartitionPremises>,
    /// Missing processors over time, in the pool's own processors.
    pub outages: Vec<Outage>,
    /// The text of its `slurm.conf`, where Slurm's own scheduler is simulated.
    pub conf: Option<String>,
    /// The text of the `slurm.conf` in whose order processors are those of nodes, where another
    /// policy places jobs on these.
    pub layout: Option<String>,
    /// Names behind the numbers of its jobs, as Slurm's policy reads them.
    pub names: Option<String>,
}

impl PoolPremises {
    pub fn node_count(&self) -> u32 {
        (f64::from(self.procs) / self.per_node.max(1.0)).round() as u32
    }

    /// The `slurm.conf` that describes its nodes.
    pub(super) fn described_nodes(&self) -> Option<&str> {
        self.conf.as_deref().or(self.layout.as_deref())
    }

    pub(super) fn partition_number(&self, name: &str) -> Option<i32> {
        self.partitions.iter().find(|partition| partition.name == name).map(|partition| partition.number)
    }

    pub(super) fn has_partition(&self, number: i32) -> bool {
        self.partitions.iter().any(|partition| partition.number == number)
    }
}

/// Starting point of a simulation.
#[derive(Clone, Debug)]
pub struct Premises {
    pub workload: Workload,
    /// The machine.
    pub pools: Vec<PoolPremises>,
    /// Numbers of users by name.
    pub users: BTreeMap<String, i32>,
    /// Numbers of accounts by name.
    pub accounts: BTreeMap<String, i32>,
    /// Numbers of QOS by name.
    pub qos: BTreeMap<String, i32>,
    /// Associations and QOS with their limits, where they are simulated.
    pub limits: Option<Accounts>,
    /// True if the policy knows partitions, QOS and nodes: Slurm's own does.
    pub is_slurm: bool,
    /// Limits that jobs share under any policy, after a change.
    pub rules: Option<LimitRules>,
}

/// Limits of the jobs of changed premises, each of which has its place among the jobs before, if it
/// was there.
type LimitFunction = dyn Fn(&Premises, &[Option<u32>]) -> JobLimits + Send + Sync;

/// Rules by which jobs share limits under any policy.
#[derive(Clone)]
pub struct LimitRules(Arc<LimitFunction>);

impl LimitRules {
    pub fn new(rule: impl Fn(&Premises, &[Option<u32>]) -> JobLimits + Send + Sync + 'static) -> LimitRules {
        LimitRules(Arc::new(rule))
    }

    pub(super) fn job_limits(&self, premises: &Premises, origin: &[Option<u32>]) -> JobLimits {
        (self.0)(premises, origin)
    }
}

impl fmt::Debug for LimitRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LimitRules")
    }
}

impl Premises {
    /// The premises of a log: one pool of equal nodes with this many processors each, the
    /// partitions that its jobs name, by their numbers, and what is out.
    pub fn of_log(workload: Workload, outages: Vec<Outage>, per_node: f64) -> Premises {
        let mut numbers: Vec<i32> = workload.jobs().iter().map(|job| job.partition).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let name = |number: i32| if number >= 0 { number.to_string() } else { String::new() };
        let partitions =
            numbers.into_iter().map(|number| PartitionPremises { name: name(number), number, own: number }).collect();
        let pool = PoolPremises {
            name: workload.provenance.name.clone(),
            procs: workload.machine().procs,
            scale: 1,
            per_node: per_node.max(1.0),
            partitions,
            outages,
            conf: None,
            layout: None,
            names: None,
        };
        Premises {
            workload,
            pools: vec![pool],
            users: BTreeMap::new(),
            accounts: BTreeMap::new(),
            qos: BTreeMap::new(),
            limits: None,
            is_slurm: false,
            rules: None,
        }
    }

    pub(super) fn pool_of(&self, job: &Job) -> usize {
        if self.pools.len() == 1 {
            return 0;
        }
        self.pools.iter().position(|pool| pool.has_partition(job.partition)).unwrap_or(0)
    }

    /// The nodes that a job takes, rounded up.
    pub fn nodes_of(&self, job: &Job) -> f64 {
        let pool = &self.pools[self.pool_of(job)];
        (f64::from(job.procs) / f64::from(pool.scale.max(1)) / pool.per_node.max(1.0)).max(0.0)
    }

    /// Processors of the workload.
    pub(super) fn procs(&self) -> Procs {
        self.pools.iter().map(|pool| pool.procs.saturating_mul(pool.scale.max(1))).fold(0, Procs::saturating_add)
    }

    /// The pool and, where it is one, the partition of a name.
    pub(super) fn find_place(&self, change: &SiteChange, name: &str) -> Result<(usize, bool), ApplyError> {
        let of_partition = self.pools.iter().position(|pool| pool.partition_number(name).is_some());
        if let Some(at) = of_partition {
            return Ok((at, true));
        }
        let of_pool = self.pools.iter().position(|pool| pool.name == name);
        of_pool.map(|at| (at, false)).ok_or_else(|| self.unknown_place(change, "partition or pool", name))
    }

    pub(super) fn only_pool(&self, change: &SiteChange) -> Result<usize, ApplyError> {
        match self.pools.len() {
            1 => Ok(0),
            _ => {
                let names: Vec<&str> = self.pools.iter().map(|pool| pool.name.as_str()).collect();
                Err(ApplyError::new(
                    change,
                    format!(
                        "the site has several pools; name one of them or a partition, such as {}:+8; the pools are {}",
                        names.first().unwrap_or(&"POOL"),
                        names.join(", ")
                    ),
                ))
            }
        }
    }

    pub(super) fn unknown_place(&self, change: &SiteChange, subject: &str, name: &str) -> ApplyError {
        let mut known_names: Vec<&str> =
            self.pools.iter().flat_map(|pool| &pool.partitions).map(|p| p.name.as_str()).collect();
        if subject.contains("pool") {
            known_names.extend(self.pools.iter().map(|pool| pool.name.as_str()));
        }
        known_names.retain(|name| !name.is_empty());
        known_names.sort_unstable();
        known_names.dedup();
        ApplyError::unknown_name(change, subject, name, &known_names)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{change}`: {problem}")]
pub struct ApplyError {
    pub change: String,
    /// Found, expected, and what to do.
    pub problem: String,
}

impl ApplyError {
    pub(super) fn new(change: &SiteChange, problem: impl Into<String>) -> ApplyError {
        ApplyError { change: change.to_string(), problem: problem.into() }
    }

    pub(super) fn unknown_name(change: &SiteChange, subject: &str, name: &str, names: &[&str]) -> ApplyError {
        let listed_names: Vec<&str> = names.iter().take(12).copied().collect();
        let more = names.len().saturating_sub(listed_names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let suggestion = match (drystone::text::find_nearest(name, names.iter().copied()), listed_names.is_empty()) {
            (_, true) => "none is known".to_string(),
            (Some(near), false) => format!("did you mean `{near}`? There are {}{more}", listed_names.join(", ")),
            (None, false) => format!("there are {}{more}", listed_names.join(", ")),
        };
        ApplyError::new(change, format!("no {subject} is called `{name}`; {suggestion}"))
    }
}
