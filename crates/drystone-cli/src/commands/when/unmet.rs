//! Demands of jobs that no node of their partitions meets: such a job never starts.

use drystone::model::{DeviceDemand, DevicePer, NodeMemory, NodeShape};
use drystone_report::number::{count, fixed, plural};
use drystone_slurm::conf::{ConfNode, SlurmConf};
use drystone_slurm::model::gres;

/// Demand of a job for the nodes of a partition.
pub(super) struct NodeDemand<'a> {
    /// Partitions, with commas.
    pub(super) partitions: &'a str,
    pub(super) procs: u32,
    pub(super) shape: &'a NodeShape,
}

impl NodeDemand<'_> {
    /// Returns the first of its partitions on whose idle nodes the job fits.
    ///
    /// # Errors
    /// Words that follow a job that fits in none: `asks for 9 processors, and the nodes of
    /// partition gpu have 4`. `takes_jobs` says whether a node takes new jobs.
    pub(super) fn find_partition(&self, conf: &SlurmConf, takes_jobs: &dyn Fn(&str) -> bool) -> Result<&str, String> {
        let mut first = None;
        for name in self.partitions.split(',') {
            let Some(partition) = conf.partitions.iter().find(|own| own.name == name) else { return Ok(name) };
            let all: Vec<&ConfNode> = partition.nodes.iter().filter_map(|&at| conf.nodes.get(at as usize)).collect();
            let of = format!("the nodes of partition {name}");
            let whole = self.unmet_by(&all, &of, conf.counts_memory);
            let now = || {
                let open: Vec<&ConfNode> = all.iter().copied().filter(|node| takes_jobs(&node.name)).collect();
                self.unmet_by(&open, &format!("{of} that take new jobs now"), conf.counts_memory)
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
            self.shape.devices.iter().all(|device| devices_of(node, device) >= u64::from(device.count))
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

    /// The first demand that these nodes do not meet, and what they have instead.
    fn unmet_by(&self, nodes: &[&ConfNode], of: &str, counts_memory: bool) -> Option<String> {
        let procs = |nodes: &[&ConfNode]| nodes.iter().map(|node| u64::from(node.cpus)).sum::<u64>();
        let asked = plural(self.procs.into(), "processor");
        if u64::from(self.procs) > procs(nodes) {
            return Some(format!("asks for {asked}, and {of} have {}", procs(nodes)));
        }
        let least = self.shape.nodes.0.max(1) as usize;
        if least > nodes.len() {
            return Some(format!("asks for {least} nodes, and {of} are {}", nodes.len()));
        }
        let each = if least > 1 { format!("each of {least} nodes") } else { "a node".to_string() };
        let mut left = nodes.to_vec();
        if let Some((mb, for_one)) = memory_of_node(self.shape.memory).filter(|_| counts_memory) {
            let most = left.iter().map(|node| node.memory_mb).max().unwrap_or(0);
            left.retain(|node| node.memory_mb >= mb);
            let asked = format!("{} of memory {}", memory_text(mb), for_one.unwrap_or(&format!("on {each}")));
            match left.len() {
                0 => return Some(format!("asks for {asked}, and {of} have {} at most", memory_text(most))),
                few if few < least => return Some(format!("asks for {asked}, and of {of} only {few} have that")),
                _ => {}
            }
        }
        for device in &self.shape.devices {
            if let Some(words) = unmet_devices(device, &mut left, (least, &each), of) {
                return Some(words);
            }
        }
        // Counts and choices of features (`a*2`, `a|b`) are left to Slurm's own reasons.
        let plain = !self.shape.features.contains(['*', '[', '(', '|']);
        for feature in self.shape.features.split(['&', ',']).map(str::trim).filter(|name| plain && !name.is_empty()) {
            let other = if left.len() < nodes.len() { " that meet its other demands" } else { "" };
            left.retain(|node| node.features.iter().any(|own| own == feature));
            if left.len() < least {
                return Some(format!(
                    "asks for the feature {feature}, and of {of}{other} {} have it",
                    none_or(left.len())
                ));
            }
        }
        let room = left.iter().map(|node| self.procs_on(node, counts_memory)).sum::<u64>();
        match self.shape.memory {
            _ if u64::from(self.procs) <= room => None,
            NodeMemory::PerCore(kb) if room < procs(&left) => {
                let each = memory_text(kb.div_ceil(1024));
                Some(format!("asks for {asked} with {each} of memory each, and {of} have room for {room}"))
            }
            _ => Some(format!("asks for {asked}, and {of} that meet its other demands have {room}")),
        }
    }
}

/// Leaves the nodes that have the devices; words where these are too few.
fn unmet_devices(
    device: &DeviceDemand,
    left: &mut Vec<&ConfNode>,
    (least, each): (usize, &str),
    of: &str,
) -> Option<String> {
    let held = |node: &ConfNode| devices_of(node, device);
    let most = left.iter().map(|node| held(node)).max().unwrap_or(0);
    let all = left.iter().map(|node| held(node)).sum::<u64>();
    let name = if device.name == "gpu" { "GPU" } else { &device.name };
    let kind = if device.kind.is_empty() { String::new() } else { format!(" of type {}", device.kind) };
    let of_node = device.per == DevicePer::Node;
    let on = if of_node { format!(" on {each}") } else { String::new() };
    let asked = format!("{}{kind}{on}", plural(device.count.into(), name));
    left.retain(|node| held(node) >= if of_node { u64::from(device.count) } else { 1 });
    if device.per == DevicePer::Job && u64::from(device.count) > all {
        return Some(format!("asks for {asked}, and {of} have {all}"));
    }
    match left.len() {
        0 => Some(format!("asks for {asked}, and {of} have {most} at most")),
        few if few < least => Some(format!("asks for {asked}, and of {of} only {few} have that")),
        _ => None,
    }
}

fn none_or(few: usize) -> String {
    if few == 0 { "none".to_string() } else { format!("only {few}") }
}

/// Megabytes that a node has to have at least, and the words for those of each processor.
fn memory_of_node(memory: NodeMemory) -> Option<(u64, Option<&'static str>)> {
    match memory {
        NodeMemory::PerNode(kb) => Some((kb.div_ceil(1024), None)),
        NodeMemory::PerCore(kb) => Some((kb.div_ceil(1024), Some("for each processor"))),
        NodeMemory::None | NodeMemory::PerDevice(_) | NodeMemory::Whole => None,
    }
}

/// Megabytes as people and `slurm.conf` have them.
fn memory_text(mb: u64) -> String {
    if mb < 1024 { format!("{mb} MB") } else { format!("{} GB ({} MB)", fixed(mb as f64 / 1024.0, 1), count(mb)) }
}

/// Devices of a node of the kind that is asked for.
fn devices_of(node: &ConfNode, asked: &DeviceDemand) -> u64 {
    let is_asked = |(name, kind, _): &(String, String, u32)| {
        *name == asked.name && (asked.kind.is_empty() || kind.eq_ignore_ascii_case(&asked.kind))
    };
    gres(&node.gres).iter().filter(|one| is_asked(one)).map(|&(.., count)| u64::from(count)).sum()
}
