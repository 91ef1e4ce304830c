//! The state of a Slurm cluster as its commands print it.

use super::reasons::{Condition, WaitEffect, WaitReason, in_reservation, reason_from_word};
use crate::exit::CommandFailure;
use drystone::model::NodeMemory;
use drystone_slurm::accounts::Tres;
use drystone_slurm::conf::{ReservedWindow, reserved_windows};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The commands that write a state into the folder that they are run in.
pub(super) const ASK: &str = "\
# In an empty folder on a host where Slurm's commands work, as a user that may see all jobs:
export TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0
date +%s > now.txt
squeue --json > squeue.json
# where squeue has no --json, instead:
#   squeue -h -a -t PD,R,S,CG,CF -o '%i|%T|%r|%C|%l|%V|%S|%Q|%u|%P|%N|%v|%a|%q|%E|%D|%m|%b|%f' > squeue.txt
scontrol -o show nodes > nodes.txt
scontrol -o show reservations > reservations.txt
cp $(scontrol show config | sed -n 's/^SLURM_CONF *= *//p') slurm.conf    # and what it includes
sacctmgr -P show assoc tree > assoc.txt    # limits; without a database leave it out
sacctmgr -P show qos > qos.txt
mkdir -p accounting; sacct -a -X -D -P --noconvert -S now-60days -E now --format=JobIDRaw,JobID,Cluster,User,Account,Group,\\
UID,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,State,ExitCode,Priority,Reason,Flags,\\
Reservation,Constraints,ReqNodes,NNodes,ReqCPUS,AllocCPUS,ReqMem,ReqTRES,AllocTRES,NodeList > accounting/jobs.psv
# then: drystone when --state FOLDER
";

/// A job of the queue.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct QueueEntry {
    /// As people call it: `4711`, `4711_3`.
    pub(super) name: String,
    pub(super) user: String,
    pub(super) partition: String,
    pub(super) procs: u32,
    /// Seconds; `None` without a limit.
    pub(super) limit: Option<i64>,
    pub(super) submit: i64,
    /// Start time.
    pub(super) since: Option<i64>,
    pub(super) priority: i64,
    /// Reason to wait for more than processors.
    pub(super) reason: Option<WaitReason>,
    /// The nodes that it runs on, where they are listed.
    pub(super) nodes: Vec<String>,
    /// The reservation that it was submitted to; empty for none.
    pub(super) reservation: String,
    pub(super) account: String,
    pub(super) qos: String,
    /// The array that it is a task of, and how many of its tasks may run at a time.
    pub(super) array: Option<(String, Option<u32>)>,
    /// Names of jobs that have to end first; `None` where that is no list of them.
    pub(super) parents: Option<Vec<String>>,
    pub(super) node_count: u32,
    /// Memory in MB and GPUs, 0 where they are not known.
    pub(super) memory: u64,
    pub(super) gpus: u64,
    /// True if its nodes need not have equal numbers of these GPUs.
    pub(super) spreads_gpus: bool,
    /// Memory as it is asked for: of each node, or for each processor.
    pub(super) memory_each: NodeMemory,
    /// Type of its GPUs; empty for any.
    pub(super) gpu_kind: String,
    /// Features that its nodes have.
    pub(super) features: String,
}

impl QueueEntry {
    /// Returns the reason why it cannot start whatever is free, if there is one.
    pub(super) fn barring_reason(&self) -> Option<&WaitReason> {
        self.reason.as_ref().filter(|reason| reason.effect == WaitEffect::Bars)
    }
}

impl ClusterState {
    /// Returns whether a node takes new jobs, now or after a reservation.
    pub(super) fn takes_jobs(&self, node: &StateNode) -> bool {
        let is_active = |window: &&ReservedWindow| window.from <= self.now && self.now < window.until;
        match node.takes {
            NodeTakes::Any => true,
            NodeTakes::Reserved => {
                self.windows.iter().filter(is_active).any(|window| window.nodes.contains(&node.name))
            }
            NodeTakes::None => false,
        }
    }

    /// Counts running jobs of other partitions to this one, with the processors that they have on
    /// its nodes.
    pub(super) fn take_in_neighbours(&mut self, partition: &str) {
        let is_of = |node: &&StateNode| node.partitions.iter().any(|name| name == partition);
        let own_names: BTreeSet<&str> = self.nodes.iter().filter(is_of).map(|node| node.name.as_str()).collect();
        for job in self.jobs.iter_mut().filter(|job| job.since.is_some()) {
            if job.partition.split(',').any(|name| name == partition) {
                continue;
            }
            let node_count = job.nodes.len();
            job.nodes.retain(|name| own_names.contains(name.as_str()));
            if !job.nodes.is_empty() {
                // Equal parts on its nodes: which it has on each is not listed.
                let part = u64::from(job.procs) * job.nodes.len() as u64;
                job.procs = u32::try_from(part.div_ceil(node_count as u64)).unwrap_or(job.procs);
                job.partition = partition.to_string();
            }
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct StateNode {
    pub(super) name: String,
    pub(super) procs: u32,
    pub(super) busy: u32,
    pub(super) takes: NodeTakes,
    pub(super) partitions: Vec<String>,
}

/// New jobs of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeTakes {
    Any,
    /// Those of a reservation that has begun; any when that is over.
    Reserved,
    /// None, for a time that no one knows; jobs that run there go on.
    None,
}

impl NodeTakes {
    /// Reads the state of a node: a base and flags with `+` between them, as Slurm 22.05 to 25.05
    /// print them, or the signs of older versions behind the base.
    ///
    /// Nodes that are powered down count: Slurm boots them for a job. So do those that reboot once
    /// they are idle, which take jobs until then.
    fn from_state(state: &str) -> NodeTakes {
        let signs = state.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let signs = signs.split('+').next().unwrap_or_default();
        // Not responding, reboot issued.
        let mut takes = if signs.contains(['*', '^']) { NodeTakes::None } else { NodeTakes::Any };
        for (place, word) in state.split('+').enumerate() {
            let word = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic() && c != '_').to_ascii_uppercase();
            let of_word = match word.as_str() {
                "IDLE" | "MIXED" | "ALLOCATED" | "COMPLETING" | "PLANNED" => NodeTakes::Any,
                "RESERVED" | "MAINT" | "MAINTENANCE" => NodeTakes::Reserved,
                "DRAIN" | "DRAINED" | "DRAINING" | "FAIL" | "FAILING" | "NOT_RESPONDING" | "NO_RESPOND"
                | "INVALID_REG" | "INVAL" | "REBOOT_ISSUED" | "BLOCKED" => NodeTakes::None,
                // A base that is not known, or DOWN, ERROR, FUTURE, UNKNOWN; flags that
                // are not known keep no job away.
                _ if place == 0 => NodeTakes::None,
                _ => NodeTakes::Any,
            };
            takes = match (takes, of_word) {
                (NodeTakes::None, _) | (_, NodeTakes::None) => NodeTakes::None,
                (NodeTakes::Reserved, _) | (_, NodeTakes::Reserved) => NodeTakes::Reserved,
                _ => NodeTakes::Any,
            };
        }
        takes
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct ClusterState {
    pub(super) now: i64,
    pub(super) jobs: Vec<QueueEntry>,
    pub(super) nodes: Vec<StateNode>,
    pub(super) windows: Vec<ReservedWindow>,
    /// The window of each reservation that is not over, the first of those that come again.
    pub(super) reservations: BTreeMap<String, ReservedWindow>,
    pub(super) accounting: Option<PathBuf>,
}

fn line_failure(file: &Path, line: usize, problem: &str) -> CommandFailure {
    CommandFailure::usage_error(format_args!(
        "{}:{line}: {problem}; `drystone when --ask` prints the commands",
        file.display()
    ))
}

pub(super) fn read_state(dir: &Path) -> Result<ClusterState, CommandFailure> {
    let text = |name: &str| -> Result<Option<(PathBuf, String)>, CommandFailure> {
        let path = dir.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some((path, text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CommandFailure::usage_error(format_args!("{}: cannot be read: {error}", path.display()))),
        }
    };
    if !dir.is_dir() {
        return Err(CommandFailure::usage_error(format_args!(
            "{}: is not a folder; `drystone when --ask` prints the commands that fill one",
            dir.display()
        )));
    }
    let (mut jobs, update_time) = match (text("squeue.json")?, text("squeue.txt")?) {
        (Some((path, text)), _) => parse_json(&path, &text)?,
        (None, Some((path, text))) => (parse_table(&path, &text)?, None),
        (None, None) => {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: has neither squeue.json nor squeue.txt; `drystone when --ask` prints the commands that write them",
                dir.display()
            )));
        }
    };
    let nodes = match text("nodes.txt")? {
        Some((path, text)) => parse_nodes(&path, &text)?,
        None => {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: has no nodes.txt, the output of `scontrol -o show nodes`",
                dir.display()
            )));
        }
    };
    let now = match text("now.txt")? {
        Some((path, text)) => text
            .trim()
            .parse()
            .map_err(|_| line_failure(&path, 1, &format!("`{}` is no time in seconds since 1970", text.trim())))?,
        None => update_time.ok_or_else(|| {
            CommandFailure::usage_error(format_args!(
                "{}: has no now.txt, the output of `date +%s`, and squeue.json has no time",
                dir.display()
            ))
        })?,
    };
    let reservation_windows = text("reservations.txt")?
        .map_or_else(|| Ok(Vec::new()), |(path, text)| parse_reservations(&path, &text, now))?;
    let mut reservations: BTreeMap<String, ReservedWindow> = BTreeMap::new();
    for (name, window) in reservation_windows.iter().filter(|(_, window)| window.until > now) {
        reservations.entry(name.clone()).or_insert_with(|| window.clone());
    }
    let windows = reservation_windows.into_iter().map(|(_, window)| window).collect();
    for job in &mut jobs {
        let missing = !reservations.contains_key(&job.reservation);
        let waits = |reason: &&mut WaitReason| missing && reason.condition() == Some(Condition::Reservation);
        if let Some(reason) = job.reason.as_mut().filter(waits) {
            reason.bar_start("was submitted to a reservation of nodes that is not listed");
        }
    }
    // A site without accounting leaves the folder, or the file in it, empty.
    let holds = |path: &PathBuf| {
        std::fs::read_dir(path).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.metadata().is_ok_and(|file| !file.is_file() || file.len() > 0))
        })
    };
    let accounting = Some(dir.join("accounting")).filter(holds);
    check_jobs(&jobs, now, dir)?;
    Ok(ClusterState { now, jobs, nodes, windows, reservations, accounting })
}

/// States that cannot be.
fn check_jobs(jobs: &[QueueEntry], now: i64, dir: &Path) -> Result<(), CommandFailure> {
    let fail = |job: &QueueEntry, problem: String| {
        Err(CommandFailure::usage_error(format_args!("{}: job {}: {problem}", dir.display(), job.name)))
    };
    let mut seen_names = BTreeSet::new();
    for job in jobs {
        if !seen_names.insert(job.name.as_str()) {
            return fail(job, "is listed twice".into());
        }
        if job.procs == 0 {
            return fail(job, "has no processors".into());
        }
        // A minute for clocks that differ.
        for (event, time) in [("was submitted", Some(job.submit)), ("runs since", job.since)] {
            if time.is_some_and(|time| time > now + 60) {
                return fail(
                    job,
                    format!("{event} {} s after now.txt says; take all files at one time", time.unwrap_or(now) - now),
                );
            }
        }
    }
    Ok(())
}

/// A number that newer versions wrap: `{"set": true, "infinite": false, "number": 7}`.
pub(in crate::commands) fn json_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::Object(map) => {
            let says = |key: &str| map.get(key).and_then(Value::as_bool);
            if says("set") == Some(false) || says("infinite") == Some(true) {
                return None;
            }
            map.get("number").and_then(Value::as_i64)
        }
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A word, of a list the first.
pub(in crate::commands) fn json_word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.first().map(json_word).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Parses the output of `squeue --json`.
fn parse_json(path: &Path, text: &str) -> Result<(Vec<QueueEntry>, Option<i64>), CommandFailure> {
    let whole: Value =
        serde_json::from_str(text).map_err(|error| line_failure(path, error.line(), &format!("no JSON: {error}")))?;
    let Some(list) = whole.get("jobs").and_then(Value::as_array) else {
        return Err(line_failure(path, 1, "has no list `jobs`, as `squeue --json` writes one"));
    };
    let mut jobs = Vec::new();
    for (at, job) in list.iter().enumerate() {
        let get = |key: &str| job.get(key).unwrap_or(&Value::Null);
        let lacks = |key: &str| line_failure(path, 1, &format!("job {} of the list has no usable `{key}`", at + 1));
        let id = json_number(get("job_id")).ok_or_else(|| lacks("job_id"))?;
        let state = json_word(get("job_state"));
        let pending = state == "PENDING";
        if !pending && !matches!(state.as_str(), "RUNNING" | "SUSPENDED" | "COMPLETING" | "CONFIGURING") {
            continue;
        }
        let procs = json_number(get("cpus")).and_then(|cpus| u32::try_from(cpus).ok()).ok_or_else(|| lacks("cpus"))?;
        let submit = json_number(get("submit_time")).ok_or_else(|| lacks("submit_time"))?;
        let since =
            if pending { None } else { Some(json_number(get("start_time")).ok_or_else(|| lacks("start_time"))?) };
        let priority = json_number(get("priority")).unwrap_or(0);
        let array = json_number(get("array_job_id")).filter(|&id| id > 0);
        let throttle =
            json_number(get("array_max_tasks")).and_then(|most| u32::try_from(most).ok()).filter(|&most| most > 0);
        let (tres, _) = Tres::parse(&json_word(get("tres_req_str"))).unwrap_or_default();
        let reservation = reservation_name(&json_word(get("resv_name")));
        let entry = QueueEntry {
            name: id.to_string(),
            user: json_word(get("user_name")),
            partition: json_word(get("partition")),
            procs,
            limit: json_number(get("time_limit")).map(|minutes| minutes.saturating_mul(60)),
            submit,
            since,
            priority,
            reason: match pending {
                true => in_reservation(
                    &reservation,
                    reason_from_word(&json_word(get("state_reason")), priority, json_number(get("eligible_time"))),
                ),
                false => None,
            },
            reservation,
            nodes: if pending { Vec::new() } else { expand_hosts(&json_word(get("nodes"))) },
            account: json_word(get("account")),
            qos: json_word(get("qos")),
            array: array.map(|array| (array.to_string(), throttle)),
            parents: parse_parents(&json_word(get("dependency"))),
            node_count: json_number(get("node_count")).and_then(|nodes| u32::try_from(nodes).ok()).unwrap_or(0),
            memory: tres.mem.unwrap_or(0),
            gpus: tres.gpu.unwrap_or(0),
            spreads_gpus: ["tres_per_job", "tres_per_task"].into_iter().any(|key| json_word(get(key)).contains("gpu")),
            memory_each: memory_of_json(json_number(get("memory_per_cpu")), json_number(get("memory_per_node"))),
            gpu_kind: gpu_kind(&json_word(get("tres_req_str"))),
            features: parse_features(&json_word(get("features"))),
        };
        match (array, json_number(get("array_task_id")), json_word(get("array_task_string"))) {
            (Some(array), Some(task), _) => jobs.push(QueueEntry { name: format!("{array}_{task}"), ..entry }),
            (Some(array), None, tasks) if !tasks.is_empty() => {
                let tasks = self::parse_tasks(&tasks).ok_or_else(|| lacks("array_task_string"))?;
                jobs.extend(
                    tasks.into_iter().map(|task| QueueEntry { name: format!("{array}_{task}"), ..entry.clone() }),
                );
            }
            _ => jobs.push(entry),
        }
    }
    let update_time = whole.get("last_update").and_then(json_number);
    Ok((jobs, update_time))
}

/// The name of a reservation; empty for none.
fn reservation_name(text: &str) -> String {
    if matches!(text, "(null)" | "N/A") { String::new() } else { text.to_string() }
}

/// Nodes of a list; none where it is no list.
pub(super) fn expand_hosts(list: &str) -> Vec<String> {
    drystone_slurm::conf::expand_hostlist(list).unwrap_or_default()
}

/// Tasks of an array that have nothing of their own yet: `1-3,7%2`, `0-9:3`.
fn parse_tasks(text: &str) -> Option<Vec<u32>> {
    let text = text.split('%').next()?.trim_matches(['[', ']']);
    let mut list = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to, step): (u32, u32, usize) = (from.parse().ok()?, to.parse().ok()?, step.parse().ok()?);
        if step == 0 || to < from || list.len() + (to - from) as usize / step > 1_000_000 {
            return None;
        }
        list.extend((from..=to).step_by(step));
    }
    Some(list)
}

/// The array of a task, and how many of its tasks may run at a time: `9_3`, `9_[1-4%2]`.
fn array_of(name: &str) -> Option<(String, Option<u32>)> {
    let (array, tasks) = name.split_once('_')?;
    let most = tasks.split_once('%').and_then(|(_, most)| most.trim_end_matches(']').parse().ok());
    Some((array.to_string(), most.filter(|&most| most > 0)))
}

/// Jobs that have to end first: `afterok:7(unfulfilled),afterany:8_*+9`. `None` where the job waits
/// for anything else: the start of another, its failure, all of a name. A task of an array may wait
/// for the task of the same number: `8_@`.
fn parse_parents(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for part in text.split([',', '?']).map(str::trim).filter(|part| !part.is_empty()) {
        let (kind, jobs) = part.split_once(':')?;
        if !matches!(kind, "afterok" | "afterany" | "aftercorr" | "afterburstbuffer") {
            return None;
        }
        let jobs = jobs.split(['+', ':']).map(|name| name.split('(').next().unwrap_or_default().trim());
        names.extend(jobs.filter(|name| !name.is_empty()).map(|name| match kind {
            "aftercorr" => format!("{}_@", name.trim_end_matches("_*")),
            _ => name.to_string(),
        }));
    }
    (!names.is_empty()).then_some(names)
}

/// Megabytes that a job asks for in all: `4G` for each node, `2000Mc` for each processor.
fn parse_memory(text: &str, nodes: u32, procs: u32) -> u64 {
    let (text, parts) = match text.strip_suffix('c') {
        Some(text) => (text, procs),
        None => (text.strip_suffix('n').unwrap_or(text), nodes.max(1)),
    };
    let memory_each = Tres::parse(&format!("mem={text}")).ok().and_then(|(tres, _)| tres.mem);
    memory_each.unwrap_or(0).saturating_mul(u64::from(parts))
}

/// Memory as squeue prints it: `4G` of each node, `2000Mc` for each processor; `0` is all that a
/// node has.
fn memory_each(text: &str) -> NodeMemory {
    let (text, of_processors) = match text.strip_suffix('c') {
        Some(text) => (text, true),
        None => (text.strip_suffix('n').unwrap_or(text), false),
    };
    if text == "0" {
        return NodeMemory::Whole;
    }
    let mb = Tres::parse(&format!("mem={text}")).ok().and_then(|(tres, _)| tres.mem).unwrap_or(0);
    asked_memory(mb, of_processors)
}

fn asked_memory(mb: u64, of_processors: bool) -> NodeMemory {
    match (mb.saturating_mul(1024), of_processors) {
        (0, _) => NodeMemory::None,
        (kb, true) => NodeMemory::PerCore(kb),
        (kb, false) => NodeMemory::PerNode(kb),
    }
}

/// Memory in MB for each processor or of each node, whichever is set.
fn memory_of_json(of_processor: Option<i64>, of_node: Option<i64>) -> NodeMemory {
    let mb = |mb: i64| u64::try_from(mb).unwrap_or(0);
    match (of_processor, of_node) {
        (Some(each), _) if each > 0 => asked_memory(mb(each), true),
        (_, Some(0)) => NodeMemory::Whole,
        (_, each) => asked_memory(each.map_or(0, mb), false),
    }
}

/// The type of GPUs: `gres/gpu:a100:4`, `gres/gpu:a100=4`.
fn gpu_kind(text: &str) -> String {
    let part_kind = |part: &str| {
        let rest = &part[part.find("gpu")? + 3..];
        let kind = rest.strip_prefix(':')?.split([':', '=', '(']).next()?;
        kind.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| kind.to_string())
    };
    text.split(',').find_map(part_kind).unwrap_or_default()
}

/// Features as Slurm prints them; empty for none.
fn parse_features(text: &str) -> String {
    if matches!(text, "(null)" | "N/A") { String::new() } else { text.replace(' ', "") }
}

/// GPUs of each node: `gres/gpu:a100:4`, `gpu:2`, `gres/gpu=1`.
fn count_gpus(text: &str) -> u64 {
    let count_part = |part: &str| {
        let number = || part.rsplit([':', '=']).next()?.split('(').next()?.parse::<u64>().ok();
        if part.contains("gpu") { number().unwrap_or(1) } else { 0 }
    };
    text.split(',').map(count_part).fold(0, u64::saturating_add)
}

/// Parses the output of `squeue -o` with the format of [`ASK`].
fn parse_table(path: &Path, text: &str) -> Result<Vec<QueueEntry>, CommandFailure> {
    let mut jobs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        // Features, the last field, may have bars of their own.
        let fields: Vec<&str> = line.splitn(19, '|').collect();
        let ([name, state, why, procs, limit, submit, start, priority, user, partition]
        | [name, state, why, procs, limit, submit, start, priority, user, partition, _, _]
        | [name, state, why, procs, limit, submit, start, priority, user, partition, _, _, _, _, _, _, _, _]
        | [name, state, why, procs, limit, submit, start, priority, user, partition, _, _, _, _, _, _, _, _, _]) =
            fields[..]
        else {
            return Err(line_failure(
                path,
                number,
                &format!("{} fields between `|` instead of 19, 18, 12 or 10", fields.len()),
            ));
        };
        let field = |at: usize| fields.get(at).copied().unwrap_or_default().trim();
        let node_count: u32 = field(15).parse().unwrap_or(0);
        let pending = state == "PENDING";
        let time = |label: &str, text: &str| {
            text.parse::<i64>().map_err(|_| {
                line_failure(path, number, &format!("{label} `{text}` is no time in seconds (SLURM_TIME_FORMAT=%s)"))
            })
        };
        let limit = match limit {
            "UNLIMITED" | "NOT_SET" | "INVALID" => None,
            text => Some(parse_span(text).ok_or_else(|| {
                line_failure(path, number, &format!("limit `{text}` is none of days-hours:minutes:seconds"))
            })?),
        };
        let priority =
            priority.parse().map_err(|_| line_failure(path, number, &format!("priority `{priority}` is no number")))?;
        let entry = QueueEntry {
            name: name.to_string(),
            user: user.to_string(),
            partition: partition.to_string(),
            procs: procs
                .parse()
                .map_err(|_| line_failure(path, number, &format!("processors `{procs}` is no number")))?,
            limit,
            submit: time("submit", submit)?,
            since: if pending { None } else { Some(time("start", start)?) },
            priority,
            reason: match pending {
                // The start of a job that may begin later only is that time.
                true => in_reservation(
                    &reservation_name(field(11)),
                    reason_from_word(why.trim_matches(['(', ')']), priority, start.parse().ok()),
                ),
                false => None,
            },
            reservation: reservation_name(field(11)),
            nodes: if pending { Vec::new() } else { expand_hosts(field(10)) },
            account: field(12).to_string(),
            qos: field(13).to_string(),
            array: array_of(name),
            parents: parse_parents(field(14)),
            node_count,
            memory: parse_memory(field(16), node_count, procs.parse().unwrap_or(0)),
            gpus: count_gpus(field(17)).saturating_mul(u64::from(node_count.max(1))),
            // squeue shows those of each node only.
            spreads_gpus: false,
            memory_each: memory_each(field(16)),
            gpu_kind: gpu_kind(field(17)),
            features: parse_features(field(18)),
        };
        match name.split_once("_[") {
            Some((array, list)) => {
                let tasks = parse_tasks(list)
                    .ok_or_else(|| line_failure(path, number, &format!("tasks `{name}` are no ranges")))?;
                jobs.extend(
                    tasks.into_iter().map(|task| QueueEntry { name: format!("{array}_{task}"), ..entry.clone() }),
                );
            }
            None => jobs.push(entry),
        }
    }
    Ok(jobs)
}

/// A span as Slurm writes it: `1-02:03:04`, `02:03:04`, `03:04`.
fn parse_span(text: &str) -> Option<i64> {
    let (days, rest) = text.split_once('-').map_or((Some(0), text), |(days, rest)| (days.parse::<i64>().ok(), rest));
    let mut seconds = 0i64;
    for part in rest.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    days?.checked_mul(86_400)?.checked_add(seconds)
}

/// Parses the output of `scontrol -o show nodes`.
fn parse_nodes(path: &Path, text: &str) -> Result<Vec<StateNode>, CommandFailure> {
    let mut nodes = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let value = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        let lacks =
            |key: &str| line_failure(path, number, &format!("has no `{key}=`, as `scontrol -o show nodes` prints it"));
        let count = |key: &str| value(key).and_then(|text| text.parse().ok());
        let state = value("State").ok_or_else(|| lacks("State"))?;
        nodes.push(StateNode {
            name: value("NodeName").ok_or_else(|| lacks("NodeName"))?.to_string(),
            procs: count("CPUEfctv").filter(|&n| n > 0).or(count("CPUTot")).ok_or_else(|| lacks("CPUTot"))?,
            busy: count("CPUAlloc").unwrap_or(0),
            takes: NodeTakes::from_state(state),
            partitions: value("Partitions").map(|list| list.split(',').map(String::from).collect()).unwrap_or_default(),
        });
    }
    if nodes.is_empty() {
        return Err(line_failure(path, 1, "lists no node"));
    }
    Ok(nodes)
}

/// Windows of reservations of nodes, which no other job may use, each with its name.
fn parse_reservations(path: &Path, text: &str, now: i64) -> Result<Vec<(String, ReservedWindow)>, CommandFailure> {
    let mut named_windows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let name = line.split_whitespace().next().unwrap_or_default().trim_start_matches("ReservationName=");
        let windows = reserved_windows(line, now).map_err(|(_, problem)| line_failure(path, number, &problem))?;
        named_windows.extend(windows.into_iter().map(|window| (name.to_string(), window)));
    }
    Ok(named_windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_tasks_are_read_as_slurm_writes_them() {
        assert_eq!(
            ["1-02:03:04", "02:03:04", "03:04", "x"].map(parse_span),
            [Some(93_784), Some(7384), Some(184), None]
        );
        assert_eq!(parse_tasks("1-3,7%2"), Some(vec![1, 2, 3, 7]));
        assert_eq!(parse_tasks("0-9:4]"), Some(vec![0, 4, 8]));
        assert_eq!(parse_tasks("3-1"), None);
    }

    #[test]
    fn what_is_asked_of_nodes_is_read() {
        use NodeMemory::{None, PerCore, PerNode, Whole};
        let texts = ["4G", "2000Mc", "0", "1500M", "", "N/A"].map(memory_each);
        assert_eq!(texts, [PerNode(4 << 20), PerCore(2000 << 10), Whole, PerNode(1500 << 10), None, None]);
        let of_json = [(Some(2000), Option::None), (Option::None, Some(64_000)), (Some(0), Some(0))];
        let of_json = of_json.map(|(processor, node)| memory_of_json(processor, node));
        assert_eq!(of_json, [PerCore(2000 << 10), PerNode(64_000 << 10), Whole]);
        let kinds = ["gres/gpu:a100:4", "gres/gpu:2", "cpu=4,gres/gpu:v100=2,gres/gpu=2", "N/A"].map(gpu_kind);
        assert_eq!(kinds, ["a100", "", "v100", ""]);
    }

    #[test]
    fn json_of_old_and_new_versions_is_the_same() {
        let path = Path::new("squeue.json");
        let old = r#"{"jobs":[{"job_id":7,"job_state":"PENDING","cpus":4,"submit_time":100,"time_limit":60,"priority":5,
            "user_name":"u","partition":"p","state_reason":"Resources"}]}"#;
        let new = r#"{"jobs":[{"job_id":7,"job_state":["PENDING"],"cpus":{"set":true,"infinite":false,"number":4},
            "submit_time":{"set":true,"infinite":false,"number":100},"time_limit":{"set":true,"infinite":false,"number":60},
            "priority":{"set":true,"infinite":false,"number":5},"user_name":"u","partition":"p","state_reason":"Resources"}],
            "last_update":{"set":true,"infinite":false,"number":130}}"#;
        let [old, new] =
            [old, new].map(|text| parse_json(path, text).map_err(|e| e.message().to_string()).expect("sound"));
        assert_eq!(old.0, new.0);
        assert_eq!((old.1, new.1), (None, Some(130)));
        assert_eq!((old.0[0].limit, old.0[0].reason.clone()), (Some(3600), None));
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let path = Path::new("squeue.txt");
        let good = "9_[2-3]|PENDING|(Priority)|8|1-00:00:00|50|N/A|77|u|p\n8|RUNNING|None|4|30:00|10|20|0|u|p\n";
        let jobs = parse_table(path, good).map_err(|e| e.message().to_string()).expect("sound");
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["9_2", "9_3", "8"]);
        assert_eq!((jobs[0].limit, jobs[2].since, jobs[2].limit), (Some(86_400), Some(20), Some(1800)));
        for (bad, part) in [
            ("9|PENDING|x|8\n", "squeue.txt:1: 4 fields"),
            ("9|RUNNING|x|8|1:00|5|2026-01-01T00:00:00|1|u|p\n", "squeue.txt:1: start"),
            ("9|PENDING|x|eight|1:00|5|6|1|u|p\n", "squeue.txt:1: processors `eight`"),
        ] {
            let error = parse_table(path, bad).map(|_| ()).map_err(|e| e.message().to_string()).expect_err(bad);
            assert!(error.contains(part), "{error}");
        }
    }

    /// Words of the states of nodes are those of `node_state_string_complete` of Slurm 22.05 to
    /// 25.05, signs those of `node_state_string`.
    #[test]
    fn nodes_take_jobs_as_their_states_say() {
        for (takes, states) in [
            (
                NodeTakes::Any,
                "IDLE MIXED ALLOCATED ALLOCATED+COMPLETING IDLE+PLANNED MIXED+PLANNED PLANNED IDLE+CLOUD+POWERED_DOWN \
                 IDLE+POWERING_UP MIXED+POWERING_UP MIXED+POWER_DOWN IDLE+POWERING_DOWN IDLE+DYNAMIC_NORM idle~ IDLE# \
                 IDLE+REBOOT_REQUESTED IDLE@ ALLOCATED+POWER_UP MIXED-",
            ),
            (
                NodeTakes::Reserved,
                "IDLE+RESERVED MIXED+RESERVED RESERVED IDLE+MAINTENANCE MIXED+MAINTENANCE MAINT ALLOCATED+MAINTENANCE+RESERVED",
            ),
            (
                NodeTakes::None,
                "IDLE+DRAIN MIXED+DRAIN ALLOCATED+DRAIN DRAINED DRAINING DOWN DOWN* DOWN+DRAIN DOWN+CLOUD+POWERED_DOWN \
                 IDLE* MIXED+NOT_RESPONDING DOWN+NOT_RESPONDING IDLE+FAIL MIXED+FAIL FAILING ERROR FUTURE UNKNOWN \
                 UNKNOWN+NOT_RESPONDING IDLE+INVALID_REG DOWN+INVALID_REG IDLE+MAINTENANCE+DRAIN IDLE+REBOOT_ISSUED \
                 DOWN+REBOOT_ISSUED IDLE^ IDLE+DRAIN+REBOOT_REQUESTED MIXED+RESERVED+DRAIN MIXED+BLOCKED DRAIN*",
            ),
        ] {
            for state in states.split_whitespace() {
                assert_eq!(NodeTakes::from_state(state), takes, "{state}");
            }
        }
        let text = "NodeName=a CPUAlloc=2 CPUTot=4 State=MIXED Partitions=p,q\nNodeName=b CPUAlloc=0 CPUTot=4 State=IDLE+DRAIN\n";
        let nodes = parse_nodes(Path::new("nodes.txt"), text).map_err(|e| e.message().to_string()).expect("sound");
        assert_eq!((nodes[0].busy, nodes[0].partitions.len(), nodes[1].takes), (2, 2, NodeTakes::None));
    }
}
