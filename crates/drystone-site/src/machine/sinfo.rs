//! `sinfo --json`: a list of nodes in old versions, groups of nodes in new ones.

use super::{SiteMachine, SiteNode, SitePartition, gres, scontrol};
use crate::error::SiteError;
use drystone_slurm::conf::expand_hostlist;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn parse_sinfo(text: &[u8], name: &str) -> Result<SiteMachine, SiteError> {
    let wrong = |problem: String| SiteError::Machine { place: name.to_string(), problem };
    let json: Value = serde_json::from_slice(text).map_err(|error| wrong(format!("no JSON: {error}")))?;
    let nodes = match (json["nodes"].as_array(), json["sinfo"].as_array()) {
        (Some(nodes), _) => nodes.iter().filter_map(parse_node).collect(),
        (None, Some(groups)) => parse_groups(groups).map_err(wrong)?,
        (None, None) => Vec::new(),
    };
    if nodes.is_empty() {
        return Err(wrong("no node in it; at the site: scontrol -o show nodes > nodes.txt".to_string()));
    }
    let partitions = scontrol::of_nodes(&nodes);
    let limits = json["sinfo"].as_array().map(|groups| longest_limits(groups)).unwrap_or_default();
    let with = |partition: SitePartition| SitePartition {
        max_limit: limits.get(&partition.name).copied().flatten(),
        ..partition
    };
    Ok(SiteMachine { nodes, partitions: partitions.into_iter().map(with).collect(), ..SiteMachine::default() })
}

/// `7`, or a map with it.
fn parse_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let set = value["set"].as_bool().unwrap_or(true) && !value["infinite"].as_bool().unwrap_or(false);
        value["number"].as_u64().filter(|_| set)
    })
}

fn small_number(value: &Value) -> Option<u32> {
    parse_number(value).and_then(|n| u32::try_from(n).ok())
}

fn parse_words(value: &Value) -> Vec<String> {
    match value {
        Value::String(word) => vec![word.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(String::from).collect(),
        _ => Vec::new(),
    }
}

fn is_down(states: &[String]) -> bool {
    let down = |state: &String| ["DOWN", "DRAIN", "FAIL"].iter().any(|word| state.to_ascii_uppercase().contains(word));
    states.iter().any(down)
}

fn parse_node(value: &Value) -> Option<SiteNode> {
    let states = [parse_words(&value["state"]), parse_words(&value["state_flags"])].concat();
    let reserved_memory = parse_number(&value["specialized_memory"]).unwrap_or(0);
    Some(SiteNode {
        name: value["name"].as_str()?.to_string(),
        // What the system keeps is not for jobs.
        cpus: ["effective_cpus", "cpus"].iter().find_map(|key| small_number(&value[key]).filter(|&n| n > 0))?,
        threads_per_core: small_number(&value["threads"]).unwrap_or(1),
        memory_kb: parse_number(&value["real_memory"])
            .unwrap_or(0)
            .saturating_sub(reserved_memory)
            .saturating_mul(1024),
        gpus: value["gres"].as_str().map_or(0, gres::count_gpus),
        gres: value["gres"].as_str().unwrap_or_default().to_string(),
        down: is_down(&states),
        partitions: parse_words(&value["partitions"]),
    })
}

/// Each group names its nodes, its partition, and the processors and memory of each of its nodes.
fn parse_groups(groups: &[Value]) -> Result<Vec<SiteNode>, String> {
    let mut nodes: Vec<SiteNode> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for group in groups {
        let partition = group["partition"]["name"].as_str().unwrap_or_default().to_string();
        let states = parse_words(&group["node"]["state"]);
        let cpus = small_number(&group["cpus"]["maximum"]).unwrap_or(0);
        for list in parse_words(&group["nodes"]["nodes"]) {
            for name in expand_hostlist(&list)? {
                let at = *numbers.entry(name.clone()).or_insert_with(|| {
                    nodes.push(SiteNode {
                        name,
                        cpus,
                        threads_per_core: small_number(&group["threads"]["maximum"]).unwrap_or(1),
                        memory_kb: parse_number(&group["memory"]["maximum"]).unwrap_or(0).saturating_mul(1024),
                        gpus: group["gres"]["total"].as_str().map_or(0, gres::count_gpus),
                        gres: group["gres"]["total"].as_str().unwrap_or_default().to_string(),
                        down: is_down(&states),
                        partitions: Vec::new(),
                    });
                    nodes.len() - 1
                });
                if !partition.is_empty() && !nodes[at].partitions.contains(&partition) {
                    nodes[at].partitions.push(partition.clone());
                }
            }
        }
    }
    nodes.retain(|node| node.cpus > 0);
    Ok(nodes)
}

/// The longest limits of partitions, in minutes there.
fn longest_limits(groups: &[Value]) -> BTreeMap<String, Option<u32>> {
    let limit = |group: &Value| {
        let name = group["partition"]["name"].as_str()?.to_string();
        let minutes = parse_number(&group["partition"]["maximums"]["time"]);
        Some((name, minutes.and_then(|m| u32::try_from(m.saturating_mul(60)).ok())))
    };
    groups.iter().filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_give_nodes() {
        let old = br#"{"nodes":[{"name":"n1","cpus":32,"threads":2,"real_memory":1000,"gres":"gpu:2","state":"mixed","partitions":["a","b"]}]}"#;
        let machine = parse_sinfo(old, "sinfo.json").expect("nodes");
        assert_eq!((machine.nodes[0].cpus, machine.nodes[0].gpus, machine.partitions.len()), (32, 2, 2));
        let kept =
            br#"{"nodes":[{"name":"n1","cpus":32,"effective_cpus":28,"real_memory":1000,"specialized_memory":200}]}"#;
        let machine = parse_sinfo(kept, "sinfo.json").expect("nodes");
        assert_eq!((machine.nodes[0].cpus, machine.nodes[0].memory_kb), (28, 800 * 1_024));
        let new = br#"{"sinfo":[{"partition":{"name":"a","maximums":{"time":{"set":true,"infinite":false,"number":60}}},
            "node":{"state":["IDLE"]},"nodes":{"nodes":["n[1-2]"]},"cpus":{"minimum":8,"maximum":8},"memory":{"maximum":100},
            "gres":{"total":"gpu:a100:4"}},{"partition":{"name":"b"},"node":{"state":["DOWN"]},"nodes":{"nodes":["n2","n3"]},
            "cpus":{"maximum":16}}]}"#;
        let machine = parse_sinfo(new, "sinfo.json").expect("nodes");
        let of = |n: usize| (machine.nodes[n].name.as_str(), machine.nodes[n].cpus, machine.nodes[n].gpus);
        assert_eq!((of(0), of(1), of(2)), (("n1", 8, 4), ("n2", 8, 4), ("n3", 16, 0)));
        assert_eq!(machine.partitions[0].max_limit, Some(3_600));
        assert_eq!(machine.partitions[1].nodes, [1, 2]);
        assert!(parse_sinfo(b"{}", "x").is_err() && parse_sinfo(b"[", "x").is_err());
    }
}
