//! Bad input: a clear message, exit code 2, never a panic.

use crate::common::{Folder, four, line};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The message about a log.
fn about(content: impl AsRef<[u8]>, args: &[&str]) -> String {
    let folder = Folder::with("log.swf", content);
    let mut words = vec!["run", "--policy", "easy", "--workload", "log.swf", "--jobs", "out.csv", "--quiet"];
    words.extend(args);
    let error = folder.run(&words).fails(2);
    assert_eq!(folder.names(), ["log.swf"], "nothing is left behind");
    error
}

#[track_caller]
pub(crate) fn assert_says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

#[test]
fn truncated_gzip() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let jobs: String = (1..5_000).map(|i| line(i, i * 7, i % 100, 1, 100)).collect();
    encoder.write_all(format!("; MaxProcs: 4\n{jobs}").as_bytes()).expect("packed");
    let mut bytes = encoder.finish().expect("packed");
    bytes.truncate(bytes.len() / 2);
    assert_says(&about(bytes, &[]), &["error: log.swf:", "ends too soon", "truncated", "fetch it again"]);
}

#[test]
fn garbage() {
    let error = about(b"\x00\xff\xfe\x80garbage\n\x01\x02", &[]);
    assert_says(&error, &["log.swf:1: this looks like no text at all", "expected text, 18 numbers a line"]);
    assert!(!error.contains("--lenient"), "{error}");
    let table = about("JobID|User|Submit|Start|End\n1|a|2|3|4\n", &[]);
    assert_says(&table, &["log.swf:1: this looks like Slurm's accounting", "`drystone import log.swf --out site/`"]);
    assert_says(&about(b"\x1f\x8b\x08garbage that only begins like gzip", &[]), &["log.swf"]);
    assert_says(&about(b"PK\x03\x04rest", &[]), &["zip", "decompress it first"]);
}

#[test]
fn a_line_of_five_fields() {
    let log = format!("; MaxProcs: 4\n{}2 0 10 3600 4\n", line(1, 0, 1, 1, 1));
    assert_says(&about(&log, &[]), &["log.swf:3:14", "expected 18 fields", "after 5", "--lenient"]);
    // Leniently it is a counted rule.
    let folder = Folder::with("log.swf", log);
    let json = folder.run(&["run", "-p", "easy", "-w", "log.swf", "--lenient", "--format", "json"]).json();
    assert_eq!(json["workload"]["cleaning"]["rules"]["malformed-line"], 1);
    assert_eq!(json["workload"]["jobs"], 1);
}

#[test]
fn negative_processors_are_a_counted_rule() {
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 1, 1, 1), line(2, 0, 1, -3, 1));
    let folder = Folder::with("log.swf", &log);
    let ran = folder.run(&["run", "-p", "easy", "-w", "log.swf", "--format", "json", "--audit", "audit.csv"]);
    assert_says(&ran.err, &["of 2 records cleaning dropped 1 no-processors"]);
    assert_eq!(ran.json()["workload"]["cleaning"]["rules"]["no-processors"], 1);
    assert_says(&folder.read("audit.csv"), &["no-processors,dropped,3,2,8,-3,"]);
    let only = format!("; MaxProcs: 4\n{}", line(2, 0, 1, -3, 1));
    assert_says(&about(only, &[]), &["none of 1 records became a job", "no-processors 1"]);
}

#[test]
fn times_beyond_64_bits() {
    let log = four().replace("2 10 ", "2 99999999999999999999 ");
    assert_says(&about(log, &[]), &["log.swf:4:3", "at most 64 bits", "field 2 (submit time)"]);
    let log = four().replace("2 10 ", "2 9223372036854775807 ");
    assert_says(&about(log, &[]), &["log.swf:4:3", "field 2 (submit time)"]);
}

#[test]
fn nobody_who_counts_is_told() {
    let folder = Folder::with("log.swf", four());
    for command in [&["run", "-p", "easy"][..], &["compare", "-p", "easy", "-p", "fcfs"]] {
        let args = |trim| [command, &["-w", "log.swf", "--trim", trim]].concat();
        let note = "none of 4 jobs counts (window(99999999999,0))";
        assert_says(&folder.run(&args("window(99999999999,0)")).err, &[note]);
        // A table of dashes says nothing of it.
        for more in [&["-q"][..], &["-q", "--details"]] {
            let quiet = [args("window(99999999999,0)"), more.to_vec()].concat();
            if command[0] == "compare" || more.len() == 1 {
                let err = folder.run(&quiet).err;
                assert_says(&err, &[note]);
                assert_eq!(err.lines().count(), 1, "{err}");
            }
        }
        assert!(!folder.run(&args("all")).err.contains("none of"), "{command:?}");
    }
}

/// A terminal would obey what stands in a log, or in its name.
#[test]
#[cfg(unix)]
fn control_characters_are_written_out() {
    let name = "\u{1b}[31mred.swf";
    let log =
        four().replace("; MaxProcs: 4\n", "; MaxProcs: 4\n; TimeZoneString: a\u{1b}]0;b\u{7}\n; MaxNodes: 4\u{9b}K\n");
    assert!(log.contains('\u{9b}'), "the log has a header");
    let folder = Folder::with(name, log);
    for args in [vec!["workload", "info", name], vec!["run", "-p", "easy", "-w", name, "--format", "markdown"]] {
        let ran = folder.run(&args);
        assert_says(&ran.err, &[r"no whole number and ignored: `4\u{9b}K`", r"`a\u{1b}]0;b\u{7}` is unknown"]);
        assert!(ran.out.contains(r"\u{1b}[31mred: 4 jobs"), "{}", ran.out);
        assert!(!(ran.out + &ran.err).contains(|c: char| c.is_control() && c != '\n'), "{args:?}");
    }
    let missing = "\u{1b}[2Jmissing.swf";
    assert_says(&folder.run(&["workload", "info", missing]).fails(2), &[r"\u{1b}[2Jmissing.swf: cannot be opened"]);
    let json = folder.run(&["workload", "info", name, "--format", "json"]).json();
    assert_eq!(json["workload"]["name"], "\u{1b}[31mred");
    assert_eq!(json["workload"]["time_zone"], "a\u{1b}]0;b\u{7}");
}

/// Tables for other programs are distinguished from a broken log.
#[test]
fn tables_are_no_logs() {
    let folder = Folder::with("log.swf", four());
    folder.run(&["run", "-w", "log.swf", "-p", "easy", "--jobs", "jobs.csv"]).ok();
    folder.run(&["run", "-w", "log.swf", "-p", "easy", "--jobs", "jobs.parquet"]).ok();
    folder.run(&["workload", "convert", "log.swf", "--out", "log.csv"]).ok();
    for (table, format) in [("log.csv", "CSV"), ("jobs.parquet", "Parquet"), ("jobs.csv", "CSV")] {
        let error = folder.run(&["run", "-w", table, "-p", "easy"]).fails(2);
        assert_says(&error, &[&format!("{table}: a table ({format})"), "expected the Standard Workload Format"]);
    }
}

/// A log in Parquet, as `convert` writes it, is the log that it was made of for every command.
#[test]
fn logs_in_parquet_are_logs() {
    let folder = Folder::with("log.swf", format!("; Note: kept\n; UnixStartTime: 800000000\n{}", four()));
    folder.run(&["workload", "convert", "log.swf", "--out", "log.parquet"]).ok();
    let run = |log: &str| folder.run(&["run", "-w", log, "-p", "easy", "--format", "json"]).json();
    let (text, table) = (run("log.swf"), run("log.parquet"));
    assert_eq!((&text["report"], &text["workload"]["hash"]), (&table["report"], &table["workload"]["hash"]));
    folder.run(&["workload", "convert", "log.parquet", "--out", "back.swf"]).ok();
    folder.run(&["workload", "convert", "log.swf", "--out", "again.swf"]).ok();
    let lines = |name: &str| -> Vec<String> {
        let own = |line: &&str| !line.starts_with("; Note: drystone");
        folder
            .read(name)
            .lines()
            .filter(own)
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(lines("back.swf"), lines("again.swf"));
    assert!(folder.read("back.swf").contains("; Note: kept"));
    let study = |log: &str| format!("[[workload]]\nname = \"a\"\nfile = \"{log}\"\n[[policy]]\npolicy = \"easy\"\n");
    for (name, log) in [("text", "log.swf"), ("table", "log.parquet")] {
        folder.write(&format!("{name}.toml"), study(log));
        folder.run(&["sweep", &format!("{name}.toml")]).ok();
    }
    let waits = |store: &str| {
        folder.run(&["sweep", "query", store, "SELECT workload_hash, wait_mean FROM result", "--format", "csv"]).ok()
    };
    assert_eq!(waits("text.db"), waits("table.db"));
    // One that is cut short is reported, and so is one that only begins like one.
    let bytes = std::fs::read(folder.path("log.parquet")).expect("bytes");
    for (name, bytes) in [("cut.parquet", &bytes[..bytes.len() / 2]), ("not.parquet", &b"PAR1 and nothing more"[..])] {
        std::fs::write(folder.path(name), bytes).expect("written");
        let error = folder.run(&["run", "-w", name, "-p", "easy"]).fails(2);
        assert_says(&error, &[name, "Parquet"]);
    }
}

/// Accounting that is taken for a log is reported, with the command that imports it; a
/// configuration with the command that takes it.
#[test]
fn accounting_is_no_log() {
    for (content, parts) in [
        (
            "JobID|State|Submit|Start\n1|COMPLETED|…|…\n",
            ["Slurm's accounting", "`drystone import log.swf --out site/`"],
        ),
        ("JobIDRaw\tState\tSubmit\tStart\n", ["Slurm's accounting", "`drystone import log.swf --out site/`"]),
        ("JobID   JobName  Partition   State\n", ["without --parsable2", "`sacct --parsable2`"]),
        ("{\"jobs\": []}\n", ["sacct --json", "`drystone import log.swf --out site/`"]),
        ("04/13/2026 08:00:00;E;1.s;user=a\n", ["PBS or Torque", "`drystone import log.swf --out site/`"]),
        ("ClusterName=c\nNodeName=n[1-4]\n", ["slurm.conf", "`--policy slurm:log.swf`"]),
        ("job,submit,run,procs\n1,0,5,1\n", ["separated by commas", "`drystone import FILE --out site/`"]),
    ] {
        let error = about(content, &[]);
        assert_says(&error, &parts);
        assert!(!error.contains("lenient"), "{error}");
    }
}

#[test]
fn duplicate_numbers() {
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 1, 1, 1), line(1, 5, 1, 1, 1));
    assert_says(&about(&log, &["--duplicates", "error"]), &["log.swf:3", "job number 1 was used before"]);
    let folder = Folder::with("log.swf", log);
    let json = folder.run(&["run", "-p", "easy", "-w", "log.swf", "--format", "json"]).json();
    assert_eq!(json["workload"]["cleaning"]["rules"]["repeated-number"], 1);
}

#[test]
fn an_empty_file() {
    assert_says(&about("", &[]), &["no record in 0 lines", "Standard Workload Format"]);
    assert_says(&about("; MaxProcs: 4\n", &[]), &["no record in 1 line;"]);
}

#[test]
fn a_machine_narrower_than_a_job() {
    let narrow = four();
    let error = about(&narrow, &["--procs", "3", "--too-wide", "error"]);
    assert_says(&error, &["log.swf:4", "job 2 needs 4 processors of a machine of 3", "--procs N"]);
    let folder = Folder::with("log.swf", narrow);
    let json = folder.run(&["run", "-p", "easy", "-w", "log.swf", "--procs", "3", "--format", "json"]).json();
    assert_eq!(json["workload"]["cleaning"]["rules"]["too-wide"], 1);
    assert_says(&about(line(1, 0, 1, 1, 1), &[]), &["neither MaxProcs nor MaxNodes", "--procs N"]);
}

#[test]
fn missing_and_unreadable_files() {
    let folder = Folder::new();
    for command in [["run", "-p", "easy"], ["compare", "-p", "easy"]] {
        let error = folder.run(&[&command[..], &["-w", "nowhere.swf"]].concat()).fails(2);
        assert_says(&error, &["nowhere.swf: cannot be opened"]);
    }
    assert_says(
        &folder.run(&["run", "-p", "easy", "-w", "."]).fails(2),
        &[".: this is a folder with neither a site nor logs", "expected a log or a site"],
    );
    assert_says(&folder.run(&["workload", "info", "nowhere.swf"]).fails(2), &["nowhere.swf: cannot be opened"]);
    assert_says(&folder.run(&["workload", "convert", "nowhere.swf"]).fails(2), &["nowhere.swf: cannot be opened"]);
}

#[test]
fn outputs_that_cannot_be_written_are_told_before_the_work() {
    let folder = Folder::with("log.swf", four());
    let run = |args: &[&str]| folder.run(&[&["run", "-p", "easy", "-w", "log.swf"], args].concat()).fails(2);
    assert_says(&run(&["--jobs", "nowhere/out.csv"]), &["nowhere/out.csv: cannot be written: No such file"]);
    assert_says(&run(&["--report", "nowhere/out.json"]), &["nowhere/out.json: cannot be written"]);
    assert_says(&run(&["--audit", "nowhere/out.csv"]), &["nowhere/out.csv: cannot be written"]);
    assert_says(&run(&["--jobs", "out.txt"]), &["out.txt: the ending says how to write it", ".parquet"]);
    assert_says(&run(&["--report", "out.doc"]), &["out.doc: the ending says", ".json"]);
    assert_eq!(folder.names(), ["log.swf"]);
}

#[test]
fn wrong_words_get_the_nearest_right_one() {
    let folder = Folder::new();
    let policy = |text| folder.run(&["run", "--policy", text]).fails(2);
    assert_says(&policy("esy"), &["there is no policy `esy`", "Did you mean `easy`?", "drystone policies"]);
    assert_says(&policy("easy(ordr=sjf)"), &["Did you mean `order`?"]);
    assert_says(&policy("easy@tsafrir"), &["Did you mean `tsafrir2007`?"]);
    assert_says(&policy("easy("), &["parenthesis is not closed"]);
    let with = |args: &[&str]| folder.run(&[&["run", "-p", "easy"], args].concat()).fails(2);
    assert_says(&with(&["--as", "tsafrir"]), &["tsafrir2007"]);
    assert_says(&with(&["--overrun", "die"]), &["run-on, kill, raise, exact"]);
    assert_says(&with(&["--load", "0"]), &["a positive decimal number"]);
    assert_says(&with(&["--trim", "half"]), &["window(WARM_UP,COOL_DOWN)"]);
    assert_says(&with(&["--trim", "submitted(5,1)"]), &["FROM before UNTIL"]);
    for month in ["1997-13", "1997-00", "1997-3", "97-03", "1997/03", "March"] {
        assert_says(&with(&["--month", month]), &["expected a year and a month from 01 to 12"]);
    }
    assert_says(&with(&["--procs", "0"]), &["0 is not in 1.."]);
    assert_says(&with(&["--slice", "5"]), &["expected FROM..UNTIL"]);
    assert_says(&folder.run(&["simulate"]).fails(2), &["unrecognized subcommand"]);
    assert_says(&folder.run(&["policies", "esy"]).fails(2), &["Did you mean `easy`?"]);
}

/// Nodes taken for processors, and hours of an unknown zone, are reported; given or known facts are
/// not.
#[test]
fn what_a_header_leaves_open_is_told() {
    let log = |header: &str| format!("{header}\n{}{}", line(1, 0, 10, 2, 10), line(2, 5, 10, 1, 10));
    let notes = |header: &str, args: &[&str]| {
        let folder = Folder::with("log.swf", log(header));
        let ran = folder.run(&[&["run", "-w", "log.swf", "-p", "easy"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err.lines().filter(|line| !line.contains(" jobs/s")).collect::<Vec<_>>().join("\n")
    };
    let nodes = "note: the header has no MaxProcs; its MaxNodes, 4, is taken as processors (--procs N overrides it)";
    assert_says(&notes("; MaxNodes: 4", &[]), &[nodes]);
    assert_says(&notes("; MaxProcs: -1\n; MaxNodes: 4", &[]), &[nodes]);
    let unreadable = "warning: the header's MaxProcs is no whole number and ignored: `1,152`";
    assert_says(&notes("; MaxProcs: 1,152\n; MaxNodes: 4", &[]), &[unreadable, "its MaxNodes, 4, is taken"]);
    assert_says(&notes("; MaxProcs: 4\n; TimeZone: abc", &[]), &["the header's TimeZone is no whole number"]);
    assert_eq!(notes("; MaxNodes: 4", &["--procs", "4"]), "");
    assert_eq!(notes("; MaxProcs: 4\n; MaxNodes: 4", &[]), "");
    assert_eq!(notes(";  MaxProcs : 4\n;MaxProcs:4", &[]), "");
    let twice = "warning: the header says MaxProcs 3 times, not always the same: `4`, `8`, `4`; the first counts";
    assert_eq!(notes("; MaxProcs: 4\n; MaxProcs: 8\n; MaxProcs: 4", &[]), twice);
    let zone = |more: &str| format!("; MaxProcs: 4\n; UnixStartTime: 0\n{more}");
    let mars = "; TimeZoneString: Mars/Olympus";
    let unknown = "warning: the log's time zone `Mars/Olympus` is unknown; days and months are those of UTC";
    assert_says(&notes(&zone(mars), &[]), &[unknown]);
    assert_says(&notes(&zone(&format!("; TimeZone: 3600\n{mars}")), &[]), &[unknown, "UTC+01:00"]);
    assert_eq!(notes(&zone("; TimeZoneString: Europe/Berlin"), &[]), "");
    assert_says(
        &notes(&zone("; TimeZone: 99999999"), &[]),
        &[
            "warning: the header's TimeZone, 99999999, cannot be and is ignored: it is seconds to add to UTC, at most a day",
        ],
    );
    assert_says(
        &notes("; MaxProcs: 4\n; UnixStartTime: 843480031000", &[]),
        &["warning: the header's UnixStartTime, 843480031000, cannot be and is ignored: it is seconds since 1970"],
    );
    assert_eq!(notes("; MaxProcs: 4\n; UnixStartTime: -1\n; TimeZone: -1", &[]), "");
}

/// Every command says what it was given and which command takes it.
#[test]
fn inputs_of_the_wrong_kind_are_named() {
    let folder = Folder::with("log.swf", four());
    folder.write("jobs.psv", "JobID|User|State\n1|a|COMPLETED\n");
    folder.write("study.toml", "[[workload]]\nfile = \"log.swf\"\n[[policy]]\npolicy = \"easy\"\n");
    let results = folder.run(&["run", "log.swf", "-p", "easy", "--format", "json"]).ok();
    folder.write("results.json", results);
    for name in ["dumps", "logs", "empty"] {
        std::fs::create_dir(folder.path(name)).expect("made");
    }
    folder.write("dumps/jobs.psv", "JobIDRaw,User,State\n1,a,COMPLETED\n");
    folder.write("logs/log.swf", four());
    for (args, parts) in [
        (&["compare", "jobs.psv"][..], ["Slurm's accounting", "`drystone import jobs.psv --out site/`"]),
        (&["compare", "dumps"], ["a folder of accounting", "`drystone import dumps --out site/`"]),
        (&["compare", "logs"], ["a folder of logs", "name one of the logs"]),
        (&["workload", "info", "empty"], ["neither a site nor logs", "drystone import"]),
        (&["compare", "results.json"], ["results in JSON", "`drystone report results.json --out results.html`"]),
        (&["compare", "study.toml"], ["the file of a study", "`drystone sweep study.toml`"]),
        (&["fidelity", "log.swf"], ["a job log", "`drystone import log.swf --out site/`"]),
        (&["report", "log.swf"], ["a job log, expected results in JSON", "`drystone compare log.swf`"]),
    ] {
        let error = folder.run(args).fails(2);
        assert!(parts.iter().all(|part| error.contains(part)), "{args:?}: {error}");
    }
}

/// Only `compare` and `run` have an example; the others ask for a log, which may come by its place
/// or by its option.
#[test]
fn commands_without_a_log_ask_for_one() {
    let folder = Folder::with("log.swf", four());
    for args in [
        &["explain", "--job", "1", "-p", "easy"][..],
        &["gantt", "-p", "easy", "--out", "chart.json"],
        &["predict"],
        &["workload", "info"],
        &["evolve"],
        &["advise"],
    ] {
        let error = folder.run(args).fails(2);
        assert!(error.contains("needs a log"), "{args:?}: {error}");
    }
    for command in [&["run", "-p", "easy"][..], &["compare", "-p", "easy"], &["explain", "--job", "1", "-p", "easy"]] {
        let more = |log: &[&str]| folder.run(&[command, log, &["--quiet"]].concat()).ok();
        assert_eq!(more(&["log.swf"]), more(&["--workload", "log.swf"]), "{command:?}");
    }
}
