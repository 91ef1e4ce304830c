//! `drystone headroom`, and `drystone compare --headroom`.

use crate::common::{Folder, line, send, wait_for_handlers};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A long job of the whole machine, and two short ones that come a little later: the optimum lets
/// the long one wait. The waits are 201, 0 and 99 s then, and 0, 299 and 398 s in order of arrival.
fn three() -> String {
    let jobs = [line(1, 0, 300, 4, 300), line(2, 1, 100, 4, 100), line(3, 2, 100, 4, 100)];
    format!("; MaxProcs: 4\n{}", jobs.concat())
}

#[test]
fn a_bracket_by_hand() {
    let folder = Folder::with("log.swf", three());
    let args = ["headroom", "log.swf", "-p", "easy", "--trials", "2000", "--jobs", "found.csv", "--prices", "p.json"];
    let json = folder.run(&[&args[..], &["--gantt", "found.html", "--format", "json"]].concat()).json();
    let bracket = &json["bracket"];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert_eq!(number(&bracket["found"]["value"]), 100.0);
    assert!((number(&bracket["policies"][0]["value"]) - 697.0 / 3.0).abs() < 1e-9);
    assert!((number(&bracket["policies"][0]["saved"]) - (1.0 - 300.0 / 697.0)).abs() < 1e-9);
    let floor = number(&bracket["floor"]["value"]);
    assert!(floor > 0.0 && floor <= 100.0, "{floor}");
    // Every measure of the schedule found: responses are 501, 100 and 199 s.
    assert!((number(&json["found"]["report"]["measures"]["response"]["mean"]) - 800.0 / 3.0).abs() < 1e-9);
    let starts: Vec<String> =
        folder.read("found.csv").lines().skip(1).map(|l| l.split(',').nth(2).unwrap_or_default().to_string()).collect();
    assert_eq!(starts, ["201", "1", "101"]);
    assert!(folder.read("found.html").contains("<html"));
    // The same seed and trials, the same bytes but for the time spent.
    let again = folder.run(&[&args[..6], &["--format", "json"]].concat()).json();
    assert_eq!((&again["bracket"]["floor"], &again["bracket"]["found"]["value"]), (&bracket["floor"], &100.0.into()));
    let table = folder.run(&args[..6]).ok();
    for part in
        ["easy 3.9", "best found 1.7 (knows all run times", "no non-preemptive schedule below", "56% could be saved"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
}

/// The script of the documentation tries every second as a start.
#[test]
fn the_script_confirms_the_floor() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3");
        return;
    }
    let folder = Folder::with("log.swf", three());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check_headroom.py");
    folder.write("out.csv", "begin,end,procs,jobs\n700,900,2,requeue\n");
    folder.write("known.csv", "job,eligible\n3,50\n");
    for measure in ["wait", "bounded-slowdown", "area-wait"] {
        for more in [&[][..], &["--outages", "out.csv", "--circumstances", "known.csv"]] {
            let args = [
                "headroom",
                "log.swf",
                "--measure",
                measure,
                "--trials",
                "50",
                "--jobs",
                "f.csv",
                "--prices",
                "p.json",
            ];
            folder.run(&[&args[..], more].concat()).ok();
            let check = || {
                let mut python = Command::new("python3");
                python.arg(&script).arg(folder.path("p.json")).arg(folder.path("f.csv")).output().expect("runs")
            };
            let verification = check();
            assert!(verification.status.success(), "{measure} {more:?}: {verification:?}");
            // A dearer machine proves something else.
            let prices = folder.read("p.json");
            folder.write("p.json", prices.replacen("\"procs\": 4", "\"procs\": 3", 1));
            assert!(!check().status.success(), "{measure} {more:?}");
        }
    }
}

#[test]
fn what_has_no_common_floor_is_refused() {
    let jobs = [line(1, 0, 300, 4, 100), line(2, 1, 100, 4, 100), line(3, 2, 100, 4, 100)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let error = folder.run(&["headroom", "log.swf", "-p", "easy", "-p", "slack(tick=kill)", "--for", "0"]).fails(2);
    assert!(error.contains("slack(tick=kill): 1 job of 3") && error.contains("one set of jobs"), "{error}");
    let error = folder.run(&["headroom", "log.swf", "--trim", "tsafrir", "--for", "0"]).fails(2);
    assert!(error.contains("--trim tsafrir") && error.contains("submitted(FROM,UNTIL)"), "{error}");
    let error = folder.run(&["headroom", "log.swf", "--feedback", "--for", "0"]).fails(2);
    assert!(error.contains("--feedback"), "{error}");
}

#[test]
fn a_comparison_has_two_columns_and_a_sentence() {
    let folder = Folder::with("log.swf", three());
    let args = ["compare", "-w", "log.swf", "-p", "easy", "-p", "ss", "--headroom=1s"];
    let table = folder.run(&[&args[..], &["--details"]].concat()).ok();
    for part in ["found saves", "at most", "Headroom: the best schedule found in", "of the wait under easy 56%"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let json = folder.run(&[&args[..], &["--format", "json", "--report", "page.html"]].concat()).json();
    assert_eq!(json["headroom"]["found"]["value"], 100.0);
    assert!(json["headroom"]["floor_with_suspension"]["value"].as_f64() <= json["headroom"]["floor"]["value"].as_f64());
    assert!(folder.read("page.html").contains("no non-preemptive schedule is below"));
    // Without it nothing of it is there.
    let plain = folder.run(&args[..7]).ok();
    assert!(!plain.contains("found saves") && !plain.contains("Headroom"), "{plain}");
}

/// A machine of 4 processors and three jobs that need all of them: after the first, the short one
/// and then the long one wait 98 and 109 s, on average 69 s with the first. Only a policy that
/// knows run times begins with the short one, and a comparison begins its search there as well.
#[test]
fn a_comparison_begins_where_run_times_are_known() {
    let jobs = [line(1, 0, 100, 4, 2_000), line(2, 1, 1_000, 4, 2_000), line(3, 2, 10, 4, 2_000)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let comparison = folder.run(&["compare", "-w", "log.swf", "-p", "easy", "--headroom=0", "--format", "json"]).json();
    let alone = folder.run(&["headroom", "log.swf", "-p", "easy", "--for", "0", "--format", "json"]).json();
    for schedule in [&comparison["headroom"]["found"], &alone["bracket"]["found"]] {
        assert_eq!((&schedule["begun_from"], &schedule["value"]), (&"sjf-perfect".into(), &69.0.into()), "{schedule}");
    }
    assert_eq!(comparison["headroom"]["policies"].as_array().map(Vec::len), Some(1));
}

/// Ctrl-C prints the bracket as it is known by then, marks the search as interrupted, and exits
/// as interrupted commands do; the bracket holds.
#[cfg(unix)]
#[test]
fn an_interrupted_search_prints_its_bracket() {
    let folder = Folder::new();
    let log = ["workload", "generate", "--procs", "128", "--load", "0.9", "--jobs", "3000", "--out", "log.swf"];
    folder.run(&log).ok();
    let interrupt = |after: u64| {
        let args = ["headroom", "log.swf", "-p", "easy", "--for", "10h", "--format", "json", "--jobs", "found.csv"];
        let mut command = folder.command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        wait_for_handlers(&mut child);
        sleep(Duration::from_secs(after));
        send(&child, "INT");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    // Later and later, until it is long enough on a slow machine as well.
    let output = (1..).map(|doublings| interrupt(1 << doublings)).find(|output| {
        let json = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_default();
        json["bracket"]["found"]["trials"].as_u64() > Some(0)
    });
    let output = output.expect("some trials at last");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let bracket = &json["bracket"];
    assert_eq!(bracket["found"]["stopped"], true, "{bracket}");
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (floor, best) = (number(&bracket["floor"]["value"]), number(&bracket["found"]["value"]));
    assert!(floor <= best && best <= number(&bracket["policies"][0]["value"]), "{bracket}");
    // The schedule that is written is the one of the bracket.
    let waits = folder.read("found.csv");
    let column = |name: &str| waits.lines().next().and_then(|head| head.split(',').position(|c| c == name));
    let (submit, start) = (column("submit").expect("submits"), column("start").expect("starts"));
    let wait = |row: &str| {
        let cell = |at: usize| row.split(',').nth(at).and_then(|text| text.parse::<f64>().ok()).expect("seconds");
        cell(start) - cell(submit)
    };
    let (sum, jobs) = waits.lines().skip(1).fold((0.0, 0.0), |(sum, n), row| (sum + wait(row), n + 1.0));
    assert!((sum / jobs - best).abs() < 1e-6, "{} and {best}", sum / jobs);
}

/// Policies that suspend jobs may beat the floor of jobs that run without a break. On KTH `ss` and
/// `tss` wait less than the schedule that the search begins with; their mean waits of 62.5 min, and
/// of 1,633 min under `is`, are those that the lower floor was first held against: they show that
/// the schedules are still the same, and are no reference of their own.
#[test]
fn policies_that_suspend_are_held_against_the_lower_floor_only() {
    let Some(log) = crate::common::shared("traces/KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let folder = Folder::new();
    let log = log.display().to_string();
    let policies = ["-p", "easy", "-p", "ss", "-p", "tss", "-p", "is"];
    let json = folder.run(&[&["headroom", &log, "--for", "0", "--format", "json"][..], &policies].concat()).json();
    let bracket = &json["bracket"];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let (floor, lower) = (number(&bracket["floor"]["value"]), number(&bracket["floor_with_suspension"]["value"]));
    assert!(lower < floor, "{lower} {floor}");
    for (at, minutes) in [(1, 62.5), (2, 62.5), (3, 1_633.0)] {
        let policy = &bracket["policies"][at];
        let wait = number(&policy["value"]);
        assert!((wait / 60.0 / minutes - 1.0).abs() < 0.005, "{policy}");
        assert!(lower <= wait && policy["suspends"] == true && policy["saved"].is_null(), "{policy}");
        assert!((number(&policy["at_most"]) - (1.0 - lower / wait)).abs() < 1e-9, "{policy}");
    }
    let easy = &bracket["policies"][0];
    assert!((number(&easy["at_most"]) - (1.0 - floor / number(&easy["value"]))).abs() < 1e-9, "{easy}");
}
