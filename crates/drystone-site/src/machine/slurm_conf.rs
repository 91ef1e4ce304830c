//! A machine from `slurm.conf`.

use super::{SiteMachine, SiteNode, SitePartition, gres};
use crate::error::SiteError;
use drystone_slurm::conf::{self, PreemptMode, PreemptType, SelectUnit, Sharing, SlurmConf};
use std::path::Path;

/// Slurm looks for jobs beyond their limit every so many seconds.
const CHECK: i64 = 30;

/// Reads the file and all it includes.
pub(super) fn read_conf(path: &Path) -> Result<SiteMachine, SiteError> {
    Ok(from_conf(&SlurmConf::read_file(path)?))
}

fn from_conf(conf: &SlurmConf) -> SiteMachine {
    let by = conf.preempt.by != PreemptType::None;
    let grace = conf.ends.over_minutes.unwrap_or(0) * 60 + conf.ends.kill_wait + CHECK;
    SiteMachine {
        cluster: conf.cluster.clone(),
        nodes: conf.nodes.iter().enumerate().map(|(at, n)| convert_node(n, conf.is_down(at as u32))).collect(),
        partitions: conf.partitions.iter().map(convert_partition).collect(),
        linear: conf.select == SelectUnit::Linear,
        open_nodes: false,
        preempts_by_requeue: by && conf.preempt.mode == PreemptMode::Requeue,
        preempts_by_suspension: by && conf.preempt.mode == PreemptMode::Suspend,
        grace: u32::try_from(grace).unwrap_or(0),
        evidence: Vec::new(),
    }
}

fn convert_node(node: &conf::ConfNode, down: bool) -> SiteNode {
    SiteNode {
        name: node.name.clone(),
        cpus: node.cpus,
        threads_per_core: node.cpus_per_core(),
        // 1 is what Slurm takes where nothing is said.
        memory_kb: if node.memory_mb > 1 { node.memory_mb * 1024 } else { 0 },
        gpus: gres::count_gpus(&node.gres),
        gres: node.gres.clone(),
        down,
        partitions: Vec::new(),
    }
}

fn convert_partition(partition: &conf::ConfPartition) -> SitePartition {
    let seconds = |minutes: Option<i64>| minutes.and_then(|m| u32::try_from(m.saturating_mul(60)).ok());
    SitePartition {
        name: partition.name.clone(),
        nodes: partition.nodes.clone(),
        max_limit: seconds(partition.max_minutes),
        default_limit: seconds(partition.default_minutes),
        max_nodes: partition.max_nodes,
        tier: partition.tier,
        exclusive: partition.sharing == Sharing::Exclusive,
        is_default: partition.default,
    }
}
