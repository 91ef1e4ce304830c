//! The manifest of a site: what was read and how, pools, partitions, nodes, window, rules.

use crate::machine::PoolUnit;
use crate::rules::{Count, Example, ImportRule, RuleEffect, RuleTally};
use serde::{Deserialize, Serialize};

/// The version of the format of a site's folder.
pub const SCHEMA: &str = "drystone/site/2";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRead {
    /// Its name, as it was given.
    pub name: String,
    /// Kind of the rule.
    pub kind: String,
    /// Rows or records of jobs in it.
    pub rows: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuleCount {
    pub name: String,
    pub effect: RuleEffect,
    pub meaning: String,
    /// Rows of accounting that it applied to.
    pub rows: u64,
    pub jobs: u64,
    /// Processors times seconds that these record.
    pub core_seconds: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

impl RuleCount {
    fn from_entry((rule, count): (ImportRule, &Count)) -> RuleCount {
        let Count { rows, jobs, core_seconds, examples } = count.clone();
        let meaning_text = rule.meaning().to_string();
        RuleCount {
            name: rule.name().to_string(),
            effect: rule.effect(),
            meaning: meaning_text,
            rows,
            jobs,
            core_seconds,
            examples,
        }
    }
}

/// A pool: nodes that no partition shares with another pool, and what is counted of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PoolSummary {
    /// Names of its partitions.
    pub name: String,
    pub unit: PoolUnit,
    pub units: u32,
    /// Processors of one, on average.
    pub cpus_per_unit: f64,
    /// Its nodes; 0 where none is known.
    pub nodes: u32,
    /// Their processors.
    pub cpus: u64,
    pub gpus: u64,
    /// True if a description gives its size; otherwise it is what jobs show, which
    /// is a lower bound.
    pub described: bool,
    pub partitions: Vec<String>,
    pub jobs: u64,
    /// Processors times seconds of those that ran.
    pub core_seconds: u64,
    /// The part of these that is whole nodes, in percent.
    pub whole_nodes: f64,
    /// The part of jobs that hold GPUs, in percent.
    pub with_gpus: f64,
    /// True if sizes of jobs are their dominant shares.
    #[serde(default)]
    pub dominant: bool,
    /// Number of jobs whose dominant share is of processors, where GPUs are counted.
    #[serde(default)]
    pub by_cpus: u64,
    /// Jobs whose dominant share is of memory.
    pub by_memory: u64,
    /// Number of jobs whose dominant share is of GPUs, where processors are counted.
    pub by_gpus: u64,
    /// Excess of dominant shares over the units that jobs hold, in percent of their units times
    /// seconds.
    pub inflated: f64,
    /// Moments looked at at which a job waited whose size fitted into what was free.
    pub packing_fits: u64,
    /// Those of them at which no set of nodes had room for it.
    pub packing_gaps: u64,
    /// Units times seconds that were out, in percent of all within the window.
    pub out: f64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PartitionSummary {
    pub name: String,
    pub pool: Option<String>,
    pub nodes: u32,
    /// Longest limit of its jobs, in seconds.
    pub max_limit: Option<u32>,
    /// Limit of its jobs without one, in seconds.
    pub default_limit: Option<u32>,
    /// Most nodes of a job; named, not simulated.
    pub max_nodes: Option<u32>,
    /// Its tier; named, and simulated by Slurm's own policy only.
    pub tier: u32,
    /// True if its jobs have their nodes for themselves.
    pub exclusive: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeSummary {
    pub name: String,
    /// Processors; 0 where unknown.
    pub cpus: u32,
    /// Memory in kilobytes; 0 where unknown.
    pub memory_kb: u64,
    pub gpus: u32,
    /// Generic resources as Slurm writes them, `gpu:a100:4`; empty for none.
    pub gres: String,
    pub pool: Option<String>,
    /// True if a description names it.
    pub described: bool,
}

/// Comments of a log in Standard Workload Format that a site was made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogComment {
    /// Records before it.
    pub after: u64,
    /// The line, each byte as the character of its number.
    pub line: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteSetting {
    pub name: String,
    pub value: String,
}

/// Manifest of a site: `site.json`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// The format's version.
    pub schema: String,
    /// Name of the cluster; empty where unknown.
    pub cluster: String,
    /// Time zone of the accounting; `UTC` where times were seconds.
    pub time_zone: String,
    pub files: Vec<FileRead>,
    /// Versions of Slurm that wrote it, where it says so.
    pub slurm_versions: Vec<String>,
    /// Columns that were there and not needed.
    pub ignored_columns: Vec<String>,
    /// Choices of the import.
    pub options: Vec<SiteSetting>,
    /// Rows of jobs that were read.
    pub rows: u64,
    /// Those that could not be used.
    pub bad_rows: u64,
    pub jobs: u64,
    pub users: u64,
    pub window: MeasuredWindow,
    /// Seconds that jobs may run beyond their limit.
    pub grace: u32,
    /// Sources of the machine.
    pub evidence: Vec<String>,
    /// Its pools, the largest first.
    pub pools: Vec<PoolSummary>,
    pub partitions: Vec<PartitionSummary>,
    /// Every rule that applied.
    pub rules: Vec<RuleCount>,
    pub warnings: Vec<String>,
    /// True if a `slurm.conf` describes its nodes, so that it can be simulated on them.
    #[serde(default)]
    pub on_nodes: bool,
    /// Limits of QOS, accounts and users that its jobs share.
    #[serde(default, skip_serializing_if = "is_none")]
    pub limits: u32,
    /// True if names are keyed numbers.
    pub anonymous: bool,
    /// Of a log in Standard Workload Format: its comments.
    pub swf: Option<Vec<LogComment>>,
}

impl Manifest {
    pub(crate) fn count_rules(&mut self, tally: &RuleTally) {
        self.rules = tally.iter().map(RuleCount::from_entry).collect();
        self.bad_rows = tally.bad_rows();
    }

    /// Returns whether the waits of nearly all jobs are known: of at most one in a hundred the
    /// submission is unknown. Where they are not, nothing holds that is said of waits, simulated
    /// ones included: arrivals that are starts have the recorded schedule in them.
    pub fn waits_known(&self) -> bool {
        self.rule_count(ImportRule::NoSubmit).is_none_or(|unknown| unknown.jobs * 100 <= self.jobs)
    }

    /// Returns whether submissions of half of the jobs are known, so that these can be judged.
    pub fn waits_half_known(&self) -> bool {
        self.rule_count(ImportRule::NoSubmit).is_none_or(|unknown| unknown.jobs * 2 <= self.jobs)
    }

    /// Returns the number of times that a rule applied.
    pub fn rule_count(&self, rule: ImportRule) -> Option<&RuleCount> {
        self.rules.iter().find(|count| count.name == rule.name())
    }
}
/// Part that is simulated, and the part of it that can be measured. Times are seconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MeasuredWindow {
    /// Its beginning: jobs that run then are there already, jobs that wait are in the queue.
    pub from: i64,
    pub until: i64,
    /// Evidence for both.
    pub evidence: String,
    /// Jobs were chosen by their ends: those that ran or waited at the end are missing.
    pub ended_only: bool,
    /// Jobs that run at the beginning.
    pub running_at_start: u64,
    /// Jobs that wait at the beginning.
    pub queued_at_start: u64,
    pub running_at_end: u64,
    /// Jobs that wait at the end.
    pub queued_at_end: u64,
    /// Run time that 99 of 100 jobs do not exceed, in seconds.
    pub long_run: i64,
    /// Beginning and end of measurements, by arrival.
    pub measure_from: i64,
    /// The end of that.
    pub measure_until: i64,
    /// Bias at the edges, in words.
    pub bias: Vec<String>,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}
