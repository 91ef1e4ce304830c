//! `slurm.conf` of each pool: its nodes and partitions alone.

use crate::manifest::NodeSummary;
use crate::site::Site;
use drystone_slurm::conf::{ConfNode, SlurmConf, compress_hostlist, expand_hostlist};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The configuration of a pool, `None` where no configuration describes it.
pub(crate) fn of_pool(site: &Site, pool: u16) -> Option<String> {
    let text = site.slurm_conf.as_deref()?;
    let summary = site.manifest.pools.get(usize::from(pool))?;
    let conf = SlurmConf::parse(text, "slurm.conf").ok()?;
    let mine: HashMap<&str, &NodeSummary> = (site.nodes.iter())
        .filter(|node| node.pool.as_deref() == Some(summary.name.as_str()))
        .map(|node| (node.name.as_str(), node))
        .collect();
    let added_nodes = find_added(site, &conf, &mine);
    let mut out = format!(
        "# Pool {} of {}: its nodes and partitions alone.\n",
        summary.name,
        if site.manifest.cluster.is_empty() { "the site" } else { &site.manifest.cluster },
    );
    let mut partitions = String::new();
    for line in text.lines() {
        let pairs = split_pairs(line);
        let Some((key, value)) = pairs.first() else { continue };
        match key.to_ascii_lowercase().as_str() {
            "nodename" | "downnodes" | "nodeset" | "frontendname" | "switchname" => {}
            "partitionname" if value.eq_ignore_ascii_case("DEFAULT") => put_line(&mut partitions, &pairs, None),
            "partitionname" => {
                let Some(partition) = conf.find_partition(value) else { continue };
                let nodes = partition.nodes.iter().map(|&at| conf.nodes[at as usize].name.as_str());
                let mut nodes: Vec<String> = nodes.filter(|name| mine.contains_key(name)).map(String::from).collect();
                let own = |(name, of): (&&str, &BTreeSet<String>)| of.contains(*value).then(|| (*name).to_string());
                nodes.extend(added_nodes.iter().filter_map(own));
                if !nodes.is_empty() {
                    put_line(&mut partitions, &pairs, Some(&compress_hostlist(&nodes)));
                }
            }
            _ => out.push_str(&format!("{line}\n")),
        }
    }
    write_nodes(&mut out, &conf, &mine, &added_nodes);
    out.push_str(&partitions);
    Some(out)
}

/// Nodes that the configuration lacks, with the partitions whose jobs ran there.
fn find_added<'a>(
    site: &'a Site,
    conf: &SlurmConf,
    mine: &HashMap<&'a str, &'a NodeSummary>,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let known_nodes: BTreeSet<&str> = conf.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut added_nodes: BTreeMap<&str, BTreeSet<String>> =
        mine.keys().filter(|name| !known_nodes.contains(**name)).map(|name| (*name, BTreeSet::new())).collect();
    if added_nodes.is_empty() {
        return added_nodes;
    }
    let mut lists: HashMap<String, BTreeSet<String>> = HashMap::new();
    for job in site.jobs().filter(|job| !job.node_list.is_empty()) {
        lists.entry(job.node_list.to_string()).or_default().insert(job.partition.to_string());
    }
    for (list, partitions) in lists {
        for name in expand_hostlist(&list).unwrap_or_default() {
            if let Some(of) = added_nodes.get_mut(name.as_str()) {
                of.extend(partitions.iter().cloned());
            }
        }
    }
    added_nodes
}

/// The nodes of a pool as they are, equal neighbours on one line. Those that are out of service by
/// the configuration and ran jobs all the same are in service.
fn write_nodes(
    out: &mut String,
    conf: &SlurmConf,
    mine: &HashMap<&str, &NodeSummary>,
    additions: &BTreeMap<&str, BTreeSet<String>>,
) {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |shape: String, name: &str| match groups.last_mut() {
        Some((group_shape, names)) if *group_shape == shape => names.push(name.to_string()),
        _ => groups.push((shape, vec![name.to_string()])),
    };
    for node in &conf.nodes {
        if let Some(summary) = mine.get(node.name.as_str()) {
            add(of_node(node, summary), &node.name);
        }
    }
    for name in additions.keys() {
        let Some(summary) = mine.get(name) else { continue };
        // It is as the most frequent node, of which the types of devices are taken over.
        let like =
            conf.nodes.iter().find(|node| node.cpus == summary.cpus && node.memory_mb * 1024 == summary.memory_kb);
        let devices = like.map_or_else(String::new, |node| node.gres.clone());
        let mut shape = format!("CPUs={} RealMemory={}", summary.cpus.max(1), (summary.memory_kb / 1024).max(1));
        if !devices.is_empty() {
            let _ = write!(shape, " Gres={devices}");
        }
        add(shape, name);
    }
    for (shape, names) in groups {
        let _ = writeln!(out, "NodeName={} {shape}", compress_hostlist(&names));
    }
}

/// Describes a node in the words of `slurm.conf`.
fn of_node(node: &ConfNode, summary: &NodeSummary) -> String {
    let ConfNode { sockets, cores_per_socket, threads_per_core, memory_mb, weight, .. } = node;
    let cpus = if summary.cpus > 0 { summary.cpus } else { node.cpus } + node.spec_cpus;
    let memory_mb = memory_mb + node.spec_memory_mb;
    let mut shape = format!(
        "CPUs={cpus} Sockets={sockets} CoresPerSocket={cores_per_socket} ThreadsPerCore={threads_per_core} RealMemory={memory_mb}"
    );
    if node.spec_cpus > 0 {
        let _ = write!(shape, " CoreSpecCount={}", node.spec_cpus / node.cpus_per_core());
    }
    if node.spec_memory_mb > 0 {
        let _ = write!(shape, " MemSpecLimit={}", node.spec_memory_mb);
    }
    let gres = if summary.gres.is_empty() { &node.gres } else { &summary.gres };
    if !gres.is_empty() {
        let _ = write!(shape, " Gres={gres}");
    }
    if !node.features.is_empty() {
        let _ = write!(shape, " Features={}", node.features.join(","));
    }
    if *weight != 1 {
        let _ = write!(shape, " Weight={weight}");
    }
    shape
}

/// A line of these pairs, without its nodes or with these.
fn put_line(out: &mut String, pairs: &[(&str, &str)], nodes: Option<&str>) {
    let mut words: Vec<String> = Vec::new();
    for (at, (key, value)) in pairs.iter().enumerate() {
        if key.eq_ignore_ascii_case("Nodes") {
            continue;
        }
        let quoted_value = if value.contains(char::is_whitespace) || value.is_empty() {
            format!("\"{value}\"")
        } else {
            (*value).to_string()
        };
        words.push(format!("{key}={quoted_value}"));
        if let (0, Some(nodes)) = (at, nodes) {
            words.push(format!("Nodes={nodes}"));
        }
    }
    out.push_str(&words.join(" "));
    out.push('\n');
}

/// The pairs of a line that was read before.
fn split_pairs(line: &str) -> Vec<(&str, &str)> {
    let mut key_values = Vec::new();
    let mut rest = line.trim();
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"').and_then(|text| text.split_once('"')) {
            Some(pair) => pair,
            None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
        };
        key_values.push((key.trim().trim_end_matches('+').trim_end(), value));
        rest = after.trim_start();
    }
    key_values
}
