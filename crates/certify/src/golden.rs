//! Recorded schedules of a real Slurm: a configuration, a line per job, and what slurmctld's log
//! says.

use super::lines::{self, LineColumns};
use super::recorded::{GoldenJob, Happening, LineJob};
use drystone_slurm::accounts::{Accounts, AccountsError};
use drystone_slurm::conf::{ConfError, PreemptMode, SlurmConf};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    #[error(transparent)]
    Conf(#[from] ConfError),
    #[error(transparent)]
    Accounts(#[from] AccountsError),
    #[error("{}: cannot be read: {source}", .file.display())]
    Unreadable { file: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {problem}", .file.display())]
    Line {
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Description of the mistake.
        problem: String,
    },
}

#[derive(Debug)]
pub struct Golden {
    /// `NAME.repN`.
    pub name: String,
    pub conf: SlurmConf,
    /// The accounts; empty where there is no database.
    pub accounts: Accounts,
    /// Seconds from the Unix epoch to the time 0 of everything else.
    pub base: i64,
    /// The jobs in the order of submission, tasks of an array in theirs.
    pub jobs: Vec<GoldenJob>,
    /// Events in order, with their milliseconds.
    pub events: Vec<(i64, Happening)>,
}

impl Golden {
    /// Every recording in a folder, by name.
    ///
    /// # Errors
    /// A folder or file that cannot be read, a line that is none.
    pub fn read_all(dir: &Path) -> Result<Vec<Golden>, GoldenError> {
        Golden::list_recordings(dir)?.iter().map(|name| Golden::read_recording(dir, name)).collect()
    }

    /// The names of the recordings in a folder and in the folders within it, `FOLDER/NAME.repN`.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn list_recordings(dir: &Path) -> Result<Vec<String>, GoldenError> {
        let entries = fs::read_dir(dir).map_err(|source| read_error(dir, source))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| read_error(dir, source))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".events");
            names.extend(stem.map(String::from));
            if entry.path().is_dir() {
                let below = Golden::list_recordings(&entry.path())?;
                names.extend(below.into_iter().map(|below| format!("{name}/{below}")));
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// One recording, `NAME.repN`.
    ///
    /// # Errors
    /// As [`Golden::read_all`].
    pub fn read_recording(dir: &Path, name: &str) -> Result<Golden, GoldenError> {
        let scenario = name.rsplit_once(".rep").map_or(name, |(scenario, _)| scenario);
        let conf = SlurmConf::read_file(dir.join(format!("{scenario}.conf")))?;
        let accounts = dir.join(format!("{scenario}.accounts"));
        let accounts = if accounts.exists() { Accounts::read_file(&accounts)? } else { Accounts::default() };
        let csv = dir.join(format!("{name}.csv"));
        let jobs = read_jobs(&csv)?;
        let file = [".events.gz", ".events"].map(|end| dir.join(format!("{name}{end}")));
        let file = file.iter().find(|f| f.exists()).unwrap_or(&file[0]);
        let names = lines::JobNames::new(&jobs);
        let (mut base, mut events) = (0, Vec::new());
        for (number, line) in read_text(file)?.lines().enumerate() {
            let wrong = |problem: String| GoldenError::Line { file: file.clone(), line: number + 1, problem };
            if let Some(epoch) = line.strip_prefix("# base_epoch ") {
                base = epoch.trim().parse().map_err(|_| wrong(format!("`{epoch}` is no time")))?;
            } else {
                events.extend(lines::parse_event(line, &names).map_err(wrong)?);
            }
        }
        submissions_first(&mut events);
        let mut golden = Golden { name: name.to_string(), conf, accounts, base, jobs, events };
        golden.find_partitions();
        Ok(golden)
    }

    /// Returns whether a free run can be compared: jobs wait for nothing but resources, limits and
    /// their turn.
    pub fn runs_freely(&self) -> bool {
        let waits = |job: &GoldenJob| {
            let begins = job.restarts == 0 && job.task.is_none() && job.eligible.is_some_and(|at| at > job.submit + 1);
            begins || !job.dependency.is_empty() || !job.reservation.is_empty()
        };
        let acts = self.events.iter().any(|(_, happening)| matches!(happening, Happening::Action(_)));
        // What the gang scheduler suspends is not simulated.
        let gang = self.conf.preempt.mode == PreemptMode::Suspend;
        !acts && !gang && !self.jobs.iter().any(waits)
    }

    pub fn matching_jobs(&self, name: LineJob) -> impl Iterator<Item = u32> + '_ {
        let is = move |&id: &u32| match name {
            LineJob::Job(own) => own == id,
            LineJob::Tasks(array) => self.jobs[id as usize].task.is_some_and(|(of, _)| of == array),
        };
        (0..self.jobs.len() as u32).filter(is)
    }
}

/// slurmctld may log a submission after, or within, the pass that looks at the job. Such a
/// submission is moved before that pass.
fn submissions_first(events: &mut Vec<(i64, Happening)>) {
    let about = |happening: &Happening| match happening {
        Happening::Test(name, ..)
        | Happening::MainStart(name, _)
        | Happening::BackfillStart(name, _)
        | Happening::Plan(name, ..) => Some(*name),
        _ => None,
    };
    let begins = |h: &(i64, Happening)| matches!(h.1, Happening::MainPass(_) | Happening::BackfillPass);
    let ends = |h: &(i64, Happening)| matches!(h.1, Happening::Done | Happening::Abort);
    let mut at = 0;
    while at < events.len() {
        if let Happening::Submit(name, _) = events[at].1 {
            let is = |h: &(i64, Happening)| about(&h.1) == Some(name);
            let earlier = events[..at].iter().position(is);
            // The pass that is being made.
            let begin = events[..at].iter().rposition(|h| begins(h) || ends(h)).filter(|&begin| begins(&events[begin]));
            let rest = &events[at + 1..];
            let over = rest.iter().position(|h| begins(h) || ends(h)).unwrap_or(rest.len());
            let within = begin.filter(|_| rest[..over].iter().any(is));
            let first = earlier.map(|first| events[..first].iter().rposition(begins).unwrap_or(first));
            if let Some(to) = first.or(within) {
                let late = events.remove(at);
                let moment = events[to].0;
                events.insert(to, (moment, late.1));
            }
        }
        at += 1;
    }
}

fn read_error(file: &Path, source: std::io::Error) -> GoldenError {
    GoldenError::Unreadable { file: file.to_path_buf(), source }
}

fn read_text(file: &Path) -> Result<String, GoldenError> {
    let bytes = fs::read(file).map_err(|source| read_error(file, source))?;
    let mut text = String::new();
    let read_result = if file.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    read_result.map(|_| text).map_err(|source| read_error(file, source))
}

fn read_jobs(csv: &Path) -> Result<Vec<GoldenJob>, GoldenError> {
    let text = read_text(csv)?;
    let mut rows = text.lines().zip(1..);
    let table = LineColumns::new(rows.next().map_or("", |(header, _)| header));
    let mut jobs: BTreeMap<(i64, u32), GoldenJob> = BTreeMap::new();
    for (line, number) in rows.filter(|(line, _)| !line.trim().is_empty()) {
        let wrong = |problem: String| GoldenError::Line { file: csv.to_path_buf(), line: number, problem };
        let (place, job) = table.parse_job(line).map_err(wrong)?;
        jobs.insert((place, job.task.map_or(0, |(_, task)| task)), job);
    }
    Ok(jobs.into_values().collect())
}
