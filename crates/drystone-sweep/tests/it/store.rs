//! Stores: complete, transactional, refused where they do not fit.

use drystone_sweep::analysis::{CandidateTable, CaseSelection};
use drystone_sweep::{
    DesignLevel, Executor, PlanOutcome, Store, SweepChunk, SweepError, SweepPlan, SweepStudy, Threads, carry_out,
    merge_stores, query_store,
};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

const STUDY: &str = "seeds = [1, 2]\nmetrics = [\"wait_mean\", \"bounded_slowdown_mean\", \"utilisation\"]\n\
    [[workload]]\nname = \"small\"\ngenerate = { procs = 16, jobs = 60, load = 0.9 }\n\
    [[policy]]\npolicy = \"easy(predict=recent({size},metric={metric}),backfill={backfill})\"\n\
    [policy.parameters]\nsize = { from = 1, to = 3 }\nmetric = [\"average\", \"median\"]\nbackfill = [\"fcfs\", \"sjf\"]\n";

fn plan() -> SweepPlan {
    SweepPlan::from_study(&SweepStudy::parse(Path::new("study.toml"), STUDY.to_string()).expect("a study"), None)
        .expect("a plan")
}

fn complete(path: &Path, plan: &SweepPlan, chunk: Option<SweepChunk>, threads: usize) {
    let mut store = Store::open(path, plan, chunk).expect("a store");
    let summary = carry_out(plan, &mut store, &Threads(threads), &AtomicBool::new(false), &mut |_| {}).expect("done");
    assert_eq!((summary.left, summary.failed), (0, 0));
}

fn results(path: &Path) -> drystone_sweep::QueryAnswer {
    query_store(path, "SELECT * FROM result ORDER BY configuration").expect("results")
}

fn paths(dir: &TempDir, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| dir.path().join(name)).collect()
}

#[test]
fn results_are_those_of_single_simulations_on_any_number_of_threads() {
    use drystone::engine::{Simulation, WorkloadReplay};
    use drystone::metrics::{Collector, MetricsConfig, Scope};
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let [serial_path, three] = [1, 3].map(|threads| {
        let path = dir.path().join(format!("{threads}.db"));
        complete(&path, &plan, None, threads);
        path
    });
    assert_eq!(results(&serial_path), results(&three));
    let rows = Store::open_to_read(&serial_path).expect("a store").rows().expect("rows");
    assert_eq!(rows.len(), 3 * 2 * 2 * 2);
    for (row, configuration) in rows.iter().zip(&plan.configurations) {
        // The configuration's own policy, not the equal one that was simulated for it.
        let workload = &plan.cases[configuration.case].workload;
        let mut collector = Collector::new(Scope::from_workload(workload), MetricsConfig::default());
        let scheduler = configuration.policy.build_scheduler();
        Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(workload))
            .run(&mut collector)
            .expect("runs");
        let report = collector.finish();
        let expected =
            [report.measures.wait.mean, report.measures.bounded_slowdown.mean, report.machine.period_utilisation];
        assert_eq!(row.values, expected, "{}", row.policy);
        assert_eq!(row.policy, configuration.policy.to_string());
        assert!(matches!(row.point[0], Some(DesignLevel::Int(1..=3))));
    }
    // Sizes 1 and 2 do not tell average from median: 2 × 2 × 2 of 24 are saved.
    assert_eq!((plan.simulations.len(), plan.saved_simulations()), (16, 8));
}

#[test]
fn every_row_says_what_determined_it() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    complete(&path, &plan, None, 1);
    let answer = query_store(
        &path,
        "SELECT r.workload_hash = w.hash, r.drystone, json_extract(r.parameters, '$.backfill') = r.backfill, r.simulated \
         FROM result r JOIN workload w ON w.name = r.workload AND w.seed = r.seed WHERE r.configuration = 24",
    )
    .expect("an answer");
    let row: Vec<String> = answer.rows[0].iter().map(|cell| format!("{cell:?}")).collect();
    assert_eq!(row[0], "Int(1)");
    assert_eq!(row[1], format!("Text({:?})", env!("CARGO_PKG_VERSION")));
    assert_eq!(row[2], "Int(1)");
    assert_eq!(row[3], "Text(\"easy(backfill=sjf,predict=recent(3,metric=median))\")");
    for bad in ["DELETE FROM result", "SELECT nothing FROM result", "PRAGMA user_version = 3", ""] {
        assert!(query_store(&path, bad).is_err(), "{bad}");
    }
    assert_eq!(results(&path).rows.len(), 24);
}

/// Simulates nothing but hands over the first few outcomes, then fails.
struct Fails(usize);

impl Executor for Fails {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        Threads(1).execute(plan, &todo[..self.0.min(todo.len())], cancel, accept)?;
        Err(SweepError::Process { problem: "the cluster is gone".to_string() })
    }

    fn describe(&self) -> String {
        "a cluster that fails".to_string()
    }
}

#[test]
fn what_came_before_a_failure_is_kept_and_not_made_again() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let [broken, whole] = [dir.path().join("broken.db"), dir.path().join("whole.db")];
    complete(&whole, &plan, None, 2);
    for _ in 0..2 {
        let mut store = Store::open(&broken, &plan, None).expect("a store");
        let error = carry_out(&plan, &mut store, &Fails(3), &AtomicBool::new(false), &mut |_| {}).expect_err("fails");
        assert!(error.to_string().contains("the cluster is gone"));
    }
    let mut store = Store::open(&broken, &plan, None).expect("a store");
    let mut calls = 0;
    let summary =
        carry_out(&plan, &mut store, &Threads(2), &AtomicBool::new(false), &mut |_| calls += 1).expect("done");
    assert_eq!((summary.before, summary.simulated, calls), (6, 10, 10));
    assert_eq!(results(&broken), results(&whole));
}

/// Is cancelled after this many simulations: by then, not about then, however fast the machine is.
struct CancelledAfter(usize);

impl Executor for CancelledAfter {
    fn execute(
        &self,
        plan: &SweepPlan,
        todo: &[usize],
        cancel: &AtomicBool,
        accept: &mut dyn FnMut(PlanOutcome) -> Result<(), SweepError>,
    ) -> Result<(), SweepError> {
        let (before, after) = todo.split_at(self.0);
        Threads(1).execute(plan, before, cancel, accept)?;
        cancel.store(true, std::sync::atomic::Ordering::SeqCst);
        Threads(2).execute(plan, after, cancel, accept)
    }

    fn describe(&self) -> String {
        "an executor that loses patience".to_string()
    }
}

#[test]
fn a_cancelled_sweep_goes_on() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    let mut store = Store::open(&path, &plan, None).expect("a store");
    let result = carry_out(&plan, &mut store, &CancelledAfter(5), &AtomicBool::new(false), &mut |_| {});
    let summary = result.expect("cancelled");
    assert_eq!((summary.simulated, summary.left), (5, 11), "{summary:?}");
    drop(store);
    complete(&path, &plan, None, 2);
    assert_eq!(results(&path).rows.len(), 24);
}

#[test]
fn one_process_at_a_time() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    let lock_holder = Store::open(&path, &plan, None).expect("a store");
    let error = Store::open(&path, &plan, None).expect_err("locked");
    assert!(matches!(error, SweepError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("another process is working on this store"));
    // Looking is allowed meanwhile.
    assert_eq!(Store::open_to_read(&path).expect("a store").status().expect("a status").simulated, 0);
    drop(lock_holder);
    assert!(Store::open(&path, &plan, None).is_ok());
}

#[test]
fn stores_of_other_versions_studies_and_logs_are_refused_and_stay_as_they_are() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    complete(&path, &plan, None, 1);
    let expect_refusal = |sql: &str, part: &str| {
        let copy = dir.path().join("copy.db");
        std::fs::copy(&path, &copy).expect("copied");
        Connection::open(&copy).and_then(|db| db.execute_batch(sql)).expect(sql);
        let before = std::fs::read(&copy).expect("bytes");
        let error = Store::open(&copy, &plan, None).expect_err(sql).to_string();
        assert!(error.contains(part), "{sql}: {error}");
        assert_eq!(std::fs::read(&copy).expect("bytes"), before, "{sql}");
    };
    expect_refusal("UPDATE meta SET value = '0.0.9' WHERE name = 'drystone'", "results of drystone 0.0.9");
    expect_refusal("PRAGMA user_version = 1", "has layout 1");
    expect_refusal("PRAGMA application_id = 1", "no sweep store");
    expect_refusal(
        "UPDATE workload SET hash = 'x'; UPDATE meta SET value = 'x' WHERE name = 'plan'",
        "has changed since",
    );
    expect_refusal("UPDATE meta SET value = '1/3' WHERE name = 'chunk'", "holds chunk 1/3, not the whole study");
    expect_refusal("DELETE FROM meta WHERE name = 'plan'", "damaged");
    let text = dir.path().join("text.db");
    std::fs::write(&text, "no database at all, but long enough to be taken for one".repeat(30)).expect("written");
    let error = Store::open(&text, &plan, None).expect_err("no store").to_string();
    assert!(error.contains("no sweep store"), "{error}");
    for (path, part) in [("gone.db", "there is no such store"), ("gone/a.db", "there is no such store")] {
        let error = Store::open_to_read(dir.path().join(path)).expect_err(path).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Store::open(dir.path().join("gone/a.db"), &plan, None).is_err());
}

/// The plan of a study's text.
fn plan_of(text: &str) -> SweepPlan {
    SweepPlan::from_study(&SweepStudy::parse(Path::new("study.toml"), text.to_string()).expect("a study"), None)
        .expect("a plan")
}

/// Results and sums per week of a store, without their authors and dates.
fn contents(path: &Path) -> [drystone_sweep::QueryAnswer; 2] {
    let weeks = "SELECT simulation, metric, hex(sums) FROM week ORDER BY simulation, metric";
    [results(path), query_store(path, weeks).expect("sums")]
}

#[test]
fn a_store_grows_with_its_study() {
    let small = plan_of(STUDY);
    let second = "[[policy]]\npolicy = \"easy(reserve={n})\"\nparameters = { n = [1, 2] }\n";
    let third = "[[workload]]\nname = \"other\"\ngenerate = { procs = 8, jobs = 40, load = 0.7 }\n";
    let larger = [
        // Another load: the first is that of the log, under another label.
        (STUDY.replace("load = 0.9 }", "load = 0.9 }\nload = [1.0, 1.1]"), 16, 0),
        // Another policy with another parameter, another workload, another value, all at once and
        // out of order.
        (format!("{}{third}{second}", STUDY.replace("to = 3 }", "to = 4 }")), 16, 0),
        // Another metric: all of it again.
        (STUDY.replace("\"utilisation\"", "\"wait_max\", \"utilisation\""), 0, 16),
        (format!("name = \"renamed\"\n{STUDY}"), 16, 0),
    ];
    for (text, kept_count, again) in larger {
        let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan_of(&text));
        let [grown, fresh] = [dir.path().join("grown.db"), dir.path().join("fresh.db")];
        complete(&grown, &small, None, 2);
        complete(&fresh, &plan, None, 2);
        let mut store = Store::open(&grown, &plan, None).expect(&text);
        let growth = store.growth_at_open().expect("it grows");
        let new_count = plan.simulations.len() - kept_count - again;
        assert_eq!((growth.kept, growth.again, growth.added), (kept_count, again, new_count), "{text}");
        let summary = carry_out(&plan, &mut store, &Threads(2), &AtomicBool::new(false), &mut |_| {}).expect("done");
        assert_eq!((summary.before, summary.simulated), (kept_count, again + new_count), "{text}");
        drop(store);
        assert_eq!(contents(&grown), contents(&fresh), "{text}");
        assert!(Store::open(&grown, &plan, None).expect("a store").growth_at_open().is_none());
    }
}

/// Until they are made again, simulations that lack a new metric keep the values that they have.
#[test]
fn growing_loses_nothing_when_it_is_cut_short() {
    let (dir, small) = (tempfile::tempdir().expect("a folder"), plan_of(STUDY));
    let path = dir.path().join("a.db");
    complete(&path, &small, None, 1);
    let waits = |path: &Path| query_store(path, "SELECT wait_mean FROM result ORDER BY configuration").expect("waits");
    let before = waits(&path);
    let plan = plan_of(&STUDY.replace("\"utilisation\"", "\"utilisation\", \"wait_max\""));
    let mut store = Store::open(&path, &plan, None).expect("a store");
    let summary = carry_out(&plan, &mut store, &CancelledAfter(5), &AtomicBool::new(false), &mut |_| {}).expect("cut");
    assert_eq!((summary.simulated, summary.left), (5, 11));
    assert_eq!(store.status().expect("a status").simulated, 5);
    drop(store);
    assert_eq!(waits(&path), before);
    // It grows on from there: what lacks the metric still does.
    let larger =
        plan_of(&STUDY.replace("\"utilisation\"", "\"utilisation\", \"wait_max\"").replace("to = 3", "to = 4"));
    let store = Store::open(&path, &larger, None).expect("a store");
    let growth = store.growth_at_open().expect("it grows");
    assert_eq!((growth.kept, growth.again), (5, 11));
    drop(store);
    complete(&path, &larger, None, 2);
    let fresh = dir.path().join("fresh.db");
    complete(&fresh, &larger, None, 2);
    assert_eq!(contents(&path), contents(&fresh));
}

#[test]
fn a_study_that_leaves_results_out_is_refused_and_the_store_stays_as_it_is() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    complete(&path, &plan, None, 1);
    let before = std::fs::read(&path).expect("bytes");
    for (text, part) in [
        (STUDY.replace("to = 3 }", "to = 2 }"), "have no place in it, the first of easy(backfill="),
        (STUDY.replace("load = 0.9 }", "load = 0.9 }\nload = 1.1"), "16 simulations have no place in it"),
        (STUDY.replace(", \"utilisation\"", ""), "the metric utilisation would be lost"),
    ] {
        let error = Store::open(&path, &plan_of(&text), None).expect_err(&text).to_string();
        assert!(error.contains("holds another study") && error.contains(part), "{text}: {error}");
        assert_eq!(std::fs::read(&path).expect("bytes"), before, "{text}");
    }
    let chunk = dir.path().join("chunk.db");
    complete(&chunk, &plan, Some(SweepChunk { k: 1, n: 2 }), 1);
    let larger = plan_of(&STUDY.replace("to = 3 }", "to = 4 }"));
    let error = Store::open(&chunk, &larger, Some(SweepChunk { k: 1, n: 2 })).expect_err("a chunk").to_string();
    assert!(error.contains("a chunk has the numbers of its study"), "{error}");
}

#[test]
fn chunks_merge_into_the_whole() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let whole = dir.path().join("whole.db");
    complete(&whole, &plan, None, 1);
    let chunks = paths(&dir, &["1.db", "2.db", "3.db"]);
    for (k, path) in (1..).zip(&chunks) {
        complete(path, &plan, Some(SweepChunk { k, n: 3 }), 1);
    }
    let rows: usize = chunks.iter().map(|path| results(path).rows.len()).sum();
    assert_eq!(rows, 24, "every result is in one chunk");
    let target = dir.path().join("all.db");
    let merge = merge_stores(&target, &chunks[..2]).expect("merged");
    assert_eq!(merge.added as usize, 24 - results(&chunks[2]).rows.len());
    assert_eq!(merge.missing as usize, results(&chunks[2]).rows.len());
    // Again, and in another order: what is there already is equal.
    let merge = merge_stores(&target, &[chunks[2].clone(), chunks[0].clone()]).expect("merged");
    assert_eq!((merge.added as usize, merge.missing), (results(&chunks[2]).rows.len(), 0));
    assert_eq!(merge.equal as usize, results(&chunks[0]).rows.len());
    assert_eq!(results(&target), results(&whole));
    // Each chunk's run came along once.
    let effort = |path: &Path| {
        let status = Store::open_to_read(path).and_then(|store| store.status()).expect("a status");
        (status.sessions, status.session_jobs)
    };
    assert_eq!(effort(&target), (3, effort(&whole).1));
    // It is the store of the whole study now.
    let mut store = Store::open(&target, &plan, None).expect("a store");
    let summary = carry_out(&plan, &mut store, &Threads(1), &AtomicBool::new(false), &mut |_| {}).expect("done");
    assert_eq!((summary.before, summary.simulated), (16, 0));
}

#[test]
fn conflicts_are_found_and_nothing_is_merged() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let store_paths = paths(&dir, &["a.db", "b.db", "c.db"]);
    complete(&store_paths[0], &plan, Some(SweepChunk { k: 1, n: 2 }), 1);
    complete(&store_paths[1], &plan, Some(SweepChunk { k: 2, n: 2 }), 1);
    std::fs::copy(&store_paths[0], &store_paths[2]).expect("copied");
    let forge = "UPDATE result SET wait_mean = wait_mean + 1 WHERE configuration = 1";
    Connection::open(&store_paths[2]).and_then(|db| db.execute_batch(forge)).expect("forged");
    let into = dir.path().join("into.db");
    let error = merge_stores(&into, &store_paths).expect_err("a conflict").to_string();
    assert!(error.contains("1 results differ") && error.contains("configuration 1 ("), "{error}");
    assert!(error.contains("wait_mean"), "{error}");
    let lock = dir.path().join("into.db.lock");
    assert!(!into.exists() && !lock.exists(), "what was refused leaves no empty store and no lock");
    // One that was there before is not ours to remove.
    std::fs::write(&lock, "").expect("written");
    merge_stores(&into, &store_paths).expect_err("a conflict");
    assert!(!into.exists() && lock.exists());
    assert_eq!(merge_stores(&into, &store_paths[..2]).expect("merged").missing, 0);
    // Another study does not merge.
    let variant = STUDY.replace("to = 3", "to = 4");
    let second_study = SweepStudy::parse(Path::new("study.toml"), variant)
        .and_then(|s| SweepPlan::from_study(&s, None))
        .expect("a plan");
    let path = dir.path().join("other.db");
    complete(&path, &second_study, Some(SweepChunk { k: 1, n: 2 }), 1);
    let error = merge_stores(&into, &[path]).expect_err("another study").to_string();
    assert!(error.contains("only chunks of one study merge"), "{error}");
    let error = merge_stores(&into, std::slice::from_ref(&into)).expect_err("itself").to_string();
    assert!(error.contains("merged into itself"), "{error}");
}

/// Rows that were deleted are simulated again, also where an equal configuration still has its own.
#[test]
fn what_was_deleted_is_made_again() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let path = dir.path().join("a.db");
    complete(&path, &plan, None, 1);
    let whole = results(&path);
    let simulation = plan.simulations.iter().find(|s| s.configurations.len() > 1).expect("equal ones");
    let forget = format!("DELETE FROM result WHERE configuration = {}", simulation.configurations[1] + 1);
    Connection::open(&path).and_then(|db| db.execute_batch(&forget)).expect("deleted");
    assert_ne!(results(&path), whole);
    complete(&path, &plan, None, 1);
    assert_eq!(results(&path), whole);
}

/// Numbers that analyses rely on are checked first: a store edited by hand is reported, not ranked
/// wrongly.
#[test]
fn stores_that_were_changed_are_told() {
    let (dir, plan) = (tempfile::tempdir().expect("a folder"), plan());
    for (change, complaint) in [
        ("DELETE FROM workload", "are not of 0 workloads each"),
        ("DELETE FROM workload WHERE rowid = 1", "do not match their numbers"),
        ("UPDATE result SET configuration = 9999 WHERE configuration = 3", "configuration 9999 first"),
        ("UPDATE columns SET name = 'foo' WHERE name = 'wait_mean'", "has no column `foo`"),
        ("UPDATE result SET workload_hash = 'x' WHERE configuration = 3", "1 of its results, configuration 3 first"),
    ] {
        let path = dir.path().join("a.db");
        complete(&path, &plan, None, 1);
        Connection::open(&path).and_then(|db| db.execute_batch(change)).expect("changed");
        let store = Store::open_to_read(&path).expect("a store");
        for error in [
            store.status().map(drop).expect_err("told"),
            CandidateTable::from_store(&store, &CaseSelection::default()).map(drop).expect_err("told"),
            merge_stores(dir.path().join("into.db"), std::slice::from_ref(&path)).map(drop).expect_err("told"),
            Store::open(&path, &plan, None).map(drop).expect_err("told"),
        ] {
            let error = error.to_string();
            assert!(error.contains("is damaged") && error.contains(complaint), "{change}: {error}");
        }
        drop(store);
        std::fs::remove_file(&path).expect("removed");
    }
}
