//! More or less of a counted resource, worked out by hand.

use crate::whatif::{after, refused};
use drystone::experiment::Experiment;
use drystone::log::resources;
use drystone::metrics::MetricsConfig;
use drystone::model::{Job, LogStatus, Machine, Provenance, ResourceId, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_whatif::{Applied, Premises};

/// 8 processors and 4 licences; each job has one processor, and its limit is its run time: submit,
/// run time, licences.
fn premises(rows: &[(i64, i64, u64)]) -> Premises {
    let jobs = rows.iter().map(|&(submit, run, _)| Job::new(Time(submit), 1, Span(run))).collect();
    let truth = rows.iter().zip(1..).map(|(&(_, run, _), number)| Truth {
        run: Span(run),
        number,
        status: LogStatus::Completed,
    });
    let workload = Workload::new(Machine::new(8), jobs, truth.collect(), Provenance::default()).expect("possible");
    let asks = rows.iter().zip(1..).map(|((_, _, licences), number)| format!("{number},{licences}\n"));
    let table = format!("job,license:cad\ntotal,4\n{}", asks.collect::<String>());
    let table = resources::read_table("asks.csv", &table).expect("sound");
    let (workload, _) =
        resources::give_resources(workload, &["asks.csv".parse().expect("a file")], &[table]).expect("fits");
    Premises::of_log(workload, Vec::new(), 1.0)
}

fn starts(state: &Applied, policy: &str) -> Vec<i64> {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
    let measurements = Experiment::new(&spec, &state.premises.workload).with_metrics(config).run(&mut ());
    let mut rows = measurements.expect("simulated").expect("to its end").report.jobs.expect("rows");
    rows.sort_by_key(|row| row.id);
    rows.iter().map(|row| row.start.0).collect()
}

fn supply(state: &Applied, times: [i64; 4]) -> [u64; 4] {
    let table = state.premises.workload.resources().expect("some");
    times.map(|at| table.supply_at(ResourceId(0), Time(at)))
}

/// Job 0 holds 2 licences until 90; job 1 asks for 3 for 60 s. Announced, 2 licences from 100 to
/// 200 keep it from 90 until 200. Unannounced, it starts at 90, and job 2, which needs one at 110,
/// waits until it has ended at 150. Where there are 2 throughout, it can never run.
#[test]
fn licences_for_some_time_by_hand() {
    let before = premises(&[(0, 90, 2), (5, 60, 3), (110, 10, 1), (400, 10, 1)]);
    let less = after(&before, "supply cad=2 from @100 to @200");
    assert_eq!(supply(&less, [0, 99, 100, 200]), [4, 4, 2, 4]);
    for policy in ["easy", "conservative", "slack(sf=0)", "goal", "multiqueue(bounds=none)"] {
        assert_eq!(starts(&less, policy), [0, 200, 110, 400], "{policy}");
        let surprise = after(&before, "supply license:cad=2 from @100 to @200 unannounced");
        assert_eq!(starts(&surprise, policy), [0, 90, 150, 400], "{policy}");
    }
    assert!(less.notes.iter().any(|note| note.contains("meanwhile there are 2 of license:cad in place of 4")));
    let never = after(&before, "supply cad=2");
    assert_eq!((never.refused, starts(&never, "easy")), (1, vec![0, 110, 400]));
}

/// Changes of one resource lie over each other in the order in which they are made, and times are
/// divided with those of the jobs.
#[test]
fn changes_lie_over_each_other() {
    let before = premises(&[(0, 90, 2), (5, 60, 3), (400, 10, 1)]);
    let twice = after(&before, "supply cad=2 from @100 to @300; supply cad=6 from @200 to @350");
    assert_eq!(supply(&twice, [99, 100, 200, 350]), [4, 2, 6, 4]);
    assert_eq!(twice.premises.workload.resources().expect("some").resources()[0].total, 6);
    let inside = after(&before, "supply cad=2 from @100 to @300; supply cad=1 from @150 to @200");
    assert_eq!(supply(&inside, [100, 150, 200, 300]), [2, 1, 2, 4]);
    let faster = after(&before, "supply cad=2 from @100 to @300; load 2");
    assert_eq!(supply(&faster, [49, 50, 149, 150]), [4, 2, 2, 4]);
}

#[test]
fn what_cannot_be_is_refused() {
    let before = premises(&[(0, 90, 2), (400, 10, 1)]);
    for (change, message) in [
        ("supply cat=2", "no resource is called `cat`; there are license:cad"),
        ("supply cad=2GB", "`2GB` is no amount"),
        ("supply cad=2 from @100 to @50", "it ends before it begins"),
        ("supply cad=0", "no job is left to simulate"),
    ] {
        let problem = refused(&before, change);
        assert!(problem.contains(message), "{change}: {problem}");
    }
}
