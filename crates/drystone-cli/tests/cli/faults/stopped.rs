//! Stopped at any moment: by Ctrl-C, SIGTERM and SIGHUP, which leave nothing half, and by SIGKILL,
//! which may leave a hidden file with a name of its own.
#![cfg(unix)]

use super::{files, furnished, leftovers};
use crate::common::{Folder, holds_while_at_work, send};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn begin(folder: &Folder, args: &[&str]) -> Child {
    let mut command = folder.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs")
}

/// Returns whether the tests run under `nohup`: programs that they start then also ignore hangups,
/// as they should.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Commands that have their outputs open while they wait for their input.
const WAITING: &[&[&str]] = &[
    &["workload", "convert", "-", "--out", "out.swf"],
    &["workload", "clean", "-", "--out", "out.parquet"],
    &["run", "-w", "-", "-p", "easy", "--jobs", "out.csv", "--report", "out.html", "--segments", "segments.csv"],
    &["compare", "-w", "-", "-p", "fcfs", "-p", "easy", "--report", "out.json", "--audit", "audit.csv"],
    &["gantt", "-w", "-", "-p", "easy", "--output", "out.svg"],
    &["report", "-", "--output", "out.html"],
    &["run", "-w", "-", "-p", "easy", "--plots", "deep/plots"],
];

#[test]
fn a_signal_leaves_no_half_file() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if name == "HUP" && hangups_are_ignored() {
            eprintln!("SKIPPED: SIGHUP, which is ignored here (nohup?), and so by what the tests start");
            continue;
        }
        for args in WAITING {
            let folder = Folder::new();
            let mut child = begin(&folder, args);
            let is_open = holds_while_at_work(&mut child, || !folder.names().is_empty());
            assert!(is_open, "{args:?}: the output is never opened");
            // `wait` closes an input it still holds, and the end of the input would race with the
            // signal.
            let input = child.stdin.take();
            send(&child, name);
            let status = child.wait().expect("ends");
            drop(input);
            assert_eq!(status.code(), Some(code), "{args:?} after SIG{name}");
            assert_eq!(folder.names(), Vec::<String>::new(), "{args:?} after SIG{name}");
        }
    }
}

/// Commands that write long files, and what they write.
const LONG: &[(&[&str], &[&str])] = &[
    (&["workload", "convert", "long.swf", "--out", "out.csv"], &["out.csv"]),
    (
        &["run", "-w", "long.swf", "-p", "easy", "--jobs", "a.csv", "--segments", "b.csv", "--report", "c.json"],
        &["a.csv", "a.csv.meta.json", "b.csv", "c.json"],
    ),
];

/// Returns the number of times that each command is stopped; DRYSTONE_KILLS overrides it.
fn kills() -> u32 {
    std::env::var("DRYSTONE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// Stops commands at random moments. Every file must then be as it was before, or as the command
/// makes it.
fn stop_at_random(name: &str, mut after: impl FnMut(&Folder, &[&str])) {
    let mut random: u64 = 0x5eed;
    for (args, outputs) in LONG {
        let folder = Folder::new();
        folder.run(&["workload", "generate", "--jobs", "20000", "--out", "long.swf"]).ok();
        let since = Instant::now();
        folder.run(args).ok();
        // Signals fall anywhere in the time that the command takes.
        let longest = since.elapsed().as_millis().max(1) as u64;
        let new = files(&folder);
        for _ in 0..kills() {
            for output in *outputs {
                folder.write(output, "old");
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut child = begin(&folder, args);
            sleep(Duration::from_millis((random >> 33) % longest));
            send(&child, name);
            child.wait().expect("ends");
            let now = files(&folder);
            for output in *outputs {
                let whole = now[*output] == b"old" || now[*output] == new[*output];
                assert!(whole, "{args:?}: {output} is neither old nor whole: {} bytes", now[*output].len());
            }
            after(&folder, args);
        }
        // What was left, if anything, is in no way.
        folder.run(args).ok();
        let now = files(&folder);
        assert!(outputs.iter().all(|output| now[*output] == new[*output]), "{args:?}");
    }
}

/// Kills a command when it writes, and returns whether that was in time: its part is left.
fn is_killed_while_writing() -> bool {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "20000", "--out", "long.swf"]).ok();
    let (args, outputs) = LONG[0];
    let mut child = begin(&folder, args);
    holds_while_at_work(&mut child, || !leftovers(&folder).is_empty());
    send(&child, "KILL");
    child.wait().expect("ends");
    let parts = leftovers(&folder);
    let whole = outputs.iter().all(|output| folder.path(output).exists());
    assert!(!parts.is_empty() || whole, "{args:?}: neither a part nor a whole file");
    !parts.is_empty()
}

#[test]
fn a_kill_at_any_moment_leaves_old_or_whole_files() {
    let (mut kills, mut leftover_count) = (0, 0);
    stop_at_random("KILL", |folder, args| {
        kills += 1;
        let parts = leftovers(folder);
        leftover_count += usize::from(!parts.is_empty());
        for part in parts {
            // Hidden, and named for what it would have been.
            let of_ours = args.iter().any(|arg| part.starts_with(&format!(".{arg}.")));
            assert!(of_ours, "{part}");
            std::fs::remove_file(folder.path(&part)).expect("no process holds it");
        }
    });
    // The machine may have become slower or faster, so that none fell while a file was written.
    while leftover_count == 0 {
        leftover_count += usize::from(is_killed_while_writing());
    }
    eprintln!("{kills} kills, {leftover_count} of them while files were written");
}

#[test]
fn a_signal_at_any_moment_leaves_old_or_whole_files_and_nothing_else() {
    for name in ["INT", "TERM", "HUP"] {
        stop_at_random(name, |folder, args| {
            // Before it has set its handlers, it has written nothing.
            assert_eq!(leftovers(folder), Vec::<String>::new(), "{args:?} after SIG{name}");
        });
    }
}

/// Under `nohup` the terminal may go away.
#[test]
fn a_hangup_that_is_ignored_stops_nothing() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "100", "--out", "log.swf"]).ok();
    let log = std::fs::read(folder.path("log.swf")).expect("generated");
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_drystone")).args(["workload", "convert", "-", "--out", "out.swf"]);
    command.current_dir(folder.path(".")).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("runs");
    assert!(holds_while_at_work(&mut child, || folder.names().len() == 2), "the output is never opened");
    send(&child, "HUP");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), &log).expect("it still reads");
    assert!(child.wait().expect("ends").success());
    assert_eq!(folder.names(), ["log.swf", "out.swf"]);
}

#[test]
fn two_at_a_time_do_not_disturb_each_other() {
    let folder = furnished();
    let args = ["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.csv", "--quiet"];
    folder.run(&args).ok();
    let whole = files(&folder);
    let children: Vec<Child> = (0..4).map(|_| begin(&folder, &args)).collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    assert_eq!(files(&folder), whole);
}
