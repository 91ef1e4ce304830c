//! Cleaning, rule by rule, on logs small enough to be done by hand.

use drystone::log::clean::{
    Audit, CleaningEffect, CleaningOptions, CleaningRule, CleaningStudy, Duplicates, Keep, MissingEstimate,
    NegativeRun, Overrun, SizeField, TooWide, Trim,
};
use drystone::log::source::LogFile;
use drystone::log::{self, LoadedLog, LogError};
use drystone::model::{LogStatus, Span};

/// A record of what matters here: number, submit, run, allocated, requested, estimate, status.
fn line([number, submit, run, allocated, requested, estimate, status]: [i64; 7]) -> String {
    format!("{number} {submit} 0 {run} {allocated} -1 -1 {requested} {estimate} -1 {status} 1 1 1 1 1 -1 -1\n")
}

fn load(header: &str, lines: &[[i64; 7]], options: &CleaningOptions) -> Result<LoadedLog, LogError> {
    let text: String = std::iter::once(header.to_string()).chain(lines.iter().map(|l| line(*l))).collect();
    let bytes = Box::new(std::io::Cursor::new(text.into_bytes()));
    log::load_from(LogFile { bytes, name: "toy.swf".into() }, "toy", options)
}

const TEN: &str = "; MaxProcs: 10\n";

fn good(lines: &[[i64; 7]], options: CleaningOptions) -> LoadedLog {
    load(TEN, lines, &options).expect("a good log")
}

/// Number, submit, run, processors, estimate of every job.
fn jobs(log: &LoadedLog) -> Vec<(i64, i64, i64, u32, i64)> {
    let w = &log.workload;
    w.jobs().iter().zip(w.truth()).map(|(j, t)| (t.number, j.submit.0, t.run.0, j.procs, j.estimate.0)).collect()
}

fn counts(audit: &Audit) -> Vec<(CleaningRule, u64)> {
    audit.rule_counts().collect()
}

#[test]
fn each_size_field_means_what_it_says() {
    // Allocated and requested: both, only allocated, only requested, none.
    let lines = [[1, 0, 5, 4, 2, 9, 1], [2, 1, 5, 3, -1, 9, 1], [3, 2, 5, 0, 6, 9, 1], [4, 3, 5, -1, 0, 9, 1]];
    for (size, procs, touch_count) in [
        (SizeField::Requested, vec![2, 3, 6], 1),
        (SizeField::Allocated, vec![4, 3, 6], 1),
        (SizeField::RequestedOnly, vec![2, 6], 0),
        (SizeField::AllocatedOnly, vec![4, 3], 0),
        (SizeField::Larger, vec![4, 3, 6], 0),
        (SizeField::Smaller, vec![2, 3, 6], 1),
    ] {
        let log = good(&lines, CleaningOptions { size, ..CleaningOptions::default() });
        assert_eq!(jobs(&log).iter().map(|j| j.3).collect::<Vec<_>>(), procs, "{size}");
        let audit = &log.audit;
        assert_eq!(audit.count_touched(CleaningRule::NoProcessors), 4 - procs.len() as u64, "{size}");
        if !matches!(size, SizeField::Larger | SizeField::Smaller) {
            assert_eq!(audit.count_touched(CleaningRule::OtherSizeField), touch_count, "{size}");
        }
    }
}

#[test]
fn overrun_decides_on_run_times_and_estimates() {
    // Below, at and above the estimate; and without one.
    let lines = [[1, 0, 5, 1, 1, 9, 1], [2, 0, 9, 1, 1, 9, 1], [3, 0, 12, 1, 1, 9, 1], [4, 0, 7, 1, 1, -1, 1]];
    for (overrun, expected, rule) in [
        (Overrun::RunOn, [(5, 9), (9, 9), (12, 9), (7, 7)], (CleaningRule::RunsOn, 1)),
        (Overrun::Kill, [(5, 9), (9, 9), (9, 9), (7, 7)], (CleaningRule::Killed, 1)),
        (Overrun::Raise, [(5, 9), (9, 9), (12, 12), (7, 7)], (CleaningRule::RaisedEstimate, 1)),
        (Overrun::Exact, [(5, 5), (9, 9), (12, 12), (7, 7)], (CleaningRule::ExactEstimate, 2)),
    ] {
        let log = good(&lines, CleaningOptions { overrun, ..CleaningOptions::default() });
        let times: Vec<_> = jobs(&log).iter().map(|j| (j.2, j.4)).collect();
        assert_eq!(times, expected, "{overrun}");
        assert_eq!(counts(&log.audit), [(CleaningRule::GuessedEstimate, 1), rule], "{overrun}");
    }
}

#[test]
fn a_missing_estimate_is_what_the_options_say() {
    let lines = [[1, 0, 0, 1, 1, 0, 1], [2, 0, 7, 1, 1, -1, 1]];
    for (missing, estimates) in [
        (MissingEstimate::Run, vec![0, 7]),
        (MissingEstimate::RunMin1, vec![1, 7]),
        (MissingEstimate::Seconds(Span(86_400)), vec![86_400, 86_400]),
    ] {
        let log = good(&lines, CleaningOptions { missing_estimate: missing, ..CleaningOptions::default() });
        assert_eq!(jobs(&log).iter().map(|j| j.4).collect::<Vec<_>>(), estimates, "{missing}");
        assert_eq!(counts(&log.audit), [(CleaningRule::GuessedEstimate, 2)]);
    }
    let more_lines = [lines[0], lines[1], [3, 0, 1, 1, 1, 1, 1]];
    let log =
        good(&more_lines, CleaningOptions { missing_estimate: MissingEstimate::Drop, ..CleaningOptions::default() });
    assert_eq!(counts(&log.audit), [(CleaningRule::NoEstimate, 2)]);
}

#[test]
fn records_are_dropped_by_the_first_rule_that_says_so() {
    let lines = [
        [1, -5, 3, 1, 1, 9, 1],
        [2, 0, -1, 1, 1, 9, 5],
        [3, 0, 0, 1, 1, 9, 1],
        [4, 0, 3, 1, 11, 9, 1],
        [5, 0, 3, 11, 1, 9, 1],
        [6, 0, 3, 1, 1, 9, 1],
    ];
    let default = good(&lines, CleaningOptions::default());
    assert_eq!(jobs(&default).iter().map(|j| j.0).collect::<Vec<_>>(), [1, 3, 5, 6]);
    let rule = (CleaningRule::KeptNegativeSubmit, 1);
    assert_eq!(counts(&default.audit), [(CleaningRule::NegativeRun, 1), (CleaningRule::TooWide, 1), rule]);
    // A missing submit is also one.
    let missing = good(&[[1, -1, 3, 1, 1, 9, 1]], CleaningOptions { list: true, ..CleaningOptions::default() });
    let mut csv = Vec::new();
    missing.audit.write_csv(&mut csv).expect("memory takes all");
    assert!(String::from_utf8(csv).expect("text").contains("kept-negative-submit,noted,2,1,2,-1,,\n"));
    let strict = CleaningOptions {
        negative_submit: Keep::Drop,
        zero_run: Keep::Drop,
        too_wide: TooWide::DropEither,
        list: true,
        ..CleaningOptions::default()
    };
    let strict = good(&lines, strict);
    assert_eq!(jobs(&strict).iter().map(|j| j.0).collect::<Vec<_>>(), [6]);
    let mut csv = Vec::new();
    strict.audit.write_csv(&mut csv).expect("memory takes all");
    assert_eq!(
        String::from_utf8(csv).expect("text"),
        "rule,effect,line,job,field,before,after,note\n\
         negative-submit,dropped,2,1,2,-5,,\n\
         negative-run,dropped,3,2,4,-1,,\n\
         zero-run,dropped,4,3,4,0,,\n\
         too-wide,dropped,5,4,8,11,,\n\
         too-wide,dropped,6,5,5,11,,\n"
    );
    let zero_log = good(&lines, CleaningOptions { negative_run: NegativeRun::Zero, ..CleaningOptions::default() });
    assert_eq!(jobs(&zero_log)[1], (2, 0, 0, 1, 9));
    let error = load(TEN, &lines, &CleaningOptions { too_wide: TooWide::Error, ..CleaningOptions::default() });
    assert_eq!(
        error.expect_err("too wide").to_string(),
        "toy.swf:5: job 4 needs 11 processors of a machine of 10; give the machine's true size (--procs N), or drop such jobs"
    );
}

#[test]
fn repeated_numbers_are_counted_dropped_or_refused() {
    // 3 comes back after 5; unknown numbers are not compared.
    let lines = [
        [3, 0, 1, 1, 1, 9, 1],
        [5, 1, 1, 1, 1, 9, 1],
        [3, 2, 1, 1, 1, 9, 1],
        [4, 3, 1, 1, 1, 9, 1],
        [5, 4, 1, 1, 1, 9, 1],
        [-1, 5, 1, 1, 1, 9, 1],
        [-1, 6, 1, 1, 1, 9, 1],
        [6, 7, 1, 1, 1, 9, 1],
        [6, 8, 1, 1, 1, 9, 1],
    ];
    let keep = good(&lines, CleaningOptions::default());
    assert_eq!((keep.workload.len(), keep.audit.count_touched(CleaningRule::RepeatedNumber)), (9, 3));
    let drop = good(&lines, CleaningOptions { duplicates: Duplicates::Drop, ..CleaningOptions::default() });
    assert_eq!((drop.workload.len(), drop.audit.count_touched(CleaningRule::DroppedNumber)), (6, 3));
    let error = load(TEN, &lines, &CleaningOptions { duplicates: Duplicates::Error, ..CleaningOptions::default() });
    assert!(matches!(error, Err(LogError::Duplicate { line: 4, number: 3, .. })), "{error:?}");
}

#[test]
fn parts_of_a_checkpointed_job_do_not_count_twice() {
    let lines = [[1, 0, 30, 1, 1, 40, 1], [1, -1, 10, 1, 1, 40, 2], [1, -1, 20, 1, 1, 40, 3], [2, 5, 30, 1, 1, 40, 2]];
    let log = good(&lines, CleaningOptions::default());
    assert_eq!(jobs(&log).iter().map(|j| (j.0, j.2)).collect::<Vec<_>>(), [(1, 30), (2, 30)]);
    assert_eq!(log.workload.truth()[1].status, LogStatus::Partial);
    assert_eq!(counts(&log.audit), [(CleaningRule::PartialExecution, 2)]);
}

/// Without a record of the whole the parts are the job: 10 + 20 + 30 s, completed by status 3. Job
/// 2 failed by status 4, its unknown part counts for nothing. Of job 3 there is one part only, and
/// job 4 is no part.
#[test]
fn parts_without_a_whole_are_joined() {
    let lines = [
        [1, 0, 10, 1, 1, 40, 2],
        [1, -1, 20, 1, 1, 40, 2],
        [1, -1, 30, 1, 1, 40, 3],
        [2, 5, 7, 2, 2, 40, 2],
        [2, -1, -1, 2, 2, 40, 2],
        [2, -1, 8, 2, 2, 40, 4],
        [3, 6, 9, 1, 1, 40, 2],
        [4, 7, 5, 1, 1, 40, 1],
    ];
    let log = good(&lines, CleaningOptions::default());
    assert_eq!(jobs(&log).iter().map(|j| (j.0, j.2)).collect::<Vec<_>>(), [(1, 60), (2, 15), (3, 9), (4, 5)]);
    let status: Vec<LogStatus> = log.workload.truth().iter().map(|truth| truth.status).collect();
    assert_eq!(status, [LogStatus::Completed, LogStatus::Failed, LogStatus::Partial, LogStatus::Completed]);
    // Job 1 outlives its estimate only as a whole.
    assert_eq!(counts(&log.audit), [(CleaningRule::JoinedExecution, 4), (CleaningRule::RunsOn, 1)]);
    // A log may end with a part.
    let last = good(&lines[..2], CleaningOptions::default());
    assert_eq!(jobs(&last).iter().map(|j| (j.0, j.2)).collect::<Vec<_>>(), [(1, 30)]);
}

#[test]
fn jobs_are_sorted_taken_scaled_and_shifted_in_this_order() {
    let lines = [
        [1, 100, 1, 1, 1, 9, 1],
        [2, 33, 2, 1, 1, 9, 1],
        [3, 100, 3, 1, 1, 9, 1],
        [4, 33, 4, 1, 1, 9, 1],
        [5, 99, 5, 1, 1, 9, 1],
    ];
    let options = CleaningOptions {
        take: Some(4),
        load: Some("1.1".parse().expect("1.1")),
        shift: true,
        records: true,
        list: true,
        ..CleaningOptions::default()
    };
    let log = load("; MaxProcs: 10\n; UnixStartTime: 1000\n", &lines, &options).expect("a good log");
    // 33/1.1 = 30, 99/1.1 = 90, ⌊100/1.1⌋ = 90; then 30 becomes 0.
    let submits: Vec<_> = jobs(&log).iter().map(|j| (j.0, j.1)).collect();
    assert_eq!(submits, [(2, 0), (4, 0), (5, 60), (1, 60)]);
    assert_eq!(log.workload.provenance.unix_start, Some(1030));
    let records: Vec<_> = log.records.iter().flatten().map(|r| r.number).collect();
    assert_eq!(records, [2, 4, 5, 1]);
    assert_eq!(counts(&log.audit), [(CleaningRule::OutOfOrder, 3), (CleaningRule::NotTaken, 1)]);
    assert_eq!(log.audit.entries.iter().map(|e| e.number).collect::<Vec<_>>(), [2, 4, 5, 3]);
}

#[test]
fn the_machine_is_the_given_one_else_processors_else_nodes() {
    let lines = [[1, 0, 1, 1, 1, 9, 1]];
    let size = |header: &str, procs| {
        let options = CleaningOptions { procs, ..CleaningOptions::default() };
        load(header, &lines, &options).map(|l| l.workload.machine().procs)
    };
    assert_eq!(size("; MaxProcs: 8\n; MaxNodes: 4\n", Some(6)).ok(), Some(6));
    assert_eq!(size("; MaxProcs: 8\n; MaxNodes: 4\n", None).ok(), Some(8));
    assert_eq!(size("; MaxProcs: -1\n; MaxNodes: 4 (of 5)\n", None).ok(), Some(4));
    let unknown = |header: &str| match size(header, None) {
        Err(error @ LogError::NoMachine { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(unknown(";\n").contains("nor MaxNodes above 0, so the machine's size is unknown; give it"));
    for (header, message) in [
        ("; MaxProcs: 1,152\n", "above 0 in plain digits (MaxProcs is `1,152`), so"),
        ("; MaxProcs: many\n; MaxNodes: -1\n", "(MaxProcs is `many`, MaxNodes is `-1`), so"),
    ] {
        assert!(unknown(header).contains(message), "{}", unknown(header));
    }
    assert!(matches!(size(";\n", Some(0)), Err(LogError::BadMachine { .. })));
    assert!(matches!(size("; MaxProcs: 99999999999\n", None), Err(LogError::BadMachine { .. })));
}

#[test]
fn nothing_left_says_why() {
    let lines = [[1, 0, 1, -1, 4, 9, 1], [2, 0, -1, -1, 4, 9, 1]];
    let options = CleaningOptions { size: SizeField::AllocatedOnly, ..CleaningOptions::default() };
    assert_eq!(
        load(TEN, &lines, &options).expect_err("nothing left").to_string(),
        "toy.swf: none of 2 records became a job (negative-run 1, no-processors 1); choose other cleaning options"
    );
}

#[test]
fn fractions_are_rounded_and_large_ids_forgotten_both_counted() {
    let text = "; MaxProcs: 10\n1 0.5 0 9.4 1 -1 -1 1 20.5 -1 1 4294967296 1 1 1 1 -1 -1\n";
    let source = LogFile { bytes: Box::new(text.as_bytes()), name: "toy.swf".into() };
    let log = log::load_from(source, "toy", &CleaningOptions::default()).expect("a good log");
    assert_eq!(jobs(&log), [(1, 1, 9, 1, 21)]);
    assert_eq!(log.workload.jobs()[0].user, -1);
    assert_eq!(
        counts(&log.audit),
        [(CleaningRule::RoundedTime, 1), (CleaningRule::IdOutOfRange, 1)],
        "records, not values"
    );
}

#[test]
fn lenient_reading_is_accounted_for() {
    let text = "; MaxProcs: 10\n1 0 0 9 1 -1 -1 1 20 -1 1 4 1 1 1 1 -1 -1\n2 0 \"x\"\n";
    let load = |lenient| {
        let source = LogFile { bytes: Box::new(text.as_bytes()), name: "toy.swf".into() };
        log::load_from(source, "toy", &CleaningOptions { lenient, ..CleaningOptions::default() })
    };
    assert!(matches!(load(false), Err(LogError::Malformed { .. })));
    let log = load(true).expect("one good line");
    assert_eq!(counts(&log.audit), [(CleaningRule::MalformedLine, 1)]);
    let mut csv = Vec::new();
    log.audit.write_csv(&mut csv).expect("memory takes all");
    assert_eq!(
        String::from_utf8(csv).expect("text").lines().nth(1),
        Some(
            "malformed-line,dropped,3,,,,,\"column 5: expected a number for field 3 (wait time), found `\\\"\"x\\\"\"`\""
        )
    );
}

#[test]
fn studies_set_what_the_papers_did() {
    let settings = |study: CleaningStudy| -> Vec<String> {
        study.options().build_settings(100).iter().map(|s| format!("{}={}", s.name, s.value)).collect()
    };
    let expect = |as_: &str, rest: [&str; 8]| {
        let names = [
            "size",
            "missing-estimate",
            "zero-run",
            "negative-run",
            "negative-submit",
            "too-wide",
            "duplicates",
            "overrun",
        ];
        let mut words = vec![format!("as={as_}"), "procs=100".to_string()];
        words.extend(names.iter().zip(rest).map(|(name, value)| format!("{name}={value}")));
        words
    };
    assert_eq!(
        settings(CleaningStudy::Tsafrir2007),
        expect("tsafrir2007", ["allocated-only", "run", "keep", "drop", "keep", "drop", "keep", "run-on"])
    );
    assert_eq!(
        settings(CleaningStudy::Gaussier2015),
        expect("gaussier2015", ["requested", "drop", "drop", "drop", "drop", "drop-either", "keep", "kill"])
    );
    assert_eq!(
        settings(CleaningStudy::Kettimuthu2005),
        expect("kettimuthu2005", ["requested", "run", "drop", "drop", "keep", "drop", "keep", "exact"])
    );
    assert_eq!(
        settings(CleaningStudy::Lawson2002),
        expect("lawson2002", ["requested", "run", "drop", "drop", "keep", "drop", "keep", "exact"])
    );
    assert_eq!(
        settings(CleaningStudy::Talby1999),
        expect("talby1999", ["allocated", "run-min-1", "keep", "zero", "keep", "drop", "keep", "kill"])
    );
    assert_eq!(
        settings(CleaningStudy::Chiang2008),
        expect("chiang2008", ["requested", "run", "keep", "drop", "keep", "drop", "keep", "exact"])
    );
    assert_eq!(
        settings(CleaningStudy::RlScheduler2020),
        expect("rlscheduler2020", ["larger", "run", "drop", "ten", "keep", "drop", "keep", "run-on"])
    );
    for study in CleaningStudy::ALL {
        let is_trim = study.trim_rule() == Trim::Tsafrir;
        assert_eq!(is_trim, study == CleaningStudy::Tsafrir2007);
    }
}

/// Estimates of the f-model: from the run time up to three times that for f = 2, uniformly. So the
/// mean accuracy is the integral of 1 / (1 + x) over x from 0 to 2, halved: ln(3) / 2.
#[test]
fn the_f_model_replaces_estimates() {
    let lines: Vec<[i64; 7]> = (0..20_000).map(|i| [i + 1, i, 1_000 + i, 1, 1, 90_000, 1]).collect();
    let clean = |options: CleaningOptions| good(&lines, options).workload;
    let missing_estimate = "uniform(2)".parse().expect("a rule");
    let old_workload = clean(CleaningOptions { missing_estimate, ..CleaningOptions::default() });
    assert!(old_workload.jobs().iter().all(|job| job.estimate == Span(90_000)), "no estimate is missing");
    let new_workload =
        clean(CleaningOptions { missing_estimate, replace_estimates: true, ..CleaningOptions::default() });
    let pairs = || new_workload.jobs().iter().zip(new_workload.truth());
    assert!(pairs().all(|(job, truth)| job.estimate >= truth.run && job.estimate.0 <= 3 * truth.run.0));
    let accuracy: f64 = pairs().map(|(job, truth)| truth.run.as_f64() / job.estimate.as_f64()).sum::<f64>() / 20_000.0;
    // The deviation of one accuracy is below 0.2, so that of the mean is below 0.0015.
    assert!((accuracy - 3_f64.ln() / 2.0).abs() < 0.006, "{accuracy}");
    let exact = CleaningOptions {
        missing_estimate,
        replace_estimates: true,
        overrun: Overrun::Exact,
        ..CleaningOptions::default()
    };
    let exact = clean(exact);
    assert!(exact.jobs().iter().zip(exact.truth()).all(|(job, truth)| job.estimate == truth.run));
    for text in ["uniform(0)", "uniform(2.5)", "factor(1)"] {
        assert_eq!(text.parse::<MissingEstimate>().map(|rule| rule.to_string()), Ok(text.to_string()));
    }
    assert!(["uniform(-1)", "uniform(x)", "factor(0.5)"].iter().all(|text| text.parse::<MissingEstimate>().is_err()));
}

#[test]
fn options_have_one_text_form() {
    let options = CleaningOptions {
        take: Some(5_000),
        load: Some("1.05".parse().expect("1.05")),
        missing_estimate: MissingEstimate::Seconds(Span(60)),
        ..CleaningStudy::Talby1999.options()
    };
    let text = serde_json::to_string(&options).expect("text");
    assert!(text.contains(r#""study":"talby1999""#) && text.contains(r#""missing-estimate":"60""#), "{text}");
    assert_eq!(serde_json::from_str::<CleaningOptions>(&text).expect("parses"), options);
    assert_eq!(
        serde_json::from_str::<CleaningOptions>(r#"{"overrun":"kill"}"#).expect("parses").overrun,
        Overrun::Kill
    );
    assert!(serde_json::from_str::<CleaningOptions>(r#"{"overun":"kill"}"#).is_err());
    assert_eq!(
        "stop".parse::<Overrun>().expect_err("no mode").to_string(),
        "overrun cannot be `stop`; expected run-on, kill, raise, exact"
    );
    assert!("0".parse::<MissingEstimate>().is_err());
    for rule in CleaningRule::ALL {
        assert_eq!(serde_json::to_string(rule).expect("text"), format!("\"{rule}\""));
    }
    assert_eq!(serde_json::to_string(&CleaningEffect::Guessed).expect("text"), "\"guessed\"");
}

/// Returns a log that the rule touches, and the options that ask for the rule. A rule that is
/// added to the cleaning gets its log here.
fn log_for_rule(rule: CleaningRule) -> (String, CleaningOptions) {
    let default = CleaningOptions::default();
    let (first, options) = match rule {
        CleaningRule::MalformedLine => ("1 0 x\n".to_string(), CleaningOptions { lenient: true, ..default }),
        CleaningRule::PartialExecution => {
            (line([1, 0, 10, 1, 1, 40, 1]) + &line([1, -1, 10, 1, 1, 40, 2]) + &line([1, -1, 9, 1, 1, 40, 3]), default)
        }
        CleaningRule::JoinedExecution => (line([1, 0, 10, 1, 1, 40, 2]) + &line([1, -1, 20, 1, 1, 40, 3]), default),
        // Forty days are more than any month.
        CleaningRule::OtherMonth => {
            let clock = "; UnixStartTime: 0\n; TimeZoneString: UTC\n".to_string();
            (clock + &line([1, 0, 40 * 86_400, 1, 1, 40 * 86_400, 1]), CleaningOptions { same_month: true, ..default })
        }
        CleaningRule::RoundedTime => ("1 0.5 0 9 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n".to_string(), default),
        CleaningRule::NegativeSubmit => {
            (line([1, -5, 3, 1, 1, 9, 1]), CleaningOptions { negative_submit: Keep::Drop, ..default })
        }
        CleaningRule::KeptNegativeSubmit => (line([1, -5, 3, 1, 1, 9, 1]), default),
        CleaningRule::NegativeRun => (line([1, 0, -1, 1, 1, 9, 5]), default),
        CleaningRule::NegativeRunZeroed => {
            (line([1, 0, -1, 1, 1, 9, 5]), CleaningOptions { negative_run: NegativeRun::Zero, ..default })
        }
        CleaningRule::NegativeRunTen => {
            (line([1, 0, -1, 1, 1, 9, 5]), CleaningOptions { negative_run: NegativeRun::Ten, ..default })
        }
        CleaningRule::ZeroRun => (line([1, 0, 0, 1, 1, 9, 1]), CleaningOptions { zero_run: Keep::Drop, ..default }),
        CleaningRule::NoProcessors => (line([1, 0, 5, -1, 0, 9, 1]), default),
        CleaningRule::OtherSizeField => (line([1, 0, 5, 3, -1, 9, 1]), default),
        CleaningRule::TooWide => (line([1, 0, 5, 1, 11, 9, 1]), default),
        CleaningRule::NoEstimate => {
            (line([1, 0, 5, 1, 1, -1, 1]), CleaningOptions { missing_estimate: MissingEstimate::Drop, ..default })
        }
        CleaningRule::GuessedEstimate => (line([1, 0, 5, 1, 1, -1, 1]), default),
        CleaningRule::RunsOn => (line([1, 0, 12, 1, 1, 9, 1]), default),
        CleaningRule::Killed => (line([1, 0, 12, 1, 1, 9, 1]), CleaningOptions { overrun: Overrun::Kill, ..default }),
        CleaningRule::RaisedEstimate => {
            (line([1, 0, 12, 1, 1, 9, 1]), CleaningOptions { overrun: Overrun::Raise, ..default })
        }
        CleaningRule::ExactEstimate => {
            (line([1, 0, 5, 1, 1, 9, 1]), CleaningOptions { overrun: Overrun::Exact, ..default })
        }
        CleaningRule::IdOutOfRange => ("1 0 0 5 1 -1 -1 1 9 -1 1 4294967296 1 1 1 1 -1 -1\n".to_string(), default),
        CleaningRule::RepeatedNumber => (line([1, 0, 5, 1, 1, 9, 1]).repeat(2), default),
        CleaningRule::DroppedNumber => {
            (line([1, 0, 5, 1, 1, 9, 1]).repeat(2), CleaningOptions { duplicates: Duplicates::Drop, ..default })
        }
        CleaningRule::OutOfOrder => (line([1, 8, 5, 1, 1, 9, 1]) + &line([2, 7, 5, 1, 1, 9, 1]), default),
        CleaningRule::NotTaken => (line([1, 0, 5, 1, 1, 9, 1]), CleaningOptions { take: Some(1), ..default }),
    };
    // A job that no rule touches is left in any case.
    (TEN.to_string() + &first + &line([9, 9, 5, 1, 1, 9, 1]), options)
}

#[test]
fn every_rule_is_applied() {
    for &rule in CleaningRule::ALL {
        let (text, options) = log_for_rule(rule);
        let bytes = Box::new(std::io::Cursor::new(text.clone().into_bytes()));
        let loaded = log::load_from(LogFile { bytes, name: "toy.swf".into() }, "toy", &options);
        let audit = loaded.unwrap_or_else(|error| panic!("{rule}: {error}\n{text}")).audit;
        assert!(audit.count_touched(rule) > 0, "no code applies `{rule}` to\n{text}{audit}");
    }
}
