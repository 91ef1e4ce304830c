//! Shapes of Slurm's output by release.
//!
//! 22.05 ran for real. The others are put together from what documentation and public outputs of
//! these releases show: lists of trackable resources are `gres:gpu:2` up to 23.02 and `gres/gpu:2`
//! or `gres/gpu=2` later; since 23.11 `-c N` fills `tres-per-task`; reasons that are sentences have
//! underscores for blanks in newer releases.

use super::{details, jobs, nodes};
use crate::cluster::{JobDependencies, JobFact, JobState, NodeState, PendingReason, UnmodelledRequest};

/// Differences of a release.
struct Release {
    name: &'static str,
    /// `tres-per-task` of a job with `-c 4`.
    cpus_per_task: &'static str,
    /// `%b` and `tres-per-node` of a job with `--gres=gpu:a100:2`.
    per_node: &'static str,
    /// `tres-per-job` of a job with `--gpus=3`.
    per_job: &'static str,
    /// `tres-per-task` of a job with `--gpus-per-task=1 -c 4 -n 2`.
    per_task: &'static str,
    /// Reason of a job that could not be launched.
    launch: &'static str,
    /// Reason of a job whose nodes are out.
    nodes: &'static str,
    /// State of a node that waits for its planned job.
    planned: &'static str,
}

const OLD: (&str, &str) = (
    "launch failed requeued held",
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
);
const NEW: (&str, &str) = (
    "launch_failed_requeued_held",
    "Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions",
);

const RELEASES: [Release; 6] = [
    Release {
        name: "22.05",
        cpus_per_task: "N/A",
        per_node: "gres:gpu:a100:2",
        per_job: "gres:gpu:3",
        per_task: "gres:gpu:1",
        launch: OLD.0,
        nodes: OLD.1,
        planned: "plnd",
    },
    Release {
        name: "23.02",
        cpus_per_task: "N/A",
        per_node: "gres:gpu:a100:2",
        per_job: "gres:gpu:3",
        per_task: "gres:gpu:1",
        launch: OLD.0,
        nodes: OLD.1,
        planned: "plnd",
    },
    Release {
        name: "23.11",
        cpus_per_task: "cpu:4",
        per_node: "gres:gpu:a100:2",
        per_job: "gres:gpu:3",
        per_task: "cpu:4,gres:gpu:1",
        launch: NEW.0,
        nodes: NEW.1,
        planned: "plnd",
    },
    Release {
        name: "24.05",
        cpus_per_task: "cpu=4",
        per_node: "gres/gpu:a100:2",
        per_job: "gres/gpu:3",
        per_task: "cpu=4,gres/gpu:1",
        launch: NEW.0,
        nodes: NEW.1,
        planned: "plnd",
    },
    Release {
        name: "24.11",
        cpus_per_task: "cpu=4",
        per_node: "gres/gpu:a100:2",
        per_job: "gres/gpu:3",
        per_task: "cpu=4,gres/gpu=1",
        launch: NEW.0,
        nodes: NEW.1,
        planned: "plnd",
    },
    Release {
        name: "25.05",
        cpus_per_task: "cpu=4",
        per_node: "gres/gpu:a100=2",
        per_job: "gres/gpu=3",
        per_task: "cpu=4,gres/gpu=1",
        launch: NEW.0,
        nodes: NEW.1,
        planned: "plnd",
    },
];

/// A pending job of two nodes and two tasks with these demands, as the two listings show it.
fn pending_job(release: &Release, state: &str, reason: &str, per_job: &str, per_task: &str, per_node: &str) -> JobFact {
    let mut fields = jobs::tests::HELD;
    (fields[4], fields[5], fields[19], fields[21]) = (state, reason, "(null)", per_node);
    let mut fact =
        jobs::parse(&jobs::tests::sample_record(&fields)).unwrap_or_else(|e| panic!("{}: {e}", release.name)).remove(0);
    let line = format!(
        "7 \x1fN/A \x1f1795571646 \x1fdrystone:held \x1f0 \x1f \x1f4 \x1f1 \x1f{per_job} \x1f{per_task} \x1fN/A \x1fcpu=8,mem=4G,node=2,billing=8 \x1f{per_node} \x1f2 \x1f"
    );
    let (_, details) = details::parse_line(&line).unwrap_or_else(|e| panic!("{}: {e}", release.name));
    details.add_to(&mut fact);
    fact
}

fn device_names(fact: &JobFact) -> Vec<String> {
    fact.devices.iter().map(|(name, count)| format!("{name}={count}")).collect()
}

#[test]
fn demands_are_read_as_each_release_prints_them() {
    for release in &RELEASES {
        let name = release.name;
        let plain = pending_job(release, "PD", "JobHeldUser", "N/A", release.cpus_per_task, "N/A");
        assert!(plain.asks.is_empty() && plain.devices.is_empty(), "{name}: `-c 4` is no device: {:?}", plain.asks);
        assert_eq!((plain.together, plain.memory), (4, Some(4_096)), "{name}");
        let node = pending_job(release, "PD", "JobHeldUser", "N/A", release.cpus_per_task, release.per_node);
        assert!(node.asks.contains(&UnmodelledRequest::Devices), "{name}");
        assert_eq!(device_names(&node), ["gpu=4", "gpu:a100=4"], "{name}: two on each of two nodes");
        let whole = pending_job(release, "PD", "JobHeldUser", release.per_job, release.cpus_per_task, "N/A");
        assert_eq!(device_names(&whole), ["gpu=3"], "{name}");
        let task = pending_job(release, "PD", "JobHeldUser", "N/A", release.per_task, "N/A");
        assert_eq!(device_names(&task), ["gpu=2"], "{name}: one for each of two tasks");
    }
}

#[test]
fn reasons_are_read_as_each_release_prints_them() {
    for release in &RELEASES {
        let plain =
            |state: &str, reason: &str| pending_job(release, state, reason, "N/A", release.cpus_per_task, "N/A");
        assert_eq!(plain("PD", release.launch).reason, PendingReason::LaunchFailed, "{}", release.name);
        assert_eq!(plain("PD", release.nodes).reason, PendingReason::NodesOut, "{}", release.name);
        assert_eq!(plain("PD", "QOSMaxJobsPerUserLimit").reason, PendingReason::Limit, "{}", release.name);
        let free = plain("PD", "JobHeldUser");
        assert_eq!(
            (free.state, free.reason, free.depends),
            (JobState::Pending, PendingReason::UserHold, JobDependencies::No)
        );
    }
}

#[test]
fn nodes_are_read_as_each_release_prints_them() {
    for release in &RELEASES {
        let line = format!(
            "n1 |{} |3/5/0/8 |8000 |3000 |gpu:a100:4(S:0-1) |gpu:a100:1(IDX:0) |ib |1 |\nn2|idle~|0/8/0/8|8000|0|(null)|gpu:0|(null)|1|\n",
            release.planned
        );
        let nodes = nodes::parse(&line).unwrap_or_else(|e| panic!("{}: {e}", release.name));
        assert_eq!(
            (nodes[0].state, nodes[0].busy, nodes[0].memory),
            (NodeState::Up, 3, Some(5_000)),
            "{}",
            release.name
        );
        let counts: Vec<(&str, u32, u32)> = nodes[0].devices.iter().map(|d| (d.name.as_str(), d.all, d.busy)).collect();
        assert_eq!(counts, [("gpu", 4, 1), ("gpu:a100", 4, 1)], "{}", release.name);
        assert!(nodes[1].devices.is_empty());
    }
}
