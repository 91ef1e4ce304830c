//! Recognition of a file by its beginning.

use crate::foreign::{self, JsonShape};
use crate::readers::sacct::{FirstLine, RowHeader, TextLayout};
use crate::readers::{Carrier, table};
use crate::text::{Id, is_message, is_remark};

drystone::word_enum! {
    /// A description of a machine.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub(crate) enum MachineSource {
        SlurmConf = "slurm.conf",
        Nodes = "scontrol show nodes",
        Partitions = "scontrol show partitions",
        Config = "scontrol show config",
        Sinfo = "sinfo --json",
        PbsNodes = "pbsnodes -av",
        PbsNodesJson = "pbsnodes -av -F json",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FileKind {
    Jobs(Carrier),
    /// A machine, or a part of its description.
    Machine(MachineSource),
    /// `sacctmgr show event`.
    Events,
    /// `sacctmgr show reservation`.
    Reservations,
    /// `scontrol show reservation`.
    ScontrolReservations,
    /// `sacctmgr show qos` or `show assoc`, a `sacctmgr dump`, commands of sacctmgr: accounts and
    /// limits.
    Limits,
    /// `gres.conf`.
    Beside,
    Empty,
    /// Nothing but messages of a program: the first of them.
    Messages(String),
    /// Something else: what it looks like, and what to do.
    Unknown(String, String),
}

impl FileKind {
    pub(crate) fn kind_name(&self) -> String {
        match self {
            FileKind::Jobs(carrier) => carrier.name().to_string(),
            FileKind::Machine(description) => description.name().to_string(),
            FileKind::Events => "sacctmgr show event".to_string(),
            FileKind::Reservations => "sacctmgr show reservation".to_string(),
            FileKind::ScontrolReservations => "scontrol show reservation".to_string(),
            FileKind::Limits => "sacctmgr show qos or assoc".to_string(),
            FileKind::Beside => "gres.conf".to_string(),
            FileKind::Empty => "empty".to_string(),
            FileKind::Messages(message) => format!("only messages (`{message}`)"),
            FileKind::Unknown(looks, _) => looks.clone(),
        }
    }

    /// Returns the contents that the beginning of a file shows. `head` is unpacked.
    pub(crate) fn from_head(head: &[u8], layout: &TextLayout) -> FileKind {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if head.starts_with(b"PAR1") {
            return FileKind::Jobs(Carrier::Parquet);
        }
        if let Some((looks, advice)) = foreign::detect_binary(head) {
            return FileKind::Unknown(looks, advice);
        }
        // A whole line of text and then zero bytes is text that a crash spoilt.
        let begins = head.iter().take(4_096).take_while(|b| **b != 0).any(|b| *b == b'\n');
        let control = |b: &&u8| **b < b' ' && !matches!(**b, b'\t' | b'\r' | b'\n' | 0x1f | 0x1e);
        if head.iter().take(4_096).filter(control).filter(|b| **b != 0 || !begins).count() > 4 {
            return unknown_kind(
                "no text",
                "expected what sacct prints, or records of PBS, plain or compressed with gzip, zstd, xz or bzip2",
            );
        }
        if head.iter().filter(|b| **b == b'\r').count() > 1 && !head.contains(&b'\n') {
            return unknown_kind(
                "text whose lines end in carriage returns alone",
                "convert it: tr '\\r' '\\n' < FILE > NEW",
            );
        }
        let first =
            head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).find(|line| !line.is_empty() && !is_message(line));
        let Some(first) = first else {
            let message = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
            let shown_line = |line: &[u8]| String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
            return message.map_or(FileKind::Empty, |line| FileKind::Messages(shown_line(line)));
        };
        match first.trim_ascii_start() {
            [b'{' | b'[', ..] => detect_json(head, layout),
            _ => match detect_text(head, first, layout) {
                unlike @ FileKind::Unknown(..) if is_remark(first) => behind_remarks(head, layout).unwrap_or(unlike),
                kind => kind,
            },
        }
    }
}

fn behind_remarks(head: &[u8], layout: &TextLayout) -> Option<FileKind> {
    let lines = head.split_inclusive(|&byte| byte == b'\n');
    let remarks = lines.take_while(|line| is_remark(line.trim_ascii_end()) || line.trim_ascii().is_empty());
    let kind = FileKind::from_head(&head[remarks.map(<[u8]>::len).sum()..], layout);
    matches!(kind, FileKind::Jobs(Carrier::Sacct | Carrier::Table)).then_some(kind)
}

fn unknown_kind(looks: &str, advice: &str) -> FileKind {
    FileKind::Unknown(looks.to_string(), advice.to_string())
}

fn detect_json(head: &[u8], layout: &TextLayout) -> FileKind {
    let text = String::from_utf8_lossy(head);
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let shape = JsonShape::from_head(head);
    if let Some((looks, advice)) = shape.detect_foreign(head) {
        return FileKind::Unknown(looks, advice);
    }
    match () {
        () if layout.columns.is_some() => FileKind::Jobs(Carrier::Records),
        () if shape.is_oar(head) => unknown_kind(
            "the output of oarstat -J, which has the jobs of this moment",
            "write the jobs of its database as a table: job_id, job_user, project, queue_name, state, submission_time, start_time, stop_time, \
             walltime, nb_resources, and import that with --columns oar",
        ),
        // One line of JSON for each job, as Gridware and Open Cluster Scheduler write it.
        () if has("job_number") && (has("submission_time") || has("qname")) => FileKind::Jobs(Carrier::GridEngine),
        () if has("pbs_version") => FileKind::Machine(MachineSource::PbsNodesJson),
        () if (has("sinfo") || has("nodes"))
            && (has("real_memory") || has("cpu_load") || has("sinfo"))
            && !has("submission") =>
        {
            FileKind::Machine(MachineSource::Sinfo)
        }
        () if shape.is_sacct() => FileKind::Jobs(Carrier::Json),
        () if shape.is_by_column(head) => unknown_kind(
            "a data frame in JSON, with names and values apart",
            "write it row by row: DataFrame.to_json('jobs.json', orient='records')",
        ),
        () if shape.has_records() => FileKind::Jobs(Carrier::Records),
        () => FileKind::Jobs(Carrier::Json),
    }
}

fn detect_text(head: &[u8], first: &[u8], layout: &TextLayout) -> FileKind {
    let line = String::from_utf8_lossy(first);
    if let Some(kind) = by_key(head, &line) {
        return kind;
    }
    if is_condor(head, first) {
        return unknown_kind("a log of HTCondor", foreign::CONDOR);
    }
    if is_accounts(head) {
        return FileKind::Limits;
    }
    if is_lsf(&line) {
        return FileKind::Jobs(Carrier::Lsf);
    }
    if is_pbs(first) {
        return FileKind::Jobs(Carrier::Pbs);
    }
    let names: Vec<String> = line.split(['|', ',', '\t', ';']).map(plain_name).collect();
    let has = |column: &str| names.iter().any(|name| name == column);
    if !has("jobid") && !has("jobidraw") && names.len() > 2 {
        if (has("nodename") || has("clusternodes")) && has("state") {
            return FileKind::Events;
        }
        if has("name") && (has("unusedwall") || (has("start") || has("timestart")) && (has("end") || has("timeend"))) {
            return FileKind::Reservations;
        }
        let shares = has("account") && (has("share") || has("fairshare") || has("rawshares"));
        if shares || has("gracetime") || has("grptres") || has("maxjobs") || has("maxjobspu") || has("parentname") {
            return FileKind::Limits;
        }
    }
    if let Some((looks, advice)) = foreign::detect_text(head, &line) {
        return FileKind::Unknown(looks, advice);
    }
    match RowHeader::of_line(first, layout.delimiter.as_deref()) {
        _ if layout.columns.is_some() => return FileKind::Jobs(Carrier::Sacct),
        FirstLine::Header(header) if header.is_of_sacct => return FileKind::Jobs(Carrier::Sacct),
        FirstLine::Header(_) => return FileKind::Jobs(Carrier::Table),
        FirstLine::Padded => return FileKind::Jobs(Carrier::Sacct),
        FirstLine::Row => {}
    }
    if is_swf(head) {
        return FileKind::Jobs(Carrier::Swf);
    }
    if is_grid_engine(head) {
        return FileKind::Jobs(Carrier::GridEngine);
    }
    if is_gres_conf(head) {
        return FileKind::Beside;
    }
    if is_slurm_conf(head) {
        return FileKind::Machine(MachineSource::SlurmConf);
    }
    // A row without a header: its reader says what to do.
    let leading = first.split(|&b| b == b'|').next().unwrap_or_default();
    if line.matches('|').count() >= 4 && Id::parse_id(leading).is_some() {
        return FileKind::Jobs(Carrier::Sacct);
    }
    if is_pbsnodes(head) {
        return FileKind::Machine(MachineSource::PbsNodes);
    }
    if table::looks_like_jobs(head, layout.delimiter.as_deref()) {
        return FileKind::Jobs(Carrier::Table);
    }
    if let Some((names, columns)) = table::describe_table(head, layout.delimiter.as_deref()) {
        let (looks, advice) = foreign::detect_table(&names, columns);
        return FileKind::Unknown(looks, advice);
    }
    let shown_line: String = line.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    unknown_kind(
        &format!("text that is no accounting (it begins `{shown_line}`)"),
        "expected what sacct prints, records of PBS, LSF or Grid Engine, a log in Standard Workload Format, or the description of a machine",
    )
}

/// Small letters without blanks and the like, as column names are compared.
fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The event log of a job, or the history of a schedd.
fn is_condor(head: &[u8], first: &[u8]) -> bool {
    let shape: Vec<u8> = first.iter().take(6).map(|&b| if b.is_ascii_digit() { b'0' } else { b }).collect();
    let event = shape.starts_with(b"000 (0") && memchr::memmem::find(first, b".000").is_some();
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    event || (has(b"ClusterId = ") && (has(b"ProcId = ") || has(b"QDate = ")))
}

/// Files of `Key=value`.
fn by_key(head: &[u8], line: &str) -> Option<FileKind> {
    if line.starts_with("Configuration data as of") {
        return Some(FileKind::Machine(MachineSource::Config));
    }
    if line.starts_with("JobId=") {
        let is_completed = memchr::memmem::find(head, b" ProcCnt=").is_some();
        return Some(match is_completed {
            true => FileKind::Jobs(Carrier::JobCompletion),
            false => unknown_kind(
                "the output of scontrol show job, which has the jobs of the last minutes only",
                "at the site: sacct -a -X -D -P --noconvert -S … -E … --format=… > jobs.psv",
            ),
        });
    }
    if line.starts_with("ReservationName=") {
        return Some(FileKind::ScontrolReservations);
    }
    let within = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    if line.starts_with("NodeName=") && within("CPUTot=") {
        return Some(FileKind::Machine(MachineSource::Nodes));
    }
    if line.starts_with("PartitionName=") && (within("TotalCPUs=") || within("AllowGroups=") && within("TotalNodes=")) {
        return Some(FileKind::Machine(MachineSource::Partitions));
    }
    None
}

/// `"JOB_FINISH" "10.1" 1770001010 …`, or another event.
fn is_lsf(line: &str) -> bool {
    let mut words = line.split(' ');
    let mut next_quoted = || words.next().and_then(|word| word.strip_prefix('"')?.strip_suffix('"'));
    let capitals = |name: &str| name.contains('_') && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let event = next_quoted().is_some_and(capitals);
    let version = next_quoted().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    let moment = words.next().is_some_and(|text| text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit()));
    line.starts_with("\"JOB_") || (event && version && moment)
}

/// `MM/DD/YYYY HH:MM:SS;T;`.
fn is_pbs(line: &[u8]) -> bool {
    let shape: Vec<u8> = line.iter().take(20).map(|&b| if b.is_ascii_digit() { b'0' } else { b }).collect();
    shape == b"00/00/0000 00:00:00;" && line.get(20).is_some_and(u8::is_ascii_alphabetic)
}

fn head_lines(head: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    head.split(|&b| b == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii()))
}

/// Comments behind semicolons, or eighteen numbers.
fn is_swf(head: &[u8]) -> bool {
    let mut rows = head_lines(head).filter(|line| !line.is_empty() && !line.starts_with(';')).take(2);
    // The first twelve fields hardly ever lack a number; a first line may name them.
    let is_record = |line: &str| {
        let numbers = line.split_whitespace().take(18).filter(|word| word.parse::<f64>().is_ok()).count();
        line.split_whitespace().count() >= 18 && numbers >= 16
    };
    let first = rows.next();
    let is_record_line = |line: &str| {
        line.split_whitespace().count() >= 18
            && line.split_whitespace().all(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    let numbers = first.as_ref().is_some_and(|line| is_record(line))
        || (first.is_some_and(|line| is_record_line(&line)) && rows.next().is_some_and(|line| is_record(&line)));
    numbers || (head.starts_with(b";") && memchr::memmem::find(head, b"Version:").is_some())
}

fn is_grid_engine(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        if crate::readers::is_reported(line.as_bytes()) {
            return true;
        }
        let fields: Vec<&str> = line.split(':').collect();
        let number = |at: usize| fields.get(at).is_some_and(|f| f.parse::<u64>().is_ok());
        // A name may have colons.
        let begins = |at: usize| number(at) && number(at + 3) && number(at + 4) && number(at + 5);
        fields.len() >= 40 && (5..fields.len() - 30).any(begins)
    })
}

fn is_slurm_conf(head: &[u8]) -> bool {
    let keys = [
        "nodename=",
        "partitionname=",
        "clustername=",
        "slurmctldhost",
        "slurmctldport",
        "slurmuser=",
        "controlmachine=",
        "include ",
    ];
    let own = |line: &str| keys.iter().any(|key| line.starts_with(key));
    head_lines(head).any(|line| own(&line.to_ascii_lowercase().replace(" =", "=")))
}

/// A `sacctmgr dump`, or commands of sacctmgr.
fn is_accounts(head: &[u8]) -> bool {
    let first =
        head_lines(head).map(|line| line.trim().to_ascii_lowercase()).find(|l| !l.is_empty() && !l.starts_with('#'));
    let Some(first) = first else { return false };
    if drystone_slurm::accounts::is_accounts_header(&first)
        || first.starts_with("cluster - ")
        || first.starts_with("parent - ")
    {
        return true;
    }
    let words: Vec<&str> =
        first.split_whitespace().filter(|w| !w.starts_with('-') && !w.ends_with("sacctmgr")).collect();
    let of = ["account", "accounts", "user", "users", "cluster", "clusters", "qos"];
    matches!(words[..], ["add" | "create" | "modify", what, ..] if of.contains(&what))
}

/// `gres.conf`: GPUs by their files, or their counts by node.
fn is_gres_conf(head: &[u8]) -> bool {
    let rows: Vec<String> = head_lines(head)
        .map(|line| line.to_ascii_lowercase())
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect();
    let gres = |line: &String| {
        line.starts_with("autodetect=")
            || line.starts_with("name=")
            || (line.starts_with("nodename=") && line.contains(" name="))
    };
    !rows.is_empty() && rows.iter().all(gres)
}

/// A name at the margin, attributes below.
fn is_pbsnodes(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let margin = |line: &[u8]| !line.first().is_some_and(u8::is_ascii_whitespace);
    margin(first) && !margin(second) && second.contains(&b'=') && !first.contains(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &str) -> FileKind {
        FileKind::from_head(head.as_bytes(), &TextLayout::default())
    }

    #[test]
    fn accounting_without_a_reader_is_named() {
        for (text, looks, columns) in [
            (
                "000 (1234.000.000) 2024-01-01 10:00:00 Job submitted from host: <1.2.3.4>\n...\n",
                "a log of HTCondor",
                "htcondor",
            ),
            ("ClusterId = 12\nProcId = 0\nOwner = \"ada\"\nQDate = 1700000000\n***\n", "a log of HTCondor", "htcondor"),
            ("{\"12\": {\"Job_Id\": 12, \"submissionTime\": 1, \"startTime\": 2}}", "the output of oarstat -J", "oar"),
        ] {
            let FileKind::Unknown(found, advice) = of(text) else { panic!("{text}") };
            assert!(found.starts_with(looks), "{found}");
            assert!(advice.contains(&format!("--columns {columns}")), "{advice}");
        }
    }

    #[test]
    fn files_are_known_by_their_beginning() {
        use FileKind::{Jobs, Machine};
        for (head, expected) in [
            ("JobID|User|Submit|Start\n", Jobs(Carrier::Sacct)),
            ("163485|163485|c|p|q|a\n", Jobs(Carrier::Sacct)),
            ("{\n \"jobs\": [", Jobs(Carrier::Json)),
            ("04/16/2025 09:23:33;Q;1.srv;queue=a\n", Jobs(Carrier::Pbs)),
            ("\"JOB_FINISH\" \"9.11\" 1\n", Jobs(Carrier::Lsf)),
            ("{\"job_number\":1,\"submission_time\":1}\n", Jobs(Carrier::GridEngine)),
            ("JobId=1 UserId=a(1) JobState=COMPLETED NodeCnt=1 ProcCnt=2 \n", Jobs(Carrier::JobCompletion)),
            ("; Version: 2.2\n", Jobs(Carrier::Swf)),
            ("1 0 10 3600 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1\n", Jobs(Carrier::Swf)),
            ("Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n", FileKind::Events),
            ("Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n", FileKind::Events),
            ("Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall\n", FileKind::Reservations),
            ("ReservationName=m StartTime=2026-01-01T00:00:00\n", FileKind::ScontrolReservations),
            ("Name|Priority|GraceTime|Preempt\n", FileKind::Limits),
            ("Account|User|Share\n", FileKind::Limits),
            ("# To edit\nCluster - 'c':Fairshare=1\n", FileKind::Limits),
            ("add account name=a Fairshare=2\n", FileKind::Limits),
            ("# comment\nClusterName=c\nNodeName=n1 CPUs=4\n", Machine(MachineSource::SlurmConf)),
            ("NodeName=n1 Arch=x CPUTot=4\n", Machine(MachineSource::Nodes)),
            ("PartitionName=p AllowGroups=ALL TotalCPUs=4\n", Machine(MachineSource::Partitions)),
            ("AutoDetect=off\nNodeName=g[001-008] Name=gpu Count=2\n", FileKind::Beside),
            ("Configuration data as of 2026\n", Machine(MachineSource::Config)),
            ("n1\n     Mom = n1\n", Machine(MachineSource::PbsNodes)),
            ("{\"timestamp\":1,\"pbs_version\":\"2022\",\"nodes\":{", Machine(MachineSource::PbsNodesJson)),
            ("{\"nodes\":[{\"name\":\"n1\",\"real_memory\":1", Machine(MachineSource::Sinfo)),
            ("\n\n", FileKind::Empty),
        ] {
            assert_eq!(of(head), expected, "{head}");
        }
        for head in ["hello world\n", "a,b,c,d\n1,2,3,4\n", "{\"jobs\":[{\"job_state\":\"R\",\"batch_host\":1"] {
            assert!(matches!(of(head), FileKind::Unknown(..)), "{head}");
        }
    }
}
