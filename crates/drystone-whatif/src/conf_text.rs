//! The text of a `slurm.conf`, changed line by line.

use super::words::count_things;
use drystone_slurm::conf::{SlurmConf, compress_hostlist, expand_hostlist};
use std::collections::BTreeMap;

/// The lines of a configuration as pairs.
#[derive(Clone, Debug)]
pub(super) struct ConfText {
    lines: Vec<Vec<(String, String)>>,
}

/// Nodes that a change may add, as many as a list of names may have.
const MOST_NODES: u32 = 1_000_000;

/// Keys of a node's line that are its own.
const OWN: [&str; 5] = ["NodeName", "NodeAddr", "NodeHostname", "Port", "State"];

fn is_same_key(key: &str, candidate: &str) -> bool {
    key.eq_ignore_ascii_case(candidate)
}

impl ConfText {
    /// Reads a text that was read by [`SlurmConf`] before: without continuations and includes.
    pub(super) fn from_text(text: &str) -> ConfText {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).map(split_pairs);
        ConfText { lines: lines.filter(|line| !line.is_empty()).collect() }
    }

    pub(super) fn parse_conf(&self) -> Result<SlurmConf, String> {
        SlurmConf::parse(&self.render_text(), "slurm.conf").map_err(|error| error.to_string())
    }

    /// As a file has it.
    pub(super) fn render_text(&self) -> String {
        let mut out = String::new();
        for line in &self.lines {
            let words: Vec<String> = line.iter().map(|(key, value)| format!("{key}={}", quote_value(value))).collect();
            out.push_str(&words.join(" "));
            out.push('\n');
        }
        out
    }

    fn get<'a>(line: &'a [(String, String)], key: &str) -> Option<&'a str> {
        line.iter().rev().find(|(name, _)| is_same_key(name, key)).map(|(_, value)| value.as_str())
    }

    fn set_in(line: &mut Vec<(String, String)>, key: &str, value: &str) {
        line.retain(|(name, _)| !is_same_key(name, key) || is_same_key(name, "PartitionName"));
        line.push((key.to_string(), value.to_string()));
    }

    /// The value of a setting that stands for itself; the last one counts.
    pub(super) fn find_setting(&self, key: &str) -> Option<String> {
        let lines = self.lines.iter().rev().filter(|line| !ConfText::is_record(line));
        lines.filter_map(|line| ConfText::get(line, key)).next().map(String::from)
    }

    /// Returns whether a line is about nodes or partitions.
    fn is_record(line: &[(String, String)]) -> bool {
        line.first().is_some_and(|(first, _)| {
            ["NodeName", "PartitionName", "DownNodes", "NodeSet", "FrontendName"]
                .iter()
                .any(|key| is_same_key(first, key))
        })
    }

    /// Puts a setting in the place of those that there are; none where the value is empty.
    pub(super) fn replace_setting(&mut self, key: &str, value: &str) {
        for line in self.lines.iter_mut().filter(|line| !ConfText::is_record(line)) {
            line.retain(|(name, _)| !is_same_key(name, key));
        }
        self.lines.retain(|line| !line.is_empty());
        if value.is_empty() {
            return;
        }
        self.lines.insert(0, vec![(key.to_string(), value.to_string())]);
    }

    /// Sets a key of a partition, or of all.
    pub(super) fn set_partition(&mut self, name: Option<&str>, key: &str, value: &str) {
        for line in &mut self.lines {
            let is_partition = line.first().is_some_and(|(first, own)| {
                is_same_key(first, "PartitionName")
                    && !is_same_key(own, "DEFAULT")
                    && name.is_none_or(|name| name == own)
            });
            if is_partition {
                ConfText::set_in(line, key, value);
            }
        }
    }

    /// Adds a partition behind the others.
    pub(super) fn add_partition(&mut self, pairs: &[(&str, String)]) {
        self.lines.push(pairs.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect());
    }

    /// Adds nodes like those of a partition, or like most of all, to it and to every partition that
    /// has all of its nodes. Returns the number of its processors.
    pub(super) fn add_nodes(&mut self, partition: Option<&str>, count: u32) -> Result<u32, String> {
        if count > MOST_NODES {
            return Err(format!("{count} nodes are more than {MOST_NODES}"));
        }
        let conf = self.parse_conf()?;
        let members = partition_members(&conf, partition)?;
        let shape = |at: u32| {
            let node = &conf.nodes[at as usize];
            (node.cpus, node.memory_mb, node.gres.clone(), node.features.clone(), node.weight)
        };
        let alike = |at: u32| members.iter().filter(|&&member| shape(member) == shape(at)).count();
        // Of equally common kinds the first.
        let model = members.iter().copied().max_by_key(|&at| (alike(at), std::cmp::Reverse(at)));
        let Some(model) = model else { return Err("the partition has no nodes to copy".to_string()) };
        let prefix = (0..).map(|n| if n == 0 { "added".to_string() } else { format!("added{n}x") });
        let prefix = prefix.into_iter().find(|prefix| !conf.nodes.iter().any(|node| node.name.starts_with(prefix)));
        let prefix = prefix.unwrap_or_else(|| "added".to_string());
        let names: Vec<String> = (1..=count).map(|n| format!("{prefix}{n}")).collect();
        let list = compress_hostlist(&names);
        let Some(at) = self.line_of(&conf.nodes[model as usize].name) else {
            return Err("the line of a node was not found".to_string());
        };
        let mut line = vec![("NodeName".to_string(), list)];
        line.extend(self.lines[at].iter().filter(|(key, _)| !OWN.iter().any(|own| is_same_key(own, key))).cloned());
        // Behind all others, so that processors keep their numbers.
        let last = self.lines.iter().rposition(|line| ConfText::get(line, "NodeName").is_some()).unwrap_or(at);
        let line = self.with_defaults(at, last, line);
        self.lines.insert(last + 1, line);
        for part in &conf.partitions {
            let has_all = members.iter().all(|node| part.nodes.contains(node));
            if has_all && !is_same_key(&part.hosts, "ALL") {
                let own = part.nodes.iter().map(|&node| conf.nodes[node as usize].name.clone());
                let node_names: Vec<String> = own.chain(names.iter().cloned()).collect();
                self.set_partition(Some(&part.name), "Nodes", &compress_hostlist(&node_names));
            }
        }
        self.parse_conf()?;
        Ok(conf.nodes[model as usize].cpus * count)
    }

    /// Takes the last nodes of a partition, or of all, away from everywhere. Returns how many
    /// processors that is.
    pub(super) fn remove_nodes(&mut self, partition: Option<&str>, count: u32) -> Result<u32, String> {
        let conf = self.parse_conf()?;
        let members = partition_members(&conf, partition)?;
        if count as usize >= members.len() {
            return Err(format!("of {} at least one has to stay", count_things(members.len() as u64, "node", "nodes")));
        }
        let removed_nodes: Vec<u32> = members[members.len() - count as usize..].to_vec();
        let is_gone = |name: &str| removed_nodes.iter().any(|&at| conf.nodes[at as usize].name == name);
        for part in &conf.partitions {
            let remaining_nodes: Vec<String> = (part.nodes.iter().map(|&at| &conf.nodes[at as usize].name))
                .filter(|name| !is_gone(name))
                .cloned()
                .collect();
            if remaining_nodes.is_empty() && !part.nodes.is_empty() {
                return Err(format!("the partition {} would have no nodes", part.name));
            }
            if remaining_nodes.len() < part.nodes.len() && !is_same_key(&part.hosts, "ALL") {
                self.set_partition(Some(&part.name), "Nodes", &compress_hostlist(&remaining_nodes));
            }
        }
        for line in &mut self.lines {
            let Some((key, value)) = line.first_mut() else { continue };
            let lists = is_same_key(key, "NodeName") && !is_same_key(value, "DEFAULT") || is_same_key(key, "DownNodes");
            if lists && let Ok(names) = expand_hostlist(value) {
                let remaining_names: Vec<String> = names.iter().filter(|name| !is_gone(name)).cloned().collect();
                if remaining_names.len() < names.len() {
                    *value = compress_hostlist(&remaining_names);
                }
            }
        }
        self.lines.retain(|line| line.first().is_none_or(|(_, value)| !value.is_empty()));
        self.parse_conf()?;
        Ok(removed_nodes.iter().map(|&at| conf.nodes[at as usize].cpus).sum())
    }

    /// Gives the nodes of a partition, or all, another memory; `to` makes it of the old one. A line
    /// with other nodes beside them is divided, so that nodes keep their order. Returns how many
    /// nodes these are.
    pub(super) fn set_memory(
        &mut self,
        partition: Option<&str>,
        to: impl Fn(u64) -> Option<u64>,
    ) -> Result<u32, String> {
        let conf = self.parse_conf()?;
        let mut target_memory = BTreeMap::new();
        for node in partition_members(&conf, partition)? {
            let node = &conf.nodes[node as usize];
            let memory = to(node.memory_mb);
            let memory =
                memory.ok_or_else(|| format!("node {} has {} MB, and some have to stay", node.name, node.memory_mb))?;
            target_memory.insert(node.name.clone(), memory);
        }
        let mut lines = Vec::with_capacity(self.lines.len());
        for line in self.lines.drain(..) {
            let list = ConfText::get(&line, "NodeName").filter(|list| !is_same_key(list, "DEFAULT"));
            let Some(names) = list.and_then(|list| expand_hostlist(list).ok()) else {
                lines.push(line);
                continue;
            };
            for names in names.chunk_by(|name, next| target_memory.get(name) == target_memory.get(next)) {
                let mut own = line.clone();
                // Addresses and ports are lists as long as that of the names.
                own.retain(|(key, _)| !["NodeAddr", "NodeHostname", "Port"].iter().any(|list| is_same_key(list, key)));
                if let Some((_, list)) = own.iter_mut().find(|(key, _)| is_same_key(key, "NodeName")) {
                    *list = compress_hostlist(names);
                }
                if let Some(memory) = target_memory.get(&names[0]) {
                    ConfText::set_in(&mut own, "RealMemory", &memory.to_string());
                }
                lines.push(own);
            }
        }
        self.lines = lines;
        self.parse_conf()?;
        Ok(target_memory.len() as u32)
    }

    /// A line like that at a place, further below: with the defaults that hold there and not here.
    fn with_defaults(&self, at: usize, last: usize, line: Vec<(String, String)>) -> Vec<(String, String)> {
        let defaults = |until: usize| {
            let mut default_pairs: Vec<(String, String)> = Vec::new();
            for line in self.lines[..until].iter().filter(|line| ConfText::get(line, "NodeName") == Some("DEFAULT")) {
                for (key, value) in line.iter().skip(1) {
                    default_pairs.retain(|(name, _)| !is_same_key(name, key));
                    default_pairs.push((key.clone(), value.clone()));
                }
            }
            default_pairs
        };
        let mut line = line;
        if defaults(at) != defaults(last + 1) {
            for (key, value) in defaults(at) {
                if ConfText::get(&line, &key).is_none() && !OWN.iter().any(|own| is_same_key(own, &key)) {
                    line.push((key, value));
                }
            }
        }
        line
    }

    fn line_of(&self, name: &str) -> Option<usize> {
        self.lines.iter().position(|line| {
            let list = ConfText::get(line, "NodeName").filter(|list| !is_same_key(list, "DEFAULT"));
            list.and_then(|list| expand_hostlist(list).ok()).is_some_and(|names| names.iter().any(|own| own == name))
        })
    }
}

/// The nodes of a partition, or all.
fn partition_members(conf: &SlurmConf, partition: Option<&str>) -> Result<Vec<u32>, String> {
    match partition {
        None => Ok((0..conf.nodes.len() as u32).collect()),
        Some(name) => match conf.find_partition(name) {
            Some(partition) => Ok(partition.nodes.clone()),
            None => Err(format!("slurm.conf has no partition `{name}`")),
        },
    }
}

/// Returns the places of a partition's processors, in the order in which the model numbers them.
pub(super) fn processors_of(text: &str, partition: &str) -> Option<Vec<std::ops::Range<u32>>> {
    let conf = ConfText::from_text(text).parse_conf().ok()?;
    let part = conf.find_partition(partition)?;
    let mut from = 0;
    let mut ranges = Vec::new();
    for (at, node) in conf.nodes.iter().enumerate() {
        if part.nodes.contains(&(at as u32)) {
            ranges.push(from..from + node.cpus);
        }
        from += node.cpus;
    }
    Some(ranges)
}

fn quote_value(value: &str) -> String {
    let plain = !value.is_empty() && !value.contains(char::is_whitespace);
    if plain { value.to_string() } else { format!("\"{value}\"") }
}

/// The pairs of a line that was read before.
fn split_pairs(line: &str) -> Vec<(String, String)> {
    let mut key_values = Vec::new();
    let mut rest = line.trim();
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"').and_then(|text| text.split_once('"')) {
            Some(parts) => parts,
            None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
        };
        key_values.push((key.trim().trim_end_matches('+').trim_end().to_string(), value.to_string()));
        rest = after.trim_start();
    }
    key_values
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONF: &str = "ClusterName=c\nNodeName=DEFAULT RealMemory=1000\nNodeName=cpu[1-8] CPUs=16\nNodeName=gpu[1-4] CPUs=32 Gres=gpu:4\n\
        PartitionName=cpu Nodes=cpu[1-8] Default=YES\nPartitionName=gpu Nodes=gpu[1-4] MaxTime=1-0\nPartitionName=all Nodes=ALL\n\
        PartitionName=some Nodes=gpu[1-2]\n";

    #[test]
    fn nodes_are_added_like_those_of_a_partition() {
        let mut text = ConfText::from_text(CONF);
        assert_eq!(text.add_nodes(Some("gpu"), 3), Ok(96));
        let conf = text.parse_conf().expect("valid");
        assert_eq!(conf.nodes.len(), 15);
        let sizes: Vec<usize> = conf.partitions.iter().map(|part| part.nodes.len()).collect();
        assert_eq!(sizes, [8, 7, 15, 2], "{}", text.render_text());
        let new_node = conf.nodes.iter().find(|node| node.name == "added2").expect("added");
        assert_eq!((new_node.cpus, new_node.gres.as_str(), new_node.memory_mb), (32, "gpu:4", 1000));
    }

    #[test]
    fn the_last_nodes_go_from_every_partition() {
        let mut text = ConfText::from_text(CONF);
        assert_eq!(text.remove_nodes(Some("gpu"), 2), Ok(64));
        let conf = text.parse_conf().expect("valid");
        let sizes: Vec<usize> = conf.partitions.iter().map(|part| part.nodes.len()).collect();
        assert_eq!((conf.nodes.len(), sizes.as_slice()), (10, [8, 2, 10, 2].as_slice()));
        assert!(text.clone().remove_nodes(Some("gpu"), 2).is_err_and(|e| e.contains("at least one")));
        assert!(text.remove_nodes(Some("fat"), 1).is_err_and(|e| e.contains("no partition `fat`")));
    }

    /// `some` has the first two of four nodes with GPUs: their line is divided.
    #[test]
    fn memory_changes_where_it_is_asked_for() {
        let mut text = ConfText::from_text(CONF);
        assert_eq!(text.set_memory(Some("some"), |mb| Some(mb + 500)), Ok(2));
        let conf = text.parse_conf().expect("valid");
        let memory: Vec<(&str, u64)> =
            conf.nodes[7..].iter().map(|node| (node.name.as_str(), node.memory_mb)).collect();
        assert_eq!(memory, [("cpu8", 1000), ("gpu1", 1500), ("gpu2", 1500), ("gpu3", 1000), ("gpu4", 1000)]);
        assert!(conf.nodes.iter().all(|node| node.name.starts_with("cpu") || node.gres == "gpu:4"));
        assert_eq!(text.set_memory(None, |_| Some(64)), Ok(12));
        assert!(text.parse_conf().expect("valid").nodes.iter().all(|node| node.memory_mb == 64));
        assert!(text.set_memory(None, |mb| mb.checked_sub(100)).is_err_and(|error| error.contains("cpu1 has 64 MB")));
    }

    #[test]
    fn keys_and_settings_are_replaced() {
        let mut text =
            ConfText::from_text("SelectType=select/linear\nPartitionName=a Nodes=n1 MaxTime=5\nNodeName=n1\n");
        text.replace_setting("selecttype", "select/cons_tres");
        text.set_partition(None, "MaxTime", "9");
        assert_eq!(
            text.render_text(),
            "selecttype=select/cons_tres\nPartitionName=a Nodes=n1 MaxTime=9\nNodeName=n1\n"
        );
    }
}
