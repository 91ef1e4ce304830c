//! `pbsnodes -av` of PBS Professional, OpenPBS and Torque, as text or JSON.

use super::{SiteMachine, SiteNode};
use crate::error::SiteError;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Default)]
struct Vnode {
    host: Option<String>,
    cpus: Option<u32>,
    memory_kb: Option<u64>,
    gpus: Option<u32>,
    state: String,
    queues: Vec<String>,
}

/// Blocks: a name at the margin, its attributes below.
pub(super) fn parse_text(text: &[u8], name: &str) -> Result<SiteMachine, SiteError> {
    let text = String::from_utf8_lossy(text);
    let mut vnodes: BTreeMap<String, Vnode> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            order.push(line.trim().to_string());
            vnodes.entry(line.trim().to_string()).or_default();
            continue;
        }
        let (Some(vnode), Some((key, value))) = (order.last().and_then(|n| vnodes.get_mut(n)), line.split_once('='))
        else {
            continue;
        };
        vnode.set_attribute(key.trim(), value.trim());
    }
    build_machine(&order, &vnodes, name)
}

/// Reads the output with `-F json`.
pub(super) fn parse_json(text: &[u8], name: &str) -> Result<SiteMachine, SiteError> {
    let json: Value = serde_json::from_slice(text)
        .map_err(|error| SiteError::Machine { place: name.to_string(), problem: format!("no JSON: {error}") })?;
    let mut vnodes: BTreeMap<String, Vnode> = BTreeMap::new();
    let mut order = Vec::new();
    for (key, value) in json["nodes"].as_object().into_iter().flatten() {
        let vnode = vnodes.entry(key.clone()).or_default();
        order.push(key.clone());
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        for (key, value) in value.as_object().into_iter().flatten() {
            match value.as_object() {
                Some(inner) => inner.iter().for_each(|(k, v)| vnode.set_attribute(&format!("{key}.{k}"), &plain(v))),
                None => vnode.set_attribute(key, &plain(value)),
            }
        }
    }
    build_machine(&order, &vnodes, name)
}

impl Vnode {
    fn set_attribute(&mut self, key: &str, value: &str) {
        match key {
            "resources_available.ncpus" | "np" => self.cpus = value.parse().ok(),
            "pcpus" if self.cpus.is_none() => self.cpus = value.parse().ok(),
            "resources_available.ngpus" | "gpus" => self.gpus = value.parse().ok(),
            "resources_available.mem" => self.memory_kb = parse_kilobytes(value),
            "resources_available.host" => self.host = Some(value.to_string()),
            "state" => self.state = value.to_string(),
            "queue" | "resources_available.Qlist" => {
                self.queues.extend(value.split(',').map(|q| q.trim().to_string()).filter(|q| !q.is_empty()));
            }
            // Torque: `status = …,physmem=131072kb,…`.
            "status" => {
                let memory = value.split(',').find_map(|part| part.strip_prefix("physmem="));
                self.memory_kb = self.memory_kb.or(memory.and_then(parse_kilobytes));
            }
            _ => {}
        }
    }
}

fn parse_kilobytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let scale = match &text[end..] {
        "" | "b" => return Some(number / 1024),
        "kb" => 1,
        "mb" => 1 << 10,
        "gb" => 1 << 20,
        "tb" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(scale)
}

/// Vnodes of one host are one node.
fn build_machine(order: &[String], vnodes: &BTreeMap<String, Vnode>, name: &str) -> Result<SiteMachine, SiteError> {
    let mut nodes: Vec<SiteNode> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for id in order {
        let vnode = &vnodes[id];
        let host = vnode.host.clone().unwrap_or_else(|| id.split('[').next().unwrap_or(id).to_string());
        let at = *places.entry(host.clone()).or_insert_with(|| {
            nodes.push(SiteNode { name: host, threads_per_core: 1, ..SiteNode::default() });
            nodes.len() - 1
        });
        let node = &mut nodes[at];
        node.cpus = node.cpus.saturating_add(vnode.cpus.unwrap_or(0));
        node.gpus = node.gpus.saturating_add(vnode.gpus.unwrap_or(0));
        node.memory_kb = node.memory_kb.saturating_add(vnode.memory_kb.unwrap_or(0));
        node.down |= ["down", "offline", "state-unknown"].iter().any(|word| vnode.state.contains(word));
        for queue in &vnode.queues {
            if !node.partitions.contains(queue) {
                node.partitions.push(queue.clone());
            }
        }
    }
    nodes.retain(|node| node.cpus > 0);
    if nodes.is_empty() {
        let problem = "no node with processors in it; at the site: pbsnodes -av > nodes.txt".to_string();
        return Err(SiteError::Machine { place: name.to_string(), problem });
    }
    let partitions = super::scontrol::of_nodes(&nodes);
    Ok(SiteMachine { nodes, partitions, open_nodes: true, ..SiteMachine::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vnodes_of_a_host_are_one_node() {
        let block = b"n1[0]\n     Mom = n1\n     state = free\n     resources_available.host = n1\n     resources_available.mem = 100kb\n     \
                      resources_available.ncpus = 24\n     resources_available.ngpus = 2\n\nn1[1]\n     resources_available.host = n1\n     \
                      resources_available.ncpus = 24\n     state = offline\n\nn2\n     state = free\n     np = 8\n     \
                      status = opsys=linux,physmem=2048kb,ncpus=8\n     queue = long\n";
        let machine = parse_text(block, "nodes.txt").expect("nodes");
        let of = |n: usize| {
            (machine.nodes[n].name.as_str(), machine.nodes[n].cpus, machine.nodes[n].gpus, machine.nodes[n].memory_kb)
        };
        assert_eq!((of(0), of(1)), (("n1", 48, 2, 100), ("n2", 8, 0, 2_048)));
        assert!(machine.nodes[0].down && !machine.nodes[1].down);
        assert_eq!(machine.partitions[0].name, "long");
        let same = br#"{"nodes":{"n1":{"state":"free","resources_available":{"host":"n1","ncpus":48,"mem":"1gb","ngpus":"2"}}}}"#;
        let machine = parse_json(same, "nodes.json").expect("nodes");
        assert_eq!((machine.nodes[0].cpus, machine.nodes[0].gpus, machine.nodes[0].memory_kb), (48, 2, 1 << 20));
        assert!(parse_text(b"n1\n  state = free\n", "x").is_err());
    }
}
