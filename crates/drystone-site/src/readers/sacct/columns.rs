//! The columns of sacct's text by name.

use crate::error::SiteError;

macro_rules! columns {
    ($($column:ident = $($name:literal)|+;)*) => {
        /// A column that an import reads.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub(crate) enum Column { $($column,)* }

        /// How many there are.
        pub(crate) const COLUMNS: usize = [$(Column::$column,)*].len();

        /// The column of a name in small letters, without blanks, hyphens and underscores.
        fn named(name: &str) -> Option<Column> {
            match name { $($($name)|+ => Some(Column::$column),)* _ => None }
        }
    };
}

columns! {
    JobId = "jobid";
    JobIdRaw = "jobidraw" | "jobuniqueid";
    Cluster = "cluster" | "clustername";
    User = "user" | "userid" | "username";
    Uid = "uid";
    Account = "account" | "accountid" | "acct";
    Group = "group";
    Gid = "gid";
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
    TimeLimitRaw = "timelimitraw";
    LimitSeconds = "timelimitsec" | "timelimitseconds";
    State = "state" | "jobstate";
    ExitCode = "exitcode";
    Priority = "priority";
    Reason = "reason";
    Flags = "flags";
    Reservation = "reservation";
    Constraints = "constraints";
    ReqNodes = "reqnodes";
    AllocNodes = "nnodes" | "allocnodes" | "numnodesalloc";
    ReqCpus = "reqcpus";
    AllocCpus = "alloccpus" | "ncpus";
    ReqMem = "reqmem";
    MemoryMb = "reqmemtotal";
    ReqTres = "reqtres";
    AllocTres = "alloctres";
    ReqGres = "reqgres";
    AllocGres = "allocgres";
    NodeList = "nodelist" | "nodes";
    JobName = "jobname" | "name";
    SubmitLine = "submitline";
}

/// Columns of free text, which may hold anything: delimiters and line ends, too.
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
    "licenses",
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

/// The 26 columns of Open XDMoD's dumps, which have no header.
pub(crate) const XDMOD: &str = "jobid jobidraw cluster partition qos account group gid user uid submit eligible start end elapsed exitcode \
     state nnodes ncpus reqcpus reqmem reqtres alloctres timelimit nodelist jobname";

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The column of a name.
pub(crate) fn column(name: &str) -> Option<Column> {
    named(&plain(name))
}

/// Whether a name is a column of sacct, of use or not.
pub(crate) fn is_column(name: &str) -> bool {
    let name = plain(name);
    named(&name).is_some() || FREE.contains(&name.as_str()) || UNUSED.contains(&name.as_str())
}

/// Whether a column is free text.
pub(crate) fn is_free(name: &str) -> bool {
    FREE.contains(&plain(name).as_str())
}

/// The names of a layout, given by its name or as a list.
pub(crate) fn layout(given: &str) -> Result<Vec<String>, SiteError> {
    if given.eq_ignore_ascii_case("xdmod") {
        return Ok(XDMOD.split_whitespace().map(String::from).collect());
    }
    let names: Vec<String> = given
        .split([',', '|', ' '])
        .filter(|n| !n.is_empty())
        .map(|n| n.split('%').next().unwrap_or(n).to_string())
        .collect();
    match names.iter().find(|name| !is_column(name) && name.as_str() != "-") {
        Some(name) => Err(SiteError::BadColumn { name: name.clone() }),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_any_case() {
        assert_eq!(column("JOBIDRAW"), Some(Column::JobIdRaw));
        assert_eq!(column("submit_time"), Some(Column::Submit));
        assert_eq!(column("MaxRSS"), None);
        assert!(is_column("MaxRSS") && is_column("job_name") && !is_column("4711"));
        assert!(is_free("SubmitLine") && !is_free("NodeList"));
    }

    #[test]
    fn layouts_have_names_or_are_lists() {
        assert_eq!(layout("xdmod").expect("a layout").len(), 26);
        assert_eq!(layout("JobIDRaw,NodeList%200,-").expect("a list"), ["JobIDRaw", "NodeList", "-"]);
        assert!(matches!(layout("JobID,Colour"), Err(SiteError::BadColumn { name }) if name == "Colour"));
    }
}
