//! `drystone workload`.

use crate::common::{Folder, four, line};

#[test]
fn conversion_keeps_every_byte_that_has_a_place() {
    let folder = Folder::with("log.swf", four());
    for out in ["a.swf.gz", "b.swf.zst", "c.swf"] {
        let from = if out == "b.swf.zst" {
            "a.swf.gz"
        } else if out == "c.swf" {
            "b.swf.zst"
        } else {
            "log.swf"
        };
        folder.run(&["workload", "convert", from, "--out", out]).ok();
    }
    let first = folder.run(&["workload", "convert", "log.swf"]).ok();
    assert_eq!(folder.read("c.swf"), first);
    assert!(first.starts_with("; MaxProcs: 4\n; UnixStartTime: 0\n    1        0 "), "{first}");
    let bytes = std::fs::read(folder.path("a.swf.gz")).expect("read");
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    folder.run(&["workload", "convert", "log.swf", "--out", "d.csv"]).ok();
    let csv = folder.read("d.csv");
    assert!(csv.starts_with("number,submit,wait,run,allocated,"), "{csv}");
    assert!(csv.ends_with("\n4,30,-1,100,1,-1,-1,1,100,-1,1,5,1,-1,0,-1,-1,-1\n"), "{csv}");
}

#[test]
fn scaling_divides_submits_and_keeps_every_record() {
    // The second record is no job: it has no processors.
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 11, 5, 1, 5), line(2, 22, 5, -1, 5));
    let folder = Folder::with("log.swf", log);
    let scaled_log = folder.run(&["workload", "scale", "log.swf", "--load", "1.1"]).ok();
    assert!(scaled_log.contains("submit times divided by 1.1"), "{scaled_log}");
    let submits: Vec<&str> =
        scaled_log.lines().filter(|l| !l.starts_with(';')).filter_map(|l| l.split_whitespace().nth(1)).collect();
    assert_eq!(submits, ["10", "20"]);
}

#[test]
fn malformed_lines_that_are_skipped_are_told_unless_quiet() {
    let folder = Folder::with("log.swf", four() + "5 40\n");
    folder.write("two.swf", four() + "5 40\n6 x\n");
    for command in [vec!["workload", "convert"], vec!["workload", "scale", "--load", "2"], vec!["workload", "slice"]] {
        let run = |log, more: &[&str]| folder.run(&[&command[..], &[log, "--lenient"], more].concat());
        for (log, note) in [("log.swf", "1 malformed line was skipped"), ("two.swf", "2 malformed lines were skipped")]
        {
            let (loud, quiet) = (run(log, &[]), run(log, &["-q"]));
            assert!(loud.err.contains(note), "{}", loud.err);
            assert_eq!(quiet.err, "");
            assert_eq!(quiet.ok(), loud.ok());
        }
    }
}

#[test]
fn slices() {
    let folder = Folder::with("log.swf", four());
    let numbers = |args: &[&str]| -> Vec<String> {
        let log = folder.run(&[&["workload", "slice", "log.swf"], args].concat()).ok();
        let records = log.lines().filter(|l| !l.starts_with(';'));
        records.filter_map(|l| l.split_whitespace().next().map(str::to_string)).collect()
    };
    assert_eq!(numbers(&["--from", "10", "--until", "30"]), ["2", "3"]);
    assert_eq!(numbers(&["--first", "1"]), ["1"]);
    assert_eq!(numbers(&["--month", "1970-01"]), ["1", "2", "3", "4"]);
    let error = folder.run(&["workload", "slice", "log.swf", "--month", "1970-02"]).fails(2);
    assert!(error.contains("no record is left: month 1970-02"), "{error}");
    let text = folder.run(&["workload", "slice", "log.swf", "--from", "10", "--shift"]).ok();
    assert!(text.contains("; UnixStartTime: 10\n") && text.contains("; MaxJobs: 3\n"), "{text}");
    assert!(text.contains("\n    2        0 "), "{text}");
}

/// Parts of an execution are no jobs: they follow their whole, whatever submit they have.
#[test]
fn parts_go_where_their_whole_goes() {
    let part =
        |id, submit, status: &str| line(id, submit, 25, 4, 60).replacen(" -1 1 5 1 ", &format!(" -1 {status} 5 1 "), 1);
    let jobs = [
        line(1, 100, 50, 4, 60),
        line(2, 5000, 50, 4, 60),
        part(2, 5000, "2"),
        part(2, -1, "3"),
        line(3, 6000, 5, 4, 9),
    ];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n; MaxJobs: 3\n{}", jobs.concat()));
    let first = |args: &[&str]| -> (Vec<String>, bool) {
        let log = folder.run(&[&["workload"], args].concat()).ok();
        let records = log.lines().filter(|l| !l.starts_with(';'));
        let numbers = records.filter_map(|l| l.split_whitespace().next().map(str::to_string)).collect::<Vec<_>>();
        let distinct = numbers.iter().collect::<std::collections::BTreeSet<_>>().len();
        let is_counted = log.contains(&format!("; MaxJobs: {distinct}\n"));
        (numbers, is_counted)
    };
    let of = |numbers: &[&str]| (numbers.iter().map(ToString::to_string).collect(), true);
    assert_eq!(first(&["slice", "log.swf", "--until", "1000"]), of(&["1"]));
    assert_eq!(first(&["slice", "log.swf", "--from", "1000"]), of(&["2", "2", "2", "3"]));
    assert_eq!(first(&["scale", "log.swf", "--load", "2"]), of(&["1", "2", "2", "2", "3"]));
    let text = folder.run(&["workload", "slice", "log.swf", "--from", "1000", "--shift"]).ok();
    assert!(text.contains("times shifted by 5000 s") && text.contains("\n    2        0 "), "{text}");
}

/// Submits that scaling makes equal keep their order, as with `--load`: job 2 comes before job 1,
/// though it stands behind it.
#[test]
fn a_scaled_log_is_simulated_as_if_scaled() {
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 5, 100, 4, 100), line(2, 3, 50, 4, 50));
    let folder = Folder::with("log.swf", log);
    folder.run(&["workload", "scale", "log.swf", "--load", "3", "--out", "scaled.swf"]).ok();
    let starts = |args: &[&str]| -> Vec<String> {
        folder.run(&[&["run", "-p", "fcfs", "-q", "--jobs", "jobs.csv", "-w"], args].concat()).ok();
        let csv = folder.read("jobs.csv");
        csv.lines().map(|row| row.split(',').take(4).collect::<Vec<_>>().join(",")).collect()
    };
    let rows = starts(&["scaled.swf"]);
    assert_eq!(rows, ["job_id,submit,start,end", "2,1,1,51", "1,1,51,151"]);
    assert_eq!(starts(&["log.swf", "--load", "3"]), rows);
}

/// Statements about the log's time are not made of a part of it, and not lost.
#[test]
fn times_that_hold_no_more_become_notes() {
    let head = "; StartTime: Thu Jan 01 00:00:00 1970\n; endtime: Thu Jan 01 00:02:10 1970\n";
    let folder = Folder::with("log.swf", format!("{head}{}", four()));
    let rewritten = |args: &[&str]| folder.run(&[&["workload"], args].concat()).ok();
    let slice = rewritten(&["slice", "log.swf", "--first", "2"]);
    let start = "; StartTime: Thu Jan 01 00:00:00 1970\n";
    assert!(
        slice.starts_with(&format!("{start}; Note: endtime of the whole log: Thu Jan 01 00:02:10 1970\n")),
        "{slice}"
    );
    let slice_text = rewritten(&["slice", "log.swf", "--from", "10", "--shift"]);
    assert!(
        slice_text.starts_with("; Note: StartTime of the whole log: Thu Jan 01 00:00:00 1970\n; Note: endtime"),
        "{slice_text}"
    );
    let scale_text = rewritten(&["scale", "log.swf", "--load", "2"]);
    assert!(
        scale_text.starts_with(&format!("{start}; Note: endtime before: Thu Jan 01 00:02:10 1970\n")),
        "{scale_text}"
    );
    assert!(rewritten(&["convert", "log.swf"]).starts_with(head));
}

/// Months of arrivals that come twice as fast are no months: `--by month` is refused with `--load`,
/// and a log that was scaled has no calendar any more.
#[test]
fn a_scaled_log_has_no_calendar() {
    let log = format!("; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n; MaxProcs: 8\n{}", four());
    let folder = Folder::with("log.swf", log);
    let calendar = |args: &[&str]| {
        let rewritten = folder.run(args).ok();
        let fields: Vec<String> = rewritten
            .lines()
            .filter_map(|line| line.strip_prefix("; "))
            .filter(|line| line.starts_with("UnixStartTime:") || line.starts_with("TimeZoneString:"))
            .map(str::to_string)
            .collect();
        fields
    };
    let whole = ["UnixStartTime: 843480031", "TimeZoneString: Europe/Stockholm"];
    assert_eq!(calendar(&["workload", "convert", "log.swf"])[..2], whole);
    assert_eq!(calendar(&["workload", "scale", "log.swf", "--load", "2"]), [""; 0]);
    folder.run(&["run", "-w", "log.swf", "-p", "fcfs", "--load", "2", "--jobs", "out.swf", "--quiet"]).ok();
    let text = folder.read("out.swf");
    assert!(!text.contains("; UnixStartTime:") && text.contains("; Note: UnixStartTime before the load"), "{text}");
}

#[test]
fn a_cleaned_log_gives_the_same_workload_again() {
    // Allocated differs from requested; one outlives its estimate; one is out of order; one is no
    // job.
    let log = "; MaxProcs: 8\n; a comment\n\
        1 50 3 100 2 7 9 4 60 -1 1 5 1 -1 0 -1 -1 -1\n\
        2 10 3 100 -1 7 9 4 -1 -1 1 5 1 -1 0 -1 -1 -1\n\
        3 90 3 -1 2 7 9 4 60 -1 5 5 1 -1 0 -1 -1 -1\n";
    for study in ["tsafrir2007", "gaussier2015", "kettimuthu2005", "lawson2002", "talby1999"] {
        let folder = Folder::with("log.swf", log);
        let ran =
            folder.run(&["workload", "clean", "log.swf", "--as", study, "--out", "clean.swf", "--audit", "a.csv"]);
        assert!(ran.err.contains("3 records"), "{}", ran.err);
        ran.ok();
        let hash = |file: &str, args: &[&str]| {
            let args = [&["workload", "info", file, "--format", "json"], args].concat();
            let json = folder.run(&args).json();
            (json["workload"]["hash"].to_string(), json["workload"]["cleaning"]["rules"].clone())
        };
        let original = hash("log.swf", &["--as", study]).0;
        assert_eq!(hash("clean.swf", &["--as", study]).0, original, "{study}");
        // It is clean for any size field as well.
        assert_eq!(hash("clean.swf", &[]).0, original, "{study}");
        assert!(folder.read("clean.swf").contains("; a comment\n"));
        assert!(folder.read("clean.swf").contains(&format!("cleaned with as={study}")));
        assert!(folder.read("a.csv").starts_with("rule,effect,line,job,field,before,after,note\n"));
    }
}

#[test]
fn generated_logs_are_reproducible_and_meet_their_load() {
    let folder = Folder::new();
    let generate = |out: &str, seed: &str| {
        let args =
            ["workload", "generate", "--procs", "64", "--jobs", "500", "--load", "0.7", "--seed", seed, "--out", out];
        folder.run(&args).ok();
    };
    generate("a.swf", "3");
    generate("b.swf", "3");
    generate("c.swf", "4");
    assert_eq!(folder.read("a.swf"), folder.read("b.swf"));
    assert_ne!(folder.read("a.swf"), folder.read("c.swf"));
    let info = folder.run(&["workload", "info", "a.swf", "--format", "json"]).json();
    assert_eq!((&info["workload"]["jobs"], &info["workload"]["procs"]), (&500.into(), &64.into()));
    let load = info["workload"]["load"].as_f64().expect("a load");
    assert!((load - 0.7).abs() < 0.01, "{load}");
    let error = folder.run(&["workload", "generate", "--load", "-1"]);
    assert_eq!(error.code, 2, "{}", error.err);
}

/// A plain log that is cut at the end of a line is whole by its form; most that say so were only
/// cleaned.
#[test]
fn a_header_that_promises_more_records_is_told() {
    let says = |header: &str| {
        let folder = Folder::with("log.swf", format!("{header}{}", four()));
        let ran = folder.run(&["workload", "info", "log.swf", "--details"]);
        assert_eq!(ran.err, "", "no warning");
        ran.ok().lines().find(|line| line.starts_with("records ")).map(str::to_string)
    };
    let sentence = says("; MaxJobs: 9\n; MaxRecords: 1005\n").expect("told");
    assert!(sentence.ends_with("4, but 1,005 by the header: the log was cleaned since, or is cut off"), "{sentence}");
    assert!(says("; MaxJobs: 5\n").is_some_and(|sentence| sentence.contains("but 5 by")));
    for header in ["", "; MaxJobs: 9\n; MaxRecords: 4\n", "; MaxRecords: -1\n", "; MaxRecords: 3\n"] {
        assert_eq!(says(header), None, "{header}");
    }
}

#[test]
fn info_of_a_small_log() {
    let folder = Folder::with("log.swf", four());
    insta::assert_snapshot!(folder.run(&["workload", "info", "log.swf", "--details"]).ok());
    insta::assert_snapshot!("overview_of_a_small_log", folder.run(&["workload", "info", "log.swf"]).ok());
}
