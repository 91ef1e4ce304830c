//! Metrics and programs of the calling program.

use drystone::metrics::Metric;
use drystone_sweep::analysis::{CandidateTable, CaseSelection, PairedTests, Ranking};
use drystone_sweep::{
    Cancelled, JobMeasurer, MeasuredSchedule, OwnMetric, Store, SweepError, SweepMetric, SweepPlan, SweepStudy,
    Threads, WorkSummary, carry_out, gather_published, merge_stores,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Twelve weeks of a log, in the second case at a load of 1.1 and without its first fortnight.
const STUDY: &str = "metrics = [\"wait_mean\", \"response_mean\"]\ntrim = \"tsafrir\"\n\
    [[workload]]\nname = \"small\"\ngenerate = { procs = 32, days = 80, load = 0.8 }\nload = [1.0, 1.1]\n\
    [[policy]]\npolicy = \"easy(predict=recent({size}))\"\nparameters = { size = { from = 1, to = 3 } }\n\
    [[policy]]\npolicy = \"fcfs\"\n[[policy]]\npolicy = \"easy(backfill=sjf)\"\n";

/// Computes waits and responses job by job.
#[derive(Debug)]
struct TimeMeasurer {
    /// Number of metrics.
    count: usize,
    /// Set where it fails, as a program does that raises.
    fails: Option<Arc<AtomicBool>>,
}

impl JobMeasurer for TimeMeasurer {
    fn measure(&self, schedule: &MeasuredSchedule<'_>) -> Result<Vec<Vec<f64>>, Cancelled> {
        if let Some(stop) = &self.fails {
            stop.store(true, Ordering::Relaxed);
            return Err(Cancelled);
        }
        assert_eq!(schedule.rows.len(), schedule.case.workload.len());
        let wait = schedule.rows.iter().map(|row| (row.start - row.submit).as_f64()).collect();
        let response = schedule.rows.iter().map(|row| (row.end - row.submit).as_f64()).collect();
        Ok([wait, response].into_iter().take(self.count).collect())
    }
}

fn own(name: &str, identity: &str) -> OwnMetric {
    OwnMetric { name: name.to_string(), identity: identity.to_string() }
}

fn plain() -> SweepPlan {
    let study = SweepStudy::parse(Path::new("study.toml"), STUDY.to_string()).expect("a study");
    SweepPlan::from_study(&study, None).expect("a plan")
}

fn plan(metrics: &[OwnMetric]) -> SweepPlan {
    let measurer = Arc::new(TimeMeasurer { count: metrics.len(), fails: None });
    plain().with_own_metrics(metrics.to_vec(), measurer).expect("names that are free")
}

fn both() -> [OwnMetric; 2] {
    [own("own_wait", "a"), own("own_response", "b")]
}

fn carry(path: &Path, plan: &SweepPlan, threads: usize) -> Result<WorkSummary, SweepError> {
    let mut store = Store::open(path, plan, None)?;
    carry_out(plan, &mut store, &Threads(threads), &AtomicBool::new(false), &mut |_| {})
}

/// Waits that are found job by job have the means, the sums per week, the ranks and the intervals
/// of the metric of the catalogue.
#[test]
fn a_metric_of_ones_own_is_judged_as_one_of_the_catalogue() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = plan(&both());
    let [serial_store, two] = [1, 2].map(|threads| {
        let path = dir.path().join(format!("{threads}.db"));
        assert_eq!(carry(&path, &plan, threads).expect("done").left, 0);
        Store::open_to_read(&path).expect("a store")
    });
    let rows = serial_store.rows().expect("rows");
    assert_eq!(rows, two.rows().expect("rows"));
    for row in &rows {
        assert_eq!(row.values[..2], row.values[2..], "{}", row.policy);
        for (catalogue_name, own) in [("wait_mean", "own_wait"), ("response_mean", "own_response")] {
            let weeks = serial_store.week_sums(row.simulation, catalogue_name).expect("weeks");
            assert!(weeks.len() >= 9 && weeks == serial_store.week_sums(row.simulation, own).expect("weeks"));
            assert_eq!(weeks, two.week_sums(row.simulation, own).expect("weeks"));
        }
    }
    let tests = |metric: &str| {
        let choice = CaseSelection { metrics: vec![metric.to_string()], workloads: Vec::new() };
        let table = CandidateTable::from_store(&serial_store, &choice).expect("a table");
        let order: Vec<usize> = Ranking::from_table(&table).ranked.iter().map(|entry| entry.candidate).collect();
        (order, PairedTests::test_table(&serial_store, &table, (3, true), 0.95).expect("tests").tests)
    };
    let (catalogue_tests, own) = (tests("wait_mean"), tests("own_wait"));
    assert_eq!(catalogue_tests, own);
    assert!(own.1[..3].iter().all(|test| test.is_some_and(|test| test.interval.0 < test.interval.1)), "{own:?}");
    assert_eq!(serial_store.metrics().expect("metrics")[2], SweepMetric::Own(both()[0].clone()));
}

/// Names that are columns already, also in other letters, and those that SQL would not take.
#[test]
fn names_that_are_taken_are_refused() {
    for name in ["wait_mean", "Policy", "SIZE", "case", "a b", "", "1st", "rank"] {
        let measurer = Arc::new(TimeMeasurer { count: 2, fails: None });
        let error = plain().with_own_metrics(vec![own(name, "a")], measurer).expect_err(name).to_string();
        let is_said = error.contains("is a column already") || error.contains("is no name of a column");
        assert!(is_said, "{error}");
    }
    let twice = vec![own("late", "a"), own("Late", "b")];
    assert!(plain().with_own_metrics(twice, Arc::new(TimeMeasurer { count: 2, fails: None })).is_err());
}

/// A store is continued with the same functions; one more has all simulations made again, and one
/// that is another or lacking is refused. Nothing is lost by that.
#[test]
fn a_store_knows_the_functions_of_its_metrics() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.db");
    let simulations = plain().simulations.len();
    assert_eq!(carry(&path, &plain(), 2).expect("done").simulated, simulations);
    let single_plan = plan(&both()[..1]);
    assert_eq!(carry(&path, &single_plan, 2).expect("done").simulated, simulations, "a metric more");
    let again = carry(&path, &single_plan, 2).expect("done");
    assert_eq!((again.simulated, again.before), (0, simulations));
    let before = Store::open_to_read(&path).expect("a store").rows().expect("rows");
    let message = carry(&path, &plan(&[own("own_wait", "changed")]), 2).expect_err("another function").to_string();
    assert!(message.contains("`own_wait` was another function"), "{message}");
    let without = carry(&path, &plain(), 2).expect_err("no function").to_string();
    assert!(without.contains("continue with that program"), "{without}");
    // Merging does not mix stores with other columns.
    let second_path = dir.path().join("b.db");
    carry(&second_path, &plain(), 2).expect("done");
    let error = merge_stores(&path, std::slice::from_ref(&second_path)).expect_err("other metrics").to_string();
    assert!(error.contains("another study"), "{error}");
    assert!(gather_published(&path, std::slice::from_ref(&second_path), &mut || {}).is_err());
    assert_eq!(Store::open_to_read(&path).expect("a store").rows().expect("rows"), before);
    // A merged copy has the functions as well.
    let copy = dir.path().join("copy.db");
    merge_stores(&copy, std::slice::from_ref(&path)).expect("merged");
    assert_eq!(carry(&copy, &single_plan, 1).expect("done").simulated, 0);
    assert!(carry(&copy, &plan(&[own("own_wait", "changed")]), 1).is_err());
}

/// A function that fails ends the sweep; results from before stay, and the same call goes on.
#[test]
fn a_function_that_fails_leaves_the_rest_to_do() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.db");
    let broken = [own("own_wait", "broken"), own("own_response", "b")];
    let cancel = Arc::new(AtomicBool::new(false));
    let failing = TimeMeasurer { count: 2, fails: Some(Arc::clone(&cancel)) };
    let failing = plain().with_own_metrics(broken.to_vec(), Arc::new(failing)).expect("names that are free");
    let mut store = Store::open(&path, &failing, None).expect("a store");
    let summary = carry_out(&failing, &mut store, &Threads(2), &cancel, &mut |_| {}).expect("stopped");
    assert_eq!((summary.simulated, summary.left), (0, failing.simulations.len()));
    drop(store);
    // The function has been repaired; no value of it was recorded.
    assert_eq!(carry(&path, &plan(&both()), 2).expect("done").left, 0);
}

/// A policy of the calling program that has changed under its old name is refused once it has
/// results. A policy of this library has another program's name among its parameters.
#[test]
fn a_store_knows_the_programs_that_policies_call() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.db");
    let plan = |pairs: &[(&str, &str)]| {
        let programs: BTreeMap<String, String> =
            pairs.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string())).collect();
        plain().with_programs(programs)
    };
    // Nothing is recorded before its first results: a program that failed may change.
    drop(Store::open(&path, &plan(&[("sjf", "0"), ("gone", "0")]), None).expect("a store"));
    carry(&path, &plan(&[("sjf", "1"), ("other", "1")]), 2).expect("done");
    assert_eq!(carry(&path, &plan(&[("sjf", "1"), ("gone", "2")]), 2).expect("done").simulated, 0);
    assert_eq!(carry(&path, &plain(), 2).expect("done").simulated, 0);
    // `easy(backfill=sjf)` is no program of that name.
    assert_eq!(carry(&path, &plan(&[("sjf", "2")]), 2).expect("done").simulated, 0);
    let db = rusqlite::Connection::open(&path).expect("a database");
    let update = "UPDATE result SET simulated = 'python(object=sjf)' WHERE rowid = (SELECT min(rowid) FROM result)";
    assert_eq!(db.execute(update, []).expect("updated"), 1);
    drop(db);
    let error = carry(&path, &plan(&[("sjf", "1")]), 2).expect_err("changed").to_string();
    assert!(error.contains("program `sjf` was another one") && error.contains("2 then, 1 now"), "{error}");
    let copy = dir.path().join("copy.db");
    merge_stores(&copy, std::slice::from_ref(&path)).expect("merged");
    assert!(carry(&copy, &plan(&[("sjf", "1")]), 2).is_err(), "a merged copy knows them too");
}

#[test]
fn metrics_of_the_catalogue_stay_what_they_are() {
    for metric in Metric::all_metrics() {
        let swept = SweepMetric::from(metric);
        assert_eq!(
            (swept.id(), swept.catalogue_metric(), swept.better_direction()),
            (metric.id(), Some(metric), metric.better_direction())
        );
        assert_eq!(swept.is_mean(), matches!(metric, Metric::Mean(_)));
    }
}
