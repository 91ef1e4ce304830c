//! `drystone reproduce`: published values against ours, on a study and a log made for the test.

use crate::common::{Folder, four, send, wait_for_handlers};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// One table with one row: the mean wait of four jobs. Under EASY jobs 2 and 4 wait 90 s and 120 s,
/// so 52.5 s on average; under FCFS job 3 also waits 130 s, which makes 85 s.
fn study(policy: &str, publication: &str, tolerance: &str) -> String {
    format!(
        r#"
name = "mine"
source = "by hand"

[[log]]
id = "four"
file = "four.swf"
page = "https://example.org/four"

[[table]]
id = "1"
title = "Four jobs"
reason = "exact"

[[table.column]]
name = "wait, min"
measure = "wait-mean-min"

[[table.row]]
label = "by hand"
log = "four"
policy = "{policy}"
published = ["{publication}"]
tolerance = [{tolerance}]
"#
    )
}

fn folder(policy: &str, publication: &str, tolerance: &str) -> Folder {
    let folder = Folder::with("four.swf", four());
    folder.write("mine.toml", study(policy, publication, tolerance));
    folder
}

const ARGS: [&str; 4] = ["reproduce", "mine.toml", "--logs", "."];

#[test]
fn a_number_is_met_or_the_exit_code_says_that_it_is_not() {
    let out = folder("easy", "0.875", "0").run(&ARGS).ok();
    assert!(out.contains("1 cell judged: 1 met to the printed digit"), "{out}");
    assert!(out.contains("0.875 / 0.8750"), "{out}");
    // A wrong policy is found out: 85 s are 1.4167 min.
    let wrong = folder("fcfs", "0.875", "10").run(&ARGS);
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    assert!(wrong.out.contains("0.875 / 1.4167 +61.9% !"), "{}", wrong.out);
    let json = folder("fcfs", "0.875", "62").run(&[&ARGS[..], &["--format", "json"]].concat()).json();
    assert_eq!(json["counts"]["within"], 1);
    let cell = &json["studies"][0]["tables"][0]["rows"][0]["cells"][0];
    assert_eq!((&cell["published"], &cell["verdict"]), (&"0.875".into(), &"within".into()));
}

#[test]
fn the_page_is_written_in_every_form_and_on_any_number_of_threads() {
    let folder = folder("easy", "0.9", "3");
    let files = ["a.md", "a.csv", "a.json"].map(|name| ["--report", name]).concat();
    folder.run(&[&ARGS[..], &files, &["--threads", "1"]].concat()).ok();
    let first = ["a.md", "a.csv", "a.json"].map(|name| folder.read(name));
    folder.run(&[&ARGS[..], &files, &["--threads", "3"]].concat()).ok();
    assert_eq!(first, ["a.md", "a.csv", "a.json"].map(|name| folder.read(name)));
    let header =
        "drystone,study,table,row,log,policy,column,published,ours,deviation_percent,tolerance_percent,verdict";
    assert!(first[1].starts_with(header), "{}", first[1]);
    assert!(first[1].contains(",mine,1,by hand,four,easy,\"wait, min\",0.9,0.875,"), "{}", first[1]);
    let hash = blake3::hash(four().as_bytes()).to_hex();
    assert!(
        first[1].trim_end().ends_with(&format!(",met,wait-mean-min,trim=all,four.swf,{hash},exact")),
        "{}",
        first[1]
    );
    assert!(first[0].contains("| by hand | four |"), "{}", first[0]);
}

/// The settings of a cell stand beside it, even where the study leaves the version of the log open.
#[test]
fn results_have_the_settings_behind_each_row() {
    let folder = folder("easy", "0.875", "0");
    let settings = "as = \"tsafrir2007\"\noverrun = \"kill\"\ntake = 3\nreason =";
    let text = folder.read("mine.toml").replace("reason =", settings).replace("policy =", "load = \"1.5\"\npolicy =");
    folder.write("mine.toml", text);
    let ran = folder.run(&[&ARGS[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let study = &json["studies"][0];
    assert_eq!(study["logs"][0]["blake3"], blake3::hash(four().as_bytes()).to_hex().as_str());
    assert_eq!(study["tables"][0]["measures"], serde_json::json!(["wait-mean-min"]));
    let expected =
        serde_json::json!({"as": "tsafrir2007", "load": "1.5", "overrun": "kill", "take": "3", "trim": "tsafrir"});
    assert_eq!(study["tables"][0]["rows"][0]["settings"], expected);
}

#[test]
fn a_log_that_is_missing_or_another_version_is_named_with_its_page() {
    let folder = Folder::with("mine.toml", study("easy", "0.875", "0"));
    let err = folder.run(&ARGS).fails(2);
    assert!(err.contains("four.swf is missing; https://example.org/four offers it"), "{err}");
    assert!(err.contains("none of the logs was found"), "{err}");
    folder.write("four.swf", four());
    let with_hash = study("easy", "0.875", "0").replace("page =", "blake3 = \"00\"\npage =");
    folder.write("mine.toml", with_hash);
    let err = folder.run(&ARGS).fails(2);
    assert!(err.contains("another version: its BLAKE3 is ") && err.contains(", not 00"), "{err}");
    assert!(err.contains("none of the logs is the one expected"), "{err}");
}

#[test]
fn no_two_reports_go_into_one_file() {
    let folder = folder("easy", "0.875", "0");
    for (first, second) in [("a.md", "a.md"), ("a.csv", "./a.csv")] {
        let err = folder.run(&[&ARGS[..], &["--report", first, "--report", second]].concat()).fails(2);
        assert!(err.contains(&format!("--report {second}: --report also writes that file")), "{err}");
        assert!(!folder.path(first).exists());
    }
}

#[test]
fn studies_that_are_none_are_refused_with_their_place() {
    for (good, bad, expected) in [
        ("title = \"Four jobs\"", "titel = \"Four jobs\"", "titel"),
        ("measure = \"wait-mean-min\"", "measure = \"wait\"", "`wait` is no measure; expected one of jobs"),
        ("policy = \"easy\"", "policy = \"esy\"", "table 1, row `by hand`"),
        ("log = \"four\"", "log = \"five\"", "there is no [[log]] with id = \"five\""),
        ("published = [\"0.875\"]", "published = []", "0 published values for 1 columns"),
        ("published = [\"0.875\"]", "published = [\"much\"]", "`much` is neither a number"),
        ("tolerance = [0]", "tolerance = [-1]", "a tolerance is a percentage"),
        ("policy = \"easy\"", "", "`wait-mean-min` needs a policy"),
    ] {
        let text = study("easy", "0.875", "0");
        assert!(text.contains(good));
        let folder = Folder::with("four.swf", four());
        folder.write("mine.toml", text.replace(good, bad));
        let err = folder.run(&ARGS).fails(2);
        assert!(err.contains("mine.toml") && err.contains(expected), "{bad}: {err}");
    }
    let folder = Folder::new();
    let err = folder.run(&["reproduce", "tsafrir", "--logs", "."]).fails(2);
    assert!(err.contains("there is no study `tsafrir`; expected one of tsafrir-2007"), "{err}");
    let err = folder.run(&["reproduce", "tsafrir-2007", "--table", "77", "--logs", "."]).fails(2);
    assert!(err.contains("there is no table `77`"), "{err}");
    for args in [
        &["reproduce"][..],
        &["reproduce", "talby-1999", "--table", "1"],
        &["reproduce", "slurm"],
        &["reproduce", "coverage"],
    ] {
        let err = folder.run(args).fails(2);
        assert!(err.contains("the folder of the logs is missing (--logs DIR)"), "{err}");
    }
    let err = folder.run(&["reproduce", "--logs", "nowhere"]).fails(2);
    assert!(err.contains("nowhere: is no directory"), "{err}");
}

#[test]
fn the_studies_that_come_with_the_program_are_listed() {
    let out = Folder::new().run(&["reproduce", "--list"]).ok();
    for study in [
        "tsafrir-2007",
        "gaussier-2015",
        "talby-1999",
        "lawson-2002",
        "kettimuthu-2005",
        "chiang-2008",
        "easy-variants",
        "rlscheduler-2020",
    ] {
        assert!(out.contains(&format!("{study}: ")), "{out}");
    }
    assert!(out.contains("SDSC-BLUE-2000-4.1-cln.swf"), "{out}");
}

/// Classes of jobs make up all that count, also where trimming leaves some out.
#[test]
fn shares_of_classes_add_up() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "1000", "--out", "four.swf", "--quiet"]).ok();
    let column =
        |class: u32| format!("[[table.column]]\nname = \"{class}\"\nmeasure = \"share-percent@four/{class}\"\n");
    let columns: String = (0..4).map(column).collect();
    let text = study("easy", "1", "0").replace("reason = \"exact\"", "reason = \"none\"\nas = \"tsafrir2007\"");
    let (head, tail) = text.split_once("[[table.column]]").expect("a column");
    let (_, row) = tail.split_once("[[table.row]]").expect("a row");
    let row = row.replace("[\"1\"]", "[\"\", \"\", \"\", \"\"]").replace("tolerance = [0]", "");
    folder.write("mine.toml", format!("{head}{columns}[[table.row]]{row}"));
    let json = folder.run(&[&ARGS[..], &["--format", "json"]].concat()).json();
    let cells = json["studies"][0]["tables"][0]["rows"][0]["cells"].as_array().expect("cells").clone();
    let sum: f64 = cells.iter().map(|cell| cell["ours"].as_f64().expect("a number")).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    assert!(json["studies"][0]["tables"][0]["rows"][0]["settings"]["trim"] == "tsafrir");
}

/// A value of windows is the mean of theirs, and one of resampled logs is the same at every run; a
/// table of prices needs no log.
#[test]
fn windows_and_weeks_are_averaged_and_prices_need_no_log() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "2000", "--out", "four.swf", "--quiet"]).ok();
    let own_value = |settings: &str| {
        let text = study("easy", "", "0").replace("reason = \"exact\"", &format!("reason = \"none\"\n{settings}"));
        folder.write("mine.toml", text);
        let json = folder.run(&[&ARGS[..], &["--format", "json"]].concat()).json();
        json.pointer("/studies/0/tables/0/rows/0/cells/0/ours").and_then(serde_json::Value::as_f64).expect("a number")
    };
    let apart = [100, 1_500].map(|from| own_value(&format!("take = 500\nfrom = {from}")));
    let windows = own_value("take = 500\nwindows = [100, 1500]");
    assert!((windows - (apart[0] + apart[1]) / 2.0).abs() < 1e-9, "{windows} {apart:?}");
    let weeks = ["seed = 1", "seed = 1", "seed = 7"]
        .map(|seed| own_value(&format!("resample = {{ weeks = 3, logs = 2, {seed} }}")));
    assert!(weeks[0] == weeks[1] && weeks[0] != weeks[2], "{weeks:?}");
    folder.write("mine.toml", study("easy", "", "0").replace("reason", "take = 500\nwindows = [1600]\nreason"));
    let err = folder.run(&ARGS).fails(2);
    assert!(err.contains("2000 jobs, too few for a window of 500 from job 1600"), "{err}");
    // Talby & Feitelson 1999, section 4.4.
    let out = folder.run(&["reproduce", "talby-1999", "--table", "4.4"]).ok();
    assert!(out.contains("18 cells judged: 18 met to the printed digit"), "{out}");
}

/// After an interrupt the rows that are done stay.
#[cfg(unix)]
#[test]
fn an_interrupted_record_tells_what_is_done() {
    let folder = Folder::new();
    let deep = ["workload", "generate", "--procs", "128", "--load", "1.05", "--jobs", "20000", "--out", "four.swf"];
    folder.run(&deep).ok();
    // The search takes hours.
    let row = |label: &str, policy: &str| {
        let row = format!("\n[[table.row]]\nlabel = \"{label}\"\nlog = \"four\"\npolicy = \"{policy}\"\n");
        row + "published = [\"1\"]\ntolerance = [1]\n"
    };
    folder.write("mine.toml", study("easy", "1", "1") + &row("long", "goal(nodes=1000000)"));
    folder.write("long.toml", study("goal(nodes=1000000)", "1", "1"));
    let interrupt = |study: &str, after: u64| {
        let args = ["reproduce", study, "--logs", ".", "--threads", "1", "--format", "json", "--report", "r.json"];
        let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        wait_for_handlers(&mut child);
        sleep(Duration::from_secs(after));
        send(&child, "INT");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(130));
        output
    };
    assert!(interrupt("long.toml", 1).stdout.is_empty());
    assert_eq!(folder.names(), ["four.swf", "long.toml", "mine.toml"]);
    // Later and later, until it is long enough on a slow machine as well.
    let mut outputs = (1..).map(|doublings| interrupt("mine.toml", 1 << doublings));
    let output = outputs.find(|output| !output.stdout.is_empty()).expect("one of two is done at last");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json.pointer("/studies/0/tables/0/rows").and_then(|rows| rows.as_array()).expect("rows");
    assert_eq!(rows.iter().map(|row| &row["label"]).collect::<Vec<_>>(), ["by hand"]);
    assert_eq!(json["interrupted"], "interrupted: left out 1 row of mine 1");
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: interrupted: left out 1 row of mine 1"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&folder.read("r.json")).expect("JSON"), json);
}

/// Features are listed without logs; a command without its log is open, not a failure.
#[test]
fn features_of_papers_are_chosen_and_open_without_logs() {
    let folder = Folder::new();
    let list = folder.run(&["reproduce", "coverage", "talby-1999", "--list"]).ok();
    assert!(list.contains("worked example") && !list.contains("lawson-2002"), "{list}");
    let err = folder.run(&["reproduce", "coverage", "talby", "--logs", "."]).fails(2);
    assert!(err.contains("coverage has no paper `talby`; expected one of lawson-2002"), "{err}");
    let rows = folder.run(&["reproduce", "coverage", "chiang-2008", "--logs", ".", "--format", "csv"]).ok();
    assert!(rows.contains("open for want of a log"), "{rows}");
    assert!(!rows.contains(",failed,") && !rows.contains(",not done,"), "{rows}");
}
