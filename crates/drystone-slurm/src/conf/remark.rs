//! Remarks on a configuration: keys that are not known here, settings that the model leaves out,
//! contradictions.

use super::{ConfPlace, ConfSetting, KnobTrouble, PreemptType, Sharing, SlurmConf};
use std::fmt;

/// Topic of a remark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Topic {
    /// A key or a word that this program does not know; Slurm may.
    Unknown,
    /// Slurm refuses the value and goes on with the default.
    Refused,
    /// It changes decisions and is not modelled; the text says what that may cost.
    NotModelled,
    /// The file leaves open what releases of Slurm have different defaults for.
    Assumed,
    /// Two settings that do not go together.
    Contradiction,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Topic::Unknown => "unknown",
            Topic::Refused => "refused",
            Topic::NotModelled => "not modelled",
            Topic::Assumed => "assumed",
            Topic::Contradiction => "contradiction",
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfRemark {
    pub topic: Topic,
    /// Position, if it is about one line.
    pub place: Option<ConfPlace>,
    pub text: String,
}

impl fmt::Display for ConfRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {}", self.topic, self.text)
    }
}

impl ConfRemark {
    pub(super) fn at_place(topic: Topic, place: Option<&ConfPlace>, text: impl Into<String>) -> ConfRemark {
        ConfRemark { topic, place: place.cloned(), text: text.into() }
    }

    pub(super) fn unknown_key(key: &str, place: &ConfPlace) -> ConfRemark {
        ConfRemark::at_place(
            Topic::Unknown,
            Some(place),
            format!("the key {key} is not known here, and changes nothing in the model"),
        )
    }

    pub(super) fn unknown_key_of_line(key: &str, line: &str, place: &ConfPlace) -> ConfRemark {
        let text = format!("the key {key} is not known here on lines of {line}, and changes nothing in the model");
        ConfRemark::at_place(Topic::Unknown, Some(place), text)
    }

    pub(super) fn repeated_setting(earlier: &ConfSetting, place: &ConfPlace) -> ConfRemark {
        let text = format!("{} is at line {} as well; the later line counts", earlier.key, earlier.place.line);
        ConfRemark::at_place(Topic::Contradiction, Some(place), text)
    }
}

/// Plugins and settings that change decisions and are not modelled: key, a value that is harmless,
/// what it may cost.
const LEFT_OUT: &[(&str, &[&str], &str)] = &[
    ("TopologyPlugin", &["topology/none", "topology/default", "topology/flat"], "the nodes of jobs, and plans"),
    ("PrioritySiteFactorPlugin", &["none", "site_factor/none"], "the order of the queue"),
    ("JobSubmitPlugins", &["none"], "jobs that a plugin changes or refuses when they are submitted"),
    ("BurstBufferType", &["burst_buffer/none"], "starts that wait for data"),
    ("SuspendProgram", &[], "starts on nodes that have to boot"),
    ("PrologSlurmctld", &[], "the time from a start to the job's first line"),
    ("MCSPlugin", &["mcs/none", "none"], "starts beside jobs of another group"),
    ("ResvOverRun", &["0"], "starts after the end of a reservation that its jobs overrun"),
    ("JobDefaults", &[], "processors and memory of jobs that ask for GPUs and say nothing of these"),
    (
        "PriorityUsageResetPeriod",
        &["NONE", "NOW"],
        "the order of the queue after a day on which use is forgotten, unless slurm(begins=DATE) says on which day the log begins",
    ),
];

/// Words of a list that change decisions and are not modelled: key, word, what it may cost.
const WORDS_LEFT_OUT: &[(&str, &str, &str)] = &[
    ("SelectTypeParameters", "CR_SOCKET", "jobs are given cores, which packs more of them on a node"),
    ("SelectTypeParameters", "CR_SOCKET_MEMORY", "jobs are given cores, which packs more of them on a node"),
    ("SelectTypeParameters", "CR_BOARD", "jobs are given cores, which packs more of them on a node"),
    ("SelectTypeParameters", "CR_BOARD_MEMORY", "jobs are given cores, which packs more of them on a node"),
    ("SelectTypeParameters", "CR_ONE_TASK_PER_CORE", "a core with several threads may have several tasks"),
    ("SelectTypeParameters", "CR_PACK_NODES", "the nodes of jobs that ask for more nodes than they need"),
    ("SelectTypeParameters", "LL_SHARED_GRES", "the devices of jobs that share them"),
    ("SelectTypeParameters", "MULTIPLE_SHARING_GRES_PJ", "starts of jobs that share devices"),
    ("SelectTypeParameters", "ONE_TASK_PER_SHARING_GRES", "starts of jobs that share devices"),
    ("SelectTypeParameters", "ENFORCE_BINDING_GRES", "starts of jobs whose devices are far from their cores"),
    ("PriorityFlags", "ACCRUE_ALWAYS", "a job has no age before it could start"),
    ("PriorityFlags", "CALCULATE_RUNNING", "running jobs keep the priority with which they started"),
    ("PreemptMode", "CHECKPOINT", "jobs are cancelled, as those without a checkpoint were"),
    ("PreemptMode", "GANG", "jobs do not take turns on the same processors"),
    ("PreemptMode", "SUSPEND", "jobs that others would suspend run on, and the others wait"),
    ("PreemptType", "preempt/job_prio", "no job is preempted"),
    ("PreemptParameters", "send_user_signal", "the time that preempted jobs take to end"),
    ("PreemptParameters", "reclaim_licenses", "no job is preempted for its licences"),
    ("PreemptParameters", "suspend_grace_time", "the time that preempted jobs take to stop"),
];

/// Keys of partitions that change decisions and are not modelled, with values that are harmless
/// and what they may cost.
const PARTITION_LEFT_OUT: &[(&str, &[&str], &str)] = &[
    ("SelectTypeParameters", &["none", "CR_Core", "CR_Core_Memory"], "jobs are given the unit of the whole cluster"),
    ("ReqResv", &["no"], "jobs start without a reservation"),
    ("ExclusiveTopo", &["no"], "its jobs share the blocks of the topology"),
    ("JobDefaults", &[], "processors and memory of jobs that ask for GPUs and say nothing of these"),
    ("Alternate", &[], "jobs of a partition that is out wait for it"),
    ("Topology", &[], "the nodes of jobs, and plans"),
    ("SuspendTime", &["-1", "infinite"], "starts on nodes that have to boot"),
];

/// Keys of partitions that say who may use them.
const PARTITION_ACCESS: &[&str] = &[
    "AllowAccounts",
    "AllowGroups",
    "AllowQos",
    "DenyAccounts",
    "DenyGroups",
    "DenyQos",
    "AllocNodes",
    "RootOnly",
    "DisableRootJobs",
];

impl SlurmConf {
    /// Settings that do not go together, as they are now, in sentences; those of lines that stand
    /// twice are left out.
    pub fn contradictions(&self) -> Vec<String> {
        let contradictory = find_remarks(self, &[]).into_iter().filter(|remark| remark.topic == Topic::Contradiction);
        contradictory.map(|remark| remark.text).collect()
    }
}

pub(super) fn find_remarks(conf: &SlurmConf, troubles: &[KnobTrouble]) -> Vec<ConfRemark> {
    let mut remarks = Vec::new();
    remark_sched(conf, troubles, &mut remarks);
    remark_plugins(conf, &mut remarks);
    remark_partitions(conf, &mut remarks);
    remark_words(conf, &mut remarks);
    partition_keys(conf, &mut remarks);
    remarks
}

/// Words of lists, a remark for each.
fn remark_words(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    for (key, word, cost) in WORDS_LEFT_OUT {
        let Some(setting) = conf.settings.get(&key.to_ascii_lowercase()) else { continue };
        let is_same_word = |own: &str| own.split('=').next().unwrap_or_default().trim().eq_ignore_ascii_case(word);
        // Without PreemptType the mode changes nothing, but for jobs that take turns.
        let idle = *key == "PreemptMode" && conf.preempt.by == PreemptType::None && *word != "GANG";
        if setting.value.split(',').any(is_same_word) && !idle {
            let text = format!("{}={word}; {cost}", setting.key);
            remarks.push(ConfRemark::at_place(Topic::NotModelled, Some(&setting.place), text));
        }
    }
    let mut say = |topic, key: &str, text: String| {
        let place = conf.settings.get(key).map(|setting| &setting.place);
        remarks.push(ConfRemark::at_place(topic, place, text));
    };
    let is_known = |name: &str| ["cpu", "mem", "node"].contains(&name) || name.starts_with("gres/");
    let weights = conf.priority.tres.iter().filter(|(name, weight)| **weight > 0.0 && !is_known(name));
    let weights: Vec<&str> = weights.map(|(name, _)| name.as_str()).collect();
    if !weights.is_empty() {
        let text = format!("PriorityWeightTRES of {}; it counts nothing in priorities", weights.join(", "));
        say(Topic::NotModelled, "priorityweighttres", text);
    }
    if conf.setting_value("SelectType").is_none() && !conf.nodes.is_empty() {
        let modelled_resources = if conf.counts_memory { "cores and memory" } else { "cores" };
        let text = format!(
            "no SelectType: {modelled_resources} of nodes are given out, as by select/cons_tres, the default of newer releases; up to \
             23.02 it was select/linear, whole nodes: write the one that the cluster uses"
        );
        say(Topic::Assumed, "selecttype", text);
    }
    if conf.setting_value("PriorityType").is_none()
        && let Some(weight) = conf.settings.values().find(|setting| {
            setting.key.to_ascii_lowercase().starts_with("priorityweight") && setting.value.trim() != "0"
        })
    {
        let text = format!(
            "{} without a PriorityType: first come, first served, as by priority/basic, the default up to 23.02; from \
             23.11 on it is priority/multifactor, which weighs: write the one that the cluster uses",
            weight.key
        );
        remarks.push(ConfRemark::at_place(Topic::Assumed, Some(&weight.place), text));
    }
    let parts = ["shard", "mps"].map(|part| {
        let has = |gres: &str| gres.split(',').any(|entry| entry.split(':').next() == Some(part));
        (part, conf.nodes.iter().find(|node| has(&node.gres)))
    });
    for (part, node) in parts.iter().filter_map(|(part, node)| Some((part, (*node)?))) {
        let text = format!("Gres={part}; parts of GPUs are not given out: jobs that share one are taken as without it");
        remarks.push(ConfRemark::at_place(Topic::NotModelled, Some(&node.place), text));
    }
}

/// Keys of partitions, a remark for each key.
fn partition_keys(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    let mut say = |key: &str, meant: &dyn Fn(&super::ConfPartition) -> bool, text: &dyn Fn(&str) -> String| {
        let with: Vec<&super::ConfPartition> = conf.partitions.iter().filter(|p| meant(p)).collect();
        let Some(first) = with.first() else { return };
        let names = match with.len() {
            1 => first.name.clone(),
            more => format!("{} and {} more", first.name, more - 1),
        };
        debug_assert!(!key.is_empty());
        remarks.push(ConfRemark::at_place(Topic::NotModelled, Some(&first.place), format!("{names}: {}", text(key))));
    };
    let other_value = |p: &super::ConfPartition, key: &str| {
        p.others.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value.clone())
    };
    for (key, harmless, cost) in PARTITION_LEFT_OUT {
        let meant = |p: &super::ConfPartition| {
            other_value(p, key).is_some_and(|value| !harmless.iter().any(|own| own.eq_ignore_ascii_case(&value)))
        };
        say(key, &meant, &|key| format!("{key}; {cost}"));
    }
    let open = |value: &str| ["all", "no"].iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_closed = |p: &super::ConfPartition, key: &str| other_value(p, key).is_some_and(|value| !open(&value));
    let keys: Vec<&str> =
        PARTITION_ACCESS.iter().copied().filter(|key| conf.partitions.iter().any(|p| is_closed(p, key))).collect();
    say(&keys.join(", "), &|p| keys.iter().any(|key| is_closed(p, key)), &|keys| {
        format!("{keys}; jobs are taken as recorded, without a look at who may use a partition")
    });
    let sharing = |p: &super::ConfPartition| p.shares_on_request;
    say("OverSubscribe=YES", &sharing, &|key| format!("{key}; jobs that ask for it get cores of their own"));
    for name in unbilled_names(conf) {
        let meant = |p: &super::ConfPartition| p.billing.iter().any(|own| own.left_out().any(|own| own == name));
        say(&name, &meant, &|name| format!("TRESBillingWeights of {name}; jobs are not billed for it"));
    }
}

/// Names with a weight that are not counted.
fn unbilled_names(conf: &SlurmConf) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in conf.partitions.iter().filter_map(|p| p.billing.as_ref()).flat_map(|weights| weights.left_out()) {
        if !names.iter().any(|own| own == name) {
            names.push(name.to_string());
        }
    }
    names
}

fn remark_sched(conf: &SlurmConf, troubles: &[KnobTrouble], remarks: &mut Vec<ConfRemark>) {
    let place = conf.settings.get("schedulerparameters").map(|setting| &setting.place);
    for trouble in troubles {
        remarks.push(match trouble {
            KnobTrouble::Unknown(name) => {
                let text = format!("SchedulerParameters: {name} is not known here, and changes nothing in the model");
                ConfRemark::at_place(Topic::Unknown, place, text)
            }
            KnobTrouble::Ignored(name, cost) => ConfRemark::at_place(
                Topic::NotModelled,
                place,
                format!("SchedulerParameters: {name}; it may cost: {cost}"),
            ),
            KnobTrouble::Value(problem) => {
                ConfRemark::at_place(Topic::Refused, place, format!("SchedulerParameters: {problem}"))
            }
        });
    }
    let longest = conf.partitions.iter().filter_map(|p| p.max_minutes.map(|m| (m, p))).max_by_key(|&(m, _)| m);
    if let Some((minutes, partition)) = longest.filter(|&(m, _)| conf.backfill && m > conf.sched.bf_window) {
        let text = format!(
            "bf_window={} min is below MaxTime={minutes} min of the partition {}: jobs planned beyond the window are not protected",
            conf.sched.bf_window, partition.name
        );
        remarks.push(ConfRemark::at_place(Topic::Contradiction, place, text));
    }
}

fn remark_plugins(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    for (key, harmless, cost) in LEFT_OUT {
        let Some(setting) = conf.settings.get(&key.to_ascii_lowercase()) else { continue };
        if !setting.value.is_empty() && !harmless.iter().any(|h| h.eq_ignore_ascii_case(&setting.value)) {
            let text = format!("{}={}; it may cost: {cost}", setting.key, setting.value);
            remarks.push(ConfRemark::at_place(Topic::NotModelled, Some(&setting.place), text));
        }
    }
    let mut say = |key: &str, text: String| {
        let place = conf.settings.get(key).map(|setting| &setting.place);
        remarks.push(ConfRemark::at_place(Topic::NotModelled, place, text));
    };
    let known_plugins = ["priority/multifactor", "priority/basic"];
    if let Some(kind) =
        conf.setting_value("PriorityType").filter(|t| !known_plugins.iter().any(|k| k.eq_ignore_ascii_case(t)))
    {
        say("prioritytype", format!("PriorityType={kind}; the queue is first come, first served instead"));
    }
    let scheds = ["sched/backfill", "sched/builtin"];
    if let Some(kind) =
        conf.setting_value("SchedulerType").filter(|t| !scheds.iter().any(|k| k.eq_ignore_ascii_case(t)))
    {
        say("schedulertype", format!("SchedulerType={kind}; sched/backfill is simulated instead"));
    }
    if conf.ends.complete_wait > 0 {
        let cost = "starts in the seconds after an end, in which neither scheduler works";
        say("completewait", format!("CompleteWait={}; it may cost: {cost}", conf.ends.complete_wait));
    }
    let kinds = ["select/cons_tres", "select/cons_res", "select/linear", "select/cray_aries", "select/serial"];
    if let Some(kind) = conf.setting_value("SelectType").filter(|t| !kinds.iter().any(|k| k.eq_ignore_ascii_case(t))) {
        say("selecttype", format!("SelectType={kind}; nodes are given out as select/cons_tres does"));
    }
}

fn remark_partitions(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    for p in &conf.partitions {
        let mut say = |topic, text: String| remarks.push(ConfRemark::at_place(topic, Some(&p.place), text));
        if let (Some(default), Some(max)) = (p.default_minutes, p.max_minutes)
            && default > max
        {
            let text =
                format!("{}: DefaultTime is above MaxTime; Slurm refuses jobs without a limit of their own", p.name);
            say(Topic::Contradiction, text);
        }
        if p.max_nodes.is_some_and(|max| max < p.min_nodes) {
            say(Topic::Contradiction, format!("{}: MinNodes is above MaxNodes; no job can run", p.name));
        }
        if p.nodes.is_empty() {
            say(Topic::Contradiction, format!("{}: a partition without nodes; no job can run", p.name));
        }
        if !p.up {
            say(
                Topic::NotModelled,
                format!("{}: a State other than UP; in simulations its jobs start as if it was UP", p.name),
            );
        }
        if let Some(cpus) = p.max_cpus_per_socket {
            let text = format!(
                "{}: MaxCPUsPerSocket={cpus} is counted on the whole node: its sockets times {cpus} processors",
                p.name
            );
            say(Topic::NotModelled, text);
        }
        if let Sharing::Over(jobs) = p.sharing {
            say(
                Topic::NotModelled,
                format!("{}: {jobs} jobs on each core; jobs get cores of their own instead", p.name),
            );
        }
    }
    let defaults = conf.partitions.iter().filter(|p| p.default).collect::<Vec<_>>();
    if let [first, .., last] = defaults.as_slice() {
        let text = format!("both {} and {} are Default=YES; Slurm takes the last one", first.name, last.name);
        remarks.push(ConfRemark::at_place(Topic::Contradiction, Some(&last.place), text));
    }
}
