//! Accounting made up: jobs that are known, written as every carrier writes them.

use crate::common::Facts;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// A job that is known.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) id: u64,
    /// Array and task.
    pub(crate) task: Option<(u64, u32)>,
    pub(crate) user: &'static str,
    pub(crate) partition: &'static str,
    pub(crate) submit: i64,
    pub(crate) eligible: i64,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) suspended: i64,
    pub(crate) cpus: u32,
    pub(crate) minutes: i64,
    pub(crate) state: &'static str,
    /// Its node; none where it never ran.
    pub(crate) node: Option<String>,
    pub(crate) name: &'static str,
}

impl Made {
    /// A job that ran on one node.
    pub(crate) fn ran(id: u64, submit: i64, start: i64, end: i64, cpus: u32) -> Made {
        Made {
            id,
            task: None,
            user: "ada",
            partition: "batch",
            submit,
            eligible: submit,
            start: Some(start),
            end: Some(end),
            suspended: 0,
            cpus,
            minutes: 600,
            state: "COMPLETED",
            node: Some("n1".to_string()),
            name: "job",
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match (self.state, self.start) {
            ("PENDING", _) => "waiting",
            ("RUNNING", _) => "running",
            (_, Some(_)) => "ran",
            _ => "withdrawn",
        }
    }

    /// Returns the facts that an import makes of it, without its size.
    pub(crate) fn facts(&self) -> Facts {
        let display = self.task.map_or(self.id.to_string(), |(of, task)| format!("{of}_{task}"));
        let run = self.start.zip(self.end).map(|(start, end)| (end - start) as u32);
        let ran = self.kind() == "ran";
        (
            display,
            self.submit,
            self.eligible,
            self.start,
            self.end,
            run.filter(|_| ran),
            self.minutes as u32 * 60 + if ran { self.suspended as u32 } else { 0 },
            0,
            self.user.to_string(),
            self.partition.to_string(),
            self.kind(),
        )
    }
}

/// Facts without sizes, which depend on the machine, in an order of their own.
pub(crate) fn sizeless(facts: Vec<Facts>) -> Vec<Facts> {
    let mut all: Vec<Facts> =
        facts.into_iter().map(|f| (f.0, f.1, f.2, f.3, f.4, f.5, f.6, 0, f.8, f.9, f.10)).collect();
    all.sort();
    all
}

/// The sorted facts of jobs that are known.
pub(crate) fn expected(jobs: &[Made]) -> Vec<Facts> {
    sizeless(jobs.iter().map(Made::facts).collect())
}

// No name is made of hexadecimal digits: masks of names are.
const USERS: [&str; 5] = ["lin", "böll", "c'est", "root", "d.e"];
const NAMES: [&str; 5] = ["job", "a|b", "two words", "Größe", "--x=\"y\""];

/// Jobs of all kinds over some weeks, from this moment on.
pub(crate) fn jobs(seed: u64, count: u64, begin: i64) -> Vec<Made> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut list = Vec::new();
    let (mut id, mut now) = (1_000 + seed % 1_000, begin);
    let end_of_records = begin + count as i64 * 400 + 90_000;
    while (list.len() as u64) < count {
        now += random.random_range(0..600);
        let tasks = if random.random_range(0..8) == 0 { random.random_range(2..5_u32) } else { 0 };
        let (user, name) = (USERS[random.random_range(0..5)], NAMES[random.random_range(0..5)]);
        let partition = ["batch", "gpu"][usize::from(random.random_range(0..4) == 0)];
        let (cpus, minutes) = (random.random_range(1..16_u32), random.random_range(1..3_000));
        let array = id;
        for task in 0..tasks.max(1) {
            let eligible = now + if random.random_range(0..5) == 0 { random.random_range(1..40_000) } else { 0 };
            let mut job = Made {
                id,
                task: (tasks > 0).then_some((array, task)),
                user,
                partition,
                submit: now,
                eligible,
                start: None,
                end: None,
                suspended: 0,
                cpus,
                minutes,
                state: "COMPLETED",
                node: None,
                name,
            };
            fate(&mut job, &mut random, end_of_records);
            list.push(job);
            id += 1;
        }
    }
    list
}

/// Sets the fate of the job.
fn fate(job: &mut Made, random: &mut ChaCha8Rng, last: i64) {
    let wait = random.random_range(0..30_000);
    match random.random_range(0..20) {
        0 | 1 => {
            (job.state, job.end) = ("CANCELLED", Some(job.eligible + wait));
        }
        2 if job.eligible + wait < last => {
            // Long enough not to be taken for a record that was never closed.
            (job.state, job.start, job.minutes) = ("RUNNING", Some(job.eligible + wait), 40_000);
        }
        3 => job.state = "PENDING",
        other => {
            let run = if other == 4 { 0 } else { random.random_range(1..job.minutes * 60 + 60) };
            let start = job.eligible + wait;
            job.suspended = if other == 5 { random.random_range(0..run) } else { 0 };
            (job.start, job.end) = (Some(start), Some(start + run));
            job.state = ["COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED"][random.random_range(0..5)];
        }
    }
    if job.start.is_some() {
        let (letter, nodes) = if job.partition == "gpu" { ('g', 4) } else { ('n', 9) };
        job.node = Some(format!("{letter}{}", random.random_range(1..=nodes)));
    }
}

/// Style of sacct's text.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) zone: TimeZone,
    /// Seconds since 1970 instead of local times.
    pub(crate) epochs: bool,
    /// A delimiter also follows the last column.
    pub(crate) trailing: bool,
    pub(crate) delimiter: &'static str,
    pub(crate) steps: bool,
    pub(crate) columns: Vec<&'static str>,
}

/// Every column that is written, free text last.
pub(crate) const COLUMNS: [&str; 24] = [
    "JobID",
    "JobIDRaw",
    "Cluster",
    "User",
    "Account",
    "Group",
    "Partition",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ElapsedRaw",
    "Suspended",
    "State",
    "ExitCode",
    "Timelimit",
    "ReqCPUS",
    "AllocCPUS",
    "NNodes",
    "ReqMem",
    "NodeList",
    "Priority",
    "JobName",
];

impl Style {
    pub(crate) fn utc() -> Style {
        Style {
            zone: TimeZone::UTC,
            epochs: false,
            trailing: false,
            delimiter: "|",
            steps: false,
            columns: COLUMNS.to_vec(),
        }
    }

    /// Columns in another order; the free text stays last, as it must.
    pub(crate) fn shuffled(mut self, seed: u64) -> Style {
        let last = self.columns.len() - 1;
        self.columns[..last].shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        self
    }

    fn time(&self, moment: Option<i64>) -> String {
        match moment {
            None => "Unknown".to_string(),
            Some(moment) if self.epochs => moment.to_string(),
            Some(moment) => local(moment, &self.zone),
        }
    }

    fn line(&self, cell: impl Fn(&str) -> String) -> String {
        let cells: Vec<String> = self.columns.iter().map(|column| cell(column)).collect();
        format!("{}{}\n", cells.join(self.delimiter), if self.trailing { self.delimiter } else { "" })
    }

    fn header(&self) -> String {
        self.line(str::to_string)
    }

    /// The row of a job, and of its steps.
    fn rows(&self, job: &Made) -> String {
        let display = job.task.map_or(job.id.to_string(), |(of, task)| format!("{of}_{task}"));
        let duration = job.start.map_or(0, |start| job.end.unwrap_or(start + 60) - start - job.suspended);
        let row = |step: &str, column: &str| match column {
            "JobID" => format!("{display}{step}"),
            "JobIDRaw" => format!("{}{step}", job.id),
            "Cluster" => "made".to_string(),
            "User" if step.is_empty() => job.user.to_string(),
            "Account" => "physics".to_string(),
            "Group" if step.is_empty() => "users".to_string(),
            "Partition" if step.is_empty() => job.partition.to_string(),
            "QOS" if step.is_empty() => "normal".to_string(),
            "Submit" => self.time(Some(job.submit)),
            "Eligible" => self.time(Some(job.eligible)),
            // Of a job that never ran the start is unknown, or when it left.
            "Start" => self.time(job.start.or(job.end.filter(|_| job.id.is_multiple_of(2)))),
            "End" => self.time(job.end),
            "ElapsedRaw" => duration.to_string(),
            "Suspended" => span(job.suspended),
            "State" if job.state == "CANCELLED" => "CANCELLED by 1000".to_string(),
            "State" => job.state.to_string(),
            "ExitCode" => "0:0".to_string(),
            "Timelimit" if step.is_empty() => span(job.minutes * 60),
            "ReqCPUS" => job.cpus.to_string(),
            "AllocCPUS" => if job.start.is_some() { job.cpus } else { 0 }.to_string(),
            "NNodes" => "1".to_string(),
            "ReqMem" if step.is_empty() => format!("{}M", job.cpus * 100),
            "NodeList" => job.node.clone().unwrap_or_else(|| "None assigned".to_string()),
            "Priority" if step.is_empty() => "100".to_string(),
            "JobName" => if step.is_empty() { job.name } else { "batch" }.to_string(),
            _ => String::new(),
        };
        let mut text = self.line(|column| row("", column));
        if self.steps && job.start.is_some() {
            for step in [".batch", ".extern", ".0"] {
                text.push_str(&self.line(|column| row(step, column)));
            }
        }
        text
    }

    /// Text of sacct.
    pub(crate) fn text(&self, jobs: &[Made]) -> String {
        let mut text = self.header();
        jobs.iter().for_each(|job| text.push_str(&self.rows(job)));
        text
    }
}

/// A local time as sacct prints it.
pub(crate) fn local(moment: i64, zone: &TimeZone) -> String {
    let zone_time = Timestamp::from_second(moment).expect("a moment").to_zoned(zone.clone());
    zone_time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// `[D-]HH:MM:SS`.
pub(crate) fn span(seconds: i64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60);
    if days > 0 { format!("{days}-{clock}") } else { clock }
}

/// `sacct --json` as it was in 21.08 and 22.05 (`old`), and as it is since 23.02.
pub(crate) fn json(jobs: &[Made], old: bool) -> String {
    let number = |n: i64| match old {
        true => serde_json::json!(n),
        false => serde_json::json!({"set": true, "infinite": false, "number": n}),
    };
    let object_of = |job: &Made| {
        let (array, task) = job.task.unwrap_or((0, 0));
        let task_id = match (job.task, old) {
            (Some(_), true) => serde_json::json!(task),
            (None, true) => serde_json::Value::Null,
            (Some(_), false) => number(i64::from(task)),
            (None, false) => serde_json::json!({"set": false, "infinite": false, "number": 0}),
        };
        let state = match old {
            true => serde_json::json!({"current": job.state, "reason": "None"}),
            false => serde_json::json!({"current": [job.state], "reason": "None"}),
        };
        let duration = job.start.map_or(0, |start| job.end.unwrap_or(start + 60) - start - job.suspended);
        let alloc_cpus = if job.start.is_some() { job.cpus } else { 0 };
        let tres = |cpus: u32, list: &str| match cpus {
            0 => serde_json::json!({list: []}),
            cpus => serde_json::json!({list: [
                {"type": "cpu", "name": null, "id": 1, "count": cpus},
                {"type": "mem", "name": null, "id": 2, "count": cpus * 100},
                {"type": "node", "name": null, "id": 4, "count": 1},
            ]}),
        };
        let mut tres_value = tres(alloc_cpus, "allocated");
        tres_value["requested"] = tres(job.cpus, "requested")["requested"].clone();
        serde_json::json!({
            "account": "physics",
            "array": {"job_id": array, "task_id": task_id, "task": null, "limits": {"max": {"running": {"tasks": 0}}}},
            "cluster": "made",
            "group": "users",
            "job_id": job.id,
            "name": job.name,
            "nodes": job.node.clone().unwrap_or_else(|| "None assigned".to_string()),
            "partition": job.partition,
            "priority": number(100),
            "qos": "normal",
            "required": {"CPUs": job.cpus, "memory": job.cpus * 100},
            "state": state,
            "steps": [{"step": {"id": {"job_id": job.id, "step_id": "batch"}, "name": "batch"}, "state": "COMPLETED"}],
            "time": {
                "elapsed": duration,
                "eligible": job.eligible,
                "end": job.end.unwrap_or(0),
                "limit": number(job.minutes),
                "start": job.start.unwrap_or(0),
                "submission": job.submit,
                "suspended": job.suspended,
            },
            "tres": tres_value,
            "user": job.user,
        })
    };
    let jobs: Vec<serde_json::Value> = jobs.iter().map(object_of).collect();
    serde_json::json!({"meta": {"Slurm": {"release": "23.11.1"}}, "errors": [], "jobs": jobs}).to_string()
}

/// Records of completed jobs, as jobcomp/filetxt writes them: those that still run or wait are not
/// there.
pub(crate) fn jobcomp(jobs: &[Made]) -> String {
    let mut text = String::new();
    for job in jobs.iter().filter(|job| job.end.is_some()) {
        let time = |moment: i64| local(moment, &TimeZone::UTC);
        let _ = writeln!(
            text,
            "JobId={} UserId={}(1000) GroupId=users(100) Name={} JobState={} Partition={} TimeLimit={} StartTime={} EndTime={} NodeList={} \
             NodeCnt={} ProcCnt={} WorkDir=/home/x ReservationName= Tres=cpu={} Account=physics QOS=normal WcKey= Cluster=made \
             SubmitTime={} EligibleTime={} DerivedExitCode=0:0 ExitCode=0:0 ",
            job.id,
            job.user,
            job.name,
            job.state,
            job.partition,
            job.minutes,
            job.start.map_or("Unknown".to_string(), time),
            time(job.end.unwrap_or(0)),
            job.node.as_deref().unwrap_or("(null)"),
            u32::from(job.start.is_some()),
            job.cpus,
            job.cpus,
            time(job.submit),
            time(job.eligible),
        );
    }
    text
}

/// Accounting of PBS: the records of each job at their times.
pub(crate) fn pbs(jobs: &[Made]) -> String {
    let mut events: Vec<(i64, String)> = Vec::new();
    for job in jobs {
        let id = job.task.map_or(format!("{}.srv", job.id), |(of, task)| format!("{of}[{task}].srv"));
        let facts = format!(
            "user={} group=users account=\"physics\" jobname={} queue={} ctime={} qtime={} etime={}",
            job.user,
            job.name.replace(' ', "_"),
            job.partition,
            job.submit,
            job.submit,
            job.eligible
        );
        let request = format!("Resource_List.ncpus={} Resource_List.walltime={}", job.cpus, walltime(job.minutes * 60));
        events.push((job.submit, format!("Q;{id};{facts} {request}")));
        let Some(start) = job.start else {
            if let Some(end) = job.end {
                events.push((end, format!("D;{id};requestor=ada@login")));
            }
            continue;
        };
        let place = format!("exec_host={}/0*{} {request}", job.node.as_deref().unwrap_or("n1"), job.cpus);
        events.push((start, format!("S;{id};{facts} start={start} {place}")));
        if let Some(end) = job.end {
            let text = format!(
                "E;{id};{facts} start={start} {place} session=1 end={end} Exit_status=0 resources_used.walltime=00:00:01"
            );
            events.push((end, text));
        }
    }
    events.sort_by_key(|(at, _)| *at);
    let zone = TimeZone::UTC;
    let stamp = |at: i64| {
        Timestamp::from_second(at).expect("a moment").to_zoned(zone.clone()).strftime("%m/%d/%Y %H:%M:%S").to_string()
    };
    events.iter().map(|(at, text)| format!("{};{text}\n", stamp(*at))).collect()
}

fn walltime(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
