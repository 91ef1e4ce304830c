//! No memory left: the program ends and says so, old files stay, and none is half.
#![cfg(target_os = "linux")]

use super::{ended, files, limited};
use crate::common::{Folder, Ran};

/// Runs a command with less and less memory; returns the numbers of successes and of failures.
fn starve(args: &[&str], outputs: &[&str]) -> (u32, u32) {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "50000", "--out", "log.swf"]).ok();
    folder.run(args).ok();
    let new = files(&folder);
    let (mut successes, mut failures) = (0, 0);
    // In kilobytes, from more than enough down to where the program is not even loaded.
    let mut limit = 4_000_000_u64;
    while ended(limited(&folder, &format!("-v {limit}"), &["--version"])).code == 0 {
        for output in outputs {
            folder.write(output, "old");
        }
        let ran = ended(limited(&folder, &format!("-v {limit}"), args));
        let now = files(&folder);
        if ran.code == 0 {
            successes += 1;
            assert!(outputs.iter().all(|output| now[*output] == new[*output]), "{limit} kB: {args:?}");
        } else {
            failures += 1;
            told(&ran, limit, args);
            for output in outputs {
                assert_eq!(now[*output], b"old", "{limit} kB: {args:?}: {output}");
            }
        }
        // Small steps where it gets tight: smaller than what the smallest of the commands needs
        // beyond the program itself.
        limit = if limit > 250_000 { limit / 2 } else { limit * 24 / 25 };
    }
    (successes, failures)
}

/// A failure for want of memory says so, and never as a panic.
fn told(ran: &Ran, limit: u64, args: &[&str]) {
    // The system's abort where an allocation fails, in Rust or while glibc sets up a thread; a C
    // library's own word where it fails there.
    let words = ["memory allocation of", "Fatal glibc error: failed to register TLS destructor: out of memory"];
    let is_abort = ran.code == -1 && words.iter().any(|word| ran.err.contains(word));
    let is_refusal = ran.code == 2 && ran.err.contains("error:");
    assert!(is_abort || is_refusal, "{limit} kB: {args:?}: code {}: {}", ran.code, ran.err);
    assert!(!ran.err.contains("panicked"), "{limit} kB: {args:?}: {}", ran.err);
}

#[test]
fn without_memory_no_file_is_half() {
    for (args, outputs) in [
        (&["workload", "convert", "log.swf", "--out", "out.csv"][..], &["out.csv"][..]),
        (
            &["run", "-w", "log.swf", "-p", "easy", "--jobs", "out.csv", "--segments", "s.csv"],
            &["out.csv", "out.csv.meta.json", "s.csv", "s.csv.meta.json"],
        ),
        (
            &["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--threads", "2", "--report", "out.html"],
            &["out.html"],
        ),
        (&["gantt", "-w", "log.swf", "-p", "easy", "--window", "0..86400", "--output", "out.png"], &["out.png"]),
    ] {
        let (successes, failures) = starve(args, outputs);
        assert!(successes > 0 && failures > 0, "{args:?}: {successes} with enough memory, {failures} without");
        eprintln!("{args:?}: {successes} with enough memory, {failures} without");
    }
}
