//! `PartitionName` lines.

use super::error::{ConfError, ConfPlace};
use super::pairs::ConfPairs;
use super::{BillingWeights, units};
use std::collections::BTreeMap;

/// Sharing of a node's cores among jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// `NO`: a core has one job; jobs share nodes.
    #[default]
    No,
    /// `EXCLUSIVE`: a node has one job.
    Exclusive,
    /// `YES` or `FORCE`: so many jobs on each core.
    Over(u32),
}

#[derive(Clone, PartialEq, Debug)]
pub struct ConfPartition {
    pub name: String,
    /// `Nodes`, as written.
    pub hosts: String,
    /// Its nodes as indices into [`SlurmConf::nodes`](super::SlurmConf::nodes), ascending.
    pub nodes: Vec<u32>,
    /// True if jobs that name none go here.
    pub default: bool,
    /// True if its jobs may start.
    pub up: bool,
    /// Longest time limit in minutes; `None` without one.
    pub max_minutes: Option<i64>,
    /// Time limit in minutes of jobs that name none; `None`: the longest.
    pub default_minutes: Option<i64>,
    /// Most nodes of a job.
    pub max_nodes: Option<u32>,
    /// Fewest nodes of a job.
    pub min_nodes: u32,
    /// Most processors that jobs of this partition use on one node.
    pub max_cpus_per_node: Option<u32>,
    /// Most processors that jobs of this partition use on one socket.
    pub max_cpus_per_socket: Option<u32>,
    /// True if a node that runs its jobs runs jobs of one user only.
    pub exclusive_user: bool,
    /// Jobs of higher tiers are looked at first.
    pub tier: u32,
    /// Adds to the priority of its jobs, relative to the largest of all partitions.
    pub job_factor: u32,
    /// Sharing of nodes and cores among jobs.
    pub sharing: Sharing,
    /// Fate of its jobs when others need their place; as written.
    pub preempt_mode: Option<String>,
    /// Seconds that a preempted job has left.
    pub grace_seconds: i64,
    /// The QOS whose limits hold for all of its jobs.
    pub qos: Option<String>,
    /// Minutes that a job may run beyond its limit.
    pub over_minutes: Option<i64>,
    /// True if jobs that ask for it share cores (`OverSubscribe=YES`).
    pub shares_on_request: bool,
    /// True if its jobs go to the least loaded nodes (`LLN`).
    pub least_loaded: bool,
    /// `TRESBillingWeights`; `None`: a job is billed for its processors.
    pub billing: Option<BillingWeights>,
    /// Every other key, as written.
    pub others: BTreeMap<String, String>,
    /// Position of its line.
    pub place: ConfPlace,
}

/// Keys that fields hold.
const READ: &[&str] = &[
    "PartitionName",
    "Nodes",
    "Default",
    "State",
    "MaxTime",
    "DefaultTime",
    "MaxNodes",
    "MinNodes",
    "MaxCPUsPerNode",
    "MaxCPUsPerSocket",
    "PriorityTier",
    "PriorityJobFactor",
    "Priority",
    "OverSubscribe",
    "Shared",
    "PreemptMode",
    "GraceTime",
    "QOS",
    "OverTimeLimit",
    "ExclusiveUser",
    "LLN",
    "TRESBillingWeights",
];

impl ConfPartition {
    pub(crate) fn read_partition(line: &ConfPairs, place: &ConfPlace) -> Result<ConfPartition, ConfError> {
        let old_priority = parse_value(line, "Priority", units::parse_count, place)?;
        // The old word for both wins over the new ones.
        let tier = old_priority.or(parse_value(line, "PriorityTier", units::parse_count, place)?).unwrap_or(1);
        let job_factor =
            old_priority.or(parse_value(line, "PriorityJobFactor", units::parse_count, place)?).unwrap_or(1);
        let unread_pairs = line.list.iter().filter(|(key, _)| !READ.iter().any(|read| read.eq_ignore_ascii_case(key)));
        let minutes_or_none =
            |text: &str| if text.eq_ignore_ascii_case("none") { Ok(None) } else { units::parse_minutes(text) };
        Ok(ConfPartition {
            name: line.get("PartitionName").unwrap_or_default().to_string(),
            hosts: line.get("Nodes").unwrap_or_default().to_string(),
            nodes: Vec::new(),
            default: parse_value(line, "Default", units::yes_no, place)?.unwrap_or(false),
            up: parse_value(line, "State", parse_state, place)?.unwrap_or(true),
            max_minutes: parse_value(line, "MaxTime", units::parse_minutes, place)?.flatten(),
            default_minutes: parse_value(line, "DefaultTime", minutes_or_none, place)?.flatten(),
            max_nodes: parse_value(line, "MaxNodes", units::parse_limit, place)?.flatten(),
            min_nodes: parse_value(line, "MinNodes", units::parse_limit, place)?.flatten().unwrap_or(0),
            max_cpus_per_node: parse_value(line, "MaxCPUsPerNode", units::parse_limit, place)?.flatten(),
            max_cpus_per_socket: parse_value(line, "MaxCPUsPerSocket", units::parse_limit, place)?.flatten(),
            exclusive_user: parse_value(line, "ExclusiveUser", units::yes_no, place)?.unwrap_or(false),
            tier,
            job_factor,
            sharing: parse_value(line, "OverSubscribe", parse_sharing, place)?
                .or(parse_value(line, "Shared", parse_sharing, place)?)
                .unwrap_or_default(),
            preempt_mode: line.get("PreemptMode").map(String::from),
            grace_seconds: parse_value(line, "GraceTime", units::parse_limit, place)?
                .map_or(0, |grace| grace.map_or(i64::from(u32::MAX), i64::from)),
            qos: line.get("QOS").filter(|q| !q.is_empty()).map(String::from),
            over_minutes: parse_value(line, "OverTimeLimit", units::parse_minutes, place)?.flatten(),
            shares_on_request: ["OverSubscribe", "Shared"]
                .into_iter()
                .filter_map(|key| line.get(key))
                .any(|text| text.split(':').next().is_some_and(|word| word.eq_ignore_ascii_case("yes"))),
            least_loaded: parse_value(line, "LLN", units::yes_no, place)?.unwrap_or(false),
            billing: parse_value(line, "TRESBillingWeights", BillingWeights::parse_weights, place)?
                .filter(|w| !w.list.is_empty()),
            others: unread_pairs.cloned().collect(),
            place: place.clone(),
        })
    }
}

fn parse_value<T>(
    line: &ConfPairs,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
    place: &ConfPlace,
) -> Result<Option<T>, ConfError> {
    let key_error = |problem| ConfError::at_line(place, format!("{key}: {problem}"));
    line.get(key).map(|text| read(text).map_err(key_error)).transpose()
}

/// Parses a state, of which Slurm compares the beginning; returns whether jobs may start.
fn parse_state(text: &str) -> Result<bool, String> {
    let begins = |word: &str| text.to_ascii_lowercase().starts_with(word);
    match () {
        () if begins("up") => Ok(true),
        () if ["down", "drain", "inactive"].into_iter().any(begins) => Ok(false),
        () => Err(format!("`{text}` is no state; expected UP, DOWN, DRAIN or INACTIVE")),
    }
}

fn parse_sharing(text: &str) -> Result<Sharing, String> {
    let (word, jobs) = text.split_once(':').unwrap_or((text, "4"));
    let jobs = units::parse_count(jobs)?.max(1);
    match word.to_ascii_lowercase().as_str() {
        "no" => Ok(Sharing::No),
        "exclusive" => Ok(Sharing::Exclusive),
        // Jobs share only where they ask for it.
        "yes" => Ok(Sharing::No),
        "force" => Ok(if jobs == 1 { Sharing::No } else { Sharing::Over(jobs) }),
        _ => Err(format!("`{text}` is none of NO, EXCLUSIVE, YES[:count], FORCE[:count]")),
    }
}
