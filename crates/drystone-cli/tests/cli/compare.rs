//! `drystone compare`.

use crate::common::{Folder, four, line, send, wait_for_handlers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn every_policy_is_compared_where_all_are_asked_for() {
    let folder = Folder::new();
    let json = folder.run(&["compare", "--all", "--take", "2000", "--format", "json"]).json();
    let results = json["results"].as_array().expect("results");
    let texts: Vec<&str> = results.iter().filter_map(|r| r["policy"]["text"].as_str()).collect();
    // Those that make the same schedule share a row.
    let equal = results.iter().filter_map(|r| r["equals"].as_array()).flatten().filter_map(|name| name.as_str());
    let names: Vec<&str> = texts.iter().copied().chain(equal).collect();
    for kind in drystone::policy::policy_kinds() {
        assert!(names.contains(&kind.name), "{} is missing", kind.name);
    }
    for result in results {
        let (text, policy) = (result["policy"]["text"].as_str().expect("a text"), &result["policy"]);
        assert_eq!(policy["clairvoyant"] == true, text.contains("perfect"), "{text}");
        assert_eq!(policy["preemptive"] == true, ["ss", "tss", "is"].contains(&text), "{text}");
    }
    let verdict = json["verdict"].to_string();
    let parts = ["running jobs, at no cost here", "considered only if"];
    assert!(parts.iter().all(|part| verdict.contains(part)), "{verdict}");
    assert_eq!(json["baseline"], "easy");
    assert_eq!(json["comparison"]["policies"].as_array().map(Vec::len), Some(texts.len() - 1));
    assert!(results.iter().all(|r| r.get("timing").is_none()), "timing only where it is asked for");
    assert_eq!(folder.names(), Vec::<String>::new());
}

/// Unasked, only what a site can run is tried, and every table says what is otherwise.
#[test]
fn the_usual_candidates_can_be_run_by_a_site() {
    let folder = Folder::new();
    let json = folder.run(&["compare", "--take", "2000", "--format", "json"]).json();
    let results = json["results"].as_array().expect("results");
    assert!(results.iter().all(|r| r["policy"]["clairvoyant"] == false && r["policy"].get("preemptive").is_none()));
    assert!((6..=8).contains(&results.len()), "{}", results.len());
    let summary = &json["summary"];
    assert_eq!(summary["does"].as_array().map(Vec::len), Some(results.len()));
    assert!(summary["assumed"].to_string().contains("One pool of 1,024 equal processors"), "{summary}");
    let text = folder.run(&["compare", "--take", "500", "-p", "easy", "-p", "perfect", "-p", "ss", "--details"]).ok();
    for mark in ["perfect (knows run times)", "ss (preemptive)"] {
        // Waits, changes, promises, delays, ratios of slowdowns and of bounded ones.
        assert_eq!(text.matches(mark).count(), 6, "{mark} in {text}");
    }
    assert!(text.contains("For reference only (knows run times or suspends jobs)"), "{text}");
}

/// A simulation that takes for ever is cut short, and the verdict names the missing parts.
#[test]
fn what_is_not_done_in_time_is_named() {
    let folder = Folder::new();
    let deep = ["workload", "generate", "--procs", "128", "--load", "1.05", "--jobs", "4000", "--out", "deep.swf"];
    folder.run(&deep).ok();
    let search = "goal(nodes=10000000)";
    let ran =
        folder.run(&["compare", "-w", "deep.swf", "-p", search, "-p", "easy", "--within", "3s", "--format", "json"]);
    let json = ran.json();
    assert_eq!(json["not_tried"], serde_json::json!([search]));
    let note = format!("time is up: left out {search}. One of these policies might be better.");
    assert_eq!(json["verdict"].as_array().and_then(|sentences| sentences.last()?.as_str()), Some(note.as_str()));
    assert!(folder.run(&["compare", "--within", "soon"]).fails(2).contains("60s, 5min, 2h or 1-12:00:00"));
}

/// A month of one processor on which hardly any job waits, and what the log says of its waits.
#[test]
fn a_log_that_decides_nothing_is_called_that() {
    let record = |number: i64, wait: i64| {
        let submit = number * 10_000;
        format!("{number} {submit} {wait} 100 1 -1 -1 1 200 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    };
    let log = |wait: i64| -> String { (1..=300).map(|number| record(number, wait)).collect() };
    for (wait, unlike) in [(0, false), (7_200, true)] {
        let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", log(wait)));
        let json = folder.run(&["compare", "-w", "log.swf", "--format", "json"]).json();
        let verdict = json["verdict"].to_string();
        assert!(verdict.contains("This log cannot tell policies apart"), "{verdict}");
        assert_eq!(verdict.contains("does not reproduce this log"), unlike, "{verdict}");
        assert_eq!(json["recorded"]["wait_mean"], f64::from(wait as i32));
        assert!(json["summary"]["recommended"].is_null(), "{}", json["summary"]);
    }
}

/// A generated log in which one job in `every` outlives its estimate; none with 0.
fn overrun(folder: &Folder, every: i64) -> String {
    let cut = |line: &str| -> String {
        let mut fields: Vec<String> = line.split_whitespace().map(String::from).collect();
        let number: i64 = fields[0].parse().expect("a number");
        let run: i64 = fields[3].parse().expect("a run time");
        if every > 0 && number % every == 0 {
            fields[8] = (run / 4).max(1).to_string();
        }
        fields.join(" ") + "\n"
    };
    let log = folder.read("log.swf");
    log.lines().map(|line| if line.starts_with(';') { format!("{line}\n") } else { cut(line) }).collect()
}

/// Whatever is done with jobs that outlive their estimates, verdicts agree or say what would be
/// judged otherwise: each treatment says of the two others what a comparison with them finds.
#[test]
fn verdicts_agree_whatever_overruns_do_or_say_that_they_do_not() {
    let folder = Folder::new();
    let args = ["workload", "generate", "--procs", "64", "--load", "0.9", "--jobs", "20000", "--seed", "3"];
    folder.run(&[&args[..], &["--out", "log.swf"]].concat()).ok();
    let treatments = ["run-on", "kill", "raise"];
    let mut changes = 0;
    for every in [0, 100, 8, 2] {
        folder.write("cut.swf", overrun(&folder, every));
        let run = |treatment: &&str| {
            let args = ["compare", "-w", "cut.swf", "--format", "json", "--overrun", treatment];
            let policies = ["-p", "easy", "-p", "easy-sjbf", "-p", "easy+", "-p", "easy++"];
            folder.run(&[&args[..], &policies].concat()).json()
        };
        let results: Vec<Value> = treatments.iter().map(run).collect();
        for (result, name) in results.iter().zip(treatments) {
            if every == 0 {
                assert!(result.get("readings").is_none(), "{}", result["readings"]);
                continue;
            }
            let words =
                if name == "run-on" { "ran past their time limit." } else { "ran past their time limit in the log" };
            assert!(result["verdict"].to_string().contains(words), "{}", result["verdict"]);
            for (other_result, treatment) in results.iter().zip(treatments).filter(|(_, treatment)| *treatment != name)
            {
                changes += agrees_or_says(result, other_result, treatment);
            }
        }
    }
    assert!(changes > 0, "these logs are to change some verdict");
}

/// Holds what a comparison says of another treatment to what that gives. Returns how many verdicts
/// change.
fn agrees_or_says(own_result: &Value, other_result: &Value, treatment: &str) -> usize {
    let readings = own_result["readings"]["others"].as_array().expect("two treatments");
    let other_reading = readings.iter().find(|reading| reading["overrun"] == treatment).expect("both others");
    let clear = |verdict: &Value| *verdict == "better" || *verdict == "worse";
    let policies = |result: &Value| result["comparison"]["policies"].as_array().cloned().unwrap_or_default();
    let mut expected = Vec::new();
    for (policy, other_policy) in policies(own_result).iter().zip(policies(other_result)) {
        assert_eq!(policy["name"], other_policy["name"]);
        for (a, b) in policy["changes"]
            .as_array()
            .into_iter()
            .flatten()
            .zip(other_policy["changes"].as_array().into_iter().flatten())
        {
            let measure = match a["metric"]["mean"].as_str() {
                Some("wait") => "wait",
                Some("bounded_slowdown") => "bounded slowdown",
                _ => continue,
            };
            if a["verdict"] != b["verdict"] && (clear(&a["verdict"]) || clear(&b["verdict"])) {
                expected.push((policy["name"].clone(), measure, a["relative"].clone(), b["relative"].clone()));
            }
        }
    }
    let key = |change: &Value| {
        let measure = if change["measure"] == "wait" { "wait" } else { "bounded slowdown" };
        (change["policy"].clone(), measure, change["here"][1].clone(), change["there"][1].clone())
    };
    let mut reading_changes: Vec<_> = other_reading["changed"].as_array().into_iter().flatten().map(key).collect();
    for list in [&mut expected, &mut reading_changes] {
        list.sort_by_key(|change| format!("{change:?}"));
    }
    assert_eq!(reading_changes, expected, "{treatment}: {own_result}");
    let recommendation = |result: &Value| result["summary"]["recommended"].clone();
    if let (Some(a), Some(b)) = (recommendation(own_result).as_str(), recommendation(other_result).as_str()) {
        let headline = own_result["summary"]["headline"].as_str().expect("a headline");
        assert!(a == b || headline.contains(&format!("it is {b}.")), "{a}, {treatment}: {b}\n{headline}");
    }
    // A gain that is clear by no mean under the other treatment puts the recommendation in doubt.
    if let Some(name) = recommendation(own_result).as_str() {
        let better = |result: &Value| -> Vec<Value> {
            let policy = policies(result).into_iter().find(|policy| policy["name"] == name).expect("compared");
            let changes = policy["changes"].as_array().cloned().unwrap_or_default();
            let mean =
                |change: &Value| ["wait", "bounded_slowdown"].iter().any(|mean| change["metric"]["mean"] == *mean);
            let better = changes.into_iter().filter(|change| mean(change) && change["verdict"] == "better");
            better.map(|change| change["metric"].clone()).collect()
        };
        let metrics = better(other_result);
        let has_lost = better(own_result).iter().all(|metric| !metrics.contains(metric));
        let word = if treatment == "kill" {
            "killed"
        } else if treatment == "raise" {
            "raised"
        } else {
            "run on"
        };
        let doubts = own_result["summary"]["doubts"].as_array().expect("doubts");
        let is_in_doubt = doubts.iter().any(|doubt| doubt.as_str().is_some_and(|text| text.contains(word)));
        assert_eq!(is_in_doubt, has_lost, "{name}, {treatment}: {doubts:?}");
    }
    expected.len()
}

/// Months overlap in the log's time once jobs wait, but not on one machine.
#[test]
fn months_that_are_simulated_apart_use_no_more_than_the_machine() {
    // A day's work arrives on the last day of January and on the first of February, for as many
    // processors as there are.
    let jobs =
        |first: i64, day: i64| (0..24).map(move |k| line(first + k, day * 86_400 + 3_600 * k, 10_800, 8, 10_800));
    let log: String = jobs(1, 30).chain(jobs(25, 31)).collect();
    let folder = Folder::with("log.swf", format!("; UnixStartTime: 0\n; MaxProcs: 8\n{log}"));
    let args = ["compare", "-w", "log.swf", "-p", "easy", "-p", "fcfs", "--format", "json"];
    let month = "/results/0/report/machine";
    for (more, expected) in [(&[][..], 1.0), (&["--each-month"], 1.0)] {
        let json = folder.run(&[&args[..], more].concat()).json();
        let machine = json.pointer(month).expect("a machine");
        assert_eq!(machine["utilisation"], expected, "{more:?}");
        assert_eq!(machine["period_utilisation"], 1.0, "{more:?}");
    }
}

/// After an interrupt the results of the policies that are done stay.
#[cfg(unix)]
#[test]
fn an_interrupted_comparison_tells_what_is_done() {
    let folder = Folder::new();
    let deep = ["workload", "generate", "--procs", "128", "--load", "1.05", "--jobs", "20000", "--out", "deep.swf"];
    folder.run(&deep).ok();
    // The search takes hours.
    let run_until = |policies: &[&str], more: &[&str], after: u64| {
        let args = [
            &["compare", "-w", "deep.swf", "--threads", "1", "--format", "json", "--report", "r.html"],
            more,
            policies,
        ];
        let mut command = folder.command(&args.concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        wait_for_handlers(&mut child);
        sleep(Duration::from_secs(after));
        send(&child, "INT");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(130));
        output
    };
    let search = "goal(nodes=1000000)";
    let old = ["r.html", "plots/wait.svg"];
    assert!(run_until(&["-p", search], &[], 1).stdout.is_empty());
    assert_eq!(folder.names(), ["deep.swf"]);
    let policies = ["-p", "fcfs", "-p", "easy", "-p", search];
    // Later and later, until it is long enough on a slow machine as well.
    let told_by = |more: &[&str]| {
        let mut outputs = (1..).map(|doublings| run_until(&policies, more, 1 << doublings));
        outputs.find(|output| !output.stdout.is_empty()).expect("one of three is done at last")
    };
    let output = told_by(&[]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results = json["results"].as_array().expect("results");
    let texts: Vec<&str> = results.iter().filter_map(|r| r["policy"]["text"].as_str()).collect();
    // The baseline comes first.
    assert!(texts == ["fcfs", "easy"] || texts == ["easy"], "{texts:?}");
    let missing: Vec<&str> = ["fcfs", "easy", search].into_iter().filter(|text| !texts.contains(text)).collect();
    let note = format!("interrupted: left out {}. One of these policies might be better.", missing.join(", "));
    let verdict = json["verdict"].as_array().expect("sentences");
    assert_eq!(verdict.last().and_then(|v| v.as_str()), Some(note.as_str()));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("note: {note}")));
    assert!(folder.read("r.html").contains(&note));
    // What was there before may be whole.
    std::fs::create_dir(folder.path("plots")).expect("made");
    old.iter().for_each(|name| folder.write(name, "whole"));
    let err = String::from_utf8(told_by(&["--plots", "plots"]).stderr).expect("text");
    assert!(err.contains("warning: r.html is unchanged: the new result lacks parts"), "{err}");
    assert!(err.contains("warning: the plots in plots are left as they were"), "{err}");
    assert!(old.iter().all(|name| folder.read(name) == "whole"));
    assert_eq!(std::fs::read_dir(folder.path("plots")).expect("a folder").count(), 1);
}

/// A policy that is best by one mean and worse by the other leads no list: it is shown apart, with
/// its price.
#[test]
fn a_verdict_names_the_price() {
    let folder = Folder::new();
    let generation = ["workload", "generate", "--procs", "64", "--load", "0.7", "--jobs", "30000", "--seed", "3"];
    folder.run(&[&generation[..], &["--quiet", "--out", "made.swf"]].concat()).ok();
    let text = folder.run(&["compare", "made.swf", "-p", "easy", "-p", "is", "--details"]).ok();
    let json = folder.run(&["compare", "made.swf", "-p", "easy", "-p", "is", "--format", "json"]).json();
    let changes = json.pointer("/comparison/policies/0/changes").and_then(|c| c.as_array()).expect("changes");
    let verdict = |measure: &str| {
        let change = changes.iter().find(|c| c["metric"] == serde_json::json!({ "mean": measure }));
        change.and_then(|c| c["verdict"].as_str()).expect("a verdict").to_string()
    };
    assert_eq!([verdict("wait"), verdict("bounded_slowdown")], ["worse", "better"]);
    assert!(!text.contains("Clearly better than easy"), "{text}");
    assert!(text.contains("Not recommended despite a lower mean: is (mean bounded slowdown -"), "{text}");
    assert!(text.contains(", but mean wait +"), "{text}");
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    let folder = Folder::new();
    for format in ["table", "json", "csv", "markdown"] {
        let run =
            |threads| folder.run(&["compare", "--quiet", "--threads", threads, "--format", format, "--take", "2000"]);
        let (single, two) = (run("1").ok(), run("2").ok());
        assert!(!single.is_empty());
        assert_eq!(single, two, "{format}");
        assert_eq!(two, run("7").ok(), "{format}");
    }
}

/// Load curves are printed as well; an impossible interval is reported before anything is
/// simulated.
#[test]
fn other_loads_are_in_the_tables() {
    let folder = Folder::with("log.swf", four());
    let args = ["compare", "-w", "log.swf", "-p", "easy", "-p", "fcfs", "--loads", "1,2"];
    for format in ["table", "markdown"] {
        let text = folder.run(&[&args[..], &["--format", format]].concat()).ok();
        assert!(text.contains("At other loads"), "{text}");
        let at_double: Vec<&str> = text.lines().filter(|l| l.trim_start_matches("| ").starts_with("2 ")).collect();
        assert_eq!(at_double.len(), 2, "{text}");
    }
    // What is called utilisation is that of the table of policies, not the one of the makespan.
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    let machine = &json["results"][0]["report"]["machine"];
    assert_eq!(json["loads"][0]["utilisation"], machine["period_utilisation"]);
    assert_ne!(machine["utilisation"], machine["period_utilisation"]);
    // As rows with their own load factor, with no other columns than those of the policies; factor
    // 1 is the policies' own row.
    let csv = folder.run(&[&args[..], &["--format", "csv"]].concat());
    assert!(!csv.err.contains("CSV has"), "{}", csv.err);
    let mut read = csv::Reader::from_reader(csv.out.as_bytes());
    let columns: Vec<String> = read.headers().expect("a header").iter().map(str::to_string).collect();
    let rows: Vec<csv::StringRecord> = read.records().map(|row| row.expect("a row")).collect();
    let value = |row: usize, name: &str| &rows[row][columns.iter().position(|c| c == name).expect("a column")];
    let at: Vec<(&str, &str)> = (0..rows.len()).map(|row| (value(row, "policy"), value(row, "load_factor"))).collect();
    assert_eq!(at, [("easy", "1"), ("fcfs", "1"), ("easy", "2"), ("fcfs", "2")]);
    for (row, point) in json["loads"].as_array().expect("points").iter().enumerate() {
        for (column, key) in [
            ("offered_load", "load"),
            ("wait_mean", "wait"),
            ("bounded_slowdown_mean", "bounded_slowdown"),
            ("period_utilisation", "utilisation"),
        ] {
            assert_eq!(value(row, column).parse().ok(), point[key].as_f64(), "{row} {column}");
        }
    }
    assert_eq!((value(0, "wait_max").is_empty(), value(2, "wait_max")), (false, ""));
    let without = folder.run(&["compare", "-w", "log.swf", "-p", "easy", "--format", "csv"]).ok();
    assert!(!without.contains("load_factor"), "{without}");
    // The classes are rows, at each load: together they have the jobs and waits of their policy.
    let csv = folder.run(&[&args[..], &["--by", "sixteen", "--format", "csv"]].concat());
    assert!(!csv.err.contains("CSV has"), "{}", csv.err);
    let mut read = csv::Reader::from_reader(csv.out.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = read.deserialize().map(|row| row.expect("a row")).collect();
    for whole in rows.iter().filter(|row| row["category"].is_empty() && row["load_factor"] == "1") {
        let own = rows.iter().filter(|row| row["policy"] == whole["policy"] && row["load_factor"].is_empty());
        let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().expect("a number");
        let waits: Vec<(f64, f64)> = own.map(|row| (number(row, "jobs_counted"), number(row, "wait_mean"))).collect();
        let (jobs, wait) = (number(whole, "jobs_counted"), number(whole, "wait_mean"));
        assert!(waits.len() > 1 && waits.iter().map(|class| class.0).sum::<f64>() == jobs, "{waits:?}");
        let sum: f64 = waits.iter().map(|(jobs, wait)| jobs * wait).sum();
        assert!((sum - jobs * wait).abs() < 1e-9 * (1.0 + sum), "{sum} {jobs} {wait}");
    }
    assert!(rows.iter().any(|row| row["scheme"] == "sixteen" && row["load_factor"] == "2"));
    // In the same seconds other jobs arrive; and months are no months then.
    let error = folder.run(&[&args[..], &["--trim", "submitted(0,20)"]].concat()).fails(2);
    assert!(error.contains("--trim submitted(FROM,UNTIL) does not go with --loads"), "{error}");
    for command in ["run", "compare"] {
        let error = folder.run(&[command, "-w", "log.swf", "-p", "easy", "--load", "2", "--by", "month"]).fails(2);
        assert!(error.contains("--by month does not go with --load"), "{error}");
        folder.run(&[command, "-w", "log.swf", "-p", "easy", "--load", "1", "--by", "month"]).ok();
    }
    let error = folder.run(&["compare", "-w", "log.swf", "--confidence", "95"]).fails(2);
    assert!(error.contains("expected a number between 0 and 1"), "{error}");
}

/// One job in January 1970 and two in February, at 35 and 36 days: at twice the load February still
/// has these two, from 17.5 days on. Scaled before the cut they would be in January.
#[test]
fn the_load_of_a_month_is_that_months() {
    let day = 86_400;
    let jobs = [line(1, 5 * day, 100, 3, 100), line(2, 35 * day, 50, 4, 50), line(3, 36 * day, 30, 1, 60)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n; UnixStartTime: 0\n{}", jobs.concat()));
    let run = ["run", "-w", "log.swf", "--policy", "easy", "--load", "2", "--jobs", "jobs.csv"];
    for cut in [["--month", "1970-02"], ["--slice", "3000000.."]] {
        folder.run(&[&run[..], &cut].concat()).ok();
        let submits: Vec<String> = folder.read("jobs.csv").lines().skip(1).map(submit).collect();
        assert_eq!(submits, [(35 * day / 2).to_string(), (36 * day / 2).to_string()], "{cut:?}");
        folder.run(&[&run[..], &cut, &["--shift"]].concat()).ok();
        let submits: Vec<String> = folder.read("jobs.csv").lines().skip(1).map(submit).collect();
        assert_eq!(submits, ["0".to_string(), (day / 2).to_string()], "{cut:?}");
    }
    assert_eq!(folder.run(&[&run[..], &["--each-month"]].concat()).code, 2);
}

fn submit(row: &str) -> String {
    row.split(',').nth(1).unwrap_or_default().to_string()
}

#[test]
fn another_seed_gives_another_workload() {
    let folder = Folder::new();
    let hash = |seed| {
        let args = ["compare", "-p", "fcfs", "--format", "json", "--seed", seed, "--take", "100"];
        folder.run(&args).json()["workload"]["hash"].to_string()
    };
    assert_eq!(hash("1"), hash("1"));
    assert_ne!(hash("1"), hash("2"));
}

#[test]
fn the_baseline_is_the_one_asked_for() {
    let folder = Folder::with("log.swf", four());
    let baseline = |args: &[&str]| {
        let mut words = vec!["compare", "-w", "log.swf", "--format", "json"];
        words.extend(args);
        folder.run(&words).json()["baseline"].as_str().map(str::to_string)
    };
    assert_eq!(baseline(&["-p", "fcfs", "-p", "easy"]).as_deref(), Some("easy"));
    assert_eq!(baseline(&["-p", "fcfs", "-p", "greedy"]).as_deref(), Some("fcfs"));
    assert_eq!(baseline(&["-p", "fcfs", "--baseline", "conservative"]).as_deref(), Some("conservative"));
    // In the variant of a study it still is the same policy.
    assert_eq!(baseline(&["-p", "fcfs", "-p", "easy", "--as", "tsafrir2007"]).as_deref(), Some("easy@tsafrir2007"));
}

#[test]
fn the_tables_of_a_small_comparison() {
    let folder = Folder::with("log.swf", four());
    let args = ["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "-p", "conservative", "--by", "estimate"];
    insta::assert_snapshot!(folder.run(&args).ok());
    insta::assert_snapshot!(
        "the_details_of_a_small_comparison",
        folder.run(&[&args[..], &["--details"]].concat()).ok()
    );
}

#[test]
fn speed_is_told_apart_from_the_results() {
    let folder = Folder::with("log.swf", four());
    let run = |args: &[&str]| {
        let mut words = vec!["compare", "-w", "log.swf", "-p", "fcfs"];
        words.extend(args);
        folder.run(&words)
    };
    let plain = run(&[]);
    assert!(!plain.err.contains("jobs/s"), "{}", plain.err);
    assert!(!plain.out.contains("jobs/s"), "{}", plain.out);
    assert!(run(&["--timing"]).ok().contains("jobs/s"));
    assert!(run(&["--timing", "--format", "json"]).json()["results"][0]["timing"]["jobs_per_second"].is_f64());
    assert_eq!(run(&["--quiet"]).err, "");
}

/// Trimming depends on the schedule: no policy's count represents all.
#[test]
fn each_policy_may_count_other_jobs() {
    // Of the three the last to arrive decides: under FCFS job 3 waits for job 2 and ends after it,
    // under EASY it overtakes.
    let jobs = [line(1, 0, 100, 3, 100), line(2, 10, 50, 4, 50), line(3, 20, 30, 1, 60), line(4, 145, 1, 1, 1)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let count_jobs = |policies: [&str; 2]| {
        let args = ["compare", "-w", "log.swf", "--trim", "tsafrir", "--details", "-p", policies[0], "-p", policies[1]];
        let out = folder.run(&args).ok();
        out.lines().find_map(|l| l.strip_prefix("jobs that count")).expect("it is said").trim().to_string()
    };
    // FCFS: 1 ends at 100, 2 from 100 to 150, 3 and 4 after it. EASY: 3 from 20 to 50.
    let range = "1 to 2 of 4, under each policy those that its schedule leaves";
    assert_eq!([count_jobs(["fcfs", "easy"]), count_jobs(["easy", "fcfs"])], [range, range]);
    assert_eq!(count_jobs(["easy", "easy(backfill=sjf)"]), "2 of 4; left out: 0 early, 2 late, 0 by status");
}

/// The third job overtakes under EASY and does not wait; under FCFS it waits for 198 s. Where
/// nothing is the baseline's, no change has a ratio, but a verdict.
#[test]
fn no_policy_is_better_than_a_baseline_under_which_no_job_waits() {
    let jobs = [line(1, 0, 100, 3, 100), line(2, 1, 100, 4, 100), line(3, 2, 50, 1, 50)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let args =
        ["compare", "-w", "log.swf", "-p", "easy", "-p", "fcfs", "--baseline", "easy", "--trim", "submitted(2,3)"];
    let text = folder.run(&[&args[..], &["--details"]].concat()).ok();
    assert!(text.contains("By mean wait, no policy is better than easy."), "{text}");
}

/// Waits beyond a number of seconds, and beyond those of the baseline, as the schedule has them.
#[test]
fn excessive_waits_are_those_of_the_schedule() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "400", "--load", "1.1", "-o", "log.swf"]).ok();
    let simulate = |command: &str, more: &[&str]| folder.run(&[&[command, "-w", "log.swf", "-q"], more].concat());
    let policies = ["-p", "fcfs", "-p", "easy", "--baseline", "fcfs"];
    let excess = ["--excess", "3600", "--excess", "baseline-max", "--excess", "baseline-p98"];
    let comparison = simulate("compare", &[&policies[..], &excess, &["--format", "json"]].concat()).json();
    let mut longest = 0;
    for result in comparison["results"].as_array().expect("a list") {
        let policy = result["policy"]["text"].as_str().expect("a text");
        let schedule = simulate("run", &["-p", policy, "--jobs", "jobs.csv", "--excess", "3600", "--format", "csv"]);
        let waits: Vec<i64> = folder
            .read("jobs.csv")
            .lines()
            .skip(1)
            .map(|row| {
                let fields: Vec<i64> = row.split(',').take(3).map(|f| f.parse().expect("a number")).collect();
                fields[2] - fields[1]
            })
            .collect();
        assert_eq!(waits.len(), 400);
        for (at, excess) in result["report"]["excessive"].as_array().expect("a list").iter().enumerate() {
            let threshold = excess["threshold"].as_i64().expect("a number");
            let beyond: Vec<i64> = waits.iter().map(|wait| wait - threshold).filter(|&w| w > 0).collect();
            assert_eq!(excess["count"], beyond.len(), "{policy}: {threshold}");
            assert_eq!(excess["total"].as_f64(), Some(beyond.iter().sum::<i64>() as f64));
            match (at, policy) {
                (0, _) => {
                    assert!(threshold == 3600 && !beyond.is_empty());
                    let (header, row) = schedule.out.split_once('\n').expect("a row");
                    // From the end: texts before it may have commas.
                    let columns = header.trim().rsplit(',').zip(row.trim().rsplit(','));
                    let column = |name| columns.clone().find(|c| c.0 == name).expect(name).1.to_string();
                    assert_eq!(column("excess_1_threshold"), "3600");
                    assert_eq!(column("excess_1_jobs"), beyond.len().to_string());
                }
                (1, "fcfs") => {
                    longest = threshold;
                    assert_eq!(waits.iter().max(), Some(&threshold));
                }
                (1, _) => assert_eq!(threshold, longest, "the baseline's"),
                (_, "fcfs") => assert_eq!(beyond.len(), 8, "2 % of 400"),
                _ => {}
            }
        }
    }
    let table = simulate("compare", &[&policies[..], &excess].concat()).ok();
    assert_eq!(table.matches("Waits beyond ").count(), 3, "{table}");
    assert!(table.contains("Waits beyond 60.0 min"), "{table}");
    let err = simulate("run", &["-p", "easy", "--excess", "baseline-max"]).fails(2);
    assert!(err.contains("--excess baseline-max: a single policy has no baseline"), "{err}");
    let text = simulate("run", &["-p", "easy", "--excess", "0", "--excess", "99999999"]).ok();
    assert!(text.contains("waits beyond 0 s ") && text.contains("waits beyond 1,157.4 days"), "{text}");
}

/// If run times serve as the estimates of more than a tenth of the jobs, nothing is recommended,
/// and the first line says why; estimates made up by a model are reported.
#[test]
fn run_times_for_estimates_leave_nothing_to_recommend() {
    let log = |missing: i64| -> String {
        let jobs = (1..=40).map(|n| line(n, 10 * n, 300 + 90 * (n % 7), 3, if n <= missing { -1 } else { 1_000 }));
        std::iter::once("; MaxProcs: 4\n".to_string()).chain(jobs).collect()
    };
    let verdict = |missing: i64, more: &[&str]| -> Vec<String> {
        let folder = Folder::with("log.swf", log(missing));
        let args =
            [&["compare", "-w", "log.swf", "-p", "easy", "-p", "easy-sjbf", "--format", "json"][..], more].concat();
        let json: serde_json::Value = serde_json::from_str(&folder.run(&args).ok()).expect("JSON");
        assert!(missing < 5 || !more.is_empty() || json["summary"]["recommended"].is_null());
        let sentences = json["verdict"].as_array().expect("sentences");
        sentences.iter().map(|sentence| sentence.as_str().expect("text").to_string()).collect()
    };
    assert!(verdict(5, &[])[0].contains("no policy that plans with estimates is recommended"), "{:?}", verdict(5, &[]));
    assert!(!verdict(4, &[])[0].contains("no policy that plans with estimates"));
    for model in ["tsafrir", "factor(2)", "user-mean"] {
        let verdict_lines = verdict(40, &["--estimates", model]);
        assert!(
            verdict_lines.iter().any(|t| t.contains(&format!("are made up by the model {model}"))),
            "{verdict_lines:?}"
        );
    }
}
