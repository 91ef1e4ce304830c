//! `scontrol -o show nodes`, `show partitions`, and `show config`.

use super::pairs::LinePairs;
use super::{SiteMachine, SiteNode, SitePartition, gres};
use crate::error::SiteError;
use drystone_slurm::conf::{expand_hostlist, parse_seconds};
use std::collections::BTreeMap;

/// The lines of a text with their numbers. Without `-o` records are paragraphs, which are joined.
pub(crate) fn split_records(text: &str) -> Vec<(usize, String)> {
    let mut records: Vec<(usize, String)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        match records.last_mut() {
            Some((_, record)) if line.starts_with([' ', '\t']) => {
                record.push(' ');
                record.push_str(line.trim());
            }
            _ => records.push((number, line.trim_end().to_string())),
        }
    }
    records
}

/// Nodes, with the partitions that they say they are in.
pub(super) fn parse_nodes(text: &[u8], name: &str) -> Result<SiteMachine, SiteError> {
    let mut machine = SiteMachine::default();
    for (line, record) in split_records(&String::from_utf8_lossy(text)) {
        let pairs = LinePairs::split_line(&record);
        let Some(node) = pairs.get("NodeName") else { continue };
        // What the system keeps (CoreSpecCount, MemSpecLimit) is not for jobs.
        let cpus = ["CPUEfctv", "CPUTot"]
            .iter()
            .find_map(|key| pairs.parse_number(key).filter(|&n| n > 0))
            .and_then(|n| u32::try_from(n).ok());
        let Some(cpus) = cpus else {
            let problem = format!("the node {node} has no CPUTot; expected a line of scontrol -o show nodes");
            return Err(SiteError::Machine { place: format!("{name}:{line}"), problem });
        };
        let reserved_memory = pairs.parse_number("MemSpecLimit").unwrap_or(0);
        let state = pairs.get("State").unwrap_or_default().to_ascii_uppercase();
        // What is made when it is needed is no machine yet.
        if state.starts_with("FUTURE") {
            continue;
        }
        machine.nodes.push(SiteNode {
            name: node.to_string(),
            cpus,
            threads_per_core: pairs.parse_number("ThreadsPerCore").and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
            memory_kb: pairs
                .parse_number("RealMemory")
                .unwrap_or(0)
                .saturating_sub(reserved_memory)
                .saturating_mul(1024),
            gpus: pairs.get("Gres").map_or(0, gres::count_gpus),
            gres: pairs.get("Gres").filter(|text| *text != "(null)").unwrap_or_default().to_string(),
            down: ["DOWN", "DRAIN", "FAIL"].iter().any(|word| state.contains(word)),
            partitions: pairs
                .get("Partitions")
                .unwrap_or_default()
                .split(',')
                .filter(|p| !p.is_empty())
                .map(String::from)
                .collect(),
        });
    }
    if machine.nodes.is_empty() {
        let problem = "no node; at the site: scontrol -o show nodes > nodes.txt".to_string();
        return Err(SiteError::Machine { place: name.to_string(), problem });
    }
    machine.partitions = of_nodes(&machine.nodes);
    Ok(machine)
}

pub(super) fn of_nodes(nodes: &[SiteNode]) -> Vec<SitePartition> {
    let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (node, number) in nodes.iter().zip(0..) {
        node.partitions.iter().for_each(|name| by_name.entry(name).or_default().push(number));
    }
    by_name
        .into_iter()
        .map(|(name, nodes)| SitePartition { name: name.to_string(), nodes, tier: 1, ..SitePartition::default() })
        .collect()
}

/// Partitions. Their nodes are names until nodes are known: a machine of its own, whose nodes have
/// nothing but names.
pub(super) fn parse_partitions(text: &[u8], name: &str) -> Result<SiteMachine, SiteError> {
    let mut machine = SiteMachine::default();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for (line, record) in split_records(&String::from_utf8_lossy(text)) {
        let pairs = LinePairs::split_line(&record);
        let Some(partition) = pairs.get("PartitionName") else { continue };
        let wrong = |problem: String| SiteError::Machine { place: format!("{name}:{line}"), problem };
        let hosts = expand_hostlist(pairs.get("Nodes").unwrap_or_default()).map_err(wrong)?;
        let mut nodes: Vec<u32> = hosts
            .into_iter()
            .map(|host| {
                let next = numbers.len() as u32;
                *numbers.entry(host.clone()).or_insert_with(|| {
                    machine.nodes.push(SiteNode { name: host, threads_per_core: 1, ..SiteNode::default() });
                    next
                })
            })
            .collect();
        nodes.sort_unstable();
        let limit = |key: &str| match pairs.get(key).filter(|v| !v.eq_ignore_ascii_case("none")) {
            None => Ok(None),
            Some(text) => parse_seconds(text).map(|s| s.and_then(|s| u32::try_from(s).ok())),
        };
        machine.partitions.push(SitePartition {
            name: partition.to_string(),
            nodes,
            max_limit: limit("MaxTime").map_err(wrong)?,
            default_limit: limit("DefaultTime").map_err(wrong)?,
            max_nodes: pairs.parse_number("MaxNodes").and_then(|n| u32::try_from(n).ok()),
            tier: pairs.parse_number("PriorityTier").and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
            exclusive: pairs.get("OverSubscribe").is_some_and(|v| v.eq_ignore_ascii_case("exclusive")),
            is_default: pairs.get("Default").is_some_and(|v| v.eq_ignore_ascii_case("yes")),
        });
    }
    if machine.partitions.is_empty() {
        let problem = "no partition; at the site: scontrol -o show partitions > partitions.txt".to_string();
        return Err(SiteError::Machine { place: name.to_string(), problem });
    }
    Ok(machine)
}

/// The settings that `scontrol show config` prints: `Key   = value`.
pub(super) fn parse_config(text: &[u8]) -> SiteMachine {
    let text = String::from_utf8_lossy(text);
    let get = |name: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_string())
    };
    let number = |key: &str| {
        let text = get(key).unwrap_or_default();
        text.split_whitespace().next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0)
    };
    let mode = get("PreemptMode").unwrap_or_default().to_ascii_uppercase();
    let preempts = get("PreemptType").is_some_and(|t| !t.ends_with("none") && t != "(null)");
    SiteMachine {
        cluster: get("ClusterName").filter(|name| !name.is_empty() && name != "(null)"),
        linear: get("SelectType").is_some_and(|t| t.eq_ignore_ascii_case("select/linear")),
        preempts_by_requeue: preempts && mode.contains("REQUEUE"),
        preempts_by_suspension: preempts && mode.contains("SUSPEND"),
        grace: number("OverTimeLimit") * 60 + number("KillWait") + 30,
        ..SiteMachine::default()
    }
}

/// Settings whose default depends on the release.
const BY_RELEASE: [&str; 3] = ["SelectType", "SelectTypeParameters", "PriorityType"];

/// Returns the lines that a `slurm.conf` lacks of what `scontrol show config` says, where its
/// default depends on the release; empty where it lacks none.
pub(super) fn lines_by_release(conf: &str, config: &str) -> String {
    let value = |name: &str| {
        let mut pairs = config.lines().filter_map(|line| line.split_once('='));
        let pair = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        pair.map(|(_, value)| value.trim()).filter(|value| !["", "(null)", "NONE", "N/A"].contains(value))
    };
    let has = |name: &str| {
        let key = |line: &str| {
            line.split('#').next().and_then(|line| line.split_once('=')).map(|(key, _)| key.trim().to_string())
        };
        conf.lines().filter_map(key).any(|key| key.eq_ignore_ascii_case(name))
    };
    let lacking: Vec<String> =
        BY_RELEASE.iter().filter(|key| !has(key)).filter_map(|key| Some(format!("{key}={}\n", value(key)?))).collect();
    if lacking.is_empty() {
        return String::new();
    }
    let release =
        value("SLURM_VERSION").map_or_else(|| "the cluster's Slurm".to_string(), |text| format!("Slurm {text}"));
    format!("# As {release} has it by default, by scontrol show config:\n{}", lacking.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_release_is_taken_from_the_cluster() {
        let config = "Configuration data as of 2026\nPriorityType            = priority/multifactor\n\
                      SelectType              = select/cons_tres\nSelectTypeParameters    = CR_CORE_MEMORY\n\
                      SLURM_VERSION           = 23.11.4\n";
        let lines = lines_by_release("ClusterName=a\n#SelectType=select/linear\nprioritytype=priority/basic\n", config);
        let expected = "# As Slurm 23.11.4 has it by default, by scontrol show config:\n\
                        SelectType=select/cons_tres\nSelectTypeParameters=CR_CORE_MEMORY\n";
        assert_eq!(lines, expected);
        assert_eq!(lines_by_release(&format!("PriorityType=priority/basic\n{lines}"), config), "");
        assert_eq!(lines_by_release("ClusterName=a\n", "SelectType = (null)\n"), "");
    }

    #[test]
    fn nodes_and_partitions_are_read() {
        let text = b"NodeName=n1 CPUTot=64 RealMemory=1000 Gres=gpu:a100:4(S:0-1) State=IDLE+DRAIN Partitions=a,b ThreadsPerCore=2 \n\
                     NodeName=n2 CPUEfctv=28 CPUTot=32 RealMemory=2000 CoreSpecCount=4 MemSpecLimit=500 Gres=(null) State=MIXED Partitions=b\n\
                     NodeName=f1 CPUTot=1 State=FUTURE\n";
        let machine = parse_nodes(text, "nodes.txt").expect("nodes");
        assert_eq!(machine.nodes.len(), 2);
        let first = &machine.nodes[0];
        assert_eq!(
            (first.cpus, first.gpus, first.memory_kb, first.down, first.threads_per_core),
            (64, 4, 1_024_000, true, 2)
        );
        assert_eq!((machine.nodes[1].cpus, machine.nodes[1].memory_kb), (28, 1_500 * 1_024));
        let parts: Vec<(&str, &[u32])> =
            machine.partitions.iter().map(|p| (p.name.as_str(), p.nodes.as_slice())).collect();
        assert_eq!(parts, [("a", &[0][..]), ("b", &[0, 1][..])]);
        let text = b"PartitionName=a Default=YES MaxTime=1-00:00:00 DefaultTime=NONE Nodes=n[1-2] OverSubscribe=EXCLUSIVE PriorityTier=3\n\
                     PartitionName=b MaxTime=UNLIMITED DefaultTime=01:00:00 Nodes=n2 MaxNodes=UNLIMITED\n";
        let machine = parse_partitions(text, "partitions.txt").expect("partitions");
        let a = &machine.partitions[0];
        assert_eq!(
            (a.max_limit, a.default_limit, a.exclusive, a.tier, a.is_default),
            (Some(86_400), None, true, 3, true)
        );
        assert_eq!((machine.partitions[1].max_limit, machine.partitions[1].default_limit), (None, Some(3_600)));
        assert_eq!(machine.partitions[1].nodes, [1]);
    }

    #[test]
    fn paragraphs_are_records_too() {
        let text = b"NodeName=n1 Arch=x86_64\n   CPUTot=4 RealMemory=10\n   State=IDLE\n\nNodeName=n2\n   CPUTot=8 State=IDLE\n";
        let machine = parse_nodes(text, "nodes.txt").expect("nodes");
        assert_eq!(machine.nodes.iter().map(|n| n.cpus).collect::<Vec<_>>(), [4, 8]);
    }

    #[test]
    fn settings_are_read() {
        let text = b"Configuration data as of 2026\nClusterName             = big\nKillWait                = 30 sec\n\
                     PreemptMode             = REQUEUE\nPreemptType             = preempt/partition_prio\nSelectType              = select/linear\n";
        let machine = parse_config(text);
        assert_eq!(
            (machine.cluster.as_deref(), machine.linear, machine.preempts_by_requeue),
            (Some("big"), true, true)
        );
        assert_eq!(machine.grace, 60);
    }
}
