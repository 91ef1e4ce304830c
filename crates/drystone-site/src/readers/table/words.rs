//! Meanings of a column by its name. A name that only contains a word is a weak sign: `cpu_seconds`
//! is no number of processors, `queue_wait_s` no queue.

/// Meaning of a column in a table of jobs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ColumnRole {
    Job,
    Task,
    Submit,
    Eligible,
    Start,
    End,
    Elapsed,
    Wait,
    Limit,
    Cpus,
    CpusAsked,
    Nodes,
    NodesAsked,
    Gpus,
    GpusAsked,
    User,
    Account,
    Group,
    Partition,
    Qos,
    Cluster,
    State,
    Exit,
    NodeList,
}

impl ColumnRole {
    /// Every role, in the order in which columns are given away.
    pub(crate) const ALL: [ColumnRole; 24] = [
        ColumnRole::Submit,
        ColumnRole::Eligible,
        ColumnRole::Start,
        ColumnRole::End,
        ColumnRole::Elapsed,
        ColumnRole::Wait,
        ColumnRole::Limit,
        ColumnRole::Job,
        ColumnRole::Task,
        ColumnRole::Cpus,
        ColumnRole::CpusAsked,
        ColumnRole::Nodes,
        ColumnRole::NodesAsked,
        ColumnRole::Gpus,
        ColumnRole::GpusAsked,
        ColumnRole::State,
        ColumnRole::Exit,
        ColumnRole::NodeList,
        ColumnRole::Account,
        ColumnRole::Group,
        ColumnRole::User,
        ColumnRole::Partition,
        ColumnRole::Qos,
        ColumnRole::Cluster,
    ];

    /// Its name in `--columns`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ColumnRole::Job => "JobID",
            ColumnRole::Task => "TaskID",
            ColumnRole::Submit => "Submit",
            ColumnRole::Eligible => "Eligible",
            ColumnRole::Start => "Start",
            ColumnRole::End => "End",
            ColumnRole::Elapsed => "ElapsedRaw",
            ColumnRole::Wait => "WaitRaw",
            ColumnRole::Limit => "TimelimitSeconds",
            ColumnRole::Cpus => "AllocCPUS",
            ColumnRole::CpusAsked => "ReqCPUS",
            ColumnRole::Nodes => "NNodes",
            ColumnRole::NodesAsked => "ReqNodes",
            ColumnRole::Gpus => "AllocGPUS",
            ColumnRole::GpusAsked => "ReqGPUS",
            ColumnRole::User => "User",
            ColumnRole::Account => "Account",
            ColumnRole::Group => "Group",
            ColumnRole::Partition => "Partition",
            ColumnRole::Qos => "QOS",
            ColumnRole::Cluster => "Cluster",
            ColumnRole::State => "State",
            ColumnRole::Exit => "ExitState",
            ColumnRole::NodeList => "NodeList",
        }
    }

    pub(crate) fn question_words(self) -> &'static str {
        match self {
            ColumnRole::Job => "the job's number",
            ColumnRole::Task => "the task of an array",
            ColumnRole::Submit => "the submission",
            ColumnRole::Eligible => "the time of eligibility",
            ColumnRole::Start => "the start",
            ColumnRole::End => "the end",
            ColumnRole::Elapsed => "the run time",
            ColumnRole::Wait => "the wait before the start",
            ColumnRole::Limit => "the limit",
            ColumnRole::Cpus => "the processors",
            ColumnRole::CpusAsked => "the processors asked for",
            ColumnRole::Nodes => "the nodes",
            ColumnRole::NodesAsked => "the nodes asked for",
            ColumnRole::Gpus => "the GPUs",
            ColumnRole::GpusAsked => "the GPUs asked for",
            ColumnRole::User => "the user",
            ColumnRole::Account => "the account",
            ColumnRole::Group => "the group",
            ColumnRole::Partition => "the partition",
            ColumnRole::Qos => "the quality of service",
            ColumnRole::Cluster => "the cluster",
            ColumnRole::State => "the state",
            ColumnRole::Exit => "the exit status",
            ColumnRole::NodeList => "the list of nodes",
        }
    }

    pub(crate) fn is_size(self) -> bool {
        use ColumnRole::{Cpus, CpusAsked, Gpus, GpusAsked, Nodes, NodesAsked};
        matches!(self, Cpus | CpusAsked | Nodes | NodesAsked | Gpus | GpusAsked)
    }

    pub(crate) fn is_moment(self) -> bool {
        matches!(self, ColumnRole::Submit | ColumnRole::Eligible | ColumnRole::Start | ColumnRole::End)
    }
}

/// Unit of a length of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LengthUnit {
    Seconds,
    Minutes,
    Hours,
    Days,
    Millis,
    Micros,
}

impl LengthUnit {
    pub(crate) const ALL: [LengthUnit; 6] = [
        LengthUnit::Seconds,
        LengthUnit::Minutes,
        LengthUnit::Hours,
        LengthUnit::Days,
        LengthUnit::Millis,
        LengthUnit::Micros,
    ];

    pub(crate) fn seconds_per_unit(self) -> f64 {
        match self {
            LengthUnit::Seconds => 1.0,
            LengthUnit::Minutes => 60.0,
            LengthUnit::Hours => 3_600.0,
            LengthUnit::Days => 86_400.0,
            LengthUnit::Millis => 1e-3,
            LengthUnit::Micros => 1e-6,
        }
    }

    pub(crate) fn unit_word(self) -> &'static str {
        match self {
            LengthUnit::Seconds => "seconds",
            LengthUnit::Minutes => "minutes",
            LengthUnit::Hours => "hours",
            LengthUnit::Days => "days",
            LengthUnit::Millis => "thousandths of a second",
            LengthUnit::Micros => "millionths of a second",
        }
    }

    /// Change of a value in `--columns`.
    pub(crate) fn change_suffix(self) -> &'static str {
        match self {
            LengthUnit::Seconds => "",
            LengthUnit::Minutes => "*60",
            LengthUnit::Hours => "*3600",
            LengthUnit::Days => "*86400",
            LengthUnit::Millis => "/1000",
            LengthUnit::Micros => "/1000000",
        }
    }

    pub(super) fn parse(word: &str) -> Option<LengthUnit> {
        Some(match word {
            "s" | "sec" | "secs" | "second" | "seconds" => LengthUnit::Seconds,
            "m" | "min" | "mins" | "minute" | "minutes" => LengthUnit::Minutes,
            "h" | "hr" | "hrs" | "hour" | "hours" | "inh" => LengthUnit::Hours,
            "d" | "day" | "days" => LengthUnit::Days,
            "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => LengthUnit::Millis,
            "us" | "usec" | "micros" | "microsecond" | "microseconds" => LengthUnit::Micros,
            _ => return None,
        })
    }
}

/// Words that are written as one.
const COMPOUNDS: &[(&str, &[&str])] = &[
    ("jobid", &["job", "id"]),
    ("jobids", &["job", "id"]),
    ("jid", &["job", "id"]),
    ("jobno", &["job", "number"]),
    ("jobnumber", &["job", "number"]),
    ("taskid", &["task", "id"]),
    ("procid", &["task", "id"]),
    ("userid", &["user", "id"]),
    ("uid", &["user", "id"]),
    ("username", &["user", "name"]),
    ("usr", &["user"]),
    ("gid", &["group", "id"]),
    ("groupname", &["group", "name"]),
    ("projectid", &["project", "id"]),
    ("queuename", &["queue", "name"]),
    ("nodelist", &["node", "list"]),
    ("hostlist", &["node", "list"]),
    ("walltime", &["wall", "time"]),
    ("reqtime", &["req", "time"]),
    ("usedtime", &["used", "time"]),
    ("stime", &["start", "time"]),
    ("obittime", &["end", "time"]),
    ("wallclock", &["wall", "clock"]),
    ("timelimit", &["time", "limit"]),
    ("runtime", &["run", "time"]),
    ("exitcode", &["exit", "code"]),
    ("exitstatus", &["exit", "status"]),
    ("returncode", &["exit", "code"]),
    ("submittime", &["submit", "time"]),
    ("starttime", &["start", "time"]),
    ("begintime", &["start", "time"]),
    ("endtime", &["end", "time"]),
    ("stoptime", &["end", "time"]),
    ("queuetime", &["queue", "time"]),
    ("waittime", &["wait", "time"]),
    ("cputime", &["cpu", "time"]),
    ("qtime", &["submit", "time"]),
    ("ctime", &["submit", "time"]),
    ("etime", &["eligible", "time"]),
    ("ncpus", &["n", "cpus"]),
    ("numcpus", &["n", "cpus"]),
    ("ncores", &["n", "cores"]),
    ("numcores", &["n", "cores"]),
    ("nprocs", &["n", "procs"]),
    ("nslots", &["n", "slots"]),
    ("nnodes", &["n", "nodes"]),
    ("nhosts", &["n", "hosts"]),
    ("numhosts", &["n", "hosts"]),
    ("numnodes", &["n", "nodes"]),
    ("nodect", &["n", "nodes"]),
    ("nodecount", &["n", "nodes"]),
    ("ngpus", &["n", "gpus"]),
    ("numgpus", &["n", "gpus"]),
    ("reqcpus", &["req", "cpus"]),
    ("alloccpus", &["alloc", "cpus"]),
    ("reqnodes", &["req", "nodes"]),
    ("allocnodes", &["alloc", "nodes"]),
    ("reqgpus", &["req", "gpus"]),
    ("allocgpus", &["alloc", "gpus"]),
];

/// The words of a name in small letters: `NumCores`, `num_cores` and `NUM CORES` have the same.
pub(crate) fn name_tokens(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let after = chars.get(at + 1);
        let hump = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || (before.is_some_and(char::is_uppercase)
                    && after.is_some_and(|next| next.is_lowercase())
                    && chars.get(at + 2).is_some_and(|c| c.is_lowercase())));
        if hump {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    let whole = |word: String| match COMPOUNDS.iter().find(|(compound, _)| *compound == word) {
        Some((_, parts)) => parts.iter().map(|part| (*part).to_string()).collect(),
        None => vec![word],
    };
    words.into_iter().filter(|word| !word.is_empty()).flat_map(whole).collect()
}

pub(crate) fn unit_of_name(name: &str) -> Option<LengthUnit> {
    let words = name_tokens(name);
    // A single letter is a unit at the end only.
    let of = |(at, word): (usize, &String)| LengthUnit::parse(word).filter(|_| word.len() > 2 || at + 1 == words.len());
    words.iter().enumerate().skip(1).filter_map(of).next_back()
}

/// Words of a measure: what has one is no number of things, and no time of a job.
const MEASURES: &[&str] = &[
    "util",
    "utilization",
    "utilisation",
    "usage",
    "avg",
    "average",
    "mean",
    "percent",
    "pct",
    "rate",
    "efficiency",
    "power",
    "energy",
    "watts",
    "joules",
    "factor",
    "score",
    "mem",
    "memory",
    "rss",
    "vmem",
    "io",
    "iow",
    "bytes",
    "gb",
    "mb",
    "kb",
    "gib",
    "mib",
    "read",
    "write",
    "temp",
    "temperature",
    "cost",
    "charge",
    "charged",
    "price",
    "flops",
    "per",
    "layout",
    "type",
    "model",
    "mask",
    "freq",
    "frequency",
    "milli",
    "fraction",
    "share",
    "spec",
    "su",
    "sus",
    "credits",
    "backlog",
    "turnaround",
    "slowdown",
    "stretch",
];
const WAITS: &[&str] = &["wait", "waiting", "waited", "queuing", "queueing", "pending", "pend", "delay", "planned"];
const ASKED: &[&str] =
    &["req", "request", "requested", "requests", "ask", "asked", "plan", "want", "wanted", "requirement"];
const CPUS: &[&str] = &[
    "cpu",
    "cpus",
    "core",
    "cores",
    "proc",
    "procs",
    "processor",
    "processors",
    "slot",
    "slots",
    "vcpu",
    "vcpus",
    "hwthreads",
    "pes",
];
const NODES: &[&str] = &["node", "nodes", "hosts", "machines"];
const GPUS: &[&str] =
    &["gpu", "gpus", "accelerator", "accelerators", "acc", "gcd", "gcds", "dcu", "dcus", "npu", "npus"];

/// The strength with which a name means a wait, which counts only where a table has no starts or no
/// submissions: 2 says it, 1 hints at it.
pub(super) fn wait_strength(name: &str) -> u32 {
    let words = name_tokens(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let length = unit_of_name(name).is_some() || has(&["time", "duration"]);
    match () {
        () if has(MEASURES) || has(&["reason", "count", "num", "jobs"]) => 0,
        () if has(WAITS) => 2,
        () if has(&["queue", "queued"]) && length => 1,
        () => 0,
    }
}

/// The roles that a name may mean, each with its strength: 2 says it, 1 hints at it.
pub(crate) fn find_roles(name: &str) -> Vec<(ColumnRole, u32)> {
    let mut words = name_tokens(name);
    // As PBS writes what a job asked for.
    if words.starts_with(&["resource".to_string(), "list".to_string()]) {
        words.splice(..2, ["req".to_string()]);
    }
    // `QTime` of PBS, which is `qtime` as well.
    if let [letter, word] = &words[..]
        && word == "time"
        && let Some((_, parts)) = COMPOUNDS.iter().find(|(compound, _)| *compound == format!("{letter}time"))
    {
        words = parts.iter().map(|part| (*part).to_string()).collect();
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let unit = unit_of_name(name).is_some();
    if has(MEASURES) || (has(&["date"]) && has(&["id"])) {
        return Vec::new();
    }
    let time = has(&["time", "timestamp", "date", "at", "ts", "t"]);
    let is_request = has(ASKED);
    // `queued_time_ms` is when or how long: its values say which.
    if has(&["queued"]) && unit && time && !has(WAITS) {
        return vec![(ColumnRole::Submit, 1)];
    }
    if has(WAITS) || (has(&["queue", "queued"]) && unit) {
        return Vec::new();
    }
    let names_size = has(CPUS) || has(NODES) || has(GPUS);
    if names_size {
        return if unit || time { Vec::new() } else { find_sizes(&words, is_request) };
    }
    let mut candidates = find_lengths(&words, unit, is_request);
    if !candidates.is_empty() && unit {
        return candidates;
    }
    candidates.extend(find_moments(&words, time));
    if candidates.is_empty() {
        candidates = find_names(&words);
    }
    candidates
}

fn find_sizes(words: &[String], is_request: bool) -> Vec<(ColumnRole, u32)> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&["list", "names", "name", "id", "ids"]) {
        return if has(NODES) && has(&["list", "names"]) { vec![(ColumnRole::NodeList, 2)] } else { Vec::new() };
    }
    if has(&["max", "min", "total", "free", "idle"]) && words.len() < 3 && !has(&["total"]) {
        return Vec::new();
    }
    let pick = |asked_for, use_role| if is_request { asked_for } else { use_role };
    let strong = |alone: &[&str]| if words.len() == 1 && has(alone) { 1 } else { 2 };
    if has(GPUS) {
        vec![(pick(ColumnRole::GpusAsked, ColumnRole::Gpus), strong(&["acc"]))]
    } else if has(CPUS) {
        vec![(pick(ColumnRole::CpusAsked, ColumnRole::Cpus), strong(&["cpu", "core", "proc", "slot"]))]
    } else {
        // A column `nodes` is a list to some and a count to others.
        let count = (pick(ColumnRole::NodesAsked, ColumnRole::Nodes), strong(&["node"]));
        // Nodes that a job asked for are not those that it got.
        if is_request { vec![count] } else { vec![count, (ColumnRole::NodeList, 1)] }
    }
}

/// Run times and limits.
fn find_lengths(words: &[String], unit: bool, is_request: bool) -> Vec<(ColumnRole, u32)> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let wall = has(&["wall", "clock"]);
    let bound = is_request || has(&["limit", "max", "maximum", "allowed", "estimate", "estimated", "elpl"]);
    let length = unit || wall || has(&["time", "duration", "elpl"]);
    let ran = has(&["run", "elapsed", "duration", "ran", "actual", "execution", "used", "running"]);
    let moment = has(&["start", "begin", "end", "stop", "finish", "submit", "submitted", "timestamp", "date", "at"]);
    if moment && !unit {
        return Vec::new();
    }
    match () {
        () if bound && (length || has(&["elpl"])) && !has(&["elapsed"]) => vec![(ColumnRole::Limit, 2)],
        () if ran && (length || has(&["elapsed", "duration"])) => {
            vec![(ColumnRole::Elapsed, 2), (ColumnRole::Limit, 1)]
        }
        () if ran && words.len() == 1 => vec![(ColumnRole::Elapsed, 1)],
        () if wall => vec![(ColumnRole::Limit, 1), (ColumnRole::Elapsed, 1)],
        () => Vec::new(),
    }
}

fn find_moments(words: &[String], time: bool) -> Vec<(ColumnRole, u32)> {
    let begins = |list: &[&str]| words.iter().any(|word| list.iter().any(|prefix| word.starts_with(prefix)));
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let single_role = |role| vec![(role, if time || words.len() == 1 { 2 } else { 1 })];
    match () {
        () if begins(&["eligib"]) => single_role(ColumnRole::Eligible),
        () if begins(&["submi", "creat", "arriv", "enqueue"]) || is(&["sub"]) => single_role(ColumnRole::Submit),
        () if is(&["queued", "queue"]) && time => vec![(ColumnRole::Submit, 1)],
        () if is(&["queued"]) => vec![(ColumnRole::Submit, 1)],
        () if begins(&["start", "begin", "launch", "dispatch", "sched"]) || is(&["beg"]) => {
            single_role(ColumnRole::Start)
        }
        () if is(&["run"]) && time && words.len() == 2 => vec![(ColumnRole::Start, 1)],
        () if begins(&["finish", "complet", "terminat", "delet", "inactive"])
            || is(&["end", "ended", "stop", "stopped"]) =>
        {
            single_role(ColumnRole::End)
        }
        () => Vec::new(),
    }
}

/// Names of jobs, people, places and states.
fn find_names(words: &[String]) -> Vec<(ColumnRole, u32)> {
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let number = is(&["id", "number", "no", "key", "uuid"]);
    match () {
        () if is(&["parent", "array"]) && !is(&["index", "task"]) => Vec::new(),
        () if is(&["exit", "rc"]) => vec![(ColumnRole::Exit, 2)],
        () if is(&["state", "status", "result", "outcome"]) => vec![(ColumnRole::State, 2)],
        () if is(&["user", "owner", "submitter", "login", "person"]) && !is(&["group"]) => vec![(ColumnRole::User, 2)],
        () if is(&["group", "grp"]) => vec![(ColumnRole::Group, 1)],
        () if is(&["account", "project", "acct", "bank", "proj"]) => vec![(ColumnRole::Account, 2)],
        () if is(&["partition", "vc"]) => vec![(ColumnRole::Partition, 2)],
        () if is(&["queue"]) => vec![(ColumnRole::Partition, if is(&["name", "id"]) { 2 } else { 1 })],
        () if is(&["qos"]) => vec![(ColumnRole::Qos, 2)],
        () if is(&["cluster"]) => vec![(ColumnRole::Cluster, 1)],
        () if is(&["task", "index"]) && (number || is(&["index"])) && !is(&["num", "n", "count"]) => {
            vec![(ColumnRole::Task, if is(&["task"]) { 2 } else { 1 })]
        }
        () if is(&["job"]) && number => vec![(ColumnRole::Job, 2)],
        () if number && words.len() < 3 => vec![(ColumnRole::Job, 1)],
        () if is(&["job"]) && words.len() == 1 => vec![(ColumnRole::Job, 1)],
        () => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_by_their_words() {
        use ColumnRole::{
            Account, Cpus, CpusAsked, Elapsed, End, Exit, Gpus, Job, Limit, Nodes, NodesAsked, Partition, Start, State,
            Submit, User,
        };
        let first = |name: &str| find_roles(name).first().map(|(role, _)| *role);
        for (name, role) in [
            ("n_cores", Some(Cpus)),
            ("numCores", Some(Cpus)),
            ("CORES_REQUESTED", Some(CpusAsked)),
            ("gpu_num", Some(Gpus)),
            ("num_nodes", Some(Nodes)),
            ("cpu_seconds", None),
            ("USED_CORE_HOURS", None),
            ("gpu_time", None),
            ("CPUTimeRAW", None),
            ("cpus_per_task", None),
            ("queue_wait_s", None),
            ("queue_minutes", None),
            ("QUEUED_DATE_ID", None),
            ("backlog_num_jobs", None),
            ("requested_minutes", Some(Limit)),
            ("max_minutes", Some(Limit)),
            ("limit_h", Some(Limit)),
            ("wallclock_req", Some(Limit)),
            ("run_minutes", Some(Elapsed)),
            ("elapsed", Some(Elapsed)),
            ("queued_at", Some(Submit)),
            ("queuedTimeMs", Some(Submit)),
            ("stime", Some(Start)),
            ("QTime", Some(Submit)),
            ("LOGIN_NAME", Some(User)),
            ("Resource_List.ncpus", Some(CpusAsked)),
            ("Resource_List.walltime", Some(Limit)),
            ("resources_used.walltime", Some(Elapsed)),
            ("REQTIME", Some(Limit)),
            ("USEDTIME", Some(Elapsed)),
            ("nhosts", Some(Nodes)),
            ("req_nodes", Some(NodesAsked)),
            ("QUEUED_TIMESTAMP", Some(Submit)),
            ("job_submit_time", Some(Submit)),
            ("t_run", Some(Start)),
            ("begin", Some(Start)),
            ("completed_at", Some(End)),
            ("COBALT_JOBID", Some(Job)),
            ("history_id", Some(Job)),
            ("USERNAME_GENID", Some(User)),
            ("PROJECT_NAME_GENID", Some(Account)),
            ("QUEUE_NAME", Some(Partition)),
            ("exit_status", Some(Exit)),
            ("job_status", Some(State)),
            ("colour", None),
        ] {
            assert_eq!(first(name), role, "{name}: {:?}", name_tokens(name));
        }
    }

    #[test]
    fn units_are_words_of_a_name() {
        for (name, expected) in [
            ("max_minutes", Some(LengthUnit::Minutes)),
            ("RUNTIME_SECONDS", Some(LengthUnit::Seconds)),
            ("limit_h", Some(LengthUnit::Hours)),
            ("runtime_ms", Some(LengthUnit::Millis)),
            ("ran_min", Some(LengthUnit::Minutes)),
            ("runtime", None),
            ("min_nodes", None),
        ] {
            assert_eq!(unit_of_name(name), expected, "{name}");
        }
    }
}
