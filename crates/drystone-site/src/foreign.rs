//! Files that are no accounting, and accounting that has no reader: what they are, by their
//! beginnings, and what to do.

/// Likely contents, and advice.
pub(crate) type ForeignKind = (String, String);

fn foreign_kind(looks: &str, advice: &str) -> Option<ForeignKind> {
    Some((looks.to_string(), advice.to_string()))
}

/// Beginnings of binary files.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"\xff\xfe", "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"),
    (b"\xfe\xff", "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"),
    (b"ARROW1", "a table in Arrow (Feather)", AS_PARQUET),
    (
        b"\xff\xff\xff\xff",
        "a table in Arrow, as a stream",
        "write it as Parquet or CSV, for instance: python3 -c \"import pyarrow as a; \
         a.ipc.open_stream('FILE').read_pandas().to_parquet('jobs.parquet')\"",
    ),
    (b"FEA1", "a table in Feather", AS_PARQUET),
    (
        b"ORC",
        "a table in ORC",
        "write it as Parquet or CSV, for instance: python3 -c \"import pyarrow.orc as o; o.read_table('FILE').to_pandas().to_parquet('jobs.parquet')\"",
    ),
    (b"Obj\x01", "a table in Avro", "write it as Parquet or CSV, with the tool that wrote it"),
    (
        b"SQLite format 3\0",
        "a database of SQLite",
        "write its table of jobs as text: sqlite3 -header -csv FILE 'select * from TABLE' > jobs.csv",
    ),
    (b"\x89HDF", "data in HDF5", "write its table of jobs as CSV: pandas.read_hdf('FILE').to_csv('jobs.csv')"),
    (b"\x93NUMPY", "an array of NumPy", "write it as CSV, with names in its first line"),
    (b"%PDF", "a document in PDF", "expected the accounting itself, as text, JSON or Parquet"),
    (b"\x89PNG", "a picture", "expected the accounting itself, as text, JSON or Parquet"),
    (b"\x7fELF", "a program", "expected the accounting itself, as text, JSON or Parquet"),
    (b"7z\xbc\xaf", "an archive of 7-Zip", "unpack it and give the folder"),
    (b"Rar!", "an archive of RAR", "unpack it and give the folder"),
    (b"\xd0\xcf\x11\xe0", "a document of an old Office", "save the sheet as CSV"),
];
const AS_PARQUET: &str = "write it as Parquet or CSV, for instance: python3 -c \"import pyarrow.feather as f; f.read_feather('FILE').to_parquet('jobs.parquet')\"";

/// Binary files.
pub(crate) fn detect_binary(head: &[u8]) -> Option<ForeignKind> {
    if let Some((_, looks, advice)) = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return foreign_kind(looks, advice);
    }
    if head.starts_with(b"\x80") && head.get(1).is_some_and(|version| (2..=5).contains(version)) {
        return foreign_kind(
            "a pickle of Python",
            "write it as CSV or Parquet: pandas.read_pickle('FILE').to_parquet('jobs.parquet')",
        );
    }
    if head.get(257..262) == Some(b"ustar") {
        return foreign_kind("a tar archive", "unpack it and give the folder");
    }
    None
}

/// Text by its first line, or by what stands in it.
const FIRST: &[(&str, &str, &str)] = &[
    (
        "slurm accounting storage is disabled",
        "a message of sacct: accounting is off",
        "the site keeps no records; set AccountingStorageType or JobCompType in slurm.conf, and jobs are recorded from then on",
    ),
    ("version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch the file: git lfs pull"),
    (
        "<!doctype html",
        "a page in HTML",
        "expected the accounting itself; the server may have sent its page for logging in instead",
    ),
    (
        "<html",
        "a page in HTML",
        "expected the accounting itself; the server may have sent its page for logging in instead",
    ),
    ("<?xml", "a document in XML", "expected the accounting itself, as text, JSON or Parquet"),
    ("+--", "a table that mysql drew for people", SQL),
    ("-- mysql dump", "a dump of MySQL", SQL),
    ("-- mariadb dump", "a dump of MariaDB", SQL),
    ("/*!", "a dump of MariaDB", SQL),
    (
        "-- postgresql database dump",
        "a dump of PostgreSQL",
        "write the table of jobs as text: psql --csv -c 'select * from jobs' > jobs.csv",
    ),
    ("#!/", "a script", "expected the accounting itself, as text, JSON or Parquet"),
    ("import ", "a program of Python", "expected the accounting itself, as text, JSON or Parquet"),
    ("job id:", "the output of qstat -f, which has the jobs of this moment, and with -x those of the last days", PBS),
    ("job id ", "the output of qstat", PBS),
    ("req'd", "the output of qstat", PBS),
    ("job-id ", "the output of qstat of Grid Engine", SGE),
    ("queuename", "the output of qstat -f of Grid Engine", SGE),
    ("====", "the output of qacct -j", SGE),
    ("total system usage", "the output of qacct", SGE),
    ("jobid      user    stat", "the output of bjobs or bhist", LSF),
    ("summary of time in seconds", "the output of bhist", LSF),
    ("accounting information about jobs", "the output of bacct", LSF),
    ("cluster/user/account utilization", "a report of sreport", SACCT),
    ("job id: ", "a report of seff", SACCT),
    ("meta:", "YAML, as sacct --yaml writes it", "at the site: sacct -a -D --json -S … -E … > jobs.json"),
    ("jobs:", "YAML, as sacct --yaml writes it", "at the site: sacct -a -D --json -S … -E … > jobs.json"),
    ("# help ", "metrics of Prometheus", "expected the accounting of jobs, not measurements"),
    (
        "partition avail",
        "the output of sinfo",
        "at the site: sinfo --json > nodes.json describes the machine; the jobs: sacct -a -X -D -P … > jobs.psv",
    ),
];
const SQL: &str =
    "write the table of jobs as text: mysql --batch -e 'select * from CLUSTER_job_table' slurm_acct_db > jobs.tsv";
const PBS: &str =
    "give the accounting of the server: the folder $PBS_HOME/server_priv/accounting, which has a file for each day";
const SGE: &str = "give $SGE_ROOT/CELL/common/accounting";
const LSF: &str = "give $LSB_SHAREDIR/CLUSTER/logdir/lsb.acct and its numbered predecessors; or write a table: LSB_DISPLAY_YEAR=Y bjobs -a -u all \
     -o \"jobid stat user queue submit_time start_time finish_time slots runtimelimit delimiter='|'\" > jobs.psv";
const SACCT: &str = "at the site: sacct -a -X -D -P --noconvert -S … -E … --format=… > jobs.psv (drystone import --ask prints the whole of it)";

/// Text that is no accounting. `first` is its first line that is no message.
pub(crate) fn detect_text(head: &[u8], first: &str) -> Option<ForeignKind> {
    let small = first.trim_start().to_lowercase();
    let words: Vec<&str> = small.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    if has("jobid") && has("partition") && has("st") {
        return foreign_kind("the output of squeue, which has the jobs of this moment only", SACCT);
    }
    if has("jobid") && (has("stat") || (has("user") && has("exec_host"))) {
        return foreign_kind("the output of bjobs, which has the jobs of this moment and the last hour", LSF);
    }
    if small.starts_with("job <") {
        return foreign_kind("the output of bhist or bjobs -l", LSF);
    }
    if (has("job") && has("id") && has("username")) || small.contains("req'd") {
        return foreign_kind("the output of qstat", PBS);
    }
    if has("jobid") && has("ntasks") && has("info") {
        return foreign_kind(
            "the output of flux jobs for people",
            "write it in JSON: flux jobs -a --json > jobs.json, and import that with --columns flux",
        );
    }
    if small.starts_with("<?xml") && (contains_text(head, b"<job_info") || contains_text(head, b"<detailed_job_info")) {
        return foreign_kind("the output of qstat -xml of Grid Engine, which has the jobs of this moment", SGE);
    }
    if small.starts_with("<?xml") && contains_text(head, b"<classads>") {
        return foreign_kind("a history of HTCondor in XML", CONDOR);
    }
    if small.starts_with("----") && contains_text(head, b"Utilization") {
        return foreign_kind("a report of sreport", SACCT);
    }
    if small == "---" {
        return foreign_kind("YAML", "at the site: sacct -a -D --json -S … -E … > jobs.json");
    }
    if has("id") && has("owner") && has("submitted") {
        return foreign_kind("the output of condor_q", CONDOR);
    }
    if small.starts_with("qname ") && contains_text(head, b"jobnumber") {
        return foreign_kind("the output of qacct -j", SGE);
    }
    if let Some((_, looks, advice)) = FIRST.iter().find(|(begins, ..)| small.starts_with(begins)) {
        return foreign_kind(looks, advice);
    }
    if small.contains("accounting information about jobs")
        || (small.is_empty() && contains_text(head, b"Accounting information about jobs"))
    {
        return foreign_kind("the output of bacct", LSF);
    }
    if small.starts_with("====") && contains_text(head, b"jobnumber") {
        return foreign_kind("the output of qacct -j", SGE);
    }
    None
}

/// A table that is none of jobs, by the names of its columns.
pub(crate) fn detect_table(names: &str, columns: usize) -> ForeignKind {
    let looks = format!("a table of {columns} columns, none of which says when jobs started or ended ({names})");
    let advice = "expected jobs: name the columns as sacct does (JobIDRaw,User,Partition,Submit,Start,End,State,ReqCPUS,Timelimit,…) in its first \
                  line, or say them: --columns";
    (looks, advice.to_string())
}

/// The command that writes a history of HTCondor as a table.
pub(crate) const CONDOR: &str = "write the history as a table: condor_history -af:,h ClusterId ProcId Owner QDate JobStartDate CompletionDate \
     RemoteWallClockTime JobStatus RequestCpus > jobs.csv, and import that with --columns htcondor";

fn contains_text(head: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(head, text).is_some()
}

/// Names within a document in JSON: of its outermost map, and of its first record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct JsonShape {
    outer: Vec<String>,
    /// Of the first map within a list, or of the first line.
    record: Vec<String>,
    /// True if the outermost value is a list.
    list: bool,
    /// True if another map follows the first one.
    lines: bool,
}

impl JsonShape {
    /// Looks at a beginning, which may end anywhere.
    pub(crate) fn from_head(head: &[u8]) -> JsonShape {
        let mut shape = JsonShape { list: head.trim_ascii_start().starts_with(b"["), ..JsonShape::default() };
        // Maps and lists that are open; whether a map is a record.
        let mut open: Vec<(u8, bool)> = Vec::new();
        let mut has_record = false;
        let mut at = 0;
        while at < head.len() {
            match head[at] {
                b'{' => {
                    let in_list = open.iter().any(|(kind, _)| *kind == b'[');
                    let is_record = in_list && !has_record && !open.iter().any(|(_, record)| *record);
                    has_record |= is_record;
                    open.push((b'{', is_record));
                }
                b'[' => open.push((b'[', false)),
                b'}' | b']' => {
                    open.pop();
                    if open.is_empty() {
                        shape.lines = head[at + 1..].trim_ascii_start().starts_with(b"{");
                        break;
                    }
                }
                b'"' => {
                    let end = string_end(head, at + 1);
                    let text = String::from_utf8_lossy(&head[at + 1..end.min(head.len())]).into_owned();
                    at = end;
                    let next = head[(at + 1).min(head.len())..].iter().find(|b| !b.is_ascii_whitespace());
                    if next == Some(&b':') {
                        match open.as_slice() {
                            [(b'{', _)] => shape.outer.push(text),
                            [.., (b'{', true)] => shape.record.push(text),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        shape
    }

    fn has_outer(&self, name: &str) -> bool {
        self.outer.iter().any(|key| key == name)
    }

    fn has_name(&self, name: &str) -> bool {
        self.has_outer(name) || self.record.iter().any(|key| key == name)
    }

    /// Returns whether it is what `sacct --json` writes, whole, as a list of jobs, or a job a line.
    pub(crate) fn is_sacct(&self) -> bool {
        self.has_name("job_id") && ["time", "required", "association", "tres"].iter().any(|key| self.has_name(key))
            || (self.has_outer("jobs") && self.has_outer("meta"))
    }

    /// Returns whether it has a list of records, or a record a line.
    pub(crate) fn has_records(&self) -> bool {
        let flat = !self.list && (self.outer.len() > 3 || self.lines || self.has_outer("_source"));
        self.record.len() > 2 || self.record.iter().any(|key| key == "_source") || flat
    }

    /// A document of another system.
    pub(crate) fn detect_foreign(&self, head: &[u8]) -> Option<ForeignKind> {
        if self.has_outer("apiVersion") && self.has_outer("kind") && !is_workload(head) {
            return foreign_kind(
                "a list of Kubernetes (kubectl get … -o json), which forgets jobs as they are deleted",
                "give its pods (kubectl get pods -A -o json > pods.json), or write a row of each pod or job, with the names JobKey,User,Submit,Start,End,ReqCPUS,ReqGPUS,State (creationTimestamp, \
                 startTime, the end of its containers, the sum of their requests), and import that with --columns",
            );
        }
        if self.has_outer("pbs_version") && self.has_outer("Jobs") {
            return foreign_kind(
                "the output of qstat -f -F json, which has the jobs of this moment, and with -x those of the last days",
                PBS,
            );
        }
        if (self.has_name("COMMAND") || self.has_name("RECORDS"))
            && !(self.has_name("JOBID") && self.has_name("START_TIME"))
        {
            return foreign_kind("the output of bjobs -json, which has the jobs of this moment and the last hour", LSF);
        }
        if self.has_name("job_state") && (self.has_name("job_resources") || self.has_name("batch_host")) {
            return foreign_kind(
                "the output of squeue --json, which has the jobs of this moment only",
                "at the site: sacct -a -D --json -S … -E … > jobs.json",
            );
        }
        None
    }

    /// Returns whether it is of OAR, which has a map of jobs by their numbers.
    pub(crate) fn is_oar(&self, head: &[u8]) -> bool {
        let is_numbered = self.outer.first().is_some_and(|key| key.bytes().all(|b| b.is_ascii_digit()));
        contains_text(head, b"\"assigned_resources\"")
            || (contains_text(head, b"\"submissionTime\"") && contains_text(head, b"\"startTime\"") && is_numbered)
    }

    /// Returns whether columns stand beside each other, as data frames write them by default.
    pub(crate) fn is_by_column(&self, head: &[u8]) -> bool {
        let bare: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let split = self.has_outer("columns") && self.has_outer("data");
        !self.list && !self.outer.is_empty() && self.record.is_empty() && (split || contains_text(&bare, b":{\"0\":"))
    }
}

/// Returns whether a list of Kubernetes has pods or jobs with their times.
fn is_workload(head: &[u8]) -> bool {
    let bare: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let kind = contains_text(&bare, b"\"kind\":\"Pod\"") || contains_text(&bare, b"\"kind\":\"Job\"");
    kind && contains_text(&bare, b"\"creationTimestamp\":") && contains_text(&bare, b"\"status\":")
}

fn string_end(head: &[u8], mut at: usize) -> usize {
    while at < head.len() {
        match head[at] {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_known_by_its_names() {
        let of = |text: &str| JsonShape::from_head(text.as_bytes());
        let shape = of(r#"{"meta":{"a":[{"x":1}]},"jobs":[{"job_id":1,"time":{"start":2},"a\"b":["}"]},{"z":1}]}"#);
        assert_eq!(shape.outer, ["meta", "jobs"]);
        let shape = of(r#"{"jobs":[{"job_id":1,"time":{"start":2},"a\"b":["}"]},{"z":1}]}"#);
        assert_eq!(shape.record, ["job_id", "time", "a\\\"b"]);
        assert!(shape.is_sacct() && shape.has_records());
        // A record a line: the first line counts, and a beginning may end anywhere.
        let shape = of("{\"a\":1,\"b\":2,\"c\":{\"d\":1},\"e\":3}\n{\"f\":1}\n{\"g");
        assert_eq!((shape.outer.len(), shape.has_records()), (4, true));
        assert!(of("[{\"job_id\": 7, \"ti").record == ["job_id"]);
    }
}
