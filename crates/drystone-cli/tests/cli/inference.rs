//! Verdicts on differences, on logs whose right answer is known from elsewhere.
//!
//! The right answers come from block bootstraps, from other implementations of the rule, and from
//! simulations of unseen seeds.

use crate::common::{Folder, line, shared};
use serde_json::Value;

const KTH: &str = "traces/KTH-SP2-1996-2.1-cln.swf.gz";

/// Runs a study on KTH and returns its ranking against `easy`, and the text of that.
fn ranked(workload: &str, policies: &[&str]) -> Option<(Value, String)> {
    let log = shared(KTH)?;
    let folder = Folder::new();
    let policies: String = policies.iter().map(|policy| format!("[[policy]]\npolicy = \"{policy}\"\n")).collect();
    let workload = workload.replace("LOG", &format!("file = \"{}\"", log.display()));
    folder.write("study.toml", format!("metrics = [\"wait_mean\"]\n{workload}\n{policies}"));
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let rank = ["sweep", "rank", "study.db", "--against", "easy"];
    let text = folder.run(&rank).ok();
    Some((folder.run(&[&rank[..], &["--format", "json"]].concat()).json(), text))
}

/// Change, interval and p value of a policy.
fn test_of(ranking: &Value, policy: &str) -> [f64; 4] {
    let entry = ranking["ranked"].as_array().expect("a list").iter().find(|entry| entry["policy"] == policy);
    let test = &entry.expect("ranked")["test"];
    [&test["change"], &test["interval"][0], &test["interval"][1], &test["p"]]
        .map(|value| value.as_f64().expect("a number"))
}

fn near(own: f64, expected: f64, within: f64) -> bool {
    (own - expected).abs() <= within
}

/// Four slices that hold the same jobs say what one says.
#[test]
fn slices_with_the_same_jobs_add_nothing() {
    let slices = |slices: &str| ranked(&format!("[[workload]]\nLOG\nslice = [{slices}]"), &["easy", "easy++"]);
    let Some((single, _)) = slices("\"0..15000000\"") else { return };
    let Some((four, text)) = slices("\"0..15000000\", \"0..15000001\", \"0..15000002\", \"0..15000003\"") else {
        return;
    };
    for (value, four) in test_of(&single, "easy++").into_iter().zip(test_of(&four, "easy++")) {
        assert!(near(value, four, 1e-9), "{value} {four}");
    }
    assert!(text.contains("of one log"), "{text}");
}

/// Loads of one log are one observation: about what one load says. Three loads of any paper say a
/// little more, since each is a case; weeks they add none.
#[test]
fn loads_of_a_log_are_one_observation() {
    let loads = |loads: &str| {
        ranked(
            &format!("[[workload]]\nLOG\nload = [{loads}]\n[workload.clean]\noverrun = \"kill\""),
            &["easy", "easy-sjbf"],
        )
    };
    let Some((single, _)) = loads("1.0") else { return };
    let Some((many, _)) = loads("1.0, 1.00001, 1.00002, 1.00003, 1.00004") else { return };
    let ([change, low, high, p], [changes, lows, highs, ps]) =
        (test_of(&single, "easy-sjbf"), test_of(&many, "easy-sjbf"));
    for (own, many_value) in [(change, changes), (low, lows), (high, highs), (p, ps)] {
        assert!(near(own, many_value, 0.05), "{own} {many_value}");
    }
    let width = (highs.ln_1p() - lows.ln_1p()) / (high.ln_1p() - low.ln_1p());
    assert!((0.7..1.4).contains(&width), "five loads are no five logs: {width}");
    assert_eq!(many["tests"]["logs"], 1);
}

/// Ten windows of 30 days, each simulated from an empty machine, are ten units.
#[test]
fn windows_are_units() {
    let month = 30 * 86_400;
    let slices: Vec<String> = (0..10).map(|k| format!("\"{}..{}\"", k * month, (k + 1) * month)).collect();
    let workload = format!("[[workload]]\nLOG\nslice = [{}]", slices.join(", "));
    let Some((ranking, text)) = ranked(&workload, &["easy", "easy++"]) else { return };
    assert!(text.contains("Evidence: 10 windows of one log"), "{text}");
    let [change, low, high, p] = test_of(&ranking, "easy++");
    assert!(low < change && change < high && high < 0.0 && p < 0.05, "{change} {low} {high} {p}");
}

/// A workload of two weeks beside a long one takes no part, and is named.
#[test]
fn what_is_too_short_is_named() {
    let mix =
        "[[workload]]\nname = \"KTH\"\nLOG\n[[workload]]\nname = \"KTH-short\"\nLOG\n[workload.clean]\ntake = 1000";
    let Some((pair, text)) = ranked(mix, &["easy", "easy++"]) else { return };
    let Some((alone, _)) = ranked("[[workload]]\nname = \"KTH\"\nLOG", &["easy", "easy++"]) else { return };
    assert_eq!(pair["tests"]["too_short"], serde_json::json!(["KTH-short"]));
    assert!(text.contains("Too short to take part: KTH-short."), "{text}");
    let (pair_test, alone) = (test_of(&pair, "easy++"), test_of(&alone, "easy++"));
    assert!(pair_test.iter().zip(alone).all(|(value, alone)| near(*value, alone, 1e-12)), "{pair_test:?} {alone:?}");
    assert!(near(alone[0], -0.196, 0.001) && alone[3] < 0.05, "{alone:?}");
}

/// A wait that is longer in every week gets the verdict longer.
///
/// Intervals stay within the range of possible values.
#[test]
fn what_is_longer_in_every_week_is_longer() {
    let Some(log) = shared(KTH) else { return };
    let log = log.display().to_string();
    let args = ["whatif", &log, "--quiet", "--procs-change", "-50", "--change", "load 1.2", "--change", "load 0.8"];
    let result = Folder::new().run(&[&args[..], &["--format", "json"]].concat()).json();
    let alternatives = result["alternatives"].as_array().expect("a list");
    for (one, verdict, signs) in
        alternatives.iter().zip(["more", "more", "less"]).zip([[48, 0], [48, 0], [0, 48]]).map(|((a, b), c)| (a, b, c))
    {
        assert_eq!(one["verdict"], verdict, "{one}");
        assert_eq!(
            (&one["wait"]["signs"]["longer"], &one["wait"]["signs"]["shorter"]),
            (&signs[0].into(), &signs[1].into())
        );
    }
    // By another implementation: +126.9 % (+88.4 to +173.3).
    let wait = &alternatives[1]["wait"];
    let value = |value: &Value| value.as_f64().expect("a number");
    assert!(near(value(&wait["change"]), 1.269, 0.001), "{wait}");
    let ends = &wait["change_interval"];
    assert!(near(value(&ends[0]), 0.884, 0.01) && near(value(&ends[1]), 1.733, 0.02), "{ends}");
    let text = Folder::new().run(&args).ok();
    assert!(text.contains("longer in 48 of 48 weeks"), "{text}");
}

/// CTC on 338 processors with a fifth more load: about twelve times the wait, in 49 of 49 weeks.
#[test]
fn many_times_the_wait_is_more() {
    let Some(log) = shared("traces/CTC-SP2-1996-3.1-cln.swf.gz") else { return };
    let log = log.display().to_string();
    let args = ["whatif", &log, "--quiet", "--procs", "338", "--change", "load 1.2", "--format", "json"];
    let result = Folder::new().run(&args).json();
    let alternative = &result["alternatives"][0];
    assert_eq!(
        (&alternative["verdict"], &alternative["wait"]["signs"]["longer"]),
        (&"more".into(), &49.into()),
        "{alternative}"
    );
    let value = |value: &Value| 1.0 + value.as_f64().expect("a number");
    let ends = &alternative["wait"]["change_interval"];
    let [change, low, high] = [&alternative["wait"]["change"], &ends[0], &ends[1]].map(value);
    assert!(near(change, 11.8, 0.1) && near(low, 8.1, 0.3) && near(high, 17.1, 0.6), "{change} {low} {high}");
}

/// Nothing waits before: no ratio, but more in every week.
#[test]
fn from_nothing_it_is_more() {
    let Some(log) = shared("cases/numbers/trend.swf") else { return };
    let log = log.display().to_string();
    let args = ["whatif", &log, "--change", "procs -1", "--quiet"];
    let result = Folder::new().run(&[&args[..], &["--format", "json"]].concat()).json();
    let alternative = &result["alternatives"][0];
    assert_eq!(
        (&alternative["verdict"], &alternative["wait"]["interval"]),
        (&"more".into(), &Value::Null),
        "{alternative}"
    );
    let text = Folder::new().run(&args).ok();
    assert!(text.contains("nothing waits as it is; longer in "), "{text}");
}

/// By hand: the maintenance from 03:00 to 13:00 delays the jobs by 15,600 s on average.
#[test]
fn a_maintenance_by_hand() {
    let Some(log) = shared("cases/numbers/maint.swf") else { return };
    let log = log.display().to_string();
    let args = ["whatif", &log, "--maintenance", "2026-11-30T03:00/10h", "--quiet", "--format", "json"];
    let result = Folder::new().run(&args).json();
    assert_eq!(result["alternatives"][0]["after"]["wait_mean"], 15_600.0, "{}", result["alternatives"][0]);
}

/// A weight of 0 is raised: with shares, slowdowns fall on unseen weeks as well.
#[test]
fn a_weight_of_0_is_raised() {
    let (Some(log), Some(conf)) = (shared("cases/numbers/flood.swf.gz"), shared("cases/numbers/fs.conf")) else {
        return;
    };
    let (log, conf) = (log.display().to_string(), conf.display().to_string());
    let args = ["advise", &log, "--slurm", &conf, "--only", "settings", "--quiet", "--format", "json"];
    let result = Folder::new().run(&args).json();
    let settings = &result["advice"]["settings"];
    let name = settings["best"]["name"].as_str().unwrap_or_default();
    assert!(name.contains("priorityweightfairshare="), "{settings}");
    assert_eq!(settings["reason"], "recommended", "{settings}");
}

/// A weekly choice of jobs: weeks of 24 jobs that queue on two processors.
fn weeks(count: i64) -> String {
    let job = |k: i64| {
        let (week, job) = (k / 24, k % 24);
        line(k + 1, week * 604_800 + job * 20_000, 3_000 + 1_500 * (k * 7 % 11), 1 + (k * 5 % 3) / 2, 30_000)
    };
    format!("; MaxProcs: 2\n; UnixStartTime: 0\n{}", (0..24 * count).map(job).collect::<String>())
}

/// Less than four weeks tell nothing, and `compare` names the units and the number of comparisons
/// where there are more.
#[test]
fn short_logs_say_what_they_cannot_say() {
    let folder = Folder::with("short.swf", weeks(3));
    folder.write("long.swf", weeks(14));
    let compare =
        |log: &str| folder.run(&["compare", log, "-p", "easy", "-p", "fcfs", "-p", "easy-sjbf", "--quiet"]).ok();
    let short = compare("short.swf");
    assert!(short.contains("intervals need 4 weeks of jobs"), "{short}");
    let long = compare("long.swf");
    assert!(long.contains("Intervals: 95%, from 10 blocks of 1 or 2 weeks"), "{long}");
}
