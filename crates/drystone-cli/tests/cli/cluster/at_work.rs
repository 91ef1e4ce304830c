//! A study in tasks, and tasks at work, for the tests of sweeps on clusters.

use crate::common::Folder;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// A study of 96 simulations on a workload of this many jobs: 3,000 take milliseconds, 50,000 a
/// tenth of a second.
pub(crate) fn of_jobs(jobs: u32) -> String {
    format!(
        "[[workload]]\nname = \"w\"\ngenerate = {{ procs = 64, jobs = {jobs}, load = 0.9 }}\n\
         [[policy]]\npolicy = \"easy(backfill={{b}},predict=recent({{size}},window={{w}},metric={{m}}))\"\n[policy.parameters]\n\
         b = [\"fcfs\", \"sjf\"]\nw = [\"all\", \"extended\"]\nm = [\"average\", \"min\"]\nsize = {{ from = 3, to = 14 }}\n"
    )
}
pub(crate) const SIMULATIONS: u64 = 96;

/// A folder with the study, and what a sweep on this machine exports of it.
pub(crate) fn study(jobs: u32) -> (Folder, String) {
    let folder = Folder::with("study.toml", of_jobs(jobs));
    folder.run(&["sweep", "study.toml", "--store", "local.db", "--quiet"]).ok();
    let local = export(&folder, "local.db");
    (folder, local)
}

pub(crate) fn export(folder: &Folder, store: &str) -> String {
    folder.run(&["sweep", "export", store]).ok()
}

/// Waits until this holds; generously, for other tests may have the machine.
pub(crate) fn until(subject: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..30_000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("it takes too long: {subject}");
}

/// A task at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Working {
    pub(crate) pid: u32,
    pub(crate) task: u32,
}

impl Working {
    /// The tasks of a submission that are at work.
    pub(crate) fn of(submission: &std::path::Path) -> Vec<Working> {
        let entries = std::fs::read_dir("/proc").expect("Linux");
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let words: Vec<&str> = line.split(|byte| *byte == 0).filter_map(|w| std::str::from_utf8(w).ok()).collect();
            let at = words.windows(2).position(|pair| pair == ["sweep", "task"])?;
            // Not the shell that is about to become it.
            let is_ours = at == 1 && words.get(4).is_some_and(|word| submission == std::path::Path::new(word));
            is_ours.then(|| Some(Working { pid, task: words.get(3)?.parse().ok()? })).flatten()
        })
        .collect()
    }

    pub(crate) fn send(self, signal: &str) {
        let status = Command::new("kill").args([&format!("-{signal}"), &self.pid.to_string()]).status().expect("runs");
        assert!(status.success(), "{self:?} gets {signal}");
    }
}

/// Returns the number of simulations in the published stores of a task, equal ones counted for
/// each.
pub(crate) fn published(folder: &Folder, submission: &str, task: u32) -> u64 {
    let path = folder.path(submission);
    let names = std::fs::read_dir(&path).map_or(Vec::new(), |entries| {
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    });
    let of_task = names.iter().filter(|name| name.starts_with(&format!("{task}.")) && name.ends_with(".db"));
    of_task
        .map(|name| {
            let store = format!("{submission}/{name}");
            folder.run(&["sweep", "status", &store, "--format", "json"]).json()["simulated"].as_u64().expect("a number")
        })
        .sum()
}

/// Stops a task between its first published result and its last, where none of `not` is.
pub(crate) fn catch(folder: &Folder, submission: &str, share: u64, not: &[Working]) -> Working {
    let mut worker = None;
    until("a task is caught at work", || {
        for working in Working::of(&folder.path(submission)) {
            let has_results = std::fs::read_dir(folder.path(submission)).is_ok_and(|mut entries| {
                entries.any(|e| {
                    e.is_ok_and(|e| e.file_name().to_string_lossy().starts_with(&format!("{}.", working.task)))
                })
            });
            if !has_results || not.contains(&working) {
                continue;
            }
            if Command::new("kill").args(["-STOP", &working.pid.to_string()]).output().is_ok_and(|o| o.status.success())
            {
                let published_count = published(folder, submission, working.task);
                // So early that it is not over before it has seen the next signal.
                if published_count > 0 && published_count + 3 <= share {
                    worker = Some(working);
                    return true;
                }
                // Too early, or too late.
                let _ = Command::new("kill").args(["-CONT", &working.pid.to_string()]).output();
            }
        }
        false
    });
    worker.expect("caught")
}

/// The path of a submission's folder as programs see it.
pub(crate) fn submission(folder: &Folder, store: &str, number: u32) -> PathBuf {
    folder.path(&format!("{store}.tasks/{number}"))
}
