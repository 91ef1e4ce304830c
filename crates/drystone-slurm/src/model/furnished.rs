//! Memory, generic resources, weights, features and licences as a configuration has them.

use super::{NodeCap, NodeSet, Resources};
use crate::conf::{ConfNode, ConfPartition, SlurmConf};

impl Resources {
    /// Returns the resources of a configuration's nodes. Memory counts only where it is given out.
    pub fn from_conf(conf: &SlurmConf) -> Resources {
        let nodes = conf.nodes.len();
        let mut resources = Resources::default();
        if conf.counts_memory {
            resources.memory = conf.nodes.iter().map(|node| node.memory_mb).collect();
        }
        let weight = |node: &ConfNode| node.weight;
        if conf.nodes.windows(2).any(|pair| weight(&pair[0]) != weight(&pair[1])) {
            resources.weights = conf.nodes.iter().map(weight).collect();
        }
        for (index, node) in conf.nodes.iter().enumerate() {
            for (name, kind, count) in parse_gres(&node.gres) {
                if let Some(at) = resources.find_kind(&name, &kind, nodes) {
                    resources.gres[at][index] += count;
                }
            }
            for feature in &node.features {
                match resources.features.iter_mut().find(|(name, _)| name == feature) {
                    Some((_, set)) => set.insert(index),
                    None => resources.features.push((feature.clone(), NodeSet::from_members(nodes, [index]))),
                }
            }
        }
        resources.caps = (0..).zip(&conf.partitions).filter_map(|(part, p)| node_cap(conf, part, p)).collect();
        resources.licences = parse_licences(conf.setting_value("Licenses").unwrap_or_default());
        resources
    }
}

/// The cap of a partition; one for each socket is counted on the whole node.
fn node_cap(conf: &SlurmConf, part: u16, partition: &ConfPartition) -> Option<NodeCap> {
    let sockets = partition.nodes.iter().map(|&node| conf.nodes[node as usize].sockets).max().unwrap_or(1);
    let of_sockets = partition.max_cpus_per_socket.map(|cpus| cpus.saturating_mul(sockets));
    let caps = [partition.max_cpus_per_node, of_sockets];
    caps.into_iter().flatten().min().map(|cpus| NodeCap { part, cpus })
}

/// `gpu:a:2(S:0-1),nvme:4` as name, type and number.
pub fn parse_gres(text: &str) -> Vec<(String, String, u32)> {
    let mut entries = Vec::new();
    for part in outside_brackets(text) {
        let part = part.split(['(', '[']).next().unwrap_or_default().trim();
        let part = part.strip_prefix("gres:").or(part.strip_prefix("gres/")).unwrap_or(part);
        let words: Vec<&str> = part.split([':', '=']).filter(|word| *word != "no_consume").collect();
        let (Some(&name), rest) = (words.first(), &words[1.min(words.len())..]) else { continue };
        if name.is_empty() || name.eq_ignore_ascii_case("none") {
            continue;
        }
        let (kind, number) = match rest {
            [] => ("", 1),
            [one] => parse_count(one).map_or((*one, 1), |number| ("", number)),
            [kind, number, ..] => (*kind, parse_count(number).unwrap_or(1)),
        };
        entries.push((name.to_string(), kind.to_string(), number));
    }
    entries
}

/// Parts between commas that are not in brackets.
fn outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b',' if depth <= 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// A number with a unit of 1,024.
fn parse_count(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    u32::try_from(number.checked_shl(shift)?).ok().or(Some(u32::MAX))
}

/// `sim:3,cad` as names and numbers; without a number it is one.
pub fn parse_licences(text: &str) -> Vec<(String, u32)> {
    let parts = text.split([',', ';', '|']).map(str::trim).filter(|part| !part.is_empty() && *part != "(null)");
    let parse_licence = |part: &str| {
        let (name, number) = part.rsplit_once([':', '*', '=']).unwrap_or((part, "1"));
        number.trim().parse().map_or((part.to_string(), 1), |number| (name.trim().to_string(), number))
    };
    parts.map(parse_licence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gres_have_types_counts_and_sockets() {
        let entry = |name: &str, kind: &str, count| (name.to_string(), kind.to_string(), count);
        assert_eq!(parse_gres("gpu:a:2(S:0,1),nvme:4"), [entry("gpu", "a", 2), entry("nvme", "", 4)]);
        assert_eq!(parse_gres("gpu"), [entry("gpu", "", 1)]);
        assert_eq!(parse_gres("gpu:v100"), [entry("gpu", "v100", 1)]);
        assert_eq!(parse_gres("shard:no_consume:2K"), [entry("shard", "", 2048)]);
        assert_eq!(parse_gres("(null)"), []);
    }

    #[test]
    fn a_licence_without_a_number_is_one() {
        assert_eq!(parse_licences("sim:3, cad"), [("sim".to_string(), 3), ("cad".to_string(), 1)]);
    }
}
