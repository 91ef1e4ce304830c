//! The machine: nodes, partitions on them, and pools of nodes that no partition shares with others.

mod combine;
mod gres;
mod gres_conf;
mod infer;
mod lists;
mod pairs;
mod pbsnodes;
mod pools;
mod scontrol;
mod sinfo;
mod slurm_conf;
mod units;

pub(crate) use combine::Combined;
pub(crate) use gres_conf::{read_devices as read_gres_conf, reconcile_devices};
pub(crate) use infer::{infer_machine, partitions_of_jobs};
pub(crate) use lists::NodeSets;
pub(crate) use pairs::LinePairs;
pub(crate) use pools::{NodePool, NodePools, divide_machine};
pub(crate) use scontrol::split_records;
pub(crate) use units::{Projection, ProjectionInputs, project_pools};

use crate::detect::MachineSource;
use crate::error::SiteError;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SiteNode {
    pub(crate) name: String,
    /// Processors as the scheduler counts them; 0 where unknown.
    pub(crate) cpus: u32,
    pub(crate) threads_per_core: u32,
    /// 0 where unknown.
    pub(crate) memory_kb: u64,
    pub(crate) gpus: u32,
    /// Generic resources as Slurm writes them, `gpu:a100:4`.
    pub(crate) gres: String,
    /// True if the description says that it is out of service.
    pub(crate) down: bool,
    /// Names of partitions, where the node says them itself.
    pub(crate) partitions: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct SitePartition {
    pub(crate) name: String,
    /// Its nodes by number, ascending.
    pub(crate) nodes: Vec<u32>,
    /// Longest limit in seconds; `None` without one.
    pub(crate) max_limit: Option<u32>,
    /// Limit in seconds of jobs without one; `None`: the longest.
    pub(crate) default_limit: Option<u32>,
    pub(crate) max_nodes: Option<u32>,
    pub(crate) tier: u32,
    pub(crate) exclusive: bool,
    pub(crate) is_default: bool,
}

/// A machine as files describe it, or as jobs show it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteMachine {
    pub(crate) cluster: Option<String>,
    pub(crate) nodes: Vec<SiteNode>,
    pub(crate) partitions: Vec<SitePartition>,
    /// Jobs get whole nodes.
    pub(crate) linear: bool,
    /// Nodes without a queue serve every queue that has none of its own, as in PBS.
    pub(crate) open_nodes: bool,
    /// Preempted jobs go back to the queue.
    pub(crate) preempts_by_requeue: bool,
    /// Preempted jobs stay on their nodes, suspended.
    pub(crate) preempts_by_suspension: bool,
    /// Seconds that jobs may run beyond their limit, and have to end after it.
    pub(crate) grace: u32,
    pub(crate) evidence: Vec<String>,
}

drystone::word_enum! {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PoolUnit {
        #[default]
        Cpu = "cpu",
        /// Whole nodes.
        Node = "node",
        Gpu = "gpu",
    }
}

/// Returns the lines that a `slurm.conf` lacks where its release decides: see
/// [`scontrol::lines_by_release`].
pub(crate) fn lines_by_release(conf: &str, config: &str) -> String {
    scontrol::lines_by_release(conf, config)
}

pub(crate) fn read_machine(kind: MachineSource, path: &Path, text: &[u8]) -> Result<SiteMachine, SiteError> {
    let name = path.display().to_string();
    let mut machine = match kind {
        MachineSource::SlurmConf => slurm_conf::read_conf(path)?,
        MachineSource::Nodes => scontrol::parse_nodes(text, &name)?,
        MachineSource::Partitions => scontrol::parse_partitions(text, &name)?,
        MachineSource::Config => scontrol::parse_config(text),
        MachineSource::Sinfo => sinfo::parse_sinfo(text, &name)?,
        MachineSource::PbsNodes => pbsnodes::parse_text(text, &name)?,
        MachineSource::PbsNodesJson => pbsnodes::parse_json(text, &name)?,
    };
    if machine.evidence.is_empty() {
        let parts = [(machine.nodes.len(), "node"), (machine.partitions.len(), "partition")];
        let parts_text: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, label)| format!("{count} {label}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let contents_text = if parts_text.is_empty() { "settings".to_string() } else { parts_text.join(", ") };
        machine.evidence.push(format!("{name}: {contents_text}, from {}", kind.name()));
    }
    Ok(machine)
}
