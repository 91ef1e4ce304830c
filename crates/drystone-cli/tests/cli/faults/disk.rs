//! A disk that is full: whatever is written is whole or not there, what was there before stays, and
//! the file is named.

use super::{ended, files, furnished, leftovers, limited};
use crate::common::{Folder, Tiny};
use std::collections::BTreeMap;

/// Every way to write files. Which files, is found out by doing it.
const WRITERS: &[&[&str]] = &[
    &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.csv"],
    &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.parquet"],
    &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.swf"],
    &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.swf.gz"],
    &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.swf.zst"],
    &["run", "-w", "log.swf", "-p", "multiqueue", "--trace", "trace.csv"],
    &["run", "-w", "log.swf", "-p", "ss", "--segments", "segments.csv"],
    &["run", "-w", "log.swf", "-p", "easy", "--weeks", "weeks.csv"],
    &["run", "-w", "log.swf", "-p", "easy", "--audit", "audit.csv"],
    &["run", "-w", "log.swf", "-p", "easy", "--report", "out.html", "--plots", "plots"],
    &[
        "run",
        "-w",
        "log.swf",
        "-p",
        "easy",
        "--jobs",
        "a.csv",
        "--segments",
        "s.csv",
        "--weeks",
        "w.csv",
        "--report",
        "r.md",
    ],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "out.html"],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "out.json"],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "out.csv"],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "out.md"],
    &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "out.txt", "--plots", "plots"],
    &["predict", "log.swf", "-p", "recent(2)", "--report", "out.json"],
    &["report", "results.json", "--output", "out.html", "--plots", "plots"],
    &["gantt", "-w", "log.swf", "-p", "easy", "--output", "out.html"],
    &["gantt", "-w", "log.swf", "-p", "easy", "--output", "out.svg"],
    &["gantt", "-w", "log.swf", "-p", "easy", "--output", "out.png"],
    &["gantt", "-w", "log.swf", "-p", "easy", "--output", "out.json"],
    &["workload", "generate", "--jobs", "200", "--out", "out.swf"],
    &["workload", "clean", "log.swf", "--out", "out.swf"],
    &["workload", "clean", "log.swf", "--out", "out.parquet", "--audit", "audit.csv"],
    &["workload", "convert", "log.swf", "--out", "out.csv"],
    &["workload", "convert", "log.swf", "--out", "out.parquet"],
    &["workload", "convert", "log.swf", "--out", "out.swf.gz"],
    &["workload", "convert", "log.swf", "--out", "out.swf.zst"],
    &["workload", "scale", "log.swf", "--load", "1.5", "--out", "out.swf"],
    &["workload", "slice", "log.swf", "--first", "250", "--out", "out.swf"],
    &["sweep", "export", "study.db", "--out", "out.csv"],
    &["sweep", "export", "study.db", "--out", "out.parquet"],
    &["reproduce", "tables.toml", "--logs", ".", "--report", "out.md", "--report", "out.json"],
    &["man", "--dir", "pages"],
];

/// Returns the files that are new or have changed.
fn written(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    after.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes)).map(|(name, _)| name.clone()).collect()
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_leaves_nothing_new_and_everything_old() {
    let folder = furnished();
    let before = files(&folder);
    for args in WRITERS {
        folder.run(args).ok();
        let outputs = written(&before, &files(&folder));
        assert!(!outputs.is_empty(), "{args:?} writes nothing");
        let largest = outputs.iter().map(|name| std::fs::metadata(folder.path(name)).expect("there").len()).max();
        for name in &outputs {
            folder.write(name, format!("the old {name}"));
        }
        let old = files(&folder);
        // Nothing can be written, and then a part of it.
        for blocks in [0_u64, 2] {
            // A block has 512 bytes in some shells and 1,024 in others.
            if largest <= Some(blocks * 1_024) {
                continue;
            }
            let error = ended(limited(&folder, &format!("-f {blocks}"), args));
            assert_eq!(error.code, 2, "{args:?}: {}", error.err);
            let named =
                outputs.iter().any(|name| error.err.contains(&format!("{name}: cannot be written: File too large")));
            assert!(
                named && !error.err.contains("panicked") && !error.err.contains(".part"),
                "{args:?}: {}",
                error.err
            );
            // What cleaning dropped is a file of its own, written before the work begins.
            let without_audit = |files: BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
                files.into_iter().filter(|(name, _)| blocks == 0 || name != "audit.csv").collect()
            };
            let changes = written(&without_audit(old.clone()), &without_audit(files(&folder)));
            assert_eq!(changes, Vec::<String>::new(), "{args:?} with {blocks} blocks");
        }
        // And with room again, the same command works.
        folder.run(args).ok();
        assert_eq!(written(&old, &files(&folder)), outputs, "{args:?}");
        for name in &outputs {
            std::fs::remove_file(folder.path(name)).expect("it is there");
        }
    }
}

#[test]
fn a_disk_without_room_is_told() {
    let folder = furnished();
    let at = folder.path("tiny");
    let Some(_tiny) = Tiny::mount(&at, "16k") else {
        eprintln!("SKIPPED: a full disk needs the right to mount a tmpfs");
        return;
    };
    folder.write("tiny/out.swf", "old");
    for args in [
        &["workload", "convert", "log.swf", "--out", "tiny/out.swf"][..],
        &["run", "-w", "log.swf", "-p", "easy", "--jobs", "tiny/out.swf"],
        &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--report", "tiny/out.html"],
    ] {
        let error = folder.run(args);
        assert_eq!(error.code, 2, "{args:?}");
        assert!(error.err.contains(": cannot be written: No space left on device"), "{args:?}: {}", error.err);
        assert!(error.err.contains(args[args.len() - 1]), "{args:?}: {}", error.err);
        assert_eq!(folder.read("tiny/out.swf"), "old");
        assert_eq!(std::fs::read_dir(&at).expect("there").count(), 1, "{args:?} left something");
    }
}

/// A sweep that cannot write goes on where it was when it can again.
#[cfg(unix)]
#[test]
fn a_store_that_cannot_grow_keeps_what_it_has() {
    let folder = furnished();
    let whole = folder.run(&["sweep", "export", "study.db"]).ok();
    // SQLite's own files are limited as well: it must report any obstacle and lose nothing.
    let mut failures = 0;
    for blocks in [0, 8, 16, 32, 48, 64] {
        let ran = ended(limited(&folder, &format!("-f {blocks}"), &["sweep", "study.toml", "--store", "small.db"]));
        if ran.code != 0 {
            failures += 1;
            assert_eq!(ran.code, 2, "{blocks}: {}", ran.err);
            assert!(ran.err.contains("small.db") && !ran.err.contains("panicked"), "{blocks}: {}", ran.err);
        }
    }
    assert!(failures > 0, "no limit was in its way");
    folder.run(&["sweep", "study.toml", "--store", "small.db"]).ok();
    assert_eq!(folder.run(&["sweep", "export", "small.db"]).ok(), whole);
    assert_eq!(leftovers(&folder), Vec::<String>::new());
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let folder = Folder::new();
    let error = folder.run(&["workload", "generate", "--jobs", "10", "--out", "nowhere/out.swf"]).fails(2);
    assert!(error.contains("nowhere/out.swf: cannot be written: No such file or directory"), "{error}");
}
