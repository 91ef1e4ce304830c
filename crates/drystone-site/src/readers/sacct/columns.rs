//! The columns of sacct's text by name.

use crate::error::SiteError;
use crate::text::{
    Id, RecordState, TimeForm, is_missing, limit_minutes, limit_span, memory_request, parse_decimal, parse_span,
    parse_tres, split_state,
};

macro_rules! columns {
    ($($column:ident = $($name:literal)|+;)*) => {
        /// A column that an import reads.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub(crate) enum SacctColumn { $($column,)* }

        pub(crate) const COLUMNS: usize = [$(SacctColumn::$column,)*].len();

        /// The column of a name in small letters, without blanks, hyphens and underscores.
        fn match_plain_name(name: &str) -> Option<SacctColumn> {
            match name { $($($name)|+ => Some(SacctColumn::$column),)* _ => None }
        }
    };
}

columns! {
    JobId = "jobid";
    JobIdRaw = "jobidraw" | "jobuniqueid";
    JobKey = "jobkey";
    TaskId = "taskid";
    JobIndex = "jobindex";
    ArrayId = "arrayid";
    ArrayTasks = "arraytasks";
    Instances = "instances";
    Cluster = "cluster" | "clustername";
    User = "user" | "userid" | "username";
    Uid = "uid";
    Account = "account" | "accountid" | "acct";
    Group = "group";
    Gid = "gid" | "groupid";
    Partition = "partition" | "partitionid";
    Qos = "qos";
    Submit = "submit" | "submittime";
    Eligible = "eligible" | "eligibletime";
    Start = "start" | "starttime";
    End = "end" | "endtime";
    Elapsed = "elapsed" | "elapsedtime" | "runtime";
    ElapsedRaw = "elapsedraw";
    ElapsedElse = "elapsedelse";
    WaitRaw = "waitraw";
    Suspended = "suspended";
    TimeLimit = "timelimit";
    TimeLimitRaw = "timelimitraw" | "timelimitminutes";
    LimitSeconds = "timelimitsec" | "timelimitseconds";
    State = "state" | "jobstate";
    SlurmState = "slurmstate";
    CondorState = "condorstate";
    SwfState = "swfstate";
    ExitState = "exitstate";
    ExitCode = "exitcode";
    Priority = "priority";
    Reason = "reason";
    Flags = "flags";
    Reservation = "reservation";
    Constraints = "constraints";
    ReqNodes = "reqnodes" | "numnodesreq" | "nodesreq";
    AllocNodes = "nnodes" | "allocnodes" | "numnodesalloc" | "nodesalloc";
    ReqCpus = "reqcpus" | "numcoresreq" | "numcpusreq" | "processorsreq" | "coresreq" | "cpusreq" | "reqcores";
    AllocCpus = "alloccpus" | "ncpus" | "numcoresalloc" | "numcpusalloc" | "coresalloc" | "cpusalloc" | "alloccores";
    ReqGpus = "reqgpus" | "numgpusreq" | "gpusreq";
    AllocGpus = "allocgpus" | "ngpus" | "numgpusalloc" | "gpusalloc";
    ReqMem = "reqmem";
    MemoryMb = "reqmemtotal";
    ReqTres = "reqtres";
    AllocTres = "alloctres";
    ReqGres = "reqgres";
    AllocGres = "allocgres";
    Licenses = "licenses";
    NodeList = "nodelist" | "hostlist";
    Nodes = "nodes";
    JobName = "jobname" | "name";
    SubmitLine = "submitline";
    TotalCpu = "totalcpu";
    MaxRss = "maxrss";
    Tasks = "ntasks";
    UsageAverage = "tresusageinave";
    UsageTotal = "tresusageintot";
}

/// Columns of free text, which may contain anything, even delimiters and line ends.
const FREE: &[&str] = &[
    "jobname",
    "name",
    "comment",
    "admincomment",
    "systemcomment",
    "workdir",
    "submitline",
    "extra",
    "container",
    "stdout",
    "stderr",
    "stdin",
];

/// Further columns of sacct, of which an import uses few. They tell a header from a row.
const UNUSED: &[&str] = &[
    "allocgres",
    "associd",
    "avecpu",
    "avecpufreq",
    "avediskread",
    "avediskwrite",
    "avepages",
    "averss",
    "avevmsize",
    "blockid",
    "consumedenergy",
    "consumedenergyraw",
    "cputime",
    "cputimeraw",
    "dbindex",
    "derivedexitcode",
    "failednode",
    "jobname",
    "layout",
    "maxdiskread",
    "maxdiskreadnode",
    "maxdiskreadtask",
    "maxdiskwrite",
    "maxdiskwritenode",
    "maxdiskwritetask",
    "maxpages",
    "maxpagesnode",
    "maxpagestask",
    "maxrss",
    "maxrssnode",
    "maxrsstask",
    "maxvmsize",
    "maxvmsizenode",
    "maxvmsizetask",
    "mcslabel",
    "mincpu",
    "mincpunode",
    "mincputask",
    "ntasks",
    "planned",
    "plannedcpu",
    "plannedcpuraw",
    "qosraw",
    "qosreq",
    "reqcpufreq",
    "reqcpufreqgov",
    "reqcpufreqmax",
    "reqcpufreqmin",
    "reqreservation",
    "reservationid",
    "reserved",
    "restarts",
    "resvcpu",
    "resvcpuraw",
    "segmentsize",
    "sluid",
    "systemcpu",
    "timelimitraw",
    "totalcpu",
    "tresusageinave",
    "tresusageinmax",
    "tresusageinmaxnode",
    "tresusageinmaxtask",
    "tresusageinmin",
    "tresusageinminnode",
    "tresusageinmintask",
    "tresusageintot",
    "tresusageoutave",
    "tresusageoutmax",
    "tresusageoutmaxnode",
    "tresusageoutmaxtask",
    "tresusageoutmin",
    "tresusageoutminnode",
    "tresusageoutmintask",
    "tresusageouttot",
    "usercpu",
    "wckey",
    "wckeyid",
];

/// Columns of tables that are nearly those of sacct, of no use either.
const UNUSED_ELSEWHERE: &[&str] =
    &["memreq", "memalloc", "shared", "numtasks", "derivedec", "powerflags", "threadspercore"];

/// Change of a value before it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueChange {
    /// Nothing.
    Keep,
    /// It is divided and rounded up.
    Over(u32),
    /// It is multiplied: minutes and hours become seconds.
    Times(u32),
    /// So much is added.
    Plus(u32),
    /// A number stands for it, unless it is one.
    Key,
    /// It is a number of a state.
    Code(StateCode),
}

/// Numbers that stand for states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StateCode {
    /// Those of Slurm's database.
    Slurm,
    /// `JobStatus` of HTCondor.
    Condor,
    /// The status of the Standard Workload Format.
    Swf,
    /// An exit status: 0 is success.
    Exit,
}

impl StateCode {
    pub(super) fn state_word(self, number: u64) -> &'static str {
        const SLURM: [&str; 12] = [
            "PENDING",
            "RUNNING",
            "SUSPENDED",
            "COMPLETED",
            "CANCELLED",
            "FAILED",
            "TIMEOUT",
            "NODE_FAIL",
            "PREEMPTED",
            "BOOT_FAIL",
            "DEADLINE",
            "OUT_OF_MEMORY",
        ];
        // Idle, running, removed, completed, held, transferring output, suspended.
        const CONDOR: [&str; 7] = ["PENDING", "RUNNING", "CANCELLED", "COMPLETED", "PENDING", "RUNNING", "SUSPENDED"];
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match self {
            // Flags stand above the lowest byte.
            StateCode::Slurm => SLURM.get(at & 0xff).copied().unwrap_or_default(),
            StateCode::Condor => at.checked_sub(1).and_then(|at| CONDOR.get(at)).copied().unwrap_or_default(),
            StateCode::Swf => match number {
                0 => "FAILED",
                1 => "COMPLETED",
                5 => "CANCELLED",
                _ => "",
            },
            StateCode::Exit => {
                if number == 0 {
                    "COMPLETED"
                } else {
                    "FAILED"
                }
            }
        }
    }
}

/// Parses a name of `--columns`: `AllocCPUS`, `AllocCPUS/1000`, `ElapsedRaw*60`,
/// `Start+1672531200`.
pub(crate) fn parse_column_name(name: &str) -> (Option<SacctColumn>, ValueChange) {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&n| n > 0);
    let sign = name.find(['/', '+', '*']);
    let (name, change) = match sign.map(|at| (&name[..at], &name[at..=at], number(&name[at + 1..]))) {
        Some((base, "/", Some(by))) => (base, ValueChange::Over(by)),
        Some((base, "*", Some(by))) => (base, ValueChange::Times(by)),
        Some((base, _, Some(by))) => (base, ValueChange::Plus(by)),
        _ => (name, ValueChange::Keep),
    };
    match find_column(name) {
        Some(SacctColumn::JobKey) => (Some(SacctColumn::JobId), ValueChange::Key),
        Some(SacctColumn::SlurmState) => (Some(SacctColumn::State), ValueChange::Code(StateCode::Slurm)),
        Some(SacctColumn::CondorState) => (Some(SacctColumn::State), ValueChange::Code(StateCode::Condor)),
        Some(SacctColumn::SwfState) => (Some(SacctColumn::State), ValueChange::Code(StateCode::Swf)),
        Some(SacctColumn::ExitState) => (Some(SacctColumn::State), ValueChange::Code(StateCode::Exit)),
        column => (column, change),
    }
}

fn plain_name(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

pub(crate) fn find_column(name: &str) -> Option<SacctColumn> {
    match_plain_name(&plain_name(name))
}

/// Returns whether a name is a column of sacct, of use or not.
pub(crate) fn is_column(name: &str) -> bool {
    let name = plain_name(name);
    let is_in = |list: &[&str]| list.contains(&name.as_str());
    match_plain_name(&name).is_some() || is_in(FREE) || is_in(UNUSED) || is_in(UNUSED_ELSEWHERE)
}

/// Returns whether a name is one that sacct itself prints, of use or not: no word of another table.
pub(crate) fn is_of_sacct(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let is_in = |list: &[&str]| list.contains(&small.as_str());
    name.is_empty() || is_canonical(name) || is_in(FREE) || is_in(UNUSED)
}

/// Returns whether a name is sacct's own of a column, not one of another table for the same.
pub(crate) fn is_canonical(name: &str) -> bool {
    const OWN: &[&str] = &[
        "jobid",
        "jobidraw",
        "cluster",
        "user",
        "uid",
        "account",
        "group",
        "gid",
        "partition",
        "qos",
        "submit",
        "eligible",
        "start",
        "end",
        "elapsed",
        "elapsedraw",
        "suspended",
        "timelimit",
        "timelimitraw",
        "state",
        "exitcode",
        "priority",
        "reason",
        "flags",
        "reservation",
        "constraints",
        "reqnodes",
        "nnodes",
        "allocnodes",
        "reqcpus",
        "alloccpus",
        "ncpus",
        "reqmem",
        "reqtres",
        "alloctres",
        "reqgres",
        "allocgres",
        "licenses",
        "nodelist",
        "jobname",
        "submitline",
    ];
    OWN.contains(&name.to_ascii_lowercase().as_str())
}

/// Returns whether a column is free text.
pub(crate) fn is_free(name: &str) -> bool {
    FREE.contains(&plain_name(name).as_str())
}

/// The names of a layout, given by its name or as a list.
pub(crate) fn layout_names(layout: &str) -> Result<Vec<String>, SiteError> {
    if let Some(preset) = crate::readers::table::find_preset(layout) {
        return Ok(preset.columns.iter().map(|(_, column)| (*column).to_string()).collect());
    }
    let names: Vec<String> = layout
        .split([',', '|', ' '])
        .filter(|n| !n.is_empty())
        .map(|n| n.split('%').next().unwrap_or(n).to_string())
        .collect();
    if let Some(name) =
        names.iter().find(|name| parse_column_name(name).0.is_none() && !is_column(name) && name.as_str() != "-")
    {
        return Err(SiteError::BadColumn { name: name.clone() });
    }
    let of = |name: &String| parse_column_name(name).0;
    let again =
        |(at, name): &(usize, &String)| of(name).is_some() && names[..*at].iter().any(|before| of(before) == of(name));
    match names.iter().enumerate().find(again) {
        Some((at, name)) => {
            let first = names[..at].iter().find(|before| of(before) == of(name)).unwrap_or(name);
            let means = if first == name { String::new() } else { format!(" (as `{first}`)") };
            Err(SiteError::Option(format!(
                "--columns: `{name}` is named twice{means}; each name stands for one column, and a hyphen for one to skip"
            )))
        }
        None => Ok(names),
    }
}

pub(super) fn can_hold(column: SacctColumn, text: &[u8], form: &TimeForm) -> bool {
    if matches!(column, SacctColumn::JobId) {
        return Id::parse_id(text).is_some();
    }
    if is_missing(text) {
        return true;
    }
    let number = || parse_decimal(text).is_some();
    match column {
        SacctColumn::JobIdRaw => Id::parse_id(text).is_some(),
        SacctColumn::Submit | SacctColumn::Eligible | SacctColumn::Start | SacctColumn::End => {
            form.read_time(text).is_ok()
        }
        SacctColumn::Elapsed | SacctColumn::ElapsedRaw | SacctColumn::Suspended => {
            parse_span(text).is_some() || number()
        }
        SacctColumn::TimeLimit | SacctColumn::TimeLimitRaw => {
            limit_minutes(text).or_else(|| limit_span(text)).is_some()
        }
        SacctColumn::LimitSeconds
        | SacctColumn::Uid
        | SacctColumn::Gid
        | SacctColumn::AllocNodes
        | SacctColumn::Priority => number(),
        SacctColumn::ReqCpus | SacctColumn::AllocCpus | SacctColumn::ReqGpus | SacctColumn::AllocGpus => number(),
        SacctColumn::ReqNodes => crate::text::split_leading(text).is_some(),
        SacctColumn::State => is_state(text),
        SacctColumn::ExitCode => text.iter().all(|b| b.is_ascii_digit() || *b == b':'),
        SacctColumn::ReqMem => memory_request(text).is_some(),
        SacctColumn::ReqTres | SacctColumn::AllocTres => parse_tres(text).is_some(),
        SacctColumn::NodeList | SacctColumn::Nodes => !text.contains(&b'='),
        SacctColumn::User | SacctColumn::Account | SacctColumn::Partition | SacctColumn::Qos => !text.contains(&b' '),
        _ => true,
    }
}

/// A state that is known, or what looks like one.
fn is_state(text: &[u8]) -> bool {
    let word = text.split(|b| *b == b' ').next().unwrap_or_default();
    split_state(text).0 != RecordState::Other
        || (word.len() > 3 && word.iter().all(|b| b.is_ascii_uppercase() || *b == b'_'))
}

/// Columns of use, beside the number of tasks.
pub(super) const USAGE_COLUMNS: &[SacctColumn] =
    &[SacctColumn::TotalCpu, SacctColumn::MaxRss, SacctColumn::UsageAverage, SacctColumn::UsageTotal];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_any_case() {
        assert_eq!(find_column("JOBIDRAW"), Some(SacctColumn::JobIdRaw));
        assert_eq!(find_column("submit_time"), Some(SacctColumn::Submit));
        assert_eq!(find_column("AveRSS"), None);
        assert_eq!(find_column("MaxRSS"), Some(SacctColumn::MaxRss));
        assert!(is_column("AveRSS") && is_column("job_name") && !is_column("4711"));
        assert!(is_free("SubmitLine") && !is_free("NodeList"));
    }

    #[test]
    fn values_may_be_changed_on_the_way() {
        assert_eq!(parse_column_name("AllocCPUS/100"), (Some(SacctColumn::AllocCpus), ValueChange::Over(100)));
        assert_eq!(parse_column_name("Start+60"), (Some(SacctColumn::Start), ValueChange::Plus(60)));
        assert_eq!(parse_column_name("ElapsedRaw*60"), (Some(SacctColumn::ElapsedRaw), ValueChange::Times(60)));
        assert_eq!(parse_column_name("JobKey"), (Some(SacctColumn::JobId), ValueChange::Key));
        assert_eq!(parse_column_name("Colour/7"), (None, ValueChange::Over(7)));
    }

    #[test]
    fn layouts_have_names_or_are_lists() {
        assert_eq!(layout_names("xdmod").expect("a layout").len(), 26);
        assert_eq!(layout_names("JobIDRaw,NodeList%200,-").expect("a list"), ["JobIDRaw", "NodeList", "-"]);
        assert!(matches!(layout_names("JobID,Colour"), Err(SiteError::BadColumn { name }) if name == "Colour"));
        // Each name once, however it is written; columns that are not read may have any.
        for (list, message) in [
            ("AllocCPUS,AllocCPUS", "`AllocCPUS` is named twice;"),
            ("AllocCPUS,Start,ncpus/2", "`ncpus/2` is named twice (as `AllocCPUS`)"),
            ("JobID,JobKey", "`JobKey` is named twice (as `JobID`)"),
        ] {
            let error = layout_names(list).expect_err("twice").to_string();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!(layout_names("-,JobID,-,Comment,Comment").expect("a list").len(), 5);
    }
}
