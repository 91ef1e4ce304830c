//! `slurm(...)` where more happens than arrivals and ends: processors go, jobs are here already,
//! are held back or withdrawn.

use drystone_core::engine::{Happenings, Schedule, Simulation};
use drystone_core::model::{
    Adopted, Circumstances, Job, JobId, LogStatus, Machine, Outage, Outages, ProcSet, Provenance, Span, Time, Truth,
    Which, Workload,
};
use drystone_core::policy::PolicySpec;
use drystone_slurm::policy::register_policy;
use drystone_testkit::{Guarantee, Random, Subject, attempt_real, try_random_case};

fn spec(text: &str) -> PolicySpec {
    let _ = register_policy();
    text.parse().expect("a policy")
}

/// Policies as different as machines are: nodes of one processor and of several, whole nodes, jobs
/// that are killed at their limits.
const TEXTS: [&str; 6] = [
    "slurm",
    "slurm(cpus=4)",
    "slurm(cpus=3,whole=yes)",
    "slurm(cpus=8,kill=yes,epilog=no)",
    "slurm(cpus=2,bf_interval=5,bf_resolution=1,pack=no)",
    "slurm(cpus=4,test-us=200000,bf_continue=yes,priorityweightage=1000,priorityweightjobsize=10)",
];

#[test]
fn it_holds_what_every_policy_must() {
    let cases = std::env::var("DRYSTONE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut failures = String::new();
    for text in TEXTS {
        let may = if text.contains("kill=yes") { vec![Guarantee::MayKill] } else { Vec::new() };
        let subject = Subject::from_spec(&spec(text)).with_guarantees(may);
        let mut random = Random::new(20_261_126);
        for _ in 0..cases {
            let seed = random.draw_bits();
            for result in [attempt_real(&subject, seed), try_random_case(&subject, seed)] {
                if let Err(failure) = result {
                    failures += &failure.render_report();
                }
            }
            if !failures.is_empty() {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Jobs as submit time, processors, limit and run time, in seconds.
fn workload(procs: u32, rows: &[(i64, u32, i64, i64)]) -> Workload {
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, procs, limit, run)) in (1..).zip(rows) {
        jobs.push(Job::new(Time(submit), procs, Span(limit)));
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("a workload")
}

/// A machine, and whether on each of its nodes there is one processor or several.
const ONE_AND_MANY: [&str; 2] = ["slurm", "slurm(cpus=2)"];

fn on(procs: std::ops::Range<u32>) -> Which {
    Which::Named(ProcSet::from_range(procs))
}

fn starts(text: &str, workload: &Workload, outages: Vec<Outage>) -> Vec<i64> {
    let outages = Outages::new(workload.machine(), outages).expect("outages");
    let mut schedule = Schedule::default();
    let source = Happenings::new(workload, &outages, false);
    Simulation::new(workload.machine(), spec(text).build_scheduler(), source).run(&mut schedule).expect("a run");
    schedule.spans.iter().map(|span| span.expect("it ran").0.0).collect()
}

/// All four processors are wanted, and the last node is out up to 400 s.
#[test]
fn a_wide_job_waits_for_a_node_that_is_out() {
    let workload = workload(4, &[(60, 4, 600, 50), (700, 3, 600, 50)]);
    for text in ONE_AND_MANY {
        let out = Outage::new_failure(on(2..4), Time(30), Some(Time(400)));
        assert_eq!(starts(text, &workload, vec![out]), [400, 700], "{text}");
    }
}

/// A job is thrown off by a failure of its node and starts again on the other one.
#[test]
fn a_job_that_loses_its_node_starts_again_elsewhere() {
    let workload = workload(4, &[(0, 2, 600, 300)]);
    for text in ONE_AND_MANY {
        let out = Outage::new_failure(on(0..2), Time(100), Some(Time(5_000)));
        let mut schedule = Schedule::default();
        let outages = Outages::new(workload.machine(), vec![out]).expect("outages");
        let source = Happenings::new(&workload, &outages, false);
        Simulation::new(workload.machine(), spec(text).build_scheduler(), source).run(&mut schedule).expect("a run");
        let (_, end) = schedule.spans[0].expect("it ran");
        // It starts again within the few seconds that Slurm lets pass between two looks.
        assert!((400..=410).contains(&end.0), "{text}: ends at {end}");
    }
}

/// The whole machine is announced to be out from 10,000 to 20,000 s: what may last longer waits,
/// what ends before starts.
#[test]
fn a_limit_that_reaches_into_a_maintenance_keeps_the_job_waiting() {
    let workload = workload(4, &[(5, 1, 20_000, 60), (30, 1, 600, 60), (9_700, 1, 600, 60), (9_800, 1, 180, 60)]);
    for text in ONE_AND_MANY {
        let out = Outage::new_window(on(0..4), Time(0), Time(10_000), Time(20_000));
        let start_times = starts(text, &workload, vec![out]);
        let late: Vec<i64> = start_times.iter().zip([20_000, 30, 20_000, 9_800]).map(|(at, due)| at - due).collect();
        // Slurm looks at its queue once a second at best, and no sooner than three seconds after it
        // has looked last.
        assert!(late.iter().all(|late| (0..=3).contains(late)), "{text}: {start_times:?}");
    }
}

/// Only half of the machine is announced to be out: long jobs take the other half, and a job that
/// needs both waits.
#[test]
fn a_maintenance_of_some_nodes_leaves_the_others() {
    let workload = workload(4, &[(5, 2, 20_000, 300), (30, 2, 20_000, 60), (31, 2, 600, 60)]);
    for text in ONE_AND_MANY {
        let out = Outage::new_window(on(0..2), Time(0), Time(10_000), Time(20_000));
        let [long, second, short] = starts(text, &workload, vec![out]).try_into().expect("three jobs");
        // The short job is behind one that waits, so it is backfill that starts it, within a
        // minute.
        assert!((5..=8).contains(&long) && (31..=62).contains(&short), "{text}: {long} {short}");
        // It is the first that waits, so it has the other half as soon as that is free.
        assert!((305..=312).contains(&second), "{text}: {second}");
    }
}

/// Jobs keep the places that they are said to have, and a job that is said to run without one has
/// one: the last job waits until they end.
#[test]
fn jobs_that_are_here_at_the_beginning_have_their_places() {
    let rows = [(0, 2, 600, 600), (0, 1, 600, 600), (0, 1, 600, 600), (200, 2, 600, 10)];
    let workload = workload(4, &rows);
    let adopt_running =
        |on: Option<std::ops::Range<u32>>| Adopted::Running { since: Time(0), on: on.map(ProcSet::from_range) };
    let circumstances = Circumstances {
        begin: Some(Time(100)),
        here: [adopt_running(Some(1..3)), adopt_running(Some(0..1)), adopt_running(None)]
            .into_iter()
            .enumerate()
            .map(|(at, adoption)| (JobId(at as u32), adoption))
            .collect(),
        ..Circumstances::default()
    };
    let workload = workload.with_circumstances(circumstances).expect("circumstances");
    for text in ONE_AND_MANY {
        let start_times = starts(text, &workload, Vec::new());
        assert!((600..=605).contains(&start_times[3]), "{text}: {start_times:?}");
    }
}
