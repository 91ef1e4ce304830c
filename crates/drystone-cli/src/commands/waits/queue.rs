//! Output of `squeue` as the jobs that wait: with any of its columns, or as JSON.

use crate::commands::when::state::{json_number, json_word};
use crate::exit::CommandFailure;
use drystone::times::{WrittenMoment, read_duration, read_moment};
use drystone_site::waits::{PENDING_SCHEMA, PendingJob, PendingJobs};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// The jobs that wait in an output of `squeue`, and what it does not say.
pub(super) struct QueueSnapshot {
    pub(super) pending: PendingJobs,
    pub(super) notes: Vec<String>,
}

/// Column of `squeue`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum QueueColumn {
    Job,
    Partition,
    User,
    Account,
    Qos,
    State,
    Elapsed,
    Limit,
    Cpus,
    Gpus,
    Nodes,
    Reason,
    /// Nodes of a job that runs, or in parentheses the reason of one that waits.
    NodesOrReason,
    Submit,
    Eligible,
    Start,
    PendingTime,
    /// Free text, which may have blanks in it.
    Free,
    Unread,
}

/// Parses a name as `squeue` prints it above its columns, whatever its format calls them.
fn parse_column(name: &str) -> QueueColumn {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_uppercase).collect();
    match plain.as_str() {
        "JOBID" | "JOBARRAYID" => QueueColumn::Job,
        "PARTITION" => QueueColumn::Partition,
        "USER" | "USERNAME" => QueueColumn::User,
        "ACCOUNT" => QueueColumn::Account,
        "QOS" => QueueColumn::Qos,
        "ST" | "STATE" | "STATECOMPACT" => QueueColumn::State,
        "TIME" | "TIMEUSED" => QueueColumn::Elapsed,
        "TIMELIMIT" | "TIMELIMI" => QueueColumn::Limit,
        "CPUS" | "NUMCPUS" | "MINCPUS" => QueueColumn::Cpus,
        "NODES" | "NUMNODES" => QueueColumn::Nodes,
        "TRESPERNODE" | "TRESPERJOB" | "GRES" => QueueColumn::Gpus,
        "REASON" => QueueColumn::Reason,
        "NODELISTREASON" | "REASONLIST" => QueueColumn::NodesOrReason,
        "SUBMITTIME" => QueueColumn::Submit,
        "ELIGIBLETIME" => QueueColumn::Eligible,
        "STARTTIME" => QueueColumn::Start,
        "PENDINGTIME" => QueueColumn::PendingTime,
        "NAME" | "COMMENT" | "COMMAND" | "WORKDIR" | "FEATURES" | "ADMINCOMMENT" => QueueColumn::Free,
        _ => QueueColumn::Unread,
    }
}

/// A format that has everything, for messages.
const WHOLE: &str = "squeue -a -o '%i|%T|%u|%a|%P|%q|%C|%b|%D|%M|%l|%V|%S|%r'";

/// Reads an output of `squeue`; `-` is the standard input.
pub(super) fn read_queue(path: &Path) -> Result<QueueSnapshot, CommandFailure> {
    let path_text = path.display().to_string();
    let read_bytes = || -> std::io::Result<Vec<u8>> {
        if path_text != "-" {
            return std::fs::read(path);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = read_bytes()
        .map_err(|error| CommandFailure::usage_error(format_args!("{path_text}: cannot be read: {error}")))?;
    let name = if path_text == "-" { "the standard input".to_string() } else { path_text };
    queue_of(&String::from_utf8_lossy(&bytes), &name).map_err(CommandFailure::usage_error)
}

fn queue_of(text: &str, name: &str) -> Result<QueueSnapshot, String> {
    let text = text.trim_start_matches('\u{feff}');
    let queue = match text.trim_start().starts_with('{') {
        true => json_queue(text, name)?,
        false => table_queue(text, name)?,
    };
    Ok(queue.into_snapshot(name))
}

/// Content of an output, before the moment is known at which it was printed.
#[derive(Default)]
struct ReadQueue {
    jobs: Vec<PendingJob>,
    /// Seconds of waiting that the output itself has, of each job.
    waited: Vec<Option<i64>>,
    /// The moment, where it is said.
    now: Option<i64>,
    /// The latest moment that has passed.
    passed: Option<i64>,
    others: u64,
}

impl ReadQueue {
    fn into_snapshot(mut self, name: &str) -> QueueSnapshot {
        let now = self.now.or(self.passed);
        for (job, wait) in self.jobs.iter_mut().zip(&self.waited) {
            job.waited = wait.or_else(|| Some((now? - job.since?).max(0)));
        }
        self.jobs.sort_by_key(|job| std::cmp::Reverse(job.waited));
        let mut notes = Vec::new();
        if self.jobs.iter().any(|job| job.waited.is_none()) {
            notes.push(format!("Since when jobs wait is not in this output; {WHOLE} has it."));
        } else if self.now.is_none() && self.jobs.iter().zip(&self.waited).any(|(_, wait)| wait.is_none()) {
            notes.push("The output does not say when it was printed: the last submission or start in it stands for that, and waits are at least so long.".to_string());
        }
        if !self.jobs.is_empty() && self.jobs.iter().all(|job| job.reason.is_empty()) {
            notes.push(format!("The output has no reasons; {WHOLE} has them."));
        }
        let pending = PendingJobs {
            schema: PENDING_SCHEMA.to_string(),
            site: name.to_string(),
            time_zone: String::new(),
            now: now.unwrap_or(0),
            running: Some(self.others),
            jobs: self.jobs,
        };
        QueueSnapshot { pending, notes }
    }
}

/// The names of the columns, with where they stand in the first line.
struct QueueHeader {
    columns: Vec<QueueColumn>,
    places: Vec<(usize, usize)>,
    delimiter: Option<char>,
}

impl QueueHeader {
    fn of_line(line: &str) -> Option<QueueHeader> {
        let delimiter = ['|', '\t', ';', ','].into_iter().find(|&sign| line.contains(sign));
        let places = match delimiter {
            Some(sign) => Vec::from_iter(line.split(sign).scan(0, |at, part| {
                let begin = *at;
                *at += part.len() + sign.len_utf8();
                Some((begin, begin + part.len()))
            })),
            None => word_places(line),
        };
        let columns: Vec<QueueColumn> = places.iter().map(|&(from, to)| parse_column(line[from..to].trim())).collect();
        let known_count = columns.iter().filter(|column| **column != QueueColumn::Unread).count();
        (columns.contains(&QueueColumn::Job) && known_count * 2 > columns.len()).then_some(QueueHeader {
            columns,
            places,
            delimiter,
        })
    }

    /// The cells of a row; those that are missing are empty.
    fn split_cells<'a>(&self, line: &'a str) -> Vec<&'a str> {
        if let Some(sign) = self.delimiter {
            return line.splitn(self.columns.len(), sign).map(str::trim).collect();
        }
        let last = self.columns.len() - 1;
        // A reason in parentheses may have blanks in it.
        let reason = line.rfind(" (").filter(|_| self.columns[last] == QueueColumn::NodesOrReason);
        let mut places = word_places(&line[..reason.unwrap_or(line.len())]);
        places.extend(reason.map(|at| (at + 1, line.trim_end().len())));
        let more = places.len().saturating_sub(self.columns.len());
        if more > 0 {
            // Blanks in a name make words of it; else they are those of the last column.
            let free = self.columns.iter().position(|column| *column == QueueColumn::Free).unwrap_or(last);
            let end = places[free + more].1;
            places.splice(free..=free + more, [(places[free].0, end)]);
        }
        if places.len() == self.columns.len() {
            return places.into_iter().map(|(from, to)| &line[from..to]).collect();
        }
        let mut cells = vec![""; self.columns.len()];
        for (from, to) in places {
            let apart = |&(begin, end): &(usize, usize)| (begin.max(from) as i64 - end.min(to) as i64).max(0);
            let nearest = self.places.iter().enumerate().min_by_key(|(_, place)| apart(place));
            if let Some((at, _)) = nearest {
                cells[at] = &line[from..to];
            }
        }
        cells
    }
}

fn word_places(line: &str) -> Vec<(usize, usize)> {
    let start = line.as_ptr() as usize;
    line.split_whitespace()
        .map(|word| (word.as_ptr() as usize - start, word.as_ptr() as usize - start + word.len()))
        .collect()
}

/// Reads lines of columns below a line of names.
fn table_queue(text: &str, name: &str) -> Result<ReadQueue, String> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let Some((first, number)) = lines.next() else {
        return Err(format!("{name}: is empty; expected what squeue prints"));
    };
    let Some(header) = QueueHeader::of_line(first) else {
        return Err(format!(
            "{name}:{number}: expected the line of names that squeue prints first (squeue without -h), with JOBID in it, or squeue --json; \
             found `{}`",
            first.trim().chars().take(60).collect::<String>()
        ));
    };
    if !header.columns.contains(&QueueColumn::State) {
        return Err(format!("{name}:{number}: no column ST or STATE says which jobs wait; {WHOLE} has it"));
    }
    let mut queue = ReadQueue::default();
    for (line, number) in lines {
        if QueueHeader::of_line(line).is_some() {
            continue;
        }
        let cells = header.split_cells(line);
        let get = |wanted_column: QueueColumn| {
            let at = header.columns.iter().position(|column| *column == wanted_column);
            at.and_then(|at| cells.get(at).copied()).unwrap_or_default()
        };
        if get(QueueColumn::Job).is_empty() || !get(QueueColumn::Job).starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!(
                "{name}:{number}: expected a job's number below JOBID, found `{}`",
                line.trim().chars().take(60).collect::<String>()
            ));
        }
        queue.add_row(get);
    }
    Ok(queue)
}

impl ReadQueue {
    fn add_row<'a>(&mut self, get: impl Fn(QueueColumn) -> &'a str) {
        let (submit, start) = (parse_moment(get(QueueColumn::Submit)), parse_moment(get(QueueColumn::Start)));
        self.passed = self.passed.max(submit);
        if !matches!(get(QueueColumn::State).to_ascii_uppercase().as_str(), "PD" | "PENDING") {
            self.others += 1;
            self.passed = self.passed.max(start);
            // What a job has run by then says when that is.
            let elapsed_seconds = read_duration(get(QueueColumn::Elapsed)).map(|seconds| seconds as i64);
            self.now = self.now.max(start.zip(elapsed_seconds).map(|(start, ran)| start + ran));
            return;
        }
        let reason = match get(QueueColumn::Reason) {
            "" => get(QueueColumn::NodesOrReason),
            reason => reason,
        };
        let reason = reason.trim_matches(['(', ')']);
        let eligible = parse_moment(get(QueueColumn::Eligible));
        let text = |column: QueueColumn| get(column).to_string();
        let job = get(QueueColumn::Job);
        let nodes = count_of(get(QueueColumn::Nodes)).unwrap_or(1);
        self.waited.push(get(QueueColumn::PendingTime).parse().ok());
        self.jobs.push(PendingJob {
            job: job.to_string(),
            tasks: tasks_of(job),
            user: text(QueueColumn::User),
            account: text(QueueColumn::Account),
            partition: text(QueueColumn::Partition),
            qos: text(QueueColumn::Qos),
            cpus: count_of(get(QueueColumn::Cpus)),
            gpus: gpus_of(get(QueueColumn::Gpus)).map(|gpus| gpus.saturating_mul(nodes)),
            limit: read_duration(get(QueueColumn::Limit)).map_or(0, |seconds| seconds as u32),
            since: submit.max(eligible.filter(|_| submit.is_some())),
            waited: None,
            reason: if reason == "None" { String::new() } else { reason.to_string() },
        });
    }
}

/// Seconds since 1970, or a local time as if it were UTC.
fn parse_moment(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.parse::<i64>() {
        return (seconds > 0).then_some(seconds);
    }
    match read_moment(text, 0)? {
        WrittenMoment::Local(seconds) if seconds > 86_400 => Some(seconds),
        _ => None,
    }
}

/// A count, of a range such as `1-4` the lower end.
fn count_of(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

/// GPUs of each node: `gres/gpu:a100:4`, `gres:gpu:2`, `gpu`.
fn gpus_of(text: &str) -> Option<u32> {
    let part = text.split(',').find(|part| part.contains("gpu"))?;
    Some(part.rsplit([':', '=']).next().and_then(|count| count.parse().ok()).unwrap_or(1))
}

/// Tasks of an array that a row stands for: `7_[1-9:2,12%3]` has six.
fn tasks_of(job: &str) -> u64 {
    let Some((_, list)) = job.split_once("_[") else { return 1 };
    let list = list.split(['%', ']']).next().unwrap_or_default();
    let range = |part: &str| -> Option<u64> {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to, step): (u64, u64, u64) = (from.parse().ok()?, to.parse().ok()?, step.parse().ok()?);
        (step > 0 && to >= from).then(|| (to - from) / step + 1)
    };
    // Slurm cuts long lists: what can be read is counted.
    list.split(',').filter_map(range).fold(0, u64::saturating_add).max(1)
}

/// Reads `squeue --json` of any version.
fn json_queue(text: &str, name: &str) -> Result<ReadQueue, String> {
    let whole: Value = serde_json::from_str(text)
        .map_err(|error| format!("{name}:{}:{}: no JSON: {error}", error.line(), error.column()))?;
    let Some(list) = whole.get("jobs").and_then(Value::as_array) else {
        return Err(format!("{name}:1: has no list `jobs`, as squeue --json writes one"));
    };
    let mut queue = ReadQueue {
        now: whole.get("last_update").and_then(json_number).filter(|&now| now > 0),
        ..ReadQueue::default()
    };
    for job in list {
        let get = |key: &str| job.get(key).unwrap_or(&Value::Null);
        let time = |key: &str| json_number(get(key)).filter(|&time| time > 0);
        queue.passed = queue.passed.max(time("submit_time"));
        if json_word(get("job_state")) != "PENDING" {
            queue.others += 1;
            queue.passed = queue.passed.max(time("start_time"));
            continue;
        }
        let text = |key: &str| get(key).as_str().unwrap_or_default().to_string();
        let id = json_number(get("job_id")).unwrap_or(0);
        let array = json_number(get("array_job_id")).filter(|&array| array > 0);
        let list = text("array_task_string");
        let label = match (array, json_number(get("array_task_id"))) {
            (Some(array), Some(task)) => format!("{array}_{task}"),
            (Some(array), None) if !list.is_empty() => format!("{array}_[{list}]"),
            _ => id.to_string(),
        };
        let reason = text("state_reason");
        let tres = text("tres_req_str");
        let gpus = tres.split(',').find_map(|part| part.strip_prefix("gres/gpu=")?.parse().ok());
        let small = |key: &str| json_number(get(key)).and_then(|n| u32::try_from(n).ok());
        queue.waited.push(None);
        queue.jobs.push(PendingJob {
            tasks: tasks_of(&label),
            job: label,
            user: text("user_name"),
            account: text("account"),
            partition: text("partition"),
            qos: text("qos"),
            cpus: small("cpus"),
            gpus,
            limit: small("time_limit").map_or(0, |minutes| minutes.saturating_mul(60)),
            since: time("submit_time").max(time("eligible_time")),
            waited: None,
            reason: if reason == "None" { String::new() } else { reason },
        });
    }
    Ok(queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number, user, processors, seconds waited and reason of a job.
    type QueueRow = (String, String, u64, Option<i64>, String);

    fn rows(text: &str) -> (Vec<QueueRow>, Vec<String>) {
        let queue = queue_of(text, "squeue.txt").expect("a queue");
        let row = |job: PendingJob| (job.job, job.user, job.tasks, job.waited, job.reason);
        (queue.pending.jobs.into_iter().map(row).collect(), queue.notes)
    }

    #[test]
    fn the_usual_output_is_read() {
        let text = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n\
                    \x20     4711_[1-8%2]      main  my run      ada PD       0:00      2 (QOSMaxCpuPerUserLimit)\n\
                    \x20             4712       gpu    train   gita PD       0:00      1 (Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions)\n\
                    \x20             4700      main     wrap     bela  R 1-02:03:04      4 q[01-04]\n";
        let (jobs, notes) = rows(text);
        assert_eq!(jobs.len(), 2, "{jobs:?}");
        assert_eq!(jobs[0], ("4711_[1-8%2]".into(), "ada".into(), 8, None, "QOSMaxCpuPerUserLimit".into()));
        assert_eq!((jobs[1].1.as_str(), jobs[1].2), ("gita", 1));
        assert!(jobs[1].4.starts_with("Nodes required for job are DOWN"), "{jobs:?}");
        assert!(notes[0].contains("Since when"), "{notes:?}");
    }

    #[test]
    fn columns_are_those_of_the_format() {
        // 2026-03-02 is 1,772,409,600 s after 1970; the job that runs says that it is 12:30.
        let text = "JOBID|STATE|USER|SUBMIT_TIME|START_TIME|TIME|CPUS|TIME_LIMIT|REASON\n\
                    7|PENDING|ada|2026-03-02T12:00:00|N/A|0:00|64|1-00:00:00|Priority\n\
                    8|RUNNING|bob|2026-03-02T11:00:00|2026-03-02T12:00:00|30:00|4|UNLIMITED|None\n";
        let (jobs, notes) = rows(text);
        assert_eq!(jobs, [("7".into(), "ada".into(), 1, Some(1_800), "Priority".into())]);
        assert_eq!(notes, Vec::<String>::new());
        let queue = queue_of(text, "q").expect("a queue").pending;
        assert_eq!((queue.now, queue.running), (1_772_454_600, Some(1)));
        assert_eq!((queue.jobs[0].cpus, queue.jobs[0].limit), (Some(64), 86_400));
        // Without a job that runs the last submission stands for now, and that is said.
        let (jobs, notes) = rows("JOBID|ST|SUBMIT_TIME\n7|PD|1772452800\n9|PD|1772456400\n");
        assert_eq!((jobs[0].3, jobs[1].3), (Some(3_600), Some(0)));
        assert!(notes.iter().any(|note| note.contains("at least so long")), "{notes:?}");
        // Fields that are empty are found by their places.
        let (jobs, _) = rows("JOBID  USER      ACCOUNT   ST REASON\n12     ada                 PD Resources\n");
        assert_eq!(jobs[0], ("12".into(), "ada".into(), 1, None, "Resources".into()));
    }

    #[test]
    fn json_of_old_and_new_versions_is_the_same() {
        let old = r#"{"jobs":[{"job_id":7,"job_state":"PENDING","cpus":4,"submit_time":100,"time_limit":60,"user_name":"u",
            "state_reason":"Resources","tres_req_str":"cpu=4,gres/gpu=2"}],"last_update":130}"#;
        let new = r#"{"jobs":[{"job_id":7,"job_state":["PENDING"],"cpus":{"set":true,"infinite":false,"number":4},
            "submit_time":{"set":true,"infinite":false,"number":100},"time_limit":{"set":true,"infinite":false,"number":60},
            "user_name":"u","state_reason":"Resources","tres_req_str":"cpu=4,gres/gpu=2"}],
            "last_update":{"set":true,"infinite":false,"number":130}}"#;
        let [old, new] = [old, new].map(|text| queue_of(text, "q.json").expect("a queue").pending);
        assert_eq!(old, new);
        assert_eq!((old.jobs[0].waited, old.jobs[0].gpus, old.jobs[0].limit), (Some(30), Some(2), 3_600));
    }

    #[test]
    fn what_is_no_output_of_squeue_is_said() {
        for (text, part) in [
            ("", "is empty"),
            ("7 main ada PD\n", "squeue.txt:1: expected the line of names"),
            ("JOBID USER\n7 ada\n", "no column ST or STATE"),
            ("JOBID ST\nslurm_load_jobs error\n", "squeue.txt:2: expected a job's number"),
            ("{\"nodes\":[]}", "has no list `jobs`"),
            ("{\"jobs\":", "squeue.txt:1:"),
        ] {
            let error = queue_of(text, "squeue.txt").map(|_| ()).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
