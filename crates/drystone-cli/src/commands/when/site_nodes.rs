//! The cluster as its own `slurm.conf` describes it, for Slurm's own policy: nodes and partitions,
//! what jobs ask of nodes, and the limits of associations and QOS.

use super::state::{QueueEntry, StateNode};
use super::unmet::NodeDemand;
use crate::exit::CommandFailure;
use crate::output::message;
use drystone::engine::Scheduler;
use drystone::model::{Demand, DeviceDemand, DevicePer, Job, NodeShape, ResourceTable, ResourceTableBuilder, Time};
use drystone::policy::{NamedCall, PolicySpec};
use drystone_site::SiteJob;
use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::policy::{SLURM, build_among};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of associations and QOS, as `when --ask` and `import --ask` name them.
const ACCOUNT_FILES: [&str; 2] = ["assoc.txt", "qos.txt"];

pub(super) struct SiteNodes {
    conf: SlurmConf,
    accounts: Accounts,
    /// Numbers of accounts, QOS and partitions by their names.
    numbers: [BTreeMap<String, i32>; 3],
    table: ResourceTableBuilder,
}

/// Kinds of names, as the policy calls them.
const KINDS: [&str; 3] = ["account", "qos", "partition"];

/// Names that a job is submitted under.
#[derive(Clone, Copy)]
pub(super) struct QueueNames<'a> {
    pub(super) account: &'a str,
    pub(super) qos: &'a str,
    pub(super) partition: &'a str,
}

impl<'a> QueueNames<'a> {
    pub(super) fn of_queue(job: &'a QueueEntry) -> QueueNames<'a> {
        QueueNames { account: &job.account, qos: &job.qos, partition: &job.partition }
    }

    pub(super) fn of_past(job: &'a SiteJob<'_>) -> QueueNames<'a> {
        QueueNames { account: &job.account, qos: &job.qos, partition: &job.partition }
    }
}

impl SiteNodes {
    /// Returns the cluster of the folder's `slurm.conf`, where the policy is Slurm's with that
    /// file.
    ///
    /// # Errors
    /// Tables of accounts that cannot be read.
    pub(super) fn read_conf(policy: &PolicySpec, dir: &Path) -> Result<Option<SiteNodes>, CommandFailure> {
        if policy.kind().name != SLURM.name {
            return Ok(None);
        }
        let parameters = policy.parameters();
        let value = |name: &str| parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value);
        let file = dir.join("slurm.conf");
        if Path::new(value("conf")) != file {
            return Ok(None);
        }
        let conf = SlurmConf::read_file(&file).map_err(|error| CommandFailure::usage_error(error.to_string()))?;
        let files: Vec<PathBuf> = match value("accounts") {
            "none" => Vec::new(),
            "auto" => ACCOUNT_FILES.iter().map(|name| dir.join(name)).collect(),
            path => vec![PathBuf::from(path)],
        };
        // All partitions have numbers from the beginning: one may be asked for that no job was in.
        let mut numbers: [BTreeMap<String, i32>; 3] = Default::default();
        conf.partitions.iter().for_each(|part| _ = assign_number(&mut numbers[2], &part.name));
        Ok(Some(SiteNodes { conf, accounts: read_accounts(&files)?, numbers, table: ResourceTableBuilder::new() }))
    }

    /// Returns whether the policy keeps limits by itself.
    pub(super) fn keeps_limits(&self) -> bool {
        self.conf.enforces_limits() && self.accounts.limits_anything()
    }

    /// Returns the policy in which jobs of the queue have the order of their present priorities:
    /// where past use counts for these, it is not known, and the order stays.
    pub(super) fn policy_with_priorities(&self, policy: &PolicySpec) -> PolicySpec {
        if !self.conf.priority.multifactor || !self.keeps_order() {
            return policy.clone();
        }
        let Ok(mut call) = NamedCall::parse(policy.text()) else { return policy.clone() };
        call.args.push((Some("prioritytype".to_string()), "basic".to_string()));
        // Where the text sets it, that holds.
        call.to_string().parse().unwrap_or_else(|_| policy.clone())
    }

    /// Returns whether the queue stays in its present order: its priorities depend on use that is
    /// not known.
    pub(super) fn keeps_order(&self) -> bool {
        !self.conf.priority.multifactor || self.conf.priority.fair_share > 0.0
    }

    /// Returns the nodes with their processors, in the order of the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, u32)> {
        self.conf.nodes.iter().map(|node| (node.name.as_str(), node.cpus))
    }

    /// Warns of nodes that are listed and not described.
    pub(super) fn check_nodes(&self, nodes: &[StateNode]) {
        let unknown = nodes.iter().filter(|node| self.conf.nodes.iter().all(|own| own.name != node.name)).count();
        if unknown > 0 {
            message::print_warning(&format!(
                "{unknown} of the nodes in nodes.txt are not in slurm.conf and are left out; take all files at one time, with the files \
                 that slurm.conf includes"
            ));
        }
    }

    /// Gives a job its account, QOS and partition by their numbers, and what it asks of its nodes.
    pub(super) fn describe_job(&mut self, job: &mut Job, names: QueueNames<'_>, shape: NodeShape) {
        let [accounts, qos, partitions] = &mut self.numbers;
        job.group = assign_number(accounts, names.account);
        job.queue = assign_number(qos, names.qos);
        // A job of several partitions starts in any; the first in which it fits stands for all.
        job.partition = assign_number(partitions, names.partition.split(',').next().unwrap_or_default());
        let shape = (shape != NodeShape::default()).then_some(shape);
        let demand = shape.map(|shape| Demand { totals: Vec::new(), shape: Some(shape) });
        job.demand = demand.and_then(|demand| self.table.intern_demand(demand).ok()).unwrap_or_default();
    }

    /// Returns the partition in which a job fits.
    ///
    /// # Errors
    /// The demand that its partitions cannot meet, in words.
    pub(super) fn find_partition<'a>(
        &self,
        demand: &'a NodeDemand<'_>,
        takes_jobs: &dyn Fn(&str) -> bool,
    ) -> Result<&'a str, String> {
        demand.find_partition(&self.conf, takes_jobs)
    }

    /// Lets a waiting job that names no number of nodes have several, where no node of its
    /// partition has the memory of its processors, or all of its GPUs.
    pub(super) fn spread_shape(&self, demand: &NodeDemand<'_>, partition: &str) -> NodeShape {
        let mut shape = demand.shape.clone();
        if shape.nodes == (0, 0) && demand.needs_several_nodes(&self.conf, partition) {
            shape.nodes = (1, u32::MAX);
        }
        shape
    }

    pub(super) fn move_to(&mut self, job: &mut Job, partition: &str) {
        job.partition = assign_number(&mut self.numbers[2], partition);
    }

    /// Returns what jobs ask of nodes.
    pub(super) fn resource_table(&self) -> Arc<ResourceTable> {
        self.table.clone().finish()
    }

    /// Returns what makes schedulers of the policy among these people.
    ///
    /// # Errors
    /// A policy that cannot be made.
    pub(super) fn scheduler_source(
        &self,
        policy: &PolicySpec,
        users: &BTreeMap<String, i32>,
    ) -> Result<SchedulerSource, CommandFailure> {
        let mut names = String::new();
        let kinds = KINDS.iter().zip(&self.numbers).chain([(&"user", users)]);
        for (kind, numbers) in kinds {
            for (name, number) in numbers {
                let _ = writeln!(names, "{kind},{number},{name}");
            }
        }
        build_among(policy, self.accounts.clone(), &names)
            .map_err(|error| CommandFailure::usage_error(error.to_string()))?;
        let (policy, accounts) = (policy.clone(), self.accounts.clone());
        Ok(Arc::new(move || {
            let own = build_among(&policy, accounts.clone(), &names);
            let plain = policy.build_scheduler();
            // It could be built before.
            Scheduler { policy: own.unwrap_or(plain.policy), ..plain }
        }))
    }

    /// The order of jobs of one priority is that of their submission: jobs of the queue count as
    /// submitted no earlier than those before them.
    pub(super) fn put_in_order(&self, jobs: &mut [&mut Job]) {
        if !self.keeps_order() {
            return;
        }
        let mut latest = Time::MIN;
        for job in jobs {
            latest = latest.max(job.submit);
            job.submit = latest;
        }
    }
}

/// Returns the number of a name, from 1 on; −1 for none.
fn assign_number(numbers: &mut BTreeMap<String, i32>, name: &str) -> i32 {
    if name.is_empty() {
        return -1;
    }
    let next = i32::try_from(numbers.len()).map_or(i32::MAX, |len| len.saturating_add(1));
    *numbers.entry(name.to_string()).or_insert(next)
}

pub(super) type SchedulerSource = Arc<dyn Fn() -> Scheduler + Send + Sync>;

fn read_accounts(files: &[PathBuf]) -> Result<Accounts, CommandFailure> {
    let mut texts = Vec::new();
    for file in files {
        match std::fs::read_to_string(file) {
            Ok(text) if !text.trim().is_empty() => texts.push((file.as_path(), text)),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(CommandFailure::usage_error(format_args!("{}: cannot be read: {error}", file.display())));
            }
        }
    }
    if texts.is_empty() {
        return Ok(Accounts::new());
    }
    let texts: Vec<(&Path, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Accounts::parse_all(&texts).map_err(|(_, error)| CommandFailure::usage_error(error.to_string()))
}

pub(super) fn shape_of_queued(job: &QueueEntry) -> NodeShape {
    let nodes = u64::from(job.node_count.max(1));
    let devices = (job.gpus > 0).then(|| {
        let (count, per) = match job.gpus % nodes {
            0 if !job.spreads_gpus => (job.gpus / nodes, DevicePer::Node),
            _ => (job.gpus, DevicePer::Job),
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        DeviceDemand { name: "gpu".to_string(), kind: job.gpu_kind.clone(), count, per, cores_each: 0 }
    });
    NodeShape {
        // Of a job that waits, squeue names the fewest nodes.
        nodes: if job.node_count > 1 { (job.node_count, u32::MAX) } else { (0, 0) },
        memory: job.memory_each,
        devices: devices.into_iter().collect(),
        features: job.features.clone(),
        ..NodeShape::default()
    }
}
