//! Names of nodes, sets of nodes and `ALL` to indices.

use super::error::{ConfError, ConfPlace};
use super::node::ConfNode;
use super::pairs::ConfPairs;
use super::{DownNodes, hostlist};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes by name, and sets of them.
pub(super) struct Hosts {
    index: BTreeMap<String, u32>,
    sets: BTreeMap<String, Vec<u32>>,
}

impl Hosts {
    pub(super) fn new(nodes: &[ConfNode], sets: &[ConfPairs]) -> Result<Hosts, ConfError> {
        let mut index = BTreeMap::new();
        for (node, number) in nodes.iter().zip(0..) {
            if let Some(earlier) = index.insert(node.name.clone(), number) {
                let earlier: &ConfNode = &nodes[earlier as usize];
                let problem = format!("the node {} is there already, at {}", node.name, earlier.place);
                return Err(ConfError::at_line(&node.place, problem));
            }
        }
        let mut hosts = Hosts { index, sets: BTreeMap::new() };
        for pairs in sets {
            let (name, members) = hosts.parse_set(pairs, nodes)?;
            hosts.sets.insert(name, members);
        }
        Ok(hosts)
    }

    fn parse_set(&self, pairs: &ConfPairs, nodes: &[ConfNode]) -> Result<(String, Vec<u32>), ConfError> {
        let name = pairs.get("NodeSet").unwrap_or_default().to_string();
        let mut members: BTreeSet<u32> = BTreeSet::new();
        if let (Some(list), Some(place)) = (pairs.get("Nodes"), &pairs.place) {
            members.extend(self.resolve_list(list, place)?);
        }
        if let Some(feature) = pairs.get("Feature") {
            let with = nodes.iter().zip(0..).filter(|(node, _)| node.features.iter().any(|f| f == feature));
            members.extend(with.map(|(_, number)| number));
        }
        Ok((name, members.into_iter().collect()))
    }

    /// The nodes of a list, ascending.
    pub(super) fn resolve_list(&self, list: &str, place: &ConfPlace) -> Result<Vec<u32>, ConfError> {
        let mut indices = BTreeSet::new();
        for name in hostlist::expand_list(list).map_err(|problem| ConfError::at_line(place, problem))? {
            if let Some(&number) = self.index.get(&name) {
                indices.insert(number);
            } else if let Some(members) = self.sets.get(&name) {
                indices.extend(members);
            } else if name.eq_ignore_ascii_case("all") {
                indices.extend(self.index.values());
            } else {
                let problem = format!("no NodeName line has the node {name}; add one, or take it out of `{list}`");
                return Err(ConfError::at_line(place, problem));
            }
        }
        Ok(indices.into_iter().collect())
    }

    pub(super) fn parse_down_nodes(&self, pairs: &ConfPairs) -> Result<DownNodes, ConfError> {
        let list = pairs.get("DownNodes").unwrap_or_default();
        let nodes = match &pairs.place {
            Some(place) => self.resolve_list(list, place)?,
            None => Vec::new(),
        };
        let text = |key, default: &str| pairs.get(key).unwrap_or(default).to_string();
        Ok(DownNodes { nodes, state: text("State", "DOWN"), reason: text("Reason", "") })
    }
}
