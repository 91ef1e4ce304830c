//! Sweeps on a real Slurm. One test waits for a time limit of a minute and for a node to be found
//! dead.

use super::at_work::{SIMULATIONS, Working, catch, export, of_jobs, published, study, submission, until};
use super::site::Tests;
use crate::common::{Folder, Ran, Tiny};
use drystone_testbed::{ClusterOptions, PrivateSlurm};

pub(crate) fn tests() -> Tests {
    vec![
        (
            "an_array_of_sixteen_equals_a_local_sweep_byte_for_byte",
            an_array_of_sixteen_equals_a_local_sweep_byte_for_byte,
        ),
        (
            "a_kill_a_dead_node_a_requeue_and_a_time_limit_lose_nothing",
            a_kill_a_dead_node_a_requeue_and_a_time_limit_lose_nothing,
        ),
        ("the_same_array_twice_at_once_counts_once", the_same_array_twice_at_once_counts_once),
        (
            "another_version_or_a_bad_scratch_on_the_nodes_lose_nothing",
            another_version_or_a_bad_scratch_on_the_nodes_lose_nothing,
        ),
        ("cancelled_tasks_publish_what_they_have", cancelled_tasks_publish_what_they_have),
        ("status_says_why_tasks_fail_and_wait", status_says_why_tasks_fail_and_wait),
    ]
}

/// A cluster of this many nodes of one processor each, in which what is dead is soon found so.
fn cluster(nodes: u32) -> Option<PrivateSlurm> {
    let lines = ["SlurmdTimeout=5", "MaxArraySize=33", "KillWait=20"].map(String::from).to_vec();
    PrivateSlurm::start_cluster(&ClusterOptions { nodes, cpus: 1, lines, ..ClusterOptions::default() })
}

/// Runs the program where Slurm's commands find this cluster.
fn on<'a>(cluster: &'a PrivateSlurm, folder: &'a Folder) -> impl Fn(&[&str]) -> Ran + 'a {
    |args| Ran::of(folder.command(args).env("SLURM_CONF", cluster.conf_path()).output().expect("runs"))
}

fn status(folder: &Folder, run: &dyn Fn(&[&str]) -> Ran, store: &str) -> serde_json::Value {
    assert!(folder.path(store).exists());
    run(&["sweep", "status", store, "--format", "json"]).json()
}

/// Waits until no task waits or runs.
fn drained(cluster: &PrivateSlurm) {
    until("the queue is empty", || cluster.command_output("squeue", &["-h"]).trim().is_empty());
}

const SUBMIT: [&str; 8] = ["sweep", "slurm", "study.toml", "--min-task", "0s", "--publish-every", "0s", "--tasks"];

fn an_array_of_sixteen_equals_a_local_sweep_byte_for_byte() {
    let Some(cluster) = cluster(4) else { return };
    let (folder, local) = study(3_000);
    let inner = "my study's 100%";
    std::fs::create_dir(folder.path(inner)).expect("made");
    folder.write(&format!("{inner}/study.toml"), of_jobs(3_000));
    let (toml, store) = (format!("{inner}/study.toml"), format!("{inner}/study.db"));
    let run = on(&cluster, &folder);
    let submit = |more: &[&str]| run(&[&["sweep", "slurm", &toml, "--min-task", "0s"], more].concat());
    let error = submit(&["--tasks", "33"]).fails(2);
    assert!(
        error.contains("33 tasks are more than an array may have here, 32 (MaxArraySize): take --tasks 32"),
        "{error}"
    );
    let error = submit(&["--tasks", "16", "--", "--partition=none"]);
    assert!(error.code == 2 && error.err.contains("invalid partition"), "{}", error.err);
    assert_eq!(folder.names_in(&format!("{store}.tasks")), Vec::<String>::new(), "a refused submission leaves nothing");
    let plan = submit(&["--tasks", "16", "--dry-run"]).ok();
    assert!(plan.contains("tasks         16 of 1 processor") && plan.contains("core-hours"), "{plan}");
    submit(&["--tasks", "16", "--time", "10m", "--", "--partition=main"]).ok();
    // The same again, while all of it is with tasks that wait or run; unless they are through.
    let again = run(&["sweep", "slurm", &store]);
    assert!(
        again.code == 0 && again.err.contains("nothing to submit") | again.err.contains("is complete"),
        "{again:?}"
    );
    drained(&cluster);
    let result = run(&["sweep", "gather", &store, "--require-complete", "--format", "json"]).json();
    assert_eq!(result["tasks"]["complete"], 16, "{result}");
    assert_eq!(export(&folder, &store), local);
    assert!(run(&["sweep", "slurm", &store]).err.contains("is complete: there is nothing to submit"));
}

/// Everything at once: one task is killed, one loses its node, one is requeued while it publishes,
/// the time limit of one becomes too short. The others have time on any machine, however slow.
fn a_kill_a_dead_node_a_requeue_and_a_time_limit_lose_nothing() {
    let Some(mut cluster) = cluster(5) else { return };
    let (folder, local) = study(50_000);
    let share = SIMULATIONS / 8;
    let first = "study.db.tasks/1";
    on(&cluster, &folder)(&[&SUBMIT[..], &["8", "--time", "60m"]].concat()).ok();
    let mut workers: Vec<Working> = Vec::new();
    for _ in 0..4 {
        let next = catch(&folder, first, share, &workers);
        workers.push(next);
    }
    let [victim, homeless, requeue_task, late] = workers[..] else { panic!("four tasks are stopped") };
    victim.send("KILL");
    let node = node_of(homeless);
    cluster.kill_node(&node);
    cluster.kill_steps(&node);
    requeue_task.send("CONT");
    let job = job_of(&folder, first);
    let _ = cluster.command_output("scontrol", &["update", &format!("JobId={job}_{}", late.task), "TimeLimit=1"]);
    let _ = cluster.command_output("scontrol", &["requeue", &format!("{job}_{}", requeue_task.task)]);
    // `late` stays stopped until Slurm's limit wakes it to end it.
    let state = |task: u32| {
        let id = format!("{job}_{task}");
        let states = cluster.command_output("squeue", &["-h", "-t", "all", "-o", "%T", "-j", &id]);
        states.trim().to_string()
    };
    // Slurm lets what it requeues wait for two minutes; the test does not.
    let hurry = |task: u32| {
        let _ = cluster.command_output("scontrol", &["update", &format!("JobId={job}_{task}"), "StartTime=now"]);
    };
    until("the requeued task waits", || state(requeue_task.task) == "PENDING");
    hurry(requeue_task.task);
    until("the dead node is found dead", || state(homeless.task) == "PENDING");
    hurry(homeless.task);
    // It ends by itself on the signal that its time is nearly over, perhaps with all that it had to
    // do, else Slurm ends it.
    until("the limit is over", || ["TIMEOUT", "FAILED", "COMPLETED"].contains(&state(late.task).as_str()));
    drained(&cluster);
    let run = on(&cluster, &folder);
    for task in [requeue_task.task, homeless.task] {
        let log = folder.read(&format!("{first}/log/{job}_{task}.log"));
        assert_eq!(published(&folder, first, task), share, "an attempt leaves out what others have published: {log}");
    }
    let result = run(&["sweep", "gather", "study.db", "--format", "json"]).json();
    let missing = result["missing"].as_u64().expect("a number");
    let published_count = published(&folder, first, victim.task) + published(&folder, first, late.task);
    assert_eq!(missing, 2 * share - published_count, "{result}");
    let incomplete = result["tasks"]["incomplete"].as_array().expect("a list");
    let mut tasks: Vec<u64> = incomplete.iter().map(|task| task["task"].as_u64().expect("a number")).collect();
    tasks.sort_unstable();
    let mut expected = vec![u64::from(victim.task)];
    if published(&folder, first, late.task) < share {
        expected.push(u64::from(late.task));
    }
    expected.sort_unstable();
    assert_eq!(tasks, expected, "{result}");
    for task in incomplete {
        let log = task["log"].as_str().expect("a log");
        assert!(log.ends_with(&format!("{job}_{}.log", task["task"])) && std::path::Path::new(log).exists(), "{log}");
    }
    let again = run(&["sweep", "slurm", "study.db", "--min-task", "0s", "--tasks", "2", "--time", "10m"]).ok();
    assert!(again.contains(&format!("simulations   {missing}; recorded before: {}", SIMULATIONS - missing)), "{again}");
    drained(&cluster);
    run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
    assert_eq!(export(&folder, "study.db"), local);
}

/// The node on which a task is.
fn node_of(working: Working) -> String {
    let environ = std::fs::read(format!("/proc/{}/environ", working.pid)).expect("it is there");
    let environ = String::from_utf8_lossy(&environ).into_owned();
    let node = environ.split('\0').find_map(|variable| variable.strip_prefix("SLURMD_NODENAME="));
    node.expect("a node").to_string()
}

/// The job that runs a submission.
fn job_of(folder: &Folder, submission: &str) -> String {
    let names = folder.names_in(submission);
    names.iter().find_map(|name| name.strip_prefix("job-")).expect("a job").to_string()
}

/// Two arrays of the same script: each task runs twice, and every result counts once.
fn the_same_array_twice_at_once_counts_once() {
    let Some(cluster) = cluster(4) else { return };
    let (folder, local) = study(3_000);
    let run = on(&cluster, &folder);
    let script = run(&[&SUBMIT[..], &["4", "--print"]].concat()).ok();
    let path = submission(&folder, "study.db", 1).join("slurm.sh");
    assert_eq!(std::fs::read_to_string(&path).expect("written"), script);
    let submit = || cluster.command_output("sbatch", &["--parsable", path.to_str().expect("UTF-8")]);
    let jobs = [submit(), submit()];
    drained(&cluster);
    // By hand or not, the jobs are known.
    let note_count = folder.names_in("study.db.tasks/1").iter().filter(|name| name.starts_with("job-")).count();
    assert_eq!(note_count, 2, "{jobs:?}");
    let result = run(&["sweep", "gather", "study.db", "--require-complete", "--format", "json"]).json();
    assert_eq!(result["added"], SIMULATIONS, "{result}");
    assert_eq!(export(&folder, "study.db"), local);
}

/// A node's refusal is reported by `status`, with the log, and the same command continues with the
/// missing parts.
fn another_version_or_a_bad_scratch_on_the_nodes_lose_nothing() {
    let Some(cluster) = cluster(2) else { return };
    let (folder, local) = study(20_000);
    let run = on(&cluster, &folder);
    run(&[&SUBMIT[..], &["2", "--print"]].concat()).ok();
    let list = folder.read("study.db.tasks/1/tasks.json");
    let version = format!("\"drystone\":\"{}\"", env!("CARGO_PKG_VERSION"));
    folder.write("study.db.tasks/1/tasks.json", list.replace(&version, "\"drystone\":\"0.0.1\""));
    let script = submission(&folder, "study.db", 1).join("slurm.sh");
    let _ = cluster.command_output("sbatch", &[script.to_str().expect("UTF-8")]);
    drained(&cluster);
    folder.write("study.db.tasks/1/tasks.json", list);
    let check_refusal = |problem: &str, tasks: usize| {
        let status_json = status(&folder, &run, "study.db");
        let incomplete = status_json["tasks"]["incomplete"].as_array().expect("a list");
        assert_eq!(incomplete.len(), tasks, "{status_json}");
        assert!(
            incomplete.iter().all(|task| task["last"].as_str().is_some_and(|last| last.contains(problem))),
            "{status_json}"
        );
    };
    check_refusal("submitted by drystone 0.0.1, and this is", 2);
    // The variable is replaced on the node, and no process can make a folder there.
    run(&["sweep", "slurm", "study.db", "--scratch", "/proc/$SLURM_JOB_ID"]).ok();
    drained(&cluster);
    // What is left is little, so that one task has it.
    check_refusal("no task can work there", 1);
    let at = folder.path("tiny");
    let tiny = Tiny::mount(&at, "96k");
    if tiny.is_some() {
        run(&[
            "sweep",
            "slurm",
            "study.db",
            "--min-task",
            "0s",
            "--tasks",
            "1",
            "--scratch",
            at.to_str().expect("UTF-8"),
        ])
        .ok();
        drained(&cluster);
        let record_count = status(&folder, &run, "study.db")["tasks"]["recorded"].as_u64().expect("a number");
        assert!(
            0 < record_count && record_count < SIMULATIONS,
            "{record_count} were published of a scratch that was full"
        );
    } else {
        eprintln!("SKIPPED: a full scratch needs the right to mount a tmpfs");
    }
    run(&["sweep", "slurm", "study.db", "--min-task", "0s", "--scratch", folder.path(".").to_str().expect("UTF-8")])
        .ok();
    drained(&cluster);
    run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
    assert_eq!(export(&folder, "study.db"), local);
}

fn cancelled_tasks_publish_what_they_have() {
    let Some(cluster) = cluster(1) else { return };
    let (folder, local) = study(50_000);
    let run = on(&cluster, &folder);
    assert!(run(&["sweep", "cancel", "local.db"]).fails(2).contains("no task of it was ever submitted"));
    run(&[&SUBMIT[..], &["4", "--time", "10m"]].concat()).ok();
    let worker = catch(&folder, "study.db.tasks/1", SIMULATIONS / 4, &[]);
    let before = published(&folder, "study.db.tasks/1", worker.task);
    // Only what waits.
    let output = run(&["sweep", "cancel", "study.db", "--waiting"]);
    assert!(output.code == 0 && output.err.contains("1 task run and continue"), "{output:?}");
    until("only the running task is left", || cluster.command_output("squeue", &["-h", "-r"]).lines().count() == 1);
    run(&["sweep", "cancel", "study.db"]).ok();
    drained(&cluster);
    assert!(published(&folder, "study.db.tasks/1", worker.task) >= before);
    let log = folder.read(&format!("study.db.tasks/1/log/{}_{}.log", job_of(&folder, "study.db.tasks/1"), worker.task));
    assert!(log.contains("was stopped") && log.contains("the rest is published"), "{log}");
    let output = run(&["sweep", "cancel", "study.db"]);
    assert!(output.code == 0 && output.err.contains("no task waits or runs"), "{output:?}");
    run(&["sweep", "slurm", "study.db", "--min-task", "0s"]).ok();
    drained(&cluster);
    run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
    assert_eq!(export(&folder, "study.db"), local);
}

/// A folder that the nodes do not see, a program that they do not have, a job that is held.
fn status_says_why_tasks_fail_and_wait() {
    let Some(cluster) = cluster(2) else { return };
    let (folder, _) = study(50);
    let run = on(&cluster, &folder);
    let jobs = folder.path("study.db.tasks");
    run(&[&SUBMIT[..], &["2", "--", "--hold"]].concat()).ok();
    let json = status(&folder, &run, "study.db");
    assert_eq!(json["tasks"]["waiting_for"], serde_json::json!({ "JobHeldUser": 2 }), "{json}");
    let text = run(&["sweep", "status", "study.db"]).ok();
    assert!(text.contains("waiting for") && text.contains("JobHeldUser (2)"), "{text}");
    // While the nodes begin the tasks, the folder is elsewhere.
    let elsewhere = folder.path("elsewhere");
    std::fs::rename(&jobs, &elsewhere).expect("renamed");
    let job = folder.names_in("elsewhere/1").iter().find_map(|name| name.strip_prefix("job-").map(String::from));
    let _ = cluster.command_output("scontrol", &["release", &job.expect("a job")]);
    drained(&cluster);
    std::fs::rename(&elsewhere, &jobs).expect("renamed");
    let forget = || drop(std::fs::remove_file(jobs.join("squeue.json")));
    forget();
    let json = status(&folder, &run, "study.db");
    let incomplete = json["tasks"]["incomplete"].as_array().expect("a list");
    assert_eq!(incomplete.len(), 2, "{json}");
    for task in incomplete {
        assert_eq!(
            (&task["reason"], &task["log"], &task["last"]),
            (&"JobLaunchFailure".into(), &serde_json::Value::Null, &serde_json::Value::Null),
            "{json}"
        );
    }
    let text = run(&["sweep", "status", "study.db"]).ok();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("task 1/1: JobLaunchFailure"), "{text}");
    assert!(words.contains("every node must find"), "{text}");
    // The nodes find the folder and no program: the shell's words are the last line of the log.
    let script = submission(&folder, "study.db", 1).join("slurm.sh");
    let plain = std::fs::read_to_string(&script).expect("written");
    let plain = plain.replace("#SBATCH --hold\n", "");
    let (head, _) = plain.split_once("\nexec ").expect("a command");
    std::fs::write(&script, format!("{head}\nexec /nowhere/drystone\n")).expect("written");
    let _ = cluster.command_output("sbatch", &[script.to_str().expect("UTF-8")]);
    drained(&cluster);
    forget();
    // A script that is handed over by hand is known by its log.
    let text = run(&["sweep", "status", "study.db"]).ok();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("/nowhere/drystone: not found"), "{text}");
}
