//! `slurm.conf`: nodes, partitions and the settings that change what the scheduler decides.
//!
//! Reads what Slurm reads: keys without regard to case, `#` comments, lines that go on after a
//! backslash, `Include`, host lists, `DEFAULT` lines that hold for later ones. What is wrong is an
//! error with file and line; what Slurm knows and this model does not is a [`ConfRemark`] that says
//! what it may cost.
//!
//! ```
//! use drystone_slurm::conf::SlurmConf;
//!
//! let text = "ClusterName=example\n\
//!             SchedulerParameters=bf_interval=60,bf_continue\n\
//!             NodeName=DEFAULT Sockets=2 CoresPerSocket=16\n\
//!             NodeName=n[01-04]\n\
//!             PartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00\n";
//! let conf = SlurmConf::parse(text, "slurm.conf")?;
//! assert_eq!((conf.nodes.len(), conf.nodes[3].name.as_str(), conf.nodes[3].cpus), (4, "n04", 32));
//! assert_eq!(conf.partitions[0].nodes, [0, 1, 2, 3]);
//! assert_eq!(conf.partitions[0].max_minutes, Some(1440));
//! assert_eq!(conf.sched.bf_interval, 60);
//! # Ok::<(), drystone_slurm::conf::ConfError>(())
//! ```

mod billing;
mod error;
mod hostlist;
mod hosts;
mod knobs;
mod known;
mod lines;
mod node;
mod pairs;
mod parameters;
mod partition;
mod remark;
mod settings;
mod units;
mod windows;

pub use billing::{BilledAmounts, BillingSum, BillingWeights};
pub use error::{ConfError, ConfPlace};
pub use hostlist::{compress_names as compress_hostlist, expand_list as expand_hostlist};
pub use knobs::{Basis, KNOBS, Knob, KnobTrouble, SchedParams};
pub use node::ConfNode;
pub use parameters::merge_parameters;
pub use partition::{ConfPartition, Sharing};
pub use remark::{ConfRemark, Topic};
pub use settings::{EndSettings, Preempt, PreemptMode, PreemptType, PreemptWords, PriorityType, SelectUnit};
pub use units::{parse_minutes, parse_seconds};
pub use windows::{ReservedWindow, reserved_windows};

use lines::ConfLine;
use pairs::ConfPairs;
use settings::SettingLookup;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A setting outside nodes and partitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfSetting {
    /// Its key, as written.
    pub key: String,
    pub value: String,
    /// Position; of several the last one, which counts.
    pub place: ConfPlace,
}

/// Nodes that are out of service from the beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DownNodes {
    /// Their indices.
    pub nodes: Vec<u32>,
    /// `State`, as written.
    pub state: String,
    /// `Reason`, as written.
    pub reason: String,
}

/// A configuration that was read and checked.
#[derive(Clone, Debug)]
pub struct SlurmConf {
    /// `ClusterName`.
    pub cluster: Option<String>,
    /// The nodes in the order of their lines, which is the order in which Slurm numbers them.
    pub nodes: Vec<ConfNode>,
    /// The partitions in their order.
    pub partitions: Vec<ConfPartition>,
    /// `DownNodes` lines.
    pub down: Vec<DownNodes>,
    /// `SchedulerParameters`.
    pub sched: SchedParams,
    /// True for `sched/backfill`, false for `sched/builtin`, the main scheduler alone.
    pub backfill: bool,
    /// Unit of allocation.
    pub select: SelectUnit,
    /// True if memory is given out.
    pub counts_memory: bool,
    /// True if jobs of all partitions go to the least loaded nodes (`CR_LLN`).
    pub least_loaded: bool,
    /// Source of priorities.
    pub priority: PriorityType,
    /// Preemption.
    pub preempt: Preempt,
    /// Settings of the ends of jobs.
    pub ends: EndSettings,
    /// `AccountingStorageEnforce`, in small letters.
    pub enforce: Vec<String>,
    /// Every setting by its key in small letters.
    pub settings: BTreeMap<String, ConfSetting>,
    /// Remarks on the file: unknown keys, unmodelled settings, contradictions.
    pub remarks: Vec<ConfRemark>,
}

impl SlurmConf {
    /// Reads a file and all it includes.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is none, a value out of its range, a partition with
    /// nodes that are not there.
    pub fn read_file(path: impl AsRef<Path>) -> Result<SlurmConf, ConfError> {
        let path = path.as_ref();
        ConfReading::default().read_all(&lines::read_lines(path)?, path)
    }

    /// Reads a text; `name` is what errors call it, and its folder is where relative includes are
    /// looked up.
    ///
    /// # Errors
    /// As [`SlurmConf::read_file`].
    pub fn parse(text: &str, name: impl AsRef<Path>) -> Result<SlurmConf, ConfError> {
        let name = name.as_ref();
        ConfReading::default().read_all(&lines::parse(text, name)?, name)
    }

    /// The index of a node.
    pub fn find_node(&self, name: &str) -> Option<u32> {
        self.nodes.iter().position(|node| node.name == name).map(|index| index as u32)
    }

    pub fn find_partition(&self, name: &str) -> Option<&ConfPartition> {
        self.partitions.iter().find(|partition| partition.name == name)
    }

    /// Returns whether a node is out of service from the beginning.
    pub fn is_down(&self, node: u32) -> bool {
        self.nodes[node as usize].is_down() || self.down.iter().any(|down| down.nodes.contains(&node))
    }

    /// Returns whether accounting goes to a database, without which Slurm knows no associations.
    pub fn has_database(&self) -> bool {
        self.setting_value("AccountingStorageType").is_some_and(|t| t.to_ascii_lowercase().ends_with("slurmdbd"))
    }

    /// Returns whether limits of associations and QOS are enforced.
    pub fn enforces_limits(&self) -> bool {
        self.enforce.iter().any(|word| ["limits", "safe", "all"].contains(&word.as_str()))
    }

    /// A setting's value, without regard to the case of its key.
    pub fn setting_value(&self, key: &str) -> Option<&str> {
        self.settings.get(&key.to_ascii_lowercase()).map(|setting| setting.value.as_str())
    }
}

/// A file and all it includes as one text, without comments and continuations. It reads as the file
/// does, wherever it lies.
///
/// # Errors
/// A file that cannot be read, or includes itself.
pub fn flatten_file(path: impl AsRef<Path>) -> Result<String, ConfError> {
    let escape_text = |text: &str| text.replace('\\', "\\\\").replace('#', "\\#");
    Ok(lines::read_lines(path.as_ref())?.iter().map(|line| escape_text(&line.text) + "\n").collect())
}

/// Returns the files that a file includes, itself left out; none where one cannot be read.
pub fn included_files(path: impl AsRef<Path>) -> BTreeSet<PathBuf> {
    let path = path.as_ref();
    let lines = lines::read_lines(path).unwrap_or_default();
    lines.iter().map(|line| line.place.file.to_path_buf()).filter(|file| file != path).collect()
}

/// Settings read so far.
#[derive(Default)]
struct ConfReading {
    settings: BTreeMap<String, ConfSetting>,
    nodes: Vec<ConfNode>,
    partitions: Vec<ConfPartition>,
    /// `DownNodes` lines: hosts, state, reason, place.
    down: Vec<ConfPairs>,
    sets: Vec<ConfPairs>,
    node_defaults: ConfPairs,
    partition_defaults: ConfPairs,
    remarks: Vec<ConfRemark>,
}

impl ConfReading {
    fn read_all(mut self, lines: &[ConfLine], name: &Path) -> Result<SlurmConf, ConfError> {
        for line in lines {
            self.take_line(line)?;
        }
        self.finish_conf(name)
    }

    fn take_line(&mut self, line: &ConfLine) -> Result<(), ConfError> {
        let place = &line.place;
        let pairs = ConfPairs::split_line(&line.text, place)?;
        let Some((first, name)) = pairs.list.first() else { return Ok(()) };
        let is_default = name.eq_ignore_ascii_case("DEFAULT");
        if let Some(keys) = known::keys_of_line(first) {
            let is_known = |key: &str| keys.iter().any(|entry| entry.eq_ignore_ascii_case(key));
            let unknown = pairs.list.iter().filter(|(key, _)| !is_known(key));
            self.remarks.extend(unknown.map(|(key, _)| ConfRemark::unknown_key_of_line(key, first, place)));
        }
        match first.to_ascii_lowercase().as_str() {
            "nodename" if is_default => self.node_defaults = without_first(pairs).merged_over(&self.node_defaults),
            "nodename" => {
                self.nodes.extend(node::read_nodes(&pairs.merged_over(&self.node_defaults), place, &mut self.remarks)?)
            }
            "partitionname" if is_default => {
                self.partition_defaults = without_first(pairs).merged_over(&self.partition_defaults);
            }
            "partitionname" => self.take_partition(&pairs.merged_over(&self.partition_defaults), place)?,
            "downnodes" => self.down.push(pairs),
            "nodeset" => self.sets.push(pairs),
            "frontendname" | "switchname" => {}
            _ => self.take_settings(pairs, place),
        }
        Ok(())
    }

    fn take_partition(&mut self, pairs: &ConfPairs, place: &ConfPlace) -> Result<(), ConfError> {
        let partition = ConfPartition::read_partition(pairs, place)?;
        if let Some(earlier) = self.partitions.iter().find(|p| p.name == partition.name) {
            let problem = format!("the partition {} is there already, at {}", partition.name, earlier.place);
            return Err(ConfError::at_line(place, problem));
        }
        self.partitions.push(partition);
        Ok(())
    }

    fn take_settings(&mut self, pairs: ConfPairs, place: &ConfPlace) {
        for (key, value) in pairs.list {
            let low = key.to_ascii_lowercase();
            if !known::is_known(&key) {
                self.remarks.push(ConfRemark::unknown_key(&key, place));
            }
            let setting = ConfSetting { key, value, place: place.clone() };
            let adds_up = known::adds_up(&low);
            if let Some(earlier) = self.settings.insert(low, setting).filter(|_| !adds_up) {
                self.remarks.push(ConfRemark::repeated_setting(&earlier, place));
            }
        }
    }

    fn finish_conf(mut self, name: &Path) -> Result<SlurmConf, ConfError> {
        let settings = SettingLookup(&self.settings);
        let at = |(key, problem): (&'static str, String)| match self.settings.get(&key.to_ascii_lowercase()) {
            Some(setting) => ConfError::at_line(&setting.place, format!("{key}: {problem}")),
            None => ConfError::Whole { file: name.to_path_buf(), problem: format!("{key}: {problem}") },
        };
        let (sched_params, troubles) = SchedParams::parse(settings.text_of("SchedulerParameters").unwrap_or_default());
        let (priority, preempt) =
            (PriorityType::from_settings(&settings).map_err(at)?, Preempt::from_settings(&settings).map_err(at)?);
        let (ends, select) = (EndSettings::from_settings(&settings).map_err(at)?, settings.select_unit());
        // Without RealMemory a node has one megabyte: such a file does not mean memory.
        let has_memory = self.nodes.iter().any(|node| node.memory_mb + node.spec_memory_mb > 1);
        let counts_memory = settings.counts_memory() && (has_memory || settings.names_memory());
        let least_loaded = settings.least_loaded();
        let enforce = settings.text_of("AccountingStorageEnforce").unwrap_or_default().to_ascii_lowercase();
        let backfill = !settings.text_of("SchedulerType").is_some_and(|t| t.eq_ignore_ascii_case("sched/builtin"));
        let cluster = settings.text_of("ClusterName").map(String::from);
        let hosts = hosts::Hosts::new(&self.nodes, &self.sets)?;
        let mut partitions = std::mem::take(&mut self.partitions);
        for partition in &mut partitions {
            partition.nodes = hosts.resolve_list(&partition.hosts, &partition.place)?;
        }
        for set in self.sets.iter().filter(|set| self.nodes.iter().any(|node| set.get("NodeSet") == Some(&node.name))) {
            let name = set.get("NodeSet").unwrap_or_default();
            let text = format!("the NodeSet {name} has the name of a node; since 24.11 Slurm does not start with it");
            self.remarks.push(ConfRemark::at_place(Topic::Contradiction, set.place.as_ref(), text));
        }
        let down = self.down.iter().map(|pairs| hosts.parse_down_nodes(pairs)).collect::<Result<_, _>>()?;
        let mut conf = SlurmConf {
            cluster,
            nodes: self.nodes,
            partitions,
            down,
            sched: sched_params,
            backfill,
            select,
            counts_memory,
            least_loaded,
            priority,
            preempt,
            ends,
            enforce: enforce.split(',').filter(|e| !e.is_empty()).map(String::from).collect(),
            settings: self.settings,
            remarks: self.remarks,
        };
        let more = remark::find_remarks(&conf, &troubles);
        conf.remarks.extend(more);
        Ok(conf)
    }
}

/// The pairs behind `NodeName=DEFAULT`.
fn without_first(pairs: ConfPairs) -> ConfPairs {
    ConfPairs { list: pairs.list.into_iter().skip(1).collect(), ..pairs }
}
