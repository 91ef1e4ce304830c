//! `gres.conf` beside `slurm.conf`: types of devices that the latter leaves out, and where the two
//! contradict each other.

use super::{SiteMachine, SiteNode};
use drystone_slurm::conf::expand_hostlist;
use drystone_slurm::model::parse_gres;
use std::collections::BTreeMap;

/// Devices of some nodes, as a line of `gres.conf` has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DeviceLine {
    /// The nodes; `None` for all.
    nodes: Option<Vec<String>>,
    name: String,
    kind: String,
    count: u32,
}

/// Reads the lines that name devices. What cannot be read is named in the second list.
pub(crate) fn read_devices(text: &str, file: &str) -> (Vec<DeviceLine>, Vec<String>) {
    let (mut devices, mut wrong) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let pairs: Vec<(String, &str)> = (line.split_whitespace())
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key.to_ascii_lowercase(), value))
            .collect();
        let get = |key: &str| pairs.iter().find(|(own, _)| own == key).map(|(_, value)| *value);
        let Some(name) = get("name") else { continue };
        let nodes = match get("nodename").map(expand_hostlist) {
            None => None,
            Some(Ok(nodes)) => Some(nodes),
            Some(Err(problem)) => {
                wrong.push(format!("{file}:{number}: NodeName: {problem}; the line is left out"));
                continue;
            }
        };
        let files = |files: &str| expand_hostlist(files).map_or(1, |files| files.len());
        let stated_count =
            get("count").map(|count| parse_gres(&format!("{name}:{count}")).first().map_or(0, |(.., n)| *n));
        let of_files = || get("file").or(get("multiplefiles")).map_or(1, files);
        let count = stated_count.unwrap_or_else(|| u32::try_from(of_files()).unwrap_or(u32::MAX));
        let kind = get("type").unwrap_or_default().to_string();
        devices.push(DeviceLine { nodes, name: name.to_string(), kind, count });
    }
    (devices, wrong)
}

/// Devices by name: those of each type.
type Devices = BTreeMap<String, BTreeMap<String, u32>>;

fn of_node(node: &SiteNode) -> Devices {
    let mut devices = Devices::new();
    for (name, kind, count) in parse_gres(&node.gres) {
        *devices.entry(name).or_default().entry(kind).or_default() += count;
    }
    devices
}

fn of_lines(lines: &[DeviceLine], node: &str) -> Devices {
    let mut devices = Devices::new();
    let names_node = |line: &&DeviceLine| line.nodes.as_ref().is_none_or(|nodes| nodes.iter().any(|own| own == node));
    for line in lines.iter().filter(names_node) {
        *devices.entry(line.name.clone()).or_default().entry(line.kind.clone()).or_default() += line.count;
    }
    devices
}

fn format_devices(kinds: &BTreeMap<String, u32>, name: &str) -> String {
    let format_device = |(kind, count): (&String, &u32)| match kind.as_str() {
        "" => format!("{name}:{count}"),
        kind => format!("{name}:{kind}:{count}"),
    };
    kinds.iter().map(format_device).collect::<Vec<_>>().join(",")
}

/// Gives nodes the types that `gres.conf` has and `slurm.conf` leaves out. Returns the
/// contradictions between the two, a sentence for each with its nodes: `slurm.conf` counts there.
pub(crate) fn reconcile_devices(machine: &mut SiteMachine, lines: &[DeviceLine], file: &str) -> Vec<String> {
    let mut contradictions: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for node in &mut machine.nodes {
        let (mut own, file_devices) = (of_node(node), of_lines(lines, &node.name));
        for (name, kinds) in &file_devices {
            let Some(node_devices) = own.get_mut(name) else {
                let text = (format_devices(kinds, name), "none".to_string());
                contradictions.entry(text).or_default().push(node.name.clone());
                continue;
            };
            let (node_total, file_total): (u32, u32) = (node_devices.values().sum(), kinds.values().sum());
            let has_types = node_devices.keys().any(|kind| !kind.is_empty());
            let types = kinds.keys().any(|kind| !kind.is_empty());
            if node_total == file_total && !has_types && types {
                node_devices.clone_from(kinds);
            } else if node_total != file_total || (has_types && types && node_devices != kinds) {
                let text = (format_devices(kinds, name), format_devices(node_devices, name));
                contradictions.entry(text).or_default().push(node.name.clone());
            }
        }
        // Only nodes that the file is about: it may be that of one node.
        node.gres = own.iter().map(|(name, kinds)| format_devices(kinds, name)).collect::<Vec<_>>().join(",");
    }
    let contradiction_text = |((file_text, conf_text), nodes): ((String, String), Vec<String>)| {
        let nodes = drystone_slurm::conf::compress_hostlist(&nodes);
        format!("{file}: {nodes} has {file_text}, and slurm.conf says {conf_text}: slurm.conf counts")
    };
    contradictions.into_iter().map(contradiction_text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(gres: &[(&str, &str)]) -> SiteMachine {
        let node =
            |&(name, gres): &(&str, &str)| SiteNode { name: name.into(), gres: gres.into(), ..SiteNode::default() };
        SiteMachine { nodes: gres.iter().map(node).collect(), ..SiteMachine::default() }
    }

    #[test]
    fn types_are_added_and_contradictions_are_named() {
        let text = "AutoDetect=off\nNodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n\
                    NodeName=g3 Name=gpu Type=v100 Count=2 # two\nNodeName=g4 Name=gpu Count=1\n";
        let (lines, wrong) = read_devices(text, "gres.conf");
        assert_eq!((lines.len(), lines[0].count, wrong.len()), (3, 4, 0));
        let mut machine = machine(&[("g1", "gpu:4"), ("g2", "gpu:a100:8"), ("g3", "gpu:a100:2"), ("g4", "")]);
        let messages = reconcile_devices(&mut machine, &lines, "gres.conf");
        assert_eq!(machine.nodes[0].gres, "gpu:a100:4");
        assert_eq!(
            messages,
            [
                "gres.conf: g4 has gpu:1, and slurm.conf says none: slurm.conf counts",
                "gres.conf: g2 has gpu:a100:4, and slurm.conf says gpu:a100:8: slurm.conf counts",
                "gres.conf: g3 has gpu:v100:2, and slurm.conf says gpu:a100:2: slurm.conf counts",
            ]
        );
        assert_eq!(machine.nodes[1].gres, "gpu:a100:8");
    }

    #[test]
    fn a_line_with_a_broken_list_is_named() {
        let (lines, wrong) = read_devices("NodeName=g[1- Name=gpu Count=2\nName=gpu File=/dev/nvidia0\n", "gres.conf");
        assert_eq!((lines.len(), wrong.len()), (1, 1));
        assert!(wrong[0].starts_with("gres.conf:1: NodeName: "), "{}", wrong[0]);
    }
}
