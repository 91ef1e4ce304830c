//! `drystone live record` on a private Slurm: its files are read as a recording, and the model is
//! held to it.

use super::site::Tests;
use crate::common::Folder;
use drystone_certify::{Golden, pass_by_pass};
use drystone_testbed::{ClusterOptions, PrivateSlurm};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![
        ("a_recorded_cluster_is_read_as_a_recording", recorded),
        ("a_recording_does_not_begin_beside_jobs", beside_jobs),
    ]
}

/// Partitions, tasks, minutes of the limit, seconds, further options.
type Submission = (&'static str, u32, u32, u32, &'static [&'static str]);

const JOBS: [Submission; 8] = [
    ("long", 8, 2, 8, &[]),
    ("short", 4, 1, 8, &["-N1-1"]),
    ("long,short", 6, 1, 3, &[]),
    ("short,long", 2, 2, 5, &["-N2"]),
    ("long", 4, 1, 2, &["--exclusive"]),
    ("short", 1, 1, 2, &["--nice=5"]),
    ("long,short", 3, 2, 2, &["-x", "n3"]),
    ("long", 1, 1, 1, &["-a", "0-1"]),
];

/// Number of tries. A busy machine delays Slurm in some; an error of the model shows in all.
const TRIES: usize = 3;

fn options() -> ClusterOptions {
    ClusterOptions {
        nodes: 3,
        cpus: 4,
        parameters: "bf_interval=2,bf_resolution=1".to_string(),
        partitions: vec![
            "PartitionName=long Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP".to_string(),
            "PartitionName=short Nodes=n[2-3] MaxTime=INFINITE PriorityTier=5 State=UP".to_string(),
        ],
        lines: vec!["SelectTypeParameters=CR_Core".to_string()],
        ..ClusterOptions::default()
    }
}

fn begin(folder: &Folder, cluster: &PrivateSlurm) -> Child {
    let mut command = folder.command(&["live", "record", "--out", "recording"]);
    command.env("SLURM_CONF", cluster.conf_path()).stderr(Stdio::piped()).spawn().expect("it runs")
}

fn recorded() {
    let mut reports = Vec::new();
    for _ in 0..TRIES {
        let Some(cluster) = PrivateSlurm::start_cluster(&options()) else { return };
        let (folder, debug) = (Folder::new(), |cluster: &PrivateSlurm| {
            let config = cluster.command_output("scontrol", &["show", "config"]);
            let own = |line: &&str| line.starts_with("DebugFlags") || line.starts_with("SlurmctldDebug ");
            config.lines().filter(own).map(str::to_string).collect::<Vec<_>>()
        });
        let before = debug(&cluster);
        let child = begin(&folder, &cluster);
        let until = Instant::now() + Duration::from_secs(20);
        while debug(&cluster) == before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::sleep(Duration::from_secs(1));
        for (at, (partitions, tasks, minutes, seconds, more)) in JOBS.into_iter().enumerate() {
            if at == 2 {
                // The first two have all nodes, so that looks see the others wait.
                std::thread::sleep(Duration::from_secs(3));
            }
            let (tasks, minutes) = (format!("-n{tasks}"), format!("-t{minutes}"));
            let wrap = format!("exec sleep {seconds}");
            let mut args =
                vec!["--parsable", "-o/dev/null", "--chdir=/", "-p", partitions, &tasks, &minutes, "--wrap", &wrap];
            args.extend(more);
            cluster.command_output("sbatch", &args);
        }
        let output = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        assert!(errors.contains("9 jobs, 9 starts and"), "{errors}");
        assert_eq!(debug(&cluster), before, "it gives back what it has set");
        let golden = Golden::read_recording(&folder.path("recording"), "site.rep1").expect("a recording");
        let request = |at: usize| {
            let job = &golden.jobs[at];
            (job.partitions.join(","), job.tasks, job.limit, job.nodes, job.exclusive, job.nice)
        };
        // Slurm shows the partition of the higher tier first.
        assert_eq!(request(2), ("short,long".to_string(), Some((6, 1)), 1, None, false, 0));
        assert_eq!(request(3), ("short,long".to_string(), Some((2, 1)), 2, Some(2), false, 0));
        assert_eq!((request(4).4, request(5).5), (true, 5));
        assert_eq!((golden.jobs[1].one, golden.jobs[6].named.1.join(",")), (Some(true), "n3".to_string()));
        assert_eq!(golden.jobs[8].task.map(|(_, task)| task), Some(1));
        let (agreement, differences) = pass_by_pass(&golden);
        assert!(agreement.starts == 9 && agreement.plans > 0, "{agreement:?}");
        if agreement.reaches_bar() {
            return;
        }
        reports.push(format!("{agreement:?}\n{differences:#?}"));
    }
    panic!("the model differs from {TRIES} recordings, one after another:\n{}", reports.join("\n"));
}

fn beside_jobs() {
    let Some(cluster) = PrivateSlurm::start_cluster(&options()) else { return };
    cluster.command_output("sbatch", &["--parsable", "-o/dev/null", "--chdir=/", "--wrap", "exec sleep 60"]);
    let folder = Folder::new();
    let output = begin(&folder, &cluster).wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("a recording begins on a cluster without jobs") && stderr.contains("1 wait or run"),
        "{stderr}"
    );
    assert!(!folder.path("recording").exists());
}
