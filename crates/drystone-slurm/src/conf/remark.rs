//! Remarks on a configuration: keys that Slurm does not know, settings that the model leaves out,
//! contradictions.

use super::{ConfPlace, ConfSetting, KnobTrouble, SelectUnit, Sharing, SlurmConf};
use std::fmt;

/// Topic of a remark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Topic {
    /// A key or a word that Slurm does not know, or that this program does not.
    Unknown,
    /// Slurm refuses the value and goes on with the default.
    Refused,
    /// It changes decisions and is not modelled; the text says what that may cost.
    NotModelled,
    /// Two settings that do not go together.
    Contradiction,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Topic::Unknown => "unknown",
            Topic::Refused => "refused",
            Topic::NotModelled => "not modelled",
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
    pub(super) fn at(topic: Topic, place: Option<&ConfPlace>, text: impl Into<String>) -> ConfRemark {
        ConfRemark { topic, place: place.cloned(), text: text.into() }
    }

    pub(super) fn unknown_key(key: &str, place: &ConfPlace) -> ConfRemark {
        ConfRemark::at(Topic::Unknown, Some(place), format!("Slurm has no key {key}"))
    }

    pub(super) fn unknown_key_of_line(key: &str, line: &str, place: &ConfPlace) -> ConfRemark {
        ConfRemark::at(Topic::Unknown, Some(place), format!("Slurm has no key {key} on lines of {line}"))
    }

    pub(super) fn repeated(earlier: &ConfSetting, place: &ConfPlace) -> ConfRemark {
        let text = format!("{} is at line {} as well; the later line counts", earlier.key, earlier.place.line);
        ConfRemark::at(Topic::Contradiction, Some(place), text)
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
];

impl SlurmConf {
    /// Settings that do not go together, as they are now, in sentences; those of lines that stand
    /// twice are left out.
    pub fn contradictions(&self) -> Vec<String> {
        let found = about(self, &[]).into_iter().filter(|remark| remark.topic == Topic::Contradiction);
        found.map(|remark| remark.text).collect()
    }
}

pub(super) fn about(conf: &SlurmConf, troubles: &[KnobTrouble]) -> Vec<ConfRemark> {
    let mut remarks = Vec::new();
    sched(conf, troubles, &mut remarks);
    plugins(conf, &mut remarks);
    partitions(conf, &mut remarks);
    remarks
}

fn sched(conf: &SlurmConf, troubles: &[KnobTrouble], remarks: &mut Vec<ConfRemark>) {
    let place = conf.settings.get("schedulerparameters").map(|setting| &setting.place);
    for trouble in troubles {
        remarks.push(match trouble {
            KnobTrouble::Unknown(name) => {
                let text = format!("SchedulerParameters: {name} is not known here, and changes nothing in the model");
                ConfRemark::at(Topic::Unknown, place, text)
            }
            KnobTrouble::Ignored(name, cost) => {
                ConfRemark::at(Topic::NotModelled, place, format!("SchedulerParameters: {name}; it may cost: {cost}"))
            }
            KnobTrouble::Value(problem) => {
                ConfRemark::at(Topic::Refused, place, format!("SchedulerParameters: {problem}"))
            }
        });
    }
    let longest = conf.partitions.iter().filter_map(|p| p.max_minutes.map(|m| (m, p))).max_by_key(|&(m, _)| m);
    if let Some((minutes, partition)) = longest.filter(|&(m, _)| conf.backfill && m > conf.sched.bf_window) {
        let text = format!(
            "bf_window={} min is below MaxTime={minutes} min of the partition {}: jobs planned beyond the window are not protected",
            conf.sched.bf_window, partition.name
        );
        remarks.push(ConfRemark::at(Topic::Contradiction, place, text));
    }
}

fn plugins(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    for (key, harmless, cost) in LEFT_OUT {
        let Some(setting) = conf.settings.get(&key.to_ascii_lowercase()) else { continue };
        if !setting.value.is_empty() && !harmless.iter().any(|h| h.eq_ignore_ascii_case(&setting.value)) {
            let text = format!("{}={}; it may cost: {cost}", setting.key, setting.value);
            remarks.push(ConfRemark::at(Topic::NotModelled, Some(&setting.place), text));
        }
    }
    let mut say = |key: &str, text: String| {
        let place = conf.settings.get(key).map(|setting| &setting.place);
        remarks.push(ConfRemark::at(Topic::NotModelled, place, text));
    };
    if conf.select == SelectUnit::Socket {
        say("selecttypeparameters", "CR_Socket; jobs are given cores, which packs more of them on a node".to_string());
    }
    let known = ["priority/multifactor", "priority/basic"];
    if let Some(kind) = conf.setting("PriorityType").filter(|t| !known.iter().any(|k| k.eq_ignore_ascii_case(t))) {
        say("prioritytype", format!("PriorityType={kind}; the queue is first come, first served instead"));
    }
    let scheds = ["sched/backfill", "sched/builtin"];
    if let Some(kind) = conf.setting("SchedulerType").filter(|t| !scheds.iter().any(|k| k.eq_ignore_ascii_case(t))) {
        say("schedulertype", format!("SchedulerType={kind}; sched/backfill is simulated instead"));
    }
    if conf.ends.complete_wait > 0 {
        let cost = "starts in the seconds after an end, in which neither scheduler works";
        say("completewait", format!("CompleteWait={}; it may cost: {cost}", conf.ends.complete_wait));
    }
    let kinds = ["select/cons_tres", "select/cons_res", "select/linear", "select/cray_aries", "select/serial"];
    if let Some(kind) = conf.setting("SelectType").filter(|t| !kinds.iter().any(|k| k.eq_ignore_ascii_case(t))) {
        say("selecttype", format!("SelectType={kind}; nodes are given out as select/cons_tres does"));
    }
}

fn partitions(conf: &SlurmConf, remarks: &mut Vec<ConfRemark>) {
    let words = [
        ("LLN", "LLN=YES; jobs go where they fit tightest, not to the least loaded nodes"),
        ("ExclusiveTopo", "ExclusiveTopo=YES; its jobs share the blocks of the topology"),
    ];
    for p in &conf.partitions {
        let mut say = |topic, text: String| remarks.push(ConfRemark::at(topic, Some(&p.place), text));
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
        for (key, text) in words {
            let set = p.others.iter().find(|(own, _)| own.eq_ignore_ascii_case(key));
            if set.is_some_and(|(_, value)| super::units::yes_no(value) == Ok(true)) {
                say(Topic::NotModelled, format!("{}: {text}", p.name));
            }
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
        remarks.push(ConfRemark::at(Topic::Contradiction, Some(&last.place), text));
    }
}
