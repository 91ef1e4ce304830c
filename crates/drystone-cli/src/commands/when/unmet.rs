//! Demands of jobs that their partitions cannot meet: such a job never starts.

use drystone::model::{DeviceDemand, DevicePer, NodeMemory, NodeShape};
use drystone_report::number::{format_count, format_fixed, format_plural};
use drystone_slurm::conf::{ConfNode, SlurmConf};
use drystone_slurm::model::parse_gres;

pub(super) struct NodeDemand<'a> {
    /// Names of partitions, separated by commas.
    pub(super) partitions: &'a str,
    pub(super) procs: u32,
    pub(super) shape: &'a NodeShape,
}

impl NodeDemand<'_> {
    /// Returns the first of its partitions on whose idle nodes the job fits. `takes_jobs` says
    /// whether a node takes new jobs.
    ///
    /// # Errors
    /// Words that follow a job that fits in none: `asks for 9 processors, but the nodes of
    /// partition gpu have 4`.
    pub(super) fn find_partition(&self, conf: &SlurmConf, takes_jobs: &dyn Fn(&str) -> bool) -> Result<&str, String> {
        let mut first = None;
        for name in self.partitions.split(',') {
            let Some(partition) = conf.partitions.iter().find(|own| own.name == name) else { return Ok(name) };
            let partition_nodes: Vec<&ConfNode> =
                partition.nodes.iter().filter_map(|&at| conf.nodes.get(at as usize)).collect();
            let of = format!("the nodes of partition {name}");
            let whole = self.find_unmet(&partition_nodes, &of, conf.counts_memory);
            let now = || {
                let open: Vec<&ConfNode> =
                    partition_nodes.iter().copied().filter(|node| takes_jobs(&node.name)).collect();
                self.find_unmet(&open, &format!("{of} that take new jobs now"), conf.counts_memory)
            };
            let Some(words) = whole.or_else(now) else { return Ok(name) };
            first.get_or_insert(words);
        }
        Err(first.unwrap_or_default())
    }

    /// Returns whether nodes of a partition have the processors that the job asks for, but none the
    /// memory of these or the devices as well.
    pub(super) fn needs_several_nodes(&self, conf: &SlurmConf, partition: &str) -> bool {
        let Some(own) = conf.partitions.iter().find(|own| own.name == partition) else { return false };
        let nodes: Vec<&ConfNode> = own.nodes.iter().filter_map(|&at| conf.nodes.get(at as usize)).collect();
        let has_devices = |node: &ConfNode| {
            self.shape.devices.iter().all(|device| count_devices(node, device) >= u64::from(device.count))
        };
        let has_room = |node: &ConfNode| self.procs_on(node, conf.counts_memory) >= u64::from(self.procs);
        nodes.iter().any(|node| node.cpus >= self.procs)
            && !nodes.iter().any(|node| has_room(node) && has_devices(node))
    }

    /// Returns the number of the job's processors that a node has, and has the memory for.
    fn procs_on(&self, node: &ConfNode, counts_memory: bool) -> u64 {
        match self.shape.memory {
            NodeMemory::PerCore(kb) if counts_memory && kb > 0 => {
                u64::from(node.cpus).min(node.memory_mb / kb.div_ceil(1024))
            }
            _ => node.cpus.into(),
        }
    }

    /// Returns in words the first demand that these nodes do not meet, and what they have instead.
    fn find_unmet(&self, nodes: &[&ConfNode], of: &str, counts_memory: bool) -> Option<String> {
        let procs = |nodes: &[&ConfNode]| nodes.iter().map(|node| u64::from(node.cpus)).sum::<u64>();
        let processors = format_plural(self.procs.into(), "processor");
        if u64::from(self.procs) > procs(nodes) {
            return Some(format!("asks for {processors}, but {of} have {}", procs(nodes)));
        }
        let least = self.shape.nodes.0.max(1) as usize;
        if least > nodes.len() {
            return Some(format!("asks for {least} nodes, but {of} are only {}", nodes.len()));
        }
        let node_phrase = if least > 1 { format!("each of {least} nodes") } else { "a node".to_string() };
        let mut remaining_nodes = nodes.to_vec();
        if let Some((mb, for_one)) = find_node_memory(self.shape.memory).filter(|_| counts_memory) {
            let most = remaining_nodes.iter().map(|node| node.memory_mb).max().unwrap_or(0);
            remaining_nodes.retain(|node| node.memory_mb >= mb);
            let memory = format!("{} of memory {}", show_memory(mb), for_one.unwrap_or(&format!("on {node_phrase}")));
            match remaining_nodes.len() {
                0 => return Some(format!("asks for {memory}, but {of} have {} at most", show_memory(most))),
                few if few < least => return Some(format!("asks for {memory}, but of {of} only {few} have that")),
                _ => {}
            }
        }
        for device in &self.shape.devices {
            if let Some(words) = retain_with_devices(device, &mut remaining_nodes, (least, &node_phrase), of) {
                return Some(words);
            }
        }
        // Counts and choices of features (`a*2`, `a|b`) are left to Slurm's own reasons.
        let plain = !self.shape.features.contains(['*', '[', '(', '|']);
        for feature in self.shape.features.split(['&', ',']).map(str::trim).filter(|name| plain && !name.is_empty()) {
            let other_note = if remaining_nodes.len() < nodes.len() { " that meet its other demands" } else { "" };
            remaining_nodes.retain(|node| node.features.iter().any(|own| own == feature));
            if remaining_nodes.len() < least {
                return Some(format!(
                    "asks for the feature {feature}, but of {of}{other_note} {} have it",
                    show_count(remaining_nodes.len())
                ));
            }
        }
        let room = remaining_nodes.iter().map(|node| self.procs_on(node, counts_memory)).sum::<u64>();
        match self.shape.memory {
            _ if u64::from(self.procs) <= room => None,
            NodeMemory::PerCore(kb) if room < procs(&remaining_nodes) => {
                let memory_text = show_memory(kb.div_ceil(1024));
                Some(format!("asks for {processors} with {memory_text} of memory each, but {of} have room for {room}"))
            }
            _ => Some(format!("asks for {processors}, but {of} that meet its other demands have {room}")),
        }
    }
}

/// Retains the nodes that have the devices. Returns words where these are too few.
fn retain_with_devices(
    device: &DeviceDemand,
    candidates: &mut Vec<&ConfNode>,
    (least, each): (usize, &str),
    of: &str,
) -> Option<String> {
    let device_count = |node: &ConfNode| count_devices(node, device);
    let most = candidates.iter().map(|node| device_count(node)).max().unwrap_or(0);
    let total_devices = candidates.iter().map(|node| device_count(node)).sum::<u64>();
    let name = if device.name == "gpu" { "GPU" } else { &device.name };
    let kind = if device.kind.is_empty() { String::new() } else { format!(" of type {}", device.kind) };
    let of_node = device.per == DevicePer::Node;
    let on = if of_node { format!(" on {each}") } else { String::new() };
    let devices = format!("{}{kind}{on}", format_plural(device.count.into(), name));
    candidates.retain(|node| device_count(node) >= if of_node { u64::from(device.count) } else { 1 });
    if device.per == DevicePer::Job && u64::from(device.count) > total_devices {
        return Some(format!("asks for {devices}, but {of} have {total_devices}"));
    }
    match candidates.len() {
        0 => Some(format!("asks for {devices}, but {of} have {most} at most")),
        few if few < least => Some(format!("asks for {devices}, but of {of} only {few} have that")),
        _ => None,
    }
}

fn show_count(few: usize) -> String {
    if few == 0 { "none".to_string() } else { format!("only {few}") }
}

/// Returns the megabytes that a node has to have at least, with words where each processor has to
/// have them.
fn find_node_memory(memory: NodeMemory) -> Option<(u64, Option<&'static str>)> {
    match memory {
        NodeMemory::PerNode(kb) => Some((kb.div_ceil(1024), None)),
        NodeMemory::PerCore(kb) => Some((kb.div_ceil(1024), Some("for each processor"))),
        NodeMemory::None | NodeMemory::PerDevice(_) | NodeMemory::Whole => None,
    }
}

/// Returns megabytes as people and as `slurm.conf` write them.
fn show_memory(mb: u64) -> String {
    if mb < 1024 {
        format!("{mb} MB")
    } else {
        format!("{} GB ({} MB)", format_fixed(mb as f64 / 1024.0, 1), format_count(mb))
    }
}

fn count_devices(node: &ConfNode, demand: &DeviceDemand) -> u64 {
    let serves = |(name, kind, _): &(String, String, u32)| {
        *name == demand.name && (demand.kind.is_empty() || kind.eq_ignore_ascii_case(&demand.kind))
    };
    parse_gres(&node.gres).iter().filter(|device| serves(device)).map(|&(.., count)| u64::from(count)).sum()
}
