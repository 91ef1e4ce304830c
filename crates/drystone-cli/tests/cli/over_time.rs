//! Changes over time: `run --weeks`, `run --trace` and `workload info --transient`.

use crate::common::{Folder, line};
use serde_json::{Value, json};

/// Six jobs on eight processors: three at the start of the first week, three in the second. Run
/// times of the paper's classes 1, 2, 1, 4, 1, 2.
fn folder() -> Folder {
    let jobs = [
        line(1, 0, 50, 2, 50),
        line(2, 10, 500, 5, 500),
        line(3, 20, 100, 3, 100),
        line(4, 700_000, 20_000, 8, 20_000),
        line(5, 700_010, 10, 4, 10),
        line(6, 700_020, 200, 8, 200),
    ];
    Folder::with("log.swf", format!("; MaxProcs: 8\n{}", jobs.concat()))
}

#[test]
fn weeks_tell_how_each_class_fared() {
    let folder = folder();
    folder.run(&["run", "-w", "log.swf", "-p", "easy", "--quiet", "--weeks", "weeks.csv"]).ok();
    // Job 3 waits for job 1, from 20 to 50. Job 5 waits for job 4, from 700010 to 720000, and job 6
    // for job 5, from 700020 to
    // 720010. Slowdowns: job 3 1 + 30/100, job 5 1 + 19990/10, job 6 1 + 19990/200.
    let expected = "week,class,jobs,wait_mean,slowdown_mean\n\
        1,1,2,15,1.15\n1,2,1,0,1\n1,3,0,,\n1,4,0,,\n\
        2,1,1,19990,2000\n2,2,1,19990,100.95\n2,3,0,,\n2,4,1,0,1\n";
    assert_eq!(folder.read("weeks.csv"), expected);
}

#[test]
fn a_trace_is_what_the_policy_says_of_itself() {
    let folder = folder();
    let trace = |policy: &str| {
        folder.run(&["run", "-w", "log.swf", "-p", policy, "--quiet", "--trace", "trace.csv"]).ok();
        folder.read("trace.csv")
    };
    // Two processors for each queue. What a job lacks comes from idle ones of the other queues in
    // their order, and stays: job 2 takes two from queue 3 and one from queue 4; job 3, started
    // when job 1 ends, the last one of queue 4; job 4 all; job 5 four from queue 4; job 6, started
    // when job 5 ends, four each from queues 1 and 4.
    let expected = "time,gauge,value\n\
        0,partition 1,2\n0,partition 2,2\n0,partition 3,2\n0,partition 4,2\n\
        10,partition 2,5\n10,partition 3,0\n10,partition 4,1\n\
        50,partition 1,3\n50,partition 4,0\n\
        700000,partition 1,0\n700000,partition 2,0\n700000,partition 4,8\n\
        720000,partition 1,4\n720000,partition 4,4\n\
        720010,partition 1,0\n720010,partition 2,8\n720010,partition 4,0\n";
    assert_eq!(trace("multiqueue"), expected);
    // Most policies have nothing to say.
    assert_eq!(trace("easy"), "time,gauge,value\n");
    let run = ["run", "-w", "log.swf", "--trace", "trace.csv", "-p"];
    let errors = |policy: &str| folder.run(&[&run[..], &[policy]].concat()).err;
    let silent = "easy reported no diagnostics";
    assert!(errors("easy").contains(silent) && !errors("multiqueue").contains(silent), "{}", errors("easy"));
}

#[test]
fn a_trace_has_the_delay_in_force() {
    // Batches of one completion. Job 1, of the shortest class, runs 50 s at once, a slowdown of 1:
    // the first change is 1, above the tolerance, so that D becomes 1000 + 1 * 1000. Job 3 waits 30
    // s of 100: (1.3 - 1) / 1.3 of D1 more, 230.77 s; the change is published when a job waits
    // again. Job 5 does not wait, and the change is taken back.
    let folder = folder();
    let policy = "multiqueue(delay=1000,batch=1,tolerance=0.2)";
    folder.run(&["run", "-w", "log.swf", "-p", policy, "--quiet", "--trace", "trace.csv"]).ok();
    let csv = folder.read("trace.csv");
    let delays: Vec<&str> = csv.lines().filter(|l| l.contains(",delay,")).take(4).collect();
    assert_eq!(delays, ["0,delay,1000", "50,delay,2000", "700000,delay,2230", "700020,delay,2000"], "{csv}");
}

#[test]
fn a_workload_over_time() {
    let folder = folder();
    let args = ["workload", "info", "log.swf", "--transient", "--batch", "2", "--format", "json"];
    let transient = folder.run(&args).json()["transient"].clone();
    assert_eq!(transient["batch"], 2);
    assert_eq!(transient["weeks"], json!([3, 3]));
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-9 * expected, "{value}, not {expected}");
    };
    // 2, 3, 4, 5, 8, 8 processors: mean 5, sum of squared deviations 32.
    near(&transient["procs"]["mean"], 5.0);
    near(&transient["procs"]["median"], 4.5);
    near(&transient["procs"]["variation"], (32.0_f64 / 6.0).sqrt() / 5.0);
    near(&transient["run_times"]["mean"], 20_860.0 / 6.0);
    near(&transient["run_times"]["median"], 150.0);
    // Products of deviations 60,240; squares of run times 400,302,600.
    let runs = 400_302_600.0_f64 - 20_860.0 * 20_860.0 / 6.0;
    near(&transient["correlation"], 60_240.0 / (32.0 * runs).sqrt());
    let classes = transient["classes"].as_array().expect("classes");
    assert_eq!(classes.iter().map(|c| c["jobs"].as_u64()).collect::<Vec<_>>(), [3, 2, 0, 1].map(Some));
    // Two values a and b: the deviation is half their distance.
    let batches = transient["batches"].as_array().expect("batches");
    for (batch, (from, a, b)) in batches.iter().zip([(0, 50.0, 500.0), (20, 100.0, 20_000.0), (700_010, 10.0, 200.0)]) {
        assert_eq!(batch["from"], from);
        near(&batch["all"]["mean"], (a + b) / 2.0);
        near(&batch["all"]["variation"], (b - a) / (a + b));
        near(&batch["classes"][0]["mean"], a);
    }
    assert_eq!((batches.len(), &batches[1]["classes"][1]["mean"]), (3, &Value::Null));
    // An incomplete last batch is left out.
    let args = ["workload", "info", "log.swf", "--transient", "--batch", "4", "--format", "json"];
    assert_eq!(folder.run(&args).json()["transient"]["batches"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_tables_of_a_workload_over_time() {
    let folder = folder();
    let table = folder.run(&["workload", "info", "log.swf", "--transient", "--batch", "2"]).ok();
    let row = |start: &str| -> Vec<String> {
        let (_, after) = table.split_once("\nVariability\n").expect(&table);
        let line = after.lines().find(|l| l.trim_start().starts_with(start)).expect(start);
        line.split_whitespace().map(str::to_string).collect()
    };
    // jobs, share, mean, median, C.V.: 50, 100, 10 s, and 500, 200 s.
    assert_eq!(row("up to 100 s")[4..], ["3", "50.0%", "53", "50", "0.69"]);
    assert_eq!(row("up to 1,000 s")[4..], ["2", "33.3%", "350", "350", "0.43"]);
    assert_eq!(row("correlation of run time").last().map(String::as_str), Some("0.588"));
    // Batch, days since the first submit, mean and C.V.; class 1: share, mean, C.V.
    assert_eq!(row("3 ")[..7], ["3", "8.1", "105", "0.90", "50.0%", "10", "0.00"]);
    // Without the option there is nothing of it, and its companion makes no sense.
    assert!(!folder.run(&["workload", "info", "log.swf"]).ok().contains("Variability"));
    let error = folder.run(&["workload", "info", "log.swf", "--batch", "2"]).fails(2);
    assert!(error.contains("--transient"), "{error}");
    folder.run(&["workload", "info", "log.swf", "--transient", "--batch", "0"]).fails(2);
}

/// Plots of a log come with their data.
#[test]
fn a_log_is_drawn() {
    let folder = folder();
    let info = ["workload", "info", "log.swf", "--quiet"];
    folder.run(&[&info[..], &["--transient", "--batch", "3", "--plots", "plots"]].concat()).ok();
    assert_eq!(folder.read("plots/arrivals.csv"), "series,x,y\njobs,1,3\njobs,2,3\n");
    // The first batch runs for 50, 500 and 100 s, the second for 20,000, 10 and 200 s.
    let means = folder.read("plots/batch-mean.csv");
    let overall: Vec<&str> = means.lines().filter(|line| line.starts_with("all,")).collect();
    assert_eq!(overall, ["all,0.003,216.66666666666666", "all,0.006,6736.666666666667"]);
    assert!(means.contains("\"up to 10,000 s\",0.003,\n"), "{means}");
    assert!(folder.read("plots/batch-share.csv").contains("above 10,000 s\",2,0.3333333333333333"));
    // Of six jobs five run longer than 10 s, one longer than 500 s.
    let tail = folder.read("plots/tail.csv");
    assert!(
        tail.contains("run time,10,0.8333333333333334\n") && tail.ends_with("run time,500,0.16666666666666666\n"),
        "{tail}"
    );
    for plot in ["arrivals", "batch-mean", "batch-variation", "batch-share", "tail", "estimates"] {
        let svg = folder.read(&format!("plots/{plot}.svg"));
        assert!(svg.contains("<path") && !svg.contains("NaN"), "{plot}");
    }
}
