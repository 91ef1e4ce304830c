//! Logs that change while they are read: the records seen, or an error that says where; never a
//! panic, never no end.

use super::{files, furnished};
use crate::common::{Folder, Ran, line};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Jobs that are in a log after its header.
fn jobs(ran: Ran) -> u64 {
    ran.json()["description"]["jobs"].as_u64().expect("a number")
}

const INFO: [&str; 5] = ["workload", "info", "log.swf", "--format", "json"];

/// A log is read up to where it ends when the end is reached, also where that is in the middle of a
/// record.
#[test]
fn a_log_that_grows() {
    let folder = Folder::with("log.swf", "; MaxProcs: 4\n");
    let record = |number: i64| line(number, number, 60, 1, 60);
    let mut log = OpenOptions::new().append(true).open(folder.path("log.swf")).expect("opens");
    for number in 1..=2_000 {
        log.write_all(record(number).as_bytes()).expect("written");
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut number = 2_000;
            while !stop.load(Ordering::Relaxed) && number < 200_000 {
                number += 1;
                // In two pieces, so that readers also find half records.
                let text = record(number);
                let (first, second) = text.split_at(text.len() / 2);
                log.write_all(first.as_bytes()).expect("written");
                log.write_all(second.as_bytes()).expect("written");
            }
            number as u64
        });
        let mut whole = 0;
        for _ in 0..6 {
            let ran = folder.run(&INFO);
            if ran.code == 0 {
                let count = jobs(ran);
                assert!(count >= 2_000, "{count} jobs, fewer than were there at the beginning");
                whole += 1;
            } else {
                let error = ran.fails(2);
                assert!(error.contains("log.swf:"), "no line: {error}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        let total = writer.join().expect("appends");
        eprintln!("{whole} of 6 readers met the end of a record, {total} records in the end");
        assert_eq!(jobs(folder.run(&INFO)), total);
    });
}

/// A log that loses its end while it is read: deterministic, because the reader waits for more at a
/// pipe.
#[test]
fn a_log_that_ends_in_the_middle_of_a_record() {
    let folder = Folder::new();
    let text = format!("; MaxProcs: 4\n{}{}", line(1, 0, 60, 1, 60), line(2, 1, 60, 1, 60));
    let length = text.len();
    for cut in [length - 1, length - 2, length - 20, length - 40, 3] {
        let ran = folder.pipe(&["workload", "info", "-", "--format", "json"], &text.as_bytes()[..cut]);
        if cut >= length - 1 {
            // Only the end of the line is missing.
            assert_eq!(jobs(ran), 2);
        } else {
            let error = ran.fails(2);
            assert!(error.contains("standard input"), "{cut}: {error}");
        }
    }
}

/// Truncated and written again, over and over, while it is read.
#[test]
fn a_log_that_is_written_anew_while_it_is_read() {
    let folder = furnished();
    let whole = folder.read("log.swf");
    let args = ["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.csv", "--quiet"];
    folder.write("out.csv", "old");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let mut log = File::create(folder.path("log.swf")).expect("truncated");
                for piece in whole.as_bytes().chunks(1_000) {
                    log.write_all(piece).expect("written");
                }
            }
        });
        for _ in 0..20 {
            let ran = folder.run(&args);
            assert!(!ran.err.contains("panicked"), "{}", ran.err);
            let out = folder.read("out.csv");
            match ran.code {
                // All of it, or what was there of it: whole lines.
                0 => assert!(out.starts_with("job_id,") && out.ends_with('\n'), "{out}"),
                2 => assert!(ran.err.contains("log.swf"), "{}", ran.err),
                code => panic!("exit code {code}: {}", ran.err),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // What is left is a log again.
    folder.run(&args).ok();
    assert!(!files(&folder).keys().any(|name| name.ends_with(".part")));
}

/// Packed logs know where they end: one that is cut is an error wherever it is cut.
#[test]
fn a_packed_log_that_is_cut() {
    let folder = furnished();
    for archive in ["log.swf.gz", "log.swf.zst"] {
        folder.run(&["workload", "convert", "log.swf", "--out", archive]).ok();
        let bytes = std::fs::read(folder.path(archive)).expect("written");
        for cut in [bytes.len() - 1, bytes.len() / 2, 20] {
            folder.write(archive, &bytes[..cut]);
            let error = folder.run(&["workload", "info", archive]).fails(2);
            assert!(error.contains(archive), "{archive} cut at {cut}: {error}");
        }
    }
}

/// A log that comes slowly is read to its end, and one that is never closed can be interrupted: see
/// `stopped`.
#[cfg(unix)]
#[test]
fn a_log_that_comes_in_pieces_through_a_named_pipe() {
    let folder = Folder::new();
    let status = std::process::Command::new("mkfifo").arg(folder.path("log.swf")).status().expect("runs");
    assert!(status.success());
    let child: Child = folder.command(&INFO).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let mut pipe = OpenOptions::new().write(true).open(folder.path("log.swf")).expect("opened by both");
    let text = format!("; MaxProcs: 4\n{}{}", line(1, 0, 60, 1, 60), line(2, 1, 60, 1, 60));
    for piece in text.as_bytes().chunks(7) {
        pipe.write_all(piece).expect("read");
    }
    drop(pipe);
    assert_eq!(jobs(Ran::of(child.wait_with_output().expect("ends"))), 2);
}
