//! Platforms and priorities of studies.

use drystone::experiment::Experiment;
use drystone::metrics::MetricsConfig;
use drystone_sweep::{SweepError, SweepPlan, SweepStudy, simulate_place};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const WORKLOAD: &str = "[[workload]]\ngenerate = { procs = 32, jobs = 400, load = 1.2 }\n";
const POLICIES: &str = "[[policy]]\npolicy = \"ss\"\n[[policy]]\npolicy = \"slack\"\n[[policy]]\npolicy = \"easy\"\n";

fn plan(directory: &Path, files: &str, policies: &str) -> Result<SweepPlan, SweepError> {
    let study = SweepStudy::parse(&directory.join("study.toml"), format!("{WORKLOAD}{files}{policies}"))?;
    SweepPlan::from_study(&study, None)
}

/// The mean waits under `ss`, `slack` and `easy`.
fn waits(plan: &SweepPlan) -> Vec<f64> {
    let never = AtomicBool::new(false);
    let wait = |place| {
        let outcome = simulate_place(plan, place, &never).expect("nothing stops it");
        assert_eq!(outcome.error, None);
        outcome.values[0].expect("jobs waited")
    };
    (0..plan.simulations.len()).map(wait).collect()
}

/// A platform is felt by the policy that suspends, priorities by the one that takes them, and
/// either changes the plan.
#[test]
fn each_file_is_felt_where_it_matters() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("slow.toml"), "[suspension]\nrate = 0.5\n").expect("written");
    std::fs::write(dir.path().join("users.toml"), "[[user]]\nid = [1, 2, 3]\npp = 1.0\n").expect("written");
    let of = |files: &str| plan(dir.path(), files, POLICIES).expect("a plan");
    let (plain, slow) = (of(""), of("platform = \"slow.toml\"\n"));
    let important = of("priorities = \"users.toml\"\n");
    let (free, paid, important_waits) = (waits(&plain), waits(&slow), waits(&important));
    assert!(paid[0] > free[0], "suspensions cost time: {} and {}", paid[0], free[0]);
    assert_eq!(paid[1..], free[1..], "no other policy suspends");
    assert_ne!(important_waits[1], free[1], "slack knows the preferred users");
    assert_eq!((important_waits[0], important_waits[2]), (free[0], free[2]));
    assert!(plain.hash != slow.hash && plain.hash != important.hash && slow.hash != important.hash);
    assert!(slow.cases[0].cleaning_text().contains("platform=blake3:"), "{}", slow.cases[0].cleaning_text());
    assert!(!plain.cases[0].cleaning_text().contains("blake3:"));
}

/// An axis of changes makes a case of each: the log as it is, a larger machine, better limits, a
/// maintenance that no job shows, and split jobs that arrive one behind the other.
#[test]
fn changes_are_an_axis() {
    let dir = tempfile::tempdir().expect("a folder");
    let changes = ["none", "procs +32", "limits x1; load 1.5", "maintenance @100000/12h", "limit-max 1h split"];
    let literals: Vec<String> = changes.iter().map(|change| format!("\"{change}\"")).collect();
    let policy = "[[policy]]\npolicy = \"easy\"\n";
    let plain = plan(dir.path(), "", policy).expect("a plan");
    let full_plan = plan(dir.path(), &format!("change = [{}]\n", literals.join(", ")), policy).expect("a plan");
    let labels: Vec<Option<&str>> = full_plan.cases.iter().map(|case| case.change.as_deref()).collect();
    assert_eq!(labels, [None, Some(changes[1]), Some(changes[2]), Some("maintenance @100000/12h"), Some(changes[4])]);
    assert_eq!(full_plan.cases[1].workload.machine().procs, 64);
    assert!(full_plan.cases[1].label().ends_with("change=procs +32 seed=1"), "{}", full_plan.cases[1].label());
    let waits = waits(&full_plan);
    assert_eq!(waits[0], self::waits(&plain)[0], "`none` is the log as it is");
    assert!(waits[1] < waits[0] && waits[2] > waits[0] && waits[3] > waits[0], "{waits:?}");
    // The work stays the same, in more jobs.
    let work = |case: usize| -> i64 {
        let workload = &full_plan.cases[case].workload;
        workload.jobs().iter().zip(workload.truth()).map(|(job, truth)| i64::from(job.procs) * truth.run.0).sum()
    };
    assert!(full_plan.cases[4].workload.len() > full_plan.cases[0].workload.len());
    assert_eq!(work(4), work(0));
    for (change, part) in [
        ("\"nods +1\"", "did you mean `nodes`?"),
        ("\"nodes gpu:+1\"", "no partition or pool is called `gpu`"),
        ("[\"procs +1\", \"procs +1\"]", "procs +1"),
        ("\"short-queue 1h\"", "knows no partitions"),
        ("3", "`change` is a change such as"),
    ] {
        let error = plan(dir.path(), &format!("change = {change}\n"), policy).expect_err(change).to_string();
        assert!(error.contains("study.toml:3:") && error.contains(part), "{change}: {error}");
    }
}

/// Mistakes are reported with their line.
#[test]
fn wrong_files_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("odd.toml"), "[suspension]\nrate = \"fast\"\n").expect("written");
    std::fs::write(dir.path().join("users.toml"), "[[user]]\nid = 1\npp = 1.0\n").expect("written");
    let easy = "[[policy]]\npolicy = \"easy\"\n";
    for (files, expected) in [
        ("platform = \"none.toml\"\n", "none.toml: cannot be read"),
        ("platform = \"odd.toml\"\n", "odd.toml: "),
        ("priorities = \"odd.toml\"\n", "odd.toml: "),
        ("priorities = \"users.toml\"\n", "no policy of this study has any use for `priorities`"),
    ] {
        let error = plan(dir.path(), files, easy).expect_err(files).to_string();
        assert!(error.contains("study.toml:3:") && error.contains(expected), "{error}");
    }
}

/// Excessive waits as section 4 of Chiang & Vasupongayya has them: beyond the longest wait and the
/// 98 % of FCFS-backfill, or beyond so many seconds. FCFS-backfill itself has none beyond its
/// longest wait; those of another policy are added up from its schedule.
#[test]
fn excessive_waits_are_metrics() {
    let dir = tempfile::tempdir().expect("a folder");
    let of = |excess: &str, policy: &str| {
        let text = format!(
            "metrics = [\"excess_jobs\", \"excess_total\", \"excess_mean\"]\n{WORKLOAD}excess = {excess}\n\
             [[policy]]\npolicy = \"{policy}\"\n"
        );
        let study = SweepStudy::parse(&dir.path().join("study.toml"), text).expect("a study");
        SweepPlan::from_study(&study, None).expect("a plan")
    };
    let outcome = |plan: &SweepPlan| simulate_place(plan, 0, &AtomicBool::new(false)).expect("nothing stops it").values;
    let waits = |plan: &SweepPlan, policy: &str| {
        let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
        let policy = policy.parse().expect("a policy");
        let experiment = Experiment::new(&policy, &plan.cases[0].workload).with_metrics(config);
        let rows = experiment.run(&mut ()).expect("sound").expect("not cancelled").report.jobs.expect("rows");
        let mut waits: Vec<i64> = rows.iter().map(|row| row.wait().0).collect();
        waits.sort_unstable();
        waits
    };
    let longest = of("\"baseline-max\"", "fcfs");
    let (fcfs, easy) = (waits(&longest, "fcfs"), waits(&longest, "easy"));
    let beyond = |threshold: i64| {
        let beyond: Vec<i64> = fcfs.iter().map(|wait| wait - threshold).filter(|&excess| excess > 0).collect();
        let total = beyond.iter().sum::<i64>() as f64;
        vec![Some(beyond.len() as f64), Some(total), Some(total / beyond.len() as f64)]
    };
    let most = *easy.last().expect("jobs");
    assert!(most > 0 && fcfs.last() > easy.last());
    assert_eq!(outcome(&longest), beyond(most));
    assert_eq!(outcome(&of("\"baseline-max\"", "easy")), [Some(0.0), Some(0.0), None]);
    assert_eq!(outcome(&of("3600", "fcfs")), beyond(3_600));
    let hashes = [&longest, &of("3600", "fcfs"), &of("7200", "fcfs")].map(|plan| plan.hash.clone());
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
}

/// A metric without a threshold, a threshold without a metric, and one that is none.
#[test]
fn thresholds_and_metrics_go_together() {
    for (text, problem) in [
        (format!("metrics = [\"excess_total\"]\n{WORKLOAD}"), "`excess_total` needs a threshold"),
        (format!("excess = 60\n{WORKLOAD}"), "`excess` changes nothing"),
        (format!("metrics = [\"excess_total\"]\nexcess = -1\n{WORKLOAD}"), "`excess` is a number of seconds"),
        (format!("metrics = [\"excess_total\"]\nexcess = \"longest\"\n{WORKLOAD}"), "`excess` is a number of seconds"),
    ] {
        let read = SweepStudy::parse(Path::new("study.toml"), format!("{text}[[policy]]\npolicy = \"easy\"\n"));
        let error = read.expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}
