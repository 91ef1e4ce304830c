//! `drystone run` where jobs are suspended: where and when they ran, and what the machine charges
//! for it.

use crate::common::{Folder, line};

/// On four processors, `ss(sf=2)` suspends job 1 for job 2 at second 120: the first whole minute at
/// which job 2, with a priority of (110 + 60) / 60, has twice that of job 1, which is 1. Job 3
/// comes while job 1 is suspended: it may not start on processors 2 and 3, which are free but
/// belong to job 1, and job 1 is too wide to be suspended for it.
fn jobs() -> [String; 3] {
    [line(1, 0, 600, 4, 600), line(2, 10, 60, 2, 60), line(3, 130, 10, 1, 10)]
}

fn folder(jobs: &[String]) -> Folder {
    Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()))
}

/// The rows of `--segments`, without the header.
fn segments(folder: &Folder, args: &[&str]) -> Vec<String> {
    let words = [&["run", "-w", "log.swf", "--quiet", "--segments", "out.csv"], args].concat();
    folder.run(&words).ok();
    let csv = folder.read("out.csv");
    let mut lines = csv.lines().map(str::to_string);
    assert_eq!(lines.next().as_deref(), Some("job_id,start,end,procs,processors,then"));
    lines.collect()
}

/// Up to the last submit, at 130: job 1 holds four processors for 120 s and job 2 two for 10 s; job
/// 2 waits for 110 s and job 1, suspended, for 10 s, in which two processors are free.
#[test]
fn who_is_suspended_waits_and_uses_nothing() {
    let folder = folder(&jobs());
    let run = folder.run(&["run", "-w", "log.swf", "-p", "ss(sf=2)", "--format", "json", "--quiet"]).json();
    let queue = &run["report"]["queue"]["arriving"];
    let figures = [
        ("utilisation", run["report"]["machine"]["period_utilisation"].as_f64(), 500.0 / 520.0),
        ("waiting_jobs", queue["mean_waiting_jobs"].as_f64(), 120.0 / 130.0),
        ("loss_of_capacity", queue["loss_of_capacity"].as_f64(), 20.0 / 520.0),
    ];
    folder.write(
        "study.toml",
        "metrics = [\"utilisation\", \"waiting_jobs\", \"loss_of_capacity\"]\n[[workload]]\nfile = \"log.swf\"\n\
         [[policy]]\npolicy = \"ss(sf=2)\"\n",
    );
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let rows = folder.run(&["sweep", "query", "study.db", "SELECT * FROM result", "--format", "json"]).json();
    for (name, figure, expected) in figures {
        assert!(figure.is_some_and(|figure| (figure - expected).abs() < 1e-9), "{name}: {figure:?}, not {expected}");
        assert_eq!(rows[0][name].as_f64(), figure, "{name} of a sweep");
    }
}

/// A schedule as a log has the ends right: job 1 ends at 660 after 600 s on its processors, so that
/// it waited for 60 s. Of a job that the policy ends at its estimate it has what it ran.
#[test]
fn submit_wait_and_run_time_of_a_log_are_the_end() {
    let fields = |policy: &str, jobs: &[String]| {
        let folder = folder(jobs);
        folder.run(&["run", "-w", "log.swf", "-p", policy, "--jobs", "out.swf", "--quiet"]).ok();
        let log = folder.read("out.swf");
        let of = |line: &str| -> Vec<i64> {
            line.split_whitespace().skip(1).take(3).map(|f| f.parse().expect("a whole number")).collect()
        };
        log.lines().filter(|l| !l.starts_with(';')).map(of).collect::<Vec<_>>()
    };
    assert_eq!(fields("ss(sf=2)", &jobs()), [[0, 60, 600], [10, 110, 60], [130, 530, 10]]);
    let long = [line(1, 0, 900, 4, 600), line(2, 10, 60, 4, 60)];
    assert_eq!(fields("slack(tick=kill)", &long), [[0, 0, 600], [10, 590, 60]]);
}

#[test]
fn segments_show_who_ran_where_until_when() {
    let folder = folder(&jobs());
    // Job 1 has 480 of 600 s left when it goes on, on its own processors.
    let expected = [
        "1,0,120,4,\"0-3\",suspended",
        "1,180,660,4,\"0-3\",ended",
        "2,120,180,2,\"0-1\",ended",
        "3,660,670,1,\"0\",ended",
    ];
    assert_eq!(segments(&folder, &["-p", "ss(sf=2)"]), expected);
    // A policy that counts processors names none.
    let expected = ["1,0,600,4,,ended", "2,600,660,2,,ended", "3,600,610,1,,ended"];
    assert_eq!(segments(&folder, &["-p", "easy"]), expected);
}

#[test]
fn segments_are_of_one_simulation_without_stalls() {
    let folder = folder(&jobs());
    for option in ["--each-month", "--stalls"] {
        let run = folder.run(&["run", "-w", "log.swf", "-p", "ss", "--segments", "out.csv", option]);
        let error = run.fails(2);
        assert!(error.contains("--segments") && error.contains(option), "{error}");
    }
    assert_eq!(folder.names(), ["log.swf"]);
}

#[test]
fn a_platform_charges_for_suspensions() {
    let folder = folder(&jobs()[..2]);
    // 120 MB at 2 MB/s: a minute to write, another to read. Job 1 ends at 660 where suspension is
    // free.
    for (keys, first, second) in [
        ("", "1,180,720", "2,120,180"),
        ("pays = 'read'", "1,180,720", "2,120,180"),
        ("pays = 'both'", "1,180,780", "2,120,180"),
        ("rate = 4", "1,180,690", "2,120,180"),
        // Job 2 begins when the memory of job 1 is written, at 180; job 1 goes on at 240 and has
        // 480 s left.
        ("busy = true", "1,240,720", "2,120,240"),
    ] {
        folder.write("machine.toml", format!("[suspension]\nsmallest = 120\nlargest = 120\n{keys}\n"));
        let expected = [
            "1,0,120,4,\"0-3\",suspended".to_string(),
            format!("{first},4,\"0-3\",ended"),
            format!("{second},2,\"0-1\",ended"),
        ];
        assert_eq!(segments(&folder, &["-p", "ss(sf=2)", "--platform", "machine.toml"]), expected, "{keys}");
    }
    // Nothing is charged where no job is suspended, nor by a file that says nothing of suspension.
    let plain = segments(&folder, &["-p", "easy"]);
    assert_eq!(segments(&folder, &["-p", "easy", "--platform", "machine.toml"]), plain);
    let run = ["run", "-w", "log.swf", "--platform", "machine.toml", "-p"];
    let errors = |policy: &str| folder.run(&[&run[..], &[policy]].concat()).err;
    let note = "no counted job was suspended";
    assert!(errors("easy").contains(note) && !errors("ss(sf=2)").contains(note), "{}", errors("easy"));
    folder.write("machine.toml", "");
    let free = segments(&folder, &["-p", "ss(sf=2)"]);
    assert_eq!(segments(&folder, &["-p", "ss(sf=2)", "--platform", "machine.toml"]), free);
    assert_eq!(free[1], "1,180,660,4,\"0-3\",ended");
}

#[test]
fn results_name_the_platform_they_were_made_with() {
    let folder = folder(&jobs());
    folder.write("machine.toml", "[suspension]\nrate = 4\n");
    let run = |args: &[&str]| {
        let words = [&["run", "-w", "log.swf", "-p", "ss(sf=2)", "--format", "json"], args].concat();
        folder.run(&words).json()["experiment"]["platform"].clone()
    };
    assert!(run(&[]).is_null());
    let first = run(&["--platform", "machine.toml"]);
    assert_eq!(first["file"], "machine.toml");
    assert_eq!(first["text"], "[suspension]\nrate = 4\n", "the result holds what makes the file again");
    folder.write("long.toml", format!("# {}\n[suspension]\nrate = 4\n", "long ".repeat(4000)));
    let long = run(&["--platform", "long.toml"]);
    assert!(long["text"].is_null() && long["hash"].is_string());
    folder.write("machine.toml", "[suspension]\nrate = 5\n");
    assert_ne!(run(&["--platform", "machine.toml"])["hash"], first["hash"]);
}

#[test]
fn a_bad_platform_is_an_error_that_names_the_file() {
    let folder = folder(&jobs());
    for (text, parts) in [
        ("[suspension]\nspeed = 3\n", &["line 2", "speed = 3", "unknown field `speed`", "`rate`"][..]),
        ("[suspend]\nrate = 3\n", &["line 1", "unknown field `suspend`", "`suspension`"]),
        ("[suspension]\nrate = -1\n", &["[suspension] rate = -1 is not possible", "MB per second, from 0.000001"]),
        ("[suspension]\nrate = nan\n", &["rate = NaN is not possible"]),
        ("[suspension]\nsmallest = -1\n", &["line 2", "smallest = -1"]),
        ("[suspension]\nsmallest = 300\nlargest = 200\n", &["smallest = 300", "up to `largest`, which is 200"]),
        ("2 MB/s per processor\n", &["line 1", "2 MB/s per processor"]),
    ] {
        folder.write("machine.toml", text);
        for command in ["run", "compare"] {
            let error = folder.run(&[command, "-w", "log.swf", "-p", "ss", "--platform", "machine.toml"]).fails(2);
            assert!(error.starts_with("error: machine.toml: "), "{command}, {text}: {error}");
            for part in parts {
                assert!(error.contains(part), "{command}, {text}: {error}");
            }
        }
    }
    let error = folder.run(&["run", "-w", "log.swf", "-p", "ss", "--platform", "nowhere.toml"]).fails(2);
    assert!(error.contains("nowhere.toml: cannot be read"), "{error}");
}
