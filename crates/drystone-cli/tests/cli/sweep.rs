//! `drystone sweep` as its user meets it: interrupted, killed, out of disk, in pieces.

use crate::common::{Folder, Tiny, four, line, send};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) const SMALL: &str = "[[workload]]\nfile = \"four.swf\"\n[[policy]]\n\
    policy = \"easy(order={order},predict=recent({size}))\"\n[policy.parameters]\n\
    order = [\"fcfs\", \"sjf\"]\nsize = [1, 2, 3]\n";

pub(crate) fn small() -> Folder {
    let folder = Folder::with("four.swf", four());
    folder.write("study.toml", SMALL);
    folder
}

/// A study of 480 configurations, long enough to be interrupted.
pub(crate) const LONG: &str = "[[workload]]\nname = \"w\"\ngenerate = { procs = 64, jobs = 2000, load = 0.9 }\n\
    [[policy]]\npolicy = \"easy(backfill={b},predict=recent({size},window={w},metric={m}))\"\n[policy.parameters]\n\
    b = [\"fcfs\", \"sjf\"]\nw = [\"all\", \"extended\"]\nm = [\"average\", \"median\", \"min\", \"max\"]\n\
    size = { from = 1, to = 30 }\n";

fn long() -> Folder {
    Folder::with("study.toml", LONG)
}

/// A file that is no store stays unchanged, with nothing beside it.
#[test]
fn no_store_is_made_of_another_file() {
    let folder = small();
    let (study, log) = (folder.read("study.toml"), folder.read("four.swf"));
    for store in ["study.toml", "four.swf"] {
        let err = folder.run(&["sweep", "study.toml", "--store", store]).fails(2);
        assert!(err.contains(&format!("{store}: is no sweep store: not an SQLite database")), "{err}");
    }
    assert_eq!((folder.read("study.toml"), folder.read("four.swf")), (study, log));
    std::fs::create_dir(folder.path("folder")).expect("made");
    let err = folder.run(&["sweep", "study.toml", "--store", "folder"]).fails(2);
    assert!(err.contains("folder: is no sweep store: not a file"), "{err}");
    assert_eq!(folder.names(), ["folder", "four.swf", "study.toml"]);
}

/// Nothing writes into it: a process that opened it would wait for ever.
#[test]
#[cfg(unix)]
fn a_named_pipe_is_no_store() {
    let folder = small();
    let status = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().expect("runs");
    assert!(status.success());
    for args in
        [vec!["sweep", "study.toml", "--store", "pipe"], vec!["sweep", "status", "pipe"], vec!["sweep", "rank", "pipe"]]
    {
        let err = folder.run(&args).fails(2);
        assert!(err.contains("pipe: is no sweep store: not a file"), "{err}");
    }
    assert_eq!(folder.names(), ["four.swf", "pipe", "study.toml"]);
}

pub(crate) fn export(folder: &Folder, store: &str) -> String {
    folder.run(&["sweep", "export", store]).ok()
}

#[test]
fn a_small_study_from_plan_to_export() {
    let folder = small();
    let metrics = ["wait_mean", "bounded_slowdown_mean", "loss_of_capacity", "waiting_jobs", "utilisation"];
    folder.write("study.toml", format!("metrics = {metrics:?}\n{SMALL}"));
    let plan = folder.run(&["sweep", "study.toml", "--dry-run"]).ok();
    assert!(plan.contains("configurations  6") && !plan.contains("predicted time"), "{plan}");
    let trial = folder.run(&["sweep", "study.toml", "--dry-run", "--trial", "1s"]).ok();
    assert!(trial.contains("configurations  6") && trial.contains("predicted time"), "{trial}");
    assert!(folder.run(&["sweep", "study.toml", "--trial", "1s"]).fails(2).contains("--dry-run"));
    assert_eq!(folder.names(), ["four.swf", "study.toml"], "a dry run writes nothing");
    let ran = folder.run(&["sweep", "study.toml"]).ok();
    assert!(ran.contains("simulations     6 of 6 (100.0%)"), "{ran}");
    let status = folder.run(&["sweep", "status", "study.db", "--format", "json"]).json();
    assert_eq!((&status["complete"], &status["recorded"]), (&true.into(), &6.into()));
    // Each row is what `run` says of the same policy.
    let rows = folder.run(&["sweep", "query", "study.db", "SELECT * FROM result", "--format", "json"]).json();
    for row in rows.as_array().expect("rows") {
        let policy = row["policy"].as_str().expect("a policy");
        let run = folder.run(&["run", "-w", "four.swf", "--policy", policy, "--format", "json"]).json();
        assert_eq!(row["wait_mean"], run["report"]["measures"]["wait"]["mean"], "{policy}");
        assert_eq!(row["bounded_slowdown_mean"], run["report"]["measures"]["bounded_slowdown"]["mean"], "{policy}");
        let report = &run["report"];
        assert_eq!(row["loss_of_capacity"], report["queue"]["arriving"]["loss_of_capacity"], "{policy}");
        assert_eq!(row["waiting_jobs"], report["queue"]["arriving"]["mean_waiting_jobs"], "{policy}");
        assert_eq!(row["utilisation"], report["machine"]["period_utilisation"], "{policy}");
        assert_eq!(row["workload_hash"], run["workload"]["hash"]);
        assert_eq!(row["drystone"], run["drystone"]);
    }
    // The same command again has nothing to do; the results stay the same bytes on any number of
    // threads.
    let before = export(&folder, "study.db");
    let again = folder.run(&["sweep", "study.toml"]);
    assert!(again.err.contains("6 of 6 simulations are recorded already"), "{}", again.err);
    folder.run(&["sweep", "study.toml", "--threads", "3", "--store", "three.db", "--quiet"]).ok();
    assert_eq!((before.clone(), before), (export(&folder, "study.db"), export(&folder, "three.db")));
    folder.run(&["sweep", "export", "study.db", "--out", "results.parquet"]).ok();
    assert_eq!(&std::fs::read(folder.path("results.parquet")).expect("written")[..4], b"PAR1");
    assert!(
        folder.run(&["sweep", "export", "study.db", "--out", "results.xlsx"]).fails(2).contains(".csv or .parquet")
    );
}

#[test]
fn rankings_and_fronts() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let args = ["sweep", "rank", "study.db", "--subspace", "size<=2,order=fcfs"];
    let table = folder.run(&args).ok();
    assert!(!table.contains("knows") && !table.contains("name"), "{table}");
    assert!(table.contains("size<=2,order=fcfs") && table.contains("Ranks by value of size"), "{table}");
    let rank = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    assert_eq!(rank["subspaces"][0]["spread"]["count"], 2);
    let ranking = rank["ranked"].as_array().expect("a list");
    assert_eq!(ranking.len(), 6);
    assert!(ranking.windows(2).all(|w| w[0]["degradation"].as_f64() <= w[1]["degradation"].as_f64()));
    // The two of the subspace have their own ranks: one is in the first bin, one in the eleventh.
    let within = &rank["subspaces"][0]["distributions"];
    assert_eq!((&within[0]["parameter"], within.as_array().map(Vec::len)), (&"size".into(), Some(1)), "{within}");
    assert!(within[0]["configurations"].to_string().starts_with('['), "{within}");
    folder.run(&[&args[..], &["--plots", "plots"]].concat()).ok();
    for plot in ["ranks-size", "ranks-order", "subspace-1-size", "degradation-order"] {
        let csv = folder.read(&format!("plots/{plot}.csv"));
        assert!(csv.starts_with("series,x,y\n") && csv.lines().count() > 2, "{plot}: {csv}");
        assert!(folder.read(&format!("plots/{plot}.svg")).contains("<path"), "{plot}");
    }
    let csv = folder.run(&[&args[..3], &["--format", "csv"]].concat()).ok();
    assert_eq!(
        csv.lines().next(),
        Some(
            "rank,degradation,name,policy,clairvoyant,order,size,four wait_mean,four bounded_slowdown_mean,test_change,test_low,\
             test_high,test_p,test_p_holm,study,drystone"
        )
    );
    let front = folder.run(&["sweep", "pareto", "study.db", "--format", "json"]).json();
    assert!(!front["front"].as_array().expect("a list").is_empty());
    for answer in [&rank, &front] {
        assert_eq!(
            (&answer["study"], &answer["drystone"]),
            (&"study".into(), &env!("CARGO_PKG_VERSION").into()),
            "{answer}"
        );
    }
    let error = folder.run(&["sweep", "rank", "study.db", "--subspace", "siz=2"]).fails(2);
    assert!(error.contains("order, size"), "{error}");
    let odd = folder.run(&["sweep", "rank", "study.db", "--subspace", "size=9,order=lxf"]);
    let warning = "--subspace size=9,order=lxf: no configuration has order=lxf; there is fcfs, sjf";
    assert!(odd.code == 0 && odd.err.contains(warning) && odd.err.contains("there is 1, 2, 3"), "{}", odd.err);
    let empty_subspace = folder.run(&["sweep", "rank", "study.db", "--subspace", "size=1,size=2"]);
    assert!(
        empty_subspace.code == 0
            && empty_subspace.err.contains("--subspace size=1,size=2: no configuration meets all of this"),
        "{}",
        empty_subspace.err
    );
    let error = folder.run(&["sweep", "rank", "study.db", "--subspace", "order<sjf"]).fails(2);
    assert!(error.contains("< compares numbers, and `sjf` is none"), "{error}");
    let twice = ["sweep", "rank", "study.db", "--metric", "wait_mean", "--metric", "wait_mean"];
    assert!(folder.run(&twice).fails(2).contains("`wait_mean` is given twice"));
    let error = folder.run(&["sweep", "rank", "study.db", "--metric", "wait_max"]).fails(2);
    assert!(error.contains("it has wait_mean, bounded_slowdown_mean"), "{error}");
    let error = folder.run(&["sweep", "pareto", "study.db", "--workload", "five"]).fails(2);
    assert!(error.contains("it has four"), "{error}");
}

#[test]
fn mistakes_are_told_and_nothing_is_lost() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let results = export(&folder, "study.db");
    // A broken study file.
    folder.write("broken.toml", SMALL.replace("order={order}", "ordr={order}"));
    let error = folder.run(&["sweep", "broken.toml", "--store", "study.db"]).fails(2);
    assert!(error.contains("broken.toml:4:10: ") && error.contains("Did you mean `order`?"), "{error}");
    // A missing log, also from the store alone.
    std::fs::rename(folder.path("four.swf"), folder.path("moved.swf")).expect("moved");
    let error = folder.run(&["sweep", "resume", "study.db"]).fails(2);
    assert!(error.contains("workload four") && error.contains("four.swf"), "{error}");
    // A log that has changed; it is looked for in --logs first.
    std::fs::create_dir(folder.path("logs")).expect("made");
    folder.write("logs/four.swf", four().replace(" 60 ", " 61 "));
    let error = folder.run(&["sweep", "resume", "study.db", "--logs", "logs"]).fails(2);
    assert!(error.contains("workload four has changed since the store was made"), "{error}");
    // Another study, which leaves out what is there.
    std::fs::rename(folder.path("moved.swf"), folder.path("four.swf")).expect("moved");
    folder.write("study.toml", SMALL.replace("[1, 2, 3]", "[1, 2, 4]"));
    let error = folder.run(&["sweep", "study.toml"]).fails(2);
    assert!(error.contains("holds another study") && error.contains("--store"), "{error}");
    let differs = "the files differ from line 7: `size = [1, 2, 3]` then, `size = [1, 2, 4]` now";
    assert!(error.contains(differs), "{error}");
    // Another process at work.
    folder.write("study.toml", SMALL);
    let lock = std::fs::File::options().write(true).open(folder.path("study.db.lock")).expect("a lock");
    lock.lock().expect("locked");
    let error = folder.run(&["sweep", "study.toml"]).fails(2);
    assert!(error.contains("another process is working on this store"), "{error}");
    drop(lock);
    assert_eq!(export(&folder, "study.db"), results);
    folder.run(&["sweep", "resume", "study.db"]).ok();
    assert!(folder.run(&["sweep", "status", "gone.db"]).fails(2).contains("there is no such store"));
    assert!(folder.run(&["sweep", "chunk", "4/3", "study.toml"]).fails(2).contains("no chunk"));
    assert!(folder.run(&["sweep"]).fails(2).contains("STUDY.toml"));
}

/// The sweep of the folder's study, begun and left to itself.
fn begin(folder: &Folder, store: &str) -> std::process::Child {
    let mut command = folder.command(&["sweep", "study.toml", "--store", store, "--threads", "2"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

pub(crate) fn recorded(folder: &Folder, store: &str) -> u64 {
    let ran = folder.run(&["sweep", "status", store, "--format", "json"]);
    if ran.code == 0 { ran.json()["recorded"].as_u64().expect("a number") } else { 0 }
}

/// Kills the sweep at random moments, again and again, and resumes it: nothing may be lost,
/// nothing made twice, and the results must be those of an uninterrupted sweep. DRYSTONE_KILLS says
/// how often.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let kills: u32 = std::env::var("DRYSTONE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let folder = long();
    let since = Instant::now();
    folder.run(&["sweep", "study.toml", "--store", "whole.db", "--threads", "2"]).ok();
    // Kills fall anywhere in the time that an uninterrupted sweep takes.
    let mut longest = since.elapsed().as_millis().max(1) as u64;
    let whole = export(&folder, "whole.db");
    let mut random: u64 = 0x5eed;
    let (mut last, mut midway) = (0, 0);
    let mut kill = 0;
    // More of them on a machine where none has fallen between the first result and the last.
    while kill < kills || midway == 0 && kill < kills + 100 {
        kill += 1;
        // A new store when one is complete, so that kills hit the laying out of the store and work
        // in progress.
        if last == 480 {
            let _ = std::fs::remove_file(folder.path("killed.db"));
            let _ = std::fs::remove_file(folder.path("killed.db-journal"));
            last = 0;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = begin(&folder, "killed.db");
        sleep(Duration::from_millis((random >> 33) % longest));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = recorded(&folder, "killed.db");
        assert!(now >= last, "kill {kill}: {last} results were recorded, and now {now}");
        midway += u32::from(now > 0 && now < 480);
        last = now;
        // Other tests come and go beside this one: the same sweep takes longer, or less long, than
        // it did.
        longest = match now {
            0 => longest * 5 / 4 + 1,
            480 => (longest * 4 / 5).max(20),
            _ => longest,
        };
    }
    let check = folder.run(&["sweep", "query", "killed.db", "PRAGMA integrity_check", "--format", "csv"]);
    assert!(check.code != 0 || check.out.contains("ok"), "{check:?}");
    folder.run(&["sweep", "study.toml", "--store", "killed.db"]).ok();
    assert_eq!(export(&folder, "killed.db"), whole);
    assert!(midway > 0, "no kill fell between the first result and the last");
    eprintln!("{kill} kills, {midway} of them with results recorded and others to come");
}

#[cfg(unix)]
#[test]
fn a_signal_stops_in_order_and_the_same_command_goes_on() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        stopped_by(name, code);
    }
}

#[cfg(unix)]
fn stopped_by(name: &str, expected: i32) {
    let folder = long();
    let mut child = begin(&folder, "study.db");
    while recorded(&folder, "study.db") == 0 && child.try_wait().is_ok_and(|status| status.is_none()) {
        sleep(Duration::from_millis(20));
    }
    send(&child, name);
    let code = child.wait().expect("ended").code();
    let before = recorded(&folder, "study.db");
    // A fast machine may have been done before the signal came.
    assert!(code == Some(expected) && before < 480 || code == Some(0) && before == 480, "{code:?} {before}");
    folder.run(&["sweep", "study.toml"]).ok();
    assert_eq!(recorded(&folder, "study.db"), 480);
}

#[test]
fn chunks_processes_and_merging_give_the_whole() {
    let folder = small();
    folder.run(&["sweep", "study.toml", "--store", "whole.db"]).ok();
    let whole = export(&folder, "whole.db");
    for k in 1..=3 {
        folder.run(&["sweep", "chunk", &format!("{k}/3"), "study.toml"]).ok();
    }
    let chunks = ["study-1-of-3.db", "study-2-of-3.db", "study-3-of-3.db"];
    let summary = folder.run(&[&["sweep", "merge"], &chunks[..], &["--into", "all.db"]].concat()).ok();
    assert!(summary.contains("results added         6") && summary.contains("still missing         0"), "{summary}");
    assert_eq!(export(&folder, "all.db"), whole);
    folder.run(&["sweep", "study.toml", "--store", "processes.db", "--processes", "2"]).ok();
    assert_eq!(export(&folder, "processes.db"), whole);
    assert!(!folder.path("processes.db.chunks").exists(), "files needed meanwhile are gone");
}

/// A policy that knows run times is a bound, not a choice; a policy with a name of its own is known
/// by it.
#[test]
fn rankings_mark_bounds_and_have_names() {
    let folder = small();
    let policy = |text: &str, name: &str| format!("[[policy]]\npolicy = \"{text}\"\n{name}");
    let study = [policy("perfect", ""), policy("easy", "name = \"ours\"\n"), policy("fcfs", "")].concat();
    folder.write("study.toml", format!("[[workload]]\nfile = \"four.swf\"\n{study}"));
    folder.run(&["sweep", "study.toml"]).ok();
    let table = folder.run(&["sweep", "rank", "study.db"]).ok();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |policy: &str| rows.iter().find(|row| row.get(3) == Some(&policy)).expect("a row")[2..].to_vec();
    assert_eq!(row("perfect"), ["perfect", "perfect", "(knows", "run", "times)"], "{table}");
    assert_eq!(row("easy"), ["ours", "easy"]);
    assert_eq!(row("fcfs"), ["fcfs", "fcfs"]);
    let json = folder.run(&["sweep", "rank", "study.db", "--format", "json"]).json();
    for candidate in json["ranked"].as_array().expect("a list") {
        assert_eq!(candidate["clairvoyant"], candidate["policy"] == "perfect", "{candidate}");
        assert_eq!(candidate["name"] == "ours", candidate["policy"] == "easy", "{candidate}");
    }
}

/// Sweeps promise equal bytes; a policy that uses the clock is reported, once, whatever else is
/// kept quiet.
#[test]
fn a_time_limit_is_told_when_a_sweep_begins() {
    let folder = small();
    let study = |policy: &str| format!("[[workload]]\nfile = \"four.swf\"\n[[policy]]\npolicy = \"{policy}\"\n");
    folder.write("timed.toml", study("goal(budget=5ms)"));
    folder.write("study.toml", study("goal(nodes=100)"));
    let warning =
        "warning: `goal(budget=5ms)` has a time limit: its results depend on the speed and load of the machine";
    for (args, times) in [
        (vec!["sweep", "timed.toml", "--dry-run"], 1),
        (vec!["sweep", "timed.toml", "--quiet"], 1),
        (vec!["sweep", "timed.toml", "--quiet", "--processes", "2", "--store", "two.db"], 1),
        (vec!["sweep", "resume", "timed.db", "--quiet"], 1),
        (vec!["sweep", "chunk", "1/1", "timed.toml"], 1),
        (vec!["sweep", "chunk", "1/1", "timed.toml", "--quiet", "--store", "quiet.db"], 1),
        (vec!["sweep", "study.toml"], 0),
    ] {
        let ran = folder.run(&args);
        assert!(ran.code == 0 && ran.err.matches(warning).count() == times, "{args:?}: {}", ran.err);
    }
}

/// A third of six configurations: what the other chunks would have is missing, not only what
/// failed.
#[test]
fn what_is_not_ranked_is_counted() {
    let folder = small();
    folder.run(&["sweep", "chunk", "1/3", "study.toml", "--store", "part.db"]).ok();
    folder.run(&["sweep", "merge", "part.db", "--into", "all.db"]).ok();
    let result_count = recorded(&folder, "all.db");
    assert!((1..6).contains(&result_count), "{result_count}");
    let alone = "warning: part.db holds chunk 1/3 of its study alone; `drystone sweep merge` makes one of all";
    for command in ["rank", "pareto"] {
        let errors = |store: &str| folder.run(&["sweep", command, store]).err;
        assert!(errors("part.db").contains(alone) && !errors("all.db").contains("alone"), "{}", errors("part.db"));
    }
    let missing_count = 6 - result_count;
    let plural = if missing_count == 1 { "" } else { "s" };
    let warning = format!("warning: left out: {missing_count} configuration{plural} without results");
    for command in ["rank", "pareto"] {
        let ran = folder.run(&["sweep", command, "all.db"]);
        assert!(ran.err.contains(&warning), "{} does not say {warning}", ran.err);
    }
}

/// A metric may have no value where all was simulated: that is distinguished from missing
/// simulations.
#[test]
fn a_metric_without_value_is_named() {
    // Job 2 has a start reserved at 200 and starts at 100.
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 100, 4, 200), line(2, 10, 50, 4, 50));
    let folder = Folder::with("four.swf", log);
    let study = "metrics = [\"wait_mean\", \"reservation_error\"]\n[[workload]]\nfile = \"four.swf\"\n\
        [[policy]]\npolicy = \"easy\"\n[[policy]]\npolicy = \"fcfs\"\n";
    folder.write("study.toml", study);
    folder.run(&["sweep", "study.toml"]).ok();
    let warning = "warning: left out: 1 configuration without results or a value of reservation_error";
    for command in ["rank", "pareto"] {
        let ran = folder.run(&["sweep", command, "study.db"]);
        assert!(ran.code == 0 && ran.err.contains(warning), "{}", ran.err);
        let run = folder.run(&["sweep", command, "study.db", "--metric", "wait_mean"]);
        assert!(!run.err.contains("warning"), "{}", run.err);
    }
}

/// Trimmed away whole, a workload makes every comparison impossible: that is why, and not for want
/// of simulations.
#[test]
fn a_workload_of_which_no_job_counts_is_named() {
    let folder = small();
    let late_workload = "[[workload]]\nname = \"late\"\ntrim = \"submitted(5000,6000)\"\nfile = \"four.swf\"\n";
    folder.write("study.toml", format!("{late_workload}{SMALL}"));
    let ran = folder.run(&["sweep", "study.toml"]);
    let warning = "warning: no job of late counts (submitted(5000,6000)): nothing is measured there";
    assert!(ran.code == 0 && ran.err.contains(warning) && !ran.err.contains("no job of four"), "{}", ran.err);
    for command in ["rank", "pareto"] {
        let error = folder.run(&["sweep", command, "study.db"]).fails(2);
        assert!(error.contains("no configuration has a value of wait_mean on late"), "{error}");
        folder.run(&["sweep", command, "study.db", "--workload", "four"]).ok();
    }
}

/// SQLite keeps whatever it is given, and Parquet cannot.
#[test]
fn a_text_among_numbers_is_not_lost_on_the_way_to_parquet() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let db = rusqlite::Connection::open(folder.path("study.db")).expect("a store");
    db.execute_batch("UPDATE result SET wait_mean = 'long' WHERE configuration = 2").expect("changed");
    let error = folder.run(&["sweep", "export", "study.db", "--out", "results.parquet"]).fails(2);
    assert!(error.contains("`wait_mean` of configuration 2 is `long`"), "{error}");
    assert!(!folder.path("results.parquet").exists());
    assert!(export(&folder, "study.db").contains(",long,"));
}

/// Other programs cannot see it: what is damaged for `status` and `rank` is not handed to them as
/// if it were whole.
#[test]
fn a_damaged_store_is_not_exported() {
    for damage in [
        "UPDATE result SET configuration = 100 WHERE configuration = 2",
        "UPDATE result SET workload_hash = 'x' WHERE configuration = 2",
        "ALTER TABLE result DROP COLUMN size",
        "UPDATE meta SET value = 'many' WHERE name = 'simulations'",
    ] {
        let folder = small();
        folder.run(&["sweep", "study.toml"]).ok();
        let db = rusqlite::Connection::open(folder.path("study.db")).expect("a store");
        db.execute_batch(damage).expect("changed");
        let status = folder.run(&["sweep", "status", "study.db"]).fails(2);
        assert!(status.contains("study.db: is damaged: "), "{status}");
        for out in ["results.csv", "results.parquet"] {
            let error = folder.run(&["sweep", "export", "study.db", "--out", out]).fails(2);
            assert_eq!(error, status, "{damage}");
            assert!(!folder.path(out).exists());
        }
    }
}

/// Two columns of one name are both there, in every format.
#[test]
fn columns_of_one_name_are_told_apart() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let question = "SELECT a.size, b.size FROM result a JOIN result b ON a.configuration = 1 AND b.configuration = 2";
    let ask = |format: &str| folder.run(&["sweep", "query", "study.db", question, "--format", format]);
    assert_eq!(ask("csv").ok(), "size,size_2\n1,2\n");
    assert_eq!(ask("json").json(), serde_json::json!([{ "size": 1, "size_2": 2 }]));
}

/// Whatever a value holds, it is one cell of one row.
#[test]
fn a_value_does_not_end_its_row_in_markdown() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let question = r"SELECT 'one' || char(10) || '| two |' AS 'a|b', 'back\|slash' AS c, 'C:\x' AS d";
    let table = folder.run(&["sweep", "query", "study.db", question, "--format", "markdown"]).ok();
    let lines: Vec<String> = table.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!(lines[0], r"| a\|b | c | d |");
    assert_eq!(lines[2], r"| one<br>\| two \| | back\\\|slash | C:\x |");
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let folder = long();
    let at = folder.path("tiny");
    let Some(_tiny) = Tiny::mount(&at, "160k") else {
        eprintln!("SKIPPED: a full disk needs the right to mount a tmpfs");
        return;
    };
    let error = folder.run(&["sweep", "study.toml", "--store", "tiny/study.db"]).fails(2);
    assert!(error.contains("the disk is full; all that was recorded before is safe"), "{error}");
    let grown = Command::new("mount").args(["-o", "remount,size=8m"]).arg(&at).status().expect("runs");
    assert!(grown.success());
    let before = recorded(&folder, "tiny/study.db");
    assert!(before < 480);
    folder.run(&["sweep", "study.toml", "--store", "tiny/study.db"]).ok();
    folder.run(&["sweep", "study.toml", "--store", "whole.db"]).ok();
    assert_eq!(export(&folder, "tiny/study.db"), export(&folder, "whole.db"));
}

/// A study grows by what is added to it; another that leaves something out is refused.
#[test]
fn a_store_grows_with_its_study() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    folder.write("study.toml", SMALL.replace("[1, 2, 3]", "[1, 2, 3, 4]"));
    let dry = folder.run(&["sweep", "study.toml", "--dry-run"]).ok();
    assert!(dry.contains("recorded in study.db  of another study or a smaller one"), "{dry}");
    let ran = folder.run(&["sweep", "study.toml"]);
    assert!(
        ran.code == 0 && ran.err.contains("study.db grows with its study: 6 simulations kept, 2 new"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("6 of 8 simulations are recorded already"), "{}", ran.err);
    let dry = folder.run(&["sweep", "study.toml", "--dry-run"]).ok();
    assert!(dry.contains("recorded in study.db  8"), "{dry}");
    folder.run(&["sweep", "study.toml", "--store", "fresh.db"]).ok();
    assert_eq!(export(&folder, "study.db"), export(&folder, "fresh.db"));
    // From the store alone the larger study goes on.
    folder.run(&["sweep", "resume", "study.db"]).ok();
    let ran = folder.run(&[
        "sweep",
        "query",
        "study.db",
        "SELECT count(*) AS n FROM result WHERE load IS NULL",
        "--format",
        "json",
    ]);
    assert_eq!(ran.json()[0]["n"], 0);
}

/// Loads of a range are those of the list, and parts of a log by submit are workloads of their own.
#[test]
fn loads_take_ranges_and_logs_take_slices() {
    let folder = small();
    let study = |more: &str| format!("[[workload]]\nfile = \"four.swf\"\n{more}\n[[policy]]\npolicy = \"easy\"\n");
    for (name, more) in [
        ("range", "load = { from = 0.8, to = 1.2, step = 0.1 }"),
        ("list", "load = [0.8, 0.9, 1.0, 1.1, 1.2]"),
        ("whole", "slice = [\"..20\", \"20..\"]"),
    ] {
        folder.write(&format!("{name}.toml"), study(more));
        folder.run(&["sweep", &format!("{name}.toml")]).ok();
    }
    let loads = |name: &str| {
        let sql = "SELECT load, wait_mean FROM result ORDER BY configuration";
        folder.run(&["sweep", "query", name, sql, "--format", "csv"]).ok()
    };
    assert_eq!(loads("range.db"), loads("list.db"));
    assert_eq!(loads("range.db").lines().count(), 6);
    let sql = "SELECT label, slice, jobs FROM workload ORDER BY rowid";
    let slices = folder.run(&["sweep", "query", "whole.db", sql, "--format", "json"]).json();
    let job_count =
        folder.run(&["workload", "info", "four.swf", "--format", "json"]).json()["workload"]["jobs"].as_i64();
    let jobs: i64 = slices.as_array().expect("rows").iter().filter_map(|row| row["jobs"].as_i64()).sum();
    assert_eq!(Some(jobs), job_count);
    assert_eq!(slices[0]["label"], "four ..20");
    for (more, part) in [
        ("load = { from = 0.8, to = 1.2 }", "a range of loads needs a `step`"),
        ("slice = \"20..10\"", "the end is not behind the beginning"),
        ("slice = \"soon\"", "`slice` is FROM..UNTIL in seconds"),
        ("slice = \"90000000..\"", "no job was submitted in the slice 90000000..; jobs are submitted from second 0"),
    ] {
        folder.write("wrong.toml", study(more));
        let error = folder.run(&["sweep", "wrong.toml"]).fails(2);
        assert!(error.contains(part) && error.contains("wrong.toml:3:"), "{more}: {error}");
    }
}

/// Weeks of jobs tell configurations from the first, and from one that is asked for.
#[test]
fn rankings_have_tests_corrected_for_their_number() {
    let folder = Folder::with(
        "study.toml",
        "[[workload]]\ngenerate = { procs = 32, jobs = 12000, load = 0.7 }\n[[policy]]\npolicy = \"easy(order={order})\"\n\
         [policy.parameters]\norder = [\"fcfs\", \"sjf\", \"ljf\"]\n[[policy]]\npolicy = \"fcfs\"\n",
    );
    folder.run(&["sweep", "study.toml"]).ok();
    let rank = |more: &[&str]| folder.run(&[&["sweep", "rank", "study.db", "--format", "json"], more].concat()).json();
    let result = rank(&[]);
    assert_eq!((&result["tests"]["correction"], &result["tests"]["tested"]), (&"holm".into(), &3.into()), "{result}");
    let ranking = result["ranked"].as_array().expect("a list");
    assert!(ranking[0]["test"].is_null(), "the first is not tested against itself");
    let last = &ranking.last().expect("four")["test"];
    assert!(last["change"].as_f64() > Some(0.0) && last["p_holm"].as_f64() < Some(0.05), "{result}");
    for candidate in &ranking[1..] {
        let (p, holm) = (candidate["test"]["p"].as_f64(), candidate["test"]["p_holm"].as_f64());
        assert!(p <= holm && holm <= Some(1.0), "{candidate}");
    }
    // What `compare` says of the same change.
    let single = rank(&["--metric", "wait_mean", "--against", "easy(order=fcfs)"]);
    assert_eq!(single["tests"]["against"][0], 1);
    let of = |policy: &str| {
        let list = single["ranked"].as_array().expect("a list");
        list.iter().find(|candidate| candidate["policy"] == policy).expect("ranked")["test"].clone()
    };
    folder
        .run(&[
            "workload", "generate", "--procs", "32", "--jobs", "12000", "--load", "0.7", "--seed", "1", "--out",
            "made.swf",
        ])
        .ok();
    let comparison = folder.run(&["compare", "made.swf", "-p", "easy", "-p", "fcfs", "--format", "json"]).json();
    let changes = comparison["comparison"]["policies"][0]["changes"].as_array().expect("changes").clone();
    let wait = changes.iter().find(|change| change["metric"]["mean"] == "wait").expect("a change");
    for at in 0..2 {
        let (rank_bound, compare_bound) = (of("fcfs")["interval"][at].as_f64(), wait["interval"][at].as_f64());
        let (rank_bound, compare_bound) = (rank_bound.expect("an interval"), compare_bound.expect("an interval"));
        assert!(
            (rank_bound - compare_bound).abs() < 1e-9 * (1.0 + compare_bound.abs()),
            "{rank_bound} {compare_bound}"
        );
    }
    let error = folder.run(&["sweep", "rank", "study.db", "--against", "easy++"]).fails(2);
    assert!(
        error.contains("no configuration that is ranked has this number, name or policy; there is 1 easy(order=fcfs)"),
        "{error}"
    );
    let text = folder.run(&["sweep", "rank", "study.db", "--metric", "wait_mean"]).ok();
    assert!(text.contains("against the first") && text.contains("corrected for the number of pairs (Holm)"), "{text}");
}

/// A simulation that takes too long is stopped, reported, and tried again.
#[test]
fn a_simulation_has_a_limit() {
    let folder = Folder::with(
        "study.toml",
        "[[workload]]\ngenerate = { procs = 64, jobs = 3000, load = 3.0 }\n[[policy]]\npolicy = \"easy\"\n[[policy]]\n\
         policy = \"slack(horizon=all)\"\n",
    );
    let ran = folder.run(&["sweep", "study.toml", "--limit", "1s"]);
    assert!(ran.code == 0 && ran.err.contains("1 simulation stopped, longer than --limit"), "{}", ran.err);
    let status = folder.run(&["sweep", "status", "study.db"]).ok();
    assert!(status.contains("stopped after 1 s, the limit of a simulation"), "{status}");
    assert_eq!(export(&folder, "study.db").lines().count(), 3);
    // A trial ends as well, and predicts from the jobs that had ended.
    let trial = folder.run(&["sweep", "study.toml", "--dry-run", "--trial", "1s"]).ok();
    assert!(trial.contains("stopped)"), "{trial}");
}

/// Brackets are kept beside the results, once for each workload, and survive another run.
#[test]
fn brackets_are_kept_in_the_store() {
    let folder = small();
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let args = ["sweep", "headroom", "study.db", "--trials", "500", "--format", "json"];
    let json = folder.run(&args).json();
    let bracket = &json["brackets"][0];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (floor, bracket_best, best) = (number(&bracket["floor"]), number(&bracket["found"]), number(&json["best"][0]));
    assert!(floor <= bracket_best && bracket_best <= best, "{json}");
    // The headroom of the log by itself, with the same trials and seed.
    let alone = ["headroom", "four.swf", "--trials", "500", "--grid", "900", "--format", "json"];
    let alone = folder.run(&alone).json();
    assert_eq!(number(&alone["bracket"]["found"]["value"]), bracket_best);
    folder.run(&args).ok();
    let rows = folder.run(&["sweep", "query", "study.db", "SELECT * FROM headroom", "--format", "json"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    assert_eq!(number(&rows[0]["floor"]), floor);
    // The sweep goes on as before.
    let again = folder.run(&["sweep", "study.toml"]).ok();
    assert!(again.contains("6 of 6"), "{again}");
    let missing = folder.run(&["sweep", "headroom", "none.db"]).fails(2);
    assert!(missing.contains("there is no such store"), "{missing}");
}

/// Each window of three days is what `run` measures of the slice, `compare` has the mean over the
/// jobs of all, and a table the mean over windows.
#[test]
fn windows_are_slices_that_are_simulated_apart() {
    let folder = Folder::with(
        "study.toml",
        "windows = { days = 3 }\nmetrics = [\"wait_mean\"]\n[[workload]]\nfile = \"made.swf\"\n[[policy]]\npolicy = \"easy\"\n\
         [[policy]]\npolicy = \"fcfs\"\n",
    );
    let make = ["workload", "generate", "--procs", "32", "--jobs", "2500", "--load", "0.9", "--out", "made.swf"];
    folder.run(&make).ok();
    folder.run(&["sweep", "study.toml"]).ok();
    let sql = "SELECT r.slice, r.wait_mean, w.jobs FROM result AS r JOIN workload AS w ON w.hash = r.workload_hash \
               WHERE r.name = 'fcfs' ORDER BY r.configuration";
    let rows = folder.run(&["sweep", "query", "study.db", sql, "--format", "json"]).json();
    let rows = rows.as_array().expect("windows");
    assert!(rows.len() >= 4, "{rows:?}");
    let (mut sum, mut jobs, mut mean) = (0.0, 0.0, 0.0);
    for row in rows {
        let slice = row["slice"].as_str().expect("limits");
        let (wait, count) = (row["wait_mean"].as_f64().expect("a wait"), row["jobs"].as_f64().expect("jobs"));
        let alone = folder.run(&["run", "made.swf", "-p", "fcfs", "--slice", slice, "--format", "json"]).json();
        assert_eq!(alone["report"]["measures"]["wait"]["mean"].as_f64(), Some(wait), "{slice}");
        (sum, jobs, mean) = (sum + wait * count, jobs + count, mean + wait / rows.len() as f64);
    }
    let compare = ["compare", "made.swf", "-p", "easy", "-p", "fcfs", "--windows", "days=3", "--format", "json"];
    let comparison = folder.run(&compare).json();
    let result =
        comparison["results"].as_array().expect("policies").iter().find(|entry| entry["policy"]["text"] == "fcfs");
    let report = &result.expect("fcfs")["report"];
    assert_eq!(report["trimmed"]["kept"].as_f64(), Some(jobs));
    let wait = report["measures"]["wait"]["mean"].as_f64().expect("a mean");
    assert!((wait - sum / jobs).abs() < 1e-9 * wait, "{wait} {}", sum / jobs);
    let table = folder.run(&["sweep", "table", "study.db", "--format", "json"]).json();
    let cell = &table["columns"][0]["cells"][1];
    assert!((cell["mean"].as_f64().expect("a mean") - mean).abs() < 1e-9 * mean && cell["name"] == "fcfs", "{table}");
    for (rule, part) in [
        ("rlscheduler-256", "these windows have jobs in common"),
        ("days=3,warm-up=1", "jobs of warm-up and cool-down would be in two windows"),
        ("days=900", "needs 900.0 days"),
        ("weeks=2", "`weeks=2` is no part of a rule of windows"),
    ] {
        let error = folder.run(&["run", "made.swf", "-p", "easy", "--windows", rule]).fails(2);
        assert!(error.contains(part), "{rule}: {error}");
    }
}

/// Plots of a table: a curve over loads with intervals, a swarm for each load, and their data.
#[test]
fn tables_have_curves_and_swarms() {
    let folder = Folder::with(
        "study.toml",
        "windows = { jobs = 100, count = 5 }\n[[workload]]\nname = \"a b\"\ngenerate = { procs = 32, jobs = 600, load = 0.9 }\n\
         load = [0.9, 1.0]\n[[policy]]\nname = \"EASY\"\npolicy = \"easy\"\n[[policy]]\npolicy = \"fcfs\"\n",
    );
    folder.run(&["sweep", "study.toml"]).ok();
    let text = folder.run(&["sweep", "table", "study.db", "--metric", "wait_mean", "--plots", "figures"]).ok();
    assert!(
        text.contains("wait_mean on a b") && text.contains("load 0.9") && text.contains("over 5 windows"),
        "{text}"
    );
    let curve = folder.read("figures/curve-wait_mean-a-b.csv");
    assert_eq!((curve.lines().next(), curve.lines().count()), (Some("series,x,y,low,high"), 5));
    let swarm = folder.read("figures/swarm-wait_mean-a-b-load0.9.csv");
    assert_eq!(swarm.lines().filter(|line| line.starts_with("EASY,")).count(), 5);
    for name in ["curve-wait_mean-a-b.pdf", "swarm-wait_mean-a-b.svg"] {
        assert!(folder.path(&format!("figures/{name}")).metadata().is_ok_and(|file| file.len() > 1000), "{name}");
    }
    let csv = folder.run(&["sweep", "table", "study.db", "--by", "metric", "--format", "csv"]).ok();
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2, "{csv}");
}
