//! The reader is gone: the end is quiet and a success; a standard output that cannot be written is
//! an error.

use super::furnished;
use crate::common::Folder;
use std::io::Read;
use std::process::Stdio;

/// Every command, as it prints.
const PRINTERS: &[&[&str]] = &[
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy"],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--format", "json"],
    &["run", "-w", "log.swf", "-p", "easy"],
    &["report", "results.json"],
    &["explain", "-w", "log.swf", "-p", "easy", "--job", "7"],
    &["gantt", "-w", "log.swf", "-p", "easy"],
    &["predict", "log.swf", "-p", "recent(2)"],
    &["evolve", "long.swf", "--evaluations", "8", "--population", "4", "--parts", "1", "--weeks", "1"],
    &["reproduce", "tables.toml", "--logs", "."],
    &["import", "jobs.psv", "--timezone", "UTC", "--out", "imported"],
    &["fidelity", "site", "--warm-up", "0"],
    &["waits", "site"],
    &["serve", "site", "--listen", "0"],
    &["foresee", "log.swf", "--policy", "easy", "--samples", "10"],
    &["when", "--ask"],
    &["headroom", "log.swf", "-p", "easy", "--for", "0"],
    &["whatif", "log.swf", "--load", "1.2"],
    &["cite"],
    &["policies"],
    &["advise", "log.swf", "--phases", "1", "--splits", "2", "--knobs", "1", "--only", "live"],
    &["workload", "info", "log.swf"],
    &["workload", "outages", "log.swf"],
    &["workload", "clean", "log.swf", "--out", "-"],
    &["workload", "scale", "log.swf", "--load", "2", "--out", "-"],
    &["workload", "slice", "log.swf", "--first", "9", "--out", "-"],
    &["workload", "convert", "log.swf", "--out", "-"],
    &["workload", "reshape", "log.swf", "--out", "-"],
    &["workload", "generate", "--jobs", "500", "--out", "-"],
    &["sweep", "study.toml", "--dry-run"],
    &["sweep", "study.toml", "--store", "new.db"],
    &["sweep", "resume", "study.db"],
    &["sweep", "chunk", "1/2", "study.toml"],
    &["sweep", "merge", "study.db", "--into", "all.db"],
    &["sweep", "status", "study.db"],
    &["sweep", "export", "study.db", "--out", "-"],
    &["sweep", "query", "study.db", "SELECT * FROM result"],
    &["sweep", "rank", "study.db"],
    &["sweep", "table", "study.db"],
    &["sweep", "pareto", "study.db"],
    &["sweep", "headroom", "study.db", "--trials", "10"],
    &["completions", "bash"],
    &["man"],
    &["help"],
    &["--help"],
    &["--version"],
];

/// Commands that want a batch system or what was submitted to one: `cluster` and the tests of
/// `live` try them on a real Slurm.
const ON_CLUSTERS: &[&[&str]] = &[
    &["sweep", "slurm"],
    &["sweep", "recipe"],
    &["sweep", "gather"],
    &["sweep", "cancel"],
    &["sweep", "task"],
    &["live"],
];

/// The commands that the help of this one lists.
fn listed(folder: &Folder, command: &[&str]) -> Vec<String> {
    let help = folder.run(&[command, &["--help"]].concat()).ok();
    // In groups, or under one heading; options follow.
    let commands = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let commands = commands.take_while(|line| *line != "Options:");
    let names =
        commands.filter(|line| line.starts_with("  ") && line.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase));
    names.filter_map(|line| line.split_whitespace().next().map(str::to_string)).filter(|name| name != "help").collect()
}

#[test]
fn every_command_is_here() {
    let folder = Folder::new();
    let mut count = 0;
    for group in [&[][..], &["workload"], &["sweep"]] {
        for name in listed(&folder, group) {
            let command = [group, &[name.as_str()]].concat();
            let has_test =
                PRINTERS.iter().any(|args| args.starts_with(&command)) || ON_CLUSTERS.contains(&&command[..]);
            assert!(has_test, "`{}` prints, and no test closes the pipe", command.join(" "));
            count += 1;
        }
    }
    assert!(count >= 25, "the help lists {count} commands");
}

/// As in `drystone ... 2>&1 | true`: nothing reads what it prints, nor what it says.
#[test]
fn nobody_reads_from_the_start() {
    let folder = furnished();
    for args in PRINTERS {
        for errors_too in [false, true] {
            let mut command = folder.command(args);
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            if errors_too {
                command.stderr(writer.try_clone().expect("a pipe"));
            } else {
                command.stderr(Stdio::piped());
            }
            let child = command.stdout(writer).spawn().expect("runs");
            let output = child.wait_with_output().expect("ends");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{args:?}, errors too: {errors_too}: {errors}");
            assert!(!errors.contains("panicked") && !errors.contains("error"), "{args:?}: {errors}");
        }
    }
}

/// As in `drystone ... | head -c 1`.
#[test]
fn somebody_stops_reading() {
    let folder = furnished();
    // More than a pipe holds.
    let store = rusqlite::Connection::open(folder.path("study.db")).expect("a store");
    store.execute_batch("UPDATE result SET name = hex(zeroblob(100000))").expect("changed");
    drop(store);
    for args in [
        &["workload", "generate", "--jobs", "20000", "--out", "-"][..],
        &["compare", "-w", "log.swf", "--details", "--format", "json"],
        &["report", "results.json"],
        &["sweep", "export", "study.db"],
    ] {
        let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        let mut out = child.stdout.take().expect("piped");
        out.read_exact(&mut [0]).expect("it prints");
        drop(out);
        let output = child.wait_with_output().expect("ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
        assert!(!errors.contains("panicked") && !errors.contains("error"), "{args:?}: {errors}");
    }
}

/// A named pipe whose reader goes is the same, in every form.
#[cfg(unix)]
#[test]
fn a_named_pipe_that_nobody_reads_any_more() {
    let folder = furnished();
    folder.run(&["workload", "generate", "--jobs", "20000", "--out", "long.swf"]).ok();
    for name in ["out.swf", "out.csv", "out.parquet", "out.swf.gz", "out.swf.zst"] {
        let status = std::process::Command::new("mkfifo").arg(folder.path(name)).status().expect("runs");
        assert!(status.success());
        let child = folder
            .command(&["workload", "convert", "long.swf", "--out", name])
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let mut reader = std::fs::File::open(folder.path(name)).expect("opened by both");
        reader.read_exact(&mut [0]).expect("it writes");
        drop(reader);
        let output = child.wait_with_output().expect("ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), errors.as_ref()), (Some(0), ""), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_is_an_error() {
    let folder = furnished();
    for args in PRINTERS {
        // The chart is a file; notes are all that it prints.
        if args[0] == "gantt" {
            continue;
        }
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = folder.command(args).stdout(full).stderr(Stdio::piped()).output().expect("runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains("standard output: cannot be written: No space left on device"), "{args:?}: {errors}");
    }
}
