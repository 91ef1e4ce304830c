//! `slurm.conf` of each pool: its nodes and partitions alone, its processors the pool's units.

use crate::machine::Unit;
use crate::site::{NodeSummary, PoolSummary, Site};
use drystone_slurm::conf::{Node, SlurmConf, compress_hostlist};
use std::collections::HashMap;
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
    let mut out = format!(
        "# Pool {} of {}: its nodes and partitions alone. A processor here is a {} of the pool.\n",
        summary.name,
        if site.manifest.cluster.is_empty() { "the site" } else { &site.manifest.cluster },
        summary.unit.name()
    );
    let mut partitions = String::new();
    for line in text.lines() {
        let pairs = pairs(line);
        let Some((key, value)) = pairs.first() else { continue };
        match key.to_ascii_lowercase().as_str() {
            "nodename" | "downnodes" | "nodeset" | "frontendname" | "switchname" => {}
            "partitionname" if value.eq_ignore_ascii_case("DEFAULT") => put(&mut partitions, &pairs, None),
            "partitionname" => {
                let Some(partition) = conf.partition(value) else { continue };
                let nodes = partition.nodes.iter().map(|&at| &conf.nodes[at as usize].name);
                let nodes: Vec<String> = nodes.filter(|name| mine.contains_key(name.as_str())).cloned().collect();
                if !nodes.is_empty() {
                    put(&mut partitions, &pairs, Some(&compress_hostlist(&nodes)));
                }
            }
            _ => out.push_str(&format!("{line}\n")),
        }
    }
    nodes(&mut out, &conf, &mine, summary);
    out.push_str(&partitions);
    Some(out)
}

/// The nodes of a pool, equal neighbours on one line.
fn nodes(out: &mut String, conf: &SlurmConf, mine: &HashMap<&str, &NodeSummary>, pool: &PoolSummary) {
    let shape = |node: &Node| {
        let cpus = match (pool.unit, mine.get(node.name.as_str())) {
            (Unit::Node, _) => 1,
            (Unit::Gpu, Some(known)) => known.gpus.max(1),
            _ => node.cpus,
        };
        (cpus, node.weight, node.state.clone())
    };
    let mut groups: Vec<((u32, u32, String), Vec<String>)> = Vec::new();
    for node in conf.nodes.iter().filter(|node| mine.contains_key(node.name.as_str())) {
        match groups.last_mut() {
            Some((known, names)) if *known == shape(node) => names.push(node.name.clone()),
            _ => groups.push((shape(node), vec![node.name.clone()])),
        }
    }
    for ((cpus, weight, state), names) in groups {
        let _ = write!(out, "NodeName={} CPUs={cpus}", compress_hostlist(&names));
        if weight != 1 {
            let _ = write!(out, " Weight={weight}");
        }
        if !state.eq_ignore_ascii_case("UNKNOWN") {
            let _ = write!(out, " State={state}");
        }
        out.push('\n');
    }
}

/// A line of these pairs, without its nodes or with these. What counts processors of nodes is left
/// out: units are others.
fn put(out: &mut String, pairs: &[(&str, &str)], nodes: Option<&str>) {
    let mut words: Vec<String> = Vec::new();
    for (at, (key, value)) in pairs.iter().enumerate() {
        if key.eq_ignore_ascii_case("Nodes") || key.eq_ignore_ascii_case("MaxCPUsPerNode") {
            continue;
        }
        let quoted = if value.contains(char::is_whitespace) || value.is_empty() {
            format!("\"{value}\"")
        } else {
            (*value).to_string()
        };
        words.push(format!("{key}={quoted}"));
        if let (0, Some(nodes)) = (at, nodes) {
            words.push(format!("Nodes={nodes}"));
        }
    }
    out.push_str(&words.join(" "));
    out.push('\n');
}

/// The pairs of a line that was read before.
fn pairs(line: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let mut rest = line.trim();
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"').and_then(|text| text.split_once('"')) {
            Some(both) => both,
            None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
        };
        all.push((key.trim().trim_end_matches('+').trim_end(), value));
        rest = after.trim_start();
    }
    all
}
