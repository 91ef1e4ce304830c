//! The columns of sacct's text by name.

use crate::error::SiteError;
use crate::text::{
    Id, RecordState, TimeForm, decimal, is_missing, limit_minutes, limit_span, memory_request, span, state, tres,
};

macro_rules! columns {
    ($($column:ident = $($name:literal)|+;)*) => {
        /// A column that an import reads.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub(crate) enum SacctColumn { $($column,)* }

        pub(crate) const COLUMNS: usize = [$(SacctColumn::$column,)*].len();

        /// The column of a name in small letters, without blanks, hyphens and underscores.
        fn named(name: &str) -> Option<SacctColumn> {
            match name { $($($name)|+ => Some(SacctColumn::$column),)* _ => None }
        }
    };
}

columns! {
    JobId = "jobid";
    JobIdRaw = "jobidraw" | "jobuniqueid";
    JobKey = "jobkey";
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
    Suspended = "suspended";
    TimeLimit = "timelimit";
    TimeLimitRaw = "timelimitraw" | "timelimitminutes";
    LimitSeconds = "timelimitsec" | "timelimitseconds";
    State = "state" | "jobstate";
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

/// Columns of sacct that an import has no use for. They tell a header from a row.
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
    /// A number stands for it.
    Key,
}

/// Parses a name of `--columns`: `AllocCPUS`, `AllocCPUS/1000`, `ElapsedRaw*60`,
/// `Start+1672531200`.
pub(crate) fn said(name: &str) -> (Option<SacctColumn>, ValueChange) {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&n| n > 0);
    let sign = name.find(['/', '+', '*']);
    let (name, change) = match sign.map(|at| (&name[..at], &name[at..=at], number(&name[at + 1..]))) {
        Some((base, "/", Some(by))) => (base, ValueChange::Over(by)),
        Some((base, "*", Some(by))) => (base, ValueChange::Times(by)),
        Some((base, _, Some(by))) => (base, ValueChange::Plus(by)),
        _ => (name, ValueChange::Keep),
    };
    match column(name) {
        Some(SacctColumn::JobKey) => (Some(SacctColumn::JobId), ValueChange::Key),
        column => (column, change),
    }
}

/// The name here that a column of another table could have, by its own.
pub(crate) fn guess(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    let asked = has(&["req", "ask", "plan", "want"]);
    let pick = |asked_for: &'static str, held: &'static str| Some(if asked { asked_for } else { held });
    // The unit that a name ends in: what is said in another than seconds is converted.
    let ends = |words: &[&str]| words.iter().any(|word| plain.ends_with(word));
    let unit = |seconds, minutes, hours, thousandths| match () {
        () if ends(&["minutes", "minute", "mins", "min"]) => Some(minutes),
        () if ends(&["hours", "hour", "hrs", "inh"]) => Some(hours),
        () if ends(&["millis", "milliseconds", "ms", "msec"]) => Some(thousandths),
        () => Some(seconds),
    };
    match () {
        () if has(&["gpu", "accelerator"]) => pick("ReqGPUS", "AllocGPUS"),
        () if has(&["cpu", "core", "proc", "slot"]) => pick("ReqCPUS", "AllocCPUS"),
        () if has(&[
            "limit",
            "walltime",
            "wallclock",
            "elpl",
            "timereq",
            "reqtime",
            "requestedtime",
            "timerequested",
        ]) =>
        {
            unit("TimelimitSeconds", "TimelimitRaw", "TimelimitSeconds*3600", "TimelimitSeconds/1000")
        }
        () if has(&["submi", "queued", "qtime", "creat", "arriv", "enqueue"]) => Some("Submit"),
        () if has(&["eligib"]) => Some("Eligible"),
        () if has(&["start", "begin", "launch", "dispatch", "scheduledtime"]) => Some("Start"),
        () if has(&["endtime", "finish", "complet", "stoptime", "deletion"]) || plain == "end" => Some("End"),
        () if has(&["runtime", "elapsed", "duration"]) => {
            unit("ElapsedRaw", "ElapsedRaw*60", "ElapsedRaw*3600", "ElapsedRaw/1000")
        }
        () if has(&["node"]) => pick("ReqNodes", "NNodes"),
        () if has(&["state", "status"]) => Some("State"),
        () if has(&["user", "owner"]) => Some("User"),
        () if has(&["account", "project"]) => Some("Account"),
        () if has(&["partition", "queue"]) => Some("Partition"),
        () if plain == "id" || plain == "job" || has(&["jobid", "jobnumber"]) => Some("JobID"),
        () => None,
    }
}

/// The 26 columns of Open XDMoD's dumps, which have no header.
pub(crate) const XDMOD: &str = "jobid jobidraw cluster partition qos account group gid user uid submit eligible start end elapsed exitcode \
     state nnodes ncpus reqcpus reqmem reqtres alloctres timelimit nodelist jobname";

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

pub(crate) fn column(name: &str) -> Option<SacctColumn> {
    named(&plain(name))
}

/// Returns whether a name is a column of sacct, of use or not.
pub(crate) fn is_column(name: &str) -> bool {
    let name = plain(name);
    let known = |list: &[&str]| list.contains(&name.as_str());
    named(&name).is_some() || known(FREE) || known(UNUSED) || known(UNUSED_ELSEWHERE)
}

/// Returns whether a column is free text.
pub(crate) fn is_free(name: &str) -> bool {
    FREE.contains(&plain(name).as_str())
}

/// The names of a layout, given by its name or as a list.
pub(crate) fn layout(given: &str) -> Result<Vec<String>, SiteError> {
    if given.eq_ignore_ascii_case("xdmod") {
        return Ok(XDMOD.split_whitespace().map(String::from).collect());
    }
    if let Some(preset) = super::presets::preset(given) {
        return Ok(preset.columns.iter().map(|(_, ours)| (*ours).to_string()).collect());
    }
    let names: Vec<String> = given
        .split([',', '|', ' '])
        .filter(|n| !n.is_empty())
        .map(|n| n.split('%').next().unwrap_or(n).to_string())
        .collect();
    match names.iter().find(|name| said(name).0.is_none() && !is_column(name) && name.as_str() != "-") {
        Some(name) => Err(SiteError::BadColumn { name: name.clone() }),
        None => Ok(names),
    }
}

/// Returns whether a text may stand in a column.
pub(super) fn holds(column: SacctColumn, text: &[u8], form: &TimeForm) -> bool {
    if matches!(column, SacctColumn::JobId) {
        return Id::read(text).is_some();
    }
    if is_missing(text) {
        return true;
    }
    let number = || decimal(text).is_some();
    match column {
        SacctColumn::JobIdRaw => Id::read(text).is_some(),
        SacctColumn::Submit | SacctColumn::Eligible | SacctColumn::Start | SacctColumn::End => form.read(text).is_ok(),
        SacctColumn::Elapsed | SacctColumn::ElapsedRaw | SacctColumn::Suspended => span(text).is_some() || number(),
        SacctColumn::TimeLimit | SacctColumn::TimeLimitRaw => {
            limit_minutes(text).or_else(|| limit_span(text)).is_some()
        }
        SacctColumn::LimitSeconds
        | SacctColumn::Uid
        | SacctColumn::Gid
        | SacctColumn::AllocNodes
        | SacctColumn::Priority => number(),
        SacctColumn::ReqCpus | SacctColumn::AllocCpus | SacctColumn::ReqGpus | SacctColumn::AllocGpus => number(),
        SacctColumn::ReqNodes => crate::text::leading(text).is_some(),
        SacctColumn::State => is_state(text),
        SacctColumn::ExitCode => text.iter().all(|b| b.is_ascii_digit() || *b == b':'),
        SacctColumn::ReqMem => memory_request(text).is_some(),
        SacctColumn::ReqTres | SacctColumn::AllocTres => tres(text).is_some(),
        SacctColumn::NodeList | SacctColumn::Nodes => !text.contains(&b'='),
        SacctColumn::User | SacctColumn::Account | SacctColumn::Partition | SacctColumn::Qos => !text.contains(&b' '),
        _ => true,
    }
}

/// A state that is known, or what looks like one.
fn is_state(text: &[u8]) -> bool {
    let word = text.split(|b| *b == b' ').next().unwrap_or_default();
    state(text).0 != RecordState::Other || (word.len() > 3 && word.iter().all(|b| b.is_ascii_uppercase() || *b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_any_case() {
        assert_eq!(column("JOBIDRAW"), Some(SacctColumn::JobIdRaw));
        assert_eq!(column("submit_time"), Some(SacctColumn::Submit));
        assert_eq!(column("MaxRSS"), None);
        assert!(is_column("MaxRSS") && is_column("job_name") && !is_column("4711"));
        assert!(is_free("SubmitLine") && !is_free("NodeList"));
    }

    #[test]
    fn values_may_be_changed_on_the_way() {
        assert_eq!(said("AllocCPUS/100"), (Some(SacctColumn::AllocCpus), ValueChange::Over(100)));
        assert_eq!(said("Start+60"), (Some(SacctColumn::Start), ValueChange::Plus(60)));
        assert_eq!(said("ElapsedRaw*60"), (Some(SacctColumn::ElapsedRaw), ValueChange::Times(60)));
        assert_eq!(said("JobKey"), (Some(SacctColumn::JobId), ValueChange::Key));
        assert_eq!(said("Colour/7"), (None, ValueChange::Over(7)));
        for preset in super::super::presets::PRESETS {
            for (_, ours) in preset.columns {
                assert!(*ours == "-" || said(ours).0.is_some(), "{ours}");
            }
        }
    }

    #[test]
    fn names_of_other_tables_are_guessed() {
        for (name, ours) in [
            ("n_cores", Some("AllocCPUS")),
            ("requested_gpus", Some("ReqGPUS")),
            ("walltime", Some("TimelimitSeconds")),
            ("queued_at", Some("Submit")),
            ("elapsed_minutes", Some("ElapsedRaw*60")),
            ("walltime_hours", Some("TimelimitSeconds*3600")),
            ("limit_min", Some("TimelimitRaw")),
            ("runtime_ms", Some("ElapsedRaw/1000")),
            ("requestedTime", Some("TimelimitSeconds")),
            ("colour", None),
        ] {
            assert_eq!(guess(name), ours, "{name}");
        }
    }

    #[test]
    fn layouts_have_names_or_are_lists() {
        assert_eq!(layout("xdmod").expect("a layout").len(), 26);
        assert_eq!(layout("JobIDRaw,NodeList%200,-").expect("a list"), ["JobIDRaw", "NodeList", "-"]);
        assert!(matches!(layout("JobID,Colour"), Err(SiteError::BadColumn { name }) if name == "Colour"));
    }
}
