//! Processes of `drystone sweep`: stopped, killed, too late.

use crate::common::{Folder, holds_while_at_work, send};
use crate::sweep::{LONG, SMALL, export, recorded, small};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A signal that goes to the command alone also stops its processes, which would otherwise work for
/// the better part of a minute.
#[cfg(unix)]
#[test]
fn processes_stop_with_their_command() {
    let folder = Folder::with("study.toml", LONG.replace("jobs = 2000", "jobs = 20000"));
    let args = ["sweep", "study.toml", "--processes", "3"];
    let mut child = folder.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs");
    assert!(holds_while_at_work(&mut child, || simulated_by_processes(&folder, "study.db") > 0));
    send(&child, "TERM");
    assert_eq!(child.wait().expect("ends").code(), Some(143));
    wait_for_processes(child);
    assert!(recorded(&folder, "study.db") < 480);
}

/// The working folder of processes holds the remains of a killed parent, and foreign files.
#[test]
fn nothing_of_others_is_removed() {
    let folder = small();
    folder.run(&["sweep", "study.toml", "--store", "whole.db"]).ok();
    std::fs::create_dir_all(folder.path("study.db.chunks")).expect("made");
    for name in ["study.db.chunks/mine.txt", "study.db.chunks/chunk-01-of-2.db"] {
        folder.write(name, "precious");
    }
    // What another study of the same store left.
    folder.write("other.toml", SMALL.replace("[1, 2, 3]", "[1, 2]"));
    let remains = "study.db.chunks/chunk-1-of-7.db";
    folder.run(&["sweep", "chunk", "1/7", "other.toml", "--store", remains]).ok();
    folder.run(&["sweep", "study.toml", "--processes", "2"]).ok();
    assert_eq!(export(&folder, "study.db"), export(&folder, "whole.db"));
    let mut names: Vec<_> = std::fs::read_dir(folder.path("study.db.chunks"))
        .expect("a folder")
        .map(|entry| entry.expect("read").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["chunk-01-of-2.db", "chunk-1-of-7.db", "chunk-1-of-7.db.lock", "mine.txt"]);
    assert_eq!(folder.read("study.db.chunks/mine.txt"), "precious");
}

/// The simulations that a store has, where it is one already.
fn simulated(store: &Path) -> u64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let Ok(db) = rusqlite::Connection::open_with_flags(store, flags) else { return 0 };
    let count = "SELECT count(DISTINCT simulation) FROM result";
    db.query_row(count, [], |row| row.get::<_, i64>(0)).map_or(0, |n| n as u64)
}

/// The simulations that the three processes of a sweep have in stores of their own.
fn simulated_by_processes(folder: &Folder, store: &str) -> u64 {
    (1..=3).map(|k| simulated(&folder.path(&format!("{store}.chunks/chunk-{k}-of-3.db")))).sum()
}

/// Waits for the processes of a sweep that has ended: they have its standard error.
fn wait_for_processes(child: Child) {
    let mut messages = child.stderr.expect("piped");
    std::io::copy(&mut messages, &mut std::io::sink()).expect("read");
}

/// Begins a sweep with three processes and kills their command alone while they have results that
/// it has not read. Returns the store, the number of these results, and what was the command.
#[cfg(unix)]
fn kill_while_results_are_unread(folder: &Folder, name: &str) -> (String, u64, Child) {
    for attempt in 1.. {
        let store = format!("killed{name}-{attempt}.db");
        let args = ["sweep", "study.toml", "--store", &store, "--processes", "3"];
        let mut child = folder.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs");
        holds_while_at_work(&mut child, || simulated_by_processes(folder, &store) > 0);
        // It reads nothing more now, and its processes go on.
        send(&child, "STOP");
        let taken_over = simulated(&folder.path(&store));
        let unread = || simulated_by_processes(folder, &store).saturating_sub(taken_over);
        // On a busy machine it may have been done before it was stopped.
        while taken_over < 464 && unread() == 0 {
            sleep(Duration::from_millis(5));
        }
        let unread = unread();
        child.kill().expect("killed");
        child.wait().expect("ended");
        if unread > 0 {
            return (store, unread, child);
        }
    }
    unreachable!("there is always another attempt")
}

/// Kills the command alone: its processes notice, what they did is taken over, by whomever, and
/// nothing is made twice.
#[cfg(unix)]
#[test]
fn processes_whose_command_is_killed_lose_nothing() {
    let folder = Folder::with("study.toml", LONG.replace("jobs = 2000", "jobs = 4000"));
    folder.run(&["sweep", "study.toml", "--store", "whole.db"]).ok();
    let whole = export(&folder, "whole.db");
    let again: [&[&str]; 3] = [&["--processes", "2"], &["--processes", "3"], &["--threads", "2"]];
    for more in again {
        let (store, unread, command) = kill_while_results_are_unread(&folder, &more.concat());
        let ran = folder.run(&[&["sweep", "study.toml", "--store", &store], more].concat());
        let number = |behind: &str| {
            let line = ran.err.lines().find(|line| line.contains(behind)).unwrap_or("note: 0 ");
            line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).expect("a number")
        };
        assert_eq!(number("are recorded already") + number("simulations in "), 464, "{}", ran.err);
        assert!(number("taken over") >= unread, "{unread} were unread: {}", ran.err);
        ran.ok();
        assert_eq!(export(&folder, &store), whole);
        // A process may have begun so late that it only now finds its command gone.
        wait_for_processes(command);
        assert!(!folder.path(&format!("{store}.chunks")).exists());
    }
}

/// A process whose command is gone before it opens its store leaves what it finds, and nothing
/// else; a lock that a killed process leaves without its store is removed.
#[cfg(unix)]
#[test]
fn a_process_that_begins_too_late_leaves_nothing() {
    let folder = small();
    folder.run(&["sweep", "study.toml"]).ok();
    let begin_late = || {
        let store = "study.db.chunks/chunk-1-of-2.db";
        // This test is its parent, and not the process of that number.
        let parent = ["--under", "study.db", "--parent", "4294967295"];
        let ran = folder.run(&[&["sweep", "chunk", "1/2", "study.toml", "--store", store], &parent[..]].concat());
        assert!(ran.code > 0 && ran.out.is_empty(), "{ran:?}");
    };
    begin_late();
    assert!(!folder.path("study.db.chunks").exists());
    // What an earlier process has made, and the lock of one that was killed.
    std::fs::create_dir(folder.path("study.db.chunks")).expect("made");
    folder.run(&["sweep", "chunk", "1/2", "study.toml", "--store", "study.db.chunks/chunk-1-of-2.db"]).ok();
    let contents = export(&folder, "study.db.chunks/chunk-1-of-2.db");
    folder.write("study.db.chunks/chunk-2-of-3.db.lock", "");
    begin_late();
    assert_eq!(export(&folder, "study.db.chunks/chunk-1-of-2.db"), contents);
    folder.run(&["sweep", "study.toml"]).ok();
    assert!(!folder.path("study.db.chunks").exists(), "{:?}", folder.names_in("study.db.chunks"));
}
