//! Jobs of a recording, as `scontrol -o -d show job` shows them while they wait and run.

use crate::conf::parse_seconds;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The columns of a job's line.
const COLUMNS: [&str; 43] = [
    "job",
    "slurm_id",
    "submit",
    "eligible",
    "start",
    "end",
    "n",
    "limit_min",
    "run_s",
    "partition",
    "partitions",
    "user",
    "priority",
    "nodes",
    "state",
    "one",
    "min_nodes",
    "max_nodes",
    "exclusive",
    "nice",
    "account",
    "qos",
    "array_job",
    "array_task",
    "throttle",
    "tasks",
    "cpus_per_task",
    "mem_per_node",
    "mem_per_cpu",
    "gres_per_node",
    "gpus",
    "gpus_per_task",
    "cpus_per_gpu",
    "mem_per_gpu",
    "constraint",
    "licenses",
    "reservation",
    "dependency",
    "restarts",
    "tres",
    "reason",
    "nodelist",
    "exclude",
];

/// Minutes that stand for no limit: a year.
const NO_LIMIT: i64 = 365 * 1440;

/// The fields of a job in one look.
type JobFields = BTreeMap<String, String>;

/// A job as far as it was seen.
#[derive(Clone, Debug, Default)]
struct SeenJob {
    /// Its fields when it was seen first: what it asks for.
    asked: JobFields,
    /// Its dependencies while it had some.
    dependency: String,
    /// Its fields when it was seen last.
    last: JobFields,
}

/// Jobs seen in looks at a cluster.
#[derive(Clone, Debug, Default)]
pub struct JobRecords {
    jobs: BTreeMap<u64, SeenJob>,
    /// Tasks of each array that may run at once.
    throttles: BTreeMap<u64, String>,
    /// Jobs and starts whose share of the nodes is known.
    placed: BTreeSet<(u64, String)>,
}

impl JobRecords {
    /// Takes in what `scontrol -o -d show job` prints. Returns the shares of nodes of jobs that
    /// were not seen to run before, as happenings without a time.
    pub fn look_at(&mut self, listing: &str) -> Vec<String> {
        let mut shares = Vec::new();
        for line in listing.lines() {
            let fields = parse_fields(line);
            let Some(id) = fields.get("JobId").and_then(|id| id.parse::<u64>().ok()) else { continue };
            let of = |name: &str| fields.get(name).map_or("", String::as_str);
            let task = of("ArrayTaskId");
            if let Some((_, throttle)) = task.split_once('%') {
                self.throttles.insert(of("ArrayJobId").parse().unwrap_or(id), throttle.to_string());
            }
            if !task.is_empty() && task.parse::<u32>().is_err() {
                // What is left of an array: its tasks become jobs when they start.
                continue;
            }
            let name = if task.is_empty() { id.to_string() } else { format!("{}_{task}", of("ArrayJobId")) };
            if ["RUNNING", "COMPLETING", "SUSPENDED"].contains(&of("JobState")) {
                let own = own_shares(line);
                if !own.is_empty() && self.placed.insert((id, of("StartTime").to_string())) {
                    shares.push(format!("alloc {name} {}", own.join(" ")));
                }
            }
            let job = self.jobs.entry(id).or_default();
            if job.asked.is_empty() {
                job.asked.clone_from(&fields);
            }
            let dependency = of("Dependency");
            if !dependency.is_empty() && dependency != "(null)" {
                job.dependency = dependency.to_string();
            }
            job.last = fields;
        }
        shares
    }

    /// Number of jobs that were seen, and of those that have not ended.
    pub fn count_jobs(&self) -> (usize, usize) {
        let waits = |job: &&SeenJob| ["PENDING", "RUNNING", "SUSPENDED", "COMPLETING"].contains(&job_state(&job.last));
        (self.jobs.len(), self.jobs.values().filter(waits).count())
    }

    /// Returns a line for each job, with a header. Times are seconds since `base`.
    pub fn render_lines(&self, base: i64) -> String {
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        for (&id, job) in &self.jobs {
            let next = places.len();
            places.entry(submission_id(id, job)).or_insert(next);
        }
        let mut out = COLUMNS.join(",") + "\n";
        for (&id, job) in &self.jobs {
            let row = self.job_row(id, job, base, &places);
            let quote_value = |value: &String| if value.contains(',') { format!("\"{value}\"") } else { value.clone() };
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}", row.iter().map(quote_value).collect::<Vec<_>>().join(","));
        }
        out
    }

    fn job_row(&self, id: u64, job: &SeenJob, base: i64, places: &BTreeMap<u64, usize>) -> Vec<String> {
        let asked_field = |name: &str| field_value(&job.asked, name);
        let last = |name: &str| field_value(&job.last, name);
        let second = |name: &str| last(name).parse::<i64>().ok();
        // A job that is cancelled before it starts has a time of start as well, and no nodes.
        let start_second =
            second("StartTime").filter(|_| job_state(&job.last) != "PENDING" && !last("NodeList").is_empty());
        let end_second = second("EndTime").filter(|_| start_second.is_some());
        let since = |at: Option<i64>| at.map_or("-1".to_string(), |at| (at - base).to_string());
        let tasks: u32 = asked_field("NumTasks").parse().unwrap_or(0);
        let cpus_per_task: u32 = asked_field("CPUs/Task").parse().unwrap_or(1);
        let limit = parse_seconds(asked_field("TimeLimit")).ok().flatten().map_or(NO_LIMIT, |limit| (limit + 59) / 60);
        let (least, most) = node_bounds(job);
        let array = field_value(&job.last, "ArrayJobId");
        let throttle = array.parse::<u64>().ok().and_then(|array| self.throttles.get(&array));
        let per = |name: &str| strip_kind(asked_field(name)).to_string();
        let count = |text: &str| text.rsplit(':').next().unwrap_or_default().to_string();
        let user = last("UserId").split('(').next().unwrap_or_default();
        let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
        vec![
            places.get(&submission_id(id, job)).copied().unwrap_or_default().to_string(),
            id.to_string(),
            since(second("SubmitTime")),
            since(second("EligibleTime")),
            since(start_second),
            since(end_second),
            tasks.max(1).saturating_mul(cpus_per_task).to_string(),
            limit.to_string(),
            start_second.zip(end_second).map_or(0, |(start, end)| end - start).to_string(),
            last("Partition").to_string(),
            asked_field("Partition").to_string(),
            user.to_string(),
            last("Priority").to_string(),
            last("NodeList").to_string(),
            job_state(&job.last).to_string(),
            u8::from(most == 1).to_string(),
            number(if most == 1 { 0 } else { least }),
            number(most),
            u8::from(asked_field("OverSubscribe") == "NO").to_string(),
            asked_field("Nice").to_string(),
            last("Account").to_string(),
            last("QOS").to_string(),
            array.to_string(),
            field_value(&job.last, "ArrayTaskId").to_string(),
            throttle.cloned().unwrap_or_default(),
            number(tasks),
            cpus_per_task.to_string(),
            format_megabytes(asked_field("MinMemoryNode")),
            format_megabytes(asked_field("MinMemoryCPU")),
            per("TresPerNode"),
            per("TresPerJob").trim_start_matches("gpu:").to_string(),
            per("TresPerTask").trim_start_matches("gpu:").to_string(),
            count(&per("CpusPerTres")),
            count(&per("MemPerTres")),
            asked_field("Features").to_string(),
            asked_field("Licenses").to_string(),
            asked_field("Reservation").to_string(),
            format_dependencies(&job.dependency, places),
            last("Restarts").to_string(),
            last("TRES").to_string(),
            last("Reason").to_string(),
            asked_field("ReqNodeList").to_string(),
            asked_field("ExcNodeList").to_string(),
        ]
    }
}

/// The submission of a job: that of its array, else its own.
fn submission_id(id: u64, job: &SeenJob) -> u64 {
    field_value(&job.last, "ArrayJobId").parse().unwrap_or(id)
}

fn job_state(fields: &JobFields) -> &str {
    field_value(fields, "JobState")
}

/// A field; empty where Slurm has no value.
fn field_value<'a>(fields: &'a JobFields, name: &str) -> &'a str {
    fields.get(name).map_or("", String::as_str).trim_matches(|c| c == '\n').trim_start_matches("(null)")
}

/// Fields of `NAME=VALUE`. Names of jobs and commands may have blanks and are not read.
fn parse_fields(line: &str) -> JobFields {
    let mut fields = JobFields::new();
    for word in line.split_whitespace() {
        if let Some((name, value)) = word.split_once('=') {
            let fits = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "/:_".contains(c));
            if fits && name != "JobName" {
                fields.entry(name.to_string()).or_insert_with(|| value.to_string());
            }
        }
    }
    fields
}

/// `n1:cpus=0-3:mem=1000:gres=gpu:a:2(IDX:0-1)` for each part of what a job has.
fn own_shares(line: &str) -> Vec<String> {
    let mut shares = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let Some(nodes) = word.strip_prefix("Nodes=") else { continue };
        let Some(cpus) = words.next_if(|next| next.starts_with("CPU_IDs=")) else { continue };
        let memory = words.next_if(|next| next.starts_with("Mem=")).unwrap_or("Mem=0");
        let gres = words.next_if(|next| next.starts_with("GRES=")).unwrap_or("GRES=");
        shares.push(format!("{nodes}:cpus={}:mem={}:gres={}", &cpus[8..], &memory[4..], &gres[5..]));
    }
    shares
}

/// The fewest and the most nodes that a job asks for; 0 for no bound. Of a job that waits Slurm
/// shows a range where it asks for one. A job that was not seen to wait counts as asking for as
/// many as it got.
fn node_bounds(job: &SeenJob) -> (u32, u32) {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let node_text = field_value(&job.asked, "NumNodes");
    match node_text.split_once('-') {
        Some((least, most)) => (number(least), number(most)),
        None if job_state(&job.asked) == "PENDING" => (0, 0),
        None => (number(node_text), number(node_text)),
    }
}

/// A device without the prefix of its kind: `gres:gpu:2` and `gres/gpu:2`.
fn strip_kind(text: &str) -> &str {
    text.strip_prefix("gres:").or_else(|| text.strip_prefix("gres/")).unwrap_or(text)
}

/// `4G` in megabytes.
fn format_megabytes(text: &str) -> String {
    let (number, scale) = match text.char_indices().find(|(_, c)| c.is_alphabetic()) {
        Some((at, 'K')) => (&text[..at], 1.0 / 1024.0),
        Some((at, 'G')) => (&text[..at], 1024.0),
        Some((at, 'T')) => (&text[..at], 1024.0 * 1024.0),
        Some((at, _)) => (&text[..at], 1.0),
        None => (text, 1.0),
    };
    number.parse::<f64>().map_or_else(|_| String::new(), |n| format!("{:.0}", n * scale))
}

/// `afterok:12(unfulfilled)` with the places of submissions in the place of their numbers.
fn format_dependencies(text: &str, places: &BTreeMap<u64, usize>) -> String {
    let mut out = String::new();
    for part in text.split_inclusive([',', '?']) {
        let (part, separator) = match part.strip_suffix([',', '?']) {
            Some(bare) => (bare, &part[bare.len()..]),
            None => (part, ""),
        };
        let part = part.split('(').next().unwrap_or_default();
        let (kind, id) = part.split_once(':').unwrap_or((part, ""));
        let id: String = id.chars().take_while(char::is_ascii_digit).collect();
        let place = id.parse().ok().and_then(|id: u64| places.get(&id));
        match place {
            Some(place) => out += &format!("{kind}:{place}{separator}"),
            None => out += &format!("{kind}{separator}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITS: &str = "JobId=7 JobName=a b=c UserId=ada(1001) GroupId=x(1) Priority=150 Nice=3 Account=a QOS=normal JobState=PENDING \
        Reason=Resources Dependency=afterok:6(unfulfilled) Restarts=0 TimeLimit=00:02:30 SubmitTime=1000 EligibleTime=1010 \
        StartTime=1200 EndTime=1350 Partition=long,short ReqNodeList=(null) ExcNodeList=n4 NodeList=(null) NumNodes=2-4 NumCPUs=6 \
        NumTasks=3 CPUs/Task=2 TRES=cpu=6,node=2 MinMemoryNode=2G Features=(null) OverSubscribe=NO TresPerNode=gres:gpu:2\n\
        JobId=6 JobName=x UserId=bob(1002) Priority=151 Nice=0 JobState=RUNNING Dependency=(null) Restarts=0 TimeLimit=UNLIMITED \
        SubmitTime=990 EligibleTime=990 StartTime=995 EndTime=Unknown Partition=long NodeList=n[1-2] NumNodes=2 NumCPUs=2 \
        NumTasks=2 CPUs/Task=1 MinMemoryCPU=500M OverSubscribe=OK Nodes=n[1-2] CPU_IDs=0-1 Mem=1000 GRES=\n\
        JobId=8 ArrayJobId=8 ArrayTaskId=1-9%2 JobState=PENDING\n";

    fn cells(records: &JobRecords, id: &str) -> BTreeMap<&'static str, String> {
        let text = records.render_lines(990);
        let row = text.lines().find(|line| line.split(',').nth(1) == Some(id)).expect("a line");
        let (mut cells, mut in_quotes) = (vec![String::new()], false);
        for c in row.chars() {
            match c {
                '"' => in_quotes = !in_quotes,
                ',' if !in_quotes => cells.push(String::new()),
                c => cells.last_mut().expect("a cell").push(c),
            }
        }
        assert_eq!(cells.len(), COLUMNS.len(), "{row}");
        COLUMNS.into_iter().zip(cells).collect()
    }

    #[test]
    fn lines_have_what_jobs_asked_for_and_what_came_of_them() {
        let mut records = JobRecords::default();
        assert_eq!(records.look_at(WAITS), ["alloc 6 n[1-2]:cpus=0-1:mem=1000:gres="]);
        assert_eq!(records.count_jobs(), (2, 2), "the rest of an array is no job");
        let mut withdrawn = records.clone();
        withdrawn.look_at(&WAITS.replace("JobState=PENDING", "JobState=CANCELLED"));
        assert_eq!(cells(&withdrawn, "7")["start"], "-1", "it had no nodes");
        let ran = WAITS.replace("JobState=PENDING", "JobState=COMPLETED").replace("NumNodes=2-4", "NumNodes=2");
        let ran = ran.replace("NodeList=(null) NumNodes", "NodeList=n[2-3] NumNodes");
        let ran = ran.replace("Partition=long,short", "Partition=short").replace("afterok:6(unfulfilled)", "(null)");
        assert!(records.look_at(&ran).is_empty(), "the same start");
        let seven = cells(&records, "7");
        for (name, expected) in [
            ("job", "1"),
            ("submit", "10"),
            ("eligible", "20"),
            ("start", "210"),
            ("end", "360"),
            ("n", "6"),
            ("limit_min", "3"),
            ("run_s", "150"),
            ("partition", "short"),
            ("partitions", "long,short"),
            ("user", "ada"),
            ("one", "0"),
            ("min_nodes", "2"),
            ("max_nodes", "4"),
            ("exclusive", "1"),
            ("nice", "3"),
            ("mem_per_node", "2048"),
            ("gres_per_node", "gpu:2"),
            ("dependency", "afterok:0"),
            ("nodelist", ""),
            ("exclude", "n4"),
        ] {
            assert_eq!(seven[name], expected, "{name}");
        }
        let six = cells(&records, "6");
        let of = |name: &str| six[name].as_str();
        assert_eq!((of("min_nodes"), of("max_nodes"), of("limit_min"), of("end")), ("2", "2", "525600", "-1"));
        assert_eq!((of("mem_per_cpu"), of("mem_per_node"), of("exclusive")), ("500", "", "0"));
    }
}
