//! Recorded schedules of a real Slurm: a configuration, a line per job, and what slurmctld's log says.

use crate::conf::{ConfError, SlurmConf, expand_hostlist};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// Its configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// One of its files.
    #[error("{}: cannot be read: {source}", .file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line.
    #[error("{}:{line}: {problem}", .file.display())]
    Line {
        /// Which file.
        file: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// A job as it was submitted, and what came of it.
#[derive(Clone, Debug)]
pub struct GoldenJob {
    /// Slurm's number.
    pub id: u32,
    /// Nodes, where nodes have one processor; else processors.
    pub n: u32,
    /// Limit in minutes.
    pub limit: i64,
    /// Seconds that it runs.
    pub run: i64,
    /// Its partition.
    pub partition: String,
    /// Its user.
    pub user: String,
    /// Submission, in seconds from the first.
    pub submit: i64,
    /// Start, in seconds from the first submission.
    pub start: i64,
}

/// What slurmctld's log says, in milliseconds from the first submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// Submitted, with its priority.
    Submit(u32, i64),
    /// A pass of the main scheduler begins; whether it is a full one.
    MainPass(bool),
    /// The main scheduler starts a job on these nodes.
    MainStart(u32, Vec<String>),
    /// A backfill pass begins.
    BackfillPass,
    /// Backfill starts a job on these nodes.
    BackfillStart(u32, Vec<String>),
    /// Backfill plans a job: begin, end, nodes.
    Plan(u32, i64, i64, Vec<String>),
    /// A job has ended.
    Complete(u32),
    /// A node is done with the epilog of a job.
    Epilog(String),
    /// A node has answered a message: when a job has just ended, that it is done with it.
    Answer(String),
}

/// One recorded run.
#[derive(Debug)]
pub struct Golden {
    /// `NAME.repN`.
    pub name: String,
    /// The configuration.
    pub conf: SlurmConf,
    /// Seconds from the Unix epoch to the time 0 of everything else.
    pub base: i64,
    /// The jobs by Slurm's number.
    pub jobs: BTreeMap<u32, GoldenJob>,
    /// What happened, in order: milliseconds and what.
    pub events: Vec<(i64, Happening)>,
}

impl Golden {
    /// Every recording in a folder, by name.
    ///
    /// # Errors
    /// A folder or file that cannot be read, a line that is none.
    pub fn all(dir: &Path) -> Result<Vec<Golden>, GoldenError> {
        let entries = fs::read_dir(dir).map_err(|source| unreadable(dir, source))?;
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(|source| unreadable(dir, source))?.file_name();
            let name = name.to_string_lossy();
            let stem = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".events");
            names.extend(stem.map(String::from));
        }
        names.sort();
        names.iter().map(|name| Golden::read(dir, name)).collect()
    }

    /// One recording, `NAME.repN`.
    ///
    /// # Errors
    /// As [`Golden::all`].
    pub fn read(dir: &Path, name: &str) -> Result<Golden, GoldenError> {
        let scenario = name.split_once(".rep").map_or(name, |(scenario, _)| scenario);
        let conf = SlurmConf::read(dir.join(format!("{scenario}.conf")))?;
        let (mut base, mut events) = (0, Vec::new());
        let file = [".events.gz", ".events"].map(|end| dir.join(format!("{name}{end}")));
        let file = file.iter().find(|f| f.exists()).unwrap_or(&file[0]);
        for (number, line) in text(file)?.lines().enumerate() {
            let wrong = |problem: String| GoldenError::Line { file: file.clone(), line: number + 1, problem };
            if let Some(epoch) = line.strip_prefix("# base_epoch ") {
                base = epoch.trim().parse().map_err(|_| wrong(format!("`{epoch}` is no time")))?;
            } else {
                events.extend(event(line).map_err(wrong)?);
            }
        }
        let csv = dir.join(format!("{name}.csv"));
        let mut jobs = BTreeMap::new();
        for (number, line) in text(&csv)?.lines().enumerate().skip(1) {
            let wrong = |problem: String| GoldenError::Line { file: csv.clone(), line: number + 1, problem };
            let job = job(line).map_err(wrong)?;
            jobs.insert(job.id, job);
        }
        Ok(Golden { name: name.to_string(), conf, base, jobs, events })
    }
}

fn unreadable(file: &Path, source: std::io::Error) -> GoldenError {
    GoldenError::Unreadable { file: file.to_path_buf(), source }
}

fn text(file: &Path) -> Result<String, GoldenError> {
    let bytes = fs::read(file).map_err(|source| unreadable(file, source))?;
    let mut text = String::new();
    let read = if file.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    read.map(|_| text).map_err(|source| unreadable(file, source))
}

fn job(line: &str) -> Result<GoldenJob, String> {
    let fields = line.split(',').collect::<Vec<_>>();
    let number = |index: usize| {
        let text = fields.get(index).ok_or(format!("a line of {} fields; expected 14", fields.len()))?;
        text.parse::<i64>().map_err(|_| format!("`{text}` is no number"))
    };
    let text = |index: usize| fields.get(index).map_or(String::new(), ToString::to_string);
    Ok(GoldenJob {
        id: number(1)? as u32,
        submit: number(2)?,
        start: number(4)?,
        n: number(6)? as u32,
        limit: number(7)?,
        run: number(8)?,
        partition: text(9),
        user: text(10),
    })
}

/// A line of the log; `None` for those that say nothing here.
fn event(line: &str) -> Result<Option<(i64, Happening)>, String> {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let [time, what, rest @ ..] = words.as_slice() else {
        return Ok(None);
    };
    let seconds = time.parse::<f64>().map_err(|_| format!("`{time}` is no time in seconds"))?;
    let number = |index: usize| {
        let word = rest.get(index).ok_or(format!("{what}: word {} is missing", index + 1))?;
        word.parse::<i64>().map_err(|_| format!("{what}: `{word}` is no number"))
    };
    let id = || number(0).map(|id| id as u32);
    let word = |index: usize| rest.get(index).map_or(String::new(), ToString::to_string);
    let nodes = |index: usize| {
        let list = rest.get(index).ok_or(format!("{what}: the nodes are missing"))?;
        expand_hostlist(list)
    };
    let happening = match *what {
        "submit" => Happening::Submit(id()?, number(1)?),
        "sched_pass" => Happening::MainPass(rest.contains(&"full")),
        "sched_start" => Happening::MainStart(id()?, nodes(1)?),
        "bf_pass" => Happening::BackfillPass,
        "bf_start" => Happening::BackfillStart(id()?, nodes(2)?),
        "bf_resv" => Happening::Plan(id()?, number(1)?, number(2)?, nodes(3)?),
        "complete" => Happening::Complete(id()?),
        "epilog" => Happening::Epilog(word(1)),
        "resp" => Happening::Answer(word(0)),
        _ => return Ok(None),
    };
    Ok(Some(((seconds * 1000.0).round() as i64, happening)))
}
