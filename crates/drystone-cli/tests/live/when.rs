//! `drystone when` on a busy real cluster: what it says of all waiting jobs, and how many started
//! within that.

use super::site::{PROGRAM, Tests, within};
use drystone_testbed::{ClusterOptions, PrivateSlurm};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![("answers_hold_on_a_busy_cluster", answers)]
}

/// Jobs, and processors of the one node.
const JOBS: u32 = 30;
const CPUS: u32 = 8;

/// The format that `drystone when --ask` names where squeue has no JSON.
const FORMAT: &str = "%i|%T|%r|%C|%l|%V|%S|%Q|%u|%P";

fn answers() {
    let Some(cluster) =
        PrivateSlurm::start_cluster(&ClusterOptions { nodes: 1, cpus: CPUS, ..ClusterOptions::default() })
    else {
        return;
    };
    // Run times are spread evenly up to the limit of a minute, which is what is assumed of a
    // machine without a past.
    for job in 0..JOBS {
        let (seconds, procs) = (2 + job * 37 % 57, 1 + job % 3);
        let (seconds, procs) = (format!("sleep {seconds}"), procs.to_string());
        let _ = cluster.command_output("sbatch", &["-t", "1", "-n", &procs, "-o", "/dev/null", "--wrap", &seconds]);
    }
    within(Duration::from_secs(60), "jobs run", || {
        cluster.command_output("squeue", &["-h", "-t", "R", "-o", "%i"]).lines().count() > 2
    });
    let folder = tempfile::tempdir().expect("a folder");
    let query = |program: &str, args: &[&str]| {
        let output = cluster.slurm_command(program).args(args).env("SLURM_TIME_FORMAT", "%s").env("TZ", "UTC").output();
        String::from_utf8(output.expect("runs").stdout).expect("text")
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("now.txt", &query("date", &["+%s"]));
    write("squeue.txt", &query("squeue", &["-h", "-a", "-t", "PD,R,S,CG,CF", "-o", FORMAT]));
    write("nodes.txt", &query("scontrol", &["-o", "show", "nodes"]));
    write("reservations.txt", &query("scontrol", &["-o", "show", "reservations"]));
    let state = folder.path().display().to_string();
    let output = Command::new(PROGRAM).args(["when", "--state", &state, "--format", "json"]).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let jobs = document["jobs"].as_array().expect("a list");
    assert!(jobs.len() >= 10, "only {} jobs wait", jobs.len());
    within(Duration::from_secs(600), "all jobs have started", || {
        cluster.command_output("squeue", &["-h", "-t", "PD", "-o", "%i"]).trim().is_empty()
    });
    let (mut answers, mut inside) = (0, 0);
    for job in jobs.iter().filter(|job| !job["start"].is_null()) {
        let name = job["job"].as_str().expect("a number");
        let details = query("scontrol", &["-o", "show", "job", name]);
        let start = details.split_whitespace().find_map(|word| word.strip_prefix("StartTime=")?.parse::<i64>().ok());
        let start = start.unwrap_or_else(|| panic!("no start: {details}"));
        let bound = |level: &str| job["start"][level].as_i64().expect("a time");
        // Slurm looks every few seconds.
        answers += 1;
        inside += u32::from((bound("p05") - 5..=bound("p95") + 5).contains(&start));
    }
    eprintln!("{inside} of {answers} waiting jobs started within their 90 %");
    assert!(answers >= 10, "{answers}");
    // They hang together: all are late or early at once.
    assert!(inside * 10 >= answers * 6, "{inside} of {answers} started within their 90 %");
}
