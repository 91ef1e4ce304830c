//! `sinfo`: the nodes of the driven partitions.

use super::run::Runner;
use super::texts;
use crate::cluster::{ClusterError, NodeDevices, NodeFact, NodeState};
use std::collections::BTreeSet;

/// Width of a list of features: one that fills it is cut.
const FEATURES: u32 = 300;
/// Fields requested, by place, with their widths. `features_act` has small letters in every
/// release.
const FIELDS: [(&str, u32); 9] = [
    ("NodeList", 120),
    ("StateCompact", 20),
    ("CPUsState", 40),
    ("Memory", 20),
    ("AllocMem", 20),
    ("Gres", 200),
    ("GresUsed", 200),
    ("features_act", FEATURES),
    ("Weight", 20),
];

/// Reads them, in Slurm's order.
pub(super) fn read_nodes(run: &Runner, partitions: &[String]) -> Result<Vec<NodeFact>, ClusterError> {
    let partitions = partitions.join(",");
    let format = FIELDS.map(|(name, width)| format!("{name}:{width}|")).join(",");
    parse(&run.read_output("sinfo", &["-h", "-p", &partitions, "-N", "-O", &format])?)
}

pub(super) fn parse(listing: &str) -> Result<Vec<NodeFact>, ClusterError> {
    let mut names = BTreeSet::new();
    let mut nodes = Vec::new();
    for line in listing.lines() {
        let garbled_error = || ClusterError::Garbled(format!("sinfo: `{}`", line.escape_debug()));
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, state, procs, memory, memory_use, gres, gres_used, features, weight, ""] = fields[..] else {
            return Err(garbled_error());
        };
        let counts: Vec<u32> =
            procs.split('/').map(str::parse).collect::<Result<_, _>>().map_err(|_| garbled_error())?;
        let [busy, _idle, _other, total] = counts[..] else { return Err(garbled_error()) };
        // A node of several partitions is listed for each.
        if names.insert(name.to_string()) {
            let memory = memory.trim_end_matches('+').parse::<u64>().map_err(|_| garbled_error())?;
            let free = memory.saturating_sub(memory_use.parse().map_err(|_| garbled_error())?);
            nodes.push(NodeFact {
                name: name.into(),
                state: self::parse_state(state),
                procs: total,
                busy,
                memory: Some(free),
                whole_memory: Some(memory),
                devices: parse_devices(gres, gres_used),
                features: self::parse_features(features),
                weight: weight.parse().unwrap_or(1),
                windows: Vec::new(),
            });
        }
    }
    if nodes.is_empty() {
        return Err(ClusterError::Garbled("sinfo lists no node of these partitions: they are gone, or PrivateData=nodes hides them from this user, who is no operator".into()));
    }
    Ok(nodes)
}

/// Devices of a node, of each type and of any: `gpu:a100:4(S:0-1),fs:1`, and those in use,
/// `gpu:a100:2(IDX:0-1)`.
fn parse_devices(total_text: &str, use_text: &str) -> Vec<NodeDevices> {
    let (total_devices, used_devices) = (texts::parse_devices(total_text), texts::parse_devices(use_text));
    let busy = |name: &str| used_devices.iter().find(|(own, _)| own == name).map_or(0, |&(_, count)| count);
    total_devices
        .iter()
        .map(|(name, count)| NodeDevices { name: name.clone(), all: *count, busy: busy(name) })
        .collect()
}

/// Features of a node. The last one of a list that is cut is left out.
fn parse_features(text: &str) -> Vec<String> {
    let mut features: Vec<String> =
        text.split(',').filter(|name| !texts::is_nothing(name)).map(str::to_string).collect();
    if text.len() >= FEATURES as usize {
        features.pop();
    }
    features
}

/// Returns whether jobs start on such a node. The sign behind a state says more: `*` does not
/// answer, `$` is reserved for maintenance, `@` and `^` will be or is rebooted, `%` and `!` will be
/// or is switched off; `~` and `#` are nodes that Slurm switches on.
fn parse_state(text: &str) -> NodeState {
    let base = text.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let signs = &text[base.len()..];
    match base {
        "unk" => NodeState::Unknown,
        "idle" | "mix" | "alloc" | "comp" | "plnd" if !signs.contains(['*', '$', '@', '^', '%', '!']) => NodeState::Up,
        "maint" | "resv" => NodeState::Reserved,
        "idle" | "mix" | "alloc" | "comp" | "plnd" if signs == "$" => NodeState::Reserved,
        _ => NodeState::Out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read() {
        let nodes = parse(
            "n1 |mix |3/1/0/4 |8000 |3000 |(null)|gpu:0|fast,ib|5|\nn2|drng|2/0/2/4|8000|8000|||(null)|1|\nn1|mix|3/1/0/4|8000|3000|||||\n",
        )
        .expect("sound");
        let node = |name: &str, state, busy, memory, features: &[&str], weight| NodeFact {
            name: name.into(),
            state,
            procs: 4,
            busy,
            memory: Some(memory),
            whole_memory: Some(8_000),
            devices: Vec::new(),
            features: features.iter().map(|name| (*name).to_string()).collect(),
            weight,
            windows: Vec::new(),
        };
        let expected =
            [node("n1", NodeState::Up, 3, 5_000, &["fast", "ib"], 5), node("n2", NodeState::Out, 2, 0, &[], 1)];
        assert_eq!(nodes, expected);
        let cut = format!("{}x", "a,".repeat(FEATURES as usize / 2));
        assert!(parse_features(&cut).iter().all(|name| name == "a"), "the last one may be cut");
        for bad in ["n1|mix\n", "n1|mix|3/1/4|1|0|||||\n", "n1|mix|a/b/c/d|1|0|||||\n", "n1|mix|3/1/0/4|x|0|||||\n", ""]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn signs_count() {
        for (text, expected) in [
            ("idle", NodeState::Up),
            ("idle~", NodeState::Up),
            ("alloc#", NodeState::Up),
            ("idle*", NodeState::Out),
            ("mix$", NodeState::Reserved),
            ("mix$*", NodeState::Out),
            ("mix@", NodeState::Out),
            ("idle%", NodeState::Out),
            ("down*", NodeState::Out),
            ("drain", NodeState::Out),
            ("maint", NodeState::Reserved),
            ("resv", NodeState::Reserved),
            ("drain$", NodeState::Out),
            ("unk*", NodeState::Unknown),
        ] {
            assert_eq!(parse_state(text), expected, "{text}");
        }
    }
}
