//! Errors that end an import, each with its correction.

use drystone::model::{OutageError, ResourceError, WorkloadError};
use std::io;

/// The commands that give everything an import can use, Slurm's, for a period in the words of
/// `sacct -S` and `-E`.
pub fn ask_commands(from: &str, until: &str) -> String {
    format!("{HEAD}\nFROM={from} UNTIL={until}\n{COMMANDS}")
}

const HEAD: &str = "# In an empty folder on a host where Slurm's commands work, as a user that may see all jobs. The period is yours to choose:";

const COMMANDS: &str = "\
export TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0
sacct -a -D -P --noconvert -S $FROM -E $UNTIL --format=JobIDRaw,JobID,Cluster,User,Account,Group,UID,\\
Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,Suspended,TimelimitRaw,State,ExitCode,Priority,Reason,Flags,\\
Reservation,ReqNodes,NNodes,ReqCPUS,AllocCPUS,ReqMem,ReqTRES,AllocTRES,NodeList,\\
TotalCPU,NTasks,MaxRSS,TRESUsageInAve,TRESUsageInTot,Constraints > jobs.psv
sacctmgr -P show event Start=$FROM End=$UNTIL \\
format=Cluster,ClusterNodes,NodeName,Start,End,State,Reason,TRES > events.psv
sacctmgr -P show reservation Start=$FROM End=$UNTIL > resv.psv
scontrol -o show nodes > nodes.txt
scontrol -o show partitions > partitions.txt
scontrol show config > config.txt
sacctmgr -P show assoc tree > assoc.txt
sacctmgr -P show qos > qos.txt
CONF=$(sed -n 's/^SLURM_CONF *= *//p' config.txt)
cp \"$CONF\" slurm.conf; cp \"${CONF%/*}/gres.conf\" .    # where there is none: no GPUs have types
for f in $(sed -n 's/^ *[Ii]nclude  *//p' slurm.conf); do cp \"$(cd \"${CONF%/*}\" && realpath \"$f\")\" .; done
# then: drystone import FOLDER --timezone UTC --out site/";

/// Reason why an import failed, or an imported site could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    #[error("{file}: cannot be read: {source}")]
    Unreadable { file: String, source: io::Error },
    #[error(transparent)]
    Log(#[from] drystone::log::LogError),
    #[error(
        "{place}: the time {time} has no zone, and sacct prints the local time of the user that runs it; say which (--timezone \
         Europe/Berlin), or at the site: TZ=UTC SLURM_TIME_FORMAT=%s sacct …"
    )]
    NoZone {
        /// File and line.
        place: String,
        time: String,
    },
    #[error(
        "{place}: the time `{time}` is relative to the day on which it was printed, so that its date is lost; at the site: {}",
        crate::text::dated_command(time)
    )]
    RelativeTime {
        /// File and line.
        place: String,
        time: String,
    },
    #[error(
        "{place}: the time `{time}` is in a form that is not known; expected 2026-01-31T12:00:00 or seconds since 1970. Say how it is \
         written, as for strftime: {}",
        crate::text::likely_forms(time)
    )]
    TimeForm {
        /// File and line.
        place: String,
        time: String,
    },
    #[error(
        "{place}: the columns are padded with blanks and cut to their width, so that values are lost ({example}); at the site: sacct \
         --parsable2 …"
    )]
    Padded {
        /// File and line.
        place: String,
        /// A value that was cut, or the ruler beneath the header.
        example: String,
    },
    #[error(
        "{place}: no header line says what the columns are; say it (--columns JobIDRaw,Submit,… or --columns xdmod for Open XDMoD's 26), \
         or at the site: sacct without --noheader"
    )]
    NoHeader {
        /// File and line.
        place: String,
    },
    /// A table of jobs whose columns are not those of `sacct`: what it is, the line that would read
    /// it, what that line makes of its first rows, and what to check.
    #[error(
        "{file}: {looks}.\n  {condition}, add to the command: {options}\n  {outcome}.\n  {questions}\n  \
         A hyphen skips a column; names and tables by name: docs/accounting.md"
    )]
    TableColumns {
        file: String,
        /// Contents of the table.
        looks: String,
        /// Condition under which the options are right.
        condition: &'static str,
        /// The options that read it: a name for each column, or the name of a table; the notation
        /// of its times, if it has to be declared.
        options: String,
        /// Figures of its first rows.
        outcome: Box<str>,
        /// Questions and notes.
        questions: Box<str>,
    },
    #[error("{file}: no column says {what}; at the site: sacct -a -D -X --parsable2 --format={columns},…")]
    NoColumn {
        file: String,
        /// Name of the missing part.
        what: &'static str,
        /// The columns that say it.
        columns: &'static str,
    },
    #[error(
        "--columns: `{name}` is no column; expected names such as JobIDRaw,Submit,Start,End,… or a layout by name: {}",
        crate::readers::table::preset_names()
    )]
    BadColumn { name: String },
    #[error(
        "{place}: the file ends in the middle of a record; whatever wrote or copied it was cut off, and what should follow is missing. \
         Fetch it again, or at the site: {command}; --partial takes what is there"
    )]
    CutOff {
        /// File and line.
        place: String,
        /// The command to run again.
        command: String,
    },
    #[error("{file}: the table in Parquet cannot be read: {problem}")]
    BadTable {
        file: String,
        /// Description of the mistake.
        problem: String,
    },
    #[error("{place}: this is no JSON: {problem}; {advice}")]
    BadJson {
        /// File, line and column.
        place: String,
        /// Description of the mistake.
        problem: String,
        advice: &'static str,
    },
    #[error("{file}: {looks}; {advice}")]
    Unknown {
        file: String,
        /// Likely format.
        looks: String,
        advice: String,
    },
    #[error(
        "these files are accounting of several kinds, which are different machines or say the same twice; import one kind at a time:\n\n{list}"
    )]
    Mixed {
        /// The kinds, each with its files.
        list: String,
    },
    #[error(
        "no file holds jobs. There are:\n{list}\nAt the site: sacct -a -X -D -P --noconvert -S … -E … --format=… > jobs.psv; drystone import --ask \
         prints the whole of it"
    )]
    NoJobs {
        /// The kinds, each with its files.
        list: String,
    },
    #[error("there is no row of a job{said}. {advice}")]
    NoRows {
        /// Lines that there are.
        said: String,
        advice: String,
    },
    #[error("none of {rows} rows became a job ({rules}). {advice}")]
    NothingLeft {
        rows: u64,
        /// Rules that dropped rows, with counts.
        rules: String,
        advice: String,
    },
    #[error("the rows are of several clusters ({clusters}); import one at a time: --cluster NAME")]
    SeveralClusters {
        /// Their names and rows.
        clusters: String,
    },
    #[error(
        "{file} describes another machine: {evidence}. Give the configuration of the cluster that ran these jobs: there, scontrol -o \
         show nodes > nodes.txt; scontrol -o show partitions > partitions.txt. Without --machine the machine is inferred from the jobs"
    )]
    OtherMachine {
        file: String,
        /// Evidence of the mismatch.
        evidence: String,
    },
    #[error(transparent)]
    Conf(#[from] drystone_slurm::conf::ConfError),
    #[error("{place}: {problem}")]
    Machine {
        /// File and line.
        place: String,
        /// Description of the mistake.
        problem: String,
    },
    #[error("{0}")]
    Option(String),
    #[error("{folder}: {problem}")]
    NoSite {
        folder: String,
        /// Description of the mistake and its correction.
        problem: String,
    },
    #[error("{file}: {problem}; import the site again")]
    Damaged {
        file: String,
        /// Description of the mistake.
        problem: String,
    },
    #[error("{file}: cannot be written: {source}")]
    Write { file: String, source: io::Error },
    #[error(transparent)]
    Accounts(#[from] drystone_slurm::accounts::AccountsError),
    #[error("interrupted")]
    Stopped,
}

impl SiteError {
    /// Returns whether a file is not what a reader expects, from its first lines on.
    pub(crate) fn is_about_form(&self) -> bool {
        matches!(
            self,
            SiteError::TableColumns { .. }
                | SiteError::NoHeader { .. }
                | SiteError::NoColumn { .. }
                | SiteError::Padded { .. }
                | SiteError::Unknown { .. }
                | SiteError::BadTable { .. }
                | SiteError::BadJson { .. }
        )
    }

    /// The file it is about, and the line from 1, as far as they are known.
    pub fn file_and_line(&self) -> (Option<&str>, Option<u64>) {
        match self {
            SiteError::NoZone { place, .. }
            | SiteError::RelativeTime { place, .. }
            | SiteError::TimeForm { place, .. }
            | SiteError::Padded { place, .. }
            | SiteError::NoHeader { place }
            | SiteError::CutOff { place, .. }
            | SiteError::BadJson { place, .. }
            | SiteError::Machine { place, .. } => split_place(place),
            SiteError::Unreadable { file, .. }
            | SiteError::NoColumn { file, .. }
            | SiteError::TableColumns { file, .. }
            | SiteError::BadTable { file, .. }
            | SiteError::Unknown { file, .. }
            | SiteError::OtherMachine { file, .. }
            | SiteError::Damaged { file, .. }
            | SiteError::Write { file, .. } => (Some(file), None),
            _ => (None, None),
        }
    }
}

/// `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE`.
fn split_place(place: &str) -> (Option<&str>, Option<u64>) {
    let cut =
        |text: &str| text.rsplit_once(':').and_then(|(file, digits)| Some((file.len(), digits.trim().parse().ok()?)));
    let Some((end, last)) = cut(place) else { return (Some(place), None) };
    match cut(&place[..end]) {
        Some((shorter, line)) => (Some(&place[..shorter]), Some(line)),
        None => (Some(&place[..end]), Some(last)),
    }
}

/// Reason why a pool is no workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error("capacity.csv: {0}")]
    Outages(#[from] OutageError),
    #[error(transparent)]
    Resources(#[from] ResourceError),
    #[error("{0}")]
    Table(String),
}
