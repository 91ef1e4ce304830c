//! Schedules of the KTH log through the program, against those that independent simulators
//! computed.

use crate::common::{Folder, shared};
use flate2::read::GzDecoder;
use std::io::Read;

const KTH: &str = "traces/KTH-SP2-1996-2.1-cln.swf.gz";

/// Runs with these options and compares the first four columns with a golden file's.
fn check(golden: &str, options: &[&str]) {
    let (Some(log), Some(golden)) = (shared(KTH), shared(&format!("golden/{golden}.csv.gz"))) else { return };
    let mut expected = String::new();
    let file = std::fs::File::open(&golden).expect("opens");
    GzDecoder::new(file).read_to_string(&mut expected).expect("reads");
    let folder = Folder::new();
    let log = log.to_string_lossy();
    let args = [&["run", "--workload", &log, "--jobs", "out.csv", "--format", "json"], options].concat();
    folder.run(&args).ok();
    let schedule = folder.read("out.csv");
    assert_eq!(schedule.lines().count(), expected.lines().count(), "{golden:?}");
    let first_four = |line: &str| line.split(',').take(4).collect::<Vec<_>>().join(",");
    for (row, golden_row) in schedule.lines().zip(expected.lines()) {
        assert_eq!(first_four(row), first_four(golden_row), "{golden:?}");
    }
}

#[test]
fn tsafrir_2007() {
    for (name, policy) in [
        ("EASY", "easy"),
        ("EASY_SJBF", "easy(backfill=sjf)"),
        ("PERFECT", "easy(predict=perfect)"),
        ("PERFECT++", "easy(predict=perfect,backfill=sjf)"),
        ("EASY++", "easy++"),
    ] {
        check(&format!("easy/KTH-SP2-1996-2.1-cln.{name}"), &["--as", "tsafrir2007", "--policy", policy]);
    }
}

#[test]
fn talby_1999() {
    for procs in ["100", "128"] {
        for (name, policy) in [("cons", "conservative(notice=immediate)"), ("easy", "easy(notice=immediate)")] {
            let options = ["--as", "talby1999", "--take", "all", "--procs", procs, "--policy", policy];
            check(&format!("slack/event.{name}.p{procs}.year"), &options);
            check(&format!("slack/event.{name}.p{procs}.month"), &[&options[..], &["--each-month"]].concat());
        }
    }
}

#[test]
fn kettimuthu_2005_and_lawson_2002() {
    check("preempt/kth-ns", &["--as", "kettimuthu2005", "--take", "all", "--policy", "easy"]);
    check("multiqueue/kth-single", &["--as", "lawson2002", "--policy", "easy"]);
}
