//! `drystone predict`.

use crate::common::{Folder, four};

/// Jobs of one user as (submit, wait, run time, estimate), on one processor each.
fn log(jobs: &[(i64, i64, i64, i64)]) -> String {
    let lines = jobs.iter().enumerate().map(|(i, (submit, wait, run, estimate))| {
        format!("{} {submit} {wait} {run} 1 -1 -1 1 {estimate} -1 1 5 1 -1 0 -1 -1 -1\n", i + 1)
    });
    format!("; MaxProcs: 4\n{}", lines.collect::<String>())
}

#[test]
fn accuracy_coverage_and_errors_by_hand() {
    // The first two jobs end at 20 and 40, so the third is predicted to run for 30; it runs for 60.
    let folder = Folder::with("log.swf", log(&[(0, 0, 20, 100), (0, 0, 40, 100), (50, 0, 60, 100)]));
    let json = folder.run(&["predict", "log.swf", "-p", "recent(2)", "-p", "perfect", "--format", "json"]).json();
    let of = |at: usize| &json["predictors"][at]["foresight"];
    assert_eq!(of(0)["coverage"], 1.0 / 3.0);
    assert_eq!(of(0)["under_predicted_rate"], 1.0 / 3.0);
    // (20/100 + 40/100 + 30/60) / 3; errors of 80, 60 and 30 s.
    assert!((of(0)["accuracy"]["mean"].as_f64().expect("a number") - 1.1 / 3.0).abs() < 1e-12);
    assert_eq!((&of(0)["error"]["median"], &of(0)["error"]["max"]), (&60.0.into(), &80.0.into()));
    assert_eq!(of(1)["accuracy"]["mean"], 1.0);
    assert_eq!(
        (&json["predictors"][0]["clairvoyant"], &json["predictors"][1]["clairvoyant"]),
        (&false.into(), &true.into())
    );
    let csv = folder.run(&["predict", "log.swf", "-p", "recent(2)", "--format", "csv"]).ok();
    let (head, row) = csv.trim_end().split_once('\n').expect("a header and a row");
    // From the right: the settings hold commas.
    let column = head.rsplit(',').position(|c| c == "error_median").expect("is there");
    assert_eq!(csv.lines().count(), 2);
    assert!(row.contains(",recent(2),3,") && row.rsplit(',').nth(column) == Some("60"), "{csv}");
}

#[test]
fn a_job_that_still_waited_in_the_log_teaches_nothing() {
    // The second job started at 30 and ended at 70 only.
    let folder = Folder::with("log.swf", log(&[(0, 0, 20, 100), (0, 30, 40, 100), (50, 0, 60, 100)]));
    let json = folder.run(&["predict", "log.swf", "-p", "recent(2)", "--format", "json"]).json();
    assert_eq!(json["predictors"][0]["foresight"]["coverage"], 0.0);
}

#[test]
fn tables_of_the_default_predictors() {
    let folder = Folder::with("log.swf", four());
    let table = folder.run(&["predict", "log.swf", "--details", "--report", "out.md"]).ok();
    for predictor in ["estimate", "recent(2)", "recent(2,window=extended)", "quantile(0.9)", "learn"] {
        assert!(table.contains(&format!("\n{predictor} ")), "{predictor}: {table}");
    }
    // All four end too late to be learned from, and three estimates are exact: (3 + 30/60) / 4.
    let line = table.lines().find(|l| l.starts_with("recent(2) ")).expect("a row");
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["recent(2)", "0.0%", "87.5%", "100.0%", "0.0%"]);
    let markdown = folder.read("out.md");
    assert!(markdown.contains("| recent(2) ") && markdown.contains("## Error, in minutes"), "{markdown}");
    // Only `compare` and `run` have an example to fall back on.
    let error = folder.run(&["predict", "-p", "estimate"]).fails(2);
    assert!(error.contains("drystone predict needs a log") && error.contains("workload generate"), "{error}");
}

#[test]
fn wrong_predictors_and_logs() {
    let folder = Folder::with("log.swf", four());
    let error = folder.run(&["predict", "log.swf", "-p", "oracle"]).fails(2);
    assert!(error.contains("`oracle` is no predictor") && error.contains("recent("), "{error}");
    let error = folder.run(&["predict", "log.swf", "-p", "recent(0)"]).fails(2);
    assert!(error.contains("from 1 to 1000"), "{error}");
    let error = folder.run(&["predict", "nowhere.swf"]).fails(2);
    assert!(error.contains("nowhere.swf: cannot be opened"), "{error}");
    let error = folder.run(&["predict", "log.swf", "--report", "out.doc"]).fails(2);
    assert!(error.contains("out.doc: the ending says"), "{error}");
}
