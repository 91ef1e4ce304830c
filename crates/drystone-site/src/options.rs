//! Choices of an import, each with its name.

use crate::ranges::NodeRanges;
use drystone::model::Setting;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

drystone::word_enum! {
    /// Arrival of a job.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Arrive {
        /// Time of eligibility: earlier waits are not the scheduler's doing.
        #[default]
        Eligible = "eligible",
        Submit = "submit",
    }
}

drystone::word_enum! {
    /// Size of a job.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Size {
        /// Allocated size, of jobs that ran.
        #[default]
        Allocated = "allocated",
        /// Requested size.
        Requested = "requested",
    }
}

drystone::word_enum! {
    /// Units of pools and jobs.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Counting {
        /// Of each pool what its jobs hold: whole nodes where nearly all work is of these, GPUs
        /// where nearly all jobs hold them, else processors, with the dominant share of each job.
        #[default]
        Auto = "auto",
        /// Units by use; where GPUs are counted each job also has its dominant share of these.
        Dominant = "dominant",
        /// Processors that jobs hold, whatever memory and GPUs they hold.
        Cpus = "cpus",
        /// GPUs, in pools that have some.
        Gpus = "gpus",
        Nodes = "nodes",
    }
}

drystone::word_enum! {
    /// Treatment of jobs that never ran.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Withdraw {
        /// They wait, and leave when they left.
        #[default]
        Leave = "leave",
        /// They are left out.
        Drop = "drop",
    }
}

drystone::word_enum! {
    /// Treatment of arrays that run few tasks at once.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Throttle {
        /// The later tasks arrive when an earlier one has ended, where a row says so or starts and
        /// ends show it.
        #[default]
        Infer = "infer",
        /// Throttled only where a row says so.
        Said = "said",
        /// Nothing: all tasks arrive at once.
        Off = "off",
    }
}

drystone::word_enum! {
    /// Treatment of the components of heterogeneous jobs.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Het {
        /// One job, where they share a pool.
        #[default]
        Join = "join",
        /// A job each.
        Split = "split",
    }
}

drystone::word_enum! {
    /// Treatment of attempts that preemption ended.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Preempted {
        /// They and the last attempt are one job: another policy would not have preempted it.
        #[default]
        Merge = "merge",
        /// A job each.
        Separate = "separate",
    }
}

drystone::word_enum! {
    /// Treatment of jobs that need more than their pool ever had.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Wide {
        /// They are left out.
        #[default]
        Drop = "drop",
        /// They are an error.
        Error = "error",
    }
}

/// Amount of work done at once. Nothing that comes of an import depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImportEffort {
    /// Threads that read text of `sacct`; 0: as many as there are processors, eight at most.
    pub threads: usize,
    /// Bytes that each takes at once; 0: four megabytes.
    pub block: usize,
}

impl ImportEffort {
    pub(crate) fn threads(self) -> usize {
        if self.threads == 0 { crate::watch::count_threads() } else { self.threads }
    }
}

/// Choices of an import. [`ImportOptions::default`] is what `docs/accounting.md` describes.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Layout of text without a header: `xdmod`, or a list of columns.
    pub columns: Option<String>,
    /// Column delimiter, where the header does not reveal it.
    pub delimiter: Option<String>,
    /// IANA name of the zone of local times.
    pub time_zone: Option<String>,
    /// Notation of times, beside the usual forms; as for `strftime`.
    pub time_format: Option<String>,
    /// Only rows of this cluster.
    pub cluster: Option<String>,
    /// Descriptions of the machine.
    pub machine: Vec<PathBuf>,
    /// Events and reservations.
    pub events: Vec<PathBuf>,
    /// Associations and QOS.
    pub accounts: Vec<PathBuf>,
    /// Takes what is there of files that end in their middle.
    pub partial: bool,
    /// Arrival of a job.
    pub arrive: Arrive,
    pub size: Size,
    /// Units of pools and jobs.
    pub count: Counting,
    /// Treatment of jobs that never ran.
    pub withdraw: Withdraw,
    /// Treatment of arrays that run few tasks at once.
    pub throttle: Throttle,
    /// Treatment of the components of heterogeneous jobs.
    pub het: Het,
    /// Treatment of attempts that preemption ended.
    pub preempted: Preempted,
    /// Treatment of jobs that need more than their pool ever had.
    pub wide: Wide,
    /// Beginning of the window: a date or time of the site, or seconds since 1970.
    pub from: Option<String>,
    pub until: Option<String>,
    /// Collection of the ranges of nodes that jobs ask for; `None` if they are not needed.
    pub node_ranges: Option<NodeRanges>,
    /// Amount of work done at once.
    pub effort: ImportEffort,
}

impl ImportOptions {
    /// The choices as settings, for reports.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        let mut add =
            |name: &str, value: &str| settings.push(Setting { name: name.to_string(), value: value.to_string() });
        for (name, value) in [
            ("columns", &self.columns),
            ("time-zone", &self.time_zone),
            ("time-format", &self.time_format),
            ("cluster", &self.cluster),
            ("from", &self.from),
            ("until", &self.until),
        ] {
            if let Some(value) = value {
                add(name, value);
            }
        }
        add("arrive", self.arrive.name());
        add("size", self.size.name());
        add("count", self.count.name());
        add("withdraw", self.withdraw.name());
        add("throttle", self.throttle.name());
        add("het", self.het.name());
        add("preempted", self.preempted.name());
        if self.partial {
            add("partial", "yes");
        }
        settings
    }
}

/// The choices that finding jobs takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobChoices {
    pub(crate) merge_preempted: bool,
    pub(crate) preempts_by_requeue: bool,
    pub(crate) requested_size: bool,
    pub(crate) arrive_at_submit: bool,
}
