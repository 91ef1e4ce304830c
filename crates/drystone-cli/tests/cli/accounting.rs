//! Output of `import`, `fidelity` and `waits` on a small site, word by word, and the shape of their
//! JSON; stories of its jobs.

use crate::common::Folder;
use serde_json::Value;
use std::fmt::Write;

/// A fortnight of a machine of two nodes, in Berlin: every hour a job of 4 of 8 processors for
/// three hours, by turns of three users; arrays, one row with `|` in its features, one that never
/// ran.
fn dump() -> String {
    let mut text = "JobIDRaw|JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|Reason|Constraints|\
                    ReqCPUS|AllocCPUS|NNodes|NodeList\n"
        .to_string();
    // Free from, of each slot of four processors.
    let mut free = [0_i64; 4];
    for hour in 0..336_i64 {
        let submit = 1_740_783_600 + hour * 3_600;
        let slot = (0..4).min_by_key(|&slot| (free[slot], slot)).unwrap_or(0);
        let run = 9_000 + hour % 5 * 3_600;
        let start = submit.max(free[slot]);
        free[slot] = start + run;
        let (user, account) = [("ada", "physics"), ("bob", "biology"), ("eve", "physics")][hour as usize % 3];
        let id = if hour % 7 == 3 { format!("102_{hour}") } else { (1_000 + hour).to_string() };
        let features = if hour % 11 == 5 { "gold|silver" } else { "" };
        let _ = writeln!(
            text,
            "{}|{id}|{user}|{account}|batch|{submit}|{submit}|{start}|{}|{run}|480|COMPLETED|Priority|{features}|4|4|1|n{}",
            1_000 + hour,
            start + run,
            slot / 2 + 1
        );
    }
    text.push_str("9000|9000|eve|physics|batch|1740790000|1740790000|1740795000|1740795000|0|60|CANCELLED by 7|None||4|0|0|None assigned\n");
    text
}

pub(crate) fn site() -> Folder {
    let folder = Folder::with("jobs.psv", dump());
    folder.write(
        "slurm.conf",
        "ClusterName=small\nNodeName=n[1-2] CPUs=8\nPartitionName=batch Nodes=ALL MaxTime=1-0 State=UP\n",
    );
    let ran =
        folder.run(&["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "Europe/Berlin", "--out", "site"]);
    ran.ok();
    folder
}

/// The keys of a document, each with what it holds: of a list its first element.
fn shape(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let holds = match value {
                    Value::Object(_) => "map",
                    Value::Array(_) => "list",
                    Value::String(_) => "text",
                    Value::Number(_) => "number",
                    Value::Bool(_) => "truth",
                    Value::Null => "nothing",
                };
                let _ = writeln!(out, "{indent}{key}: {holds}");
                shape(value, depth + 1, out);
            }
        }
        Value::Array(list) => {
            if let Some(first) = list.first() {
                shape(first, depth, out);
            }
        }
        _ => {}
    }
}

fn shape_of(value: &Value) -> String {
    let mut out = String::new();
    shape(value, 0, &mut out);
    out
}

/// The time that a part of a site is over is its own, and so is the load: of the second week 168
/// jobs, which have a quarter of the machine each.
#[test]
fn a_part_of_a_site_has_its_own_load() {
    let folder = site();
    let workload = |slice: &str| {
        let json = folder.run(&["run", "site", "-p", "easy", "--slice", slice, "--format", "json", "--quiet"]).json();
        json["workload"].clone()
    };
    let whole = folder.run(&["run", "site", "-p", "easy", "--format", "json", "--quiet"]).json();
    assert!(whole["workload"]["window"].is_i64(), "{whole}");
    let second = whole["workload"]["first_submit"].as_i64().expect("a second") + 168 * 3_600;
    let part = workload(&format!("{second}.."));
    let work: i64 = (168..336).map(|hour| 9_000 + hour % 5 * 3_600).sum();
    let expected = work as f64 / (167.0 * 3_600.0) / 4.0;
    let load = part["load"].as_f64().expect("a load");
    assert!(part["window"].is_null() && (load - expected).abs() < 1e-9, "{load} {expected}");
}

#[test]
fn an_import_says_what_it_did() {
    let folder = site();
    let args =
        ["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "Europe/Berlin", "--out", "site", "--quiet"];
    insta::assert_snapshot!("import", folder.run(&[&args[..], &["--details"]].concat()).ok());
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    insta::assert_snapshot!("import_json", shape_of(&json));
    insta::assert_snapshot!("import_ask", folder.run(&["import", "--ask"]).ok());
    let period = ["import", "--ask", "--from", "2026-05-01 06:00", "--until", "2026-06-01"];
    assert!(folder.run(&period).ok().contains("\nFROM=2026-05-01T06:00 UNTIL=2026-06-01\n"));
}

#[test]
fn a_fidelity_ends_in_one_sentence() {
    let folder = site();
    let args = ["fidelity", "site", "--policy", "easy", "--seeds", "2", "--warm-up", "0", "--quiet"];
    let text = folder.run(&args).ok();
    assert!(text.contains("\nVerdict  "), "{text}");
    insta::assert_snapshot!("fidelity", text);
    let whole = folder.run(&[&args[..], &["--details"]].concat()).ok();
    assert!(whole.contains("Verdict: "), "{whole}");
    insta::assert_snapshot!("fidelity_details", whole);
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    insta::assert_snapshot!("fidelity_json", shape_of(&json));
}

#[test]
fn waits_are_shown_as_they_were() {
    let folder = site();
    let args = ["waits", "site", "--by", "account,user,size,hour,gpu,reason", "--quiet"];
    insta::assert_snapshot!("waits", folder.run(&[&args[..], &["--top", "30"]].concat()).ok());
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    insta::assert_snapshot!("waits_json", shape_of(&json));
    assert_eq!(json["all"]["jobs"], 336);
    assert_eq!(json["week"]["queue"].as_array().map(Vec::len), Some(168));
    let csv = folder.run(&["waits", "site", "--format", "csv", "--quiet"]).ok();
    assert!(csv.starts_with("site,by,group,jobs,mean_wait_s,") && csv.contains("small,account,physics,224,"), "{csv}");
    // From a date of the site on; a page with plots; what cannot be.
    let since = folder.run(&["waits", "site", "--since", "2025-03-10", "--format", "json", "--quiet"]).json();
    assert_eq!(since["from"], 1_741_561_200);
    folder.run(&["waits", "site", "--report", "waits.html", "--quiet"]).ok();
    let page = folder.read("waits.html");
    assert!(page.contains("<svg") && page.contains("Waits by account"), "no plots");
    assert!(folder.run(&["waits", "site", "--since", "soon"]).fails(2).contains("--since soon"));
    assert!(folder.run(&["waits", "site", "--by", "colour"]).fails(2).contains("possible values"));
}

#[test]
fn a_story_of_a_site_has_its_dates_and_names() {
    let folder = site();
    let args = ["explain", "--job", "102_10", "--policy", "easy", "--workload", "site", "--no-what-if", "--quiet"];
    let story = folder.run(&args).ok();
    insta::assert_snapshot!("explain_site", story);
    let first = story.lines().next().unwrap_or_default();
    assert!(first.starts_with("job 102_10: ") && first.contains("2025-03-01 10:00"), "{story}");
    assert!(story.contains("recorded: it started at 2025-03-01 "), "{story}");
    // The obstacles are also given by dates and names.
    let why_args: Vec<&str> = args.iter().map(|arg| if *arg == "--no-what-if" { "--why-not" } else { *arg }).collect();
    let obstacles = folder.run(&why_args).ok();
    assert!(obstacles.contains("\n  from 2025-03-01 ") && !obstacles.contains("after it came"), "{obstacles}");
    let error = folder.run(&["explain", "--job", "102_999", "--policy", "easy", "--workload", "site"]).fails(2);
    assert!(error.contains("the site has no job 102_999"), "{error}");
}

#[test]
fn nothing_is_claimed_of_waits_where_submissions_are_unknown() {
    let folder = Folder::with(
        "jobs.psv",
        "JobID|User|Start|End|State|NCPUS|TimelimitRaw\n1|ada|1700000000|1700003600|COMPLETED|4|90\n2|bob|1700000600|1700003600|COMPLETED|4|90\n",
    );
    let ran = folder.run(&["import", "jobs.psv", "--out", "site"]);
    assert!(ran.err.contains("submission is unknown"), "{}", ran.err);
    ran.ok();
    for args in [
        &["fidelity", "site"][..],
        &["compare", "--workload", "site", "--policy", "easy", "--policy", "fcfs"],
        &["run", "--workload", "site", "--policy", "easy"],
        &["explain", "--workload", "site", "--policy", "easy", "--job", "1"],
    ] {
        let error = folder.run(args).fails(2);
        assert!(error.contains("does not say when jobs were submitted"), "{args:?}: {error}");
    }
    let text = folder.run(&["waits", "site", "--quiet"]).ok();
    assert!(text.contains("nothing can be said of waits") && !text.contains("p95"), "{text}");
}

/// A replay says little of a policy on a machine on which hardly any job waits.
#[test]
fn a_verdict_claims_nothing_where_hardly_any_job_waits() {
    // A machine of four processors: a job of one every ten minutes for five, and at the end two of
    // all that wait for each other.
    let head = "JobID|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS|NodeList\n";
    let row = |id: i64, submit: i64, start: i64, end: i64, cpus: u32| {
        format!("{id}|ada|p|{submit}|{submit}|{start}|{end}|COMPLETED|60|{cpus}|n1\n")
    };
    let begin = 1_700_000_000;
    let mut text = head.to_string();
    for i in 0..600 {
        let at = begin + i * 600;
        text += &row(i + 1, at, at, at + 300, 1);
    }
    for i in 0..6 {
        let at = begin + 600 * 600 + i;
        text += &row(1_000 + i, at, at + i * 1_200, at + i * 1_200 + 1_190, 4);
    }
    let folder = Folder::with("jobs.psv", text);
    folder.write("slurm.conf", "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES\n");
    folder.run(&["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site"]).ok();
    let text = folder.run(&["fidelity", "site", "--policy", "conservative", "--seeds", "1", "--quiet"]).ok();
    assert!(text.contains("most jobs do not wait here") && !text.contains("stands for this site"), "{text}");
}

#[test]
fn the_line_that_an_import_prints_is_taken_as_it_is_printed() {
    let rows = "ann,1001,2024-03-01T10:00:00,2024-03-01T10:01:00,2024-03-01T11:00:00,4,x y,COMPLETED\n\
                ann,1002,2024-03-01T10:05:00,2024-03-01T10:06:00,2024-03-01T11:10:00,8,x z,FAILED\n";
    let rows = rows.replace("ann,", "an n,");
    let folder = Folder::with("jobs.csv", rows);
    let error = folder.run(&["import", "jobs.csv", "--timezone", "UTC", "--out", "site"]).fails(2);
    let line = error.split("--columns '").nth(1).and_then(|rest| rest.split('\'').next()).expect("a line");
    assert!(line.starts_with("-,JobID,Submit,Start,End,AllocCPUS,") && error.lines().count() <= 5, "{error}");
    let text = folder.run(&["import", "jobs.csv", "--timezone", "UTC", "--columns", line, "--out", "site"]).ok();
    assert!(text.contains("2 jobs"), "{text}");
    let twice = ["import", "jobs.csv", "--columns", "JobID,Start,Start", "--out", "site"];
    assert!(folder.run(&twice).fails(2).contains("`Start` is named twice"));
}

/// Times without a zone are a part of the line, and a question; times in seconds are not.
#[test]
fn the_printed_line_has_the_zone_that_times_lack() {
    let xdmod = "7|7|c|p|q|a|g|5|u|6|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T13:00:00|01:00:00|0:0|COMPLETED|1|4|4|\
                 4Gn|cpu=4|cpu=4|1-00:00:00|n1|a|b\n";
    let named_columns = "job,owner,queued_at,begin,finish,n_cores\n7,ann,2026-01-31 12:00:00,2026-01-31 12:01:00,2026-01-31 13:00:00,4\n\
                 8,bob,2026-01-31 12:05:00,2026-01-31 12:06:00,2026-01-31 13:10:00,8\n";
    let seconds = "job,owner,queued_at,begin,finish,n_cores\n7,ann,1769860800,1769860860,1769864400,4\n8,bob,1769861100,1769861160,1769865000,8\n";
    for (text, lacks_zone) in [(xdmod, true), (named_columns, true), (seconds, false)] {
        let folder = Folder::with("jobs.txt", text);
        let error = folder.run(&["import", "jobs.txt", "--out", "site"]).fails(2);
        assert_eq!(error.contains("are its times in UTC"), lacks_zone, "{error}");
        let line = error.split("add to the command: ").nth(1).and_then(|rest| rest.lines().next()).expect("a line");
        assert_eq!(line.ends_with(" --timezone UTC"), lacks_zone, "{error}");
        let words = line.split(' ').map(|word| word.trim_matches('\''));
        let command: Vec<&str> = ["import", "jobs.txt", "--out", "site"].into_iter().chain(words).collect();
        folder.run(&command).ok();
    }
}

#[test]
fn a_part_of_a_site_is_not_taken_for_the_whole() {
    let row = |id: u32, partition: &str, node: &str| {
        format!("{id}|a|{partition}|1700000000|1700000000|1700000{id}|1700003600|COMPLETED|60|4|{node}\n")
    };
    let text = format!(
        "JobIDRaw|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS|NodeList\n{}{}{}",
        row(100, "big", "b1"),
        row(200, "big", "b1"),
        row(300, "small", "s1")
    );
    let folder = Folder::with("jobs.psv", text);
    folder.run(&["import", "jobs.psv", "--out", "site"]).ok();
    for args in [&["workload", "info", "site"][..], &["workload", "convert", "site", "--out", "site.swf"]] {
        let error = folder.run(args).fails(1);
        assert!(error.contains("2 of 3 jobs: pool big; site#big reads it") && error.contains("small"), "{error}");
    }
    folder.run(&["workload", "convert", "site#small", "--out", "small.swf"]).ok();
}

#[test]
fn a_few_unknown_submissions_leave_the_others_to_be_judged() {
    let row = |n: u32| {
        let submit = if n.is_multiple_of(50) { String::new() } else { (1_700_000_000 + n * 100).to_string() };
        format!("{n},a,{submit},{submit},{},{},60,4,COMPLETED\n", 1_700_000_050 + n * 100, 1_700_000_650 + n * 100)
    };
    let rows: String = (1..=100).map(row).collect();
    let text = format!("JobIDRaw,User,Submit,Eligible,Start,End,TimelimitRaw,AllocCPUS,State\n{rows}");
    let folder = Folder::with("jobs.csv", text);
    folder.run(&["import", "jobs.csv", "--out", "site"]).ok();
    let ran = folder.run(&["fidelity", "site", "--warm-up", "0"]);
    assert!(ran.err.contains("the submission of 2 is unknown"), "{}", ran.err);
}
