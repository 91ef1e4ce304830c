//! Tasks without a batch system, and by GNU parallel.

use super::at_work::{SIMULATIONS, Working, catch, export, published, study, submission, until};
use crate::common::{Folder, Tiny, four};
use std::process::Stdio;

/// A study of six simulations in a folder.
fn small() -> Folder {
    let folder = Folder::with("four.swf", four());
    folder.write(
        "study.toml",
        "[[workload]]\nfile = \"four.swf\"\n[[policy]]\npolicy = \"easy(order={order},predict=recent({size}))\"\n\
         [policy.parameters]\norder = [\"fcfs\", \"sjf\"]\nsize = [1, 2, 3]\n",
    );
    folder
}

/// Divides the folder's study.
fn divide(folder: &Folder, tasks: &str, more: &[&str]) -> String {
    let args = ["sweep", "recipe", "parallel", "study.toml", "--min-task", "0s", "--tasks", tasks];
    folder.run(&[&args[..], more].concat()).ok()
}

#[test]
fn tasks_by_hand_gather_to_the_bytes_of_a_local_sweep() {
    let folder = small();
    folder.run(&["sweep", "study.toml", "--store", "local.db"]).ok();
    divide(&folder, "4", &[]);
    // Nothing yet; then a part; then all, and once more.
    let gather = |more: &[&str]| folder.run(&[&["sweep", "gather", "study.db"], more].concat());
    assert_eq!(gather(&["--require-complete", "--format", "json"]).code, 1);
    folder.run(&["sweep", "task", "2", "study.db.tasks/1"]).ok();
    let part = gather(&["--format", "json"]).json();
    assert_eq!(
        (&part["added"], &part["missing"], &part["tasks"]["complete"]),
        (&2.into(), &4.into(), &1.into()),
        "{part}"
    );
    let tasks: Vec<u64> = part["tasks"]["incomplete"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|t| t["task"].as_u64().expect("one"))
        .collect();
    assert_eq!(tasks, [1, 3, 4], "{part}");
    for task in ["1", "2", "3", "4"] {
        folder.run(&["sweep", "task", task, "study.db.tasks/1"]).ok();
    }
    assert_eq!(gather(&["--require-complete"]).code, 0);
    let again = gather(&["--format", "json"]).json();
    assert_eq!((&again["added"], &again["equal"], &again["missing"]), (&0.into(), &6.into(), &0.into()));
    assert_eq!(export(&folder, "study.db"), export(&folder, "local.db"));
    let nothing = folder.run(&["sweep", "recipe", "parallel", "study.db"]);
    assert!(nothing.code == 0 && nothing.out.is_empty() && nothing.err.contains("is complete"), "{nothing:?}");
}

#[test]
fn what_makes_no_sense_on_a_cluster_is_refused_and_nothing_is_written() {
    let folder = small();
    let names = folder.names();
    let refuse = |args: &[&str], reason: &str| {
        let error = folder.run(&[&["sweep", "slurm"], args].concat()).fails(2);
        assert!(error.contains(reason), "{args:?}: {error}");
    };
    refuse(&["study.toml"], "--tasks N");
    refuse(&["study.toml", "--tasks", "2", "--time", "30"], "30m");
    refuse(&["study.toml", "--tasks", "2", "--", "--array=1-9"], "it is set by --tasks and --max-running");
    refuse(&["study.toml", "--tasks", "2", "--dry-run"], "simulate on this machine");
    folder.write("timed.toml", "[[workload]]\nfile = \"four.swf\"\n[[policy]]\npolicy = \"goal(budget=5ms)\"\n");
    refuse(&["timed.toml", "--tasks", "2"], "limit it by nodes");
    std::fs::remove_file(folder.path("timed.toml")).expect("removed");
    assert_eq!(folder.names(), names);
}

#[test]
fn another_version_log_or_number_is_refused_when_a_task_begins() {
    let folder = small();
    divide(&folder, "2", &[]);
    let error = folder.run(&["sweep", "task", "3", "study.db.tasks/1"]).fails(2);
    assert!(error.contains("there is no task 3; the tasks are 1 to 2"), "{error}");
    // The study may change while tasks wait; a log may not.
    folder.write("study.toml", "none");
    folder.run(&["sweep", "task", "1", "study.db.tasks/1"]).ok();
    folder.write("four.swf", four().replace(" 30 ", " 31 "));
    let error = folder.run(&["sweep", "task", "2", "study.db.tasks/1"]).fails(2);
    assert!(error.contains("workload four is another than when the tasks were submitted (4 jobs, blake3:"), "{error}");
    folder.write("four.swf", four());
    let list = folder.read("study.db.tasks/1/tasks.json");
    let version = format!("\"drystone\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(list.contains(&version));
    folder.write("study.db.tasks/1/tasks.json", list.replace(&version, "\"drystone\":\"0.0.1\""));
    let error = folder.run(&["sweep", "task", "2", "study.db.tasks/1"]).fails(2);
    assert!(error.contains("submitted by drystone 0.0.1, and this is"), "{error}");
    folder.write("study.db.tasks/1/tasks.json", list);
    folder.run(&["sweep", "task", "2", "study.db.tasks/1"]).ok();
    folder.run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
}

/// One of two machines is broken: both rows are shown, and the store stays as it was.
#[test]
fn results_that_differ_are_shown_and_nothing_is_merged() {
    let folder = small();
    divide(&folder, "1", &[]);
    folder.run(&["sweep", "task", "1", "study.db.tasks/1"]).ok();
    let submission = submission(&folder, "study.db", 1);
    let entries = std::fs::read_dir(&submission).expect("a folder");
    let first = entries.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "db")).expect("one");
    let second = submission.join("1.other-1.db");
    std::fs::copy(&first, &second).expect("copied");
    let store = rusqlite::Connection::open(&second).expect("a database");
    store.execute("UPDATE result SET wait_mean = 99.5 WHERE configuration = 3", []).expect("changed");
    drop(store);
    let error = folder.run(&["sweep", "gather", "study.db"]).fails(2);
    assert!(error.contains("1 results differ between the stores; nothing was merged"), "{error}");
    assert!(error.contains("configuration 3 (") && error.contains("wait_mean 99.5 "), "{error}");
    assert!(error.lines().filter(|line| line.trim_start().starts_with("wait_mean ")).count() == 2, "{error}");
    assert_eq!(folder.run(&["sweep", "status", "study.db", "--format", "json"]).json()["recorded"], 0);
    std::fs::remove_file(&second).expect("removed");
    folder.run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
}

/// Killed between two copies, a task loses what came since the last; the next attempt does only
/// that.
#[test]
fn a_killed_task_goes_on_behind_what_it_has_published() {
    let (folder, local) = study(50_000);
    divide(&folder, "1", &["--publish-every", "0s"]);
    let path = submission(&folder, "study.db", 1);
    let args = ["sweep", "task", "1", path.to_str().expect("UTF-8")];
    let begin = || folder.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
    let mut child = begin();
    let worker = catch(&folder, "study.db.tasks/1", SIMULATIONS, &[]);
    assert_eq!(worker, Working { pid: child.id(), task: 1 });
    worker.send("KILL");
    child.wait().expect("ended");
    let before = published(&folder, "study.db.tasks/1", 1);
    let result = folder.run(&["sweep", "gather", "study.db", "--format", "json"]).json();
    assert_eq!((&result["added"], &result["missing"]), (&before.into(), &(SIMULATIONS - before).into()));
    // Told to stop, another attempt loses nothing.
    let mut child = begin();
    until("the second attempt has published", || published(&folder, "study.db.tasks/1", 1) > before);
    let _ = std::process::Command::new("kill").arg(child.id().to_string()).output();
    let code = child.wait().expect("ended").code();
    let now = published(&folder, "study.db.tasks/1", 1);
    assert!(code == Some(143) && now < SIMULATIONS || code == Some(0) && now == SIMULATIONS, "{code:?}, {now}");
    let ran = folder.run(&args);
    assert!(ran.err.contains(&format!("{now} of them published before")), "{}", ran.err);
    ran.ok();
    // Nothing twice: each attempt left out what others had.
    assert_eq!(published(&folder, "study.db.tasks/1", 1), SIMULATIONS);
    folder.run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
    assert_eq!(export(&folder, "study.db"), local);
}

#[test]
fn scratch_that_is_full_or_cannot_be_written_loses_nothing() {
    let (folder, local) = study(60_000);
    divide(&folder, "1", &[]);
    let task = |scratch: &str| folder.run(&["sweep", "task", "1", "study.db.tasks/1", "--scratch", scratch]);
    let error = task("/proc").fails(2);
    assert!(error.contains("/proc: no task can work there") && error.contains("--scratch"), "{error}");
    let at = folder.path("tiny");
    // Room for half of the simulations: what is recorded first, after a quarter of a second, fits.
    if let Some(_tiny) = Tiny::mount(&at, "600k") {
        let error = task("tiny").fails(2);
        assert!(error.contains("the disk is full"), "{error}");
        let published_count = published(&folder, "study.db.tasks/1", 1);
        assert!(
            0 < published_count && published_count < SIMULATIONS,
            "{published_count} are published of a scratch that was full"
        );
    } else {
        eprintln!("SKIPPED: a full scratch needs the right to mount a tmpfs");
    }
    task(".").ok();
    folder.run(&["sweep", "gather", "study.db", "--require-complete"]).ok();
    assert_eq!(export(&folder, "study.db"), local);
}

/// The recipe for GNU parallel, as it is printed, in a folder whose name needs quotes.
#[test]
fn the_recipe_for_gnu_parallel_runs() {
    if std::process::Command::new("parallel").arg("--version").output().is_err() {
        let is_required = std::env::var_os("DRYSTONE_SLURM_REQUIRED").is_some_and(|value| value != "0");
        assert!(!is_required, "there is no GNU parallel, and DRYSTONE_SLURM_REQUIRED is set");
        eprintln!("SKIPPED: there is no GNU parallel");
        return;
    }
    let folder = small();
    std::fs::create_dir(folder.path("it's a {place}")).expect("made");
    std::fs::copy(folder.path("study.toml"), folder.path("it's a {place}/study.toml")).expect("copied");
    std::fs::copy(folder.path("four.swf"), folder.path("it's a {place}/four.swf")).expect("copied");
    folder.run(&["sweep", "study.toml", "--store", "local.db"]).ok();
    let study = "it's a {place}/study.toml";
    let args = ["sweep", "recipe", "parallel", study, "--tasks", "3", "--min-task", "0s", "--submit", "--time", "10m"];
    folder.run(&args).ok();
    let store = "it's a {place}/study.db";
    let text = folder.run(&["sweep", "gather", store, "--require-complete"]).ok();
    assert!(text.contains("results added         6"), "{text}");
    assert_eq!(export(&folder, store), export(&folder, "local.db"));
    assert!(folder.read("it's a {place}/study.db.tasks/1/log/parallel_3.log").contains("task 3 of 3 is complete"));
}
